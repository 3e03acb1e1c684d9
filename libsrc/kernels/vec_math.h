/*
 * Elementary functions on the vocabulary. Each says its error in units in the last place of the result, over all floats,
 * against the exact value at the rounded argument.
 */
#ifndef SN_KERNELS_VEC_MATH_H
#define SN_KERNELS_VEC_MATH_H

#include "kernels/vec.h"

/*
 * exp: x = n * ln 2 + r, exp(x) = 2^n * exp(r), for -104.5 <= x <= 89 or NaN.
 *
 * By polynomial: n whole, |r| <= ln 2 / 2, exp(r) = 1 + r + r^2 * p(r), p of degree 4. By table, where a vector holds 8 or
 * 16 powers of 2^(1 / V32F_N): n a multiple of 1 / V32F_N, |r| <= ln 2 / 32 lets p be of degree 1, which saves a fifth of
 * the operations. n comes from adding a number so large that the sum is rounded to such a multiple: the last bits of the sum are
 * the index, those above it the power of two. Coefficients make the largest relative error least: 2^-28.3, 2^-29 and, with 8
 * powers, 2^-25.
 *
 * ln 2 is in two parts, the first of so few bits that n times it is exact: one alone would cost 60 units near x = 88.
 */
#define VX_LOG2_E 0x1.715476p0f
#define VX_LN_2 0x1.62E43p-1f
#define VX_LN_2_HIGH 0x1.62E4p-1f
#define VX_LN_2_LOW 0x1.7F7D1Cp-20f

SN_INLINE v32f vx_rounder(void) { return v_set_32f(V32F_N == 16 ? 0x1.8p19f : V32F_N == 8 ? 0x1.8p20f : 0x1.8p23f); }

static const float vx_powers_8[8] = {
    0x1p0f, 0x1.172B84p0f, 0x1.306FEp0f, 0x1.4BFDAEp0f, 0x1.6A09E6p0f, 0x1.8ACE54p0f, 0x1.AE89FAp0f, 0x1.D5818Ep0f,
};

static const float vx_powers_16[16] = {
    0x1p0f, 0x1.0B5586p0f, 0x1.172B84p0f, 0x1.2387A6p0f, 0x1.306FEp0f, 0x1.3DEA64p0f, 0x1.4BFDAEp0f, 0x1.5AB07Ep0f,
    0x1.6A09E6p0f, 0x1.7A1148p0f, 0x1.8ACE54p0f, 0x1.9C4918p0f, 0x1.AE89FAp0f, 0x1.C199BEp0f, 0x1.D5818Ep0f, 0x1.EA4AFAp0f,
};

SN_INLINE v32f vx_exp_by_table(v32f sum, v32f n, v32f r)
{
    const bool wide = V32F_N == 16;
    const v32f p = wide ? v_fma_32f(r, v_set_32f(0x1.5555FCp-3f), v_set_32f(0x1.000238p-1f))
                        : v_fma_32f(r, v_set_32f(0x1.5557DEp-3f), v_set_32f(0x1.0008DAp-1f));
    const v32f power = v_lookup_32f(v_load_32f(wide ? vx_powers_16 : vx_powers_8), v_cast_32f_32i(sum));
    return v_scale_32f(v_fma_32f(power, v_fma_32f(v_mul_32f(r, r), p, r), power), n);
}

SN_INLINE v32f vx_exp_by_polynomial(v32f n, v32f r)
{
    v32f p = v_set_32f(0x1.6A23Dp-10f);
    p = v_fma_32f(p, r, v_set_32f(0x1.123A2p-7f));
    p = v_fma_32f(p, r, v_set_32f(0x1.5558F2p-5f));
    p = v_fma_32f(p, r, v_set_32f(0x1.555492p-3f));
    p = v_fma_32f(p, r, v_set_32f(0x1.FFFFFCp-2f));
    return v_scale_32f(v_add_32f(v_fma_32f(v_mul_32f(r, r), p, r), v_set_32f(1)), n);
}

/* 2^n * exp(r), where n is what was rounded to and sum what it was rounded by. */
SN_INLINE v32f vx_exp_of_parts(v32f sum, v32f n, v32f r)
{
    return V32F_N >= 8 ? vx_exp_by_table(sum, n, r) : vx_exp_by_polynomial(n, r);
}

SN_INLINE v32f vx_exp_within(v32f x)
{
    const v32f sum = v_fma_32f(x, v_set_32f(VX_LOG2_E), vx_rounder()), n = v_sub_32f(sum, vx_rounder());
    const v32f r = v_fnma_32f(n, v_set_32f(VX_LN_2_HIGH), x);
    return vx_exp_of_parts(sum, n, v_fnma_32f(n, v_set_32f(VX_LN_2_LOW), r));
}

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

/*
 * What log and pow do: x = 2^exponent * m with 1 <= m < 2, log(x) = exponent * ln 2 - log(t) + log(1 + r), r = m * t - 1.
 *
 * t is 1 / m to four or three bits, by table. The first t is 1 and the last 1/2: near x = 1 from above and from below log(t)
 * goes away, with it the rounding of the sum, and r is exact. All other t were chosen, within 1/300 of the middle of their
 * interval, so that -log(t) is a float but for 2^-40; from the middle of the table on, so that -log(t) - ln 2 is one, as
 * exponent is -1 when the sum is small.
 *
 * log(1 + r) = r * (1 + r * p(r)), p of degree 3 for -1/32 <= r <= 1/16, of degree 4 for -1/16 <= r <= 1/8; coefficients
 * make the largest relative error least: 2^-28.4.
 *
 * Vectors of four and sets without a fused multiply-add (m * t would have to be rounded): m between 3/4 and 3/2, r = m - 1,
 * log(1 + r) = r - r^2 / 2 + r^3 * p(r), p of degree 7, error 2^-27.6.
 */
static const float vx_inverses_8[8] = {
    0x1p0f, 0x1.AFB8A2p-1f, 0x1.8624D2p-1f, 0x1.64AEFp-1f, 0x1.472CB4p-1f, 0x1.2F147Ap-1f, 0x1.1ADD8p-1f, 0x1p-1f,
};

static const float vx_logs_8[8] = {
    0, 0x1.5D4678p-3f, 0x1.165524p-2f, 0x1.7226D2p-2f, 0x1.CA941Ap-2f, 0x1.0C74B4p-1f, 0x1.2FCC1Ap-1f, 0x1.62E43p-1f,
};

static const float vx_inverses_16[16] = {
    0x1p0f, 0x1.D3AC8Ap-1f, 0x1.BA6B1Ap-1f, 0x1.A469CCp-1f, 0x1.8FF0F8p-1f, 0x1.7D43B6p-1f, 0x1.6B8E4p-1f, 0x1.5C5EFAp-1f,
    0x1.4ED662p-1f, 0x1.417ADAp-1f, 0x1.352496p-1f, 0x1.2A6D5Ep-1f, 0x1.1FDA2Ep-1f, 0x1.156382p-1f, 0x1.0C144Ep-1f, 0x1p-1f,
};

static const float vx_logs_16[16] = {
    0, 0x1.72E7E8p-4f, 0x1.2B260Cp-3f, 0x1.93A20Cp-3f, 0x1.F9DEBEp-3f, 0x1.2DE84p-2f, 0x1.5E9C1p-2f, 0x1.8A4C48p-2f,
    0x1.B2DF2Ep-2f, 0x1.DC8F1Ap-2f, 0x1.025092p-1f, 0x1.14607Ap-1f, 0x1.26D962p-1f, 0x1.39CEAAp-1f, 0x1.4B490Ep-1f,
    0x1.62E43p-1f,
};

/* exponent * ln 2 + log(m); without an exponent, NULL, log(m). */
SN_INLINE v32f vx_log_by_table(v32f m, const v32f * exponent)
{
    const bool wide = V32F_N == 16;
    const v32i index = v_shr_32i(v_cast_32f_32i(m), wide ? 19 : 20);
    const v32f t = v_lookup_32f(v_load_32f(wide ? vx_inverses_16 : vx_inverses_8), index);
    const v32f log_t = v_lookup_32f(v_load_32f(wide ? vx_logs_16 : vx_logs_8), index);
    const v32f r = v_fma_32f(m, t, v_set_32f(-1));
    v32f p = wide ? v_set_32f(0x1.826F1Ap-3f) : v_fma_32f(r, v_set_32f(-0x1.285FA6p-3f), v_set_32f(0x1.99C7AAp-3f));
    p = v_fma_32f(p, r, v_set_32f(wide ? -0x1.00139Cp-2f : -0x1.002062p-2f));
    p = v_fma_32f(p, r, v_set_32f(wide ? 0x1.555836p-2f : 0x1.5555AAp-2f));
    p = v_fma_32f(p, r, v_set_32f(wide ? -0x1p-1f : -0x1.FFFFF6p-2f));
    p = v_fma_32f(p, r, v_set_32f(1));
    return v_fma_32f(p, r, exponent ? v_fma_32f(*exponent, v_set_32f(VX_LN_2), log_t) : log_t);
}

SN_INLINE v32f vx_log_by_polynomial(v32f m, const v32f * exponent)
{
    const v32f r = v_sub_32f(m, v_set_32f(1)), square = v_mul_32f(r, r);
    v32f p = v_set_32f(-0x1.71E334p-5f);
    p = v_fma_32f(p, r, v_set_32f(0x1.ACF4AAp-4f));
    p = v_fma_32f(p, r, v_set_32f(-0x1.0D98Fp-3f));
    p = v_fma_32f(p, r, v_set_32f(0x1.28807Ap-3f));
    p = v_fma_32f(p, r, v_set_32f(-0x1.54ED96p-3f));
    p = v_fma_32f(p, r, v_set_32f(0x1.99699Ep-3f));
    p = v_fma_32f(p, r, v_set_32f(-0x1.00004Ap-2f));
    p = v_fma_32f(p, r, v_set_32f(0x1.5555A4p-2f));
    p = v_mul_32f(p, v_mul_32f(square, r));
    if (exponent)
        p = v_fma_32f(*exponent, v_set_32f(VX_LN_2_LOW), p);
    const v32f log_m = v_add_32f(r, v_fma_32f(square, v_set_32f(-0.5f), p));
    return exponent ? v_fma_32f(*exponent, v_set_32f(VX_LN_2_HIGH), log_m) : log_m;
}

SN_INLINE v32f vx_log_of_parts(v32f m, const v32f * exponent)
{
    return V32F_N >= 8 ? vx_log_by_table(m, exponent) : vx_log_by_polynomial(m, exponent);
}

/* x = 2^exponent * m, with m where vx_log_of_parts wants it. */
SN_INLINE void vx_log_parts(v32f x, v32f * m, v32f * exponent)
{
    *m = v_mantissa_32f(x);
    *exponent = v_exponent_32f(x);
    if (V32F_N < 8) {
        const v32m low = v_lt_32f(*m, v_set_32f(1.5f));
        *m = v_mul_32f(*m, v_select_32f(low, v_set_32f(1), v_set_32f(0.5f)));
        *exponent = v_add_32f(*exponent, v_select_32f(low, v_zero_32f(), v_set_32f(1)));
    }
}

/* log(x), within 2 units; of denormals too, -Inf for 0 of either sign, NaN for x < 0. */
SN_INLINE v32f v_log_32f(v32f x)
{
    v32f m, exponent;
    vx_log_parts(x, &m, &exponent);
    return vx_log_of_parts(m, &exponent);
}

/* fraction of exponent * b: the product less n, which is near it. Without a fused multiply-add b is taken in two parts. */
SN_INLINE v32f vx_product_less(v32f exponent, v32f b, v32f n)
{
    if (V_FMA)
        return v_fma_32f(exponent, b, v_sub_32f(v_zero_32f(), n));
    const v32f high = v_cast_32i_32f(v_and_32i(v_cast_32f_32i(b), v_set_32i(-256)));
    return v_add_32f(v_sub_32f(v_mul_32f(exponent, high), n), v_mul_32f(exponent, v_sub_32f(b, high)));
}

/*
 * x^b for x >= 0 and |b| <= 2^24, relative error at most (1 + |b|) * 2^-23; 0^b, Inf^b and x^0 as powf has them, denormal
 * results too, overflow to infinity. NaN for x < 0 and for NaN.
 *
 * b * log2(x) would be too rough as one float (2^-18 near 128): it is b * exponent, of which the part behind n is exact, and
 * b * log(m). Beyond the bounds n and r are what gives 0 or infinity.
 */
SN_INLINE v32f v_pow_32f(v32f x, v32f b)
{
    v32f m, exponent;
    vx_log_parts(x, &m, &exponent);
    exponent = v_min_32f(v_set_32f(0x1p30f), v_max_32f(v_set_32f(-0x1p30f), exponent));
    const v32f log_m = v_mul_32f(b, vx_log_of_parts(m, NULL));
    const v32f t = v_fma_32f(log_m, v_set_32f(VX_LOG2_E), v_mul_32f(exponent, b));
    const v32f sum = v_add_32f(v_min_32f(v_set_32f(160), v_max_32f(v_set_32f(-160), t)), vx_rounder());
    const v32f n = v_sub_32f(sum, vx_rounder());
    const v32f r = v_fma_32f(vx_product_less(exponent, b, n), v_set_32f(VX_LN_2), log_m);
    return vx_exp_of_parts(sum, n, v_min_32f(v_set_32f(1), v_max_32f(v_set_32f(-1), r)));
}

#endif
