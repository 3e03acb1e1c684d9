/*
 * A matrix B of `depth` rows and `columns` columns that was packed once, to be multiplied many times: panels of the GEMM
 * tile. For `base`, which has no tile, a copy.
 */
#ifndef SN_OPS_PACKED_32F_H
#define SN_OPS_PACKED_32F_H

#include "contract/table.h"

struct sn_packed_32f {
    const struct sn_gemm_slots * kernels;
    size_t depth, columns;
    sn_32f * panels; /* sn_packed_size_32f() floats, aligned to SN_ALIGN */
};

/* The floats of the panels, and of the bias of a product, which is read beyond its last column. */
size_t sn_packed_size_32f(const struct sn_packed_32f * m);
size_t sn_packed_bias_size_32f(const struct sn_packed_32f * m);

/* Packs the transposed matrix: `columns` rows of `depth` floats. */
void sn_pack_32f(const struct sn_packed_32f * m, const sn_32f * transposed);

/*
 * C = A * B + bias, for `rows` rows of A and C, at least one. The bits of a row are the same for any number of rows: each
 * element is one chain of multiply-adds. `divided`: on several threads, if it is worth it; not within other work of threads.
 */
void sn_packed_multiply_32f(const struct sn_packed_32f * m, const sn_32f * a, size_t lda, size_t rows, const sn_32f * bias,
                            sn_32f * c, size_t ldc, bool divided);

#endif
