/*
 * Rows that are read together push each other out of the first cache where their distance puts them into few of its sets
 * (runtime/cpu.h): rows 4 KB apart share one set, rows 2 KB apart two, rows 1 KB apart four. How many rows a kernel reads
 * together decides which distance hurts it.
 */
#ifndef SN_OPS_CACHE_SETS_H
#define SN_OPS_CACHE_SETS_H

#include "runtime/common.h"
#include "runtime/cpu.h"

/* Bytes from one row to the next whose multiples put rows into so many sets, or fewer. */
enum { SN_ONE_SET = SN_LINE * SN_SETS, SN_TWO_SETS = SN_ONE_SET / 2, SN_FOUR_SETS = SN_ONE_SET / 4 };

/* Whether rows of a distance in bytes share them. */
static inline bool sn_share_sets(size_t bytes, size_t sets) { return bytes > 0 && bytes % sets == 0; }

/* A distance of at least so many floats at which rows do not: a cache line more where they would. */
static inline size_t sn_spaced(size_t floats, size_t sets)
{
    return floats + (sn_share_sets(floats * sizeof(float), sets) ? SN_LINE / sizeof(float) : 0);
}

#endif
