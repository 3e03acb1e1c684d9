/*
 * Sums and products of bytes with scales and zeros. With usual scales nothing has to be limited before it becomes an integer:
 * 1.25 times as fast.
 */
#include "contract/quantized_binary.h"
#include "kernels/fused_8u.h"
#include "kernels/install.h"
#include "kernels/linear_8u.h"

enum { QUARTERS = 4 };

/* ---- results: 128 is added to signed bytes, and taken back by inverting the highest bit */

SN_INLINE v8u inverted(v8u bytes) { return v_cast_32i_8u(v_xor_32i(v_cast_8u_32i(bytes), v_set_32i((int32_t)0x80808080))); }

SN_INLINE v32i rounded(v32f t, bool negative, bool near)
{
    const int32_t zero = negative ? 128 : 0;
    return near ? v_add_32i(v_cvt_32f_32i(t), v_set_32i(zero)) : integer_of(t, zero);
}

/* ---- sums */

/* Whole vectors of bytes; returns their number. Flags are compile-time constants, except in rare instances. */
SN_INLINE size_t sums(const struct fused_8u * of, bool negative, bool near, const uint8_t * a, const uint8_t * b,
                      uint8_t * dst, size_t size)
{
    const struct fused_8u own = *of; /* stores to dst cannot change it */
    size_t i = 0;
    for (; i + V8U_N <= size; i += V8U_N) {
        v32i r[QUARTERS];
        SN_UNROLL for (int k = 0; k < QUARTERS; ++k)
            r[k] = rounded(fused_sum_8u(&own, a + i, b + i, negative, k), negative, near);
        const v8u bytes = join_parts(r, negative);
        v_store_8u(dst + i, negative ? inverted(bytes) : bytes);
    }
    return i;
}

/* Sums of scales so different that a level without a fused multiply-add has no vectors for them. */
static __attribute__((noinline)) size_t alone(const struct sn_quantized_binary * p, const uint8_t * a, const uint8_t * b,
                                              uint8_t * dst, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        dst[i] = fused_alone(a[i], p->aScale, b[i], p->bScale, p->shift, p->negative);
    return size;
}

/* Extreme scales, which are rare, have one instance for both signs of each operation. */
SN_INLINE size_t add_whole(const struct sn_quantized_binary * p, const uint8_t * a, const uint8_t * b, uint8_t * dst,
                           size_t size)
{
    const struct fused_8u f = fused_of(p->aScale, p->bScale, p->shift);
    if (!f.fast)
        return alone(p, a, b, dst, size);
    if (!f.near)
        return p->negative ? sums(&f, true, false, a, b, dst, size) : sums(&f, false, false, a, b, dst, size);
    return p->negative ? sums(&f, true, true, a, b, dst, size) : sums(&f, false, true, a, b, dst, size);
}

/* ---- products: pairs of 16 bits, of which one is 0 in one factor */

/* The bytes of words less the zero: in the lower half of each word byte 0, in the upper one byte 2; or bytes 1 and 3. */
SN_INLINE v16i halves(v32i words, int odd, v16i zero)
{
    const v32i pair = v_and_32i(odd ? v_shr_32i(words, 8) : words, v_set_32i(0x00FF00FF));
    return v_sub_16i(v_cast_32i_16i(pair), zero);
}

SN_INLINE v32i product_of(const struct sn_quantized_binary * p, v32i u, v16i v, bool negative, bool near)
{
    const v32f product = v_cvt_32i_32f(v_madd_16i_32i(v_cast_32i_16i(u), v));
    return rounded(v_add_32f(v_mul_32f(product, v_set_32f(p->factor)), v_set_32f(p->shift)), negative, near);
}

SN_INLINE v8u load(const uint8_t * p, bool negative) { return negative ? inverted(v_load_8u(p)) : v_load_8u(p); }

/* As sums(). 128 is added to signed numbers and zeros, too. */
SN_INLINE size_t products(const struct sn_quantized_binary * of, bool negative, bool near, const uint8_t * a,
                          const uint8_t * b, uint8_t * dst, size_t size)
{
    const struct sn_quantized_binary own = *of;
    const float more = negative ? 128 : 0;
    const v16i aZero = v_set_16i((int16_t)(own.aZero + more)), bZero = v_set_16i((int16_t)(own.bZero + more));
    const v32i low = v_set_32i(0xFFFF), high = v_set_32i(~0xFFFF);
    size_t i = 0;
    for (; i + V8U_N <= size; i += V8U_N) {
        const v32i x = v_cast_8u_32i(load(a + i, negative)), y = v_cast_8u_32i(load(b + i, negative));
        v32i r[QUARTERS];
        SN_UNROLL for (int odd = 0; odd < 2; ++odd)
        {
            const v32i u = v_cast_16i_32i(halves(x, odd, aZero));
            const v16i v = halves(y, odd, bZero);
            r[odd] = product_of(&own, v_and_32i(u, low), v, negative, near);
            r[odd + 2] = product_of(&own, v_and_32i(u, high), v, negative, near);
        }
        const v8u bytes = v_join_32i_8u(r[0], r[1], r[2], r[3]);
        v_store_8u(dst + i, negative ? inverted(bytes) : bytes);
    }
    return i;
}

SN_INLINE size_t multiply_whole(const struct sn_quantized_binary * p, const uint8_t * a, const uint8_t * b, uint8_t * dst,
                                size_t size)
{
    if (!p->near)
        return products(p, p->negative, false, a, b, dst, size);
    return p->negative ? products(p, true, true, a, b, dst, size) : products(p, false, true, a, b, dst, size);
}

/* ---- the functions */

/* The last bytes, fewer than a vector, are copied to a whole one. */
static __attribute__((noinline)) void tail(sn_quantized_binary_fn run, const struct sn_quantized_binary * p,
                                           const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t left)
{
    uint8_t x[V8U_N] = {0}, y[V8U_N] = {0}, r[V8U_N];
    memcpy(x, a, left);
    memcpy(y, b, left);
    run(p, x, y, r, V8U_N);
    memcpy(dst, r, left);
}

#define KERNEL(name)                                                                                                        \
    static void name(const struct sn_quantized_binary * p, const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size) \
    {                                                                                                                       \
        const size_t i = name##_whole(p, a, b, dst, size);                                                                  \
        if (i < size)                                                                                                       \
            tail(name, p, a + i, b + i, dst + i, size - i);                                                                 \
    }

KERNEL(add)
KERNEL(multiply)

SN_INSTALL(quantized_binary, quantized_binary)
{
    slots->add = add;
    slots->multiply = multiply;
}
