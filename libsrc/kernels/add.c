/*
 * Additions of two tensors, bound by memory and exact: the formula's float32 operations on every instruction set.
 *
 * If the result is bfloat16, the even and the odd elements of a vector of results are added separately: those of bfloat16
 * tensors are extracted by shifts and masks only, and both are rounded together. If the result is float, bfloat16 elements
 * are widened in order.
 */
#include "contract/add.h"
#include "kernels/install.h"

#include <math.h>
#include <string.h>

/* ---- templates; a16 and b16 are compile-time constants */

SN_INLINE v32f load(const uint8_t * p, size_t i, bool is_16b)
{
    return is_16b ? v_load_16b_32f(p + 2 * i) : v_load_32f(p + 4 * i);
}

SN_INLINE v32f load_tail(const uint8_t * p, size_t i, bool is_16b, size_t n)
{
    return is_16b ? v_load_tail_16b_32f(p + 2 * i, n) : v_load_tail_32f(p + 4 * i, n);
}

SN_INLINE void add_wide(const uint8_t * a, bool a16, const uint8_t * b, bool b16, uint8_t * dst, size_t size)
{
    size_t i = 0;
    for (; i + 2 * V32F_N <= size; i += 2 * V32F_N) {
        v32f x[2];
        SN_UNROLL for (int j = 0; j < 2; ++j)
            x[j] = v_add_32f(load(a, i + j * V32F_N, a16), load(b, i + j * V32F_N, b16));
        SN_UNROLL for (int j = 0; j < 2; ++j)
            v_store_32f(dst + 4 * (i + j * V32F_N), x[j]);
    }
    for (; i < size; i += V32F_N) {
        const size_t n = sn_min(size - i, V32F_N);
        v_store_tail_32f(dst + 4 * i, v_add_32f(load_tail(a, i, a16, n), load_tail(b, i, b16, n)), n);
    }
}

/* Floats i .. i + n - 1; `full` means n = V16I_N. first() returns the first vector, the function below the remainder. */
SN_INLINE v32f first(const uint8_t * p, size_t i, size_t n, bool full)
{
    return full ? v_load_32f(p + 4 * i) : v_load_tail_32f(p + 4 * i, sn_min(n, V32F_N));
}

SN_INLINE v32f second(const uint8_t * p, size_t i, size_t n, bool full)
{
    const size_t low = sn_min(n, V32F_N);
    return full ? v_load_32f(p + 4 * (i + V32F_N)) : v_load_tail_32f(p + 4 * (i + low), n - low);
}

/* The even and the odd elements of V16I_N elements. */
struct halves {
    v32f even, odd;
};

SN_INLINE struct halves halves_of(const uint8_t * p, size_t i, bool is_16b, size_t n, bool full)
{
    if (is_16b) {
        const v16i v = full ? v_load_16i(p + 2 * i) : v_load_tail_16i(p + 2 * i, n);
        return (struct halves){v_even_16b_32f(v), v_odd_16b_32f(v)};
    }
    const v32f x = first(p, i, n, full), y = second(p, i, n, full);
    return (struct halves){v_even_32f(x, y), v_odd_32f(x, y)};
}

/* Replaces every NaN by one that rounding in v_join_16b_32f() cannot turn into another value. */
SN_INLINE v32f clean(v32f x) { return v_select_32f(v_eq_32f(x, x), x, v_set_32f(NAN)); }

/* Sums of bfloat16 numbers need no clean(). */
SN_INLINE v16i sum_of(const uint8_t * a, bool a16, const uint8_t * b, bool b16, size_t i, size_t n, bool full)
{
    if (!a16 && !b16) {
        const v32f x = v_add_32f(first(a, i, n, full), first(b, i, n, full));
        const v32f y = v_add_32f(second(a, i, n, full), second(b, i, n, full));
        return v_join_16b_32f(clean(v_even_32f(x, y)), clean(v_odd_32f(x, y)));
    }
    const struct halves x = halves_of(a, i, a16, n, full), y = halves_of(b, i, b16, n, full);
    const v32f even = v_add_32f(x.even, y.even), odd = v_add_32f(x.odd, y.odd);
    return a16 && b16 ? v_join_16b_32f(even, odd) : v_join_16b_32f(clean(even), clean(odd));
}

SN_INLINE void add_narrow(const uint8_t * a, bool a16, const uint8_t * b, bool b16, uint8_t * dst, size_t size)
{
    size_t i = 0;
    for (; i + 2 * V16I_N <= size; i += 2 * V16I_N) {
        const v16i x = sum_of(a, a16, b, b16, i, V16I_N, true), y = sum_of(a, a16, b, b16, i + V16I_N, V16I_N, true);
        v_store_16i(dst + 2 * i, x);
        v_store_16i(dst + 2 * (i + V16I_N), y);
    }
    for (; i < size; i += V16I_N) {
        const size_t n = sn_min(size - i, V16I_N);
        v_store_tail_16i(dst + 2 * i, sum_of(a, a16, b, b16, i, n, false), n);
    }
}

#define ADD_16B(a16, b16, d16)                                                                                              \
    static void add_16b_##a16##b16##d16(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)                   \
    {                                                                                                                       \
        if (d16)                                                                                                            \
            add_narrow(a, a16, b, b16, dst, size);                                                                          \
        else                                                                                                                \
            add_wide(a, a16, b, b16, dst, size);                                                                            \
    }

ADD_16B(0, 0, 0)
ADD_16B(0, 0, 1)
ADD_16B(0, 1, 0)
ADD_16B(0, 1, 1)
ADD_16B(1, 0, 0)
ADD_16B(1, 0, 1)
ADD_16B(1, 1, 0)
ADD_16B(1, 1, 1)

SN_INSTALL(add, add)
{
    const sn_add_16b_fn add[2][2][2] = {{{add_16b_000, add_16b_001}, {add_16b_010, add_16b_011}},
                                        {{add_16b_100, add_16b_101}, {add_16b_110, add_16b_111}}};
    memcpy(slots->run_16b, add, sizeof(add));
}
