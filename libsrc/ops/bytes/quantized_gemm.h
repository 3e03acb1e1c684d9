/* Batches of products of two matrices of bytes. */
#ifndef SN_OPS_BYTES_QUANTIZED_GEMM_H
#define SN_OPS_BYTES_QUANTIZED_GEMM_H

#include "ops/bytes/quantized_matrix.h"

/* A product of M rows, at least 1, and the matrix, with `work` of so many bytes, aligned to SN_ALIGN, instead of sn_scratch():
 * for callers that have their own arrays there. B of the product is not used. */
size_t sn_quantized_matrix_work(const struct sn_quantized_matrix * matrix, size_t M);
void sn_quantized_matrix_multiply(const struct sn_quantized_gemm * g, const struct sn_quantized_matrix * matrix, void * work);

/* `batch` products; bytes from the matrices of one to those of the next, except C and the values of rows, which are dense. M
 * and N are at least 1. With `matrix`, that is B, and strideB is 0. False, with C unchanged, if there is no memory for a
 * buffer. */
bool sn_quantized_gemm(const struct sn_quantized_gemm * g, const struct sn_quantized_matrix * matrix, size_t batch,
                       size_t strideA, size_t strideB);

/* The index of the first scale that is below 0 or not finite; `count` if there is none. */
size_t sn_quantized_bad_scale(const sn_32f * scale, size_t count);

#endif
