/* The kernels of convolutions of floats, besides the GEMM tile (contract/gemm.h). */
#ifndef SN_CONTRACT_CONVOLUTION_32F_H
#define SN_CONTRACT_CONVOLUTION_32F_H

#include "contract/convolution.h"
#include "contract/depthwise.h"
#include "contract/gemm.h"
#include "runtime/common.h"

/*
 * Some rows of a convolution of NHWC pixels with few channels a group. Its lanes are output channels, of several groups side
 * by side if they fit: a unit is `groups` groups, with srcUnit = groups * inputs input channels and dstUnit outputs. With
 * several groups each of both is at most a vector; a unit of one group may have any number of outputs. Vector v of unit u
 * computes outputs u * dstUnit + v * V32F_N + l for lanes l; the last unit may have fewer groups. The sum of lane l runs over
 * ky, parts of kx, step < inputs and the kx of a part, in this order; parts are SN_GROUPED_TAPS taps, the last one may be
 * shorter. The input channel of a step in a unit of one group is `step`, in others lookup[step * V32F_N + l].
 *
 * Lines, pixels and activations are those of struct sn_depthwise_nhwc. Weights are packed: those of all lanes for each
 * unit, vector, ky, part of kx, step and kx in this order; bias and slope have a value for each lane.
 */
enum {
    SN_GROUPED_TAPS = 3,
    SN_GROUPED_INPUTS = 32, /* the most inputs of a group */
    SN_GROUPED_PIXELS = 64, /* the most of 7 * strideX + (kernelX - 1) * dilationX + 1 */
};
struct sn_grouped_nhwc_32f {
    const sn_32f * const * line;
    size_t lineStep;
    size_t offset;              /* floats from the address of a line to the first channel to compute, in the first pixel */
    size_t srcW, srcPixel;
    size_t kernelY, kernelX, strideX, dilationX, padX;
    size_t units, groups, inputs;
    size_t srcUnit, dstUnit;
    size_t srcC, dstC;          /* channels from the first to compute to the end of a pixel that may be read, and written */
    const sn_32f * end;         /* of the lines, if what is between their pixels may be read, too; or NULL */
    const int32_t * lookup;
    bool aligned;               /* the lookup of step 0 is lane l for each l */
    const sn_32f * weight, * bias;
    const sn_32f * slope;       /* for Prelu */
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
    sn_32f * dst;
    size_t rows, dstW;
    size_t dstRow, dstPixel;    /* floats between rows and between pixels */
};
typedef void (*sn_grouped_nhwc_32f_fn)(const struct sn_grouped_nhwc_32f * g);

/*
 * `rows` output rows of a depthwise convolution of one channel: the sum over ky and kx of weight[ky * kernelX + kx] *
 * src[ky * tapStep + tap[kx] + x], for x of 0 .. columns - 1. If there are fewer columns than lanes, up to a vector of floats
 * after the last input is read.
 *
 * Kernels of SN_LARGE_ROWS rows and more, for rows whose inputs are neighbours, are computed in blocks of
 * `depthwise_nchw_rows` rows and at most `depthwise_nchw_vectors` vectors, numbers of the level, if there are as many rows and
 * more columns than lanes; not kernels of 5x5 with vectors of 16 floats.
 *
 * With a period, all rows are one, of outputs whose inputs for each tap are neighbours across the ends of rows. Products with
 * inputs of another row are left out: output x has those of column kx of the taps if int x % period of `inside` +
 * kx * insideStep is -1, not if it is 0. Each of these arrays has as many ints more than a period as `depthwise_nchw_run`, and a
 * period is at least as many. All outputs have the products of column `middle`.
 */
enum { SN_LARGE_ROWS = 5 };

struct sn_depthwise_nchw_32f {
    const sn_32f * src;
    size_t srcStep; /* floats between the inputs of neighbouring rows */
    size_t tapStep; /* floats between the inputs of neighbouring rows of taps */
    const size_t * tap;
    size_t kernelY, kernelX;
    const sn_32f * weight;
    float bias, slope;
    enum sn_activation activation;
    float param[2];
    sn_32f * dst;
    size_t dstStep; /* floats between rows */
    size_t rows, columns;
    const sn_32i * inside;
    size_t insideStep, period, middle;
};
typedef void (*sn_depthwise_nchw_32f_fn)(const struct sn_depthwise_nchw_32f * d);

/*
 * A depthwise convolution of one channel by 3x3 without stride: row y < rows of the result, which is dense, is, for
 * x < columns,
 *
 *     activation(bias + sum over ky and kx of weight[ky * 3 + kx] * src[(y + ky - padY) * width + x + kx - padX])
 *
 * where inputs outside of the plane of height x width are zeros.
 */
struct sn_depthwise_plane_32f {
    const sn_32f * src;
    size_t height, width;
    size_t padY, padX;
    const sn_32f * weight;
    float bias, slope;
    enum sn_activation activation;
    float param[2];
    sn_32f * dst;
    size_t rows, columns;
};
typedef void (*sn_depthwise_plane_32f_fn)(const struct sn_depthwise_plane_32f * d);

/* The maximum number of outputs of the following kernels, and of that for NCHW; the most steps of short sums, and the fewest
 * floats of a vector of levels that have them. */
enum { SN_FEW = 4, SN_FEW_NCHW = 64, SN_FEW_SHORT = 64, SN_FEW_SHORT_LANES = 8 };

/*
 * Few outputs in NHWC have the same arguments as the GEMM tile (contract/gemm.h), but a different B: `columns`, at most
 * SN_FEW, rows of segments * length floats; three rows are followed by a row of zeros. cStepX is `columns`. bias and slope
 * are a vector of floats that repeats the values of a pixel; three values are followed by a zero. `from` and `ahead` are not
 * used. With `shortSums`, the lanes of a vector are results of several neighbouring pixels, whose inputs are in one vector, and
 * each step of the sum selects an input for each lane: segments are at most a vector long, sums have at most SN_FEW_SHORT steps,
 * and there may be more than SN_FEW outputs, up to half of a vector.
 *
 * In NCHW: row y < rows of output o < outputs is, for x < columns,
 *
 *     dst[o * dstPlane + y * dstRow + x] = activation(bias[o] + sum over k < depth of
 *                                                     weight[o * step + k] * src[offset[k] + y * srcRow + x])
 *
 * More than SN_FEW outputs are in parts of about equal size, as few as there can be of at most `few_nchw_part` outputs, a
 * number of the level: part i of n begins with output i * outputs / n. With `first` this one, the weight of output o of the
 * part, of `count`, is weight[first * depth + k * count + o]; a float after the last one is read.
 */
struct sn_few_nchw_32f {
    const sn_32f * src;
    const size_t * offset;
    size_t depth;
    const sn_32f * weight;
    size_t step;
    const sn_32f * bias;
    const sn_32f * slope; /* for Prelu */
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
    sn_32f * dst;
    size_t outputs, rows, columns;
    size_t srcRow, dstRow, dstPlane;
};
typedef void (*sn_few_nchw_32f_fn)(const struct sn_few_nchw_32f * f);

/*
 * One row of a convolution of NHWC pixels with at most SN_FEW outputs in each of several groups. Its lanes are inputs of a
 * group, and a unit is V32F_N sums: those of neighbouring groups, where three outputs count as four.
 *
 * Lines, pixels and activations are those of struct sn_depthwise_nhwc. Weights are packed: a vector of inputs, with zeros after
 * the last one of a group, for each unit, ky, kx, vector of a group and sum in this order; those of sums that do not exist are
 * zeros. bias and slope have a value for each sum.
 */
struct sn_few_grouped_32f {
    const sn_32f * const * line; /* kernelY of them */
    size_t srcW, srcPixel;
    size_t kernelY, kernelX, strideX, dilationX, padX;
    size_t groups, inputs, outputs; /* inputs and outputs of a group */
    const sn_32f * weight;
    const sn_32f * bias;
    const sn_32f * slope; /* for Prelu */
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
    sn_32f * dst;
    size_t dstW, dstPixel;
};
typedef void (*sn_few_grouped_32f_fn)(const struct sn_few_grouped_32f * f);

/*
 * Gathers a panel of B for the tile from the planes of an image: row k has, for each piece in order, `count` floats from
 * src + offset[k] + from on, then zeros. With `exact` no other floats are read; without, up to a vector after each piece.
 * Rows have `width` floats; up to a vector after the last row is written.
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
 * dst[i * dstStep + j] = activation(dst[i * dstStep + j] + add[i * addStep + j]) for i < rows, j < columns. The slope of a
 * Prelu is slope[j], or, with byRow, slope[(first + i) / period % slopes].
 */
struct sn_join_32f {
    const sn_32f * add;
    sn_32f * dst;
    size_t rows, columns;
    size_t addStep, dstStep;
    const sn_32f * slope;
    bool byRow;
    size_t first, period, slopes;
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
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

/* One image, a direct implementation of the formula; all arrays as in the public function, bias not NULL. Only `base` has
 * it. */
typedef void (*sn_convolution_32f_fn)(const struct sn_convolution_parameters * p, const sn_32f * weight, const sn_32f * bias,
                                      const sn_32f * params, const struct sn_plain * image);

/* The kernels of a level; `base` has only `plain`. */
struct sn_convolution_32f_slots {
    sn_convolution_32f_fn plain;
    sn_depthwise_nhwc_fn depthwise_nhwc;
    sn_depthwise_nchw_32f_fn depthwise_nchw;
    size_t depthwise_nchw_rows, depthwise_nchw_vectors; /* of a block of a large kernel, see struct sn_depthwise_nchw_32f */
    size_t depthwise_nchw_run;
    sn_depthwise_plane_32f_fn depthwise_plane;
    sn_grouped_nhwc_32f_fn grouped_nhwc;
    sn_gemm_32f_fn few_nhwc;
    sn_few_nchw_32f_fn few_nchw;
    size_t few_nchw_part; /* the most outputs of a part, see struct sn_few_nchw_32f */
    sn_few_grouped_32f_fn few_grouped;
    sn_columns_32f_fn columns;
    sn_join_32f_fn join;
    sn_lines_32f_fn lines;
};

#endif
