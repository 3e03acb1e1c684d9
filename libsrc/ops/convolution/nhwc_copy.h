/* What direct NHWC copies of its input: nothing, a band, lines without padding for taps that are apart, or the edges. */
#ifndef SN_OPS_CONVOLUTION_NHWC_COPY_H
#define SN_OPS_CONVOLUTION_NHWC_COPY_H

#include "ops/convolution/nhwc_panels.h"

/* Whether many products would be those of padding; whether taps are computed one after the other for it; the part that are not. */
bool sn_taps_are_wasted(const struct sn_convolution * c);
bool sn_taps_are_apart(const struct sn_convolution * c);
double sn_taps_inside(const struct sn_convolution * c);

/* Plans the band of d, but not its size, and its edges. */
void sn_nhwc_plan_copy(const struct sn_convolution * c, struct sn_direct_nhwc * d);

#endif
