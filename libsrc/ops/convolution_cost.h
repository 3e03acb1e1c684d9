/*
 * What convolutions should cost, for the choice of an algorithm (ops/convolution.c), and for what else depends on such an
 * estimate. All models, and the constants that were measured for them, are in ops/convolution_cost.c.
 *
 * The bits of a result depend on the algorithm. So the choice depends on the shape and on the instruction set, never on the
 * machine, its caches, or the number of threads.
 */
#ifndef SN_OPS_CONVOLUTION_COST_H
#define SN_OPS_CONVOLUTION_COST_H

#include "ops/convolution.h"

/* ---- for candidates: what c->algorithm should take, in cycles of 16 multiply-adds, for one image; and whether that is
 * reason to take it, where it admits the shape and none was taken before it */

double sn_nhwc_cycles(const struct sn_convolution * c);
double sn_nchw_cycles(const struct sn_convolution * c);
double sn_converted_cycles(const struct sn_convolution * c);
bool sn_converted_pays(const struct sn_convolution * c);

double sn_winograd_cycles(const struct sn_convolution * c);
bool sn_winograd_pays(const struct sn_convolution * c);

double sn_few_nhwc_cycles(const struct sn_convolution * c);
bool sn_few_nhwc_pays(const struct sn_convolution * c);
bool sn_few_nchw_pays(const struct sn_convolution * c);

bool sn_sliced_pays(const struct sn_convolution * c);
double sn_depthwise_nchw_cycles(const struct sn_convolution * c);
double sn_depthwise_converted_cycles(const struct sn_convolution * c);
bool sn_depthwise_converted_pays(const struct sn_convolution * c);

double sn_phases_nchw_cycles(const struct sn_convolution * c);
double sn_phases_converted_cycles(const struct sn_convolution * c);
bool sn_phases_converted_pays(const struct sn_convolution * c);

/* ---- other choices, of which no bit depends */

/* Direct NHWC: whether to copy what the edges need and no more, where `sides` columns of the output need padding. */
bool sn_only_edges_pay(const struct sn_convolution * c, size_t sides);

/* Whether the inputs of neighbouring pixels drive each other out of the first cache. */
bool sn_pixels_share_sets(const struct sn_convolution * c);

/* Whether the second cache does not hold the packed weights from one call to the next, so that they are fetched ahead. */
bool sn_weights_are_far(const struct sn_convolution * c);

/* For struct sn_parallel: nanoseconds of all images, by the number of products of the formula. */
double sn_convolution_32f_time(const struct sn_convolution * c);
double sn_convolution_dot_time(const struct sn_convolution * c);
double sn_deconvolution_32f_time(const struct sn_convolution * c);

#endif
