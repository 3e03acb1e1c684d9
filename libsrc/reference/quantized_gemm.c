#include "contract/quantized_gemm.h"
#include "reference/reference.h"

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
            sn_quantized_store(g, i, j, (int32_t)sum, sn_quantized_norm(g, i, j));
        }
}

SN_INSTALL(quantized_gemm, quantized_gemm) { slots->plain = plain; }
