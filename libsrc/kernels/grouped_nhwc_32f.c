/*
 * Convolution of NHWC pixels with few channels a group, as defined in contract/convolution_32f.h.
 *
 * Lanes are the outputs of several groups: for each step of the sum the inputs are those of a pixel in another order, one
 * lookup, which all taps and rows of a block share, so no zero is multiplied. (A GEMM tile of one group uses 4 of 16 lanes
 * with 4 outputs a group, and so does a tile of several groups with zeros between them.) The first step needs no lookup if
 * a group has as many inputs as outputs: lanes then begin with their own channel. A group of a vector or more has the same
 * input in all lanes.
 *
 * A block is several neighbouring pixels in several rows, whose sums stay in registers; weights of a step are in registers
 * for all pixels of a line, or, with 16 registers, its inputs. Each sum is one chain at any position of its output.
 */
#include "contract/convolution_32f.h"
#include "kernels/activate.h"
#include "kernels/install.h"

/*
 * ROWS of 4 pixels, or for images whose width is not a multiple of 4 ROWS_7 of 7; in one row blocks of 8, 4 and 1 pixels.
 * MOST is the number of taps of a row that are added together, before those of the next step.
 */
enum { MANY_REGISTERS = V32F_N == 16, ROWS = MANY_REGISTERS ? 4 : 2, ROWS_7 = MANY_REGISTERS ? 2 : 1, WIDE = 8 };
enum { MOST = SN_GROUPED_TAPS };

/* The compile-time arguments of a block. taps 0: any, in one row, where stride 0 is any stride and dilation, 1 is both 1.
 * `single`: a unit is one group. */
#define BLOCK_SHAPE int rows, int columns, int taps, int stride, bool single

/* The most lines and pixels that blocks with constant taps use, and the most pixels of a line of other blocks; the copy of
 * the pixels at an edge has room for them. */
enum { PIXELS = (WIDE - 2) * 2 + MOST, LINES = (ROWS - 1) * 2 + MOST };
enum { CHANNELS = SN_GROUPED_INPUTS > V32F_N ? SN_GROUPED_INPUTS : V32F_N };
enum { COPY = CHANNELS * (SN_GROUPED_PIXELS > LINES * PIXELS ? SN_GROUPED_PIXELS : LINES * PIXELS) };

/* A pointer that the compiler must not recompute: otherwise it keeps an address for each pixel. */
SN_INLINE const sn_32f * opaque_pointer(const sn_32f * p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* The inputs of a block. */
struct inputs {
    size_t first;  /* floats from the address of a line to the first channel of unit 0 in the first pixel */
    size_t step;   /* floats between pixels */
    size_t at;     /* index of the first pixel; wraps to a huge value left of the line */
    bool inside;   /* all are pixels of their lines, and a vector does not exceed a pixel; for blocks of any taps */
};

/* The channels that are copied of a pixel of a unit, and the floats of a copied pixel. */
static size_t channels_of(const struct sn_grouped_nhwc_32f * g, size_t unit)
{
    return g->groups == 1 ? g->inputs : sn_min(g->srcC - unit * g->srcUnit, V32F_N);
}

static size_t copied_pixel(const struct sn_grouped_nhwc_32f * g)
{
    return g->groups == 1 ? sn_ceil_div(g->inputs, V32F_N) * V32F_N : V32F_N;
}

/* Copies `pixels` pixels of a unit, from address `from` on, with zeros outside of the line. */
static __attribute__((noinline)) void copy_pixels(const struct sn_grouped_nhwc_32f * g, const sn_32f * from, size_t at,
                                                  size_t pixels, size_t unit, sn_32f * to)
{
    const size_t channels = channels_of(g, unit), step = copied_pixel(g), pixel = g->srcPixel, width = g->srcW;
    for (size_t c = 0; c < channels; c += V32F_N, from += V32F_N, to += V32F_N) {
        const size_t lanes = sn_min(channels - c, V32F_N);
        for (size_t t = 0; t < pixels; ++t)
            v_store_32f(to + t * step, at + t < width ? v_load_tail_32f(from + t * pixel, lanes) : v_zero_32f());
    }
}

/* The input of a step in a pixel whose unit is at address `from`. */
struct step {
    size_t channel; /* of a single group */
    v32i lookup;
    bool plain;     /* without lookup; a constant */
};

SN_INLINE v32f load_pixel(const struct step * s, const sn_32f * from, bool single)
{
    if (single)
        return v_keep_32f(v_set_32f(from[s->channel]));
    return s->plain ? v_keep_32f(v_load_32f(from)) : v_lookup_32f(v_load_32f(from), s->lookup);
}

/* Adds a step of a line of inputs, for which row i uses tap row line - i * stride, if it exists: weights first. */
SN_INLINE void add_by_pixels(const struct step * s, const sn_32f * from, size_t step, int line, const sn_32f * weight,
                             size_t tapRow, v32f sum[ROWS][WIDE], BLOCK_SHAPE)
{
    v32f w[ROWS][MOST];
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        const int ky = line - i * stride;
        if (ky >= 0 && ky < taps)
            SN_UNROLL for (int kx = 0; kx < taps; ++kx)
                w[i][kx] = v_keep_32f(v_load_32f(weight + (size_t)ky * tapRow + kx * V32F_N));
    }
    const sn_32f * p = from;
    SN_UNROLL for (int t = 0; t < (columns - 1) * stride + taps; ++t)
    {
        if (t && t % 3 == 0)
            p = opaque_pointer(p + 3 * step);
        const v32f a = load_pixel(s, p + (size_t)(t % 3) * step, single);
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < columns; ++j)
            {
                const int ky = line - i * stride, kx = t - j * stride;
                if (ky >= 0 && ky < taps && kx >= 0 && kx < taps)
                    sum[i][j] = v_fma_32f(a, w[i][kx], sum[i][j]);
            }
    }
}

/* The same with inputs first, and one weight at a time. */
SN_INLINE void add_by_weights(const struct step * s, const sn_32f * from, size_t step, int line, const sn_32f * weight,
                              size_t tapRow, v32f sum[ROWS][WIDE], BLOCK_SHAPE)
{
    v32f a[PIXELS];
    const sn_32f * p = from;
    SN_UNROLL for (int t = 0; t < (columns - 1) * stride + taps; ++t)
    {
        if (t && t % 3 == 0)
            p = opaque_pointer(p + 3 * step);
        a[t] = load_pixel(s, p + (size_t)(t % 3) * step, single);
    }
    SN_UNROLL for (int kx = 0; kx < taps; ++kx)
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const int ky = line - i * stride;
            if (ky < 0 || ky >= taps)
                continue;
            const v32f w = v_keep_32f(v_load_32f(weight + (size_t)ky * tapRow + kx * V32F_N));
            SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = v_fma_32f(a[kx + j * stride], w, sum[i][j]);
        }
}

/* The same for `taps` taps of one row at any distances. */
SN_INLINE void add_apart(const struct step * s, const sn_32f * from, size_t tapStep, size_t pixelStep, const sn_32f * weight,
                         v32f sum[WIDE], int columns, int taps, bool single)
{
    for (int kx = 0; kx < taps; ++kx, from += tapStep) {
        const v32f w = v_keep_32f(v_load_32f(weight + kx * V32F_N));
        const sn_32f * p = from;
        SN_UNROLL for (int j = 0; j < columns; ++j)
        {
            if (j && j % 3 == 0)
                p = opaque_pointer(p + 3 * pixelStep);
            sum[j] = v_fma_32f(load_pixel(s, p + (size_t)(j % 3) * pixelStep, single), w, sum[j]);
        }
    }
}

/* A step of `taps` taps; `any`: those of a row of any kernel. */
SN_INLINE void add_step(const struct sn_grouped_nhwc_32f * g, const struct step * s, const sn_32f * from, size_t step,
                        int line, const sn_32f * weight, v32f sum[ROWS][WIDE], bool any, BLOCK_SHAPE)
{
    const size_t tapRow = g->inputs * (size_t)(taps * V32F_N);
    if (any && !stride)
        add_apart(s, from, g->dilationX * step, g->strideX * step, weight, sum[0], columns, taps, single);
    else if (any || MANY_REGISTERS || rows == 1 || stride > 1)
        add_by_pixels(s, from, step, line, weight, tapRow, sum, rows, columns, taps, stride, single);
    else
        add_by_weights(s, from, step, line, weight, tapRow, sum, rows, columns, taps, stride, single);
}

/* All steps, the first one, if it needs no lookup, before the others. */
SN_INLINE void add_steps(const struct sn_grouped_nhwc_32f * g, const sn_32f * from, size_t step, int line,
                         const sn_32f * weight, v32f sum[ROWS][WIDE], bool any, BLOCK_SHAPE)
{
    struct step s = {.channel = 0};
    from = opaque_pointer(from);
    if (!single && g->aligned) {
        s.plain = true;
        add_step(g, &s, from, step, line, weight, sum, any, rows, columns, taps, stride, single);
        s.channel = 1;
    }
    s.plain = false;
    for (; s.channel < g->inputs; ++s.channel) {
        if (!single)
            s.lookup = v_load_32i(g->lookup + s.channel * V32F_N);
        add_step(g, &s, from, step, line, weight + s.channel * (size_t)(taps * V32F_N), sum, any, rows, columns, taps,
                 stride, single);
    }
}

/* A line of one row with any kernel: MOST taps at a time. */
SN_INLINE void add_any(const struct sn_grouped_nhwc_32f * g, const sn_32f * from, size_t step, const sn_32f * weight,
                       v32f sum[ROWS][WIDE], int columns, int stride, bool single)
{
    for (size_t kx = 0; kx < g->kernelX; kx += MOST) {
        switch (sn_min(g->kernelX - kx, MOST)) {
        case 1: add_steps(g, from, step, 0, weight, sum, true, 1, columns, 1, stride, single); break;
        case 2: add_steps(g, from, step, 0, weight, sum, true, 1, columns, 2, stride, single); break;
        default: add_steps(g, from, step, 0, weight, sum, true, 1, columns, 3, stride, single); break;
        }
        from += MOST * g->dilationX * step;
        weight += MOST * g->inputs * V32F_N;
    }
}

SN_INLINE void activate_as(v32f sum[ROWS][WIDE], const struct sn_grouped_nhwc_32f * g, size_t at, int rows, int columns,
                           enum sn_activation type)
{
    const v32f p0 = v_set_32f(g->param[0]), p1 = v_set_32f(g->param[1]);
    const v32f slope = type == SN_ACTIVATION_PRELU ? v_load_32f(g->slope + at) : p0;
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = activate_32f(sum[i][j], type, slope, p0, p1);
}

/* A copy of the loops for each activation, selected once per block; others follow when the block has been stored. */
SN_INLINE void activate(v32f sum[ROWS][WIDE], const struct sn_grouped_nhwc_32f * g, size_t at, int rows, int columns)
{
    switch (g->activation) {
    case SN_ACTIVATION_RELU: activate_as(sum, g, at, rows, columns, SN_ACTIVATION_RELU); break;
    case SN_ACTIVATION_PRELU: activate_as(sum, g, at, rows, columns, SN_ACTIVATION_PRELU); break;
    case SN_ACTIVATION_RESTRICT_RANGE:
        activate_as(sum, g, at, rows, columns, SN_ACTIVATION_RESTRICT_RANGE);
        break;
    case SN_ACTIVATION_HSWISH: activate_as(sum, g, at, rows, columns, SN_ACTIVATION_HSWISH); break;
    default: break;
    }
}

/* Computes `lanes` outputs of a unit, from address dst on; `at` counts vectors of outputs. */
SN_INLINE void block(const struct sn_grouped_nhwc_32f * g, const sn_32f * const * line, const struct inputs * in,
                     size_t unit, size_t at, size_t lanes, sn_32f * dst, BLOCK_SHAPE)
{
    v32f sum[ROWS][WIDE];
    const size_t first = in->first + unit * g->srcUnit;
    const v32f bias = v_load_32f(g->bias + at * V32F_N);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = bias;
    if (taps) {
        const sn_32f * weight = opaque_pointer(g->weight + at * g->inputs * (size_t)(taps * taps * V32F_N));
        SN_UNROLL for (int l = 0; l < (rows - 1) * stride + taps; ++l)
            if (SN_LIKELY(line[l]))
                add_steps(g, line[l] + first, in->step, l, weight, sum, false, rows, columns, taps, stride, single);
    } else {
        const size_t length = g->inputs * g->kernelX * V32F_N;
        const sn_32f * weight = g->weight + at * g->kernelY * length;
        for (size_t ky = 0; ky < g->kernelY; ++ky, weight += length) {
            if (!line[ky])
                continue;
            sn_32f copy[COPY] SN_ALIGNED;
            const sn_32f * from = line[ky] + first;
            size_t step = in->step;
            if (!in->inside) {
                copy_pixels(g, from, in->at, (size_t)(columns - 1) * g->strideX + (g->kernelX - 1) * g->dilationX + 1, unit,
                            copy);
                from = copy;
                step = copied_pixel(g);
            }
            add_any(g, from, step, weight, sum, columns, stride, single);
        }
    }
    activate(sum, g, at * V32F_N, rows, columns);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j)
        {
            sn_32f * to = dst + (size_t)i * g->dstRow + (size_t)j * g->dstPixel;
            if (SN_LIKELY(lanes == V32F_N))
                v_store_32f(to, sum[i][j]);
            else
                v_store_tail_32f(to, sum[i][j], lanes);
        }
}

/* Computes units unit .. units - 1 of a block. */
#define UNITS_ARGUMENTS                                                                                                     \
    const struct sn_grouped_nhwc_32f *g, const sn_32f *const *line, const struct inputs *in, size_t unit, size_t units,     \
        sn_32f *dst

SN_INLINE void units_of_block(UNITS_ARGUMENTS, BLOCK_SHAPE)
{
    const size_t vectors = single ? sn_ceil_div(g->dstUnit, V32F_N) : 1;
    for (size_t u = unit; u < units; ++u) {
        const size_t c = u * g->dstUnit, outputs = sn_min(g->dstUnit, g->dstC - c);
        for (size_t v = 0; v < vectors; ++v)
            block(g, line, in, u, u * vectors + v, sn_min(outputs - v * V32F_N, V32F_N), dst + c + v * V32F_N, rows, columns,
                  taps, stride, single);
    }
}

/*
 * ---- one pixel of single groups, for images of few columns: the independent sums are vectors of outputs, without which
 * each multiply-add waits for the one before. 1792x2x2 by 3x3 in 56 groups takes 0.3 of the time.
 */

/* Vectors of outputs at a time. */
enum { VECTORS = 4 };

/* Adds `count` taps of all inputs from address `from` on to `vectors` sums; weights of neighbouring taps are a vector apart,
 * those of inputs `step` vectors, and those of the next vector of outputs `next` floats. */
SN_INLINE void add_taps(const struct sn_grouped_nhwc_32f * g, const sn_32f * from, const sn_32f * weight, size_t step,
                        size_t next, v32f sum[VECTORS], int count, int vectors)
{
    const size_t apart = g->dilationX * g->srcPixel;
    for (size_t i = 0; i < g->inputs; ++i, weight += step * V32F_N)
        SN_UNROLL for (int k = 0; k < count; ++k)
        {
            const v32f a = v_set_32f(from[i + (size_t)k * apart]);
            SN_UNROLL for (int v = 0; v < vectors; ++v)
                sum[v] = v_fma_32f(a, v_load_32f(weight + k * V32F_N + (size_t)v * next), sum[v]);
        }
}

/* The taps of a row that are pixels of the line: first .. end - 1. */
struct taps {
    size_t first, end;
};

static struct taps taps_of(const struct sn_grouped_nhwc_32f * g, const struct inputs * in)
{
    const size_t left = 0 - in->at, right = g->srcW - in->at, step = g->dilationX; /* huge if negative */
    const size_t first = left <= SIZE_MAX / 2 ? sn_ceil_div(left, step) : 0;
    return (struct taps){first, right <= SIZE_MAX / 2 ? sn_min(sn_ceil_div(right, step), g->kernelX) : 0};
}

/* Computes `vectors` vectors of outputs of a unit from vector `at` of all units on, the last of `lanes` outputs. Taps outside
 * the line are left out. */
SN_INLINE void pixel_of_unit(const struct sn_grouped_nhwc_32f * g, const sn_32f * const * line, const struct inputs * in,
                             size_t unit, size_t at, size_t lanes, sn_32f * dst, int vectors)
{
    v32f sum[ROWS][WIDE];
    const struct taps all = taps_of(g, in);
    const size_t length = g->inputs * g->kernelX * V32F_N, next = g->kernelY * length;
    SN_UNROLL for (int v = 0; v < vectors; ++v) sum[0][v] = v_load_32f(g->bias + (at + (size_t)v) * V32F_N);
    const sn_32f * weight = g->weight + at * next;
    for (size_t ky = 0; ky < g->kernelY; ++ky, weight += length)
        for (size_t part = 0; line[ky] && part < g->kernelX; part += MOST) {
            const size_t taps = sn_min(g->kernelX - part, MOST), first = sn_max(all.first, part);
            const size_t end = sn_min(all.end, part + taps);
            const sn_32f * from = line[ky] + in->first + unit * g->srcUnit + first * g->dilationX * g->srcPixel;
            const sn_32f * w = weight + (part * g->inputs + first - part) * V32F_N;
            switch (end > first ? end - first : 0) {
            case 1: add_taps(g, from, w, taps, next, sum[0], 1, vectors); break;
            case 2: add_taps(g, from, w, taps, next, sum[0], 2, vectors); break;
            case 3: add_taps(g, from, w, taps, next, sum[0], 3, vectors); break;
            default: break;
            }
        }
    for (int v = 0; v < vectors; ++v) {
        v32f one[ROWS][WIDE];
        one[0][0] = sum[0][v];
        activate(one, g, (at + (size_t)v) * V32F_N, 1, 1);
        if (v + 1 < vectors || lanes == V32F_N)
            v_store_32f(dst + v * V32F_N, one[0][0]);
        else
            v_store_tail_32f(dst + v * V32F_N, one[0][0], lanes);
    }
}

/* An instance is two separate functions, so that the compiler can use all registers in each. */
typedef void (*units_fn)(UNITS_ARGUMENTS);
#define BLOCK(name, rows, columns, taps, stride)                                                                            \
    static __attribute__((noinline)) void name##_several(UNITS_ARGUMENTS)                                                   \
    {                                                                                                                       \
        units_of_block(g, line, in, unit, units, dst, rows, columns, taps, stride, false);                                  \
    }                                                                                                                       \
    static __attribute__((noinline)) void name##_single(UNITS_ARGUMENTS)                                                    \
    {                                                                                                                       \
        units_of_block(g, line, in, unit, units, dst, rows, columns, taps, stride, true);                                   \
    }
BLOCK(block_3_1, ROWS, 4, 3, 1)
BLOCK(block7_3_1, ROWS_7, 7, 3, 1)
BLOCK(block_3_2, ROWS, 4, 3, 2)
BLOCK(block7_3_2, ROWS_7, 7, 3, 2)
BLOCK(row_1, 1, WIDE, 0, 1)
BLOCK(row_any, 1, WIDE, 0, 0)
BLOCK(row4_any, 1, 4, 0, 0)

static __attribute__((noinline)) void pixel_any_several(UNITS_ARGUMENTS)
{
    units_of_block(g, line, in, unit, units, dst, 1, 1, 0, 0, false);
}

static __attribute__((noinline)) void pixel_any_single(UNITS_ARGUMENTS)
{
    const size_t vectors = sn_ceil_div(g->dstUnit, V32F_N);
    for (; unit < units; ++unit)
        for (size_t v = 0, some; v < vectors; v += some) {
            some = vectors - v >= VECTORS ? VECTORS : vectors - v >= 2 ? 2 : 1;
            const size_t c = unit * g->dstUnit + v * V32F_N, at = unit * vectors + v;
            const size_t lanes = sn_min(sn_min(g->dstUnit, g->dstC - unit * g->dstUnit) - (v + some - 1) * V32F_N, V32F_N);
            switch (some) {
            case VECTORS: pixel_of_unit(g, line, in, unit, at, lanes, dst + c, VECTORS); break;
            case 2: pixel_of_unit(g, line, in, unit, at, lanes, dst + c, 2); break;
            default: pixel_of_unit(g, line, in, unit, at, lanes, dst + c, 1); break;
            }
        }
}

#define INSTANCE(rows, columns, taps, stride, name)                                                                         \
    {                                                                                                                       \
        rows, columns, taps, stride, {name##_several, name##_single}                                                        \
    }

/* Instances, those for any kernel last. */
static const struct instance {
    size_t rows, columns, taps, stride;
    units_fn run[2]; /* [single] */
} instances[] = {
    INSTANCE(ROWS, 4, 3, 1, block_3_1),
    INSTANCE(ROWS_7, 7, 3, 1, block7_3_1),
    INSTANCE(ROWS, 4, 3, 2, block_3_2),
    INSTANCE(ROWS_7, 7, 3, 2, block7_3_2),
    INSTANCE(1, WIDE, 0, 1, row_1),
    INSTANCE(1, WIDE, 0, 0, row_any),
    INSTANCE(1, 4, 0, 0, row4_any),
    INSTANCE(1, 1, 0, 0, pixel_any)};

/* Whether it computes the kernel of g, which has enough rows and pixels. */
static bool is_applicable(const struct instance * i, const struct sn_grouped_nhwc_32f * g)
{
    const bool kernel = i->taps == g->kernelY && i->taps == g->kernelX && g->dilationX == 1 && i->stride == g->strideX &&
                        i->stride == g->lineStep;
    const bool any = !i->taps && (!i->stride || (g->dilationX == 1 && g->strideX == 1));
    return (kernel || any) && i->rows <= g->rows && i->columns <= g->dstW;
}

/* The pixels that are computed, including those computed twice. */
static size_t computed_pixels(const struct instance * i, const struct sn_grouped_nhwc_32f * g)
{
    return sn_ceil_div(g->rows, i->rows) * i->rows * sn_ceil_div(g->dstW, i->columns) * i->columns;
}

/* The instance that computes the fewest pixels twice; if none exists for the kernel, the widest of those for any kernel. */
static const struct instance * instance_of(const struct sn_grouped_nhwc_32f * g)
{
    const struct instance * const end = instances + sizeof(instances) / sizeof(*instances);
    const struct instance * best = NULL;
    for (const struct instance * i = instances; i < end && (i->taps || !best); ++i)
        if (is_applicable(i, g) && (!best || computed_pixels(i, g) < computed_pixels(best, g)))
            best = i;
    return best;
}

/* By copies of the pixels of a unit. Not inline: the instances for any kernel have a copy of their own, 17 KB as well, and a
 * call has 64 KB of stack. */
static __attribute__((noinline)) void copied_block(const struct sn_grouped_nhwc_32f * g, const struct instance * i,
                                                   const sn_32f * const * line, const struct inputs * in, size_t unit,
                                                   size_t units, sn_32f * dst)
{
    const bool single = g->groups == 1;
    const size_t lines = (i->rows - 1) * i->stride + i->taps, pixels = (i->columns - 1) * i->stride + i->taps;
    for (; unit < units; ++unit) {
        sn_32f copy[COPY] SN_ALIGNED;
        const sn_32f * copied[LINES];
        const struct inputs of_copy = {.step = copied_pixel(g)};
        for (size_t l = 0; l < lines; ++l) {
            sn_32f * to = copy + l * pixels * of_copy.step;
            copied[l] = line[l] ? to - unit * g->srcUnit : NULL;
            if (line[l])
                copy_pixels(g, line[l] + in->first + unit * g->srcUnit, in->at, pixels, unit, to);
        }
        i->run[single](g, copied, &of_copy, unit, unit + 1, dst);
    }
}

/* A block at an edge, or whose vectors of inputs exceed the last pixel. */
static void edge_of_block(const struct sn_grouped_nhwc_32f * g, const struct instance * i, const sn_32f * const * line,
                          struct inputs in, size_t unit, size_t units, sn_32f * dst)
{
    in.inside = false;
    if (i->taps)
        copied_block(g, i, line, &in, unit, units, dst);
    else
        i->run[g->groups == 1](g, line, &in, unit, units, dst);
}

/* Floats that may be read from the address of a line on, of the last one in memory. */
static size_t readable(const struct sn_grouped_nhwc_32f * g, const sn_32f * const * line, size_t lines)
{
    uintptr_t last = 0;
    for (size_t l = 0; l < lines; ++l)
        last = line[l] && (uintptr_t)line[l] > last ? (uintptr_t)line[l] : last;
    return g->end && last ? ((uintptr_t)g->end - last) / sizeof(sn_32f) : 0;
}

/*
 * All columns of the rows of an instance. The last block may overlap the previous one; it writes the same values again. Vectors of
 * inputs may exceed their pixel where another follows: copying those of each block, 8x56x56 by 1x1 in 4 groups took 1.75 times as
 * long, by 3x3 1.5 times, 12x28x28 in 6 1.3 times (AVX-512; AVX2 1.2 times), 20x28x28 in 5 1.1 times.
 */
static void row_of_blocks(const struct sn_grouped_nhwc_32f * g, const struct instance * i, const sn_32f * const * line,
                          sn_32f * dst)
{
    const bool single = g->groups == 1;
    const size_t reach = (i->columns - 1) * g->strideX + (g->kernelX - 1) * g->dilationX;
    /* The units whose vectors of inputs are in the pixel. */
    const size_t whole = single ? g->units : g->srcC < V32F_N ? 0 : sn_min((g->srcC - V32F_N) / g->srcUnit + 1, g->units);
    const size_t floats = whole < g->units ? readable(g, line, (i->rows - 1) * g->lineStep + g->kernelY) : 0;
    const size_t after = reach * g->srcPixel + (g->units - 1) * g->srcUnit + V32F_N; /* the first input of a block */
    for (size_t x = 0, end; x < g->dstW; x = end) {
        x = sn_min(x, g->dstW - i->columns);
        end = x + i->columns;
        const size_t at = x * g->strideX;
        const struct inputs in = {g->offset + (at - g->padX) * g->srcPixel, g->srcPixel, at - g->padX, true};
        const bool all = at >= g->padX && at + reach < g->padX + g->srcW;
        const size_t inside = !all ? 0 : whole < g->units && in.first + after <= floats ? g->units : whole;
        i->run[single](g, line, &in, 0, inside, dst + x * g->dstPixel);
        if (inside < g->units)
            edge_of_block(g, i, line, in, inside, g->units, dst + x * g->dstPixel);
        if (activates_rows(g->activation))
            for (size_t y = 0; y < i->rows; ++y)
                ACTIVATE_ROWS(dst + y * g->dstRow + x * g->dstPixel, i->columns, g->dstC, g->dstPixel, g->activation,
                              g->param);
    }
}

static void grouped_nhwc_32f(const struct sn_grouped_nhwc_32f * g)
{
    const struct instance * i = instance_of(g);
    for (size_t y = 0; y < g->rows; y += i->rows) {
        y = sn_min(y, g->rows - i->rows);
        row_of_blocks(g, i, g->line + y * g->lineStep, g->dst + y * g->dstRow);
    }
}

SN_INSTALL(grouped_nhwc_32f, convolution_32f) { slots->grouped_nhwc = grouped_nhwc_32f; }
