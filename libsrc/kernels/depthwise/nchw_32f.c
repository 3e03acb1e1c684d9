/*
 * Depthwise convolution of NCHW planes: a few vectors of neighbouring pixels of one channel, in several rows.
 */
#include "contract/convolution_32f.h"
#include "kernels/activate_plane.h"
#include "kernels/install.h"

SN_INLINE void store_some(sn_32f * p, v32f v, size_t lanes)
{
    if (lanes == V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, lanes);
}

/* Rows and vectors of a block. */
enum { ROWS = 4, VECTORS = 2, MANY_REGISTERS = V32F_N == 16 };

/* What a block computes: `rows` rows of `vectors` vectors, the second one `gap` floats after the first; the last vector has
 * `lanes` pixels. */
#define BLOCK_ARGUMENTS                                                                                                     \
    const struct sn_depthwise_nchw_32f *d, const sn_32f *src, sn_32f *dst, size_t gap, size_t lanes, int rows, int vectors

/* Adds the products of tap kx with a line of input, line `line` of the first row, to the sums of the rows that use it. */
SN_INLINE void add_shared(const struct sn_depthwise_nchw_32f * d, const sn_32f * from, size_t gap, int line, int kx,
                          v32f sum[ROWS][VECTORS], int rows, int vectors, int taps)
{
    v32f a[VECTORS];
    SN_UNROLL for (int j = 0; j < vectors; ++j) a[j] = v_load_32f(from + (size_t)j * gap);
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        const int ky = line - i;
        if (ky >= 0 && ky < taps) {
            const v32f weight = v_set_32f(d->weight[ky * taps + kx]);
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_fma_32f(a[j], weight, sum[i][j]);
        }
    }
}

/* Adds the products of a tap, whose input for the first row is at `from`. Without the barrier the compiler computes an
 * address for each load. */
SN_INLINE void add_tap(const sn_32f * from, size_t step, size_t gap, v32f weight, v32f sum[ROWS][VECTORS], int rows,
                       int vectors)
{
    SN_UNROLL for (int j = 0; j < vectors; ++j, from += gap)
    {
        __asm__("" : "+r"(from));
        SN_UNROLL for (int i = 0; i < rows; ++i)
            sum[i][j] = v_fma_32f(v_load_32f(from + (size_t)i * step), weight, sum[i][j]);
    }
}

/*
 * taps: kernelY and kernelX as a constant, for rows whose input lines are neighbours: each load serves all rows that share
 * it. With 0 rows have any distance and kernels any size, and each sum loads its own input: 9 loads for 8 multiply-adds, of
 * which no branch depends on the row.
 */
SN_INLINE void depthwise_block(BLOCK_ARGUMENTS, int taps)
{
    v32f sum[ROWS][VECTORS];
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_set_32f(d->bias);
    if (taps) {
        SN_UNROLL for (int line = 0; line < taps + rows - 1; ++line)
            SN_UNROLL for (int kx = 0; kx < taps; ++kx)
                add_shared(d, src + (size_t)line * d->tapStep + d->tap[kx], gap, line, kx, sum, rows, vectors, taps);
    } else {
        const sn_32f * weight = d->weight;
        for (size_t ky = 0; ky < d->kernelY; ++ky, src += d->tapStep)
            for (size_t kx = 0; kx < d->kernelX; ++kx)
                add_tap(src + d->tap[kx], d->srcStep, gap, v_set_32f(*weight++), sum, rows, vectors);
    }
    const struct limits limits = limits_of(d->activation, d->param);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < vectors; ++j)
            store_some(dst + (size_t)i * d->dstStep + (size_t)j * gap, limit(sum[i][j], limits),
                       j + 1 < vectors ? V32F_N : lanes);
}

/* The last vectors overlap those before, so that all are whole, unless a row is shorter than a vector. */
SN_INLINE void depthwise_rows(const struct sn_depthwise_nchw_32f * d, size_t y, int rows, int taps)
{
    const sn_32f * src = d->src + y * d->srcStep;
    sn_32f * dst = d->dst + y * d->dstStep;
    const size_t columns = d->columns;
    size_t x = 0;
    if (columns < V32F_N) {
        depthwise_block(d, src, dst, 0, columns, rows, 1, taps);
        return;
    }
    for (; x + V32F_N < columns; x += VECTORS * V32F_N)
        depthwise_block(d, src + x, dst + x, sn_min(columns - x - V32F_N, V32F_N), V32F_N, rows, VECTORS, taps);
    if (x < columns)
        depthwise_block(d, src + columns - V32F_N, dst + columns - V32F_N, 0, V32F_N, rows, 1, taps);
}

/* The last rows overlap those before likewise. */
SN_INLINE void depthwise_plane(const struct sn_depthwise_nchw_32f * d, int taps)
{
    if (d->rows < ROWS)
        for (size_t y = 0; y < d->rows; ++y)
            depthwise_rows(d, y, 1, taps);
    else
        for (size_t y = 0; y < d->rows; y += ROWS)
            depthwise_rows(d, sn_min(y, d->rows - ROWS), ROWS, taps);
}

static __attribute__((noinline)) void plane_2(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 2); }
static __attribute__((noinline)) void plane_3(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 3); }
/* With 16 registers rows that share inputs take 1.2 (AVX2) to 1.6 (SSE4.1) times as long for 5x5 as rows that do not. */
static __attribute__((noinline, unused)) void plane_5(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 5); }
static __attribute__((noinline)) void plane_any(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 0); }

static void depthwise_nchw_32f(const struct sn_depthwise_nchw_32f * d)
{
    const size_t taps = d->kernelY == d->kernelX && d->srcStep == d->tapStep ? d->kernelY : 0;
    if (taps == 2) /* used for the phases of a deconvolution of 4x4 */
        plane_2(d);
    else if (taps == 3)
        plane_3(d);
    else if (taps == 5 && MANY_REGISTERS)
        plane_5(d);
    else
        plane_any(d);
    activate_plane(d->dst, d->rows, d->columns, d->dstStep, d->activation, d->slope, d->param);
}

SN_INSTALL(depthwise_nchw_32f, convolution_32f) { slots->depthwise_nchw = depthwise_nchw_32f; }
