/*
 * SimdSynetInnerProduct32f and SimdSynetInnerProduct16b. Bounds: that of a chain of K multiply-adds with one rounded factor, the
 * bias, and the activation; and that of Convolution16b (check_convolution_16b.c) for K products of rounded numbers. The bits
 * depend neither on the buffer nor, with constB, on rows that are computed by contexts that share the weights.
 */
#include <stdlib.h>

#include "check_convolution.h"

struct product {
    bool small; /* InnerProduct16b */
    size_t M, N, K;
    SimdTensorDataType types[3]; /* of A, B and C: floats, or what InnerProduct16b has */
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

/* ---- the functions of both; sizes are in bytes */

static const struct {
    const char * init, * set_params, * forward;
} names[] = {
    {"SimdSynetInnerProduct32fInit", "SimdSynetInnerProduct32fSetParams", "SimdSynetInnerProduct32fForward"},
    {"SimdSynetInnerProduct16bInit", "SimdSynetInnerProduct16bSetParams", "SimdSynetInnerProduct16bForward"}};

static const char * name_of(const struct product * p) { return names[p->small].forward; }

static void * init(const struct product * p, size_t M)
{
    if (p->small)
        return SimdSynetInnerProduct16bInit(M, p->N, p->K, p->types[0], p->types[1], p->types[2], p->transB, p->constB,
                                            p->bias, p->activation);
    return SimdSynetInnerProduct32fInit(M, p->N, p->K, p->transB, p->constB, p->bias, p->activation);
}

static size_t internal(const struct product * p, const void * context)
{
    return p->small ? SimdSynetInnerProduct16bInternalBufferSize(context)
                    : sizeof(float) * SimdSynetInnerProduct32fInternalBufferSize(context);
}

static size_t external(const struct product * p, const void * context)
{
    return p->small ? SimdSynetInnerProduct16bExternalBufferSize(context)
                    : sizeof(float) * SimdSynetInnerProduct32fExternalBufferSize(context);
}

static void set(const struct product * p, void * context, const float * weight, const float * bias, const float * params)
{
    SimdBool own = SimdFalse;
    if (p->small)
        SimdSynetInnerProduct16bSetParams(context, weight, bias, params);
    else
        SimdSynetInnerProduct32fSetParams(context, weight, &own, bias, params);
    if (!p->small && own != SimdTrue && SimdnetLastErrorKind() == 0)
        check_that(false, names[0].set_params, "internal is not SimdTrue");
}

static void compute(const struct product * p, void * context, const void * a, const void * b, void * buf, void * c)
{
    if (p->small)
        SimdSynetInnerProduct16bForward(context, a, b, buf, c);
    else
        SimdSynetInnerProduct32fForward(context, a, b, buf, c);
}

/* ---- cases */

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
    if (internal(p, context) != 0)
        check_that(false, name_of(p), "the context holds bytes before SetParams");
    for (int i = WEIGHT; i <= PARAMS; ++i) {
        own[i] = malloc(count_of(p, i) * sizeof(float) + 1);
        memset(own[i], 0, count_of(p, i) * sizeof(float));
        if (a[i] && (i != WEIGHT || p->constB))
            memcpy(own[i], a[i], count_of(p, i) * sizeof(float));
    }
    set(p, context, p->constB ? own[WEIGHT] : NULL, p->no_bias ? NULL : own[BIAS], own[PARAMS]);
    if (p->constB && internal(p, context) < (p->small ? 2 : 4) * p->N * p->K)
        check_that(false, name_of(p), "the context holds fewer bytes than weights");
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
    compute(p, p->wrong_context ? NULL : context, *missing == 'A' ? NULL : a[A],
            p->constB || *missing == 'B' ? NULL : a[WEIGHT], NULL, *missing == 'C' ? NULL : a[C]);
}

/* Again with a buffer, and the first rows with a context that shares the weights. */
static void forward_twice(const void * job, void * context, void * const * a)
{
    const struct product * p = job;
    const size_t M = (p->M + 1) / 2;
    forward(job, context, a);
    void * again = check_buffer(p->M * p->N * bytes_of(type_of(p, 2)));
    void * buf = check_buffer(external(p, context));
    compute(p, context, a[A], a[WEIGHT], buf, again);
    if (!check_same(type_of(p, 2), a[C], again, p->M * p->N))
        check_that(false, name_of(p), "with and without buf results differ");
    if (!p->constB)
        return;
    void * other = init(p, M);
    if (!SimdnetShareParams(other, context))
        check_that(false, name_of(p), "not shared: %s", SimdnetLastError());
    compute(p, other, a[A], NULL, NULL, again);
    SimdRelease(other);
    if (!check_same(type_of(p, 2), a[C], again, M * p->N))
        check_that(false, name_of(p), "%zu of %zu rows differ", M, p->M);
}

static bool declare(const char * function, const struct product * p, enum check_fill fill, const char * text, void ** a)
{
    const bool wild = fill == CHECK_LARGE || fill == CHECK_INF || fill == CHECK_NAN;
    const SimdConvolutionParameters shape = shape_of(p);
    char types[40] = "";
    if (p->small)
        snprintf(types, sizeof(types), " types=%d,%d,%d", (int)p->types[0], (int)p->types[1], (int)p->types[2]);
    if (!check_case(function, "M=%zu N=%zu K=%zu%s transB=%d constB=%d bias=%d%s activation=%d %s%s", p->M, p->N, p->K, types,
                    p->transB, p->constB, p->bias, p->no_bias ? " NULL" : "", (int)p->activation, check_fill_name(fill),
                    text))
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

/* Number i of A or B: InnerProduct16b rounds floats. */
static double number(const struct product * p, const void * data, enum check_type type, size_t i)
{
    uint16_t small;
    float x;
    memcpy(&small, (const char *)data + 2 * i, type == CHECK_16B ? sizeof(small) : 0);
    memcpy(&x, (const char *)data + 4 * i, type == CHECK_16B ? 0 : sizeof(x));
    return p->small ? sn_16b_to_32f(type == CHECK_16B ? small : sn_32f_to_16b(x)) : x;
}

static void bounds(const struct product * p, void * const * a)
{
    const float * bias = a[BIAS];
    const SimdConvolutionParameters shape = shape_of(p);
    const double lost = p->small ? 4 * 0x1p-126 * (2 * (double)p->K + 3) : 0;
    const double denormal = p->small ? 0 : (double)p->K * 0x1p-149;
    double * bound = check_bound();
    for (size_t i = 0; i < p->M; ++i)
        for (size_t j = 0; j < p->N; ++j) {
            double size = p->bias && !p->no_bias ? fabs(bias[j]) : 0;
            for (size_t k = 0; k < p->K; ++k)
                size += fabs(number(p, a[A], type_of(p, 0), i * p->K + k) *
                             number(p, a[WEIGHT], type_of_b(p), p->transB ? j * p->K + k : k * p->N + j));
            size = isfinite(size) ? size : INFINITY;
            const double error = (double)(p->K + 3) * FLT_EPSILON * size + denormal;
            bound[i * p->N + j] = check_activated(&shape, a[PARAMS], j, size, error) + lost;
        }
}

static void run(struct product p, enum check_fill fill)
{
    void * a[ARRAYS];
    if (declare(name_of(&p), &p, fill, "", a))
        bounds(&p, a);
    check_run(forward_twice, &p);
}

static SimdTensorDataType some_type(bool small)
{
    return small && check_random(0, 1) ? SimdTensorData16b : SimdTensorData32f;
}

static struct product product(bool small, size_t M, size_t N, size_t K, size_t variant)
{
    return (struct product){.small = small, .M = M, .N = N, .K = K,
        .types = {some_type(small), some_type(small), some_type(small)},
        .transB = variant & 1, .constB = variant >> 1 & 1,
        .bias = check_random(0, 3) > 0, .no_bias = check_random(0, 5) == 0, .activation = check_any_activation()};
}

/* ---- refusals */

static void refuse_init(struct product p, const char * argument)
{
    check_case(names[p.small].init, "bad %s", argument);
    check_out("C", CHECK_32F, 4);
    check_open(open);
    check_refused(CHECK_VALUE, argument, NULL, &p);
}

static void refuse(struct product p, int kind, const char * argument)
{
    void * a[ARRAYS];
    declare(name_of(&p), &p, CHECK_RANDOM, argument, a);
    check_refused(kind, argument, forward, &p);
}

static void overlapping(const void * job, void * context, void * const * a)
{
    const struct product * p = job;
    compute(p, context, *p->missing == 'A' ? a[C] : a[A], *p->missing == 'B' ? a[C] : a[WEIGHT],
            *p->missing == 'b' ? a[C] : *p->missing == 'i' ? a[WEIGHT] : NULL, a[C]);
}

static void set_params(const void * job, void * context, void * const * a)
{
    const struct product * p = job;
    set(p, context, *p->missing == 'w' ? NULL : a[WEIGHT], NULL, *p->missing == 'p' ? NULL : a[PARAMS]);
}

/* The kind of call that must be refused with the array `missing`. */
static void refuse_call(struct product p, const char * missing, const char * argument, check_call_fn call)
{
    void * a[ARRAYS];
    p.missing = missing;
    declare(call == set_params ? names[p.small].set_params : name_of(&p), &p, CHECK_RANDOM, missing, a);
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
    static const char * const types[] = {"typeA", "typeB", "typeC"};
    for (size_t i = 0; good.small && i < 3; ++i) {
        bad = good, bad.types[i] = SimdTensorData8u;
        refuse_init(bad, types[i]);
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

static void refusals(bool small, SimdBool constB)
{
    const struct product good = {.small = small, .M = 3, .N = 5, .K = 4,
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
        refuse_call(good, "B", "B is NULL", forward), refuse_call(good, "B", "C overlaps B", overlapping);
    if (small && !constB) /* the others have no workspace */
        refuse_call(good, "in B", "buf overlaps B", overlapping);
    check_that(external(&good, NULL) == 0, name_of(&good), "buffer without a context");
}

/* No rows, no columns: nothing is read. */
static void empties(bool small)
{
    for (size_t variant = 0; variant < 8; ++variant) {
        struct product p = product(small, variant & 4 ? 0 : 3, variant & 4 ? 3 : 0, 2, variant);
        p.activation = SimdConvolutionActivationIdentity;
        void * a[ARRAYS];
        declare(name_of(&p), &p, CHECK_RANDOM, " empty", a);
        check_empty(forward, &p);
    }
}

static void bench(bool small)
{
    static const size_t shapes[][3] = {{1, 1000, 1280}, {14, 512, 384}, {32, 1000, 1280}, {197, 768, 768}, {197, 768, 3072}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t variant = 0; variant < 4; ++variant) {
            void * a[ARRAYS];
            struct product p = product(small, shapes[i][0], shapes[i][1], shapes[i][2], variant);
            p.activation = SimdConvolutionActivationIdentity;
            declare(name_of(&p), &p, CHECK_RANDOM, "", a);
            check_bench(forward, &p, 2.0 * (double)p.M * (double)p.N * (double)p.K, 0);
        }
}

static void check_products(bool small)
{
    for (size_t variant = 0; variant < 4; ++variant) {
        for (size_t M = 1; M <= 17; ++M)
            for (size_t N = 1; N <= 67; N += 3 + M % 3)
                run(product(small, M, N, check_random(1, 40), variant), CHECK_RANDOM);
        for (int fill = 0; fill < CHECK_FILLS; ++fill)
            for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act) {
                struct product p = product(small, 1 + act % 6, 19, 7, variant);
                p.activation = check_activation_at(act);
                run(p, (enum check_fill)fill);
            }
        for (size_t M = 1; M <= 5; ++M) /* few rows by several panels at a time, also without a sum */
            for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act) {
                struct product p = product(small, M, 150, act % 3 * 20, variant);
                p.activation = check_activation_at(act);
                run(p, CHECK_RANDOM);
            }
        for (size_t i = 0, n = check_count(60); i < n; ++i)
            run(product(small, check_random(1, 90), check_random(1, 150), check_random(0, 120), variant), CHECK_RANDOM);
        run(product(small, 40, 300, 1024, variant), CHECK_RANDOM); /* rows that are copied apart from each other */
        run(product(small, 3, 130, 1500, variant), CHECK_RANDOM);  /* steps of K */
        for (size_t act = variant % 3; act < CHECK_ACTIVATIONS; act += 3) { /* also where rows exceed a band */
            struct product p = product(small, 16 + act, 75, 2050 + act, variant);
            p.activation = check_activation_at(act);
            run(p, CHECK_RANDOM);
        }
    }
    empties(small);
    refusals(small, SimdFalse);
    refusals(small, SimdTrue);
    if (check_timed())
        bench(small);
}

CHECK_FAMILY(inner_product_32f) { check_products(false); }
CHECK_FAMILY(inner_product_16b) { check_products(true); }
