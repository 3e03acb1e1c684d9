/*
 * Winograd's algorithm (arXiv:1509.09308). 3x3: tiles of 2x2, 3x3 or 4x4 outputs need 4, 2.78 or 2.25 multiplications per
 * output and channel in place of 9, and some additions. With stride 2, tiles of 2x2 or 4x4 need 6.25 or 5.06, see
 * contract/winograd.h; 3x3, with 5.44, would rarely be the best. 5x5: tiles of 2x2 need 9 in place of 25. Kernels of one row
 * or column: tiles of 4 or 6 need 1.5 or 1.33 in place of 3, tiles of 4 need 2 in place of 5, tiles of 2 4 in place of 7.
 *
 * A dilated convolution is several plain ones, each on every d-th row and column of the image: all of their tiles are in one
 * list, and only the distance between the inputs, and the outputs, of a tile is another.
 *
 * The tiles of all images are one list, which is processed in blocks, so that small images of a batch share the passes over
 * the weights: the block's inputs are transformed; then, for each panel of output channels, the GEMM tile multiplies each
 * plane of them with the plane of the weights, and the products are transformed back, with bias and activation. So
 * intermediate data are limited to one block, which stays in the L2 cache. The weights are transformed when they are set,
 * and stored panel by panel.
 *
 * With groups, the channels are divided into slices of whole groups, at least LEAST_SLICE channels: a block is computed slice
 * by slice, so its data are few. In groups of 16 channels 512x28x28 by 3x3 takes 0.63 of the time of the direct algorithm, in
 * groups of 56 448x28x28 0.34, of 112 224x56x56 0.30; slices of 64 channels took up to 1.05 times as long, of 128 1.1 (AVX2,
 * Zen 3). In groups of 8 the grouped kernel is as fast (256x14x14).
 *
 * For NCHW, blocks are whole rows of tiles: their lines of the image, every d-th, are converted to NHWC first, and the
 * result of each panel is converted to NCHW afterwards.
 */
#include <math.h>

#include "ops/cache_sets.h"
#include "ops/convolution/32f.h"
#include "ops/convolution/band.h"
#include "ops/convolution/cost.h"
#include "runtime/cpu.h"

enum {
    LINE = SN_ALIGN / sizeof(float),
    WORK = (2 << 20) / sizeof(float) - LINE, /* the largest workspace */
    LEAST_SLICE = 32,                        /* the least channels of a slice of groups */
    LEAST_TILES = 28,                        /* at least so many in a block, divided by the stride, whatever the cache */
};

static size_t planes_of(enum sn_winograd kind) { return sn_winograd_planes(sn_winograd_size(kind)); }
static size_t filters_of(enum sn_winograd kind) { return sn_winograd_filters(sn_winograd_size(kind)); }

/* Floats from one transformed tile to the next. */
static size_t pixel_of(size_t channels) { return sn_spaced(channels, SN_FOUR_SETS); }

/* Floats from one plane to the next: an odd number of cache lines, so that a tile's coefficients are in different sets. */
static size_t plane_of(size_t floats) { return (sn_ceil_div(floats, LINE) | 1) * LINE; }

/* The groups of a slice. */
static size_t groups_of(const struct sn_convolution * c)
{
    return sn_min(sn_ceil_div(LEAST_SLICE, sn_max(sn_inputs(c), 1)), c->p.group);
}

static size_t slice_inputs(const struct sn_convolution * c) { return groups_of(c) * sn_inputs(c); }
static size_t slice_outputs(const struct sn_convolution * c) { return groups_of(c) * sn_outputs(c); }

struct winograd {
    enum sn_winograd kind;
    size_t tilesY, tilesX; /* of the output of an image */
    size_t tiles;          /* that are computed together */
    size_t pixel, input;   /* floats between transformed tiles, and between planes of them */
    size_t product;        /* floats between planes of products */
    size_t lines;          /* NCHW: floats of the lines of an image that a block needs */
};
SN_FITS_ALGORITHM_DATA(struct winograd);

static const struct winograd * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool is_nchw(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

/* An upper bound of the floats that a block of `tiles` tiles needs. */
static size_t block_of(const struct sn_convolution * c, enum sn_winograd kind, size_t tiles)
{
    return planes_of(kind) * (tiles * (pixel_of(slice_inputs(c)) + c->table->gemm.tile_32f.columns) + 4 * LINE);
}

/* ---- blocks */

/*
 * The tiles that a block should have. It should fit into half of the L2 cache; but if that is too small for LEAST_TILES, the
 * weights do not stay in that cache anyway, and larger blocks read them fewer times. With stride 2, half of LEAST_TILES: most
 * weights are used for several planes. With kernels of one row or column, little is computed for each input, and blocks of
 * one register tile, whose data stay in the L1 cache, or near it, are as fast or up to 1.1 times as fast (64x48x320 by 1x3),
 * if their weights are read from the L2 cache.
 */
static size_t tiles_wanted(const struct sn_convolution * c, enum sn_winograd kind, size_t cache)
{
    const struct sn_winograd_size s = sn_winograd_size(kind);
    if ((s.kernelY == 1 || s.kernelX == 1) && filters_of(kind) * sn_inputs(c) * c->p.dstC <= cache / 4)
        return c->table->gemm.tile_32f.rows;
    const size_t one = block_of(c, kind, 1);
    return sn_max(sn_min(sn_max(cache / 2 / one, LEAST_TILES / s.stride), WORK / one), 1);
}

/* ---- cost */

/* Measured on 3x3 layers, but for rows and columns. */
static const double WINOGRAD_PRODUCT = 1.05;  /* cycles of 16 products of a plane */
static const double WINOGRAD_START = 2;       /* the cost of starting a sum, in products */
static const double TRANSFORM = 7;            /* vector cycles for each coefficient, in or out */
static const double TRANSFORM_4 = 4;          /* the same for F(4,3) */
static const double TRANSFORM_STRIDED = 5;    /* the same for stride 2 */
static const double TRANSFORM_ROW = 9;        /* the same for a row or column, with few coefficients in a tile */
static const double TRANSFORM_SEVEN = 15;     /* the same for seven taps of these, with few outputs in a tile */
static const double WINOGRAD_CALL = 1000;     /* cycles */

/* Weights of a single pass, which are waited for: bytes, and bytes per cycle. */
static const double WAITED_BYTES = 1e6, WAITED_SPEED = 10;
static const double AGAIN_BYTES = 16e6; /* from which on later blocks wait for them again */

/* Vector cycles of the transforms of all tiles of an image, of `planes` coefficients. */
static double transforms_of(const struct sn_convolution * c, enum sn_winograd kind, double planes, double tiles)
{
    const struct sn_winograd_size s = sn_winograd_size(kind);
    const bool row = s.kernelY == 1 || s.kernelX == 1;
    const double transform = kind == SN_WINOGRAD_4_3 ? TRANSFORM_4
                             : s.stride == 2         ? TRANSFORM_STRIDED
                             : s.kernelY * s.kernelX == 7 ? TRANSFORM_SEVEN
                             : row                   ? TRANSFORM_ROW
                                                     : TRANSFORM;
    return planes * tiles * (sn_vectors(c, c->p.srcC) + sn_vectors(c, c->p.dstC)) * transform;
}

/* The blocks of an image, by the cache that the models assume. */
static double blocks_of(const struct sn_convolution * c, enum sn_winograd kind, double tiles)
{
    const struct sn_winograd_size s = sn_winograd_size(kind);
    const size_t fit = tiles_wanted(c, kind, (size_t)SN_L2_BYTES / sizeof(float));
    if (!is_nchw(c))
        return ceil(tiles / (double)fit);
    const size_t tilesX = sn_winograd_tiles(c->p.dstW, s.blockX, c->p.dilationX);
    return ceil(tiles / (double)(tilesX * sn_max(fit / tilesX, 1)));
}

/*
 * The cost for a single image. Images of a batch share the passes over the weights, but if the choice followed from their
 * number, an image would have other bits in a batch than alone: 512x7x7 to 512 would be F(4,3) from two images on.
 *
 * Only the first pass over a panel of weights waits for them; later passes find them in a near cache, and so do planes that
 * share weights with an earlier one. While there are several passes over a plane, the next one is fetched; a plane of a
 * single pass that comes from memory is waited for, then used. So 512x7x7 to 512 channels is F(2,3), whose 16 tiles are two
 * passes of avx512: on Emerald Rapids, cold, F(3,3) takes 1.99 times as long, on Zen 4 0.84 times. From 7 to 9.4 MB of
 * L3_BYTES and from 5.5 to 6 of MEMORY_SPEED, regrets by docs/figures are the same. Smaller weights of a single pass are
 * waited for likewise, unless the L2 cache keeps them: 256x10x10 to 64 channels by F(4,3) (2.4 MB) takes 1.2 times as long as
 * by F(2,3) warm and 2.5 times cold, 256x8x8 1.6 and 2.7 times (Emerald Rapids). Each block reads them again: 1456x19x19 to 416
 * by 3x3 with stride 2, by F(2,3) in three blocks of a single pass, takes 1.6 times as long as directly (Xeon with AMX). With
 * 14 MB, F(3,3) of 1088x16x16 to 128, that is still 0.92 of the time of F(2,3).
 *
 * Not built: weights that are transformed a panel ahead of their use, 1.8, 2.8 and 4 times fewer bytes from memory. Counted
 * for 512x7x7, for 16 filters, in ns, without calls and waits: on Zen 4 (3.7 GHz, 28 GB/s) F(2,3) multiplies for 69, reads
 * 1024 bytes meanwhile in 37, and would write 16 vectors for another 9. On Emerald Rapids (2.7 GHz, 18 GB/s) it multiplies
 * for 47 and reads in 57; with the transform, 35 operations on two ports, it would take 54 at the least, and F(3,3) 64. That
 * is at most 1.06 times as fast, and on Zen 4, or with warm caches, 1.1 times as slow. What is lost cold is that bytes are
 * waited for (100 ns in place of 57), and plain weights would have to be fetched ahead just the same.
 */
static double cost(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const enum sn_winograd kind = (enum sn_winograd)c->algorithm->variant;
    const struct sn_winograd_size s = sn_winograd_size(kind);
    const double planes = (double)planes_of(kind), filters = (double)filters_of(kind), m = (double)s.blockY;
    const double tiles = (double)sn_winograd_tiles(p->dstH, s.blockY, p->dilationY) *
                         (double)sn_winograd_tiles(p->dstW, s.blockX, p->dilationX);
    const double width = sn_tile_width(c, sn_outputs(c)) * (double)p->group, inputs = (double)sn_inputs(c);
    const double products = WINOGRAD_PRODUCT * planes * tiles * width / 16 * (inputs + WINOGRAD_START);
    const double own = s.stride == 1 ? planes : (m + 1) * (m + 1);
    const double bytes = 4 * filters * width * inputs, rows = (double)c->table->gemm.tile_32f.rows;
    const double blocks = bytes > AGAIN_BYTES ? blocks_of(c, kind, tiles) : 1;
    const bool single = ceil(tiles / blocks) <= rows; /* pass over the weights, for each block */
    const double first = products / (single ? 1 : ceil(tiles / rows)) * own / planes;
    const double fetch = sn_fetched(bytes) * own / filters;
    const double waited = sn_exceed_l3(bytes) ? fetch : fmax(fetch, bytes / WAITED_SPEED * own / filters);
    const double weighted = single && bytes >= WAITED_BYTES ? first + blocks * waited : fmax(first, fetch);
    const double transforms = transforms_of(c, kind, planes, tiles);
    return products - first + weighted + sn_of_vectors(c, transforms) + sn_both_converted(c) + WINOGRAD_CALL;
}

/* ---- plan and weights */

/* Few channels gain little, and their rounding errors do not average out. */
static bool supports(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const enum sn_winograd kind = (enum sn_winograd)c->algorithm->variant;
    const struct sn_winograd_size s = sn_winograd_size(kind);
    if (p->kernelY != s.kernelY || p->kernelX != s.kernelX || p->strideY != s.stride || p->strideX != s.stride ||
        (s.stride != 1 && (p->dilationY != 1 || p->dilationX != 1)) || sn_inputs(c) < 16 || slice_inputs(c) > WORK / 64)
        return false;
    /* In NCHW a block has at least one row of tiles. */
    const size_t row = is_nchw(c) ? sn_winograd_tiles(p->dstW, s.blockX, p->dilationX) : 0;
    return row <= WORK / 64 && block_of(c, kind, sn_max(row, c->table->gemm.tile_32f.rows)) <= WORK;
}

/* Blocks of about equal size, of whole register tiles if possible; a seventh larger than wanted if that saves one: the 64
 * tiles of 256x28x28 with dilation 2 are 1.15 times as fast in two blocks as in 28, 28 and 8. */
static void plan_block(const struct sn_convolution * c, struct winograd * w)
{
    const size_t rows = c->table->gemm.tile_32f.rows, all = c->batch * w->tilesY * w->tilesX;
    const size_t one = block_of(c, w->kind, 1);
    const size_t fit = tiles_wanted(c, w->kind, sn_cpu()->cacheL2 / sizeof(float)); /* floats */
    if (is_nchw(c)) {
        const size_t lines = c->batch * w->tilesY, blocks = sn_ceil_div(lines, sn_max(fit / w->tilesX, 1));
        w->tiles = sn_ceil_div(lines, blocks) * w->tilesX;
        return;
    }
    const size_t most = fit > rows ? sn_min(fit + fit / 7, WORK / one) : fit;
    size_t tiles = sn_ceil_div(all, sn_ceil_div(all, most));
    if (tiles < all && sn_ceil_div(tiles, rows) * rows <= fit)
        tiles = sn_ceil_div(tiles, rows) * rows;
    w->tiles = tiles;
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    struct winograd * w = (void *)c->algorithmData;
    w->kind = (enum sn_winograd)c->algorithm->variant;
    const struct sn_winograd_size s = sn_winograd_size(w->kind);
    w->tilesY = sn_winograd_tiles(p->dstH, s.blockY, p->dilationY);
    w->tilesX = sn_winograd_tiles(p->dstW, s.blockX, p->dilationX);
    w->pixel = pixel_of(slice_inputs(c));
    plan_block(c, w);
    w->input = plane_of(w->tiles * w->pixel);
    w->product = plane_of(w->tiles * tile->columns);
    c->segments = 1;
    c->channels = sn_align(p->dstC, sn_lanes(c)) + (p->group > 1 ? sn_lanes(c) : 0); /* vectors of a group end behind it */
    c->runStep = sn_outputs(c);
    size_t work = planes_of(w->kind) * (w->input + w->product);
    if (is_nchw(c)) { /* the block's lines of the image, and of a panel of the result */
        const size_t phase = sn_ceil_div(sn_ceil_div(p->dstH, p->dilationY), s.blockY); /* a part is not in two */
        const size_t rows = sn_min(w->tiles / w->tilesX, phase) * s.blockY;
        w->lines = sn_align(sn_min((rows - 1) * s.stride + s.kernelY, p->srcH) * p->srcW * slice_inputs(c), LINE);
        work += w->lines + rows * p->dstW * tile->columns;
    }
    return sn_floats(&c->workSize, work) &&
           sn_floats(&c->weightSize, filters_of(w->kind), sn_inputs(c), p->group, sn_gemm_width(tile, sn_outputs(c)));
}

/* Packs the columns of a panel from `first` on, NHWC: the filters of an input channel are adjacent. */
static void pack_yxio(const struct sn_convolution * c, struct sn_winograd_filter_32f job, size_t first, size_t columns,
                      size_t width, sn_32f * packed)
{
    for (size_t i = 0; i < sn_inputs(c); ++i) {
        job.begin = i * c->p.dstC + first;
        job.end = job.begin + columns;
        job.dst = packed + i * width;
        c->table->winograd.filter_32f(&job);
    }
}

/* NCHW: the filters of an output channel are adjacent, and are transposed. */
static void pack_oiyx(const struct sn_convolution * c, struct sn_winograd_filter_32f job, size_t first, size_t columns,
                      size_t width, sn_32f * packed)
{
    float some[36 * 64]; /* no kind has more coefficients */
    const size_t plane = job.plane;
    job.plane = 64;
    job.dst = some;
    for (size_t o = 0; o < columns; ++o)
        for (size_t i = 0, number; i < sn_inputs(c); i += number) {
            number = sn_min(sn_inputs(c) - i, 64);
            job.begin = (first + o) * sn_inputs(c) + i;
            job.end = job.begin + number;
            c->table->winograd.filter_32f(&job);
            for (size_t t = 0; t < filters_of(job.kind); ++t)
                for (size_t k = 0; k < number; ++k)
                    packed[t * plane + (i + k) * width + o] = some[t * 64 + k];
        }
}

/* The outputs from `first` on that a panel has, which is a part of a group. */
static size_t panel_at(const struct sn_convolution * c, size_t first)
{
    return sn_min(c->table->gemm.tile_32f.columns, sn_outputs(c) - first % sn_outputs(c));
}

/* [panel of output channels][coefficient][input channel][width of the panel] */
static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    struct sn_winograd_filter_32f job = {.kind = data_of(c)->kind, .src = weight, .size = sn_inputs(c) * p->dstC,
        .trans = !is_nchw(c)};
    sn_32f * packed = c->weight;
    for (size_t first = 0, columns; first < p->dstC; first += columns) {
        columns = panel_at(c, first);
        const size_t width = sn_gemm_width(tile, columns);
        job.plane = sn_inputs(c) * width;
        (is_nchw(c) ? pack_oiyx : pack_yxio)(c, job, first, columns, width, packed);
        packed += filters_of(job.kind) * job.plane;
    }
}

/* ---- forward */

/* A part of an image that is transformed to or from tiles of a block; "lines" are rows of tiles in NCHW, tiles in NHWC. */
struct place {
    const struct sn_convolution * c;
    const struct sn_arrays * a; /* of all images */
    struct sn_part part;
    size_t tile;   /* its first one, counted from the beginning of the block */
    size_t channel, channels; /* of the source that are transformed: a slice */
    sn_32f * work; /* NCHW: for lines as NHWC */
};

static size_t tiles_of_line(const struct sn_convolution * c) { return is_nchw(c) ? data_of(c)->tilesX : 1; }

static size_t lines_of_image(const struct sn_convolution * c)
{
    return data_of(c)->tilesY * data_of(c)->tilesX / tiles_of_line(c);
}

/* The tiles of an axis of rows. */
static struct sn_winograd_place place_of(const struct sn_convolution * c, size_t line)
{
    return sn_winograd_place(c->p.dstH, sn_winograd_size(data_of(c)->kind).blockY, c->p.dilationY, line);
}

/* The first part of lines at .. end - 1; in NCHW, of a single phase. */
static struct sn_part part_at(const struct sn_convolution * c, size_t at, size_t end)
{
    struct sn_part part = sn_part_at(lines_of_image(c), at, end);
    if (is_nchw(c))
        part.lines = sn_min(part.lines, place_of(c, part.line).left);
    return part;
}

/* NCHW: lines of an image of a width, `step` apart, that are copied to or from NHWC. */
struct lines {
    size_t first, number, step, width;
};

/* The output rows of a part. */
static struct lines rows_of(const struct place * o)
{
    const struct sn_convolution_parameters * p = &o->c->p;
    const size_t block = sn_winograd_size(data_of(o->c)->kind).blockY, first = place_of(o->c, o->part.line).first;
    const size_t number = sn_min(o->part.lines * block, sn_ceil_div(p->dstH - first, p->dilationY));
    return (struct lines){first, number, p->dilationY, p->dstW};
}

/* The lines of the image that they need, and the number of lines of padding above. */
static struct lines lines_for(const struct place * o, size_t * above)
{
    const struct sn_convolution_parameters * p = &o->c->p;
    const struct lines rows = rows_of(o);
    const size_t top = rows.first * p->strideY, all = (rows.number - 1) * p->strideY + p->kernelY, step = rows.step;
    *above = top < p->padY ? sn_min(sn_ceil_div(p->padY - top, step), all) : 0;
    const size_t below = top < p->srcH + p->padY ? sn_min(sn_ceil_div(p->srcH + p->padY - top, step), all) : 0;
    return (struct lines){top + *above * step - p->padY, below > *above ? below - *above : 0, step, p->srcW};
}

static void from_planes(const struct sn_convolution * c, size_t channels, size_t plane, const sn_32f * image, struct lines l,
                        sn_32f * to)
{
    const size_t joined = l.step == 1 ? l.number : 1; /* lines that can be copied together */
    for (size_t i = 0; i < l.number; i += joined, to += joined * l.width * channels) {
        const size_t begin = (l.first + i * l.step) * l.width; /* the whole NHWC image would begin so much before `to` */
        c->table->layout.image_32f(channels, plane, image, SN_NCHW, to - begin * channels, SN_NHWC, begin,
                                   begin + joined * l.width);
    }
}

static void to_planes(const struct sn_convolution * c, size_t channels, size_t plane, const sn_32f * from, struct lines l,
                      sn_32f * image)
{
    const size_t joined = l.step == 1 ? l.number : 1;
    for (size_t i = 0; i < l.number; i += joined, from += joined * l.width * channels) {
        const size_t begin = (l.first + i * l.step) * l.width;
        c->table->layout.image_32f(channels, plane, from - begin * channels, SN_NHWC, image, SN_NCHW, begin,
                                   begin + joined * l.width);
    }
}

/* Transforms the inputs of a part and a slice to tiles. */
static void transform_inputs(const struct place * o, sn_32f * tiles)
{
    const struct sn_convolution * c = o->c;
    const struct sn_convolution_parameters * p = &c->p;
    const struct winograd * w = data_of(c);
    const struct sn_arrays a = sn_image_of(o->a, o->part.image, NULL);
    const sn_32f * src = a.src;
    struct sn_winograd_input_32f in = {.kind = w->kind, .src = src + o->channel, .channels = o->channels, .height = p->srcH,
        .width = p->srcW, .padY = p->padY, .padX = p->padX, .dilationY = p->dilationY, .dilationX = p->dilationX,
        .dstH = p->dstH, .dstW = p->dstW, .pixel = a.at->srcPixel, .tilesY = w->tilesY, .tilesX = w->tilesX,
        .dst = tiles + o->tile * w->pixel, .plane = w->input, .tile = w->pixel, .trans = true, .begin = o->part.line,
        .end = o->part.line + o->part.lines};
    if (is_nchw(c)) { /* the lines that are needed form an NHWC image */
        const struct lines needed = lines_for(o, &in.padY);
        const size_t plane = p->srcH * p->srcW;
        from_planes(c, o->channels, plane, src + o->channel * plane, needed, o->work);
        in.src = o->work;
        in.pixel = o->channels;
        in.dilationY = 1;
        in.height = needed.number;
        in.begin = 0;
        in.end = o->part.lines * w->tilesX;
    }
    c->table->winograd.input_32f(&in);
}

/* Transforms the products of a part and a panel, output channels from `first` on, to results. */
static void transform_outputs(const struct place * o, const sn_32f * products, size_t first, size_t channels)
{
    const struct sn_convolution * c = o->c;
    const struct sn_convolution_parameters * p = &c->p;
    const struct winograd * w = data_of(c);
    const struct sn_arrays a = sn_image_of(o->a, o->part.image, NULL);
    const size_t tile = sn_gemm_width(&c->table->gemm.tile_32f, channels), plane = p->dstH * p->dstW;
    const sn_32f * add = a.add;
    sn_32f * dst = a.dst;
    struct sn_winograd_output_32f out = {.kind = w->kind, .src = products + o->tile * tile, .plane = w->product,
        .tile = tile, .tilesY = w->tilesY, .tilesX = w->tilesX, .dst = dst + first, .channels = channels,
        .height = p->dstH, .width = p->dstW, .dilationY = p->dilationY, .dilationX = p->dilationX,
        .pixel = a.at->dstPixel, .trans = true, .begin = o->part.line, .end = o->part.line + o->part.lines,
        .bias = c->bias + first, .add = add ? add + first : NULL,
        .slope = c->slope ? c->slope + first : NULL, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}};
    if (!is_nchw(c)) {
        c->table->winograd.output_32f(&out);
        return;
    }
    const struct lines rows = rows_of(o);
    if (add)
        from_planes(c, channels, plane, add + first * plane, rows, o->work);
    out.dst = o->work;
    out.add = add ? o->work : NULL;
    out.pixel = channels;
    out.dilationY = 1;
    out.height = rows.number;
    out.begin = 0;
    out.end = o->part.lines * w->tilesX;
    c->table->winograd.output_32f(&out);
    to_planes(c, channels, plane, o->work, rows, dst + first * plane);
}

/*
 * What is read next, the inputs of the next block, is prefetched bit by bit while this one is multiplied, which leaves the
 * memory idle: in batches of 16, whose images come from memory, 64x56x56 to 64 and 128x28x28 to 128 are 1.05 times as fast,
 * 256x28x28 with stride 2 1.04 times. Prefetching the next tile's inputs in the transform gained nothing, and the lines of
 * the result less than it cost a single image.
 */
struct ahead {
    uintptr_t at, end;
    size_t steps; /* that are left */
};

/* The inputs of the block from line `end` on, of about the same size; lines are taken as equal parts of an NHWC image. With
 * a dilation, most of them have been read for another phase. */
static struct ahead ahead_of(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t image = lines_of_image(c), begin = s->line + s->lines, all = c->batch * image;
    const size_t end = sn_min(begin + s->lines, all), bytes = a->at->srcImage;
    const uintptr_t src = (uintptr_t)a->src;
    const size_t panels = sn_ceil_div(s->columns, c->table->gemm.tile_32f.columns);
    if (is_nchw(c) || c->p.dilationY > 1 || c->p.group > 1)
        return (struct ahead){0, 0, 1};
    return (struct ahead){src + begin / image * bytes + begin % image * bytes / image,
                          src + end / image * bytes + end % image * bytes / image,
                          panels * filters_of(data_of(c)->kind)};
}

static void fetch_ahead(struct ahead * next)
{
    /* the last line may reach beyond the end */
    const uintptr_t to = next->at + (next->end > next->at ? (next->end - next->at) / next->steps : 0);
    for (; next->at < to; next->at += SN_LINE)
        SN_PREFETCH(next->at);
    next->steps -= next->steps > 1;
}

/* Multiplies `tiles` tiles by the weights of a panel. */
static void multiply(const struct sn_convolution * c, const sn_32f * inputs, sn_32f * products, size_t tiles, size_t first,
                     size_t channels, struct ahead * next)
{
    const struct winograd * w = data_of(c);
    const struct sn_winograd_size s = sn_winograd_size(w->kind);
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t group = first / sn_outputs(c), packed = group * sn_gemm_width(tile, sn_outputs(c)) + first % sn_outputs(c);
    const sn_32f * b = sn_weights(c) + filters_of(w->kind) * sn_inputs(c) * packed;
    struct sn_gemm_32f gemm = {.width = tiles, .aStepY = w->input, .aStepX = w->pixel, .segment = c->segment,
        .segments = 1, .length = sn_inputs(c), .cStepY = w->product, .columns = sn_gemm_width(tile, channels)};
    gemm.cStepX = gemm.columns;
    /* Weights that do not stay in the L2 cache from call to call: the next plane is prefetched during two passes over this
     * one. 64 x 13 x 13 to 256 in its network is 1.4 times as fast; prefetching half of a plane in one pass is 1.2 times as
     * slow. */
    const bool far = sn_weights_exceed_l2(c);
    for (size_t f = 0, first_plane; f < sn_winograd_filters(s); ++f) {
        gemm.height = sn_winograd_shared(s, f, &first_plane);
        gemm.a = inputs + first_plane * w->input + group % groups_of(c) * sn_inputs(c);
        gemm.b = b + f * sn_inputs(c) * gemm.columns;
        gemm.c = products + first_plane * w->product;
        const bool fetch = far && gemm.height * gemm.width > tile->rows;
        gemm.prefetch = fetch ? gemm.b + sn_inputs(c) * gemm.columns : NULL;
        gemm.prefetchStep = sn_inputs(c) * gemm.columns / gemm.width;
        fetch_ahead(next);
        tile->run(&gemm);
    }
}

/* A slice, or the outputs first .. end - 1 of it, of some lines of the list of all images. */
static void compute_slice(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a,
                          size_t first, size_t end, struct ahead * next)
{
    const struct winograd * w = data_of(c);
    const size_t line = tiles_of_line(c), last = s->line + s->lines, channel = first / slice_outputs(c) * slice_inputs(c);
    sn_32f * inputs = a->work, * products = inputs + planes_of(w->kind) * w->input;
    struct place o = {.c = c, .a = a, .work = products + planes_of(w->kind) * w->product, .channel = channel,
        .channels = sn_min(slice_inputs(c), c->p.srcC - channel)};
    sn_32f * result = o.work + w->lines;
    for (size_t at = s->line; at < last; at += o.part.lines) {
        o.part = part_at(c, at, last);
        o.tile = (at - s->line) * line;
        transform_inputs(&o, inputs);
    }
    o.work = result;
    for (size_t channels; first < end; first += channels) {
        channels = sn_min(panel_at(c, first), end - first);
        multiply(c, inputs, products, s->lines * line, first, channels, next);
        for (size_t at = s->line; at < last; at += o.part.lines) {
            o.part = part_at(c, at, last);
            o.tile = (at - s->line) * line;
            transform_outputs(&o, products, first, channels);
        }
    }
}

/* Computes some lines of the list of all images, some panels of the result. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t slice = slice_outputs(c), last = s->first + s->columns;
    struct ahead next = ahead_of(c, s, a);
    for (size_t first = s->first, end; first < last; first = end) {
        end = sn_min(first / slice * slice + slice, last);
        compute_slice(c, s, a, first, end, &next);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct winograd * w = data_of(c);
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t line = tiles_of_line(c);
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute, .joined = true,
        .time = sn_convolution_32f_time(c) / 3, .shares = {.lines = c->batch * lines_of_image(c),
        .most = w->tiles / line, .columns = c->p.dstC, .width = c->p.group == 1 ? tile->columns : slice_outputs(c),
        .weights = c->weightSize, .source = c->batch * c->srcSize, .start = true,
        .least = sn_ceil_div((is_nchw(c) ? 2 : 1) * tile->rows, line)}});
}

#define WINOGRAD(text, kind)                                                                                                \
    {.name = "Winograd " text, .tiled = true, .adds = true, .variant = kind, .supports = supports, .cost = cost,            \
     .plan = plan, .pack = pack, .forward = forward}

const struct sn_convolution_algorithm
    sn_convolution_32f_winograd_2 = WINOGRAD("F(2,3)", SN_WINOGRAD_2_3),
    sn_convolution_32f_winograd_3 = WINOGRAD("F(3,3)", SN_WINOGRAD_3_3),
    sn_convolution_32f_winograd_4 = WINOGRAD("F(4,3)", SN_WINOGRAD_4_3),
    sn_convolution_32f_winograd_strided_2 = WINOGRAD("F(2,3) of stride 2", SN_WINOGRAD_2_3_STRIDE_2),
    sn_convolution_32f_winograd_strided_4 = WINOGRAD("F(4,3) of stride 2", SN_WINOGRAD_4_3_STRIDE_2),
    sn_convolution_32f_winograd_row_3 = WINOGRAD("F(4,3) of rows", SN_WINOGRAD_4X_3X),
    sn_convolution_32f_winograd_row_6_3 = WINOGRAD("F(6,3) of rows", SN_WINOGRAD_HALVES_6X_3X),
    sn_convolution_32f_winograd_row_5 = WINOGRAD("F(4,5) of rows", SN_WINOGRAD_HALVES_4X_5X),
    sn_convolution_32f_winograd_column_3 = WINOGRAD("F(4,3) of columns", SN_WINOGRAD_4Y_3Y),
    sn_convolution_32f_winograd_column_6_3 = WINOGRAD("F(6,3) of columns", SN_WINOGRAD_HALVES_6Y_3Y),
    sn_convolution_32f_winograd_column_5 = WINOGRAD("F(4,5) of columns", SN_WINOGRAD_HALVES_4Y_5Y),
    sn_convolution_32f_winograd_row_7 = WINOGRAD("F(2,7) of rows", SN_WINOGRAD_HALVES_2X_7X),
    sn_convolution_32f_winograd_column_7 = WINOGRAD("F(2,7) of columns", SN_WINOGRAD_HALVES_2Y_7Y),
    sn_convolution_32f_winograd_5 = WINOGRAD("F(2,5)", SN_WINOGRAD_2_5);
