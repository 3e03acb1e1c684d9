/*
 * Activations: one pass over an array, written so that a NaN comes through: max(0, x) is x for it. Four vectors a turn, stores
 * aligned (a store across two cache lines costs as much as two): as fast as a copy.
 */
#include "kernels/install.h"

enum { GROUP = 4 };

SN_INLINE v32f relu(v32f x, v32f slope)
{
    const v32f zero = v_zero_32f();
    return v_add_32f(v_max_32f(zero, x), v_mul_32f(slope, v_min_32f(zero, x)));
}

SN_INLINE void relu_rest(const float * src, size_t size, v32f slope, float * dst)
{
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + i, relu(v_load_32f(src + i), slope));
    if (i < size)
        v_store_tail_32f(dst + i, relu(v_load_tail_32f(src + i, size - i), slope), size - i);
}

SN_INLINE void relu_by(const float * src, size_t size, float slope, float * dst, bool stream)
{
    const v32f s = v_set_32f(slope);
    const size_t head = size < 8 * V32F_N ? 0 : (0 - (uintptr_t)dst / sizeof(float)) % V32F_N;
    relu_rest(src, head, s, dst);
    size_t i = head;
    for (; i + GROUP * V32F_N <= size; i += GROUP * V32F_N) {
        v32f x[GROUP];
        SN_UNROLL for (int j = 0; j < GROUP; ++j) x[j] = relu(v_load_32f(src + i + j * V32F_N), s);
        SN_UNROLL for (int j = 0; j < GROUP; ++j) {
            if (stream)
                v_stream_32f(dst + i + j * V32F_N, x[j]);
            else
                v_store_32f(dst + i + j * V32F_N, x[j]);
        }
    }
    relu_rest(src + i, size - i, s, dst + i);
    if (stream)
        v_fence();
}

/* Streamed stores want an aligned address, which short arrays are not brought to. */
static void relu_32f(const float * src, size_t size, float slope, float * dst, bool stream)
{
    if (stream && size >= 8 * V32F_N)
        relu_by(src, size, slope, dst, true);
    else
        relu_by(src, size, slope, dst, false);
}

void ISA_FN(install_activation)(struct sn_table * table) { table->relu_32f = relu_32f; }
