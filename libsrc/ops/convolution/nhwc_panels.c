/*
 * Direct NHWC: in which order pixels meet the panels of weights, which pixels are rows of one tile, and what is prefetched
 * meanwhile. Nothing here changes a bit of the result.
 */
#include "ops/convolution/nhwc_panels.h"

#include "ops/convolution/cost.h"
#include "ops/convolution/tap_rows.h"
#include "ops/units.h"
#include "runtime/cpu.h"

/* Sums of so few products take less time than writing them. */
enum { SHORT_SUM = 8 };

/* Bytes of the inputs of all groups that are multiplied before the next ones, and the inputs of a group below which that also
 * gains with warm caches. */
enum { GROUPS_BYTES = 24 << 10, FEW_INPUTS = 64 };

/* Bytes of the inputs and results of pixels that meet all panels of weights before the next ones. */
enum { PART_BYTES = 64 << 10 };

/*
 * One pixel or a few, such as inner products of so many rows: computes whole panels by the kernel for them, of one pixel all, and
 * returns the first output channel of the group that is left.
 */
static size_t compute_few(const struct sn_convolution * c, const struct sn_nhwc_rows * r, const struct sn_gemm_32f * gemm,
                          size_t group, size_t end)
{
    const struct sn_gemm_slots * kernels = &c->table->gemm;
    const size_t panels = (end - r->first) / kernels->tile_32f.columns, whole = panels * kernels->tile_32f.columns;
    const size_t columns = gemm->width == 1 ? end - r->first - whole : 0, packed = group * c->runStep + r->first;
    if (!panels || gemm->height > 1 || gemm->width > kernels->rows_32f.rows || gemm->segments != 1 || r->add)
        return r->first;
    kernels->rows_32f.run(&(struct sn_gemm_rows_32f){.a = r->src + group * sn_inputs(c) + gemm->segment[0],
        .b = sn_weights(c) + gemm->length * packed, .bias = c->bias + packed, .lda = gemm->aStepX, .ldc = gemm->cStepX,
        .rows = gemm->width, .depth = gemm->length, .panels = panels, .columns = columns, .c = r->dst + group * sn_outputs(c),
        .slope = c->slope ? c->slope + packed : NULL, .activation = gemm->activation,
        .param = {gemm->param[0], gemm->param[1]}, .far = c->weightSize > sn_cpu()->cacheL2});
    return r->first + whole + columns;
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

/* Whether the inputs are those of the image, except at its edges. */
static bool reads_in_place(const struct sn_direct_nhwc * d) { return !d->nhwc.band.copied || d->edges; }

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
 * 0.86, 32x124x124 to 32 0.9 (avx512); with avx2 0.94, 0.79, 0.99 and 1.02, 48x112x112 to 24 1.04 (Xeon with AMX). Not for
 * several rows of taps whose columns lie apart: without, 864x80x112 to 9 by 5x1 with stride 2 takes 0.84 to 0.93 of the time,
 * 16x562x562 to 16 by 3x3 with stride 2 and dilation 6 0.90 to 0.95, 64x160x160 to 64 by 3x3 with dilation 6 1.02.
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

/* Rows that prefetch the next panel of weights together; of a single tap, whose panels are small, each prefetches all of it. */
static size_t rows_sharing(const struct sn_convolution * c, size_t depth, const struct sn_gemm_32f * gemm, bool byRow)
{
    const bool shared = byRow && c->p.kernelY * c->p.kernelX > 1 && depth * c->table->gemm.tile_32f.columns >= SHARED_FLOATS;
    return shared ? gemm->height : 1;
}

/*
 * What the panel of gemm->columns outputs from `first` on of group g prefetches: the first panel, inputs of later pixels; any,
 * its part of what will be needed next, or the next panel of weights, divided among `sharing` rows.
 */
static void set_prefetch(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r,
                         size_t g, size_t first, size_t sharing, struct sn_gemm_32f * gemm, struct sn_tap_rows * taps)
{
    const size_t depth = d->nhwc.depth, tile = c->table->gemm.tile_32f.columns;
    const bool far = sn_weights_exceed_l2(c);
    gemm->prefetch = NULL;
    gemm->onward = false;
    taps->fetched = 0;
    if (r->source && first == 0) {
        gemm->prefetch = r->source;
        gemm->prefetchStep = gemm->aStepX;
    } else if (r->prefetchSize && !far) {
        const size_t before = r->source ? tile : 0, outputs = c->p.dstC - before;
        gemm->prefetch = r->prefetch + r->prefetchSize * (g * sn_outputs(c) + first - before) / outputs;
        gemm->prefetchStep = r->prefetchSize * gemm->columns / outputs / gemm->width;
    } else if (first == 0 && reads_in_place(d) && prefetches_source(c, depth)) {
        gemm->prefetch = gemm->a + fetched_ahead(c) * gemm->aStepX;
        gemm->prefetchStep = gemm->aStepX;
    } else if (far) {
        gemm->onward = true;
        gemm->prefetch = gemm->b + depth * gemm->columns;
        gemm->prefetchStep = depth * gemm->columns / gemm->width / sharing;
        taps->fetched = sharing > 1 ? gemm->prefetchStep * gemm->width : 0;
    }
}

/* All panels of weights over the rows that `gemm` describes, beginning with those of r; `byRow`: its height is that of r. */
static void compute_panels(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r,
                           struct sn_gemm_32f gemm, bool byRow)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t depth = d->nhwc.depth, end = r->outputs ? r->first + r->outputs : sn_outputs(c);
    const size_t sharing = rows_sharing(c, depth, &gemm, byRow);
    const struct sn_tap_rows columns = sn_tap_columns_of(&c->p);
    struct sn_tap_rows taps = sn_tap_rows_of(&c->p, r->row);
    taps.stride *= sn_band_classes(&d->nhwc.band);
    taps.columns = d->nhwc.apart ? &columns : NULL;
    /* Rows that leave out no taps, so that they too may be computed by one row of taps after the other: 576x9x6 by 7x7, in tiles
     * along columns, takes 0.46 of the time (AVX-512, Xeon with AMX). */
    const bool rows = c->segments >= c->p.kernelY; /* else rows of taps are one segment, and all meet the image */
    const struct sn_tap_rows all = {.stride = 1, .step = 1, .taps = rows ? c->p.kernelY : 0, .lines = PTRDIFF_MAX};
    byRow = byRow && rows;
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
            set_prefetch(c, d, r, g, first, sharing, &gemm, &taps);
            sn_run_tap_rows(tile, &gemm, byRow ? &taps : &all);
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
    if (c->p.group > 1 && !r->prefetchSize && depth == sn_inputs(c) && (depth < FEW_INPUTS || sn_images_are_cold(c)))
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
    const bool all = r->outputs == 0 || r->outputs == sn_outputs(c);
    return r->images && all && reads_in_place(d) && d->nhwc.depth >= INPUTS;
}

/*
 * Whether rows that could be one line, or lie in tiles along columns, are computed one by one, without their taps in padding,
 * although their tiles are lower: such rows take as long as if they had ROW_STARTED more outputs. 120x42x42 by 7x1 with dilation
 * 6, with 0.76 of the products, takes 0.79 of the time, 256x7x7 by 7x1 0.95 (avx2 0.93); with 0.94 of them 64x28x15 by 7x1 would
 * take 1.04 and 64x28x5 1.17. Narrow ones: 672x32x20 to 1536 by 3x1 with stride 2 and dilation 12 0.77 (avx2 0.95), 64x40x10 to
 * 96 by 3x1 with dilation 12 0.85 (0.99), 256x28x9 by 5x3 with dilation 4x1 0.96 (0.9; Xeon with AMX).
 */
static const double ROW_STARTED = 2;

static bool by_rows_preferred(const struct sn_convolution * c, size_t columns)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (p->kernelY == 1)
        return false;
    const struct sn_tap_rows taps = sn_tap_rows_of(p, 0);
    const double inside = (double)sn_tap_products(&taps, p->dstH), width = (double)columns;
    return inside * (width + ROW_STARTED) < (double)(p->kernelY * p->dstH) * width;
}

/* The rows of r line by line, `once` pixels at a time, whose panels prefetch what the next pixels need. */
static void compute_parts(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r,
                          struct sn_gemm_32f gemm, bool byRow, size_t once)
{
    const size_t lines = gemm.height, all = gemm.width;
    const bool of_groups = c->p.group > 1 && !r->prefetchSize, results = prefetches_results(c, r, d->nhwc.depth);
    const bool inputs = results && prefetches_inputs(c, d, r);
    gemm.height = 1;
    for (size_t y = 0; y < lines; ++y)
        for (size_t x = 0; x < all; x += once) {
            const size_t to = y * gemm.cStepY + x * gemm.cStepX;
            struct sn_nhwc_rows some = *r;
            some.row += y * sn_band_classes(&d->nhwc.band);
            some.src += y * gemm.aStepY + x * gemm.aStepX;
            some.dst += to;
            some.add = r->add ? r->add + to : NULL;
            gemm.width = sn_min(once, all - x);
            const sn_32f * next = some.src + once * gemm.aStepX;
            if (of_groups && once < all - x) {
                some.prefetch = next;
                some.prefetchSize = gemm.width * gemm.aStepX;
            } else if (results) {
                some.prefetch = some.dst + once * gemm.cStepX;
                some.prefetchSize = gemm.width * gemm.cStepX;
                some.source = inputs ? next : NULL;
            }
            compute_panels(c, d, &some, gemm, byRow);
        }
}

/* Whether pixels of all rows are one line. */
static bool is_one_line(const struct sn_nhwc_rows * r, size_t width)
{
    return r->srcLine == width * r->srcPixel && r->dstLine == width * r->dstPixel;
}

static size_t width_of(const struct sn_convolution * c, const struct sn_nhwc_rows * r)
{
    return r->columns ? r->columns : c->p.dstW;
}

bool sn_direct_nhwc_leaves_out(const struct sn_convolution * c, const struct sn_nhwc_rows * r)
{
    const size_t width = width_of(c, r);
    const bool line = is_one_line(r, width);
    return by_rows_preferred(c, width) || (!line && (width >= c->table->gemm.tile_32f.rows || width >= c->p.dstH));
}

void sn_direct_nhwc_compute(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r)
{
    const size_t width = width_of(c, r);
    struct sn_gemm_32f gemm = {.height = r->rows, .width = width, .aStepY = r->srcLine, .aStepX = r->srcPixel,
        .segment = c->segment, .segments = c->segments, .length = d->nhwc.length, .cStepY = r->dstLine,
        .cStepX = r->dstPixel, .coldC = !sn_cpu()->traits.prefetchC, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}};
    const bool byRow = d->nhwc.apart || sn_direct_nhwc_leaves_out(c, r);
    if (d->nhwc.apart) { /* outputs that have other taps are no rows of a tile */
        compute_panels(c, d, r, gemm, byRow);
        return;
    }
    if (!byRow && is_one_line(r, width)) {
        gemm.width = width * r->rows;
        gemm.height = 1;
    } else if (!byRow && width < r->rows) { /* tiles along columns are higher than along rows */
        gemm.height = width, gemm.width = r->rows;
        gemm.aStepY = r->srcPixel, gemm.aStepX = r->srcLine;
        gemm.cStepY = r->dstPixel, gemm.cStepX = r->dstLine;
    }
    const size_t once = rows_at_once(c, r, d->nhwc.depth, gemm.width);
    if (once == gemm.width)
        compute_panels(c, d, r, gemm, byRow);
    else
        compute_parts(c, d, r, gemm, byRow, once);
}
