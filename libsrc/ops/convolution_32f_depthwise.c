/*
 * Depthwise convolution: as many groups as channels, one output for each.
 *
 * NHWC: vectors of channels, straight from the image; taps outside it are left out. NCHW: vectors of pixels, one channel after
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

static bool nhwc_plan(struct sn_convolution_32f * c)
{
    const SimdConvolutionParameters * p = &c->p;
    c->depth = p->kernelY * p->kernelX;
    c->channels = sn_gemm_width(&c->table->gemm_32f, p->dstC);
    return sn_product(&c->weightSize, c->depth, c->channels);
}

static void nhwc_pack(const struct sn_convolution_32f * c, const float * weight, float * packed, size_t * segment)
{
    (void)segment;
    for (size_t k = 0; k < c->depth; ++k)
        memcpy(packed + k * c->channels, weight + k * c->p.dstC, c->p.dstC * sizeof(float));
}

/* Units of work are output rows. */
static void nhwc_run(const void * argument, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    struct sn_depthwise_nhwc_32f d = {.p = &c->p, .weight = c->weight, .bias = c->bias, .slope = c->slope,
        .width = c->channels, .activation = sn_tile_activation(c), .param = {c->param[0], c->param[1]}};
    while (begin < end) {
        const size_t image = begin / c->p.dstH;
        d.begin = begin % c->p.dstH;
        d.end = sn_min(c->p.dstH, d.begin + end - begin);
        d.src = job->src + image * c->srcSize;
        d.dst = job->dst + image * c->dstSize;
        c->table->depthwise_nhwc_32f(&d);
        begin += d.end - d.begin;
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
