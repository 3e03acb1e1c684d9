/* Convolution of floats: the family, and its algorithms, each 32f_<name>.c. */
#ifndef SN_OPS_CONVOLUTION_32F_H
#define SN_OPS_CONVOLUTION_32F_H

#include "ops/convolution/plan.h"

extern const struct sn_convolution_family sn_convolution_32f;
extern const struct sn_candidate sn_convolution_32f_candidates[];

/* The loops of the formula, with weights and parameters in the caller's layout; the only one of `base`. */
extern const struct sn_convolution_algorithm sn_convolution_32f_base;

/* By vectors of channels: of the image, of several pixels of few, of slices of its channels, of converted planes; by vectors
 * of pixels: in place, or of copied lines. */
extern const struct sn_convolution_algorithm sn_convolution_32f_depthwise_nhwc, sn_convolution_32f_depthwise_flat,
    sn_convolution_32f_depthwise_sliced, sn_convolution_32f_depthwise_converted, sn_convolution_32f_depthwise_planes,
    sn_convolution_32f_depthwise_nchw;

/* Few outputs in a group: of one group in NHWC, of several, in NCHW, of one group in NCHW by NHWC. */
extern const struct sn_convolution_algorithm sn_convolution_32f_few_nhwc, sn_convolution_32f_few_grouped,
    sn_convolution_32f_few_nchw, sn_convolution_32f_few_converted;

/* Whether few outputs in NHWC are computed as short sums, see contract/convolution_32f.h, or in parts. */
bool sn_few_nhwc_is_short(const struct sn_convolution * c);
bool sn_few_nhwc_is_in_parts(const struct sn_convolution * c);

/* Few channels a group, by vectors of several groups; NCHW is converted. */
extern const struct sn_convolution_algorithm sn_convolution_32f_grouped_nhwc, sn_convolution_32f_grouped_nchw;

/* Winograd's; the variant is its enum sn_winograd. */
extern const struct sn_convolution_algorithm sn_convolution_32f_winograd_2, sn_convolution_32f_winograd_3,
    sn_convolution_32f_winograd_4, sn_convolution_32f_winograd_strided_2, sn_convolution_32f_winograd_strided_4,
    sn_convolution_32f_winograd_row_3, sn_convolution_32f_winograd_row_6_3, sn_convolution_32f_winograd_row_5,
    sn_convolution_32f_winograd_row_7, sn_convolution_32f_winograd_column_7,
    sn_convolution_32f_winograd_column_3, sn_convolution_32f_winograd_column_6_3, sn_convolution_32f_winograd_column_5,
    sn_convolution_32f_winograd_5;

/* NHWC with one input in each group, and the cost of the direct algorithm for these. */
extern const struct sn_convolution_algorithm sn_convolution_32f_one_input;
double sn_one_input_direct(const struct sn_convolution * c);

/* By the GEMM tile: NHWC, NCHW converted to it, NCHW. */
extern const struct sn_convolution_algorithm sn_convolution_32f_nhwc, sn_convolution_32f_converted, sn_convolution_32f_nchw;

/* For `base`, also of deconvolutions: supports() is true if the level has no tile. */
bool sn_base_supports(const struct sn_convolution * c);
bool sn_base_plan(struct sn_convolution * c);
void sn_base_pack(const struct sn_convolution * c, const void * weight);

/* tile() and set_params() of the family; set_params() spreads the bias and returns the caller's weights. */
struct sn_tile_shape sn_tile_32f(const struct sn_table * table);
const void * sn_convolution_32f_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                           struct sn_fault * fault);

#endif
