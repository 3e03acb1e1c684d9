/*
 * Deconvolution: the families of floats and of bfloat16 numbers, and the algorithms of floats.
 *
 * With stride 1 it is a convolution with the flipped kernel. With any other stride, its outputs form phases (phases.h),
 * each a convolution with stride 1 and some of the taps. So nothing is scattered, and each result is written once. Where the
 * phases would be small, the products of all taps are computed first (deconvolution_col2im.c, deconvolution_panels.c).
 */
#ifndef SN_OPS_CONVOLUTION_DECONVOLUTION_H
#define SN_OPS_CONVOLUTION_DECONVOLUTION_H

#include "ops/convolution/plan.h"

extern const struct sn_convolution_family sn_deconvolution_32f, sn_deconvolution_16b;
extern const struct sn_candidate sn_deconvolution_32f_candidates[];

extern const struct sn_convolution_algorithm sn_deconvolution_32f_base, sn_deconvolution_32f_depthwise,
    sn_deconvolution_32f_depthwise_nhwc, sn_deconvolution_32f_depthwise_converted, sn_deconvolution_32f_nhwc,
    sn_deconvolution_32f_converted, sn_deconvolution_32f_nchw, sn_deconvolution_32f_col2im, sn_deconvolution_32f_panels;

/* simplify() of the families; `other` is that of the convolution with the flipped kernel, and has these two functions. */
void sn_deconvolution_simplify(struct sn_convolution * c, const struct sn_convolution_family * other);
size_t sn_flipped_size(const struct sn_convolution * c);
const void * sn_flipped_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                   struct sn_fault * fault);

#endif
