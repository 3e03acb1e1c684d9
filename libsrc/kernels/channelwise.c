/*
 * Channel-wise layers: one pass over a tensor, in which every value is combined with the coefficients of its channel.
 *
 * Every format consists of rows of values whose coefficients repeat (struct sn_channelwise_rows): in NCHW a row is a
 * channel, in NHWC the whole image with a period of C, in NCHWxc a block. All layers share the loops; a layer is a case of
 * apply(). The rows are processed according to their period:
 *
 *   one period       as many coefficients as values: vectors of both.
 *   period | vector  (NCHW, NCHWxc, few channels of NHWC) one vector of coefficients serves a row. All rows are one run: the
 *                    vector that crosses the end of a row takes some lanes from the next row's coefficients. So only the run
 *                    has a tail, and all stores are aligned if possible. (A masked or partial store at the end of each row,
 *                    in place, made the load of the next row wait for it: 2 to 7 times slower for short rows.)
 *   the same, short  the coefficients of a vector are looked up in a list that extends one vector beyond the row.
 *   other periods    coefficients come from a table that repeats its beginning, so that a group of vectors can be read from
 *                    any position in the period; a short period is repeated until it is a whole number of vectors.
 */
#include <string.h>

#include "contract/channelwise.h"
#include "kernels/aligned.h"
#include "kernels/concat.h"
#include "kernels/install.h"

enum {
    GROUP = 4, /* vectors of one iteration */
    STEP = GROUP * V32F_N,
    TABLE = 1024,       /* values of a table, 4 KB: three of them fit in the L1 cache */
    TERMS = 3
};

/* ---- the layers; op is a compile-time constant everywhere */

/* The number of coefficients of a channel; the layer's scalars are stored after them. */
SN_INLINE int per_channel(enum sn_channelwise_op op)
{
    switch (op) {
    case SN_ADD_BIAS:
    case SN_SCALE:
    case SN_PRELU:
    case SN_FUSED_4:
    case SN_FUSED_8: return 1;
    case SN_FUSED_1: return 3;
    default: return 2;
    }
}

/* max(0, x) + slope * min(0, x); both are x for a NaN. */
SN_INLINE v32f prelu(v32f x, v32f slope)
{
    const v32f zero = v_zero_32f();
    return v_add_32f(v_max_32f(zero, x), v_mul_32f(slope, v_min_32f(zero, x)));
}

/* y is the value of the second source; t are the coefficients, then the scalars. No fused multiply-add where
 * contract/table.h requires the operations exactly as written. */
SN_INLINE v32f apply(enum sn_channelwise_op op, v32f x, v32f y, const v32f * t)
{
    const v32f zero = v_zero_32f();
    switch (op) {
    case SN_ADD_BIAS: return v_add_32f(x, t[0]);
    case SN_SCALE: return v_mul_32f(x, t[0]);
    case SN_SCALE_BIAS: return v_fma_32f(x, t[0], t[1]);
    case SN_PRELU: return prelu(x, t[0]);
    case SN_FUSED_0:
        x = v_add_32f(x, t[0]);
        return v_add_32f(v_mul_32f(v_sub_32f(x, v_abs_32f(x)), t[1]), v_max_32f(zero, x));
    case SN_FUSED_1:
        x = v_add_32f(x, t[0]);
        return v_add_32f(v_fma_32f(v_max_32f(zero, v_sub_32f(zero, x)), t[1], t[2]), v_max_32f(zero, x));
    case SN_FUSED_2: return prelu(v_fma_32f(x, t[0], t[1]), t[2]);
    case SN_FUSED_3: return prelu(v_add_32f(x, t[0]), t[1]);
    case SN_FUSED_4: return v_max_32f(zero, v_fma_32f(v_add_32f(x, t[0]), t[1], t[2]));
    case SN_FUSED_8: return v_fma_32f(y, t[0], x);
    case SN_FUSED_9: return v_max_32f(zero, v_fma_32f(x, t[0], t[1]));
    default: return x;
    }
}

/* ---- one vector, one group */

/* The position of a run, and its coefficients. */
struct run {
    const sn_32f * src, * src1;
    sn_32f * dst;
    const sn_32f * p[TERMS];
    v32f t[TERMS]; /* the scalars are set once */
};

SN_INLINE struct run run_of(enum sn_channelwise_op op, const struct sn_channelwise_rows * r)
{
    struct run run = {r->src, r->src1, r->dst, {r->p[0], r->p[1], r->p[2]}, {v_zero_32f(), v_zero_32f(), v_zero_32f()}};
    const float single[] = {r->s, r->t};
    SN_UNROLL for (int k = per_channel(op); k < TERMS; ++k) run.t[k] = v_set_32f(single[k - per_channel(op)]);
    return run;
}

SN_INLINE v32f value(enum sn_channelwise_op op, const struct run * r, size_t i, const v32f * t)
{
    const v32f y = op == SN_FUSED_8 ? v_load_32f(r->src1 + i) : v_zero_32f();
    return apply(op, v_load_32f(r->src + i), y, t);
}

/* n values at position i. */
SN_INLINE void tail(enum sn_channelwise_op op, const struct run * r, size_t i, size_t n, const v32f * t)
{
    const v32f y = op == SN_FUSED_8 ? v_load_tail_32f(r->src1 + i, n) : v_zero_32f();
    v_store_tail_32f(r->dst + i, apply(op, v_load_tail_32f(r->src + i, n), y, t), n);
}

/* ---- as many coefficients as values */

/* A group at position i, with the coefficients at position `at` of the tables. */
SN_INLINE void group(enum sn_channelwise_op op, struct run * r, const sn_32f * const * table, size_t at, size_t i,
                     bool stream)
{
    v32f x[GROUP];
    SN_UNROLL for (int j = 0; j < GROUP; ++j) {
        SN_UNROLL for (int k = 0; k < per_channel(op); ++k) r->t[k] = v_load_32f(table[k] + at + j * V32F_N);
        x[j] = value(op, r, i + j * V32F_N, r->t);
    }
    SN_UNROLL for (int j = 0; j < GROUP; ++j) put(r->dst + i + j * V32F_N, x[j], stream);
}

/* Values begin .. end - 1; their first coefficients are at the beginning of the tables. */
SN_INLINE void arrays(enum sn_channelwise_op op, struct run * r, const sn_32f * const * table, size_t begin, size_t end)
{
    size_t i = begin;
    for (; i + STEP <= end; i += STEP)
        group(op, r, table, i - begin, i, false);
    for (; i + V32F_N <= end; i += V32F_N) {
        SN_UNROLL for (int k = 0; k < per_channel(op); ++k) r->t[k] = v_load_32f(table[k] + (i - begin));
        v_store_32f(r->dst + i, value(op, r, i, r->t));
    }
    if (i < end) {
        SN_UNROLL for (int k = 0; k < per_channel(op); ++k) r->t[k] = v_load_tail_32f(table[k] + (i - begin), end - i);
        tail(op, r, i, end - i, r->t);
    }
}

/* ---- the period divides a vector */

static const int32_t lane_indices[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* The coefficients of row c; each lane gets those of the channel given by `lanes`. */
SN_INLINE void row_terms(enum sn_channelwise_op op, const struct run * r, size_t c, size_t period, v32i lanes, v32f * t)
{
    SN_UNROLL for (int k = 0; k < TERMS; ++k) {
        if (k >= per_channel(op))
            t[k] = r->t[k];
        else if (period == 1)
            t[k] = v_set_32f(r->p[k][c]);
        else
            t[k] = v_lookup_32f(v_load_tail_32f(r->p[k] + c * period, period), lanes);
    }
}

/* n whole groups from position i on. */
SN_INLINE void groups(enum sn_channelwise_op op, const struct run * r, size_t i, size_t n, const v32f * t, bool stream)
{
    for (; n; --n, i += STEP) {
        v32f x[GROUP];
        SN_UNROLL for (int j = 0; j < GROUP; ++j) x[j] = value(op, r, i + j * V32F_N, t);
        SN_UNROLL for (int j = 0; j < GROUP; ++j) put(r->dst + i + j * V32F_N, x[j], stream);
    }
}

SN_INLINE void full_rows(enum sn_channelwise_op op, struct run * r, size_t rows, size_t size, size_t period, bool stream)
{
    const size_t all = rows * size, head = aligned_head(r->dst, all);
    const v32i count = v_load_32i(lane_indices), mask = v_set_32i((int32_t)period - 1);
    const v32i lanes = v_and_32i(v_add_32i(count, v_set_32i((int32_t)head)), mask);
    v32f t[TERMS], next[TERMS], mixed[TERMS];
    if (head) {
        row_terms(op, r, 0, period, v_and_32i(count, mask), t);
        tail(op, r, 0, head, t);
    }
    row_terms(op, r, 0, period, lanes, t);
    size_t i = head;
    for (size_t c = 0, end = size; ; end += size) {
        const size_t n = i < end ? (end - i) / STEP : 0;
        if (n && stream)
            groups(op, r, i, n, t, true);
        else if (n)
            groups(op, r, i, n, t, false);
        i += n * STEP;
        for (; i + V32F_N <= end; i += V32F_N)
            v_store_32f(r->dst + i, value(op, r, i, t));
        if (++c == rows)
            break;
        row_terms(op, r, c, period, lanes, next);
        if (i < end) {
            const v32m this = v_gt_32i(v_set_32i((int32_t)(end - i)), count);
            SN_UNROLL for (int k = 0; k < TERMS; ++k) mixed[k] = v_select_32f(this, t[k], next[k]);
            v_store_32f(r->dst + i, value(op, r, i, mixed));
            i += V32F_N;
        }
        SN_UNROLL for (int k = 0; k < TERMS; ++k) t[k] = next[k];
    }
    if (i < all)
        tail(op, r, i, all - i, t);
}

/* Maximum length of a plan: whole cycles of positions in a short row, at least four vectors, at most its size or 6. */
enum { PLAN = V32F_N + 2 };

/* Offsets of the coefficients of these vectors, relative to those of the row in which the first vector begins, and the
 * index of each lane into them. */
struct plan {
    int32_t lanes[PLAN][V32F_N] SN_ALIGNED;
    size_t at[PLAN];
    size_t vectors, terms; /* the pattern repeats after this many coefficients */
};

/* The first vector begins at value `first` of a row. */
static void make_plan(size_t size, size_t period, size_t first, struct plan * plan)
{
    int32_t from[2 * V32F_N];
    for (size_t i = 0, at = 0, c = 0, row = 0; i < size + V32F_N; ++i) {
        from[i] = (int32_t)(row + c);
        c = c + 1 < period ? c + 1 : 0;
        at = at + 1 < size ? at + 1 : 0;
        row += at ? 0 : period;
    }
    size_t k = 0, at = first, row = 0;
    do {
        v_store_32i(plan->lanes[k], v_load_32i(from + at));
        plan->at[k++] = row;
        for (at += V32F_N; at >= size; at -= size)
            row += period;
    } while (at != first || k < 4);
    plan->vectors = k;
    plan->terms = row;
}

/* size < V32F_N: a vector needs fewer than V32F_N coefficients, which are consecutive. */
SN_INLINE void short_rows(enum sn_channelwise_op op, struct run * r, size_t rows, size_t size, size_t period)
{
    const size_t all = rows * size, head = aligned_head(r->dst, all);
    size_t left = rows * period; /* coefficients */
    struct plan plan;
    make_plan(size, period, 0, &plan);
    if (head) {
        SN_UNROLL for (int k = 0; k < per_channel(op); ++k)
            r->t[k] = v_lookup_32f(v_load_tail_32f(r->p[k], sn_min(left, V32F_N)), v_load_32i(plan.lanes[0]));
        tail(op, r, 0, head, r->t);
        SN_UNROLL for (int k = 0; k < per_channel(op); ++k) r->p[k] += head / size * period;
        left -= head / size * period;
        make_plan(size, period, head % size, &plan);
    }
    size_t i = head;
    for (; i + plan.vectors * V32F_N <= all && left >= plan.terms + V32F_N; left -= plan.terms) {
        for (size_t v = 0; v < plan.vectors; ++v, i += V32F_N) {
            const v32i lanes = v_load_32i(plan.lanes[v]);
            SN_UNROLL for (int k = 0; k < per_channel(op); ++k)
                r->t[k] = v_lookup_32f(v_load_32f(r->p[k] + plan.at[v]), lanes);
            v_store_32f(r->dst + i, value(op, r, i, r->t));
        }
        SN_UNROLL for (int k = 0; k < per_channel(op); ++k) r->p[k] += plan.terms;
    }
    for (size_t v = 0, at = 0; i < all; i += V32F_N) {
        const v32i lanes = v_load_32i(plan.lanes[v]);
        const size_t n = sn_min(left - at - plan.at[v], V32F_N);
        SN_UNROLL for (int k = 0; k < per_channel(op); ++k)
            r->t[k] = v_lookup_32f(v_load_tail_32f(r->p[k] + at + plan.at[v], n), lanes);
        tail(op, r, i, sn_min(all - i, V32F_N), r->t);
        if (++v == plan.vectors) {
            v = 0;
            at += plan.terms;
        }
    }
}

/* ---- other periods */

/* The least multiple of the period that is a whole number of vectors, if it fits in a table and is faster; else the period. */
static size_t table_period(size_t period, size_t size)
{
    size_t cycle = period;
    while (cycle % V32F_N)
        cycle += cycle;
    return cycle <= TABLE && size >= 4 * cycle ? cycle : period;
}

/* `size` coefficients from number `first` on, cyclically; writes up to a vector more. */
static void make_table(const sn_32f * p, size_t period, size_t first, size_t size, sn_32f * table)
{
    memcpy(table, p + first, (period - first) * sizeof(float));
    memcpy(table + period - first, p, first * sizeof(float));
    for (size_t i = period; i < period + V32F_N; ++i)
        table[i] = table[i - period];
    for (size_t j = 0; j < period; j += V32F_N) {
        const v32f x = v_load_32f(table + j);
        for (size_t i = period + j; i < size; i += period)
            v_store_32f(table + i, x);
    }
}

/* Groups begin .. end - 1, with the coefficients of tables of a cycle; returns the position in these after the last one. */
SN_INLINE size_t cyclic_groups(enum sn_channelwise_op op, struct run * r, const sn_32f * const * table, size_t cycle,
                               size_t begin, size_t end, bool stream)
{
    const size_t step = STEP % cycle;
    size_t offset = 0;
    for (size_t i = begin; i + STEP <= end; i += STEP) {
        group(op, r, table, offset, i, stream);
        offset += step;
        offset -= offset >= cycle ? cycle : 0;
    }
    return offset;
}

SN_INLINE void periodic(enum sn_channelwise_op op, struct run * r, size_t size, size_t period, bool stream)
{
    float table[TERMS][TABLE + STEP + V32F_N] SN_ALIGNED;
    const sn_32f * at[TERMS];
    const size_t head = aligned_head(r->dst, size), cycle = table_period(period, size), first = head % period;
    SN_UNROLL for (int k = 0; k < per_channel(op); ++k) {
        make_table(r->p[k], period, first, cycle + STEP, table[k]);
        at[k] = table[k] + (first ? period - first : 0);
    }
    if (head)
        arrays(op, r, at, 0, head);
    SN_UNROLL for (int k = 0; k < per_channel(op); ++k) at[k] = table[k];
    const size_t offset = stream ? cyclic_groups(op, r, at, cycle, head, size, true)
                                 : cyclic_groups(op, r, at, cycle, head, size, false);
    SN_UNROLL for (int k = 0; k < per_channel(op); ++k) at[k] += offset;
    arrays(op, r, at, size - (size - head) % STEP, size);
}

/* One row, of any period. A table is faster if there are many periods, or fewer if it avoids tails. */
SN_INLINE void row(enum sn_channelwise_op op, struct run * r, size_t size, size_t period, bool stream)
{
    if (period <= TABLE && size >= (period % V32F_N ? 4 : 16) * period)
        periodic(op, r, size, period, stream);
    else
        for (size_t i = 0; i < size; i += period)
            arrays(op, r, r->p, i, i + period);
}

/* ---- concatenated pixels of two sources, see kernels/concat.h */

/* Values of the pixels of a plan: 6 vectors, or V32F_N. */
enum { JOINED_VALUES = V32F_N * CONCAT_PLAN };

/* The coefficients, including scalars, of vectors that begin at any position in a narrow pixel. */
SN_INLINE void joined_terms(enum sn_channelwise_op op, const struct sn_channelwise_rows * half, float list[][2 * V32F_N])
{
    const size_t first = half[0].period, pixel = first + half[1].period;
    for (size_t i = 0, at = 0; i < pixel + V32F_N; ++i) {
        const struct sn_channelwise_rows * h = &half[at >= first];
        const float single[] = {h->s, h->t};
        SN_UNROLL for (int k = 0; k < TERMS; ++k)
            list[k][i] = k < per_channel(op) ? h->p[k][at >= first ? at - first : at] : single[k - per_channel(op)];
        at = at + 1 < pixel ? at + 1 : 0;
    }
}

/* As concat_plan(), for a pixel that contains the values of one source twice: one vector of the source holds all the values
 * of a vector of dst. */
static void duplicate_plan(size_t size, struct concat_plan * plan)
{
    const size_t pixel = 2 * size;
    int32_t list[2 * V32F_N];
    for (size_t i = 0, at = 0, row = 0; i < pixel + V32F_N; ++i) {
        list[i] = (int32_t)(row + (at < size ? at : at - size));
        at = at + 1 < pixel ? at + 1 : 0;
        row += at ? 0 : size;
    }
    size_t k = 0, at = 0, q = 0;
    do {
        const size_t begin = at < size ? 0 : at - size;
        v_store_32i(plan->lanes[k], v_sub_32i(v_load_32i(list + at), v_set_32i((int32_t)begin)));
        plan->a[k] = q * size + begin;
        plan->b[k++] = 0;
        q += (at + V32F_N) / pixel;
        at = (at + V32F_N) % pixel;
    } while (at || k < 4);
    plan->vectors = k;
    plan->pixels = q;
}

/* Vector v of the plan: results to dst, values to `copy` unless it is NULL. FUSED_4 has one source, used twice. */
SN_INLINE void joined_vector(enum sn_channelwise_op op, const struct concat_plan * plan, size_t v, const sn_32f * a,
                             const sn_32f * b, float terms[][CONCAT_PLAN][V32F_N], sn_32f * dst, sn_32f * copy)
{
    v32f t[TERMS], x = v_load_32f(a + plan->a[v]);
    SN_UNROLL for (int k = 0; k < TERMS; ++k) t[k] = v_load_32f(terms[k][v]);
    if (op == SN_FUSED_4)
        x = v_lookup_32f(x, v_load_32i(plan->lanes[v]));
    else
        x = concat_lanes(plan->lanes[v], x, v_load_32f(b + plan->b[v]));
    v_store_32f(dst + v * V32F_N, apply(op, x, v_zero_32f(), t));
    if (copy)
        v_store_32f(copy + v * V32F_N, x);
}

/* Pixels of at most V32F_N values; neither half is empty. */
SN_INLINE void joined_narrow(enum sn_channelwise_op op, const struct sn_channelwise_rows * half, size_t number, sn_32f * dst,
                             sn_32f * copy)
{
    const size_t aSize = half[0].period, bSize = half[1].period, pixel = aSize + bSize;
    const sn_32f * a = half[0].src, * b = half[1].src;
    float list[TERMS][2 * V32F_N], terms[TERMS][CONCAT_PLAN][V32F_N] SN_ALIGNED;
    struct concat_plan plan;
    if (op == SN_FUSED_4)
        duplicate_plan(aSize, &plan);
    else
        concat_plan(aSize, bSize, &plan);
    joined_terms(op, half, list);
    for (size_t v = 0; v < plan.vectors; ++v)
        SN_UNROLL for (int k = 0; k < TERMS; ++k) v_store_32f(terms[k][v], v_load_32f(list[k] + v * V32F_N % pixel));
    /* Pixels covered by the reads beyond those of an iteration: less than a vector of each source. */
    const size_t beyond = sn_ceil_div(V32F_N, sn_min(aSize, bSize));
    for (; number >= plan.pixels + beyond; number -= plan.pixels) {
        for (size_t v = 0; v < plan.vectors; ++v)
            joined_vector(op, &plan, v, a, b, terms, dst, copy);
        a += plan.pixels * aSize;
        b += plan.pixels * bSize;
        dst += plan.pixels * pixel;
        copy += copy ? plan.pixels * pixel : 0;
    }
    /* The last pixels are processed in a buffer that has space after them. */
    float buffer[4][JOINED_VALUES + V32F_N] = {{0}};
    while (number) {
        const size_t n = sn_min(number, plan.pixels);
        memcpy(buffer[0], a, n * aSize * sizeof(float));
        memcpy(buffer[1], b, n * bSize * sizeof(float));
        for (size_t v = 0; v * V32F_N < n * pixel; ++v)
            joined_vector(op, &plan, v, buffer[0], buffer[1], terms, buffer[2], buffer[3]);
        memcpy(dst, buffer[2], n * pixel * sizeof(float));
        a += n * aSize;
        b += n * bSize;
        dst += n * pixel;
        if (copy) {
            memcpy(copy, buffer[3], n * pixel * sizeof(float));
            copy += n * pixel;
        }
        number -= n;
    }
}

/* A row of one half. With `overrun` all of it is whole vectors; the coefficients of the last one come from `last`. */
SN_INLINE void joined_row(enum sn_channelwise_op op, struct run * r, size_t size, const float last[][V32F_N], bool overrun)
{
    const size_t whole = overrun ? size - size % V32F_N : size;
    arrays(op, r, r->p, 0, whole);
    if (overrun && whole < size) {
        SN_UNROLL for (int k = 0; k < per_channel(op); ++k) r->t[k] = v_load_32f(last[k]);
        v_store_32f(r->dst + whole, value(op, r, whole, r->t));
    }
    r->src += size;
}

SN_INLINE void joined_wide(enum sn_channelwise_op op, const struct sn_channelwise_rows * half, size_t number, sn_32f * dst)
{
    const size_t size[2] = {half[0].period, half[1].period}, pixel = size[0] + size[1];
    struct run a = run_of(op, &half[0]), b = run_of(op, &half[1]);
    float last[2][TERMS][V32F_N];
    SN_UNROLL for (int k = 0; k < per_channel(op); ++k) {
        for (size_t h = 0; h < 2; ++h) {
            const size_t n = size[h] % V32F_N;
            v_store_32f(last[h][k], v_load_tail_32f(half[h].p[k] + size[h] - n, n));
        }
    }
    /* The last pixels, see concat_wide(); all of them if one half is empty. */
    const size_t least = sn_min(size[0], size[1]);
    const size_t cut = least ? sn_min(number, sn_ceil_div(V32F_N - 1, least)) : number;
    for (size_t q = 0; q < number; ++q, dst += pixel) {
        const bool overrun = q < number - cut;
        a.dst = dst;
        b.dst = dst + size[0];
        if (overrun) {
            joined_row(op, &a, size[0], last[0], true);
            joined_row(op, &b, size[1], last[1], true);
        } else {
            joined_row(op, &a, size[0], last[0], false);
            joined_row(op, &b, size[1], last[1], false);
        }
    }
}

SN_INLINE void joined(enum sn_channelwise_op op, const struct sn_channelwise_rows * half, size_t number, sn_32f * dst,
                      sn_32f * copy)
{
    const size_t a = half[0].period, b = half[1].period;
    if (a && b && a + b <= V32F_N) {
        joined_narrow(op, half, number, dst, copy);
        return;
    }
    joined_wide(op, half, number, dst);
    if (copy)
        concat_32f(half[0].src, a, half[1].src, b, number, copy);
}

/* ---- all of them */

SN_INLINE void layer(enum sn_channelwise_op op, const struct sn_channelwise_rows * rows)
{
    const size_t size = rows->size, period = rows->period;
    const bool stream = rows->stream && can_align(rows->dst, size);
    struct run r = run_of(op, rows);
    const bool divides = period <= V32F_N && (period & (period - 1)) == 0;
    if (divides && period < size) {
        if (rows->rows == 1 || size >= V32F_N)
            full_rows(op, &r, rows->rows, size, period, stream);
        else
            short_rows(op, &r, rows->rows, size, period);
    } else {
        for (size_t c = 0; c < rows->rows; ++c) {
            row(op, &r, size, period, stream);
            r.src += size;
            r.src1 += op == SN_FUSED_8 ? size : 0;
            r.dst += size;
            SN_UNROLL for (int k = 0; k < per_channel(op); ++k) r.p[k] += period;
        }
    }
    if (stream)
        v_fence();
}

#define LAYER(name, op)                                                                                                     \
    static void name(const struct sn_channelwise_rows * rows) { layer(op, rows); }

LAYER(add_bias, SN_ADD_BIAS)
LAYER(scale, SN_SCALE)
LAYER(scale_bias, SN_SCALE_BIAS)
LAYER(prelu_layer, SN_PRELU)
LAYER(fused_0, SN_FUSED_0)
LAYER(fused_1, SN_FUSED_1)
LAYER(fused_2, SN_FUSED_2)
LAYER(fused_3, SN_FUSED_3)
LAYER(fused_4, SN_FUSED_4)
LAYER(fused_8, SN_FUSED_8)
LAYER(fused_9, SN_FUSED_9)

static void joined_fused_4(const struct sn_channelwise_rows half[2], size_t number, sn_32f * dst, sn_32f * copy)
{
    (void)copy;
    joined(SN_FUSED_4, half, number, dst, NULL);
}

static void joined_fused_9(const struct sn_channelwise_rows half[2], size_t number, sn_32f * dst, sn_32f * copy)
{
    joined(SN_FUSED_9, half, number, dst, copy);
}

SN_INSTALL(channelwise, channelwise)
{
    const sn_channelwise_rows_fn layers[SN_CHANNELWISE_OPS] = {
        [SN_ADD_BIAS] = add_bias, [SN_SCALE] = scale,     [SN_SCALE_BIAS] = scale_bias, [SN_PRELU] = prelu_layer,
        [SN_FUSED_0] = fused_0,   [SN_FUSED_1] = fused_1, [SN_FUSED_2] = fused_2,       [SN_FUSED_3] = fused_3,
        [SN_FUSED_4] = fused_4,   [SN_FUSED_8] = fused_8, [SN_FUSED_9] = fused_9,
    };
    memcpy(slots->rows, layers, sizeof(layers));
    slots->joined[0] = joined_fused_4;
    slots->joined[1] = joined_fused_9;
    slots->concat = concat_32f;
}
