/*
 * NHWC, by the GEMM tile: rows of A are output pixels, columns are output channels, and the taps of a kernel row are
 * adjacent in memory, so no im2col matrix is built. The image is read in place if possible, or from
 * a copy, see nhwc_copy.c. Groups are separate convolutions.
 */
#include "ops/convolution/32f_nhwc.h"

#include <math.h>
#include <string.h>

#include "ops/convolution/cost.h"
#include "ops/convolution/nhwc_copy.h"
#include "ops/convolution/nhwc_edges.h"
#include "ops/convolution/nhwc_images.h"
#include "runtime/memory.h"

/* ---- cost */

/* Cycles of 16 products, on 3x3 layers. */
static const double NHWC_PRODUCT = 9.3 / 9;
static const double APART_PRODUCT = 1.2; /* of more and smaller tiles */
static const double LOW = 4.5, LOW_ROWS = 3; /* fewer rows than LOW make low tiles; LOW_ROWS fewer take twice as long */

double sn_direct_nhwc_products(const struct sn_convolution * c)
{
    const double rows = (double)sn_max(c->p.dstH, c->p.dstW), low = rows < LOW ? 1 + (LOW - rows) / LOW_ROWS : 1;
    const double outputs = sn_dst_pixels(c) * sn_tile_width(c, sn_outputs(c)) * (double)c->p.group / 16;
    const double inside = sn_taps_are_wasted(c) ? APART_PRODUCT * sn_taps_inside(c) : 1;
    return NHWC_PRODUCT * sn_depth(c) * outputs * low * inside;
}

static double cost(const struct sn_convolution * c) { return fmax(sn_direct_nhwc_products(c), sn_weights_fetched(c)); }

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
    sn_nhwc_plan_copy(c, d);
    c->runStep = sn_gemm_width(&c->table->gemm.tile_32f, sn_outputs(c));
    if (!sn_nhwc_band_size(c, &d->nhwc) || !sn_product(&c->channels, c->p.group, c->runStep))
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
