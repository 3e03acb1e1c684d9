/*
 * Depthwise convolution of NCHW planes: a few vectors of neighbouring pixels of one channel, in several rows.
 */
#include "contract/convolution_32f.h"
#include "kernels/activate_plane.h"
#include "kernels/depthwise/run_32f.h"
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

/*
 * Kernels of SN_LARGE_ROWS rows and more, with any number of columns, for rows whose input lines are neighbours: the inputs of a tap
 * are loaded once for all rows of a block, a weight once for all vectors, so that there are 0.25 to 0.6 loads for a multiply-add;
 * nearly all loads of inputs lie across two cache lines. The taps of a line are a loop, which serves all sizes: unrolled for 7x7
 * it took 1.0 to 1.15 times as long. 64x96x96 by 7x7 takes 0.53 of the time of the instance for any kernel (AVX-512), 0.6
 * (AVX2); with 4 rows and 4 vectors 0.57 (AVX-512), with 2 vectors 0.67, with 3 rows 0.65 (AVX2). 16x128x128 by 11x1 takes
 * 0.68 to 0.75 of the time of all rows as one.
 */
enum { LARGE_ROWS = MANY_REGISTERS ? 6 : 4, LARGE_VECTORS = MANY_REGISTERS ? 4 : V32F_N == 8 ? 3 : 2 };

/* Adds a line of inputs to rows of a block; `weight`: those of the last of these rows. The last vector is `last` floats after the
 * first one. */
SN_INLINE void add_large_line(const struct sn_depthwise_nchw_32f * d, const sn_32f * from, const sn_32f * weight, size_t last,
                              v32f (*sum)[LARGE_VECTORS], int rows, int vectors)
{
    const size_t kernelX = d->kernelX;
    for (size_t kx = 0; kx < kernelX; ++kx, ++weight) {
        const sn_32f * p = from + d->tap[kx], * w = weight;
        v32f a[LARGE_VECTORS];
        SN_UNROLL for (int j = 0; j < vectors; ++j)
            a[j] = v_keep_32f(v_load_32f(p + (j + 1 < vectors ? (size_t)j * V32F_N : last)));
        SN_UNROLL for (int i = rows - 1; i >= 0; --i, w += kernelX)
        {
            const v32f b = v_keep_32f(v_set_32f(*w));
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_fma_32f(a[j], b, sum[i][j]);
        }
    }
}

SN_INLINE void large_block(const struct sn_depthwise_nchw_32f * d, const sn_32f * src, sn_32f * dst, size_t last, int vectors)
{
    v32f sum[LARGE_ROWS][LARGE_VECTORS];
    const sn_32f * weight = d->weight;
    SN_UNROLL for (int i = 0; i < LARGE_ROWS; ++i)
        SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_set_32f(d->bias);
    SN_UNROLL for (int i = 1; i < LARGE_ROWS; ++i, src += d->tapStep)
        add_large_line(d, src, weight, last, sum, i, vectors);
    for (size_t l = LARGE_ROWS - 1; l < d->kernelY; ++l, src += d->tapStep, weight += d->kernelX)
        add_large_line(d, src, weight, last, sum, LARGE_ROWS, vectors);
    SN_UNROLL for (int i = 1; i < LARGE_ROWS; ++i, src += d->tapStep, weight += d->kernelX)
        add_large_line(d, src, weight, last, sum + i, LARGE_ROWS - i, vectors);
    const struct limits limits = limits_of(d->activation, d->param);
    SN_UNROLL for (int i = 0; i < LARGE_ROWS; ++i, dst += d->dstStep)
        SN_UNROLL for (int j = 0; j < vectors; ++j)
            v_store_32f(dst + (j + 1 < vectors ? (size_t)j * V32F_N : last), limit(sum[i][j], limits));
}

#define LARGE_BLOCK(vectors)                                                                                                \
    static __attribute__((noinline, unused)) void large_##vectors(const struct sn_depthwise_nchw_32f * d,                   \
                                                                  const sn_32f * src, sn_32f * dst, size_t last)            \
    {                                                                                                                       \
        if (vectors <= LARGE_VECTORS)                                                                                       \
            large_block(d, src, dst, last, vectors <= LARGE_VECTORS ? vectors : 1);                                         \
    }
LARGE_BLOCK(1)
LARGE_BLOCK(2)
LARGE_BLOCK(3)
LARGE_BLOCK(4)

static void (*const large[])(const struct sn_depthwise_nchw_32f * d, const sn_32f * src, sn_32f * dst, size_t last) = {
    large_1, large_2, LARGE_VECTORS > 2 ? large_3 : NULL, LARGE_VECTORS > 3 ? large_4 : NULL};

/* The vectors of a row are spread over as few blocks as there can be; the last vector and the last rows overlap those before. */
static __attribute__((noinline)) void plane_large(const struct sn_depthwise_nchw_32f * d)
{
    const size_t blocks = sn_ceil_div(d->columns, LARGE_VECTORS * V32F_N);
    for (size_t y = 0; y < d->rows; y += LARGE_ROWS) {
        const size_t row = sn_min(y, d->rows - LARGE_ROWS);
        for (size_t b = blocks, x = 0; b; --b) {
            const size_t vectors = sn_ceil_div(sn_ceil_div(d->columns - x, V32F_N), b);
            x = sn_min(x, d->columns - V32F_N);
            const size_t last = sn_min((vectors - 1) * V32F_N, d->columns - x - V32F_N);
            large[vectors - 1](d, d->src + row * d->srcStep + x, d->dst + row * d->dstStep + x, last);
            x += vectors * V32F_N;
        }
    }
}

static __attribute__((noinline)) void plane_2(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 2); }
static __attribute__((noinline)) void plane_3(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 3); }
/* With 16 registers rows that share inputs take 1.2 (AVX2) to 1.6 (SSE4.1) times as long for 5x5 as rows that do not. */
static __attribute__((noinline, unused)) void plane_5(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 5); }
static __attribute__((noinline)) void plane_any(const struct sn_depthwise_nchw_32f * d) { depthwise_plane(d, 0); }

static void depthwise_nchw_32f(const struct sn_depthwise_nchw_32f * d)
{
    const size_t taps = d->kernelY == d->kernelX && d->srcStep == d->tapStep ? d->kernelY : 0;
    if (d->period)
        run_of_rows(d);
    else if (taps == 2) /* used for the phases of a deconvolution of 4x4 */
        plane_2(d);
    else if (taps == 3)
        plane_3(d);
    else if (taps == 5 && MANY_REGISTERS)
        plane_5(d);
    else if (d->srcStep == d->tapStep && d->kernelY >= SN_LARGE_ROWS && d->rows >= LARGE_ROWS && d->columns > V32F_N)
        plane_large(d);
    else
        plane_any(d);
    activate_plane(d->dst, d->rows, d->columns, d->dstStep, d->activation, d->slope, d->param);
}

SN_INSTALL(depthwise_nchw_32f, convolution_32f)
{
    slots->depthwise_nchw = depthwise_nchw_32f;
    slots->depthwise_nchw_rows = LARGE_ROWS;
    slots->depthwise_nchw_vectors = LARGE_VECTORS;
    slots->depthwise_nchw_run = RUN_VECTORS * V32F_N;
}
