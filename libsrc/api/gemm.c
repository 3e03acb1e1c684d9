#include "ops/gemm.h"

#include <string.h>

#include "api/call.h"
#include "api/overlap.h"
#include "api/parameters.h"
#include "dispatch/dispatch.h"

/* C may be columns of the matrix that A or B is a part of. */
static bool is_apart(const char * function, const struct sn_gemm * g, size_t rowsA, size_t columnsA, size_t rowsB,
                     size_t columnsB)
{
    const sn_32f * A = g->A, * B = g->B, * C = g->C;
    return sn_rows_apart(function, SN_ROWS(C, g->M, g->N, g->ldc), SN_ROWS(A, rowsA, columnsA, g->lda)) &&
           sn_rows_apart(function, SN_ROWS(C, g->M, g->N, g->ldc), SN_ROWS(B, rowsB, columnsB, g->ldb));
}

static bool reads(const struct sn_gemm * g) { return g->alpha != 0 && g->K; }

static void compute(const char * function, const struct sn_gemm * g)
{
    struct sn_gemm job = *g;
    if (!reads(g)) { /* A and B may be NULL: pointers are computed from C */
        job.K = job.lda = job.ldb = 0;
        job.A = job.B = job.C;
        memset(job.strideA, 0, sizeof(job.strideA));
        memset(job.strideB, 0, sizeof(job.strideB));
    }
    if (!sn_gemm(sn_table(), &job))
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for a buffer");
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
    if (reads(&job) && !is_apart(function, g, g->M, g->K, rowsB, columnsB))
        return;
    compute(function, &job);
}

void SimdGemm32fNN(size_t M, size_t N, size_t K, const sn_32f * alpha, const sn_32f * A, size_t lda, const sn_32f * B,
                   size_t ldb, const sn_32f * beta, sn_32f * C, size_t ldc)
{
    SN_CALL(M, N, K);
    const struct sn_gemm g = {.M = M, .N = N, .K = K, .A = A, .B = B, .C = C, .lda = lda, .ldb = ldb, .ldc = ldc};
    gemm(__func__, &g, alpha, beta);
}

void SimdGemm32fNT(size_t M, size_t N, size_t K, const sn_32f * alpha, const sn_32f * A, size_t lda, const sn_32f * B,
                   size_t ldb, const sn_32f * beta, sn_32f * C, size_t ldc)
{
    SN_CALL(M, N, K);
    const struct sn_gemm g = {.transposed = true, .M = M, .N = N, .K = K, .A = A, .B = B, .C = C, .lda = lda, .ldb = ldb,
        .ldc = ldc};
    gemm(__func__, &g, alpha, beta);
}

/* ---- SimdnetGemm() */

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* The matrices of all products: A, B or C. */
struct matrices {
    char name, small; /* 'A' and 'a' */
    size_t rows, columns, step;
    const size_t * batch, * stride;
};

/* The distance between rows, 0 for dense ones. */
static bool take_step(const char * function, struct matrices * m)
{
    CHECK(m->step == 0 || m->step >= m->columns, "ld%c is %zu, expected 0 or at least %zu, the floats of a row", m->small,
          m->step, m->columns);
    m->step = m->step ? m->step : m->columns;
    return true;
}

/* The floats from the first element of all products to the last. */
static bool extent_of(const char * function, const struct matrices * m, size_t * floats)
{
    size_t whole, more;
    const bool none = m->rows == 0 || m->columns == 0;
    CHECK(sn_product(&whole, m->rows, m->step), "%c has %zu rows and ld%c is %zu, too large for an array", m->name, m->rows,
          m->small, m->step);
    for (int i = 0; i < 2; ++i) {
        CHECK(sn_product(&more, m->batch[i] - 1, m->stride[i]) && more <= PTRDIFF_MAX / sizeof(float) - whole,
              "batch[%d] is %zu and stride%c[%d] is %zu, too large for an array", i, m->batch[i], m->name, i, m->stride[i]);
        whole += more;
    }
    *floats = none ? 0 : whole - (m->step - m->columns);
    return true;
}

/* Checks sizes and memory; true if there is something to compute. Replaces what is 0 in distances and the batch of *g. */
static bool take_batch(const char * function, struct sn_gemm * g)
{
    size_t floats[3];
    struct matrices m[] = {
        {'A', 'a', g->transposedA ? g->K : g->M, g->transposedA ? g->M : g->K, g->lda, g->batch, g->strideA},
        {'B', 'b', g->transposed ? g->N : g->K, g->transposed ? g->K : g->N, g->ldb, g->batch, g->strideB},
        {'C', 'c', g->M, g->N, g->ldc, g->batch, g->strideC}};
    for (int i = 0; i < 2; ++i)
        g->batch[i] = sn_max(g->batch[i], 1);
    for (int i = 0; i < 3; ++i)
        if (!take_step(function, &m[i]) || !extent_of(function, &m[i], &floats[i]))
            return false;
    g->lda = m[0].step, g->ldb = m[1].step, g->ldc = m[2].step;
    if (floats[2] == 0)
        return false;
    const struct matrices * c = &m[2];
    struct sn_level levels[] = {{"ldc", c->rows, c->step}, {"strideC[0]", c->batch[0], c->stride[0]},
                                {"strideC[1]", c->batch[1], c->stride[1]}};
    if (!sn_levels_distinct(function, levels, c->columns, "matrices C"))
        return false;
    CHECK(g->C, "C is NULL, expected an array");
    if (!reads(g))
        return true;
    CHECK(g->A, "A is NULL, expected an array");
    CHECK(g->B, "B is NULL, expected an array");
    if (g->batch[0] * g->batch[1] == 1)
        return is_apart(function, g, m[0].rows, m[0].columns, m[1].rows, m[1].columns);
    const sn_32f * A = g->A, * B = g->B, * C = g->C;
    return sn_apart(function, SN_ARRAY(C, floats[2]), SN_ARRAY(A, floats[0])) &&
           sn_apart(function, SN_ARRAY(C, floats[2]), SN_ARRAY(B, floats[1]));
}

void SimdnetGemm(const SimdnetGemmParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetGemmParameters * q = parameters;
    SN_CALL(q->M, q->N, q->K, q->transA, q->transB, q->lda, q->ldb, q->ldc, q->batch[0], q->batch[1]);
    SN_CHECK(q->transA == SimdFalse || q->transA == SimdTrue, SN_VOID, "transA is %d, expected SimdFalse or SimdTrue",
             (int)q->transA);
    SN_CHECK(q->transB == SimdFalse || q->transB == SimdTrue, SN_VOID, "transB is %d, expected SimdFalse or SimdTrue",
             (int)q->transB);
    struct sn_gemm g = {.transposedA = q->transA == SimdTrue, .transposed = q->transB == SimdTrue, .M = q->M, .N = q->N,
        .K = q->K, .alpha = q->alpha, .beta = q->beta, .A = q->A, .B = q->B, .C = q->C, .lda = q->lda, .ldb = q->ldb,
        .ldc = q->ldc, .batch = {q->batch[0], q->batch[1]}, .strideA = {q->strideA[0], q->strideA[1]},
        .strideB = {q->strideB[0], q->strideB[1]}, .strideC = {q->strideC[0], q->strideC[1]}};
    if (take_batch(__func__, &g))
        compute(__func__, &g);
}
