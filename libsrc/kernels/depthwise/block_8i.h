/*
 * Blocks of channels of quantised depthwise convolution, for lines_8i.h, columns_8i.h and flat_8i.h. Expects joined_8i.h, which
 * has the multiplications.
 *
 * A block is a vector of bytes, V8U_N channels, whose sums are four vectors. If there are at most half as many channels, the
 * vector also holds those of other rows.
 */
#ifndef SN_KERNELS_DEPTHWISE_BLOCK_8I_H
#define SN_KERNELS_DEPTHWISE_BLOCK_8I_H

#include <string.h>

#include "contract/convolution_8i.h"
#include "kernels/result_8i.h"

/* FOUR_LINES are joined. Of 3x3: the rows computed together, and the pixels of a piece. */
enum { VECTORS = 4, FOUR_LINES = 4, ROWS = FOUR_LINES - 2, PIECE = 32, HALF = V8U_N / 2 };

/* Of other kernels: the most lines, the bytes of the buffer, and the outputs whose sums are in registers. */
enum { LINES = 16, BUFFER = 24 << 10, SUMS = 8 };

/* ---- weights */

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

/* ---- a block */

/* How the rows of a kernel other than 3x3 are computed, see columns_8i.h. */
struct columns {
    size_t rows;             /* of outputs whose sums are in registers */
    size_t groups;           /* joined vectors of a column */
    size_t steps;            /* of a sum */
    size_t strideX, kernelX;
    size_t held;             /* columns in the buffer */
    size_t most;             /* outputs that are computed from the buffer, see most_of() */
};

struct block {
    const struct sn_depthwise_run_8i * d;
    struct columns by;               /* of other kernels than 3x3 */
    size_t first, channels;
    bool two;                        /* the vectors also hold other rows */
    const uint8_t * weight;
    struct sn_result_8i result;      /* for its first channel */
    const uint8_t * begin[LINES];    /* of each line */
    size_t step[LINES];              /* between its pixels; 0 in a line of padding */
    bool inner;                      /* no line is padding */
    size_t otherSrc;                 /* distance between the inputs of these and the other rows */
    uint8_t * dst;
    size_t rows;                     /* that are stored */
    size_t below;                    /* distance between their results */
    size_t otherDst;                 /* between those of these and the other rows; as otherSrc, 0 without other rows */
    SN_ALIGNED uint8_t padding[V8U_N]; /* a pixel of it */
    SN_ALIGNED float norm[V8U_N], bias[V8U_N], scale[V8U_N]; /* in the order of lanes */
    SN_ALIGNED int32_t addend[V8U_N]; /* `first` of requantised sums */
    SN_ALIGNED uint8_t low[V8U_N], high[V8U_N];
    union {
        SN_ALIGNED int32_t partial[PIECE * ROWS * V8U_N]; /* 3x3 */
        struct {
            SN_ALIGNED uint8_t columns[BUFFER]; /* other kernels */
            SN_ALIGNED int32_t sums[SUMS * V8U_N];
        };
    };
};

/* Variants of the loops: any result; quick ones of few channels, of HALF, or of V8U_N; plain results of HALF or V8U_N. */
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
            if (r->requantised)
                memcpy(b->addend + to, r->first + c, RUN * sizeof(int32_t));
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

/* ---- inputs */

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
    if (!is_plain(kind) && b->result.requantised)
        return result_requantised(sum, v_load_32i(b->addend + at), norm, v_set_32i(b->result.offset));
    const v32f v = v_mul_32f(v_add_32f(v_mul_32f(v_cvt_32i_32f(sum), norm), bias), scale);
    return v_cvt_32f_32i(is_plain(kind) ? v : v_add_32f(v, v_set_32f(b->result.zero)));
}

/* The bytes of a block's integers, within limits. */
SN_INLINE v8u limited(const struct block * b, const v32i result[VECTORS], enum kind kind)
{
    const v8u bytes = joined_bytes(result);
    return is_plain(kind) ? bytes : v_min_8u(v_max_8u(bytes, v_load_8u(b->low)), v_load_8u(b->high));
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

/* ---- rows and blocks */

typedef void (*sweep_fn)(struct block * b);

/* The functions for plain results and for few channels; in their place compact code has those for bounded and any results. */
#define PLAIN_FN(plain, bounded) (V_COMPACT ? (bounded) : (plain))
#define FEW_FN(few, any) (V_COMPACT ? (any) : (few))

/*
 * Computes `rows` rows from y on, or those that are left, and as many others with them if none of them needs padding; returns
 * the next row.
 */
static size_t run_rows(struct block * b, size_t y, size_t rows, sweep_fn fn)
{
    const struct sn_depthwise_run_8i * d = b->d;
    const size_t line = y * d->strideY - d->top, below = rows * d->strideY; /* wraps to a huge value above the image */
    const size_t lines = (rows - 1) * d->strideY + d->kernelY;
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
    b->rows = sn_min(rows, d->rows - y);
    b->below = d->dstStepY;
    b->otherSrc = more ? below * d->srcStepY : 0;
    b->otherDst = more ? rows * d->dstStepY : 0;
    fn(b);
    return y + (more ? 2 : 1) * b->rows;
}

static enum kind kind_of(const struct block * b)
{
    const bool plain = result_is_plain(&b->result, b->channels);
    return !result_is_quick(&b->result) ? ANY_RESULT
           : b->channels == V8U_N      ? (plain ? PLAIN : BOUNDED)
           : b->channels == HALF       ? (plain ? PLAIN_HALF : BOUNDED_HALF)
                                       : FEW_CHANNELS;
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
