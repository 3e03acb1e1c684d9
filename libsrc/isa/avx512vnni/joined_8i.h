/*
 * vpdpbusd for quantised depthwise convolution, as kernels/default/joined_8i.h lists it. Bytes of four lines or taps are
 * interleaved, so that each 32-bit lane holds those of a channel: 8 shuffles for 64 channels. They come out in an order of
 * their own, vector k having channels 16 * L + 4 * k + i in lane 4 * L + i; weights and constants are put into the same
 * order, and the packs that make bytes again undo it.
 */
#ifndef SN_ISA_AVX512VNNI_JOINED_8I_H
#define SN_ISA_AVX512VNNI_JOINED_8I_H

enum { JOINED = 4, RUN = 4, GROUPS = 4 / JOINED };

/* The place in the order of above of channel c of a block. */
SN_INLINE size_t place(size_t c) { return c % 16 / 4 * 16 + c / 16 * 4 + c % 4; }

/* In assembler, as in dot_8i.h. */
SN_INLINE v32i joined_dot(v32i sum, v32i x, v32i w)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
    return sum;
}

SN_INLINE void joined(const v8u line[4], int k, v32i x[GROUPS])
{
    const v8u ab = k < 2 ? _mm512_unpacklo_epi8(line[0], line[1]) : _mm512_unpackhi_epi8(line[0], line[1]);
    const v8u cd = k < 2 ? _mm512_unpacklo_epi8(line[2], line[3]) : _mm512_unpackhi_epi8(line[2], line[3]);
    x[0] = k % 2 ? _mm512_unpackhi_epi16(ab, cd) : _mm512_unpacklo_epi16(ab, cd);
}

SN_INLINE v8u joined_bytes(const v32i v[4])
{
    return _mm512_packus_epi16(_mm512_packs_epi32(v[0], v[1]), _mm512_packs_epi32(v[2], v[3]));
}

/* gcc 12 does not see that a mask has all bits. The upper half is blended in, since shuffles are scarce. */
SN_INLINE v8u load_two(const uint8_t * p, const uint8_t * q, size_t n)
{
    const bool all = __builtin_constant_p(n == 32) && n == 32;
    const __m256i lower = all ? _mm256_loadu_si256((const void *)p) : _mm256_maskz_loadu_epi8(vx_first_32(n), p);
    const __m256i upper = all ? _mm256_loadu_si256((const void *)q) : _mm256_maskz_loadu_epi8(vx_first_32(n), q);
    return _mm512_mask_broadcast_i64x4(_mm512_castsi256_si512(lower), 0xF0, upper);
}

SN_INLINE size_t place_two(size_t second, size_t c) { return second * 32 + c; }

SN_INLINE void store_two(uint8_t * p, uint8_t * q, v8u v, size_t n)
{
    const __m256i lower = _mm512_castsi512_si256(v), upper = _mm512_extracti64x4_epi64(v, 1);
    if (__builtin_constant_p(n == 32) && n == 32) {
        _mm256_storeu_si256((void *)p, lower);
        _mm256_storeu_si256((void *)q, upper);
    } else {
        _mm256_mask_storeu_epi8(p, vx_first_32(n), lower);
        _mm256_mask_storeu_epi8(q, vx_first_32(n), upper);
    }
}

#endif
