/* The definitions for quads_8i.h and depthwise_any_8i.h, 32 bytes wide. */
#ifndef SN_ISA_AVXVNNI_JOINED_8I_H
#define SN_ISA_AVXVNNI_JOINED_8I_H

#include <dot_8i.h>

/* Within each 128 bits. */
SN_INLINE v8u vx_zip_low_8(v8u a, v8u b) { return _mm256_unpacklo_epi8(a, b); }
SN_INLINE v8u vx_zip_high_8(v8u a, v8u b) { return _mm256_unpackhi_epi8(a, b); }
SN_INLINE v8u vx_zip_low_16(v8u a, v8u b) { return _mm256_unpacklo_epi16(a, b); }
SN_INLINE v8u vx_zip_high_16(v8u a, v8u b) { return _mm256_unpackhi_epi16(a, b); }
SN_INLINE v8u vx_pack_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    return _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
}

/* Selects the first bytes of a vector in tail loads and stores. */
typedef size_t vx_tail;
SN_INLINE vx_tail vx_tail_of(size_t n) { return n; }
SN_INLINE v8u vx_load_8u(const uint8_t * p, vx_tail tail) { return v_load_tail_8u(p, tail); }
SN_INLINE void vx_store_8u(uint8_t * p, v8u v, vx_tail tail) { v_store_tail_8u(p, v, tail); }

SN_INLINE v8u load_two(const uint8_t * p, const uint8_t * q, size_t n)
{
    const bool all = __builtin_constant_p(n == 16) && n == 16;
    const __m128i lower = all ? _mm_loadu_si128((const void *)p) : vx_load_first_128(p, n);
    const __m128i upper = all ? _mm_loadu_si128((const void *)q) : vx_load_first_128(q, n);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(lower), upper, 1);
}

SN_INLINE void store_two(uint8_t * p, uint8_t * q, v8u v, size_t n)
{
    vx_store_first_128(p, _mm256_castsi256_si128(v), n);
    vx_store_first_128(q, _mm256_extracti128_si256(v, 1), n);
}

#include "isa/avxvnni/quads_8i.h"

#endif
