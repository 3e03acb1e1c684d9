/* What the kernels of convolutions are given, besides the GEMM tile (core/gemm.h). */
#ifndef SN_CORE_CONVOLUTION_H
#define SN_CORE_CONVOLUTION_H

#include "core/common.h"
#include "simdnet.h"

/*
 * Output rows begin .. end - 1 of a depthwise convolution of one NHWC image. Weights lie as [kernelY][kernelX][width], bias and
 * slope have `width` floats, the number of channels rounded up to whole vectors.
 */
struct sn_depthwise_nhwc_32f {
    const SimdConvolutionParameters * p;
    const float * weight;
    const float * bias;
    const float * slope; /* for Prelu */
    size_t width;
    SimdConvolutionActivationType activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
    const float * src;
    float * dst;
    size_t begin, end;
};
typedef void (*sn_depthwise_nhwc_32f_fn)(const struct sn_depthwise_nhwc_32f * d);

/*
 * `rows` output rows of a depthwise convolution of one channel: the sum over ky and kx of weight[ky * kernelX + kx] *
 * src[ky * tapStep + tap[kx] + x], for x of 0 .. columns - 1. Up to a vector of floats behind the last input is read.
 */
struct sn_depthwise_nchw_32f {
    const float * src;
    size_t srcStep; /* floats between the inputs of neighbouring rows */
    size_t tapStep; /* and between those of neighbouring rows of taps */
    const size_t * tap;
    size_t kernelY, kernelX;
    const float * weight;
    float bias, slope;
    SimdConvolutionActivationType activation;
    float param[2];
    float * dst;
    size_t rows, columns;
};
typedef void (*sn_depthwise_nchw_32f_fn)(const struct sn_depthwise_nchw_32f * d);

/*
 * A panel of B for the tile from the planes of an image: row k has, for each piece in turn, `count` floats from
 * src + offset[k] + from on. With `exact` no others are read; without, up to a vector behind each piece. Rows are `width`
 * floats, a multiple of the tile's granule; up to a vector behind the last one is written.
 */
struct sn_columns_32f {
    const float * src;
    const size_t * offset;
    size_t depth;
    const struct sn_piece { size_t from, count; } * piece;
    size_t pieces;
    bool exact;
    float * panel;
    size_t width;
};
typedef void (*sn_columns_32f_fn)(const struct sn_columns_32f * g);

/*
 * Copies lines with their padding: each gets `before` zeros, then src[i * stride] for i < inside, then zeros up to `size`
 * floats. Exactly those are read and written.
 */
struct sn_lines_32f {
    const float * src;
    size_t srcStep, stride;
    float * dst;
    size_t dstStep;
    size_t lines, before, inside, size;
};
typedef void (*sn_lines_32f_fn)(const struct sn_lines_32f * l);

#endif
