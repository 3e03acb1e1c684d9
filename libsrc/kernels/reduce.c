/*
 * Reductions of rows and of columns of a matrix: sums, sums of squares and of exponentials, maxima, products.
 *
 * Elements are folded in vectors of floats, in chains short enough for the error that the public function states, and the
 * results of chains in double. Products are folded in double, since those of floats would overflow too early. The
 * vocabulary has no doubles: loops over V32F_N of them, a constant, are made vectors by the compiler. That matters where
 * results are many: with a loop over single results, 64 rows of 3136 columns took twice as long (Emerald Rapids).
 *
 * Rows: long ones in CHAINS vectors at a time; of short ones, V32F_N together, a vector for each, whose lanes a tree folds
 * (kernels/sums.h). Columns: a vector holds neighbouring columns, so every step is vertical; ROWS rows at a time are folded
 * into sums that stay in the L1 cache, so that they are loaded and stored once for ROWS loads of the matrix.
 *
 * How a result is computed depends on the shape of the matrix alone.
 */
#include "contract/reduce.h"

#include <float.h>
#include <math.h>

#include "kernels/install.h"
#include "kernels/sums.h"
#include "kernels/vec_math.h"

enum {
    CHAINS = 4,
    CHAIN = 32,               /* vectors of a chain */
    SHORT = 8 * V32F_N,       /* elements of a row that is folded together with others */
    SEARCHED = V32F_N < 16 ? 128 : 256, /* elements of a row that is searched as a whole, without a jump, with others */
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

/* What is folded of an element. Terms of exponentials may stop where they would become denormal: the largest one is 1. */
SN_INLINE v32f value_of(v32f x, const struct map * map, v32f shift, enum sn_fold kind)
{
    switch (kind) {
    case SN_FOLD_SUM: return v_cast_32i_32f(v_and_32i(v_cast_32f_32i(x), map->mask));
    case SN_FOLD_SQUARES: return v_mul_32f(x, x);
    case SN_FOLD_MAX: return v_cast_32i_32f(v_xor_32i(v_cast_32f_32i(x), map->flip));
    default: return v_exp_nonpositive_normal_32f(v_sub_32f(x, shift));
    }
}

/* v_max_32f keeps a NaN only of the second operand. */
SN_INLINE v32f max_or_nan(v32f a, v32f b) { return v_select_32f(v_eq_32f(b, b), v_max_32f(b, a), b); }

SN_INLINE v32f fold(v32f a, v32f b, enum sn_fold kind) { return kind == SN_FOLD_MAX ? max_or_nan(a, b) : v_add_32f(a, b); }

SN_INLINE v32f nothing(enum sn_fold kind) { return v_set_32f(kind == SN_FOLD_MAX ? -INFINITY : 0); }

/*
 * The maximum of the first n vectors at p, whole pairs, and r. Of a pair, each of the two maxima is its second element if one
 * is NaN, so that they are equal only if none is: then `numbers` stays 1. 3136 rows of 64 take 0.78 of the time of a selection
 * for each element (avx2); with mask registers 1.05 (avx512).
 */
SN_INLINE v32f most_of_pairs(v32f r, const sn_32f * p, size_t n, const struct map * map)
{
    const v32f one = v_set_32f(1), none = v_zero_32f();
    v32f numbers = one;
    for (size_t c = 0; c < n; c += 2 * V32F_N) {
        const v32f a = value_of(v_load_32f(p + c), map, none, SN_FOLD_MAX);
        const v32f b = value_of(v_load_32f(p + c + V32F_N), map, none, SN_FOLD_MAX), more = v_max_32f(a, b);
        numbers = v_where_32f(v_eq_32f(more, v_max_32f(b, a)), numbers);
        r = v_max_32f(more, r);
    }
    return v_select_32f(v_eq_32f(numbers, one), r, v_set_32f(NAN));
}

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

/* Lanes folded into V32F_N totals. */
SN_INLINE void fold_lanes(double * total, v32f v, enum sn_fold kind)
{
    float lane[V32F_N];
    if (kind == SN_FOLD_MAX) {
        for (int l = 0; l < V32F_N; ++l)
            lane[l] = (float)total[l];
        v = max_or_nan(v_load_32f(lane), v);
    }
    v_store_32f(lane, v);
    for (int l = 0; l < V32F_N; ++l)
        total[l] = kind == SN_FOLD_MAX ? (double)lane[l] : total[l] + (double)lane[l];
}

SN_INLINE void fold_one(double * total, float piece, enum sn_fold kind)
{
    if (kind != SN_FOLD_MAX)
        *total += (double)piece;
    else if ((double)piece > *total || isnan(piece))
        *total = (double)piece;
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
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
    {
        const size_t row = first + sn_min(i, rows - 1);
        const sn_32f * p = m->src + row * m->step;
        const v32f shift = kind == SN_FOLD_EXP ? v_set_32f(m->shift[row]) : v_zero_32f();
        size_t c = 0;
        r[i] = rest ? part_of(p + full, rest, &map, shift, kind) : nothing(kind);
        if (kind == SN_FOLD_MAX && V32F_N == 8) {
            c = full - full % (2 * V32F_N);
            r[i] = most_of_pairs(r[i], p, c, &map);
        }
        for (; c < full; c += V32F_N)
            r[i] = fold(r[i], value_of(v_load_32f(p + c), &map, shift, kind), kind);
    }
    fold_lanes(total + first, lanes_of(r, kind), kind);
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
            fold_one(&total[r], piece, kind);
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
            for (size_t i = 0; i < m.columns; i += V32F_N)
                fold_lanes(total + c + i, v_load_32f(sum + i), kind);
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

/* ---- products */

static double product_of(const sn_32f * p, size_t n)
{
    double r[V32F_N], all[4] = {1, 1, 1, 1}, rest = 1;
    size_t c = 0;
    if (n >= 2 * V32F_N) {
        for (int l = 0; l < V32F_N; ++l)
            r[l] = (double)p[l];
        for (c = V32F_N; c + V32F_N <= n; c += V32F_N)
            for (int l = 0; l < V32F_N; ++l)
                r[l] *= (double)p[c + (size_t)l];
        for (int l = 0; l < V32F_N; l += 4)
            for (int k = 0; k < 4; ++k)
                all[k] *= r[l + k];
    }
    for (; c < n; ++c)
        rest *= (double)p[c];
    return (all[0] * all[1]) * (all[2] * all[3]) * rest;
}

static void product_rows(const struct sn_fold_matrix * m, double * total)
{
    for (size_t r = 0; r < m->rows; ++r)
        total[r] *= product_of(m->src + r * m->step, m->columns);
}

/* r[l] *= the product of column c + l of four rows, which is within the range of doubles. */
SN_INLINE void multiply_four(const struct sn_fold_matrix * m, const sn_32f * p, double * r)
{
    double x[4][V32F_N];
    for (size_t i = 0; i < 4; ++i)
        for (int l = 0; l < V32F_N; ++l)
            x[i][l] = (double)p[i * m->step + (size_t)l];
    for (int l = 0; l < V32F_N; ++l)
        r[l] *= (x[0][l] * x[1][l]) * (x[2][l] * x[3][l]);
}

static void product_columns(const struct sn_fold_matrix * m, double * total)
{
    const size_t full = m->columns - m->columns % V32F_N;
    for (size_t r = 0; r < m->rows; r += 4) {
        const size_t rows = sn_min(m->rows - r, 4);
        const sn_32f * p = m->src + r * m->step;
        size_t c = 0;
        for (; rows == 4 && c < full; c += V32F_N) {
            double product[V32F_N]; /* not total itself, which might overlap the source */
            for (int l = 0; l < V32F_N; ++l)
                product[l] = total[c + (size_t)l];
            multiply_four(m, p + c, product);
            for (int l = 0; l < V32F_N; ++l)
                total[c + (size_t)l] = product[l];
        }
        for (; c < m->columns; ++c)
            for (size_t i = 0; i < rows; ++i)
                total[c] *= (double)p[i * m->step + c];
    }
}

/* ---- results */

/* The totals of V32F_N results times scale, as floats. */
SN_INLINE v32f scaled(const double * total, double scale)
{
    float lane[V32F_N];
    for (int l = 0; l < V32F_N; ++l)
        lane[l] = (float)(total[l] * scale);
    return v_load_32f(lane);
}

SN_INLINE v32f is_finite_or(v32f shift, v32f value, v32f other)
{
    return v_select_32f(v_lt_32f(v_abs_32f(shift), v_set_32f(INFINITY)), value, other);
}

static bool results(const struct sn_fold_results * r, const double * total)
{
    const v32f one = v_set_32f(1);
    v32f doubtful = v_zero_32f();
    for (size_t i = 0; i < r->count; i += V32F_N) {
        const size_t n = sn_min(r->count - i, V32F_N);
        v32f v = scaled(total + i, r->scale);
        if (r->check) {
            const v32f t = v_ones_behind_32f(r->scale == 1 ? v : scaled(total + i, 1), n);
            const v32f low = v_select_32f(v_le_32f(v_set_32f(r->lowest), t), doubtful, one);
            doubtful = v_select_32f(v_le_32f(t, v_set_32f(FLT_MAX)), low, one);
        }
        if (r->end == SN_FOLD_END_ROOT)
            v = v_sqrt_32f(v_max_32f(v_zero_32f(), v));
        if (r->end == SN_FOLD_END_LOG) {
            const v32f shift = v_load_tail_32f(r->shift + i, n);
            v = is_finite_or(shift, v_add_32f(v_log_32f(is_finite_or(shift, v_ones_behind_32f(v, n), one)), shift), shift);
        }
        if (n == V32F_N)
            v_store_32f(r->dst + i, v);
        else
            v_store_tail_32f(r->dst + i, v, n);
    }
    return !v_any(v_lt_32f(v_zero_32f(), doubtful));
}

/* ---- indices */

/* False if there is a NaN. */
SN_INLINE bool are_numbers(const sn_32f * p, size_t n)
{
    v32f nan = v_zero_32f();
    for (size_t i = 0; i < n; i += V32F_N) {
        const v32f x = n - i < V32F_N ? v_load_tail_32f(p + i, n - i) : v_load_32f(p + i);
        nan = v_select_32f(v_eq_32f(x, x), nan, v_set_32f(1));
    }
    return !v_any(v_lt_32f(v_zero_32f(), nan));
}

/* The vector at p of a maximum or, if `smallest`, a minimum of four vectors. */
SN_INLINE v32f best_of(const sn_32f * p, bool smallest)
{
    v32f x[4];
    SN_UNROLL for (int i = 0; i < 4; ++i) x[i] = v_load_32f(p + i * V32F_N);
    return smallest ? v_min_32f(v_min_32f(x[0], x[1]), v_min_32f(x[2], x[3]))
                    : v_max_32f(v_max_32f(x[0], x[1]), v_max_32f(x[2], x[3]));
}

static size_t find_among(const sn_32f * src, size_t begin, size_t end, float value, bool last)
{
    for (size_t i = 0; i < end - begin; ++i) {
        const size_t at = last ? end - 1 - i : begin + i;
        if (src[at] == value)
            return at;
    }
    return end;
}

/* Steps of four vectors, from the front or from the back; only that which has the value is looked at. */
static size_t find_in_row(const sn_32f * src, size_t n, float value, bool last, bool smallest)
{
    const size_t step = 4 * V32F_N, rest = n % step, full = n - rest;
    const v32f wanted = v_set_32f(value);
    if (last) {
        const size_t at = find_among(src, full, n, value, true);
        if (at < n)
            return at;
        for (size_t i = full; i > 0; i -= step)
            if (v_any(v_eq_32f(best_of(src + i - step, smallest), wanted)))
                return find_among(src, i - step, i, value, true);
        return 0;
    }
    for (size_t i = 0; i < full; i += step)
        if (v_any(v_eq_32f(best_of(src + i, smallest), wanted)))
            return find_among(src, i, i + step, value, false);
    return sn_min(find_among(src, full, n, value, false), n - 1);
}

/* Rows of at most SEARCHED elements; indices are small enough to be exact in floats. For the last one, their signs are -. */
SN_INLINE v32f find_in_short_row(const sn_32f * p, size_t n, v32f wanted, v32f lanes, v32f step)
{
    const size_t rest = n % V32F_N, full = n - rest;
    v32f found = v_set_32f(SEARCHED);
    for (size_t c = 0; c < full; c += V32F_N) {
        found = v_min_32f(found, v_select_32f(v_eq_32f(v_load_32f(p + c), wanted), lanes, found));
        lanes = v_add_32f(lanes, step);
    }
    if (rest) { /* lanes behind the end become NaN, which is not equal to anything */
        int32_t lane[V32F_N];
        for (int l = 0; l < V32F_N; ++l)
            lane[l] = l;
        const v32m inside = v_gt_32i(v_set_32i((int32_t)rest), v_load_32i(lane));
        const v32f x = v_select_32f(inside, v_load_tail_32f(p + full, rest), v_set_32f(NAN));
        found = v_min_32f(found, v_select_32f(v_eq_32f(x, wanted), lanes, found));
    }
    return found;
}

SN_INLINE v32f min_of(v32f a, v32f b) { return v_min_32f(a, b); }

static void find_in_short_rows(const struct sn_fold_matrix * m, const sn_32f * value, bool last, int64_t * index)
{
    const float sign = last ? -1 : 1;
    float lane[V32F_N];
    for (int l = 0; l < V32F_N; ++l)
        lane[l] = sign * (float)l;
    const v32f lanes = v_load_32f(lane), step = v_set_32f(sign * V32F_N);
    for (size_t first = 0; first < m->rows; first += V32F_N) {
        const size_t rows = sn_min(m->rows - first, V32F_N);
        v32f r[V32F_N];
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
        {
            const size_t row = first + sn_min(i, rows - 1);
            r[i] = find_in_short_row(m->src + row * m->step, m->columns, v_set_32f(value[row]), lanes, step);
        }
        v_store_32f(lane, v_abs_32f(tree_of_lanes(r, min_of)));
        for (size_t i = 0; i < rows; ++i)
            index[first + i] = (int64_t)lane[i];
    }
}

static bool find_rows(const struct sn_fold_matrix * m, const sn_32f * value, bool last, int64_t * index)
{
    if (m->columns <= SEARCHED) {
        find_in_short_rows(m, value, last, index);
        return are_numbers(value, m->rows);
    }
    for (size_t r = 0; r < m->rows; ++r)
        index[r] = (int64_t)find_in_row(m->src + r * m->step, m->columns, value[r], last, m->flip != 0);
    return are_numbers(value, m->rows);
}

/*
 * w vectors of columns, a constant, of n columns in all. A NaN is not better than anything, and looked for separately. With
 * the maxima first, as for rows, 21 rows of 16384 columns took 1.8 times as long (avx512).
 */
SN_INLINE bool find_in_strip(const struct sn_fold_matrix * m, size_t c, size_t n, int w, bool last, sn_32f * value,
                             int64_t * index)
{
    const v32i flip = v_set_32i((int32_t)m->flip);
    const v32f zero = v_zero_32f(), not_a_number = v_set_32f(NAN);
    int32_t lane[V32F_N];
    v32f best[4], nan[4];
    v32i found[4];
    bool good = true;
    SN_UNROLL for (int j = 0; j < w; ++j) {
        best[j] = v_set_32f(-INFINITY);
        nan[j] = zero;
        found[j] = v_set_32i(0);
    }
    for (size_t r = 0; r < m->rows; ++r) {
        const sn_32f * p = m->src + r * m->step + c;
        const v32i here = v_set_32i((int32_t)r);
        SN_UNROLL for (int j = 0; j < w; ++j) {
            const v32f from = n < V32F_N ? v_load_tail_32f(p, n) : v_load_32f(p + j * V32F_N);
            const v32f x = v_cast_32i_32f(v_xor_32i(v_cast_32f_32i(from), flip));
            const v32m better = last ? v_le_32f(best[j], x) : v_lt_32f(best[j], x);
            best[j] = v_select_32f(better, x, best[j]);
            found[j] = v_select_32i(better, here, found[j]);
            nan[j] = v_select_32f(v_eq_32f(x, x), nan[j], not_a_number);
        }
    }
    SN_UNROLL for (int j = 0; j < w; ++j) {
        const bool numbers = !v_any(v_lt_32f(zero, v_select_32f(v_eq_32f(nan[j], nan[j]), zero, v_set_32f(1))));
        good = good && numbers;
        v_store_32i(lane, found[j]);
        if (n < V32F_N) {
            v_store_tail_32f(value + c, nan[j], n);
            for (size_t l = 0; l < n; ++l)
                index[c + l] = lane[l];
        } else {
            v_store_32f(value + c + j * V32F_N, nan[j]);
            for (int l = 0; l < V32F_N; ++l)
                index[c + (size_t)(j * V32F_N + l)] = lane[l];
        }
    }
    return good;
}

SN_INLINE bool find_in_columns(const struct sn_fold_matrix * m, bool last, sn_32f * value, int64_t * index)
{
    bool good = true;
    size_t c = 0;
    for (; c + 4 * V32F_N <= m->columns; c += 4 * V32F_N)
        good &= find_in_strip(m, c, 4 * V32F_N, 4, last, value, index);
    for (; c < m->columns; c += V32F_N)
        good &= find_in_strip(m, c, sn_min(m->columns - c, V32F_N), 1, last, value, index);
    return good;
}

static bool find_columns(const struct sn_fold_matrix * m, bool last, sn_32f * value, int64_t * index)
{
    return last ? find_in_columns(m, true, value, index) : find_in_columns(m, false, value, index);
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
    slots->rows[SN_FOLD_PRODUCT] = product_rows;
    slots->columns[SN_FOLD_PRODUCT] = product_columns;
    slots->results = results;
    slots->find_rows = find_rows;
    slots->find_columns = find_columns;
}
