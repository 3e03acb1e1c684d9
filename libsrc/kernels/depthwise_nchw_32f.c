/*
 * Depthwise convolution of NCHW planes: a few vectors of neighbouring pixels of one channel, in several rows.
 */
#include "contract/convolution_32f.h"
#include "kernels/activate.h"
#include "kernels/install.h"

SN_INLINE v32f load_some(const sn_32f * p, size_t lanes)
{
    return lanes == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, lanes);
}

SN_INLINE void store_some(sn_32f * p, v32f v, size_t lanes)
{
    if (lanes == V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, lanes);
}

/* Rows at a time: if neighbouring rows share lines of input, each load serves all of them. */
enum { ROWS = 4, VECTORS = 2 };

/* Adds the products of tap kx with a line of input, line `line` of the first row, to the sums of the rows that use it. */
SN_INLINE void add_tap(const struct sn_depthwise_nchw_32f * d, const sn_32f * src, size_t line, size_t kx,
                       v32f sum[ROWS][VECTORS], int rows, int vectors, size_t kernelY, size_t kernelX)
{
    const sn_32f * from = src + d->tap[kx];
    v32f a[VECTORS];
    SN_UNROLL for (int j = 0; j < vectors; ++j) a[j] = v_load_32f(from + j * V32F_N);
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        const size_t ky = line - (size_t)i; /* wraps to a huge value for lines above those of row i */
        if (ky < kernelY) {
            const v32f weight = v_set_32f(d->weight[ky * kernelX + kx]);
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_fma_32f(a[j], weight, sum[i][j]);
        }
    }
}

/* taps: kernelY and kernelX as a constant, which removes all branches from the loops; 0 for any kernel. */
SN_INLINE void depthwise_block(const struct sn_depthwise_nchw_32f * d, const sn_32f * src, sn_32f * dst, size_t lanes,
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
    const sn_32f * src = d->src + y * d->srcStep;
    sn_32f * dst = d->dst + y * d->columns;
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

static __attribute__((noinline)) void plane_2(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 2); }
static __attribute__((noinline)) void plane_3(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 3); }
static __attribute__((noinline)) void plane_5(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 5); }
static __attribute__((noinline)) void plane_any(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 0); }

static void activate_pixels(const struct sn_depthwise_nchw_32f * d)
{
    const v32f slope = v_set_32f(d->slope), p0 = v_set_32f(d->param[0]), p1 = v_set_32f(d->param[1]);
    const size_t size = d->rows * d->columns;
    if (activates_rows(d->activation)) {
        ACTIVATE_ROWS(d->dst, 1, size, 0, d->activation, d->param);
        return;
    }
    for (size_t i = 0; i < size; i += V32F_N) {
        const size_t n = sn_min(size - i, V32F_N);
        store_some(d->dst + i, activate_32f(load_some(d->dst + i, n), d->activation, slope, p0, p1), n);
    }
}

static void depthwise_nchw_32f(const struct sn_depthwise_nchw_32f * d)
{
    if (d->kernelY == 2 && d->kernelX == 2) /* used for the phases of a deconvolution of 4x4 */
        plane_2(d);
    else if (d->kernelY == 3 && d->kernelX == 3)
        plane_3(d);
    else if (d->kernelY == 5 && d->kernelX == 5)
        plane_5(d);
    else
        plane_any(d);
    if (second_pass(d->activation))
        activate_pixels(d);
}

SN_INSTALL(depthwise_nchw_32f, convolution_32f) { slots->depthwise_nchw = depthwise_nchw_32f; }
