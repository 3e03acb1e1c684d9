/*
 * a * aScale + (b * bScale + shift) of bytes, each sum rounded once, also without a fused multiply-add.
 *
 * There, scales and shift are split into a multiple of g and the rest, which is at most g / 2. All multiples of g in a sum are
 * below 2^24 * g, so their products and sums are exact. All numbers are multiples of q, the last place of the smaller scale or
 * 1: shift is an integer plus a sum of rounded products of scales by integers. So the products and sums of the rests, at most
 * 2^9 * g, are exact if g <= 2^15 * q, and the sum of both parts is rounded once. Scales whose sums are 2^16 times the smaller
 * one and more take fmaf() for each element; no network known to us has such.
 *
 * Bytes without a sign are taken out of words of 32 bits where they are, by masks instead of permutations, of which processors
 * do fewer at a time. So they are multiplied by a power of 2, by which the scale is divided. 1.18 times as fast (Zen 4,
 * avx512); the shifts that signs need would cost more than this gains.
 */
#ifndef SN_KERNELS_FUSED_8U_H
#define SN_KERNELS_FUSED_8U_H

#include <math.h>

#include "kernels/vec.h"

/* Numbers of a sum, and what multiples of g leave of them; `fast`: the vectors below compute it. */
struct fused_8u {
    float aScale, bScale, shift;
    float aRest, bRest, shiftRest;
    bool fast;
    bool near; /* sums are numbers of less than 2^23: nothing has to be limited before it becomes an integer */
};

static __attribute__((unused)) int exponent_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return (int)(bits >> 23 & 0xFF) - 127;
}

static __attribute__((unused)) float split(float x, float g, sn_32f * rest)
{
    const float multiple = rintf(x / g) * g;
    *rest = x - multiple;
    return multiple;
}

/* Scales are above 0. */
static struct fused_8u fused_of(float aScale, float bScale, float shift)
{
    const float least = aScale < bScale ? aScale : bScale, most = 260 * (aScale + bScale) + fabsf(shift);
    struct fused_8u f = {aScale, bScale, shift, .fast = true, .near = most < 0x1p23f};
    if (V_FMA)
        return f;
    f.fast = f.near && least > 0x1p-64f && exponent_of(most) <= exponent_of(least) + 15;
    if (!f.fast)
        return f;
    const float g = ldexpf(1, exponent_of(most) - 23);
    f.aScale = split(aScale, g, &f.aRest);
    f.bScale = split(bScale, g, &f.bRest);
    f.shift = split(shift, g, &f.shiftRest);
    return f;
}

/* V32F_N numbers of 4 * V32F_N bytes: byte k, a constant, of each word, times part_unit(); bytes with a sign in order. */
SN_INLINE v32f part_8u(const uint8_t * p, bool negative, int k)
{
    if (negative)
        return v_cvt_32i_32f(v_load_8i_32i(p + k * V32F_N));
    const v32i words = v_load_32i(p);
    return v_cvt_32i_32f(k == 3 ? v_shr_32i(words, 24) : v_and_32i(words, v_set_32i(0xFF << 8 * k)));
}

SN_INLINE float part_unit(bool negative, int k) { return negative || k == 0 || k == 3 ? 1 : k == 1 ? 0x1p8f : 0x1p16f; }

/* The sums of parts k. */
SN_INLINE v32f fused_sum_8u(const struct fused_8u * f, const uint8_t * a, const uint8_t * b, bool negative, int k)
{
    const float unit = 1 / part_unit(negative, k);
    const v32f x = part_8u(a, negative, k), y = part_8u(b, negative, k);
    const v32f aScale = v_set_32f(f->aScale * unit), bScale = v_set_32f(f->bScale * unit), shift = v_set_32f(f->shift);
    if (V_FMA)
        return v_fma_32f(x, aScale, v_fma_32f(y, bScale, shift));
    const v32f multiple = v_add_32f(v_mul_32f(y, bScale), shift);
    const v32f first = v_add_32f(multiple, v_add_32f(v_mul_32f(y, v_set_32f(f->bRest * unit)), v_set_32f(f->shiftRest)));
    const v32f rest = v_add_32f(v_mul_32f(x, v_set_32f(f->aRest * unit)), v_sub_32f(first, multiple));
    return v_add_32f(v_add_32f(v_mul_32f(x, aScale), multiple), rest);
}

/* Integers of the parts to bytes. */
SN_INLINE v8u join_parts(const v32i part[4], bool negative)
{
    return negative ? v_pack_32i_8u(part[0], part[1], part[2], part[3]) : v_join_32i_8u(part[0], part[1], part[2], part[3]);
}

/* The sum of any numbers: a result from 0 to 255, or from -128 to 127 if `negative`; NaN gives the least. */
static __attribute__((unused, noinline)) uint8_t fused_alone(uint8_t a, float aScale, uint8_t b, float bScale, float shift,
                                                            bool negative)
{
    const float x = negative ? (float)(int8_t)a : (float)a, y = negative ? (float)(int8_t)b : (float)b;
    const float least = negative ? -128 : 0, t = rintf(fmaf(x, aScale, fmaf(y, bScale, shift)));
    return (uint8_t)(int)(t > least ? (t < least + 255 ? t : least + 255) : least);
}

#endif
