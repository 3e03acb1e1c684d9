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
    size_t pixels, columns;  /* computed as one, and the number of these in a row, except for a rest */
    size_t pitch;            /* floats between rows of results in the workspace */
    bool padded;             /* results are in the workspace first: the last pixels of a row are fewer */
    size_t copy, results;    /* bytes in the workspace from its beginning: pointers to lines, the copy, results */
};
SN_FITS_ALGORITHM_DATA(struct flat);

static const struct flat * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

/*
 * At most half of a vector of channels; with vectors of 8 floats three quarters of their lanes. Of the time by vectors of a pixel's
 * channels (avx2, Zen 3): one channel 0.08 to 0.16 (335x335 by 2x2, 512x512 by 5x5), 3 of 224x224 0.87 by 3x3 and 0.47 by 7x7,
 * 4 of 56x56 by 5x5 0.64, 4 of 14x14 by 3x3 0.96. Xeon with AMX, avx2: 5 of 56x56 by 7x7 0.46, by 2x2 0.55, by 1x3 0.58, 12 by 7x7
 * 0.66, by 5x5 0.93, but 12 of 200x200 by 3x3 1.06, of 300x300 merged with a projection 1.1. With vectors of 16, whose loads lie
 * across two cache lines, 9 to 12 and 20 to 24 channels by 7x7 took 1.3 to 2 times as long, by 4x4 0.73 to 0.96.
 */
static bool is_sparse(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), channels = p->srcC;
    const bool own = p->kernelY == 3 && p->kernelX == 3; /* has fast blocks for vectors of channels */
    return lanes == 8 && !(own && channels > lanes) ? 4 * channels <= 3 * sn_align(channels, lanes) : 2 * channels <= lanes;
}

bool sn_depthwise_is_flat(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->strideX == 1 && p->srcC && p->srcH && p->srcW && p->dstH && p->dstW && is_sparse(c) &&
           sn_depthwise_pixels_together(c) == 1;
}

static bool supports(const struct sn_convolution * c)
{
    return sn_is_depthwise(c) && c->p.srcF == SN_NHWC && c->srcSize && c->dstSize && sn_depthwise_is_flat(c);
}

/* The least pixels whose channels are whole vectors. */
static size_t pixels_of(const struct sn_convolution * c)
{
    size_t pixels = sn_lanes(c);
    while (pixels % 2 == 0 && pixels / 2 * c->p.srcC % sn_lanes(c) == 0)
        pixels /= 2;
    return pixels;
}

/*
 * The columns of joined pixels. Rows are computed with some pixels more, and then copied, if all vectors are then whole ones of
 * blocks of 4: a block takes little longer than one vector, whose sums wait for each other. The copy takes a cycle for a vector, a
 * rest of pixels two for a tap: 28x28 of 3 channels by 7x7 takes 0.7 of the time, 399x13 of 4 0.8, 20x20 of 5 by 11x11 0.65.
 */
enum { BLOCK = 4 };

static void plan_columns(const struct sn_convolution * c, struct flat * f)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t columns = sn_ceil_div(p->dstW, f->pixels);
    const bool part = columns > 1 && columns < BLOCK, rest = p->dstW % f->pixels;
    f->padded = part || (rest && (columns == 1 || sn_vectors(c, p->dstW * p->dstC) <= 2 * sn_taps(c)));
    f->columns = part ? BLOCK : f->padded ? columns : p->dstW / f->pixels;
    f->pitch = f->padded ? f->columns * f->pixels * p->dstC : p->dstW * p->dstC;
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct flat * f = (void *)c->algorithmData;
    size_t copy, results;
    sn_band_plan(&f->band, p, true, true);
    f->band.pixel = p->srcC;
    f->pixels = pixels_of(c);
    plan_columns(c, f);
    if (f->padded)
        f->band.columns += f->columns * f->pixels - p->dstW;
    if (!sn_product(&f->band.line, f->band.columns, p->srcC))
        return false;
    sn_band_rows(&f->band, p, sn_cpu()->cacheL2 / 4 / sizeof(float));
    const size_t pointers = sn_depthwise_rows_plan(c, f->band.rows, &f->rows);
    sn_band_limit(&f->band, p, f->rows.rows);
    if (!sn_floats(&copy, f->band.lines, f->band.line) || !sn_floats(&results, f->band.rows, f->pitch))
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

/* Copies a row of results to pixels that may have gaps between them. */
static void store(const struct sn_convolution * c, const sn_32f * from, sn_32f * to, size_t distance)
{
    if (distance == c->p.dstC) {
        memcpy(to, from, c->p.dstW * distance * sizeof(float));
        return;
    }
    for (size_t i = 0; i < c->p.dstW; ++i)
        memcpy(to + i * distance, from + i * c->p.dstC, c->p.dstC * sizeof(float));
}

/* Rows of a band at most. */
static void compute_band(const struct sn_convolution * c, struct sn_nhwc_image image, size_t row, size_t rows, void * work,
                         sn_32f * dst, size_t dstRow, size_t dstPixel)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct flat * f = data_of(c);
    const bool direct = dstPixel == p->dstC && !f->padded;
    const void ** line = work;
    sn_32f * band = (sn_32f *)(void *)((char *)work + f->copy);
    struct sn_depthwise_nhwc d = sn_depthwise_job(c, &f->rows, 0, f->pixels * p->dstC, p->srcC, f->pixels * p->dstC);
    sn_nhwc_band_copy(c, &f->band, image, row, rows, band);
    find_lines(c, band, rows, line);
    d.line = line;
    d.rows = rows;
    d.srcW = f->band.columns;
    d.padX = 0;
    d.strideX = f->pixels;
    d.dstW = f->columns;
    d.dstRow = direct ? dstRow : f->pitch;
    d.dst = direct ? dst : (sn_32f *)(void *)((char *)work + f->results);
    c->table->convolution_32f.depthwise_nhwc(&d);
    if (p->dstW % f->pixels && !f->padded) { /* the last pixels of each row, some of them again */
        struct sn_depthwise_nhwc rest = d;
        rest.offset = (p->dstW - f->pixels) * p->srcC;
        rest.srcW -= p->dstW - f->pixels;
        rest.dst = (sn_32f *)d.dst + rest.offset;
        rest.dstW = 1;
        c->table->convolution_32f.depthwise_nhwc(&rest);
    }
    for (size_t y = 0; !direct && y < rows; ++y)
        store(c, (const sn_32f *)d.dst + y * d.dstRow, dst + y * dstRow, dstPixel);
}

void sn_depthwise_flat_rows(const struct sn_convolution * c, struct sn_nhwc_image image, size_t row, size_t rows, void * work,
                            sn_32f * dst, size_t dstRow, size_t dstPixel)
{
    for (size_t y = 0, some; y < rows; y += some) {
        some = sn_min(rows - y, data_of(c)->band.rows);
        compute_band(c, image, row + y, some, work, dst + y * dstRow, dstRow, dstPixel);
    }
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t line = c->p.dstW * a->at->dstPixel;
    sn_depthwise_flat_rows(c, (struct sn_nhwc_image){a->src, a->at->srcPixel}, s->line, s->lines, a->work,
                           (sn_32f *)a->dst + s->line * line, line, a->at->dstPixel);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c),
        .shares = {.lines = c->p.dstH, .most = data_of(c)->band.rows, .start = true, .least = sn_ceil_div(32, c->p.dstW)}});
}

const struct sn_convolution_algorithm sn_convolution_32f_depthwise_flat = {.name = "depthwise NHWC, pixels together",
    .supports = supports, .plan = plan, .pack = pack, .alike = alike, .spread = spread, .forward = forward};
