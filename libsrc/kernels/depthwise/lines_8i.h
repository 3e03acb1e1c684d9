/*
 * Quantised depthwise convolution of 3x3, stride 1 or 2, as a template. Expects joined_8i.h.
 *
 * For each block, two rows (stride 1) or one are computed along the image: a column of four lines is joined, in registers,
 * and added to the sums of the up to three outputs that it contributes to, one of which is then complete. Registers suffice
 * for the sums and weights of one or two of the four vectors, so each piece of the row is processed several times, and the
 * sums of the earlier vectors are buffered.
 *
 * With vpdpbusd the limit is the number of instructions: for two vectors of bytes 24 products, 40 to convert sums to bytes,
 * 6 packs and 8 zips; at two per cycle 20 cycles for 64 results. 25 cycles are reached within lines. A ring of joined lines
 * in the L1 cache took 1.3 times as long, because of additional joining and shuffling of results. Constants in registers,
 * 16-bit buffered values and longer pieces gained nothing. Separate loops for lines without padding, which share an offset,
 * gain 5%; only plain results have them, which in turn gain 1.05 to 1.2 times over results with a zero point and limits.
 * With 16-bit products there are twice as many multiplications, and weights are loaded from memory.
 */
#ifndef SN_KERNELS_DEPTHWISE_LINES_8I_H
#define SN_KERNELS_DEPTHWISE_LINES_8I_H

#include "kernels/depthwise/block_8i.h"

/* The number of weights of a vector of sums. */
enum { WEIGHTS = ROWS * 3 * GROUPS };

/*
 * Vectors that are summed together. Two vectors share some of the steps that join lines; with products of four bytes this
 * gains even if weights must then be loaded from memory (avxvnni: 1.2 times with stride 2, nothing with 1).
 */
enum { SUM_VECTORS = V32F_N == 16 || JOINED == 4 ? 2 : 1 };

enum { BLOCK_WEIGHTS = VECTORS * WEIGHTS * V8U_N };

/* ---- weights: for each block [vector][row][column of the kernel][joined vector][lane][number] */

static size_t lines_size(size_t channels) { return BLOCK_WEIGHTS * (channels / V8U_N + 2); }

/* Stores one weight of a byte of a block. */
static void put_weight(uint8_t * block, size_t byte, size_t row, size_t ky, size_t kx, int8_t weight)
{
    const size_t line = row + ky, vector = place(byte) / V32F_N * WEIGHTS + (row * 3 + kx) * GROUPS + line / JOINED;
    put_number(block, (vector * V32F_N + place(byte) % V32F_N) * JOINED + line % JOINED, weight);
}

static void lines_pack(const struct sn_convolution_parameters * p, const int8_t * weight, uint8_t * block)
{
    const size_t channels = p->dstC;
    const bool planes = p->srcF == SN_NCHW;
    size_t n;
    for (size_t at = 0; at < channels; at += n, block += BLOCK_WEIGHTS) {
        n = block_channels(channels, &at);
        for (size_t i = 0; i < n * 9; ++i) {
            const size_t c = i / 9, t = i % 9;
            const int8_t w = weight[planes ? (at + c) * 9 + t : t * channels + at + c];
            for (size_t k = 0; k < 2 * ROWS; ++k)
                put_weight(block, in_block(n, k / ROWS, c), k % ROWS, t / 3, t % 3, w);
        }
    }
}

/* ---- sums */

/* A column of the image: left of the image `x` wraps to a huge value, and outside it offsets do not point to a pixel. */
struct column {
    size_t x, width;
    size_t each; /* channels of two groups of rows loaded together, or 0 */
    const uint8_t * begin[FOUR_LINES];
    size_t at[FOUR_LINES], step[FOUR_LINES]; /* inner blocks use the first for all lines */
};

SN_INLINE struct column column_at(const struct block * b, size_t x, int rows)
{
    struct column c = {.x = x, .width = b->d->srcColumns, .each = b->two ? b->channels : 0};
    SN_UNROLL for (int i = 0; i < rows + 2; ++i)
    {
        c.begin[i] = b->begin[i];
        c.step[i] = b->step[i];
        c.at[i] = x * c.step[i];
    }
    return c;
}

/* Joins a column for vectors k .. of the sums, and advances to the next. */
SN_INLINE void next_column(const struct block * b, struct column * c, int k, v32i x[SUM_VECTORS][GROUPS], int rows,
                           enum kind kind, bool inner)
{
    v8u line[FOUR_LINES];
    const bool inside = c->x++ < c->width;
    SN_UNROLL for (int i = 0; i < rows + 2; ++i)
    {
        line[i] = inside ? load_line(b, c->begin[i] + c->at[inner ? 0 : i], c->each, kind) : v_load_8u(b->padding);
        if (!inner)
            c->at[i] += c->step[i];
    }
    if (inner)
        c->at[0] += c->step[0];
    if (rows < ROWS)
        line[FOUR_LINES - 1] = line[FOUR_LINES - 2]; /* is multiplied by weights of 0 */
    SN_UNROLL for (int j = 0; j < SUM_VECTORS; ++j) joined(line, k + j, x[j]);
}

/* The sums of an output in each row. */
struct sums {
    v32i v[SUM_VECTORS][ROWS];
};

/* Adds the products with column kx of the kernel. */
SN_INLINE struct sums add_column(struct sums s, v32i x[SUM_VECTORS][GROUPS], v32i w[SUM_VECTORS][WEIGHTS], int kx, int rows)
{
    SN_UNROLL for (int k = 0; k < SUM_VECTORS; ++k)
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int g = 0; g < GROUPS; ++g)
                s.v[k][i] = joined_dot(s.v[k][i], x[k][g], w[k][(i * 3 + kx) * GROUPS + g]);
    return s;
}

/* ---- results */

/* Vectors k .. of an output in each row: buffers them, or, if they are the last, computes the results. */
SN_INLINE void finish(const struct block * b, const struct sums * s, int k, int32_t * partial, uint8_t * dst, size_t below,
                      int rows, enum kind kind)
{
    const bool last = kind != ANY_RESULT && k + SUM_VECTORS == VECTORS;
    v32i result[ROWS][VECTORS];
    SN_UNROLL for (int j = 0; j < SUM_VECTORS; ++j)
        SN_UNROLL for (int i = 0; i < rows; ++i)
            result[i][k + j] = kind == ANY_RESULT ? s->v[j][i] : converted(b, s->v[j][i], k + j, kind);
    SN_UNROLL for (int i = 0; i < rows; ++i, partial += V8U_N)
    {
        if (!last) {
            SN_UNROLL for (int j = k; j < k + SUM_VECTORS; ++j) v_store_32i(partial + j * (int)V32F_N, result[i][j]);
            continue;
        }
        SN_UNROLL for (int j = 0; j < k; ++j) result[i][j] = v_load_32i(partial + j * (int)V32F_N);
        store_bytes(b, limited(b, result[i], kind), dst + (size_t)i * below, kind);
    }
}

static void finish_any(const struct block * b, size_t x, size_t columns, size_t rows)
{
    for (size_t i = 0; i < columns; ++i)
        for (size_t r = 0; r < rows; ++r)
            store_any(b, b->partial + (i * ROWS + r) * V8U_N, b->dst + r * b->below + (x + i) * b->d->dstStepX);
}

/* ---- loops */

/* Computes vectors k .. of `columns` outputs from x on. */
SN_INLINE void sweep(struct block * b, size_t x, size_t columns, int k, int rows, int stride, enum kind kind, bool inner)
{
    static const struct sums nothing;
    const size_t right = b->d->dstStepX, below = b->below;
    const uint8_t * weight = b->weight + k * WEIGHTS * (int)V8U_N;
    uint8_t * dst = b->dst + x * right;
    struct column column = column_at(b, x * (size_t)stride - b->d->left, rows);
    struct sums s = nothing, next = nothing;
    v32i w[SUM_VECTORS][WEIGHTS], in[SUM_VECTORS][GROUPS];
    SN_UNROLL for (int i = 0; i < SUM_VECTORS * WEIGHTS; ++i)
        w[i / WEIGHTS][i % WEIGHTS] = v_load_32i(weight + i * (int)V8U_N);
    SN_UNROLL for (int i = 0; i < 3 - stride; ++i)
    {
        next_column(b, &column, k, in, rows, kind, inner);
        s = add_column(next, in, w, stride == 1 ? 1 : 0, rows);
        next = add_column(nothing, in, w, 0, rows);
    }
    for (size_t i = 0; i < columns; ++i, dst += right) {
        if (stride == 2) {
            next_column(b, &column, k, in, rows, kind, inner);
            s = add_column(s, in, w, 1, rows);
        }
        next_column(b, &column, k, in, rows, kind, inner);
        s = add_column(s, in, w, 2, rows);
        finish(b, &s, k, b->partial + i * ROWS * V8U_N, dst, below, rows, kind);
        s = stride == 1 ? add_column(next, in, w, 1, rows) : add_column(nothing, in, w, 0, rows);
        next = add_column(nothing, in, w, 0, rows);
    }
}

/* Computes a line of outputs. */
SN_INLINE void sweep_line(struct block * b, int rows, int stride, enum kind kind)
{
    size_t n;
    for (size_t x = 0; x < b->d->columns; x += n) {
        n = sn_min(b->d->columns - x, PIECE);
        if (is_plain(kind) && b->inner) {
            SN_UNROLL for (int k = 0; k < VECTORS; k += SUM_VECTORS) sweep(b, x, n, k, rows, stride, kind, true);
        } else {
            SN_UNROLL for (int k = 0; k < VECTORS; k += SUM_VECTORS) sweep(b, x, n, k, rows, stride, kind, false);
        }
        if (kind == ANY_RESULT)
            finish_any(b, x, n, (size_t)rows);
    }
}

/* Instances: two rows, one row, and one row with stride 2. */
#define SWEEPS(name, kind)                                                                                                  \
    static __attribute__((noinline, unused)) void name##_two(struct block * b) { sweep_line(b, 2, 1, kind); }               \
    static __attribute__((noinline, unused)) void name##_one(struct block * b) { sweep_line(b, 1, 1, kind); }               \
    static __attribute__((noinline, unused)) void name##_strided(struct block * b) { sweep_line(b, 1, 2, kind); }
SWEEPS(any, ANY_RESULT)
SWEEPS(few, FEW_CHANNELS)
SWEEPS(bounded_half, BOUNDED_HALF)
SWEEPS(bounded, BOUNDED)
SWEEPS(plain_half, PLAIN_HALF)
SWEEPS(plain, PLAIN)

static const sweep_fn sweep_two[KINDS] = {any_two, FEW_FN(few_two, any_two), bounded_half_two, bounded_two,
    PLAIN_FN(plain_half_two, bounded_half_two), PLAIN_FN(plain_two, bounded_two)};
static const sweep_fn sweep_one[KINDS] = {any_one, FEW_FN(few_one, any_one), bounded_half_one, bounded_one,
    PLAIN_FN(plain_half_one, bounded_half_one), PLAIN_FN(plain_one, bounded_one)};
static const sweep_fn sweep_strided[KINDS] = {any_strided, FEW_FN(few_strided, any_strided), bounded_half_strided,
    bounded_strided,
    PLAIN_FN(plain_half_strided, bounded_half_strided), PLAIN_FN(plain_strided, bounded_strided)};

/* 3x3. */
static void run_lines(struct block * b)
{
    const struct sn_depthwise_run_8i * d = b->d;
    const enum kind kind = kind_of(b);
    size_t y = 0;
    if (d->strideX == 1)
        while (y + ROWS <= d->rows)
            y = run_rows(b, y, ROWS, sweep_two[kind]);
    while (y < d->rows)
        y = run_rows(b, y, 1, (d->strideX == 1 ? sweep_one : sweep_strided)[kind]);
}

#endif
