/* The activations of convolutions (SimdConvolutionActivationType) on a vector: what kernels apply before they store. */
#ifndef SN_KERNELS_ACTIVATE_H
#define SN_KERNELS_ACTIVATE_H

#include "kernels/vec_math.h"
#include "simdnet.h"

/* `type` is a constant, or is looked at for each vector. Comparisons are turned so that a NaN comes through. */
SN_INLINE v32f activate_32f(v32f v, SimdConvolutionActivationType type, v32f slope, v32f p0, v32f p1)
{
    const v32f zero = v_zero_32f();
    switch (type) {
    case SimdConvolutionActivationRelu: return v_max_32f(zero, v);
    case SimdConvolutionActivationLeakyRelu:
    case SimdConvolutionActivationPrelu: return v_add_32f(v_max_32f(zero, v), v_mul_32f(slope, v_min_32f(zero, v)));
    case SimdConvolutionActivationRestrictRange: return v_min_32f(p1, v_max_32f(p0, v));
    case SimdConvolutionActivationElu: return v_elu_32f(v, p0);
    case SimdConvolutionActivationHswish:
        return v_mul_32f(v_mul_32f(v_max_32f(zero, v_add_32f(v_min_32f(p0, v), p0)), p1), v);
    default: return v;
    }
}

#endif
