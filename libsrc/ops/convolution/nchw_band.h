/*
 * Planes of an NCHW image for vectors of pixels: the image itself, or a copy of lines with their padding.
 *
 * In the copy a line is split into phases: for a stride s, phase f has the columns f, f + s, f + 2s ..., so that the inputs
 * of neighbouring outputs for a tap are neighbours, for every stride and dilation.
 */
#ifndef SN_OPS_CONVOLUTION_NCHW_BAND_H
#define SN_OPS_CONVOLUTION_NCHW_BAND_H

#include "ops/convolution/band.h"
#include "ops/convolution/plan.h"

/* Plans a band of `planes` channels that is copied; with `classes`, of rows that use the same lines if that copies fewer of
 * them. False: too large. */
bool sn_split_plan(struct sn_convolution * c, size_t planes, bool classes, struct sn_band * band);

/* The offset of a tap in the band. */
size_t sn_split_tap(const struct sn_convolution * c, const struct sn_band * band, size_t plane, size_t ky, size_t kx);

/* Copies the input of output rows row .. row + rows - 1 from so many planes of the image. */
void sn_split_copy(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src, size_t planes,
                   size_t row, size_t rows, sn_32f * to);

/* True if the image itself can be the band: no padding, and no stride in x; and this band. */
bool sn_planes_in_place(const struct sn_convolution_parameters * p);
void sn_planes_image(const struct sn_convolution_parameters * p, struct sn_band * band);

/* For sums over the channels of a group. Plans the band, or uses the image itself if possible; *depth: multiply-adds of an
 * output, *step: floats from one row of weights to the next. Packs these rows; writes the offsets of their inputs. */
bool sn_planes_plan(struct sn_convolution * c, bool classes, struct sn_band * band, size_t * depth, size_t * step);
void sn_planes_pack(const struct sn_convolution * c, const sn_32f * weight, size_t depth, size_t step);
void sn_planes_offsets(const struct sn_convolution * c, const struct sn_band * band);

/* The source of output rows row .. row + rows - 1 of a group whose first plane is src, copied to `work` if necessary. */
const sn_32f * sn_planes_source(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src, size_t row,
                                size_t rows, sn_32f * work);

#endif
