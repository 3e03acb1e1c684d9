/* The plan of direct NHWC (32f_nhwc.c), and the computation of output rows whose source is known, panel by panel of weights. */
#ifndef SN_OPS_CONVOLUTION_NHWC_PANELS_H
#define SN_OPS_CONVOLUTION_NHWC_PANELS_H

#include "ops/convolution/nhwc_band.h"
#include "ops/units.h"

struct sn_direct_nhwc {
    struct sn_nhwc_band nhwc;
    bool edges; /* the band holds only the input of outputs at the edges; the others read the image itself */
};

/* The private struct of a plan whose algorithm is sn_convolution_32f_nhwc. */
static inline const struct sn_direct_nhwc * sn_direct_nhwc_of(const struct sn_convolution * c)
{
    return (const void *)c->algorithmData;
}

/* Whether images and results exceed the caches. */
static inline bool sn_images_are_cold(const struct sn_convolution * c)
{
    return sn_beyond_cache(c->batch * (c->srcSize + c->dstSize));
}

/*
 * Whether rows of taps that meet only padding are left out of some rows of the output: not if tiles lie along columns or along
 * all pixels. It does not depend on how many rows these are, since products of padding change the sign of a sum that is 0.
 */
bool sn_direct_nhwc_leaves_out(const struct sn_convolution * c, const struct sn_nhwc_rows * r);

/* Computes rows whose source is set. */
void sn_direct_nhwc_compute(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r);

#endif
