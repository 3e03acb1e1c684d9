/* Batches of products of bytes, bit for bit as base: all types, zeros and scales of rows and columns, extremes and ties; with B
 * in each call, and packed in a context. */
#include <stdlib.h>

#include "check.h"

#define U8 SimdTensorData8u
#define I8 SimdTensorData8i

struct product {
    size_t M, N, K, batch, strideA, strideB;
    bool transB, perRow, perColumn, zeroA, zeroB, scaled, bias;
    bool packed, shared, no_set; /* with a context, whose weights are those of another one, or that has none */
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
    if (t->packed) {
        p.B = NULL;
        SimdnetQuantizedGemmForward(context, &p);
    } else {
        SimdnetQuantizedGemm(&p);
    }
}

/* ---- contexts */

/* B is a copy that is overwritten afterwards: the library must not keep the pointer. */
static void set_params(const struct product * t, void * context, const void * B)
{
    const size_t bytes = t->N * t->K;
    void * own = malloc(bytes + 1);
    memcpy(own, B, bytes);
    SimdnetQuantizedGemmSetParams(context, own, (SimdBool)t->transB);
    memset(own, 0x55, bytes);
    free(own);
}

static void * init(const void * job, void * const * a)
{
    (void)a;
    const struct product * t = job;
    return SimdnetQuantizedGemmInit(t->N, t->K, t->typeB);
}

static void * open(const void * job, void * const * a)
{
    const struct product * t = job;
    void * context = init(job, a), * other;
    if (!context || t->no_set)
        return context;
    if (SimdnetQuantizedGemmInternalBufferSize(context) != 0)
        check_that(false, "SimdnetQuantizedGemmInternalBufferSize", "is not 0 at first");
    set_params(t, context, a[1]);
    set_params(t, context, a[1]); /* again */
    const size_t held = SimdnetQuantizedGemmInternalBufferSize(context);
    if (held < t->N * t->K)
        check_that(false, "SimdnetQuantizedGemmInternalBufferSize", "is %zu, less than the weights", held);
    if (!t->shared)
        return context;
    other = init(job, a);
    if (!SimdnetShareParams(other, context))
        check_that(false, "SimdnetShareParams", "%s", SimdnetLastError());
    SimdRelease(context);
    return other;
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
    if (!check_case(t->packed ? "SimdnetQuantizedGemmForward" : "SimdnetQuantizedGemm",
                    "%zu of %zux%zux%zu strides %zu,%zu types %d,%d,%d %d%d%d%d%d%d%d to %g,%d %s", batch, t->M, t->N, t->K,
                    t->strideA, t->strideB, (int)t->typeA, (int)t->typeB, (int)t->typeC, t->transB, t->perRow, t->perColumn,
                    t->zeroA, t->zeroB, t->scaled, t->bias, (double)t->scaleC, (int)t->zeroC, check_fill_name(fill)))
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
    if (t->packed)
        check_open(open);
    if (t->bias)
        check_in("bias", t->typeC == SimdTensorData32f ? CHECK_32F : CHECK_32I, t->N, CHECK_RANDOM);
    return true;
}

/* With B in the call, and packed if all products have the same. */
static void run(struct product t, enum check_fill fill)
{
    if (product_case(&t, fill))
        check_run(quantized_gemm, &t);
    t.packed = true;
    t.strideB = 0;
    t.shared = t.N % 2;
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
        .perColumn = true, .zeroA = true, .zeroB = true, .scaled = true, .bias = true, .typeA = U8, .typeB = I8, .typeC = U8,
        .scaleC = 1};
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

/* ---- contexts */

static void refuse(const char * text, struct product t, int error)
{
    t.packed = true;
    product_case(&t, CHECK_RANDOM);
    check_refused(error, text, quantized_gemm, &t);
}

/* Forward with other arguments than those of the context: one too many columns, and so on. */
static void forward_other(const void * job, void * context, void * const * a)
{
    const int which = *(const int *)job;
    SimdnetQuantizedGemmParameters p = {.size = sizeof(p), .M = 3, .N = 4, .K = 5, .typeA = U8, .typeB = I8,
        .typeC = SimdTensorData32i, .A = a[0], .C = a[2]};
    if (which == 0)
        p.N = 5;
    else if (which == 1)
        p.K = 4;
    else if (which == 2)
        p.typeB = U8;
    else if (which == 3)
        p.B = a[1];
    else
        p.strideB = 20;
    SimdnetQuantizedGemmForward(context, &p);
}

static void * open_small(const void * job, void * const * a)
{
    (void)job;
    void * context = SimdnetQuantizedGemmInit(4, 5, I8);
    SimdnetQuantizedGemmSetParams(context, a[1], SimdTrue);
    return context;
}

static void refuse_forward(void)
{
    static const char * const texts[] = {"N is 5, expected 4 as in context", "K is 4, expected 5 as in context",
        "expected SimdTensorData8i as in context", "B is not NULL", "strideB is 20"};
    for (int i = 0; i < 5; ++i) {
        check_case("SimdnetQuantizedGemmForward", "refusal %d", i);
        check_in("A", CHECK_8U, 15, CHECK_RANDOM);
        check_in("B", CHECK_8U, 20, CHECK_RANDOM);
        check_out("C", CHECK_32I, 12);
        check_open(open_small);
        check_refused(CHECK_VALUE, texts[i], forward_other, &i);
    }
}

static void refuse_share(size_t N, size_t K, SimdTensorDataType type, bool set, const char * text)
{
    static const uint8_t bytes[100];
    void * context = SimdnetQuantizedGemmInit(4, 5, I8), * from = SimdnetQuantizedGemmInit(N, K, type);
    if (set)
        SimdnetQuantizedGemmSetParams(from, bytes, SimdFalse);
    check_that(!SimdnetShareParams(context, from) && strstr(SimdnetLastError(), text), "SimdnetShareParams",
               "expected a text with '%s', got '%s'", text, SimdnetLastError());
    SimdRelease(context);
    SimdRelease(from);
}

static void expect(bool refused, const char * function, const char * text)
{
    check_that(refused && strstr(SimdnetLastError(), text), function, "expected a text with '%s', got '%s'", text,
               SimdnetLastError());
}

static void refuse_context(void)
{
    const char * init_name = "SimdnetQuantizedGemmInit", * set_name = "SimdnetQuantizedGemmSetParams";
    expect(!SimdnetQuantizedGemmInit(4, 5, SimdTensorData32f), init_name, "typeB is");
    expect(!SimdnetQuantizedGemmInit(SIZE_MAX / 4, 5, U8), init_name, "too large");
    expect(SimdnetQuantizedGemmInternalBufferSize(NULL) == 0, init_name, "context");
    void * context = SimdnetQuantizedGemmInit(4, 5, U8);
    uint8_t bytes[20] = {0};
    SimdnetQuantizedGemmSetParams(context, NULL, SimdFalse);
    expect(true, set_name, "B is NULL");
    SimdnetQuantizedGemmSetParams(context, bytes, (SimdBool)2);
    expect(true, set_name, "transB is 2");
    SimdnetForward(context, &(SimdnetForwardParameters){.size = sizeof(SimdnetForwardParameters)});
    expect(true, "SimdnetForward", "expected one of images");
    SimdRelease(context);
    refuse_share(3, 5, I8, true, "N of from is 3");
    refuse_share(4, 6, I8, true, "K of from is 6");
    refuse_share(4, 5, U8, true, "typeB of from is");
    refuse_share(4, 5, I8, false, "no parameters yet");
    const struct product t = {.M = 3, .N = 4, .K = 20, .typeA = U8, .typeB = I8, .typeC = SimdTensorData32i, .no_set = true};
    refuse("SetParams", t, CHECK_STATE);
    refuse_forward();
}

static void bench(void)
{
    static const struct product jobs[] = {
        {.M = 1, .N = 2048, .K = 2048, .typeA = U8, .typeB = I8, .typeC = SimdTensorData32f, .scaled = true, .packed = true},
        {.M = 8, .N = 512, .K = 512, .typeA = U8, .typeB = I8, .typeC = SimdTensorData32f, .scaled = true, .packed = true},
        {.M = 128, .N = 512, .K = 512, .typeA = U8, .typeB = I8, .typeC = SimdTensorData32i, .packed = true},
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
    if (!check_selected("SimdnetQuantizedGemm") && !check_selected("SimdnetQuantizedGemmForward"))
        return;
    for (size_t i = 0, n = check_count(240); i < n; ++i)
        run(drawn(i), i % 7 ? CHECK_RANDOM : CHECK_LARGE);
    for (size_t M = 1; M < 10; ++M)
        run((struct product){.M = M, .N = 70 + M, .K = 300 + M, .typeA = M % 2 ? U8 : I8, .typeB = I8, .scaled = true,
            .typeC = SimdTensorData32f, .zeroA = true, .perColumn = true, .bias = true}, CHECK_RANDOM);
    for (size_t K = 0; K < 10; ++K)
        run((struct product){.M = 3, .N = 5, .K = K, .typeA = U8, .typeB = I8, .typeC = SimdTensorData32i, .bias = true},
            CHECK_LARGE);
    for (size_t i = 0; i < 4; ++i) /* sums of rows that exceed 16 bits, and whose parts are added up */
        run((struct product){.M = 5, .N = 70, .K = 9000 + i, .typeA = i & 1 ? U8 : I8, .typeB = i & 2 ? U8 : I8, .zeroA = true,
            .zeroB = true, .perColumn = true, .typeC = SimdTensorData32i}, i ? CHECK_RANDOM : CHECK_LARGE);
    run((struct product){.M = 200, .N = 300, .K = 400, .typeA = I8, .typeB = I8, .typeC = I8, .scaleC = 3000, .zeroC = -7},
        CHECK_RANDOM);
    refusals();
    refuse_context();
    if (check_timed())
        bench();
}
