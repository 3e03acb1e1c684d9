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

enum { MANY_REGISTERS = V32F_N == 16, ROWS = MANY_REGISTERS ? 4 : 2, WIDE = 8 };

static const float zeros[V32F_N] SN_ALIGNED;

#define BLOCKS_ARGUMENTS                                                                                                    \
    const struct sn_grouped_nhwc_32f *g, const sn_32f *const *line, size_t x, size_t end, size_t unit, size_t units,        \
        sn_32f *dst

/*
 * The compile-time arguments of an instance. taps and stride 0 stand for any, as given in the job, in one row. `single`: a
 * unit is one group. `inside`: all inputs are pixels of their lines, and vectors of them do not exceed a pixel.
 */
#define BLOCK_SHAPE int rows, int columns, int taps, int stride, bool single, bool inside

/* The most pixels of a line that a block with constant taps uses. */
enum { PIXELS = (WIDE - 1) * 2 + 3 };

/* A pointer that the compiler must not recompute: otherwise it keeps an address for each pixel. */
SN_INLINE const sn_32f * opaque_pointer(const sn_32f * p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* The inputs of a block in a line. */
struct inputs {
    size_t at;     /* index of the first pixel; wraps to a huge value left of the line */
    size_t width;  /* pixels in the line */
    size_t step;   /* floats between pixels */
    size_t lanes;  /* channels that may be read */
    size_t channel; /* of a single group */
    v32i lookup;
    bool plain;    /* without lookup; a constant */
};

/* Pixel t of the inputs, whose unit is at address `from`. */
SN_INLINE v32f load_pixel(const struct inputs * in, const sn_32f * from, size_t t, bool single, bool inside)
{
    const bool exists = inside || in->at + t < in->width;
    if (single)
        return v_keep_32f(v_set_32f(exists ? from[in->channel] : 0));
    const sn_32f * p = exists ? from : zeros;
    const v32f v = inside ? v_load_32f(p) : v_load_tail_32f(p, in->lanes);
    return in->plain ? v_keep_32f(v) : v_lookup_32f(v, in->lookup);
}

/* Adds one step of one line of inputs, for which row i uses tap row line - i * stride, if it exists: weights first. */
SN_INLINE void add_by_pixels(const struct inputs * in, const sn_32f * from, int line, const sn_32f * weight, size_t tapRow,
                             v32f sum[ROWS][WIDE], BLOCK_SHAPE)
{
    v32f w[ROWS][5];
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
            p = opaque_pointer(p + 3 * in->step);
        const v32f a = load_pixel(in, p + (size_t)(t % 3) * in->step, (size_t)t, single, inside);
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
SN_INLINE void add_by_weights(const struct inputs * in, const sn_32f * from, int line, const sn_32f * weight, size_t tapRow,
                              v32f sum[ROWS][WIDE], BLOCK_SHAPE)
{
    v32f a[PIXELS];
    const sn_32f * p = from;
    SN_UNROLL for (int t = 0; t < (columns - 1) * stride + taps; ++t)
    {
        if (t && t % 3 == 0)
            p = opaque_pointer(p + 3 * in->step);
        a[t] = load_pixel(in, p + (size_t)(t % 3) * in->step, (size_t)t, single, inside);
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

/* One step of one row, with any kernel, stride and dilation. */
SN_INLINE void add_any(const struct sn_grouped_nhwc_32f * g, struct inputs in, const sn_32f * from, const sn_32f * weight,
                       v32f sum[WIDE], int columns, bool single, bool inside)
{
    const size_t step = g->strideX * in.step;
    for (size_t kx = 0; kx < g->kernelX; ++kx, weight += V32F_N) {
        const v32f w = v_keep_32f(v_load_32f(weight));
        SN_UNROLL for (int j = 0; j < columns; ++j)
        {
            const v32f a = load_pixel(&in, from + (size_t)j * step, (size_t)j * g->strideX, single, inside);
            sum[j] = v_fma_32f(a, w, sum[j]);
        }
        in.at += g->dilationX;
        from += g->dilationX * in.step;
    }
}

SN_INLINE void add_step(const struct sn_grouped_nhwc_32f * g, const struct inputs * in, const sn_32f * from, int line,
                        const sn_32f * weight, v32f sum[ROWS][WIDE], BLOCK_SHAPE)
{
    const size_t tapRow = g->inputs * (taps ? (size_t)taps : g->kernelX) * V32F_N;
    if (!taps)
        add_any(g, *in, from, weight + (size_t)line * tapRow, sum[0], columns, single, inside);
    else if (MANY_REGISTERS)
        add_by_pixels(in, opaque_pointer(from), line, weight, tapRow, sum, rows, columns, taps, stride, single, inside);
    else
        add_by_weights(in, opaque_pointer(from), line, weight, tapRow, sum, rows, columns, taps, stride, single, inside);
}

/* All steps of a line, the first one, if it needs no lookup, before the others. */
SN_INLINE void add_line(const struct sn_grouped_nhwc_32f * g, struct inputs * in, const sn_32f * from, int line,
                        const sn_32f * weight, v32f sum[ROWS][WIDE], BLOCK_SHAPE)
{
    const size_t length = (taps ? (size_t)taps : g->kernelX) * V32F_N;
    in->channel = 0;
    if (!single && g->aligned) {
        in->plain = true;
        add_step(g, in, from, line, weight, sum, rows, columns, taps, stride, single, inside);
        in->channel = 1;
    }
    in->plain = false;
    for (; in->channel < g->inputs; ++in->channel) {
        if (!single)
            in->lookup = v_load_32i(g->lookup + in->channel * V32F_N);
        add_step(g, in, from, line, weight + in->channel * length, sum, rows, columns, taps, stride, single, inside);
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
SN_INLINE void block(const struct sn_grouped_nhwc_32f * g, const sn_32f * const * line, size_t x, size_t unit, size_t at,
                     size_t lanes, sn_32f * dst, BLOCK_SHAPE)
{
    v32f sum[ROWS][WIDE];
    const size_t length = (taps ? (size_t)(taps * taps) : g->kernelY * g->kernelX) * V32F_N;
    const sn_32f * weight = opaque_pointer(g->weight + at * g->inputs * length);
    const v32f bias = v_load_32f(g->bias + at * V32F_N);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < columns; ++j) sum[i][j] = bias;
    struct inputs in = {.at = x * (taps ? (size_t)stride : g->strideX) - g->padX, .width = g->srcW, .step = g->srcPixel,
        .lanes = g->srcC - unit * g->srcUnit};
    in.lanes = sn_min(in.lanes, V32F_N);
    const size_t first = g->offset + in.at * in.step + unit * g->srcUnit;
    if (taps) {
        SN_UNROLL for (int l = 0; l < (rows - 1) * stride + taps; ++l)
            if (SN_LIKELY(line[l]))
                add_line(g, &in, line[l] + first, l, weight, sum, rows, columns, taps, stride, single, inside);
    } else {
        for (size_t ky = 0; ky < g->kernelY; ++ky)
            if (line[ky])
                add_line(g, &in, line[ky] + first, (int)ky, weight, sum, rows, columns, taps, stride, single, inside);
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

/* Computes units unit .. units - 1 of blocks one after the other up to pixel `end`. */
SN_INLINE void blocks(BLOCKS_ARGUMENTS, BLOCK_SHAPE)
{
    const size_t vectors = single ? sn_ceil_div(g->dstUnit, V32F_N) : 1;
    for (; x < end; x += (size_t)columns)
        for (size_t u = unit; u < units; ++u) {
            const size_t c = u * g->dstUnit, outputs = sn_min(g->dstUnit, g->dstC - c);
            for (size_t v = 0; v < vectors; ++v)
                block(g, line, x, u, u * vectors + v, sn_min(outputs - v * V32F_N, V32F_N),
                      dst + x * g->dstPixel + c + v * V32F_N, rows, columns, taps, stride, single, inside);
        }
}

/* An instance is four separate functions, so that the compiler can use all registers in each. */
typedef void (*blocks_fn)(BLOCKS_ARGUMENTS);
#define BLOCK_OF(name, rows, columns, taps, stride, single, inside)                                                         \
    static __attribute__((noinline)) void name(BLOCKS_ARGUMENTS)                                                            \
    {                                                                                                                       \
        blocks(g, line, x, end, unit, units, dst, rows, columns, taps, stride, single, inside);                             \
    }
#define BLOCK(name, rows, columns, taps, stride)                                                                            \
    BLOCK_OF(name##_edge, rows, columns, taps, stride, false, false)                                                        \
    BLOCK_OF(name##_inside, rows, columns, taps, stride, false, true)                                                       \
    BLOCK_OF(name##_single_edge, rows, columns, taps, stride, true, false)                                                  \
    BLOCK_OF(name##_single_inside, rows, columns, taps, stride, true, true)
BLOCK(block_3_1, ROWS, 4, 3, 1)
BLOCK(block7_3_1, 2, 7, 3, 1)
BLOCK(block_3_2, ROWS, 4, 3, 2)
BLOCK(block7_3_2, 2, 7, 3, 2)
BLOCK(row_any, 1, WIDE, 0, 0)
BLOCK(row4_any, 1, 4, 0, 0)
BLOCK(pixel_any, 1, 1, 0, 0)

#define INSTANCE(rows, columns, taps, stride, name)                                                                         \
    {                                                                                                                       \
        rows, columns, taps, stride, {{name##_edge, name##_inside}, {name##_single_edge, name##_single_inside}}             \
    }

/* Instances, those for any kernel last. */
static const struct instance {
    size_t rows, columns, taps, stride;
    blocks_fn run[2][2]; /* [single][inside] */
} instances[] = {
    INSTANCE(ROWS, 4, 3, 1, block_3_1),
    INSTANCE(2, 7, 3, 1, block7_3_1),
    INSTANCE(ROWS, 4, 3, 2, block_3_2),
    INSTANCE(2, 7, 3, 2, block7_3_2),
    INSTANCE(1, WIDE, 0, 0, row_any),
    INSTANCE(1, 4, 0, 0, row4_any),
    INSTANCE(1, 1, 0, 0, pixel_any)};

/* Whether it computes the kernel of g, which has enough rows and pixels. */
static bool is_applicable(const struct instance * i, const struct sn_grouped_nhwc_32f * g)
{
    const bool kernel = i->taps == g->kernelY && i->taps == g->kernelX && g->dilationX == 1 && i->stride == g->strideX &&
                        i->stride == g->lineStep;
    return (kernel || !i->taps) && i->rows <= g->rows && i->columns <= g->dstW;
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

/* All columns of the rows of an instance. The last block may overlap the previous one; it writes the same values again. */
static void row_of_blocks(const struct sn_grouped_nhwc_32f * g, const struct instance * i, const sn_32f * const * line,
                          sn_32f * dst)
{
    const bool single = g->groups == 1;
    const size_t reach = (i->columns - 1) * g->strideX + (g->kernelX - 1) * g->dilationX;
    /* The units whose vectors of inputs are in the pixel. */
    const size_t whole = single ? g->units : g->srcC < V32F_N ? 0 : sn_min((g->srcC - V32F_N) / g->srcUnit + 1, g->units);
    for (size_t x = 0, end; x < g->dstW; x = end) {
        x = sn_min(x, g->dstW - i->columns);
        const size_t at = x * g->strideX, behind = g->padX + g->srcW;
        const bool inside = at >= g->padX && at + reach < behind;
        const size_t last = inside ? sn_min((behind - 1 - reach) / g->strideX, g->dstW - i->columns) : x; /* of the run */
        end = x + ((last - x) / i->columns + 1) * i->columns;
        i->run[single][inside](g, line, x, end, 0, inside ? whole : g->units, dst);
        if (inside && whole < g->units)
            i->run[single][0](g, line, x, end, whole, g->units, dst);
        if (activates_rows(g->activation))
            for (size_t y = 0; y < i->rows; ++y)
                ACTIVATE_ROWS(dst + y * g->dstRow + x * g->dstPixel, end - x, g->dstC, g->dstPixel, g->activation, g->param);
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
