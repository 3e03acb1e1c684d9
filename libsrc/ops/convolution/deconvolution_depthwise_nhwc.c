/*
 * NHWC with one channel in each group: every phase is a small depthwise convolution of stride 1, which reads the image in
 * place and writes every stride-th pixel of every stride-th row.
 *
 * NCHW where vectors of pixels would waste lanes or make many calls: some channels are converted to NHWC, computed, and
 * converted back while they are in the cache.
 */
#include "ops/convolution/cost.h"
#include "ops/convolution/deconvolution.h"
#include "ops/convolution/depthwise_rows.h"
#include "ops/convolution/phase_bands.h"
#include "runtime/cpu.h"

/* The maximum number of pointers to lines for one call of the kernel, unless one row needs more. */
enum { LINES = 1024 };

/* NCHW: floats that are converted together, in and out, unless a vector of channels has more. */
enum { FLOATS = 4096 };

struct converted {
    size_t pixel; /* channels that are computed together */
    size_t rows;  /* of all phases, from one band */
    size_t lines; /* floats of the converted lines; in the workspace, pointers precede them and the result follows */
};
SN_FITS_ALGORITHM_DATA(struct converted);

static const struct converted * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NHWC && c->p.srcC > 0 && sn_is_depthwise(c);
}

static bool supports_converted(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NCHW && c->p.srcC > 0 && sn_is_depthwise(c) && sn_phases_used(c) && c->srcSize && c->dstSize;
}

/* Lines from one output row of a phase to the next if rows share lines; otherwise each row has its own. */
static size_t line_step(const struct sn_convolution * c)
{
    const struct sn_phases * y = sn_phases_y(c);
    return y->lineStep == 1 ? 1 : y->taps;
}

static size_t most_rows(const struct sn_convolution * c) { return sn_max(1, LINES / sn_max(1, sn_phases_y(c)->taps)); }

/* The bytes of the pointers to lines, with which the workspace begins. */
static size_t pointers_size(const struct sn_convolution * c, size_t rows)
{
    return sn_align((rows * line_step(c) + sn_phases_y(c)->taps) * sizeof(void *), SN_ALIGN);
}

static bool plan(struct sn_convolution * c)
{
    c->workSize = pointers_size(c, sn_min(sn_phases_y(c)->count, most_rows(c)));
    return sn_depthwise_rows_weights(c);
}

/* The result of `rows` rows of all phases. */
static size_t rows_of_result(const struct sn_convolution * c, size_t row, size_t rows)
{
    return sn_min(rows * sn_phases_y(c)->stride, c->p.dstH - row * sn_phases_y(c)->stride);
}

/* Images of few pixels have few calls, if so many channels are computed together: 1883x1x1 by 2x2 takes 0.12 of the time that
 * two vectors take. */
static size_t channels_at_once(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), pixels = p->srcH * p->srcW + p->dstH * p->dstW;
    return sn_min(sn_max(FLOATS / pixels / lanes, 1) * lanes, sn_align(p->dstC, lanes));
}

/* Cycles to convert 16 floats in or out, for a row and a vector of channels, and for a vector of channels. */
static const double CONVERTED = 8.7, CONVERTED_ROW = 20, CONVERTED_CALL = 138;

/* From NCHW. */
static double cost_converted(const struct sn_convolution * c)
{
    const double phases = (double)(sn_phases_y(c)->number * sn_phases_x(c)->number);
    const double moved = CONVERTED * (sn_src_pixels(c) + sn_dst_pixels(c));
    const double products = SN_DEPTHWISE_PIXELS_ANY * sn_dst_pixels(c) * sn_taps(c) / phases;
    const double calls = phases * (CONVERTED_CALL + CONVERTED_ROW * (double)sn_phases_y(c)->count);
    return sn_vectors(c, c->p.dstC) * sn_of_vectors(c, moved + products) +
           (double)sn_ceil_div(c->p.dstC, channels_at_once(c)) * calls;
}

/* In bands of rows that fit into the L2 cache. */
static bool plan_converted(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_phases * y = sn_phases_y(c);
    struct converted * o = (void *)c->algorithmData;
    o->pixel = channels_at_once(c);
    size_t row, fixed, image, result;
    if (!sn_product(&row, p->srcW + sn_min(y->stride, p->dstH) * p->dstW, o->pixel) ||
        !sn_product(&fixed, y->reach, p->srcW, o->pixel))
        return false;
    struct sn_band band;
    sn_phase_band_rows(c, row, fixed, sn_cpu()->cacheL2 / 2 / sizeof(float), &band);
    o->rows = sn_min(band.rows, most_rows(c));
    if (!sn_product(&image, sn_min(sn_phase_lines(c, o->rows), p->srcH), p->srcW, o->pixel) ||
        !sn_product(&result, rows_of_result(c, 0, o->rows), p->dstW, o->pixel))
        return false;
    o->lines = sn_align(image, SN_ALIGN / sizeof(float));
    return sn_depthwise_rows_weights(c) &&
           sn_floats(&c->workSize, pointers_size(c, o->rows) / sizeof(float) + o->lines + result);
}

/* ---- weights: for each phase y and phase x those of a depthwise convolution */

static sn_32f * pack_phase(const struct sn_convolution * c, const sn_32f * weight, const struct sn_phase * y,
                           const struct sn_phase * x, sn_32f * to)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), taps = y->taps * x->taps;
    for (size_t o = 0; o < p->dstC; ++o) {
        const sn_32f * from = weight + o * p->kernelY * p->kernelX;
        sn_32f * lane = to + o / lanes * taps * lanes + o % lanes;
        for (size_t ky = 0; ky < y->taps; ++ky)
            for (size_t kx = 0; kx < x->taps; ++kx, lane += lanes)
                *lane = from[sn_phase_tap(sn_phases_y(c), y, ky) * p->kernelX + sn_phase_tap(sn_phases_x(c), x, kx)];
    }
    return to + taps * c->channels;
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    sn_32f * to = c->weight;
    for (size_t fy = 0; fy < y->number; ++fy)
        for (size_t fx = 0; fx < x->number; ++fx)
            to = pack_phase(c, weight, &y->phase[fy], &x->phase[fx], to);
}

/* ---- computation */

/* Sets the pointers to the lines for `rows` outputs of a phase, of which the first is `row`. */
static void find_lines(const struct sn_convolution * c, const struct sn_phase * y, size_t row, size_t rows, const sn_32f * src,
                       size_t pixel, const sn_32f ** line)
{
    const struct sn_phases * all = sn_phases_y(c);
    const size_t first = (size_t)all->low + y->from + row; /* wraps for lines above the image */
    for (size_t r = 0; r < rows; ++r)
        for (size_t ky = 0; ky < y->taps; ++ky) {
            const size_t at = first + r + ky * all->lineStep;
            line[r * (all->lineStep == 1 ? 1 : y->taps) + ky] = at < c->p.srcH ? src + at * c->p.srcW * pixel : NULL;
        }
}

/* Makes a job that of phase x; a phase without taps, in either direction, is one without lines. Kernels for many columns
 * expect at least one line. */
static struct sn_depthwise_nhwc columns_of(const struct sn_convolution * c, struct sn_depthwise_nhwc d,
                                           const struct sn_phase * x)
{
    const struct sn_phases * all = sn_phases_x(c);
    const ptrdiff_t first = all->low + (ptrdiff_t)x->from;
    const size_t before = first < 0 ? 0 - (size_t)first : 0, at = sn_min(first < 0 ? 0 : (size_t)first, d.srcW);
    d.padX = before;
    d.offset = at * d.srcPixel;
    d.srcW -= at;
    d.strideX = 1;
    d.dilationX = all->lineStep;
    if (!x->taps)
        d.kernelY = 0;
    d.kernelX = d.kernelY ? x->taps : 1;
    d.dstW = x->count;
    d.dstPixel *= all->stride;
    return d;
}

/* Pixels of some channels: the first ones of an image, and of output row row * stride of all phases. */
struct pixels {
    size_t first, channels;
    const sn_32f * src;
    sn_32f * dst;
    size_t srcPixel, dstPixel;
};

/* Rows row .. row + rows - 1, and some columns, of all phases. */
static void compute_rows(const struct sn_convolution * c, const struct pixels * q, size_t row, size_t rows,
                         struct sn_phase_columns columns, const sn_32f ** line)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const sn_32f * weight = sn_weights(c);
    for (size_t fy = 0; fy < y->number; ++fy) {
        const struct sn_phase * phase = &y->phase[fy];
        struct sn_depthwise_nhwc d = sn_depthwise_job(c, &(struct sn_depthwise_rows){0}, q->first, q->channels,
                                                      q->srcPixel, q->dstPixel);
        d.rows = sn_phase_rows(phase, row, rows);
        find_lines(c, phase, row, d.rows, q->src, q->srcPixel, line);
        d.line = (const void * const *)line;
        d.lineStep = y->lineStep == 1 ? 1 : phase->taps;
        d.kernelY = phase->taps;
        d.dstRow *= y->stride;
        for (size_t fx = 0; fx < x->number; ++fx) {
            const size_t taps = phase->taps * x->phase[fx].taps;
            struct sn_depthwise_nhwc f = columns_of(c, d, &x->phase[fx]);
            f.weight = weight + q->first * taps;
            f.dst = q->dst + (fy * c->p.dstW + fx) * q->dstPixel;
            f = sn_depthwise_columns(&f, sn_min(columns.begin, f.dstW), sn_min(columns.end, f.dstW));
            weight += taps * c->channels;
            if (d.rows && f.dstW)
                c->table->convolution_32f.depthwise_nhwc(&f);
        }
    }
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t pixel = a->at->dstPixel;
    const struct pixels all = {.channels = c->p.dstC, .src = a->src, .srcPixel = a->at->srcPixel, .dstPixel = pixel,
        .dst = (sn_32f *)a->dst + s->line * sn_phases_y(c)->stride * c->p.dstW * pixel};
    compute_rows(c, &all, s->line, s->lines, SN_ALL_COLUMNS, a->work);
}

/* Some columns of the only row of each phase. */
static void compute_columns(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct pixels all = {.channels = c->p.dstC, .src = a->src, .srcPixel = a->at->srcPixel, .dstPixel = a->at->dstPixel,
        .dst = a->dst};
    compute_rows(c, &all, 0, 1, sn_phase_columns_of(c, s), a->work);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    if (!sn_phase_columns_run(c, a, compute_columns))
        sn_phase_bands_run(c, &(struct sn_band){.rows = most_rows(c)}, a, compute);
}

/* Channels first .. first + pixel - 1, or up to the last one. */
static void compute_channels(const struct sn_convolution * c, size_t first, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct converted * o = data_of(c);
    const struct sn_phases * y = sn_phases_y(c);
    const size_t count = sn_min(o->pixel, p->dstC - first), srcPixels = p->srcH * p->srcW, dstPixels = p->dstH * p->dstW;
    const sn_32f * src = (const sn_32f *)a->src + first * srcPixels;
    sn_32f * dst = (sn_32f *)a->dst + first * dstPixels;
    sn_32f * lines = (sn_32f *)a->work + pointers_size(c, o->rows) / sizeof(float), * result = lines + o->lines;
    for (size_t row = 0, rows; row < y->count; row += rows) {
        rows = sn_min(o->rows, y->count - row);
        const struct sn_span span = sn_span_of(y->low + (ptrdiff_t)row, sn_phase_lines(c, rows), p->srcH);
        const size_t begin = span.begin * p->srcW, top = row * y->stride * p->dstW;
        const struct pixels q = {first, count, lines - begin * count, result, count, count};
        if (span.inside)
            c->table->layout.image_32f(count, srcPixels, src, SN_NCHW, lines - begin * count, SN_NHWC, begin,
                                       begin + span.inside * p->srcW);
        compute_rows(c, &q, row, rows, SN_ALL_COLUMNS, a->work);
        c->table->layout.image_32f(count, dstPixels, result - top * count, SN_NHWC, dst, SN_NCHW, top,
                                   top + rows_of_result(c, row, rows) * p->dstW);
    }
}

/* The "lines" of a share are blocks of `pixel` channels. */
static void compute_converted(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    for (size_t i = s->line; i < s->line + s->lines; ++i)
        compute_channels(c, i * data_of(c)->pixel, a);
}

static void forward_converted(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t units = sn_ceil_div(c->p.dstC, data_of(c)->pixel);
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute_converted,
        .time = sn_deconvolution_32f_time(c), .shares = {.lines = units, .most = units}});
}

const struct sn_convolution_algorithm
    sn_deconvolution_32f_depthwise_nhwc = {.name = "depthwise phases NHWC", .supports = supports, .plan = plan, .pack = pack,
        .alike = sn_phases_same, .forward = forward},
    sn_deconvolution_32f_depthwise_converted = {.name = "depthwise phases NCHW by NHWC", .supports = supports_converted,
        .cost = cost_converted, .plan = plan_converted, .pack = pack, .alike = sn_phases_same, .forward = forward_converted};
