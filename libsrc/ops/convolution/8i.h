/* Quantised convolution: the family, and its algorithms besides that of the tile (dot.h). */
#ifndef SN_OPS_CONVOLUTION_8I_H
#define SN_OPS_CONVOLUTION_8I_H

#include "ops/convolution/dot.h"

extern const struct sn_convolution_family sn_convolution_8i;

/* `base` has only the first. */
extern const struct sn_convolution_algorithm sn_convolution_8i_base, sn_convolution_8i_flat,
    sn_convolution_8i_depthwise;

#endif
