/*
 * Convolution of small numbers by the tile: rows of A are output pixels, columns are output channels, and the taps of a
 * kernel row are neighbours in memory, see ops/convolution_32f_nhwc.c. Numbers are taken in groups of 4 bytes of B; the last
 * group of a segment may reach into the next pixel, where it meets weights of 0.
 *
 * Groups of channels are convolutions of their own beside each other.
 */
#include "ops/convolution_dot.h"
#include "runtime/memory.h"

static size_t inputs(const struct sn_convolution_dot * c) { return c->p.srcC / c->p.group; }
static size_t outputs(const struct sn_convolution_dot * c) { return c->p.dstC / c->p.group; }

static size_t width_of(const struct sn_convolution_dot * c, size_t columns)
{
    const size_t granule = c->tile->granule;
    return sn_ceil_div(columns, granule) * granule;
}

/* Taps of a kernel row that follow each other in memory, if nothing is between the pixels of the band: all, or 1. */
static size_t neighbours(const struct sn_convolution_dot * c)
{
    return c->p.group == 1 && c->p.dilationX == 1 ? c->p.kernelX : 1;
}

/* The taps of a segment, and its numbers. */
static size_t taps(const struct sn_convolution_dot * c)
{
    return c->band.pixel == c->inputs * c->number ? neighbours(c) : 1;
}

static size_t numbers(const struct sn_convolution_dot * c) { return taps(c) * c->inputs; }

/* The first tap of segment s. */
static size_t row_of(const struct sn_convolution_dot * c, size_t s) { return s * taps(c) / c->p.kernelX; }
static size_t column_of(const struct sn_convolution_dot * c, size_t s) { return s * taps(c) % c->p.kernelX; }

static bool plan(struct sn_convolution_dot * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_tile * tile = c->tile;
    const size_t spacing = c->family->spaced ? tile->group : 1;
    c->inputs = sn_ceil_div(inputs(c), spacing) * spacing;
    const bool whole = c->inputs == inputs(c) && neighbours(c) * c->inputs % tile->group == 0;
    const enum sn_dot_reads reads = whole ? SN_READS_PIXELS : SN_READS_COPY;
    if (!sn_dot_band_plan(c, tile->number, reads, sn_min(p->dstC, tile->columns) * c->dstElement))
        return false;
    c->segments = c->weightCount == 0 ? 0 : p->kernelY * (p->kernelX / taps(c)); /* sums of nothing have none */
    c->length = sn_ceil_div(numbers(c), tile->group);
    c->depth = c->segments * c->length;
    c->group = width_of(c, outputs(c));
    return sn_product(&c->channels, p->group, c->group) && sn_product(&c->weightBytes, c->depth, 4, c->channels);
}

/* Weights of bytes become 16 bits where the tile has groups of two. */
static void put(const struct sn_convolution_dot * c, void * packed, size_t at, const void * weight, size_t from)
{
    if (c->family->weight == 2)
        ((sn_16b *)packed)[at] = ((const sn_16b *)weight)[from];
    else if (c->tile->group == 4)
        ((int8_t *)packed)[at] = ((const int8_t *)weight)[from];
    else
        ((int16_t *)packed)[at] = ((const int8_t *)weight)[from];
}

/* The weights of one panel: `columns` outputs from o on. */
static void pack_panel(const struct sn_convolution_dot * c, const void * weight, size_t o, size_t columns,
                       void * packed)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t group = c->tile->group, width = width_of(c, columns);
    for (size_t s = 0; s < c->segments; ++s)
        for (size_t k = 0; k < numbers(c); ++k) {
            const size_t ky = row_of(c, s), kx = column_of(c, s) + k / c->inputs, i = k % c->inputs;
            if (i >= inputs(c))
                continue;
            const size_t row = (s * c->length + k / group) * width;
            for (size_t n = 0; n < columns; ++n)
                put(c, packed, (row + n) * group + k % group, weight, sn_weight_at(p, o + n, i, ky, kx));
        }
}

static void pack(const struct sn_convolution_dot * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_tile * tile = c->tile;
    if (c->segments == 0)
        return;
    for (size_t s = 0; s < c->segments; ++s)
        c->segment[s] = row_of(c, s) * p->dilationY * c->band.line + column_of(c, s) * p->dilationX * c->band.pixel;
    uint8_t * packed = c->weight;
    for (size_t g = 0; g < p->group; ++g)
        for (size_t first = 0; first < outputs(c); first += tile->columns) {
            const size_t columns = sn_min(tile->columns, outputs(c) - first);
            pack_panel(c, weight, g * outputs(c) + first, columns, packed);
            packed += c->depth * 4 * width_of(c, columns);
        }
}

static void compute(const struct sn_convolution_dot * c, const uint8_t * lines, const struct sn_share * s, uint8_t * work,
                    uint8_t * dst)
{
    const size_t row = s->line, rows = s->lines;
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &c->band;
    const struct sn_dot_tile * tile = c->tile;
    struct sn_dot gemm = {.segment = c->segment, .segments = c->segments, .length = c->length,
        .b = (const uint8_t *)c->weight + c->depth * 4 * s->first};
    const size_t last = p->group == 1 ? s->first + s->columns : outputs(c);
    for (size_t g = 0; g < p->group; ++g)
        for (size_t first = s->first; first < last; first += tile->columns) {
            const size_t o = g * outputs(c) + first, columns = sn_min(tile->columns, outputs(c) - first);
            union sn_dot_result result;
            c->family->result(c, g * c->group + first, &result);
            gemm.result = &result;
            gemm.start = (const uint8_t *)c->start + (g * c->group + first) * 4;
            gemm.columns = columns;
            gemm.a = lines + g * c->inputs * c->number;
            gemm.c = sn_dot_result_at(c, o, columns, row, work, dst, &gemm.cStepX);
            gemm.cStepY = p->dstW * gemm.cStepX;
            gemm.aStepX = band->strideX * band->pixel;
            gemm.aStepY = band->strideY * band->line;
            gemm.width = p->dstW;
            gemm.height = rows;
            if (gemm.aStepY == gemm.width * gemm.aStepX) { /* pixels of all rows in one line */
                gemm.width *= rows;
                gemm.height = 1;
            } else if (gemm.width < tile->rows && gemm.width < rows) { /* columns make higher tiles than rows */
                const struct sn_dot turned = gemm;
                gemm.width = turned.height, gemm.height = turned.width;
                gemm.aStepX = turned.aStepY, gemm.aStepY = turned.aStepX;
                gemm.cStepX = turned.cStepY, gemm.cStepY = turned.cStepX;
            }
            tile->run(&gemm);
            gemm.b = (const uint8_t *)gemm.b + c->depth * 4 * width_of(c, columns);
            sn_dot_result_done(c, work, o, columns, row, rows, dst);
        }
}

static void forward(const struct sn_convolution_dot * c, const uint8_t * src, uint8_t * work, uint8_t * dst)
{
    sn_dot_bands_run(&(struct sn_dot_bands){.c = c, .src = src, .work = work, .dst = dst, .compute = compute,
        .panel = c->tile->columns});
}

const struct sn_convolution_dot_way sn_convolution_dot_tiled = {"tiled", true, plan, pack, forward};
