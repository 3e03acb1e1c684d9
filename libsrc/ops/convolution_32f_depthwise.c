/*
 * Depthwise convolution: as many groups as channels, one output for each.
 *
 * NHWC: vectors of channels, straight from the image. NCHW: vectors of pixels, one channel after the other, from a copy of
 * its lines with their padding, split in phases (see ops/convolution_32f_nchw.c); or, where that wastes lanes or copies much
 * for few outputs, as NHWC: a vector of channels is converted, computed and converted back while it is near.
 */
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution_32f.h"
#include "ops/shares.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

static bool depthwise(const struct sn_convolution_32f * c, enum sn_format format)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->group == p->srcC && p->group == p->dstC && p->srcF == format;
}

struct job {
    const struct sn_convolution_32f * c;
    const sn_32f * src;
    sn_32f * dst;
};

static void spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    memcpy(spread, values, c->p.dstC * sizeof(float));
}

/* ---- NHWC */

static bool nhwc_takes(const struct sn_convolution_32f * c) { return depthwise(c, SN_NHWC); }

/*
 * Where pixels lie a multiple of 2 KB apart, the inputs of a block fall into the same few places of the first cache and
 * drive each other out; a vector that is half a cache line, or less, has them fetched again for the other half. Then SLICE
 * channels at a time are copied side by side: up to 1.8 times as fast with vectors of 8 floats (1024x7x7). With vectors as
 * long as a cache line, or pixels 1 KB apart, it took up to 1.3 times as long.
 */
enum { SLICE = 64 };

static bool pixels_share_sets(const struct sn_convolution_32f * c)
{
    return sn_share_sets(c->p.srcC * sizeof(float), SN_TWO_SETS);
}

static bool sliced(const struct sn_convolution_32f * c)
{
    return c->p.srcF == SN_NHWC && pixels_share_sets(c) && sn_lanes(c) * sizeof(float) < SN_ALIGN;
}

/* Pointers to lines, at most, that one call of the kernel is given, unless one row needs more. */
enum { LINES = 1024 };

/* So many rows for one call, whose pointers the workspace begins with. */
static bool nhwc_rows(struct sn_convolution_32f * c, size_t rows)
{
    const size_t each = sizeof(void *) / sizeof(float), line = SN_ALIGN / sizeof(float);
    c->band.rows = rows;
    c->band.lines = (rows - 1) * c->band.strideY + c->p.kernelY;
    return sn_product(&c->workSize, sn_ceil_div(c->band.lines, line / each), line);
}

static bool nhwc_plan(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    c->depth = p->kernelY * p->kernelX;
    c->channels = sn_align(p->dstC, sn_lanes(c));
    c->band.strideY = p->dilationY == 1 && p->strideY < p->kernelY ? p->strideY : p->kernelY; /* else no lines are shared */
    return nhwc_rows(c, sn_max(1, sn_min(p->dstH, LINES / p->kernelY))) &&
           sn_product(&c->weightSize, c->depth, c->channels);
}

void sn_depthwise_nhwc_pack(const struct sn_table * table, size_t taps, size_t channels, const sn_32f * weight,
                            sn_32f * packed)
{
    const size_t lanes = table->alignment / sizeof(float);
    for (size_t c = 0; c < channels; c += lanes)
        for (size_t k = 0; k < taps; ++k, packed += lanes)
            memcpy(packed, weight + k * channels + c, sn_min(channels - c, lanes) * sizeof(float));
}

static void nhwc_pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    (void)segment;
    sn_depthwise_nhwc_pack(c->table, c->depth, c->p.dstC, weight, packed);
}

/* Sets the lines that d->rows output rows from `row` on need; NULL are those outside the image. */
static void find_lines(const struct sn_convolution_32f * c, const sn_32f * src, size_t row,
                       const struct sn_depthwise_nhwc_32f * d, const sn_32f ** line)
{
    const struct sn_convolution_parameters * p = &c->p;
    for (size_t y = 0; y < d->rows; ++y)
        for (size_t ky = 0; ky < p->kernelY; ++ky) {
            const size_t at = (row + y) * p->strideY + ky * p->dilationY - p->padY; /* huge for those above */
            line[y * d->lineStep + ky] = at < p->srcH ? src + at * p->srcW * d->srcPixel : NULL;
        }
}

/* What the kernel is told for channels first .. first + count - 1; pixels of both sides have `pixel` floats. */
static struct sn_depthwise_nhwc_32f nhwc_job(const struct sn_convolution_32f * c, size_t first, size_t count, size_t pixel)
{
    const struct sn_convolution_parameters * p = &c->p;
    return (struct sn_depthwise_nhwc_32f){.lineStep = c->band.strideY, .srcW = p->srcW, .srcPixel = pixel,
        .kernelY = p->kernelY, .kernelX = p->kernelX, .strideX = p->strideX, .dilationX = p->dilationX, .padX = p->padX,
        .channels = count, .weight = c->weight + first * c->depth, .bias = c->bias + first,
        .slope = c->slope ? c->slope + first : NULL, .activation = sn_tile_activation(c),
        .param = {c->param[0], c->param[1]}, .dstW = p->dstW, .dstRow = p->dstW * pixel, .dstPixel = pixel};
}

/* Units of work are output rows, four by four as the kernel likes them. */
static size_t rows_of_unit(const struct sn_convolution_32f * c) { return c->band.rows >= 4 ? 4 : 1; }

static struct sn_shares nhwc_shares(const struct sn_convolution_32f * c)
{
    const size_t unit = rows_of_unit(c);
    return sn_shares_of((struct sn_shares){.lines = sn_ceil_div(c->p.dstH, unit), .most = c->band.rows / unit});
}

/*
 * Channels that are computed of all rows before the next ones. Where pixels lie a multiple of 2 KB apart the inputs of a
 * block have two places of the first cache between them, and the kernel takes small blocks, for which weights must stay
 * near: 3x3 and stride 2 of 512x14x14 are 1.25 times as fast. 64 or 512 channels gain less.
 */
static size_t nhwc_part(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return pixels_share_sets(c) && p->kernelY == 3 && p->kernelX == 3 && p->strideX == 2 ? 128 : p->dstC;
}

static void nhwc_run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_shares shares = nhwc_shares(c);
    struct sn_depthwise_nhwc_32f d = nhwc_job(c, 0, p->dstC, p->dstC);
    struct sn_share s;
    d.line = work;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&shares, begin, end);
        const size_t row = s.line * rows_of_unit(c);
        d.rows = sn_min(s.lines * rows_of_unit(c), p->dstH - row);
        find_lines(c, job->src + s.image * c->srcSize, row, &d, work);
        const size_t part = nhwc_part(c);
        for (size_t first = 0; first < p->dstC; first += part) {
            struct sn_depthwise_nhwc_32f some = nhwc_job(c, first, sn_min(part, p->dstC - first), p->dstC);
            some.line = d.line;
            some.rows = d.rows;
            some.offset = first;
            some.dst = job->dst + s.image * c->dstSize + row * d.dstRow + first;
            c->table->convolution_32f.depthwise_nhwc(&some);
        }
    }
}

static void nhwc_forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    const struct job job = {c, src, dst};
    sn_parallel_for(&(struct sn_parallel){.run = nhwc_run, .job = &job, .units = c->batch * nhwc_shares(c).each,
        .cost = sn_convolution_32f_cost(c), .work = work, .workBytes = c->workSize * sizeof(float)});
}

const struct sn_convolution_32f_way sn_convolution_32f_depthwise_nhwc = {
    "depthwise NHWC", false, nhwc_takes, nhwc_plan, nhwc_pack, spread, nhwc_forward, NULL};

/* ---- NCHW as NHWC, a vector of channels or two at a time; slices of NHWC */

/*
 * Cost model, in cycles of a core that multiplies 16 floats a cycle; right, or wrong by some percent, on all layers of
 * MobileNets but 16x112x112 of stride 2 with AVX2 (1.17 times). Directly, vectors of pixels are cut at the end of a row, and
 * every line is copied first, which has its price for each line and phase, and where a stride sorts pixels into phases also
 * for each vector. A conversion costs 7 for a vector of inputs or outputs. So small images and strides are converted: 2.4
 * times as fast for 960x7x7, 3.9 for 512x14x14 of stride 2.
 */
static double direct_cost(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double vectors = (double)sn_ceil_div(p->dstW, sn_lanes(c)), vector = (double)sn_lanes(c) / 16;
    const double row = 1.1 * vector * vectors * (double)(p->kernelY * p->kernelX);
    const double phases = (double)sn_min(p->strideX, (p->kernelX - 1) * p->dilationX + 1);
    const double line = phases * (16 + vector * vectors * (p->strideX == 1 ? 3.5 : 8));
    return (double)p->dstC * ((double)p->dstH * row + (double)p->srcH * line);
}

static double converted_cost(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double inputs = (double)(p->srcH * p->srcW), outputs = (double)(p->dstH * p->dstW);
    const double pixels = 1.15 * outputs * (double)(p->kernelY * p->kernelX) + 7 * (inputs + outputs);
    return (double)sn_ceil_div(p->dstC, sn_lanes(c)) * ((double)sn_lanes(c) / 16 * pixels + 600);
}

static bool converted_takes(const struct sn_convolution_32f * c)
{
    return depthwise(c, SN_NCHW) && c->srcSize && c->dstSize && converted_cost(c) < direct_cost(c);
}

/*
 * The workspace: pointers to lines, converted lines, the result, in bands of rows that stay in the second cache; those of a
 * quarter of this height took 1.2 times as long. Small images are converted by two vectors of channels, 1.05 to 1.15 times
 * as fast; large ones are not, 1.3 times as slow.
 */
static bool converted_plan(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), pixels = p->srcH * p->srcW + p->dstH * p->dstW;
    const bool small = 2 * lanes * pixels * sizeof(float) <= sn_cpu()->cacheL2 / 16;
    c->band.pixel = sliced(c) ? SLICE : small ? 2 * lanes : lanes;
    struct sn_band band = {.line = (p->srcW + p->dstW) * c->band.pixel, .strideY = p->strideY};
    sn_band_rows(&band, p, sn_cpu()->cacheL2 / 2 / sizeof(float));
    size_t image, result;
    if (!nhwc_plan(c) || !nhwc_rows(c, sn_min(c->band.rows, band.rows)) ||
        !sn_product(&image, sn_min(band.lines, p->srcH), p->srcW, c->band.pixel) ||
        !sn_product(&result, band.rows, p->dstW, c->band.pixel))
        return false;
    c->converted = sn_align(image, SN_ALIGN / sizeof(float));
    return sn_product(&c->workSize, c->workSize + c->converted + result, 1);
}

static void converted_pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    (void)segment;
    const size_t lanes = sn_lanes(c);
    for (size_t o = 0; o < c->p.dstC; ++o)
        for (size_t k = 0; k < c->depth; ++k)
            packed[(o / lanes * c->depth + k) * lanes + o % lanes] = weight[o * c->depth + k];
}

/* Output rows row .. row + d->rows - 1 of the channels of d, the first of which are the planes src and dst. */
static void converted_band(const struct sn_convolution_32f * c, struct sn_depthwise_nhwc_32f d, const sn_32f * src,
                           size_t row, sn_32f * work, sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    const sn_32f ** line = (const sn_32f **)(void *)work;
    sn_32f * lines = work + sn_align(c->band.lines * sizeof(void *), SN_ALIGN) / sizeof(float);
    sn_32f * result = lines + c->converted;
    /* The first line that is needed, and the one behind the last. */
    const size_t at = row * p->strideY, used = sn_used(d.rows, p->strideY, p->kernelY, p->dilationY);
    const size_t begin = sn_min(at > p->padY ? at - p->padY : 0, p->srcH);
    const size_t end = sn_max(sn_min(at + used > p->padY ? at + used - p->padY : 0, p->srcH), begin);
    sn_32f * image = lines - begin * p->srcW * d.srcPixel;
    if (sliced(c)) {
        const struct sn_lines_32f pixels = {.src = src + begin * p->srcW * p->srcC, .srcStep = p->srcC, .stride = 1,
            .dst = lines, .dstStep = d.srcPixel, .lines = (end - begin) * p->srcW, .inside = d.channels, .size = d.channels};
        c->table->convolution_32f.lines(&pixels);
    } else {
        c->table->layout.image_32f(d.channels, p->srcH * p->srcW, src, SN_NCHW, image, SN_NHWC,
                                    begin * p->srcW, end * p->srcW);
    }
    find_lines(c, image, row, &d, line);
    d.line = line;
    d.dst = sliced(c) ? dst + row * d.dstRow : result;
    c->table->convolution_32f.depthwise_nhwc(&d);
    if (!sliced(c))
        c->table->layout.image_32f(d.channels, p->dstH * p->dstW, result - row * d.dstRow, SN_NHWC, dst,
                                SN_NCHW, row * p->dstW, (row + d.rows) * p->dstW);
}

/* Units of work are `pixel` channels of all images. */
static void converted_run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t vectors = sn_ceil_div(p->dstC, c->band.pixel);
    for (size_t i = begin; i < end; ++i) {
        const size_t first = i % vectors * c->band.pixel, count = sn_min(c->band.pixel, p->dstC - first);
        const size_t srcStep = sliced(c) ? 1 : p->srcH * p->srcW, dstStep = sliced(c) ? 1 : p->dstH * p->dstW;
        const sn_32f * src = job->src + i / vectors * c->srcSize + first * srcStep;
        sn_32f * dst = job->dst + i / vectors * c->dstSize + first * dstStep;
        struct sn_depthwise_nhwc_32f d = nhwc_job(c, first, count, count);
        if (sliced(c))
            d.dstPixel = p->dstC, d.dstRow = p->dstW * p->dstC;
        for (size_t row = 0; row < p->dstH; row += d.rows) {
            d.rows = sn_min(c->band.rows, p->dstH - row);
            converted_band(c, d, src, row, work, dst);
        }
    }
}

static void converted_forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    const struct job job = {c, src, dst};
    sn_parallel_for(&(struct sn_parallel){.run = converted_run, .job = &job,
        .units = c->batch * sn_ceil_div(c->p.dstC, c->band.pixel),
        .cost = sn_convolution_32f_cost(c), .work = work, .workBytes = c->workSize * sizeof(float)});
}

static bool sliced_takes(const struct sn_convolution_32f * c)
{
    return depthwise(c, SN_NHWC) && c->srcSize && c->dstSize && sliced(c);
}

const struct sn_convolution_32f_way sn_convolution_32f_depthwise_sliced = {
    "depthwise NHWC by slices", false, sliced_takes, converted_plan, nhwc_pack, spread, converted_forward, NULL};

const struct sn_convolution_32f_way sn_convolution_32f_depthwise_converted = {
    "depthwise NCHW by NHWC", false, converted_takes, converted_plan, converted_pack, spread, converted_forward, NULL};

/* ---- NCHW */

static bool nchw_takes(const struct sn_convolution_32f * c) { return depthwise(c, SN_NCHW); }

static bool nchw_plan(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    c->depth = p->kernelY * p->kernelX;
    c->segments = p->kernelX;
    c->channels = p->dstC;
    return sn_split_plan(c, 1) && sn_product(&c->weightSize, c->depth, p->dstC);
}

static void nchw_pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    for (size_t kx = 0; kx < c->p.kernelX; ++kx)
        segment[kx] = sn_split_tap(c, 0, 0, kx);
    memcpy(packed, weight, c->weightSize * sizeof(float));
}

static void nchw_channel(const struct sn_convolution_32f * c, size_t channel, const sn_32f * src, sn_32f * work,
                         sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_depthwise_nchw_32f d = {.src = work, .srcStep = c->band.strideY * c->band.line,
        .tapStep = p->dilationY * c->band.line, .tap = c->segment, .kernelY = p->kernelY, .kernelX = p->kernelX,
        .weight = c->weight + channel * c->depth, .bias = c->bias[channel],
        .slope = c->slope ? c->slope[channel] : 0, .activation = sn_tile_activation(c),
        .param = {c->param[0], c->param[1]}, .columns = p->dstW};
    for (size_t row = 0; row < p->dstH; row += c->band.rows) {
        d.rows = sn_min(c->band.rows, p->dstH - row);
        d.dst = dst + row * p->dstW;
        sn_split_copy(c, src, row, d.rows, work);
        c->table->convolution_32f.depthwise_nchw(&d);
    }
}

/* Units of work are the channels of all images. */
static void nchw_run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_parameters * p = &job->c->p;
    for (size_t i = begin; i < end; ++i)
        nchw_channel(job->c, i % p->dstC, job->src + i * p->srcH * p->srcW, work, job->dst + i * p->dstH * p->dstW);
}

static void nchw_forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    const struct job job = {c, src, dst};
    sn_parallel_for(&(struct sn_parallel){.run = nchw_run, .job = &job,
        .units = c->batch * c->p.dstC,
        .cost = sn_convolution_32f_cost(c), .work = work, .workBytes = c->workSize * sizeof(float)});
}

const struct sn_convolution_32f_way sn_convolution_32f_depthwise_nchw = {
    "depthwise NCHW", false, nchw_takes, nchw_plan, nchw_pack, spread, nchw_forward, NULL};
