/*
 * Normalization of lines: rows of neighbouring values, and columns, neighbours of each other.
 *
 * The mean is computed first, then the sum of the squared differences from it. A row stays in the first cache for that: a
 * longer one is cut into blocks, whose moments are combined by the formula of Chan, Golub and LeVeque. Columns are processed
 * in strips of four vectors.
 *
 * The order of all additions depends on count only. Rows are short compared with the latency of sums, root and division, so
 * several are in progress, each at another step: 1.5 times as fast for 64 values (avx512, Zen 4). Sums of the lanes of 16
 * rows at a time (kernels/sums.h) took 1.3 times as long for 768 values.
 */
#include "contract/normalize.h"
#include "kernels/install.h"
#include "kernels/lanes.h"
#include "kernels/vec_math.h"

#include <math.h>

enum {
    STRIP = 4,             /* vectors of a strip of columns, and partial sums of a row */
    STEP = STRIP * V32F_N,
    LONG = 1024,           /* values of a row; of a longer one only one is in progress */
    BLOCK = 4096,          /* values of a block of a row: 16 KB */
    CHAIN = 64,            /* rows of a strip that are added one after another */
    LINE = 16              /* values of a cache line */
};

/* Vectors of n values; n is the constant V32F_N except in tails. */
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

SN_INLINE v32f normalized(v32f x, v32f mean, v32f factor, v32f scale, v32f shift)
{
    return v_fma_32f(v_mul_32f(v_sub_32f(x, mean), factor), scale, shift);
}

/*
 * ---- moments of rows
 *
 * `whole` is a constant: the number of vectors of a row without a remainder, up to STRIP, or 0 for any row.
 */

SN_INLINE float sum_of_row(const sn_32f * x, size_t count, size_t whole, float mean, bool squares)
{
    static const float ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const v32f m = v_set_32f(mean);
    v32f sum[STRIP];
    size_t i = 0;
    SN_UNROLL for (int j = 0; j < STRIP; ++j) sum[j] = v_zero_32f();
    if (whole) {
        SN_UNROLL for (size_t j = 0; j < whole; ++j) sum[j] = added(sum[j], v_load_32f(x + j * V32F_N), m, squares);
    } else {
        for (; i + STEP <= count; i += STEP)
            SN_UNROLL for (int j = 0; j < STRIP; ++j) sum[j] = added(sum[j], v_load_32f(x + i + j * V32F_N), m, squares);
        for (; i + V32F_N <= count; i += V32F_N)
            sum[0] = added(sum[0], v_load_32f(x + i), m, squares);
        if (i < count) {
            const v32f none = v_mul_32f(m, v_load_tail_32f(ones, count - i)); /* lanes without a value: 0 - 0 */
            sum[1] = added(sum[1], v_load_tail_32f(x + i, count - i), none, squares);
        }
    }
    return v_reduce_add_32f(v_add_32f(v_add_32f(sum[0], sum[1]), v_add_32f(sum[2], sum[3])));
}

struct moments {
    float mean, squares;
};

SN_INLINE struct moments moments_of_block(const sn_32f * x, size_t count, bool centred)
{
    const float mean = centred ? sum_of_row(x, count, 0, 0, false) / (float)count : 0;
    return (struct moments){mean, sum_of_row(x, count, 0, mean, true)};
}

static struct moments moments_of_row(const sn_32f * x, size_t count, bool centred)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = sn_min(count - i, BLOCK);
        const struct moments block = moments_of_block(x + i, n, centred);
        const double d = (double)block.mean - mean, share = (double)n / (double)(i + n);
        squares += (double)block.squares + d * d * (double)i * share;
        mean += d * share;
    }
    return (struct moments){(float)mean, (float)squares};
}

/* Two rows are in progress. */
static void row_moments(const sn_32f * src, size_t number, size_t count, sn_32f * mean, sn_32f * squares)
{
    float m[2] = {0}; /* of rows r, r - 1 */
    for (size_t r = 0; count > BLOCK && r < number; ++r) {
        const struct moments row = moments_of_row(src + r * count, count, mean != NULL);
        if (mean)
            mean[r] = row.mean;
        squares[r] = row.squares;
    }
    for (size_t r = 0; count <= BLOCK && r <= number; ++r, src += count, m[1] = m[0]) {
        if (mean && r < number)
            mean[r] = m[0] = sum_of_row(src, count, 0, 0, false) / (float)count;
        if (r)
            squares[r - 1] = sum_of_row(src - count, count, 0, m[1], true);
    }
}

/* ---- columns: strips of w vectors, a constant; one vector may have fewer columns, n */

/* The width of the next strip. */
SN_INLINE size_t width_of(size_t columns) { return columns >= STEP ? STRIP : columns >= 2 * V32F_N ? 2 : 1; }

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

/* The mean of `count` rows, and the squares of the differences from it. */
SN_INLINE void moments_of_rows(const sn_32f * src, size_t count, size_t stride, size_t n, int w, v32f * mean, v32f * squares)
{
    v32f sum[STRIP];
    sums_of_strip(src, count, stride, n, w, mean, false, sum); /* the means are not used */
    SN_UNROLL for (int j = 0; j < w; ++j) mean[j] = v_div_32f(sum[j], v_set_32f((float)count));
    sums_of_strip(src, count, stride, n, w, mean, true, squares);
}

/* Blocks of rows, which are in the first cache when the squares are computed, are combined as those of rows are. */
SN_INLINE void moments_of_strip(const sn_32f * src, size_t count, size_t stride, size_t n, int w, bool centred, v32f * mean,
                                v32f * squares)
{
    SN_UNROLL for (int j = 0; j < w; ++j) mean[j] = squares[j] = v_zero_32f();
    if (!centred) {
        sums_of_strip(src, count, stride, n, w, mean, true, squares);
        return;
    }
    for (size_t i = 0, rows; i < count; i += rows) {
        v32f block[STRIP], more[STRIP];
        rows = sn_min(count - i, CHAIN);
        SN_UNROLL for (int j = 0; j < w; ++j) block[j] = v_zero_32f();
        moments_of_rows(src + i * stride, rows, stride, n, w, block, more);
        const float share = (float)rows / (float)(i + rows);
        const v32f part = v_set_32f(share), weight = v_set_32f((float)i * share);
        SN_UNROLL for (int j = 0; j < w; ++j) {
            const v32f d = v_sub_32f(block[j], mean[j]);
            squares[j] = v_add_32f(squares[j], v_fma_32f(v_mul_32f(d, d), weight, more[j]));
            mean[j] = v_fma_32f(d, part, mean[j]);
        }
    }
}

SN_INLINE void column_moments_of(const sn_32f * src, size_t number, size_t count, size_t n, int w, sn_32f * mean,
                                 sn_32f * squares)
{
    v32f m[STRIP], q[STRIP];
    moments_of_strip(src, count, number, n, w, mean != NULL, m, q);
    SN_UNROLL for (int j = 0; j < w; ++j) {
        if (mean)
            store(mean + j * V32F_N, m[j], n);
        store(squares + j * V32F_N, q[j], n);
    }
}

static void column_moments(const sn_32f * src, size_t number, size_t count, sn_32f * mean, sn_32f * squares)
{
    for (size_t c = 0, w; c < number; c += w * V32F_N) {
        sn_32f * m = mean ? mean + c : NULL;
        w = width_of(number - c);
        switch (w) {
        case STRIP: column_moments_of(src + c, number, count, V32F_N, STRIP, m, squares + c); break;
        case 2: column_moments_of(src + c, number, count, V32F_N, 2, m, squares + c); break;
        default: column_moments_of(src + c, number, count, number - c, 1, m, squares + c);
        }
    }
}

SN_INLINE void normalize_strip(const struct sn_normalize_lines * p, size_t at, size_t n, int w)
{
    const bool centred = p->shift;
    v32f mean[STRIP], factor[STRIP];
    moments_of_strip(p->src + at, p->count, p->stride, n, w, centred, mean, factor);
    SN_UNROLL for (int j = 0; j < w; ++j)
        factor[j] = factor_of(factor[j], p->count, centred, p->eps, n);
    for (size_t i = 0; i < p->count; ++i) {
        const v32f scale = v_set_32f(p->scale[i]), shift = centred ? v_set_32f(p->shift[i]) : v_zero_32f();
        const size_t row = at + i * p->stride;
        SN_UNROLL for (int j = 0; j < w; ++j) {
            const v32f x = load(p->src + row + j * V32F_N, n);
            store(p->dst + row + j * V32F_N, normalized(x, mean[j], factor[j], scale, shift), n);
        }
    }
}

static void columns(const struct sn_normalize_lines * p)
{
    for (size_t c = 0, w; c < p->number; c += w * V32F_N) {
        w = width_of(p->number - c);
        switch (w) {
        case STRIP: normalize_strip(p, c, V32F_N, STRIP); break;
        case 2: normalize_strip(p, c, V32F_N, 2); break;
        default: normalize_strip(p, c, p->number - c, 1);
        }
    }
}

/* ---- rows */

SN_INLINE v32f normalized_at(const struct sn_normalize_lines * p, const sn_32f * x, size_t i, v32f mean, v32f factor,
                             bool centred, size_t n)
{
    const v32f scale = load(p->scale + i, n), shift = centred ? load(p->shift + i, n) : v_zero_32f();
    return normalized(load(x + i, n), mean, factor, scale, shift);
}

/*
 * Results that are written around the caches have sources that are not cached either. A row that is a page or less ends
 * before hardware has begun to fetch it, so the same part of a next one is prefetched: 16384 rows of 1024 values take 0.80
 * of the time of such stores alone, which take 0.67 of that of plain ones (avx512, Intel Xeon with AMX). With plain stores,
 * prefetching sources and results took 0.93 to 1.04 for 2 to 20 MB.
 */
SN_INLINE void normalize_row(const struct sn_normalize_lines * p, size_t row, size_t whole, float mean, float factor,
                             bool centred)
{
    const sn_32f * x = p->src + row * p->count;
    sn_32f * dst = p->dst + row * p->count;
    const v32f m = v_set_32f(mean), f = v_set_32f(factor);
    const size_t count = p->count; /* four rows are in progress if they are short */
    const size_t ahead = count <= LONG ? 4 * count : count <= BLOCK ? count : 0;
    size_t i = 0;
    if (whole) {
        SN_UNROLL for (size_t j = 0; j < whole; ++j)
            v_store_32f(dst + j * V32F_N, normalized_at(p, x, j * V32F_N, m, f, centred, V32F_N));
        return;
    }
    for (; p->stream && i + STEP <= count; i += STEP) {
        SN_UNROLL for (size_t j = 0; j < STRIP; ++j)
            v_stream_32f(dst + i + j * V32F_N, normalized_at(p, x, i + j * V32F_N, m, f, centred, V32F_N));
        for (size_t k = i; k < i + STEP; k += LINE)
            SN_PREFETCH(x + ahead + k);
    }
    for (; i + STEP <= count; i += STEP)
        SN_UNROLL for (size_t j = 0; j < STRIP; ++j)
            v_store_32f(dst + i + j * V32F_N, normalized_at(p, x, i + j * V32F_N, m, f, centred, V32F_N));
    for (; i + V32F_N <= count; i += V32F_N)
        v_store_32f(dst + i, normalized_at(p, x, i, m, f, centred, V32F_N));
    if (i < count)
        v_store_tail_32f(dst + i, normalized_at(p, x, i, m, f, centred, count - i), count - i);
}

/* Four rows are in progress, each at another step, so that the latencies of sums, root and division are hidden. */
SN_INLINE void rows_in_turn(const struct sn_normalize_lines * p, size_t whole, bool centred)
{
    const size_t count = p->count, number = p->number;
    const float by = 1 / (float)count, of_squares = centred ? by : 1, eps = p->eps;
    float mean[4] = {0}, squares[2] = {0}, factor[2] = {0}; /* of rows r, r - 1 ...; r - 1, r - 2; r - 2, r - 3 */
    for (size_t r = 0; r < number + 3; ++r) {
        const sn_32f * x = p->src + r * count;
        if (centred && r < number)
            mean[0] = sum_of_row(x, count, whole, 0, false) * by;
        if (r - 1 < number)
            squares[0] = sum_of_row(x - count, count, whole, mean[1], true);
        factor[0] = 1 / sqrtf(squares[1] * of_squares + eps);
        if (r >= 3)
            normalize_row(p, r - 3, whole, mean[3], factor[1], centred);
        mean[3] = mean[2], mean[2] = mean[1], mean[1] = mean[0];
        squares[1] = squares[0];
        factor[1] = factor[0];
    }
}

SN_INLINE void rows_of_kind(const struct sn_normalize_lines * p, bool centred)
{
    if (p->count <= LONG) {
        rows_in_turn(p, 0, centred);
        return;
    }
    for (size_t r = 0; r < p->number; ++r) {
        const struct moments m = moments_of_row(p->src + r * p->count, p->count, centred);
        const float variance = centred ? m.squares / (float)p->count : m.squares;
        normalize_row(p, r, 0, m.mean, 1 / sqrtf(variance + p->eps), centred);
    }
}

/* Rows shorter than a vector become columns: blocks of them are transposed. */
static void short_rows(const struct sn_normalize_lines * p)
{
    float block[V32F_N * STEP] SN_ALIGNED;
    const size_t count = p->count;
    for (size_t r = 0; r < p->number; r += STEP) {
        const size_t n = sn_min(p->number - r, STEP);
        lanes_to_planes(p->src + r * count, count, n, block, STEP, count, count);
        columns(&(struct sn_normalize_lines){block, n, count, STEP, p->scale, p->shift, p->eps, block, false});
        planes_to_lanes(block, STEP, count, n, p->dst + r * count, count, count);
    }
}

static void rows(const struct sn_normalize_lines * p)
{
    if (p->count < V32F_N)
        short_rows(p);
    else if (!p->shift)
        rows_of_kind(p, false);
    else if (p->count == 2 * V32F_N)
        rows_in_turn(p, 2, true);
    else if (p->count == 4 * V32F_N)
        rows_in_turn(p, 4, true);
    else
        rows_of_kind(p, true);
    if (p->stream)
        v_fence();
}

/* ---- the coefficients of moments */

static void coefficients(size_t number, size_t count, const sn_32f * scale, const sn_32f * shift, float eps, sn_32f * mean,
                         sn_32f * squares)
{
    for (size_t i = 0; i < number; i += V32F_N) {
        const size_t n = sn_min(number - i, V32F_N);
        const v32f factor = factor_of(load(squares + i, n), count, true, eps, n);
        const v32f a = count == 1 ? v_zero_32f() : v_mul_32f(factor, load(scale + i, n));
        store(squares + i, a, n);
        store(mean + i, v_fnma_32f(load(mean + i, n), a, load(shift + i, n)), n);
    }
}

SN_INSTALL(normalize, normalize)
{
    slots->rows = rows;
    slots->columns = columns;
    slots->row_moments = row_moments;
    slots->column_moments = column_moments;
    slots->coefficients = coefficients;
}
