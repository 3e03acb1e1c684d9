/* Deconvolution, NCHW: bands of planes, and rows of the result from products of all phases. */
#ifndef SN_OPS_PHASE_PLANES_H
#define SN_OPS_PHASE_PLANES_H

#include "ops/phase_bands.h"

/*
 * The band of `planes` channels, or the image itself if that will do and need not be `copied`, for `budget` floats with
 * `more` for a row of all phases beside them; *size is the floats of its copy. And the copy of what `rows` outputs from
 * `row` on need of a plane.
 */
bool sn_phase_planes_plan(const struct sn_convolution * c, bool copied, size_t planes, size_t more, size_t budget,
                          struct sn_band * band, size_t * size);
void sn_phase_planes_copy(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src, size_t row,
                          size_t rows, sn_32f * to);

/* Rows of the result from products of all phases in x; up to a vector behind those of a row is read. */
void sn_phase_planes_interleave(const struct sn_convolution * c, const struct sn_interleave_32f * job);

#endif
