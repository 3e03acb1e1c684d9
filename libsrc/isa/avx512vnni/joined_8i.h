/* The definitions for isa/avxvnni/quads_8i.h and depthwise_any_8i.h, 64 bytes wide. */
#ifndef SN_ISA_AVX512VNNI_JOINED_8I_H
#define SN_ISA_AVX512VNNI_JOINED_8I_H

#include <dot_8i.h>

/* Within each 128 bits. */
SN_INLINE v8u vx_zip_low_8(v8u a, v8u b) { return _mm512_unpacklo_epi8(a, b); }
SN_INLINE v8u vx_zip_high_8(v8u a, v8u b) { return _mm512_unpackhi_epi8(a, b); }
SN_INLINE v8u vx_zip_low_16(v8u a, v8u b) { return _mm512_unpacklo_epi16(a, b); }
SN_INLINE v8u vx_zip_high_16(v8u a, v8u b) { return _mm512_unpackhi_epi16(a, b); }
SN_INLINE v8u vx_pack_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    return _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
}

/* Selects the first bytes of a vector in tail loads and stores. */
typedef __mmask64 vx_tail;
SN_INLINE vx_tail vx_tail_of(size_t n) { return vx_first_64(n); }
SN_INLINE v8u vx_load_8u(const uint8_t * p, vx_tail tail) { return _mm512_maskz_loadu_epi8(tail, p); }
SN_INLINE void vx_store_8u(uint8_t * p, v8u v, vx_tail tail) { _mm512_mask_storeu_epi8(p, tail, v); }

/* gcc 12 does not recognise a mask with all bits set. The upper half is blended in, since shuffles are the bottleneck. */
SN_INLINE v8u load_two(const uint8_t * p, const uint8_t * q, size_t n)
{
    const bool all = __builtin_constant_p(n == 32) && n == 32;
    const __m256i lower = all ? _mm256_loadu_si256((const void *)p) : _mm256_maskz_loadu_epi8(vx_first_32(n), p);
    const __m256i upper = all ? _mm256_loadu_si256((const void *)q) : _mm256_maskz_loadu_epi8(vx_first_32(n), q);
    return _mm512_mask_broadcast_i64x4(_mm512_castsi256_si512(lower), 0xF0, upper);
}

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

#include "isa/avxvnni/quads_8i.h"

#endif
