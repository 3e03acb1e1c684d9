/*
 * Normalization of lines: rows of neighbouring values, and columns, neighbours of each other.
 *
 * The mean is computed first, then the sum of the squared differences from it. A row stays in the first cache for that: a
 * longer one is cut into blocks, whose moments are combined by the formula of Chan, Golub and LeVeque. Columns are processed
 * in strips of four vectors.
 *
 * The sums of the lanes of V32F_N rows are computed together (kernels/sums.h) if rows are short. Which rows are short, and
 * the order of all additions, depend on count only.
 */
#include "contract/normalize.h"
#include "kernels/install.h"
#include "kernels/sums.h"
#include "kernels/vec_math.h"

enum {
    STRIP = 4,             /* vectors of a strip of columns, and partial sums of a row */
    STEP = STRIP * V32F_N,
    LONG = 512,            /* values of a row that is reduced by itself */
    BLOCK = 4096,          /* values of a block of a row: 16 KB */
    CHAIN = 64             /* rows of a strip that are added one after another */
};

/* The vectors of tails have n < V32F_N values; n is a constant V32F_N otherwise. */
SN_INLINE v32f load(const sn_32f * p, size_t n) { return n >= V32F_N ? v_load_32f(p) : v_load_tail_32f(p, n); }

SN_INLINE void store(sn_32f * p, v32f v, size_t n)
{
    if (n >= V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, n);
}

/* sum + x, or sum + (x - mean)^2 */
SN_INLINE v32f added(v32f sum, v32f x, v32f mean, bool squares)
{
    const v32f d = v_sub_32f(x, mean);
    return squares ? v_fma_32f(d, d, sum) : v_add_32f(sum, x);
}

/* 1 / sqrt(eps + squares), or of the variance; the lanes from n on have no sum. */
SN_INLINE v32f factor_of(v32f squares, size_t count, bool centred, float eps, size_t n)
{
    const v32f v = centred ? v_div_32f(squares, v_set_32f((float)count)) : squares;
    return v_div_32f(v_set_32f(1), v_sqrt_32f(v_ones_behind_32f(v_add_32f(v, v_set_32f(eps)), n)));
}

SN_INLINE v32f normalized(v32f x, v32f mean, v32f factor, v32f scale, v32f shift, bool centred)
{
    if (!centred)
        return v_mul_32f(v_mul_32f(x, factor), scale);
    return v_fma_32f(v_mul_32f(v_sub_32f(x, mean), factor), scale, shift);
}

/* ---- moments of rows */

/* The lanes of the result are partial sums. */
SN_INLINE v32f sum_of_row(const sn_32f * x, size_t count, float mean, bool squares)
{
    static const float ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const v32f m = v_set_32f(mean);
    v32f sum[STRIP];
    size_t i = 0;
    SN_UNROLL for (int j = 0; j < STRIP; ++j) sum[j] = v_zero_32f();
    for (; i + STEP <= count; i += STEP)
        SN_UNROLL for (int j = 0; j < STRIP; ++j) sum[j] = added(sum[j], v_load_32f(x + i + j * V32F_N), m, squares);
    for (; i + V32F_N <= count; i += V32F_N)
        sum[0] = added(sum[0], v_load_32f(x + i), m, squares);
    if (i < count) {
        const v32f none = v_mul_32f(m, v_load_tail_32f(ones, count - i)); /* lanes without a value: 0 - 0 */
        sum[1] = added(sum[1], v_load_tail_32f(x + i, count - i), none, squares);
    }
    return v_add_32f(v_add_32f(sum[0], sum[1]), v_add_32f(sum[2], sum[3]));
}

/* Of up to V32F_N rows; writes V32F_N results. */
static void short_moments(const sn_32f * src, size_t rows, size_t count, bool centred, float * mean, float * squares)
{
    v32f sum[V32F_N];
    for (size_t r = 0; r < V32F_N; ++r)
        sum[r] = v_zero_32f();
    v_store_32f(mean, v_zero_32f());
    if (centred) {
        for (size_t r = 0; r < rows; ++r)
            sum[r] = sum_of_row(src + r * count, count, 0, false);
        v_store_32f(mean, v_div_32f(sums_of_lanes(sum), v_set_32f((float)count)));
        for (size_t r = 0; r < V32F_N; ++r)
            sum[r] = v_zero_32f();
    }
    for (size_t r = 0; r < rows; ++r)
        sum[r] = sum_of_row(src + r * count, count, mean[r], true);
    v_store_32f(squares, sums_of_lanes(sum));
}

/* Of one row. */
static void long_moments(const sn_32f * src, size_t count, bool centred, float * mean, float * squares)
{
    double m = 0, q = 0;
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = sn_min(count - i, BLOCK);
        const float of_block = centred ? v_reduce_add_32f(sum_of_row(src + i, n, 0, false)) / (float)n : 0;
        const double d = (double)of_block - m, share = (double)n / (double)(i + n);
        q += (double)v_reduce_add_32f(sum_of_row(src + i, n, of_block, true)) + d * d * (double)i * share;
        m += d * share;
    }
    *mean = (float)m;
    *squares = (float)q;
}

/* The rows that moments_of_group() takes at a time. */
SN_INLINE size_t group_of(size_t count) { return count < LONG ? V32F_N : 1; }

SN_INLINE void moments_of_group(const sn_32f * src, size_t rows, size_t count, bool centred, float * mean, float * squares)
{
    if (count < LONG)
        short_moments(src, rows, count, centred, mean, squares);
    else
        long_moments(src, count, centred, mean, squares);
}

static void row_moments(const sn_32f * src, size_t number, size_t count, sn_32f * mean, sn_32f * squares)
{
    const size_t group = group_of(count);
    for (size_t r = 0; r < number; r += group) {
        float m[V32F_N], q[V32F_N];
        const size_t n = sn_min(number - r, group);
        moments_of_group(src + r * count, n, count, mean != NULL, m, q);
        if (mean)
            memcpy(mean + r, m, n * sizeof(float));
        memcpy(squares + r, q, n * sizeof(float));
    }
}

/* ---- rows */

SN_INLINE void normalize_row(const struct sn_normalize_lines * p, const sn_32f * x, sn_32f * dst, float mean, float factor,
                             bool centred)
{
    const v32f m = v_set_32f(mean), f = v_set_32f(factor);
    size_t i = 0;
    for (; i + V32F_N <= p->count; i += V32F_N)
        v_store_32f(dst + i, normalized(v_load_32f(x + i), m, f, v_load_32f(p->scale + i),
                                        centred ? v_load_32f(p->shift + i) : f, centred));
    if (i < p->count) {
        const size_t n = p->count - i;
        v_store_tail_32f(dst + i, normalized(v_load_tail_32f(x + i, n), m, f, v_load_tail_32f(p->scale + i, n),
                                             centred ? v_load_tail_32f(p->shift + i, n) : f, centred), n);
    }
}

SN_INLINE void rows_of_kind(const struct sn_normalize_lines * p, bool centred)
{
    const size_t group = group_of(p->count);
    for (size_t r = 0; r < p->number; r += group) {
        float mean[V32F_N], factor[V32F_N];
        const size_t n = sn_min(p->number - r, group), at = r * p->count;
        moments_of_group(p->src + at, n, p->count, centred, mean, factor);
        v_store_tail_32f(factor, factor_of(v_load_tail_32f(factor, n), p->count, centred, p->eps, n), n);
        for (size_t i = 0; i < n; ++i)
            normalize_row(p, p->src + at + i * p->count, p->dst + at + i * p->count, mean[i], factor[i], centred);
    }
}

static void rows(const struct sn_normalize_lines * p)
{
    if (p->shift)
        rows_of_kind(p, true);
    else
        rows_of_kind(p, false);
}

/* ---- columns: strips of w vectors; w is a constant, and 1 if they have n < V32F_N columns */

SN_INLINE void sums_of_strip(const sn_32f * src, size_t count, size_t stride, size_t n, int w, const v32f * mean,
                             bool squares, v32f * sum)
{
    SN_UNROLL for (int j = 0; j < w; ++j) sum[j] = v_zero_32f();
    for (size_t i = 0; i < count;) {
        v32f part[STRIP];
        SN_UNROLL for (int j = 0; j < w; ++j) part[j] = v_zero_32f();
        for (const size_t end = sn_min(i + CHAIN, count); i < end; ++i)
            SN_UNROLL for (int j = 0; j < w; ++j)
                part[j] = added(part[j], load(src + i * stride + j * V32F_N, n), mean[j], squares);
        SN_UNROLL for (int j = 0; j < w; ++j) sum[j] = v_add_32f(sum[j], part[j]);
    }
}

SN_INLINE void moments_of_strip(const sn_32f * src, size_t count, size_t stride, size_t n, int w, bool centred, v32f * mean,
                                v32f * squares)
{
    SN_UNROLL for (int j = 0; j < w; ++j) mean[j] = v_zero_32f();
    if (centred) {
        v32f sum[STRIP];
        sums_of_strip(src, count, stride, n, w, mean, false, sum);
        SN_UNROLL for (int j = 0; j < w; ++j) mean[j] = v_div_32f(sum[j], v_set_32f((float)count));
    }
    sums_of_strip(src, count, stride, n, w, mean, true, squares);
}

static void column_moments(const sn_32f * src, size_t number, size_t count, sn_32f * mean, sn_32f * squares)
{
    v32f m[STRIP], q[STRIP];
    for (size_t c = 0; c < number;) {
        const size_t n = number - c;
        if (n >= STEP)
            moments_of_strip(src + c, count, number, V32F_N, STRIP, mean != NULL, m, q);
        else
            moments_of_strip(src + c, count, number, n, 1, mean != NULL, m, q);
        for (size_t j = 0; j < (n >= STEP ? STRIP : 1); ++j, c += V32F_N) {
            if (mean)
                store(mean + c, m[j], number - c);
            store(squares + c, q[j], number - c);
        }
    }
}

SN_INLINE void normalize_strip(const struct sn_normalize_lines * p, size_t at, size_t n, int w, bool centred)
{
    v32f mean[STRIP], factor[STRIP];
    moments_of_strip(p->src + at, p->count, p->stride, n, w, centred, mean, factor);
    SN_UNROLL for (int j = 0; j < w; ++j) factor[j] = factor_of(factor[j], p->count, centred, p->eps, n);
    for (size_t i = 0; i < p->count; ++i) {
        const v32f scale = v_set_32f(p->scale[i]), shift = centred ? v_set_32f(p->shift[i]) : scale;
        const size_t row = at + i * p->stride;
        SN_UNROLL for (int j = 0; j < w; ++j) {
            const v32f x = load(p->src + row + j * V32F_N, n);
            store(p->dst + row + j * V32F_N, normalized(x, mean[j], factor[j], scale, shift, centred), n);
        }
    }
}

SN_INLINE void columns_of_kind(const struct sn_normalize_lines * p, bool centred)
{
    size_t s = 0;
    for (; s + STEP <= p->number; s += STEP)
        normalize_strip(p, s, V32F_N, STRIP, centred);
    for (; s < p->number; s += V32F_N)
        normalize_strip(p, s, sn_min(p->number - s, V32F_N), 1, centred);
}

static void columns(const struct sn_normalize_lines * p)
{
    if (p->shift)
        columns_of_kind(p, true);
    else
        columns_of_kind(p, false);
}

SN_INSTALL(normalize, normalize)
{
    slots->rows = rows;
    slots->columns = columns;
    slots->row_moments = row_moments;
    slots->column_moments = column_moments;
}
