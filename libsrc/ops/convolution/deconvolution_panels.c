/*
 * Products of all taps, then their sums, as in deconvolution_col2im.c, but turned: rows of A are pixels, and columns of B are
 * the weights of all taps. So weights are read once, in the order of memory, and a tile is full whatever the pixels; 49 of
 * them leave a quarter of the columns unused otherwise.
 *
 * This serves small images with large kernels, whose phases multiply padding, and many weights. 416x7x7 to 416 by 5x5 with
 * stride 2 has two thirds of the multiply-adds of phases.
 *
 * Some outputs are computed at a time, so that their products stay in the L2 cache. Sums are of vectors of outputs.
 */
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/deconvolution.h"
#include "ops/convolution/phases.h"
#include "runtime/cpu.h"

enum {
    PIXEL_TAPS = 64,         /* of a result, at most */
    LEAST = 16,              /* outputs that are computed together: a multiple of this */
    PRODUCTS = 1 << 16,      /* floats of their products, if they are more than the least; */
    MOST_PRODUCTS = 1 << 18, /* and at most */
    LINE = SN_ALIGN / sizeof(float)
};

struct panels {
    size_t outputs; /* that are computed together: a part */
    size_t pixel;   /* floats from an input pixel to the next, as they are copied */
};
SN_FITS_ALGORITHM_DATA(struct panels);

static const struct panels * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool is_nchw(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

static size_t taps_of(const struct sn_convolution * c) { return c->p.kernelY * c->p.kernelX; }

static size_t pixels_of(const struct sn_convolution * c) { return c->p.srcH * c->p.srcW; }

static bool supports(const struct sn_convolution * c)
{
    return c->p.group == 1 && c->srcSize > 0 && sn_phases_used(c) && sn_phases_y(c)->taps <= PIXEL_TAPS / sn_phases_x(c)->taps &&
           (double)pixels_of(c) * sn_taps(c) <= MOST_PRODUCTS / LEAST;
}

static size_t part_of(const struct sn_convolution * c)
{
    const size_t fit = sn_max(PRODUCTS / (taps_of(c) * pixels_of(c)), LEAST);
    const size_t even = sn_ceil_div(c->p.dstC, sn_ceil_div(c->p.dstC, fit));
    return sn_min(sn_align(even, LEAST), c->p.dstC);
}

/* ---- cost */

/* Fitted to 31 layers on avx2 and avx512 (Xeon with AMX): vector cycles of a product; the least rows of a tile that hide its
 * latency; to write a vector of products and to add it up; */
static const double PANELS_PRODUCT = 1.03, PANELS_ROWS = 4, PANELS_ADDED = 22;
static const double PANELS_WRITTEN = 20, PANELS_CONVERTED = 9; /* for a vector of results, and more in NCHW; */
static const double PANELS_RESULT = 40;                      /* and cycles of a pixel of a part */

static double cost(const struct sn_convolution * c)
{
    const double pixels = sn_src_pixels(c), results = sn_dst_pixels(c);
    const double tiles = (double)sn_ceil_div(pixels_of(c), c->table->gemm.tile_32f.rows);
    const double rows = pixels > PANELS_ROWS * tiles ? pixels : PANELS_ROWS * tiles;
    const double columns = sn_tile_width(c, taps_of(c) * c->p.dstC) / (double)sn_lanes(c);
    const double products = PANELS_PRODUCT * (double)c->p.srcC * rows * columns +
                            PANELS_ADDED * pixels * sn_taps(c) * sn_vectors(c, c->p.dstC);
    const double written = PANELS_WRITTEN + (is_nchw(c) ? PANELS_CONVERTED : 0);
    const double moved = results * sn_vectors(c, c->p.dstC) * written + pixels * sn_vectors(c, c->p.srcC) * PANELS_CONVERTED;
    return sn_of_vectors(c, products + moved) + PANELS_RESULT * results * (double)sn_ceil_div(c->p.dstC, part_of(c));
}

/* ---- plan and weights */

/* Floats of the weights of a part. */
static size_t weights_of(const struct sn_convolution * c, size_t outputs)
{
    return sn_panels_width(&c->table->gemm.tile_32f, taps_of(c) * outputs) * c->p.srcC;
}

/* Floats from the products of a pixel to those of the next. */
static size_t row_of(const struct sn_convolution * c, size_t outputs) { return sn_spaced(taps_of(c) * outputs, SN_FOUR_SETS); }

/* The workspace: input pixels, their products, and a row of sums, of which up to a vector more is written. */
static size_t source_size(const struct sn_convolution * c) { return sn_align(pixels_of(c) * data_of(c)->pixel, LINE); }
static size_t products_size(const struct sn_convolution * c)
{
    return sn_align(pixels_of(c) * row_of(c, data_of(c)->outputs), LINE);
}

static bool plan(struct sn_convolution * c)
{
    struct panels * o = (void *)c->algorithmData;
    size_t source, sums, weights;
    o->outputs = part_of(c);
    o->pixel = sn_spaced(c->p.srcC, SN_FOUR_SETS);
    sn_channels_plain(c);
    if (!sn_product(&source, pixels_of(c), o->pixel) || !sn_product(&sums, c->p.dstW, o->outputs) ||
        !sn_product(&weights, c->p.srcC, taps_of(c), o->outputs + LINE))
        return false;
    const size_t rest = c->p.dstC % o->outputs;
    size_t all;
    return sn_product(&all, c->p.dstC / o->outputs, weights_of(c, o->outputs)) &&
           sn_floats(&c->weightSize, all + weights_of(c, rest)) &&
           sn_floats(&c->workSize, source_size(c) + products_size(c) + sums + sn_lanes(c));
}

/* Packs a part, whose columns are [tap][output]; from [input][output][tap] or, in NHWC, [input][tap][output]. */
static sn_32f * pack_part(const struct sn_convolution * c, const sn_32f * weight, size_t outputs, sn_32f * packed)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t taps = taps_of(c), all = taps * outputs, outputStep = is_nchw(c) ? taps : 1, tapStep = is_nchw(c) ? 1 : c->p.dstC;
    for (size_t first = 0; first < all; first += tile->columns) {
        const size_t columns = sn_min(tile->columns, all - first);
        for (size_t i = 0; i < c->p.srcC; ++i, packed += sn_gemm_width(tile, columns))
            for (size_t k = 0, tap = first / outputs, o = first % outputs; k < columns; ++k) {
                packed[k] = weight[i * taps * c->p.dstC + o * outputStep + tap * tapStep];
                o = o + 1 < outputs ? o + 1 : (++tap, 0);
            }
    }
    return packed;
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    sn_32f * packed = c->weight;
    for (size_t o = 0, n; o < c->p.dstC; o += n) {
        n = sn_min(data_of(c)->outputs, c->p.dstC - o);
        packed = pack_part(c, (const sn_32f *)weight + o * (is_nchw(c) ? taps_of(c) : 1), n, packed);
    }
}

static bool alike(const struct sn_convolution * c, const struct sn_convolution * from)
{
    return data_of(c)->outputs == data_of(from)->outputs;
}

/* ---- forward */

static void copy_source(const struct sn_convolution * c, const struct sn_arrays * a, sn_32f * source)
{
    const size_t pixels = pixels_of(c), pixel = data_of(c)->pixel;
    if (is_nchw(c))
        c->table->layout.transpose_32f(a->src, pixels * sizeof(float), c->p.srcC, pixels, source, pixel * sizeof(float));
    else
        for (size_t i = 0; i < pixels; ++i)
            memcpy(source + i * pixel, (const sn_32f *)a->src + i * a->at->srcPixel, c->p.srcC * sizeof(float));
}

static void multiply(const struct sn_convolution * c, const sn_32f * source, const sn_32f * weight, size_t outputs,
                     sn_32f * product)
{
    static const size_t start = 0;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t all = taps_of(c) * outputs;
    struct sn_gemm_32f gemm = {.a = source, .height = 1, .width = pixels_of(c), .aStepX = data_of(c)->pixel, .segment = &start,
        .segments = 1, .length = c->p.srcC, .b = weight, .cStepX = row_of(c, outputs), .activation = SN_ACTIVATION_IDENTITY};
    for (size_t first = 0; first < all; first += tile->columns) {
        const size_t size = gemm.length * sn_gemm_width(tile, gemm.columns = sn_min(tile->columns, all - first));
        gemm.c = product + first;
        gemm.onward = first + tile->columns < all && sn_weights_exceed_l2(c);
        gemm.prefetch = gemm.onward ? gemm.b + size : NULL;
        gemm.prefetchStep = gemm.onward ? size / gemm.width : 0;
        tile->run(&gemm);
        gemm.b += size;
    }
}

/* The taps of result `at` along an axis, and their lines of input. */
struct place {
    size_t tap, line;
};
static size_t find_places(const struct sn_phases * a, size_t at, size_t extent, struct place * place)
{
    const struct sn_phase * phase = &a->phase[at % a->stride];
    size_t places = 0;
    for (size_t i = 0; i < phase->taps; ++i) {
        const size_t line = (size_t)a->low + phase->from + at / a->stride + i * a->lineStep; /* wraps for lines above */
        if (line < extent)
            place[places++] = (struct place){sn_phase_tap(a, phase, i), line};
    }
    return places;
}

/* Sums of row y of the result: [x][output]. */
static void add_up(const struct sn_convolution * c, const sn_32f * product, size_t outputs, size_t y, sn_32f * sums)
{
    static const sn_32f zero = 0;
    struct place ys[PIXEL_TAPS], xs[PIXEL_TAPS];
    struct sn_tap_32f tap[PIXEL_TAPS];
    struct sn_tap_sums_32f job = {.src = product, .tap = tap, .bias = &zero, .activation = SN_ACTIVATION_IDENTITY, .dst = sums,
        .outputs = 1, .size = outputs};
    const size_t lines = find_places(sn_phases_y(c), y, c->p.srcH, ys), row = row_of(c, outputs);
    for (size_t x = 0; x < c->p.dstW; ++x, job.dst += outputs) {
        const size_t columns = find_places(sn_phases_x(c), x, c->p.srcW, xs);
        job.taps = 0;
        for (size_t i = 0; i < lines; ++i)
            for (size_t j = 0; j < columns; ++j)
                tap[job.taps++] = (struct sn_tap_32f){(ys[i].line * c->p.srcW + xs[j].line) * row +
                    (ys[i].tap * c->p.kernelX + xs[j].tap) * outputs, 0, outputs};
        c->table->deconvolution_32f.sum(&job);
    }
}

/* Adds the bias to a row of sums of outputs from `first` on, and writes row y. */
static void write_row(const struct sn_convolution * c, const struct sn_arrays * a, size_t first, size_t outputs, size_t y,
                      sn_32f * sums)
{
    const size_t width = c->p.dstW, plane = c->p.dstH * width, pixel = a->at->dstPixel;
    c->table->convolution_32f.join(&(struct sn_join_32f){.add = c->bias + first, .dst = sums, .rows = width, .columns = outputs,
        .dstStep = outputs, .slope = c->slope ? c->slope + first : NULL, .period = SIZE_MAX, .slopes = 1,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}});
    if (is_nchw(c))
        c->table->layout.transpose_32f(sums, outputs * sizeof(float), width, outputs,
                                       (sn_32f *)a->dst + first * plane + y * width, plane * sizeof(float));
    else
        for (size_t x = 0; x < width; ++x)
            memcpy((sn_32f *)a->dst + (y * width + x) * pixel + first, sums + x * outputs, outputs * sizeof(float));
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t most = data_of(c)->outputs;
    sn_32f * source = a->work, * product = source + source_size(c), * sums = product + products_size(c);
    copy_source(c, a, source);
    for (size_t o = s->first, n; o < s->first + s->columns; o += n) {
        n = sn_min(most, c->p.dstC - o);
        multiply(c, source, sn_weights(c) + o / most * weights_of(c, most), n, product);
        for (size_t y = 0; y < c->p.dstH; ++y) {
            add_up(c, product, n, y, sums);
            write_row(c, a, o, n, y, sums);
        }
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute, .time = sn_deconvolution_32f_time(c),
        .shares = {.lines = 1, .most = 1, .columns = c->p.dstC, .width = data_of(c)->outputs,
        .weights = sn_weight_count(c), .source = c->srcSize / sizeof(float)}});
}

const struct sn_convolution_algorithm sn_deconvolution_32f_panels = {.name = "col2im by panels", .tiled = true,
    .supports = supports, .cost = cost, .plan = plan, .pack = pack, .alike = alike, .forward = forward};
