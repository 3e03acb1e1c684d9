/*
 * Depthwise convolution of all rows of an NCHW plane as one: as wide as the plane, without stride, the inputs of a tap for
 * neighbouring outputs are neighbours, also from the end of a row to the next row. So narrow planes fill vectors. Lines have no
 * padding: sums of a column of taps are put to zero by a mask where their inputs belong to another row.
 */
#ifndef SN_KERNELS_DEPTHWISE_RUN_32F_H
#define SN_KERNELS_DEPTHWISE_RUN_32F_H

#include "contract/convolution_32f.h"
#include "kernels/activate_plane.h"

/*
 * Vectors of a block. 64x20x64 by 4x1, whose rows are one without masks, takes 0.75 of the time that it took with two, 32x100x8
 * by 11x1 0.7 (AVX2). A function computes all blocks: with a call for each, 30x30 by 1x1 took 1.2 times as long.
 */
enum { RUN_VECTORS = 4 };

/* Adds the products of a tap, whose inputs are at `from`. The last vector is `last` floats after the first one. */
SN_INLINE void run_tap(const sn_32f * from, sn_32f weight, size_t last, v32f sum[RUN_VECTORS], int vectors)
{
    const v32f b = v_keep_32f(v_set_32f(weight));
    SN_UNROLL for (int j = 0; j < vectors; ++j)
        sum[j] = v_fma_32f(v_load_32f(from + (j + 1 < vectors ? (size_t)j * V32F_N : last)), b, sum[j]);
}

/* Adds those of a column of taps. */
SN_INLINE void run_column(const struct sn_depthwise_nchw_32f * d, const sn_32f * from, const sn_32f * weight, size_t last,
                          v32f sum[RUN_VECTORS], int vectors, int taps)
{
    if (taps)
        SN_UNROLL for (int ky = 0; ky < taps; ++ky, from += d->tapStep)
            run_tap(from, weight[ky * taps], last, sum, vectors);
    else
        for (size_t ky = 0; ky < d->kernelY; ++ky, from += d->tapStep, weight += d->kernelX)
            run_tap(from, *weight, last, sum, vectors);
}

/* Outputs from `at` on, the first of which is number `place` of a period; a vector that is alone has `lanes`. */
SN_INLINE void run_block(const struct sn_depthwise_nchw_32f * d, size_t at, size_t place, size_t last, size_t lanes, int vectors,
                         int taps)
{
    const size_t kernelX = taps ? (size_t)taps : d->kernelX;
    const sn_32f * src = d->src + at;
    v32f sum[RUN_VECTORS];
    SN_UNROLL for (int j = 0; j < vectors; ++j) sum[j] = v_set_32f(d->bias);
    for (size_t kx = 0; kx < kernelX; ++kx) {
        v32f part[RUN_VECTORS];
        if (kx == d->middle) {
            run_column(d, src + d->tap[kx], d->weight + kx, last, sum, vectors, taps);
            continue;
        }
        const sn_32i * inside = d->inside + kx * d->insideStep + place;
        SN_UNROLL for (int j = 0; j < vectors; ++j) part[j] = v_zero_32f();
        run_column(d, src + d->tap[kx], d->weight + kx, last, part, vectors, taps);
        SN_UNROLL for (int j = 0; j < vectors; ++j)
        {
            const v32i mask = v_load_32i(inside + (j + 1 < vectors ? (size_t)j * V32F_N : last));
            sum[j] = v_add_32f(sum[j], v_cast_32i_32f(v_and_32i(v_cast_32f_32i(part[j]), mask)));
        }
    }
    const struct limits limits = limits_of(d->activation, d->param);
    SN_UNROLL for (int j = 0; j < vectors; ++j)
    {
        sn_32f * to = d->dst + at + (j + 1 < vectors ? (size_t)j * V32F_N : last);
        if (lanes == V32F_N)
            v_store_32f(to, limit(sum[j], limits));
        else
            v_store_tail_32f(to, limit(sum[j], limits), lanes);
    }
}

/* Blocks of whole vectors from `at` on, one after the other, up to `end`. */
SN_INLINE void run_blocks(const struct sn_depthwise_nchw_32f * d, size_t at, size_t end, size_t place, size_t last, int vectors,
                          int taps)
{
    do {
        run_block(d, at, place, last, V32F_N, vectors, taps);
        at += (size_t)vectors * V32F_N;
        place += (size_t)vectors * V32F_N;
        place -= place >= d->period ? d->period : 0;
    } while (at < end);
}

#define RUN_BLOCKS(vectors)                                                                                                 \
    static __attribute__((noinline)) void run_##vectors(const struct sn_depthwise_nchw_32f * d, size_t at, size_t end,      \
                                                        size_t place, size_t last)                                          \
    {                                                                                                                       \
        if (d->kernelY == 3 && d->kernelX == 3)                                                                             \
            run_blocks(d, at, end, place, last, vectors, 3);                                                                \
        else                                                                                                                \
            run_blocks(d, at, end, place, last, vectors, 0);                                                                \
    }
RUN_BLOCKS(1)
RUN_BLOCKS(2)
RUN_BLOCKS(3)
RUN_BLOCKS(4)

typedef void (*run_fn)(const struct sn_depthwise_nchw_32f * d, size_t at, size_t end, size_t place, size_t last);
static const run_fn runs[RUN_VECTORS] = {run_1, run_2, run_3, run_4};

/* The last vector overlaps the one before. */
static __attribute__((noinline)) void run_of_rows(const struct sn_depthwise_nchw_32f * d)
{
    const size_t count = d->columns, whole = count / (RUN_VECTORS * V32F_N) * (RUN_VECTORS * V32F_N);
    if (count < V32F_N) {
        run_block(d, 0, 0, 0, count, 1, 0);
        return;
    }
    if (whole)
        runs[RUN_VECTORS - 1](d, 0, whole, 0, (RUN_VECTORS - 1) * V32F_N);
    if (whole < count) {
        const size_t vectors = sn_ceil_div(count - whole, V32F_N), at = sn_min(whole, count - V32F_N);
        runs[vectors - 1](d, at, at + 1, at % d->period, count - V32F_N - at);
    }
}

#endif
