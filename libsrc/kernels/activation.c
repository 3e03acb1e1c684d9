/* Activations: one pass over an array, two vectors at a time. Written so that a NaN comes through: max(0, x) is x for it. */
#include "kernels/install.h"

SN_INLINE v32f relu(v32f x, v32f slope)
{
    const v32f zero = v_zero_32f();
    return v_add_32f(v_max_32f(zero, x), v_mul_32f(slope, v_min_32f(zero, x)));
}

static void relu_32f(const float * src, size_t size, float slope, float * dst)
{
    const v32f s = v_set_32f(slope);
    size_t i = 0;
    for (; i + 2 * V32F_N <= size; i += 2 * V32F_N) {
        const v32f a = v_load_32f(src + i), b = v_load_32f(src + i + V32F_N);
        v_store_32f(dst + i, relu(a, s));
        v_store_32f(dst + i + V32F_N, relu(b, s));
    }
    for (; i < size; i += V32F_N) {
        const size_t n = sn_min(size - i, V32F_N);
        v_store_tail_32f(dst + i, relu(v_load_tail_32f(src + i, n), s), n);
    }
}

void ISA_FN(install_activation)(struct sn_table * table) { table->relu_32f = relu_32f; }
