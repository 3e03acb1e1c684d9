/*
 * Elementary functions on the vocabulary. Each says its error in units in the last place of the result, over all floats,
 * against the exact value at the rounded argument.
 */
#ifndef SN_KERNELS_VEC_MATH_H
#define SN_KERNELS_VEC_MATH_H

#include "kernels/vec.h"

/*
 * exp(x) for -104.5 <= x <= 89 or NaN.
 *
 * By polynomial: x = n * ln 2 + r with |r| <= ln 2 / 2, and exp(r) = 1 + r + r^2 * p(r), p of degree 4. By table, where a
 * vector holds 8 or 16 powers of 2^(1 / V32F_N): |r| <= ln 2 / 32 lets p be of degree 1, which saves a fifth of the
 * operations; the last bits of the rounded sum are the index, those above it the power of two. Coefficients make the largest
 * relative error least: 2^-28.3, 2^-29 and, with 8 powers, 2^-25.
 *
 * ln 2 is in two parts, the first of so few bits that n times it is exact: one alone would cost 60 units near x = 88.
 */
SN_INLINE v32f vx_exp_by_polynomial(v32f x)
{
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

static const float vx_powers_8[8] = {
    0x1p0f, 0x1.172B84p0f, 0x1.306FEp0f, 0x1.4BFDAEp0f, 0x1.6A09E6p0f, 0x1.8ACE54p0f, 0x1.AE89FAp0f, 0x1.D5818Ep0f,
};

static const float vx_powers_16[16] = {
    0x1p0f, 0x1.0B5586p0f, 0x1.172B84p0f, 0x1.2387A6p0f, 0x1.306FEp0f, 0x1.3DEA64p0f, 0x1.4BFDAEp0f, 0x1.5AB07Ep0f,
    0x1.6A09E6p0f, 0x1.7A1148p0f, 0x1.8ACE54p0f, 0x1.9C4918p0f, 0x1.AE89FAp0f, 0x1.C199BEp0f, 0x1.D5818Ep0f, 0x1.EA4AFAp0f,
};

SN_INLINE v32f vx_exp_by_table(v32f x)
{
    const bool wide = V32F_N == 16;
    const v32f magic = v_set_32f(wide ? 0x1.8p19f : 0x1.8p20f); /* adding it rounds to a multiple of 1 / V32F_N */
    const v32f sum = v_fma_32f(x, v_set_32f(0x1.715476p0f), magic), n = v_sub_32f(sum, magic);
    v32f r = v_fnma_32f(n, v_set_32f(0x1.62E4p-1f), x);
    r = v_fnma_32f(n, v_set_32f(0x1.7F7D1Cp-20f), r);
    const v32f p = wide ? v_fma_32f(r, v_set_32f(0x1.5555FCp-3f), v_set_32f(0x1.000238p-1f))
                        : v_fma_32f(r, v_set_32f(0x1.5557DEp-3f), v_set_32f(0x1.0008DAp-1f));
    const v32f power = v_lookup_32f(v_load_32f(wide ? vx_powers_16 : vx_powers_8), v_cast_32f_32i(sum));
    return v_scale_32f(v_fma_32f(power, v_fma_32f(v_mul_32f(r, r), p, r), power), n);
}

SN_INLINE v32f vx_exp_within(v32f x) { return V32F_N >= 8 ? vx_exp_by_table(x) : vx_exp_by_polynomial(x); }

/*
 * exp(x), within 2 units (1.2 measured over all floats: test_vec_math_<isa> 1); denormal results too, overflow to infinity,
 * NaN for NaN.
 * Beyond the bounds results are 0 and infinity; a NaN stays, as the second operand.
 */
SN_INLINE v32f v_exp_32f(v32f x)
{
    return vx_exp_within(v_min_32f(v_set_32f(89.0f), v_max_32f(v_set_32f(-104.5f), x)));
}

/* The same for x that is 0 or less, or NaN. */
SN_INLINE v32f v_exp_nonpositive_32f(v32f x) { return vx_exp_within(v_max_32f(v_set_32f(-104.5f), x)); }

#endif
