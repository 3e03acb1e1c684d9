/*
 * Rows that are read together evict each other from the L1 cache if their distance maps them to few of its sets
 * (runtime/cpu.h): rows 4 KB apart share one set, rows 2 KB apart two, rows 1 KB apart four. The number of rows that a
 * kernel reads together determines which distances slow it down.
 */
#ifndef SN_OPS_CACHE_SETS_H
#define SN_OPS_CACHE_SETS_H

#include "runtime/common.h"
#include "runtime/cpu.h"

/* Rows at distances that are multiples of these bytes map to one set, to two sets or fewer, to four sets or fewer. */
enum { SN_ONE_SET = SN_LINE * SN_SETS, SN_TWO_SETS = SN_ONE_SET / 2, SN_FOUR_SETS = SN_ONE_SET / 4 };

/* True if a distance in bytes is such a multiple. */
static inline bool sn_share_sets(size_t bytes, size_t sets) { return bytes > 0 && bytes % sets == 0; }

/* The least distance of at least `floats` floats that is no such multiple: one cache line is added if necessary. */
static inline size_t sn_spaced(size_t floats, size_t sets)
{
    return floats + (sn_share_sets(floats * sizeof(float), sets) ? SN_LINE / sizeof(float) : 0);
}

#endif
