/*
 * Rows that are read together push each other out of the first cache where their distance puts them into few of its sets: 64
 * sets of 64-byte lines repeat every 4 KB on every processor we know, with 8 or 12 lines in each. Rows 4 KB apart share one
 * set, rows 2 KB apart two, rows 1 KB apart four. How many rows a kernel reads together decides which distance hurts it.
 */
#ifndef SN_OPS_CACHE_SETS_H
#define SN_OPS_CACHE_SETS_H

#include "runtime/common.h"
#include "runtime/memory.h"

/* Bytes from one row to the next whose multiples put rows into so many sets, or fewer. */
enum { SN_ONE_SET = 4096, SN_TWO_SETS = 2048, SN_FOUR_SETS = 1024 };

/* Whether rows of a distance in bytes share them. */
static inline bool sn_share_sets(size_t bytes, size_t sets) { return bytes > 0 && bytes % sets == 0; }

/* A distance of at least so many floats at which rows do not: a cache line more where they would. */
static inline size_t sn_spaced(size_t floats, size_t sets)
{
    return floats + (sn_share_sets(floats * sizeof(float), sets) ? SN_ALIGN / sizeof(float) : 0);
}

#endif
