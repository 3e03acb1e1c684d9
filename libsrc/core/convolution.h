/* What the kernels of convolutions are given, besides the GEMM tile (core/gemm.h). */
#ifndef SN_CORE_CONVOLUTION_H
#define SN_CORE_CONVOLUTION_H

#include "core/common.h"
#include "simdnet.h"

/*
 * Some rows of a depthwise convolution of NHWC pixels. Output (y, x, c), y < rows, x < dstW, c < channels, is
 *
 *     activation(bias[c] + sum over ky, kx of weight(ky, kx, c) * input)
 *
 * where input is channel c of pixel x * strideX + kx * dilationX - padX of line[y * lineStep + ky]: so the lines that
 * several rows share are there once, in their order. A line that is NULL lies outside the image, and adds nothing; so is 0
 * what lies left or right of the srcW pixels of a line. Exactly the channels that are meant are read and written. Weights
 * are packed: for each vector of channels (table->alignment bytes) all taps, one after the other; in the last one there may
 * be anything behind the last channel. bias and slope also have whole vectors.
 */
struct sn_depthwise_nhwc_32f {
    const sn_32f * const * line; /* (rows - 1) * lineStep + kernelY of them */
    size_t lineStep;
    size_t offset;              /* floats from where a line points to the first channel of its first pixel that are meant */
    size_t srcW, srcPixel;      /* pixels of a line, and floats between them */
    size_t kernelY, kernelX, strideX, dilationX, padX;
    size_t channels;
    const sn_32f * weight;
    const sn_32f * bias;
    const sn_32f * slope;       /* for Prelu */
    SimdConvolutionActivationType activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
    sn_32f * dst;
    size_t rows, dstW;
    size_t dstRow, dstPixel;    /* floats between rows and between pixels */
};
typedef void (*sn_depthwise_nhwc_32f_fn)(const struct sn_depthwise_nhwc_32f * d);

/*
 * `rows` output rows of a depthwise convolution of one channel: the sum over ky and kx of weight[ky * kernelX + kx] *
 * src[ky * tapStep + tap[kx] + x], for x of 0 .. columns - 1. Up to a vector of floats behind the last input is read.
 */
struct sn_depthwise_nchw_32f {
    const sn_32f * src;
    size_t srcStep; /* floats between the inputs of neighbouring rows */
    size_t tapStep; /* and between those of neighbouring rows of taps */
    const size_t * tap;
    size_t kernelY, kernelX;
    const sn_32f * weight;
    float bias, slope;
    SimdConvolutionActivationType activation;
    float param[2];
    sn_32f * dst;
    size_t rows, columns;
};
typedef void (*sn_depthwise_nchw_32f_fn)(const struct sn_depthwise_nchw_32f * d);

/* Outputs of what follows, at most. */
enum { SN_FEW = 4 };

/*
 * Few outputs in NHWC are asked for as a column of the GEMM tile (core/gemm.h), but with another B: `columns`, at most
 * SN_FEW, rows of segments * length floats, and a row of zeros behind three. cStepX is `columns`. bias and slope are a
 * vector of floats that has the values of a pixel again and again, with a zero behind three. No `from`, no `ahead`.
 *
 * In NCHW: row y < rows of output o < outputs is, for x < columns,
 *
 *     dst[o * dstPlane + y * dstRow + x] = activation(bias[o] + sum over k < depth of
 *                                                     weight[o * step + k] * src[offset[k] + y * srcRow + x])
 */
struct sn_few_nchw_32f {
    const sn_32f * src;
    const size_t * offset;
    size_t depth;
    const sn_32f * weight;
    size_t step;
    const sn_32f * bias;
    const sn_32f * slope; /* for Prelu */
    SimdConvolutionActivationType activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
    sn_32f * dst;
    size_t outputs, rows, columns;
    size_t srcRow, dstRow, dstPlane;
};
typedef void (*sn_few_nchw_32f_fn)(const struct sn_few_nchw_32f * f);

/*
 * A panel of B for the tile from the planes of an image: row k has, for each piece in turn, `count` floats from
 * src + offset[k] + from on, then zeros. With `exact` no others are read; without, up to a vector behind each piece. Rows
 * are `width` floats; up to a vector behind the last one is written.
 */
struct sn_columns_32f {
    const sn_32f * src;
    const size_t * offset;
    size_t depth;
    const struct sn_piece { size_t from, count; } * piece;
    size_t pieces;
    bool exact;
    sn_32f * panel;
    size_t width;
};
typedef void (*sn_columns_32f_fn)(const struct sn_columns_32f * g);

/*
 * Rows of values that come in turn from 2 or 4 phases: dst[row * dstStep + i] is src[row * srcStep + i % phases * phaseStep
 * + i / phases] for i < size. Up to a vector of floats behind those of a phase is read.
 */
struct sn_interleave_32f {
    const sn_32f * src;
    size_t phases, phaseStep, srcStep;
    sn_32f * dst;
    size_t dstStep;
    size_t rows, size;
};
typedef void (*sn_interleave_32f_fn)(const struct sn_interleave_32f * job);

/*
 * dst[i * columns + j] = activation(dst[i * columns + j] + add[i * columns + j]) for i < rows, j < columns. The slope of a
 * Prelu is slope[j], or, with byRow, slope[(first + i) / period % slopes].
 */
struct sn_join_32f {
    const sn_32f * add;
    sn_32f * dst;
    size_t rows, columns;
    const sn_32f * slope;
    bool byRow;
    size_t first, period, slopes;
    SimdConvolutionActivationType activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
};
typedef void (*sn_join_32f_fn)(const struct sn_join_32f * j);

/*
 * Copies lines with their padding: each gets `before` zeros, then src[i * stride] for i < inside, then zeros up to `size`
 * floats. Exactly those are read and written.
 */
struct sn_lines_32f {
    const sn_32f * src;
    size_t srcStep, stride;
    sn_32f * dst;
    size_t dstStep;
    size_t lines, before, inside, size;
};
typedef void (*sn_lines_32f_fn)(const struct sn_lines_32f * l);

#endif
