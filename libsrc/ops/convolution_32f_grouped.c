/*
 * Convolution with few channels a group: lanes are the outputs of several groups side by side (a unit), see struct
 * sn_grouped_nhwc_32f of contract/convolution_32f.h. NHWC is read in place. From NCHW the channels of some units are
 * converted, computed, and converted back while they are in the cache.
 *
 * Lane l of a unit begins its sum over inputs with the one that has its own number, and wraps around: if a group has as
 * many inputs as outputs, this needs no lookup for the first step of each tap.
 */
#include "ops/band.h"
#include "ops/convolution_32f.h"
#include "ops/convolution_cost.h"
#include "ops/depthwise_rows.h"
#include "runtime/cpu.h"

/* Bytes of weights that stay in the L1 cache, and channels of NCHW that are converted together. */
enum { WEIGHTS = 16 << 10, CONVERTED = 32 };

struct grouped {
    struct sn_depthwise_rows rows;
    size_t groups, units;    /* the groups of a unit, but the last one, and units */
    size_t vectors;          /* of outputs of a unit */
    size_t part;             /* units that are computed for all rows before the next ones */
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

size_t sn_grouped_vectors(const struct sn_convolution * c)
{
    const size_t groups = groups_of(c);
    return sn_ceil_div(c->p.group, groups) * sn_ceil_div(groups * sn_outputs(c), sn_lanes(c));
}

bool sn_grouped_single(const struct sn_convolution * c) { return groups_of(c) == 1; }

static bool supports_nhwc(const struct sn_convolution * c)
{
    return c->p.group > 1 && c->p.srcF == SN_NHWC && c->srcSize && c->dstSize;
}

static bool supports_nchw(const struct sn_convolution * c)
{
    return c->p.group > 1 && c->p.srcF == SN_NCHW && c->srcSize && c->dstSize;
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
    c->workSize = sn_depthwise_rows_plan(c, SIZE_MAX, &d->rows);
    size_t unit, lookups, weights;
    if (!sn_product(&c->channels, d->units, d->vectors, lanes) || !sn_product(&lookups, sn_inputs(c), lanes) ||
        !sn_floats(&unit, d->vectors, p->kernelY, p->kernelX, lookups) ||
        !sn_product(&weights, c->channels, p->kernelY, p->kernelX, sn_inputs(c)) ||
        !sn_floats(&c->weightSize, lookups + weights))
        return false;
    c->groupStep = 1;
    d->part = sn_max(WEIGHTS / unit, 1);
    return true;
}

/* The same, and the workspace for bands of rows that fit into the L2 cache. */
static bool plan_converted(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct grouped * d = (void *)c->algorithmData;
    if (!plan(c))
        return false;
    const size_t inputs = d->groups * sn_inputs(c), outputs = d->groups * sn_outputs(c);
    d->part = sn_max(CONVERTED / sn_max(inputs, outputs), 1);
    struct sn_band band = {.line = (p->srcW * inputs + p->dstW * outputs) * d->part, .strideY = p->strideY};
    sn_band_rows(&band, p, sn_cpu()->cacheL2 / 2 / sizeof(float));
    const size_t pointers = sn_depthwise_rows_plan(c, band.rows, &d->rows) / sizeof(float);
    band.lines = sn_min(sn_used(d->rows.rows, p->strideY, p->kernelY, p->dilationY), p->srcH);
    size_t image, result;
    if (!sn_product(&image, band.lines, p->srcW, d->part, inputs) ||
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

/* The offset of a weight in the caller's layout: [tap][input][output] or [output][input][tap]. */
static size_t weight_at(const struct sn_convolution * c, size_t output, size_t input, size_t tap)
{
    const size_t taps = c->p.kernelY * c->p.kernelX;
    return c->p.srcF == SN_NHWC ? (tap * sn_inputs(c) + input) * c->p.dstC + output
                                : (output * sn_inputs(c) + input) * taps + tap;
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
        for (size_t ky = 0; ky < c->p.kernelY; ++ky)
            for (size_t step = 0; step < inputs; ++step)
                for (size_t kx = 0; kx < kernelX; ++kx, to += lanes)
                    *to = ((const sn_32f *)weight)[weight_at(c, o, input_of(c, q, step), ky * kernelX + kx)];
    }
}

/* Units begin at whole vectors. */
static void spread(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread)
{
    const size_t unit = data_of(c)->groups * sn_outputs(c), step = data_of(c)->vectors * sn_lanes(c);
    for (size_t o = 0; o < c->p.dstC; ++o)
        spread[o / unit * step + o % unit] = values[o];
}

/* ---- forward */

/* A job for units first .. first + units - 1, whose channels are `srcC` and `dstC`; without line, rows, dst. */
static struct sn_grouped_nhwc_32f job_of(const struct sn_convolution * c, size_t first, size_t units, size_t srcPixel,
                                         size_t dstPixel)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct grouped * d = data_of(c);
    const size_t at = first * d->vectors * sn_lanes(c);
    struct sn_grouped_nhwc_32f g = {.lineStep = d->rows.step, .srcW = p->srcW, .srcPixel = srcPixel,
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

/* Units of work are output rows, in groups of four, which the kernel computes together. */
static size_t rows_of_unit(const struct sn_convolution * c) { return data_of(c)->rows.rows >= 4 ? 4 : 1; }

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct grouped * d = data_of(c);
    const size_t row = s->line * rows_of_unit(c), rows = sn_min(s->lines * rows_of_unit(c), c->p.dstH - row);
    sn_depthwise_lines(c, &d->rows, a->src, row, rows, a->at->srcPixel, a->work);
    for (size_t first = 0; first < d->units; first += d->part) {
        struct sn_grouped_nhwc_32f g = job_of(c, first, sn_min(d->part, d->units - first), a->at->srcPixel,
                                              a->at->dstPixel);
        g.line = a->work;
        g.rows = rows;
        g.offset = first * g.srcUnit;
        g.dst = (sn_32f *)a->dst + row * g.dstRow + first * g.dstUnit;
        c->table->convolution_32f.grouped_nhwc(&g);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t unit = rows_of_unit(c);
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c),
        .shares = {.lines = sn_ceil_div(c->p.dstH, unit), .most = data_of(c)->rows.rows / unit}});
}

/* Units first .. first + part - 1, or up to the last one. */
static void compute_units(const struct sn_convolution * c, size_t first, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct grouped * d = data_of(c);
    const size_t src = first * d->groups * sn_inputs(c), srcC = sn_min(d->part * d->groups * sn_inputs(c), p->srcC - src);
    const size_t dst = first * d->groups * sn_outputs(c), dstC = sn_min(d->part * d->groups * sn_outputs(c), p->dstC - dst);
    const size_t srcPixels = p->srcH * p->srcW, dstPixels = p->dstH * p->dstW;
    sn_32f * lines = (sn_32f *)a->work + sn_align(d->rows.lines * sizeof(void *), SN_ALIGN) / sizeof(float);
    sn_32f * result = lines + d->lines;
    struct sn_grouped_nhwc_32f g = job_of(c, first, sn_min(d->part, d->units - first), srcC, dstC);
    g.line = a->work;
    g.dst = result;
    g.srcC = srcC;
    for (size_t row = 0; row < p->dstH; row += g.rows) {
        g.rows = sn_min(d->rows.rows, p->dstH - row);
        const struct sn_lines needed = sn_lines_of(p, row, g.rows);
        sn_32f * image = lines - needed.begin * p->srcW * srcC;
        c->table->layout.image_32f(srcC, srcPixels, (const sn_32f *)a->src + src * srcPixels, SN_NCHW, image, SN_NHWC,
                                   needed.begin * p->srcW, needed.end * p->srcW);
        sn_depthwise_lines(c, &d->rows, image, row, g.rows, srcC, a->work);
        c->table->convolution_32f.grouped_nhwc(&g);
        c->table->layout.image_32f(dstC, dstPixels, result - row * g.dstRow, SN_NHWC,
                                   (sn_32f *)a->dst + dst * dstPixels, SN_NCHW, row * p->dstW, (row + g.rows) * p->dstW);
    }
}

/* The "lines" of a share are parts. */
static void compute_converted(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    for (size_t i = s->line; i < s->line + s->lines; ++i)
        compute_units(c, i * data_of(c)->part, a);
}

static void forward_converted(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t parts = sn_ceil_div(data_of(c)->units, data_of(c)->part);
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute_converted,
        .time = sn_convolution_32f_time(c), .shares = {.lines = parts, .most = parts}});
}

const struct sn_convolution_algorithm
    sn_convolution_32f_grouped_nhwc = {.name = "grouped NHWC", .supports = supports_nhwc, .plan = plan, .pack = pack,
        .spread = spread, .forward = forward},
    sn_convolution_32f_grouped_nchw = {.name = "grouped NCHW by NHWC", .supports = supports_nchw, .plan = plan_converted,
        .pack = pack, .spread = spread, .forward = forward_converted};
