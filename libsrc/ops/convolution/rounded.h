/*
 * Contexts of floats whose products are of bfloat16 numbers, for those who prefer that: the families and the kind of
 * Convolution16b, InnerProduct16b and MergedConvolution16b, with buffers that are counted in floats. Each function returns those
 * of floats unless the calling thread prefers SN_PREFER_BFLOAT16 and the products of this shape take less time so.
 */
#ifndef SN_OPS_CONVOLUTION_ROUNDED_H
#define SN_OPS_CONVOLUTION_ROUNDED_H

#include "ops/convolution/merged.h"

const struct sn_convolution_family * sn_convolution_32f_family(const struct sn_table * table,
                                                               const struct sn_convolution_parameters * p);

/* With constant B. */
const struct sn_convolution_family * sn_inner_product_32f_family(const struct sn_table * table,
                                                                 const struct sn_convolution_parameters * p);

const struct sn_merged_kind * sn_merged_32f_kind(const struct sn_table * table, const struct sn_convolution_parameters * p,
                                                 size_t count);

#endif
