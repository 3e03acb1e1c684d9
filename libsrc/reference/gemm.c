#include "contract/gemm.h"
#include "reference/reference.h"

static void gemm(const struct sn_gemm * g)
{
    for (size_t i = 0; i < g->M; ++i)
        for (size_t j = 0; j < g->N; ++j) {
            double sum = 0;
            for (size_t k = 0; k < g->K; ++k)
                sum += (double)g->A[i * g->lda + k] * g->B[g->transposed ? j * g->ldb + k : k * g->ldb + j];
            sum *= g->alpha;
            if (g->beta != 0)
                sum += (double)g->beta * g->C[i * g->ldc + j];
            g->C[i * g->ldc + j] = (float)sum;
        }
}

SN_INSTALL(gemm, gemm) { slots->plain = gemm; }
