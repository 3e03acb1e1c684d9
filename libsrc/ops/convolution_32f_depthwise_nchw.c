/*
 * Depthwise convolution, NCHW: vectors of pixels, channel by channel, from a copy of its lines with their padding, split
 * into phases (ops/nchw_band.h).
 */
#include <string.h>

#include "ops/convolution_32f.h"
#include "ops/convolution_cost.h"
#include "ops/nchw_band.h"

SN_FITS_ALGORITHM_DATA(struct sn_band);

static const struct sn_band * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c) { return sn_is_depthwise(c) && c->p.srcF == SN_NCHW; }

static bool plan(struct sn_convolution * c)
{
    c->segments = c->p.kernelX;
    sn_channels_plain(c);
    return sn_split_plan(c, 1, (void *)c->algorithmData) && sn_floats(&c->weightSize, c->p.kernelY, c->p.kernelX, c->p.dstC);
}

static void offsets(const struct sn_convolution * c)
{
    for (size_t kx = 0; kx < c->p.kernelX; ++kx)
        c->segment[kx] = sn_split_tap(c, data_of(c), 0, 0, kx);
}

static void pack(const struct sn_convolution * c, const void * weight) { memcpy(c->weight, weight, c->weightSize); }

/* One channel, of the planes src and dst. */
static void compute_channel(const struct sn_convolution * c, size_t channel, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_depthwise_nchw_32f d = {.src = work, .srcStep = data_of(c)->strideY * data_of(c)->line,
        .tapStep = p->dilationY * data_of(c)->line, .tap = c->segment, .kernelY = p->kernelY, .kernelX = p->kernelX,
        .weight = sn_weights(c) + channel * p->kernelY * p->kernelX, .bias = c->bias[channel],
        .slope = c->slope ? c->slope[channel] : 0, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}, .columns = p->dstW};
    for (size_t row = 0; row < p->dstH; row += d.rows) {
        d.rows = sn_min(data_of(c)->rows, p->dstH - row);
        d.dst = dst + row * p->dstW;
        sn_split_copy(c, data_of(c), src, row, d.rows, work);
        c->table->convolution_32f.depthwise_nchw(&d);
    }
}

/* The "lines" of a share are channels. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t srcPlane = c->p.srcH * c->p.srcW, dstPlane = c->p.dstH * c->p.dstW;
    const sn_32f * src = a->src;
    sn_32f * dst = a->dst;
    for (size_t i = s->line; i < s->line + s->lines; ++i)
        compute_channel(c, i, src + i * srcPlane, a->work, dst + i * dstPlane);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .shares = {.lines = c->p.dstC, .most = c->p.dstC}});
}

const struct sn_convolution_algorithm sn_convolution_32f_depthwise_nchw = {.name = "depthwise NCHW", .supports = supports,
    .plan = plan, .offsets = offsets, .pack = pack, .forward = forward};
