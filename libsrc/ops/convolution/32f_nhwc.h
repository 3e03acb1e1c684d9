/* The direct NHWC algorithm, for algorithms that use it for some rows: 32f_nhwc.c. */
#ifndef SN_OPS_CONVOLUTION_32F_NHWC_H
#define SN_OPS_CONVOLUTION_32F_NHWC_H

#include "ops/convolution/32f.h"
#include "ops/convolution/nhwc_panels.h"

/* The products of a cost model: cycles, without waiting for weights. */
double sn_direct_nhwc_products(const struct sn_convolution * c);

/* plan() and pack() of the algorithm; weights have the layout that belongs to the image format. */
bool sn_direct_nhwc_plan(struct sn_convolution * c, struct sn_direct_nhwc * d);
void sn_direct_nhwc_pack(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const sn_32f * weight);

/* offsets() and forward() of the algorithm, for plans that begin with struct sn_direct_nhwc. */
void sn_direct_nhwc_offsets(const struct sn_convolution * c);
void sn_direct_nhwc_forward(const struct sn_convolution * c, const struct sn_arrays * a);

/* For a part of the columns of a single line. With `edges`, lines keep the length of those of the image. */
void sn_direct_nhwc_narrow(struct sn_convolution * part);

/* Limits the band of a plan to `rows` rows; *size: the floats of its copy, 0 for none. False: too large. */
bool sn_direct_nhwc_limit(struct sn_convolution * c, size_t rows, size_t * size);

/* Sets the source of some rows, from `row` on of the image, and computes them. */
void sn_direct_nhwc_rows(const struct sn_convolution * c, const struct sn_direct_nhwc * d, struct sn_nhwc_image image,
                         size_t row, sn_32f * work, struct sn_nhwc_rows r);

#endif
