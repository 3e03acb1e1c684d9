/*
 * tan, the hyperbolic functions, and the inverses of both kinds. As in vec_math.h, comments give the largest errors. A lane
 * whose result is not selected raises no exception: arguments are limited first, and v_min_32f(limit, NaN) is NaN.
 */
#ifndef SN_KERNELS_VEC_ANGLES_H
#define SN_KERNELS_VEC_ANGLES_H

#include "kernels/vec_math.h"

/* pi / 2 in two floats. */
#define VX_HALF_PI 0x1.921FB6p0f
#define VX_HALF_PI_LOW (-0x1.777A5Cp-25f)

/* tan(x), error at most 4 units, for angles of any size; NaN for infinities, -0 for -0. */
SN_INLINE v32f v_tan_32f(v32f x)
{
    v32i n;
    const v32f r = vx_reduce(x, &n), tiny = v_set_32f(0x1p-13f);
    const v32f y = v_div_32f(vx_sin_of_parts(r, n), vx_sin_of_parts(r, v_add_32i(n, v_set_32i(1))));
    return v_select_32f(v_lt_32f(v_abs_32f(x), tiny), x, y);
}

/* exp(x) / 2 for x >= 0; it overflows where cosh(x) does. */
SN_INLINE v32f vx_half_exp(v32f x)
{
    const v32f near = v_min_32f(v_set_32f(91), x);
    v32f sum;
    const v32f n = vx_round(near, VX_LOG2_E, VX_STEP, &sum);
    return vx_exp_of_parts(sum, v_sub_32f(n, v_set_32f(1)), vx_less_ln_2(near, n, false), NULL, VX_ANY);
}

/* cosh(x), error at most 4 units. */
SN_INLINE v32f v_cosh_32f(v32f x)
{
    const v32f half = vx_half_exp(v_abs_32f(x));
    return v_add_32f(half, v_div_32f(v_set_32f(0.25f), half));
}

/* sinh(x), error at most 4 units: by a polynomial up to 1, whose largest relative error is 2^-27.5. */
SN_INLINE v32f v_sinh_32f(v32f x)
{
    const v32f size = v_abs_32f(x), one = v_set_32f(1), near = v_min_32f(one, size), square = v_mul_32f(near, near);
    v32f p = v_fma_32f(square, v_set_32f(0x1.7A15B6p-19f), v_set_32f(0x1.9FFE92p-13f));
    p = v_fma_32f(v_fma_32f(p, square, v_set_32f(0x1.111134p-7f)), square, v_set_32f(0x1.555556p-3f));
    const v32f half = vx_half_exp(size), far = v_sub_32f(half, v_div_32f(v_set_32f(0.25f), half));
    return vx_with_sign(v_select_32f(v_lt_32f(one, size), far, v_fma_32f(v_mul_32f(near, square), p, near)), x);
}

/* log(1 + u) for u that is not between -1 and 0: what rounding 1 + u leaves out is added, as it may be all of u. */
SN_INLINE v32f vx_log1p(v32f u)
{
    const v32f one = v_set_32f(1), w = v_add_32f(one, u);
    const v32m small = v_lt_32f(v_abs_32f(w), v_set_32f(0x1p24f));
    const v32f near = v_select_32f(small, w, one), rest = v_sub_32f(v_select_32f(small, u, v_zero_32f()), v_sub_32f(near, one));
    return v_add_32f(v_log_32f(w), v_div_32f(rest, near));
}

/* log(1 + u) of a number x up to VX_FAR, beyond it log(2 * x). */
#define VX_FAR 0x1p14f
SN_INLINE v32f vx_log1p_or_far(v32f u, v32f x)
{
    const v32m far = v_lt_32f(v_set_32f(VX_FAR), x);
    const v32f near = v_select_32f(far, v_sub_32f(x, v_set_32f(1)), u);
    return v_add_32f(vx_log1p(near), v_select_32f(far, v_set_32f(VX_LN_2), v_zero_32f()));
}

/* asinh(x), error at most 4 units. */
SN_INLINE v32f v_asinh_32f(v32f x)
{
    const v32f one = v_set_32f(1), size = v_abs_32f(x), a = v_min_32f(v_set_32f(VX_FAR), size), square = v_mul_32f(a, a);
    const v32f u = v_add_32f(a, v_div_32f(square, v_add_32f(one, v_sqrt_32f(v_add_32f(one, square)))));
    return vx_with_sign(vx_log1p_or_far(u, size), x);
}

/* acosh(x), error at most 4 units; NaN below 1. */
SN_INLINE v32f v_acosh_32f(v32f x)
{
    const v32f t = v_sub_32f(v_min_32f(v_set_32f(VX_FAR), x), v_set_32f(1));
    const v32f u = v_fma_32f(v_sqrt_32f(t), v_sqrt_32f(v_add_32f(t, v_set_32f(2))), t);
    return vx_log1p_or_far(u, x);
}

/* atanh(x), error at most 4 units; infinite for 1 and -1, NaN beyond them. */
SN_INLINE v32f v_atanh_32f(v32f x)
{
    const v32f one = v_set_32f(1), two = v_set_32f(2), a = v_min_32f(two, v_abs_32f(x));
    const v32m last = v_eq_32f(a, one); /* also in lanes behind the end of an array */
    const v32f left = v_keep_32f(v_select_32f(last, one, v_sub_32f(one, a))); /* clang would divide by both, and select then */
    const v32f y = vx_log1p(v_div_32f(v_mul_32f(two, a), left));
    return vx_with_sign(v_select_32f(last, v_set_32f(INFINITY), v_mul_32f(v_set_32f(0.5f), y)), x);
}

/* atan(x), error at most 4 units: of 0 to tan(pi / 8) by a polynomial, of larger numbers by an addition theorem. */
SN_INLINE v32f v_atan_32f(v32f x)
{
    const v32f size = v_abs_32f(x), one = v_set_32f(1), zero = v_zero_32f();
    const v32m middle = v_lt_32f(v_set_32f(0x1.A8279Ap-2f), size), far = v_lt_32f(v_set_32f(0x1.3504F4p1f), size);
    const v32f top = v_select_32f(far, v_set_32f(-1), v_select_32f(middle, v_sub_32f(size, one), size));
    const v32f bottom = v_select_32f(far, size, v_select_32f(middle, v_add_32f(size, one), one));
    const v32f turn = v_select_32f(far, one, v_select_32f(middle, v_set_32f(0.5f), zero)), z = v_div_32f(top, bottom);
    const v32f square = v_mul_32f(z, z);
    v32f p = v_fma_32f(square, v_set_32f(-0x1.F1ED86p-5f), v_set_32f(0x1.B1EC3p-4f));
    p = v_fma_32f(v_fma_32f(p, square, v_set_32f(-0x1.23B522p-3f)), square, v_set_32f(0x1.999196p-3f));
    p = v_fma_32f(p, square, v_set_32f(-0x1.55554Ap-2f));
    const v32f low = v_fma_32f(v_mul_32f(z, square), p, v_mul_32f(turn, v_set_32f(VX_HALF_PI_LOW)));
    return vx_with_sign(v_add_32f(v_mul_32f(turn, v_set_32f(VX_HALF_PI)), v_add_32f(low, z)), x);
}

/* asin(|x|) up to 1/2, beyond it asin of the root of (1 - |x|) / 2, which is half of acos(|x|); *far says which. */
SN_INLINE v32f vx_asin_of_part(v32f x, v32m * far)
{
    const v32f half = v_set_32f(0.5f), size = v_min_32f(v_set_32f(2), v_abs_32f(x)), near = v_min_32f(half, size);
    *far = v_lt_32f(half, size);
    const v32f z = v_select_32f(*far, v_mul_32f(half, v_sub_32f(v_set_32f(1), size)), v_mul_32f(near, near));
    const v32f s = v_select_32f(*far, v_sqrt_32f(z), near);
    v32f p = v_fma_32f(z, v_set_32f(0x1.596D28p-5f), v_set_32f(0x1.8C283Ep-6f));
    p = v_fma_32f(v_fma_32f(p, z, v_set_32f(0x1.747E4Ap-5f)), z, v_set_32f(0x1.3301E4p-4f));
    p = v_fma_32f(p, z, v_set_32f(0x1.5555C8p-3f));
    return v_fma_32f(v_mul_32f(s, z), p, s);
}

/* pi / 2 - y. */
SN_INLINE v32f vx_from_half_pi(v32f y)
{
    return v_sub_32f(v_set_32f(VX_HALF_PI), v_sub_32f(y, v_set_32f(VX_HALF_PI_LOW)));
}

/* asin(x), error at most 4 units; NaN beyond 1. */
SN_INLINE v32f v_asin_32f(v32f x)
{
    v32m far;
    const v32f y = vx_asin_of_part(x, &far);
    return vx_with_sign(v_select_32f(far, vx_from_half_pi(v_add_32f(y, y)), y), x);
}

/* acos(x), likewise: 2 * y is acos(|x|), and y is asin(|x|). */
SN_INLINE v32f v_acos_32f(v32f x)
{
    v32m far;
    const v32f y = vx_asin_of_part(x, &far), twice = v_add_32f(y, y), zero = v_zero_32f();
    const v32m below = v_lt_32f(x, zero);
    const v32f minus = v_sub_32f(v_set_32f(2 * VX_HALF_PI), v_sub_32f(twice, v_set_32f(2 * VX_HALF_PI_LOW)));
    const v32f beside = vx_from_half_pi(v_select_32f(below, v_sub_32f(zero, y), y));
    return v_select_32f(far, v_select_32f(below, minus, twice), beside);
}

#endif
