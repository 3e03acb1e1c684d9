/* The activations of convolutions and deconvolutions in `base`, in double. */
#ifndef SN_REFERENCE_ACTIVATE_H
#define SN_REFERENCE_ACTIVATE_H


#include "reference/image.h"
#include "reference/libm.h"

/* The operands of comparisons are ordered so that NaN propagates. */
static inline double maximum(double a, double b) { return a > b ? a : b; }
static inline double minimum(double a, double b) { return a < b ? a : b; }

static inline double activate(double v, enum sn_activation type, const sn_32f * p, size_t channel)
{
    switch (type) {
    case SN_ACTIVATION_IDENTITY: return v;
    case SN_ACTIVATION_RELU: return maximum(0, v);
    case SN_ACTIVATION_LEAKY_RELU: return maximum(0, v) + p[0] * minimum(0, v);
    case SN_ACTIVATION_RESTRICT_RANGE: return minimum(p[1], maximum(p[0], v));
    case SN_ACTIVATION_PRELU: return maximum(0, v) + p[channel] * minimum(0, v);
    case SN_ACTIVATION_ELU: return v < 0 ? p[0] * sn_expm1(v) : v;
    case SN_ACTIVATION_HSWISH: return maximum(0, minimum(p[0], v) + p[0]) * p[1] * v;
    case SN_ACTIVATION_MISH: return v > p[0] ? v : v * sn_tanh(maximum(0, v) + sn_log1p(sn_exp(-fabs(v))));
    case SN_ACTIVATION_HARD_SIGMOID: return maximum(0, minimum(1, v * p[0] + p[1]));
    case SN_ACTIVATION_SWISH: return v * sn_sigmoid(p[0] * v);
    case SN_ACTIVATION_GELU: return v * sn_erfc(-0x1.6A09E667F3BCDp-1 * v) / 2;
    case SN_ACTIVATION_SIGMOID: return sn_sigmoid(v);
    }
    return v;
}

/* The activation of a sum, and the addition to it or to its result, for images of floats. */
static inline double joined(const struct sn_convolution_parameters * p, const struct sn_plain * image, double sum,
                            const sn_32f * params, size_t o, size_t y, size_t x)
{
    const sn_32f * add = image->add;
    const double v = add ? add[at(p->dstF, image->addPixel, p->dstH, p->dstW, o, y, x)] : 0;
    if (!add)
        return activate(sum, p->activation, params, o);
    return image->after ? activate(sum, p->activation, params, o) + v : activate(sum + v, p->activation, params, o);
}

#endif
