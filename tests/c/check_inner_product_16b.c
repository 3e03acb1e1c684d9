/*
 * SimdSynetInnerProduct16b. Bound: that of Convolution16b (check_convolution_16b.c) for K products of rounded numbers. The
 * bits depend neither on the buffer nor, with constB, on rows that are computed by contexts that share the weights.
 */
#include <stdlib.h>

#include "check_convolution.h"

#define FORWARD "SimdSynetInnerProduct16bForward"

struct product {
    size_t M, N, K;
    SimdTensorDataType types[3]; /* of A, B and C */
    SimdBool transB, constB, bias;
    SimdConvolutionActivationType activation;
    bool no_bias, no_set, wrong_context;
    const char * missing; /* the array that is NULL */
};

enum { A, WEIGHT, BIAS, PARAMS, C, ARRAYS };

static enum check_type type_of(const struct product * p, size_t i)
{
    return p->types[i] == SimdTensorData16b ? CHECK_16B : CHECK_32F;
}

/* Weights of SetParams are floats. */
static enum check_type type_of_b(const struct product * p) { return p->constB ? CHECK_32F : type_of(p, 1); }

static size_t bytes_of(enum check_type type) { return type == CHECK_16B ? 2 : 4; }

static SimdConvolutionParameters shape_of(const struct product * p)
{
    SimdConvolutionParameters shape = check_convolution_shape(SimdTensorFormatNhwc, p->K, p->M, 1, p->N, 1, 1, 0, 1);
    shape.activation = p->activation;
    return shape;
}

static void * init(const struct product * p, size_t M)
{
    return SimdSynetInnerProduct16bInit(M, p->N, p->K, p->types[0], p->types[1], p->types[2], p->transB, p->constB,
                                        p->bias, p->activation);
}

static size_t count_of(const struct product * p, int array)
{
    const SimdConvolutionParameters shape = shape_of(p);
    const size_t counts[] = {p->M * p->K, p->N * p->K, p->N, check_activation_params(&shape), p->M * p->N};
    return counts[array];
}

/* SetParams with arrays that are overwritten and freed. */
static void * open(const void * job, void * const * a)
{
    const struct product * p = job;
    void * context = init(p, p->M);
    float * own[ARRAYS] = {NULL};
    if (!context || p->no_set)
        return context;
    if (SimdSynetInnerProduct16bInternalBufferSize(context) != 0)
        check_that(false, FORWARD, "the context holds bytes before SetParams");
    for (int i = WEIGHT; i <= PARAMS; ++i) {
        own[i] = malloc(count_of(p, i) * sizeof(float) + 1);
        memset(own[i], 0, count_of(p, i) * sizeof(float));
        if (a[i] && (i != WEIGHT || p->constB))
            memcpy(own[i], a[i], count_of(p, i) * sizeof(float));
    }
    SimdSynetInnerProduct16bSetParams(context, p->constB ? own[WEIGHT] : NULL, p->no_bias ? NULL : own[BIAS], own[PARAMS]);
    if (p->constB && SimdSynetInnerProduct16bInternalBufferSize(context) < 2 * p->N * p->K)
        check_that(false, FORWARD, "the context holds fewer bytes than weights");
    for (int i = WEIGHT; i <= PARAMS; ++i) {
        memset(own[i], 0xFF, count_of(p, i) * sizeof(float));
        free(own[i]);
    }
    return context;
}

static void forward(const void * job, void * context, void * const * a)
{
    const struct product * p = job;
    const char * missing = p->missing ? p->missing : "";
    SimdSynetInnerProduct16bForward(p->wrong_context ? NULL : context, *missing == 'A' ? NULL : a[A],
                                    p->constB || *missing == 'B' ? NULL : a[WEIGHT], NULL, *missing == 'C' ? NULL : a[C]);
}

/* Again with a buffer, and the first rows with a context that shares the weights. */
static void forward_twice(const void * job, void * context, void * const * a)
{
    const struct product * p = job;
    const size_t M = (p->M + 1) / 2;
    forward(job, context, a);
    void * again = check_buffer(p->M * p->N * bytes_of(type_of(p, 2)));
    void * buf = check_buffer(SimdSynetInnerProduct16bExternalBufferSize(context));
    SimdSynetInnerProduct16bForward(context, a[A], a[WEIGHT], buf, again);
    if (!check_same(type_of(p, 2), a[C], again, p->M * p->N))
        check_that(false, FORWARD, "with and without buf results differ");
    if (!p->constB)
        return;
    void * other = init(p, M);
    if (!SimdnetShareParams(other, context))
        check_that(false, FORWARD, "not shared: %s", SimdnetLastError());
    SimdSynetInnerProduct16bForward(other, a[A], NULL, NULL, again);
    SimdRelease(other);
    if (!check_same(type_of(p, 2), a[C], again, M * p->N))
        check_that(false, FORWARD, "%zu of %zu rows differ", M, p->M);
}

static bool declare(const char * function, const struct product * p, enum check_fill fill, const char * text, void ** a)
{
    const bool wild = fill == CHECK_LARGE || fill == CHECK_INF || fill == CHECK_NAN;
    const SimdConvolutionParameters shape = shape_of(p);
    if (!check_case(function, "M=%zu N=%zu K=%zu types=%d,%d,%d transB=%d constB=%d bias=%d%s activation=%d %s%s", p->M,
                    p->N, p->K, (int)p->types[0], (int)p->types[1], (int)p->types[2], p->transB, p->constB, p->bias,
                    p->no_bias ? " NULL" : "", (int)p->activation, check_fill_name(fill), text))
        return false;
    a[A] = check_in("A", type_of(p, 0), count_of(p, A), fill);
    a[WEIGHT] = check_in("B", type_of_b(p), count_of(p, WEIGHT), wild ? CHECK_RANDOM : fill);
    a[BIAS] = check_in("bias", CHECK_32F, p->N, CHECK_RANDOM);
    a[PARAMS] = check_in("params", CHECK_32F, count_of(p, PARAMS), CHECK_RANDOM);
    check_activation_values(&shape, a[PARAMS]);
    check_out("C", type_of(p, 2), count_of(p, C));
    check_open(open);
    return true;
}

static double number(const void * data, enum check_type type, size_t i)
{
    uint16_t small;
    float x;
    memcpy(&small, (const char *)data + 2 * i, type == CHECK_16B ? sizeof(small) : 0);
    memcpy(&x, (const char *)data + 4 * i, type == CHECK_16B ? 0 : sizeof(x));
    return sn_16b_to_32f(type == CHECK_16B ? small : sn_32f_to_16b(x));
}

static void bounds(const struct product * p, void * const * a)
{
    const float * bias = a[BIAS];
    const SimdConvolutionParameters shape = shape_of(p);
    const double lost = 0x1p-126 * (2 * (double)p->K + 3);
    double * bound = check_bound();
    for (size_t i = 0; i < p->M; ++i)
        for (size_t j = 0; j < p->N; ++j) {
            double size = p->bias && !p->no_bias ? fabs(bias[j]) : 0;
            for (size_t k = 0; k < p->K; ++k)
                size += fabs(number(a[A], type_of(p, 0), i * p->K + k) *
                             number(a[WEIGHT], type_of_b(p), p->transB ? j * p->K + k : k * p->N + j));
            size = isfinite(size) ? size : INFINITY;
            const double error = (double)(p->K + 3) * FLT_EPSILON * size;
            bound[i * p->N + j] = check_activated(&shape, a[PARAMS], j, size, error) + 4 * lost;
        }
}

static void run(struct product p, enum check_fill fill)
{
    void * a[ARRAYS];
    if (declare(FORWARD, &p, fill, "", a))
        bounds(&p, a);
    check_run(forward_twice, &p);
}

static SimdTensorDataType some_type(void) { return check_random(0, 1) ? SimdTensorData16b : SimdTensorData32f; }

static struct product product(size_t M, size_t N, size_t K, size_t variant)
{
    return (struct product){.M = M, .N = N, .K = K, .types = {some_type(), some_type(), some_type()},
        .transB = variant & 1, .constB = variant >> 1 & 1,
        .bias = check_random(0, 3) > 0, .no_bias = check_random(0, 5) == 0, .activation = check_any_activation()};
}

/* ---- refusals */

static void refuse_init(struct product p, const char * argument)
{
    check_case("SimdSynetInnerProduct16bInit", "bad %s", argument);
    check_out("C", CHECK_32F, 4);
    check_open(open);
    check_refused(CHECK_VALUE, argument, NULL, &p);
}

static void refuse(struct product p, int kind, const char * argument)
{
    void * a[ARRAYS];
    declare(FORWARD, &p, CHECK_RANDOM, argument, a);
    check_refused(kind, argument, forward, &p);
}

static void overlapping(const void * job, void * context, void * const * a)
{
    const struct product * p = job;
    SimdSynetInnerProduct16bForward(context, *p->missing == 'A' ? a[C] : a[A], *p->missing == 'B' ? a[C] : a[WEIGHT],
                                    *p->missing == 'b' ? a[C] : *p->missing == 'i' ? a[WEIGHT] : NULL, a[C]);
}

static void set_params(const void * job, void * context, void * const * a)
{
    const struct product * p = job;
    SimdSynetInnerProduct16bSetParams(context, *p->missing == 'w' ? NULL : a[WEIGHT], NULL,
                                      *p->missing == 'p' ? NULL : a[PARAMS]);
}

/* The kind of call that must be refused with the array `missing`. */
static void refuse_call(struct product p, const char * missing, const char * argument, check_call_fn call)
{
    void * a[ARRAYS];
    p.missing = missing;
    declare(call == set_params ? "SimdSynetInnerProduct16bSetParams" : FORWARD, &p, CHECK_RANDOM, missing, a);
    check_refused(CHECK_VALUE, argument, call, &p);
}

static void refuse_sizes(struct product good)
{
    struct product bad = good;
    bad.M = bad.N = SIZE_MAX / 1024;
    refuse_init(bad, "M is");
    bad = good, bad.K = SIZE_MAX / 8;
    refuse_init(bad, "K is");
    bad = good, bad.M = bad.K = 0, bad.N = SIZE_MAX - 4; /* rounded up to whole vectors, it is 0 */
    refuse_init(bad, "N is");
    static const char * const names[] = {"typeA", "typeB", "typeC"};
    for (size_t i = 0; i < 3; ++i) {
        bad = good, bad.types[i] = SimdTensorData8u;
        refuse_init(bad, names[i]);
    }
    bad = good, bad.transB = (SimdBool)2;
    refuse_init(bad, "transB");
    bad = good, bad.constB = (SimdBool)-1;
    refuse_init(bad, "constB");
    bad = good, bad.bias = (SimdBool)3;
    refuse_init(bad, "bias");
    bad = good, bad.activation = (SimdConvolutionActivationType)11;
    refuse_init(bad, "activation");
}

static void refusals(SimdBool constB)
{
    const struct product good = {.M = 3, .N = 5, .K = 4,
        .types = {SimdTensorData32f, SimdTensorData32f, SimdTensorData32f}, .constB = constB,
        .activation = SimdConvolutionActivationPrelu};
    struct product bad = good;
    refuse_sizes(good);
    bad.no_set = true;
    refuse(bad, CHECK_STATE, "SetParams");
    bad = good, bad.wrong_context = true;
    refuse(bad, CHECK_VALUE, "context");
    refuse_call(good, "A", "A is NULL", forward);
    refuse_call(good, "C", "C is NULL", forward);
    refuse_call(good, "A", "C overlaps A", overlapping);
    refuse_call(good, "buf", "buf overlaps", overlapping);
    refuse_call(good, "params", "params", set_params);
    if (constB)
        refuse_call(good, "weight", "weight", set_params);
    else
        refuse_call(good, "B", "B is NULL", forward), refuse_call(good, "B", "C overlaps B", overlapping),
            refuse_call(good, "in B", "buf overlaps B", overlapping);
    check_that(SimdSynetInnerProduct16bExternalBufferSize(NULL) == 0, FORWARD, "buffer without a context");
}

/* No rows, no columns: nothing is read. */
static void empties(void)
{
    for (size_t variant = 0; variant < 8; ++variant) {
        struct product p = product(variant & 4 ? 0 : 3, variant & 4 ? 3 : 0, 2, variant);
        p.activation = SimdConvolutionActivationIdentity;
        void * a[ARRAYS];
        declare(FORWARD, &p, CHECK_RANDOM, " empty", a);
        check_empty(forward, &p);
    }
}

static void bench(void)
{
    static const size_t shapes[][3] = {{1, 1000, 1280}, {14, 512, 384}, {32, 1000, 1280}, {197, 768, 768}, {197, 768, 3072}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t variant = 0; variant < 4; ++variant) {
            void * a[ARRAYS];
            struct product p = product(shapes[i][0], shapes[i][1], shapes[i][2], variant);
            p.activation = SimdConvolutionActivationIdentity;
            declare(FORWARD, &p, CHECK_RANDOM, "", a);
            check_bench(forward, &p, 2.0 * (double)p.M * (double)p.N * (double)p.K, 0);
        }
}

CHECK_FAMILY(inner_product_16b)
{
    for (size_t variant = 0; variant < 4; ++variant) {
        for (size_t M = 1; M <= 17; ++M)
            for (size_t N = 1; N <= 67; N += 3 + M % 3)
                run(product(M, N, check_random(1, 40), variant), CHECK_RANDOM);
        for (int fill = 0; fill < CHECK_FILLS; ++fill)
            for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act) {
                struct product p = product(1 + act % 6, 19, 7, variant);
                p.activation = check_activation_at(act);
                run(p, (enum check_fill)fill);
            }
        for (size_t M = 1; M <= 3; ++M) /* few rows by several panels at a time, also without a sum */
            for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act) {
                struct product p = product(M, 150, act % 3 * 20, variant);
                p.activation = check_activation_at(act);
                run(p, CHECK_RANDOM);
            }
        for (size_t i = 0, n = check_count(60); i < n; ++i)
            run(product(check_random(1, 90), check_random(1, 150), check_random(0, 120), variant), CHECK_RANDOM);
        run(product(40, 300, 1024, variant), CHECK_RANDOM); /* rows that are copied apart from each other */
        run(product(3, 130, 1500, variant), CHECK_RANDOM);  /* steps of K */
    }
    empties();
    refusals(SimdFalse);
    refusals(SimdTrue);
    if (check_timed())
        bench();
}
