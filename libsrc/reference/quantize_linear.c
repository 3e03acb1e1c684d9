#include <math.h>

#include "contract/quantize_linear.h"
#include "reference/reference.h"

static void quantize(const struct sn_quantization * q, const sn_32f * src, size_t size, uint8_t * dst)
{
    const double lower = q->negative ? -128 : 0;
    for (size_t i = 0; i < size; ++i) {
        const float scale = q->scale[q->each ? i : 0], t = q->divides ? src[i] / scale : src[i] * scale;
        const double sum = rint((double)t) + q->zero[q->each ? i : 0];
        dst[i] = (uint8_t)(int)(sum > lower ? fmin(sum, lower + 255) : lower);
    }
}

static void dequantize(const struct sn_quantization * q, const uint8_t * src, size_t size, sn_32f * dst, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < size; ++i) {
        const int32_t value = q->negative ? (int8_t)src[i] : src[i];
        dst[i] = (float)(value - q->zero[q->each ? i : 0]) * q->scale[q->each ? i : 0];
    }
}

static void range(const sn_32f * src, size_t size, float range[2])
{
    for (size_t i = 0; i < size; ++i) {
        range[0] = src[i] < range[0] ? src[i] : range[0];
        range[1] = src[i] > range[1] ? src[i] : range[1];
    }
}

SN_INSTALL(quantize_linear, quantize_linear)
{
    slots->quantize = quantize;
    slots->dequantize = dequantize;
    slots->range = range;
}
