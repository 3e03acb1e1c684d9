/*
 * Reductions. Neighbouring dimensions that are both kept or both reduced are one, so that kept and reduced ones alternate.
 * The last two are a matrix, whose rows or columns the kernels fold into an array of doubles; other reduced dimensions are
 * matrices that are folded into the same ones, one after another; other kept ones have results of their own.
 *
 * A unit of work is a number of neighbouring results of one matrix. A result is computed by one thread, in an order that
 * follows from the shape.
 */
#include "ops/reduce.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/numeric.h"

enum { BLOCK = 512, PIECE = 64 }; /* results that are computed together; the smallest number of those of a unit in columns */

struct job {
    const struct sn_reduce * r;
    const struct sn_table * table;
    struct sn_fold_matrix matrix; /* of the first results */
    bool in_rows;                 /* the last dimension is reduced: rows are folded, else columns */
    enum sn_fold fold;
    size_t reduced, matrices;     /* elements of a result, and matrices that are folded into it */
    size_t results;               /* of a matrix */
    size_t step, pieces;          /* results of a unit, and units of a matrix */
};

/* ---- dimensions */

static void join(struct sn_reduce * r)
{
    size_t count = 0;
    for (size_t k = 0; k < r->count; ++k) {
        const struct sn_reduce_dimension d = r->d[k];
        struct sn_reduce_dimension * outer = count ? &r->d[count - 1] : NULL;
        if (d.extent == 1)
            continue;
        if (outer && outer->reduced == d.reduced)
            *outer = (struct sn_reduce_dimension){outer->extent * d.extent, d.stride, d.reduced};
        else
            r->d[count++] = d;
    }
    r->count = count;
    /* At least a kept and a reduced one, whatever their order. */
    if (r->count == 0 || (r->count == 1 && !r->d[0].reduced))
        r->d[r->count++] = (struct sn_reduce_dimension){1, 1, true};
    if (r->count == 1) {
        r->d[1] = r->d[0];
        r->d[0] = (struct sn_reduce_dimension){1, r->d[1].extent, false};
        r->count = 2;
    }
}

/* Floats to the index-th combination of the dimensions before the last two that are reduced, or kept. */
static size_t offset_of(const struct sn_reduce * r, size_t index, bool reduced)
{
    size_t offset = 0;
    for (size_t k = r->count - 2; k-- > 0;)
        if (r->d[k].reduced == reduced) {
            offset += index % r->d[k].extent * r->d[k].stride;
            index /= r->d[k].extent;
        }
    return offset;
}

/* ---- results */

static double start_of(enum sn_fold fold) { return fold == SN_FOLD_MAX ? -INFINITY : fold == SN_FOLD_PRODUCT ? 1 : 0; }

/* Folds all matrices into total[0 .. count), of the results from `first` on; the matrices begin at `src`. */
static void fold_matrices(const struct job * job, const struct sn_table * table, enum sn_fold fold, const sn_32f * src,
                          size_t first, size_t count, const sn_32f * shift, double * total)
{
    const sn_fold_fn kernel = job->in_rows ? table->reduce.rows[fold] : table->reduce.columns[fold];
    struct sn_fold_matrix m = job->matrix;
    *(job->in_rows ? &m.rows : &m.columns) = count;
    m.shift = shift;
    for (size_t i = 0; i < count; i += SN_FOLD_TOTALS) /* a constant number at a time, which the compiler makes vectors of */
        for (size_t k = i; k < i + SN_FOLD_TOTALS; ++k)
            total[k] = start_of(fold);
    for (size_t i = 0; job->reduced && i < job->matrices; ++i) {
        m.src = src + offset_of(job->r, i, true) + first * (job->in_rows ? m.step : 1);
        kernel(&m, total);
    }
}

/* True for a sum in float that overflowed, or may have lost squares that are denormal. */
static bool is_doubtful(double total, float lowest) { return !(total >= (double)lowest && total <= FLT_MAX); }

/* Those are computed again by base, in double. */
static void repeat_doubtful(const struct job * job, const sn_32f * src, size_t first, size_t count, float lowest,
                            double * total)
{
    double again[SN_FOLD_TOTALS];
    for (size_t i = 0; i < count; ++i)
        if (is_doubtful(total[i], lowest)) {
            fold_matrices(job, sn_table_at(0), job->fold, src, first + i, 1, NULL, again);
            total[i] = again[0];
        }
}

/* total[] becomes sums of exponentials less the maxima, which it is before and which become `shift`. */
static void exponentials(const struct job * job, const sn_32f * src, size_t first, size_t count, double * total,
                         sn_32f * shift)
{
    float finite[BLOCK];
    job->table->reduce.results(&(struct sn_fold_results){.scale = 1, .count = count, .dst = shift}, total);
    for (size_t i = 0; i < count; ++i)
        finite[i] = isfinite(shift[i]) ? shift[i] : 0;
    fold_matrices(job, job->table, SN_FOLD_EXP, src, first, count, finite, total);
}

/* Results from totals, by what follows the fold. */
static void finish(const struct job * job, const sn_32f * src, size_t first, size_t count, double * total, sn_32f * dst)
{
    const enum sn_reduce_op op = job->r->op;
    float shift[BLOCK];
    struct sn_fold_results r = {.scale = op == SN_REDUCE_MIN ? -1 : 1, .shift = shift, .count = count, .dst = dst};
    r.check = job->fold == SN_FOLD_SUM || job->fold == SN_FOLD_SQUARES;
    r.lowest = job->fold == SN_FOLD_SQUARES ? 0x1p-80f : -FLT_MAX;
    if (op == SN_REDUCE_MEAN)
        r.scale = 1 / (double)job->reduced; /* infinite for no elements: their mean is NaN */
    if (op == SN_REDUCE_L2)
        r.end = SN_FOLD_END_ROOT;
    if (op == SN_REDUCE_LOG_SUM_EXP) {
        r.end = SN_FOLD_END_LOG;
        exponentials(job, src, first, count, total, shift);
    }
    if (!job->table->reduce.results(&r, total)) {
        repeat_doubtful(job, src, first, count, r.lowest, total);
        sn_table_at(0)->reduce.results(&r, total);
    }
}

/* ---- indices; a single dimension is reduced, so there is one matrix */

/* The index of the first or last element that equals a value or, like it, is NaN. */
static size_t find(const sn_32f * src, size_t n, size_t stride, float value, bool last)
{
    for (size_t i = 0; i < n; ++i) {
        const size_t at = last ? n - 1 - i : i;
        const float x = src[at * stride];
        if (x == value || (x != x && value != value))
            return at;
    }
    return 0;
}

static void find_all(const struct job * job, const sn_32f * src, size_t first, size_t count, int64_t * index)
{
    const size_t n = job->reduced, along = job->in_rows ? job->matrix.step : 1, stride = job->in_rows ? 1 : job->matrix.step;
    const bool last = job->r->last, by_column = !job->in_rows && n <= INT32_MAX;
    struct sn_fold_matrix m = job->matrix;
    double total[BLOCK];
    float value[BLOCK];
    m.src = src + first * along;
    *(job->in_rows ? &m.rows : &m.columns) = count;
    if (by_column) {
        if (job->table->reduce.find_columns(&m, last, value, index))
            return;
    } else {
        fold_matrices(job, job->table, job->fold, src, first, count, NULL, total);
        job->table->reduce.results(&(struct sn_fold_results){.scale = m.flip ? -1 : 1, .count = count, .dst = value}, total);
        if (job->in_rows && job->table->reduce.find_rows(&m, value, last, index))
            return;
    }
    for (size_t i = 0; i < count; ++i)
        if ((!by_column && !job->in_rows) || value[i] != value[i])
            index[i] = (int64_t)find(m.src + i * along, n, stride, value[i], last);
}

/* ---- */

/* Results first .. first + count - 1 of the matrices at `src`, count at most BLOCK; dst is of the result 0. */
static void compute(const struct job * job, const sn_32f * src, size_t first, size_t count, uint8_t * dst)
{
    if (job->r->op >= SN_REDUCE_ARG_MAX) {
        int64_t index[BLOCK];
        find_all(job, src, first, count, index);
        memcpy(dst + first * sizeof(*index), index, count * sizeof(*index));
    } else {
        double total[BLOCK];
        fold_matrices(job, job->table, job->fold, src, first, count, NULL, total);
        finish(job, src, first, count, total, (void *)(dst + first * sizeof(float)));
    }
}

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const size_t bytes = job->r->op >= SN_REDUCE_ARG_MAX ? sizeof(int64_t) : sizeof(float);
    for (size_t unit = begin, number; unit < end; unit += number) {
        const size_t matrix = unit / job->pieces, piece = unit % job->pieces;
        number = sn_min(end - unit, job->pieces - piece);
        const size_t last = sn_min((piece + number) * job->step, job->results);
        for (size_t i = piece * job->step, n; i < last; i += n) {
            n = sn_min(last - i, BLOCK);
            compute(job, job->r->src + offset_of(job->r, matrix, false), i, n,
                    (uint8_t *)job->r->dst + matrix * job->results * bytes);
        }
    }
}

static enum sn_fold fold_of(enum sn_reduce_op op)
{
    switch (op) {
    case SN_REDUCE_L2:
    case SN_REDUCE_SUM_SQUARE: return SN_FOLD_SQUARES;
    case SN_REDUCE_SUM:
    case SN_REDUCE_MEAN:
    case SN_REDUCE_L1: return SN_FOLD_SUM;
    case SN_REDUCE_PRODUCT: return SN_FOLD_PRODUCT;
    default: return SN_FOLD_MAX;
    }
}

void sn_reduce(struct sn_reduce r)
{
    join(&r);
    const struct sn_reduce_dimension * outer = &r.d[r.count - 2], * inner = &r.d[r.count - 1];
    const bool smallest = r.op == SN_REDUCE_MIN || r.op == SN_REDUCE_ARG_MIN;
    struct job job = {&r, sn_table(), {NULL, outer->extent, outer->stride, inner->extent,
                                       r.op == SN_REDUCE_L1 ? 0x7FFFFFFF : 0xFFFFFFFF, smallest ? 0x80000000 : 0, NULL},
                      .in_rows = inner->reduced, .fold = fold_of(r.op), .reduced = 1, .matrices = 1};
    size_t kept = 1;
    for (size_t k = 0; k < r.count; ++k) {
        if (r.d[k].reduced)
            job.reduced *= r.d[k].extent;
        if (k < r.count - 2)
            *(r.d[k].reduced ? &job.matrices : &kept) *= r.d[k].extent;
    }
    job.results = job.in_rows ? outer->extent : inner->extent;
    job.step = sn_items_per_unit(job.reduced);
    if (!job.in_rows)
        job.step = sn_align(job.step, PIECE);
    job.pieces = sn_ceil_div(job.results, job.step);
    const double elements = (double)kept * (double)job.results * (double)job.reduced;
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = kept * job.pieces,
        .cost = sn_cost_of_bytes(4.0 * elements)});
}
