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
#include "ops/convolution/tap_rows.h"
#include "ops/units.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"

/* ---- taps in padding */

/* The rows of taps of outputs from `row` on, and their columns. */
static struct sn_tap_rows tap_rows_of(const struct sn_convolution_parameters * p, size_t row)
{
    return (struct sn_tap_rows){.first = (ptrdiff_t)(row * p->strideY) - (ptrdiff_t)p->padY, .stride = p->strideY,
        .step = p->dilationY, .taps = p->kernelY, .lines = p->srcH};
}

static struct sn_tap_rows tap_columns_of(const struct sn_convolution_parameters * p)
{
    return (struct sn_tap_rows){.first = -(ptrdiff_t)p->padX, .stride = p->strideX, .step = p->dilationX, .taps = p->kernelX,
        .lines = p->srcW};
}

/* The part of the products that are none of padding. */
static double inside_of(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_tap_rows rows = tap_rows_of(p, 0), columns = tap_columns_of(p);
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
static bool only_edges_preferred(const struct sn_convolution * c, const struct sn_band * band, size_t sides, double copied)
{
    const double products = sn_depth(c) * (double)sn_ceil_div(c->p.dstC, 16) * (band->strideX < c->p.strideX ? 2 : 1);
    return (double)sides * (double)c->p.dstH * products < EDGE_COPIED * copied;
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

/* True if copying only the input of the edges is possible and faster. */
static bool only_edges(const struct sn_convolution * c, const struct sn_band * band, double copied)
{
    const struct sn_inner i = sn_inner_of(&c->p);
    return sn_nhwc_edges_fit(&c->p, band) && only_edges_preferred(c, band, i.left + (c->p.dstW - i.right), copied);
}

/* ---- plan and weights */

static bool supports(const struct sn_convolution * c) { return c->p.srcF == SN_NHWC; }

bool sn_direct_nhwc_plan(struct sn_convolution * c, struct sn_direct_nhwc * d)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool clash = sn_share_sets(p->srcC * p->strideX * sizeof(float), SN_ONE_SET) && p->dstW * p->dstH > 1 &&
                       p->dstC > 0;
    sn_nhwc_band_plan(c, clash, &d->nhwc);
    if (d->nhwc.band.copied && taps_are_apart(c))
        sn_nhwc_band_apart(c, clash, &d->nhwc);
    d->edges = only_edges(c, &d->nhwc.band, plan_dense(c, &d->nhwc.band));
    if (d->edges)
        sn_nhwc_only_edges(p, &d->nhwc.band);
    if ((d->edges || !d->nhwc.band.copied) && !d->nhwc.apart && spans_cache(c, &d->nhwc.band))
        sn_band_dilated(&d->nhwc.band, p, false);
    c->runStep = sn_gemm_width(&c->table->gemm.tile_32f, sn_outputs(c));
    return sn_nhwc_band_size(c, &d->nhwc) && sn_product(&c->channels, p->group, c->runStep) &&
           sn_floats(&c->weightSize, d->nhwc.depth, c->channels);
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

/* The same for weights of NCHW, see 32f_converted.c. */
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
            if (c->p.srcF == SN_NHWC)
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

/* Sums of so few products take less time than writing them. */
enum { SHORT_SUM = 8 };

/* Bytes of the inputs of all groups that are multiplied before the next ones, and the inputs of a group below which that also
 * gains with warm caches. */
enum { GROUPS_BYTES = 24 << 10, FEW_INPUTS = 64 };

/* Bytes of the inputs and results of pixels that meet all panels of weights before the next ones. */
enum { PART_BYTES = 64 << 10 };

/* Whether images and results exceed the caches. */
static bool is_cold(const struct sn_convolution * c) { return sn_beyond_cache(c->batch * (c->srcSize + c->dstSize)); }

/*
 * One pixel or two, such as inner products of so many rows: computes whole panels by the kernel for them, and returns the
 * first output channel of the group that is left.
 */
static size_t compute_few(const struct sn_convolution * c, const struct sn_nhwc_rows * r, const struct sn_gemm_32f * gemm,
                          size_t group, size_t end)
{
    const struct sn_gemm_slots * kernels = &c->table->gemm;
    const size_t panels = (end - r->first) / kernels->tile_32f.columns, packed = group * c->runStep + r->first;
    if (!panels || gemm->height > 1 || gemm->width > kernels->rows_32f.rows || gemm->segments != 1 || r->add)
        return r->first;
    kernels->rows_32f.run(&(struct sn_gemm_rows_32f){.a = r->src + group * sn_inputs(c) + gemm->segment[0],
        .b = sn_weights(c) + gemm->length * packed, .bias = c->bias + packed, .lda = gemm->aStepX, .ldc = gemm->cStepX,
        .rows = gemm->width, .depth = gemm->length, .panels = panels, .c = r->dst + group * sn_outputs(c),
        .slope = c->slope ? c->slope + packed : NULL, .activation = gemm->activation,
        .param = {gemm->param[0], gemm->param[1]}, .far = c->weightSize > sn_cpu()->cacheL2});
    return r->first + panels * kernels->tile_32f.columns;
}

/*
 * Pixels from the first of a tile to those that it prefetches: two tiles, where a single vector of outputs leaves little time.
 * batch 2, 192x73x73 to 8 channels takes 0.27 of the time (one tile ahead with AVX2 0.4), 64x300x300 to 16 0.9 of that of one
 * tile ahead; to 32 channels 1.06 (Zen 4).
 */
static size_t fetched_ahead(const struct sn_convolution * c)
{
    const size_t rows = c->table->gemm.tile_32f.rows;
    return sn_outputs(c) <= sn_lanes(c) ? 2 * rows : rows;
}

/* Whether so many bytes of each image exceed the L2 cache, those of all images together. */
static bool exceeds_l2(const struct sn_convolution * c, size_t bytes) { return c->batch * bytes > sn_cpu()->cacheL2; }

/*
 * Whether images or results are not in the L2 cache, when they are used next. Of chains of four layers with half of its size,
 * 48x56x56 to 48 takes 0.89 of the time by this limit, 40x80x80 to 40 0.79, 96x40x40 to 96 0.89 (avx2 0.86, 0.91, 0.98), of one
 * layer again and again 1.02, 0.86 and, 64x56x56 to 64, 1.05 (Xeon with AMX). Groups read their inputs at a distance: two layers
 * of 192x56x56 in 2 groups would take 1.03. Merged convolutions have a buffer in the cache on one side: 24x56x56 by 144 to 24
 * channels would take 1.05 with avx2.
 */
static bool leaves_l2(const struct sn_convolution * c, const struct sn_nhwc_rows * r)
{
    const bool both = r->images && sn_cpu()->traits.ordered && c->p.group == 1;
    return exceeds_l2(c, both ? 2 * (c->srcSize + c->dstSize) : c->dstSize);
}

/*
 * Whether the inputs of later pixels are prefetched, where they are read in place. With fewer than MANY_INPUTS if there is one
 * panel, and images are large: 40x416x416 to 16 channels takes 0.67 of the time, 32x224x224 to 8 0.8, 32x320x320 to 32
 * 0.86, 32x124x124 to 32 0.9 (avx512); with avx2 0.94, 0.79, 0.99 and 1.02, 48x112x112 to 24 1.04 (Xeon with AMX). Not for several rows of taps whose
 * columns lie apart: without, 864x80x112 to 9 by 5x1 with stride 2 takes 0.84 to 0.93 of the time, 16x562x562 to 16 by 3x3
 * with stride 2 and dilation 6 0.90 to 0.95, 64x160x160 to 64 by 3x3 with dilation 6 1.02.
 */
static bool prefetches_source(const struct sn_convolution * c, size_t depth)
{
    enum { INPUTS = 16, MANY_INPUTS = 64 };
    const bool one = sn_outputs(c) <= c->table->gemm.tile_32f.columns;
    if (c->p.kernelY > 1 && (c->p.strideX > c->p.kernelX || c->p.dilationX > 1))
        return false;
    return depth >= MANY_INPUTS || (depth >= INPUTS && one && exceeds_l2(c, c->srcSize + c->dstSize));
}

/*
 * The least floats of a panel that rows prefetch together: of shorter ones, each row run for itself takes up to twice as long as
 * its sums, of 72 products (8x16x16 to 1984 by 3x3 with stride 2, avx512), and the first row prefetches all.
 */
enum { SHARED_FLOATS = 16 << 10 };

/* All panels of weights over the rows that `gemm` describes, beginning with those of r; `byRow`: its height is that of r. */
static void compute_panels(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r,
                           struct sn_gemm_32f gemm, bool byRow)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t depth = d->nhwc.depth, end = r->outputs ? r->first + r->outputs : sn_outputs(c);
    const bool far = sn_weights_exceed_l2(c), in_place = !d->nhwc.band.copied || d->edges;
    /* Rows that prefetch a panel together; of a single tap, whose panels are small, each prefetches all of it. */
    const bool shared = byRow && c->p.kernelY * c->p.kernelX > 1 && depth * tile->columns >= SHARED_FLOATS;
    const size_t sharing = shared ? gemm.height : 1;
    const struct sn_tap_rows columns = tap_columns_of(&c->p);
    struct sn_tap_rows taps = tap_rows_of(&c->p, r->row);
    taps.stride *= sn_band_classes(&d->nhwc.band);
    taps.columns = d->nhwc.apart ? &columns : NULL;
    for (size_t g = 0; g < c->p.group; ++g)
        for (size_t first = compute_few(c, r, &gemm, g, end); first < end; first += tile->columns) {
            const size_t at = g * sn_outputs(c) + first - r->first, packed = g * c->runStep + first;
            gemm.a = r->src + g * sn_inputs(c);
            gemm.b = sn_weights(c) + depth * packed;
            gemm.columns = sn_min(tile->columns, end - first);
            gemm.c = r->dst + at;
            gemm.from = r->add ? r->add + at : NULL;
            gemm.bias = c->bias + packed;
            gemm.slope = c->slope ? c->slope + packed : NULL;
            gemm.stream = r->stream && sn_has_whole_lines(&gemm);
            gemm.prefetch = NULL;
            gemm.onward = false;
            taps.fetched = 0;
            if (r->source && first == 0) {
                gemm.prefetch = r->source;
                gemm.prefetchStep = gemm.aStepX;
            } else if (r->prefetchSize && !far) {
                const size_t before = r->source ? tile->columns : 0, outputs = c->p.dstC - before;
                gemm.prefetch = r->prefetch + r->prefetchSize * (g * sn_outputs(c) + first - before) / outputs;
                gemm.prefetchStep = r->prefetchSize * gemm.columns / outputs / gemm.width;
            } else if (first == 0 && in_place && prefetches_source(c, depth)) {
                gemm.prefetch = gemm.a + fetched_ahead(c) * gemm.aStepX;
                gemm.prefetchStep = gemm.aStepX;
            } else if (far) {
                gemm.onward = true;
                gemm.prefetch = gemm.b + depth * gemm.columns;
                gemm.prefetchStep = depth * gemm.columns / gemm.width / sharing;
                taps.fetched = sharing > 1 ? gemm.prefetchStep * gemm.width : 0;
            }
            if (byRow)
                sn_run_tap_rows(tile, &gemm, &taps);
            else
                tile->run(&gemm);
        }
}

/*
 * The rows of A that meet all panels of weights before the next rows. Where results are written faster in order (a trait of
 * the processor), those of PART_BYTES, if the weights stay in the L2 cache from one of these parts to the next, and results do
 * not: as two tiles each, on Emerald Rapids 1.5 times as fast for 16x112x112 to 96 channels, 1.2 for 64x56x56 to 256; on Zen 4
 * 0.94 and 1.00. A later Xeon takes 0.5 of the time for 80x96x96 to 1120, 0.92 for 256x56x56 to 512, and with more than two
 * tiles again 0.71 for 8x416x416 to 46, 24x256x256 to 48 0.79, 16x112x112 to 96 0.85, 3x224x224 to 64 by 3x3 0.8 (avx2 0.69,
 * 0.83, 0.83, 0.86); 32 KB and 128 KB are as good. Elsewhere as many as fill a quarter of the L2 cache with their results, if
 * sums are so short that writing them takes most of the time: on Zen 3 8x416x416 to 46 channels takes 0.87 of the time,
 * 3x40x82 to 1024 0.84; with 16 inputs 1.03. Groups of several taps would be called for few outputs each: 24x28x28 to 1632 in 8
 * groups by 3x3 takes 0.82 of the time as whole lines with avx2, 48x56x56 to 480 in 4 groups 0.9 (Xeon with AMX; AVX-512 0.98
 * to 1.02).
 *
 * A 1x1 convolution with groups would read and write the whole image once for each group: some pixels are multiplied for all
 * groups, while the next ones are prefetched. 120x192x192 in 5 groups takes 0.53 of the time (1.3 without the prefetches),
 * 64x224x224 to 128 in 2 groups 0.76 (Zen 3); with warm caches 120x96x96 0.92, but 512x28x28 in 8 groups 1.07. That was with
 * 12 KB: twice as many take 0.88 (avx2 0.93) of that time on a Xeon with AMX. A pixel may have no channels at all.
 */
static size_t rows_at_once(const struct sn_convolution * c, const struct sn_nhwc_rows * r, size_t depth, size_t all)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    if (c->p.group > 1 && !r->prefetchSize && depth == sn_inputs(c) && (depth < FEW_INPUTS || is_cold(c)))
        return sn_min(sn_max(GROUPS_BYTES / sizeof(float) / sn_max(r->srcPixel, 1) / tile->rows, 1) * tile->rows, all);
    const bool near = !r->prefetchSize && c->weightSize <= sn_cpu()->cacheL2 / 2 && sn_outputs(c) > tile->columns;
    if (near && sn_cpu()->traits.ordered && leaves_l2(c, r) && (c->p.group == 1 || depth == sn_inputs(c))) {
        const size_t part = PART_BYTES / sizeof(float) / sn_max(r->srcPixel + r->dstPixel, 1);
        return sn_min(sn_max(part / tile->rows, 2) * tile->rows, all);
    }
    if (!near || c->p.group > 1 || depth > SHORT_SUM)
        return all;
    const size_t most = sn_cpu()->cacheL2 / 4 / sizeof(float) / sn_max(r->dstPixel, 1);
    return sn_min(sn_max(most / tile->rows, 4) * tile->rows, all);
}

/*
 * Whether the results of the next pixels are prefetched: of few inputs, the products take less time than lines take to arrive
 * that are only written. 24x348x348 to 177 channels takes 0.44 of the time, 16x512x512 to 48 0.52, 16x112x112 to 96 0.81 (avx512;
 * avx2 0.65, 0.64, 1.02); convolutions of 3x3 on 3 channels, whose lines are copied, 1.06 (Xeon with AMX). With wide vectors more
 * inputs are few: four layers of 96x160x160 to 96 take 0.86, 128x112x112 to 128 0.96; with avx2 1.02 to 1.1. Of several taps,
 * with fewer products: 1x280x280 to 384 by 3x3 with stride 2 takes 0.82 (avx2 0.88).
 */
static bool prefetches_results(const struct sn_convolution * c, const struct sn_nhwc_rows * r, size_t depth)
{
    enum { TAPS_PRODUCTS = 16 };
    const bool few = depth == sn_inputs(c) || depth <= TAPS_PRODUCTS;
    return c->p.group == 1 && !r->prefetchSize && few && leaves_l2(c, r) &&
           depth < (r->images && sn_lanes(c) >= 16 ? 3 * FEW_INPUTS : FEW_INPUTS);
}

/*
 * Whether the first panel prefetches the inputs of the next pixels, and the others their results: two layers of 48x320x320 to 48
 * take 0.72 of the time (avx2 0.8), 32x320x320 to 96 0.85. With fewer inputs the first panel is too short to prefetch
 * instead of the others: 24x348x348 to 177 takes 1.1 (avx2 0.98; Xeon with AMX).
 */
static bool prefetches_inputs(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r)
{
    enum { INPUTS = 32 };
    const bool all = r->outputs == 0 || r->outputs == sn_outputs(c), in_place = !d->nhwc.band.copied || d->edges;
    return r->images && all && in_place && d->nhwc.depth >= INPUTS;
}

/*
 * Whether rows that could be one line are computed one by one, without their taps in padding, although their tiles are lower:
 * such rows take as long as if they had ROW_STARTED more outputs. 120x42x42 by 7x1 with dilation 6, with 0.76 of the products,
 * takes 0.79 of the time, 256x7x7 by 7x1 0.95 (avx2 0.93); with 0.94 of them 64x28x15 by 7x1 would take 1.04 and 64x28x5 1.17
 * (Xeon with AMX).
 */
static const double ROW_STARTED = 2;

static bool by_rows_preferred(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (p->kernelY == 1)
        return false;
    const struct sn_tap_rows taps = tap_rows_of(p, 0);
    const double inside = (double)sn_tap_products(&taps, p->dstH), width = (double)p->dstW;
    return inside * (width + ROW_STARTED) < (double)(p->kernelY * p->dstH) * width;
}

void sn_direct_nhwc_compute(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t width = r->columns ? r->columns : c->p.dstW;
    struct sn_gemm_32f gemm = {.height = r->rows, .width = width, .aStepY = r->srcLine, .aStepX = r->srcPixel,
        .segment = c->segment, .segments = c->segments, .length = d->nhwc.length, .cStepY = r->dstLine,
        .cStepX = r->dstPixel, .coldC = !sn_cpu()->traits.prefetchC, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}};
    bool byRow = true;
    if (d->nhwc.apart) { /* outputs that have other taps are no rows of a tile */
        compute_panels(c, d, r, gemm, byRow);
        return;
    }
    if (r->srcLine == width * r->srcPixel && r->dstLine == width * r->dstPixel) { /* pixels of all rows are one line */
        byRow = by_rows_preferred(c);
        gemm.width = byRow ? width : width * r->rows;
        gemm.height = byRow ? r->rows : 1;
    } else if (width < tile->rows && width < r->rows) { /* tiles along columns are higher than along rows */
        byRow = false;
        gemm.height = width, gemm.width = r->rows;
        gemm.aStepY = r->srcPixel, gemm.aStepX = r->srcLine;
        gemm.cStepY = r->dstPixel, gemm.cStepX = r->dstLine;
    }
    const size_t all = gemm.width, once = rows_at_once(c, r, d->nhwc.depth, gemm.width);
    if (once == all) {
        compute_panels(c, d, r, gemm, byRow);
        return;
    }
    const size_t lines = gemm.height;
    const bool next_results = prefetches_results(c, r, d->nhwc.depth);
    const bool next_inputs = next_results && prefetches_inputs(c, d, r);
    gemm.height = 1;
    for (size_t y = 0; y < lines; ++y)
        for (size_t x = 0; x < all; x += once) {
            const size_t a = y * gemm.aStepY + x * gemm.aStepX, to = y * gemm.cStepY + x * gemm.cStepX;
            struct sn_nhwc_rows some = *r;
            some.row += y * sn_band_classes(&d->nhwc.band);
            some.src += a;
            some.dst += to;
            some.add = r->add ? r->add + to : NULL;
            gemm.width = sn_min(once, all - x);
            if (c->p.group > 1 && !r->prefetchSize && once < all - x) {
                some.prefetch = some.src + once * gemm.aStepX;
                some.prefetchSize = gemm.width * gemm.aStepX;
            } else if (next_results) {
                some.prefetch = some.dst + once * gemm.cStepX;
                some.prefetchSize = gemm.width * gemm.cStepX;
                some.source = next_inputs ? some.src + once * gemm.aStepX : NULL;
            }
            compute_panels(c, d, &some, gemm, byRow);
        }
}

void sn_direct_nhwc_images(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r,
                           size_t images, size_t srcImage, size_t dstImage)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    /* Rows of images that are equally far apart are rows of a tile, too. */
    const bool lines = p->kernelY == 1 && !p->padY && srcImage == r->rows * r->srcLine && dstImage == r->rows * r->dstLine;
    const size_t rows = lines ? 1 : r->rows, panel = d->nhwc.depth * sn_gemm_width(tile, r->outputs);
    const size_t ofTap = c->segments / p->kernelY, fetched = panel / (rows * p->dstW);
    struct sn_gemm_32f gemm = {.height = 1, .width = lines ? images * r->rows : images, .length = d->nhwc.length,
        .aStepX = lines ? r->srcLine : srcImage, .cStepX = lines ? r->dstLine : dstImage, .columns = r->outputs,
        .coldC = !sn_cpu()->traits.prefetchC, .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]},
        .bias = c->bias + r->first, .slope = c->slope ? c->slope + r->first : NULL};
    const sn_32f * weight = sn_weights(c) + d->nhwc.depth * r->first;
    gemm.prefetch = sn_weights_exceed_l2(c) ? weight + panel : NULL;
    gemm.prefetchStep = fetched / gemm.width;
    const struct sn_tap_rows taps = tap_rows_of(p, r->row);
    for (size_t y = 0; y < rows; ++y) {
        const struct sn_taps some = sn_taps_of_row(&taps, y);
        gemm.segment = c->segment + some.begin * ofTap;
        gemm.segments = (some.end - some.begin) * ofTap;
        gemm.b = weight + some.begin * ofTap * d->nhwc.length * sn_gemm_width(tile, r->outputs);
        for (size_t x = 0; x < p->dstW; ++x) {
            gemm.a = r->src + y * r->srcLine + x * r->srcPixel;
            gemm.c = r->dst + y * r->dstLine + x * r->dstPixel;
            gemm.from = r->add ? r->add + (gemm.c - r->dst) : NULL;
            tile->run(&gemm);
            gemm.prefetch = gemm.prefetch ? gemm.prefetch + fetched : NULL;
        }
    }
}

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
    const bool stream = is_cold(c);
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

/*
 * Whether the rows of a tile are images, which have fewer pixels than there are images, and no padding beside their lines; rows
 * of taps above and below are left out, and each output has one that is not. Batch 4, 960x1x1 to 960 by 6x3 in 30 groups with
 * paddings of 3 and 1 takes 0.43 of the time (avx2 0.28), batch 8, 256x2x1 to 256 by 3x3 0.25 (0.23; Xeon with AMX).
 */
static bool across_images(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_nhwc_band * b = &sn_direct_nhwc_of(c)->nhwc;
    const size_t used = sn_used(p->dstW, p->strideX, p->kernelX, p->dilationX);
    const bool dense = b->band.line == p->srcW * p->srcC && b->band.strideX == p->strideX && a->at->srcPixel == p->srcC;
    const bool meet = p->padY < p->kernelY && (p->dstH - 1) * p->strideY < p->srcH + p->padY;
    return c->batch > p->dstH * p->dstW && c->dstSize && meet && p->kernelY > 1 && p->dilationY == 1 && !p->padX && used <= p->srcW && dense &&
           !b->apart && c->srcSize && (!a->add || a->at->addImage == a->at->dstImage);
}

/* The "lines" of the share are images. */
static void compute_images(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t line = p->srcW * p->srcC, columns = c->table->gemm.tile_32f.columns;
    const struct sn_arrays one = sn_image_of(a, s->line, NULL);
    const sn_32f * src = one.src, * add = one.add;
    sn_32f * dst = one.dst;
    struct sn_nhwc_rows r = {.rows = p->dstH, .srcLine = p->strideY * line, .srcPixel = p->strideX * p->srcC,
        .dstLine = p->dstW * a->at->dstPixel, .dstPixel = a->at->dstPixel};
    for (size_t g = 0; g < p->group; ++g)
        for (size_t first = 0; first < sn_outputs(c); first += columns) {
            const size_t at = g * sn_outputs(c) + first;
            r.first = g * c->runStep + first;
            r.outputs = sn_min(columns, sn_outputs(c) - first);
            r.src = src - p->padY * line + g * sn_inputs(c); /* lines of padding are not read */
            r.dst = dst + at;
            r.add = add ? add + at : NULL;
            sn_direct_nhwc_images(c, sn_direct_nhwc_of(c), &r, s->lines, a->at->srcImage / sizeof(float),
                                  a->at->dstImage / sizeof(float));
        }
}

void sn_direct_nhwc_forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_direct_nhwc * d = sn_direct_nhwc_of(c);
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    if (across_images(c, a)) {
        sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute_images, .joined = true,
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
