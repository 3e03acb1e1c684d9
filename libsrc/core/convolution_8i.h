/*
 * What the kernels of Convolution8i are given. Activations are bytes, or the same numbers in 16 bits where an instruction
 * set multiplies those; weights are signed; sums are int32 and wrap. All addresses and steps of images count bytes.
 */
#ifndef SN_CORE_CONVOLUTION_8I_H
#define SN_CORE_CONVOLUTION_8I_H

#include "core/common.h"
#include "simdnet.h"

/* ---- base */

/* What SetParams makes of weights and statistics: one value per channel of the source, or per output channel. */
struct sn_quantised_8i {
    const int8_t * weight; /* in the caller's layout */
    const float * norm, * bias;
    const float * srcScale, * dstScale;
    float srcZero, dstZero;
    const float * params; /* of the activation, as the caller gave them */
};

/* One image, straight from the formula. Only `base` has it. */
typedef void (*sn_convolution_8i_fn)(const SimdConvolutionParameters * p, const struct sn_quantised_8i * q,
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
    bool tame; /* of bytes: no sum makes v * scale + zero leave the range of int32 */
    const float * norm, * bias;
    const float * scale;
    float zero;
    const uint8_t * low, * high;
    SimdConvolutionActivationType activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    const float * slope;                      /* for Prelu */
    float param[2];
};

/* ---- the tile: core/gemm.h tells what a run computes, and how a convolution becomes one */

struct sn_gemm_8i {
    const uint8_t * a; /* rows (y, x) at a + y * aStepY + x * aStepX */
    size_t height, width;
    size_t aStepY, aStepX;
    const size_t * segment; /* offsets in a row, `segments` of them */
    size_t segments, length; /* of as many groups of `group` numbers, 4 bytes, each; the last ones may meet weights of 0 */

    const void * b; /* [segments * length][width of the panel][group] weights, zeros beyond `columns`; aligned */
    size_t columns; /* 1 .. tile->columns */
    const int32_t * start; /* of the sums; see biased below */

    uint8_t * c; /* rows (y, x) at c + y * cStepY + x * cStepX, `columns` results each */
    size_t cStepY, cStepX;
    const struct sn_result_8i * result; /* its arrays begin with the first column */
};

typedef void (*sn_gemm_8i_fn)(const struct sn_gemm_8i * gemm);

/* The tile of an instruction set, with what its drivers must know; run is NULL where there is none. */
struct sn_gemm_8i_tile {
    sn_gemm_8i_fn run;
    size_t rows;    /* of the largest register tile */
    size_t columns; /* of a panel of B */
    size_t granule; /* the last panel is narrowed to a multiple of this */
    size_t group;   /* 4: activations and weights are bytes; 2: both are 16 bits */
    bool biased;    /* the tile multiplies activations less 128, so sums start with 128 * (sum of the weights) */
};

/* ---- depthwise */

/*
 * Rows of a depthwise convolution of bytes (pixels of `channels` bytes, nothing outside the image): output (y, x) has tap
 * t at src + y * srcStepY + x * srcStepX + tap[t].
 */
struct sn_depthwise_run_8i {
    const uint8_t * src;
    size_t srcStepY, srcStepX;
    const size_t * tap; /* kernelY * kernelX of them */
    size_t kernelY, kernelX;
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
    size_t (*size)(size_t taps, size_t channels); /* bytes of the packed weights */
    /* From weights of [tap][channel], or, with `planes`, [channel][tap], into memory that is zero. */
    void (*pack)(const int8_t * weight, bool planes, size_t kernelY, size_t kernelX, size_t channels, void * packed);
};

/* ---- images to bytes and back */

/*
 * Pixels of an image, NHWC or NCHW, bytes or floats, as bytes (or, wide, as 16 bits) of NHWC. Channel c of pixel i is
 * element i * srcPixel + c * srcChannel of src, and goes to dst + i * dstPixel + c * (1 or 2). One of the two steps of
 * src is 1.
 */
struct sn_pixels_8i {
    const void * src;
    bool floats; /* byte: nearest(x * scale[c] + zero) within 0 .. 255, 0 of a NaN */
    size_t srcPixel, srcChannel;
    const float * scale;
    float zero;
    size_t channels, pixels;
    uint8_t * dst;
    size_t dstPixel;
    bool wide;
};
typedef void (*sn_pixels_8i_fn)(const struct sn_pixels_8i * p);

/* Channel c of pixel i, byte src[i * step + c], to dst[c * plane + i]. */
typedef void (*sn_planes_8u_fn)(const uint8_t * src, size_t step, size_t channels, size_t pixels, uint8_t * dst,
                                size_t plane);

/* ---- limit */

/* Does about that many operations as fast as the tile's multiplication can go, two for a product; returns how many. */
typedef size_t (*sn_dot_work_fn)(size_t operations);

#endif
