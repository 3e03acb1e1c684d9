/*
 * Quantised convolution by Winograd's algorithm F(4x4, 3x3), exactly: kernels/winograd/8i.c tells how. Where the tile multiplies
 * pairs of 16-bit numbers, which is half as fast as products of four bytes, or a quarter.
 *
 * As for floats, see 32f_winograd.c, the rows of tiles of all images are one list, which is processed in blocks: a block's inputs
 * are copied with their padding and transformed; then, for each panel of output channels, the tile multiplies each plane of them by
 * the plane of the weights, and the products become sums and results.
 */
#include "ops/cache_sets.h"
#include "ops/convolution/8i.h"
#include "ops/convolution/cost.h"
#include "runtime/cpu.h"

enum {
    BLOCK = SN_WINOGRAD_8I_BLOCK,
    SIDE = SN_WINOGRAD_8I_SIDE,
    PLANES = SN_WINOGRAD_8I_PLANES,
    TAPS = 3,
    LEAST_TILES = 28,   /* in a block, see 32f_winograd.c */
    WORK = 8 << 20,     /* the largest workspace of a row of tiles, */
    WIDEST = 64,        /* and panel */
};

struct winograd {
    struct sn_dot_band band;
    size_t tilesY, tilesX; /* of an image */
    size_t lines;          /* rows of tiles that are computed together, */
    size_t imageLines;     /* at most so many of one image */
    size_t pixel, input;   /* bytes between transformed tiles, and between planes of them */
    size_t product;        /* bytes between planes of products */
};
SN_FITS_ALGORITHM_DATA(struct winograd);

static const struct winograd * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }
static const struct sn_dot_tile * tile_of(const struct sn_convolution * c) { return sn_dot_of(c)->tile; }

/* The pairs of input channels, and the columns that the tile computes of `columns`. */
static size_t pairs_of(const struct sn_convolution * c) { return sn_ceil_div(c->p.srcC, 2); }
static size_t width_of(const struct sn_convolution * c, size_t columns)
{
    const size_t granule = tile_of(c)->granule;
    return sn_ceil_div(columns, granule) * granule;
}

/* The bytes of the weights of a panel. */
static size_t panel_bytes(const struct sn_convolution * c, size_t columns)
{
    return PLANES * pairs_of(c) * 2 * sizeof(int16_t) * width_of(c, columns);
}

/* Bytes from one transformed tile, and from one plane, to the next. */
static size_t pixel_of(const struct sn_convolution * c)
{
    return sn_spaced(pairs_of(c), SN_FOUR_SETS) * sizeof(float);
}
static size_t plane_of(size_t bytes) { return (sn_ceil_div(bytes, SN_ALIGN) | 1) * SN_ALIGN; }

/* The bytes of a transformed tile and its products. */
static size_t tile_bytes(const struct sn_convolution * c)
{
    return PLANES * (pixel_of(c) + tile_of(c)->columns * sizeof(int32_t));
}

/* Sums of fewer channels are below 2^29 for any bytes; few channels gain nothing. */
enum { LEAST_INPUTS = 16, MOST_INPUTS = (1 << 29) / (255 * 128 * TAPS * TAPS) };

static bool supports(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_tile * tile = tile_of(c);
    return c->table->convolution_8i.winograd.input && tile->group == 2 && !tile->biased && tile->columns <= WIDEST &&
           p->kernelY == TAPS && p->kernelX == TAPS && p->strideY == 1 && p->strideX == 1 && p->dilationY == 1 &&
           p->dilationX == 1 && p->group == 1 && p->srcC >= LEAST_INPUTS && p->srcC <= MOST_INPUTS && c->dstSize > 0 &&
           c->batch > 0 && sn_ceil_div(p->dstW, BLOCK) <= WORK / tile_bytes(c);
}

/* ---- plan and weights */

/* Blocks of about equal numbers of rows of tiles, with data of about half of the L2 cache. */
static void plan_block(const struct sn_convolution * c, struct winograd * w)
{
    const size_t tiles = sn_max(sn_cpu()->cacheL2 / 2 / tile_bytes(c), LEAST_TILES), all = c->batch * w->tilesY;
    w->lines = sn_ceil_div(all, sn_ceil_div(all, sn_max(tiles / w->tilesX, 1)));
    w->imageLines = sn_min(w->lines, w->tilesY);
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct winograd * w = (void *)c->algorithmData;
    const size_t columns = sn_min(p->dstC, tile_of(c)->columns);
    w->band.number = sizeof(int16_t);
    w->band.inputs = p->srcC;
    if (!sn_dot_band_plan(c, &w->band, SN_READS_COPY, columns * sn_element(p->dstT)))
        return false;
    w->tilesY = sn_ceil_div(p->dstH, BLOCK);
    w->tilesX = sn_ceil_div(p->dstW, BLOCK);
    plan_block(c, w);
    struct sn_band * band = &w->band.band;
    band->rows = sn_min(w->imageLines * BLOCK, p->dstH);
    band->lines = sn_used(band->rows, 1, TAPS, 1);
    size_t results;
    if (!sn_product(&w->band.bytes, band->lines, band->line) ||
        !sn_product(&results, p->srcF == SN_NCHW, band->rows, p->dstW, columns, sn_element(p->dstT)))
        return false;
    w->band.bytes = sn_align(w->band.bytes + SN_ALIGN, SN_ALIGN);
    w->pixel = pixel_of(c);
    w->input = plane_of(w->lines * w->tilesX * w->pixel);
    w->product = plane_of(w->lines * w->tilesX * tile_of(c)->columns * sizeof(int32_t));
    c->segments = 1;
    c->channels = c->runStep = width_of(c, p->dstC);
    return sn_product(&c->workSize, w->band.bytes + PLANES * (w->input + w->product) + results, 1) &&
           sn_product(&c->weightSize, PLANES * 2 * sizeof(int16_t), pairs_of(c), c->channels);
}

/* u = G g of three numbers, `step` apart */
static void transform_taps(const int * g, size_t step, int * u)
{
    const int a = g[0], b = g[step], c = g[2 * step];
    u[0] = a;
    u[1] = -a - b - c;
    u[2] = a - b + c;
    u[3] = a + 2 * b + 4 * c;
    u[4] = -4 * a + 2 * b - c;
    u[5] = c;
}

/* The coefficients of a filter: element t of plane t. */
static void pack_filter(const struct sn_convolution * c, const int8_t * weight, size_t o, size_t i, int16_t * packed, size_t plane)
{
    int g[TAPS * TAPS], columns[TAPS][SIDE];
    for (size_t t = 0; t < TAPS * TAPS; ++t)
        g[t] = weight[sn_weight_at(c->format, &c->p, o, i, t)];
    for (size_t x = 0; x < TAPS; ++x)
        transform_taps(g + x, TAPS, columns[x]);
    for (size_t y = 0; y < SIDE; ++y) {
        int u[SIDE];
        transform_taps(&columns[0][y], SIDE, u);
        for (size_t x = 0; x < SIDE; ++x)
            packed[(y * SIDE + x) * plane] = (int16_t)u[x];
    }
}

/* [panel of output channels][coefficient][pair of input channels][width of the panel][2] */
static void pack(const struct sn_convolution * c, const void * weight)
{
    const size_t most = tile_of(c)->columns;
    int16_t * packed = c->weight;
    for (size_t first = 0; first < c->p.dstC; first += most) {
        const size_t columns = sn_min(most, c->p.dstC - first), width = width_of(c, columns), plane = pairs_of(c) * width * 2;
        for (size_t i = 0; i < c->p.srcC; ++i)
            for (size_t o = 0; o < columns; ++o)
                pack_filter(c, weight, first + o, i, packed + (i / 2 * width + o) * 2 + i % 2, plane);
        packed += PLANES * plane;
    }
}

/* ---- forward */

/* A part of a block: rows of tiles of an image, its first tile in the block, and its output rows. */
struct part {
    struct sn_arrays a;
    size_t lines, tile;
    size_t row, rows;
};

static struct part part_at(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * all, size_t at)
{
    const struct winograd * w = data_of(c);
    const struct sn_part part = sn_part_at(w->tilesY, at, s->line + s->lines);
    const size_t row = part.line * BLOCK;
    return (struct part){sn_image_of(all, part.image, all->work), part.lines, (at - s->line) * w->tilesX, row,
        sn_min(part.lines * BLOCK, c->p.dstH - row)};
}

static void transform_inputs(const struct sn_convolution * c, const struct part * part, uint8_t * tiles)
{
    const struct winograd * w = data_of(c);
    const struct sn_share rows = {.line = part->row, .lines = part->rows};
    const struct sn_dot_lines lines = sn_dot_lines_of(c, &w->band, &rows, &part->a);
    c->table->convolution_8i.winograd.input(&(struct sn_winograd_input_8i){.src = lines.first, .stepY = lines.line,
        .stepX = lines.pixel, .lines = sn_used(part->rows, 1, TAPS, 1), .columns = sn_used(c->p.dstW, 1, TAPS, 1),
        .channels = c->p.srcC, .tilesY = part->lines, .tilesX = w->tilesX, .dst = tiles + part->tile * w->pixel,
        .plane = w->input, .tile = w->pixel});
}

/* Multiplies `tiles` tiles by the weights of a panel. */
static void multiply(const struct sn_convolution * c, const uint8_t * tiles, size_t number, size_t first, size_t columns,
                     uint8_t * products)
{
    static const int32_t zeros[WIDEST];
    const struct winograd * w = data_of(c);
    const struct sn_result_8i result = {.sums = true};
    const size_t width = width_of(c, columns);
    const uint8_t * weight = (const uint8_t *)c->weight + first / tile_of(c)->columns * panel_bytes(c, tile_of(c)->columns);
    for (size_t t = 0; t < PLANES; ++t)
        tile_of(c)->run(&(struct sn_dot){.a = tiles + t * w->input, .height = 1, .width = number, .aStepX = w->pixel,
            .segment = c->segment, .segments = 1, .length = pairs_of(c), .b = weight + t * panel_bytes(c, columns) / PLANES,
            .columns = width, .start = zeros, .c = products + t * w->product, .cStepX = width * sizeof(int32_t),
            .result = &result});
}

static void transform_products(const struct sn_convolution * c, const struct part * part, const uint8_t * products, size_t first,
                               size_t columns, uint8_t * results)
{
    const struct winograd * w = data_of(c);
    union sn_dot_result result;
    size_t step;
    uint8_t * dst = sn_dot_result_at(c, first, columns, part->row, results, &part->a, &step);
    sn_dot_of(c)->result(c, first, &result);
    c->table->convolution_8i.winograd.output(&(struct sn_winograd_output_8i){
        .src = (const int32_t *)(const void *)products + part->tile * width_of(c, columns),
        .plane = w->product / sizeof(int32_t), .tile = width_of(c, columns), .tilesY = part->lines, .tilesX = w->tilesX,
        .start = (const int32_t *)(const void *)c->bias + first, .result = &result.as_8i, .channels = columns, .dst = dst,
        .stepY = c->p.dstW * step, .stepX = step, .rows = part->rows, .columns = c->p.dstW});
    sn_dot_result_store(c, results, first, columns, part->row, part->rows, &part->a);
}

/* Some rows of tiles of the list of all images, some panels of the result. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct winograd * w = data_of(c);
    const size_t last = s->line + s->lines, most = tile_of(c)->columns;
    uint8_t * tiles = (uint8_t *)a->work + w->band.bytes, * products = tiles + PLANES * w->input;
    uint8_t * results = products + PLANES * w->product;
    struct part part;
    for (size_t at = s->line; at < last; at += part.lines) {
        part = part_at(c, s, a, at);
        transform_inputs(c, &part, tiles);
    }
    for (size_t first = s->first; first < s->first + s->columns; first += most) {
        const size_t columns = sn_min(most, c->p.dstC - first);
        multiply(c, tiles, s->lines * w->tilesX, first, columns, products);
        for (size_t at = s->line; at < last; at += part.lines) {
            part = part_at(c, s, a, at);
            transform_products(c, &part, products, first, columns, results);
        }
    }
    for (size_t at = s->line; at < last; at += part.lines) {
        part = part_at(c, s, a, at);
        sn_dot_result_finish(c, s->first, s->columns, part.row, part.rows, &part.a);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct winograd * w = data_of(c);
    const struct sn_dot_tile * tile = tile_of(c);
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute, .joined = true,
        .time = sn_convolution_dot_time(c) / 3, .shares = {.lines = c->batch * w->tilesY, .most = w->lines,
        .columns = c->p.dstC, .width = tile->columns, .weights = c->weightSize, .source = c->batch * c->srcSize, .start = true,
        .least = sn_ceil_div(2 * tile->rows, w->tilesX)}});
}

/*
 * Whether it takes less time than the tile alone, counted in products. The transforms of a tile take as long as the products of
 * 6 more output channels and 12 more input channels. To read the weights, of which there are four times as many, takes as long
 * as to multiply WAIT tiles, or pixels, by them, WAIT_FAR if they exceed the caches. Relative to the tile alone, on avx2 and avx512
 * of Emerald Rapids, 256x8x8 to 256 takes 0.41 and 0.46 of the time with warm caches, 0.83 and 0.88 cold; 256x7x7 0.73 and 0.60,
 * cold 1.00 and 0.97; 256x5x5 0.97 and 1.12, cold 1.75 and 1.79; 512x7x7 to 512 1.02 and 1.14. As for floats, the batch does not
 * count. Not for those who prefer memory.
 */
enum { WAIT = 6, WAIT_FAR = 12, FAR = 8 << 20 };

bool sn_winograd_8i_preferred(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double inputs = (double)p->srcC, outputs = (double)width_of(c, p->dstC), taps = TAPS * TAPS;
    const double tiles = (double)sn_ceil_div(p->dstH, BLOCK) * (double)sn_ceil_div(p->dstW, BLOCK);
    const double wait = PLANES * sizeof(int16_t) * inputs * outputs > FAR ? WAIT_FAR : WAIT;
    const double products = PLANES * (tiles + wait) * (inputs * outputs + 6 * inputs + 12 * outputs);
    const double tile = taps * (sn_dst_pixels(c) + wait) * inputs * outputs;
    return c->preference != SN_PREFER_MEMORY && products < 0.85 * tile;
}

const struct sn_convolution_algorithm sn_convolution_8i_winograd = {.name = "Winograd F(4,3)", .tiled = true,
    .supports = supports, .plan = plan, .pack = pack, .alike = sn_dot_alike, .forward = forward};
