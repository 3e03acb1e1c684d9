/*
 * Softmax over `count` values that are `inner` apart: dst = exp(v - max) / sum of exp(v - max).
 *
 * Columns (inner > 1): a vector holds neighbouring lines, so every step is vertical; four vectors are processed at a time,
 * and their values stay in the L1 cache between the passes for maximum, exponentials and scaling.
 *
 * Rows (inner 1): a vector holds a piece of one line. The horizontal maxima and sums of V32F_N lines are computed together
 * by a tree that halves the number of vectors at each step and leaves line r in lane r: three operations per line instead of
 * eight dependent ones. Long rows, for which this cost is small, are reduced one by one.
 *
 * Lines that are shorter than a vector, and few columns, are gathered into a block of columns, by a transposition
 * (kernels/lanes.h) or in pieces, and processed there.
 *
 * The algorithm used for a line depends only on count and inner, not on the other lines, so its result is bit-identical too.
 * An infinite maximum or a NaN makes the line NaN by the formula itself: v_max_32f can lose the NaN, but exp(v - max)
 * cannot.
 */
#include "contract/softmax.h"
#include "kernels/install.h"
#include "kernels/lanes.h"
#include "kernels/vec_math.h"

#include <math.h>

/*
 * exp(v - max) <= 1: no check for overflow is needed. Below exp(-87) it is 0, and not a denormal number, as it would be for a
 * mask of -100: attention of 49 rows, half of the windows with such a mask, took about 19 times as long.
 */
SN_INLINE v32f term(v32f v, v32f max)
{
    const v32f x = v_sub_32f(v, max);
    return v_where_32f(v_nlt_32f(x, v_set_32f(-87)), v_exp_nonpositive_normal_32f(x));
}

/*
 * ---- sums
 *
 * A chain of additions would lose terms that are small compared with the first ones, up to count * 2^-24 of the sum. So
 * blocks of terms are added pairwise, then those sums pairwise, like the carries of a binary counter: (log2(count) + 5) *
 * 2^-24.
 */
enum { BLOCK = 8, LEVELS = 48 };

/* level[l] is the sum of 2^l blocks, if bit l of `blocks` is set; for up to four vectors of lines. */
struct cascade {
    size_t blocks;
    v32f level[LEVELS][4];
};

SN_INLINE void cascade_add(struct cascade * c, const v32f * block, int w)
{
    v32f sum[4];
    size_t l = 0;
    SN_UNROLL for (int j = 0; j < w; ++j) sum[j] = block[j];
    for (; c->blocks >> l & 1; ++l)
        SN_UNROLL for (int j = 0; j < w; ++j) sum[j] = v_add_32f(c->level[l][j], sum[j]);
    SN_UNROLL for (int j = 0; j < w; ++j) c->level[l][j] = sum[j];
    ++c->blocks;
}

/* Adds the levels, the smallest first. There is at least one. */
SN_INLINE void cascade_sum(const struct cascade * c, v32f * sum, int w)
{
    size_t l = (size_t)__builtin_ctzll(c->blocks);
    SN_UNROLL for (int j = 0; j < w; ++j) sum[j] = c->level[l][j];
    while (c->blocks >> ++l)
        if (c->blocks >> l & 1)
            SN_UNROLL for (int j = 0; j < w; ++j) sum[j] = v_add_32f(c->level[l][j], sum[j]);
}

/* ---- columns */

/* w full vectors of columns. */
SN_INLINE void full_columns(const sn_32f * src, size_t count, size_t stride, sn_32f * dst, int w)
{
    v32f max[4], sum[4];
    struct cascade all;
    all.blocks = 0;
    SN_UNROLL for (int j = 0; j < w; ++j) max[j] = v_load_32f(src + j * V32F_N);
    for (size_t c = 1; c < count; ++c) {
        SN_UNROLL for (int j = 0; j < w; ++j) max[j] = v_max_32f(max[j], v_load_32f(src + c * stride + j * V32F_N));
    }
    for (size_t c = 0; c < count;) {
        const size_t end = sn_min(c + BLOCK, count);
        SN_UNROLL for (int j = 0; j < w; ++j) sum[j] = v_zero_32f();
        for (; c < end; ++c) {
            SN_UNROLL for (int j = 0; j < w; ++j) {
                const v32f e = term(v_load_32f(src + c * stride + j * V32F_N), max[j]);
                v_store_32f(dst + c * stride + j * V32F_N, e);
                sum[j] = v_add_32f(sum[j], e);
            }
        }
        cascade_add(&all, sum, w);
    }
    cascade_sum(&all, sum, w);
    SN_UNROLL for (int j = 0; j < w; ++j) sum[j] = v_div_32f(v_set_32f(1), sum[j]);
    for (size_t c = 0; c < count; ++c) {
        SN_UNROLL for (int j = 0; j < w; ++j) {
            sn_32f * p = dst + c * stride + j * V32F_N;
            v_store_32f(p, v_mul_32f(v_load_32f(p), sum[j]));
        }
    }
}

/* The last n columns. */
static void rest_of_columns(const sn_32f * src, size_t count, size_t stride, sn_32f * dst, size_t n)
{
    v32f max = v_load_tail_32f(src, n), sum;
    struct cascade all;
    all.blocks = 0;
    for (size_t c = 1; c < count; ++c)
        max = v_max_32f(max, v_load_tail_32f(src + c * stride, n));
    for (size_t c = 0; c < count;) {
        const size_t end = sn_min(c + BLOCK, count);
        sum = v_zero_32f();
        for (; c < end; ++c) {
            const v32f e = term(v_load_tail_32f(src + c * stride, n), max);
            v_store_tail_32f(dst + c * stride, e, n);
            sum = v_add_32f(sum, e);
        }
        cascade_add(&all, &sum, 1);
    }
    cascade_sum(&all, &sum, 1);
    const v32f scale = v_div_32f(v_set_32f(1), sum);
    for (size_t c = 0; c < count; ++c)
        v_store_tail_32f(dst + c * stride, v_mul_32f(v_load_tail_32f(dst + c * stride, n), scale), n);
}

static void columns(const sn_32f * src, size_t count, size_t stride, size_t inner, sn_32f * dst)
{
    size_t i = 0;
    for (; i + 4 * V32F_N <= inner; i += 4 * V32F_N)
        full_columns(src + i, count, stride, dst + i, 4);
    for (; i + V32F_N <= inner; i += V32F_N)
        full_columns(src + i, count, stride, dst + i, 1);
    if (i < inner)
        rest_of_columns(src + i, count, stride, dst + i, inner - i);
}

/* ---- few columns: those of several images side by side */

enum { GATHERED = 256 }; /* the largest count; the block takes 16 KB with the widest vectors */

/* Each store also writes beyond its columns; the block has space for this after the last one. */
static void few_columns(const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst)
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

/* ---- rows shorter than a vector: a block of them is transposed */

enum { TOGETHER = 4 * V32F_N };

static void short_rows(const sn_32f * src, size_t outer, size_t count, sn_32f * dst)
{
    float block[V32F_N * TOGETHER] SN_ALIGNED;
    for (size_t o = 0; o < outer; o += TOGETHER) {
        const size_t rows = sn_min(TOGETHER, outer - o), whole = rows / V32F_N * V32F_N;
        for (size_t c = 0; whole < rows && c < count; ++c)
            v_store_32f(block + c * TOGETHER + whole, v_zero_32f());
        lanes_to_planes(src + o * count, count, rows, block, TOGETHER, count, count);
        columns(block, count, TOGETHER, sn_ceil_div(rows, V32F_N) * V32F_N, block);
        planes_to_lanes(block, TOGETHER, count, rows, dst + o * count, count, count);
    }
}

/*
 * ---- rows, count >= V32F_N
 *
 * The three passes over a row. The last vector of a row overlaps the one before; since src may be dst, it is loaded before
 * that one is stored. `whole` is a compile-time constant: the number of vectors of a row without a remainder, up to 4, which
 * unrolls the loops; or 0 for any row. `blocks`, also constant: there may be more than one block of vectors. A call for
 * those in the loop over rows, even if it is never executed, makes rows of 21 values 8% slower.
 */

SN_INLINE v32f row_max(const sn_32f * src, size_t count, size_t whole)
{
    v32f max = v_load_32f(src + count - V32F_N);
    if (whole) {
        SN_UNROLL for (size_t i = 0; i + 1 < whole; ++i) max = v_max_32f(max, v_load_32f(src + i * V32F_N));
        return max;
    }
    v32f part[4] = {max, max, max, max};
    size_t i = 0;
    for (; i + 4 * V32F_N <= count; i += 4 * V32F_N)
        SN_UNROLL for (size_t j = 0; j < 4; ++j) part[j] = v_max_32f(part[j], v_load_32f(src + i + j * V32F_N));
    for (; i + V32F_N <= count; i += V32F_N)
        max = v_max_32f(max, v_load_32f(src + i));
    return v_max_32f(v_max_32f(max, part[0]), v_max_32f(part[1], v_max_32f(part[2], part[3])));
}

SN_INLINE v32f exp_of(v32f v, v32f max, sn_32f * dst)
{
    const v32f e = term(v, max);
    v_store_32f(dst, e);
    return e;
}

/* The blocks of a row after the first one, whose sum is `sum`. */
static __attribute__((noinline)) v32f row_exp_blocks(const sn_32f * src, size_t * at, size_t count, v32f max, sn_32f * dst,
                                                     v32f sum)
{
    struct cascade all;
    size_t i = *at;
    all.blocks = 0;
    cascade_add(&all, &sum, 1);
    while (i + V32F_N <= count) {
        const size_t end = sn_min(i + BLOCK * V32F_N, count - V32F_N + 1);
        sum = v_zero_32f();
        for (; i < end; i += V32F_N)
            sum = v_add_32f(sum, exp_of(v_load_32f(src + i), max, dst + i));
        cascade_add(&all, &sum, 1);
    }
    cascade_sum(&all, &sum, 1);
    *at = i;
    return sum;
}

/* Stores the exponentials, and returns a vector of partial sums. */
SN_INLINE v32f row_exp(const sn_32f * src, size_t count, size_t whole, bool blocks, float max, sn_32f * dst)
{
    static const float ones[32] = {[16] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const v32f m = v_set_32f(max);
    v32f sum = v_zero_32f();
    if (whole) {
        SN_UNROLL for (size_t i = 0; i < whole; ++i)
            sum = v_add_32f(sum, exp_of(v_load_32f(src + i * V32F_N), m, dst + i * V32F_N));
        return sum;
    }
    const v32f last = v_load_32f(src + count - V32F_N);
    size_t i = 0;
    for (const size_t end = sn_min(BLOCK * V32F_N, count - V32F_N + 1); i < end; i += V32F_N)
        sum = v_add_32f(sum, exp_of(v_load_32f(src + i), m, dst + i));
    if (blocks && i + V32F_N <= count)
        sum = row_exp_blocks(src, &i, count, m, dst, sum);
    if (i < count) /* only the lanes that do not overlap */
        sum = v_fma_32f(exp_of(last, m, dst + count - V32F_N), v_load_32f(ones + 16 - V32F_N + (count - i)), sum);
    return sum;
}

SN_INLINE void row_scale(sn_32f * dst, size_t count, size_t whole, float scale)
{
    const v32f s = v_set_32f(scale);
    if (whole) {
        SN_UNROLL for (size_t i = 0; i < whole; ++i)
            v_store_32f(dst + i * V32F_N, v_mul_32f(v_load_32f(dst + i * V32F_N), s));
        return;
    }
    sn_32f * const end = dst + count - V32F_N;
    const v32f last = v_mul_32f(v_load_32f(end), s);
    for (; dst < end; dst += V32F_N)
        v_store_32f(dst, v_mul_32f(v_load_32f(dst), s));
    v_store_32f(end, last);
}

/* Lane i of the result is the sum (the maximum) of the lanes of r[i]. */
SN_INLINE v32f sum_each(const v32f rows[V32F_N])
{
    v32f r[V32F_N];
    SN_UNROLL for (int i = 0; i < V32F_N; ++i) r[i] = rows[i];
    SN_UNROLL for (int n = V32F_N / 2; n; n /= 2) {
        SN_UNROLL for (int i = 0; i < n; ++i)
            r[i] = v_add_32f(v_even_32f(r[2 * i], r[2 * i + 1]), v_odd_32f(r[2 * i], r[2 * i + 1]));
    }
    return r[0];
}

SN_INLINE v32f max_each(const v32f rows[V32F_N])
{
    v32f r[V32F_N];
    SN_UNROLL for (int i = 0; i < V32F_N; ++i) r[i] = rows[i];
    SN_UNROLL for (int n = V32F_N / 2; n; n /= 2) {
        SN_UNROLL for (int i = 0; i < n; ++i)
            r[i] = v_max_32f(v_even_32f(r[2 * i], r[2 * i + 1]), v_odd_32f(r[2 * i], r[2 * i + 1]));
    }
    return r[0];
}

/* Up to V32F_N rows in progress; of[r] is the input of the next pass for row r: its maximum, then the reciprocal sum. */
struct group {
    size_t first, rows;
    float of[V32F_N];
};

/* Three groups are each in another pass, and their rows alternate, so that all execution units are used and the latency of
 * the trees is hidden: 1.3 times as fast as one pass after the other. */
SN_INLINE void three_passes(const sn_32f * src, sn_32f * dst, size_t count, size_t whole, bool blocks, struct group * a,
                            struct group * b, const struct group * c, v32f max[V32F_N], v32f sum[V32F_N])
{
    const sn_32f * max_src = src + a->first * count, * exp_src = src + b->first * count;
    sn_32f * exp_dst = dst + b->first * count, * scaled = dst + c->first * count;
    const size_t na = a->rows, nb = b->rows, nc = c->rows, most = sn_max(na, sn_max(nb, nc));
    for (size_t i = 0; i < most; ++i) {
        if (i < na)
            max[i] = row_max(max_src, count, whole);
        if (i < nb)
            sum[i] = row_exp(exp_src, count, whole, blocks, b->of[i], exp_dst);
        if (i < nc)
            row_scale(scaled, count, whole, c->of[i]);
        max_src += count, exp_src += count, exp_dst += count, scaled += count;
    }
    if (na)
        v_store_32f(a->of, max_each(max));
    if (nb)
        v_store_32f(b->of, v_div_32f(v_set_32f(1), sum_each(sum)));
}

SN_INLINE void grouped_rows(const sn_32f * src, size_t outer, size_t count, size_t whole, bool blocks, sn_32f * dst)
{
    struct group groups[3] = {{.rows = 0}};
    v32f max[V32F_N], sum[V32F_N];
    for (size_t i = 0; i < V32F_N; ++i)
        max[i] = sum[i] = v_set_32f(1); /* for missing rows */
    for (size_t o = 0, i = 0; o < outer + 2 * V32F_N; o += V32F_N, i = (i + 1) % 3) {
        groups[i].first = sn_min(o, outer);
        groups[i].rows = sn_min(outer - groups[i].first, V32F_N);
        three_passes(src, dst, count, whole, blocks, &groups[i], &groups[(i + 2) % 3], &groups[(i + 1) % 3], max, sum);
    }
}

enum { LONG = 160 }; /* values of a row that is reduced separately */

static void long_row(const sn_32f * src, size_t count, sn_32f * dst)
{
    const float max = v_reduce_max_32f(row_max(src, count, 0));
    const float sum = v_reduce_add_32f(row_exp(src, count, 0, true, max, dst));
    row_scale(dst, count, 0, 1 / sum);
}

static void rows(const sn_32f * src, size_t outer, size_t count, sn_32f * dst)
{
    if (count < V32F_N)
        short_rows(src, outer, count, dst);
    else if (count == V32F_N)
        grouped_rows(src, outer, V32F_N, 1, false, dst);
    else if (count == 2 * V32F_N)
        grouped_rows(src, outer, 2 * V32F_N, 2, false, dst);
    else if (count == 4 * V32F_N)
        grouped_rows(src, outer, 4 * V32F_N, 4, false, dst);
    else if (count < (BLOCK + 1) * V32F_N)
        grouped_rows(src, outer, count, 0, false, dst);
    else if (count < LONG)
        grouped_rows(src, outer, count, 0, true, dst);
    else
        for (size_t o = 0; o < outer; ++o)
            long_row(src + o * count, count, dst + o * count);
}

static void softmax_32f(const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst)
{
    if (count == 1)
        columns(src, 1, 0, outer * inner, dst);
    else if (inner == 1)
        rows(src, outer, count, dst);
    else if (inner <= V32F_N / 2 && count <= GATHERED)
        few_columns(src, outer, count, inner, dst);
    else
        for (size_t o = 0; o < outer; ++o)
            columns(src + o * count * inner, count, inner, inner, dst + o * count * inner);
}

SN_INSTALL(softmax, softmax) { slots->run_32f = softmax_32f; }
