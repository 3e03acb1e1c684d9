/* Quantised convolution: the family, and its algorithms beside that of the tile (ops/convolution_dot.h). */
#ifndef SN_OPS_CONVOLUTION_8I_H
#define SN_OPS_CONVOLUTION_8I_H

#include "ops/convolution_dot.h"

extern const struct sn_convolution_family sn_convolution_8i;

/* base has the first. */
extern const struct sn_convolution_algorithm sn_convolution_8i_base, sn_convolution_8i_depthwise;

/* The part of the results that begins at `first` of the spread arrays. */
struct sn_result_8i sn_result_8i_of(const struct sn_convolution * c, size_t first);

#endif
