/*
 * Heaps of floats with their indices. A rank is an integer whose order is that of the values: a float as the upper half, and
 * its index as the lower one, so that of equal values that of the lower index is larger. NaN is larger than any number, and
 * -0 is equal to 0.
 */
#ifndef SN_OPS_RANKS_H
#define SN_OPS_RANKS_H

#include "runtime/common.h"
#include "runtime/numeric.h"

/* The order of values: of all floats if `flip` is 0, and the opposite one if it is UINT32_MAX. */
static inline uint32_t sn_order_of(float x, uint32_t flip)
{
    const uint32_t bits = sn_bits_32f(x + 0), negative = 0 - (bits >> 31); /* + 0 makes 0 of -0 */
    const uint32_t nan = 0 - (uint32_t)((bits & 0x7FFFFFFF) > 0x7F800000);
    return ((bits ^ (negative | 0x80000000)) | nan) ^ flip; /* no branches: signs are random */
}

/* The number of an order that is not NaN. */
static inline float sn_value_of(uint32_t order, uint32_t flip)
{
    const uint32_t bits = order ^ flip;
    return sn_from_bits_32f(bits >> 31 ? bits ^ 0x80000000 : ~bits);
}

static inline uint64_t sn_rank_of(uint32_t order, size_t index) { return (uint64_t)order << 32 | (UINT32_MAX - index); }
static inline size_t sn_rank_index(uint64_t rank) { return UINT32_MAX - (uint32_t)rank; }

/* Restores a heap, whose first rank is the lowest, after ranks[at] has become larger. */
static inline void sn_heap_sift(uint64_t * ranks, size_t size, size_t at)
{
    const uint64_t rank = ranks[at];
    for (size_t child; (child = 2 * at + 1) < size; at = child) {
        child += child + 1 < size && ranks[child + 1] < ranks[child];
        if (rank <= ranks[child])
            break;
        ranks[at] = ranks[child];
    }
    ranks[at] = rank;
}

static inline void sn_heap_make(uint64_t * ranks, size_t size)
{
    for (size_t i = size / 2; i-- > 0;)
        sn_heap_sift(ranks, size, i);
}

#endif
