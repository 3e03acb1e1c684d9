/*
 * Convolution with few channels a group: lanes are the outputs of several groups side by side (a unit), see struct
 * sn_grouped_nhwc_32f of contract/convolution_32f.h. NHWC is read in place. From NCHW the channels of some units are
 * converted, computed, and converted back while they are in the cache.
 *
 * Lane l of a unit begins its sum over inputs with the one that has its own number, and wraps around: if a group has as
 * many inputs as outputs, this needs no lookup for the first step of each tap.
 *
 * A dilated convolution without stride is one without dilation on every d-th row and column: there are d phases, whose taps
 * share inputs as those of neighbouring pixels do.
 */
#include "ops/convolution/32f.h"
#include "ops/convolution/band.h"
#include "ops/convolution/converted.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/depthwise_rows.h"
#include "runtime/cpu.h"

/* Channels of NCHW that are converted together. */
enum { PART_CHANNELS = 32 };

/* The least parts of NCHW for which those of all images are computed together. */
enum { JOINED = 16 };

struct grouped {
    struct sn_depthwise_rows rows;
    size_t groups, units;    /* the groups of a unit, but the last one, and units */
    size_t vectors;          /* of outputs of a unit */
    size_t phasesY, phasesX; /* see above */
    size_t part;             /* NCHW: units that are converted together */
    size_t lines;            /* NCHW: floats of the converted lines; in the workspace, pointers precede them and the result
                                follows */
};
SN_FITS_ALGORITHM_DATA(struct grouped);

static const struct grouped * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

/* The groups of a unit: of several groups neither inputs nor outputs exceed a vector. */
static size_t groups_of(const struct sn_convolution * c)
{
    const size_t most = sn_lanes(c) / sn_max(sn_inputs(c), sn_outputs(c));
    return sn_min(sn_max(most, 1), c->p.group);
}

/* The least outputs of a row in a phase: those of a block of the kernel. 28x267x14 to 8 in 2 groups by 3x3 with dilation 6
 * takes 0.6 of the time in whole rows, whose pixels are independent sums (avx2: 0.45). */
enum { PHASE_COLUMNS = 4 };

static bool in_phases(const struct sn_convolution_parameters * p)
{
    const bool whole = p->dstW < PHASE_COLUMNS * p->dilationX && (p->kernelX - 1) * p->dilationX + 8 < SN_GROUPED_PIXELS;
    return p->strideX == 1 && !whole;
}

static bool supports(const struct sn_convolution * c, enum sn_format format)
{
    const struct sn_convolution_parameters * p = &c->p;
    size_t reach, stride;
    return p->group > 1 && p->srcF == format && c->srcSize && c->dstSize && sn_inputs(c) <= SN_GROUPED_INPUTS &&
           sn_product(&reach, p->kernelX - 1, in_phases(p) ? 1 : p->dilationX) && sn_product(&stride, 7, p->strideX) &&
           reach < SN_GROUPED_PIXELS && stride + reach < SN_GROUPED_PIXELS;
}

static bool supports_nhwc(const struct sn_convolution * c) { return supports(c, SN_NHWC); }
static bool supports_nchw(const struct sn_convolution * c) { return supports(c, SN_NCHW); }

/* ---- cost */

/* Vector cycles of a product, 3x3 and others, of groups side by side and of single groups. */
static const double GROUPED = 1.35, GROUPED_SINGLE = 1.17, GROUPED_ANY = 2.2, GROUPED_SINGLE_ANY = 1.5;

/*
 * Whether blocks of several rows share inputs among taps, see kernels/grouped_nhwc_32f.c. Dilated taps of whole rows do not:
 * 22x23x23 by 3x3 with dilation 6 in 2 groups takes 0.82 of the time by the tile, 60x14x14 with 4 in 5 0.77 (AVX-512), 24x20x20 with 6 in
 * 4 0.64 (AVX2); 32x23x23 in 2 by F(4,3) 0.57 (AVX-512, Xeon with AMX).
 */
static bool is_shared(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool plain = p->strideY == p->strideX && p->strideY <= 2 && p->dilationY == 1 && p->dilationX == 1;
    const bool phases = p->strideY == 1 && p->strideX == 1 && (p->dilationX == 1 || in_phases(p));
    return p->kernelY == 3 && p->kernelX == 3 && (plain || phases);
}

/*
 * Single groups in NHWC by other kernels, of more outputs than half a vector. Neighbouring taps of a row share inputs in blocks
 * of 8 pixels: with vectors of 8 floats 160x199x199 by 2x2 in 20 groups takes 0.9 of the time of the tile, 64x60x60 by 5x5 in 8
 * 0.89; with more inputs nothing is gained. Taps apart, by a stride or a dilation, or one in a row, take longer: 16x60x60 to 48
 * by 7x1 1.7 times (AVX-512 1.3 to 1.6), 12x24x24 to 72 by 4x4 with dilation 2 1.6 times (AVX-512; Xeon with AMX).
 */
static const double GROUPED_SINGLE_NEAR = 1.12, GROUPED_SINGLE_APART = 1.9;
enum { NEAR_LANES = 8, NEAR_PIXELS = 8 };

static double any_single(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (p->srcF == SN_NCHW || 2 * sn_outputs(c) <= sn_lanes(c) || p->kernelY * p->kernelX == 1)
        return GROUPED_SINGLE_ANY;
    if (p->kernelX == 1 || p->strideX > 1 || p->dilationX > 1)
        return GROUPED_SINGLE_APART;
    const double computed = (double)sn_align(p->dstW, NEAR_PIXELS) / (double)p->dstW;
    return sn_lanes(c) == NEAR_LANES && sn_inputs(c) <= NEAR_LANES ? GROUPED_SINGLE_NEAR * computed : GROUPED_SINGLE_ANY;
}

static double cost(const struct sn_convolution * c)
{
    const size_t groups = groups_of(c);
    const double vectors = (double)(sn_ceil_div(c->p.group, groups) * sn_ceil_div(groups * sn_outputs(c), sn_lanes(c)));
    const bool single = groups == 1;
    const double product = is_shared(c) ? single ? GROUPED_SINGLE : GROUPED : single ? any_single(c) : GROUPED_ANY;
    const double moved = c->p.srcF == SN_NCHW ? SN_VECTOR_CONVERTED * sn_channel_vectors(c) : 0;
    return sn_of_vectors(c, sn_dst_pixels(c) * sn_depth(c) * vectors * product + moved);
}

/* ---- plan and weights: the lookup, as integers, and the floats */

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct grouped * d = (void *)c->algorithmData;
    const size_t lanes = sn_lanes(c);
    d->groups = groups_of(c);
    d->units = sn_ceil_div(p->group, d->groups);
    d->vectors = sn_ceil_div(d->groups * sn_outputs(c), lanes);
    d->phasesY = p->strideY == 1 ? p->dilationY : 1;
    d->phasesX = in_phases(p) ? p->dilationX : 1;
    c->workSize = sn_depthwise_rows_plan(c, SIZE_MAX, &d->rows);
    c->run = d->groups * sn_outputs(c);
    c->runStep = d->vectors * lanes;
    size_t lookups, weights;
    return sn_product(&c->channels, d->units, d->vectors, lanes) && sn_product(&lookups, sn_inputs(c), lanes) &&
           sn_product(&weights, c->channels, p->kernelY, p->kernelX, sn_inputs(c)) &&
           sn_floats(&c->weightSize, lookups + weights);
}

/* The same, and the workspace for bands of rows that fit into the L2 cache. */
static bool plan_converted(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct grouped * d = (void *)c->algorithmData;
    if (!plan(c))
        return false;
    const size_t inputs = d->groups * sn_inputs(c), outputs = d->groups * sn_outputs(c);
    d->part = sn_max(PART_CHANNELS / sn_max(inputs, outputs), 1);
    struct sn_band band = {.line = (p->srcW * inputs + p->dstW * outputs) * d->part, .strideY = p->strideY};
    sn_band_rows(&band, p, sn_cpu()->cacheL2 / 2 / sizeof(float));
    const size_t pointers = sn_depthwise_rows_plan(c, band.rows, &d->rows) / sizeof(float);
    size_t image, result;
    if (!sn_product(&image, sn_converted_lines(p, d->rows.rows), p->srcW, d->part, inputs) ||
        !sn_product(&result, d->rows.rows, p->dstW, d->part, outputs))
        return false;
    d->lines = sn_align(image, SN_ALIGN / sizeof(float));
    return sn_floats(&c->workSize, pointers + d->lines + result);
}

/* The floats before the weights: a lookup of each step. */
static size_t lookup_size(const struct sn_convolution * c) { return sn_inputs(c) * sn_lanes(c); }

/* The input of its group that output q of a unit adds in a step. */
static size_t input_of(const struct sn_convolution * c, size_t q, size_t step)
{
    return data_of(c)->groups == 1 ? step : (q % sn_outputs(c) + step) % sn_inputs(c);
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct grouped * d = data_of(c);
    const size_t lanes = sn_lanes(c), kernelX = c->p.kernelX, inputs = sn_inputs(c), outputs = sn_outputs(c);
    const size_t unit = d->groups * outputs, vector = c->p.kernelY * kernelX * inputs * lanes;
    int32_t * lookup = c->weight;
    for (size_t step = 0; step < inputs; ++step)
        for (size_t l = 0; l < lanes && d->groups > 1; ++l)
            lookup[step * lanes + l] = l < unit ? (int32_t)(l / outputs * inputs + input_of(c, l, step)) : 0;
    for (size_t o = 0; o < c->p.dstC; ++o) {
        const size_t q = o % unit;
        sn_32f * to = sn_weights(c) + lookup_size(c) + (o / unit * d->vectors + q / lanes) * vector + q % lanes;
        for (size_t tap = 0, taps; tap < c->p.kernelY * kernelX; tap += taps) { /* parts of a row of taps */
            taps = sn_min(kernelX - tap % kernelX, SN_GROUPED_TAPS);
            for (size_t step = 0; step < inputs; ++step)
                for (size_t k = 0; k < taps; ++k, to += lanes)
                    *to = ((const sn_32f *)weight)[sn_weight_at(c->format, &c->p, o, input_of(c, q, step), tap + k)];
        }
    }
}

/* ---- forward */

/* A job for units first .. first + units - 1, whose channels are `srcC` and `dstC`; without line, rows, dst. */
static struct sn_grouped_nhwc_32f job_of(const struct sn_convolution * c, size_t first, size_t units, size_t srcPixel,
                                         size_t dstPixel)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct grouped * d = data_of(c);
    const size_t at = first * d->vectors * sn_lanes(c);
    struct sn_grouped_nhwc_32f g = {.srcW = p->srcW, .srcPixel = srcPixel,
        .kernelY = p->kernelY, .kernelX = p->kernelX, .strideX = p->strideX, .dilationX = p->dilationX, .padX = p->padX,
        .units = units, .groups = d->groups, .inputs = sn_inputs(c), .srcUnit = d->groups * sn_inputs(c),
        .dstUnit = d->groups * sn_outputs(c), .lookup = c->weight, .aligned = sn_inputs(c) == sn_outputs(c),
        .weight = sn_weights(c) + lookup_size(c) + at * p->kernelY * p->kernelX * sn_inputs(c), .bias = c->bias + at,
        .slope = c->slope ? c->slope + at : NULL, .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]},
        .dstW = p->dstW, .dstRow = p->dstW * dstPixel, .dstPixel = dstPixel};
    g.srcC = p->srcC - first * g.srcUnit;
    g.dstC = sn_min(p->dstC - first * g.dstUnit, units * g.dstUnit);
    return g;
}

/* Sets the pointers to the lines that `rows` rows of a phase need, the first one being `row`. */
static void set_lines(const struct sn_convolution * c, const sn_32f * src, size_t row, size_t rows, size_t pixel,
                      const sn_32f ** line)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t step = data_of(c)->phasesY > 1 ? 1 : data_of(c)->rows.step;
    for (size_t y = 0; y < rows; ++y, row += data_of(c)->phasesY)
        for (size_t ky = 0; ky < p->kernelY; ++ky) {
            const size_t at = row * p->strideY + ky * p->dilationY - p->padY; /* wraps for those above */
            line[y * step + ky] = at < p->srcH ? src + at * p->srcW * pixel : NULL;
        }
}

/* The columns of a phase, whose number is less than that of all columns: every phasesX-th pixel from the first one on. */
static void compute_columns(const struct sn_convolution * c, struct sn_grouped_nhwc_32f g, size_t phase)
{
    const size_t step = data_of(c)->phasesX, padX = c->p.padX;
    const size_t pad = phase < padX ? sn_ceil_div(padX - phase, step) : 0, first = phase + pad * step - padX;
    g.offset += first * g.srcPixel;
    g.srcW = first < g.srcW ? sn_ceil_div(g.srcW - first, step) : 0;
    g.srcPixel *= step;
    g.padX = pad;
    g.dilationX = 1;
    g.dst += phase * g.dstPixel;
    g.dstW = sn_ceil_div(g.dstW - phase, step);
    g.dstPixel *= step;
    c->table->convolution_32f.grouped_nhwc(&g);
}

/* Rows row .. row + rows - 1 of the units of g, the first one at g.dst; src has g.srcPixel floats a pixel. */
static void compute_rows(const struct sn_convolution * c, struct sn_grouped_nhwc_32f g, const sn_32f * src, size_t row,
                         size_t rows, void * work)
{
    const struct grouped * d = data_of(c);
    sn_32f * dst = g.dst;
    const size_t dstRow = g.dstRow;
    g.line = work;
    g.lineStep = d->phasesY > 1 ? 1 : d->rows.step;
    g.dstRow = dstRow * d->phasesY;
    for (size_t y = 0; y < sn_min(d->phasesY, rows); ++y) {
        g.rows = sn_ceil_div(rows - y, d->phasesY);
        g.dst = dst + y * dstRow;
        set_lines(c, src, row + y, g.rows, g.srcPixel, work);
        if (d->phasesX == 1)
            c->table->convolution_32f.grouped_nhwc(&g);
        for (size_t x = 0; d->phasesX > 1 && x < sn_min(d->phasesX, g.dstW); ++x)
            compute_columns(c, g, x);
    }
}

/* Units of work are output rows, in groups that the kernel computes together, of each phase. */
static size_t rows_of_unit(const struct sn_convolution * c)
{
    const size_t rows = 4 * data_of(c)->phasesY;
    return data_of(c)->rows.rows >= rows ? rows : 1;
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t row = s->line * rows_of_unit(c), rows = sn_min(s->lines * rows_of_unit(c), p->dstH - row);
    struct sn_grouped_nhwc_32f g = job_of(c, 0, data_of(c)->units, a->at->srcPixel, a->at->dstPixel);
    g.dst = (sn_32f *)a->dst + row * g.dstRow;
    g.end = a->at->srcPixel == p->srcC ? (const sn_32f *)a->src + p->srcH * p->srcW * p->srcC : NULL;
    compute_rows(c, g, a->src, row, rows, a->work);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t unit = rows_of_unit(c);
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .columns = true, .near = true,
        .shares = {.lines = sn_ceil_div(c->p.dstH, unit), .most = data_of(c)->rows.rows / unit}});
}

/* Units first .. first + part - 1, or up to the last one. */
static void compute_units(const struct sn_convolution * c, size_t first, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct grouped * d = data_of(c);
    const size_t src = first * d->groups * sn_inputs(c), srcC = sn_min(d->part * d->groups * sn_inputs(c), p->srcC - src);
    const size_t dst = first * d->groups * sn_outputs(c), dstC = sn_min(d->part * d->groups * sn_outputs(c), p->dstC - dst);
    sn_32f * lines = (sn_32f *)a->work + sn_align(d->rows.lines * sizeof(void *), SN_ALIGN) / sizeof(float);
    sn_32f * result = lines + d->lines;
    struct sn_grouped_nhwc_32f g = job_of(c, first, sn_min(d->part, d->units - first), srcC, dstC);
    g.dst = result;
    g.srcC = srcC;
    for (size_t row = 0, rows; row < p->dstH; row += rows) {
        rows = sn_min(d->rows.rows, p->dstH - row);
        const sn_32f * image = sn_lines_to_nhwc(c, srcC, (const sn_32f *)a->src + src * c->srcPlane, row, rows, lines);
        compute_rows(c, g, image, row, rows, a->work);
        sn_rows_to_nchw(c, dstC, result, row, rows, (sn_32f *)a->dst + dst * c->dstPlane);
    }
}

/* The parts of an image in NCHW. */
static size_t parts_of(const struct sn_convolution * c) { return sn_ceil_div(data_of(c)->units, data_of(c)->part); }

/*
 * Whether a part is computed for all images before the next part: then weights that are larger than images are read once.
 * 5 times 1792x2x2 by 3x3 in 56 groups takes 0.82 of the time. Few parts are left to share images among threads.
 */
static bool is_joined(const struct sn_convolution * c)
{
    return c->batch > 1 && c->weightSize > c->srcSize + c->dstSize && parts_of(c) >= JOINED;
}

/* The "lines" of a share are parts. */
static void compute_converted(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t images = is_joined(c) ? c->batch : 1;
    for (size_t i = s->line; i < s->line + s->lines; ++i)
        for (size_t b = 0; b < images; ++b) {
            const struct sn_arrays image = sn_image_of(a, b, a->work);
            compute_units(c, i * data_of(c)->part, &image);
        }
}

static void forward_converted(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t parts = parts_of(c);
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute_converted,
        .joined = is_joined(c), .time = sn_convolution_32f_time(c), .shares = {.lines = parts, .most = parts}});
}

const struct sn_convolution_algorithm
    sn_convolution_32f_grouped_nhwc = {.name = "grouped NHWC", .supports = supports_nhwc, .cost = cost, .plan = plan,
        .pack = pack, .forward = forward},
    sn_convolution_32f_grouped_nchw = {.name = "grouped NCHW by NHWC", .supports = supports_nchw, .cost = cost,
        .plan = plan_converted, .pack = pack, .forward = forward_converted};
