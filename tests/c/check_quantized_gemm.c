/* Batches of products of bytes, bit for bit as base: all types, zeros and scales of rows and columns, extremes and ties. */
#include "check.h"

#define U8 SimdTensorData8u
#define I8 SimdTensorData8i

struct product {
    size_t M, N, K, batch, strideA, strideB;
    bool transB, perRow, perColumn, zeroA, zeroB, scaled, bias;
    SimdTensorDataType typeA, typeB, typeC;
    float scaleC;
    int32_t zeroC;
};

/* Arrays in this order: A, B, C, then those that are there: zeros, scales, bias. */
static void quantized_gemm(const void * job, void * context, void * const * a)
{
    (void)context;
    const struct product * t = job;
    SimdnetQuantizedGemmParameters p = {.size = sizeof(p), .M = t->M, .N = t->N, .K = t->K, .batch = t->batch,
        .strideA = t->strideA, .strideB = t->strideB, .transB = (SimdBool)t->transB, .perRow = (SimdBool)t->perRow,
        .perColumn = (SimdBool)t->perColumn, .typeA = t->typeA, .typeB = t->typeB, .typeC = t->typeC, .scaleC = t->scaleC,
        .zeroC = t->zeroC, .A = a[0], .B = a[1], .C = a[2]};
    a += 3;
    p.zeroA = t->zeroA ? *a++ : NULL;
    p.zeroB = t->zeroB ? *a++ : NULL;
    p.scaleA = t->scaled ? *a++ : NULL;
    p.scaleB = t->scaled ? *a++ : NULL;
    p.bias = t->bias ? *a++ : NULL;
    SimdnetQuantizedGemm(&p);
}

static bool is_byte(SimdTensorDataType type) { return type == U8 || type == I8; }

/* Scales are not below 0. */
static void scales(const char * name, size_t count)
{
    sn_32f * scale = check_in(name, CHECK_32F, count, CHECK_RANDOM);
    for (size_t i = 0; i < count; ++i)
        scale[i] = i % 3 ? fabsf(scale[i]) : 0.5f; /* ties */
}

static bool product_case(const struct product * t, enum check_fill fill)
{
    const size_t batch = t->batch ? t->batch : 1, one = t->M * t->K, other = t->N * t->K;
    if (!check_case("SimdnetQuantizedGemm", "%zu of %zux%zux%zu strides %zu,%zu types %d,%d,%d %d%d%d%d%d%d%d to %g,%d %s",
                    batch, t->M, t->N, t->K, t->strideA, t->strideB, (int)t->typeA, (int)t->typeB, (int)t->typeC, t->transB,
                    t->perRow, t->perColumn, t->zeroA, t->zeroB, t->scaled, t->bias, (double)t->scaleC, (int)t->zeroC,
                    check_fill_name(fill)))
        return false;
    const size_t rows = t->perRow ? batch * t->M : 1, columns = t->perColumn ? t->N : 1;
    check_in("A", CHECK_8U, one ? (batch - 1) * t->strideA + one : 0, fill);
    check_in("B", CHECK_8U, other ? (batch - 1) * t->strideB + other : 0, fill);
    check_out("C", is_byte(t->typeC) ? CHECK_8U : t->typeC == SimdTensorData32f ? CHECK_32F : CHECK_32I,
              batch * t->M * t->N);
    if (t->zeroA)
        check_in("zeroA", CHECK_8U, rows, CHECK_RANDOM);
    if (t->zeroB)
        check_in("zeroB", CHECK_8U, columns, CHECK_RANDOM);
    if (t->scaled) {
        scales("scaleA", rows);
        scales("scaleB", columns);
    }
    if (t->bias)
        check_in("bias", t->typeC == SimdTensorData32f ? CHECK_32F : CHECK_32I, t->N, CHECK_RANDOM);
    return true;
}

static void run(struct product t, enum check_fill fill)
{
    if (product_case(&t, fill))
        check_run(quantized_gemm, &t);
}

static struct product drawn(size_t i)
{
    static const SimdTensorDataType types[] = {SimdTensorData32i, SimdTensorData32f, SimdTensorData8u, SimdTensorData8i};
    struct product t = {.M = check_random_size(i % 8 ? 20 : 300), .N = check_random_size(150),
        .K = check_random_size(i % 4 ? 90 : 600), .typeA = i & 1 ? U8 : I8, .typeB = i & 2 ? U8 : I8, .typeC = types[i / 4 % 4]};
    const size_t flags = check_random(0, 127);
    t.transB = flags & 1, t.perRow = flags & 2, t.perColumn = flags & 4, t.zeroA = flags & 8, t.zeroB = flags & 16;
    t.scaled = flags & 32, t.bias = flags & 64;
    t.scaleC = i % 3 ? 64 : check_random_32f(1, 3000);
    t.zeroC = (int32_t)check_random(0, 255) - (t.typeC == I8 ? 128 : 0);
    if (i % 5 == 0) {
        t.batch = check_random(1, 4);
        t.strideA = check_random(0, 1) * t.M * t.K, t.strideB = check_random(0, 1) * t.N * t.K;
    }
    return t;
}

static void refusals(void)
{
    const struct product job = {.M = 3, .N = 4, .K = 20, .batch = 2, .strideA = 60, .strideB = 80, .perRow = true,
        .perColumn = true, .zeroA = true, .zeroB = true, .scaled = true, .bias = true, .typeA = U8, .typeB = I8, .typeC = U8, .scaleC = 1};
    struct product t = job;
    product_case(&job, CHECK_RANDOM);
    check_refused_overlap(false, quantized_gemm, &job);
    t.scaleC = 0;
    check_refused(CHECK_VALUE, "scaleC is 0", quantized_gemm, &t);
    t.scaleC = NAN;
    check_refused(CHECK_VALUE, "scaleC is nan", quantized_gemm, &t);
    t = job, t.zeroC = 256;
    check_refused(CHECK_VALUE, "zeroC is 256", quantized_gemm, &t);
    t = job, t.typeC = I8, t.zeroC = 128;
    check_refused(CHECK_VALUE, "zeroC is 128", quantized_gemm, &t);
    t = job, t.typeA = SimdTensorData32f;
    check_refused(CHECK_VALUE, "typeA is", quantized_gemm, &t);
    t = job, t.typeB = SimdTensorData32i;
    check_refused(CHECK_VALUE, "typeB is", quantized_gemm, &t);
    t = job, t.typeC = SimdTensorData64i;
    check_refused(CHECK_VALUE, "typeC is", quantized_gemm, &t);
    t = job, t.strideB = SIZE_MAX / 2;
    check_refused(CHECK_VALUE, "strideB is", quantized_gemm, &t);
    t = job, t.M = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "M is", quantized_gemm, &t);
    t = job, t.M = 0;
    check_empty(quantized_gemm, &t);
    const struct product least = {.M = 1, .N = 2, .K = 3, .typeA = I8, .typeB = U8, .typeC = SimdTensorData32i};
    product_case(&least, CHECK_RANDOM);
    check_refused_null(quantized_gemm, &least);
    sn_32f scale = -1;
    uint8_t bytes[4] = {0}, result[4];
    SimdnetQuantizedGemmParameters p = {.size = sizeof(p), .M = 1, .N = 1, .K = 4, .typeA = U8, .typeB = I8, .typeC = U8,
        .A = bytes, .B = bytes, .C = result, .scaleC = 1, .scaleB = (void *)&scale};
    SimdnetQuantizedGemm(&p);
    check_that(strstr(SimdnetLastError(), "scaleB[0] is -1") != NULL, "SimdnetQuantizedGemm", "-1: %s", SimdnetLastError());
    SimdnetQuantizedGemm(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, "SimdnetQuantizedGemm", "NULL: %s",
               SimdnetLastError());
}

static void bench(void)
{
    static const struct product jobs[] = {
        {.M = 128, .N = 512, .K = 512, .typeA = U8, .typeB = I8, .typeC = SimdTensorData32i},
        {.M = 128, .N = 512, .K = 512, .typeA = U8, .typeB = I8, .typeC = U8, .scaleC = 1, .scaled = true, .perColumn = true},
        {.M = 128, .N = 128, .K = 64, .batch = 12, .strideA = 8192, .strideB = 8192, .transB = true, .typeA = U8, .typeB = U8,
            .zeroA = true, .zeroB = true, .typeC = SimdTensorData32f}};
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); ++i) {
        const struct product * t = &jobs[i];
        if (product_case(t, CHECK_RANDOM))
            check_bench(quantized_gemm, t, 2.0 * (double)(t->M * t->N * t->K * (t->batch ? t->batch : 1)), 0);
    }
}

CHECK_FAMILY(quantized_gemm)
{
    if (!check_selected("SimdnetQuantizedGemm"))
        return;
    for (size_t i = 0, n = check_count(240); i < n; ++i)
        run(drawn(i), i % 7 ? CHECK_RANDOM : CHECK_LARGE);
    for (size_t K = 0; K < 10; ++K)
        run((struct product){.M = 3, .N = 5, .K = K, .typeA = U8, .typeB = I8, .typeC = SimdTensorData32i, .bias = true},
            CHECK_LARGE);
    run((struct product){.M = 200, .N = 300, .K = 400, .typeA = I8, .typeB = I8, .typeC = I8, .scaleC = 3000, .zeroC = -7},
        CHECK_RANDOM);
    refusals();
    if (check_timed())
        bench();
}
