/* Deconvolution of floats. */
#ifndef SN_CONTRACT_DECONVOLUTION_32F_H
#define SN_CONTRACT_DECONVOLUTION_32F_H

#include "contract/convolution.h"
#include "runtime/common.h"

/* One image, a direct implementation of the formula, as sn_convolution_32f_fn. */
typedef void (*sn_deconvolution_32f_fn)(const struct sn_convolution_parameters * p, const sn_32f * weight,
                                        const sn_32f * bias, const sn_32f * params, const struct sn_plain * image);

/*
 * Interleaves 2, 3 or 4 phases into rows: dst[row * dstStep + i] is src[row * srcStep + i % phases * phaseStep + i / phases]
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

/*
 * Sums of the products of some taps, with activation, for `outputs` outputs: result x < size is the bias plus, in the order
 * of the taps, src[from + x - begin] of those with begin <= x < end. Up to a vector after the results of an output is written.
 */
struct sn_tap_sums_32f {
    const sn_32f * src;
    size_t srcStep; /* between the products of two outputs, as dstStep is between their results */
    const struct sn_tap_32f { size_t from, begin, end; } * tap;
    size_t taps;
    const sn_32f * bias, * slope; /* of each output; slope for Prelu */
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
    sn_32f * dst;
    size_t dstStep;
    size_t outputs, size;
};
typedef void (*sn_tap_sums_32f_fn)(const struct sn_tap_sums_32f * job);

/* The kernels of a level; `base` has only `plain`. */
struct sn_deconvolution_32f_slots {
    sn_deconvolution_32f_fn plain;
    sn_interleave_32f_fn interleave;
    sn_tap_sums_32f_fn sum;
};

#endif
