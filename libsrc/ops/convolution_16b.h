/* Convolution of bfloat16 numbers: the choice of an algorithm, and what SetParams makes of weights. */
#ifndef SN_OPS_CONVOLUTION_16B_H
#define SN_OPS_CONVOLUTION_16B_H

#include "ops/convolution_dot.h"

/* base has the first. */
extern const struct sn_convolution_dot_way sn_convolution_16b_base, sn_convolution_16b_depthwise;

/* Chooses the algorithm and computes all sizes for p, batch and table, which are set; false: one is too large. */
bool sn_convolution_16b_plan(struct sn_convolution_dot * c);

/* Takes in weights, bias (may be NULL) and parameters; false without memory, and then the plan is as before. */
bool sn_convolution_16b_set(struct sn_convolution_dot * c, const sn_32f * weight, const sn_32f * bias,
                            const sn_32f * params);

/* The results of channels from `first` of the spread arrays on. */
struct sn_result_16b sn_result_16b_of(const struct sn_convolution_dot * c, size_t first);

#endif
