/*
 * Deconvolution of floats: the family, and its algorithms.
 *
 * Of stride 1 it is a convolution with the flipped kernel. Of any other, its outputs fall into phases (ops/phases.h), each a
 * convolution of stride 1 with some of the taps. Nothing is scattered, no product is computed that is not part of a result,
 * and no result is written more than once.
 */
#ifndef SN_OPS_DECONVOLUTION_32F_H
#define SN_OPS_DECONVOLUTION_32F_H

#include "ops/convolution.h"

extern const struct sn_convolution_family sn_deconvolution_32f;

extern const struct sn_convolution_algorithm sn_deconvolution_32f_base, sn_deconvolution_32f_depthwise,
    sn_deconvolution_32f_nhwc, sn_deconvolution_32f_converted, sn_deconvolution_32f_nchw;

#endif
