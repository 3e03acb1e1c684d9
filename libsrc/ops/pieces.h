/* What work costs, and how much of a memory-bound operation is one unit of sn_parallel_for(). */
#ifndef SN_OPS_PIECES_H
#define SN_OPS_PIECES_H

#include "runtime/common.h"
#include "runtime/cpu.h"
#include "runtime/threads.h"

/* Elements of one unit, about: a microsecond of work, and no two threads write the same cache line often. */
enum { SN_PIECE = 8192 };

/* Items of `elements` each that make one unit. */
static inline size_t sn_items_per_piece(size_t elements) { return sn_ceil_div(SN_PIECE, sn_max(elements, 1)); }

/*
 * Estimates for struct sn_parallel, in nanoseconds: of moving bytes in or out of the second cache; of multiply-adds with
 * vectors of so many bytes (table->alignment), a vector per cycle. They need not be good: threads are handed over to in
 * microseconds.
 */
static inline double sn_cost_of_bytes(double bytes) { return bytes / SN_BYTES_PER_NS; }
static inline double sn_cost_of_sums(double sums, size_t vector)
{
    return sums * sizeof(float) / (SN_CYCLES_PER_NS * (double)vector);
}

/*
 * True when so many bytes of sources and result do not stay in the caches: a result that is written past them then spares
 * reading its lines first, a third of the traffic. Below that size it would drive out what the next layer reads.
 */
static inline bool sn_beyond_cache(size_t bytes) { return bytes > sn_cpu()->cacheL3 / 4 * 3; }

#endif
