/* Matrix products of the public functions; arguments are checked, and no C is empty. */
#ifndef SN_OPS_GEMM_H
#define SN_OPS_GEMM_H

#include "contract/table.h"

/* False, with C unchanged, if there is no memory for a buffer. */
bool sn_gemm(const struct sn_table * table, const struct sn_gemm * g);

#endif
