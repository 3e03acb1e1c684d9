/* vpmaddubsw saturates, which sums of two products of 4 by 8 bits do not reach. */
#ifndef SN_ISA_AVX2_NIBBLES_H
#define SN_ISA_AVX2_NIBBLES_H

#include "kernels/vec.h"

enum { HAS_NIBBLES = 1 };

SN_INLINE v16i nibble_products(v32i a, v32i b) { return _mm256_maddubs_epi16(a, b); }

#endif
