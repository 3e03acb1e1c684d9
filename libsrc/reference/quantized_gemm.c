#include <float.h>
#include <math.h>

#include "contract/quantized_gemm.h"
#include "reference/reference.h"

/* Stores the result of a complete sum: drivers have a conversion of their own. */
static void store(const struct sn_quantized_gemm * g, size_t i, size_t j, int32_t sum)
{
    const size_t at = i * g->N + j;
    const float v = (float)sum * sn_quantized_norm(g, i, j);
    if (g->type == SN_DATA_32I) {
        ((sn_32i *)(void *)g->C)[at] = sum;
    } else if (g->type == SN_DATA_32F) {
        ((sn_32f *)(void *)g->C)[at] = v + sn_quantized_bias_32f(g, j);
    } else {
        const long least = g->type == SN_DATA_8I ? -128 : 0, most = least + 255;
        const long whole = v > -1e6f ? lrintf(v < 1e6f ? v : 1e6f) + g->zeroC : least; /* least for NaN */
        g->C[at] = (uint8_t)(whole < least ? least : whole > most ? most : whole);
    }
}

static void plain(const struct sn_quantized_gemm * g)
{
    for (size_t i = 0; i < g->M; ++i)
        for (size_t j = 0; j < g->N; ++j) {
            const int32_t za = sn_quantized_zero(g->zeroA, g->perRow, g->signedA, i);
            const int32_t zb = sn_quantized_zero(g->zeroB, g->perColumn, g->signedB, j);
            uint32_t sum = (uint32_t)sn_quantized_bias(g, j); /* wraps */
            for (size_t k = 0; k < g->K; ++k) {
                const int32_t a = sn_quantized_byte(g->A + i * g->K + k, g->signedA);
                const int32_t b = sn_quantized_byte(g->B + (g->transposed ? j * g->K + k : k * g->N + j), g->signedB);
                sum += (uint32_t)((a - za) * (b - zb));
            }
            store(g, i, j, (int32_t)sum);
        }
}

static bool are_scales(const sn_32f * scale, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!(scale[i] >= 0 && scale[i] <= FLT_MAX))
            return false;
    return true;
}

SN_INSTALL(quantized_gemm, quantized_gemm)
{
    slots->plain = plain;
    slots->are_scales = are_scales;
}
