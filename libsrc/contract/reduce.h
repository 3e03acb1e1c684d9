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

/*
 * Folds row (column) i into total[i], for all of them. A kernel may fold anything into elements behind them, up to the next
 * multiple of SN_FOLD_TOTALS, which must be finite numbers.
 */
enum { SN_FOLD_TOTALS = 16 };
typedef void (*sn_fold_fn)(const struct sn_fold_matrix * m, double * total);

/* What follows the fold: total * scale; its root; log(total) + shift[i], or shift[i] if that is not finite. */
enum sn_fold_end { SN_FOLD_END_SCALE, SN_FOLD_END_ROOT, SN_FOLD_END_LOG };

struct sn_fold_results {
    enum sn_fold_end end;
    double scale;
    const sn_32f * shift;
    bool check;   /* of sums: return false, with anything in dst, if a total is not from lowest to FLT_MAX in float */
    float lowest;
    size_t count;
    sn_32f * dst;
};

/* Computes `count` results. */
typedef bool (*sn_fold_results_fn)(const struct sn_fold_results * r, const double * total);

/*
 * The index of the first or last element of each row that equals `value`, its maximum, or minimum if m->flip is not 0;
 * anything where that is NaN, and false if any is.
 */
typedef bool (*sn_find_rows_fn)(const struct sn_fold_matrix * m, const sn_32f * value, bool last, int64_t * index);

/* The same for columns, at least one row and fewer than 2^31, without their maxima; *value is NaN where there is a NaN. */
typedef bool (*sn_find_columns_fn)(const struct sn_fold_matrix * m, bool last, sn_32f * value, int64_t * index);

/* The kernels of a level. */
struct sn_reduce_slots {
    sn_fold_fn rows[SN_FOLDS], columns[SN_FOLDS];
    sn_fold_results_fn results;
    sn_find_rows_fn find_rows;
    sn_find_columns_fn find_columns;
};

#endif
