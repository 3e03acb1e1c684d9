/*
 * NCHW, by the GEMM tile: rows of A are the weights of an output channel, columns of B are outputs of a phase, counted
 * through its rows (see ops/convolution_32f_nchw.c). What neighbouring outputs need from a tap are neighbours in the image,
 * for each phase is a convolution of stride 1. Products are computed beside each other for all phases of some pixels, then
 * interleaved into rows of the result.
 *
 * A panel of B serves neighbouring phases that have the same inputs. So that the phases' pixels are those of the same place,
 * all have as many columns as the first one: the last column of another may lie beyond the result, and is not written.
 */
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/deconvolution_32f.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"

enum {
    COLUMNS = 64, /* of a panel, at most: the room for its pieces */
    LINE = SN_ALIGN / sizeof(float)
};

static size_t inputs(const struct sn_convolution_32f * c) { return c->p.srcC / c->p.group; }
static size_t outputs(const struct sn_convolution_32f * c) { return c->p.dstC / c->p.group; }

/* ---- the band: lines of some planes, with what outputs reach beyond the image */

bool sn_planes_plan(struct sn_convolution_32f * c, bool copied, size_t planes, size_t more, size_t budget)
{
    struct sn_band * band = &c->band;
    const bool used = c->y.taps && c->x.taps;
    band->copied = copied || (used && (!sn_phases_inside(&c->y, c->p.srcH) || !sn_phases_inside(&c->x, c->p.srcW)));
    band->columns = band->line = band->copied ? c->x.count + c->x.reach : c->p.srcW;
    band->pixel = 1;
    size_t row, fixed;
    if (!sn_product(&row, band->line, planes) || !sn_product(&row, row + more, 1) ||
        !sn_product(&fixed, band->line, planes, c->y.reach))
        return false;
    sn_deconvolution_32f_rows(c, row, fixed, budget);
    band->plane = band->copied ? band->lines * band->line : c->p.srcH * c->p.srcW;
    /* Kernels read up to a vector behind a copied line. */
    return sn_product(&c->workSize, band->lines, band->line, planes) &&
           sn_product(&c->workSize, band->copied, c->workSize + sn_lanes(c));
}

void sn_planes_copy(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, sn_32f * to)
{
    const size_t line = c->band.line;
    const struct sn_span y = sn_span_of(c->y.low + (ptrdiff_t)row, c->band.lines, c->p.srcH);
    const struct sn_span x = sn_span_of(c->x.low, line, c->p.srcW);
    memset(to, 0, y.before * line * sizeof(float));
    to += y.before * line;
    if (y.inside) {
        const struct sn_lines_32f lines = {.src = x.inside ? src + y.begin * c->p.srcW + x.begin : src, .srcStep = c->p.srcW,
            .stride = 1, .dst = to, .dstStep = line, .lines = y.inside, .before = x.before,
            .inside = x.inside, .size = line};
        c->table->convolution_32f.lines(&lines);
    }
    /* With the vector behind the lines, which kernels read. */
    memset(to + y.inside * line, 0, ((c->band.lines - y.before - y.inside) * line + sn_lanes(c)) * sizeof(float));
}

void sn_planes_interleave(const struct sn_convolution_32f * c, const struct sn_interleave_32f * job)
{
    const size_t phases = job->phases, whole = job->size / phases, rest = job->size % phases;
    if (phases == 2 || phases == 4) {
        c->table->deconvolution_32f.interleave(job);
        return;
    }
    for (size_t i = 0; i < job->rows; ++i) { /* a row is an image of so many channels */
        const sn_32f * src = job->src + i * job->srcStep;
        sn_32f * dst = job->dst + i * job->dstStep;
        c->table->layout.image_32f(phases, job->phaseStep, src, SN_NCHW, dst, SN_NHWC, 0, whole);
        if (rest)
            c->table->layout.image_32f(rest, job->phaseStep, src + whole, SN_NCHW, dst + whole * phases,
                                        SN_NHWC, 0, 1);
    }
}

/* ---- plan and weights */

static bool takes(const struct sn_convolution_32f * c)
{
    (void)c;
    return true;
}

static size_t depth_of(const struct sn_convolution_32f * c, const struct sn_phase * y, const struct sn_phase * x)
{
    return y->taps * x->taps * inputs(c);
}

/* Floats from the weights of an output channel to the next. */
static size_t step_of(size_t depth) { return sn_spaced(depth, SN_FOUR_SETS); }

/* The phases of an axis with so many taps. */
static size_t phases_with(const struct sn_phases * a, size_t taps)
{
    size_t number = 0;
    for (size_t f = 0; f < a->number; ++f)
        number += a->phase[f].taps == taps;
    return number;
}

/* Of all phases. They have the most taps that there are, or one less, or none, so that there are four sizes to count. */
static bool plan_weights(struct sn_convolution_32f * c)
{
    c->weightSize = 0;
    for (size_t y = c->y.taps; y && y + 1 >= c->y.taps; --y)
        for (size_t x = c->x.taps; x && x + 1 >= c->x.taps; --x) {
            size_t size;
            if (!sn_product(&size, phases_with(&c->y, y), phases_with(&c->x, x), step_of(y * x * inputs(c)), c->p.dstC) ||
                !sn_product(&c->weightSize, c->weightSize + size, 1))
                return false;
        }
    return true;
}

/* The workspace: a panel of B, products of all phases of some channels, and the band. */
static size_t panel_size(const struct sn_convolution_32f * c)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    return sn_align(c->block * sn_gemm_width(tile, tile->columns) + sn_lanes(c), LINE);
}

static size_t products_size(const struct sn_convolution_32f * c)
{
    return c->x.number * c->outputs * c->table->gemm.tile_32f.columns + LINE; /* to interleave them, a vector more is read */
}

static bool plan(struct sn_convolution_32f * c)
{
    const size_t wide = c->table->gemm.tile_32f.columns, part = sn_cpu()->cacheL2 / 4 / sizeof(float);
    if (!sn_planes_plan(c, false, inputs(c), 0, 2 * part) || !sn_deconvolution_32f_segments(c, inputs(c)) ||
        !sn_product(&c->depth, c->y.taps, c->x.taps, inputs(c)))
        return false;
    c->channels = c->p.dstC;
    c->block = sn_min(c->depth, sn_max(part / wide, 1));
    c->outputs = sn_min(outputs(c), sn_max(part / wide / c->x.number, 1));
    size_t products;
    if (!sn_product(&products, c->x.number, c->outputs, wide) ||
        !sn_product(&c->workSize, c->workSize + panel_size(c) + products_size(c), 1))
        return false;
    return plan_weights(c);
}

/* The weights of output channel o of a group for one phase; `weight` is what the group has for input channel 0. */
static void pack_output(const struct sn_convolution_32f * c, const sn_32f * weight, size_t o, const struct sn_phase * y,
                        const struct sn_phase * x, sn_32f * packed)
{
    const struct sn_convolution_parameters * p = &c->p;
    for (size_t ky = 0; ky < y->taps; ++ky)
        for (size_t kx = 0; kx < x->taps; ++kx)
            for (size_t i = 0; i < inputs(c); ++i)
                *packed++ = weight[((i * outputs(c) + o) * p->kernelY + sn_phase_tap(&c->y, y, ky)) * p->kernelX +
                                   sn_phase_tap(&c->x, x, kx)];
}

/* [group][phase y][phase x][output channel][line][column][input channel] */
static void pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    const struct sn_convolution_parameters * p = &c->p;
    sn_deconvolution_32f_offsets(c, inputs(c), segment);
    for (size_t g = 0; g < p->group; ++g, weight += inputs(c) * outputs(c) * p->kernelY * p->kernelX)
        for (size_t fy = 0; fy < c->y.number; ++fy)
            for (size_t fx = 0; fx < c->x.number; ++fx) {
                const struct sn_phase * y = &c->y.phase[fy], * x = &c->x.phase[fx];
                const size_t step = step_of(depth_of(c, y, x));
                for (size_t o = 0; o < outputs(c); ++o, packed += step)
                    pack_output(c, weight, o, y, x, packed);
            }
}

static void spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    memcpy(spread, values, c->channels * sizeof(float));
}

/* ---- forward */

/* Some pixels of all phases in x, and some output channels. */
struct panel {
    const struct sn_convolution_32f * c;
    const struct sn_phase * y;
    struct sn_columns_32f columns; /* src: the band, of the group */
    struct sn_piece piece[COLUMNS];
    size_t pixels;
    size_t channel, channels; /* the first one, among those of all groups */
    sn_32f * product;         /* [phase x][channel][pixel] */
};

/* Phases f .. f + alike - 1, which have the same inputs; their weights for the panel's channels begin at `weight`. */
static void compute_phases(const struct panel * q, size_t f, size_t alike, const sn_32f * weight)
{
    static const size_t start = 0;
    const struct sn_convolution_32f * c = q->c;
    const struct sn_phase * x = &c->x.phase[f];
    const size_t depth = depth_of(c, q->y, x), step = step_of(depth), wide = c->table->gemm.tile_32f.columns;
    struct sn_columns_32f columns = q->columns;
    struct sn_gemm_32f gemm = {.height = 1, .width = q->channels, .aStepX = step, .segment = &start, .segments = 1,
        .b = columns.panel, .columns = q->pixels, .cStepX = wide,
        .slope = c->slope ? c->slope + q->channel : NULL, .byRow = true, .param = {c->param[0], c->param[1]}};
    columns.src += q->y->from * c->band.line + x->from;
    size_t k = 0;
    do { /* once also for a sum of nothing */
        gemm.length = columns.depth = sn_min(c->block, depth - k);
        gemm.bias = k > 0 ? NULL : c->bias + q->channel;
        gemm.activation = k + gemm.length == depth ? sn_tile_activation(c) : SN_ACTIVATION_IDENTITY;
        columns.offset = sn_phase_offsets(c, x, inputs(c)) + k;
        c->table->convolution_32f.columns(&columns);
        for (size_t i = 0; i < alike; ++i) {
            gemm.a = weight + i * outputs(c) * step + k;
            gemm.c = q->product + (f + i) * q->channels * wide;
            gemm.from = k > 0 ? gemm.c : NULL;
            c->table->gemm.tile_32f.run(&gemm);
        }
        k += gemm.length;
    } while (k < depth);
}

/* The panel's products, of channels o and behind of the group; dst: the group's first plane, at the first row of the
 * phase. */
static void scatter(const struct panel * q, size_t first, sn_32f * dst)
{
    const struct sn_convolution_32f * c = q->c;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t wide = c->table->gemm.tile_32f.columns, columns = c->x.count;
    struct sn_interleave_32f job = {.phases = c->x.number, .phaseStep = q->channels * wide, .srcStep = wide,
        .dstStep = p->dstH * p->dstW, .rows = q->channels};
    for (size_t done = 0, n; done < q->pixels; done += n) {
        const size_t y = (first + done) / columns, x = (first + done) % columns * c->x.number;
        n = sn_min(columns - x / c->x.number, q->pixels - done);
        job.src = q->product + done;
        job.dst = dst + y * c->y.stride * p->dstW + x;
        job.size = sn_min(n * c->x.number, p->dstW - x);
        sn_planes_interleave(c, &job);
    }
}

/* All phases in x and all output channels of group g, at the panel's pixels. */
static void compute_panel(struct panel * q, size_t g, const sn_32f * weight, size_t first, sn_32f * dst)
{
    const struct sn_convolution_32f * c = q->c;
    for (size_t o = 0; o < outputs(c); o += c->outputs) {
        q->channel = g * outputs(c) + o;
        q->channels = sn_min(c->outputs, outputs(c) - o);
        const sn_32f * w = weight;
        for (size_t f = 0, alike; f < c->x.number; f += alike) {
            const size_t step = step_of(depth_of(c, q->y, &c->x.phase[f]));
            alike = sn_phases_alike(&c->x, f);
            compute_phases(q, f, alike, w + o * step);
            w += alike * outputs(c) * step;
        }
        scatter(q, first, dst + o * c->p.dstH * c->p.dstW);
    }
}

/* The pieces of a band's lines that outputs first .. first + count - 1 of a phase begin in. */
static size_t cut(const struct sn_convolution_32f * c, size_t first, size_t count, struct sn_piece * piece)
{
    const size_t columns = c->x.count;
    if (c->band.line == columns) { /* rows follow each other without a gap */
        piece[0] = (struct sn_piece){first, count};
        return 1;
    }
    size_t pieces = 0;
    for (size_t y = first / columns, x = first % columns; count; ++y, x = 0) {
        const size_t n = sn_min(columns - x, count);
        piece[pieces++] = (struct sn_piece){y * c->band.line + x, n};
        count -= n;
    }
    return pieces;
}

/* `rows` outputs of the phase, in all phases x. */
static void compute_phase(struct panel * q, size_t g, size_t rows, const sn_32f * weight, sn_32f * dst)
{
    const struct sn_gemm_32f_tile * tile = &q->c->table->gemm.tile_32f;
    const size_t all = rows * q->c->x.count;
    q->columns.piece = q->piece;
    for (size_t first = 0; first < all; first += tile->columns) {
        q->pixels = sn_min(tile->columns, all - first);
        q->columns.pieces = cut(q->c, first, q->pixels, q->piece);
        q->columns.width = sn_gemm_width(tile, q->pixels);
        compute_panel(q, g, weight, first, dst);
    }
}

static void compute_band(const struct sn_convolution_32f * c, size_t g, const sn_32f * src, sn_32f * work, size_t row,
                         sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct panel q = {.c = c, .product = work + panel_size(c),
        .columns = {.src = src, .panel = work, .exact = !c->band.copied}};
    if (c->band.copied) {
        sn_32f * band = q.product + products_size(c);
        for (size_t i = 0; i < inputs(c); ++i)
            sn_planes_copy(c, src + i * p->srcH * p->srcW, row, band + i * c->band.plane);
        q.columns.src = band;
    } else if (c->y.taps && c->x.taps) {
        q.columns.src += (size_t)(c->y.low + (ptrdiff_t)row) * c->band.line + (size_t)c->x.low;
    }
    const sn_32f * weight = c->weight + g * (c->weightSize / p->group);
    for (size_t f = 0; f < c->y.number; ++f) {
        q.y = &c->y.phase[f];
        const size_t rows = sn_phase_rows(c, q.y, row);
        if (rows)
            compute_phase(&q, g, rows, weight, dst + (row * c->y.stride + f) * p->dstW);
        for (size_t x = 0; x < c->x.number; ++x)
            weight += outputs(c) * step_of(depth_of(c, q.y, &c->x.phase[x]));
    }
}

static void forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    sn_deconvolution_32f_bands(c, compute_band, src, work, dst);
}

const struct sn_convolution_32f_way sn_deconvolution_32f_nchw = {"phases NCHW", true, takes, plan, pack, spread,
                                                               forward, NULL};
