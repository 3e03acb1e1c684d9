/* Depthwise convolution of NHWC pixels, of floats and of bfloat16 numbers: the kernels of two families. */
#ifndef SN_CONTRACT_DEPTHWISE_H
#define SN_CONTRACT_DEPTHWISE_H

#include "contract/enums.h"
#include "runtime/common.h"

/*
 * Some rows of a depthwise convolution of NHWC pixels. Output (y, x, c), y < rows, x < dstW, c < channels, is
 *
 *     activation(bias[c] + sum over ky, kx of weight(ky, kx, c) * input)
 *
 * where input is channel c of pixel x * strideX + kx * dilationX - padX of line[y * lineStep + ky]: so lines that several
 * rows share are listed once, in order. A NULL line is outside the image and adds nothing; pixels to the left or right of
 * the srcW pixels of a line are 0. Only these channels are read and written. Weights are packed: for each vector of channels
 * (table->alignment bytes) all taps in order; the last vector may hold any values after the last channel. bias and slope
 * also have whole vectors. Inputs are floats or bfloat16 numbers, by the slot.
 */
struct sn_depthwise_nhwc {
    const void * const * line; /* (rows - 1) * lineStep + kernelY of them */
    size_t lineStep;
    size_t offset;              /* elements from the address of a line to the first channel to compute, in the first pixel */
    size_t srcW, srcPixel;      /* pixels of a line, and elements from one to the next */
    size_t kernelY, kernelX, strideX, dilationX, padX;
    size_t channels;
    const sn_32f * weight;
    const sn_32f * bias;
    const sn_32f * slope;       /* for Prelu */
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
    bool small;                 /* inputs are bfloat16 numbers: drivers choose the slot by it */
    void * dst;
    bool narrow;                /* results are rounded to bfloat16; only if inputs are such numbers */
    size_t rows, dstW;
    size_t dstRow, dstPixel;    /* results between rows and between pixels */
    bool cold;                  /* a hint: the lines are not in the caches, blocks fetch them ahead */
    bool inOrder;               /* a hint for cold lines of floats: pixel after pixel, in place of blocks; only with activations
                                   that are none or limits: Relu, RestrictRange */
    bool reused;                /* a hint: results are read at once, from the caches */
};

typedef void (*sn_depthwise_nhwc_fn)(const struct sn_depthwise_nhwc * d);

#endif
