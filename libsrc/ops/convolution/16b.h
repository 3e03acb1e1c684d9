/* Convolution of bfloat16 numbers: the family, and its algorithms besides that of the tile (dot.h). */
#ifndef SN_OPS_CONVOLUTION_16B_H
#define SN_OPS_CONVOLUTION_16B_H

#include "ops/convolution/dot.h"

extern const struct sn_convolution_family sn_convolution_16b;

/* `base` has only the first. */
extern const struct sn_convolution_algorithm sn_convolution_16b_base, sn_convolution_16b_depthwise;

#endif
