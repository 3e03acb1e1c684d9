/* Stages of merged convolutions that only convert an NHWC image, from bytes to floats or the reverse: they have no weights. */
#ifndef SN_OPS_CONVOLUTION_CONVERSION_8I_H
#define SN_OPS_CONVOLUTION_CONVERSION_8I_H

#include "ops/convolution/plan.h"

extern const struct sn_convolution_family sn_conversion_8i;
extern const struct sn_convolution_algorithm sn_conversion_rows; /* its only one */

/* The parameters of a stage that converts the source of a depthwise convolution from bytes, or its result to bytes. */
struct sn_convolution_parameters sn_conversion_of(const struct sn_convolution_parameters * depthwise, bool source);

/* Whether they are such parameters. */
bool sn_is_conversion(const struct sn_convolution_parameters * p);

/* Converts some rows of one image. */
void sn_convert_rows(const struct sn_convolution * c, size_t row, size_t rows, const struct sn_arrays * a);

#endif
