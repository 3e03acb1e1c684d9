/* Reductions of rows and of columns. */
#ifndef SN_CONTRACT_REDUCE_H
#define SN_CONTRACT_REDUCE_H

#include "runtime/common.h"

/* What a result becomes by an element x. */
enum sn_fold {
    SN_FOLD_SUM,     /* + x */
    SN_FOLD_SQUARES, /* + x^2 */
    SN_FOLD_MAX,     /* the larger one, NaN if either is */
    SN_FOLD_EXP,     /* + exp(x - shift), x at most shift */
    SN_FOLD_PRODUCT, /* * x */
    SN_FOLDS
};

/* A matrix, its rows `step` floats apart. Before anything else, the bits of an element are & mask, then ^ flip. */
struct sn_fold_matrix {
    const sn_32f * src;
    size_t rows, step, columns;
    uint32_t mask, flip;  /* of SUM and MAX; the others ignore them */
    const sn_32f * shift;  /* of EXP: for each result */
};

/* Folds row (column) i into total[i], for all of them. */
typedef void (*sn_fold_fn)(const struct sn_fold_matrix * m, double * total);

/* The index of the first or last of n elements that equals `value`, which one does. */
typedef size_t (*sn_find_row_fn)(const sn_32f * src, size_t n, float value, bool last);

/* The same for each column, with fewer than 2^31 rows. */
typedef void (*sn_find_columns_fn)(const struct sn_fold_matrix * m, const sn_32f * value, bool last, int32_t * index);

/* The kernels of a level. */
struct sn_reduce_slots {
    sn_fold_fn rows[SN_FOLDS], columns[SN_FOLDS];
    sn_find_row_fn find_row;
    sn_find_columns_fn find_columns;
};

#endif
