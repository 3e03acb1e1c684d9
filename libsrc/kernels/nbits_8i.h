/*
 * Sources of products of bytes with matrices of 4 or 8 bits, as gemm_nbits_8i.c quantises them, and the groups of numbers that
 * words of the matrix have. Behind the vectors of a source there is the scale of each block, then what its sum begins with.
 */
#ifndef SN_KERNELS_NBITS_8I_H
#define SN_KERNELS_NBITS_8I_H

#include "kernels/nbits.h"

#include <dot_8i.h>
#include <nibbles.h>

/* Numbers that are multiplied together. Without products of four bytes, those of 4 bits are products of two, added up to
 * NIBBLE_SUMS times in 16 bits: 8 * 2 * 15 * 127 is below 2^15. */
#define BY_NIBBLES (TILE_GROUP == 2 && HAS_NIBBLES)
#define GROUP(bits) (BY_NIBBLES && (bits) == 4 ? 4 : TILE_GROUP)
enum { NIBBLE_SUMS = 8 };

/* Sums of 16 bits, in pairs, added to sums of 32. */
SN_INLINE v32i add_pairs(v32i sum, v16i pairs) { return v_add_32i(sum, v_madd_16i_32i(pairs, v_set_16i(1))); }

/* The vectors of a source for a vector of words: the parts, then in each word's lane the scale, and what the sum of its
 * products begins with if the zero is the middle of all numbers: less the middle times the sum of its numbers. */
enum { MORE = 2 };
#define PARTS(bits) (32 / (bits) / GROUP(bits))
#define STEP(bits) ((size_t)(PARTS(bits) + MORE) * V32F_N)

static size_t vectors_size(size_t bits, size_t depth)
{
    const size_t words = sn_ceil_div(depth, 32 / bits);
    return sn_ceil_div(sn_ceil_div(words, V32F_N) * STEP(bits), 16) * 16;
}

/* Of scales, or of what sums begin with; then of a source, in floats. */
static size_t blocks_size(size_t depth) { return sn_ceil_div(sn_ceil_div(depth, 16), 16) * 16; }

static size_t size_8i(size_t bits, size_t depth) { return vectors_size(bits, depth) + 2 * blocks_size(depth); }

/* Where in a row the vectors of the words from number k on begin; k is a multiple of the numbers of these. */
SN_INLINE uint8_t * vectors_at(void * row, size_t k, int bits)
{
    return (uint8_t *)row + k / (32 / (size_t)bits * V32F_N) * STEP((size_t)bits) * sizeof(float);
}

/* The groups of part v of words. */
SN_INLINE v32i group(v32i words, int bits, int v)
{
    const int32_t mask = GROUP(bits) == 4 ? 0x0F0F0F0F : bits == 4 ? 0x000F000F : 0x00FF00FF;
    if (bits == 8 && GROUP(bits) == 4)
        return TILE_BIASED ? v_xor_32i(words, v_set_32i((int32_t)0x80808080)) : words;
    switch (bits * v) {
    case 0: return v_and_32i(words, v_set_32i(mask));
    case 4: return v_and_32i(v_shr_32i(words, 4), v_set_32i(mask));
    case 8: return v_and_32i(v_shr_32i(words, 8), v_set_32i(mask));
    default: return v_and_32i(v_shr_32i(words, 12), v_set_32i(mask));
    }
}

/* sum, and the products of a vector of words with the parts of a source at x. */
SN_INLINE v32i word_products(v32i sum, v32i words, const sn_32f * x, int bits)
{
    if (BY_NIBBLES && bits == 4)
        return add_pairs(sum, v_add_16i(nibble_products(group(words, 4, 0), v_load_32i(x)),
                                        nibble_products(group(words, 4, 1), v_load_32i(x + V32F_N))));
    const int parts = PARTS(bits);
    SN_UNROLL for (int v = 0; v < parts; ++v) sum = tile_dot(sum, group(words, bits, v), v_load_32i(x + v * V32F_N));
    return sum;
}

#endif
