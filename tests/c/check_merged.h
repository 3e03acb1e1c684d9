/* Shapes of merged convolutions of bytes, for their checks. */
#ifndef CHECK_MERGED_H
#define CHECK_MERGED_H

#include "check_convolution.h"

enum { CHECK_STAGES = 3 };

static inline size_t check_merged_weights(const SimdConvolutionParameters * p)
{
    return p->kernelY * p->kernelX * p->srcC / p->group * p->dstC;
}

static inline size_t check_merged_image(const SimdConvolutionParameters * p) { return p->dstH * p->dstW * p->dstC; }

static inline SimdConvolutionParameters check_merged_stage(size_t c, size_t h, size_t w, size_t o, size_t kernel, size_t stride,
                                                           size_t pad, size_t group)
{
    SimdConvolutionParameters p = check_convolution_shape(SimdTensorFormatNhwc, c, h, w, o, kernel, stride, pad, group);
    p.srcT = p.dstT = SimdTensorData8u;
    return p;
}

/* Expansion, depthwise, projection; `which` 1 and 2 leave out the last and the first. Returns their number. */
static inline size_t check_merged_block(SimdConvolutionParameters * p, size_t c, size_t side, size_t middle, size_t kernel,
                                        size_t stride, size_t o, size_t which)
{
    p[0] = check_merged_stage(c, side, side + 1, middle, side % 2 ? 1 : 3, 1, side % 2 ? 0 : 1, 1);
    p[1] = check_merged_stage(middle, p[0].dstH, p[0].dstW, middle, kernel, stride, kernel / 2, middle);
    p[2] = check_merged_stage(middle, p[1].dstH, p[1].dstW, o, 1, 1, 0, 1);
    if (which == 2)
        p[0] = p[1], p[1] = p[2];
    return which ? 2 : CHECK_STAGES;
}

#endif
