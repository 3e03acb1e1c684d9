/* What convolutions and deconvolutions share in `base`: the activations in double, and where the elements of an image lie. */
#ifndef SN_ISA_BASE_ACTIVATE_H
#define SN_ISA_BASE_ACTIVATE_H

#include <math.h>

#include "core/common.h"
#include "simdnet.h"

/* Comparisons are turned so that a NaN comes through. */
static inline double maximum(double a, double b) { return a > b ? a : b; }
static inline double minimum(double a, double b) { return a < b ? a : b; }

static inline double activate(double v, SimdConvolutionActivationType type, const float * p, size_t channel)
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

/* The offset in one image, NCHW or NHWC. */
static inline size_t at(SimdTensorFormatType format, size_t C, size_t H, size_t W, size_t c, size_t y, size_t x)
{
    return format == SimdTensorFormatNhwc ? (y * W + x) * C + c : (c * H + y) * W + x;
}

#endif
