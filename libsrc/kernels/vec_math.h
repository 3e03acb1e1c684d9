/*
 * Elementary functions on the vocabulary. Each says its error in units in the last place of the result, over all floats,
 * against the exact value at the rounded argument.
 */
#ifndef SN_KERNELS_VEC_MATH_H
#define SN_KERNELS_VEC_MATH_H

#include "kernels/vec.h"

/*
 * exp(x), within 2 units (1.01 measured over all floats); denormal results too, overflow to infinity,
 * NaN for NaN.
 *
 * x = n * ln 2 + r with |r| <= ln 2 / 2, and exp(r) = 1 + r + r^2 * p(r) with p of degree 4, whose coefficients make the
 * largest relative error of exp(r) least, 2^-28. ln 2 is in two parts, the first of so few bits that n times it is exact: one
 * alone would cost 60 units near x = 88.
 */
SN_INLINE v32f v_exp_32f(v32f x)
{
    /* Beyond these, results are 0 and infinity; a NaN stays (it is the second operand). */
    x = v_min_32f(v_set_32f(89.0f), v_max_32f(v_set_32f(-104.5f), x));
    const v32f magic = v_set_32f(0x1.8p23f); /* adding it rounds to a whole number */
    const v32f n = v_sub_32f(v_fma_32f(x, v_set_32f(0x1.715476p0f), magic), magic);
    v32f r = v_fnma_32f(n, v_set_32f(0x1.62E4p-1f), x);
    r = v_fnma_32f(n, v_set_32f(0x1.7F7D1Cp-20f), r);
    v32f p = v_set_32f(0x1.6A23Dp-10f);
    p = v_fma_32f(p, r, v_set_32f(0x1.123A2p-7f));
    p = v_fma_32f(p, r, v_set_32f(0x1.5558F2p-5f));
    p = v_fma_32f(p, r, v_set_32f(0x1.555492p-3f));
    p = v_fma_32f(p, r, v_set_32f(0x1.FFFFFCp-2f));
    return v_scale_32f(v_add_32f(v_fma_32f(v_mul_32f(r, r), p, r), v_set_32f(1)), n);
}

#endif
