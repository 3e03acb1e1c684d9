/* Batches of products of two matrices of bytes. */
#ifndef SN_OPS_QUANTIZED_GEMM_H
#define SN_OPS_QUANTIZED_GEMM_H

#include "contract/quantized_gemm.h"

/* `batch` products; bytes from the matrices of one to those of the next, except C and the values of rows, which are dense. M
 * and N are at least 1. False, with C unchanged, if there is no memory for a buffer. */
bool sn_quantized_gemm(const struct sn_quantized_gemm * g, size_t batch, size_t strideA, size_t strideB);

#endif
