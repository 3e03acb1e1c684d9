/*
 * Cost models of convolutions, for the choice of an algorithm (plan.c) and other decisions. All models and their
 * measured constants are in cost.c.
 *
 * The bits of a result depend on the algorithm. So the choice depends on the shape and on the instruction set, never on the
 * machine, its caches, or the number of threads.
 */
#ifndef SN_OPS_CONVOLUTION_COST_H
#define SN_OPS_CONVOLUTION_COST_H

#include "ops/convolution/plan.h"

/* ---- for candidates: the cost of c->algorithm in cycles of 16 multiply-adds, for one image; and whether to choose it if it
 * supports the shape and no earlier candidate was chosen */

double sn_nhwc_cycles(const struct sn_convolution * c);
double sn_nchw_cycles(const struct sn_convolution * c);
double sn_converted_cycles(const struct sn_convolution * c);
bool sn_converted_preferred(const struct sn_convolution * c);

double sn_winograd_cycles(const struct sn_convolution * c);
bool sn_winograd_preferred(const struct sn_convolution * c);

double sn_few_nhwc_cycles(const struct sn_convolution * c);
bool sn_few_nhwc_preferred(const struct sn_convolution * c);
bool sn_few_nchw_preferred(const struct sn_convolution * c);

double sn_grouped_cycles(const struct sn_convolution * c);
bool sn_grouped_preferred(const struct sn_convolution * c);

bool sn_sliced_preferred(const struct sn_convolution * c);
double sn_depthwise_planes_cycles(const struct sn_convolution * c);
bool sn_depthwise_planes_preferred(const struct sn_convolution * c);
double sn_depthwise_nchw_cycles(const struct sn_convolution * c);
double sn_depthwise_converted_cycles(const struct sn_convolution * c);
bool sn_depthwise_converted_preferred(const struct sn_convolution * c);

double sn_col2im_cycles(const struct sn_convolution * c);
bool sn_col2im_preferred(const struct sn_convolution * c);
double sn_phases_nhwc_cycles(const struct sn_convolution * c);
double sn_phases_nchw_cycles(const struct sn_convolution * c);
double sn_phases_converted_cycles(const struct sn_convolution * c);
double sn_phases_depthwise_nchw_cycles(const struct sn_convolution * c);
double sn_phases_depthwise_converted_cycles(const struct sn_convolution * c);
bool sn_phases_depthwise_converted_preferred(const struct sn_convolution * c);
bool sn_phases_converted_preferred(const struct sn_convolution * c);

/* ---- other choices, which do not affect results */

/* Direct NHWC: whether to copy only the input of the edges, if `sides` columns of the output need padding. */
bool sn_only_edges_preferred(const struct sn_convolution * c, size_t sides);

/* Whether the inputs of neighbouring pixels evict each other from the L1 cache. */
bool sn_pixels_share_sets(const struct sn_convolution * c);

/* True if the packed weights do not stay in the L2 cache from call to call, so that they are prefetched. */
bool sn_weights_exceed_l2(const struct sn_convolution * c);

/* For struct sn_parallel: nanoseconds of all images, from the number of products of the formula. */
double sn_convolution_32f_time(const struct sn_convolution * c);
double sn_convolution_dot_time(const struct sn_convolution * c);
double sn_deconvolution_32f_time(const struct sn_convolution * c);

#endif
