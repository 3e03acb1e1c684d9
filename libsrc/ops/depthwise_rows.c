#include "ops/depthwise_rows.h"

#include <string.h>

/* The maximum number of pointers to lines for one call of the kernel, unless one row needs more. */
enum { LINES = 1024 };

size_t sn_depthwise_rows_plan(const struct sn_convolution * c, size_t most, struct sn_depthwise_rows * r)
{
    const struct sn_convolution_parameters * p = &c->p;
    r->step = p->dilationY == 1 && p->strideY < p->kernelY ? p->strideY : p->kernelY; /* otherwise rows share no lines */
    r->rows = sn_min(sn_max(1, sn_min(p->dstH, LINES / p->kernelY)), most);
    r->lines = (r->rows - 1) * r->step + p->kernelY;
    return sn_align(r->lines * sizeof(void *), SN_ALIGN);
}

bool sn_depthwise_rows_weights(struct sn_convolution * c)
{
    c->channels = sn_align(c->p.dstC, sn_lanes(c));
    c->runStep = 1;
    return sn_floats(&c->weightSize, c->p.kernelY, c->p.kernelX, c->channels);
}

void sn_depthwise_rows_pack(const struct sn_convolution * c, const void * weight)
{
    const size_t lanes = sn_lanes(c), taps = c->p.kernelY * c->p.kernelX, channels = c->p.dstC;
    const sn_32f * w = weight;
    sn_32f * packed = c->weight;
    for (size_t o = 0; o < channels; o += lanes)
        for (size_t k = 0; k < taps; ++k, packed += lanes)
            memcpy(packed, w + k * channels + o, sn_min(channels - o, lanes) * sizeof(float));
}

struct sn_depthwise_nhwc_32f sn_depthwise_job(const struct sn_convolution * c, const struct sn_depthwise_rows * r,
                                              size_t first, size_t count, size_t srcPixel, size_t dstPixel)
{
    const struct sn_convolution_parameters * p = &c->p;
    return (struct sn_depthwise_nhwc_32f){.lineStep = r->step, .srcW = p->srcW, .srcPixel = srcPixel,
        .kernelY = p->kernelY, .kernelX = p->kernelX, .strideX = p->strideX, .dilationX = p->dilationX, .padX = p->padX,
        .channels = count, .weight = sn_weights(c) + first * p->kernelY * p->kernelX, .bias = c->bias + first,
        .slope = c->slope ? c->slope + first : NULL, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}, .dstW = p->dstW, .dstRow = p->dstW * dstPixel, .dstPixel = dstPixel};
}

void sn_depthwise_lines(const struct sn_convolution * c, const struct sn_depthwise_rows * r, const sn_32f * src, size_t row,
                        size_t rows, size_t pixel, const sn_32f ** line)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t step = r->step;
    for (size_t y = 0; y < rows; ++y)
        for (size_t ky = 0; ky < p->kernelY; ++ky) {
            const size_t at = (row + y) * p->strideY + ky * p->dilationY - p->padY; /* wraps for those above */
            line[y * step + ky] = at < p->srcH ? src + at * p->srcW * pixel : NULL;
        }
}
