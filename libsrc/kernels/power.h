/*
 * x^y of two vectors, as powf() of C, error at most 2 units in the last place.
 *
 * 2^(y * log2(x)): the product reaches 150, so its error must be below 2^-24 for the result to have all bits of a float, and
 * that of log2(x) below 2^-32 of it. A float is too short, so intermediate values are sums of two. v_pow_32f() does without
 * where the exponent is small.
 */
#ifndef SN_KERNELS_POWER_H
#define SN_KERNELS_POWER_H

#include "kernels/vec_math.h"

/* high + low; low is a rounding error of high, or little more. */
struct pair {
    v32f high, low;
};

SN_INLINE struct pair pair_of(v32f x) { return (struct pair){x, v_zero_32f()}; }

/* a + b, where a is 0 or |a| is at least |b|; the sum of both higher parts is exact. */
SN_INLINE struct pair pair_sum(struct pair a, struct pair b)
{
    const v32f sum = v_add_32f(a.high, b.high), error = v_add_32f(v_sub_32f(a.high, sum), b.high);
    return (struct pair){sum, v_add_32f(error, v_add_32f(a.low, b.low))};
}

/* a * b - product, exactly. Without a fused multiply-add both are split into halves, whose products are exact. */
SN_INLINE v32f product_error(v32f a, v32f b, v32f product)
{
    if (V_FMA)
        return v_fma_32f(a, b, v_sub_32f(v_zero_32f(), product));
    const v32f x = vx_high_half(a), y = vx_high_half(b), x_low = v_sub_32f(a, x), y_low = v_sub_32f(b, y);
    const v32f middle = v_add_32f(v_add_32f(v_sub_32f(v_mul_32f(x, y), product), v_mul_32f(x, y_low)), v_mul_32f(x_low, y));
    return v_add_32f(middle, v_mul_32f(x_low, y_low));
}

/* a * b without the product of the lower parts. */
SN_INLINE struct pair pair_product(struct pair a, struct pair b)
{
    const v32f product = v_mul_32f(a.high, b.high), error = product_error(a.high, b.high, product);
    return (struct pair){product, v_fma_32f(a.high, b.low, v_fma_32f(a.low, b.high, error))};
}

/* (m - 1) / (m + 1) for m near 1. The remainder, divided in turn, is the lower part: 1 / (m + 1) is (1 - s) / 2. */
SN_INLINE struct pair pair_ratio(v32f m)
{
    const v32f one = v_set_32f(1), top = v_sub_32f(m, one), bottom = v_add_32f(m, one), half = v_set_32f(0.5f);
    const v32f s = v_div_32f(top, bottom), error = v_sub_32f(m, v_sub_32f(bottom, one));
    const struct pair back = pair_product(pair_of(s), (struct pair){bottom, error});
    const v32f rest = v_sub_32f(v_sub_32f(top, back.high), back.low);
    return (struct pair){s, v_mul_32f(rest, v_fnma_32f(s, half, half))};
}

/*
 * log2(x) for finite x > 0, relative error 2^-33. x = 2^exponent * m with m between sqrt(1/2) and sqrt(2), and
 * log2(m) = 2 / ln 2 * s * (1 + z / 3 + z^2 / 5 + ...), s = (m - 1) / (m + 1), z = s^2. From z^2 on floats suffice; the
 * polynomial minimises the largest error, 2^-41 of the result.
 */
SN_INLINE struct pair pair_log2(v32f x)
{
    const v32f one = v_set_32f(1), mantissa = v_mantissa_32f(x);
    const v32m low = v_lt_32f(mantissa, v_set_32f(0x1.6A09E6p0f));
    const v32f m = v_mul_32f(mantissa, v_select_32f(low, one, v_set_32f(0.5f)));
    const v32f exponent = v_add_32f(v_exponent_32f(x), v_select_32f(low, v_zero_32f(), one));
    const struct pair s = pair_ratio(m), z = pair_product(s, s);
    v32f p = v_fma_32f(z.high, v_set_32f(0x1.1A7B56p-2f), v_set_32f(0x1.4808EAp-2f));
    p = v_fma_32f(p, z.high, v_set_32f(0x1.A617C6p-2f));
    p = v_fma_32f(p, z.high, v_set_32f(0x1.2776C6p-1f));
    const struct pair third = {v_set_32f(0x1.EC709Ep-1f), v_set_32f(-0x1.E2FE02p-28f)};
    const struct pair first = {v_set_32f(0x1.715476p1f), v_set_32f(0x1.4AE0Cp-25f)};
    const struct pair series = pair_sum(third, pair_of(v_mul_32f(p, z.high)));
    const struct pair log_m = pair_product(s, pair_sum(first, pair_product(z, series)));
    return pair_sum(pair_of(exponent), log_m);
}

/*
 * x^y for x >= 0 or NaN. Exponents beyond 2^32 have the results of 2^32, 0 or infinity, for any x but 1; so have products
 * beyond 160. 0 and infinity are replaced, and their results set, so that no operation raises an exception for them.
 */
SN_INLINE v32f power_of_size(v32f x, v32f y)
{
    const v32f zero = v_zero_32f(), infinity = v_set_32f(INFINITY), most = v_set_32f(0x1p32f), last = v_set_32f(160);
    const v32m is_zero = v_eq_32f(x, zero), is_infinite = v_eq_32f(x, infinity);
    const v32f base = v_select_32f(is_zero, v_set_32f(0.5f), v_select_32f(is_infinite, v_set_32f(2), x));
    const v32f exponent = v_min_32f(most, v_max_32f(v_sub_32f(zero, most), y));
    const struct pair t = pair_product(pair_of(exponent), pair_log2(base));
    const v32f high = v_min_32f(last, v_max_32f(v_sub_32f(zero, last), t.high));
    const v32f low = v_select_32f(v_eq_32f(high, t.high), t.low, zero);
    v32f sum;
    const v32f n = vx_round(high, 1, VX_STEP, &sum);
    const v32f r = v_mul_32f(v_add_32f(v_sub_32f(high, n), low), v_set_32f(VX_LN_2));
    const v32f power = vx_exp_of_parts(sum, n, r, NULL, VX_ANY), inverse = v_select_32f(is_zero, infinity, zero);
    const v32f edge = v_select_32f(v_lt_32f(y, zero), inverse, v_select_32f(v_lt_32f(zero, y), x, power));
    return v_select_32f(is_zero, edge, v_select_32f(is_infinite, edge, power));
}

/* x^y for all floats: |x|^y with the sign of x if y is odd; NaN for x < 0 if y is not an integer. */
SN_INLINE v32f power(v32f x, v32f y)
{
    const v32f zero = v_zero_32f(), one = v_set_32f(1), half = v_mul_32f(y, v_set_32f(0.5f));
    const v32f size = power_of_size(v_abs_32f(x), y), odd = vx_with_sign(size, x);
    const v32f whole = v_select_32f(v_eq_32f(v_round_32f(half), half), size, odd);
    const v32f negative = v_select_32f(v_eq_32f(x, v_set_32f(-INFINITY)), size, v_set_32f(NAN));
    const v32f broken = v_select_32f(v_lt_32f(x, zero), negative, size);
    const v32f result = v_select_32f(v_eq_32f(v_round_32f(y), y), whole, broken);
    return v_select_32f(v_eq_32f(y, zero), one, v_select_32f(v_eq_32f(x, one), one, result));
}

#endif
