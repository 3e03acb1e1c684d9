/* Matrix products of the public functions; arguments are checked, and no C is empty. */
#ifndef SN_OPS_GEMM_H
#define SN_OPS_GEMM_H

#include "contract/table.h"

/* False, with C unchanged, if g->work is NULL and there is no memory for a buffer. */
bool sn_gemm(const struct sn_table * table, const struct sn_gemm * g);

/* The bytes of scratch memory that one product of these sizes needs at most, for any transpositions, distances of rows and threads. */
size_t sn_gemm_work(const struct sn_table * table, const struct sn_gemm * g);

#endif
