/*
 * What the kernels of Convolution8i are given, besides the tile (contract/dot.h). Activations are bytes, or the same
 * numbers in 16 bits where an instruction set multiplies those; weights are signed; sums are int32 and wrap. All addresses
 * and steps of images count bytes.
 */
#ifndef SN_CONTRACT_CONVOLUTION_8I_H
#define SN_CONTRACT_CONVOLUTION_8I_H

#include "contract/convolution.h"
#include "contract/dot.h"
#include "runtime/common.h"

/* ---- base */

/* What SetParams makes of weights and statistics: one value per channel of the source, or per output channel. */
struct sn_quantised_8i {
    const int8_t * weight; /* in the caller's layout */
    const sn_32f * norm, * bias;
    const sn_32f * srcScale, * dstScale;
    float srcZero, dstZero;
    const sn_32f * params; /* of the activation, as the caller gave them */
};

/* One image, straight from the formula. Only `base` has it. */
typedef void (*sn_convolution_8i_fn)(const struct sn_convolution_parameters * p, const struct sn_quantised_8i * q,
                                     const uint8_t * src, uint8_t * dst);

/* ---- from sums to results */

/*
 * v = activation(sum * norm + bias) as a float; or as a byte, nearest(v * scale + zero) within low .. high, which are
 * bytes. All are float32 operations rounded by themselves. Arrays have one value per output channel, in whole vectors of
 * bytes.
 *
 * For bytes Relu and RestrictRange are Identity with other limits: rounding keeps the order of numbers.
 */
struct sn_result_8i {
    bool bytes;
    bool bounded; /* of bytes: no sum makes v * scale + zero leave the range of int32 */
    const sn_32f * norm, * bias;
    const sn_32f * scale;
    float zero;
    const uint8_t * low, * high;
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    const sn_32f * slope;                     /* for Prelu */
    float param[2];
};

/* ---- depthwise */

/*
 * Rows of a depthwise convolution of bytes. Any kernel: output (y, x) has tap t at src + y * strideY * srcStepY +
 * x * strideX * srcStepX + tap[t], all within the image. Kernels of 3x3 with strides of 1 or of 2, and dilations of 1, are
 * run by lines: what lies outside of srcRows lines and srcColumns pixels from src on is not read and is `zero`, `top` lines
 * and `left` pixels of it before them.
 */
struct sn_depthwise_run_8i {
    const uint8_t * src;
    size_t srcStepY, srcStepX; /* between lines and between pixels */
    size_t strideY, strideX;
    size_t kernelY, kernelX;
    const size_t * tap; /* kernelY * kernelX of them; NULL by lines */
    size_t srcRows, srcColumns, top, left;
    uint8_t zero;
    const void * weight; /* as pack() leaves them */
    size_t channels;
    uint8_t * dst;
    size_t dstStepY, dstStepX;
    size_t rows, columns;
    const struct sn_result_8i * result;
};

/* `run` is NULL where there is none. */
struct sn_depthwise_8i {
    void (*run)(const struct sn_depthwise_run_8i * d);
    size_t (*size)(size_t taps, size_t channels, bool lines); /* bytes of the packed weights */
    /*
     * From weights of [tap][channel], or, with `planes`, [channel][tap], into memory that is zero. `lines` is the stride
     * where they are for lines, else 0.
     */
    void (*pack)(const int8_t * weight, bool planes, size_t taps, size_t channels, size_t lines, void * packed);
};

/* The kernels of a level; `base` has `plain` alone. */
struct sn_convolution_8i_slots {
    sn_convolution_8i_fn plain;
    struct sn_dot_tile tile;
    struct sn_depthwise_8i depthwise;
    sn_pixels_fn pixels;
    sn_planes_fn planes;
};

#endif
