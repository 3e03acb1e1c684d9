/*
 * Pairs of bytes of two lines, see kernels/default/pairs_8i.h: two bytes of one line and two of the other alternate, of which a
 * mask or a shift leaves one each. An interleaving, and masks or shifts for two vectors, are six instructions for the four of a
 * block; to put bytes of one line into lanes of the other takes 13, four of them blends of two or three steps each. With vectors
 * of 64 bytes, whose interleavings have one port and whose blends are one step, 16 shapes took 0.48 to 1.23 of the time (Xeon
 * with AMX).
 */
#ifndef SN_ISA_AVX2_PAIRS_8I_H
#define SN_ISA_AVX2_PAIRS_8I_H

#include "kernels/vec.h"

/* Within 128 bits, vectors 0 and 1 have the even and the odd bytes of the lower half, 2 and 3 those of the upper half. */
SN_INLINE size_t place(size_t c) { return (c / 8 % 2 * 2 + c % 2) * V32F_N + c / 16 * 4 + c % 8 / 2; }

SN_INLINE v8u joined_bytes(const v32i v[4])
{
    const __m128i order = _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    const v8u packed = _mm256_packus_epi16(_mm256_packs_epi32(v[0], v[2]), _mm256_packs_epi32(v[1], v[3]));
    return _mm256_shuffle_epi8(packed, _mm256_broadcastsi128_si256(order));
}

SN_INLINE v32i pair(v8u a, v8u b, int k)
{
    const v32i both = k / 2 ? _mm256_unpackhi_epi16(a, b) : _mm256_unpacklo_epi16(a, b);
    return k % 2 ? _mm256_srli_epi16(both, 8) : _mm256_and_si256(both, _mm256_set1_epi16(255));
}

#endif
