/* QuantizedInnerProduct: exact on every instruction set, equal to QuantizedConvolution by one pixel; and sums of InnerProduct8i. */
#include <stdlib.h>

#include "check.h"

#define FORWARD "SimdSynetQuantizedInnerProductForward"
#define INIT "SimdSynetQuantizedInnerProductInit"
#define SUMS "SimdSynetInnerProduct8i"

struct product {
    size_t M, N, K;
    SimdTensorDataType types[3];
    SimdBool transB, constB, bias;
    bool no_bias, no_set;
    const uint8_t * zeros; /* of A and C; NULL: not given */
    const char * bad; /* the argument of SetParams that is wrong */
};

enum { A, B, SCALE, BIAS, C };

static void * init(const struct product * p, size_t M)
{
    return SimdSynetQuantizedInnerProductInit(M, p->N, p->K, p->types[0], p->types[1], p->types[2], p->transB, p->constB,
                                              p->bias);
}

static const float io[] = {0.25f, 0.5f};
static const uint8_t zero[] = {7, 131};

/* Scales that give some bytes at both ends, of which some norm are above 0.25; arrays that are overwritten and freed. */
static void set_params(const struct product * p, void * context, void * const * a)
{
    const size_t weights = p->N * p->K;
    const char bad = p->bad ? *p->bad : ' ';
    int8_t * b = malloc(weights + 1);
    float * scale = malloc((p->N + 1) * sizeof(*scale));
    int32_t * bias = malloc((p->N + 1) * sizeof(*bias));
    memcpy(b, a[B], weights);
    for (size_t j = 0; j < p->N; ++j) {
        scale[j] = ((const uint8_t *)a[SCALE])[j] % 5 ? 0.01f * (float)(1 + ((const uint8_t *)a[SCALE])[j]) : 3e4f;
        memcpy(&bias[j], (const char *)a[BIAS] + j * sizeof(*bias), sizeof(*bias));
        bias[j] %= 99999;
    }
    if (bad == 's')
        scale[p->N - 1] = 0;
    SimdSynetQuantizedInnerProductSetParams(
        context, bad == 'a' ? NULL : bad == 'A' ? &(const float){NAN} : io, p->zeros, bad == 'b' ? NULL : b,
        bad == 'S' ? NULL : scale, p->no_bias ? NULL : bias, bad == 'c' ? NULL : bad == 'C' ? &(const float){-1} : io + 1,
        p->zeros ? p->zeros + 1 : NULL);
    memset(b, 0x55, weights);
    memset(scale, 0xFF, p->N * sizeof(*scale));
    free(b);
    free(scale);
    free(bias);
}

static void * open(const void * job, void * const * a)
{
    const struct product * p = job;
    void * context = init(p, p->M);
    if (context && !p->no_set)
        set_params(p, context, a);
    return context;
}

static void forward(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetQuantizedInnerProductForward(context, a[A], NULL, NULL, a[C]);
}

/* Again with a buffer, the first rows by a context that shares the weights, and with zeros of 0. */
static void forward_twice(const void * job, void * context, void * const * a)
{
    const struct product * p = job;
    const size_t M = (p->M + 1) / 2;
    forward(job, context, a);
    void * again = check_buffer(p->M * p->N + 1), * buf = check_buffer(SimdSynetQuantizedInnerProductExternalBufferSize(context));
    SimdSynetQuantizedInnerProductForward(context, a[A], NULL, buf, again);
    if (memcmp(a[C], again, p->M * p->N))
        check_that(false, FORWARD, "with and without buf results differ");
    void * other = init(p, M);
    if (!SimdnetShareParams(other, context))
        check_that(false, FORWARD, "not shared: %s", SimdnetLastError());
    SimdSynetQuantizedInnerProductForward(other, a[A], NULL, NULL, again);
    SimdRelease(other);
    if (memcmp(a[C], again, M * p->N))
        check_that(false, FORWARD, "%zu of %zu rows differ", M, p->M);
    if (p->zeros)
        return;
    struct product given = *p;
    given.zeros = (const uint8_t[2]){0, 0};
    other = open(&given, a);
    SimdSynetQuantizedInnerProductForward(other, a[A], NULL, NULL, again);
    SimdRelease(other);
    if (memcmp(a[C], again, p->M * p->N))
        check_that(false, FORWARD, "zeros that are not given are not 0");
}

static bool declare(const char * function, const struct product * p, const char * text)
{
    if (!check_case(function, "M=%zu N=%zu K=%zu transB=%d%s%s%s", p->M, p->N, p->K, p->transB, p->no_bias ? " no bias" : "",
                    p->zeros ? "" : " no zeros", text))
        return false;
    check_in("A", CHECK_8U, p->M * p->K, CHECK_RANDOM);
    check_in("B", CHECK_8U, p->N * p->K, CHECK_RANDOM);
    check_in("scale", CHECK_8U, p->N, CHECK_RANDOM);
    check_in("bias", CHECK_32I, p->N, CHECK_RANDOM);
    check_out("C", CHECK_8U, p->M * p->N);
    check_open(open);
    return true;
}

static struct product product(size_t M, size_t N, size_t K, size_t variant)
{
    return (struct product){.M = M, .N = N, .K = K, .types = {SimdTensorData8u, SimdTensorData8i, SimdTensorData8u},
        .transB = (SimdBool)(variant & 1), .constB = SimdTrue, .bias = (SimdBool)(variant >> 1 & 1),
        .no_bias = variant % 5 == 0, .zeros = variant % 7 ? zero : NULL};
}

static void run(struct product p)
{
    if (declare(FORWARD, &p, ""))
        check_run(forward_twice, &p);
}

/* ---- the formula, with both orders of B, which must give the same */

static void formula(size_t M, size_t N, size_t K)
{
    uint8_t * a = malloc(M * K + 1), * c = malloc(M * N), * d = malloc(M * N);
    int8_t * b = malloc(N * K + 1), * turned = malloc(N * K + 1);
    float * scale = malloc(N * sizeof(*scale));
    for (size_t i = 0; i < M * K; ++i)
        a[i] = (uint8_t)check_random(0, 255);
    for (size_t j = 0; j < N; ++j) {
        scale[j] = 0.0625f * (float)check_random(1, 9) / (float)(K + 1);
        for (size_t k = 0; k < K; ++k)
            b[k * N + j] = turned[j * K + k] = (int8_t)check_random(0, 255);
    }
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        for (size_t t = 0; t < 2; ++t) {
            const struct product p = product(M, N, K, t);
            void * context = init(&p, M);
            SimdSynetQuantizedInnerProductSetParams(context, io, zero, t ? turned : b, scale, NULL, io + 1, zero + 1);
            SimdSynetQuantizedInnerProductForward(context, a, NULL, NULL, t ? d : c);
            SimdRelease(context);
        }
        size_t wrong = 0;
        for (size_t i = 0; i < M; ++i)
            for (size_t j = 0; j < N; ++j) {
                int64_t sum = 0;
                for (size_t k = 0; k < K; ++k)
                    sum += (a[i * K + k] - zero[0]) * b[k * N + j];
                const float norm = io[0] * scale[j] / io[1], v = (float)sum * norm;
                const double r = rint((double)v) + zero[1], want = r < 0 ? 0 : r > 255 ? 255 : r;
                wrong += c[i * N + j] != want || d[i * N + j] != want;
            }
        check_that(wrong == 0, FORWARD, "%zux%zux%zu on %s: %zu wrong: %s", M, N, K, SimdnetIsaLevel(level), wrong,
                   SimdnetLastError());
    }
    SimdnetSetMaxIsa(NULL);
    free(a), free(b), free(c), free(d), free(turned), free(scale);
}

/* ---- refusals */

static void refuse_init(const char * argument, struct product p)
{
    check_case(INIT, "bad %s", argument);
    check_out("C", CHECK_8U, 4);
    check_open(open);
    check_refused(CHECK_VALUE, argument, NULL, &p);
}

/* SetParams is refused, and the context stays without parameters. */
static void refuse_set(const char * argument, struct product p)
{
    static const uint8_t byte[64];
    void * const a[] = {(void *)(uintptr_t)byte, (void *)(uintptr_t)byte, (void *)(uintptr_t)byte, (void *)(uintptr_t)byte};
    void * context = init(&p, p.M);
    p.bad = argument;
    set_params(&p, context, a);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE, "SimdSynetQuantizedInnerProductSetParams", "bad %s: %s", argument,
               SimdnetLastError());
    check_that(SimdSynetQuantizedInnerProductInternalBufferSize(context) == 0, "SimdSynetQuantizedInnerProductSetParams",
               "bad %s: it has parameters", argument);
    SimdRelease(context);
}

static void refusals(void)
{
    const struct product good = product(3, 4, 5, 3);
    struct product p;
    refuse_init("typeA", (p = good, p.types[0] = SimdTensorData32f, p));
    refuse_init("typeB", (p = good, p.types[1] = SimdTensorData8u, p));
    refuse_init("typeC", (p = good, p.types[2] = SimdTensorDataUnknown, p));
    refuse_init("constB", (p = good, p.constB = SimdFalse, p));
    refuse_init("transB", (p = good, p.transB = (SimdBool)2, p));
    refuse_init("bias", (p = good, p.bias = (SimdBool)-1, p));
    refuse_init("M is", (p = good, p.M = SIZE_MAX / 2, p));
    refuse_set("a", good), refuse_set("A", good), refuse_set("c", good), refuse_set("C", good);
    refuse_set("b", good), refuse_set("S", good), refuse_set("s", good);
    p = good, p.no_set = true;
    declare(FORWARD, &p, " without parameters");
    check_refused(CHECK_STATE, "SetParams", forward, &p);
    SimdSynetQuantizedInnerProductForward(NULL, NULL, NULL, NULL, NULL);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE, FORWARD, "NULL: %s", SimdnetLastError());
}

/* ---- sums */

static void sums(const void * job, void * context, void * const * a)
{
    const struct product * p = job;
    (void)context;
    SimdSynetInnerProduct8i(p->M, p->N, p->K, a[0], a[1], a[2], SimdSynetCompatibilityDefault);
}

static bool declare_sums(const struct product * p, enum check_fill fill, const char * text)
{
    if (!check_case(SUMS, "M=%zu N=%zu K=%zu %s%s", p->M, p->N, p->K, check_fill_name(fill), text))
        return false;
    check_in("src", CHECK_8U, p->M * p->K, fill);
    check_in("weight", CHECK_8U, p->N * p->K, fill);
    check_out("dst", CHECK_32I, p->M * p->N);
    return true;
}

static void run_sums(size_t M, size_t N, size_t K, enum check_fill fill)
{
    const struct product p = product(M, N, K, 1);
    if (declare_sums(&p, fill, ""))
        check_run(sums, &p);
}

static void sums_refusals(void)
{
    const struct product good = product(3, 4, 5, 1), large = product(SIZE_MAX / 2, 3, 1, 1), none = product(0, 4, 5, 1);
    const struct product empty = product(3, 0, 5, 1);
    declare_sums(&good, CHECK_RANDOM, " refusals");
    check_refused_null(sums, &good);
    check_refused_overlap(false, sums, &good);
    check_refused(CHECK_VALUE, "M is", sums, &large);
    check_empty(sums, &none);
    check_empty(sums, &empty);
}

CHECK_FAMILY(quantized_inner_product)
{
    for (size_t n = 1; n <= 68; ++n) {
        run(product(1 + n % 16, n, 1 + n * 7 % 40, n));
        run(product(n, 1 + n * 5 % 70, n, n + 1));
        run_sums(1 + n % 16, n, 1 + n * 7 % 40, (enum check_fill)(n % CHECK_FILLS));
        run_sums(n, 1 + n * 5 % 70, n, CHECK_LARGE);
    }
    run(product(3, 5, 0, 1));
    run_sums(3, 5, 0, CHECK_RANDOM);
    for (size_t i = 0, n = check_count(200); i < n; ++i) {
        run(product(check_random_size(40), check_random_size(150), check_random_size(300), check_random(0, 99)));
        run_sums(check_random_size(40), check_random_size(150), check_random_size(300), CHECK_RANDOM);
    }
    if (check_selected(FORWARD))
        for (size_t n = 1; n < 40; n += 5)
            formula(1 + n % 7, n, n * 3 % 50);
    refusals();
    sums_refusals();
}
