#include "ops/quantized_gemm.h"

#include <float.h>

#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

typedef SimdnetQuantizedGemmParameters parameters_t;

static bool is_byte(SimdTensorDataType type) { return type == SimdTensorData8u || type == SimdTensorData8i; }

static bool is_flag(SimdBool flag) { return flag == SimdFalse || flag == SimdTrue; }

static bool has_options(const char * function, const parameters_t * q)
{
    CHECK(is_flag(q->transB), "transB is %d, expected SimdFalse or SimdTrue", (int)q->transB);
    CHECK(is_flag(q->perRow), "perRow is %d, expected SimdFalse or SimdTrue", (int)q->perRow);
    CHECK(is_flag(q->perColumn), "perColumn is %d, expected SimdFalse or SimdTrue", (int)q->perColumn);
    CHECK(is_byte(q->typeA), "typeA is %s, expected SimdTensorData8u or SimdTensorData8i", SN_NAME(sn_data_types, q->typeA));
    CHECK(is_byte(q->typeB), "typeB is %s, expected SimdTensorData8u or SimdTensorData8i", SN_NAME(sn_data_types, q->typeB));
    CHECK(is_byte(q->typeC) || q->typeC == SimdTensorData32i || q->typeC == SimdTensorData32f,
          "typeC is %s, expected SimdTensorData32i, 32f, 8u or 8i", SN_NAME(sn_data_types, q->typeC));
    if (!is_byte(q->typeC))
        return true;
    const int least = q->typeC == SimdTensorData8i ? -128 : 0;
    CHECK(q->scaleC > 0 && q->scaleC <= FLT_MAX, "scaleC is %g, expected a finite number above 0", (double)q->scaleC);
    CHECK(q->zeroC >= least && q->zeroC <= least + 255, "zeroC is %d, expected %d .. %d", (int)q->zeroC, least, least + 255);
    return true;
}

/* The bytes of the arrays of all products. */
struct extents {
    size_t A, B, C, rows, columns; /* values of rows, and of columns */
};

static bool extent_of(const char * function, const char * name, size_t batch, size_t one, size_t stride, size_t * bytes)
{
    size_t more;
    CHECK(sn_product(&more, batch - 1, stride) && more <= PTRDIFF_MAX - one,
          "batch is %zu and stride%s is %zu, too large for an array", batch, name, stride);
    *bytes = one ? more + one : 0;
    return true;
}

static bool measure(const char * function, const parameters_t * q, size_t batch, struct extents * e)
{
    size_t a, b;
    CHECK(sn_product(&a, q->M, q->K), "M is %zu and K is %zu, too large for an array", q->M, q->K);
    CHECK(sn_product(&b, q->N, q->K), "N is %zu and K is %zu, too large for an array", q->N, q->K);
    CHECK(sn_product(&e->C, batch, q->M, q->N), "batch is %zu, M is %zu and N is %zu, too large for an array", batch, q->M,
          q->N);
    e->C *= is_byte(q->typeC) ? 1 : 4;
    e->rows = q->perRow == SimdTrue ? batch * q->M : 1;
    e->columns = q->perColumn == SimdTrue ? q->N : 1;
    return extent_of(function, "A", batch, a, q->strideA, &e->A) && extent_of(function, "B", batch, b, q->strideB, &e->B);
}

static bool are_scales(const char * function, const char * name, const sn_32f * scale, size_t count)
{
    for (size_t i = 0; scale && i < count; ++i)
        CHECK(scale[i] >= 0 && scale[i] <= FLT_MAX, "%s[%zu] is %g, expected a finite number that is not below 0", name, i,
              (double)scale[i]);
    return true;
}

static bool has_arrays(const char * function, const parameters_t * q, const struct extents * e)
{
    CHECK(q->A || q->K == 0, "A is NULL, expected an array");
    CHECK(q->B || q->K == 0, "B is NULL, expected an array");
    CHECK(q->C, "C is NULL, expected an array");
    const struct sn_array C = {"C", q->C, e->C}, others[] = {{"A", q->A, e->A}, {"B", q->B, e->B},
        {"zeroA", q->zeroA, q->zeroA ? e->rows : 0}, {"zeroB", q->zeroB, q->zeroB ? e->columns : 0},
        {"scaleA", q->scaleA, q->scaleA ? e->rows * sizeof(float) : 0},
        {"scaleB", q->scaleB, q->scaleB ? e->columns * sizeof(float) : 0}, {"bias", q->bias, q->bias ? q->N * 4 : 0}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i)
        if (!sn_apart(function, C, others[i]))
            return false;
    return are_scales(function, "scaleA", q->scaleA, e->rows) && are_scales(function, "scaleB", q->scaleB, e->columns);
}

void SimdnetQuantizedGemm(const SimdnetQuantizedGemmParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const parameters_t * q = parameters;
    const size_t batch = sn_max(q->batch, 1);
    SN_CALL(q->M, q->N, q->K, batch, q->transB, q->typeA, q->typeB, q->typeC);
    struct extents e;
    if (!has_options(__func__, q) || !measure(__func__, q, batch, &e) || e.C == 0 || !has_arrays(__func__, q, &e))
        return;
    const struct sn_quantized_gemm g = {.M = q->M, .N = q->N, .K = q->K, .A = q->A, .B = q->B,
        .signedA = q->typeA == SimdTensorData8i, .signedB = q->typeB == SimdTensorData8i, .transposed = q->transB == SimdTrue,
        .perRow = q->perRow == SimdTrue, .perColumn = q->perColumn == SimdTrue, .zeroA = q->zeroA, .zeroB = q->zeroB,
        .scaleA = q->scaleA, .scaleB = q->scaleB, .scaleC = q->scaleC, .zeroC = q->zeroC, .bias = q->bias,
        .type = (enum sn_data)q->typeC, .C = q->C};
    if (!sn_quantized_gemm(&g, batch, q->strideA, q->strideB))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for a buffer");
}
