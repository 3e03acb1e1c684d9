/*
 * Reductions of rows and of columns of a matrix: sums, sums of squares and of exponentials, maxima.
 *
 * Elements are folded in vectors of floats, in chains short enough for the error that the public function states, and the
 * results of chains in double.
 *
 * Rows: long ones in CHAINS vectors at a time; of short ones, V32F_N together, a vector for each, whose lanes a tree folds
 * (kernels/sums.h). Columns: a vector holds neighbouring columns, so every step is vertical; ROWS rows at a time are folded
 * into sums that stay in the L1 cache, so that they are loaded and stored once for ROWS loads of the matrix.
 *
 * How a result is computed depends on the shape of the matrix alone.
 */
#include "contract/reduce.h"

#include <math.h>

#include "kernels/install.h"
#include "kernels/sums.h"
#include "kernels/vec_math.h"

enum {
    CHAINS = 4,
    CHAIN = 32,               /* vectors of a chain */
    SHORT = 8 * V32F_N,       /* elements of a row that is folded together with others */
    ROWS = 4,
    HEIGHT = CHAIN * ROWS / 2, /* rows that are folded in sn_32f */
    WIDTH = 512               /* columns whose sums are kept */
};

/* ---- elements; `kind` is a compile-time constant */

struct map {
    v32i mask, flip;
};

static inline struct map map_of(const struct sn_fold_matrix * m)
{
    return (struct map){v_set_32i((int32_t)m->mask), v_set_32i((int32_t)m->flip)};
}

/* What is folded of an element. exp() stops where it would become denormal: the largest term is 1. */
SN_INLINE v32f value_of(v32f x, const struct map * map, v32f shift, enum sn_fold kind)
{
    switch (kind) {
    case SN_FOLD_SUM: return v_cast_32i_32f(v_and_32i(v_cast_32f_32i(x), map->mask));
    case SN_FOLD_SQUARES: return v_mul_32f(x, x);
    case SN_FOLD_MAX: return v_cast_32i_32f(v_xor_32i(v_cast_32f_32i(x), map->flip));
    default: return v_exp_nonpositive_32f(v_max_32f(v_set_32f(-87.0f), v_sub_32f(x, shift)));
    }
}

/* v_max_32f keeps a NaN only of the second operand. */
SN_INLINE v32f max_or_nan(v32f a, v32f b) { return v_select_32f(v_eq_32f(b, b), v_max_32f(b, a), b); }

SN_INLINE v32f fold(v32f a, v32f b, enum sn_fold kind) { return kind == SN_FOLD_MAX ? max_or_nan(a, b) : v_add_32f(a, b); }

SN_INLINE v32f nothing(enum sn_fold kind) { return v_set_32f(kind == SN_FOLD_MAX ? -INFINITY : 0); }

/* n elements, and nothing in the lanes behind them. */
SN_INLINE v32f part_of(const sn_32f * p, size_t n, const struct map * map, v32f shift, enum sn_fold kind)
{
    int32_t lanes[V32F_N];
    for (int l = 0; l < V32F_N; ++l)
        lanes[l] = l;
    const v32f value = value_of(v_load_tail_32f(p, n), map, shift, kind);
    if (kind == SN_FOLD_SUM || kind == SN_FOLD_SQUARES)
        return value;
    return v_select_32f(v_gt_32i(v_set_32i((int32_t)n), v_load_32i(lanes)), value, nothing(kind));
}

static inline double fold_double(double a, double b, enum sn_fold kind)
{
    return kind != SN_FOLD_MAX ? a + b : b > a || isnan(b) ? b : a;
}

/* ---- rows */

SN_INLINE v32f lanes_of(v32f r[V32F_N], enum sn_fold kind)
{
    return kind == SN_FOLD_MAX ? tree_of_lanes(r, max_or_nan) : sums_of_lanes(r);
}

/* `rows` rows from `first` on, at most V32F_N; missing ones are replaced by the last. */
SN_INLINE void short_rows(const struct sn_fold_matrix * m, size_t first, size_t rows, double * total, enum sn_fold kind)
{
    const struct map map = map_of(m);
    const size_t rest = m->columns % V32F_N, full = m->columns - rest;
    v32f r[V32F_N];
    float lane[V32F_N];
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
    {
        const size_t row = first + sn_min(i, rows - 1);
        const sn_32f * p = m->src + row * m->step;
        const v32f shift = kind == SN_FOLD_EXP ? v_set_32f(m->shift[row]) : v_zero_32f();
        r[i] = rest ? part_of(p + full, rest, &map, shift, kind) : nothing(kind);
        for (size_t c = 0; c < full; c += V32F_N)
            r[i] = fold(r[i], value_of(v_load_32f(p + c), &map, shift, kind), kind);
    }
    v_store_32f(lane, lanes_of(r, kind));
    for (size_t i = 0; i < rows; ++i)
        total[first + i] = fold_double(total[first + i], (double)lane[i], kind);
}

/* At most CHAINS * CHAIN vectors of a row. */
SN_INLINE float piece_of_row(const sn_32f * p, size_t n, const struct map * map, v32f shift, enum sn_fold kind)
{
    v32f r[CHAINS];
    float lane[V32F_N];
    SN_UNROLL for (int k = 0; k < CHAINS; ++k) r[k] = nothing(kind);
    size_t c = 0;
    for (; c + CHAINS * V32F_N <= n; c += CHAINS * V32F_N)
        SN_UNROLL for (int k = 0; k < CHAINS; ++k)
            r[k] = fold(r[k], value_of(v_load_32f(p + c + k * V32F_N), map, shift, kind), kind);
    for (; c + V32F_N <= n; c += V32F_N)
        r[0] = fold(r[0], value_of(v_load_32f(p + c), map, shift, kind), kind);
    if (c < n)
        r[1] = fold(r[1], part_of(p + c, n - c, map, shift, kind), kind);
    v32f all = fold(fold(r[0], r[1], kind), fold(r[2], r[3], kind), kind);
    for (int n2 = V32F_N; n2 > 1; n2 /= 2)
        all = fold(v_even_32f(all, all), v_odd_32f(all, all), kind);
    v_store_32f(lane, all);
    return lane[0];
}

SN_INLINE void fold_rows(const struct sn_fold_matrix * m, double * total, enum sn_fold kind)
{
    if (m->columns <= SHORT) {
        for (size_t r = 0; r < m->rows; r += V32F_N)
            short_rows(m, r, sn_min(m->rows - r, V32F_N), total, kind);
        return;
    }
    const struct map map = map_of(m);
    for (size_t r = 0; r < m->rows; ++r) {
        const v32f shift = kind == SN_FOLD_EXP ? v_set_32f(m->shift[r]) : v_zero_32f();
        for (size_t c = 0, n; c < m->columns; c += n) {
            n = sn_min(m->columns - c, CHAINS * CHAIN * V32F_N);
            const float piece = piece_of_row(m->src + r * m->step + c, n, &map, shift, kind);
            total[r] = fold_double(total[r], (double)piece, kind);
        }
    }
}

/* ---- columns */

/* The elements of one vector of columns in `rows` rows, a compile-time constant; n columns, V32F_N or fewer. */
SN_INLINE v32f column_vector(const sn_32f * p, size_t step, size_t rows, size_t n, const struct map * map, v32f shift,
                             enum sn_fold kind)
{
    v32f r[ROWS];
    SN_UNROLL for (size_t i = 0; i < rows; ++i)
        r[i] = value_of(n == V32F_N ? v_load_32f(p + i * step) : v_load_tail_32f(p + i * step, n), map, shift, kind);
    return rows == ROWS ? fold(fold(r[0], r[1], kind), fold(r[2], r[3], kind), kind) : r[0];
}

/* Folds `rows` rows of m->columns columns into sum[], whose size is a multiple of V32F_N. */
SN_INLINE void fold_strip(const struct sn_fold_matrix * m, const sn_32f * src, size_t rows, sn_32f * sum, enum sn_fold kind)
{
    const struct map map = map_of(m);
    const size_t rest = m->columns % V32F_N, full = m->columns - rest;
    size_t c = 0;
    for (; c < full; c += V32F_N) {
        const v32f shift = kind == SN_FOLD_EXP ? v_load_32f(m->shift + c) : v_zero_32f();
        const v32f r = column_vector(src + c, m->step, rows, V32F_N, &map, shift, kind);
        v_store_32f(sum + c, fold(v_load_32f(sum + c), r, kind));
    }
    if (rest) {
        const v32f shift = kind == SN_FOLD_EXP ? v_load_tail_32f(m->shift + c, rest) : v_zero_32f();
        const v32f r = column_vector(src + c, m->step, rows, rest, &map, shift, kind);
        v_store_32f(sum + c, fold(v_load_32f(sum + c), r, kind));
    }
}

SN_INLINE void fold_columns(const struct sn_fold_matrix * all, double * total, enum sn_fold kind)
{
    float sum[WIDTH] SN_ALIGNED;
    struct sn_fold_matrix m = *all;
    for (size_t c = 0; c < all->columns; c += WIDTH) {
        m.columns = sn_min(all->columns - c, WIDTH);
        m.shift = all->shift ? all->shift + c : NULL;
        for (size_t y = 0, rows; y < m.rows; y += rows) {
            rows = sn_min(m.rows - y, HEIGHT);
            for (size_t i = 0; i < m.columns; i += V32F_N)
                v_store_32f(sum + i, nothing(kind));
            size_t r = y;
            for (; r + ROWS <= y + rows; r += ROWS)
                fold_strip(&m, m.src + c + r * m.step, ROWS, sum, kind);
            for (; r < y + rows; ++r)
                fold_strip(&m, m.src + c + r * m.step, 1, sum, kind);
            for (size_t i = 0; i < m.columns; ++i)
                total[c + i] = fold_double(total[c + i], (double)sum[i], kind);
        }
    }
}

static void sum_rows(const struct sn_fold_matrix * m, double * total) { fold_rows(m, total, SN_FOLD_SUM); }
static void square_rows(const struct sn_fold_matrix * m, double * total) { fold_rows(m, total, SN_FOLD_SQUARES); }
static void max_rows(const struct sn_fold_matrix * m, double * total) { fold_rows(m, total, SN_FOLD_MAX); }
static void exp_rows(const struct sn_fold_matrix * m, double * total) { fold_rows(m, total, SN_FOLD_EXP); }
static void sum_columns(const struct sn_fold_matrix * m, double * total) { fold_columns(m, total, SN_FOLD_SUM); }
static void square_columns(const struct sn_fold_matrix * m, double * total) { fold_columns(m, total, SN_FOLD_SQUARES); }
static void max_columns(const struct sn_fold_matrix * m, double * total) { fold_columns(m, total, SN_FOLD_MAX); }
static void exp_columns(const struct sn_fold_matrix * m, double * total) { fold_columns(m, total, SN_FOLD_EXP); }

/* ---- indices */

/* The first vector that has the value, from the front or from the back, then its lane. */
static size_t find_row(const sn_32f * src, size_t n, float value, bool last)
{
    const v32f wanted = v_set_32f(value);
    const size_t vectors = sn_ceil_div(n, V32F_N);
    size_t begin = 0, size = 0;
    for (size_t k = 0; k < vectors; ++k) {
        begin = (last ? vectors - 1 - k : k) * V32F_N;
        size = sn_min(n - begin, V32F_N);
        /* lanes behind the end are 0, and may seem to be it */
        const v32f x = size == V32F_N ? v_load_32f(src + begin) : v_load_tail_32f(src + begin, size);
        if (size < V32F_N || v_any(v_eq_32f(x, wanted)))
            for (size_t i = 0; i < size; ++i) {
                const size_t at = begin + (last ? size - 1 - i : i);
                if (src[at] == value)
                    return at;
            }
    }
    return 0;
}

/* Rows in the reverse order of preference: the last match stays. */
static void find_columns(const struct sn_fold_matrix * m, const sn_32f * value, bool last, int32_t * index)
{
    for (size_t c = 0; c < m->columns; c += V32F_N) {
        const size_t n = sn_min(m->columns - c, V32F_N);
        const v32f wanted = v_load_tail_32f(value + c, n);
        v32i found = v_set_32i(0);
        for (size_t r = 0; r < m->rows; ++r) {
            const size_t at = last ? r : m->rows - 1 - r;
            const sn_32f * p = m->src + at * m->step + c;
            const v32f x = n == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, n);
            found = v_select_32i(v_eq_32f(x, wanted), v_set_32i((int32_t)at), found);
        }
        v_store_tail_32i(index + c, found, n);
    }
}

SN_INSTALL(reduce, reduce)
{
    slots->rows[SN_FOLD_SUM] = sum_rows;
    slots->rows[SN_FOLD_SQUARES] = square_rows;
    slots->rows[SN_FOLD_MAX] = max_rows;
    slots->rows[SN_FOLD_EXP] = exp_rows;
    slots->columns[SN_FOLD_SUM] = sum_columns;
    slots->columns[SN_FOLD_SQUARES] = square_columns;
    slots->columns[SN_FOLD_MAX] = max_columns;
    slots->columns[SN_FOLD_EXP] = exp_columns;
    slots->find_row = find_row;
    slots->find_columns = find_columns;
}
