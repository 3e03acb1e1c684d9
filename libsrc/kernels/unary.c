/* Unary operations. Tanh is the activation with a slope of 1. */
#include "contract/pointwise.h"
#include "kernels/pointwise.h"
#include "kernels/vec_erf.h"
#include "kernels/vec_math.h"

/* The kernel NAME_32f; `f` is the value for x, `group` as in pointwise.h. */
#define UNARY(name, group, f)                                                                                               \
    SN_INLINE v32f name(v32f x, const v32f * p)                                                                             \
    {                                                                                                                       \
        (void)p;                                                                                                            \
        return f;                                                                                                           \
    }                                                                                                                       \
    POINTWISE(name, 0, group)

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

UNARY(magnitude, 4, v_abs_32f(x))
UNARY(exponential, 2, v_exp_32f(x))
UNARY(logarithm, 2, v_log_32f(x))
UNARY(negative, 4, minus(x))
UNARY(inverse_root, 4, root_inverse(x))
UNARY(zero, 4, ((void)x, v_zero_32f()))
UNARY(ceiling, 4, minus(integer_below(minus(x))))
UNARY(cosine, 1, v_cos_32f(x))
UNARY(error_function, 2, v_erf_32f(x))
UNARY(floored, 4, integer_below(x))
UNARY(complement, 4, v_cast_32i_32f(v_xor_32i(v_cast_32f_32i(x), v_set_32i(-1))))
UNARY(reciprocal, 4, v_div_32f(v_set_32f(1), x))
UNARY(rounded, 4, v_round_32f(x))
UNARY(sign, 4, sign_of(x))
UNARY(sine, 1, v_sin_32f(x))

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

POINTWISE_IN_TURN(root, root_by_products, 0, 4)

SN_INSTALL(unary, pointwise)
{
    slots->run_32f[SN_ABS] = magnitude_32f;
    slots->run_32f[SN_EXP] = exponential_32f;
    slots->run_32f[SN_LOG] = logarithm_32f;
    slots->run_32f[SN_NEG] = negative_32f;
    slots->run_32f[SN_RSQRT] = inverse_root_32f;
    slots->run_32f[SN_SQRT] = root_32f;
    slots->run_32f[SN_ZERO] = zero_32f;
    slots->run_32f[SN_CEIL] = ceiling_32f;
    slots->run_32f[SN_COS] = cosine_32f;
    slots->run_32f[SN_ERF] = error_function_32f;
    slots->run_32f[SN_FLOOR] = floored_32f;
    slots->run_32f[SN_NOT] = complement_32f;
    slots->run_32f[SN_RCP] = reciprocal_32f;
    slots->run_32f[SN_ROUND] = rounded_32f;
    slots->run_32f[SN_SIGN] = sign_32f;
    slots->run_32f[SN_SIN] = sine_32f;
}
