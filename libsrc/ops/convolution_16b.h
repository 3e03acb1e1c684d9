/* Convolution of bfloat16 numbers: the family, and its algorithms beside that of the tile (ops/convolution_dot.h). */
#ifndef SN_OPS_CONVOLUTION_16B_H
#define SN_OPS_CONVOLUTION_16B_H

#include "ops/convolution_dot.h"

extern const struct sn_convolution_family sn_convolution_16b;

/* base has the first. */
extern const struct sn_convolution_algorithm sn_convolution_16b_base, sn_convolution_16b_depthwise;

/* The results of channels from `first` of the spread arrays on. */
struct sn_result_16b sn_result_16b_of(const struct sn_convolution * c, size_t first);

#endif
