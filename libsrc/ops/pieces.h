/* How much of a memory-bound operation is one unit of sn_parallel_for(). */
#ifndef SN_OPS_PIECES_H
#define SN_OPS_PIECES_H

#include "core/common.h"

/* Elements of one unit, about: a few microseconds of work, and no two threads write the same cache line often. */
enum { SN_PIECE = 32768 };

/* Items of `elements` each that make one unit. */
static inline size_t sn_items_per_piece(size_t elements) { return sn_ceil_div(SN_PIECE, sn_max(elements, 1)); }

#endif
