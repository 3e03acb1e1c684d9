/* The kernels of Convolution16b, besides the tile (contract/dot.h). */
#ifndef SN_CONTRACT_CONVOLUTION_16B_H
#define SN_CONTRACT_CONVOLUTION_16B_H

#include "contract/convolution.h"
#include "contract/depthwise.h"
#include "contract/dot.h"
#include "runtime/common.h"

/* One image, a direct implementation of the formula; weights in the caller's layout, bias not NULL; `add` has floats. Floats
 * of the source are rounded, unless `exact`. Only `base` has it. */
typedef void (*sn_convolution_16b_fn)(const struct sn_convolution_parameters * p, bool exact, const sn_32f * weight,
                                      const sn_32f * bias, const sn_32f * params, const struct sn_plain * image);

/* Conversion of a sum, which includes the bias, to a result. */
struct sn_result_16b {
    bool narrow; /* results are rounded to bfloat16 */
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    const sn_32f * slope;                     /* for Prelu: one for each column, in whole vectors */
    float param[2];
};

/*
 * Packs columns of a matrix B for the tile. Element (k, j), k < depth, j < columns, is number k * step + j of b, or number
 * j * step + k of a transposed one, and becomes number (k / 2 * width + j) * 2 + k % 2 of the panel; the others, of which
 * width - columns columns and the second half of an odd depth consist, become 0. width is a multiple of the granule.
 */
struct sn_panel_16b {
    const void * b;
    bool floats; /* which are rounded; else bfloat16 numbers */
    bool transposed;
    size_t step, depth, columns, width;
    uint8_t * panel;
};
typedef void (*sn_panel_16b_fn)(const struct sn_panel_16b * p);

/*
 * The kernel that computes jobs of bfloat16 numbers by products of pairs, if all weights are such numbers; it may treat
 * subnormal numbers as zeros. NULL if the level has none for jobs of this kernel, stride, dilation, activation and number of
 * channels, the only members that are looked at.
 */
typedef sn_depthwise_nhwc_fn (*sn_depthwise_pairs_fn)(const struct sn_depthwise_nhwc * d);

/* The kernels of a level; `base` has only `plain`. */
struct sn_convolution_16b_slots {
    sn_convolution_16b_fn plain;
    struct sn_dot_tile tile;
    sn_pixels_fn pixels;
    sn_planes_fn planes;
    sn_panel_16b_fn panel;
    sn_depthwise_nhwc_fn depthwise_nhwc;
    sn_depthwise_pairs_fn depthwise_pairs;
};

#endif
