/*
 * Quantised depthwise convolution of 3x3, stride 1 or 2, as a template, and what other kernels have in common with it
 * (columns_8i.h); joined_8i.h has the multiplications.
 *
 * A block is a vector of bytes, V8U_N channels, whose sums are four vectors. If there are at most half as many channels, the
 * vector also holds those of other rows.
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
#ifndef SN_KERNELS_DEPTHWISE_8I_H
#define SN_KERNELS_DEPTHWISE_8I_H

#include <string.h>

#include "contract/convolution_8i.h"
#include "kernels/result_8i.h"

enum { ROWS = 2, VECTORS = 4, FOUR_LINES = ROWS + 2 };

/* Of other kernels: the most lines, the bytes of the buffer, and the outputs whose sums are in registers. */
enum { LINES = 16, BUFFER = 24 << 10, SUMS = 8 };

/* The number of weights of a vector of sums. */
enum { WEIGHTS = ROWS * 3 * GROUPS };

/*
 * Vectors that are summed together, and the pixels of a piece. Two vectors share some of the steps that join lines; with
 * products of four bytes this gains even if weights must then be loaded from memory (avxvnni: 1.2 times with stride 2,
 * nothing with 1).
 */
enum { SUM_VECTORS = V32F_N == 16 || JOINED == 4 ? 2 : 1, PIECE = 32 };

enum { BLOCK_WEIGHTS = VECTORS * WEIGHTS * V8U_N, HALF = V8U_N / 2 };

/* ---- weights: for each block [vector][row][column of the kernel][joined vector][lane][number] */

/*
 * The number of channels of the block that begins at *at: V8U_N, or half of that. If fewer are left, the block begins
 * earlier, and some channels are computed twice; if there are fewer in total, all of them.
 */
static size_t block_channels(size_t channels, size_t * at)
{
    const size_t left = channels - *at, enough = left <= HALF ? HALF : V8U_N;
    const size_t n = channels >= enough ? enough : sn_min(channels, HALF);
    *at -= left < n ? n - left : 0;
    return n;
}

static size_t lines_size(size_t channels) { return BLOCK_WEIGHTS * (channels / V8U_N + 2); }

/* The position of byte c of a block of n channels, or of the other rows in the same vector. */
static inline size_t in_block(size_t n, size_t second, size_t c) { return n <= HALF ? place_two(second, c) : c; }

/* Stores number `at` of joined weights. */
static void put_number(uint8_t * block, size_t at, int8_t weight)
{
    if (JOINED == 4)
        ((int8_t *)block)[at] = weight;
    else
        ((int16_t *)(void *)block)[at] = weight;
}

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

/* ---- a block */

struct block {
    const struct sn_depthwise_run_8i * d;
    size_t first, channels;
    bool two;                        /* the vectors also hold other rows */
    const uint8_t * weight;
    struct sn_result_8i result;      /* for its first channel */
    const uint8_t * begin[LINES];    /* of each line */
    size_t step[LINES];              /* between its pixels; 0 in a line of padding */
    bool inner;                      /* no line is padding */
    size_t otherSrc;                 /* distance between the inputs of these and the other rows */
    uint8_t * dst;
    size_t below;                    /* distance between the results of rows */
    size_t otherDst;                 /* between those of these and the other rows; as otherSrc, 0 without other rows */
    SN_ALIGNED uint8_t padding[V8U_N]; /* a pixel of it */
    SN_ALIGNED float norm[V8U_N], bias[V8U_N], scale[V8U_N]; /* in the order of lanes */
    SN_ALIGNED uint8_t low[V8U_N], high[V8U_N];
    union {
        SN_ALIGNED int32_t partial[PIECE * ROWS * V8U_N]; /* 3x3 */
        struct {
            SN_ALIGNED uint8_t columns[BUFFER]; /* other kernels */
            SN_ALIGNED int32_t sums[SUMS * V8U_N];
        };
    };
};

/* Variants of the loops: any result; bounded bytes of few channels, of HALF, or of V8U_N; plain results of HALF or V8U_N. */
enum kind { ANY_RESULT, FEW_CHANNELS, BOUNDED_HALF, BOUNDED, PLAIN_HALF, PLAIN, KINDS };

SN_INLINE bool is_plain(enum kind kind) { return kind >= PLAIN_HALF; }
SN_INLINE bool is_whole(enum kind kind) { return kind == BOUNDED || kind == PLAIN; }
SN_INLINE bool is_half(enum kind kind) { return kind == BOUNDED_HALF || kind == PLAIN_HALF; }

/* Repeats the constants over all lanes, in the order of the weights. */
SN_INLINE void repeat_constants(struct block * b, size_t n, size_t times)
{
    const struct sn_result_8i * r = &b->result;
    for (size_t k = 0; k < times; ++k)
        for (size_t c = 0; c < n; c += RUN) {
            const size_t byte = in_block(n, k, c), to = place(byte);
            memcpy(b->norm + to, r->norm + c, RUN * sizeof(float));
            memcpy(b->bias + to, r->bias + c, RUN * sizeof(float));
            memcpy(b->scale + to, r->scale + c, RUN * sizeof(float));
            memcpy(b->low + byte, r->low + c, RUN);
            memcpy(b->high + byte, r->high + c, RUN);
        }
}

static void set_constants(struct block * b)
{
    if (b->two)
        repeat_constants(b, b->channels, 2);
    else
        repeat_constants(b, V8U_N, 1);
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

/* For numbers of channels without loops of their own: a call, because inlined tails make hundreds of kilobytes of code. */
static __attribute__((noinline)) v8u load_some(const uint8_t * p, const uint8_t * q, size_t n) { return load_two(p, q, n); }
static __attribute__((noinline)) void store_some(uint8_t * p, uint8_t * q, v8u v, size_t n) { store_two(p, q, v, n); }

/* The bytes of a line, and those of the other rows' line, of `each` channels, if that is not 0. */
SN_INLINE v8u load_line(const struct block * b, const uint8_t * from, size_t each, enum kind kind)
{
    if (is_whole(kind) || (kind == ANY_RESULT && !each))
        return v_load_8u(from);
    return is_half(kind) ? load_two(from, from + b->otherSrc, HALF) : load_some(from, from + b->otherSrc, each);
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

SN_INLINE void store_bytes(const struct block * b, v8u bytes, uint8_t * dst, enum kind kind)
{
    if (is_whole(kind))
        v_store_8u(dst, bytes);
    else if (is_half(kind))
        store_two(dst, dst + b->otherDst, bytes, HALF);
    else
        store_some(dst, dst + b->otherDst, bytes, b->channels);
}

/* The nearest integers to the results of sums k of a block, with the zero point. */
SN_INLINE v32i converted(const struct block * b, v32i sum, int k, enum kind kind)
{
    const int at = k * (int)V32F_N;
    const v32f norm = v_load_32f(b->norm + at), bias = v_load_32f(b->bias + at), scale = v_load_32f(b->scale + at);
    const v32f v = v_mul_32f(v_add_32f(v_mul_32f(v_cvt_32i_32f(sum), norm), bias), scale);
    return v_cvt_32f_32i(is_plain(kind) ? v : v_add_32f(v, v_set_32f(b->result.zero)));
}

/* The bytes of a block's integers, within limits. */
SN_INLINE v8u limited(const struct block * b, const v32i result[VECTORS], enum kind kind)
{
    const v8u bytes = joined_bytes(result);
    return is_plain(kind) ? bytes : v_min_8u(v_max_8u(bytes, v_load_8u(b->low)), v_load_8u(b->high));
}

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

/* Converts the sums of an output in the order of channels, in the same way as the tile. */
static __attribute__((noinline)) void store_any(const struct block * b, const int32_t * partial, uint8_t * dst)
{
    SN_ALIGNED int32_t sums[V8U_N];
    for (size_t k = 0; k <= b->two; ++k, dst += b->otherDst) {
        for (size_t c = 0; c < b->channels; c += RUN)
            memcpy(sums + c, partial + place(in_block(b->channels, k, c)), RUN * sizeof(*sums));
        result_rows(sums, 0, &b->result, b->channels, dst, 0, 1);
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
    static __attribute__((noinline)) void name##_two(struct block * b) { sweep_line(b, 2, 1, kind); }                       \
    static __attribute__((noinline)) void name##_one(struct block * b) { sweep_line(b, 1, 1, kind); }                       \
    static __attribute__((noinline)) void name##_strided(struct block * b) { sweep_line(b, 1, 2, kind); }
SWEEPS(any, ANY_RESULT)
SWEEPS(few, FEW_CHANNELS)
SWEEPS(bounded_half, BOUNDED_HALF)
SWEEPS(bounded, BOUNDED)
SWEEPS(plain_half, PLAIN_HALF)
SWEEPS(plain, PLAIN)

typedef void (*sweep_fn)(struct block * b);
static const sweep_fn sweep_two[KINDS] = {any_two, few_two, bounded_half_two, bounded_two, plain_half_two, plain_two};
static const sweep_fn sweep_one[KINDS] = {any_one, few_one, bounded_half_one, bounded_one, plain_half_one, plain_one};
static const sweep_fn sweep_strided[KINDS] = {any_strided, few_strided, bounded_half_strided, bounded_strided,
    plain_half_strided, plain_strided};

/*
 * Computes `rows` rows from y on, and as many others with them if none of them needs padding; returns the next row. Of fewer
 * than that many, only the first is stored: the others before it, in the same place.
 */
static size_t run_rows(struct block * b, size_t y, size_t rows, sweep_fn fn)
{
    const struct sn_depthwise_run_8i * d = b->d;
    const size_t line = y * d->strideY - d->top, below = rows * d->strideY; /* wraps to a huge value above the image */
    const size_t lines = (rows - 1) * d->strideY + d->kernelY, all = y + rows <= d->rows ? rows : 1;
    const bool more = b->two && y + 2 * rows <= d->rows && line < d->srcRows && line + below + lines <= d->srcRows;
    SN_UNROLL for (size_t i = 0; i < LINES; ++i)
    {
        const size_t from = line + sn_min(i, lines - 1); /* further lines have weights of 0 */
        const bool inside = from < d->srcRows;
        b->begin[i] = inside ? d->src + from * d->srcStepY + b->first : b->padding;
        b->step[i] = inside ? d->srcStepX : 0;
    }
    b->inner = line < d->srcRows && line + lines <= d->srcRows;
    b->dst = d->dst + y * d->dstStepY + b->first * (b->result.bytes ? 1 : sizeof(float));
    b->below = all == rows ? d->dstStepY : 0;
    b->otherSrc = more ? below * d->srcStepY : 0;
    b->otherDst = more ? rows * d->dstStepY : 0;
    fn(b);
    return y + (more ? 2 : 1) * all;
}

static enum kind kind_of(const struct block * b)
{
    const bool plain = result_is_plain(&b->result, b->channels);
    return !result_is_bounded(&b->result) ? ANY_RESULT
           : b->channels == V8U_N      ? (plain ? PLAIN : BOUNDED)
           : b->channels == HALF       ? (plain ? PLAIN_HALF : BOUNDED_HALF)
                                       : FEW_CHANNELS;
}

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

/* Runs all blocks of channels, whose weights are `bytes` apart. */
static void run_blocks(const struct sn_depthwise_run_8i * d, void (*run)(struct block * b), size_t bytes)
{
    struct block b;
    memset(&b, 0, offsetof(struct block, partial));
    b.d = d;
    b.weight = d->weight;
    memset(b.padding, d->zero, sizeof(b.padding));
    for (size_t at = 0; at < d->channels; at += b.channels, b.weight += bytes) {
        b.channels = block_channels(d->channels, &at);
        b.first = at;
        b.two = b.channels <= HALF;
        b.result = result_from(d->result, b.first);
        set_constants(&b);
        run(&b);
    }
}

#endif
