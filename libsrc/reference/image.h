/* The offsets of the elements of images and of the weights of convolutions, as defined in include/simdnet.h. */
#ifndef SN_REFERENCE_IMAGE_H
#define SN_REFERENCE_IMAGE_H

#include "contract/convolution.h"
#include "runtime/common.h"

/* The offset in one image, NCHW or NHWC. */
static inline size_t at(enum sn_format format, size_t C, size_t H, size_t W, size_t c, size_t y, size_t x)
{
    return format == SN_NHWC ? (y * W + x) * C + c : (c * H + y) * W + x;
}

/* From the element of a channel to that of the next, so that a sum over channels computes one offset for each tap. */
static inline size_t next_channel(enum sn_format format, size_t H, size_t W) { return format == SN_NHWC ? 1 : H * W; }

/* The offset of a weight of a convolution; o counts through all groups, i within one. */
static inline size_t filter_at(const struct sn_convolution_parameters * p, size_t o, size_t i, size_t ky, size_t kx)
{
    const size_t inputs = p->srcC / p->group;
    return p->srcF == SN_NHWC ? ((ky * p->kernelX + kx) * inputs + i) * p->dstC + o
                                           : ((o * inputs + i) * p->kernelY + ky) * p->kernelX + kx;
}

/* From the weight of an input channel to that of the next. */
static inline size_t next_filter(const struct sn_convolution_parameters * p)
{
    return p->srcF == SN_NHWC ? p->dstC : p->kernelY * p->kernelX;
}

#endif
