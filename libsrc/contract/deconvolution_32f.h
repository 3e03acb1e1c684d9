/* Deconvolution of floats. */
#ifndef SN_CONTRACT_DECONVOLUTION_32F_H
#define SN_CONTRACT_DECONVOLUTION_32F_H

#include "contract/convolution.h"
#include "runtime/common.h"

/* One image, a direct implementation of the formula, as sn_convolution_32f_fn. */
typedef void (*sn_deconvolution_32f_fn)(const struct sn_convolution_parameters * p, const sn_32f * weight,
                                        const sn_32f * bias, const sn_32f * params, const struct sn_plain * image);

/*
 * Interleaves 2 or 4 phases into rows: dst[row * dstStep + i] is src[row * srcStep + i % phases * phaseStep + i / phases]
 * for i < size. Up to a vector of floats after those of a phase is read.
 */
struct sn_interleave_32f {
    const sn_32f * src;
    size_t phases, phaseStep, srcStep;
    sn_32f * dst;
    size_t dstStep;
    size_t rows, size;
};
typedef void (*sn_interleave_32f_fn)(const struct sn_interleave_32f * job);

/* The kernels of a level; `base` has only `plain`. */
struct sn_deconvolution_32f_slots {
    sn_deconvolution_32f_fn plain;
    sn_interleave_32f_fn interleave;
};

#endif
