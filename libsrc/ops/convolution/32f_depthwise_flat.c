/*
 * Depthwise convolution of NHWC pixels of few channels, of horizontal stride 1: several neighbouring pixels are computed as
 * one with as many times the channels, so that vectors are full. An input of such a pixel begins at each pixel of the line, so its
 * stride is that number of pixels. A band of lines is copied with its padding. (Frequent kernels do without, see
 * sn_depthwise_together().)
 */
#include <string.h>

#include "ops/convolution/32f.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/depthwise_rows.h"
#include "ops/convolution/nhwc_band.h"
#include "runtime/cpu.h"

struct flat {
    struct sn_band band;
    struct sn_depthwise_rows rows;
    size_t pixels;           /* computed as one */
    size_t copy, results;    /* bytes in the workspace from its beginning: pointers to lines, the copy, results with gaps */
};
SN_FITS_ALGORITHM_DATA(struct flat);

static const struct flat * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

/*
 * At most half of a vector of channels. Of the time by vectors of a pixel's channels (avx2, Zen 3): one channel 0.08 to 0.16
 * (335x335 by 2x2, 512x512 by 5x5), 3 of 224x224 0.87 by 3x3 and 0.47 by 7x7, 4 of 56x56 by 5x5 0.64, 4 of 14x14 by 3x3 0.96.
 */
static bool supports(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return sn_is_depthwise(c) && p->srcF == SN_NHWC && p->strideX == 1 && c->srcSize && c->dstSize &&
           2 * p->srcC <= sn_lanes(c) && sn_depthwise_pixels_together(c) == 1;
}

/* The least pixels whose channels are whole vectors, or a row. */
static size_t pixels_of(const struct sn_convolution * c)
{
    size_t pixels = sn_lanes(c);
    while (pixels % 2 == 0 && pixels / 2 * c->p.srcC % sn_lanes(c) == 0)
        pixels /= 2;
    return sn_min(pixels, c->p.dstW);
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct flat * f = (void *)c->algorithmData;
    size_t copy, results;
    sn_band_plan(&f->band, p, true, true);
    f->band.pixel = p->srcC;
    f->pixels = pixels_of(c);
    if (!sn_product(&f->band.line, f->band.columns, p->srcC))
        return false;
    sn_band_rows(&f->band, p, sn_cpu()->cacheL2 / 4 / sizeof(float));
    const size_t pointers = sn_depthwise_rows_plan(c, f->band.rows, &f->rows);
    sn_band_limit(&f->band, p, f->rows.rows);
    if (!sn_floats(&copy, f->band.lines, f->band.line) || !sn_floats(&results, f->band.rows, p->dstW, p->dstC))
        return false;
    f->copy = pointers;
    f->results = f->copy + sn_align(copy, SN_ALIGN);
    c->workSize = f->results + results;
    c->channels = sn_align(f->pixels * p->srcC, sn_lanes(c));
    c->runStep = 1;
    return sn_floats(&c->weightSize, p->kernelY, p->kernelX, c->channels);
}

/* Repeats the values for each of the pixels. */
static void spread(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread)
{
    for (size_t i = 0; i < data_of(c)->pixels; ++i)
        memcpy(spread + i * c->p.dstC, values, c->p.dstC * sizeof(float));
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const size_t lanes = sn_lanes(c), taps = c->p.kernelY * c->p.kernelX, channels = c->p.dstC;
    const sn_32f * w = weight;
    for (size_t k = 0; k < taps; ++k)
        for (size_t i = 0; i < data_of(c)->pixels * channels; ++i)
            sn_weights(c)[(i / lanes * taps + k) * lanes + i % lanes] = w[k * channels + i % channels];
}

static bool alike(const struct sn_convolution * c, const struct sn_convolution * from)
{
    return data_of(c)->pixels == data_of(from)->pixels;
}

/* ---- forward */

/* Sets the pointers to the lines of the band. */
static void find_lines(const struct sn_convolution * c, const sn_32f * band, size_t rows, const void ** line)
{
    const struct flat * f = data_of(c);
    for (size_t y = 0; y < rows; ++y)
        for (size_t ky = 0; ky < c->p.kernelY; ++ky)
            line[y * f->rows.step + ky] = band + (y * f->band.strideY + ky * c->p.dilationY) * f->band.line;
}

/* Copies results to pixels that have gaps between them. */
static void store(const struct sn_convolution * c, const sn_32f * from, size_t rows, sn_32f * to, size_t distance)
{
    for (size_t i = 0; i < rows * c->p.dstW; ++i)
        memcpy(to + i * distance, from + i * c->p.dstC, c->p.dstC * sizeof(float));
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct flat * f = data_of(c);
    const struct sn_nhwc_image image = {a->src, a->at->srcPixel};
    const bool dense = a->at->dstPixel == p->dstC;
    const void ** line = a->work;
    sn_32f * band = (sn_32f *)(void *)((char *)a->work + f->copy);
    sn_32f * dst = (sn_32f *)a->dst + s->line * p->dstW * a->at->dstPixel;
    struct sn_depthwise_nhwc d = sn_depthwise_job(c, &f->rows, 0, f->pixels * p->dstC, p->srcC, f->pixels * p->dstC);
    sn_nhwc_band_copy(c, &f->band, image, s->line, s->lines, band);
    find_lines(c, band, s->lines, line);
    d.line = line;
    d.rows = s->lines;
    d.srcW = f->band.columns;
    d.padX = 0;
    d.strideX = f->pixels;
    d.dstW = p->dstW / f->pixels;
    d.dstRow = p->dstW * p->dstC;
    d.dst = dense ? dst : (sn_32f *)(void *)((char *)a->work + f->results);
    c->table->convolution_32f.depthwise_nhwc(&d);
    if (p->dstW % f->pixels) { /* the other pixels of each row, as one */
        struct sn_depthwise_nhwc rest = d;
        rest.offset = d.dstW * f->pixels * p->srcC;
        rest.srcW -= d.dstW * f->pixels;
        rest.channels = p->dstW % f->pixels * p->dstC;
        rest.dst = (sn_32f *)d.dst + rest.offset;
        rest.dstW = 1;
        c->table->convolution_32f.depthwise_nhwc(&rest);
    }
    if (!dense)
        store(c, d.dst, s->lines, dst, a->at->dstPixel);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c),
        .shares = {.lines = c->p.dstH, .most = data_of(c)->band.rows, .start = true, .least = sn_ceil_div(32, c->p.dstW)}});
}

const struct sn_convolution_algorithm sn_convolution_32f_depthwise_flat = {.name = "depthwise NHWC, pixels together",
    .supports = supports, .plan = plan, .pack = pack, .alike = alike, .spread = spread, .forward = forward};
