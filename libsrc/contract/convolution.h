/* The shape of a convolution or a deconvolution, as drivers and the reference see it. */
#ifndef SN_CONTRACT_CONVOLUTION_H
#define SN_CONTRACT_CONVOLUTION_H

#include "contract/enums.h"
#include "runtime/common.h"

/* SimdConvolutionParameters of include/simdnet.h, field by field. */
struct sn_convolution_parameters {
    size_t srcC, srcH, srcW;
    enum sn_data srcT;
    enum sn_format srcF;
    size_t dstC, dstH, dstW;
    enum sn_data dstT;
    enum sn_format dstF;
    size_t kernelY, kernelX;
    size_t dilationY, dilationX;
    size_t strideY, strideX;
    size_t padY, padX, padH, padW;
    size_t group;
    enum sn_activation activation;
};

/*
 * The arrays of one image, for the loops of `base`. In NHWC the first channels of neighbouring pixels are srcPixel, addPixel
 * and dstPixel elements apart. `add`, which may be NULL, is added before the activation or, with `after`, to its result.
 */
struct sn_plain {
    const void * src, * add;
    void * dst;
    size_t srcPixel, addPixel, dstPixel;
    bool after;
};

#endif
