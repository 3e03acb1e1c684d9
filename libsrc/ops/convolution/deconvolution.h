/*
 * Deconvolution of floats: the family, and its algorithms.
 *
 * With stride 1 it is a convolution with the flipped kernel. With any other stride, its outputs form phases (phases.h),
 * each a convolution with stride 1 and some of the taps. So nothing is scattered, and each result is written once. Where the
 * phases would be small, the products of all taps are computed first (deconvolution_col2im.c).
 */
#ifndef SN_OPS_CONVOLUTION_DECONVOLUTION_H
#define SN_OPS_CONVOLUTION_DECONVOLUTION_H

#include "ops/convolution/plan.h"

extern const struct sn_convolution_family sn_deconvolution_32f;

extern const struct sn_convolution_algorithm sn_deconvolution_32f_base, sn_deconvolution_32f_depthwise,
    sn_deconvolution_32f_depthwise_nhwc, sn_deconvolution_32f_depthwise_converted, sn_deconvolution_32f_nhwc,
    sn_deconvolution_32f_converted, sn_deconvolution_32f_nchw, sn_deconvolution_32f_col2im;

#endif
