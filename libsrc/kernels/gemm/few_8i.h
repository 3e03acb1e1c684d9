/*
 * Rows of few bytes by few columns, as 1x1 convolutions of few channels have them: 16 bytes of memory have several rows, and
 * the lanes of a vector are the results of these. For each group of a row, the bytes that each lane multiplies are picked.
 * Four vectors of sums become bytes together. 8x459x459 to 8 takes 0.39 of the time of the blocks of amx, 0.36 of the tile's
 * (avxvnni 0.54); 3x200x200 to 3 0.14, 0.17 and 0.24; with a row in a vector, 14x56x56 to 14, 0.85 and 0.76 (Xeon with
 * AMX).
 */
#ifndef SN_KERNELS_GEMM_FEW_8I_H
#define SN_KERNELS_GEMM_FEW_8I_H

#include "contract/convolution_8i.h"
#include "kernels/result_8i.h"

/* FEW_LEAST: fewer rows are not worth what is prepared. */
enum { FEW_BYTES = 16, FEW_GROUPS = FEW_BYTES / 4, FEW_LEAST = 64 };

/* The rows of a vector. */
SN_INLINE size_t few_rows(const struct sn_dot * g)
{
    return sn_min(V32F_N / g->columns, (FEW_BYTES - 4 * g->length) / g->aStepX + 1);
}

/* Of groups of four bytes; results are bounded bytes without gaps. */
SN_INLINE bool few_is_possible(const struct sn_dot * g)
{
    const struct sn_result_8i * r = g->result;
    return g->segments == 1 && g->length <= FEW_GROUPS && g->columns <= V32F_N && g->cStepX == g->columns &&
           g->width >= FEW_LEAST && !r->sums && result_is_bounded(r);
}

#endif
