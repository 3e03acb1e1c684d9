/*
 * Depthwise convolution of NHWC pixels: core/convolution.h says what is computed.
 *
 * A block is some rows of some neighbouring pixels: their sums stay in registers while the lines that they need pass by,
 * one vector of channels after the other. An input is loaded once for all sums of a row of taps, a weight once for all
 * pixels of a row, so multiply-adds wait for nothing: 0.5 loads for each. Each sum is one chain in the order of ky and kx,
 * wherever its output lies.
 *
 * In the first cache 3x3 runs at 0.87 of the peak, 5x5 at 0.95 (AVX-512). What limits large images of stride 2 is the third
 * cache: 4 inputs for 9 multiply-adds.
 */
#include "kernels/activate.h"
#include "kernels/install.h"

/*
 * Blocks, which gcc 12 keeps in 32 registers or in 16. Those of 4 pixels read the fewest lines: 1.5 for each of output.
 * Those of 7 pixels are for images that 4 does not divide, 14 and 7 pixels wide: they compute no pixel twice, which gains
 * 1.1 to 1.4 times; with 16 registers, where only one row of them fits, they gained nothing, and lost 1.4 times for 5x5 of
 * stride 2.
 */
enum { MANY = V32F_N == 16, ROWS = MANY ? 4 : 2, ROWS_7 = MANY ? 3 : 1, WIDE = 8 };

static const float zeros[V32F_N] SN_ALIGNED;

#define BLOCK_ARGUMENTS const struct sn_depthwise_nhwc_32f *d, const float *const *line, size_t x, float *dst

/*
 * What an instance is: its arguments are constants. taps and stride 0 stand for any, those of the job, in one row. `inside`:
 * all inputs are pixels of their lines. `whole`: all lanes are channels.
 */
#define BLOCK_SHAPE int rows, int columns, int taps, int stride, bool inside, bool whole

/* Pixels of a line that a block with constant taps can have; those for its tap 0 are the first. */
enum { PIXELS = (WIDE - 1) * 2 + 5 };

/*
 * A pointer that the compiler has to keep as it is. Without it gcc 12 makes of each tap's and pixel's address a variable of
 * the loop over channels, and there are not so many registers: 3x3 took 1.2 to 1.5 times as long.
 */
SN_INLINE const float * keep_pointer(const float * p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* The inputs of a block in a line. */
struct inputs {
    size_t at;     /* the first of them is this pixel; huge when it lies left of the line */
    size_t width;  /* of the line */
    size_t step;   /* floats between pixels */
    size_t lanes;
};

/* Pixel t of the inputs, which lies at `from`. */
SN_INLINE v32f load_pixel(const struct inputs * in, const float * from, size_t t, bool inside, bool whole)
{
    if (!inside)
        from = in->at + t < in->width ? from : zeros;
    return v_keep_32f(whole ? v_load_32f(from) : v_load_tail_32f(from, in->lanes));
}

/*
 * One line of input, of which row i uses tap row line - i * stride, if it has such a row. One pointer for three pixels,
 * which addresses can express: with one for all there are as many additions as multiply-adds.
 */
SN_INLINE void add_line(const struct inputs * in, const float * from, int line, const float * weight,
                        v32f sum[ROWS][WIDE], BLOCK_SHAPE)
{
    v32f a[PIXELS];
    const float * p[(PIXELS + 2) / 3];
    const size_t step3 = 3 * in->step;
    p[0] = keep_pointer(from);
    SN_UNROLL for (int t = 3; t < (columns - 1) * stride + taps; t += 3) p[t / 3] = keep_pointer(p[t / 3 - 1] + step3);
    SN_UNROLL for (int kx = 0; kx < taps; ++kx)
    {
        SN_UNROLL for (int j = 0; j < columns; ++j)
        {
            const int t = kx + j * stride;
            if (kx < stride || j + 1 == columns) /* else an earlier tap has loaded it */
                a[t] = load_pixel(in, p[t / 3] + (size_t)(t % 3) * in->step, (size_t)t, inside, whole);
        }
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const int ky = line - i * stride;
            if (ky < 0 || ky >= taps)
                continue;
            const v32f b = v_keep_32f(v_load_32f(weight + (ky * taps + kx) * V32F_N));
            SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = v_fma_32f(a[kx + j * stride], b, sum[i][j]);
        }
    }
}

/* The same for any kernel, stride and dilation, and one row. */
SN_INLINE void add_any_line(const struct sn_depthwise_nhwc_32f * d, struct inputs in, const float * from,
                            const float * weight, v32f sum[WIDE], int columns, bool inside, bool whole)
{
    const size_t step = d->strideX * in.step;
    for (size_t kx = 0; kx < d->kernelX; ++kx, weight += V32F_N) {
        const v32f b = v_keep_32f(v_load_32f(weight));
        SN_UNROLL for (int j = 0; j < columns; ++j)
        {
            const v32f a = load_pixel(&in, from + (size_t)j * step, (size_t)j * d->strideX, inside, whole);
            sum[j] = v_fma_32f(a, b, sum[j]);
        }
        in.at += d->dilationX;
        from += d->dilationX * in.step;
    }
}

SN_INLINE void activate_as(v32f sum[ROWS][WIDE], const struct sn_depthwise_nhwc_32f * d, size_t c, int rows, int columns,
                           SimdConvolutionActivationType type)
{
    const v32f p0 = v_set_32f(d->param[0]), p1 = v_set_32f(d->param[1]);
    const v32f slope = type == SimdConvolutionActivationPrelu ? v_load_32f(d->slope + c) : p0;
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = activate_32f(sum[i][j], type, slope, p0, p1);
}

/* One copy of the loops for each activation, chosen once for a block. Elu is too long for it, see elu_block(). */
SN_INLINE void activate(v32f sum[ROWS][WIDE], const struct sn_depthwise_nhwc_32f * d, size_t c, int rows, int columns)
{
    switch (d->activation) {
    case SimdConvolutionActivationRelu: activate_as(sum, d, c, rows, columns, SimdConvolutionActivationRelu); break;
    case SimdConvolutionActivationPrelu: activate_as(sum, d, c, rows, columns, SimdConvolutionActivationPrelu); break;
    case SimdConvolutionActivationRestrictRange:
        activate_as(sum, d, c, rows, columns, SimdConvolutionActivationRestrictRange);
        break;
    case SimdConvolutionActivationHswish: activate_as(sum, d, c, rows, columns, SimdConvolutionActivationHswish); break;
    default: break;
    }
}

/* One vector of channels from c on. */
SN_INLINE void block_lanes(BLOCK_ARGUMENTS, size_t c, BLOCK_SHAPE)
{
    v32f sum[ROWS][WIDE];
    const v32f bias = v_load_32f(d->bias + c);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = bias;
    const struct inputs in = {x * (taps ? (size_t)stride : d->strideX) - d->padX, d->srcW, d->srcPixel, d->channels - c};
    const size_t first = d->offset + in.at * in.step + c;
    if (taps) {
        const float * weight = keep_pointer(d->weight + c * (size_t)(taps * taps));
        SN_UNROLL for (int l = 0; l < (rows - 1) * stride + taps; ++l)
            if (line[l])
                add_line(&in, line[l] + first, l, weight, sum, rows, columns, taps, stride, inside, whole);
    } else {
        const float * weight = d->weight + c * d->kernelY * d->kernelX;
        for (size_t ky = 0; ky < d->kernelY; ++ky, weight += d->kernelX * V32F_N)
            if (line[ky])
                add_any_line(d, in, line[ky] + first, weight, sum[0], columns, inside, whole);
    }
    activate(sum, d, c, rows, columns);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j)
        {
            float * to = dst + (size_t)i * d->dstRow + (size_t)j * d->dstPixel + c;
            if (whole)
                v_store_32f(to, sum[i][j]);
            else
                v_store_tail_32f(to, sum[i][j], in.lanes);
        }
}

/* All channels. */
SN_INLINE void block(BLOCK_ARGUMENTS, int rows, int columns, int taps, int stride, bool inside)
{
    size_t c = 0;
    for (; c + V32F_N <= d->channels; c += V32F_N)
        block_lanes(d, line, x, dst, c, rows, columns, taps, stride, inside, true);
    if (c < d->channels)
        block_lanes(d, line, x, dst, c, rows, columns, taps, stride, inside, false);
}

/* Elu, in a second pass over a block that has just been stored: exp wants registers that the sums have. */
static void elu_block(const struct sn_depthwise_nhwc_32f * d, float * dst, size_t rows, size_t columns)
{
    const v32f p0 = v_set_32f(d->param[0]);
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) {
            float * pixel = dst + i * d->dstRow + j * d->dstPixel;
            for (size_t c = 0; c < d->channels; c += V32F_N) {
                const size_t n = sn_min(d->channels - c, V32F_N);
                const v32f v = activate_32f(v_load_tail_32f(pixel + c, n), SimdConvolutionActivationElu, p0, p0, p0);
                v_store_tail_32f(pixel + c, v, n);
            }
        }
}

/* An instance is two functions of their own, so that the compiler gives each all registers. */
typedef void (*block_fn)(BLOCK_ARGUMENTS);
#define BLOCK(name, rows, columns, taps, stride)                                                                            \
    static __attribute__((noinline)) void name##_edge(BLOCK_ARGUMENTS)                                                      \
    {                                                                                                                       \
        block(d, line, x, dst, rows, columns, taps, stride, false);                                                         \
    }                                                                                                                       \
    static __attribute__((noinline)) void name##_inside(BLOCK_ARGUMENTS)                                                    \
    {                                                                                                                       \
        block(d, line, x, dst, rows, columns, taps, stride, true);                                                          \
    }
BLOCK(block_3_1, ROWS, 4, 3, 1)
BLOCK(row_3_1, 1, 4, 3, 1)
BLOCK(block7_3_1, ROWS_7, 7, 3, 1)
BLOCK(row7_3_1, 1, 7, 3, 1)
BLOCK(block_3_2, ROWS, 4, 3, 2)
BLOCK(row_3_2, 1, 4, 3, 2)
BLOCK(block7_3_2, MANY + 1, 7, 3, 2)
BLOCK(row7_3_2, 1, 7, 3, 2)
BLOCK(block_5_1, ROWS, 4, 5, 1)
BLOCK(row_5_1, 1, 4, 5, 1)
BLOCK(block7_5_1, MANY + 1, 7, 5, 1)
BLOCK(row7_5_1, 1, 7, 5, 1)
BLOCK(block_5_2, ROWS, 4, 5, 2)
BLOCK(row_5_2, 1, 4, 5, 2)
BLOCK(block7_5_2, MANY + 1, 7, 5, 2)
BLOCK(row7_5_2, 1, 7, 5, 2)
BLOCK(row_any, 1, WIDE, 0, 0)
BLOCK(row4_any, 1, 4, 0, 0)
BLOCK(pixel_any, 1, 1, 0, 0)

/* No rows: no instance. */
#define WIDER(rows, taps, stride, name)                                                                                     \
    {                                                                                                                       \
        MANY ? rows : 0, 7, taps, stride, MANY ? name##_inside : NULL, MANY ? name##_edge : NULL                            \
    }

/* Instances by the pixels of a block, and the kernels they are for. */
static const struct instance {
    size_t rows, columns, taps, stride;
    block_fn inside, edge;
} instances[] = {
    {ROWS, 4, 3, 1, block_3_1_inside, block_3_1_edge},
    {1, 4, 3, 1, row_3_1_inside, row_3_1_edge},
    WIDER(ROWS_7, 3, 1, block7_3_1),
    WIDER(1, 3, 1, row7_3_1),
    {ROWS, 4, 3, 2, block_3_2_inside, block_3_2_edge},
    {1, 4, 3, 2, row_3_2_inside, row_3_2_edge},
    WIDER(MANY + 1, 3, 2, block7_3_2),
    WIDER(1, 3, 2, row7_3_2),
    {ROWS, 4, 5, 1, block_5_1_inside, block_5_1_edge},
    {1, 4, 5, 1, row_5_1_inside, row_5_1_edge},
    WIDER(MANY + 1, 5, 1, block7_5_1),
    WIDER(1, 5, 1, row7_5_1),
    {ROWS, 4, 5, 2, block_5_2_inside, block_5_2_edge},
    {1, 4, 5, 2, row_5_2_inside, row_5_2_edge},
    WIDER(MANY + 1, 5, 2, block7_5_2),
    WIDER(1, 5, 2, row7_5_2),
    {1, WIDE, 0, 0, row_any_inside, row_any_edge},
    {1, 4, 0, 0, row4_any_inside, row4_any_edge},
    {1, 1, 0, 0, pixel_any_inside, pixel_any_edge}};

/* True when it computes the kernel of d, and there are as many rows and pixels. */
static bool fits(const struct instance * i, const struct sn_depthwise_nhwc_32f * d, size_t rows)
{
    const bool kernel = i->taps == d->kernelY && i->taps == d->kernelX && d->dilationX == 1 && i->stride == d->strideX &&
                        i->stride == d->lineStep;
    return (kernel || !i->taps) && i->rows && i->rows <= rows && i->columns <= d->dstW;
}

/* The pixels of a row that are computed, some of them twice. */
static size_t computed(const struct instance * i, size_t width) { return sn_ceil_div(width, i->columns) * i->columns; }

/* The instance that computes the fewest pixels twice; if none is made for the kernel, the widest of those for any. */
static const struct instance * instance_of(const struct sn_depthwise_nhwc_32f * d, size_t rows)
{
    const struct instance * const end = instances + sizeof(instances) / sizeof(*instances);
    const struct instance * best = NULL;
    for (const struct instance * i = instances; i < end && (i->taps || !best); ++i)
        if (fits(i, d, rows) && (!best || computed(i, d->dstW) < computed(best, d->dstW)))
            best = i;
    return best;
}

/* All columns of the rows of an instance. The last block may overlap the one before: it writes the same values again. */
static void row_of_blocks(const struct sn_depthwise_nhwc_32f * d, const struct instance * i, const float * const * line,
                          float * dst)
{
    const size_t reach = (i->columns - 1) * d->strideX + (d->kernelX - 1) * d->dilationX;
    for (size_t x = 0; x < d->dstW; x += i->columns) {
        x = sn_min(x, d->dstW - i->columns);
        const size_t at = x * d->strideX;
        const bool inside = at >= d->padX && at + reach < d->padX + d->srcW;
        float * to = dst + x * d->dstPixel;
        (inside ? i->inside : i->edge)(d, line, x, to);
        if (d->activation == SimdConvolutionActivationElu)
            elu_block(d, to, i->rows, i->columns);
    }
}

static void depthwise_nhwc_32f(const struct sn_depthwise_nhwc_32f * d)
{
    for (size_t y = 0; y < d->rows;) {
        const struct instance * i = instance_of(d, d->rows - y);
        row_of_blocks(d, i, d->line + y * d->lineStep, d->dst + y * d->dstRow);
        y += i->rows;
    }
}

void ISA_FN(install_depthwise_nhwc_32f)(struct sn_table * table) { table->depthwise_nhwc_32f = depthwise_nhwc_32f; }
