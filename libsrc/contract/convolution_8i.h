/*
 * The kernels of Convolution8i, besides the tile (contract/dot.h). Activations are bytes, or the same numbers in 16 bits if
 * the instruction set multiplies those; weights are signed; sums are int32 and wrap on overflow. All addresses and steps of
 * images count bytes.
 */
#ifndef SN_CONTRACT_CONVOLUTION_8I_H
#define SN_CONTRACT_CONVOLUTION_8I_H

#include "contract/convolution.h"
#include "contract/dot.h"
#include "runtime/common.h"

/* ---- base */

/* Results of SetParams from weights and statistics: one value per channel of the source, or per output channel. */
struct sn_quantised_8i {
    const int8_t * weight; /* in the caller's layout */
    const sn_32f * norm, * bias;
    const sn_32f * srcScale, * dstScale;
    float srcZero, dstZero;
    const sn_32f * params; /* of the activation, as the caller gave them */
};

/* One image, a direct implementation of the formula, without an addition. Only `base` has it. */
typedef void (*sn_convolution_8i_fn)(const struct sn_convolution_parameters * p, const struct sn_quantised_8i * q,
                                     const struct sn_plain * image);

/* The same of QuantizedConvolution, whose formula is in include/simdnet.h. */
struct sn_requantised_8i {
    const int8_t * weight; /* in the caller's layout */
    const sn_32f * norm;
    const int32_t * bias;
    int32_t zero[3];       /* of the source, between sums and activation, of the destination */
    float scale;           /* between them */
    float inverse;         /* 1 / scale of the destination */
    const sn_32f * params; /* of the activation, as the caller gave them */
};
typedef void (*sn_requantised_8i_fn)(const struct sn_convolution_parameters * p, const struct sn_requantised_8i * q,
                                     const struct sn_plain * image);

/* The byte that such a convolution stores if the sum was requantised to `byte`, before an activation other than Identity. Only
 * `base` has it, so all levels have the same tables. */
typedef uint8_t (*sn_activated_8i_fn)(const struct sn_requantised_8i * q, enum sn_activation type, uint8_t byte, size_t channel);

/* ---- from sums to results */

/*
 * v = activation(sum * norm + bias) as a float; or as a byte, nearest(v * scale + zero) limited to low .. high, which are
 * bytes. All are float32 operations, each rounded. Arrays have one value per output channel, in whole vectors of bytes.
 *
 * For bytes Relu and RestrictRange are Identity with other limits, since rounding is monotonic.
 *
 * Or, with `requantised`, byte = nearest((float)(sum + first) * norm) + offset, limited to low .. high. bias, scale, zero and
 * activation are not used.
 */
struct sn_result_8i {
    bool sums; /* results are the sums, as integers of 32 bits; nothing else is used */
    bool bytes;
    bool requantised;
    const int32_t * first;
    int32_t offset;
    bool bounded; /* of bytes: they are in the range of int32 for every sum before they are limited */
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
 * Rows of a depthwise convolution of bytes. src points to srcRows lines of srcColumns pixels, and everything outside of them
 * counts as `zero` and is not read: `top` lines above and `left` pixels to the left, and as many as needed below and to the
 * right. A kernel that is not run by lines, and has more than SN_PADDED_TAPS taps, reads tap t of output (y, x) at src +
 * y * strideY * srcStepY + x * strideX * srcStepX + tap[t], all within the image.
 */
enum { SN_PADDED_TAPS = 64 };

struct sn_depthwise_run_8i {
    const uint8_t * src;
    size_t srcStepY, srcStepX; /* from line to line, and from pixel to pixel */
    size_t strideY, strideX;
    size_t kernelY, kernelX;
    size_t dilationY, dilationX; /* unless run by lines */
    const size_t * tap; /* NULL when run by lines */
    size_t srcRows, srcColumns, top, left;
    uint8_t zero;
    const void * weight; /* as packed by pack() */
    const int32_t * start; /* sums begin with it, unless run by lines, with 0; whole vectors are read */
    size_t channels;
    uint8_t * dst;
    size_t dstStepY, dstStepX;
    size_t rows, columns;
    const struct sn_result_8i * result;
};

/* `run` is NULL if the level has no such kernel. */
struct sn_depthwise_8i {
    void (*run)(const struct sn_depthwise_run_8i * d);
    /* True if a kernel runs by lines; never with dilation. */
    bool (*by_lines)(const struct sn_convolution_parameters * p);
    /* The bytes of the packed weights, less than 32 times those of the caller's floats of p->dstC + 64 channels. */
    size_t (*size)(const struct sn_convolution_parameters * p);
    /* Packs the weights, which are in the caller's layout, into zeroed memory. By lines, the order depends on strideY. */
    void (*pack)(const struct sn_convolution_parameters * p, const int8_t * weight, void * packed);
};

/*
 * Lines of bytes of a convolution whose neighbouring outputs have neighbouring inputs: tap t of output i of line y is at
 * src + y * srcStepY + i + tap[t]: those of one channel (NCHW, `plane`), or of pixels of so many channels (NHWC). Up to a
 * vector of bytes is read behind the last one that is needed. Taps of a plane may be in several planes of the source.
 */
struct sn_flat_run_8i {
    const uint8_t * src;
    size_t srcStepY;
    size_t taps;
    const size_t * tap;  /* `taps` offsets, and further ones up to a multiple of 4, which point to any byte of the lines */
    const void * weight; /* as packed by pack() */
    bool plane;
    size_t channel;      /* of the plane */
    size_t channels;     /* of pixels */
    uint8_t * dst;
    size_t dstStepY;
    size_t rows, count;  /* lines, and outputs of each */
    const struct sn_result_8i * result; /* of channel 0 on */
};

/* `run` is NULL if the level has no such kernel. */
struct sn_flat_8i {
    void (*run)(const struct sn_flat_run_8i * d);
    /* The bytes of the packed weights: for each channel and tap, their number rounded up to a multiple of 4, at most 2 for
     * planes, and 2 vectors of bytes for pixels. */
    size_t (*size)(bool planes, size_t taps, size_t channels);
    /* Packs the weights, which are in the caller's layout, into zeroed memory. */
    void (*pack)(bool planes, size_t taps, size_t channels, const int8_t * weight, void * packed);
};

/*
 * Runs of every stride-th column of a line: run f has columns f, f + stride ... and begins at dst + f * run, in bytes.
 * Those of the first `phases` columns are written, at most `stride`. A column is a pixel of so many bytes, fewer than a
 * vector has. Up to `stride` vectors are read behind the line, and up to one is written behind the last run.
 */
struct sn_phases_8i {
    size_t columns, pixel;
    size_t stride, phases;
    size_t run;
};
typedef void (*sn_phases_fn)(const struct sn_phases_8i * p, const uint8_t * src, uint8_t * dst);

/* ---- Winograd's algorithm: kernels/winograd/8i.c has the matrices */

enum {
    SN_WINOGRAD_8I_BLOCK = 4, /* rows and columns of outputs of a tile, */
    SN_WINOGRAD_8I_SIDE = 6,  /* of its inputs, and of its coefficients */
    SN_WINOGRAD_8I_PLANES = SN_WINOGRAD_8I_SIDE * SN_WINOGRAD_8I_SIDE,
};

/*
 * Transforms tilesY x tilesX tiles of lines of pixels of 16-bit numbers, 0 to 255: coefficient t of tile i of channel c is the
 * 16-bit number c at dst + t * plane + i * tile. Tiles may extend beyond the lines and columns, where their inputs are any of
 * the numbers. Of an odd number of channels, the coefficient of another one is 0.
 */
struct sn_winograd_input_8i {
    const uint8_t * src;
    size_t stepY, stepX;
    size_t lines, columns;
    size_t channels;
    size_t tilesY, tilesX;
    uint8_t * dst;
    size_t plane, tile;
};

/*
 * Transforms products, int32 numbers, to sums, and these to results: coefficient t of tile i and channel c is
 * src[t * plane + i * tile + c], in whole vectors. `start` is added to the sums. There are rows x columns outputs.
 */
struct sn_winograd_output_8i {
    const int32_t * src;
    size_t plane, tile;
    size_t tilesY, tilesX;
    const int32_t * start;
    const struct sn_result_8i * result;
    size_t channels; /* at most those of a panel of the tile */
    uint8_t * dst;
    size_t stepY, stepX;
    size_t rows, columns;
};

/* NULL if the level has none. */
struct sn_winograd_8i {
    void (*input)(const struct sn_winograd_input_8i * w);
    void (*output)(const struct sn_winograd_output_8i * w);
};

/* Converts sums of pixels, exact integers as floats, to results; pixels are dense, and `sums` is used as scratch, up to a vector
 * of them behind the last. NULL if the level multiplies groups of bytes, or floats without FMA. */
typedef void (*sn_sums_8i_fn)(sn_32f * sums, const struct sn_result_8i * result, size_t channels, size_t pixels, uint8_t * dst,
                              size_t dstStep);

/* The kernels of a level; `base` has only the first three. */
struct sn_convolution_8i_slots {
    sn_convolution_8i_fn plain;
    sn_requantised_8i_fn requantised;
    sn_activated_8i_fn activated;
    struct sn_dot_tile tile;
    struct sn_depthwise_8i depthwise;
    struct sn_flat_8i flat;
    struct sn_winograd_8i winograd;
    sn_sums_8i_fn sums;
    sn_pixels_fn pixels;
    sn_planes_fn planes;
    sn_phases_fn phases;
};

#endif
