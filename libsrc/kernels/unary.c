/* Unary operations. Tanh is the activation with a slope of 1. */
#include "contract/pointwise.h"
#include "kernels/pointwise.h"
#include "kernels/vec_math.h"

SN_INLINE v32f magnitude(v32f x, const v32f * p)
{
    (void)p;
    return v_abs_32f(x);
}

SN_INLINE v32f exponential(v32f x, const v32f * p)
{
    (void)p;
    return v_exp_32f(x);
}

SN_INLINE v32f logarithm(v32f x, const v32f * p)
{
    (void)p;
    return v_log_32f(x);
}

/* -0 - x, which also changes the sign of 0. */
SN_INLINE v32f negative(v32f x, const v32f * p)
{
    (void)p;
    return v_sub_32f(v_set_32f(-0.0f), x);
}

/* AVX-512 has an estimate for every float; that of other sets treats denormals as 0, and division takes about as long. */
SN_INLINE v32f inverse_root(v32f x, const v32f * p)
{
    (void)p;
    return V32F_N == 16 ? v_rsqrt_32f(x) : v_div_32f(v_set_32f(1), v_sqrt_32f(x));
}

SN_INLINE v32f root(v32f x, const v32f * p)
{
    (void)p;
    return v_sqrt_32f(x);
}

SN_INLINE v32f zero(v32f x, const v32f * p)
{
    (void)x;
    (void)p;
    return v_zero_32f();
}

POINTWISE(magnitude, 0, 4)
POINTWISE(exponential, 0, 2)
POINTWISE(logarithm, 0, 2)
POINTWISE(negative, 0, 4)
POINTWISE(inverse_root, 0, 4)
POINTWISE(root, 0, 4)
POINTWISE(zero, 0, 4)

SN_INSTALL(unary, pointwise)
{
    slots->run_32f[SN_ABS] = magnitude_32f;
    slots->run_32f[SN_EXP] = exponential_32f;
    slots->run_32f[SN_LOG] = logarithm_32f;
    slots->run_32f[SN_NEG] = negative_32f;
    slots->run_32f[SN_RSQRT] = inverse_root_32f;
    slots->run_32f[SN_SQRT] = root_32f;
    slots->run_32f[SN_ZERO] = zero_32f;
}
