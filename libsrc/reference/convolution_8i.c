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

/* The source of sums: its image, weights, and how floats become bytes. */
struct source {
    const struct sn_convolution_parameters * p;
    const struct sn_plain * image;
    const int8_t * weight;
    const sn_32f * scale; /* of floats */
    float zero;
};

/* The byte of input i, which is of channel c. */
static uint8_t input(const struct source * s, size_t c, size_t i)
{
    const uint8_t * src = s->image->src;
    if (s->p->srcT == SN_DATA_8U)
        return src[i];
    float v;
    memcpy(&v, src + i * sizeof(v), sizeof(v));
    return sn_32f_to_8u(v * s->scale[c] + s->zero, 255);
}

/* Coordinates are unsigned because they wrap. */
static int32_t sum_of_window(const struct source * s, uint32_t sum, size_t o, size_t y, size_t x)
{
    const struct sn_convolution_parameters * p = s->p;
    const size_t inputs = p->srcC / p->group, first = o / (p->dstC / p->group) * inputs;
    const size_t step = next_channel(p->srcF, p->srcH, p->srcW), weight_step = next_filter(p);
    for (size_t ky = 0; ky < p->kernelY; ++ky)
        for (size_t kx = 0; kx < p->kernelX; ++kx) {
            const size_t sy = y * p->strideY + ky * p->dilationY - p->padY;
            const size_t sx = x * p->strideX + kx * p->dilationX - p->padX;
            const bool outside = sy >= p->srcH || sx >= p->srcW;
            const size_t from = outside ? 0 : at(p->srcF, s->image->srcPixel, p->srcH, p->srcW, first, sy, sx);
            const int8_t * w = s->weight + filter_at(p, o, 0, ky, kx);
            for (size_t i = 0; i < inputs; ++i) {
                const uint8_t byte = outside ? (uint8_t)s->zero : input(s, first + i, from + i * step);
                sum += (uint32_t)(byte * w[i * weight_step]);
            }
        }
    int32_t result;
    memcpy(&result, &sum, sizeof(result));
    return result;
}

static void convolution_8i(const struct sn_convolution_parameters * p, const struct sn_quantised_8i * q,
                           const struct sn_plain * image)
{
    const struct source source = {p, image, q->weight, q->srcScale, q->srcZero};
    uint8_t * dst = image->dst;
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t y = 0; y < p->dstH; ++y)
            for (size_t x = 0; x < p->dstW; ++x) {
                const float sum = (float)sum_of_window(&source, 0, o, y, x);
                const float v = activate(sum * q->norm[o] + q->bias[o], p->activation, q->params, o);
                const size_t i = at(p->dstF, image->dstPixel, p->dstH, p->dstW, o, y, x);
                if (p->dstT == SN_DATA_8U)
                    dst[i] = sn_32f_to_8u(v * q->dstScale[o] + q->dstZero, 255);
                else
                    memcpy(dst + i * sizeof(v), &v, sizeof(v));
            }
}

/* ---- QuantizedConvolution */

/* nearest(v) + zero, limited to a byte; 0 for NaN. */
static uint8_t requantise(float v, int32_t zero)
{
    const float low = (float)-zero, high = (float)(255 - zero);
    return (uint8_t)((int32_t)lrintf(v > low ? v < high ? v : high : low) + zero);
}

static uint8_t activated(const struct sn_requantised_8i * q, enum sn_activation type, uint8_t byte, size_t channel)
{
    const float v = (float)((int32_t)byte - q->zero[1]) * q->scale;
    return requantise(activate(v, type, q->params, channel) * q->inverse, q->zero[2]);
}

/* The bias, and what the zero point of the source adds to every sum; integers wrap. */
static uint32_t start_of(const struct sn_convolution_parameters * p, const struct sn_requantised_8i * q, size_t o)
{
    uint32_t sum = 0;
    for (size_t ky = 0; ky < p->kernelY; ++ky)
        for (size_t kx = 0; kx < p->kernelX; ++kx)
            for (size_t i = 0; i < p->srcC / p->group; ++i)
                sum += (uint32_t)q->weight[filter_at(p, o, i, ky, kx)];
    return (uint32_t)q->bias[o] - (uint32_t)q->zero[0] * sum;
}

static void requantised(const struct sn_convolution_parameters * p, const struct sn_requantised_8i * q,
                        const struct sn_plain * image)
{
    const bool identity = p->activation == SN_ACTIVATION_IDENTITY;
    const struct source source = {p, image, q->weight, NULL, (float)q->zero[0]};
    uint8_t * dst = image->dst;
    for (size_t o = 0; o < p->dstC; ++o) {
        const uint32_t start = start_of(p, q, o);
        for (size_t y = 0; y < p->dstH; ++y)
            for (size_t x = 0; x < p->dstW; ++x) {
                const float v = (float)sum_of_window(&source, start, o, y, x) * q->norm[o];
                const uint8_t byte = requantise(v, q->zero[identity ? 2 : 1]);
                dst[at(p->dstF, image->dstPixel, p->dstH, p->dstW, o, y, x)] =
                    identity ? byte : activated(q, p->activation, byte, o);
            }
    }
}

SN_INSTALL(convolution_8i, convolution_8i)
{
    slots->plain = convolution_8i;
    slots->requantised = requantised;
    slots->activated = activated;
}
