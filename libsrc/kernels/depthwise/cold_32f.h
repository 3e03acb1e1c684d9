/*
 * Depthwise convolution of NHWC pixels of floats that are not in the caches: pixel after pixel, in two rows at once, so that
 * each line is read in order. Blocks of several pixels and rows read many short pieces of lines, which the prefetchers of the
 * processor do not follow. Several vectors of channels are independent sums; results bypass the caches where all vectors
 * are aligned. Sums have the order of those of blocks, and so their bits.
 *
 * Lines that no earlier row has read are fetched ahead into the L2 cache, a part of them with each group of vectors: 2.3
 * times as fast with stride 2; 1.6 times if all of a pixel's are fetched in one go, not at all if they go to the L1 cache, of
 * which lines at multiples of 4 KB share the sets.
 *
 * 128x299x299 by 3x1 takes 0.4 to 0.5 of the time of blocks, by 3x3 0.65 to 0.75, 608x112x112 by 1x1 0.4 (Zen 4); with stride
 * 2, of what it took without fetching, 288x256x256 by 3x3 0.4 to 0.65, by 1x1 0.45 to 0.55, 128x256x256 by 5x5 0.65. Without
 * stride kernels of more taps are limited by their arithmetic, and weights that exceed the L1 cache are read again for each
 * pixel. Pixels of less than 256 bytes have too few independent sums: 32x512x512 by 3x3 took 1.2 to 1.6 times as long. The
 * driver decides by these figures (sn_depthwise_in_order()).
 *
 * Pixels at the edges of lines are left to an instance of blocks.
 */
#ifndef SN_KERNELS_DEPTHWISE_COLD_32F_H
#define SN_KERNELS_DEPTHWISE_COLD_32F_H

#include "kernels/aligned.h"
#include "kernels/depthwise/nhwc.h"

enum { COLD_VECTORS = 4, COLD_AHEAD = 8 << 10 };

/* A pixel of one or two rows, whose first inputs are `at` elements from the addresses of lines. */
struct cold_pixel {
    const struct sn_depthwise_nhwc * d;
    const void * const * line;
    size_t at;
    sn_32f * dst;
    bool stream;
};

/* The place of a tap: its inputs, its weights for the first row, and floats from a vector of weights to the next, or to those
 * for the second row, which precede by a row of taps. */
struct cold_tap {
    const sn_32f * from, * weight;
    size_t pitch, length, lanes;
};

/* Adds a tap to the first row, the second one, or both. */
SN_INLINE void cold_add(const struct cold_tap * t, bool first, bool second, v32f sum[2][COLD_VECTORS], int vectors)
{
    v32f a[COLD_VECTORS];
    SN_UNROLL for (int v = 0; v < vectors; ++v)
        a[v] = vectors > 1 ? v_load_32f(t->from + v * V32F_N) : v_load_tail_32f(t->from, t->lanes);
    const sn_32f * weight = t->weight;
    if (first)
        SN_UNROLL for (int v = 0; v < vectors; ++v)
            sum[0][v] = v_fma_32f(a[v], v_load_32f(weight + (size_t)v * t->pitch), sum[0][v]);
    weight -= t->length;
    if (second)
        SN_UNROLL for (int v = 0; v < vectors; ++v)
            sum[1][v] = v_fma_32f(a[v], v_load_32f(weight + (size_t)v * t->pitch), sum[1][v]);
}

/*
 * Fetches a part of the lines that no earlier row has read, of the size of the inputs that vectors of channels from c on are
 * the first to read: so the parts of a pixel follow one another in memory.
 */
SN_INLINE void cold_fetch(const struct cold_pixel * p, size_t c, size_t lines, int rows, int vectors)
{
    const struct sn_depthwise_nhwc * d = p->d;
    const size_t part = d->strideX * (size_t)vectors * sizeof(v32f);
    for (size_t l = lines - sn_min(lines, (size_t)rows * d->lineStep); l < lines; ++l) {
        if (!p->line[l])
            continue;
        const uint8_t * next = (const uint8_t *)((const sn_32f *)p->line[l] + p->at + c * d->strideX) + COLD_AHEAD;
        for (size_t i = 0; i < part; i += SN_LINE)
            SN_PREFETCH(next + i);
    }
}

/*
 * Computes several vectors of channels from c on, or a single one, which may have fewer channels. Line l of the inputs serves
 * row i by tap row l - i. `taps` other than 0: of rows and of columns.
 */
SN_INLINE void cold_lanes(const struct cold_pixel * p, size_t c, int rows, int vectors, size_t taps)
{
    const struct sn_depthwise_nhwc * d = p->d;
    const size_t kernelY = taps ? taps : d->kernelY, kernelX = taps ? taps : d->kernelX, lines = kernelY + (size_t)rows - 1;
    const size_t length = kernelX * V32F_N, step = d->dilationX * d->srcPixel, lanes = sn_min(d->channels - c, V32F_N);
    v32f sum[2][COLD_VECTORS];
    SN_UNROLL for (int v = 0; v < vectors; ++v)
        SN_UNROLL for (int i = 0; i < rows; ++i) sum[i][v] = v_load_32f(d->bias + c + v * V32F_N);
    if (kernelX > 1 || d->strideX > 1)
        cold_fetch(p, c, lines, rows, vectors);
    const sn_32f * row = d->weight + c * kernelY * kernelX;
    for (size_t l = 0; l < lines; ++l, row += length) {
        if (!p->line[l])
            continue;
        const bool first = rows == 1 || l < kernelY, second = rows == 2 && l > 0;
        struct cold_tap t = {(const sn_32f *)p->line[l] + p->at + c, row, kernelY * length, length, lanes};
        if (taps)
            SN_UNROLL for (size_t kx = 0; kx < taps; ++kx, t.from += step, t.weight += V32F_N)
                cold_add(&t, first, second, sum, vectors);
        else
            for (size_t kx = 0; kx < kernelX; ++kx, t.from += step, t.weight += V32F_N)
                cold_add(&t, first, second, sum, vectors);
    }
    const struct limits l = limits_of(d->activation, d->param);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int v = 0; v < vectors; ++v)
        {
            sn_32f * to = p->dst + (size_t)i * d->dstRow + c + v * V32F_N;
            if (vectors > 1 || lanes == V32F_N)
                put(to, limit(sum[i][v], l), p->stream);
            else
                v_store_tail_32f(to, limit(sum[i][v], l), lanes);
        }
}

typedef void (*cold_fn)(const struct cold_pixel * p);
#define COLD(name, rows, taps)                                                                                              \
    static __attribute__((noinline)) void name(const struct cold_pixel * p)                                                 \
    {                                                                                                                       \
        size_t c = 0;                                                                                                       \
        for (; c + COLD_VECTORS * V32F_N <= p->d->channels; c += COLD_VECTORS * V32F_N)                                     \
            cold_lanes(p, c, rows, COLD_VECTORS, taps);                                                                     \
        for (; c < p->d->channels; c += V32F_N)                                                                             \
            cold_lanes(p, c, rows, 1, 0);                                                                                   \
    }
COLD(cold_two_3, 2, 3)
COLD(cold_two_any, 2, 0)
COLD(cold_one_any, 1, 0)

/* Pixels x .. end - 1, whose inputs are all in their lines. */
static void cold_pixels(struct cold_pixel p, size_t x, size_t end, size_t rows)
{
    const struct sn_depthwise_nhwc * d = p.d;
    const cold_fn pixel = rows == 1 ? cold_one_any : d->kernelY == 3 && d->kernelX == 3 ? cold_two_3 : cold_two_any;
    sn_32f * dst = p.dst;
    for (; x < end; ++x) {
        p.at = d->offset + (x * d->strideX - d->padX) * d->srcPixel;
        p.dst = dst + x * d->dstPixel;
        pixel(&p);
    }
}

static void cold_edge(const struct cold_pixel * p, size_t x, size_t end, size_t rows)
{
    for (size_t i = 0; i < rows && x < end; ++i) {
        const void * const * line = p->line + i * p->d->lineStep;
        pixel_any(p->d, line, x, end, p->dst + i * p->d->dstRow);
    }
}

static void cold_32f(const struct sn_depthwise_nhwc * d)
{
    const struct range inside = inside_of(d);
    const size_t places = (size_t)(uintptr_t)d->dst | d->dstRow * sizeof(float) | d->dstPixel * sizeof(float);
    struct cold_pixel p = {.d = d, .dst = d->dst, .stream = !d->reused && places % sizeof(v32f) == 0};
    for (size_t y = 0, rows; y < d->rows; y += rows, p.dst += rows * d->dstRow) {
        rows = d->lineStep == 1 && y + 2 <= d->rows ? 2 : 1;
        p.line = d->line + y * d->lineStep;
        cold_edge(&p, 0, inside.begin, rows);
        cold_pixels(p, inside.begin, inside.end, rows);
        cold_edge(&p, inside.end, d->dstW, rows);
    }
    if (p.stream)
        v_fence();
}

#endif
