/*
 * Quantised depthwise convolution of 3x3, stride 1 or 2, as a template. The file that includes this has defined
 *
 *   JOINED                        how many numbers a 32-bit lane holds: 4 bytes, or 2 of 16 bits
 *   joined(from, at, n, to)       n lanes, V8U_N or less: lane i has byte at + i of each of JOINED addresses; stores
 *                                 whole vectors
 *   joined_dot(sum, x, w)         sum, and in each lane the products of the numbers of x with those of w
 *
 * First, numbers that are neighbours in the image but belong to the same channel are joined, into a ring that stays in the
 * first cache: group g of it has the lines from 2 * g on, padding included. By twos they are lines below each other; a
 * kernel has 2 groups of 3 columns. By fours, for stride 1, four lines: one group of 3 columns, which serves two output
 * rows, whose weights begin in the first or the second line; for stride 2, squares of 2 lines and 2 columns: a kernel has
 * 2 x 2 of them.
 *
 * Then, one vector of channels after the other so that weights and constants stay in registers, two pixels of two rows
 * make a vector of bytes. What limits it with vpdpbusd is the number of instructions: for 64 results 12 products, 20 steps
 * from sums to bytes and 8 shuffles take 22 cycles, and joining 4 or 8 more; 31 to 36 are reached with stride 1. The
 * multiply-adds of the float form take 36. A loop over all rows of a part, without the mispredicted ends of rows, and other
 * sizes of the ring have gained nothing.
 */
#ifndef SN_KERNELS_DEPTHWISE_8I_H
#define SN_KERNELS_DEPTHWISE_8I_H

#include <string.h>

#include "core/convolution_8i.h"
#include "kernels/result_8i.h"

/* The outputs that are computed together, and how many vectors of weights a vector of channels has. */
enum { ROWS = 2, COLUMNS = 2, WEIGHTS = ROWS * 12 / JOINED };

/* The most columns of the ring that they read. */
enum { WINDOW = 5 };

/* Whether registers suffice for the sums of the next outputs beside those that become results. */
enum { AHEAD = V32F_N == 16 };

/* What a kernel is made of in the ring. */
#define GROUPS(stride) (JOINED == 4 && (stride) == 1 ? 1 : 2)
#define TAPS(stride) (JOINED == 4 && (stride) == 2 ? 2 : 3)
#define STEP(stride) (JOINED == 4 ? 1 : (stride)) /* columns of the ring between outputs */

/* Bytes of the ring; what is stored may end behind it, as may what is loaded. */
enum { RING = 24 * 1024, SLACK = 8 * V8U_N };

SN_INLINE v32i joined_dot(v32i sum, v32i x, v32i w);
SN_INLINE void joined(const uint8_t * const * from, size_t at, size_t n, uint8_t * to);

/* ---- weights: for each vector of channels [row of two, for stride 1][group][column][lane][number] */

static size_t lines_size(size_t channels) { return WEIGHTS * V8U_N * sn_ceil_div(channels, V32F_N); }

/* Which vector has tap (ky, kx) for a row, and which number of a lane it is. */
static size_t vector_of(size_t row, size_t ky, size_t kx, size_t stride, size_t * number)
{
    if (TAPS(stride) == 2) {
        *number = ky % 2 * 2 + kx % 2;
        return ky / 2 * 2 + kx / 2;
    }
    *number = (ky + row) % JOINED;
    return (row * GROUPS(stride) + (ky + row) / JOINED) * 3 + kx;
}

static void lines_pack(const int8_t * weight, bool planes, size_t stride, size_t channels, void * packed)
{
    for (size_t c = 0; c < channels; ++c)
        for (size_t row = 0; row < (stride == 1 ? ROWS : 1); ++row)
            for (size_t t = 0; t < 9; ++t) {
                size_t number;
                const size_t vector = c / V32F_N * WEIGHTS + vector_of(row, t / 3, t % 3, stride, &number);
                const size_t at = (vector * V32F_N + c % V32F_N) * JOINED + number;
                const int8_t w = weight[planes ? c * 9 + t : t * channels + c];
                if (JOINED == 4)
                    ((int8_t *)packed)[at] = w;
                else
                    ((int16_t *)packed)[at] = w;
            }
}

/* ---- the ring */

/* A part of the outputs whose input fits into the ring: some channels, columns and rows. */
struct part {
    const struct sn_depthwise_run_8i * d;
    size_t first, channels;
    size_t x, columns;
    size_t y, rows;
    size_t kept; /* the group of the ring that is to be the first, or 0 */
    size_t pixel, group; /* bytes between the columns and the groups of the ring */
    uint8_t * ring;
    const uint8_t * none; /* a line of padding */
};

static size_t groups_of(size_t rows, size_t stride)
{
    return (stride == 1 ? sn_ceil_div(rows, 2) : rows) + GROUPS(stride) - 1;
}

static size_t columns_of(size_t columns, size_t stride) { return (columns - 1) * STEP(stride) + TAPS(stride); }

/* n lanes of padding. */
static void fill(const struct part * p, size_t n, uint8_t * to)
{
    const v32i zero = v_set_32i((int32_t)(p->d->zero * (JOINED == 4 ? 0x01010101u : 0x00010001u)));
    for (size_t i = 0; i < n; i += V32F_N)
        v_store_32i(to + 4 * i, zero);
}

/* n bytes of each of JOINED addresses; in ascending order, since stores reach too far. The place behind them. */
SN_INLINE uint8_t * join(const uint8_t * const * from, size_t n, uint8_t * to)
{
    size_t i = 0;
    for (; i + V8U_N <= n; i += V8U_N)
        joined(from, i, V8U_N, to + 4 * i);
    if (i < n)
        joined(from, i, n - i, to + 4 * i);
    return to + 4 * n;
}

/* Which line of the group, and which column behind its own, number k of a lane is. */
SN_INLINE size_t line_of(int k, bool squares) { return (size_t)(squares ? k / 2 : k); }
SN_INLINE size_t column_of(int k, bool squares) { return (size_t)(squares ? k % 2 : 0); }

/* The lines of a group: where each begins, and what lies between its pixels: 0 in one of padding. */
struct lines {
    const uint8_t * begin[JOINED];
    size_t step[JOINED];
};

/* `columns` columns of the ring, from column x of the input on, padding included, n channels of each. */
SN_INLINE void join_columns(const struct part * p, const struct lines * lines, size_t x, size_t columns, size_t n,
                            uint8_t * to, bool squares)
{
    const size_t left = p->d->left, width = p->d->srcColumns;
    const uint8_t * const none = p->none, * begin[JOINED], * from[JOINED];
    size_t step[JOINED];
    SN_UNROLL for (int k = 0; k < JOINED; ++k) begin[k] = lines->begin[k], step[k] = lines->step[k];
    for (; columns; --columns, x += squares ? 2 : 1) {
        SN_UNROLL for (int k = 0; k < JOINED; ++k)
        {
            const size_t at = x + column_of(k, squares) - left; /* huge left of the image */
            from[k] = at < width ? begin[k] + at * step[k] : none;
        }
        to = join(from, n, to);
    }
}

static __attribute__((noinline)) void join_pixels(const struct part * p, const struct lines * lines, size_t x,
                                                  size_t columns, uint8_t * to, bool squares)
{
    if (p->channels == V8U_N && squares)
        join_columns(p, lines, x, columns, V8U_N, to, true);
    else if (p->channels == V8U_N)
        join_columns(p, lines, x, columns, V8U_N, to, false);
    else if (squares)
        join_columns(p, lines, x, columns, p->channels, to, true);
    else
        join_columns(p, lines, x, columns, p->channels, to, false);
}

/* Group g of the ring; of lines in one piece where their pixels follow each other. */
static void join_group(const struct part * p, size_t g)
{
    const struct sn_depthwise_run_8i * d = p->d;
    const size_t y = p->y * d->strideX + 2 * g, x = p->x * d->strideX;
    const size_t columns = columns_of(p->columns, d->strideX);
    const bool squares = JOINED == 4 && d->strideX == 2;
    uint8_t * to = p->ring + g * p->group;
    struct lines lines;
    for (int k = 0; k < JOINED; ++k) {
        const size_t at = y + line_of(k, squares) - d->top; /* huge above the image */
        lines.begin[k] = at < d->srcRows ? d->src + at * d->srcStepY + p->first : p->none;
        lines.step[k] = at < d->srcRows ? d->srcStepX : 0;
    }
    if (squares || d->srcStepX != p->channels) {
        join_pixels(p, &lines, x, columns, to, squares);
        return;
    }
    const size_t left = x < d->left ? sn_min(d->left - x, columns) : 0, first = x + left - d->left;
    const size_t inside = first < d->srcColumns ? sn_min(d->srcColumns - first, columns - left) : 0;
    fill(p, left * p->channels, to);
    for (int k = 0; k < JOINED; ++k)
        lines.begin[k] += first * lines.step[k];
    to = join(lines.begin, inside * p->channels, to + left * p->pixel);
    fill(p, (columns - left - inside) * p->channels, to);
}

/* ---- sums and results */

/* One vector of channels of a part. */
struct lane_8i {
    const struct part * p;
    const uint8_t * ring;
    size_t n;
    const uint8_t * weight;
    uint8_t * dst;
    struct sn_result_8i result;
};

/* What a loop over pixels is an instance for: any result; bytes of tame values, for some lanes or for all; plain ones. */
enum kind { ANY_RESULT, TAME_LANES, TAME, PLAIN };

/* Copies, so that stores of results do not make the compiler read them again. */
struct constants {
    v32i weight[WEIGHTS];
    v32f norm, bias, scale, zero;
    v8u low, high;
    size_t pixel, group; /* steps of the ring */
    size_t right, below; /* and of the results */
    size_t n;
};

/* The sums of `columns` pixels of `rows` rows; the ring is at their first input. */
SN_INLINE void sums_of(const struct constants * c, const uint8_t * ring, v32i sum[ROWS * COLUMNS], int rows, int columns,
                       int stride)
{
    const int groups = GROUPS(stride), taps = TAPS(stride), step = STEP(stride), all = (columns - 1) * step + taps;
    SN_UNROLL for (int i = 0; i < ROWS * COLUMNS; ++i) sum[i] = v_set_32i(0);
    SN_UNROLL for (int g = 0; g < groups; ++g)
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            if (stride == 1 && i > 0) /* all rows have read these */
                continue;
            const uint8_t * line = ring + (size_t)(g + i) * c->group;
            SN_UNROLL for (int t = 0; t < WINDOW; ++t)
            {
                if (t >= all)
                    continue;
                const v32i x = v_load_32i(line + (size_t)t * c->pixel);
                SN_UNROLL for (int j = 0; j < columns; ++j)
                {
                    const int kx = t - j * step, at = g * taps + kx;
                    if (kx < 0 || kx >= taps)
                        continue;
                    v32i * to = sum + i * COLUMNS + j;
                    *to = joined_dot(*to, x, c->weight[at]);
                    if (stride == 1 && rows == 2)
                        to[COLUMNS] = joined_dot(to[COLUMNS], x, c->weight[groups * taps + at]);
                }
            }
        }
}

static __attribute__((noinline)) void store_any(const struct lane_8i * l, const int32_t * sums, uint8_t * dst)
{
    result_rows(sums, 0, &l->result, l->n, dst, 0, 1);
}

/* The results of such sums. */
SN_INLINE void results_of(const struct lane_8i * l, const struct constants * c, v32i x[ROWS * COLUMNS], uint8_t * dst,
                          int rows, int columns, enum kind kind)
{
    SN_ALIGNED int32_t sums[V32F_N];
    SN_ALIGNED uint8_t bytes[V8U_N];
    SN_UNROLL for (int i = 0; i < ROWS * COLUMNS; ++i)
    {
        if (kind == ANY_RESULT || i / COLUMNS >= rows || i % COLUMNS >= columns)
            continue;
        const v32f v = v_add_32f(v_mul_32f(v_cvt_32i_32f(x[i]), c->norm), c->bias), t = v_mul_32f(v, c->scale);
        x[i] = v_cvt_32f_32i(kind == PLAIN ? t : v_add_32f(t, c->zero));
    }
    if (kind >= TAME) {
        const v8u all = v_pack_32i_8u(x[0], x[1], x[2], x[3]);
        v_store_8u(bytes, kind == PLAIN ? all : v_min_8u(v_max_8u(all, c->low), c->high));
    }
    SN_UNROLL for (int i = 0; i < ROWS * COLUMNS; ++i)
    {
        if (i / COLUMNS >= rows || i % COLUMNS >= columns)
            continue;
        uint8_t * to = dst + (size_t)(i / COLUMNS) * c->below + (size_t)(i % COLUMNS) * c->right;
        if (kind >= TAME) {
            memcpy(to, bytes + i * (int)V32F_N, V32F_N);
        } else if (kind == TAME_LANES) {
            v_store_tail_8u(to, v_min_8u(v_max_8u(v_pack_32i_8u(x[i], x[i], x[i], x[i]), c->low), c->high), c->n);
        } else {
            v_store_32i(sums, x[i]);
            store_any(l, sums, to);
        }
    }
}

/* A line of outputs. The sums of two pixels come before the results of the two before them, so that neither waits. */
SN_INLINE void sweep_line(const struct lane_8i * l, const struct constants * c, const uint8_t * ring, uint8_t * dst,
                          int rows, int stride, enum kind kind)
{
    const size_t columns = l->p->columns, step = COLUMNS * STEP(stride) * c->pixel, right = COLUMNS * c->right;
    v32i sum[ROWS * COLUMNS], next[ROWS * COLUMNS];
    if (columns >= COLUMNS) {
        sums_of(c, ring, sum, rows, COLUMNS, stride);
        for (size_t x = columns / COLUMNS; --x; dst += right) {
            ring += step;
            if (!AHEAD)
                results_of(l, c, sum, dst, rows, COLUMNS, kind);
            sums_of(c, ring, next, rows, COLUMNS, stride);
            if (AHEAD)
                results_of(l, c, sum, dst, rows, COLUMNS, kind);
            SN_UNROLL for (int i = 0; i < ROWS * COLUMNS; ++i) sum[i] = next[i];
        }
        results_of(l, c, sum, dst, rows, COLUMNS, kind);
        ring += step;
        dst += right;
    }
    if (columns % COLUMNS) {
        sums_of(c, ring, sum, rows, 1, stride);
        results_of(l, c, sum, dst, rows, 1, kind);
    }
}

/* All rows of the part, `rows` of them at a time from y on, while there are so many. */
SN_INLINE size_t sweep(const struct lane_8i * l, const struct constants * c, size_t y, int rows, int stride, enum kind kind)
{
    for (; y + (size_t)rows <= l->p->rows; y += (size_t)rows)
        sweep_line(l, c, l->ring + (stride == 1 ? y / 2 : y) * c->group, l->dst + y * c->below, rows, stride, kind);
    return y;
}

SN_INLINE void lanes(const struct lane_8i * l, int stride, enum kind kind)
{
    const struct part * p = l->p;
    struct constants c = {.zero = v_set_32f(l->result.zero), .pixel = p->pixel, .group = p->group,
        .right = p->d->dstStepX, .below = p->d->dstStepY, .n = l->n};
    SN_UNROLL for (int i = 0; i < WEIGHTS; ++i) c.weight[i] = v_load_32i(l->weight + i * (int)V8U_N);
    c.norm = v_load_32f(l->result.norm);
    c.bias = v_load_32f(l->result.bias);
    c.scale = v_load_32f(l->result.scale);
    if (kind == TAME || kind == TAME_LANES) {
        SN_ALIGNED uint8_t low[V8U_N], high[V8U_N];
        for (size_t i = 0; i < 4; ++i) {
            memcpy(low + i * V32F_N, l->result.low, V32F_N);
            memcpy(high + i * V32F_N, l->result.high, V32F_N);
        }
        c.low = v_load_8u(low);
        c.high = v_load_8u(high);
    }
    sweep(l, &c, sweep(l, &c, 0, 2, stride, kind), 1, stride, kind);
}

static __attribute__((noinline)) void lanes_1_any(const struct lane_8i * l) { lanes(l, 1, ANY_RESULT); }
static __attribute__((noinline)) void lanes_2_any(const struct lane_8i * l) { lanes(l, 2, ANY_RESULT); }
static __attribute__((noinline)) void lanes_1_some(const struct lane_8i * l) { lanes(l, 1, TAME_LANES); }
static __attribute__((noinline)) void lanes_2_some(const struct lane_8i * l) { lanes(l, 2, TAME_LANES); }
static __attribute__((noinline)) void lanes_1_tame(const struct lane_8i * l) { lanes(l, 1, TAME); }
static __attribute__((noinline)) void lanes_2_tame(const struct lane_8i * l) { lanes(l, 2, TAME); }
static __attribute__((noinline)) void lanes_1_plain(const struct lane_8i * l) { lanes(l, 1, PLAIN); }
static __attribute__((noinline)) void lanes_2_plain(const struct lane_8i * l) { lanes(l, 2, PLAIN); }

static void run_part(const struct part * p)
{
    static void (*const loops[2][4])(const struct lane_8i *) = {{lanes_1_any, lanes_1_some, lanes_1_tame, lanes_1_plain},
                                                                {lanes_2_any, lanes_2_some, lanes_2_tame, lanes_2_plain}};
    const struct sn_depthwise_run_8i * d = p->d;
    const struct sn_result_8i * r = d->result;
    const bool tame = result_is_tame(r);
    const size_t groups = groups_of(p->rows, d->strideX);
    if (p->kept)
        memcpy(p->ring, p->ring + p->kept * p->group, p->group);
    for (size_t g = p->kept ? 1 : 0; g < groups; ++g)
        join_group(p, g);
    for (size_t c = 0; c < p->channels; c += V32F_N) {
        const size_t at = p->first + c;
        struct lane_8i l = {.p = p, .ring = p->ring + 4 * c, .n = sn_min(p->channels - c, V32F_N), .result = *r,
            .weight = (const uint8_t *)d->weight + at / V32F_N * WEIGHTS * V8U_N,
            .dst = d->dst + p->y * d->dstStepY + p->x * d->dstStepX + at * (r->bytes ? 1 : sizeof(float))};
        l.result.norm += at, l.result.bias += at, l.result.scale += at, l.result.low += at, l.result.high += at;
        l.result.slope = r->slope ? r->slope + at : NULL;
        const enum kind whole = l.n < V32F_N ? TAME_LANES : result_is_plain(&l.result, V32F_N) ? PLAIN : TAME;
        loops[d->strideX - 1][tame ? whole : ANY_RESULT](&l);
    }
}

/* Pieces of about equal size, the most that `most` allows. */
static size_t piece(size_t all, size_t most) { return sn_ceil_div(all, sn_ceil_div(all, sn_max(most, 1))); }

static void run_lines(const struct sn_depthwise_run_8i * d)
{
    SN_ALIGNED uint8_t ring[RING + SLACK], none[RING / 4];
    memset(none, d->zero, sizeof(none));
    const size_t block = d->channels % 64 == 0 || d->channels > 256 ? 64 : d->channels;
    /* Two rows at a time; where parts share groups, some more, so that those are few. */
    const size_t stride = d->strideX, shared = GROUPS(stride) - 1, needed = groups_of(sn_min(d->rows, 2), stride);
    const size_t wanted = shared ? sn_min(groups_of(d->rows, stride), 5) : needed;
    for (size_t first = 0; first < d->channels; first += block) {
        struct part p = {.d = d, .first = first, .channels = sn_min(block, d->channels - first), .ring = ring, .none = none};
        p.pixel = 4 * p.channels;
        const size_t fit = RING / (wanted * p.pixel), taps = columns_of(1, stride);
        const size_t wide = piece(d->columns, fit < taps ? 1 : (fit - taps) / STEP(stride) + 1);
        p.group = columns_of(wide, stride) * p.pixel;
        const size_t most = (RING / p.group - shared) * (stride == 1 ? 2 : 1), high = most < 2 ? 1 : most / 2 * 2;
        for (p.x = 0; p.x < d->columns; p.x += wide)
            for (p.y = 0; p.y < d->rows; p.y += high) {
                p.columns = sn_min(wide, d->columns - p.x);
                p.rows = sn_min(high, d->rows - p.y);
                p.kept = p.y > 0 && shared ? groups_of(high, stride) - 1 : 0;
                run_part(&p);
            }
    }
}

#endif
