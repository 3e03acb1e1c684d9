/* Direct NHWC of many small images: the rows of a tile are the same pixel of several images. */
#ifndef SN_OPS_CONVOLUTION_NHWC_IMAGES_H
#define SN_OPS_CONVOLUTION_NHWC_IMAGES_H

#include "ops/convolution/nhwc_panels.h"

/* Computes rows of several images, each `srcImage` and `dstImage` floats behind the one before; if `leavesOut`, without the rows
 * of taps that meet only padding, which is not read then. */
void sn_direct_nhwc_images(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r,
                           size_t images, size_t srcImage, size_t dstImage, bool leavesOut);

/* Whether a plan of sn_convolution_32f_nhwc computes its batch so: there are more images than pixels, and no padding beside
 * their lines. */
bool sn_nhwc_images_are_rows(const struct sn_convolution * c, const struct sn_arrays * a);

/* Then computes some images, the "lines" of the share. */
void sn_nhwc_images_compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a);

#endif
