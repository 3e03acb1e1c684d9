/*
 * Loads and stores the first 0..16 bytes of an SSE register, for the sets without byte masks (SSE4.1, AVX2).
 *
 * From 4 bytes up there are always two accesses of 8 or of 4 bytes, the first at the beginning and the second at the end;
 * where they overlap they agree. A byte shuffle moves the second one into place. No other bytes are accessed. If n is a
 * multiple of 2 or 4, such as 2 * lanes or 4 * lanes, the compiler removes the branches for odd bytes.
 */
#ifndef SN_ISA_TAIL_128_H
#define SN_ISA_TAIL_128_H

#if !defined(__SSE4_1__)
#error "tail_128.h needs -msse4.1"
#endif

#include "runtime/common.h"

#include <smmintrin.h>
#include <string.h>

#define VX_NO -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1

/* The 16 bytes from 16 - s on are the shuffle that shifts bytes up by s, those from 16 + s on down; zeros are shifted in. */
static const int8_t vx_slide[48] = {VX_NO, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, VX_NO};

#undef VX_NO

SN_INLINE __m128i vx_up_128(__m128i x, size_t bytes)
{
    return _mm_shuffle_epi8(x, _mm_loadu_si128((const __m128i *)(vx_slide + 16 - bytes)));
}

SN_INLINE __m128i vx_down_128(__m128i x, size_t bytes)
{
    return _mm_shuffle_epi8(x, _mm_loadu_si128((const __m128i *)(vx_slide + 16 + bytes)));
}

SN_INLINE __m128i vx_load_4(const void *p)
{
    int32_t x;
    memcpy(&x, p, 4);
    return _mm_cvtsi32_si128(x);
}

SN_INLINE __m128i vx_load_8(const void *p) { return _mm_loadl_epi64(p); }

SN_INLINE void vx_store_4(void *p, __m128i v)
{
    int32_t x = _mm_cvtsi128_si32(v);
    memcpy(p, &x, 4);
}

SN_INLINE void vx_store_8(void *p, __m128i v) { _mm_storel_epi64(p, v); }

SN_INLINE __m128i vx_load_first_128(const void *p, size_t n)
{
    const uint8_t *bytes = p;
    if (n >= 8)
        return _mm_or_si128(vx_load_8(bytes), vx_up_128(vx_load_8(bytes + n - 8), n - 8));
    if (n >= 4)
        return _mm_or_si128(vx_load_4(bytes), vx_up_128(vx_load_4(bytes + n - 4), n - 4));
    uint32_t x = 0;
    if (n & 1)
        x = (uint32_t)bytes[n - 1] << 8 * (n - 1);
    if (n & 2)
    {
        uint16_t low;
        memcpy(&low, bytes, 2);
        x |= low;
    }
    return _mm_cvtsi32_si128((int)x);
}

SN_INLINE void vx_store_first_128(void *p, __m128i v, size_t n)
{
    uint8_t *bytes = p;
    if (n >= 8)
    {
        vx_store_8(bytes, v);
        vx_store_8(bytes + n - 8, vx_down_128(v, n - 8));
    }
    else if (n >= 4)
    {
        vx_store_4(bytes, v);
        vx_store_4(bytes + n - 4, vx_down_128(v, n - 4));
    }
    else
    {
        uint32_t x = (uint32_t)_mm_cvtsi128_si32(v);
        if (n & 2)
            memcpy(bytes, &x, 2); /* little-endian: the low half */
        if (n & 1)
            bytes[n - 1] = (uint8_t)(x >> 8 * (n - 1));
    }
}

#endif
