/*
 * Quantised depthwise convolution of kernels other than those of lines_8i.h, whose joined lines it has too. Expects
 * joined_8i.h.
 *
 * For each block, one to four rows are computed along the image: those whose inputs are in `lines` lines, or fewer at its end.
 * Columns of these lines are joined once, for all their outputs, into a buffer; lines that a row does not see have weights of
 * 0. The sums of eight outputs, of all rows and of several pixels, are then in registers: a step takes one joined vector for
 * each pixel, and one vector of weights for each row.
 *
 * With vpdpbusd, 64 results of 5x5 take 40 products, 20 or 30 loads, 4 zips, and 46 instructions for the conversion to bytes;
 * by taps, it was 25 loads, 56 zips and 28 products. 240x28x28 took 0.6 of the time on Zen 4 (avx2: 0.4), 96x56x56 by 7x7
 * 0.53. Loops without a buffer, unrolled for each kernel, were as fast, in 0.4 MB of code for each level. Fewer rows at the end
 * take 0.4 of the time of as many as elsewhere, of which one was stored: 200x2x96 0.37, 480x3x80 0.42 on Zen 5.
 */
#ifndef SN_KERNELS_DEPTHWISE_COLUMNS_8I_H
#define SN_KERNELS_DEPTHWISE_COLUMNS_8I_H

#include "kernels/depthwise/block_8i.h"

enum { MOST_ROWS = 4 };

/*
 * Pixels of a single row whose sums are in registers, where they leave fewer of these unused than SUMS: 3x1088x13x13 by 3x3 with
 * stride 3 takes 0.83 to 1 of the time, 256x28x28 0.73 to 0.96, 256x20x20 by 7x7 with stride 2 0.73 to 0.92 (Xeon with AMX).
 */
enum { FEWER = 5 };

SN_INLINE size_t pixels_of_row(size_t count)
{
    return sn_ceil_div(count, FEWER) * FEWER < sn_ceil_div(count, SUMS) * SUMS ? FEWER : SUMS;
}

/* The pixels whose sums are in registers with those of so many rows. */
SN_INLINE size_t pixels_of(size_t rows) { return SUMS / (rows == 3 ? MOST_ROWS : rows); }

/* The outputs of so many rows that are computed from the buffer: whole steps of pixels. */
SN_INLINE size_t most_of(const struct columns * c, size_t rows)
{
    const size_t outputs = c->kernelX < c->held ? (c->held - c->kernelX) / c->strideX + 1 : 0;
    return outputs / pixels_of(rows) * pixels_of(rows);
}

static struct columns columns_of(size_t kernelY, size_t kernelX, size_t strideY, size_t strideX)
{
    struct columns c = {.strideX = strideX, .kernelX = kernelX};
    const size_t lines = sn_ceil_div(kernelY, FOUR_LINES) * FOUR_LINES;
    c.groups = lines / JOINED;
    c.steps = kernelX * c.groups;
    c.held = BUFFER / (VECTORS * c.groups * V8U_N);
    c.rows = sn_min((lines - kernelY) / strideY + 1, MOST_ROWS);
    c.most = most_of(&c, c.rows);
    return c;
}

static bool fit_columns(const struct columns * c) { return c->groups * JOINED <= LINES && c->most; }

/* ---- weights: for each block [vector][step][row][lane][number] */

static size_t columns_weights(const struct columns * c) { return VECTORS * c->steps * c->rows * V8U_N; }

static size_t columns_size(const struct columns * c, size_t channels)
{
    return columns_weights(c) * (channels / V8U_N + 2);
}

static void columns_pack(const struct columns * c, const struct sn_convolution_parameters * p, const int8_t * weight,
                         uint8_t * block)
{
    const size_t taps = p->kernelY * p->kernelX, channels = p->dstC;
    size_t n;
    for (size_t at = 0; at < channels; at += n, block += columns_weights(c)) {
        n = block_channels(channels, &at);
        for (size_t i = 0; i < n * taps * c->rows * 2; ++i) {
            const size_t second = i % 2, row = i / 2 % c->rows, t = i / 2 / c->rows % taps, channel = i / 2 / c->rows / taps;
            const size_t line = row * p->strideY + t / p->kernelX, byte = in_block(n, second, channel);
            const size_t step = t % p->kernelX * c->groups + line / JOINED;
            const size_t vector = (place(byte) / V32F_N * c->steps + step) * c->rows + row;
            put_number(block, (vector * V32F_N + place(byte) % V32F_N) * JOINED + line % JOINED,
                       weight[p->srcF == SN_NCHW ? (at + channel) * taps + t : t * channels + at + channel]);
        }
    }
}

/* ---- columns */

/* The least stride with which the lines of the next rows, or most of them, are others: they are fetched into the L1 cache.
 * Layers with strides of 3 and 4 take 0.94 to 0.99 of the time. */
enum { FAR = 3 };

/* Joins `count` columns of four lines from x on; those of a vector are `next` bytes apart in the buffer. */
SN_INLINE void join_lines(const struct block * b, size_t first, size_t x, size_t count, uint8_t * to, size_t vector, size_t next,
                          enum kind kind)
{
    const size_t each = b->two ? b->channels : 0, width = b->d->srcColumns;
    size_t at[FOUR_LINES];
    const size_t ahead = b->d->strideY >= FAR ? b->rows * b->d->strideY * b->d->srcStepY : 0;
    SN_UNROLL for (size_t l = 0; l < FOUR_LINES; ++l) at[l] = x * b->step[first + l];
    for (size_t i = 0; i < count; ++i, ++x, to += next) {
        v8u line[FOUR_LINES];
        SN_UNROLL for (size_t l = 0; l < FOUR_LINES; ++l)
        {
            line[l] = x < width ? load_line(b, b->begin[first + l] + at[l], each, kind) : v_load_8u(b->padding);
            if (ahead)
                SN_PREFETCH(b->begin[first + l] + at[l] + ahead);
            at[l] += b->step[first + l];
        }
        SN_UNROLL for (size_t k = 0; k < VECTORS; ++k)
        {
            v32i joint[GROUPS];
            joined(line, (int)k, joint);
            SN_UNROLL for (size_t g = 0; g < GROUPS; ++g) v_store_32i(to + k * vector + g * V8U_N, joint[g]);
        }
    }
}

/* Joins `count` columns from x on into the buffer: [vector][column][group]. */
SN_INLINE void join_columns(struct block * b, const struct columns * c, size_t x, size_t count, enum kind kind)
{
    const size_t column = c->groups * V8U_N;
    for (size_t q = 0; q < c->groups / GROUPS; ++q)
        join_lines(b, q * FOUR_LINES, x, count, b->columns + q * GROUPS * V8U_N, c->held * column, column, kind);
}

/* ---- sums and results */

/* The sums of a vector of channels, of the first `rows` rows that have weights: column x[0], of the first pixel, is at `x`. */
SN_INLINE void sum_columns(const struct columns * c, const uint8_t * x, const uint8_t * weight, size_t rows, size_t pixels,
                           v32i sum[SUMS])
{
    const size_t next = c->strideX * c->groups * V8U_N;
    SN_UNROLL for (size_t i = 0; i < rows * pixels; ++i) sum[i] = v_set_32i(0);
    for (size_t t = 0; t < c->steps; ++t, x += V8U_N, weight += c->rows * V8U_N) {
        v32i in[SUMS];
        SN_UNROLL for (size_t p = 0; p < pixels; ++p) in[p] = v_load_32i(x + p * next);
        SN_UNROLL for (size_t r = 0; r < rows; ++r)
        {
            const v32i w = v_load_32i(weight + r * V8U_N);
            SN_UNROLL for (size_t p = 0; p < pixels; ++p) sum[r * pixels + p] = joined_dot(sum[r * pixels + p], in[p], w);
        }
    }
}

/* Stores an output from its sums or integers. */
SN_INLINE void store_output(const struct block * b, const int32_t * from, uint8_t * dst, enum kind kind)
{
    if (kind == ANY_RESULT) {
        store_any(b, from, dst);
        return;
    }
    v32i result[VECTORS];
    SN_UNROLL for (int k = 0; k < VECTORS; ++k) result[k] = v_load_32i(from + k * (int)V32F_N);
    store_bytes(b, limited(b, result, kind), dst, kind);
}

/* Computes `count` outputs of each row, the first of which begins at the first column of the buffer. */
SN_INLINE void compute_columns(struct block * b, const struct columns * c, uint8_t * dst, size_t count, size_t rows,
                               size_t pixels, enum kind kind)
{
    const size_t right = b->d->dstStepX, next = c->strideX * c->groups * V8U_N;
    for (size_t i = 0; i < count; i += pixels) {
        for (size_t k = 0; k < VECTORS; ++k) {
            v32i sum[SUMS];
            sum_columns(c, b->columns + k * c->held * c->groups * V8U_N + i * next,
                        b->weight + k * c->steps * c->rows * V8U_N, rows, pixels, sum);
            SN_UNROLL for (size_t j = 0; j < rows * pixels; ++j)
                v_store_32i(b->sums + (j * VECTORS + k) * V32F_N,
                            kind == ANY_RESULT ? sum[j] : converted(b, sum[j], (int)k, kind));
        }
        for (size_t p = 0; p < sn_min(pixels, count - i); ++p)
            for (size_t r = 0; r < sn_min(rows, b->rows); ++r)
                store_output(b, b->sums + (r * pixels + p) * V8U_N, dst + r * b->below + (i + p) * right, kind);
    }
}

/* ---- loops */

SN_INLINE void run_columns(struct block * b, enum kind kind)
{
    const struct sn_depthwise_run_8i * d = b->d;
    const struct columns * c = &b->by;
    const size_t of_few = b->rows < c->rows ? most_of(c, b->rows) : 0;
    const size_t rows = of_few ? b->rows : c->rows, most = of_few ? of_few : c->most;
    size_t n;
    for (size_t x = 0; x < d->columns; x += n) {
        n = sn_min(d->columns - x, most);
        /* No column of an output that is not stored: 3x1088x13x13 by 3x3 with stride 3 takes 0.87 to 0.89 of the time. */
        join_columns(b, c, x * c->strideX - d->left, (n - 1) * c->strideX + c->kernelX, kind);
        uint8_t * dst = b->dst + x * d->dstStepX;
        switch (rows) {
        case 1:
            if (kind != ANY_RESULT && pixels_of_row(n) == FEWER)
                compute_columns(b, c, dst, n, 1, FEWER, kind);
            else
                compute_columns(b, c, dst, n, 1, SUMS, kind);
            break;
        case 2: compute_columns(b, c, dst, n, 2, SUMS / 2, kind); break;
        case 3: compute_columns(b, c, dst, n, 3, SUMS / 4, kind); break;
        default: compute_columns(b, c, dst, n, 4, SUMS / 4, kind); break;
        }
    }
}

#define COLUMNS(name, kind)                                                                                                 \
    static __attribute__((noinline, unused)) void name(struct block * b) { run_columns(b, kind); }
COLUMNS(columns_any, ANY_RESULT)
COLUMNS(columns_few, FEW_CHANNELS)
COLUMNS(columns_half, BOUNDED_HALF)
COLUMNS(columns_whole, BOUNDED)
COLUMNS(columns_plain, PLAIN)
static const sweep_fn columns_sweep[KINDS] = {columns_any, FEW_FN(columns_few, columns_any), columns_half, columns_whole,
    columns_half, PLAIN_FN(columns_plain, columns_whole)};

static void run_all_columns(struct block * b)
{
    const struct sn_depthwise_run_8i * d = b->d;
    const sweep_fn fn = columns_sweep[kind_of(b)];
    b->by = columns_of(d->kernelY, d->kernelX, d->strideY, d->strideX);
    for (size_t y = 0; y < d->rows;)
        y = run_rows(b, y, b->by.rows, fn);
}

#endif
