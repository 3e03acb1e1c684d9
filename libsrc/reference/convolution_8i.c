#include "contract/convolution_8i.h"
#include "reference/libm.h"
#include "reference/reference.h"

#include <string.h>

#include "reference/image.h"
#include "runtime/numeric.h"

/* The operands of comparisons are ordered so that NaN propagates. */
static float maximum(float a, float b) { return a > b ? a : b; }
static float minimum(float a, float b) { return a < b ? a : b; }

static float activate(float v, enum sn_activation type, const sn_32f * p, size_t channel)
{
    switch (type) {
    case SN_ACTIVATION_IDENTITY: return v;
    case SN_ACTIVATION_RELU: return maximum(0, v);
    case SN_ACTIVATION_LEAKY_RELU: return maximum(0, v) + p[0] * minimum(0, v);
    case SN_ACTIVATION_RESTRICT_RANGE: return minimum(p[1], maximum(p[0], v));
    case SN_ACTIVATION_PRELU: return maximum(0, v) + p[channel] * minimum(0, v);
    case SN_ACTIVATION_ELU: return v < 0 ? (float)(p[0] * sn_expm1(v)) : v;
    case SN_ACTIVATION_HSWISH: return maximum(0, minimum(p[0], v) + p[0]) * p[1] * v;
    case SN_ACTIVATION_MISH: return v > p[0] ? v : (float)(v * sn_tanh(fmax(0, v) + sn_log1p(sn_exp(-fabs(v)))));
    case SN_ACTIVATION_HARD_SIGMOID: {
        const float product = v * p[0];
        return maximum(0, minimum(1, product + p[1]));
    }
    case SN_ACTIVATION_SWISH: return (float)(v * sn_sigmoid(p[0] * v));
    case SN_ACTIVATION_GELU: return (float)(v * sn_erfc(-0x1.6A09E667F3BCDp-1 * v) / 2);
    case SN_ACTIVATION_SIGMOID: return (float)sn_sigmoid(v);
    }
    return v;
}

/* The byte of an input; coordinates above or left of the image have wrapped to huge values. */
static uint8_t input(const struct sn_convolution_parameters * p, const struct sn_quantised_8i * q,
                     const struct sn_plain * image, size_t c, size_t y, size_t x)
{
    const uint8_t * src = image->src;
    if (y >= p->srcH || x >= p->srcW)
        return (uint8_t)q->srcZero;
    const size_t i = at(p->srcF, image->srcPixel, p->srcH, p->srcW, c, y, x);
    if (p->srcT == SN_DATA_8U)
        return src[i];
    float v;
    memcpy(&v, src + i * sizeof(v), sizeof(v));
    return sn_32f_to_8u(v * q->srcScale[c] + q->srcZero, 255);
}

/* Coordinates are unsigned because they wrap. */
static int32_t sum_of_window(const struct sn_convolution_parameters * p, const struct sn_quantised_8i * q,
                             const struct sn_plain * image, size_t o, size_t y, size_t x)
{
    const size_t inputs = p->srcC / p->group, first = o / (p->dstC / p->group) * inputs;
    uint32_t sum = 0;
    for (size_t ky = 0; ky < p->kernelY; ++ky)
        for (size_t kx = 0; kx < p->kernelX; ++kx) {
            const size_t sy = y * p->strideY + ky * p->dilationY - p->padY;
            const size_t sx = x * p->strideX + kx * p->dilationX - p->padX;
            for (size_t i = 0; i < inputs; ++i)
                sum += (uint32_t)(input(p, q, image, first + i, sy, sx) * q->weight[filter_at(p, o, i, ky, kx)]);
        }
    int32_t result;
    memcpy(&result, &sum, sizeof(result));
    return result;
}

static void convolution_8i(const struct sn_convolution_parameters * p, const struct sn_quantised_8i * q,
                           const struct sn_plain * image)
{
    uint8_t * dst = image->dst;
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t y = 0; y < p->dstH; ++y)
            for (size_t x = 0; x < p->dstW; ++x) {
                const float sum = (float)sum_of_window(p, q, image, o, y, x);
                const float v = activate(sum * q->norm[o] + q->bias[o], p->activation, q->params, o);
                const size_t i = at(p->dstF, image->dstPixel, p->dstH, p->dstW, o, y, x);
                if (p->dstT == SN_DATA_8U)
                    dst[i] = sn_32f_to_8u(v * q->dstScale[o] + q->dstZero, 255);
                else
                    memcpy(dst + i * sizeof(v), &v, sizeof(v));
            }
}

SN_INSTALL(convolution_8i, convolution_8i) { slots->plain = convolution_8i; }
