/*
 * Depthwise convolution of NHWC pixels, as defined in contract/depthwise.h. The files that include this one define ELEMENT,
 * the type of inputs: sn_32f, or sn_16b for bfloat16 numbers, which become floats as they are loaded. Results are floats;
 * for sn_16b they may be rounded as they are stored.
 *
 * nhwc_block.h computes one vector of channels of a block of pixels. Here are the blocks that exist, the choice among them for a
 * kernel and an image, and the order in which they compute its rows.
 */
#ifndef SN_KERNELS_DEPTHWISE_NHWC_H
#define SN_KERNELS_DEPTHWISE_NHWC_H

#include "kernels/depthwise/nhwc_block.h"

/*
 * Blocks one after the other up to pixel `end`, with the channels from c on, of which the last may fill a part of a vector.
 */
typedef void (*rest_fn)(BLOCKS_ARGUMENTS, size_t c);
SN_INLINE void blocks_from(BLOCKS_ARGUMENTS, size_t first, int rows, int columns, int taps, int stride)
{
    for (; x < end; x += (size_t)columns) {
        void * to = result_at(d, dst, x * d->dstPixel);
        size_t c = first;
        for (; HALVES(taps) && c + V32F_N / 2 == d->channels; c += V32F_N)
            block_part(d, line, x, to, c, V32F_N / 2, rows, columns, taps, stride, !taps, false);
        for (; c < d->channels; c += V32F_N)
            block_lanes(d, line, x, to, c, rows, columns, taps, stride, !taps, false);
    }
}

/* The same with all channels, or all whole vectors of them; `half` is a block of half a vector of channels inside. */
SN_INLINE void blocks(BLOCKS_ARGUMENTS, rest_fn rest, rest_fn half, int rows, int columns, int taps, int stride, bool inside)
{
    for (; x < end; x += (size_t)columns) {
        void * to = result_at(d, dst, x * d->dstPixel);
        size_t c = 0;
        for (; c + V32F_N <= d->channels; c += V32F_N)
            block_lanes(d, line, x, to, c, rows, columns, taps, stride, inside, true);
        if (HALVES_INSIDE(taps, columns) && inside && half && c + V32F_N / 2 == d->channels)
            half(d, line, x, x + 1, dst, c);
        else if (OWN_TAIL(taps) && rest && c < d->channels)
            rest(d, line, x, x + 1, dst, c);
    }
}

/*
 * The channels after the last whole vector, of pixels that other instances have computed, at least as many as columns here. The
 * last block may overlap the previous one.
 */
SN_INLINE void tail_of_blocks(BLOCKS_ARGUMENTS, int columns, int taps, int stride)
{
    const size_t c = d->channels / V32F_N * V32F_N;
    for (; x < end; x += (size_t)columns) {
        x = sn_min(x, end - (size_t)columns);
        block_lanes(d, line, x, result_at(d, dst, x * d->dstPixel), c, 1, columns, taps, stride, !taps, false);
    }
}

/* Some vectors of channels from c on, or one, which may be a part, pixel by pixel, also at the edges. */
static __attribute__((noinline)) void pixels_of_vectors(BLOCKS_ARGUMENTS, size_t c)
{
    for (; x < end; ++x)
        pixel_lanes(d, line, x, result_at(d, dst, x * d->dstPixel), taps_at(d, x), c, PIXEL_VECTORS, true);
}

static __attribute__((noinline)) void pixels_of_vector(BLOCKS_ARGUMENTS, size_t c)
{
    for (; x < end; ++x) {
        void * to = result_at(d, dst, x * d->dstPixel);
        if (!MASKED(0, 1) && c + V32F_N <= d->channels)
            pixel_lanes(d, line, x, to, taps_at(d, x), c, 1, true);
        else
            pixel_lanes(d, line, x, to, taps_at(d, x), c, 1, false);
    }
}

static void tail1_any(BLOCKS_ARGUMENTS) { pixels_of_vector(d, line, x, end, dst, d->channels / V32F_N * V32F_N); }

/* All channels of such pixels of some rows: weights are read once, by parts that stay in the L1 cache. 1952x2x2 by 4x4 takes 0.7
 * of the time that it takes pixel by pixel. */
static void pixels_of_rows(BLOCKS_ARGUMENTS, size_t rows)
{
    for (size_t c = 0, step; c < d->channels; c += step) {
        const bool some = c + PIXEL_VECTORS * V32F_N <= d->channels;
        step = some ? PIXEL_VECTORS * V32F_N : V32F_N;
        for (size_t y = 0; y < rows; ++y)
            (some ? pixels_of_vectors : pixels_of_vector)(d, line + y * d->lineStep, x, end, result_at(d, dst, y * d->dstRow), c);
    }
}

static void pixel_any(BLOCKS_ARGUMENTS) { pixels_of_rows(d, line, x, end, dst, 1); }

/*
 * An instance is separate functions, so that the compiler can use all registers in each: blocks inside, other blocks, and the
 * channels of a block after the last whole vector. The last is called by both: loops in each were 86 KB of code, and no faster.
 */
typedef void (*blocks_fn)(BLOCKS_ARGUMENTS);
#define BLOCK(name, rows, columns, taps, stride)                                                                            \
    static __attribute__((noinline, unused)) void name##_rest(BLOCKS_ARGUMENTS, size_t c)                                   \
    {                                                                                                                       \
        if (OWN_TAIL(taps))                                                                                                 \
            blocks_from(d, line, x, end, dst, c, rows, columns, taps, stride);                                              \
    }                                                                                                                       \
    static __attribute__((noinline, unused)) void name##_half(BLOCKS_ARGUMENTS, size_t c)                                   \
    {                                                                                                                       \
        (void)end;                                                                                                          \
        if (HALVES_INSIDE(taps, columns))                                                                                   \
            block_part(d, line, x, result_at(d, dst, x * d->dstPixel), c, V32F_N / 2, rows, columns, taps, stride, true,    \
                       false);                                                                                              \
    }                                                                                                                       \
    static __attribute__((noinline, unused)) void name##_edge(BLOCKS_ARGUMENTS)                                             \
    {                                                                                                                       \
        if (MASKED(taps, columns))                                                                                         \
            name##_rest(d, line, x, end, dst, 0);                                                                           \
        else                                                                                                                \
            blocks(d, line, x, end, dst, name##_rest, NULL, rows, columns, taps, stride, false);                            \
    }                                                                                                                       \
    static __attribute__((noinline, unused)) void name##_inside(BLOCKS_ARGUMENTS)                                           \
    {                                                                                                                       \
        blocks(d, line, x, end, dst, name##_rest, name##_half, rows, columns, taps, stride, true);                          \
    }
/* One whose other blocks and channels are those of another instance, which computes any kernel in parts. */
#define INSIDE_BLOCK(name, rows, columns, taps, stride)                                                                     \
    static __attribute__((noinline, unused)) void name##_inside(BLOCKS_ARGUMENTS)                                           \
    {                                                                                                                       \
        blocks(d, line, x, end, dst, NULL, NULL, rows, columns, taps, stride, true);                                        \
    }
#define TAIL(name, columns, taps, stride)                                                                                   \
    static __attribute__((noinline, unused)) void name(BLOCKS_ARGUMENTS)                                                    \
    {                                                                                                                       \
        tail_of_blocks(d, line, x, end, dst, columns, taps, stride);                                                        \
    }
TAIL(tail_3_1, 4, 3, 1)
TAIL(tail_3_2, 4, 3, 2)
TAIL(tail_5_1, 4, 5, 1)
TAIL(tail_5_2, 4, 5, 2)
TAIL(tail_parts_1, 4, PARTS, 1)
TAIL(tail_parts_2, 4, PARTS, 2)
TAIL(tail_parts_3, 4, PARTS, 3)
TAIL(tail4_any, 4, 0, 0)
BLOCK(block_3_1, ROWS, 4, 3, 1)
BLOCK(row_3_1, 1, 4, 3, 1)
BLOCK(block7_3_1, ROWS_7, 7, 3, 1)
BLOCK(row7_3_1, 1, 7, 3, 1)
BLOCK(block_3_2, ROWS, 4, 3, 2)
BLOCK(block1_3_2, 2, 1, 3, 2)
BLOCK(block2_3_2, 2, 2, 3, 2)
BLOCK(row_3_2, 1, 4, 3, 2)
BLOCK(block7_3_2, MANY_REGISTERS + 1, 7, 3, 2)
BLOCK(row7_3_2, 1, 7, 3, 2)
BLOCK(block_3_apart, ROWS, APART_COLUMNS, 3, APART)
BLOCK(block1_3_apart, ROWS, 1, 3, APART)
BLOCK(edge_3_1, ROWS, 1, 3, 1)
BLOCK(edge_5_1, ROWS, 2, 5, 1)
BLOCK(block_5_apart, ROWS, APART_COLUMNS, 5, APART)
BLOCK(block1_5_apart, ROWS, 1, 5, APART)
BLOCK(row_3_3, 1, 4, 3, 3)
BLOCK(block_5_1, ROWS, 4, 5, 1)
BLOCK(row_5_1, 1, 4, 5, 1)
BLOCK(block7_5_1, MANY_REGISTERS + 1, 7, 5, 1)
BLOCK(row7_5_1, 1, 7, 5, 1)
BLOCK(block_5_2, ROWS, 4, 5, 2)
BLOCK(row_5_2, 1, 4, 5, 2)
BLOCK(block7_5_2, MANY_REGISTERS + 1, 7, 5, 2)
BLOCK(row7_5_2, 1, 7, 5, 2)
BLOCK(block_7_1, 2, LARGE_COLUMNS, 7, 1)
BLOCK(block7_7_1, MANY_REGISTERS + 1, 7, 7, 1)
BLOCK(row7_7_1, 1, 7, 7, 1)
BLOCK(block_9_1, 2, LARGE_COLUMNS, 9, 1)
BLOCK(block7_9_1, MANY_REGISTERS + 1, 7, 9, 1)
BLOCK(row7_9_1, 1, 7, 9, 1)
BLOCK(block_parts_1, 2, LARGE_COLUMNS, PARTS, 1)
BLOCK(row_parts_1, 1, LARGE_COLUMNS, PARTS, 1)
INSIDE_BLOCK(block_7_2, 2, 4, 7, 2)
INSIDE_BLOCK(block_7_3, 2, 4, 7, 3)
BLOCK(block_parts_2, 2, 4, PARTS, 2)
BLOCK(row_parts_2, 1, 4, PARTS, 2)
BLOCK(block_parts_3, 2, 4, PARTS, 3)
BLOCK(row_parts_3, 1, 4, PARTS, 3)
INSIDE_BLOCK(block_any_apart, 2, 4, PARTS, APART)
INSIDE_BLOCK(block1_any_apart, 2, 1, PARTS, APART)
BLOCK(row_any, 1, WIDE, 0, 0)
BLOCK(row4_any, 1, 4, 0, 0)

/* Pixels inside, with any kernel, stride and dilation. The last block may overlap the previous one. */
static void any_inside(BLOCKS_ARGUMENTS)
{
    const size_t n = end - x, rest = n % WIDE;
    if (n < 4) {
        pixel_any(d, line, x, end, dst);
        return;
    }
    if (n >= WIDE)
        row_any_inside(d, line, x, end - rest, dst);
    if (rest == 1)
        pixel_any(d, line, end - 1, end, dst);
    else if (rest > 4 && n >= WIDE)
        row_any_inside(d, line, end - WIDE, end, dst);
    else if (rest > 4)
        row4_any_inside(d, line, x, x + 4, dst);
    if (rest > 1 && (rest <= 4 || n < WIDE))
        row4_any_inside(d, line, end - 4, end, dst);
    if (!OWN_TAIL(0) && d->channels % V32F_N)
        tail4_any(d, line, x, end, dst);
}

/* With 0 rows there is no instance. */
#define INSTANCE_IF(exists, rows, columns, taps, stride, name, tail)                                                        \
    {                                                                                                                       \
        (exists) ? (rows) : 0, columns, taps, stride, (exists) && INSIDE(taps) ? name##_inside : NULL,                      \
            (exists) ? name##_edge : NULL, OWN_TAIL(taps) || !(exists) ? NULL : tail                                        \
    }
#define INSTANCE(...) INSTANCE_IF(true, __VA_ARGS__)
#define MANY_REGISTERS_ONLY(...) INSTANCE_IF(MANY_REGISTERS, __VA_ARGS__)
#define INSTANCE_APART(columns, taps, name, tail)                                                                           \
    {                                                                                                                       \
        JOINED(taps) ? ROWS : 0, columns, taps, APART, JOINED(taps) ? name##_inside : NULL,                             \
            JOINED(taps) ? name##_inside : NULL, OWN_TAIL(taps) || !JOINED(taps) ? NULL : tail                              \
    }

#define INSTANCE_ANY_APART(columns, name)                                                                                   \
    {                                                                                                                       \
        ANY_APART ? 2 : 0, columns, PARTS, APART, ANY_APART ? name##_inside : NULL, ANY_APART ? name##_inside : NULL, tail1_any \
    }
#define INSTANCE_INSIDE(exists, taps, stride, name, other, tail)                                                            \
    {                                                                                                                       \
        (exists) ? 2 : 0, 4, taps, stride, (exists) ? name##_inside : NULL, (exists) ? other##_edge : NULL,                 \
            (exists) ? tail : NULL                                                                                          \
    }

/* Instances: those for the same kernels and stride follow each other. */
static const struct instance {
    size_t rows, columns, taps;
    int stride;
    blocks_fn inside, edge, tail; /* inside: NULL for edge; tail: one row, or NULL with OWN_TAIL */
} instances[] = {
    INSTANCE(ROWS, 4, 3, 1, block_3_1, tail_3_1),
    INSTANCE(1, 4, 3, 1, row_3_1, tail_3_1),
    MANY_REGISTERS_ONLY(ROWS_7, 7, 3, 1, block7_3_1, NULL),
    MANY_REGISTERS_ONLY(1, 7, 3, 1, row7_3_1, NULL),
    INSTANCE_IF(JOINED(3), ROWS, 1, 3, 1, edge_3_1, tail1_any),
    INSTANCE_APART(APART_COLUMNS, 3, block_3_apart, tail1_any),
    INSTANCE_APART(1, 3, block1_3_apart, tail1_any),
    MANY_REGISTERS_ONLY(2, 1, 3, 2, block1_3_2, NULL),
    MANY_REGISTERS_ONLY(2, 2, 3, 2, block2_3_2, NULL),
    INSTANCE(ROWS, 4, 3, 2, block_3_2, tail_3_2),
    INSTANCE(1, 4, 3, 2, row_3_2, tail_3_2),
    MANY_REGISTERS_ONLY(MANY_REGISTERS + 1, 7, 3, 2, block7_3_2, NULL),
    MANY_REGISTERS_ONLY(1, 7, 3, 2, row7_3_2, NULL),
    INSTANCE(1, 4, 3, 3, row_3_3, tail_parts_3),
    INSTANCE(ROWS, 4, 5, 1, block_5_1, tail_5_1),
    INSTANCE(1, 4, 5, 1, row_5_1, tail_5_1),
    MANY_REGISTERS_ONLY(MANY_REGISTERS + 1, 7, 5, 1, block7_5_1, tail_5_1),
    MANY_REGISTERS_ONLY(1, 7, 5, 1, row7_5_1, tail_5_1),
    INSTANCE_IF(JOINED(5), ROWS, 2, 5, 1, edge_5_1, tail1_any),
    INSTANCE_APART(APART_COLUMNS, 5, block_5_apart, tail1_any),
    INSTANCE_APART(1, 5, block1_5_apart, tail1_any),
    INSTANCE_ANY_APART(4, block_any_apart),
    INSTANCE_ANY_APART(1, block1_any_apart),
    INSTANCE(ROWS, 4, 5, 2, block_5_2, tail_5_2),
    INSTANCE(1, 4, 5, 2, row_5_2, tail_5_2),
    MANY_REGISTERS_ONLY(MANY_REGISTERS + 1, 7, 5, 2, block7_5_2, tail_5_2),
    MANY_REGISTERS_ONLY(1, 7, 5, 2, row7_5_2, tail_5_2),
    INSTANCE(2, LARGE_COLUMNS, 7, 1, block_7_1, tail_parts_1),
    MANY_REGISTERS_ONLY(2, 7, 7, 1, block7_7_1, tail_parts_1),
    INSTANCE_IF(!V_COMPACT, 1, 7, 7, 1, row7_7_1, tail_parts_1),
    INSTANCE(2, LARGE_COLUMNS, 9, 1, block_9_1, tail_parts_1),
    MANY_REGISTERS_ONLY(2, 7, 9, 1, block7_9_1, tail_parts_1),
    INSTANCE_IF(!V_COMPACT, 1, 7, 9, 1, row7_9_1, tail_parts_1),
    INSTANCE(2, LARGE_COLUMNS, PARTS, 1, block_parts_1, tail_parts_1),
    INSTANCE(1, LARGE_COLUMNS, PARTS, 1, row_parts_1, tail_parts_1),
    INSTANCE_INSIDE(STRIDED, 7, 2, block_7_2, block_parts_2, tail_parts_2),
    INSTANCE_INSIDE(STRIDED && MANY_REGISTERS, 7, 3, block_7_3, block_parts_3, tail_parts_3),
    INSTANCE_IF(STRIDED, 2, 4, PARTS, 2, block_parts_2, tail_parts_2),
    INSTANCE_IF(STRIDED, 1, 4, PARTS, 2, row_parts_2, tail_parts_2),
    INSTANCE_IF(STRIDED, 2, 4, PARTS, 3, block_parts_3, tail_parts_3),
    INSTANCE_IF(STRIDED, 1, 4, PARTS, 3, row_parts_3, tail_parts_3),
    {1, 1, 0, 0, any_inside, pixel_any, NULL}};

/* Whether it has blocks for the kernel and the stride of d. */
static bool is_for_kernel(const struct instance * i, const struct sn_depthwise_nhwc * d)
{
    const bool own = i->taps == d->kernelX && (i->taps == d->kernelY || LARGE(i->taps));
    if (!(own || IN_PARTS(i->taps)) || d->dilationX != 1 || d->kernelY == 0)
        return false;
    if (i->stride == APART)
        return d->strideX > 1 && d->lineStep == 1 && d->padX == 0 && (d->dstW - 1) * d->strideX + d->kernelX <= d->srcW;
    return i->stride == (int)d->strideX && i->stride == (int)d->lineStep;
}

/* Whether it computes the kernel of d, and d has enough rows and pixels. A layer of few pixels may take as long as the search for
 * its instances, so most of these are ruled out early. */
static bool is_applicable(const struct instance * i, const struct sn_depthwise_nhwc * d, size_t rows)
{
    if (!i->rows || i->rows > rows || i->columns > d->dstW)
        return false;
    if (!i->taps)
        return true;
    if (!is_for_kernel(i, d))
        return false;
    if (LARGE(i->taps) && i->stride > 1 && d->kernelY < (size_t)i->stride + 2) /* the rows share few lines */
        return false;
    if (i->stride == 2 && i->columns == 1)
        return d->srcPixel * sizeof(ELEMENT) % 2048 == 0;
    if (i->stride == 2 && i->columns == 2)
        return d->channels > 2 * V32F_N && d->dstW >= PAIRS;
    /* Columns of instances for all but the narrowest images. */
    const size_t wide = i->stride == APART && !IN_PARTS(i->taps) ? APART_COLUMNS : 4;
    return i->columns >= wide || d->dstW < wide;
}

/* The number of pixels of a row that are computed, including those computed twice. */
static size_t computed_pixels(const struct instance * i, size_t width)
{
    return sn_ceil_div(width, i->columns) * i->columns;
}

/* Whether it is for the same kernels as `best`, which precedes it: any if that is NULL. */
static bool is_of_kind(const struct instance * i, const struct instance * best)
{
    return !best || (i->taps && i->taps == best->taps && i->stride == best->stride);
}

/* The instance that computes the fewest pixels twice; if none exists for the kernel, of those in parts, or the widest of
 * those for any kernel and stride. */
static const struct instance * instance_of(const struct sn_depthwise_nhwc * d, size_t rows)
{
    const struct instance * const end = instances + sizeof(instances) / sizeof(*instances);
    const struct instance * best = NULL;
    size_t least = 0;
    for (const struct instance * i = instances; i < end && is_of_kind(i, best); ++i) {
        const size_t pixels = is_applicable(i, d, rows) ? computed_pixels(i, d->dstW) : 0;
        if (pixels && (!best || pixels < least))
            best = i, least = pixels;
    }
    return best;
}

/* The first output whose inputs are all inside, and the one after the last. */
struct range {
    size_t begin, end;
};

static struct range inside_of(const struct sn_depthwise_nhwc * d)
{
    const size_t reach = (d->kernelX - 1) * d->dilationX, behind = d->padX + d->srcW;
    const size_t begin = sn_min(sn_ceil_div(d->padX, d->strideX), d->dstW);
    const size_t end = behind > reach ? sn_min((behind - reach - 1) / d->strideX + 1, d->dstW) : 0;
    return (struct range){begin, sn_max(begin, end)};
}

/* Activations that are not computed with the blocks. */
static void activate_row(const struct sn_depthwise_nhwc * d, void * dst, size_t pixels)
{
    if (!SMALL && activates_rows(d->activation))
        ACTIVATE_ROWS(dst, pixels, d->channels, d->dstPixel, d->activation, d->param);
}

/* All columns of the rows of an instance. The last block may overlap the previous one; it writes the same values again. */
static void row_of_blocks(const struct sn_depthwise_nhwc * d, const struct instance * i, const void * const * line,
                          void * dst)
{
    const size_t reach = (i->columns - 1) * d->strideX + (d->kernelX - 1) * d->dilationX;
    for (size_t x = 0, end; x < d->dstW; x = end) {
        x = sn_min(x, d->dstW - i->columns);
        const size_t at = x * d->strideX, behind = d->padX + d->srcW;
        const bool inside = at >= d->padX && at + reach < behind;
        const size_t last = inside ? sn_min((behind - 1 - reach) / d->strideX, d->dstW - i->columns) : x; /* of the run */
        end = x + ((last - x) / i->columns + 1) * i->columns;
        (inside && i->inside ? i->inside : i->edge)(d, line, x, end, dst);
        if (i->tail && d->channels % V32F_N)
            for (size_t y = 0; y < i->rows; ++y)
                i->tail(d, line + y * d->lineStep, x, end, result_at(d, dst, y * d->dstRow));
        for (size_t y = 0; y < i->rows; ++y)
            activate_row(d, result_at(d, dst, y * d->dstRow + x * d->dstPixel), end - x);
    }
}

/* Whether no block for any kernel fits between the edges. */
static bool is_narrow(const struct sn_depthwise_nhwc * d)
{
    const struct range inside = inside_of(d);
    return inside.end - inside.begin < 4;
}

static void depthwise_nhwc(const struct sn_depthwise_nhwc * d)
{
    const struct instance * i = d->rows ? instance_of(d, d->rows) : NULL;
    if (i && !i->taps && is_narrow(d)) {
        pixels_of_rows(d, d->line, 0, d->dstW, d->dst, d->rows);
        for (size_t y = 0; y < d->rows; ++y)
            activate_row(d, result_at(d, d->dst, y * d->dstRow), d->dstW);
        return;
    }
    for (size_t y = 0; y < d->rows;) {
        if (i->rows > d->rows - y)
            i = instance_of(d, d->rows - y);
        row_of_blocks(d, i, d->line + y * d->lineStep, result_at(d, d->dst, y * d->dstRow));
        y += i->rows;
    }
}

#endif
