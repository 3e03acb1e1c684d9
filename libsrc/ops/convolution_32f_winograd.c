/*
 * 3x3 by Winograd's algorithm (arXiv:1509.09308): tiles of 2x2, 3x3 or 4x4 outputs need 4, 2.78 or 2.25 multiplications per
 * output and channel in place of 9, and some additions. With stride 2, tiles of 2x2 or 4x4 need 6.25 or 5.06, see
 * contract/winograd.h; 3x3, with 5.44, would rarely be the best.
 *
 * The image is processed in blocks of tiles: the block's inputs are transformed; then, for each panel of output channels,
 * the GEMM tile multiplies each plane of them with the plane of the weights, and the products are transformed back, with
 * bias and activation. So intermediate data are limited to one block, which stays in the L2 cache. The weights are
 * transformed when they are set, and stored panel by panel.
 *
 * For NCHW, blocks are whole rows of tiles: their lines of the image are converted to NHWC first, and the result of each
 * panel is converted to NCHW afterwards.
 */
#include "ops/band.h"
#include "ops/cache_sets.h"
#include "ops/convolution_32f.h"
#include "ops/convolution_cost.h"
#include "runtime/cpu.h"

enum {
    LINE = SN_ALIGN / sizeof(float),
    WORK = (2 << 20) / sizeof(float) - LINE, /* the largest workspace */
    TILES = 28,                              /* at least so many in a block, divided by the stride, whatever the cache */
};

static size_t planes_of(enum sn_winograd kind) { return sn_winograd_planes(sn_winograd_size(kind)); }
static size_t filters_of(enum sn_winograd kind) { return sn_winograd_filters(sn_winograd_size(kind)); }

/* Floats from one transformed tile to the next. */
static size_t pixel_of(size_t channels) { return sn_spaced(channels, SN_FOUR_SETS); }

/* Floats from one plane to the next: an odd number of cache lines, so that a tile's coefficients are in different sets. */
static size_t plane_of(size_t floats) { return (sn_ceil_div(floats, LINE) | 1) * LINE; }

struct winograd {
    enum sn_winograd kind;
    size_t tilesY, tilesX; /* of the output */
    size_t tiles;          /* that are computed together */
    size_t pixel, input;   /* floats between transformed tiles, and between planes of them */
    size_t product;        /* floats between planes of products */
    size_t lines;          /* NCHW: floats of the lines that a block needs */
};
SN_FITS_ALGORITHM_DATA(struct winograd);

static const struct winograd * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool is_nchw(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

/* An upper bound of the floats that a block of `tiles` tiles needs. */
static size_t block_of(const struct sn_convolution * c, enum sn_winograd kind, size_t tiles)
{
    return planes_of(kind) * (tiles * (pixel_of(c->p.srcC) + c->table->gemm.tile_32f.columns) + 4 * LINE);
}

/* ---- plan and weights */

/* Few channels gain little, and their rounding errors do not average out. */
static bool supports(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const enum sn_winograd kind = (enum sn_winograd)c->algorithm->variant;
    const struct sn_winograd_size s = sn_winograd_size(kind);
    if (p->kernelY != 3 || p->kernelX != 3 || p->strideY != s.stride || p->strideX != s.stride || p->dilationY != 1 ||
        p->dilationX != 1 || p->group != 1 || p->srcC < 16 || p->srcC > WORK / 64)
        return false;
    /* In NCHW a block has at least one row of tiles. */
    const size_t row = is_nchw(c) ? sn_ceil_div(p->dstW, s.blockX) : 0;
    return row <= WORK / 64 && block_of(c, kind, sn_max(row, c->table->gemm.tile_32f.rows)) <= WORK;
}

/*
 * Blocks of about equal size, of whole register tiles if possible. A block should fit into half of the L2 cache; but if that
 * is too small for TILES, the weights do not stay in that cache anyway, and larger blocks read them fewer times. With stride
 * 2, half of TILES: most weights are used for several planes.
 */
static void plan_block(const struct sn_convolution * c, struct winograd * w)
{
    const size_t rows = c->table->gemm.tile_32f.rows, all = w->tilesY * w->tilesX;
    const size_t one = block_of(c, w->kind, 1);
    const size_t least = TILES / sn_winograd_size(w->kind).stride;
    const size_t most = sn_max(sn_cpu()->cacheL2 / 2 / sizeof(float) / one, least);
    const size_t fit = sn_max(sn_min(most, WORK / one), 1);
    if (is_nchw(c)) {
        const size_t lines = sn_max(fit / w->tilesX, 1), blocks = sn_ceil_div(w->tilesY, lines);
        w->tiles = sn_ceil_div(w->tilesY, blocks) * w->tilesX;
        return;
    }
    size_t tiles = sn_ceil_div(all, sn_ceil_div(all, fit));
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
    w->tilesY = sn_ceil_div(p->dstH, s.blockY);
    w->tilesX = sn_ceil_div(p->dstW, s.blockX);
    w->pixel = pixel_of(p->srcC);
    plan_block(c, w);
    w->input = plane_of(w->tiles * w->pixel);
    w->product = plane_of(w->tiles * tile->columns);
    c->segments = 1;
    c->channels = sn_align(p->dstC, sn_lanes(c));
    c->groupStep = p->dstC;
    size_t work = planes_of(w->kind) * (w->input + w->product);
    if (is_nchw(c)) { /* the block's lines of the image, and of a panel of the result */
        const size_t rows = w->tiles / w->tilesX * s.blockY;
        w->lines = sn_align(sn_min((rows - 1) * s.stride + s.kernelY, p->srcH) * p->srcW * p->srcC, LINE);
        work += w->lines + rows * p->dstW * tile->columns;
    }
    return sn_floats(&c->workSize, work) &&
           sn_floats(&c->weightSize, filters_of(w->kind), p->srcC, sn_gemm_width(tile, p->dstC));
}

/* Packs the columns of a panel from `first` on, NHWC: the filters of an input channel are adjacent. */
static void pack_yxio(const struct sn_convolution * c, struct sn_winograd_filter_32f job, size_t first, size_t columns,
                      size_t width, sn_32f * packed)
{
    for (size_t i = 0; i < c->p.srcC; ++i) {
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
static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    struct sn_winograd_filter_32f job = {.kind = data_of(c)->kind, .src = weight, .size = p->srcC * p->dstC,
        .trans = !is_nchw(c)};
    sn_32f * packed = c->weight;
    for (size_t first = 0; first < p->dstC; first += tile->columns) {
        const size_t columns = sn_min(tile->columns, p->dstC - first), width = sn_gemm_width(tile, columns);
        job.plane = p->srcC * width;
        (is_nchw(c) ? pack_oiyx : pack_yxio)(c, job, first, columns, width, packed);
        packed += filters_of(job.kind) * job.plane;
    }
}

/* ---- forward */

/* Jobs to transform tiles begin .. end - 1 of an NHWC image; the caller sets dst and channels of the output for a panel. */
static struct sn_winograd_input_32f input_of(const struct sn_convolution * c, const sn_32f * src, size_t pixel, size_t begin,
                                             size_t end)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct winograd * w = data_of(c);
    return (struct sn_winograd_input_32f){.kind = w->kind, .src = src, .channels = p->srcC, .height = p->srcH,
        .width = p->srcW, .padY = p->padY, .padX = p->padX, .pixel = pixel, .tilesY = w->tilesY, .tilesX = w->tilesX,
        .plane = w->input, .tile = w->pixel, .trans = true, .begin = begin, .end = end};
}

static struct sn_winograd_output_32f output_of(const struct sn_convolution * c, size_t pixel, size_t begin, size_t end)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct winograd * w = data_of(c);
    return (struct sn_winograd_output_32f){.kind = w->kind, .plane = w->product, .tilesY = w->tilesY, .tilesX = w->tilesX,
        .height = p->dstH, .width = p->dstW, .pixel = pixel, .trans = true, .begin = begin, .end = end,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}};
}

/* Computes one panel of output channels, from `first` on; b are its weights. */
static void compute_panel(const struct sn_convolution * c, const sn_32f * inputs, sn_32f * products, const sn_32f * b,
                          size_t first, struct sn_winograd_output_32f * out)
{
    const struct winograd * w = data_of(c);
    const struct sn_winograd_size s = sn_winograd_size(w->kind);
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    struct sn_gemm_32f gemm = {.width = out->end - out->begin, .aStepY = w->input, .aStepX = w->pixel,
        .segment = c->segment, .segments = 1, .length = c->p.srcC, .cStepY = w->product,
        .columns = sn_gemm_width(tile, out->channels)};
    gemm.cStepX = out->tile = gemm.columns;
    /* Weights that do not stay in the L2 cache from call to call: the next plane is prefetched during two passes over this
     * one. 64 x 13 x 13 to 256 in its network is 1.4 times as fast; prefetching half of a plane in one pass is 1.2 times as
     * slow. */
    const bool far = sn_weights_exceed_l2(c);
    for (size_t f = 0, first_plane; f < sn_winograd_filters(s); ++f) {
        gemm.height = sn_winograd_shared(s, f, &first_plane);
        gemm.a = inputs + first_plane * w->input;
        gemm.b = b + f * c->p.srcC * gemm.columns;
        gemm.c = products + first_plane * w->product;
        const bool fetch = far && gemm.height * gemm.width > tile->rows;
        gemm.prefetch = fetch ? gemm.b + c->p.srcC * gemm.columns : NULL;
        gemm.prefetchStep = c->p.srcC * gemm.columns / gemm.width;
        tile->run(&gemm);
    }
    out->src = products;
    out->bias = c->bias + first;
    out->slope = c->slope ? c->slope + first : NULL;
    c->table->winograd.output_32f(out);
}

static const sn_32f * panel(const struct sn_convolution * c, size_t first)
{
    return sn_weights(c) + filters_of(data_of(c)->kind) * c->p.srcC * first;
}

/* Computes some tiles of an NHWC image, some panels of the result. */
static void compute_tiles(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t step = c->table->gemm.tile_32f.columns, begin = s->line, end = begin + s->lines;
    const struct winograd * w = data_of(c);
    sn_32f * inputs = a->work, * products = inputs + planes_of(w->kind) * w->input, * dst = a->dst;
    const sn_32f * add = a->add;
    struct sn_winograd_input_32f in = input_of(c, a->src, a->at->srcPixel, begin, end);
    struct sn_winograd_output_32f out = output_of(c, a->at->dstPixel, begin, end);
    in.dst = inputs;
    c->table->winograd.input_32f(&in);
    for (size_t first = s->first; first < s->first + s->columns; first += step) {
        out.channels = sn_min(step, c->p.dstC - first);
        out.dst = dst + first;
        out.add = add ? add + first : NULL;
        compute_panel(c, inputs, products, panel(c, first), first, &out);
    }
}

/* The same for an NCHW image: whole rows of tiles. Their lines form an NHWC image, and the result of a panel another. */
static void compute_rows(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct winograd * w = data_of(c);
    const struct sn_winograd_size size = sn_winograd_size(w->kind);
    const size_t step = c->table->gemm.tile_32f.columns;
    sn_32f * inputs = a->work, * products = inputs + planes_of(w->kind) * w->input, * dst = a->dst;
    const sn_32f * add = a->add;
    sn_32f * lines = products + planes_of(w->kind) * w->product, * result = lines + w->lines;
    const size_t row = s->line * size.blockY, rows = sn_min(s->lines * size.blockY, p->dstH - row);
    const size_t tiles = s->lines * w->tilesX;
    const size_t from = row * size.stride; /* counted from the padding */
    const struct sn_lines needed = sn_lines_of(p, row, rows);
    c->table->layout.image_32f(p->srcC, p->srcH * p->srcW, a->src, SN_NCHW, lines - needed.begin * p->srcW * p->srcC,
                               SN_NHWC, needed.begin * p->srcW, needed.end * p->srcW);
    struct sn_winograd_input_32f in = input_of(c, lines, p->srcC, 0, tiles);
    struct sn_winograd_output_32f out = output_of(c, p->dstC, 0, tiles);
    in.padY = p->padY > from ? p->padY - from : 0;
    in.height = needed.end - needed.begin;
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

/* The "lines" of a share are rows of tiles in NCHW, single tiles in NHWC. */
static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct winograd * w = data_of(c);
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t line = is_nchw(c) ? w->tilesX : 1;
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a,
        .compute = is_nchw(c) ? compute_rows : compute_tiles, .time = sn_convolution_32f_time(c) / 3,
        .shares = {.lines = w->tilesY * w->tilesX / line, .most = w->tiles / line, .columns = c->p.dstC,
        .width = tile->columns, .weights = c->weightSize, .source = c->srcSize, .start = true,
        .least = sn_ceil_div((is_nchw(c) ? 2 : 1) * tile->rows, line)}});
}

#define WINOGRAD(text, kind)                                                                                                \
    {.name = "Winograd " text, .tiled = true, .adds = true, .variant = kind, .supports = supports, .plan = plan,            \
     .pack = pack, .forward = forward}

const struct sn_convolution_algorithm
    sn_convolution_32f_winograd_2 = WINOGRAD("F(2,3)", SN_WINOGRAD_2_3),
    sn_convolution_32f_winograd_3 = WINOGRAD("F(3,3)", SN_WINOGRAD_3_3),
    sn_convolution_32f_winograd_4 = WINOGRAD("F(4,3)", SN_WINOGRAD_4_3),
    sn_convolution_32f_winograd_strided_2 = WINOGRAD("F(2,3) of stride 2", SN_WINOGRAD_2_3_STRIDE_2),
    sn_convolution_32f_winograd_strided_4 = WINOGRAD("F(4,3) of stride 2", SN_WINOGRAD_4_3_STRIDE_2);
