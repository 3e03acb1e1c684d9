/* Maxima and averages of images of quantised bytes. */
#ifndef SN_CONTRACT_QUANTIZED_POOLING_H
#define SN_CONTRACT_QUANTIZED_POOLING_H

#include "runtime/common.h"

/* The most of an extent of an axis: no position of a window overflows. */
enum { SN_QUANTIZED_EXTENT = 0x7FFFFFFF };

/*
 * A pooling, as SimdnetQuantizedPooling() defines it, of one image of pixels (NHWC), each of so many channels. Zeros are
 * numbers of the type of bytes, which have a sign or not.
 */
struct sn_quantized_pooling {
    size_t channels, srcH, srcW, dstH, dstW;
    size_t kernelY, kernelX, strideY, strideX, padY, padX, padH, padW;
    bool excludePad, with_sign;
    float scaleSrc, scaleDst;
    int32_t zeroSrc, zeroDst;
};

/* The inputs begin .. end - 1 of an axis that output i covers, and how many elements count without excludePad. */
struct sn_quantized_window {
    size_t begin, end, padded;
};
static inline struct sn_quantized_window sn_quantized_window(size_t i, size_t src, size_t kernel, size_t stride, size_t before,
                                                             size_t after)
{
    const size_t at = i * stride, past = at + kernel, all = src + before; /* behind the image */
    const size_t begin = sn_min(at > before ? at - before : 0, src), end = past > before ? sn_min(past - before, src) : 0;
    const size_t last = sn_min(past, all + after);
    return (struct sn_quantized_window){begin, sn_max(begin, end), last > at ? last - at : 0};
}

/* The number that the sum of a window is divided by. */
static inline float sn_quantized_count(const struct sn_quantized_pooling * p, const struct sn_quantized_window * y,
                                       const struct sn_quantized_window * x)
{
    return (float)(p->excludePad ? (y->end - y->begin) * (x->end - x->begin) : y->padded * x->padded);
}

/* What the sum of a whole image is multiplied by. */
static inline float sn_quantized_global_norm(const struct sn_quantized_pooling * p)
{
    const float all = p->scaleDst * (float)(p->srcH * p->srcW);
    return all > 0 ? p->scaleSrc / all : 0; /* of an empty image */
}

/* A row of outputs of an image. */
typedef void (*sn_quantized_pooling_fn)(const struct sn_quantized_pooling * p, const uint8_t * image, size_t y, uint8_t * dst);

/* The kernels of a level; a level has all or none, except `base`, which has the first three. */
struct sn_quantized_pooling_slots {
    sn_quantized_pooling_fn max, average;
    sn_quantized_pooling_fn global; /* the one result of each channel; y is 0 */
};

#endif
