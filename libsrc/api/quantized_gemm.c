#include "ops/bytes/quantized_gemm.h"

#include <float.h>
#include <stdio.h>

#include "api/call.h"
#include "api/context.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"
#include "api/quantized.h"

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

static bool has_arrays(const char * function, const parameters_t * q, const struct sn_quantized_matrix * matrix,
                       const struct extents * e)
{
    CHECK(q->A || q->K == 0, "A is NULL, expected an array");
    CHECK(q->B || matrix || q->K == 0, "B is NULL, expected an array");
    CHECK(q->C, "C is NULL, expected an array");
    const struct sn_array C = {"C", q->C, e->C}, others[] = {{"A", q->A, e->A}, {"B", q->B, matrix ? 0 : e->B},
        {"zeroA", q->zeroA, q->zeroA ? e->rows : 0}, {"zeroB", q->zeroB, q->zeroB ? e->columns : 0},
        {"scaleA", q->scaleA, q->scaleA ? e->rows * sizeof(float) : 0},
        {"scaleB", q->scaleB, q->scaleB ? e->columns * sizeof(float) : 0}, {"bias", q->bias, q->bias ? q->N * 4 : 0}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i)
        if (!sn_apart(function, C, others[i]))
            return false;
    /* With a matrix of a context, A is often quantised at run time, by a scale that may be infinite. */
    return (matrix || !q->scaleA || sn_check_scales(function, "scaleA", q->scaleA, e->rows)) &&
           (!q->scaleB || sn_check_scales(function, "scaleB", q->scaleB, e->columns));
}

/* Computes with the matrix of the arguments, or that of a context. */
static void compute(const char * function, const parameters_t * q, const struct sn_quantized_matrix * matrix)
{
    const size_t batch = sn_max(q->batch, 1);
    struct extents e;
    if (!has_options(function, q) || !measure(function, q, batch, &e) || e.C == 0 || !has_arrays(function, q, matrix, &e))
        return;
    const struct sn_quantized_gemm g = {.M = q->M, .N = q->N, .K = q->K, .A = q->A, .B = q->B,
        .signedA = q->typeA == SimdTensorData8i, .signedB = q->typeB == SimdTensorData8i,
        .transposed = q->transB == SimdTrue, .perRow = q->perRow == SimdTrue, .perColumn = q->perColumn == SimdTrue,
        .zeroA = q->zeroA, .zeroB = q->zeroB, .scaleA = q->scaleA, .scaleB = q->scaleB, .scaleC = q->scaleC,
        .zeroC = q->zeroC, .bias = q->bias, .type = (enum sn_data)q->typeC, .C = q->C};
    if (!sn_quantized_gemm(&g, matrix, batch, q->strideA, q->strideB))
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for a buffer");
}

void SimdnetQuantizedGemm(const SimdnetQuantizedGemmParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const parameters_t * q = parameters;
    SN_CALL(q->M, q->N, q->K, sn_max(q->batch, 1), q->transB, q->typeA, q->typeB, q->typeC);
    compute(__func__, q, NULL);
}

/* ---- contexts of a matrix */

struct context {
    struct sn_context head;
    struct sn_quantized_matrix matrix;
};

static void destroy(void * context) { sn_quantized_matrix_free(&((struct context *)context)->matrix); }

static bool same(const char * function, const char * name, size_t from, size_t own)
{
    CHECK(from == own, "%s of from is %zu, expected %zu as in context", name, from, own);
    return true;
}

static bool share(const char * function, void * context, const void * from)
{
    struct sn_quantized_matrix * own = &((struct context *)context)->matrix;
    const struct sn_quantized_matrix * other = &((const struct context *)from)->matrix;
    CHECK(other->table == own->table, "the instruction set of from is %s, expected %s as in context", other->table->isa,
          own->table->isa);
    if (!same(function, "N", other->N, own->N) || !same(function, "K", other->K, own->K))
        return false;
    CHECK(other->with_sign == own->with_sign, "typeB of from is %s, expected %s as in context",
          other->with_sign ? "8i" : "8u", own->with_sign ? "8i" : "8u");
    if (!other->packed) {
        sn_error_set(SN_ERROR_STATE, function, "from has no parameters yet, expected SetParams to be called before");
        return false;
    }
    sn_quantized_matrix_share(own, other);
    return true;
}

static struct sn_block block(const void * context)
{
    const struct sn_quantized_matrix * q = &((const struct context *)context)->matrix;
    return (struct sn_block){q->packed, sn_quantized_matrix_size(q), {q->N, q->K, q->with_sign, 0}, q->transposed};
}

static void borrow(void * context, void * packed, unsigned transposed)
{
    sn_quantized_matrix_borrow(&((struct context *)context)->matrix, packed, transposed != 0);
}

static const struct sn_context_kind kind = {.name = "QuantizedGemm", .destroy = destroy, .share = share, .block = block,
    .borrow = borrow};

void * SimdnetQuantizedGemmInit(size_t N, size_t K, SimdTensorDataType typeB)
{
    SN_BEGIN();
    size_t bytes;
    SN_CHECK(is_byte(typeB), NULL, "typeB is %s, expected SimdTensorData8u or SimdTensorData8i",
             SN_NAME(sn_data_types, typeB));
    SN_CHECK(sn_product(&bytes, N, sn_max(K, 1), 64), NULL, "N is %zu and K is %zu, too large for an array", N, K);
    struct context * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->matrix = (struct sn_quantized_matrix){.table = c->head.table, .N = N, .K = K, .with_sign = typeB == SimdTensorData8i};
    const struct sn_dot_tile * tile = &c->head.table->convolution_8i.tile;
    if (tile->run)
        sn_context_describe(&c->head, "tile %zux%zu", tile->rows, tile->columns);
    else
        sn_context_describe(&c->head, "base");
    snprintf(c->head.shape, sizeof(c->head.shape), "%zux%zu,%s", N, K, typeB == SimdTensorData8i ? "8i" : "8u");
    return c;
}

size_t SimdnetQuantizedGemmInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_context_check(context, &kind, __func__) ? ((const struct context *)context)->matrix.size : 0;
}

void SimdnetQuantizedGemmSetParams(void * context, const void * B, SimdBool transB)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    struct sn_quantized_matrix * matrix = &((struct context *)context)->matrix;
    SN_CHECK(B || matrix->N * matrix->K == 0, SN_VOID, "B is NULL, expected an array");
    SN_CHECK(is_flag(transB), SN_VOID, "transB is %d, expected SimdFalse or SimdTrue", (int)transB);
    if (!sn_quantized_matrix_set(matrix, B, transB == SimdTrue))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the weights");
}

static bool has_matrix(const char * function, const parameters_t * q, const struct sn_quantized_matrix * matrix)
{
    const SimdTensorDataType type = matrix->with_sign ? SimdTensorData8i : SimdTensorData8u;
    CHECK(q->N == matrix->N, "N is %zu, expected %zu as in context", q->N, matrix->N);
    CHECK(q->K == matrix->K, "K is %zu, expected %zu as in context", q->K, matrix->K);
    CHECK(q->typeB == type, "typeB is %s, expected %s as in context", SN_NAME(sn_data_types, q->typeB),
          SN_NAME(sn_data_types, type));
    CHECK(!q->B, "B is not NULL, expected NULL, since the context has it");
    CHECK(q->strideB == 0, "strideB is %zu, expected 0", q->strideB);
    if (!matrix->packed)
        sn_error_set(SN_ERROR_STATE, function, "the context has no weights yet, expected SetParams to be called before");
    return matrix->packed != NULL;
}

void SimdnetQuantizedGemmForward(void * context, const SimdnetQuantizedGemmParameters * parameters)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__) || !sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const struct sn_quantized_matrix * matrix = &((const struct context *)context)->matrix;
    if (has_matrix(__func__, parameters, matrix))
        compute(__func__, parameters, matrix);
}
