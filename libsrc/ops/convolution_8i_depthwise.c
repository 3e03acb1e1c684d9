/* Quantised convolution of each channel by itself, by a kernel that has vectors of channels. */
#include "core/memory.h"
#include "ops/convolution_8i.h"

static bool plan(struct sn_convolution_dot * c)
{
    const SimdConvolutionParameters * p = &c->p;
    size_t room;
    c->segments = p->kernelY * p->kernelX;
    c->channels = p->dstC;
    c->group = 1;
    c->inputs = 1;
    if (!sn_product(&room, c->segments, 4, p->dstC + 64) || !sn_dot_band_plan(c, 1, true, p->dstC * c->dstElement))
        return false;
    c->weightBytes = c->table->depthwise_8i.size(c->segments, p->dstC);
    return true;
}

static void pack(const struct sn_convolution_dot * c, const void * weight)
{
    const SimdConvolutionParameters * p = &c->p;
    for (size_t t = 0; t < c->segments; ++t)
        c->segment[t] = t / p->kernelX * p->dilationY * c->band.line + t % p->kernelX * p->dilationX * c->band.pixel;
    c->table->depthwise_8i.pack(weight, p->srcF == SimdTensorFormatNchw, p->kernelY, p->kernelX, p->dstC, c->weight);
}

static void compute(const struct sn_convolution_dot * c, const uint8_t * lines, const struct sn_share * s, uint8_t * work,
                    uint8_t * dst)
{
    const size_t row = s->line, rows = s->lines;
    const SimdConvolutionParameters * p = &c->p;
    const struct sn_result_8i result = sn_result_8i_of((const struct sn_convolution_8i *)c, 0);
    struct sn_depthwise_run_8i d = {.src = lines, .srcStepY = c->band.strideY * c->band.line,
        .srcStepX = c->band.strideX * c->band.pixel, .tap = c->segment, .kernelY = p->kernelY, .kernelX = p->kernelX,
        .weight = c->weight, .channels = p->dstC, .rows = rows, .columns = p->dstW, .result = &result};
    d.dst = sn_dot_result_at(c, 0, p->dstC, row, work, dst, &d.dstStepX);
    d.dstStepY = p->dstW * d.dstStepX;
    c->table->depthwise_8i.run(&d);
    sn_dot_result_done(c, work, 0, p->dstC, row, rows, dst);
}

static void forward(const struct sn_convolution_dot * c, const uint8_t * src, uint8_t * work, uint8_t * dst)
{
    sn_dot_bands_run(&(struct sn_dot_bands){.c = c, .src = src, .work = work, .dst = dst, .compute = compute});
}

const struct sn_convolution_dot_way sn_convolution_8i_depthwise = {"depthwise", false, plan, pack, forward};
