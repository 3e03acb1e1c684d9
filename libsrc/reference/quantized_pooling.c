/* Pooling of quantised bytes, by the formulas of SimdnetQuantizedPooling(). */
#include <math.h>

#include "contract/quantized_pooling.h"
#include "reference/reference.h"

/* A number: byte (y, x) of a channel. */
static int32_t number(const struct sn_quantized_pooling * p, const uint8_t * image, size_t y, size_t x, size_t c)
{
    const uint8_t byte = image[(y * p->srcW + x) * p->channels + c];
    return p->with_sign ? (int8_t)byte : byte;
}

static int32_t least_of(const struct sn_quantized_pooling * p) { return p->with_sign ? -128 : 0; }

static uint8_t limited(const struct sn_quantized_pooling * p, float v, int32_t more)
{
    const long least = least_of(p), most = least + 255;
    const long whole = v > -1e6f ? lrintf(v < 1e6f ? v : 1e6f) + more : least; /* least for NaN */
    return (uint8_t)(whole < least ? least : whole > most ? most : whole);
}

static void max(const struct sn_quantized_pooling * p, const uint8_t * image, size_t y, uint8_t * dst)
{
    const struct sn_quantized_window rows = sn_quantized_window(y, p->srcH, p->kernelY, p->strideY, p->padY, p->padH);
    for (size_t x = 0; x < p->dstW; ++x) {
        const struct sn_quantized_window columns = sn_quantized_window(x, p->srcW, p->kernelX, p->strideX, p->padX, p->padW);
        for (size_t c = 0; c < p->channels; ++c) {
            int32_t most = least_of(p);
            for (size_t i = rows.begin; i < rows.end; ++i)
                for (size_t j = columns.begin; j < columns.end; ++j) {
                    const int32_t q = number(p, image, i, j, c);
                    most = q > most ? q : most;
                }
            dst[x * p->channels + c] = (uint8_t)most;
        }
    }
}

static void average(const struct sn_quantized_pooling * p, const uint8_t * image, size_t y, uint8_t * dst)
{
    const struct sn_quantized_window rows = sn_quantized_window(y, p->srcH, p->kernelY, p->strideY, p->padY, p->padH);
    for (size_t x = 0; x < p->dstW; ++x) {
        const struct sn_quantized_window columns = sn_quantized_window(x, p->srcW, p->kernelX, p->strideX, p->padX, p->padW);
        const float count = sn_quantized_count(p, &rows, &columns);
        for (size_t c = 0; c < p->channels; ++c) {
            float v = 0;
            for (size_t i = rows.begin; i < rows.end; ++i)
                for (size_t j = columns.begin; j < columns.end; ++j) {
                    const float term = (float)(number(p, image, i, j, c) - p->zeroSrc) * p->scaleSrc;
                    v = v + term;
                }
            v = count > 0 ? v / count : 0;
            v = v / p->scaleDst;
            dst[x * p->channels + c] = limited(p, v + (float)p->zeroDst, 0);
        }
    }
}

static void global(const struct sn_quantized_pooling * p, const uint8_t * image, size_t y, uint8_t * dst)
{
    (void)y;
    const float norm = sn_quantized_global_norm(p);
    for (size_t c = 0; c < p->channels; ++c) {
        uint32_t sum = 0; /* wraps */
        for (size_t i = 0; i < p->srcH; ++i)
            for (size_t j = 0; j < p->srcW; ++j)
                sum += (uint32_t)(number(p, image, i, j, c) - p->zeroSrc);
        dst[c] = limited(p, (float)(int32_t)sum * norm, p->zeroDst);
    }
}

SN_INSTALL(quantized_pooling, quantized_pooling)
{
    slots->max = max;
    slots->average = average;
    slots->global = global;
}
