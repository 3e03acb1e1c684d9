#include "contract/gemm.h"
#include "reference/activate.h"
#include "reference/reference.h"

static double sum_of(const struct sn_gemm * g, size_t i, size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < g->K; ++k)
        sum += (double)g->A[g->transposedA ? k * g->lda + i : i * g->lda + k] *
               g->B[g->transposed ? j * g->ldb + k : k * g->ldb + j];
    return sum;
}

static void gemm(const struct sn_gemm * g)
{
    for (size_t i = 0; i < g->M; ++i)
        for (size_t j = 0; j < g->N; ++j) {
            double sum = g->alpha * sum_of(g, i, j) + (g->bias ? g->bias[j] : 0);
            if (g->beta != 0)
                sum += (double)g->beta * g->C[i * g->ldc + j];
            g->C[i * g->ldc + j] = (float)activate(sum, g->activation, g->slope ? g->slope : g->param, j);
        }
}

SN_INSTALL(gemm, gemm) { slots->plain = gemm; }
