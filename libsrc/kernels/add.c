/*
 * Additions of two tensors, bound by memory and exact: the formula's float32 operations on every set.
 *
 * Two bfloat16 tensors are added as the even and the odd elements of a vector, which needs shifts and masks only; a NaN among
 * their sums has nothing in its lower half that rounding could carry. The mixed cases widen in order.
 */
#include "kernels/install.h"

#include <string.h>

/* ---- template of the mixed cases and of float results; a16, b16 and d16 are constants */

SN_INLINE v32f load(const uint8_t * p, size_t i, bool is_16b)
{
    return is_16b ? v_load_16b_32f(p + 2 * i) : v_load_32f(p + 4 * i);
}

SN_INLINE v32f load_tail(const uint8_t * p, size_t i, bool is_16b, size_t n)
{
    return is_16b ? v_load_tail_16b_32f(p + 2 * i, n) : v_load_tail_32f(p + 4 * i, n);
}

SN_INLINE void add_mixed(const uint8_t * a, bool a16, const uint8_t * b, bool b16, uint8_t * dst, bool d16, size_t size)
{
    size_t i = 0;
    for (; i + 2 * V32F_N <= size; i += 2 * V32F_N) {
        v32f x[2];
        SN_UNROLL for (int j = 0; j < 2; ++j)
            x[j] = v_add_32f(load(a, i + j * V32F_N, a16), load(b, i + j * V32F_N, b16));
        SN_UNROLL for (int j = 0; j < 2; ++j) {
            if (d16)
                v_store_16b_32f(dst + 2 * (i + j * V32F_N), x[j]);
            else
                v_store_32f(dst + 4 * (i + j * V32F_N), x[j]);
        }
    }
    for (; i < size; i += V32F_N) {
        const size_t n = sn_min(size - i, V32F_N);
        const v32f x = v_add_32f(load_tail(a, i, a16, n), load_tail(b, i, b16, n));
        if (d16)
            v_store_tail_16b_32f(dst + 2 * i, x, n);
        else
            v_store_tail_32f(dst + 4 * i, x, n);
    }
}

SN_INLINE v16i add_pairs(v16i a, v16i b)
{
    return v_join_16b_32f(v_add_32f(v_even_16b_32f(a), v_even_16b_32f(b)), v_add_32f(v_odd_16b_32f(a), v_odd_16b_32f(b)));
}

static void add_16b_111(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)
{
    size_t i = 0;
    for (; i + 2 * V16I_N <= size; i += 2 * V16I_N) {
        const uint8_t * p = a + 2 * i, * q = b + 2 * i;
        const v16i x = add_pairs(v_load_16i(p), v_load_16i(q));
        const v16i y = add_pairs(v_load_16i(p + V8U_N), v_load_16i(q + V8U_N));
        v_store_16i(dst + 2 * i, x);
        v_store_16i(dst + 2 * i + V8U_N, y);
    }
    for (; i < size; i += V16I_N) {
        const size_t n = sn_min(size - i, V16I_N);
        v_store_tail_16i(dst + 2 * i, add_pairs(v_load_tail_16i(a + 2 * i, n), v_load_tail_16i(b + 2 * i, n)), n);
    }
}

#define ADD_16B(a16, b16, d16)                                                                                              \
    static void add_16b_##a16##b16##d16(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)                   \
    {                                                                                                                       \
        add_mixed(a, a16, b, b16, dst, d16, size);                                                                          \
    }

ADD_16B(0, 0, 0)
ADD_16B(0, 0, 1)
ADD_16B(0, 1, 0)
ADD_16B(0, 1, 1)
ADD_16B(1, 0, 0)
ADD_16B(1, 0, 1)
ADD_16B(1, 1, 0)

void ISA_FN(install_add)(struct sn_table * table)
{
    const sn_add_16b_fn add[2][2][2] = {{{add_16b_000, add_16b_001}, {add_16b_010, add_16b_011}},
                                        {{add_16b_100, add_16b_101}, {add_16b_110, add_16b_111}}};
    memcpy(table->add_16b, add, sizeof(add));
}
