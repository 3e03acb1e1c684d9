/*
 * Products of all taps, then their sums: a 1x1 convolution gives the products of each input pixel with the weights of all
 * taps and outputs, and each result is the sum of those that belong to it, by phases (phases.h). This is the matrix
 * product and col2im() of Caffe.
 *
 * Phases have few outputs each, at the columns or rows of a tile, and count those of their sums whose input is padding. Here
 * the outputs of all taps are rows of one product, and only inputs are multiplied; but each product is written and read
 * once. So this serves few outputs, groups, and small images with large kernels. 416x17x17 to 8 by 3x3 in 4 groups takes
 * 0.2 of the time of phases, which fill a third of a tile (avx2).
 *
 * Rows of A are the weights of an output and a tap, columns of B are pixels. Products are kept for the lines of input that
 * some rows of the phases need; those of lines that the next rows need too are moved.
 *
 * If kernel and stride are equal, and nothing is cut off, each product is a result, and is written to its place (`single`). The
 * pixels of an image of up to four would leave most columns of the tile unused: lanes are then inputs (`few`).
 */
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/deconvolution.h"
#include "ops/convolution/phase_planes.h"
#include "runtime/cpu.h"

enum {
    PHASE_TAPS = 64,    /* of a phase, at most */
    PRODUCT_ROWS = 128, /* outputs times taps that are multiplied with a panel, at least, since packing it takes time */
    DEPTH = 128,        /* inputs that are summed up at a time, at least */
    LINE = SN_ALIGN / sizeof(float)
};

struct col2im {
    size_t outputs;  /* channels that are computed together: of one group, or in NHWC of some groups */
    size_t rows;     /* of the phases for which products are computed together */
    size_t distance; /* floats from the products of a tap to those of the next */
    size_t block;    /* of depth that is packed at a time */
    bool single, few;
};
SN_FITS_ALGORITHM_DATA(struct col2im);

static const struct col2im * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool is_nchw(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

static size_t taps_of(const struct sn_convolution * c) { return c->p.kernelY * c->p.kernelX; }

static bool supports(const struct sn_convolution * c)
{
    return sn_phases_used(c) && c->srcSize > 0 && sn_phases_y(c)->taps <= PHASE_TAPS / sn_phases_x(c)->taps;
}

/* Whether each result is one product, and each product a result. */
static bool is_single(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->kernelY == p->strideY && p->kernelX == p->strideX && p->dilationY == 1 && p->dilationX == 1 &&
           p->dstH == p->srcH * p->strideY && p->dstW == p->srcW * p->strideX && !p->padY && !p->padX;
}

/*
 * Whether lanes are inputs. Not if the weights of pixels would be read in the order of memory by phases: 200x1x3 to 100 by 2x2 takes
 * 1.5 times as long; nor for a pixel whose results are cut off, since phases leave their taps out: with cold caches 512x1x1 to
 * 32x2x2 by 4x4 in 4 groups takes twice as long.
 */
static bool is_few(const struct sn_convolution * c)
{
    const bool in_order = !is_nchw(c) && c->p.group == 1, cut = c->p.srcH * c->p.srcW == 1 && !is_single(c);
    return !in_order && !cut && c->p.srcH <= SN_FEW && c->p.srcW <= SN_FEW && c->p.srcH * c->p.srcW <= SN_FEW;
}

/* The pixels that the kernel of few columns computes: of three it computes four. */
static size_t few_pixels(const struct sn_convolution * c)
{
    const size_t pixels = c->p.srcH * c->p.srcW;
    return pixels == 3 ? 4 : pixels;
}

/* ---- cost */

/* Fitted to 77 layers with 256-bit vectors (Zen 3): vector cycles of */
static const double COL2IM_PRODUCT = 1.15, COL2IM_ADDED = 17; /* a product of an input, adding one to its sum, */
static const double COL2IM_ADDED_512 = 28;                    /* and a vector of 64 bytes, which caches limit; */
static const double COL2IM_PACKED = 9, COL2IM_WRITTEN = 20;   /* an input, a result, */
static const double COL2IM_CHANNELS = 7;                      /* and more for it in NHWC; */
static const double COL2IM_ROW = 90;                          /* cycles of a row of results */

/* The same if products are results: for a product beside its inputs, and a vector of results. Of few pixels: a vector of inputs
 * of a product, and to add up its lanes. Fitted to 9 layers on avx2 and amx (Xeon with AMX). */
static const double SINGLE_PRODUCT = 10, SINGLE_WRITTEN = 8;
static const double FEW_PRODUCT = 1.2, FEW_LANES = 3;

/* A vector of products. */
static double cost_of_product(const struct sn_convolution * c)
{
    return is_few(c) ? (double)few_pixels(c) * (FEW_PRODUCT * sn_vectors(c, sn_inputs(c)) + FEW_LANES)
                     : COL2IM_PRODUCT * (double)sn_inputs(c);
}

static double cost_single(const struct sn_convolution * c)
{
    const double vectors = sn_tile_width(c, c->p.srcH * c->p.srcW) / (double)sn_lanes(c);
    const double products = sn_taps(c) * (double)c->p.dstC * (cost_of_product(c) + SINGLE_PRODUCT);
    const double written = SINGLE_WRITTEN * (double)c->p.dstH * sn_vectors(c, c->p.dstW) * (double)c->p.dstC;
    return sn_of_vectors(c, vectors * (products + COL2IM_PACKED * (double)c->p.srcC) + written);
}

/* Each panel of pixels reads all weights: what products take longer if they are far, fitted to 7 layers; 2048x7x7 to 256 by 3x3
 * with stride 2 takes 0.6 of the time by NHWC (avx2; avx512 0.75; Xeon with AMX). */
static const double COL2IM_FAR = 1.2;

static double cost(const struct sn_convolution * c)
{
    if (is_single(c))
        return cost_single(c);
    const double vectors = sn_tile_width(c, c->p.srcH * c->p.srcW) / (double)sn_lanes(c);
    const double products = sn_taps(c) * (double)c->p.dstC;
    const double added = sn_lanes(c) < 16 ? COL2IM_ADDED : COL2IM_ADDED_512;
    const double product = cost_of_product(c) * (sn_weights_are_far(c) ? COL2IM_FAR : 1) + added;
    const double with = is_nchw(c) ? sn_phases_with_taps(sn_phases_y(c)) : 1;
    const double rows = with * (double)c->p.dstH, results = rows * sn_vectors(c, c->p.dstW) * (double)c->p.dstC;
    const double written = (COL2IM_WRITTEN + (is_nchw(c) ? 0 : COL2IM_CHANNELS)) * results;
    const double summed = vectors * (products * product + COL2IM_PACKED * (double)c->p.srcC);
    return sn_of_vectors(c, summed + written) + COL2IM_ROW * rows;
}

/* ---- plan and weights */

/* Floats from the weights of a tap to those of the next. */
static size_t step_of(const struct sn_convolution * c) { return sn_spaced(sn_inputs(c), SN_FOUR_SETS); }

/* Floats of the sums of an output in a phase x. */
static size_t row_of(const struct sn_convolution * c) { return sn_align(sn_phases_x(c)->count, sn_lanes(c)); }

/* The workspace: a panel of B, products, a row of sums of all phases x, and in NHWC the same row of the result by channels.
 * The interleaving reads, and other kernels write, up to a vector more. */
static size_t panel_size(const struct sn_convolution * c)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    if (data_of(c)->few)
        return sn_align(sn_inputs(c) * few_pixels(c), LINE);
    return sn_align(data_of(c)->block * sn_gemm_width(tile, tile->columns) + sn_lanes(c), LINE);
}

static size_t products_size(const struct sn_convolution * c)
{
    return sn_align(data_of(c)->outputs * taps_of(c) * data_of(c)->distance, LINE);
}

/* Floats from the sums of a phase x of `outputs` outputs to those of the next, which stay if that has no taps. */
static size_t phase_step(const struct sn_convolution * c, size_t outputs) { return outputs * row_of(c) + sn_lanes(c); }

static size_t sums_size(const struct sn_convolution * c)
{
    return sn_align(sn_phases_x(c)->number * phase_step(c, data_of(c)->outputs) + sn_lanes(c), LINE);
}

static size_t result_size(const struct sn_convolution * c) { return is_nchw(c) ? 0 : data_of(c)->outputs * c->p.dstW; }

/* Chooses the rows, then the outputs: many for a small image, few lines of a large one. */
static bool plan_parts(const struct sn_convolution * c, struct col2im * o)
{
    const size_t taps = taps_of(c), budget = sn_cpu()->cacheL2 / 2 / sizeof(float), least = sn_ceil_div(PRODUCT_ROWS, taps);
    const struct sn_phases * y = sn_phases_y(c);
    size_t row, fixed, all;
    o->outputs = sn_min(sn_outputs(c), least);
    if (!is_nchw(c) && o->outputs == sn_outputs(c)) /* whole groups */
        o->outputs = sn_min(least / o->outputs * o->outputs, c->p.dstC);
    if (!sn_product(&row, o->outputs, taps, c->p.srcW) || !sn_product(&fixed, row, y->reach))
        return false;
    struct sn_band band;
    sn_phase_band_rows(c, row, fixed, budget, &band);
    o->few = is_few(c); /* whatever the caches: sums of lanes have other bits */
    o->rows = o->few ? y->count : band.rows;
    const size_t lines = o->few ? c->p.srcH : sn_min(band.lines, c->p.srcH);
    if (!sn_product(&all, lines, c->p.srcW) || !sn_product(&row, taps, all))
        return false;
    if (o->rows == y->count && o->outputs <= sn_outputs(c)) {
        o->outputs = sn_min(sn_outputs(c), sn_max(budget / row, o->outputs));
        o->outputs = sn_ceil_div(sn_outputs(c), sn_ceil_div(sn_outputs(c), o->outputs));
    }
    o->single = is_single(c);
    o->distance = o->few ? all : sn_spaced(all, SN_FOUR_SETS);
    return true;
}

static bool plan(struct sn_convolution * c)
{
    struct col2im * o = (void *)c->algorithmData;
    const size_t wide = c->table->gemm.tile_32f.columns;
    size_t products, sums, result;
    if (!plan_parts(c, o))
        return false;
    const size_t part = sn_cpu()->cacheL2 / 4 / sizeof(float);
    o->block = sn_min(sn_min(sn_inputs(c), sn_max(part / wide, 1)), sn_max(part / (o->outputs * taps_of(c)), DEPTH));
    if (o->few)
        o->block = sn_inputs(c);
    sn_channels_plain(c);
    if (o->single && (!sn_product(&c->channels, c->p.dstC, taps_of(c), o->few ? o->distance : 1) ||
                      !sn_product(&c->channels, c->channels + c->p.dstC, 1))) /* see spread() */
        return false;
    c->segments = is_nchw(c) ? sn_inputs(c) : 0;
    return sn_product(&products, o->outputs, taps_of(c), o->distance) &&
           sn_product(&sums, sn_phases_x(c)->number, o->outputs, row_of(c) + sn_lanes(c)) &&
           sn_product(&result, o->outputs, c->p.dstW) && sn_product(&result, products + sums + result, 1) &&
           sn_floats(&c->workSize, panel_size(c) + products_size(c) + sums_size(c) + result_size(c)) &&
           sn_floats(&c->weightSize, c->p.dstC, taps_of(c), step_of(c));
}

/* Of the inputs, for the panels of NCHW. */
static void offsets(const struct sn_convolution * c)
{
    for (size_t i = 0; i < c->segments; ++i)
        c->segment[i] = i * c->p.srcH * c->p.srcW;
}

/* One value of each output; then, if products are results, one for each tap of it, or for each of few products. */
static void spread(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread)
{
    memcpy(spread, values, c->p.dstC * sizeof(float));
    for (size_t i = c->p.dstC; i < c->channels; ++i)
        spread[i] = values[(i - c->p.dstC) / ((c->channels - c->p.dstC) / c->p.dstC)];
}

/* To [output of all groups][tap][input of the group]; from [input][output][tap] or, in NHWC, [input][tap][output]. */
static void pack(const struct sn_convolution * c, const void * weight)
{
    const size_t inputs = sn_inputs(c), outputs = sn_outputs(c), taps = taps_of(c), step = step_of(c);
    const size_t outputStep = is_nchw(c) ? taps : 1, tapStep = is_nchw(c) ? 1 : outputs;
    for (size_t o = 0; o < c->p.dstC; ++o)
        for (size_t k = 0; k < taps; ++k) {
            const sn_32f * from = (const sn_32f *)weight + o / outputs * inputs * outputs * taps + o % outputs * outputStep +
                                  k * tapStep;
            sn_32f * to = sn_weights(c) + (o * taps + k) * step;
            for (size_t i = 0; i < inputs; ++i)
                to[i] = from[i * outputs * taps];
        }
}

/* ---- forward */

/* Some outputs of a group, or all of some groups. */
struct part {
    const struct sn_convolution * c;
    const struct sn_arrays * a; /* in NCHW those of one group */
    size_t channel, outputs;    /* the first one, among those of all groups, and their number */
    sn_32f * dst;               /* the first result of these outputs */
    struct sn_span span;        /* the lines whose products there are, from `begin` on */
    sn_32f * panel, * product, * sums, * result;
    bool started;     /* there are sums of a row: those of phases x without taps stay */
    size_t without;   /* a row of the result without taps, or SIZE_MAX */
};

/* Packs some of the inputs of group g, from k on, of `count` pixels from `first` on. */
static void pack_panel(const struct part * q, size_t g, size_t first, size_t count, size_t k, size_t depth)
{
    const struct sn_convolution * c = q->c;
    const size_t width = sn_gemm_width(&c->table->gemm.tile_32f, count), pixel = q->a->at->srcPixel;
    if (is_nchw(c)) {
        const struct sn_piece piece = {first, count};
        c->table->convolution_32f.columns(&(struct sn_columns_32f){.src = q->a->src, .offset = c->segment + k,
            .depth = depth, .piece = &piece, .pieces = 1, .exact = true, .panel = q->panel, .width = width});
        return;
    }
    const sn_32f * src = (const sn_32f *)q->a->src + first * pixel + g * sn_inputs(c) + k;
    if (count < width)
        memset(q->panel, 0, depth * width * sizeof(float));
    c->table->layout.transpose_32f(src, pixel * sizeof(float), count, depth, q->panel, width * sizeof(float));
}

/* The products of all pixels, of which there are few, with `outputs` outputs of a group: rows of weights are the pixels of a
 * convolution, and pixels its outputs. */
static void multiply_few(const struct part * q, size_t channel, size_t outputs)
{
    static const size_t start = 0;
    static const sn_32f none[SN_ALIGN / sizeof(sn_32f)] = {0};
    const struct sn_convolution * c = q->c;
    const size_t inputs = sn_inputs(c), taps = taps_of(c), pixels = c->p.srcH * c->p.srcW, pixel = q->a->at->srcPixel;
    const sn_32f * src = (const sn_32f *)q->a->src + (is_nchw(c) ? 0 : channel / sn_outputs(c) * inputs);
    if (pixels > 1) {
        if (is_nchw(c))
            c->table->layout.transpose_32f(src, pixels * sizeof(float), inputs, pixels, q->panel, inputs * sizeof(float));
        else
            for (size_t i = 0; i < pixels; ++i)
                memcpy(q->panel + i * inputs, src + i * pixel, inputs * sizeof(float));
        memset(q->panel + pixels * inputs, 0, (few_pixels(c) - pixels) * inputs * sizeof(float));
        src = q->panel;
    }
    const size_t size = outputs * taps * pixels, row = c->p.dstC + channel * taps * pixels; /* see spread() */
    sn_32f * product = q->product + (channel - q->channel) * taps * pixels;
    c->table->convolution_32f.few_nhwc(&(struct sn_gemm_32f){.a = sn_weights(c) + channel * taps * step_of(c), .height = 1,
        .width = outputs * taps, .aStepX = step_of(c), .segment = &start, .segments = 1, .length = inputs, .b = src,
        .columns = pixels, .c = product, .bias = none, .activation = SN_ACTIVATION_IDENTITY});
    if (data_of(c)->single)
        c->table->convolution_32f.join(&(struct sn_join_32f){.add = c->bias + row, .dst = product, .rows = 1, .columns = size,
            .addStep = size, .dstStep = size, .slope = c->slope ? c->slope + row : NULL, .period = SIZE_MAX, .slopes = 1,
            .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}});
}

/* Computes the products of the pixels first .. last - 1 of the image with `outputs` outputs of a group, from `channel` on. The
 * weights of a block of depth stay in the L2 cache for all of them. */
static void multiply(const struct part * q, size_t channel, size_t outputs, size_t first, size_t last)
{
    static const size_t start = 0;
    const struct sn_convolution * c = q->c;
    const size_t inputs = sn_inputs(c), step = step_of(c), taps = taps_of(c), distance = data_of(c)->distance;
    sn_32f * product = q->product + (channel - q->channel) * taps * distance;
    struct sn_gemm_32f gemm = {.height = 1, .width = outputs * taps, .aStepX = step, .segment = &start, .segments = 1,
        .b = q->panel, .cStepX = distance, .activation = SN_ACTIVATION_IDENTITY, .byRow = true,
        .param = {c->param[0], c->param[1]}};
    const bool single = data_of(c)->single;
    const size_t row = c->p.dstC + channel * taps; /* see spread() */
    if (single)
        gemm.slope = c->slope ? c->slope + row : NULL;
    for (size_t k = 0; k < inputs; k += gemm.length) {
        gemm.length = sn_min(data_of(c)->block, inputs - k);
        gemm.bias = single && k == 0 ? c->bias + row : NULL;
        if (single && k + gemm.length == inputs)
            gemm.activation = sn_activation_of(c);
        gemm.a = sn_weights(c) + channel * taps * step + k;
        for (size_t i = first; i < last; i += gemm.columns) {
            gemm.columns = sn_min(c->table->gemm.tile_32f.columns, last - i);
            pack_panel(q, channel / sn_outputs(c), i, gemm.columns, k, gemm.length);
            gemm.c = product + i - q->span.begin * c->p.srcW;
            gemm.from = k > 0 ? gemm.c : NULL;
            c->table->gemm.tile_32f.run(&gemm);
        }
    }
}

/* Provides the products of the lines that `rows` rows of the phases need, from `row` on. */
static void provide(struct part * q, size_t row, size_t rows)
{
    const struct sn_convolution * c = q->c;
    const bool few = data_of(c)->few;
    if (few && q->span.inside) /* there are all */
        return;
    const size_t width = c->p.srcW, distance = data_of(c)->distance, end = q->span.begin + q->span.inside;
    const struct sn_span span = sn_span_of(sn_phases_y(c)->low + (ptrdiff_t)row, sn_phase_lines(c, rows), c->p.srcH);
    const size_t kept = end > span.begin ? sn_min(end - span.begin, span.inside) : 0;
    if (kept)
        for (size_t i = 0; i < q->outputs * taps_of(c); ++i) {
            sn_32f * to = q->product + i * distance;
            memmove(to, to + (span.begin - q->span.begin) * width, kept * width * sizeof(float));
        }
    q->span = few ? (struct sn_span){0, 0, c->p.srcH} : span;
    const size_t first = (span.begin + kept) * width, last = (span.begin + span.inside) * width;
    for (size_t o = q->channel, n; o < q->channel + q->outputs; o += n) {
        n = sn_min(sn_outputs(c) - o % sn_outputs(c), q->channel + q->outputs - o);
        if (few)
            multiply_few(q, o, n);
        else
            multiply(q, o, n, first, last);
    }
}

/* Finds the products that belong to the results of phase x in a row of phase y; returns their number. */
static size_t find_taps(const struct part * q, const struct sn_phase * y, const struct sn_phase * x, size_t row,
                        struct sn_tap_32f * tap)
{
    const struct sn_convolution * c = q->c;
    const struct sn_phases * ys = sn_phases_y(c), * xs = sn_phases_x(c);
    size_t taps = 0;
    for (size_t i = 0; i < y->taps; ++i) {
        const size_t line = (size_t)ys->low + y->from + row + i * ys->lineStep - q->span.begin; /* wraps for lines above */
        if (line >= q->span.inside)
            continue;
        for (size_t j = 0; j < x->taps; ++j) {
            const size_t k = sn_phase_tap(ys, y, i) * c->p.kernelX + sn_phase_tap(xs, x, j);
            const struct sn_span span = sn_span_of(xs->low + (ptrdiff_t)(x->from + j * xs->lineStep), x->count, c->p.srcW);
            if (span.inside)
                tap[taps++] = (struct sn_tap_32f){k * data_of(c)->distance + line * c->p.srcW + span.begin, span.before,
                                                  span.before + span.inside};
        }
    }
    return taps;
}

/* Adds up row `row` of phase fy, in all phases x. */
static void add_up(const struct part * q, size_t fy, size_t row)
{
    const struct sn_convolution * c = q->c;
    const struct sn_phases * x = sn_phases_x(c);
    struct sn_tap_32f tap[PHASE_TAPS];
    struct sn_tap_sums_32f job = {.src = q->product, .srcStep = taps_of(c) * data_of(c)->distance, .tap = tap,
        .bias = c->bias + q->channel, .slope = c->slope ? c->slope + q->channel : NULL, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}, .dst = q->sums, .dstStep = row_of(c), .outputs = q->outputs};
    for (size_t f = 0; f < x->number; ++f, job.dst += phase_step(c, q->outputs)) {
        if (q->started && !x->phase[f].taps)
            continue;
        job.taps = find_taps(q, &sn_phases_y(c)->phase[fy], &x->phase[f], row, tap);
        job.size = x->phase[f].count;
        c->table->deconvolution_32f.sum(&job);
    }
}

/* Writes the row of sums to row y of the result. */
static void write_row(const struct part * q, size_t y)
{
    const struct sn_convolution * c = q->c;
    const size_t pixel = q->a->at->dstPixel, size = c->p.dstW, phases = sn_phases_x(c)->number;
    struct sn_interleave_32f job = {.src = q->sums, .phases = phases, .phaseStep = phase_step(c, q->outputs),
        .srcStep = row_of(c), .dst = q->dst + y * size, .dstStep = c->p.dstH * size, .rows = q->outputs, .size = size};
    if (!is_nchw(c)) {
        job.dst = q->result;
        job.dstStep = size;
    }
    if (is_nchw(c) || phases > 1)
        sn_phase_planes_interleave(c, &job);
    if (!is_nchw(c))
        c->table->layout.transpose_32f(phases > 1 ? q->result : q->sums, (phases > 1 ? size : row_of(c)) * sizeof(float),
                                       q->outputs, size, q->dst + y * size * pixel, pixel * sizeof(float));
}

/* Copies row `from` of the result to row `to`. */
static void copy_row(const struct part * q, size_t from, size_t to)
{
    const size_t width = q->c->p.dstW, plane = q->c->p.dstH * width;
    for (size_t o = 0; o < q->outputs; ++o)
        memcpy(q->dst + o * plane + to * width, q->dst + o * plane + from * width, width * sizeof(float));
}

/* Computes row `row` of phase fy. In NCHW, one without taps is a copy of another. */
static void compute_row(struct part * q, size_t fy, size_t row)
{
    const struct sn_phases * y = sn_phases_y(q->c);
    const bool without = is_nchw(q->c) && !y->phase[fy].taps;
    const size_t to = row * y->stride + fy;
    if (without && q->without != SIZE_MAX) {
        copy_row(q, q->without, to);
        return;
    }
    add_up(q, fy, row);
    write_row(q, to);
    q->started = true;
    q->without = without ? to : q->without;
}

/* Writes the results of lines row .. row + rows - 1, which are products. */
static void write_products(const struct part * q, size_t row, size_t rows)
{
    const struct sn_convolution * c = q->c;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t taps = taps_of(c), distance = data_of(c)->distance, pixel = q->a->at->dstPixel;
    const sn_32f * product = q->product + (row - q->span.begin) * p->srcW;
    if (p->srcH * p->srcW == 1) { /* an image of the results */
        if (is_nchw(c))
            memcpy(q->dst, product, q->outputs * taps * sizeof(float));
        else
            c->table->layout.transpose_32f(product, taps * sizeof(float), q->outputs, taps, q->dst, pixel * sizeof(float));
        return;
    }
    if (is_nchw(c)) {
        struct sn_interleave_32f job = {.phases = p->kernelX, .phaseStep = distance, .srcStep = p->srcW,
            .dstStep = p->strideY * p->dstW, .rows = rows, .size = p->dstW};
        for (size_t i = 0; i < q->outputs * p->kernelY; ++i) {
            job.src = product + i * p->kernelX * distance;
            job.dst = q->dst + (i / p->kernelY * p->dstH + row * p->strideY + i % p->kernelY) * p->dstW;
            sn_phase_planes_interleave(c, &job);
        }
        return;
    }
    for (size_t y = 0; y < rows; ++y)
        for (size_t tap = 0; tap < taps; ++tap) {
            const size_t line = (row + y) * p->strideY + tap / p->kernelX;
            c->table->layout.transpose_32f(product + tap * distance + y * p->srcW, taps * distance * sizeof(float), q->outputs,
                                           p->srcW, q->dst + (line * p->dstW + tap % p->kernelX) * pixel,
                                           p->strideX * pixel * sizeof(float));
        }
}

static void compute_part(struct part * q, const struct sn_share * s)
{
    const struct sn_phases * y = sn_phases_y(q->c);
    for (size_t row = s->line, rows; row < s->line + s->lines; row += rows) {
        rows = sn_min(data_of(q->c)->rows, s->line + s->lines - row);
        provide(q, row, rows);
        if (data_of(q->c)->single) {
            write_products(q, row, rows);
            continue;
        }
        for (size_t r = row; r < row + rows; ++r)
            for (size_t f = 0; f < y->number && r < y->phase[f].count; ++f)
                compute_row(q, f, r);
    }
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t outputs = sn_outputs(c), most = data_of(c)->outputs, channels = is_nchw(c) ? outputs : c->p.dstC;
    const size_t before = is_nchw(c) ? s->image % c->p.group * outputs : 0, result = is_nchw(c) ? c->p.dstH * c->p.dstW : 1;
    sn_32f * panel = a->work, * product = panel + panel_size(c), * sums = product + products_size(c);
    struct part q = {.c = c, .a = a, .panel = panel, .product = product, .sums = sums, .result = sums + sums_size(c)};
    for (size_t o = 0; o < channels; o += q.outputs) {
        q.channel = before + o;
        q.outputs = sn_min(most, most < outputs ? outputs - o % outputs : channels - o);
        q.dst = (sn_32f *)a->dst + o * result;
        q.span = (struct sn_span){0, 0, 0};
        q.started = false;
        q.without = SIZE_MAX;
        compute_part(&q, s);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_phase_bands_run(c, &(struct sn_band){.rows = sn_phases_y(c)->count}, a, compute);
}

const struct sn_convolution_algorithm sn_deconvolution_32f_col2im = {.name = "col2im", .tiled = true, .supports = supports,
    .cost = cost, .plan = plan, .offsets = offsets, .pack = pack, .spread = spread, .forward = forward};
