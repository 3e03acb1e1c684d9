/*
 * What convolutions need beside the GEMM tile: the depthwise kernels, and the copies that prepare operands.
 */
#include <math.h>
#include <string.h>

#include "kernels/activate.h"
#include "kernels/install.h"

/* What becomes of a sum at once: Identity, Relu and RestrictRange are the same two operations with other limits. */
struct limits {
    v32f low, high;
};

SN_INLINE struct limits limits_of(SimdConvolutionActivationType activation, const float * param)
{
    struct limits l = {v_set_32f(-INFINITY), v_set_32f(INFINITY)};
    if (activation == SimdConvolutionActivationRelu)
        l.low = v_zero_32f();
    if (activation == SimdConvolutionActivationRestrictRange)
        l = (struct limits){v_set_32f(param[0]), v_set_32f(param[1])};
    return l;
}

SN_INLINE v32f limit(v32f v, struct limits l) { return v_min_32f(l.high, v_max_32f(l.low, v)); }

/* The other activations are a second pass over a row that has just been written. */
static bool second_pass(SimdConvolutionActivationType activation)
{
    return activation == SimdConvolutionActivationPrelu || activation == SimdConvolutionActivationElu ||
           activation == SimdConvolutionActivationHswish;
}

SN_INLINE v32f load_some(const float * p, size_t lanes)
{
    return lanes == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, lanes);
}

SN_INLINE void store_some(float * p, v32f v, size_t lanes)
{
    if (lanes == V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, lanes);
}

/* ---- depthwise NHWC: some neighbouring pixels, one vector of channels after the other */

/* Pixels at a time: as many sums, and weights and inputs beside them, fit 16 registers. */
enum { PIXELS = 8 };

/* The taps of one output row that lie inside the image, and where the first of them finds its input. */
struct window {
    const struct sn_depthwise_nhwc_32f * d;
    const float * src;    /* line of the first tap row */
    const float * weight; /* its weights */
    size_t rows;          /* of taps */
    float * dst;          /* output row */
    struct limits limits;
};

/* One pixel whose taps first .. last - 1 of each row lie inside. */
SN_INLINE void edge_pixel(const struct window * w, size_t x, size_t first, size_t last, size_t c, size_t lanes)
{
    const struct sn_depthwise_nhwc_32f * d = w->d;
    const SimdConvolutionParameters * p = d->p;
    v32f sum = v_load_32f(d->bias + c);
    for (size_t ky = 0; ky < w->rows; ++ky) {
        const float * weight = w->weight + ky * p->kernelX * d->width + c;
        const float * line = w->src + ky * p->dilationY * p->srcW * p->srcC + c;
        for (size_t kx = first; kx < last; ++kx)
            sum = v_fma_32f(load_some(line + (x * p->strideX + kx * p->dilationX - p->padX) * p->srcC, lanes),
                            v_load_32f(weight + kx * d->width), sum);
    }
    store_some(w->dst + x * p->srcC + c, limit(sum, w->limits), lanes);
}

/*
 * `pixels` pixels whose taps are all inside. With constant taps and stride (and dilation 1) an input is loaded once for all
 * outputs that use it; taps 0 stands for any number of taps, stride and dilation. The order of each sum is the same in both.
 */
SN_INLINE void inner_pixels(const struct window * w, size_t x, size_t c, size_t lanes, int pixels, int taps, int stride)
{
    const struct sn_depthwise_nhwc_32f * d = w->d;
    const SimdConvolutionParameters * p = d->p;
    const size_t C = p->srcC;
    const v32f bias = v_load_32f(d->bias + c);
    v32f sum[PIXELS];
    SN_UNROLL for (int i = 0; i < pixels; ++i) sum[i] = bias;
    const float * line = w->src + (x * p->strideX - p->padX) * C + c;
    const float * weight = w->weight + c;
    for (size_t ky = 0; ky < w->rows; ++ky, line += p->dilationY * p->srcW * C, weight += p->kernelX * d->width) {
        if (taps) {
            SN_UNROLL for (int t = 0; t < (pixels - 1) * stride + taps; ++t)
            {
                const v32f a = load_some(line + (size_t)t * C, lanes);
                SN_UNROLL for (int i = 0; i < pixels; ++i)
                {
                    const int kx = t - i * stride;
                    if (kx >= 0 && kx < taps)
                        sum[i] = v_fma_32f(a, v_load_32f(weight + (size_t)kx * d->width), sum[i]);
                }
            }
        } else {
            for (size_t kx = 0; kx < p->kernelX; ++kx) {
                const v32f b = v_load_32f(weight + kx * d->width);
                const float * from = line + kx * p->dilationX * C;
                SN_UNROLL for (int i = 0; i < pixels; ++i)
                    sum[i] = v_fma_32f(load_some(from + (size_t)i * p->strideX * C, lanes), b, sum[i]);
            }
        }
    }
    float * to = w->dst + x * C + c;
    SN_UNROLL for (int i = 0; i < pixels; ++i) store_some(to + (size_t)i * C, limit(sum[i], w->limits), lanes);
}

SN_INLINE void inner_block(const struct window * w, size_t x, int pixels, int taps, int stride)
{
    const size_t C = w->d->p->srcC;
    size_t c = 0;
    for (; c + V32F_N <= C; c += V32F_N)
        inner_pixels(w, x, c, V32F_N, pixels, taps, stride);
    if (c < C)
        inner_pixels(w, x, c, C - c, pixels, taps, stride);
}

/* Pixels begin .. end - 1, all inside. The last block may overlap the one before: it writes the same values again. */
SN_INLINE void inner_row(const struct window * w, size_t begin, size_t end, int taps, int stride)
{
    size_t x = begin;
    for (; x + PIXELS <= end; x += PIXELS)
        inner_block(w, x, PIXELS, taps, stride);
    if (end - x > 4 && end - begin >= PIXELS)
        inner_block(w, end - PIXELS, PIXELS, taps, stride);
    else if (end - begin >= 4) {
        for (; x < end; x += 4)
            inner_block(w, sn_min(x, end - 4), 4, taps, stride);
    } else {
        for (; x < end; ++x)
            inner_block(w, x, 1, taps, stride);
    }
}

/* An instance is a function of its own, so that the compiler gives it all registers. */
#define ROW(name, taps, stride)                                                                                             \
    static __attribute__((noinline)) void name(const struct window * w, size_t begin, size_t end)                           \
    {                                                                                                                       \
        inner_row(w, begin, end, taps, stride);                                                                             \
    }
ROW(row_3_1, 3, 1)
ROW(row_3_2, 3, 2)
ROW(row_5_1, 5, 1)
ROW(row_5_2, 5, 2)
ROW(row_any, 0, 0)

static void edge_row(const struct window * w, size_t begin, size_t end)
{
    const SimdConvolutionParameters * p = w->d->p;
    for (size_t x = begin; x < end; ++x) {
        const size_t at = x * p->strideX, limit = p->padX + p->srcW; /* of the first tap, in the padded image */
        const size_t first = at < p->padX ? sn_min(sn_ceil_div(p->padX - at, p->dilationX), p->kernelX) : 0;
        const size_t last = at < limit ? sn_min(sn_ceil_div(limit - at, p->dilationX), p->kernelX) : 0;
        size_t c = 0;
        for (; c + V32F_N <= p->srcC; c += V32F_N)
            edge_pixel(w, x, first, last, c, V32F_N);
        if (c < p->srcC)
            edge_pixel(w, x, first, last, c, p->srcC - c);
    }
}

/* The second pass over the pixels of a row. */
static void activate_row(const struct sn_depthwise_nhwc_32f * d, float * row)
{
    const size_t C = d->p->srcC;
    const v32f p0 = v_set_32f(d->param[0]), p1 = v_set_32f(d->param[1]);
    for (size_t x = 0; x < d->p->dstW; ++x, row += C)
        for (size_t c = 0; c < C; c += V32F_N) {
            const size_t n = sn_min(C - c, V32F_N);
            const v32f slope = d->slope ? v_load_32f(d->slope + c) : p0;
            store_some(row + c, activate_32f(load_some(row + c, n), d->activation, slope, p0, p1), n);
        }
}

static void depthwise_nhwc_32f(const struct sn_depthwise_nhwc_32f * d)
{
    const SimdConvolutionParameters * p = d->p;
    /* Columns whose taps are all inside: those at or right of begin, left of end. */
    const size_t reach = (p->kernelX - 1) * p->dilationX;
    const size_t begin = sn_min(sn_ceil_div(p->padX, p->strideX), p->dstW);
    const size_t room = p->padX + p->srcW;
    const size_t end = sn_max(begin, room > reach ? sn_min((room - reach - 1) / p->strideX + 1, p->dstW) : 0);
    void (*inner)(const struct window *, size_t, size_t) = row_any;
    if (p->dilationX == 1 && p->kernelX == 3 && p->strideX <= 2)
        inner = p->strideX == 1 ? row_3_1 : row_3_2;
    if (p->dilationX == 1 && p->kernelX == 5 && p->strideX <= 2)
        inner = p->strideX == 1 ? row_5_1 : row_5_2;
    struct window w = {.d = d, .limits = limits_of(d->activation, d->param)};
    for (size_t y = d->begin; y < d->end; ++y) {
        const size_t at = y * p->strideY, limit = p->padY + p->srcH;
        const size_t first = at < p->padY ? sn_min(sn_ceil_div(p->padY - at, p->dilationY), p->kernelY) : 0;
        const size_t last = at < limit ? sn_min(sn_ceil_div(limit - at, p->dilationY), p->kernelY) : 0;
        w.rows = last > first ? last - first : 0;
        w.src = d->src + (at + first * p->dilationY - p->padY) * p->srcW * p->srcC;
        w.weight = d->weight + first * p->kernelX * d->width;
        w.dst = d->dst + y * p->dstW * p->dstC;
        edge_row(&w, 0, begin);
        inner(&w, begin, end);
        edge_row(&w, end, p->dstW);
        if (second_pass(d->activation))
            activate_row(d, w.dst);
    }
}

/* ---- depthwise NCHW: some vectors of neighbouring pixels of one channel */

SN_INLINE void depthwise_vectors(const struct sn_depthwise_nchw_32f * d, const float * src, float * dst, size_t lanes,
                                 int vectors)
{
    v32f sum[4];
    SN_UNROLL for (int i = 0; i < vectors; ++i) sum[i] = v_set_32f(d->bias);
    for (size_t t = 0; t < d->taps; ++t) {
        const v32f weight = v_set_32f(d->weight[t]);
        const float * from = src + d->tap[t];
        SN_UNROLL for (int i = 0; i < vectors; ++i) sum[i] = v_fma_32f(v_load_32f(from + i * V32F_N), weight, sum[i]);
    }
    const struct limits limits = limits_of(d->activation, d->param);
    SN_UNROLL for (int i = 0; i < vectors; ++i)
        store_some(dst + i * V32F_N, limit(sum[i], limits), i + 1 < vectors ? V32F_N : lanes);
}

static void activate_pixels(const struct sn_depthwise_nchw_32f * d)
{
    const v32f slope = v_set_32f(d->slope), p0 = v_set_32f(d->param[0]), p1 = v_set_32f(d->param[1]);
    const size_t size = d->rows * d->columns;
    for (size_t i = 0; i < size; i += V32F_N) {
        const size_t n = sn_min(size - i, V32F_N);
        store_some(d->dst + i, activate_32f(load_some(d->dst + i, n), d->activation, slope, p0, p1), n);
    }
}

static void depthwise_nchw_32f(const struct sn_depthwise_nchw_32f * d)
{
    for (size_t y = 0; y < d->rows; ++y) {
        const float * src = d->src + y * d->srcStep;
        float * dst = d->dst + y * d->columns;
        size_t x = 0;
        for (; x + 4 * V32F_N <= d->columns; x += 4 * V32F_N)
            depthwise_vectors(d, src + x, dst + x, V32F_N, 4);
        for (; x < d->columns; x += V32F_N)
            depthwise_vectors(d, src + x, dst + x, sn_min(d->columns - x, V32F_N), 1);
    }
    if (second_pass(d->activation))
        activate_pixels(d);
}

/* ---- copies */

/* Rows in their order, so that what is written behind a row is overwritten by the next. */
static void columns_32f(const struct sn_columns_32f * g)
{
    float * row = g->panel;
    for (size_t k = 0; k < g->depth; ++k, row += g->width) {
        float * to = row;
        for (size_t i = 0; i < g->pieces; ++i) {
            const float * from = g->src + g->offset[k] + g->piece[i].from;
            const size_t count = g->piece[i].count;
            size_t j = 0;
            for (; j + V32F_N <= count; j += V32F_N)
                v_store_32f(to + j, v_load_32f(from + j));
            if (j < count)
                v_store_32f(to + j, g->exact ? v_load_tail_32f(from + j, count - j) : v_load_32f(from + j));
            to += count;
        }
    }
}

static void every_32f(const float * src, size_t step, size_t count, float * dst)
{
    size_t i = 0;
    if (step == 1) {
        memcpy(dst, src, count * sizeof(float));
        return;
    }
    if (step == 2) {
        for (; i + V32F_N < count; i += V32F_N)
            v_store_32f(dst + i, v_even_32f(v_load_32f(src + 2 * i), v_load_32f(src + 2 * i + V32F_N)));
        const size_t left = 2 * (count - i) - 1, low = sn_min(left, V32F_N); /* the last float is not followed by one */
        const v32f a = v_load_tail_32f(src + 2 * i, low), b = v_load_tail_32f(src + 2 * i + low, left - low);
        v_store_tail_32f(dst + i, v_even_32f(a, b), count - i);
        return;
    }
    for (; i < count; ++i) /* no instruction set gathers faster than this */
        dst[i] = src[i * step];
}

void ISA_FN(install_convolution_32f)(struct sn_table * table)
{
    table->depthwise_nhwc_32f = depthwise_nhwc_32f;
    table->depthwise_nchw_32f = depthwise_nchw_32f;
    table->columns_32f = columns_32f;
    table->every_32f = every_32f;
}
