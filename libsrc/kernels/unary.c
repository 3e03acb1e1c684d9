/* Unary operations. Tanh is the activation with a slope of 1. */
#include "contract/pointwise.h"
#include "kernels/pointwise.h"
#include "kernels/vec_angles.h"
#include "kernels/vec_erf.h"
#include "kernels/vec_math.h"

/* The kernel NAME_32f; `f` is the value for x, `group` as in pointwise.h. */
#define UNARY(name, group, f)                                                                                               \
    SN_INLINE v32f unary_##name(v32f x, const v32f * p)                                                                     \
    {                                                                                                                       \
        (void)p;                                                                                                            \
        return f;                                                                                                           \
    }                                                                                                                       \
    POINTWISE_OF(name, unary_##name, unary_##name, 0, group)

/* AVX-512 has an estimate for every float; that of other sets treats denormals as 0, and division takes about as long. */
SN_INLINE v32f root_inverse(v32f x) { return V32F_N == 16 ? v_rsqrt_32f(x) : v_div_32f(v_set_32f(1), v_sqrt_32f(x)); }

/* The nearest integer, or the one next to it if that is on the wrong side; zeros have the sign of x. */
SN_INLINE v32f integer_below(v32f x)
{
    const v32f n = v_round_32f(x), one = v_set_32f(1);
    return v_select_32f(v_lt_32f(x, n), v_sub_32f(n, one), n);
}

SN_INLINE v32f minus(v32f x) { return v_sub_32f(v_set_32f(-0.0f), x); } /* also changes the sign of 0 */

SN_INLINE v32f sign_of(v32f x)
{
    const v32f zero = v_zero_32f(), one = v_set_32f(1);
    return v_select_32f(v_lt_32f(zero, x), one, v_select_32f(v_lt_32f(x, zero), minus(one), x));
}

UNARY(abs, 4, v_abs_32f(x))
UNARY(exp, 2, v_exp_32f(x))
UNARY(log, 2, v_log_32f(x))
UNARY(neg, 4, minus(x))
UNARY(rsqrt, 4, root_inverse(x))
UNARY(zero, 4, ((void)x, v_zero_32f()))
UNARY(ceil, 4, minus(integer_below(minus(x))))
UNARY(cos, 1, v_cos_32f(x))
UNARY(erf, 2, v_erf_32f(x))
UNARY(floor, 4, integer_below(x))
UNARY(not, 4, v_cast_32i_32f(v_xor_32i(v_cast_32f_32i(x), v_set_32i(-1))))
UNARY(rcp, 4, v_div_32f(v_set_32f(1), x))
UNARY(round, 4, v_round_32f(x))
UNARY(sign, 4, sign_of(x))
UNARY(sin, 1, v_sin_32f(x))

/*
 * Square roots, in turn by the divider and, if all lanes are usual, by multiplications: with avx512 1.8 times as fast as by
 * the divider alone (Emerald Rapids).
 */
SN_INLINE v32f root(v32f x, const v32f * p)
{
    (void)p;
    return v_sqrt_32f(x);
}

SN_INLINE v32f root_by_products(v32f x, const v32f * p)
{
    (void)p;
    /* 2^-100 .. FLT_MAX become the smallest integers */
    const v32i low = v_set_32i((127 - 100) * (1 << 23)), bits = v_sub_32i(v_cast_32f_32i(x), low);
    const v32i order = v_xor_32i(bits, v_set_32i(INT32_MIN)), last = v_set_32i(INT32_MIN + (100 + 128) * (1 << 23) - 1);
    return v_any(v_gt_32i(order, last)) ? v_sqrt_32f(x) : v_sqrt_by_products_32f(x);
}

POINTWISE_OF(sqrt, root, root_by_products, 0, 4)

/*
 * Functions of so many instructions that the template of pointwise.h gains nothing: they are inlined once, where it has eight
 * copies of each.
 */
#define ANGLE(name)                                                                                                         \
    static void name##_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)               \
    {                                                                                                                       \
        (void)params;                                                                                                       \
        (void)stream;                                                                                                       \
        for (size_t i = 0; i < size; i += V32F_N) {                                                                         \
            const size_t n = size - i;                                                                                      \
            const v32f x = n < V32F_N ? v_ones_behind_32f(v_load_tail_32f(src + i, n), n) : v_load_32f(src + i);            \
            const v32f y = v_##name##_32f(x);                                                                               \
            if (n < V32F_N)                                                                                                 \
                v_store_tail_32f(dst + i, y, n);                                                                            \
            else                                                                                                            \
                v_store_32f(dst + i, y);                                                                                    \
        }                                                                                                                   \
    }

ANGLE(acos)
ANGLE(acosh)
ANGLE(asin)
ANGLE(asinh)
ANGLE(atan)
ANGLE(atanh)
ANGLE(cosh)
ANGLE(sinh)
ANGLE(tan)

SN_INSTALL(unary, pointwise)
{
    SN_UNARY_OPERATIONS(SN_POINTWISE_SLOT)
    SN_ANGLES(SN_POINTWISE_SLOT)
}
