/* Batches of products of two matrices of bytes. */
#ifndef SN_OPS_BYTES_QUANTIZED_GEMM_H
#define SN_OPS_BYTES_QUANTIZED_GEMM_H

#include "contract/table.h"

/* A matrix B that is packed once. */
struct sn_quantized_matrix {
    const struct sn_table * table;
    size_t N, K;
    bool with_sign;
    bool transposed; /* the bytes in `packed`, if they are those of B, as in `base` */
    void * packed;   /* NULL before it is set */
    size_t size;     /* bytes of it that are not shared */
    bool borrowed;   /* whether it is in memory of the caller */
};

/* False, with *q unchanged, if there is no memory. */
bool sn_quantized_matrix_set(struct sn_quantized_matrix * q, const uint8_t * b, bool transposed);
void sn_quantized_matrix_share(struct sn_quantized_matrix * q, const struct sn_quantized_matrix * from);

/* The bytes of `packed`; and as many, in memory of the caller, in its place. */
size_t sn_quantized_matrix_size(const struct sn_quantized_matrix * q);
void sn_quantized_matrix_borrow(struct sn_quantized_matrix * q, void * packed, bool transposed);

/* Writes them, aligned to SN_ALIGN; false if there is no memory. */
bool sn_quantized_matrix_pack(const struct sn_quantized_matrix * q, const uint8_t * b, bool transposed, void * packed);

void sn_quantized_matrix_free(const struct sn_quantized_matrix * q);

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
