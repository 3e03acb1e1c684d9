/*
 * NCHW, computed as NHWC: the lines that a band of the output needs are converted, and so is each panel of the result. The
 * conversion moves every input and every output once, which is worth it for many channels. The NHWC algorithm divides rows
 * of pixels into tiles of any height, where vectors of pixels waste lanes at the end of a small image, and reads the weights
 * sequentially. With groups, all panels are computed before the result is converted.
 */
#include "ops/convolution/32f_nhwc.h"
#include "ops/convolution/cost.h"
#include "runtime/cpu.h"

/* Pixels of a panel's result, unless a row has more: it should stay in the cache until it is converted. */
enum { PANEL_PIXELS = 512 };

struct converted {
    struct sn_direct_nhwc direct;
    size_t lines; /* floats of the converted lines of a band */
};
SN_FITS_ALGORITHM_DATA(struct converted);

static const struct converted * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NCHW && c->srcSize && c->dstSize;
}

/* Vector cycles of a product, on all layers of ten networks; more for groups, divided by their inputs, and times more if a
 * group has a single vector of outputs. */
static const double CONVERTED_PRODUCT = 1.035, CONVERTED_SHORT = 0.6, CONVERTED_NARROW = 2;

/* The same for a vector of a result of many channels and several taps, whose sum is started and stored: of few channels, direct
 * NCHW takes as much more for lines and panels. */
enum { MANY_OUTPUTS = 128 };
static const double CONVERTED_START = 9;

static double cost(const struct sn_convolution * c)
{
    const double lanes = (double)sn_lanes(c);
    const double in = sn_src_pixels(c) * (double)c->p.srcC / lanes, out = sn_dst_pixels(c) * (double)c->p.dstC / lanes;
    const double width = sn_tile_width(c, sn_outputs(c)), vectors = width * (double)c->p.group / lanes;
    const double narrow = width == lanes ? CONVERTED_NARROW : 1;
    const double of_group = CONVERTED_PRODUCT + CONVERTED_SHORT / (double)sn_inputs(c);
    const double product = c->p.group == 1 ? CONVERTED_PRODUCT : narrow * of_group;
    const double start = c->p.group == 1 && sn_taps(c) > 1 && c->p.dstC > MANY_OUTPUTS ? CONVERTED_START : 0;
    const double products = product * sn_dst_pixels(c) * sn_depth(c) * vectors;
    return sn_of_vectors(c, products + SN_VECTOR_CONVERTED * (in + out) + start * out);
}

/* The output channels that are computed before they are converted. */
static size_t channels_at_once(const struct sn_convolution * c)
{
    return c->p.group == 1 ? c->table->gemm.tile_32f.columns : c->p.dstC;
}

/* Lines of the image for `rows` output rows. */
static size_t lines_of(const struct sn_convolution_parameters * p, size_t rows)
{
    return sn_min(sn_used(rows, p->strideY, p->kernelY, p->dilationY), p->srcH);
}

/*
 * Floats of a band. It is worth its weights: for each band all of them are read again, from afar if there are many, and lines
 * that it shares with the next one are converted again; lines that exceed the L2 cache are read from afar for each panel. With
 * bands of several times the weights of a panel 1664x38x38 to 38 by 3x2 with stride 2, which had one row, takes 0.75 of the
 * time (avx2 0.92), 2048x14x14 to 256 by 3x3 with stride 2 0.86 (0.82), 1024x40x40 to 512 by 3x2 0.97 (0.99); twice as high
 * ones 0.65, 0.76 and 0.95 (Xeon with AMX). But the workspace, which may have a copy of the lines, remains below an L2 cache
 * and twice the lines of one row.
 */
static size_t band_floats(const struct sn_convolution * c, const struct sn_direct_nhwc * d, bool copies)
{
    enum { TIMES = 4, COLUMNS = 32 };
    const size_t near = sn_cpu()->cacheL2 / 2 / sizeof(float);
    const size_t worth = TIMES * d->nhwc.depth * sn_min(sn_outputs(c), COLUMNS);
    const size_t one = sn_used(1, 1, c->p.kernelY, c->p.dilationY) * d->nhwc.band.line;
    return sn_max(near, sn_min(worth, (near + one) * (copies ? 1 : 2)));
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct converted * o = (void *)c->algorithmData;
    struct sn_band * band = &o->direct.nhwc.band;
    if (!sn_direct_nhwc_plan(c, &o->direct))
        return false;
    const size_t most = p->group == 1 ? PANEL_PIXELS : sn_cpu()->cacheL2 / 4 / sizeof(float) / p->dstC;
    const bool copies = sn_nhwc_copied(c, &o->direct.nhwc, (struct sn_nhwc_image){NULL, p->srcC});
    if (!o->direct.nhwc.apart)
        sn_band_rows(band, p, band_floats(c, &o->direct, copies));
    sn_band_limit(band, p, sn_min(band->rows, sn_max(most / p->dstW, 1)));
    size_t copied = 0, image, result;
    if ((copies && !sn_nhwc_copy_size(c, &o->direct.nhwc, &copied)) ||
        !sn_product(&image, lines_of(p, band->rows), p->srcW, p->srcC) ||
        !sn_product(&result, band->rows, p->dstW, channels_at_once(c)))
        return false;
    o->lines = sn_align(image, SN_ALIGN / sizeof(float));
    return sn_floats(&c->workSize, copied + o->lines + result);
}

static void offsets(const struct sn_convolution * c) { sn_nhwc_offsets(c, &data_of(c)->direct.nhwc); }

static void pack(const struct sn_convolution * c, const void * weight)
{
    sn_direct_nhwc_pack(c, &data_of(c)->direct, weight);
}

/* Computes some output rows and some panels of one image. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t row = s->line, rows = s->lines;
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_direct_nhwc * direct = &data_of(c)->direct;
    const size_t step = channels_at_once(c), srcPixels = c->srcPlane, dstPixels = c->dstPlane;
    sn_32f * lines = a->work, * result = lines + data_of(c)->lines;
    sn_32f * band = result + direct->nhwc.band.rows * p->dstW * step, * dst = a->dst;
    const sn_32f * add = a->add;
    const struct sn_lines needed = sn_lines_of(p, row, rows);
    sn_32f * image = lines - needed.begin * p->srcW * p->srcC;
    c->table->layout.image_32f(p->srcC, srcPixels, a->src, SN_NCHW, image, SN_NHWC,
                               needed.begin * p->srcW, needed.end * p->srcW);
    struct sn_nhwc_rows r = {.rows = rows, .dst = result};
    if (!direct->edges)
        sn_nhwc_source(c, &direct->nhwc, (struct sn_nhwc_image){image, p->srcC}, row, band, &r);
    for (r.first = s->first; r.first < s->first + s->columns; r.first += step) {
        r.dstPixel = sn_min(step, p->dstC - r.first);
        r.outputs = p->group == 1 ? r.dstPixel : 0;
        r.dstLine = p->dstW * r.dstPixel;
        if (add) {
            r.add = result;
            c->table->layout.image_32f(r.dstPixel, dstPixels, add + r.first * dstPixels, SN_NCHW,
                                       result - row * r.dstLine, SN_NHWC, row * p->dstW,
                                       (row + rows) * p->dstW);
        }
        if (direct->edges)
            sn_direct_nhwc_rows(c, direct, (struct sn_nhwc_image){image, p->srcC}, row, band, r);
        else
            sn_direct_nhwc_compute(c, direct, &r);
        c->table->layout.image_32f(r.dstPixel, dstPixels, result - row * r.dstLine, SN_NHWC,
                                   dst + r.first * dstPixels, SN_NCHW, row * p->dstW, (row + rows) * p->dstW);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .columns = !data_of(c)->direct.nhwc.apart,
        .near = c->weightSize <= sn_cpu()->cacheL2 / 4, .narrow = sn_direct_nhwc_narrow,
        .shares = {.lines = p->dstH, .most = data_of(c)->direct.nhwc.band.rows,
        .columns = p->dstC, .width = p->group == 1 ? tile->columns : 0, .weights = c->weightSize, .source = c->srcSize,
        .start = true, .least = sn_ceil_div(2 * tile->rows, p->dstW)}});
}

const struct sn_convolution_algorithm sn_convolution_32f_converted = {.name = "direct NCHW by NHWC", .tiled = true,
    .adds = true, .supports = supports, .cost = cost, .plan = plan, .offsets = offsets, .pack = pack,
    .forward = forward};
