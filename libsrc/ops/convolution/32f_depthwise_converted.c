/*
 * Depthwise convolution by vectors of channels, from a copy of some channels. NCHW, where vectors of pixels would waste
 * lanes or copy much for few outputs: some channels are converted to NHWC, computed, and converted back while they are in
 * the cache. NHWC, where pixels are at distances that make them evict each other from the L1 cache: slices of channels are
 * copied.
 */
#include "ops/convolution/32f.h"
#include "ops/convolution/band.h"
#include "ops/convolution/converted.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/depthwise_rows.h"
#include "ops/convolution/nhwc_band.h"
#include "runtime/cpu.h"

/* Channels of a slice of NHWC. */
enum { SLICE_CHANNELS = 64 };

struct converted {
    struct sn_depthwise_rows rows;
    size_t pixel; /* channels that are computed together */
    size_t lines; /* floats of the copied lines; in the workspace, pointers precede them and the result follows */
};
SN_FITS_ALGORITHM_DATA(struct converted);

static const struct converted * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool sliced(const struct sn_convolution * c) { return c->p.srcF == SN_NHWC; }

static bool supports_sliced(const struct sn_convolution * c)
{
    return sn_is_depthwise(c) && sliced(c) && c->srcSize && c->dstSize;
}

static bool supports_converted(const struct sn_convolution * c)
{
    return sn_is_depthwise(c) && !sliced(c) && c->srcSize && c->dstSize;
}

/*
 * Cycles of 16 products in blocks of pixels; of those by 2 or 3 columns that have no blocks of their own; by one column,
 * which share no inputs; more by one row, whose inputs no other row shares; as many times more for channels after the last
 * whole vector. Then cycles to convert 16 floats in or out, for a row and a vector of channels, and for a vector of channels.
 *
 * Fitted to 137 layers of 3x1 to 11x11 and 2x17 to 56x56 pixels, 10 to 1824 channels (Intel Xeon with AMX). Of 44 others the
 * algorithms for planes that this chooses take 1.03 times as long as the best ones with vectors of 16 floats, 1.01 with
 * shorter ones; by constants that were fitted to 24 layers with 256-bit vectors (Zen 3) they took 1.11 and 1.12.
 */
static const double PIXELS_PRODUCT = 1.5, PIXELS_SHORT = 2.5, PIXELS_COLUMN = 4.4, PIXELS_LINE = 1.2, PIXELS_TAIL = 1.5,
                    CONVERTED = 11, CONVERTED_ROW = 60, CONVERTED_CALL = 30;

/* With dilation, where every dilationX-th pixel is computed apart (sn_depthwise_compute()), from so many columns on: fitted to
 * 12 layers (Zen 4). 56x13x320 by 3x7 with dilation 2 takes 0.55 to 0.75 of the time by vectors of pixels, 64x28x28 by 7x7
 * with dilation 3 half; 960x16x16 by 3x3 with dilation 4, of 4 columns, 0.9 to 1.25, and 420x38x16, of 8, 1.05 to 1.25. */
static const double PIXELS_DILATED = 1.9;
enum { DILATED_COLUMNS = 8 };

/* See the instances of kernels/depthwise/nhwc.h. */
static double product_of(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool own = p->kernelY == p->kernelX && (p->kernelX == 3 || p->kernelX == 5);
    if (p->dilationX > 1 && p->strideY == 1 && p->strideX == 1 && p->dstW > DILATED_COLUMNS * p->dilationX)
        return PIXELS_DILATED;
    if (p->dilationX > 1 || p->dstW < 4 || (p->strideX > 1 && !(own && p->strideX == 2)))
        return SN_DEPTHWISE_PIXELS_ANY;
    const double product = p->kernelX == 1 ? PIXELS_COLUMN : p->kernelX <= 3 && !own ? PIXELS_SHORT : PIXELS_PRODUCT;
    return p->kernelY == 1 ? product + PIXELS_LINE : product;
}

/* From NCHW. */
static double cost(const struct sn_convolution * c)
{
    const double products = product_of(c) * sn_dst_pixels(c) * sn_taps(c);
    const double moved = CONVERTED * (sn_src_pixels(c) + sn_dst_pixels(c));
    const double rows = CONVERTED_ROW * (double)c->p.dstH;
    const double tail = c->p.dstC % sn_lanes(c) ? PIXELS_TAIL * sn_of_vectors(c, products) : 0;
    return sn_vectors(c, c->p.dstC) * (sn_of_vectors(c, products + moved) + rows + CONVERTED_CALL) + tail;
}

/* Vectors of channels of images that fit into the L1 cache together: 640x1x26 by 1x7 takes 0.7 of the time of two, 640x1x13 by
 * 1x5 the same; 960x7x7, which do not fit, gain nothing. */
enum { TINY_VECTORS = 8 };

/*
 * The workspace: pointers to lines, converted lines, the result, in bands of rows that fit into the L2 cache; bands of a
 * quarter of this height took 1.2 times as long. Small images are converted two vectors of channels at a time, which is 1.05
 * to 1.15 times as fast; large ones are not, since that took 1.3 times as long.
 */
static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct converted * o = (void *)c->algorithmData;
    const size_t lanes = sn_lanes(c), pixels = p->srcH * p->srcW + p->dstH * p->dstW;
    const size_t vector = lanes * pixels * sizeof(float); /* bytes of one vector of channels */
    const bool tiny = TINY_VECTORS * vector <= sn_cpu()->cacheL1, small = 2 * vector <= sn_cpu()->cacheL2 / 16;
    o->pixel = sliced(c) ? SLICE_CHANNELS : lanes * (tiny ? TINY_VECTORS : small ? 2 : 1);
    struct sn_band band = {.line = (p->srcW + p->dstW) * o->pixel, .strideY = p->strideY};
    sn_band_rows(&band, p, sn_cpu()->cacheL2 / 2 / sizeof(float));
    const size_t pointers = sn_depthwise_rows_plan(c, band.rows, &o->rows) / sizeof(float);
    size_t image, result;
    if (!sn_depthwise_rows_weights(c) || !sn_product(&image, sn_converted_lines(p, band.rows), p->srcW, o->pixel) ||
        !sn_product(&result, band.rows, p->dstW, o->pixel))
        return false;
    o->lines = sn_align(image, SN_ALIGN / sizeof(float));
    return sn_floats(&c->workSize, pointers + o->lines + result);
}

/* From [channel][tap]. */
static void pack_converted(const struct sn_convolution * c, const void * weight)
{
    const size_t lanes = sn_lanes(c), taps = c->p.kernelY * c->p.kernelX;
    const sn_32f * w = weight;
    for (size_t o = 0; o < c->p.dstC; ++o)
        for (size_t k = 0; k < taps; ++k)
            sn_weights(c)[(o / lanes * taps + k) * lanes + o % lanes] = w[o * taps + k];
}

/* Output rows row .. row + d->rows - 1 of the channels of d; src and dst are the first of their planes (or pixels). */
static void compute_rows(const struct sn_convolution * c, struct sn_depthwise_nhwc d, struct sn_nhwc_image from,
                         size_t row, void * work, sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    sn_32f * lines = (sn_32f *)work + sn_align(data_of(c)->rows.lines * sizeof(void *), SN_ALIGN) / sizeof(float);
    sn_32f * result = lines + data_of(c)->lines;
    const sn_32f * image;
    if (sliced(c)) {
        const struct sn_lines needed = sn_lines_of(p, row, d.rows);
        image = lines - needed.begin * p->srcW * d.srcPixel;
        const struct sn_lines_32f pixels = {.src = from.src + needed.begin * p->srcW * from.pixel, .srcStep = from.pixel,
            .stride = 1, .dst = lines, .dstStep = d.srcPixel, .lines = (needed.end - needed.begin) * p->srcW,
            .inside = d.channels, .size = d.channels};
        c->table->convolution_32f.lines(&pixels);
    } else {
        image = sn_lines_to_nhwc(c, d.channels, from.src, row, d.rows, lines);
    }
    d.dst = sliced(c) ? dst + row * d.dstRow : result;
    sn_depthwise_compute(c, c->table->convolution_32f.depthwise_nhwc, 1, d, image, row, work);
    if (!sliced(c))
        sn_rows_to_nchw(c, d.channels, result, row, d.rows, dst);
}

/* Channels first .. first + pixel - 1, or up to the last one. */
static void compute_channels(const struct sn_convolution * c, size_t first, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t count = sn_min(data_of(c)->pixel, p->dstC - first);
    const sn_32f * src = a->src;
    sn_32f * dst = a->dst;
    struct sn_depthwise_nhwc d =
        sn_depthwise_job(c, &data_of(c)->rows, first, count, count, sliced(c) ? a->at->dstPixel : count);
    src += first * (sliced(c) ? 1 : p->srcH * p->srcW);
    dst += first * (sliced(c) ? 1 : p->dstH * p->dstW);
    for (size_t row = 0; row < p->dstH; row += d.rows) {
        d.rows = sn_min(data_of(c)->rows.rows, p->dstH - row);
        compute_rows(c, d, (struct sn_nhwc_image){src, a->at->srcPixel}, row, a->work, dst);
    }
}

/* The "lines" of a share are blocks of `pixel` channels. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    for (size_t i = s->line; i < s->line + s->lines; ++i)
        compute_channels(c, i * data_of(c)->pixel, a);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t units = sn_ceil_div(c->p.dstC, data_of(c)->pixel);
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .shares = {.lines = units, .most = units}});
}

const struct sn_convolution_algorithm
    sn_convolution_32f_depthwise_sliced = {.name = "depthwise NHWC by slices", .supports = supports_sliced, .plan = plan,
        .pack = sn_depthwise_rows_pack, .forward = forward},
    sn_convolution_32f_depthwise_converted = {.name = "depthwise NCHW by NHWC", .supports = supports_converted, .cost = cost,
        .plan = plan, .pack = pack_converted, .forward = forward};
