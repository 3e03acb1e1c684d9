/*
 * Convolution16b. Bound: that of Convolution32f's chains, (n + 3) * eps * (sum of |product| + |bias|) behind the activation,
 * for the rounded inputs and weights: the products are exact, and n additions are rounded in whatever order, by vdpbf16ps two
 * at a time. That instruction has no subnormal numbers: of a product it loses at most 2^-126, since fills with subnormal
 * inputs meet weights of at most 1, and the same in each of n + 3 results. A bfloat16 result may go to either side of what is
 * rounded; which side is right is told by the same level's floats, which are held to the bound: their rounding is owed to the
 * bit (but for subnormal numbers).
 */
#include <stdlib.h>

#include "check_convolution.h"

#define INIT "SimdnetConvolution16bInit"
#define FORWARD "SimdnetConvolution16bForward"
#define SET_PARAMS "SimdnetConvolution16bSetParams"

typedef SimdConvolutionParameters parameters;

struct job {
    parameters p;
    size_t batch;
    bool own_buffer; /* give Forward a buffer */
    bool no_bias, no_set, no_src, no_dst, wrong_context, null_conv;
    bool bench;
};

enum { SRC, WEIGHT, BIAS, PARAMS, DST };

static size_t src_size(const struct job * j) { return j->batch * j->p.srcC * j->p.srcH * j->p.srcW; }
static size_t dst_size(const struct job * j) { return j->batch * j->p.dstC * j->p.dstH * j->p.dstW; }
static enum check_type type_of(SimdTensorDataType type) { return type == SimdTensorData16b ? CHECK_16B : CHECK_32F; }
static size_t dst_bytes(const struct job * j) { return dst_size(j) * (j->p.dstT == SimdTensorData16b ? 2 : 4); }

/* ---- a context and its use */

static void * init(const void * job, void * const * a)
{
    const struct job * j = job;
    (void)a;
    return SimdnetConvolution16bInit(j->batch, j->null_conv ? NULL : &j->p);
}

static void * open(const void * job, void * const * a)
{
    const struct job * j = job;
    void * context = init(job, a);
    if (!context || j->no_set)
        return context;
    const size_t weights = check_convolution_weights(&j->p);
    float * weight = check_copy(a[WEIGHT], weights), * bias = check_copy(a[BIAS], j->p.dstC);
    float * params = check_copy(a[PARAMS], check_activation_params(&j->p));
    SimdnetConvolution16bSetParams(context, weight, j->no_bias ? NULL : bias, params);
    memset(weight, 0xFF, weights * sizeof(float)); /* the library may not keep a pointer */
    memset(bias, 0xFF, j->p.dstC * sizeof(float));
    free(weight);
    free(bias);
    free(params);
    return context;
}

static void forward(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    uint8_t * buf = NULL;
    if (j->own_buffer) { /* bytes that end where the page ends, so they begin anywhere */
        const size_t size = SimdnetConvolution16bExternalBufferSize(context), floats = (size + 3) / 4;
        if (size == 0)
            check_that(false, "SimdnetConvolution16bExternalBufferSize", "is 0");
        buf = (uint8_t *)check_buffer(floats) + floats * 4 - size;
    }
    SimdnetConvolution16bForward(context, a[SRC], buf, a[DST]);
}

static float float_of(const void * data, size_t i)
{
    float x;
    memcpy(&x, (const char *)data + i * sizeof(x), sizeof(x));
    return x;
}

/* True for the number that v is rounded to; subnormal ones may have become 0. */
static bool is_rounded(uint16_t x, float v)
{
    const float y = sn_16b_to_32f(x), r = sn_16b_to_32f(sn_32f_to_16b(v));
    return isnan(v) ? isnan(y) : sn_bits_32f(y) == sn_bits_32f(r) || (y == 0 && fabsf(v) < FLT_MIN);
}

/* The results in bfloat16 are those in float, rounded. */
static void compare_with_floats(const struct job * j, void * const * a)
{
    struct job other = *j;
    other.p.dstT = SimdTensorData32f;
    float * dst = malloc(dst_size(j) * sizeof(float) + 1);
    void * arrays[] = {a[SRC], a[WEIGHT], a[BIAS], a[PARAMS], dst}, * context = open(&other, arrays);
    SimdnetConvolution16bForward(context, a[SRC], NULL, (uint8_t *)dst);
    SimdRelease(context);
    for (size_t i = 0; i < dst_size(j); ++i) {
        uint16_t x;
        memcpy(&x, (const char *)a[DST] + 2 * i, sizeof(x));
        if (!is_rounded(x, dst[i])) {
            check_that(false, FORWARD, "result %zu is 0x%04X, and %.9g as a float: %s", i, (unsigned)x, (double)dst[i],
                       check_convolution_text(&j->p, j->batch));
            break;
        }
    }
    free(dst);
}

/* Forward, once more without or with a buffer of its own, and once with the other type of results. */
static void forward_twice(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    forward(job, context, a);
    struct job other = *j;
    other.own_buffer = !j->own_buffer;
    uint8_t * dst = malloc(dst_bytes(j) + 1);
    void * arrays[] = {a[SRC], a[WEIGHT], a[BIAS], a[PARAMS], dst};
    forward(&other, context, arrays);
    if (memcmp(a[DST], dst, dst_bytes(j)) != 0)
        check_that(false, FORWARD, "with and without buf results differ: %s", SimdnetContextInfo(context));
    free(dst);
    if (j->p.dstT == SimdTensorData16b)
        compare_with_floats(j, a);
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

static float * rounded(const void * data, enum check_type type, size_t count)
{
    float * x = malloc(count * sizeof(float) + 1);
    for (size_t i = 0; i < count; ++i) {
        uint16_t small;
        if (type == CHECK_16B)
            memcpy(&small, (const char *)data + 2 * i, sizeof(small));
        else
            small = sn_32f_to_16b(float_of(data, i));
        x[i] = sn_16b_to_32f(small);
    }
    return x;
}

static void set_bounds(const struct job * j, const void * src, const float * weight, const float * bias,
                       const float * params, double * bound)
{
    const parameters * p = &j->p;
    const size_t weights = check_convolution_weights(p), plane = p->dstC * p->dstH * p->dstW;
    float * src32 = rounded(src, type_of(p->srcT), src_size(j)), * weight32 = rounded(weight, CHECK_32F, weights);
    const double lost = 0x1p-126 * (2 * (double)(p->srcC / p->group * p->kernelY * p->kernelX) + 3);
    check_convolution_bounds(p, j->batch, src32, weight32, bias, params, 1, bound);
    for (size_t i = 0; i < j->batch * plane; ++i)
        bound[i] += 4 * lost; /* no activation here is steeper */
    free(src32);
    free(weight32);
}

static void declare(const struct job * j, enum check_fill fill)
{
    const parameters * p = &j->p;
    check_case(FORWARD, "%s%s%s %s", check_convolution_text(p, j->batch), j->own_buffer ? " buf" : "",
               j->no_bias ? " no bias" : "", check_fill_name(fill));
    const bool wild = fill == CHECK_LARGE || fill == CHECK_INF || fill == CHECK_NAN || fill == CHECK_DENORMAL;
    const void * src = check_in("src", type_of(p->srcT), src_size(j), fill);
    check_any_address();
    const float * weight = check_in("weight", CHECK_32F, check_convolution_weights(p), wild ? CHECK_RANDOM : fill);
    const float * bias = check_in("bias", CHECK_32F, p->dstC, CHECK_RANDOM);
    float * params = check_in("params", CHECK_32F, check_activation_params(p), CHECK_RANDOM);
    check_out("dst", type_of(p->dstT), dst_size(j));
    check_any_address();
    check_open(open);
    check_activation_values(p, params);
    if (!j->bench)
        set_bounds(j, src, weight, bias, params, check_bound());
}

static void set_types(parameters * p, size_t number)
{
    p->srcT = number & 1 ? SimdTensorData32f : SimdTensorData16b;
    p->dstT = number & 2 ? SimdTensorData32f : SimdTensorData16b;
}

static parameters shape(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC, size_t kernel,
                        size_t stride, size_t pad, size_t group)
{
    parameters p = check_convolution_shape(format, srcC, h, w, dstC, kernel, stride, pad, group);
    set_types(&p, 0);
    return p;
}

static void run_case(struct job j, enum check_fill fill)
{
    declare(&j, fill);
    check_run(j.batch == 1 ? forward_twice : forward, &j);
}

static void random_case(SimdTensorFormatType format)
{
    struct job j = {.p = check_convolution_random(format, 30, 40), .batch = check_few(2), .own_buffer = check_random(0, 1),
                    .no_bias = check_random(0, 3) == 0};
    set_types(&j.p, check_random(0, 3));
    run_case(j, check_random(0, 15) ? CHECK_RANDOM : (enum check_fill)check_random(0, CHECK_FILLS - 1));
}

/* Every width of a tile and every tail of channels, with all types. */
static void tails(SimdTensorFormatType format)
{
    for (size_t n = 1; n <= 68; ++n) {
        struct job jobs[] = {{.p = shape(format, 5, 1, n, 3, 1, 1, 0, 1)}, {.p = shape(format, 3, 5, n, n, 3, 1, 1, 1)},
            {.p = shape(format, n, 4, 5, 69 - n, 2, 2, 1, 1)}, {.p = shape(format, n, 4, 11, n, 3, 1, 1, n)},
            {.p = shape(format, n + 1, 3, 4, n + 1, 5, 2, 2, n + 1)}, {.p = shape(format, 3, 5, n + 2, 3, 3, 2, 1, 3)},
            {.p = shape(format, 3 * n, 3, 3, 2 * n, 1, 1, 0, n)}, {.p = shape(format, 8, 1, 5, n + 40, 1, 1, 0, 1)}};
        for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); ++i) {
            struct job j = jobs[i];
            j.batch = 1;
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
        shape(format, 9001, 1, 2, 2, 1, 1, 0, 1), shape(format, 2048, 4, 5, 17, 1, 1, 0, 1),
        shape(format, 1024, 4, 5, 3, 3, 1, 1, 1), shape(format, 512, 7, 9, 5, 1, 2, 0, 1),
        shape(format, 1024, 5, 5, 4, 1, 2, 1, 2), shape(format, 7, 60, 1, 20, 1, 1, 0, 1),
        shape(format, 7, 60, 3, 20, 3, 1, 0, 1), shape(format, 8, 60, 3, 20, 3, 1, 1, 1),
        shape(format, 4, 3, 3, 5, 1, 5, 4, 1), shape(format, 4, 3, 3, 4, 2, 5, 4, 4), /* outputs of pure padding */
        shape(format, 0, 3, 3, 5, 3, 1, 1, 1)}; /* the bias alone */
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t number = 0; number < 4; ++number) {
            struct job j = {.p = shapes[i], .batch = 1, .own_buffer = i % 3 == 0};
            set_types(&j.p, number);
            run_case(j, CHECK_RANDOM);
        }
}

/* With odd numbers of inputs, in groups or not: an infinity beside them is none of theirs. */
static void fills(SimdTensorFormatType format)
{
    for (int fill = 0; fill < CHECK_FILLS; ++fill)
        for (int act = 0; act <= SimdConvolutionActivationHswish; ++act)
            for (size_t number = 0; number < 4; ++number) {
                struct job j = {.p = shape(format, 5, 6, 7, 19, 3, 1, 1, 1), .batch = 1};
                j.p.activation = (SimdConvolutionActivationType)act;
                set_types(&j.p, number);
                run_case(j, (enum check_fill)fill);
                j.p.group = j.p.srcC = j.p.dstC = 19;
                run_case(j, (enum check_fill)fill);
                j.p.group = 3, j.p.srcC = 15, j.p.dstC = 9;
                run_case(j, (enum check_fill)fill);
            }
}

static void batches(SimdTensorFormatType format)
{
    const size_t groups[] = {1, 2, 6};
    for (size_t i = 0; i < 6; ++i) {
        struct job j = {.p = shape(format, 6, 7, 9, 6, 3, 1 + i % 2, 1, groups[i % 3]), .batch = 5};
        set_types(&j.p, i);
        declare(&j, CHECK_EQUAL);
        check_run(forward_batch, &j);
    }
}

/* ---- rounding: 1x1 with weight 1 and without bias gives each number back, rounded */

/* All bfloat16 numbers, and floats around each of them: the number itself, the ties to either side, and their neighbours. */
enum { NUMBERS = 65536, AROUND = 8, ROUNDED = NUMBERS * AROUND };
static const uint32_t around[AROUND] = {0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x4000, 0xC000};

static float nth_number(size_t i) { return sn_from_bits_32f((uint32_t)(i / AROUND) << 16 | around[i % AROUND]); }

/* How many are wrong; by the tile, which has zeros beside the numbers and may have no subnormal ones, or depthwise. */
static size_t wrong_roundings(SimdTensorDataType type, bool tile)
{
    static float src[2 * ROUNDED];
    static uint16_t small[2 * ROUNDED], dst[ROUNDED];
    const size_t step = tile ? 2 : 1;
    for (size_t i = 0; i < ROUNDED; ++i) {
        src[i * step] = nth_number(i);
        small[i * step] = (uint16_t)(i / AROUND);
    }
    for (size_t i = 0; tile && i < ROUNDED; ++i)
        src[2 * i + 1] = 0, small[2 * i + 1] = 0;
    parameters p = check_convolution_shape(SimdTensorFormatNhwc, step, ROUNDED, 1, 1, 1, 1, 0, 1);
    p.srcT = type, p.dstT = SimdTensorData16b;
    const float weight[2] = {1, 0};
    void * context = SimdnetConvolution16bInit(1, &p);
    SimdnetConvolution16bSetParams(context, weight, NULL, NULL);
    SimdnetConvolution16bForward(context, type == SimdTensorData32f ? (uint8_t *)src : (uint8_t *)small, NULL, (uint8_t *)dst);
    SimdRelease(context);
    size_t wrong = 0;
    for (size_t i = 0; i < ROUNDED; ++i) {
        const float v = type == SimdTensorData32f ? nth_number(i) : sn_16b_to_32f((uint16_t)(i / AROUND));
        const uint16_t r = sn_32f_to_16b(v);
        const bool zero = (dst[i] & 0x7FFF) == 0 && ((r & 0x7FFF) == 0 || (tile && (r & 0x7F80) == 0)); /* -0 + 0 is 0 */
        wrong += !(isnan(v) ? isnan(sn_16b_to_32f(dst[i])) : dst[i] == r || zero);
    }
    return wrong;
}

static void roundings(void)
{
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        for (size_t i = 0; i < 4; ++i) {
            const size_t wrong = wrong_roundings(i % 2 ? SimdTensorData16b : SimdTensorData32f, i >= 2);
            check_that(wrong == 0, FORWARD, "%s rounds %zu numbers wrongly (%zu)", SimdnetIsaLevel(level), wrong, i);
        }
    }
    SimdnetSetMaxIsa(NULL);
}

/* ---- bad arguments */

static void set_null(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    SimdnetConvolution16bSetParams(j->wrong_context ? NULL : context, j->no_bias ? a[WEIGHT] : NULL, NULL, NULL);
}

static void forward_null(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    SimdnetConvolution16bForward(j->wrong_context ? NULL : context, j->no_src ? NULL : a[SRC], NULL, j->no_dst ? NULL : a[DST]);
}

/* For a shape without output channels: there are no arrays. */
static void * open_empty(const void * job, void * const * a)
{
    void * context = init(job, a);
    SimdnetConvolution16bSetParams(context, NULL, NULL, NULL);
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
    REFUSE("srcT", j.p.srcT = SimdTensorData8u);
    REFUSE("srcT", j.p.srcT = SimdTensorDataUnknown);
    REFUSE("dstT", j.p.dstT = SimdTensorData16f);
    REFUSE("srcF", j.p.srcF = j.p.dstF = SimdTensorFormatNchw8c);
    REFUSE("dstF", j.p.dstF = SimdTensorFormatNchw);
    REFUSE("kernelX", j.p.kernelX = 9);
    REFUSE("kernelY", j.p.dilationY = huge);
    REFUSE("dilationX", j.p.dilationX = 0);
    REFUSE("strideY", j.p.strideY = 0);
    REFUSE("dstH", j.p.dstH = 5);
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
    struct job j = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 1), .batch = 1};
    j.p.activation = SimdConvolutionActivationPrelu;
    declare(&j, CHECK_RANDOM);
    j.no_src = true;
    check_refused(CHECK_VALUE, "src", forward_null, &j);
    j.no_src = false, j.no_dst = true;
    check_refused(CHECK_VALUE, "dst", forward_null, &j);
    j.no_dst = false, j.wrong_context = true;
    check_refused(CHECK_VALUE, "context", forward_null, &j);
    j.wrong_context = false;
    j.no_set = true;
    check_refused(CHECK_STATE, "SetParams", forward_null, &j);
    check_case(SET_PARAMS, "bad arguments");
    check_in("src", CHECK_16B, src_size(&j), CHECK_RANDOM);
    check_in("weight", CHECK_32F, check_convolution_weights(&j.p), CHECK_RANDOM);
    check_open(init);
    check_refused(CHECK_VALUE, "weight", set_null, &j);
    j.no_bias = true;
    check_refused(CHECK_VALUE, "params", set_null, &j);
    j.wrong_context = true;
    check_refused(CHECK_VALUE, "context", set_null, &j);
    check_that(SimdnetConvolution16bExternalBufferSize(NULL) == 0, "SimdnetConvolution16bExternalBufferSize", "is not 0");
    check_that(SimdnetConvolution16bInternalBufferSize(NULL) == 0, "SimdnetConvolution16bInternalBufferSize", "is not 0");
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
        bench_case(formats[i], 256, 56, 512, 1, 2, 1);
        bench_case(formats[i], 512, 28, 128, 1, 1, 1);
        bench_case(formats[i], 1024, 14, 256, 1, 1, 1);
        bench_case(formats[i], 512, 7, 2048, 1, 1, 1);
        bench_case(formats[i], 64, 56, 64, 3, 1, 1);
        bench_case(formats[i], 128, 56, 128, 3, 2, 1);
        bench_case(formats[i], 512, 7, 512, 3, 1, 1);
        bench_case(formats[i], 96, 112, 96, 3, 2, 96);
        bench_case(formats[i], 384, 14, 384, 3, 1, 384);
    }
}

void check_convolution_16b(void)
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
    roundings();
    struct job empty = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 0, 3, 1, 1, 1), .batch = 1};
    check_case(FORWARD, "no output channels");
    check_open(open_empty);
    check_empty(forward_null, &empty);
    refusals();
    refusals_of_calls();
    bench();
}
