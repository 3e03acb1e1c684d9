/*
 * Depthwise convolution: as many groups as channels, one output for each.
 *
 * NHWC: vectors of channels, straight from the image. NCHW: vectors of pixels, one channel after
 * the other, from a copy of its lines with their padding, split in phases (see ops/convolution_32f_nchw.c).
 */
#include <string.h>

#include "core/memory.h"
#include "core/threads.h"
#include "ops/convolution_32f.h"

static bool depthwise(const struct sn_convolution_32f * c, SimdTensorFormatType format)
{
    const SimdConvolutionParameters * p = &c->p;
    return p->group == p->srcC && p->group == p->dstC && p->srcF == format;
}

struct job {
    const struct sn_convolution_32f * c;
    const float * src;
    float * work;
    float * dst;
};

static void spread(const struct sn_convolution_32f * c, const float * values, float * spread)
{
    memcpy(spread, values, c->p.dstC * sizeof(float));
}

/* ---- NHWC */

static bool nhwc_takes(const struct sn_convolution_32f * c) { return depthwise(c, SimdTensorFormatNhwc); }

/* Pointers to lines, at most, that one call of the kernel is given. */
enum { LINES = 1024 };

static bool nhwc_plan(struct sn_convolution_32f * c)
{
    const SimdConvolutionParameters * p = &c->p;
    c->depth = p->kernelY * p->kernelX;
    c->channels = sn_align(p->dstC, sn_lanes(c));
    c->band.strideY = p->dilationY == 1 && p->strideY < p->kernelY ? p->strideY : p->kernelY; /* else no lines are shared */
    c->band.rows = sn_max(1, sn_min(p->dstH, LINES / p->kernelY));
    c->band.lines = (c->band.rows - 1) * c->band.strideY + p->kernelY;
    return sn_product(&c->workSize, c->band.lines, sizeof(void *) / sizeof(float)) &&
           sn_product(&c->weightSize, c->depth, c->channels);
}

void sn_depthwise_nhwc_pack(const struct sn_table * table, size_t taps, size_t channels, const float * weight, float * packed)
{
    const size_t lanes = table->alignment / sizeof(float);
    for (size_t c = 0; c < channels; c += lanes)
        for (size_t k = 0; k < taps; ++k, packed += lanes)
            memcpy(packed, weight + k * channels + c, sn_min(channels - c, lanes) * sizeof(float));
}

static void nhwc_pack(const struct sn_convolution_32f * c, const float * weight, float * packed, size_t * segment)
{
    (void)segment;
    sn_depthwise_nhwc_pack(c->table, c->depth, c->p.dstC, weight, packed);
}

/* The lines that output rows row .. row + rows - 1 need; NULL are those outside the image. */
static void find_lines(const struct sn_convolution_32f * c, const float * src, size_t row, size_t rows, const float ** line)
{
    const SimdConvolutionParameters * p = &c->p;
    for (size_t y = 0; y < rows; ++y)
        for (size_t ky = 0; ky < p->kernelY; ++ky) {
            const size_t at = (row + y) * p->strideY + ky * p->dilationY - p->padY; /* huge for those above */
            line[y * c->band.strideY + ky] = at < p->srcH ? src + at * p->srcW * p->srcC : NULL;
        }
}

/* Units of work are output rows. */
static void nhwc_run(const void * argument, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    const SimdConvolutionParameters * p = &c->p;
    const float ** line = (const float **)(void *)job->work;
    struct sn_depthwise_nhwc_32f d = {.line = line, .lineStep = c->band.strideY, .srcW = p->srcW, .srcPixel = p->srcC,
        .kernelY = p->kernelY, .kernelX = p->kernelX, .strideX = p->strideX, .dilationX = p->dilationX, .padX = p->padX,
        .channels = p->dstC, .weight = c->weight, .bias = c->bias, .slope = c->slope,
        .activation = sn_tile_activation(c), .param = {c->param[0], c->param[1]}, .dstW = p->dstW,
        .dstRow = p->dstW * p->dstC, .dstPixel = p->dstC};
    while (begin < end) {
        const size_t image = begin / p->dstH, row = begin % p->dstH;
        d.rows = sn_min(sn_min(p->dstH - row, c->band.rows), end - begin);
        find_lines(c, job->src + image * c->srcSize, row, d.rows, line);
        d.dst = job->dst + image * c->dstSize + row * d.dstRow;
        c->table->depthwise_nhwc_32f(&d);
        begin += d.rows;
    }
}

static void nhwc_forward(const struct sn_convolution_32f * c, const float * src, float * work, float * dst)
{
    const struct job job = {c, src, work, dst};
    sn_parallel_for(nhwc_run, &job, c->batch * c->p.dstH);
}

const struct sn_convolution_32f_way sn_convolution_32f_depthwise_nhwc = {
    "depthwise NHWC", false, nhwc_takes, nhwc_plan, nhwc_pack, spread, nhwc_forward};

/* ---- NCHW */

static bool nchw_takes(const struct sn_convolution_32f * c) { return depthwise(c, SimdTensorFormatNchw); }

static bool nchw_plan(struct sn_convolution_32f * c)
{
    const SimdConvolutionParameters * p = &c->p;
    c->depth = p->kernelY * p->kernelX;
    c->segments = p->kernelX;
    c->channels = p->dstC;
    return sn_split_plan(c, 1) && sn_product(&c->weightSize, c->depth, p->dstC);
}

static void nchw_pack(const struct sn_convolution_32f * c, const float * weight, float * packed, size_t * segment)
{
    for (size_t kx = 0; kx < c->p.kernelX; ++kx)
        segment[kx] = sn_split_tap(c, 0, 0, kx);
    memcpy(packed, weight, c->weightSize * sizeof(float));
}

static void nchw_channel(const struct job * job, size_t channel, const float * src, float * dst)
{
    const struct sn_convolution_32f * c = job->c;
    const SimdConvolutionParameters * p = &c->p;
    struct sn_depthwise_nchw_32f d = {.src = job->work, .srcStep = c->band.strideY * c->band.line,
        .tapStep = p->dilationY * c->band.line, .tap = c->segment, .kernelY = p->kernelY, .kernelX = p->kernelX, .weight = c->weight + channel * c->depth, .bias = c->bias[channel],
        .slope = c->slope ? c->slope[channel] : 0, .activation = sn_tile_activation(c),
        .param = {c->param[0], c->param[1]}, .columns = p->dstW};
    for (size_t row = 0; row < p->dstH; row += c->band.rows) {
        d.rows = sn_min(c->band.rows, p->dstH - row);
        d.dst = dst + row * p->dstW;
        sn_split_copy(c, src, row, d.rows, job->work);
        c->table->depthwise_nchw_32f(&d);
    }
}

/* Units of work are the channels of all images. */
static void nchw_run(const void * argument, size_t begin, size_t end)
{
    const struct job * job = argument;
    const SimdConvolutionParameters * p = &job->c->p;
    for (size_t i = begin; i < end; ++i)
        nchw_channel(job, i % p->dstC, job->src + i * p->srcH * p->srcW, job->dst + i * p->dstH * p->dstW);
}

static void nchw_forward(const struct sn_convolution_32f * c, const float * src, float * work, float * dst)
{
    const struct job job = {c, src, work, dst};
    sn_parallel_for(nchw_run, &job, c->batch * c->p.dstC);
}

const struct sn_convolution_32f_way sn_convolution_32f_depthwise_nchw = {
    "depthwise NCHW", false, nchw_takes, nchw_plan, nchw_pack, spread, nchw_forward};
