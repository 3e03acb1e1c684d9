/* Where the elements of images and the weights of convolutions lie, as include/simdnet.h has them. */
#ifndef SN_ISA_BASE_IMAGE_H
#define SN_ISA_BASE_IMAGE_H

#include "core/common.h"
#include "simdnet.h"

/* The offset in one image, NCHW or NHWC. */
static inline size_t at(SimdTensorFormatType format, size_t C, size_t H, size_t W, size_t c, size_t y, size_t x)
{
    return format == SimdTensorFormatNhwc ? (y * W + x) * C + c : (c * H + y) * W + x;
}

/* The offset of a weight of a convolution; o counts through all groups, i inside one. */
static inline size_t filter_at(const SimdConvolutionParameters * p, size_t o, size_t i, size_t ky, size_t kx)
{
    const size_t inputs = p->srcC / p->group;
    return p->srcF == SimdTensorFormatNhwc ? ((ky * p->kernelX + kx) * inputs + i) * p->dstC + o
                                           : ((o * inputs + i) * p->kernelY + ky) * p->kernelX + kx;
}

#endif
