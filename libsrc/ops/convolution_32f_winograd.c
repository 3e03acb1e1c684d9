/*
 * 3x3 by Winograd's algorithm (arXiv:1509.09308): tiles of 2x2, 3x3 or 4x4 outputs for 4, 2.78 or 2.25 multiplications of an
 * output and channel instead of 9, and some additions beside them. Of stride 2, tiles of 2x2 or 4x4 take 6.25 or 5.06, see
 * contract/winograd.h; 3x3, for 5.44, would seldom be the best.
 *
 * The image is worked off in blocks of tiles: the block's inputs are transformed; then, for each panel of output channels,
 * the GEMM tile multiplies each plane of them with the plane of the weights, and the products are transformed back, with
 * bias and activation. So no more than a block lies between src and dst, in the second cache. The weights are transformed
 * when they are set, and stored panel by panel.
 *
 * NCHW is converted on the way: blocks are whole rows of tiles, whose lines of the image become NHWC before, and those of
 * each panel NCHW behind.
 */
#include <math.h>

#include "ops/cache_sets.h"
#include "ops/convolution_32f.h"
#include "ops/shares.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

enum {
    LINE = SN_ALIGN / sizeof(float),
    WORK = (2 << 20) / sizeof(float) - LINE, /* the largest workspace */
    TILES = 28,                              /* of a block, even if the second cache has no room for them, by the stride */
};

static size_t planes_of(enum sn_winograd kind) { return sn_winograd_planes(sn_winograd_size(kind)); }
static size_t filters_of(enum sn_winograd kind) { return sn_winograd_filters(sn_winograd_size(kind)); }

/* Floats from one transformed tile to the next. */
static size_t pixel_of(size_t channels) { return sn_spaced(channels, SN_FOUR_SETS); }

/* Floats from one plane to the next: an odd number of cache lines, so that a tile's coefficients are in different sets. */
static size_t plane_of(size_t floats) { return (sn_ceil_div(floats, LINE) | 1) * LINE; }

/* Floats that a block of so many tiles wants, at most. */
static size_t block_of(const struct sn_convolution_32f * c, enum sn_winograd kind, size_t tiles)
{
    return planes_of(kind) * (tiles * (pixel_of(c->p.srcC) + c->table->gemm.tile_32f.columns) + 4 * LINE);
}

/*
 * ---- the choice: the least of what each algorithm should cost, in cycles of 16 multiply-adds. The constants are measured
 * on a core with 512-bit vectors, and serve all: what counts is their ratios. Nothing but the shape and the width of the
 * vectors comes in, since the last bits of the result depend on the choice.
 */

static bool is_nchw(const struct sn_convolution_32f * c) { return c->p.srcF == SN_NCHW; }

/* Weights come from the last cache or, many of them, from memory, at so many bytes per cycle. */
static double fetched(double bytes) { return bytes / (bytes < 10e6 ? 20 : 5.5); }

/* From NCHW to NHWC, and the result back. */
static double converted_cost(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double in = (double)sn_ceil_div(p->srcC, sn_lanes(c)), out = (double)sn_ceil_div(p->dstC, sn_lanes(c));
    const double vectors = (double)(p->srcH * p->srcW) * in + (double)(p->dstH * p->dstW) * out;
    return is_nchw(c) ? 5 * vectors * (double)sn_lanes(c) / 16 : 0;
}

static double direct_cost(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const double rows = (double)sn_max(p->dstH, p->dstW), pixels = (double)(p->dstH * p->dstW);
    const double least = fetched(36 * (double)p->srcC * (double)p->dstC);
    const double outputs = pixels * (double)sn_gemm_width(tile, p->dstC) / 16;
    const double sums = 9.3 * outputs * (double)p->srcC * (rows < 4.5 ? 1 + (4.5 - rows) / 3 : 1) + converted_cost(c);
    /* Of NCHW, columns may be pixels, and are gathered. */
    const double gathered = 10.3 / 16 * (double)sn_gemm_width(tile, p->dstH * p->dstW) * (double)p->dstC * (double)p->srcC;
    return fmax(least, is_nchw(c) ? fmin(gathered, sums) : sums);
}

static double winograd_cost(const struct sn_convolution_32f * c, enum sn_winograd kind)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_winograd_size s = sn_winograd_size(kind);
    const double lanes = (double)sn_lanes(c) / 16, planes = (double)planes_of(kind), m = (double)s.blockY;
    const double tiles = (double)sn_ceil_div(p->dstH, s.blockY) * (double)sn_ceil_div(p->dstW, s.blockX);
    const double in = (double)sn_ceil_div(p->srcC, sn_lanes(c)), out = (double)sn_ceil_div(p->dstC, sn_lanes(c));
    const double width = (double)sn_gemm_width(&c->table->gemm.tile_32f, p->dstC);
    const double products = 1.05 * planes * tiles * width / 16 * (double)(p->srcC + 2);
    /* The first of the passes over a panel of weights waits for them, the others find them near; so do those that several
     * planes share. */
    const double filters = (double)filters_of(kind), own = s.stride == 1 ? planes : (m + 1) * (m + 1);
    const double first = products / ceil(tiles / (double)c->table->gemm.tile_32f.rows) * own / planes;
    const double waited = fetched(4 * filters * width * (double)p->srcC) * own / filters;
    const double weighted = products - first + fmax(first, waited);
    const double transforms = planes * tiles * (in + out) * (kind == SN_WINOGRAD_4_3 ? 4 : s.stride == 1 ? 7 : 5);
    return weighted + lanes * transforms + converted_cost(c) + 1000;
}

/* F(m, 3) for m of 2 to 4, or SN_WINOGRADS for none. Few channels gain little, and their roundings do not yet cancel. */
static enum sn_winograd choice(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool can = p->kernelY == 3 && p->kernelX == 3 && p->strideY == p->strideX && p->dilationY == 1 &&
                     p->dilationX == 1 && p->group == 1 && p->srcC >= 16 && p->srcC <= WORK / 64;
    enum sn_winograd best = SN_WINOGRADS;
    double least = 0.95 * direct_cost(c);
    for (enum sn_winograd kind = SN_WINOGRAD_2_3; can && kind < SN_WINOGRADS; ++kind) {
        if (sn_winograd_size(kind).stride != p->strideY)
            continue;
        const double cost = winograd_cost(c, kind);
        /* Of NCHW a block has a row of tiles at least. */
        const size_t row = is_nchw(c) ? sn_ceil_div(p->dstW, sn_winograd_size(kind).blockX) : 0;
        if (cost < least && row <= WORK / 64 && block_of(c, kind, sn_max(row, c->table->gemm.tile_32f.rows)) <= WORK) {
            least = cost;
            best = kind;
        }
    }
    return best;
}

static bool takes_2(const struct sn_convolution_32f * c) { return choice(c) == SN_WINOGRAD_2_3; }
static bool takes_3(const struct sn_convolution_32f * c) { return choice(c) == SN_WINOGRAD_3_3; }
static bool takes_4(const struct sn_convolution_32f * c) { return choice(c) == SN_WINOGRAD_4_3; }
static bool takes_strided_2(const struct sn_convolution_32f * c) { return choice(c) == SN_WINOGRAD_2_3_STRIDE_2; }
static bool takes_strided_4(const struct sn_convolution_32f * c) { return choice(c) == SN_WINOGRAD_4_3_STRIDE_2; }

/* ---- plan and weights */

/*
 * Blocks of about equal size, of whole register tiles where that can be. A block's inputs are to stay in half of the second
 * cache; but where that is no room for TILES, weights come from further away anyway, and it is better to have them fewer
 * times. Of stride 2, half as many: most weights serve several planes.
 */
static void plan_block(struct sn_convolution_32f * c)
{
    const size_t rows = c->table->gemm.tile_32f.rows, all = c->winograd.tilesY * c->winograd.tilesX;
    const size_t one = block_of(c, c->winograd.kind, 1);
    const size_t least = TILES / sn_winograd_size(c->winograd.kind).stride;
    const size_t room = sn_max(sn_cpu()->cacheL2 / 2 / sizeof(float) / one, least);
    const size_t fit = sn_max(sn_min(room, WORK / one), 1);
    if (is_nchw(c)) {
        const size_t lines = sn_max(fit / c->winograd.tilesX, 1), blocks = sn_ceil_div(c->winograd.tilesY, lines);
        c->winograd.tiles = sn_ceil_div(c->winograd.tilesY, blocks) * c->winograd.tilesX;
        return;
    }
    size_t tiles = sn_ceil_div(all, sn_ceil_div(all, fit));
    if (tiles < all && sn_ceil_div(tiles, rows) * rows <= fit)
        tiles = sn_ceil_div(tiles, rows) * rows;
    c->winograd.tiles = tiles;
}

static bool plan(struct sn_convolution_32f * c, enum sn_winograd kind)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const struct sn_winograd_size s = sn_winograd_size(kind);
    struct sn_winograd_block * w = &c->winograd;
    w->kind = kind;
    w->tilesY = sn_ceil_div(p->dstH, s.blockY);
    w->tilesX = sn_ceil_div(p->dstW, s.blockX);
    w->pixel = pixel_of(p->srcC);
    plan_block(c);
    w->input = plane_of(w->tiles * w->pixel);
    w->product = plane_of(w->tiles * tile->columns);
    c->depth = p->srcC;
    c->segments = 1;
    c->channels = sn_align(p->dstC, sn_lanes(c));
    c->workSize = planes_of(kind) * (w->input + w->product);
    if (is_nchw(c)) { /* the block's lines of the image, and of a panel of the result */
        const size_t rows = w->tiles / w->tilesX * s.blockY;
        w->lines = sn_align(sn_min((rows - 1) * s.stride + s.kernelY, p->srcH) * p->srcW * p->srcC, LINE);
        c->workSize += w->lines + rows * p->dstW * tile->columns;
    }
    return sn_product(&c->weightSize, filters_of(kind), c->depth, sn_gemm_width(tile, p->dstC));
}

static bool plan_2(struct sn_convolution_32f * c) { return plan(c, SN_WINOGRAD_2_3); }
static bool plan_3(struct sn_convolution_32f * c) { return plan(c, SN_WINOGRAD_3_3); }
static bool plan_4(struct sn_convolution_32f * c) { return plan(c, SN_WINOGRAD_4_3); }
static bool plan_strided_2(struct sn_convolution_32f * c) { return plan(c, SN_WINOGRAD_2_3_STRIDE_2); }
static bool plan_strided_4(struct sn_convolution_32f * c) { return plan(c, SN_WINOGRAD_4_3_STRIDE_2); }

/* Columns of a panel from `first` on, NHWC: the filters of an input channel lie together. */
static void pack_yxio(const struct sn_convolution_32f * c, struct sn_winograd_filter_32f job, size_t first, size_t columns,
                      size_t width, sn_32f * packed)
{
    for (size_t i = 0; i < c->p.srcC; ++i) {
        job.begin = i * c->p.dstC + first;
        job.end = job.begin + columns;
        job.dst = packed + i * width;
        c->table->winograd.filter_32f(&job);
    }
}

/* NCHW: those of an output channel do, and are transposed. */
static void pack_oiyx(const struct sn_convolution_32f * c, struct sn_winograd_filter_32f job, size_t first, size_t columns,
                      size_t width, sn_32f * packed)
{
    float some[36 * 64]; /* no kind has more coefficients */
    const size_t plane = job.plane;
    job.plane = 64;
    job.dst = some;
    for (size_t o = 0; o < columns; ++o)
        for (size_t i = 0, number; i < c->p.srcC; i += number) {
            number = sn_min(c->p.srcC - i, 64);
            job.begin = (first + o) * c->p.srcC + i;
            job.end = job.begin + number;
            c->table->winograd.filter_32f(&job);
            for (size_t t = 0; t < filters_of(job.kind); ++t)
                for (size_t k = 0; k < number; ++k)
                    packed[t * plane + (i + k) * width + o] = some[t * 64 + k];
        }
}

/* [panel of output channels][coefficient][input channel][width of the panel] */
static void pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    struct sn_winograd_filter_32f job = {.kind = c->winograd.kind, .src = weight, .size = p->srcC * p->dstC,
        .trans = !is_nchw(c)};
    *segment = 0;
    for (size_t first = 0; first < p->dstC; first += tile->columns) {
        const size_t columns = sn_min(tile->columns, p->dstC - first), width = sn_gemm_width(tile, columns);
        job.plane = p->srcC * width;
        (is_nchw(c) ? pack_oiyx : pack_yxio)(c, job, first, columns, width, packed);
        packed += filters_of(job.kind) * job.plane;
    }
}

static void spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    for (size_t i = 0; i < c->p.dstC; ++i)
        spread[i] = values[i];
}

/* ---- forward */

/* The transforms of tiles begin .. end - 1 of an NHWC image; dst of the output and its channels are a panel's. */
static struct sn_winograd_input_32f input_of(const struct sn_convolution_32f * c, const sn_32f * src, size_t begin,
                                             size_t end)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_winograd_block * w = &c->winograd;
    return (struct sn_winograd_input_32f){.kind = w->kind, .src = src, .channels = p->srcC, .height = p->srcH,
        .width = p->srcW, .padY = p->padY, .padX = p->padX, .pixel = p->srcC, .tilesY = w->tilesY, .tilesX = w->tilesX,
        .plane = w->input, .tile = w->pixel, .trans = true, .begin = begin, .end = end};
}

static struct sn_winograd_output_32f output_of(const struct sn_convolution_32f * c, size_t begin, size_t end)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_winograd_block * w = &c->winograd;
    return (struct sn_winograd_output_32f){.kind = w->kind, .plane = w->product, .tilesY = w->tilesY, .tilesX = w->tilesX,
        .height = p->dstH, .width = p->dstW, .pixel = p->dstC, .trans = true, .begin = begin, .end = end,
        .activation = sn_tile_activation(c), .param = {c->param[0], c->param[1]}};
}

/* One panel of output channels, `first` and those behind it; b are its weights. */
static void compute_panel(const struct sn_convolution_32f * c, const sn_32f * inputs, sn_32f * products, const sn_32f * b,
                          size_t first, struct sn_winograd_output_32f * out)
{
    const struct sn_winograd_block * w = &c->winograd;
    const struct sn_winograd_size s = sn_winograd_size(w->kind);
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    struct sn_gemm_32f gemm = {.width = out->end - out->begin, .aStepY = w->input, .aStepX = w->pixel,
        .segment = c->segment, .segments = 1, .length = c->depth, .cStepY = w->product,
        .columns = sn_gemm_width(tile, out->channels)};
    gemm.cStepX = out->tile = gemm.columns;
    /* Weights that the second cache does not hold from call to call: the next plane is fetched, which takes two passes over
     * this one. 64 x 13 x 13 to 256 in its network is 1.4 times as fast; half of a plane, by one pass, loses 1.2 times. */
    const bool far = c->weightSize > 65536;
    for (size_t f = 0, first_plane; f < sn_winograd_filters(s); ++f) {
        gemm.height = sn_winograd_shared(s, f, &first_plane);
        gemm.a = inputs + first_plane * w->input;
        gemm.b = b + f * c->depth * gemm.columns;
        gemm.c = products + first_plane * w->product;
        const bool fetch = far && gemm.height * gemm.width > tile->rows;
        gemm.ahead = fetch ? gemm.b + c->depth * gemm.columns : NULL;
        gemm.aheadStep = c->depth * gemm.columns / gemm.width;
        tile->run(&gemm);
    }
    out->src = products;
    out->bias = c->bias + first;
    out->slope = c->slope ? c->slope + first : NULL;
    c->table->winograd.output_32f(out);
}

static const sn_32f * panel(const struct sn_convolution_32f * c, size_t first)
{
    return c->weight + filters_of(c->winograd.kind) * c->depth * first;
}

/* Some tiles of an NHWC image, some panels of the result. */
static void compute_tiles(const struct sn_convolution_32f * c, const struct sn_share * s, const sn_32f * src, sn_32f * work,
                          const sn_32f * add, sn_32f * dst)
{
    const size_t step = c->table->gemm.tile_32f.columns, begin = s->line, end = begin + s->lines;
    sn_32f * inputs = work, * products = inputs + planes_of(c->winograd.kind) * c->winograd.input;
    struct sn_winograd_input_32f in = input_of(c, src, begin, end);
    struct sn_winograd_output_32f out = output_of(c, begin, end);
    in.dst = inputs;
    c->table->winograd.input_32f(&in);
    for (size_t first = s->first; first < s->first + s->columns; first += step) {
        out.channels = sn_min(step, c->p.dstC - first);
        out.dst = dst + first;
        out.add = add ? add + first : NULL;
        compute_panel(c, inputs, products, panel(c, first), first, &out);
    }
}

/* The same of an NCHW image: whole rows of tiles. Their lines are an NHWC image of their own; those of a panel another. */
static void compute_rows(const struct sn_convolution_32f * c, const struct sn_share * s, const sn_32f * src, sn_32f * work,
                         const sn_32f * add, sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_winograd_block * w = &c->winograd;
    const struct sn_winograd_size size = sn_winograd_size(w->kind);
    const size_t step = c->table->gemm.tile_32f.columns;
    sn_32f * inputs = work, * products = inputs + planes_of(w->kind) * w->input;
    sn_32f * lines = products + planes_of(w->kind) * w->product, * result = lines + w->lines;
    const size_t row = s->line * size.blockY, rows = sn_min(s->lines * size.blockY, p->dstH - row);
    const size_t tiles = s->lines * w->tilesX;
    /* The first line that is needed, and the one behind the last; both count from the padding, then from the image. */
    const size_t from = row * size.stride, to = from + (rows - 1) * size.stride + size.kernelY;
    const size_t y = sn_min(from > p->padY ? from - p->padY : 0, p->srcH);
    const size_t below = sn_min(to > p->padY ? to - p->padY : 0, p->srcH);
    c->table->layout.image_32f(p->srcC, p->srcH * p->srcW, src, SN_NCHW, lines - y * p->srcW * p->srcC,
                                SN_NHWC, y * p->srcW, sn_max(below, y) * p->srcW);
    struct sn_winograd_input_32f in = input_of(c, lines, 0, tiles);
    struct sn_winograd_output_32f out = output_of(c, 0, tiles);
    in.padY = p->padY > from ? p->padY - from : 0;
    in.height = sn_max(below, y) - y;
    in.dst = inputs;
    c->table->winograd.input_32f(&in);
    out.height = rows;
    out.dst = result;
    out.add = add ? result : NULL;
    for (size_t first = s->first; first < s->first + s->columns; first += step) {
        out.channels = out.pixel = sn_min(step, p->dstC - first);
        if (add)
            c->table->layout.image_32f(out.channels, p->dstH * p->dstW, add + first * p->dstH * p->dstW,
                                        SN_NCHW, result - row * p->dstW * out.channels, SN_NHWC,
                                        row * p->dstW, (row + rows) * p->dstW);
        compute_panel(c, inputs, products, panel(c, first), first, &out);
        c->table->layout.image_32f(out.channels, p->dstH * p->dstW, result - row * p->dstW * out.channels,
                                    SN_NHWC, dst + first * p->dstH * p->dstW, SN_NCHW,
                                    row * p->dstW, (row + rows) * p->dstW);
    }
}

struct job {
    const struct sn_convolution_32f * c;
    const sn_32f * src;
    const sn_32f * add; /* lies as dst, or NULL */
    sn_32f * dst;
    struct sn_shares shares;
};

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    struct sn_share s;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&job->shares, begin, end);
        (is_nchw(c) ? compute_rows : compute_tiles)(c, &s, job->src + s.image * c->srcSize, work,
                                                    job->add ? job->add + s.image * c->dstSize : NULL,
                                                    job->dst + s.image * c->dstSize);
    }
}

/* Lines to be shared out are rows of tiles in NCHW, single tiles in NHWC. */
static void forward_add(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, const sn_32f * add,
                        sn_32f * dst)
{
    const struct sn_winograd_block * w = &c->winograd;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t line = is_nchw(c) ? w->tilesX : 1;
    const struct job job = {c, src, add, dst, sn_shares_of((struct sn_shares){.lines = w->tilesY * w->tilesX / line,
        .most = w->tiles / line, .columns = c->p.dstC, .width = tile->columns, .weights = c->weightSize,
        .source = c->srcSize, .start = true, .least = sn_ceil_div((is_nchw(c) ? 2 : 1) * tile->rows, line)})};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = c->batch * job.shares.each,
        .cost = sn_convolution_32f_cost(c) / 3, .least = job.shares.least, .work = work,
        .workBytes = c->workSize * sizeof(float)});
}

static void forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    forward_add(c, src, work, NULL, dst);
}

const struct sn_convolution_32f_way
    sn_convolution_32f_winograd_2 = {"Winograd F(2,3)", true, takes_2, plan_2, pack, spread, forward, forward_add},
    sn_convolution_32f_winograd_3 = {"Winograd F(3,3)", true, takes_3, plan_3, pack, spread, forward, forward_add},
    sn_convolution_32f_winograd_4 = {"Winograd F(4,3)", true, takes_4, plan_4, pack, spread, forward, forward_add},
    sn_convolution_32f_winograd_strided_2 = {"Winograd F(2,3) of stride 2", true, takes_strided_2, plan_strided_2, pack,
                                             spread, forward, forward_add},
    sn_convolution_32f_winograd_strided_4 = {"Winograd F(4,3) of stride 2", true, takes_strided_4, plan_strided_4, pack,
                                             spread, forward, forward_add};
