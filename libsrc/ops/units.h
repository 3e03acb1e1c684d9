/* Cost of work, and the size of a unit of sn_parallel_for() in memory-bound operations. */
#ifndef SN_OPS_UNITS_H
#define SN_OPS_UNITS_H

#include "contract/gemm.h"
#include "runtime/common.h"
#include "runtime/cpu.h"
#include "runtime/threads.h"

/* Approximate elements of one unit: a microsecond of work, so large that threads rarely write the same cache line. */
enum { SN_UNIT_ELEMENTS = 8192 };

/* Items of `elements` elements in one unit. */
SN_INLINE size_t sn_items_per_unit(size_t elements) { return sn_ceil_div(SN_UNIT_ELEMENTS, sn_max(elements, 1)); }

/*
 * Estimates for struct sn_parallel, in nanoseconds: of moving bytes into or out of the L2 cache; of multiply-adds with
 * vectors of `vector` bytes (table->alignment), one vector per cycle. Rough values suffice, since starting work on another
 * thread takes microseconds.
 */
SN_INLINE double sn_cost_of_bytes(double bytes) { return bytes / SN_BYTES_PER_NS; }
SN_INLINE double sn_cost_of_sums(double sums, size_t vector)
{
    return sums * sizeof(float) / (SN_CYCLES_PER_NS * (double)vector);
}

/*
 * True if this many bytes of sources and result exceed the caches: non-temporal stores then avoid reading the cache lines of
 * the result first, a third of the memory traffic. For smaller results they would remove from the cache what the next layer
 * reads.
 */
SN_INLINE bool sn_beyond_cache(size_t bytes) { return bytes > sn_cpu()->traits.cached; }

/* Whether the rows of C are whole cache lines, as non-temporal stores need: parts of lines would be written separately. */
SN_INLINE bool sn_has_whole_lines(const struct sn_gemm_32f * g)
{
    const size_t floats = g->cStepX | g->cStepY | g->columns;
    return ((uintptr_t)g->c | floats * sizeof(float)) % SN_LINE == 0;
}

#endif
