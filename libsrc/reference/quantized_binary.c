#include <math.h>

#include "contract/quantized_binary.h"
#include "reference/reference.h"

static float value(const uint8_t * p, size_t i, bool negative) { return negative ? (float)(int8_t)p[i] : (float)p[i]; }

static uint8_t nearest(float t, bool negative)
{
    const double least = negative ? -128 : 0, whole = rint((double)t);
    return (uint8_t)(int)(whole > least ? fmin(whole, least + 255) : least);
}

static void add(const struct sn_quantized_binary * p, const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        const float x = value(a, i, p->negative), y = value(b, i, p->negative);
        dst[i] = nearest(fmaf(x, p->aScale, fmaf(y, p->bScale, p->shift)), p->negative);
    }
}

static void multiply(const struct sn_quantized_binary * p, const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        const float x = value(a, i, p->negative) - p->aZero, y = value(b, i, p->negative) - p->bZero;
        const float product = x * y * p->factor;
        dst[i] = nearest(product + p->shift, p->negative);
    }
}

SN_INSTALL(quantized_binary, quantized_binary)
{
    slots->add = add;
    slots->multiply = multiply;
}
