/* Matrix products of the public functions; arguments are checked, and C is not empty. */
#ifndef SN_OPS_GEMM_H
#define SN_OPS_GEMM_H

#include "contract/gemm.h"

/* False, with C unchanged, if there is no memory for a buffer. */
bool sn_gemm(const struct sn_gemm * g);

#endif
