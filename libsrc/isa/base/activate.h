/* What convolutions and deconvolutions share in `base`: the activations in double. */
#ifndef SN_ISA_BASE_ACTIVATE_H
#define SN_ISA_BASE_ACTIVATE_H

#include <math.h>

#include "isa/base/image.h"

/* Comparisons are turned so that a NaN comes through. */
static inline double maximum(double a, double b) { return a > b ? a : b; }
static inline double minimum(double a, double b) { return a < b ? a : b; }

static inline double activate(double v, SimdConvolutionActivationType type, const sn_32f * p, size_t channel)
{
    switch (type) {
    case SimdConvolutionActivationIdentity: return v;
    case SimdConvolutionActivationRelu: return maximum(0, v);
    case SimdConvolutionActivationLeakyRelu: return maximum(0, v) + p[0] * minimum(0, v);
    case SimdConvolutionActivationRestrictRange: return minimum(p[1], maximum(p[0], v));
    case SimdConvolutionActivationPrelu: return maximum(0, v) + p[channel] * minimum(0, v);
    case SimdConvolutionActivationElu: return v < 0 ? p[0] * expm1(v) : v;
    case SimdConvolutionActivationHswish: return maximum(0, minimum(p[0], v) + p[0]) * p[1] * v;
    }
    return v;
}

#endif
