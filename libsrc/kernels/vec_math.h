/*
 * Elementary functions in terms of the vocabulary. The comment of each gives its largest error over all floats, in units in
 * the last place of the result, compared with the exact value at the rounded argument; tests/c/test_vec_math.c measures it.
 */
#ifndef SN_KERNELS_VEC_MATH_H
#define SN_KERNELS_VEC_MATH_H

#include <math.h>

#include "kernels/vec.h"
#include "runtime/numeric.h"

/*
 * Lanes from n on become 1, for which no function raises a floating-point exception: the lanes beyond the end of an array
 * then have no effect. The compiler must not know these lanes: clang omits the select if only lanes below n are stored, and
 * 1 / x then divides by the zeros of the load.
 */
SN_INLINE v32f v_ones_behind_32f(v32f v, size_t n)
{
    static const float lane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return v_keep_32f(v_select_32f(v_lt_32f(v_load_32f(lane), v_set_32f((float)n)), v, v_set_32f(1)));
}

/*
 * exp: x = n * ln 2 + r, exp(x) = 2^n * exp(r), for -104.5 <= x <= 89 or NaN.
 *
 * By polynomial: integer n, |r| <= ln 2 / 2, exp(r) = 1 + r + r^2 * p(r), p of degree 4. By table, if a vector holds 8 or
 * 16 powers of 2^(1 / V32F_N): n is a multiple of 1 / V32F_N, and |r| <= ln 2 / 32 allows p of degree 1, which saves a fifth
 * of the operations. n is computed by adding a number so large that the sum is rounded to such a multiple: the last bits of
 * the sum are the index, those above it the power of two. Coefficients minimise the largest relative error: 2^-28.3, 2^-29
 * and, with 8 powers, 2^-25.
 *
 * ln 2 is split into two parts, the first with so few bits that n times it is exact: a single part would cost 60 units near
 * x = 88.
 */
#define VX_LOG2_E 0x1.715476p0f
#define VX_LN_2 0x1.62E43p-1f
#define VX_LN_2_HIGH 0x1.62E4p-1f
#define VX_LN_2_LOW 0x1.7F7D1Cp-20f

#define VX_WHOLE 0x1.8p23f /* added to round to an integer, and to a multiple of the table's step */
#define VX_STEP (V32F_N == 16 ? 0x1.8p19f : V32F_N == 8 ? 0x1.8p20f : VX_WHOLE)

/* x * scale rounded by adding such a number; the last bits of the sum hold the result. */
SN_INLINE v32f vx_round(v32f x, float scale, float rounder, v32f * sum)
{
    *sum = v_fma_32f(x, v_set_32f(scale), v_set_32f(rounder));
    return v_sub_32f(*sum, v_set_32f(rounder));
}

static const float vx_powers_8[8] = {
    0x1p0f, 0x1.172B84p0f, 0x1.306FEp0f, 0x1.4BFDAEp0f, 0x1.6A09E6p0f, 0x1.8ACE54p0f, 0x1.AE89FAp0f, 0x1.D5818Ep0f,
};

static const float vx_powers_16[16] = {
    0x1p0f, 0x1.0B5586p0f, 0x1.172B84p0f, 0x1.2387A6p0f, 0x1.306FEp0f, 0x1.3DEA64p0f, 0x1.4BFDAEp0f, 0x1.5AB07Ep0f,
    0x1.6A09E6p0f, 0x1.7A1148p0f, 0x1.8ACE54p0f, 0x1.9C4918p0f, 0x1.AE89FAp0f, 0x1.C199BEp0f, 0x1.D5818Ep0f, 0x1.EA4AFAp0f,
};

/* The bits of the 8 powers less i << 20, which vx_power() adds. */
static const float vx_powers_less_index_8[8] = {
    0x1p0f, 0x1.F72B84p-1f, 0x1.F06FEp-1f, 0x1.EBFDAEp-1f, 0x1.EA09E6p-1f, 0x1.EACE54p-1f, 0x1.EE89FAp-1f, 0x1.F5818Ep-1f,
};

/*
 * 2^(sum - VX_STEP), a normal float, for a sum that VX_STEP, or VX_STEP + an integer, has rounded: its last bits are shifted
 * to the exponent. Times the factor, if table[i] has the bits of factor * 2^(i / 8) less i << 20.
 */
SN_INLINE v32f vx_power(v32f sum, const sn_32f * table, float factor)
{
    const bool by_table = V32F_N == 8;
    const v32i bits = v_cast_32f_32i(sum);
    const v32f first = by_table ? v_lookup_32f(v_load_32f(table), bits) : v_set_32f(factor);
    return v_cast_32i_32f(v_add_32i(v_cast_32f_32i(first), v_shl_32i(bits, by_table ? 20 : 23)));
}

/* (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2. */
SN_INLINE v32f vx_expm1_polynomial(v32f r)
{
    v32f p = v_set_32f(0x1.6D7206p-10f);
    p = v_fma_32f(p, r, v_set_32f(0x1.122668p-7f));
    p = v_fma_32f(p, r, v_set_32f(0x1.5554C8p-5f));
    p = v_fma_32f(p, r, v_set_32f(0x1.5554B2p-3f));
    return v_fma_32f(p, r, v_set_32f(0.5f));
}

SN_INLINE v32f vx_expm1_by_polynomial(v32f r) { return v_fma_32f(v_mul_32f(r, r), vx_expm1_polynomial(r), r); }

/* exp(r) - 1 for |r| <= ln 2 / 32, or / 16 with 8 powers. */
SN_INLINE v32f vx_expm1_near_table(v32f r)
{
    const bool wide = V32F_N == 16;
    const v32f p = wide ? v_fma_32f(r, v_set_32f(0x1.5555FCp-3f), v_set_32f(0x1.000238p-1f))
                        : v_fma_32f(r, v_set_32f(0x1.5557DEp-3f), v_set_32f(0x1.0008DAp-1f));
    return v_fma_32f(v_mul_32f(r, r), p, r);
}

/*
 * What is known of a result that is multiplied by 2^n, where v_scale_32f() is not one instruction. It serves any n (VX_ANY),
 * but takes three times as many instructions as vx_power(), which needs normal floats. It is used if the result is normal
 * (VX_NORMAL), or if the result times 2^64 is (VX_SMALL): the caller has then rounded n with VX_STEP_UP, which adds 64 to
 * the sum.
 */
enum vx_range { VX_ANY, VX_NORMAL, VX_SMALL };
#define VX_STEP_UP (VX_STEP + 64)

/* 2^n * exp(r), times *factor unless it is NULL, where n is the rounded number and sum the sum that rounded it. */
SN_INLINE v32f vx_exp_of_parts(v32f sum, v32f n, v32f r, const v32f * factor, enum vx_range range)
{
    const bool scaled = range == VX_ANY || V32F_N == 16;
    const v32f less_1 = V32F_N >= 8 ? vx_expm1_near_table(r) : vx_expm1_by_polynomial(r);
    v32f power = v_set_32f(1);
    if (!scaled)
        power = vx_power(sum, vx_powers_less_index_8, 1);
    else if (V32F_N >= 8)
        power = v_lookup_32f(v_load_32f(V32F_N == 16 ? vx_powers_16 : vx_powers_8), v_cast_32f_32i(sum));
    if (factor)
        power = v_mul_32f(power, *factor);
    const v32f y = v_fma_32f(power, less_1, power);
    return scaled ? v_scale_32f(y, n) : range == VX_SMALL ? v_mul_32f(y, v_set_32f(0x1p-64f)) : y;
}

/* x with 12 bits, so that the product of two such numbers is exact. */
SN_INLINE v32f vx_high_half(v32f x) { return v_cast_32i_32f(v_and_32i(v_cast_32f_32i(x), v_set_32i(-4096))); }

/* x - n * ln 2; with a fused multiply-add one float for ln 2 suffices while n is small. */
SN_INLINE v32f vx_less_ln_2(v32f x, v32f n, bool small_n)
{
    if (V_FMA && small_n)
        return v_fnma_32f(n, v_set_32f(VX_LN_2), x);
    return v_fnma_32f(n, v_set_32f(VX_LN_2_LOW), v_fnma_32f(n, v_set_32f(VX_LN_2_HIGH), x));
}

/* exp(x - n * ln 2) - 1. Without a fused multiply-add the lower part of n * ln 2 is added last, which saves a rounding. */
SN_INLINE v32f vx_expm1_less_ln_2(v32f x, v32f n, bool small_n)
{
    if (V_FMA)
        return vx_expm1_by_polynomial(vx_less_ln_2(x, n, small_n));
    const v32f high = v_fnma_32f(n, v_set_32f(VX_LN_2_HIGH), x), low = v_mul_32f(n, v_set_32f(-VX_LN_2_LOW));
    const v32f r = v_add_32f(high, low);
    return v_add_32f(high, v_fma_32f(v_mul_32f(r, r), vx_expm1_polynomial(r), low));
}

/* For VX_ANY and VX_NORMAL. */
SN_INLINE v32f vx_exp_within(v32f x, enum vx_range range)
{
    v32f sum;
    const v32f n = vx_round(x, VX_LOG2_E, VX_STEP, &sum);
    return vx_exp_of_parts(sum, n, vx_less_ln_2(x, n, false), NULL, range);
}

static __attribute__((unused, noinline)) v32f vx_exp_of_any(v32f x)
{
    return vx_exp_within(v_min_32f(v_set_32f(89.0f), v_max_32f(v_set_32f(-104.5f), x)), VX_ANY);
}

/*
 * exp(x), error at most 2 units; denormal results too, overflow to infinity, NaN for NaN. Beyond the bounds results are 0
 * and infinity; NaN propagates as the second operand. Where v_scale_32f() is not one instruction, vectors of small numbers
 * have a jump of their own: 0.57 of the time (avx2). The bits are the same, as nothing gets near to denormal numbers.
 */
SN_INLINE v32f v_exp_32f(v32f x)
{
    if (V32F_N < 16 && !v_any(v_nlt_32f(v_abs_32f(x), v_set_32f(64))))
        return vx_exp_within(x, VX_NORMAL);
    return V32F_N < 16 ? vx_exp_of_any(x)
                       : vx_exp_within(v_min_32f(v_set_32f(89.0f), v_max_32f(v_set_32f(-104.5f), x)), VX_ANY);
}

/* The same for x that is 0 or less, or NaN, but below -87 it is exp(-87): never denormal. */
SN_INLINE v32f v_exp_nonpositive_normal_32f(v32f x) { return vx_exp_within(v_max_32f(v_set_32f(-87), x), VX_NORMAL); }

/*
 * log and pow: x = 2^exponent * m with 1 <= m < 2, log(x) = exponent * ln 2 - log(t) + log(1 + r), r = m * t - 1.
 *
 * t is 1 / m to four or three bits, from a table. The first t is 1 and the last 1/2: near x = 1, on both sides, log(t) is
 * cancelled, and so is the rounding of the sum, and r is exact. All other t were chosen at most 1/300 from the middle of
 * their interval, such that -log(t) is a float to 2^-40; from the middle of the table on, such that -log(t) - ln 2 is one,
 * as exponent is -1 when the sum is small.
 *
 * log(1 + r) = r * (1 + r * p(r)), p of degree 3 for -1/32 <= r <= 1/16, of degree 4 for -1/16 <= r <= 1/8; coefficients
 * minimise the largest relative error: 2^-28.4.
 *
 * Vectors of four, and sets without a fused multiply-add (which would have to round m * t): m between 3/4 and 3/2,
 * r = m - 1, log(1 + r) = r - r^2 / 2 + r^3 * p(r), p of degree 7, error 2^-27.6.
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

/* (log(1 + r) - r) / r^2, with r in the range of the table. */
SN_INLINE v32f vx_log1p_near_table(v32f r)
{
    const bool wide = V32F_N == 16;
    v32f p = wide ? v_set_32f(0x1.826F1Ap-3f) : v_fma_32f(r, v_set_32f(-0x1.285FA6p-3f), v_set_32f(0x1.99C7AAp-3f));
    p = v_fma_32f(p, r, v_set_32f(wide ? -0x1.00139Cp-2f : -0x1.002062p-2f));
    p = v_fma_32f(p, r, v_set_32f(wide ? 0x1.555836p-2f : 0x1.5555AAp-2f));
    return v_fma_32f(p, r, v_set_32f(wide ? -0x1p-1f : -0x1.FFFFF6p-2f));
}

/* The table's entries for the interval of m. */
SN_INLINE void vx_log_lookup(v32f m, v32f * t, v32f * log_t)
{
    const v32i index = v_shr_32i(v_cast_32f_32i(m), V32F_N == 16 ? 19 : 20);
    *t = v_lookup_32f(v_load_32f(V32F_N == 16 ? vx_inverses_16 : vx_inverses_8), index);
    *log_t = v_lookup_32f(v_load_32f(V32F_N == 16 ? vx_logs_16 : vx_logs_8), index);
}

/* log(1 + r) - r + low for -1/4 <= r <= 1/2. */
SN_INLINE v32f vx_log1p_by_polynomial(v32f r, v32f low)
{
    const v32f square = v_mul_32f(r, r);
    v32f p = v_set_32f(-0x1.71E334p-5f);
    p = v_fma_32f(p, r, v_set_32f(0x1.ACF4AAp-4f));
    p = v_fma_32f(p, r, v_set_32f(-0x1.0D98Fp-3f));
    p = v_fma_32f(p, r, v_set_32f(0x1.28807Ap-3f));
    p = v_fma_32f(p, r, v_set_32f(-0x1.54ED96p-3f));
    p = v_fma_32f(p, r, v_set_32f(0x1.99699Ep-3f));
    p = v_fma_32f(p, r, v_set_32f(-0x1.00004Ap-2f));
    p = v_fma_32f(p, r, v_set_32f(0x1.5555A4p-2f));
    return v_fma_32f(square, v_set_32f(-0.5f), v_fma_32f(p, v_mul_32f(square, r), low));
}

/* log(m) or, if exponent is not NULL, exponent * ln 2 + log(m). */
SN_INLINE v32f vx_log_of_parts(v32f m, const v32f * exponent)
{
    if (V32F_N < 8) {
        const v32f r = v_sub_32f(m, v_set_32f(1));
        const v32f low = exponent ? v_mul_32f(*exponent, v_set_32f(VX_LN_2_LOW)) : v_zero_32f();
        const v32f log_m = v_add_32f(r, vx_log1p_by_polynomial(r, low));
        return exponent ? v_fma_32f(*exponent, v_set_32f(VX_LN_2_HIGH), log_m) : log_m;
    }
    v32f t, log_t;
    vx_log_lookup(m, &t, &log_t);
    const v32f high = exponent ? v_fma_32f(*exponent, v_set_32f(VX_LN_2), log_t) : log_t;
    const v32f r = v_fma_32f(m, t, v_set_32f(-1));
    return v_add_32f(high, v_fma_32f(v_mul_32f(r, r), vx_log1p_near_table(r), r));
}

/* x = 2^exponent * m, with m in the range of vx_log_of_parts(). `usual`: x is positive, normal and finite. */
SN_INLINE void vx_log_parts(v32f x, v32f * m, v32f * exponent, bool usual)
{
    const v32i bits = v_cast_32f_32i(x);
    *m = usual ? v_cast_32i_32f(v_or_32i(v_and_32i(bits, v_set_32i(0x007FFFFF)), v_set_32i(0x3F800000))) : v_mantissa_32f(x);
    *exponent = usual ? v_sub_32f(v_cvt_32i_32f(v_shr_32i(bits, 23)), v_set_32f(127)) : v_exponent_32f(x);
    if (V32F_N < 8) {
        const v32m low = v_lt_32f(*m, v_set_32f(1.5f));
        *m = v_mul_32f(*m, v_select_32f(low, v_set_32f(1), v_set_32f(0.5f)));
        *exponent = v_add_32f(*exponent, v_select_32f(low, v_zero_32f(), v_set_32f(1)));
    }
}

SN_INLINE v32f vx_log_by_parts(v32f x, bool usual)
{
    v32f m, exponent;
    vx_log_parts(x, &m, &exponent, usual);
    return vx_log_of_parts(m, &exponent);
}

static __attribute__((unused, noinline)) v32f vx_log_of_any(v32f x) { return vx_log_by_parts(x, false); }

/*
 * log(x), error at most 2 units; of denormals too, -Inf for 0 of either sign, NaN for x < 0. Where mantissa and exponent are
 * not one instruction each, vectors of positive normal numbers have a jump of their own, with the same bits; with
 * vectors of four that gains nothing.
 */
SN_INLINE v32f v_log_32f(v32f x)
{
    if (V32F_N != 8)
        return vx_log_by_parts(x, false);
    /* normal numbers become the smallest integers */
    const v32i order = v_add_32i(v_cast_32f_32i(x), v_set_32i(INT32_MAX - 0x007FFFFF));
    if (v_any(v_gt_32i(order, v_set_32i(INT32_MIN + 0x7EFFFFFF))))
        return vx_log_of_any(x);
    return vx_log_by_parts(x, true);
}

/* exponent * b - n, where n is close to the product. Without a fused multiply-add b is split into two parts. */
SN_INLINE v32f vx_product_less(v32f exponent, v32f b, v32f n)
{
    if (V_FMA)
        return v_fma_32f(exponent, b, v_sub_32f(v_zero_32f(), n));
    const v32f high = v_cast_32i_32f(v_and_32i(v_cast_32f_32i(b), v_set_32i(-256)));
    return v_add_32f(v_sub_32f(v_mul_32f(exponent, high), n), v_mul_32f(exponent, v_sub_32f(b, high)));
}

/*
 * x^b for x >= 0 and |b| <= 2^24, relative error at most (1 + |b|) * 2^-23; 0^b, Inf^b and x^0 as in powf, denormal results
 * too, overflow to infinity. NaN for x < 0 and for NaN.
 *
 * b * log2(x) as one float would be too inaccurate (2^-18 near 128): it is the sum of b * exponent, whose part after n is
 * exact, and b * log(m). Beyond the bounds n and r are set so that the result is 0 or infinity.
 */
SN_INLINE v32f v_pow_32f(v32f x, v32f b)
{
    v32f m, exponent;
    vx_log_parts(x, &m, &exponent, false);
    exponent = v_min_32f(v_set_32f(0x1p30f), v_max_32f(v_set_32f(-0x1p30f), exponent));
    const v32f log_m = v_mul_32f(b, vx_log_of_parts(m, NULL));
    const v32f t = v_fma_32f(log_m, v_set_32f(VX_LOG2_E), v_mul_32f(exponent, b));
    v32f sum;
    const v32f n = vx_round(v_min_32f(v_set_32f(160), v_max_32f(v_set_32f(-160), t)), 1, VX_STEP, &sum);
    const v32f r = v_fma_32f(vx_product_less(exponent, b, n), v_set_32f(VX_LN_2), log_m);
    return vx_exp_of_parts(sum, n, v_min_32f(v_set_32f(1), v_max_32f(v_set_32f(-1), r)), NULL, VX_ANY);
}

/* |y| with the sign of x; y must not be negative. */
SN_INLINE v32f vx_with_sign(v32f y, v32f x)
{
    return v_cast_32i_32f(v_or_32i(v_cast_32f_32i(y), v_and_32i(v_cast_32f_32i(x), v_set_32i(INT32_MIN))));
}

/* 2^more * 2^n for a sum that was rounded to an integer n; not for denormal powers. */
SN_INLINE v32f vx_power_of_sum(v32f sum, int more)
{
    return v_cast_32i_32f(v_add_32i(v_shl_32i(v_cast_32f_32i(sum), 23), v_set_32i((127 + more) * (1 << 23))));
}

/*
 * expm1: x = n * ln 2 + r, integer n, exp(x) - 1 = (2^n - 1) + 2^n * (exp(r) - 1), of which the first part is exact. Powers
 * from a table are no faster: their rounding errors would have to be looked up, too, for x near zero.
 */

/* exp(x) - 1, error at most 2 units; overflow to infinity, NaN for NaN. Half of it is computed: 2^n overflows earlier. */
SN_INLINE v32f v_expm1_32f(v32f x)
{
    const v32f near = v_min_32f(v_set_32f(89), v_max_32f(v_set_32f(-20), x));
    v32f sum;
    const v32f n = vx_round(near, VX_LOG2_E, VX_WHOLE, &sum), power = vx_power_of_sum(sum, -1);
    const v32f q = vx_expm1_less_ln_2(near, n, false);
    const v32f half = v_fma_32f(power, q, v_sub_32f(power, v_set_32f(0.5f)));
    return v_select_32f(v_lt_32f(v_abs_32f(x), v_set_32f(0x1p-25f)), x, v_add_32f(half, half));
}

/* x >= 0 ? x : alpha * (exp(x) - 1), error at most 2 units for any alpha; NaN for NaN. */
SN_INLINE v32f v_elu_32f(v32f x, v32f alpha)
{
    const v32f near = v_min_32f(v_zero_32f(), v_max_32f(v_set_32f(-20), x));
    v32f sum;
    const v32f n = vx_round(near, VX_LOG2_E, VX_WHOLE, &sum), power = vx_power_of_sum(sum, 0);
    const v32f q = vx_expm1_less_ln_2(near, n, true);
    const v32f below = v_fma_32f(power, q, v_sub_32f(power, v_set_32f(1)));
    return v_select_32f(v_lt_32f(x, v_zero_32f()), v_mul_32f(alpha, below), x);
}

/*
 * tanh of |x|.
 *
 * By table, of tanh and its derivative at multiples of a step: |x| = n * step + b, tanh = t + d * tanh(b) / (1 + t *
 * tanh(b)) = t + d * b / (e + t * b), e = b / tanh(b) = 1 + b^2 * p(b^2), p of degree 2 for a table of 16 (degree 1 has an
 * error of 2.3 units), else 3. The step was chosen so that the t are as close to floats as possible: 0.27 (16) and 0.12
 * units (8).
 *
 * Without a table, from 5/8 on 1 - 2 / (1 + exp(2 * |x|)), below it tanh = |x| + |x|^3 * p(x^2), p of degree 4.
 *
 * Coefficients minimise the largest relative error: 2^-33, 2^-31, 2^-28.
 */
static const float vx_tanh_8[8] = {
    0, 0x1.AF600Ap-1f, 0x1.F89326p-1f, 0x1.FF5C76p-1f, 0x1.FFF204p-1f, 0x1.FFFECEp-1f, 0x1.FFFFE6p-1f, 0x1.FFFFFEp-1f,
};

static const float vx_tanh_slopes_8[8] = {
    0x1p0f, 0x1.291B7Ap-2f, 0x1.D7C45Ep-6f, 0x1.46DFE8p-9f, 0x1.BF7CECp-13f, 0x1.31FBDp-16f, 0x1.A269FEp-20f,
    0x1.1E1362p-23f,
};

static const float vx_tanh_16[16] = {
    0, 0x1.0CBF6p-1f, 0x1.A564CEp-1f, 0x1.E1F074p-1f, 0x1.F670E4p-1f, 0x1.FD00A4p-1f, 0x1.FF107p-1f, 0x1.FFB55p-1f,
    0x1.FFE8BAp-1f, 0x1.FFF8Cp-1f, 0x1.FFFDBEp-1f, 0x1.FFFF4Cp-1f, 0x1.FFFFC8p-1f, 0x1.FFFFEEp-1f, 0x1.FFFFFAp-1f,
    0x1.FFFFFEp-1f,
};

static const float vx_tanh_slopes_16[16] = {
    0x1p0f, 0x1.72EF6p-1f, 0x1.4A5B4Ap-2f, 0x1.D2DA2Cp-4f, 0x1.2F087p-5f, 0x1.7E8EAAp-7f, 0x1.DEB0Ep-9f, 0x1.2AA932p-10f,
    0x1.745A7Ap-12f, 0x1.D01A8Ap-14f, 0x1.2134Ep-15f, 0x1.686DD8p-17f, 0x1.C13016p-19f, 0x1.17E6C2p-20f, 0x1.5CD40Ep-22f,
    0x1.B2BA9p-24f,
};

SN_INLINE v32f vx_tanh_by_table(v32f size)
{
    const bool wide = V32F_N == 16;
    const v32f near = v_min_32f(v_set_32f(9.03f), size);
    v32f sum;
    const v32f n = vx_round(near, wide ? 0x1.B70Dp0f : 0x1.A05174p-1f, VX_WHOLE, &sum);
    const v32f b = v_fnma_32f(n, v_set_32f(wide ? 0x1.2A88F2p-1f : 0x1.3AD60Cp0f), near);
    const v32f square = v_mul_32f(b, b);
    v32f e = wide ? v_set_32f(0x1.110B3Ep-9f) : v_fma_32f(square, v_set_32f(-0x1.963106p-13f), v_set_32f(0x1.14B44p-9f));
    e = v_fma_32f(e, square, v_set_32f(wide ? -0x1.6C1038p-6f : -0x1.6C1436p-6f));
    e = v_fma_32f(v_fma_32f(e, square, v_set_32f(0x1.555554p-2f)), square, v_set_32f(1));
    const v32f t = v_lookup_32f(v_load_32f(wide ? vx_tanh_16 : vx_tanh_8), v_cast_32f_32i(sum));
    const v32f slope = v_lookup_32f(v_load_32f(wide ? vx_tanh_slopes_16 : vx_tanh_slopes_8), v_cast_32f_32i(sum));
    return v_add_32f(t, v_div_32f(v_mul_32f(slope, b), v_fma_32f(t, b, e)));
}

/* tanh(x) for |x| below 5/8. */
SN_INLINE v32f vx_tanh_near_zero(v32f x)
{
    const v32f square = v_mul_32f(x, x);
    v32f p = v_fma_32f(square, v_set_32f(-0x1.7B0A98p-8f), v_set_32f(0x1.533F3p-6f));
    p = v_fma_32f(p, square, v_set_32f(-0x1.B86512p-5f));
    p = v_fma_32f(p, square, v_set_32f(0x1.11084Ep-3f));
    p = v_fma_32f(p, square, v_set_32f(-0x1.555538p-2f));
    return v_fma_32f(p, v_mul_32f(square, x), x);
}

SN_INLINE v32f vx_tanh_by_exp(v32f size)
{
    const v32f one = v_set_32f(1), near = v_min_32f(v_set_32f(10), size), x = v_mul_32f(near, v_set_32f(-2));
    v32f sum;
    const v32f n = vx_round(x, VX_LOG2_E, VX_WHOLE, &sum), power = vx_power_of_sum(sum, 0);
    const v32f e = v_fma_32f(power, vx_expm1_less_ln_2(x, n, true), power);
    const v32f far = v_sub_32f(one, v_div_32f(v_add_32f(e, e), v_add_32f(one, e)));
    return v_select_32f(v_lt_32f(size, v_set_32f(0.625f)), vx_tanh_near_zero(near), far);
}

/* tanh(x), error at most 2 units; NaN for NaN. */
SN_INLINE v32f v_tanh_32f(v32f x)
{
    const v32f size = v_abs_32f(x);
    return vx_with_sign(V32F_N >= 8 ? vx_tanh_by_table(size) : vx_tanh_by_exp(size), x);
}

/*
 * 1 / (1 + exp(-x)), error at most 2 units; denormal results too, NaN for NaN.
 *
 * exp(-x) = (1 - q) / w, where w is a power of 2 times a power from the table: w / (w + 1 - q), of which the smaller terms
 * are added first. exp(x) / (1 + exp(x)) would be shorter, but its numerator is rounded: 2.9 units. Everything is multiplied
 * by a factor that makes the powers of the table floats to 0.04 (8) and 0.2 units (16); without it the error reaches 2.2
 * units.
 */
#define VX_FACTOR (V32F_N == 16 ? 0x1.D026FCp-1f : 0x1.89CB7Cp-1f)

/* As vx_power() needs them: 0x1.89CB7Cp-1, 0x1.AD6FB4p-1, 0x1.D44DBCp-1, ... */
static const float vx_scaled_powers_less_index_8[8] = {
    0x1.89CB7Cp-1f, 0x1.8D6FB4p-1f, 0x1.944DBCp-1f, 0x1.9EB052p-1f, 0x1.96747Cp-1f, 0x1.8FA848p-1f, 0x1.8B2404p-1f,
    0x1.891C8Ap-1f,
};

static const float vx_scaled_powers_16[16] = {
    0x1.D026FCp-1f, 0x1.E4B3BAp-1f, 0x1.FA2962p-1f, 0x1.084922p0f, 0x1.13FC92p0f, 0x1.2034Ap0f, 0x1.2CF72Cp0f,
    0x1.3A4A58p0f, 0x1.48348Ap0f, 0x1.56BC72p0f, 0x1.65E90Cp0f, 0x1.75C1A2p0f, 0x1.864DD2p0f, 0x1.97959p0f,
    0x1.A9A128p0f, 0x1.BC7948p0f,
};

/*
 * 1 / (1 + exp(-x)) for -104.5 <= x <= 20. Where vx_power() makes w, it and 1 - q are computed times 2^64, so that w is a
 * normal float.
 */
SN_INLINE v32f vx_sigmoid_within(v32f x)
{
    const v32f factor = v_set_32f(V32F_N == 16 ? VX_FACTOR : 0x1p64f * VX_FACTOR);
    v32f sum, q, w;
    const v32f n = vx_round(x, VX_LOG2_E, VX_STEP_UP, &sum), r = vx_less_ln_2(x, n, false);
    if (V32F_N >= 8) {
        const bool wide = V32F_N == 16;
        const v32f p = wide ? v_fma_32f(r, v_set_32f(-0x1.5555FCp-3f), v_set_32f(0x1.000238p-1f))
                            : v_fma_32f(r, v_set_32f(-0x1.5557DEp-3f), v_set_32f(0x1.0008DAp-1f));
        q = v_fnma_32f(v_mul_32f(r, r), p, r);
    }
    else
        q = v_sub_32f(v_zero_32f(), vx_expm1_by_polynomial(v_sub_32f(v_zero_32f(), r)));
    if (V32F_N == 16)
        w = v_scale_32f(v_lookup_32f(v_load_32f(vx_scaled_powers_16), v_cast_32f_32i(sum)), n);
    else
        w = vx_power(sum, vx_scaled_powers_less_index_8, VX_FACTOR);
    return v_div_32f(w, v_add_32f(v_max_32f(factor, w), v_fnma_32f(factor, q, v_min_32f(factor, w))));
}

SN_INLINE v32f v_sigmoid_32f(v32f x)
{
    return vx_sigmoid_within(v_min_32f(v_set_32f(20), v_max_32f(v_set_32f(-104.5f), x)));
}

/*
 * Products of x and a function that vanishes like exp(x): that function would be a denormal float, with few bits, where the
 * product is not. So where x < -64 another formula computes the product. Few vectors have such lanes, whose results are
 * selected from a second computation; the same without a branch takes 1.2 times as long.
 */
#define VX_FAR_BELOW (-64.0f)

/* x below -64; in other lanes -64, for which nothing overflows. */
SN_INLINE v32f vx_far(v32f x) { return v_min_32f(v_set_32f(VX_FAR_BELOW), v_max_32f(v_set_32f(-194), x)); }

/* x * exp(s) for s below -64; NaN for infinite x. The product is 0 below s = -194, whatever x is. */
SN_INLINE v32f vx_far_swish(v32f x, v32f s)
{
    const v32f far = vx_far(s), factor = v_mul_32f(x, v_set_32f(0x1p-28f)); /* no product with it overflows */
    v32f sum;
    const v32f n = vx_round(far, VX_LOG2_E, VX_STEP, &sum), r = v_add_32f(vx_less_ln_2(far, n, false), v_sub_32f(x, x));
    return vx_exp_of_parts(sum, v_add_32f(n, v_set_32f(28)), r, &factor, VX_ANY);
}

/* x / (1 + exp(-s)), where s is a multiple of x. */
SN_INLINE v32f vx_swish_of_product(v32f x, v32f s)
{
    const v32f limit = v_set_32f(VX_FAR_BELOW), near = v_max_32f(limit, v_min_32f(v_set_32f(20), s));
    const v32f y = v_mul_32f(x, vx_sigmoid_within(near));
    return v_any(v_lt_32f(s, limit)) ? v_select_32f(v_lt_32f(s, limit), vx_far_swish(x, s), y) : y;
}

/* x / (1 + exp(-slope * x)), error at most 3 units at the rounded slope * x; denormal results too. */
SN_INLINE v32f v_swish_32f(v32f x, v32f slope) { return vx_swish_of_product(x, v_mul_32f(slope, x)); }
SN_INLINE v32f v_swish_of_1_32f(v32f x) { return vx_swish_of_product(x, x); }

/* x * tanh(log(1 + exp(x))) for x <= 20; with e = exp(x), the tanh is n / (n + 2), n = e * (e + 2). If `far`, a constant,
 * e is computed times 2^40. */
SN_INLINE v32f vx_mish_within(v32f x, v32f near, bool far)
{
    const v32f back = v_set_32f(far ? 0x1p-40f : 1), two = v_set_32f(2);
    v32f sum;
    const v32f n = vx_round(near, VX_LOG2_E, VX_STEP, &sum), r = vx_less_ln_2(near, n, false);
    const v32f e = far ? vx_exp_of_parts(sum, v_add_32f(n, v_set_32f(40)), r, NULL, VX_ANY)
                       : vx_exp_of_parts(sum, n, r, NULL, VX_NORMAL);
    const v32f top = v_mul_32f(e, far ? v_fma_32f(e, back, two) : v_add_32f(e, two));
    const v32f y = v_mul_32f(x, v_div_32f(top, far ? v_fma_32f(top, back, two) : v_add_32f(top, two)));
    return far ? v_mul_32f(y, back) : y;
}

/* x > threshold ? x : x * tanh(log(1 + exp(x))), error at most 5 units; denormal results too. From 20 on it is x. */
SN_INLINE v32f v_mish_32f(v32f x, v32f threshold)
{
    const v32f most = v_set_32f(20), limit = v_set_32f(VX_FAR_BELOW);
    v32f y = vx_mish_within(x, v_max_32f(limit, v_min_32f(most, x)), false);
    if (v_any(v_lt_32f(x, limit)))
        y = v_select_32f(v_lt_32f(x, limit), vx_mish_within(x, vx_far(x), true), y);
    return v_select_32f(v_lt_32f(v_min_32f(threshold, most), x), x, y);
}

/* max(0, min(x * scale + shift, 1)), the product and the sum each rounded; NaN for NaN. */
SN_INLINE v32f v_hard_sigmoid_32f(v32f x, v32f scale, v32f shift)
{
    return v_max_32f(v_zero_32f(), v_min_32f(v_set_32f(1), v_add_32f(v_mul_32f(x, scale), shift)));
}

/*
 * sin and cos: x = n * pi / 2 + r, |r| <= pi / 4; the last two bits of n choose the function of r and its sign.
 *
 * Up to VX_TURNS, pi / 2 in three floats, or without a fused multiply-add in four, of which the first three have 12 bits so
 * that their products with n are exact. Beyond it every bit of 2 / pi that matters is multiplied (Payne and Hanek, 1983),
 * lane by lane: such angles are rare.
 */
#define VX_TURNS 4096.0f
#define VX_2_BY_PI 0x1.45F306p-1f

/* x becomes r, and *n the last two bits of n; x is VX_TURNS or more, or infinite. */
static __attribute__((noinline, unused)) void vx_reduce_large(sn_32f * x, int32_t * n)
{
    static const uint32_t two_by_pi[8] = {
        0, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB,
    };
    const uint32_t bits = sn_bits_32f(*x), mantissa = (bits & 0x7FFFFF) | 0x800000, exponent = bits >> 23 & 0xFF;
    if (exponent == 0xFF) {
        *x -= *x;
        return;
    }
    /* |x| / 4 = mantissa * 2^(at - 32). Only the bits of 2 / pi from `at` on matter, counted with 32 zeros before them. */
    const uint32_t at = exponent - 120, word = at / 32, shift = at % 32;
    uint32_t w[3];
    for (uint32_t i = 0; i < 3; ++i)
        w[i] = (uint32_t)((((uint64_t)two_by_pi[word + i] << 32) | two_by_pi[word + i + 1]) >> (32 - shift));
    uint64_t turns = ((uint64_t)mantissa * w[0] << 32) + (uint64_t)mantissa * w[1] + ((uint64_t)mantissa * w[2] >> 32);
    const uint64_t quarter = (turns + ((uint64_t)1 << 61)) >> 62;
    turns -= quarter << 62;
    const double r = (double)(int64_t)turns * 0x1.921FB54442D18p-62;
    *x = (float)(bits >> 31 ? -r : r);
    *n = (int32_t)(bits >> 31 ? 4 - quarter : quarter);
}

/*
 * x - n * pi / 2. Without a fused multiply-add the rounding error of each difference is carried to the next: near a zero of the
 * result the first parts cancel, and what is left of them is as small as the last one's product.
 */
SN_INLINE v32f vx_less_half_pi(v32f x, v32f n)
{
    if (V_FMA) {
        const v32f r = v_fnma_32f(n, v_set_32f(-0x1.777A5Cp-25f), v_fnma_32f(n, v_set_32f(0x1.921FB6p0f), x));
        return v_fnma_32f(n, v_set_32f(-0x1.EE59DAp-50f), r);
    }
    const v32f r = v_sub_32f(x, v_mul_32f(n, v_set_32f(0x1.922p0f))), second = v_mul_32f(n, v_set_32f(-0x1.2AEp-18f));
    const v32f high = v_sub_32f(r, second), low = v_sub_32f(v_sub_32f(r, high), second);
    const v32f third = v_sub_32f(low, v_mul_32f(n, v_set_32f(-0x1.DEAp-31f)));
    const v32f sum = v_add_32f(high, third), rest = v_sub_32f(third, v_sub_32f(sum, high));
    return v_add_32f(sum, v_sub_32f(rest, v_mul_32f(n, v_set_32f(0x1.184698p-44f))));
}

SN_INLINE v32f vx_reduce(v32f x, v32i * n)
{
    v32f sum;
    const v32f whole = vx_round(x, VX_2_BY_PI, VX_WHOLE, &sum);
    v32f r = vx_less_half_pi(x, whole);
    *n = v_cast_32f_32i(sum);
    const v32m large = v_le_32f(v_set_32f(VX_TURNS), v_abs_32f(x));
    if (v_any(large)) {
        sn_32f lanes[V32F_N];
        int32_t quarters[V32F_N] = {0};
        v_store_32f(lanes, x);
        for (int i = 0; i < V32F_N; ++i)
            if (fabsf(lanes[i]) >= VX_TURNS)
                vx_reduce_large(&lanes[i], &quarters[i]);
        r = v_select_32f(large, v_load_32f(lanes), r);
        *n = v_select_32i(large, v_load_32i(quarters), *n);
    }
    return r;
}

/* sin(r + n * pi / 2). */
SN_INLINE v32f vx_sin_of_parts(v32f r, v32i n)
{
    const v32f square = v_mul_32f(r, r), one = v_set_32f(1);
    v32f s = v_fma_32f(square, v_set_32f(-0x1.9954A8p-13f), v_set_32f(0x1.11077Ap-7f));
    s = v_fma_32f(v_mul_32f(r, square), v_fma_32f(s, square, v_set_32f(-0x1.555546p-3f)), r);
    v32f c = v_fma_32f(square, v_set_32f(0x1.99E0ECp-16f), v_set_32f(-0x1.6C0C1Ap-10f));
    c = v_fma_32f(v_fma_32f(c, square, v_set_32f(0x1.55554Ap-5f)), square, v_set_32f(-0.5f));
    c = v_fma_32f(c, square, one);
    const v32m odd = v_gt_32i(v_and_32i(n, v_set_32i(1)), v_set_32i(0));
    const v32i sign = v_shl_32i(v_and_32i(n, v_set_32i(2)), 30);
    return v_cast_32i_32f(v_xor_32i(v_cast_32f_32i(v_select_32f(odd, c, s)), sign));
}

/* sin(x), error at most 2 units; NaN for infinities, -0 for -0. */
SN_INLINE v32f v_sin_32f(v32f x)
{
    v32i n;
    const v32f r = vx_reduce(x, &n);
    return v_select_32f(v_lt_32f(v_abs_32f(x), v_set_32f(0x1p-13f)), x, vx_sin_of_parts(r, n));
}

/* cos(x), likewise. */
SN_INLINE v32f v_cos_32f(v32f x)
{
    v32i n;
    const v32f r = vx_reduce(x, &n);
    return vx_sin_of_parts(r, v_add_32i(n, v_set_32i(1)));
}

/*
 * log(1 + exp(x)) is max(x, 0) + g(|x|), g(t) = log(1 + exp(-t)).
 *
 * By pieces, if a vector holds 16 numbers: a polynomial of t - centre of degree 7, for each sixteenth of 0 to 18.4; it is
 * faster than exp and log, since permutations and multiply-adds use different execution units. Permutations of two registers
 * do not, so 32 pieces of degree 5 are slower. Centres are at most 3% of a step from the middle, where g is closest to a
 * float: 2^-37. The coefficients were rounded one by one, the lowest first, refitting the others, and minimise the largest
 * relative error: 2^-26.7. Beyond 18.4 g(t) is exp(-t) to 2^-26.5: 2^-k * g(t - k * ln 2).
 */
#define VX_SOFTPLUS_PER_UNIT 0x1.ADE9BEp-1f
#define VX_SOFTPLUS_LIMIT 18.25f /* up to here k is 0 */

static const float vx_softplus_pieces[9][16] = {
    {0, 0x1.30EB4p0f, 0x1.30111p1f, 0x1.CC902p1f, 0x1.309C18p2f, 0x1.7B6638p2f, 0x1.C9EA98p2f, 0x1.0B8AC8p3f,
     0x1.311838p3f, 0x1.56F0B8p3f, 0x1.7DA708p3f, 0x1.A3A55Cp3f, 0x1.C953Bp3f, 0x1.EFD49p3f, 0x1.0B3F2Ep4f, 0x1.1D7976p4f},
    {0x1.62E43p-1f, 0x1.0FB874p-2f, 0x1.6C1D56p-4f, 0x1.BA78FEp-6f, 0x1.179D3Ep-7f, 0x1.5CA572p-9f, 0x1.994E4Ap-11f,
     0x1.EA6E1Cp-13f, 0x1.2F62p-14f, 0x1.73E782p-16f, 0x1.BBB732p-18f, 0x1.0EB504p-19f, 0x1.4D8D9Ap-21f, 0x1.908F8p-23f,
     0x1.DEA1Dp-25f, 0x1.326332p-26f},
    {-0x1.00000Ap-1f, -0x1.DD50B8p-3f, -0x1.5C665p-4f, -0x1.B48D2p-6f, -0x1.166CB4p-7f, -0x1.5C2ED8p-9f, -0x1.992566p-11f,
     -0x1.EA5F6Ep-13f, -0x1.2F5F32p-14f, -0x1.73E674p-16f, -0x1.BBB6D2p-18f, -0x1.0EB4F2p-19f, -0x1.4D8D94p-21f,
     -0x1.908F7Ep-23f, -0x1.DEA1Dp-25f, -0x1.326332p-26f},
    {0x1.000408p-3f, 0x1.6E1214p-4f, 0x1.3EC3E6p-5f, 0x1.A8EB54p-7f, 0x1.140F14p-8f, 0x1.5B4212p-10f, 0x1.98D3Bp-12f,
     0x1.EA421Ep-14f, 0x1.2F5996p-15f, 0x1.73E46p-17f, 0x1.BBB61Cp-19f, 0x1.0EB4D4p-20f, 0x1.4D8D8Cp-22f, 0x1.908F82p-24f,
     0x1.DEA1D6p-26f, 0x1.326338p-27f},
    {-0x1.3B4696p-14f, -0x1.0493B8p-6f, -0x1.60B824p-7f, -0x1.0C2ED6p-8f, -0x1.69D2AEp-10f, -0x1.CC8CF6p-12f,
     -0x1.102028p-13f, -0x1.46AF9Ep-15f, -0x1.9467E2p-17f, -0x1.EFD54Ep-19f, -0x1.27CDAAp-20f, -0x1.68F0B4p-22f,
     -0x1.BCBC0Ep-24f, -0x1.0B0A2Ap-25f, -0x1.3F165Cp-27f, -0x1.98842p-29f},
    {-0x1.3E3374p-8f, -0x1.1BEE46p-11f, 0x1.C52D72p-10f, 0x1.DE7136p-11f, 0x1.5D786Ap-12f, 0x1.C7A2Fp-14f, 0x1.0F4218p-15f,
     0x1.465B1Ap-17f, 0x1.94446Ap-19f, 0x1.EFC08Ep-21f, 0x1.27C5B4p-22f, 0x1.68E9p-24f, 0x1.BCB42Ap-26f, 0x1.0B04D2p-27f,
     0x1.3F10AAp-29f, 0x1.987CA4p-31f},
    {-0x1.C21BE6p-11f, 0x1.DCD0Ep-11f, -0x1.270EDCp-15f, -0x1.27B13Ep-13f, -0x1.043ED6p-14f, -0x1.64D014p-16f,
     -0x1.AF5DAp-18f, -0x1.0497Ap-19f, -0x1.436966p-21f, -0x1.8CA336p-23f, -0x1.D941ECp-25f, -0x1.20BE4p-26f,
     -0x1.63F1CAp-28f, -0x1.AB52Fp-30f, -0x1.FE93F8p-32f, -0x1.46D996p-33f},
    {0x1.6E5092p-10f, -0x1.FE6AD8p-14f, -0x1.1885E8p-14f, 0x1.5D2DBEp-17f, 0x1.2909E8p-17f, 0x1.CA3F5Cp-19f,
     0x1.1EFBB8p-20f, 0x1.5E31D2p-22f, 0x1.B32188p-24f, 0x1.0B61AEp-25f, 0x1.3F3EF6p-27f, 0x1.858134p-29f, 0x1.DFD0Bp-31f,
     0x1.2041BAp-32f, 0x1.584968p-34f, 0x1.B8B97p-36f},
    {-0x1.14A24p-11f, -0x1.0C08ECp-15f, 0x1.314FA6p-16f, 0x1.CF7F4Ep-20f, -0x1.BD25ACp-21f, -0x1.CC5E7Ap-22f,
     -0x1.3BD866p-23f, -0x1.8E9054p-25f, -0x1.DE7918p-27f, -0x1.2B1BC4p-28f, -0x1.6B030Ep-30f, -0x1.BB089Ap-32f,
     -0x1.08DBF4p-33f, -0x1.452B8Ap-35f, -0x1.8860E8p-37f, -0x1.F16CF8p-39f},
};

/* g of t - k * VX_LN_2_LOW; k is NULL for 0. One float would be too inaccurate for that difference. */
SN_INLINE v32f vx_softplus_piece(v32f t, const v32f * k)
{
    const v32i i = v_cast_32f_32i(v_fma_32f(t, v_set_32f(VX_SOFTPLUS_PER_UNIT), v_set_32f(VX_WHOLE)));
    v32f b = v_sub_32f(t, v_lookup_32f(v_load_32f(vx_softplus_pieces[0]), i));
    if (k)
        b = v_fnma_32f(*k, v_set_32f(VX_LN_2_LOW), b);
    v32f p = v_lookup_32f(v_load_32f(vx_softplus_pieces[8]), i);
    SN_UNROLL for (int j = 7; j >= 1; --j) p = v_fma_32f(p, b, v_lookup_32f(v_load_32f(vx_softplus_pieces[j]), i));
    return p;
}

/* Few vectors have lanes beyond the limit; in these, k is 0 in the other lanes, whose results are therefore the same. */
SN_INLINE v32f vx_softplus_by_pieces(v32f x)
{
    const v32f size = v_abs_32f(x), zero = v_zero_32f();
    v32f g;
    if (v_any(v_lt_32f(x, v_set_32f(-VX_SOFTPLUS_LIMIT)))) {
        const v32f t = v_min_32f(v_set_32f(104.5f), size);
        v32f sum;
        const v32f k = v_max_32f(zero, v_sub_32f(vx_round(t, VX_LOG2_E, VX_WHOLE, &sum), v_set_32f(26)));
        const v32f piece = vx_softplus_piece(v_fnma_32f(k, v_set_32f(VX_LN_2_HIGH), t), &k);
        g = v_scale_32f(piece, v_sub_32f(zero, k));
    }
    else
        g = vx_softplus_piece(v_min_32f(v_set_32f(VX_SOFTPLUS_LIMIT), size), NULL);
    return v_add_32f(v_max_32f(zero, x), g);
}

/*
 * In narrower vectors g is log(1 + e), e = exp(-|x|) = s + s * q, s a power of 2. With t near 1 / (1 + e), from a table or 1
 * or 1/2, log(1 + e) = log(1 + r) - log(t), r = t * (1 + e) - 1 = ((t - 1) + t * s) + t * s * q, where the last sum is not
 * rounded until the end: rounding e would cost half a unit, and a whole one where the result has the larger mantissa.
 */
SN_INLINE v32f vx_softplus_by_log(v32f x)
{
    const v32f minus = v_cast_32i_32f(v_or_32i(v_cast_32f_32i(x), v_set_32i(INT32_MIN)));
    const v32f near = v_max_32f(v_set_32f(-104.5f), minus), one = v_set_32f(1);
    v32f sum, t, log_t;
    const v32f n = vx_round(near, VX_LOG2_E, VX_WHOLE, &sum), s = v_scale_32f(one, n);
    const v32f q = vx_expm1_less_ln_2(near, n, false);
    if (V32F_N >= 8)
        vx_log_lookup(v_min_32f(v_set_32f(0x1.FFFFFEp0f), v_add_32f(v_fma_32f(s, q, s), one)), &t, &log_t);
    else {
        const v32m high = v_lt_32f(v_set_32f(0.5f), v_fma_32f(s, q, s));
        t = v_select_32f(high, v_set_32f(0.5f), one);
        log_t = v_select_32f(high, v_set_32f(VX_LN_2), v_zero_32f());
    }
    const v32f ts = v_mul_32f(t, s), head = v_add_32f(ts, v_sub_32f(t, one)), r = v_fma_32f(ts, q, head);
    const v32f rest = V32F_N >= 8 ? v_fma_32f(ts, q, v_mul_32f(v_mul_32f(r, r), vx_log1p_near_table(r)))
                                  : vx_log1p_by_polynomial(r, v_mul_32f(ts, q));
    return v_add_32f(v_max_32f(v_zero_32f(), x), v_add_32f(log_t, v_add_32f(head, rest)));
}

/* log(1 + exp(x)), error at most 1.5 units, so that after a division it is at most 2 (2.1 if V_FMA is 0). */
SN_INLINE v32f v_softplus_32f(v32f x) { return V32F_N == 16 ? vx_softplus_by_pieces(x) : vx_softplus_by_log(x); }

#endif
