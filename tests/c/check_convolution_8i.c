/*
 * Convolution8i: to the bit on every instruction set, bytes and floats, since all float steps are rounded by themselves;
 * but for the exponential of Elu, whose bytes are within 1 and floats within 4 units in the last place.
 */
#include <stdlib.h>

#include "check_convolution.h"

#define INIT "SimdSynetConvolution8iInit"
#define FORWARD "SimdSynetConvolution8iForward"
#define SET_PARAMS "SimdSynetConvolution8iSetParams"

typedef SimdConvolutionParameters parameters;

/* What the statistics say of a tensor. */
enum stats {
    POSITIVE, /* channels of 0 .. about 1: zero is 0 */
    SIGNED,   /* -1 .. 1 or so: zero is 128 */
    CONSTANT, /* minima equal to maxima, some of them 0 */
    TINY,     /* of a destination: nearly everything is out of range */
    STATS
};

static const char * const stats_names[] = {"positive", "signed", "constant", "tiny"};

/* The largest products there are, which instructions that saturate get wrong. */
enum { WORST = CHECK_FILLS + 1 };

struct job {
    parameters p;
    size_t batch;
    enum stats src, dst;
    bool own_buffer; /* give Forward a buffer */
    bool no_bias, no_set, wrong_context, null_conv;
    size_t bad_stats; /* set_null() leaves out this array of the statistics */
    bool bench;
};

enum { SRC, WEIGHT, BIAS, PARAMS, STAT, DST = STAT + 4 };

static size_t src_size(const struct job * j) { return j->batch * j->p.srcC * j->p.srcH * j->p.srcW; }
static size_t dst_size(const struct job * j) { return j->batch * j->p.dstC * j->p.dstH * j->p.dstW; }
static enum check_type type_of(SimdTensorDataType type) { return type == SimdTensorData8u ? CHECK_8U : CHECK_32F; }
static size_t dst_bytes(const struct job * j) { return dst_size(j) * (j->p.dstT == SimdTensorData8u ? 1 : 4); }

/* ---- a context and its use */

static void * init(const void * job, void * const * a)
{
    const struct job * j = job;
    (void)a;
    return SimdSynetConvolution8iInit(j->batch, j->null_conv ? NULL : &j->p);
}

/* Copies that are spoilt once SetParams has returned: the library may not keep a pointer. */
static void * open(const void * job, void * const * a)
{
    const struct job * j = job;
    void * context = init(job, a);
    if (!context || j->no_set)
        return context;
    const size_t sizes[] = {0, check_convolution_weights(&j->p), j->p.dstC, check_activation_params(&j->p), j->p.srcC, j->p.srcC,
        j->p.dstC, j->p.dstC};
    float * own[DST] = {NULL};
    for (size_t i = WEIGHT; i < DST; ++i) {
        own[i] = malloc(sizes[i] * sizeof(float) + 1);
        if (sizes[i])
            memcpy(own[i], a[i], sizes[i] * sizeof(float));
    }
    const float * const stats[] = {own[STAT], own[STAT + 1], own[STAT + 2], own[STAT + 3]};
    SimdSynetConvolution8iSetParams(context, own[WEIGHT], j->no_bias ? NULL : own[BIAS], own[PARAMS], stats);
    for (size_t i = WEIGHT; i < DST; ++i) {
        memset(own[i], 0xFF, sizes[i] * sizeof(float));
        free(own[i]);
    }
    return context;
}

static void forward(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    uint8_t * buf = NULL;
    if (j->own_buffer) { /* bytes that end where the page ends, so they begin anywhere */
        const size_t size = SimdSynetConvolution8iExternalBufferSize(context), floats = (size + 3) / 4;
        if (size == 0)
            check_that(false, "SimdSynetConvolution8iExternalBufferSize", "is 0");
        buf = (uint8_t *)check_buffer(floats) + floats * 4 - size;
    }
    SimdSynetConvolution8iForward(context, a[SRC], buf, a[DST]);
}

/* Forward, once more without or with a buffer of its own: the bits must not change. */
static void forward_twice(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    forward(job, context, a);
    struct job other = *j;
    other.own_buffer = !j->own_buffer;
    uint8_t * dst = malloc(dst_bytes(j) + 1);
    void * arrays[DST + 1] = {[SRC] = a[SRC], [DST] = dst};
    forward(&other, context, arrays);
    if (memcmp(a[DST], dst, dst_bytes(j)) != 0)
        check_that(false, FORWARD, "with and without buf results differ: %s", SimdnetContextInfo(context));
    free(dst);
}

/* All images are the same, so all results must be. */
static void forward_batch(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    forward(job, context, a);
    const size_t bytes = dst_bytes(j) / j->batch;
    const char * dst = a[DST];
    for (size_t b = 1; b < j->batch; ++b)
        if (memcmp(dst, dst + b * bytes, bytes) != 0)
            check_that(false, FORWARD, "image %zu of a batch differs: %s", b, SimdnetContextInfo(context));
}

/* ---- cases */

/* Minima and maxima from random numbers of -1 .. 1, of about the given size. */
static void set_stats(enum stats kind, size_t channels, float size, float * min, float * max)
{
    for (size_t c = 0; c < channels; ++c) {
        const float spread = fabsf(min[c]) + 0.2f;
        max[c] = size * (fabsf(max[c]) + 0.1f);
        min[c] = kind == SIGNED ? -spread * size : 0;
        if (kind == CONSTANT)
            min[c] = max[c] = c % 3 ? max[c] : 0;
        if (kind == TINY)
            min[c] = -(max[c] *= 1e-6f);
    }
}

static void spoil(enum check_type type, size_t count, void * data)
{
    for (size_t i = 0; i < count; ++i)
        if (type == CHECK_8U)
            ((uint8_t *)data)[i] = 255;
        else
            ((float *)data)[i] = 1;
}

static void declare(const struct job * j, int fill)
{
    const parameters * p = &j->p;
    check_case(FORWARD, "%s %s->%s%s%s %s", check_convolution_text(p, j->batch), stats_names[j->src],
               stats_names[j->dst], j->own_buffer ? " buf" : "", j->no_bias ? " no bias" : "",
               fill == WORST ? "worst" : check_fill_name((enum check_fill)fill));
    const enum check_fill filled = fill == WORST ? CHECK_EQUAL : (enum check_fill)fill;
    const bool wild = filled == CHECK_LARGE || filled == CHECK_INF || filled == CHECK_NAN || filled == CHECK_DENORMAL;
    void * src = check_in("src", type_of(p->srcT), src_size(j), filled);
    check_any_address();
    float * weight = check_in("weight", CHECK_32F, check_convolution_weights(p), wild ? CHECK_RANDOM : filled);
    check_in("bias", CHECK_32F, p->dstC, CHECK_RANDOM);
    float * params = check_in("params", CHECK_32F, check_activation_params(p), CHECK_RANDOM);
    float * stats[4];
    static const char * const names[] = {"srcMin", "srcMax", "dstMin", "dstMax"};
    for (size_t i = 0; i < 4; ++i)
        stats[i] = check_in(names[i], CHECK_32F, i < 2 ? p->srcC : p->dstC, CHECK_RANDOM);
    check_out("dst", type_of(p->dstT), dst_size(j));
    check_any_address();
    check_open(open);
    check_activation_values(p, params);
    set_stats(j->src, p->srcC, 1, stats[0], stats[1]);
    set_stats(j->dst, p->dstC, sqrtf((float)(p->srcC / p->group * p->kernelY * p->kernelX)), stats[2], stats[3]);
    if (fill == WORST) {
        spoil(type_of(p->srcT), src_size(j), src);
        spoil(CHECK_32F, check_convolution_weights(p), weight);
    }
    if (p->activation == SimdConvolutionActivationElu && p->dstT == SimdTensorData8u)
        check_bytes_within(1);
    else if (p->activation == SimdConvolutionActivationElu)
        check_ulp(4);
}

static parameters shape(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC, size_t kernel,
                        size_t stride, size_t pad, size_t group)
{
    parameters p = check_convolution_shape(format, srcC, h, w, dstC, kernel, stride, pad, group);
    p.srcT = p.dstT = SimdTensorData8u;
    return p;
}

static void set_types(parameters * p, size_t number)
{
    p->srcT = number & 1 ? SimdTensorData32f : SimdTensorData8u;
    p->dstT = number & 2 ? SimdTensorData32f : SimdTensorData8u;
}

static void run_case(struct job j, int fill)
{
    declare(&j, fill);
    check_run(j.batch == 1 ? forward_twice : forward, &j);
}

static void random_case(SimdTensorFormatType format)
{
    struct job j = {.p = check_convolution_random(format, 30, 80), .batch = check_few(2), .own_buffer = check_random(0, 1),
                    .src = (enum stats)check_random(0, CONSTANT), .dst = (enum stats)check_random(0, TINY),
                    .no_bias = check_random(0, 3) == 0};
    set_types(&j.p, check_random(0, 3));
    run_case(j, check_random(0, 9) ? CHECK_RANDOM : check_random(0, 2) ? WORST : (int)check_random(0, CHECK_FILLS - 1));
}

/* Every width of a tile and every tail of channels, with all types. */
static void tails(SimdTensorFormatType format)
{
    for (size_t n = 1; n <= 68; ++n) {
        struct job jobs[] = {{.p = shape(format, 5, 1, n, 3, 1, 1, 0, 1)}, {.p = shape(format, 3, 5, n, n, 3, 1, 1, 1)},
            {.p = shape(format, n, 4, 5, 69 - n, 2, 2, 1, 1)}, {.p = shape(format, n, 4, 11, n, 3, 1, 1, n)},
            {.p = shape(format, n + 64, 3, 4, n + 64, 3, 1, 1, n + 64)}, {.p = shape(format, 3, 5, n + 2, 3, 3, 2, 1, 3)},
            {.p = shape(format, 4 * n, 3, 3, 2 * n, 1, 1, 0, n)}, {.p = shape(format, 8, 1, 5, n + 40, 1, 1, 0, 1)}};
        for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); ++i) {
            struct job j = jobs[i];
            j.batch = 1;
            j.src = (enum stats)((n + i) / 4 % 2);
            j.dst = (enum stats)((n + i) / 8 % 2);
            set_types(&j.p, n + i);
            run_case(j, CHECK_RANDOM);
        }
    }
}

/* Shapes that make a driver cut: bands of lines, deep sums, pixels a multiple of 2 KB apart, high and narrow. */
static void cuts(SimdTensorFormatType format)
{
    const parameters shapes[] = {
        shape(format, 3, 300, 500, 2, 3, 1, 1, 1), shape(format, 3, 330, 500, 2, 3, 2, 0, 1),
        shape(format, 2, 900, 700, 2, 3, 1, 1, 2), shape(format, 2010, 3, 3, 2, 3, 1, 1, 1),
        shape(format, 66400, 1, 2, 2, 1, 1, 0, 1), shape(format, 2048, 4, 5, 17, 1, 1, 0, 1),
        shape(format, 300, 18, 20, 4, 3, 1, 1, 1), shape(format, 16, 70, 90, 17, 3, 1, 1, 1),
        shape(format, 2048, 4, 5, 3, 3, 1, 1, 1), shape(format, 1024, 7, 9, 5, 1, 2, 0, 1),
        shape(format, 256, 7, 9, 4, 1, 2, 1, 2), shape(format, 7, 60, 1, 20, 1, 1, 0, 1),
        shape(format, 7, 60, 3, 20, 3, 1, 0, 1), shape(format, 8, 60, 3, 20, 3, 1, 1, 1),
        shape(format, 4, 3, 3, 5, 1, 5, 4, 1), shape(format, 4, 3, 3, 4, 2, 5, 4, 4), /* outputs of pure padding */
        shape(format, 0, 3, 3, 5, 3, 1, 1, 1)}; /* the bias alone */
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
        struct job j = {.p = shapes[i], .batch = 1, .src = i % 2 ? SIGNED : POSITIVE, .dst = SIGNED,
            .own_buffer = i % 3 == 0};
        set_types(&j.p, i / 2);
        run_case(j, CHECK_RANDOM);
        run_case(j, WORST);
    }
}

static void fills(SimdTensorFormatType format)
{
    for (int fill = 0; fill <= WORST; ++fill)
        for (int act = 0; act <= SimdConvolutionActivationHswish && fill != CHECK_FILLS; ++act)
            for (size_t number = 0; number < 4; ++number) {
                struct job j = {.p = shape(format, 6, 6, 7, 19, 3, 1, 1, 1), .batch = 1, .src = (enum stats)(act % 3),
                                .dst = (enum stats)((fill + act) % STATS)};
                j.p.activation = (SimdConvolutionActivationType)act;
                set_types(&j.p, number);
                run_case(j, fill);
                j.p.group = j.p.srcC = j.p.dstC = 19;
                run_case(j, fill);
            }
}

static void batches(SimdTensorFormatType format)
{
    const size_t groups[] = {1, 2, 6};
    for (size_t i = 0; i < 6; ++i) {
        struct job j = {.p = shape(format, 6, 7, 9, 6, 3, 1 + i % 2, 1, groups[i % 3]), .batch = 5, .src = SIGNED,
            .dst = SIGNED};
        set_types(&j.p, i);
        declare(&j, CHECK_EQUAL);
        check_run(forward_batch, &j);
    }
}

/* ---- bad arguments */

/* Values that SetParams must refuse, one at a time; the context keeps what it had. */
static void forward_after_faults(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    const struct {
        size_t array;
        float value;
        const char * names;
    } faults[] = {{STAT, 2, "stats[0]"}, {STAT, NAN, "stats[0]"}, {STAT + 1, INFINITY, "stats[1]"},
                  {STAT + 2, 1e6f, "stats[2]"}, {STAT + 2, -INFINITY, "stats[2]"}, {STAT + 3, NAN, "stats[3]"},
                  {WEIGHT, NAN, "weight"}, {WEIGHT, INFINITY, "weight"}, {BIAS, NAN, "bias"}};
    const size_t sizes[] = {0, check_convolution_weights(&j->p), j->p.dstC, check_activation_params(&j->p), j->p.srcC, j->p.srcC,
        j->p.dstC, j->p.dstC};
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); ++i) {
        const float * arrays[DST];
        for (size_t k = 0; k < DST; ++k)
            arrays[k] = a[k];
        const size_t n = sizes[faults[i].array];
        float * bad = malloc(n * sizeof(float));
        memcpy(bad, a[faults[i].array], n * sizeof(float));
        bad[n - 1] = faults[i].value;
        arrays[faults[i].array] = bad;
        SimdSynetConvolution8iSetParams(context, arrays[WEIGHT], arrays[BIAS], arrays[PARAMS], arrays + STAT);
        check_that(SimdnetLastErrorKind() == 1 && strstr(SimdnetLastError(), faults[i].names), SET_PARAMS,
                   "%s with %g: %s", faults[i].names, (double)faults[i].value, SimdnetLastError());
        free(bad);
    }
    forward(job, context, a);
}

static void set_null(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    float one[8] = {0};
    const float * stats[] = {one, one, one, one};
    if (j->bad_stats < 4)
        stats[j->bad_stats] = NULL;
    SimdSynetConvolution8iSetParams(j->wrong_context ? NULL : context, j->no_bias ? a[WEIGHT] : NULL, NULL,
                                    j->bad_stats < 5 ? one : NULL, j->bad_stats == 4 ? NULL : stats);
}

static void forward_null(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    SimdSynetConvolution8iForward(j->wrong_context ? NULL : context, a[SRC], NULL, a[DST]);
}

/* For a shape without output channels: nothing but the statistics of the source is there. */
static void * open_empty(const void * job, void * const * a)
{
    const float zeros[4] = {0};
    const float * const stats[] = {zeros, zeros, NULL, NULL};
    void * context = init(job, a);
    SimdSynetConvolution8iSetParams(context, NULL, NULL, NULL, stats);
    return context;
}

static void refuse_init(struct job j, const char * argument)
{
    check_case(INIT, "bad %s", argument);
    check_out("dst", CHECK_32F, 4);
    check_open(init);
    check_refused(CHECK_VALUE, argument, NULL, &j);
}

/* A good shape with one thing changed. */
#define REFUSE(argument, change)                                                                                            \
    do {                                                                                                                    \
        struct job j = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 2), .batch = 1};                              \
        change;                                                                                                             \
        refuse_init(j, argument);                                                                                           \
    } while (0)

static void refusals(void)
{
    const size_t huge = SIZE_MAX / 2;
    REFUSE("batch", j.batch = 0);
    REFUSE("conv", j.null_conv = true);
    REFUSE("srcT", j.p.srcT = SimdTensorData8i);
    REFUSE("srcT", j.p.srcT = SimdTensorDataUnknown);
    REFUSE("dstT", j.p.dstT = SimdTensorData16b);
    REFUSE("dstT", j.p.dstT = SimdTensorData32i);
    REFUSE("srcF", j.p.srcF = j.p.dstF = SimdTensorFormatNchw8c);
    REFUSE("dstF", j.p.dstF = SimdTensorFormatNchw);
    REFUSE("kernelX", j.p.kernelX = 9);
    REFUSE("kernelY", j.p.dilationY = huge);
    REFUSE("dilationX", j.p.dilationX = 0);
    REFUSE("strideY", j.p.strideY = 0);
    REFUSE("dstH", j.p.dstH = 5);
    REFUSE("dstW", j.p.dstW = 7);
    REFUSE("padY", j.p.padY = SIZE_MAX);
    REFUSE("group", j.p.group = 0);
    REFUSE("srcC", j.p.group = 3);
    REFUSE("dstC", j.p.group = 4);
    REFUSE("activation", j.p.activation = (SimdConvolutionActivationType)7);
    REFUSE("conv", j.batch = SIZE_MAX / 16);
    REFUSE("conv", j.p.srcC = j.p.dstC = SIZE_MAX / 64 * 2);
}

static void refusals_of_calls(void)
{
    struct job j = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 1), .batch = 1, .bad_stats = 9};
    j.p.activation = SimdConvolutionActivationPrelu;
    declare(&j, CHECK_RANDOM);
    check_run(forward_after_faults, &j);
    declare(&j, CHECK_RANDOM);
    j.wrong_context = true;
    check_refused(CHECK_VALUE, "context", forward_null, &j);
    j.wrong_context = false;
    j.no_set = true;
    check_refused(CHECK_STATE, "SetParams", forward_null, &j);
    check_case(SET_PARAMS, "bad arguments");
    check_in("src", CHECK_8U, src_size(&j), CHECK_RANDOM);
    check_in("weight", CHECK_32F, check_convolution_weights(&j.p), CHECK_RANDOM);
    check_open(init);
    check_refused(CHECK_VALUE, "weight", set_null, &j);
    j.no_bias = true;
    check_refused(CHECK_VALUE, "params", set_null, &j);
    static const char * const names[] = {"stats[0]", "stats[1]", "stats[2]", "stats[3]", "stats"};
    for (j.bad_stats = 0; j.bad_stats < 5; ++j.bad_stats)
        check_refused(CHECK_VALUE, names[j.bad_stats], set_null, &j);
    j.wrong_context = true;
    check_refused(CHECK_VALUE, "context", set_null, &j);
    check_that(SimdSynetConvolution8iExternalBufferSize(NULL) == 0, "SimdSynetConvolution8iExternalBufferSize", "is not 0");
    check_that(SimdSynetConvolution8iInternalBufferSize(NULL) == 0, "SimdSynetConvolution8iInternalBufferSize", "is not 0");
}

/* ---- benchmarks: layers of known networks */

static void bench_case(SimdTensorFormatType format, size_t c, size_t size, size_t o, size_t kernel, size_t stride,
                       size_t group)
{
    struct job j = {.p = shape(format, c, size, size, o, kernel, stride, kernel / 2, group), .batch = 1, .bench = true};
    j.p.activation = SimdConvolutionActivationRelu;
    declare(&j, CHECK_RANDOM);
    check_bench(forward, &j, 2.0 * (double)check_convolution_weights(&j.p) * (double)(j.p.dstH * j.p.dstW), 0);
}

static void bench(void)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNhwc, SimdTensorFormatNchw};
    for (size_t i = 0; i < 2; ++i) {
        bench_case(formats[i], 64, 56, 64, 1, 1, 1);
        bench_case(formats[i], 256, 56, 64, 1, 1, 1);
        bench_case(formats[i], 512, 28, 128, 1, 1, 1);
        bench_case(formats[i], 1024, 14, 256, 1, 1, 1);
        bench_case(formats[i], 512, 7, 2048, 1, 1, 1);
        bench_case(formats[i], 64, 56, 64, 3, 1, 1);
        bench_case(formats[i], 128, 28, 128, 3, 1, 1);
        bench_case(formats[i], 256, 14, 256, 3, 1, 1);
        bench_case(formats[i], 512, 7, 512, 3, 1, 1);
        bench_case(formats[i], 3, 224, 64, 7, 2, 1);
        bench_case(formats[i], 32, 112, 32, 3, 1, 32);
        bench_case(formats[i], 96, 112, 96, 3, 2, 96);
        bench_case(formats[i], 384, 14, 384, 3, 1, 384);
    }
}

void check_convolution_8i(void)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNchw, SimdTensorFormatNhwc};
    for (size_t i = 0; i < 2; ++i) {
        tails(formats[i]);
        fills(formats[i]);
        batches(formats[i]);
        if (!check_quick())
            cuts(formats[i]);
        for (size_t n = 0; n < check_count(1800); ++n)
            random_case(formats[i]);
    }
    struct job empty = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 0, 3, 1, 1, 1), .batch = 1};
    check_case(FORWARD, "no output channels");
    check_open(open_empty);
    check_empty(forward_null, &empty);
    refusals();
    refusals_of_calls();
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        check_that(SimdnetDotWork(100000) >= 100000, "SimdnetDotWork", "on %s", SimdnetIsaLevel(i));
    }
    SimdnetSetMaxIsa(NULL);
    bench();
}
