/*
 * A block of a depthwise convolution of NHWC pixels: one vector of its channels. See nhwc.h, which computes images by blocks.
 *
 * A block is several neighbouring pixels in several rows: their sums stay in registers while the input lines that they need
 * are read in order, for one vector of channels after the other. An input is loaded once for all sums of a row of taps, a
 * weight once for all pixels of a row: 0.5 loads per multiply-add, so loads are not the limit. Each sum is one chain in the
 * order of ky and kx, at any position of its output.
 *
 * From the L1 cache 3x3 reaches 0.87 of the peak, 5x5 0.95 (AVX-512). Stride 2 is limited by the other caches: 4 inputs for
 * 9 multiply-adds. A loop of 4 loads and a store alone, without arithmetic, reads from the L3 cache at the rate that 0.74 of
 * the peak would need.
 */
#ifndef SN_KERNELS_DEPTHWISE_NHWC_BLOCK_H
#define SN_KERNELS_DEPTHWISE_NHWC_BLOCK_H

#include "contract/depthwise.h"
#include "kernels/activate.h"

/* Whether inputs are bfloat16 numbers. */
enum { SMALL = sizeof(ELEMENT) == sizeof(sn_16b) };

/*
 * Shapes of blocks, chosen so that gcc 12 keeps them in 32 registers or in 16. Blocks of 4 pixels read the fewest lines: 1.5
 * for each line of output. Blocks of 7 pixels are for images whose width is not a multiple of 4 (14 and 7 pixels): they
 * compute no pixel twice, which gains 1.1 to 1.4 times; with 16 registers, where only one row of them fits, they gained
 * nothing, and lost 1.4 times for 5x5 of stride 2. Blocks of 2 pixels in 2 rows are for 3x3 of stride 2, many channels and
 * images at least PAIRS wide: lines are then read nearly sequentially, which suits the prefetchers: 1.05 to 1.18 times as
 * fast as 4 x 4. Software prefetches only made it slower; blocks of 3 x 2 are as fast, of one pixel or one row slower; small
 * images, which are read from the L2 cache, take 1.05 to 1.5 times as long. Blocks of one pixel in 2 rows are for pixels a
 * multiple of 2 KB apart (512 floats), whose inputs all map to two sets of the L1 cache: see part_of() in
 * ops/convolution/32f_depthwise_nhwc.c.
 */
enum { MANY_REGISTERS = V32F_N == 16, ROWS = MANY_REGISTERS ? 4 : 2, ROWS_7 = MANY_REGISTERS ? 3 : 1, WIDE = 8, PAIRS = 16 };

/* Kernels whose weights all fit in registers. */
#define WEIGHTS_FIT(taps) (MANY_REGISTERS && (taps) == 3)

/*
 * An instance is kept if it gains 3% on a layer of the benchmarks, and is unrolled if that gains as much:
 *   - the lines of one row are a loop for 5x5, which is as fast; for one row of 3x3 it took 1.05 times as long (960x7x7,
 *     AVX2);
 *   - channels after the last whole vector have loops of their own in each instance if vectors are long, except for kernels in
 *     parts: with one loop shared by all instances, row by row, 72x56x56 by 3x3 took 1.05 times as long, and 24x96x256 by 7x7
 *     1.6 times, which is 1.5 times as long as with 32 channels. With short vectors these networks have no such channels, so the
 *     shared loop is used, except for 3x3: without that second loop gcc 12 made the first one 1.03 to 1.06 times as slow
 *     (1024x7x7, AVX2; 96x112x112 of stride 2, SSE4.1);
 *   - blocks of 7 pixels, of 1 and of 2: see above;
 *   - of bfloat16 numbers, which take more instructions to load, pixels inside have functions of their own where these gain:
 *     1.04 to 1.12 times for 5x5 and 7x7 with AVX-512, 1.1 for all with AVX2; none with vectors of 4. Tails are shared
 *     except for 3x3; in compact code there, too;
 *   - in compact code, 3x3 of floats alone has these functions: it takes 1.04 to 1.3 times as long without them, 5x5 1.04; and
 *     a single row by 7x7 or 9x9 is computed in parts: 96x7x7 by 7x7 takes 1.2 times as long.
 */
#define ROLLED(taps, rows) ((taps) == 5 && (rows) == 1)
#define INSIDE(taps) ((!SMALL && (!V_COMPACT || (taps) == 3)) || V32F_N == 8 || (MANY_REGISTERS && (taps) >= 5))
#define OWN_TAIL(taps) (!V_COMPACT && ((MANY_REGISTERS && !SMALL && !IN_PARTS(taps)) || (taps) == 3))

/*
 * Whether blocks at the edge load all channels as a part of a vector, by masks: one function then serves those and the channels
 * after the last whole vector. 7 pixels have two, because images of that width have no other blocks: 960x7x7 by 5x5 would take
 * 1.06 times as long.
 */
#define MASKED(taps, columns) (MANY_REGISTERS && OWN_TAIL(taps) && !SMALL && (columns) != 7)

/*
 * Whether half a vector of channels has code of its own: 8x75x75 by 3x3 with stride 3 takes 0.7 of the time, 24x75x75 0.75.
 * Blocks of 4 pixels by 3x3 have it inside: 8x112x112 with stride 2 takes 0.71, 24x56x56 0.86, 24x112x112 with stride 2 0.9,
 * 120x28x28 0.95. In one function with other parts of a vector it was as fast, but 32 channels took 1.05 times as long.
 */
#define HALVES(taps) (MASKED(taps, 1) && (taps) == 0)
#define HALVES_INSIDE(taps, columns) (MASKED(taps, 1) && (taps) == 3 && (columns) == 4)

/*
 * Kernels of 7 and 9 columns with any number of rows, of stride 1, in one or two rows of outputs. The lines are a loop: the
 * code of 49 taps would be longer than the decoders' cache. A line between the first and the last serves both rows, so its
 * inputs are loaded once for 14 or 18 multiply-adds. 96x56x56 by 7x7 takes 0.38 of the time of the instance for any kernel
 * (AVX-512), 0.46 (AVX2).
 */
#define LARGE(taps) ((taps) > 5)
enum { LARGE_COLUMNS = MANY_REGISTERS ? 8 : 4 };

/*
 * Kernels of any other number of columns likewise, PART taps of a line at a time, then three if so many are left, with vectors
 * of 16 floats, or two, then one: 96x28x28 takes 0.6 of the time of the instance for any stride by 4x4 and 6x6, 0.7 by 3x5, 0.3
 * by 11x11, 0.9 by 1x1 and 1x3 (AVX2). With three at once planes of 13 and 19 columns by 9x3 and 7x3, most of whose blocks are at
 * edges, take 0.9 of the time, 96x14x14 by 11x11 the same, by 1x3 0.83; with vectors of 8 floats 0.93 to 1.
 */
enum { PARTS = 100, PART = 4 };
#define IN_PARTS(taps) ((taps) == PARTS)
#define THREE(stride) (MANY_REGISTERS && !SMALL && (stride) == 1)

/*
 * Floats have blocks in parts with strides of 2 and 3, too, for kernels whose rows of outputs share at least two lines. Of the
 * time of the instance for any stride 96x28x28 by 7x7 with stride 2 takes 0.5, 64x56x56 0.6, with stride 3 0.7 (AVX-512; AVX2 0.65 to
 * 0.7). With stride 4 7x7 took 0.85 to 1.15 of it, 3x3 with stride 3, whose rows share no lines, 1.3: it has blocks of 4
 * pixels in a row with all taps at once: 0.94 in the mean of 13 layers (96x60x60 0.78, 64x56x56 0.82; 25 outputs wide to 1.14).
 * Blocks inside have all 7 taps of a line at once where registers keep them: parts load inputs twice, and take as many
 * instructions for addresses as for multiply-adds. 416x32x192 by 7x7 with stride 3 takes 0.81 of the time of parts,
 * 16x32x192 0.85, 104x120x120 with stride 2 0.93 (AVX-512; AVX2 0.93, but 0.98 to 1.06 with
 * stride 3, which has parts alone).
 * They are 4 pixels wide: strides make images small, and 8 pixels for AVX-512 took 1.6 times as long for images of 7, else 0.97
 * to 1.04.
 */
#define STRIDED (!SMALL && !V_COMPACT)

static const ELEMENT zeros[V32F_N] SN_ALIGNED;

/*
 * A stride of instances of stride 1 by rows and of any stride by columns, all of whose inputs are pixels of their lines: drivers
 * compute pixels of few channels as one pixel of many, whose stride is the number of these pixels. The edges of such lines, and
 * narrow images, have blocks of one column by 3x3 and of two by 5x5.
 */
enum { APART = -1, APART_COLUMNS = 8 / ROWS };

/*
 * Any kernel has blocks of two rows and of four or one columns of such pixels, whose lines and taps are loops: six loads for eight
 * multiply-adds, where the instance for any stride has nine. 96x96 of 3 channels by 5x5 takes 0.8 of the time, 28x28 by 7x7 0.7
 * (AVX2), 96x96 of 2 by 7x7 0.8 with both.
 */
#define ANY_APART (!SMALL && V32F_N >= 8)
#define JOINED(taps) (!SMALL && (MANY_REGISTERS || (V32F_N == 8 && (taps) == 3)))

#define BLOCK_ARGUMENTS const struct sn_depthwise_nhwc *d, const void *const *line, size_t x, void *dst
#define BLOCKS_ARGUMENTS const struct sn_depthwise_nhwc *d, const void *const *line, size_t x, size_t end, void *dst

/*
 * The compile-time arguments of an instance. taps and stride 0 stand for any, as given in the job, in one row. `inside`:
 * all inputs are pixels of their lines. `whole`: all lanes are channels.
 */
#define BLOCK_SHAPE int rows, int columns, int taps, int stride, bool inside, bool whole

/* The most pixels of a line that a block with constant taps uses; those for tap 0 come first. */
enum { PIXELS = (WIDE - 1) * 3 + PART };

/*
 * A pointer that the compiler must not recompute. Without it gcc 12 turns the address of each tap and pixel into a variable
 * of the loop over channels, which needs too many registers: 3x3 took 1.2 to 1.5 times as long.
 */
SN_INLINE const void * opaque_pointer(const void * p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* The inputs of a block in a line. */
struct inputs {
    size_t at;     /* index of the first pixel; wraps to a huge value left of the line */
    size_t width;  /* pixels in the line */
    size_t step;   /* elements between pixels */
    size_t lanes;
};

/* Pixel t of the inputs, at address `from`. */
SN_INLINE v32f load_pixel(const struct inputs * in, const ELEMENT * from, size_t t, bool inside, bool whole)
{
    if (!inside)
        from = in->at + t < in->width ? from : zeros;
    if (SMALL)
        return v_keep_32f(whole ? v_load_16b_32f(from) : v_load_tail_16b_32f(from, in->lanes));
    return v_keep_32f(whole ? v_load_32f(from) : v_load_tail_32f(from, in->lanes));
}

/*
 * Adds one line of input, for which row i uses tap row line - i * stride, if it exists; the weights of tap rows are `pitch`
 * floats apart. One pointer serves three pixels by
 * addressing modes: with one pointer for all there are as many additions as multiply-adds.
 */
SN_INLINE void add_line(const struct inputs * in, const ELEMENT * from, int line, const sn_32f * weight, size_t pitch,
                        v32f (*sum)[WIDE], BLOCK_SHAPE)
{
    v32f a[PIXELS];
    const ELEMENT * p[(PIXELS + 2) / 3];
    const size_t step3 = 3 * in->step;
    p[0] = opaque_pointer(from);
    SN_UNROLL for (int t = 3; t < (columns - 1) * stride + taps; t += 3) p[t / 3] = opaque_pointer(p[t / 3 - 1] + step3);
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
            if (ky < 0 || ky >= (taps > stride ? taps : stride + 1)) /* a part of few columns has all rows, too */
                continue;
            const v32f b = v_keep_32f(v_load_32f(weight + (size_t)ky * pitch + kx * V32F_N));
            SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = v_fma_32f(a[kx + j * stride], b, sum[i][j]);
        }
    }
}

/* The same for pixels that share no inputs, with weights in registers or, where that is NULL, in memory. */
SN_INLINE void add_line_apart(const struct sn_depthwise_nhwc * d, const struct inputs * in, const ELEMENT * from, int line,
                              const v32f * registers, const sn_32f * weight, v32f sum[ROWS][WIDE], int rows, int columns,
                              int taps, bool whole)
{
    const ELEMENT * p[WIDE];
    p[0] = opaque_pointer(from);
    SN_UNROLL for (int j = 1; j < columns; ++j) p[j] = opaque_pointer(p[j - 1] + d->strideX * in->step);
    SN_UNROLL for (int kx = 0; kx < taps; ++kx)
    {
        v32f a[WIDE];
        SN_UNROLL for (int j = 0; j < columns; ++j) a[j] = load_pixel(in, p[j] + (size_t)kx * in->step, 0, true, whole);
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const int k = (line - i) * taps + kx;
            if (line < i || line - i >= taps)
                continue;
            const v32f b = registers ? registers[k] : v_keep_32f(v_load_32f(weight + k * V32F_N));
            SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = v_fma_32f(a[j], b, sum[i][j]);
        }
    }
}

/* All taps of a line, of a kernel of any size, for row 0, and for row 1 those of the line above. */
SN_INLINE void add_any_taps_apart(const struct sn_depthwise_nhwc * d, const struct inputs * in, const void * line, size_t first,
                                  const sn_32f * weight, v32f (*sum)[WIDE], int rows, int columns, bool whole)
{
    const size_t step = d->strideX * in->step, pitch = d->kernelX * V32F_N;
    const ELEMENT * from = (const ELEMENT *)line + first;
    for (size_t kx = 0; kx < d->kernelX; ++kx, from += in->step, weight += V32F_N) {
        v32f a[WIDE];
        SN_UNROLL for (int j = 0; j < columns; ++j) a[j] = load_pixel(in, from + (size_t)j * step, 0, true, whole);
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const v32f b = v_keep_32f(v_load_32f(weight - (size_t)i * pitch));
            SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = v_fma_32f(a[j], b, sum[i][j]);
        }
    }
}

/* All lines of such a kernel for two rows: those between the first and the last serve both. */
SN_INLINE void add_any_apart(const struct sn_depthwise_nhwc * d, const struct inputs * in, size_t first, const void * const * line,
                             const sn_32f * weight, v32f sum[ROWS][WIDE], int columns, bool whole)
{
    const size_t pitch = d->kernelX * V32F_N;
    if (line[0])
        add_any_taps_apart(d, in, line[0], first, weight, sum, 1, columns, whole);
    for (size_t l = 1; l < d->kernelY; ++l) {
        weight += pitch;
        if (line[l])
            add_any_taps_apart(d, in, line[l], first, weight, sum, 2, columns, whole);
    }
    if (line[d->kernelY])
        add_any_taps_apart(d, in, line[d->kernelY], first, weight, sum + 1, 1, columns, whole);
}

/* The same pixel by pixel, with all weights in registers: 0.6 loads per multiply-add in a block of 4 x 4. */
SN_INLINE void add_line_in_registers(const struct sn_depthwise_nhwc * d, const struct inputs * in, const ELEMENT * from,
                                     int line, const v32f * weight, v32f sum[ROWS][WIDE], BLOCK_SHAPE)
{
    if (stride == APART) {
        add_line_apart(d, in, from, line, weight, NULL, sum, rows, columns, taps, whole);
        return;
    }
    const ELEMENT * p = opaque_pointer(from);
    SN_UNROLL for (int t = 0; t < (columns - 1) * stride + taps; ++t)
    {
        if (t && t % 3 == 0)
            p = opaque_pointer(p + 3 * in->step);
        const v32f a = load_pixel(in, p + (size_t)(t % 3) * in->step, (size_t)t, inside, whole);
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < columns; ++j)
            {
                const int ky = line - i * stride, kx = t - j * stride;
                if (ky >= 0 && ky < taps && kx >= 0 && kx < taps)
                    sum[i][j] = v_fma_32f(a, weight[ky * taps + kx], sum[i][j]);
            }
    }
}

/* The same for one row, with any kernel, stride and dilation. */
SN_INLINE void add_any_line(const struct sn_depthwise_nhwc * d, struct inputs in, const ELEMENT * from,
                            const sn_32f * weight, v32f sum[WIDE], int columns, bool inside, bool whole)
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

SN_INLINE void activate_as(v32f sum[ROWS][WIDE], const struct sn_depthwise_nhwc * d, size_t c, int rows, int columns,
                           enum sn_activation type)
{
    const v32f p0 = v_set_32f(d->param[0]), p1 = v_set_32f(d->param[1]);
    const v32f slope = type == SN_ACTIVATION_PRELU ? v_load_32f(d->slope + c) : p0;
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = activate_32f(sum[i][j], type, slope, p0, p1);
}

/* A copy of the loops for each activation, selected once per block; others follow when the block has been stored. */
SN_INLINE void activate(v32f sum[ROWS][WIDE], const struct sn_depthwise_nhwc * d, size_t c, int rows, int columns)
{
    switch (d->activation) {
    case SN_ACTIVATION_RELU: activate_as(sum, d, c, rows, columns, SN_ACTIVATION_RELU); break;
    case SN_ACTIVATION_PRELU: activate_as(sum, d, c, rows, columns, SN_ACTIVATION_PRELU); break;
    case SN_ACTIVATION_RESTRICT_RANGE:
        activate_as(sum, d, c, rows, columns, SN_ACTIVATION_RESTRICT_RANGE);
        break;
    case SN_ACTIVATION_HSWISH: activate_as(sum, d, c, rows, columns, SN_ACTIVATION_HSWISH); break;
    default: break;
    }
}

/* A line of a large kernel for rows whose weights begin at `weight`, see add_line(). */
SN_INLINE void add_large_line(const struct sn_depthwise_nhwc * d, const struct inputs * in, const void * line, size_t first,
                              int at, const sn_32f * weight, v32f (*sum)[WIDE], BLOCK_SHAPE)
{
    const ELEMENT * from = (const ELEMENT *)line + first;
    if (!IN_PARTS(taps)) {
        add_line(in, from, at, weight, (size_t)taps * V32F_N, sum, rows, columns, taps, stride, inside, whole);
        return;
    }
    struct inputs part = *in;
    const size_t pitch = d->kernelX * V32F_N;
    size_t kx = 0;
    for (; kx + PART <= d->kernelX; kx += PART, part.at += PART, from += PART * in->step, weight += PART * V32F_N)
        add_line(&part, from, at, weight, pitch, sum, rows, columns, PART, stride, inside, whole);
    if (THREE(stride) && kx + 3 == d->kernelX) {
        add_line(&part, from, at, weight, pitch, sum, rows, columns, 3, stride, inside, whole);
        return;
    }
    if (kx + 2 <= d->kernelX) {
        add_line(&part, from, at, weight, pitch, sum, rows, columns, 2, stride, inside, whole);
        kx += 2, part.at += 2, from += 2 * in->step, weight += 2 * V32F_N;
    }
    for (; kx < d->kernelX; ++kx, ++part.at, from += in->step, weight += V32F_N)
        add_line(&part, from, at, weight, pitch, sum, rows, columns, 1, stride, inside, whole);
}

/*
 * The lines of a large kernel for one or two rows. With two, a line in the middle adds to both: `line` of add_line() is the stride
 * there, and weight[0] belongs to the lower row.
 */
SN_INLINE void add_large(const struct sn_depthwise_nhwc * d, const struct inputs * in, size_t first,
                         const void * const * line, const sn_32f * weight, v32f sum[ROWS][WIDE], BLOCK_SHAPE)
{
    const size_t last = d->kernelY, step = (IN_PARTS(taps) ? d->kernelX : (size_t)taps) * V32F_N;
    size_t l = 0;
    weight = opaque_pointer(weight);
    for (; l < (size_t)stride; ++l)
        if (line[l])
            add_large_line(d, in, line[l], first, 0, weight + l * step, sum, 1, columns, taps, stride, inside, whole);
    for (; l < last; ++l, weight += step)
        if (line[l])
            add_large_line(d, in, line[l], first, stride, weight, sum, rows, columns, taps, stride, inside, whole);
    for (; rows > 1 && l < last + (size_t)stride; ++l, weight += step)
        if (line[l])
            add_large_line(d, in, line[l], first, 0, weight, sum + 1, 1, columns, taps, stride, inside, whole);
}

/* Whether results are rounded to bfloat16. */
SN_INLINE bool narrow(const struct sn_depthwise_nhwc * d) { return SMALL && d->narrow; }

/* The address of result i from dst on. */
SN_INLINE void * result_at(const struct sn_depthwise_nhwc * d, void * dst, size_t i)
{
    return (uint8_t *)dst + i * (narrow(d) ? sizeof(sn_16b) : sizeof(sn_32f));
}

/* Stores the results of a block of floats for the channels from c on. */
SN_INLINE void store(const struct sn_depthwise_nhwc * d, sn_32f * dst, size_t c, v32f sum[ROWS][WIDE], int rows, int columns,
                     size_t lanes, bool whole)
{
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j)
        {
            sn_32f * to = dst + (size_t)i * d->dstRow + (size_t)j * d->dstPixel + c;
            if (whole)
                v_store_32f(to, sum[i][j]);
            else
                v_store_tail_32f(to, sum[i][j], lanes);
        }
}

/*
 * For bfloat16 numbers: rounds and stores results of the simplest activations. The sums are made of products of bfloat16
 * numbers and of a bias whose NaN has no bits in its lower half, so every NaN has none there.
 */
SN_INLINE void store_rounded(const struct sn_depthwise_nhwc * d, sn_16b * dst, size_t c, v32f sum[ROWS][WIDE], int rows,
                             int columns)
{
    const struct limits l = limits_of(d->activation, d->param);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j)
            v_store_sum_16b_32f(dst + (size_t)i * d->dstRow + (size_t)j * d->dstPixel + c, limit(sum[i][j], l));
}

/*
 * The other cases: the sums of a block in memory, from where one loop for all instances activates and stores them. Unrolled
 * in each instance, as for floats, this would be as much code as the sums. For all cases it would take 1.2 to 1.3 times as
 * long.
 */
struct block {
    v32f sum[ROWS * WIDE];
    size_t rows, columns, c;
};

SN_INLINE void activate_block(const struct sn_depthwise_nhwc * d, struct block * b, enum sn_activation type)
{
    const v32f p0 = v_set_32f(d->param[0]), p1 = v_set_32f(d->param[1]);
    const v32f slope = type == SN_ACTIVATION_PRELU ? v_load_32f(d->slope + b->c) : p0;
    for (size_t i = 0; i < b->rows * b->columns; ++i)
        b->sum[i] = activate_32f(b->sum[i], type, slope, p0, p1);
}

SN_INLINE void store_block(const struct sn_depthwise_nhwc * d, const struct block * b, void * dst, size_t lanes, bool whole,
                           bool small)
{
    const v32f * sum = b->sum;
    for (size_t i = 0; i < b->rows; ++i)
        for (size_t j = 0; j < b->columns; ++j, ++sum) {
            void * to = result_at(d, dst, i * d->dstRow + j * d->dstPixel + b->c);
            if (small && whole)
                v_store_16b_32f(to, *sum);
            else if (small)
                v_store_tail_16b_32f(to, *sum, lanes);
            else if (whole)
                v_store_32f(to, *sum);
            else
                v_store_tail_32f(to, *sum, lanes);
        }
}

static __attribute__((noinline, unused)) void finish(const struct sn_depthwise_nhwc * d, struct block * b, void * dst)
{
    const size_t lanes = d->channels - b->c;
    switch (d->activation) {
    case SN_ACTIVATION_IDENTITY: break;
    case SN_ACTIVATION_RELU: activate_block(d, b, SN_ACTIVATION_RELU); break;
    case SN_ACTIVATION_PRELU: activate_block(d, b, SN_ACTIVATION_PRELU); break;
    case SN_ACTIVATION_RESTRICT_RANGE: activate_block(d, b, SN_ACTIVATION_RESTRICT_RANGE); break;
    case SN_ACTIVATION_HSWISH: activate_block(d, b, SN_ACTIVATION_HSWISH); break;
    default:
        ACTIVATE_ROWS((sn_32f *)b->sum, b->rows * b->columns, V32F_N, V32F_N, d->activation, d->param);
    }
    if (narrow(d) && lanes >= V32F_N)
        store_block(d, b, dst, lanes, true, true);
    else if (narrow(d))
        store_block(d, b, dst, lanes, false, true);
    else if (lanes >= V32F_N)
        store_block(d, b, dst, lanes, true, false);
    else
        store_block(d, b, dst, lanes, false, false);
}

/*
 * Prefetches what the next block in these rows reads in lines that no block above has read: whole cache lines, one half of
 * these lines for each other vector of channels. The prefetchers of the processor do not follow blocks of pixels in several
 * lines from memory: 128x299x299 by 3x1 takes 0.72 of the time, 800x75x75 by 3x3 0.9, 608x112x112 by 1x1 0.86 (AVX2, Zen 3).
 * Many prefetches at once, before a part of the lines, had no effect; with stride 2, where blocks have twice the lines, these
 * took 1.05 to 1.1 times as long; in the caches up to 1.03.
 */
SN_INLINE void prefetch_next(const struct sn_depthwise_nhwc * d, const void * const * line, size_t first, size_t c, int rows,
                             int columns)
{
    const size_t lines = (size_t)rows - 1 + d->kernelY, odd = c / V32F_N % 2;
    SN_UNROLL for (size_t l = 1; l <= (size_t)rows; l += 2) {
        const ELEMENT * next = l + odd <= lines ? line[lines - l - odd] : NULL;
        if (next)
            SN_UNROLL for (size_t j = 0; j < (size_t)columns; ++j)
                __builtin_prefetch(next + first + ((size_t)columns + j) * d->srcPixel);
    }
}

/* The bias of the channels from c on, with the NaN that store_rounded() expects. */
SN_INLINE v32f bias_at(const struct sn_depthwise_nhwc * d, size_t c)
{
    const v32f given = v_load_32f(d->bias + c);
    return SMALL ? v_select_32f(v_eq_32f(given, given), given, v_set_32f(NAN)) : given;
}

/* Activates and stores the sums of a block for the channels from c on; `full`: these fill a vector, though `whole` is false. */
SN_INLINE void end_block(const struct sn_depthwise_nhwc * d, void * dst, size_t c, v32f sum[ROWS][WIDE], size_t lanes, int rows,
                         int columns, bool whole, bool full)
{
    if (SMALL && whole && narrow(d) && !second_pass(d->activation)) {
        store_rounded(d, dst, c, sum, rows, columns);
    } else if (SMALL) {
        struct block b;
        b.rows = (size_t)rows, b.columns = (size_t)columns, b.c = c;
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < columns; ++j) b.sum[i * columns + j] = sum[i][j];
        finish(d, &b, dst);
    } else {
        activate(sum, d, c, rows, columns);
        if (whole || full)
            store(d, dst, c, sum, rows, columns, lanes, true);
        else
            store(d, dst, c, sum, rows, columns, lanes, false);
    }
}

/* Computes one vector of channels from c on, of which `lanes` exist. */
SN_INLINE void block_part(BLOCK_ARGUMENTS, size_t c, size_t lanes, BLOCK_SHAPE)
{
    v32f sum[ROWS][WIDE];
    const int lines = (rows - 1) * (stride == APART ? 1 : stride) + taps;
    const v32f bias = bias_at(d, c);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = bias;
    const struct inputs in = {.at = x * (taps && stride != APART ? (size_t)stride : d->strideX) - d->padX,
        .width = d->srcW, .step = d->srcPixel, .lanes = lanes};
    const size_t first = d->offset + in.at * in.step + c, pitch = (size_t)taps * V32F_N;
    if (stride == 1 && inside && whole && d->cold)
        prefetch_next(d, line, first, c, rows, columns);
    if (WEIGHTS_FIT(taps)) {
        const sn_32f * weight = d->weight + c * (size_t)(taps * taps);
        v32f registers[9];
        SN_UNROLL for (int k = 0; k < 9; ++k) registers[k] = v_keep_32f(v_load_32f(weight + k * V32F_N));
        SN_UNROLL for (int l = 0; l < lines; ++l)
            if (SN_LIKELY(line[l]))
                add_line_in_registers(d, &in, (const ELEMENT *)line[l] + first, l, registers, sum, rows, columns, taps,
                                      stride, inside, whole);
    } else if (ROLLED(taps, rows)) {
        const sn_32f * weight = opaque_pointer(d->weight + c * (size_t)(taps * taps));
        for (int l = 0; l < taps; ++l, weight += taps * V32F_N)
            if (line[l])
                add_line(&in, (const ELEMENT *)line[l] + first, 0, weight, pitch, sum, rows, columns, taps, stride, inside,
                         whole);
    } else if (stride == APART && IN_PARTS(taps)) {
        add_any_apart(d, &in, first, line, d->weight + c * d->kernelY * d->kernelX, sum, columns, whole);
    } else if (stride == APART) {
        const sn_32f * weight = opaque_pointer(d->weight + c * (size_t)(taps * taps));
        SN_UNROLL for (int l = 0; l < lines; ++l)
            if (line[l])
                add_line_apart(d, &in, (const ELEMENT *)line[l] + first, l, NULL, weight, sum, rows, columns, taps, whole);
    } else if (LARGE(taps)) {
        const sn_32f * weight = d->weight + c * d->kernelY * d->kernelX;
        add_large(d, &in, first, line, weight, sum, rows, columns, taps, stride, inside, whole);
    } else if (taps) {
        const sn_32f * weight = opaque_pointer(d->weight + c * (size_t)(taps * taps));
        SN_UNROLL for (int l = 0; l < lines; ++l)
            if (line[l])
                add_line(&in, (const ELEMENT *)line[l] + first, l, weight, pitch, sum, rows, columns, taps, stride, inside,
                         whole);
    } else {
        const sn_32f * weight = d->weight + c * d->kernelY * d->kernelX;
        for (size_t ky = 0; ky < d->kernelY; ++ky, weight += d->kernelX * V32F_N)
            if (line[ky])
                add_any_line(d, in, (const ELEMENT *)line[ky] + first, weight, sum[0], columns, inside, whole);
    }
    end_block(d, dst, c, sum, in.lanes, rows, columns, whole, MASKED(taps, columns) && in.lanes == V32F_N);
}

SN_INLINE void block_lanes(BLOCK_ARGUMENTS, size_t c, BLOCK_SHAPE)
{
    block_part(d, line, x, dst, c, sn_min(d->channels - c, V32F_N), rows, columns, taps, stride, inside, whole);
}

/* The taps of a line that are pixels of it, for one output. */
struct taps {
    size_t begin, end;
};

static struct taps taps_at(const struct sn_depthwise_nhwc * d, size_t x)
{
    const size_t left = x * d->strideX, behind = d->padX + d->srcW, step = d->dilationX;
    const size_t before = left < d->padX ? d->padX - left : 0, after = left < behind ? behind - left : 0;
    if (step == 1) /* two divisions would take longer than a pixel of few channels */
        return (struct taps){before, sn_min(after, d->kernelX)};
    return (struct taps){sn_ceil_div(before, step), sn_min(sn_ceil_div(after, step), d->kernelX)};
}

/*
 * Computes some vectors of channels from c on of pixel x by the taps t, with any kernel, stride and dilation: so no input is
 * compared with the ends of its line, and taps that would add zeros take no time. 512x3x3 by 5x5 takes 0.46 of the time of a block
 * of one pixel that compares each, 960x3x3 by 7x7 0.4, 8x75x75 by 3x3 with stride 3 0.76 (Xeon with AMX).
 */
enum { PIXEL_VECTORS = 4 };
SN_INLINE void pixel_lanes(BLOCK_ARGUMENTS, struct taps t, size_t c, int vectors, bool whole)
{
    const size_t step = d->dilationX * d->srcPixel, row = d->kernelX * V32F_N, pitch = d->kernelY * row;
    const size_t first = d->offset + (x * d->strideX + t.begin * d->dilationX - d->padX) * d->srcPixel + c;
    const struct inputs in = {.lanes = sn_min(d->channels - c, V32F_N)};
    const sn_32f * weights = d->weight + c * d->kernelY * d->kernelX + t.begin * V32F_N;
    v32f sum[PIXEL_VECTORS], sums[PIXEL_VECTORS];
    SN_UNROLL for (int v = 0; v < vectors; ++v) sum[v] = bias_at(d, c + (size_t)v * V32F_N);
    for (size_t ky = 0; ky < d->kernelY; ++ky, weights += row) {
        if (!line[ky])
            continue;
        const ELEMENT * from = (const ELEMENT *)line[ky] + first;
        const sn_32f * weight = weights;
        for (size_t kx = t.begin; kx < t.end; ++kx, from += step, weight += V32F_N)
            SN_UNROLL for (int v = 0; v < vectors; ++v)
                sum[v] = v_fma_32f(load_pixel(&in, from + v * V32F_N, 0, true, whole),
                                   v_load_32f(weight + (size_t)v * pitch), sum[v]);
    }
    SN_UNROLL for (int v = 0; v < vectors; ++v) sums[v] = sum[v];
    for (int v = 0; v < vectors; ++v) { /* a loop: it is as much code as the sums */
        v32f one[ROWS][WIDE];
        one[0][0] = sums[v];
        end_block(d, dst, c + (size_t)v * V32F_N, one, in.lanes, 1, 1, whole, MASKED(0, 1) && in.lanes == V32F_N);
    }
}

#endif
