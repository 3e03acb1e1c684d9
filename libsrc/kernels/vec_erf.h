/* The error function, and GELU, which is computed from it. As in vec_math.h, comments give the largest errors. */
#ifndef SN_KERNELS_VEC_ERF_H
#define SN_KERNELS_VEC_ERF_H

#include "kernels/vec_math.h"

/* factor * exp(-x^2 / 2) for 0 <= x <= 14.5: the rounding error of the square is subtracted from the reduced argument. */
SN_INLINE v32f vx_exp_of_square(v32f x, v32f factor)
{
    const v32f minus_half = v_set_32f(-0.5f);
    v32f square, rest;
    if (V_FMA) {
        square = v_mul_32f(v_mul_32f(x, minus_half), x);
        rest = v_fma_32f(v_mul_32f(x, minus_half), x, v_sub_32f(v_zero_32f(), square));
    }
    else {
        const v32f high = vx_high_half(x);
        square = v_mul_32f(v_mul_32f(high, minus_half), high);
        rest = v_mul_32f(v_mul_32f(v_sub_32f(x, high), minus_half), v_add_32f(x, high));
    }
    v32f sum;
    const v32f n = vx_round(square, VX_LOG2_E, VX_STEP_UP, &sum);
    return vx_exp_of_parts(sum, n, v_add_32f(vx_less_ln_2(square, n, false), rest), &factor, VX_SMALL);
}

/* w = u / (u + 4) is *w + the result, to some more bits than a float has. */
SN_INLINE v32f vx_ratio(v32f u, v32f * w)
{
    const v32f four = v_set_32f(4), sum = v_add_32f(u, four), error = v_sub_32f(u, v_sub_32f(sum, four));
    *w = v_div_32f(u, sum);
    const v32f inverse = v_fma_32f(*w, v_set_32f(-0.25f), v_set_32f(0.25f));
    v32f rest = v_fnma_32f(*w, sum, u);
    if (!V_FMA) {
        const v32f w_high = vx_high_half(*w), sum_high = vx_high_half(sum);
        rest = v_sub_32f(v_sub_32f(u, v_mul_32f(w_high, sum_high)), v_mul_32f(w_high, v_sub_32f(sum, sum_high)));
        rest = v_sub_32f(rest, v_mul_32f(v_sub_32f(*w, w_high), sum));
    }
    return v_mul_32f(v_fnma_32f(*w, error, rest), inverse);
}

/*
 * x * (1 + erf(x / sqrt(2))) / 2, error at most 4 units; denormal results too.
 *
 * It is max(x, 0) - u * c(u), u = |x|, c(u) = erfc(u / sqrt(2)) / 2: nothing is cancelled on either side.
 *
 * By exp: u * c(u) is exp(-u^2 / 2) * w * p(w - 31/64), w = u / (u + 4), p of degree 9, error 2^-26.5; the rounding errors
 * of w and of the last sum of p are carried along, without which the error would be 7 units. Beyond 14.5 c(u) is 0 in floats,
 * and x * 0 NaN for -Inf, as the formula is.
 *
 * By pieces, if a vector holds 16 numbers, 2.5 times as fast: c is a polynomial of u - centre, of degree 7, for each of 16
 * pieces of 0 to 6.29. They shrink from 0.8 to 0.24, as c falls like exp(-u^2 / 2). Centres are at most 6% of half a piece
 * from the middle, where c is closest to a float, 2^-34; the coefficients were rounded as those of softplus, 2^-26.4. Above
 * 6.25 the result is x. Few vectors have lanes below -6.25; those are computed by exp: values of a deviation of 4, of which
 * 6% are, take 1.25 times as long as by exp alone.
 *
 * If a vector holds 8 numbers, there are 8 pieces of degree 9, in 0.6 of the time that exp takes (Zen 3): their centres are
 * at the upper ends, since all terms have the same sign below; error 2^-27.7, after rounding at most 3 units.
 */
SN_INLINE v32f vx_gelu_by_exp(v32f x)
{
    const v32f last = v_set_32f(14.5f), u = v_min_32f(last, v_abs_32f(x));
    v32f w;
    const v32f rest = vx_ratio(u, &w), t = v_add_32f(v_sub_32f(w, v_set_32f(0.484375f)), rest);
    v32f p = v_set_32f(-0x1.1E3D28p-4f);
    p = v_fma_32f(p, t, v_set_32f(0x1.B9F258p-5f));
    p = v_fma_32f(p, t, v_set_32f(0x1.8F96B2p-3f));
    p = v_fma_32f(p, t, v_set_32f(-0x1.F7EF4Ap-3f));
    p = v_fma_32f(p, t, v_set_32f(-0x1.BFFCDEp-3f));
    p = v_fma_32f(p, t, v_set_32f(0x1.F8023p-1f));
    p = v_fma_32f(p, t, v_set_32f(-0x1.8D9BFCp0f));
    p = v_fma_32f(p, t, v_set_32f(0x1.9EB30Cp0f));
    p = v_fma_32f(p, t, v_set_32f(-0x1.43EA3Ep0f));
    const v32f first = v_set_32f(0x1.8CA0FCp-1f), sum = v_fma_32f(p, t, first);
    const v32f less = v_fma_32f(p, t, v_sub_32f(first, sum));
    const v32f factor = v_fma_32f(sum, w, v_fma_32f(sum, rest, v_mul_32f(less, w)));
    const v32f below = vx_exp_of_square(u, factor);
    const v32f y = v_sub_32f(v_max_32f(v_set_32f(-0.0f), x), below);
    return v_select_32f(v_lt_32f(x, v_set_32f(-14.5f)), v_mul_32f(x, v_zero_32f()), y);
}

#define VX_GELU_LIMIT 6.25f

/* Centres, then coefficients from the lowest power on. */
static const float vx_gelu_sixteen[9][16] = {
    {0x1.2AC7Ap-2f, 0x1.EC4436p-1f, 0x1.AB689p0f, 0x1.1DCEF2p1f, 0x1.5CB04Ep1f, 0x1.93AA5Ep1f, 0x1.C61A5Cp1f,
     0x1.F40288p1f, 0x1.0F9A74p2f, 0x1.23CE96p2f, 0x1.363B84p2f, 0x1.487A34p2f, 0x1.5AE7EAp2f, 0x1.6BC7A6p2f,
     0x1.7B3A5Cp2f, 0x1.8B680Cp2f},
    {0x1.8A7958p-2f, 0x1.5864CAp-3f, 0x1.85249Ap-5f, 0x1.A2B9CCp-7f, 0x1.A68478p-9f, 0x1.A6B4D6p-11f, 0x1.978502p-13f,
     0x1.890BE6p-15f, 0x1.70B402p-17f, 0x1.582172p-19f, 0x1.4FD0CAp-21f, 0x1.3312p-23f, 0x1.FECB26p-26f, 0x1.C3F23Ap-28f,
     0x1.AC1412p-30f, 0x1.646296p-32f},
    {-0x1.877E14p-2f, -0x1.0152B8p-2f, -0x1.957E62p-4f, -0x1.0E2F14p-5f, -0x1.3FD776p-7f, -0x1.6A1332p-9f,
     -0x1.82C66Ap-11f, -0x1.9672Bp-13f, -0x1.9AF826p-15f, -0x1.99A56Cp-17f, -0x1.A70B4Ep-19f, -0x1.97FFA2p-21f,
     -0x1.652D2p-23f, -0x1.4A8358p-25f, -0x1.45A566p-27f, -0x1.1A1A58p-29f},
    {0x1.C8EA0Ap-5f, 0x1.EECF7Ap-4f, 0x1.527FB8p-4f, 0x1.2DA4D4p-5f, 0x1.B3A52Ap-7f, 0x1.1D7696p-8f, 0x1.5709DAp-10f,
     0x1.8CEE02p-12f, 0x1.B404A4p-14f, 0x1.D2F1A2p-16f, 0x1.005508p-17f, 0x1.05C12Ap-19f, 0x1.E4029Ap-22f, 0x1.D5AA0Ep-24f,
     0x1.E26628p-26f, 0x1.B3B962p-28f},
    {0x1.DD8DCp-5f, 0x1.9EEEDCp-9f, -0x1.E330DAp-6f, -0x1.66F59Ep-6f, -0x1.5646D6p-7f, -0x1.0DE8F8p-8f, -0x1.756E7Ap-10f,
     -0x1.E2F95Ap-12f, -0x1.2345BEp-13f, -0x1.51C492p-15f, -0x1.8C8D6Ep-17f, -0x1.AED008p-19f, -0x1.A65F18p-21f,
     -0x1.AF2914p-23f, -0x1.CED524p-25f, -0x1.B4E94p-27f},
    {-0x1.BBEA5Ap-7f, -0x1.564A5Cp-6f, -0x1.800036p-10f, 0x1.8F4DC2p-8f, 0x1.40FD9Ap-8f, 0x1.4A7338p-9f, 0x1.1207EEp-10f,
     0x1.9581F8p-12f, 0x1.10AFF8p-13f, 0x1.5A166Cp-15f, 0x1.B5D2Ap-17f, 0x1.FD211Ap-19f, 0x1.09FE14p-20f, 0x1.1EBFE6p-22f,
     0x1.42AF9Ep-24f, 0x1.3F3A18p-26f},
    {-0x1.04CB8Ep-7f, 0x1.D12F54p-9f, 0x1.413EBp-8f, 0x1.27022Cp-11f, -0x1.2105A2p-10f, -0x1.FD9CB2p-11f, -0x1.14E7A8p-11f,
     -0x1.E8E09Cp-13f, -0x1.777A92p-14f, -0x1.08FC96p-15f, -0x1.6D18C8p-17f, -0x1.CA42F8p-19f, -0x1.00BC3Ap-20f,
     -0x1.25B3ECp-22f, -0x1.5BF05Cp-24f, -0x1.69C858p-26f},
    {0x1.1B1Ap-9f, 0x1.1D70Bp-9f, -0x1.2C512Cp-10f, -0x1.0A5D1Ap-10f, -0x1.466B64p-13f, 0x1.69E596p-13f, 0x1.69F126p-13f,
     0x1.A4C062p-14f, 0x1.832852p-15f, 0x1.38648Ep-16f, 0x1.DC468Cp-18f, 0x1.46C722p-19f, 0x1.8CEAA2p-21f, 0x1.E5632Ap-23f,
     0x1.2FC29Cp-24f, 0x1.4E3DE4p-26f},
    {0x1.C9D50Ep-11f, -0x1.815B9Cp-11f, -0x1.E96526p-13f, 0x1.1EF14p-12f, 0x1.9B6418p-13f, 0x1.146A2Cp-15f,
     -0x1.7E97E4p-16f, -0x1.C10DDCp-16f, -0x1.23C868p-16f, -0x1.138838p-17f, -0x1.D30762p-19f, -0x1.5FF5BAp-20f,
     -0x1.E716D6p-22f, -0x1.41C0E8p-23f, -0x1.9A47D6p-25f, -0x1.F076Bp-27f},
};

static const float vx_gelu_eight[11][8] = {
    {0x1p0f, 0x1.4C8p1f, 0x1.BA8p1f, 0x1.0Ap2f, 0x1.30Cp2f, 0x1.534p2f, 0x1.73p2f, 0x1.9p2f},
    {0x1.44ED0Cp-3f, 0x1.33917Ep-8f, 0x1.1E588Ep-12f, 0x1.0F621p-16f, 0x1.01A1E4p-20f, 0x1.EF3EBp-25f, 0x1.D04858p-29f,
     0x1.C34C2Ap-33f},
    {-0x1.EF8E58p-3f, -0x1.BFCE56p-7f, -0x1.09A64Ep-10f, -0x1.28CF6p-14f, -0x1.3F3A5Cp-18f, -0x1.531D28p-22f,
     -0x1.59E99Cp-26f, -0x1.6930A8p-30f},
    {0x1.EF8E64p-4f, 0x1.22CFEAp-6f, 0x1.CB2DD4p-10f, 0x1.3467Ap-13f, 0x1.7C04BAp-17f, 0x1.C1641Cp-21f, 0x1.F54CCp-25f,
     0x1.1A2DD2p-28f},
    {-0x1.00AD4Cp-21f, -0x1.ACF8C8p-7f, -0x1.E4DDBp-10f, -0x1.928592p-13f, -0x1.2049D6p-16f, -0x1.7EE866p-20f,
     -0x1.D5F6E2p-24f, -0x1.1E6EDCp-27f},
    {-0x1.4A639Ep-6f, 0x1.6B6934p-8f, 0x1.5671CCp-10f, 0x1.6EFD28p-13f, 0x1.37867p-16f, 0x1.D5BA54p-20f, 0x1.3F4618p-23f,
     0x1.A794D6p-27f},
    {0x1.08A50Ap-8f, -0x1.DF212Cp-11f, -0x1.48C7Ep-11f, -0x1.E7926Cp-14f, -0x1.FACF7p-17f, -0x1.BA9E76p-20f, -0x1.523F7p-23f,
     -0x1.EB79CAp-27f},
    {0x1.0A1D1Ap-9f, -0x1.6AD92p-12f, 0x1.80BA5Ap-13f, 0x1.ED232p-15f, 0x1.3F3EAEp-17f, 0x1.3E266p-20f, 0x1.0A9234p-23f,
     0x1.A86A28p-27f},
    {-0x1.98CD6p-11f, 0x1.C6B1B6p-13f, -0x1.6E22Fp-16f, -0x1.23DB4Ap-16f, -0x1.3A49Fp-18f, -0x1.B70E86p-21f, -0x1.DBFp-24f,
     -0x1.B4CF6Ap-27f},
    {-0x1.726AEAp-13f, -0x1.2784F2p-14f, -0x1.FBFB9p-17f, 0x1.0853D8p-17f, 0x1.CB1894p-20f, 0x1.A89882p-23f, 0x1.E3FCA2p-27f,
     0x1.2136F8p-30f},
    {0x1.5E05F6p-15f, -0x1.1CE3BEp-15f, 0x1.C3FA62p-18f, 0x1.231A06p-19f, -0x1.32765p-21f, -0x1.22A042p-22f,
     -0x1.F16782p-25f, -0x1.329F6p-27f},
};

/* The piece of u is the nearest integer to u * (slope * u + start). */
SN_INLINE v32f vx_gelu_by_pieces(v32f x, const sn_32f * table, int degree, float slope, float start)
{
    const v32f u = v_min_32f(v_set_32f(VX_GELU_LIMIT), v_abs_32f(x));
    const v32f line = v_fma_32f(u, v_set_32f(slope), v_set_32f(start));
    const v32i i = v_cast_32f_32i(v_fma_32f(u, line, v_set_32f(VX_WHOLE)));
    const v32f b = v_sub_32f(u, v_lookup_32f(v_load_32f(table), i));
    v32f p = v_lookup_32f(v_load_32f(table + (degree + 1) * V32F_N), i);
    SN_UNROLL for (int j = degree; j >= 1; --j) p = v_fma_32f(p, b, v_lookup_32f(v_load_32f(table + j * V32F_N), i));
    return v_fnma_32f(u, p, v_max_32f(v_set_32f(-0.0f), x));
}

static __attribute__((noinline, unused)) v32f vx_gelu_far(v32f x) { return vx_gelu_by_exp(x); }

SN_INLINE v32f v_gelu_32f(v32f x)
{
    if (V32F_N < 8)
        return vx_gelu_by_exp(x);
    const v32f y = V32F_N == 8 ? vx_gelu_by_pieces(x, vx_gelu_eight[0], 9, 0x1.5C28F6p-3f, 0x1.1652BEp-3f)
                               : vx_gelu_by_pieces(x, vx_gelu_sixteen[0], 7, 0.28f, 0.7f);
    const v32m far = v_lt_32f(x, v_set_32f(-VX_GELU_LIMIT));
    return v_any(far) ? v_select_32f(far, vx_gelu_far(x), y) : y;
}

/*
 * erf(x), error at most 2 units. Below 1 x + x * p(x^2), p of degree 6, error 2^-29.4; above 1 - exp(-p(|x|)), p of degree 6
 * for -log(erfc), whose error is 2^-29.8 of the result; 1 from 4 on.
 */
SN_INLINE v32f v_erf_32f(v32f x)
{
    const v32f size = v_abs_32f(x), square = v_mul_32f(x, x), one = v_set_32f(1);
    v32f p = v_set_32f(0x1.4771FCp-14f);
    p = v_fma_32f(p, square, v_set_32f(-0x1.A3515Ep-11f));
    p = v_fma_32f(p, square, v_set_32f(0x1.53F224p-8f));
    p = v_fma_32f(p, square, v_set_32f(-0x1.B7F71Ap-6f));
    p = v_fma_32f(p, square, v_set_32f(0x1.CE2CE6p-4f));
    p = v_fma_32f(p, square, v_set_32f(-0x1.81273Ep-2f));
    p = v_fma_32f(p, square, v_set_32f(0x1.06EBA8p-3f));
    const v32f small = v_fma_32f(x, p, x), near = v_min_32f(v_set_32f(4), size);
    v32f q = v_set_32f(-0x1.86DE18p-13f);
    q = v_fma_32f(q, near, v_set_32f(0x1.825B8Cp-9f));
    q = v_fma_32f(q, near, v_set_32f(-0x1.65CBCEp-6f));
    q = v_fma_32f(q, near, v_set_32f(0x1.A6537p-4f));
    q = v_fma_32f(q, near, v_set_32f(0x1.46BAE6p-1f));
    q = v_fma_32f(q, near, v_set_32f(0x1.2088ECp0f));
    q = v_fma_32f(q, near, v_set_32f(0x1.661A3p-12f));
    const v32f large = v_sub_32f(one, vx_exp_within(v_sub_32f(v_zero_32f(), q), VX_NORMAL));
    return v_select_32f(v_lt_32f(size, one), small, vx_with_sign(large, x));
}

#endif
