#include "ops/gemm.h"

#include "api/call.h"
#include "api/overlap.h"

/* C may be columns of the matrix that A or B is a part of. */
static bool is_apart(const char * function, const struct sn_gemm * g, size_t rowsB, size_t columnsB)
{
    const sn_32f * A = g->A, * B = g->B, * C = g->C;
    return sn_rows_apart(function, SN_ROWS(C, g->M, g->N, g->ldc), SN_ROWS(A, g->M, g->K, g->lda)) &&
           sn_rows_apart(function, SN_ROWS(C, g->M, g->N, g->ldc), SN_ROWS(B, rowsB, columnsB, g->ldb));
}

static void gemm(const char * function, const struct sn_gemm * g, const sn_32f * alpha, const sn_32f * beta)
{
    const size_t rowsB = g->transposed ? g->N : g->K, columnsB = g->transposed ? g->K : g->N;
    size_t elements;
    SN_CHECK_FOR(function, g->lda >= g->K, SN_VOID, "lda is %zu, expected at least K = %zu", g->lda, g->K);
    SN_CHECK_FOR(function, g->ldb >= columnsB, SN_VOID, "ldb is %zu, expected at least %s = %zu", g->ldb,
                 g->transposed ? "K" : "N", columnsB);
    SN_CHECK_FOR(function, g->ldc >= g->N, SN_VOID, "ldc is %zu, expected at least N = %zu", g->ldc, g->N);
    SN_CHECK_FOR(function, sn_product(&elements, g->M, g->lda), SN_VOID, "M is %zu and lda is %zu, too large for an array",
                 g->M, g->lda);
    SN_CHECK_FOR(function, sn_product(&elements, rowsB, g->ldb), SN_VOID,
                 "B has %zu rows and ldb is %zu, too large for an array", rowsB, g->ldb);
    SN_CHECK_FOR(function, sn_product(&elements, g->M, g->ldc), SN_VOID, "M is %zu and ldc is %zu, too large for an array",
                 g->M, g->ldc);
    if (g->M == 0 || g->N == 0)
        return;
    SN_CHECK_FOR(function, alpha, SN_VOID, "alpha is NULL, expected one float");
    SN_CHECK_FOR(function, g->A || g->K == 0, SN_VOID, "A is NULL, expected an array");
    SN_CHECK_FOR(function, g->B || g->K == 0, SN_VOID, "B is NULL, expected an array");
    SN_CHECK_FOR(function, beta, SN_VOID, "beta is NULL, expected one float");
    SN_CHECK_FOR(function, g->C, SN_VOID, "C is NULL, expected an array");
    struct sn_gemm job = *g;
    job.alpha = alpha[0];
    job.beta = beta[0];
    if (job.alpha == 0 || job.K == 0) { /* A and B are not read and may be NULL: pointers are computed from C */
        job.K = job.lda = job.ldb = 0;
        job.A = job.B = job.C;
    } else if (!is_apart(function, g, rowsB, columnsB)) {
        return;
    }
    if (!sn_gemm(&job))
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for a buffer");
}

void SimdGemm32fNN(size_t M, size_t N, size_t K, const sn_32f * alpha, const sn_32f * A, size_t lda, const sn_32f * B,
                   size_t ldb, const sn_32f * beta, sn_32f * C, size_t ldc)
{
    SN_CALL(M, N, K);
    const struct sn_gemm g = {false, M, N, K, 0, 0, A, B, C, lda, ldb, ldc};
    gemm(__func__, &g, alpha, beta);
}

void SimdGemm32fNT(size_t M, size_t N, size_t K, const sn_32f * alpha, const sn_32f * A, size_t lda, const sn_32f * B,
                   size_t ldb, const sn_32f * beta, sn_32f * C, size_t ldc)
{
    SN_CALL(M, N, K);
    const struct sn_gemm g = {true, M, N, K, 0, 0, A, B, C, lda, ldb, ldc};
    gemm(__func__, &g, alpha, beta);
}
