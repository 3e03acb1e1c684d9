/*
 * What convolutions need beside the GEMM tile: the depthwise kernels, and the copies that prepare operands.
 */
#include "kernels/activate.h"
#include "kernels/install.h"

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

/* ---- depthwise NCHW: some vectors of neighbouring pixels of one channel, in some rows */

/* Rows at a time: where neighbouring rows share lines of input, each load serves all of them. */
enum { ROWS = 4, VECTORS = 2 };

/* Adds what tap kx finds in a line of input, which is line `line` for the first row, to the sums of rows that use it. */
SN_INLINE void add_tap(const struct sn_depthwise_nchw_32f * d, const float * src, size_t line, size_t kx,
                       v32f sum[ROWS][VECTORS], int rows, int vectors, size_t kernelY, size_t kernelX)
{
    const float * from = src + d->tap[kx];
    v32f a[VECTORS];
    SN_UNROLL for (int j = 0; j < vectors; ++j) a[j] = v_load_32f(from + j * V32F_N);
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        const size_t ky = line - (size_t)i; /* huge for lines above those of row i */
        if (ky < kernelY) {
            const v32f weight = v_set_32f(d->weight[ky * kernelX + kx]);
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_fma_32f(a[j], weight, sum[i][j]);
        }
    }
}

/* taps: kernelY and kernelX as a constant, which frees the loops of all decisions; 0 for any. */
SN_INLINE void depthwise_block(const struct sn_depthwise_nchw_32f * d, const float * src, float * dst, size_t lanes,
                               int rows, int vectors, int taps)
{
    v32f sum[ROWS][VECTORS];
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_set_32f(d->bias);
    if (taps) {
        SN_UNROLL for (int line = 0; line < taps + rows - 1; ++line)
            SN_UNROLL for (int kx = 0; kx < taps; ++kx)
                add_tap(d, src + (size_t)line * d->tapStep, (size_t)line, (size_t)kx, sum, rows, vectors, (size_t)taps,
                        (size_t)taps);
    } else {
        for (size_t line = 0; line < d->kernelY + (size_t)rows - 1; ++line)
            for (size_t kx = 0; kx < d->kernelX; ++kx)
                add_tap(d, src + line * d->tapStep, line, kx, sum, rows, vectors, d->kernelY, d->kernelX);
    }
    const struct limits limits = limits_of(d->activation, d->param);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < vectors; ++j)
            store_some(dst + (size_t)i * d->columns + j * V32F_N, limit(sum[i][j], limits),
                       j + 1 < vectors ? V32F_N : lanes);
}

SN_INLINE void depthwise_rows(const struct sn_depthwise_nchw_32f * d, size_t y, int rows, int taps)
{
    const float * src = d->src + y * d->srcStep;
    float * dst = d->dst + y * d->columns;
    size_t x = 0;
    for (; x + VECTORS * V32F_N <= d->columns; x += VECTORS * V32F_N)
        depthwise_block(d, src + x, dst + x, V32F_N, rows, VECTORS, taps);
    for (; x < d->columns; x += V32F_N)
        depthwise_block(d, src + x, dst + x, sn_min(d->columns - x, V32F_N), rows, 1, taps);
}

SN_INLINE void depthwise_plane(const struct sn_depthwise_nchw_32f * d, int taps)
{
    size_t y = 0;
    if (d->srcStep == d->tapStep)
        for (; y + ROWS <= d->rows; y += ROWS)
            depthwise_rows(d, y, ROWS, taps);
    for (; y < d->rows; ++y)
        depthwise_rows(d, y, 1, taps);
}

static __attribute__((noinline)) void plane_3(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 3); }
static __attribute__((noinline)) void plane_5(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 5); }
static __attribute__((noinline)) void plane_any(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 0); }

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
    if (d->kernelY == 3 && d->kernelX == 3)
        plane_3(d);
    else if (d->kernelY == 5 && d->kernelX == 5)
        plane_5(d);
    else
        plane_any(d);
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

SN_INLINE void zeros(float * p, size_t count)
{
    for (; count >= V32F_N; count -= V32F_N, p += V32F_N)
        v_store_32f(p, v_zero_32f());
    v_store_tail_32f(p, v_zero_32f(), count);
}

/* count floats src[0], src[2] ...; none behind the last is read. */
SN_INLINE v32f every_second(const float * src, size_t count)
{
    if (count > V32F_N)
        return v_even_32f(v_load_32f(src), v_load_32f(src + V32F_N));
    const size_t all = 2 * count - 1, low = sn_min(all, V32F_N);
    return v_even_32f(v_load_tail_32f(src, low), v_load_tail_32f(src + low, all - low));
}

static void line_32f(const struct sn_lines_32f * l, const float * src, float * dst)
{
    zeros(dst, l->before);
    dst += l->before;
    const size_t inside = l->inside;
    size_t i = 0;
    if (l->stride == 1) {
        for (; i + V32F_N <= inside; i += V32F_N)
            v_store_32f(dst + i, v_load_32f(src + i));
        if (i < inside)
            v_store_tail_32f(dst + i, v_load_tail_32f(src + i, inside - i), inside - i);
    } else if (l->stride == 2) {
        for (; i < inside; i += V32F_N)
            store_some(dst + i, every_second(src + 2 * i, inside - i), sn_min(inside - i, V32F_N));
    } else {
        for (; i < inside; ++i) /* no instruction gathers faster than this */
            dst[i] = src[i * l->stride];
    }
    zeros(dst + inside, l->size - l->before - inside);
}

static void lines_32f(const struct sn_lines_32f * l)
{
    for (size_t i = 0; i < l->lines; ++i)
        line_32f(l, l->src + i * l->srcStep, l->dst + i * l->dstStep);
}

void ISA_FN(install_convolution_32f)(struct sn_table * table)
{
    table->depthwise_nhwc_32f = depthwise_nhwc_32f;
    table->depthwise_nchw_32f = depthwise_nchw_32f;
    table->columns_32f = columns_32f;
    table->lines_32f = lines_32f;
}
