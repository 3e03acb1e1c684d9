/* Deconvolution, NCHW: bands of planes, and rows of the result from products of all phases. */
#ifndef SN_OPS_CONVOLUTION_PHASE_PLANES_H
#define SN_OPS_CONVOLUTION_PHASE_PLANES_H

#include "ops/convolution/phase_bands.h"

/*
 * Plans the band of `planes` channels, or uses the image itself if possible and not `copied`. A band may need `budget`
 * floats, including `more` for each row of all phases; *size is the floats of its copy. The second function copies the input
 * of `rows` outputs from `row` on, in some columns, from a plane: each to its place in the band.
 */
bool sn_phase_planes_plan(const struct sn_convolution * c, bool copied, size_t planes, size_t more, size_t budget,
                          struct sn_band * band, size_t * size);
void sn_phase_planes_copy(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src, size_t row,
                          size_t rows, struct sn_phase_columns columns, sn_32f * to);

/* Interleaves products of all phases in x into rows of the result; reads up to a vector after those of a row. */
void sn_phase_planes_interleave(const struct sn_convolution * c, const struct sn_interleave_32f * job);

#endif
