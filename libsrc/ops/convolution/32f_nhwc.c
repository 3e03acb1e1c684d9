/*
 * NHWC, by the GEMM tile: rows of A are output pixels, columns are output channels, and the taps of a kernel row are
 * adjacent in memory, so no im2col matrix is built. The image is read in place if possible; a band of its lines is copied if
 * there is padding, or if pixels are a multiple of 4 KB apart: the rows of a tile would then map to one set of the L1 cache
 * and evict each other. At 2 KB they map to two sets, which suffices: 512 channels take 1 to 7% less time without the copy.
 * For a large image with padding and few multiply-adds per input (the first layer of a network), only the input of the
 * outputs at the edges is copied: 3x3 with stride 2 on 3 channels is 1.03 (64 outputs) to 1.14 (16) times as fast.
 *
 * Groups are separate convolutions.
 */
#include "ops/convolution/32f_nhwc.h"

#include <math.h>
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/nhwc_edges.h"
#include "ops/convolution/nhwc_images.h"
#include "ops/convolution/tap_rows.h"
#include "ops/units.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"

/* ---- taps in padding */

/* The part of the products that are none of padding. */
static double inside_of(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_tap_rows rows = sn_tap_rows_of(p, 0), columns = sn_tap_columns_of(p);
    const double products = (double)sn_tap_products(&rows, p->dstH) * (double)sn_tap_products(&columns, p->dstW);
    return products / ((double)(p->kernelY * p->kernelX) * sn_dst_pixels(c));
}

/* The least inputs of taps that are computed one after the other: with 8, 28x28 by 9x9 with dilation 10 takes 1.1 times as
 * long. */
enum { APART_INPUTS = 32 };

/* The most of all products that are not those of padding; with 0.67 to 0.7, layers take 0.8 to 0.88 of the time (Zen 4). */
static const double APART_INSIDE = 0.7;

/*
 * Whether many of the products would be those of padding: with a dilation that is a large part of the image. Then taps are
 * computed one after the other, each for the outputs that it has, and no padding is copied. 160x13x13 by 10x7 with dilation 6
 * takes 0.52 of the time, 128x38x38 to 112 by 3x3 with stride 2 and dilation 11, with 0.65 of the products, 0.61.
 */
static bool taps_are_apart(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool apart = p->kernelX > 1 && p->dilationX > 1 && sn_inputs(c) >= APART_INPUTS;
    return apart && c->srcSize && c->dstSize && inside_of(c) <= APART_INSIDE;
}

/* ---- cost */

/* Cycles of 16 products, on 3x3 layers. */
static const double NHWC_PRODUCT = 9.3 / 9;
static const double APART_PRODUCT = 1.2; /* of more and smaller tiles */
static const double LOW = 4.5, LOW_ROWS = 3; /* fewer rows than LOW make low tiles; LOW_ROWS fewer take twice as long */

double sn_direct_nhwc_products(const struct sn_convolution * c)
{
    const double rows = (double)sn_max(c->p.dstH, c->p.dstW), low = rows < LOW ? 1 + (LOW - rows) / LOW_ROWS : 1;
    const double outputs = sn_dst_pixels(c) * sn_tile_width(c, sn_outputs(c)) * (double)c->p.group / 16;
    const double inside = taps_are_apart(c) ? APART_PRODUCT * inside_of(c) : 1;
    return NHWC_PRODUCT * sn_depth(c) * outputs * low * inside;
}

static double cost(const struct sn_convolution * c) { return fmax(sn_direct_nhwc_products(c), sn_weights_fetched(c)); }

/* Copying a float of a band, in cycles. */
static const double EDGE_COPIED = 0.4;

/*
 * Whether to copy only the input of the edges, if `sides` columns of the output need padding, instead of so many floats.
 * Rows are divided into tiles once more at the sides, which costs about as much as the outputs computed there; twice as much
 * where the copy leaves out columns that are read past in place: 736x112x112 to 16 by 3x3 with stride 2 and dilation 4,
 * copied, takes 0.9 of the time, 64x112x112 with dilation 2 0.95 (Xeon with AMX).
 */
static bool only_edges_preferred(const struct sn_convolution * c, const struct sn_band * band, double outputs, double copied)
{
    const double products = sn_depth(c) * (double)sn_ceil_div(c->p.dstC, 16) * (band->strideX < c->p.strideX ? 2 : 1);
    return outputs * products < EDGE_COPIED * copied;
}

/*
 * Tiles along the columns of a narrow image, or along all pixels if those are one line, are divided above and below: as if there
 * were so many more outputs, since low tiles take as long as higher ones. 256x14x1 to 256 by 3x1 takes 0.61 of the time (avx2
 * 0.71), 88x7x1 to 192 by 5x5 with stride 2 0.53 (0.52), 512x7x3 to 512 by 5x1 0.48 (0.72; Xeon with AMX).
 */
static double outputs_of_parts(const struct sn_convolution * c, const struct sn_inner * i)
{
    enum { TILE = 2 };
    const struct sn_convolution_parameters * p = &c->p;
    const size_t rows = c->table->gemm.tile_32f.rows;
    const bool narrow = p->dstW < rows && p->dstW < p->dstH, line = p->kernelX == 1 && p->strideY == 1;
    const size_t width = narrow ? 1 : p->dstW, columns = narrow ? p->dstW : 1, all = p->dstH * width;
    const size_t above = i->top * width, below = (p->dstH - i->bottom) * width;
    const size_t tiles = sn_ceil_div(above, rows) + sn_ceil_div(all - above - below, rows) + sn_ceil_div(below, rows);
    return narrow || line ? (double)(TILE * (tiles - sn_ceil_div(all, rows)) * columns) : 0;
}

/*
 * ---- dilations: which output rows are computed together
 *
 * With a dilation, the lines between those of the taps of a row belong to other rows, of which few are neighbours: a band of
 * neighbouring rows copies, or evicts from the cache, most of the image. So rows that use the same lines follow each other:
 * 32x317x528 to 13 by 9x9 with stride 3 and dilation 5 takes 0.35 of the time, 48x90x90 to 20 by 7x7 with stride 2 and dilation
 * 4 0.85, 16x562x562 to 16 by 3x3 with stride 2 and dilation 6, in place, 0.95 (Xeon with AMX).
 */

/* The part of the lines that bands of neighbouring rows would copy, above which these are preferred. */
static const double DENSE_LINES = 0.8;

/* Lines of the cache for a band, without columns that no tap uses: 736x112x112 to 16 by 3x3 with stride 2 and dilation 4, which
 * uses every second one, takes 0.78 of the time as its rows that share lines follow each other (Xeon with AMX). */
static size_t lines_near(const struct sn_convolution * c, const struct sn_band * band)
{
    const size_t columns = band->columns / sn_divisor(c->p.strideX, c->p.kernelX > 1 ? c->p.dilationX : c->p.strideX);
    return sn_cpu()->cacheL2 / 2 / sizeof(float) / sn_max(columns * band->pixel, 1);
}

/* The lines that all bands copy. */
static size_t lines_copied(const struct sn_convolution * c, struct sn_band band)
{
    band.line = band.columns * band.pixel;
    return sn_band_copied(band, &c->p, sn_cpu()->cacheL2 / 2 / sizeof(float));
}

static bool has_classes(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NHWC && c->p.dilationY > 1 && c->srcSize && c->dstSize;
}

/* Makes bands dense if fewer lines are copied then; returns the floats that are. */
static double plan_dense(const struct sn_convolution * c, struct sn_band * band)
{
    struct sn_band dense = *band;
    if (!has_classes(c) || !band->copied || taps_are_apart(c))
        return (double)(c->srcSize / sizeof(float));
    sn_band_dilated(&dense, &c->p, true);
    const size_t all = lines_copied(c, *band), lines = lines_copied(c, dense);
    if ((double)lines > DENSE_LINES * (double)all)
        return (double)(c->srcSize / sizeof(float));
    *band = dense;
    return (double)lines * (double)(band->columns * band->pixel);
}

/* Whether a dilated kernel, of lines in place, spans more lines than stay in the cache, but uses no more than do. */
static bool spans_cache(const struct sn_convolution * c, const struct sn_band * band)
{
    const size_t near = lines_near(c, band);
    return has_classes(c) && near <= sn_used(1, 1, c->p.kernelY, c->p.dilationY) && near > c->p.kernelY;
}

/*
 * Whether pixels that a stride of 1x1 leaves apart are copied, so that tiles lie along all of them: fewer tiles, and fewer times
 * that they read the weights. 256x14x14 to 512 with stride 2 takes 0.81 of the time with avx2 (0.97), 658x13x13 to 1760 with stride
 * 4 0.76 (0.64), 512x9x9 to 256 with stride 3 0.82 (0.79), 128x28x28 to 256 0.95 (0.95), but 160x38x38 to 80 in NCHW up to 1.1; and
 * 1024x14x14 to 2048, whose weights are read from afar in any case, 0.98 to 1.02 (0.95 to 1.06; Xeon with AMX).
 */
static bool is_line_preferred(const struct sn_convolution * c)
{
    enum { TILE = 2, MOST_PIXELS = 256, MOST_PIXELS_NHWC = 512, FAR = 3 };
    const struct sn_convolution_parameters * p = &c->p;
    const size_t rows = c->table->gemm.tile_32f.rows, pixels = p->dstH * p->dstW;
    if (p->kernelY > 1 || p->kernelX > 1 || p->strideX == 1 || p->padY || p->padX ||
        pixels > (p->srcF == SN_NHWC ? MOST_PIXELS_NHWC : MOST_PIXELS) ||
        sn_depth(c) * (double)p->dstC * sizeof(float) > FAR * (double)sn_cpu()->cacheL2)
        return false;
    const bool columns = p->dstW < rows && p->dstW < p->dstH;
    const size_t apart = columns ? p->dstW * sn_ceil_div(p->dstH, rows) : p->dstH * sn_ceil_div(p->dstW, rows);
    const double tiles = (double)apart - (double)sn_ceil_div(pixels, rows);
    return TILE * tiles * (double)sn_ceil_div(sn_outputs(c), 16) > EDGE_COPIED * (double)pixels;
}

/* True if copying only the input of the edges is possible and faster. */
static bool only_edges(const struct sn_convolution * c, const struct sn_band * band, double copied)
{
    const struct sn_inner i = sn_inner_of(&c->p);
    const double sides = (double)((i.left + (c->p.dstW - i.right)) * c->p.dstH);
    return sn_nhwc_edges_fit(&c->p, band) && only_edges_preferred(c, band, sides + outputs_of_parts(c, &i), copied);
}

/* ---- plan and weights */

static bool supports(const struct sn_convolution * c) { return c->p.srcF == SN_NHWC; }

/*
 * Makes one segment of taps that are adjacent in all rows of a kernel, as it is as wide as its lines, and none of which meets
 * padding: 512x7x7 to 4096 by 7x7 then takes 0.67 of the time by the kernel for few rows (avx2; avx512 0.68).
 */
static void join_lines(struct sn_convolution * c, struct sn_nhwc_band * b)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (p->group == 1 && p->kernelX * p->srcC == b->band.line && sn_band_tap(&b->band, p) == 1 && p->padY + p->padH == 0) {
        c->segments = 1;
        b->length = b->depth;
    }
}

bool sn_direct_nhwc_plan(struct sn_convolution * c, struct sn_direct_nhwc * d)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool clash = sn_share_sets(p->srcC * p->strideX * sizeof(float), SN_ONE_SET) && p->dstW * p->dstH > 1 &&
                       p->dstC > 0;
    const bool line = is_line_preferred(c);
    sn_nhwc_band_plan(c, clash || line, &d->nhwc);
    if (d->nhwc.band.copied && taps_are_apart(c))
        sn_nhwc_band_apart(c, clash, &d->nhwc);
    d->edges = !line && only_edges(c, &d->nhwc.band, plan_dense(c, &d->nhwc.band));
    if (d->edges)
        sn_nhwc_only_edges(p, &d->nhwc.band);
    if ((d->edges || !d->nhwc.band.copied) && !d->nhwc.apart && spans_cache(c, &d->nhwc.band))
        sn_band_dilated(&d->nhwc.band, p, false);
    c->runStep = sn_gemm_width(&c->table->gemm.tile_32f, sn_outputs(c));
    if (!sn_nhwc_band_size(c, &d->nhwc) || !sn_product(&c->channels, p->group, c->runStep))
        return false;
    join_lines(c, &d->nhwc);
    return sn_floats(&c->weightSize, d->nhwc.depth, c->channels);
}

static bool plan(struct sn_convolution * c) { return sn_direct_nhwc_plan(c, (void *)c->algorithmData); }

bool sn_direct_nhwc_limit(struct sn_convolution * c, size_t rows, size_t * size)
{
    struct sn_direct_nhwc * d = (void *)c->algorithmData;
    struct sn_band * band = &d->nhwc.band;
    band->rows = sn_min(band->rows, rows);
    band->lines = sn_used(band->rows, band->strideY, c->p.kernelY, sn_band_tap(band, &c->p));
    return sn_nhwc_copy_size(c, &d->nhwc, size);
}

/* Packs a panel: in each row, one tap of one input channel for `columns` output channels. */
static void pack_yxio(const struct sn_convolution * c, const sn_32f * weight, size_t depth, size_t columns, size_t width,
                      sn_32f * packed)
{
    for (size_t k = 0; k < depth; ++k)
        memcpy(packed + k * width, weight + k * c->p.dstC, columns * sizeof(float));
}

/* The same for weights of NCHW: of images of one pixel, or see 32f_converted.c. */
static void pack_oiyx(const struct sn_convolution * c, const sn_32f * weight, size_t columns, size_t width,
                      sn_32f * packed)
{
    const size_t taps = c->p.kernelY * c->p.kernelX;
    for (size_t o = 0; o < columns; ++o)
        for (size_t i = 0; i < sn_inputs(c); ++i)
            for (size_t t = 0; t < taps; ++t)
                packed[(t * sn_inputs(c) + i) * width + o] = *weight++;
}

void sn_direct_nhwc_pack(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const sn_32f * weight)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t depth = d->nhwc.depth;
    sn_32f * packed = c->weight;
    for (size_t g = 0; g < c->p.group; ++g)
        for (size_t first = 0; first < sn_outputs(c); first += tile->columns) {
            const size_t columns = sn_min(tile->columns, sn_outputs(c) - first), width = sn_gemm_width(tile, columns);
            const size_t o = g * sn_outputs(c) + first;
            if (c->format == SN_NHWC)
                pack_yxio(c, weight + o, depth, columns, width, packed);
            else
                pack_oiyx(c, weight + o * depth, columns, width, packed);
            packed += depth * width;
        }
}

void sn_direct_nhwc_offsets(const struct sn_convolution * c) { sn_nhwc_offsets(c, &sn_direct_nhwc_of(c)->nhwc); }

static void pack(const struct sn_convolution * c, const void * weight)
{
    sn_direct_nhwc_pack(c, sn_direct_nhwc_of(c), weight);
}

/* ---- forward */

struct edges_job {
    const struct sn_convolution * c;
    const struct sn_direct_nhwc * d;
};

static void compute_part(const void * job, const struct sn_nhwc_rows * r)
{
    const struct edges_job * j = job;
    sn_direct_nhwc_compute(j->c, j->d, r);
}

void sn_direct_nhwc_rows(const struct sn_convolution * c, const struct sn_direct_nhwc * d, struct sn_nhwc_image image,
                         size_t row, sn_32f * work, struct sn_nhwc_rows r)
{
    if (d->edges) {
        const struct edges_job job = {c, d};
        r.row = row;
        sn_nhwc_edges_run(&(struct sn_nhwc_edges){c, &d->nhwc.band, image, work, &job, compute_part}, &r);
    } else {
        sn_nhwc_source(c, &d->nhwc, image, row, work, &r);
        sn_direct_nhwc_compute(c, d, &r);
    }
}

/*
 * Results of a batch that exceed the caches are streamed: on Zen 4 16 images of 16x112x112 to 96 channels are 1.09 to 1.17
 * times as fast, of 32x112x112 to 64 and 64x56x56 to 256 1.03 to 1.06, also with a next layer that reads the result. Single
 * images of these fit in the caches: there 16x112x112 to 96 would take 1.02 of the time, and 1.23 with the next layer.
 */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_direct_nhwc * d = sn_direct_nhwc_of(c);
    const bool stream = sn_images_are_cold(c);
    const struct sn_band * band = &d->nhwc.band;
    struct sn_class_rows part;
    for (size_t at = s->line, end = at + s->lines; at < end; at += part.counted) {
        part = sn_band_rows_at(band, &c->p, at, end);
        if (!part.rows)
            continue;
        struct sn_share rows = *s;
        rows.line = part.row, rows.lines = part.rows;
        struct sn_nhwc_rows r = sn_nhwc_rows_of(c, &rows, a);
        r.dstLine *= sn_band_classes(band);
        r.stream = stream;
        r.images = true;
        sn_direct_nhwc_rows(c, d, (struct sn_nhwc_image){a->src, a->at->srcPixel}, rows.line, a->work, r);
    }
    if (stream) /* orders non-temporal stores before those that signal the end to other threads */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void sn_direct_nhwc_narrow(struct sn_convolution * part)
{
    struct sn_direct_nhwc * d = (void *)part->algorithmData;
    if (!d->edges)
        sn_band_narrow(&d->nhwc.band, &part->p);
}

void sn_direct_nhwc_forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_direct_nhwc * d = sn_direct_nhwc_of(c);
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    if (sn_nhwc_images_are_rows(c, a)) {
        sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = sn_nhwc_images_compute, .joined = true,
            .time = sn_convolution_32f_time(c), .shares = {.lines = c->batch, .most = c->batch, .least = 1}});
        return;
    }
    /* Rows of a matrix, too few for two such ranges: 50 x 96 x 512 on two threads takes 0.55 of the time otherwise. */
    const size_t tiles = p->dstW == 1 && p->dstH < 4 * tile->rows ? 1 : 2;
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .columns = !d->nhwc.apart, .near = p->group > 1, .narrow = sn_direct_nhwc_narrow,
        .shares = {.lines = sn_band_counted(&d->nhwc.band, p),
        .most = d->nhwc.band.rows, .columns = p->dstC, .width = p->group == 1 ? tile->columns : 0, .weights = c->weightSize,
        .source = c->srcSize,
        .start = d->nhwc.band.copied && !d->edges, .least = sn_ceil_div(tiles * tile->rows, p->dstW)}});
}

SN_FITS_ALGORITHM_DATA(struct sn_direct_nhwc);
const struct sn_convolution_algorithm sn_convolution_32f_nhwc = {.name = "direct NHWC", .tiled = true, .adds = true,
    .supports = supports, .cost = cost, .plan = plan, .offsets = sn_direct_nhwc_offsets, .pack = pack,
    .forward = sn_direct_nhwc_forward};
