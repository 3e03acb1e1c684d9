/*
 * NCHW, by the GEMM tile: rows of A are the weights of an output channel, columns of B are output pixels, counted across the
 * rows of the image, so that a small image wastes no lanes. Panels of B are gathered for a stripe of pixels that fits into
 * the L2 cache; then the weights of some output channels, which stay in the L1 cache, are multiplied with all of them. So
 * the planes of the image and of the result are read and written in long runs: 1x1 of 256 to 64 channels of 56 x 56 is 1.07
 * times as fast as panel by panel.
 *
 * Panels are gathered from the image itself if there is no padding and no stride in x; otherwise from a band of lines
 * (nchw_band.h).
 *
 * Long sums are divided into blocks; the tile continues from the stored sums.
 */
#include "ops/convolution/32f.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/nchw_band.h"
#include "runtime/cpu.h"

/* The maximum number of pixels of a panel, which sets the size of the array of its pieces. */
enum { COLUMNS = 64 };

struct direct_nchw {
    struct sn_band band;
    size_t depth;         /* multiply-adds of one output */
    size_t step;          /* floats from one row of packed weights to the next */
    size_t block, stripe; /* of depth, and of pixels, that are packed at a time */
};
SN_FITS_ALGORITHM_DATA(struct direct_nchw);

static const struct direct_nchw * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

/* ---- cost */

/* Vector cycles, on all layers of ten networks: a product, and gathering a vector of pixels for all outputs. */
static const double NCHW_PRODUCT = 1.17, NCHW_GATHERED = 10;
static const double NCHW_PRODUCT_1 = 1.03, NCHW_GATHERED_1 = 4; /* 1x1 */
static const double NCHW_SORTED = 1.5; /* times the cost of lines with a stride, of many planes */

/*
 * Pixels are lanes: the 49 pixels of an image of 7 x 7 cost as much as 56. Gathering a panel costs some cycles for each
 * vector, more with several taps, and the time spent waiting for weights. With a stride, lines are sorted into phases first:
 * 791 to 13 channels of 26 x 26 by 3x3 with stride 4 took 4.6 times as long as by NHWC, 64 to 64 of 112 x 112 1.5 times. The
 * choice is right, or wrong by at most 3%, except for 3 inputs and 64 outputs of 224 x 224, where this algorithm takes 1.2
 * times as long and is kept.
 */
static double cost(const struct sn_convolution * c)
{
    const double vectors = sn_tile_width(c, c->p.dstH * c->p.dstW) / (double)sn_lanes(c), outputs = (double)c->p.dstC;
    const double groups = (double)c->p.group; /* each is gathered */
    const double step = sn_taps(c) > 1 ? NCHW_PRODUCT * outputs + NCHW_GATHERED * groups
                                       : NCHW_PRODUCT_1 * outputs + NCHW_GATHERED_1 * groups;
    const double lines = c->p.strideX == 1 ? 0 : (double)(c->p.kernelY == 1 ? c->p.dstH : c->p.srcH);
    return sn_of_vectors(c, vectors * sn_depth(c) * step) + NCHW_SORTED * (double)c->p.srcC * lines * sn_line_copied(c);
}

/* ---- plan and weights */

static bool supports(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

/* The distance of panels: their size and a cache line, so that a row of B is not written to a single set of the L1 cache. */
static size_t pitch(const struct sn_convolution * c)
{
    return data_of(c)->block * c->table->gemm.tile_32f.columns + SN_ALIGN / sizeof(float);
}

static size_t panels_size(const struct sn_convolution * c)
{
    return data_of(c)->stripe / c->table->gemm.tile_32f.columns * pitch(c);
}

static bool plan(struct sn_convolution * c)
{
    struct direct_nchw * d = (void *)c->algorithmData;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    if (!sn_planes_plan(c, false, &d->band, &d->depth, &d->step))
        return false;
    const size_t most = sn_cpu()->cacheL2 * 3 / 8 / sizeof(float), panels = most / sn_max(d->depth, 1) / tile->columns;
    const size_t all = sn_ceil_div(d->band.rows * c->p.dstW, tile->columns);
    d->block = sn_min(d->depth, sn_max(most / (2 * tile->columns), 1));
    d->stripe = sn_min(sn_max(panels, 2), sn_max(all, 1)) * tile->columns;
    c->workSize = sn_align(c->workSize, SN_ALIGN) + panels_size(c) * sizeof(float);
    return true;
}

static void offsets(const struct sn_convolution * c) { sn_planes_offsets(c, &data_of(c)->band); }

static void pack(const struct sn_convolution * c, const void * weight)
{
    sn_planes_pack(c, weight, data_of(c)->depth, data_of(c)->step);
}

/* ---- forward */

/* True if the inputs of neighbouring rows follow each other without a gap. */
static bool is_dense(const struct sn_convolution * c)
{
    return c->p.dstH == 1 || data_of(c)->band.strideY * data_of(c)->band.line == c->p.dstW;
}

/* The pieces of a band's rows that contain pixels first .. first + count - 1. */
static size_t cut(const struct sn_convolution * c, size_t first, size_t count, struct sn_piece * piece)
{
    const size_t columns = c->p.dstW, step = data_of(c)->band.strideY * data_of(c)->band.line;
    if (is_dense(c)) {
        piece[0] = (struct sn_piece){first, count};
        return 1;
    }
    size_t pieces = 0;
    for (size_t y = first / columns, x = first % columns; count; ++y, x = 0) {
        const size_t n = sn_min(columns - x, count);
        piece[pieces++] = (struct sn_piece){y * step + x, n};
        count -= n;
    }
    return pieces;
}

/* One band of a group, and the pixels of it that are computed together. */
struct stripe {
    const sn_32f * src;  /* the first plane of the band, or of the image starting at the band's first line */
    size_t first, pixels;
    sn_32f * panels;
    sn_32f * dst;        /* the first pixel of the stripe in the group's first output plane */
    const sn_32f * add;  /* NULL, or the values to add there */
    size_t g;
};

/* Gathers the panels, for `depth` steps of the sum from k on. */
static void gather(const struct sn_convolution * c, const struct stripe * s, size_t k, size_t depth)
{
    const struct sn_band * band = &data_of(c)->band;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    if (c->p.kernelY * c->p.kernelX == 1 && is_dense(c)) { /* B is a matrix */
        const struct sn_gemm_panels_32f job = {.b = s->src + k * band->plane + s->first, .step = band->plane,
            .depth = depth, .columns = s->pixels, .alpha = 1, .panel = s->panels, .wide = tile->columns,
            .narrow = sn_gemm_width(tile, s->pixels % tile->columns), .pitch = pitch(c)};
        c->table->gemm.panels_32f[0](&job);
        return;
    }
    struct sn_piece pieces[COLUMNS];
    struct sn_columns_32f job = {.src = s->src, .offset = c->segment + k, .depth = depth, .piece = pieces,
        .exact = !band->copied, .panel = s->panels};
    for (size_t n = 0; n < s->pixels; n += tile->columns, job.panel += pitch(c)) {
        const size_t pixels = sn_min(tile->columns, s->pixels - n);
        job.pieces = cut(c, s->first + n, pixels, pieces);
        job.width = sn_gemm_width(tile, pixels);
        c->table->convolution_32f.columns(&job);
    }
}

/* Output channels first .. first + outputs - 1 of the group, at all pixels of the stripe. */
static void multiply(const struct sn_convolution * c, const struct stripe * s, size_t first, size_t rows, size_t k,
                     size_t depth)
{
    static const size_t start = 0;
    const struct direct_nchw * d = data_of(c);
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t row = s->g * sn_outputs(c) + first;
    struct sn_gemm_32f gemm = {.a = sn_weights(c) + row * d->step + k, .height = 1, .width = rows, .aStepX = d->step,
        .segment = &start, .segments = 1, .length = depth, .b = s->panels, .c = s->dst + first * c->dstPlane,
        .cStepX = c->dstPlane, .bias = k == 0 ? c->bias + row : NULL, .slope = c->slope ? c->slope + row : NULL,
        .byRow = true, .activation = k + depth == d->depth ? sn_activation_of(c) : SN_ACTIVATION_IDENTITY,
        .param = {c->param[0], c->param[1]}, .prefetch = sn_weights(c) + (row + rows) * d->step + k,
        .prefetchStep = depth};
    for (size_t n = 0; n < s->pixels; n += tile->columns) {
        gemm.columns = sn_min(tile->columns, s->pixels - n);
        gemm.from = k > 0 ? gemm.c : s->add ? s->add + (gemm.c - s->dst) : NULL;
        tile->run(&gemm);
        gemm.b += pitch(c);
        gemm.c += tile->columns;
        gemm.prefetch = NULL; /* the next weights are prefetched once */
    }
}

/* All output channels of the group. */
static void compute_stripe(const struct sn_convolution * c, const struct stripe * s)
{
    const size_t tiles = sn_max(sn_ceil_div(sn_outputs(c), c->table->gemm.tile_32f.rows), 1); /* of about equal height */
    size_t k = 0;
    do { /* once even for an empty sum */
        const size_t depth = sn_min(data_of(c)->block, data_of(c)->depth - k);
        gather(c, s, k, depth);
        for (size_t i = 0; i < tiles; ++i) {
            const size_t first = i * sn_outputs(c) / tiles;
            multiply(c, s, first, (i + 1) * sn_outputs(c) / tiles - first, k, depth);
        }
        k += depth;
    } while (k < data_of(c)->depth);
}

/* Computes some rows of one group; a->src and a->dst are the arrays of this group. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t all = s->lines * c->p.dstW, at = s->line * c->p.dstW;
    sn_32f * panels = a->work, * dst = a->dst;
    const sn_32f * add = a->add;
    struct stripe t = {.src = sn_planes_source(c, &data_of(c)->band, a->src, s->line, s->lines, panels + panels_size(c)),
        .panels = panels, .g = s->image % c->p.group};
    for (; t.first < all; t.first += t.pixels) {
        t.pixels = sn_min(data_of(c)->stripe, all - t.first);
        t.dst = dst + at + t.first;
        t.add = add ? add + at + t.first : NULL;
        compute_stripe(c, &t);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute, .parts = p->group,
        .time = sn_convolution_32f_time(c), .columns = true, .near = data_of(c)->band.copied,
        .shares = {.lines = p->dstH, .most = data_of(c)->band.rows,
        .least = sn_ceil_div(2 * c->table->gemm.tile_32f.columns, p->dstW)}});
}

const struct sn_convolution_algorithm sn_convolution_32f_nchw = {.name = "direct NCHW", .tiled = true, .adds = true,
    .supports = supports, .cost = cost, .plan = plan, .offsets = offsets, .pack = pack, .forward = forward};
