/* Products of floats and a matrix of 4 or 8 bits. */
#ifndef SN_OPS_GEMM_NBITS_H
#define SN_OPS_GEMM_NBITS_H

#include "contract/gemm_nbits.h"

/* The product; M and N are at least 1. p->w.zero is not used: `zero` has the zeros as rows of bytes, packed like the numbers,
 * or is NULL. False, with dst unchanged, if there is no memory for a buffer. */
bool sn_gemm_nbits(const struct sn_nbits_product * p, const uint8_t * zero);

#endif
