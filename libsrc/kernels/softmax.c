/*
 * Softmax over `count` values that lie `inner` apart: dst = exp(v - max) / sum of exp(v - max).
 *
 * Columns (inner > 1): a vector holds neighbouring lines, so every step is vertical; four vectors at a time, the values of
 * `count` steps staying in the first cache between the passes for maximum, exponentials and scaling.
 *
 * Rows (inner 1): a vector holds a piece of one line. The horizontal maximum and sum of V32F_N lines are taken together by a
 * tree that halves the number of vectors at each step and leaves line r in lane r: three operations a line instead of eight
 * dependent ones. Long rows, which are worth it, are reduced one by one.
 *
 * Lines that would leave much of a vector empty, short rows and few columns, are gathered into a block of V32F_N columns, by
 * a transposition (kernels/lanes.h) or by pieces, and treated there.
 *
 * Which of these ways a line takes depends on count and inner alone, never on the other lines, so neither do its bits. An
 * infinite maximum and a NaN make the line NaN: the formula does it, for v_max_32f lets at most the NaN itself get lost.
 */
#include "kernels/install.h"
#include "kernels/lanes.h"
#include "kernels/vec_math.h"

#include <math.h>

/* exp(v - max) <= 1: no need to look for overflow. */
SN_INLINE v32f term(v32f v, v32f max) { return v_exp_nonpositive_32f(v_sub_32f(v, max)); }

/* ---- columns */

/* w full vectors of columns. */
SN_INLINE void full_columns(const float * src, size_t count, size_t stride, float * dst, int w)
{
    v32f max[4], sum[4];
    SN_UNROLL for (int j = 0; j < w; ++j) {
        max[j] = v_load_32f(src + j * V32F_N);
        sum[j] = v_zero_32f();
    }
    for (size_t c = 1; c < count; ++c) {
        SN_UNROLL for (int j = 0; j < w; ++j) max[j] = v_max_32f(max[j], v_load_32f(src + c * stride + j * V32F_N));
    }
    for (size_t c = 0; c < count; ++c) {
        SN_UNROLL for (int j = 0; j < w; ++j) {
            const v32f e = term(v_load_32f(src + c * stride + j * V32F_N), max[j]);
            v_store_32f(dst + c * stride + j * V32F_N, e);
            sum[j] = v_add_32f(sum[j], e);
        }
    }
    SN_UNROLL for (int j = 0; j < w; ++j) sum[j] = v_div_32f(v_set_32f(1), sum[j]);
    for (size_t c = 0; c < count; ++c) {
        SN_UNROLL for (int j = 0; j < w; ++j) {
            float * p = dst + c * stride + j * V32F_N;
            v_store_32f(p, v_mul_32f(v_load_32f(p), sum[j]));
        }
    }
}

/* The last n columns. */
static void rest_of_columns(const float * src, size_t count, size_t stride, float * dst, size_t n)
{
    v32f max = v_load_tail_32f(src, n), sum = v_zero_32f();
    for (size_t c = 1; c < count; ++c)
        max = v_max_32f(max, v_load_tail_32f(src + c * stride, n));
    for (size_t c = 0; c < count; ++c) {
        const v32f e = term(v_load_tail_32f(src + c * stride, n), max);
        v_store_tail_32f(dst + c * stride, e, n);
        sum = v_add_32f(sum, e);
    }
    const v32f scale = v_div_32f(v_set_32f(1), sum);
    for (size_t c = 0; c < count; ++c)
        v_store_tail_32f(dst + c * stride, v_mul_32f(v_load_tail_32f(dst + c * stride, n), scale), n);
}

static void columns(const float * src, size_t count, size_t inner, float * dst)
{
    size_t i = 0;
    for (; i + 4 * V32F_N <= inner; i += 4 * V32F_N)
        full_columns(src + i, count, inner, dst + i, 4);
    for (; i + V32F_N <= inner; i += V32F_N)
        full_columns(src + i, count, inner, dst + i, 1);
    if (i < inner)
        rest_of_columns(src + i, count, inner, dst + i, inner - i);
}

/* ---- few columns: those of several images side by side */

enum { GATHERED = 256 }; /* the largest count; the block has 16 KB with the widest vectors */

/* Each store also writes beyond its columns; the next one, or the room at the end, takes that. */
static void few_columns(const float * src, size_t outer, size_t count, size_t inner, float * dst)
{
    float block[GATHERED * V32F_N + V32F_N] SN_ALIGNED;
    const size_t together = V32F_N / inner;
    for (size_t o = 0; o < outer; o += together) {
        const size_t images = sn_min(together, outer - o);
        for (size_t c = 0; c < count; ++c) {
            v_store_32f(block + c * V32F_N, v_zero_32f());
            for (size_t i = 0; i < images; ++i)
                v_store_32f(block + c * V32F_N + i * inner, v_load_tail_32f(src + ((o + i) * count + c) * inner, inner));
        }
        full_columns(block, count, V32F_N, block, 1);
        for (size_t c = 0; c < count; ++c)
            for (size_t i = 0; i < images; ++i)
                v_store_tail_32f(dst + ((o + i) * count + c) * inner, v_load_32f(block + c * V32F_N + i * inner), inner);
    }
}

/* ---- short rows: a block of V32F_N of them is transposed */

/* Fewer than V32F_N values. */
static void shorter_rows(const float * src, size_t outer, size_t count, float * dst)
{
    float block[V32F_N * V32F_N] SN_ALIGNED = {0};
    for (size_t o = 0; o < outer; o += V32F_N) {
        const size_t rows = sn_min(V32F_N, outer - o);
        lanes_to_planes(src + o * count, count, rows, block, V32F_N, count, count);
        full_columns(block, count, V32F_N, block, 1);
        planes_to_lanes(block, V32F_N, count, rows, dst + o * count, count, count);
    }
}

enum { SHORT = 4 * V32F_N }; /* values of the longest row that is transposed, square by square */

/* Columns c .. c + V32F_N - 1 of the rows to the block and back. */
SN_INLINE void to_block(const float * src, size_t rows, size_t count, size_t c, float * block)
{
    v32f r[V32F_N];
    for (size_t i = 0; i < V32F_N; ++i)
        r[i] = i < rows ? v_load_32f(src + i * count + c) : v_zero_32f();
    v_transpose_32f(r);
    for (size_t i = 0; i < V32F_N; ++i)
        v_store_32f(block + (c + i) * V32F_N, r[i]);
}

SN_INLINE void from_block(const float * block, size_t rows, size_t count, size_t c, float * dst)
{
    v32f r[V32F_N];
    for (size_t i = 0; i < V32F_N; ++i)
        r[i] = v_load_32f(block + (c + i) * V32F_N);
    v_transpose_32f(r);
    for (size_t i = 0; i < V32F_N; ++i)
        if (i < rows)
            v_store_32f(dst + i * count + c, r[i]);
}

/* The last square reaches back over the one before. */
static void short_rows(const float * src, size_t outer, size_t count, float * dst)
{
    float block[SHORT * V32F_N] SN_ALIGNED;
    for (size_t o = 0; o < outer; o += V32F_N) {
        const size_t rows = sn_min(V32F_N, outer - o);
        for (size_t c = 0; c < count; c += V32F_N)
            to_block(src + o * count, rows, count, sn_min(c, count - V32F_N), block);
        full_columns(block, count, V32F_N, block, 1);
        for (size_t c = 0; c < count; c += V32F_N)
            from_block(block, rows, count, sn_min(c, count - V32F_N), dst + o * count);
    }
}

/* ---- rows, count >= V32F_N */

enum { LONG = 256 }; /* values of a row that is reduced by itself */

/* The first n lanes of v, then -Inf, whose exponential adds nothing. */
SN_INLINE v32f load_rest(const float * p, size_t n)
{
    static const float ones[V32F_N] = {1, 1, 1, 1
#if V32F_N > 4
        , 1, 1, 1, 1
#endif
#if V32F_N > 8
        , 1, 1, 1, 1, 1, 1, 1, 1
#endif
    };
    const v32m there = v_lt_32f(v_zero_32f(), v_load_tail_32f(ones, n));
    return v_select_32f(there, v_load_tail_32f(p, n), v_set_32f(-INFINITY));
}

/*
 * The three passes over a row. `whole` is a constant: the number of vectors of a row without a rest, up to 4, which unrolls
 * the loops; or 0 for any row.
 */

/* The maximum, in pieces: the last one overlaps the one before. */
SN_INLINE v32f row_max(const float * src, size_t count, size_t whole)
{
    v32f max = v_load_32f(src + count - V32F_N);
    if (whole) {
        SN_UNROLL for (size_t i = 0; i + 1 < whole; ++i) max = v_max_32f(max, v_load_32f(src + i * V32F_N));
        return max;
    }
    for (size_t i = 0; i + V32F_N <= count; i += V32F_N)
        max = v_max_32f(max, v_load_32f(src + i));
    return max;
}

SN_INLINE v32f exp_of(v32f v, v32f max, float * dst)
{
    const v32f e = term(v, max);
    v_store_32f(dst, e);
    return e;
}

/* Stores the exponentials; their sum, in pieces. */
SN_INLINE v32f row_exp(const float * src, size_t count, size_t whole, float max, float * dst)
{
    const v32f m = v_set_32f(max);
    v32f sum = v_zero_32f();
    if (whole) {
        SN_UNROLL for (size_t i = 0; i < whole; ++i)
            sum = v_add_32f(sum, exp_of(v_load_32f(src + i * V32F_N), m, dst + i * V32F_N));
        return sum;
    }
    size_t i = 0;
    for (; i + V32F_N <= count; i += V32F_N)
        sum = v_add_32f(sum, exp_of(v_load_32f(src + i), m, dst + i));
    if (i < count) {
        const v32f e = term(load_rest(src + i, count - i), m);
        v_store_tail_32f(dst + i, e, count - i);
        sum = v_add_32f(sum, e);
    }
    return sum;
}

SN_INLINE void row_scale(float * dst, size_t count, size_t whole, float scale)
{
    const v32f s = v_set_32f(scale);
    if (whole) {
        SN_UNROLL for (size_t i = 0; i < whole; ++i)
            v_store_32f(dst + i * V32F_N, v_mul_32f(v_load_32f(dst + i * V32F_N), s));
        return;
    }
    size_t i = 0;
    for (; i + V32F_N <= count; i += V32F_N)
        v_store_32f(dst + i, v_mul_32f(v_load_32f(dst + i), s));
    if (i < count)
        v_store_tail_32f(dst + i, v_mul_32f(v_load_tail_32f(dst + i, count - i), s), count - i);
}

/* Lane i of the result is the sum (the maximum) of the lanes of r[i]. */
SN_INLINE v32f sum_each(v32f r[V32F_N])
{
    SN_UNROLL for (int n = V32F_N / 2; n; n /= 2) {
        SN_UNROLL for (int i = 0; i < n; ++i) 
            r[i] = v_add_32f(v_even_32f(r[2 * i], r[2 * i + 1]), v_odd_32f(r[2 * i], r[2 * i + 1]));
    }
    return r[0];
}

SN_INLINE v32f max_each(v32f r[V32F_N])
{
    SN_UNROLL for (int n = V32F_N / 2; n; n /= 2) {
        SN_UNROLL for (int i = 0; i < n; ++i)
            r[i] = v_max_32f(v_even_32f(r[2 * i], r[2 * i + 1]), v_odd_32f(r[2 * i], r[2 * i + 1]));
    }
    return r[0];
}

/* Up to V32F_N rows on their way. */
struct group {
    const float * src;
    float * dst;
    size_t rows;
    float max[V32F_N], scale[V32F_N];
};

SN_INLINE void find_max(struct group * g, size_t count, size_t whole)
{
    v32f r[V32F_N];
    for (size_t i = 0; i < V32F_N; ++i)
        r[i] = i < g->rows ? row_max(g->src + i * count, count, whole) : v_zero_32f();
    v_store_32f(g->max, max_each(r));
}

/* Exponentials of a group, between which the rows of the one before are scaled. */
SN_INLINE void exp_and_scale(struct group * g, const struct group * before, size_t count, size_t whole)
{
    v32f r[V32F_N];
    for (size_t i = 0; i < V32F_N; ++i) {
        r[i] = i < g->rows ? row_exp(g->src + i * count, count, whole, g->max[i], g->dst + i * count)
                           : v_zero_32f();
        if (i < before->rows)
            row_scale(before->dst + i * count, count, whole, before->scale[i]);
    }
    v_store_32f(g->scale, v_div_32f(v_set_32f(1), sum_each(r)));
}

/* In groups, and so that nobody waits for the end of a tree: while the exponentials of one group are computed, the maxima of
 * the next are known already, and the group before is scaled. 1.3 times as fast as one group after the other. */
SN_INLINE void grouped_rows(const float * src, size_t outer, size_t count, size_t whole, float * dst)
{
    struct group groups[3] = {{.src = src, .dst = dst, .rows = sn_min(outer, V32F_N)}}, none = {.rows = 0};
    const struct group * before = &none;
    find_max(&groups[0], count, whole);
    for (size_t o = 0, i = 0; o < outer; o += V32F_N, i = (i + 1) % 3) {
        struct group * g = &groups[i], * next = &groups[(i + 1) % 3];
        const size_t rest = outer - o;
        next->src = g->src + V32F_N * count;
        next->dst = g->dst + V32F_N * count;
        next->rows = sn_min(rest - g->rows, V32F_N);
        if (next->rows)
            find_max(next, count, whole);
        exp_and_scale(g, before, count, whole);
        before = g;
    }
    for (size_t i = 0; i < before->rows; ++i)
        row_scale(before->dst + i * count, count, whole, before->scale[i]);
}

static void long_row(const float * src, size_t count, float * dst)
{
    const float max = v_reduce_max_32f(row_max(src, count, 0));
    const float sum = v_reduce_add_32f(row_exp(src, count, 0, max, dst));
    row_scale(dst, count, 0, 1 / sum);
}

static void rows_of(const float * src, size_t outer, size_t count, float * dst)
{
    switch (count % V32F_N ? 0 : count / V32F_N) {
    case 1: grouped_rows(src, outer, count, 1, dst); break;
    case 2: grouped_rows(src, outer, count, 2, dst); break;
    case 4: grouped_rows(src, outer, count, 4, dst); break;
    default: grouped_rows(src, outer, count, 0, dst);
    }
}

static void rows(const float * src, size_t outer, size_t count, float * dst)
{
    if (count < V32F_N)
        shorter_rows(src, outer, count, dst);
    else if (count < SHORT && count % V32F_N)
        short_rows(src, outer, count, dst);
    else if (count < LONG)
        rows_of(src, outer, count, dst);
    else
        for (size_t o = 0; o < outer; ++o)
            long_row(src + o * count, count, dst + o * count);
}

static void softmax_32f(const float * src, size_t outer, size_t count, size_t inner, float * dst)
{
    if (count == 1)
        columns(src, 1, outer * inner, dst);
    else if (inner == 1)
        rows(src, outer, count, dst);
    else if (inner <= V32F_N / 2 && count <= GATHERED)
        few_columns(src, outer, count, inner, dst);
    else
        for (size_t o = 0; o < outer; ++o)
            columns(src + o * count * inner, count, inner, dst + o * count * inner);
}

void ISA_FN(install_softmax)(struct sn_table * table) { table->softmax_32f = softmax_32f; }
