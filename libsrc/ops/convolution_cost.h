/*
 * What convolutions should cost: the choice of an algorithm, and what else depends on such an estimate. All models, and the
 * constants that were measured for them, are in ops/convolution_cost.c.
 *
 * The bits of a result depend on the algorithm. So the choice depends on the shape and on the instruction set, never on the
 * machine, its caches, or the number of threads.
 */
#ifndef SN_OPS_CONVOLUTION_COST_H
#define SN_OPS_CONVOLUTION_COST_H

#include "ops/convolution.h"

enum { SN_MOST_ALGORITHMS = 16 };

/* The algorithms of the plan's family that admit it, in order of preference; their number. p, table, family, the sizes of
 * images and what the family has are set. */
size_t sn_convolution_admitted(const struct sn_convolution * c, const struct sn_convolution_algorithm ** list);

/* That of them which is to be taken. */
const struct sn_convolution_algorithm * sn_convolution_choice(const struct sn_convolution * c);

/* What the algorithm of the plan should take for one image, in cycles of a core that multiplies 16 floats in each; 0 where
 * there is no model. */
double sn_convolution_cycles(const struct sn_convolution * c);

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
