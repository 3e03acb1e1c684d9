/*
 * Deconvolution32f. Bound: the rounding of a chain of K multiply-adds, where K is the number of products that reach an output,
 * and of the activation behind it, as check_convolution_32f.c has it. Where an instruction set computes it as a convolution by
 * Winograd's algorithm, the bound of that convolution.
 */
#include <stdlib.h>

#include "check_convolution.h"
#include "core/common.h"

#define INIT "SimdSynetDeconvolution32fInit"
#define FORWARD "SimdSynetDeconvolution32fForward"
#define SET_PARAMS "SimdSynetDeconvolution32fSetParams"

typedef SimdConvolutionParameters parameters;

struct job {
    parameters p;
    size_t batch;
    bool own_buffer; /* give Forward a buffer */
    bool no_bias, no_set, wrong_context, null_conv;
    bool bench;
};

enum { SRC, WEIGHT, BIAS, PARAMS, DST };

static size_t src_size(const struct job * j) { return j->batch * j->p.srcC * j->p.srcH * j->p.srcW; }
static size_t dst_size(const struct job * j) { return j->batch * j->p.dstC * j->p.dstH * j->p.dstW; }
static size_t weight_size(const parameters * p) { return p->srcC * (p->dstC / p->group) * p->kernelY * p->kernelX; }

/* ---- a context and its use */

static void * init(const void * job, void * const * a)
{
    const struct job * j = job;
    (void)a;
    return SimdSynetDeconvolution32fInit(j->batch, j->null_conv ? NULL : &j->p, NULL);
}

static void * open(const void * job, void * const * a)
{
    const struct job * j = job;
    void * context = init(job, a);
    if (!context || j->no_set)
        return context;
    float * weight = check_copy(a[WEIGHT], weight_size(&j->p)), * bias = check_copy(a[BIAS], j->p.dstC);
    float * params = check_copy(a[PARAMS], check_activation_params(&j->p));
    SimdBool internal = SimdFalse;
    SimdSynetDeconvolution32fSetParams(context, weight, &internal, j->no_bias ? NULL : bias, params);
    if (internal != SimdTrue)
        check_that(false, SET_PARAMS, "internal is not SimdTrue");
    memset(weight, 0xFF, weight_size(&j->p) * sizeof(float));
    memset(bias, 0xFF, j->p.dstC * sizeof(float));
    free(weight);
    free(bias);
    free(params);
    return context;
}

static void forward(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    float * buf = NULL;
    if (j->own_buffer) {
        const size_t size = SimdSynetDeconvolution32fExternalBufferSize(context);
        if (size == 0)
            check_that(false, "SimdSynetDeconvolution32fExternalBufferSize", "is 0");
        buf = check_buffer(size);
    }
    SimdSynetDeconvolution32fForward(context, a[SRC], buf, a[DST]);
}

/* Forward, once more without or with a buffer of its own: the bits must not change. */
static void forward_twice(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    const size_t bytes = dst_size(j) * sizeof(float);
    forward(job, context, a);
    struct job other = *j;
    other.own_buffer = !j->own_buffer;
    float * dst = malloc(bytes + 1);
    void * arrays[] = {a[SRC], a[WEIGHT], a[BIAS], a[PARAMS], dst};
    forward(&other, context, arrays);
    if (memcmp(a[DST], dst, bytes) != 0)
        check_that(false, FORWARD, "with and without buf results differ: %s", SimdnetContextInfo(context));
    free(dst);
}

/* All images are the same, so all results must be. */
static void forward_batch(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    forward(job, context, a);
    const size_t size = dst_size(j) / j->batch;
    const float * dst = a[DST];
    for (size_t b = 1; b < j->batch; ++b)
        if (memcmp(dst, dst + b * size, size * sizeof(float)) != 0)
            check_that(false, FORWARD, "image %zu of a batch differs: %s", b, SimdnetContextInfo(context));
}

/* ---- bounds */

static size_t image_at(SimdTensorFormatType f, size_t C, size_t H, size_t W, size_t c, size_t y, size_t x)
{
    return f == SimdTensorFormatNhwc ? (y * W + x) * C + c : (c * H + y) * W + x;
}

/* Adds |src * weight| and 1 for each product that reaches an output to what there is. */
static void scatter(const parameters * p, size_t i, size_t o, const float * src, const float * weight, double * sum,
                    double * number)
{
    const size_t first = i / (p->srcC / p->group) * (p->dstC / p->group);
    for (size_t sy = 0; sy < p->srcH; ++sy)
        for (size_t ky = 0; ky < p->kernelY; ++ky) {
            const size_t y = sy * p->strideY + ky * p->dilationY - p->padY;
            if (y >= p->dstH)
                continue;
            for (size_t sx = 0; sx < p->srcW; ++sx)
                for (size_t kx = 0; kx < p->kernelX; ++kx) {
                    const size_t x = sx * p->strideX + kx * p->dilationX - p->padX, n = p->dstC / p->group;
                    if (x >= p->dstW)
                        continue;
                    const size_t to = image_at(p->dstF, p->dstC, p->dstH, p->dstW, first + o, y, x);
                    const size_t w = p->srcF == SimdTensorFormatNhwc ? ((i * p->kernelY + ky) * p->kernelX + kx) * n + o
                                                                     : ((i * n + o) * p->kernelY + ky) * p->kernelX + kx;
                    sum[to] += fabs((double)weight[w] * src[image_at(p->srcF, p->srcC, p->srcH, p->srcW, i, sy, sx)]);
                    number[to] += 1;
                }
        }
}

static void direct_bounds(const struct job * j, const float * src, const float * weight, const float * bias,
                          const float * params, double * bound)
{
    const parameters * p = &j->p;
    const size_t from = p->srcC * p->srcH * p->srcW, to = p->dstC * p->dstH * p->dstW;
    double * number = malloc((to + 1) * sizeof(double));
    for (size_t b = 0; b < j->batch; ++b, src += from, bound += to) {
        for (size_t n = 0; n < to; ++n)
            bound[n] = number[n] = 0;
        for (size_t i = 0; i < p->srcC; ++i)
            for (size_t o = 0; o < p->dstC / p->group; ++o)
                scatter(p, i, o, src, weight, bound, number);
        for (size_t n = 0; n < to; ++n) {
            const size_t o = p->dstF == SimdTensorFormatNhwc ? n % p->dstC : n / (p->dstH * p->dstW);
            const double size = (isfinite(bound[n]) ? bound[n] : INFINITY) + fabs(bias[o]);
            bound[n] = check_activated(p, params, o, size, number[n] * size * FLT_EPSILON);
        }
    }
    free(number);
}

/* The convolution that one of stride 1 is, and its weights. */
static parameters convolution_of(parameters p)
{
    const size_t y = (p.kernelY - 1) * p.dilationY, x = (p.kernelX - 1) * p.dilationX;
    p.padY = y - p.padY, p.padH = y - p.padH, p.padX = x - p.padX, p.padW = x - p.padW;
    return p;
}

static float * turned(const parameters * p, const float * weight)
{
    const bool nhwc = p->srcF == SimdTensorFormatNhwc;
    const size_t I = p->srcC, O = p->dstC, taps = p->kernelY * p->kernelX; /* of one group */
    float * to = malloc(I * O * taps * sizeof(float));
    for (size_t i = 0; i < I; ++i)
        for (size_t o = 0; o < O; ++o)
            for (size_t k = 0; k < taps; ++k)
                to[nhwc ? ((taps - 1 - k) * I + i) * O + o : (o * I + i) * taps + taps - 1 - k] =
                    weight[nhwc ? (i * taps + k) * O + o : (i * O + o) * taps + k];
    return to;
}

static void fill_bounds(const struct job * j, enum check_fill fill, const float * src, const float * weight,
                        const float * bias, const float * params, double * bound)
{
    const unsigned used = check_convolution_algorithms(init, j);
    if (used == 1) {
        direct_bounds(j, src, weight, bias, params, bound);
        return;
    }
    const parameters p = convolution_of(j->p);
    float * other = turned(&j->p, weight);
    check_convolution_bounds(&p, j->batch, src, other, bias, params, used | (fill == CHECK_EQUAL ? CHECK_EQUAL_VALUES : 0),
                             bound);
    free(other);
}

/* ---- cases */

static void declare(const struct job * j, enum check_fill fill)
{
    const parameters * p = &j->p;
    check_case(FORWARD,
               "%zux%zux%zux%zu->%zux%zux%zu k%zux%zu d%zux%zu s%zux%zu p%zu,%zu,%zu,%zu g%zu act%d %s%s%s %s", j->batch,
               p->srcC, p->srcH, p->srcW, p->dstC, p->dstH, p->dstW, p->kernelY, p->kernelX, p->dilationY, p->dilationX,
               p->strideY, p->strideX, p->padY, p->padX, p->padH, p->padW, p->group, (int)p->activation,
               check_format_name(p->srcF), j->own_buffer ? " buf" : "", j->no_bias ? " no bias" : "", check_fill_name(fill));
    const float * src = check_in("src", CHECK_32F, src_size(j), fill);
    const bool wild = fill == CHECK_LARGE || fill == CHECK_INF || fill == CHECK_NAN;
    const float * weight = check_in("weight", CHECK_32F, weight_size(p), wild ? CHECK_RANDOM : fill);
    float * bias = check_in("bias", CHECK_32F, p->dstC, CHECK_RANDOM);
    float * params = check_in("params", CHECK_32F, check_activation_params(p), CHECK_RANDOM);
    check_out("dst", CHECK_32F, dst_size(j));
    check_open(open);
    check_activation_values(p, params);
    if (!j->bench)
        fill_bounds(j, fill, src, weight, bias, params, check_bound());
}

static size_t whole(size_t src, size_t kernel, size_t dilation, size_t stride)
{
    return stride * (src - 1) + dilation * (kernel - 1) + 1;
}

static void set_output(parameters * p)
{
    p->dstH = whole(p->srcH, p->kernelY, p->dilationY, p->strideY) - p->padY - p->padH;
    p->dstW = whole(p->srcW, p->kernelX, p->dilationX, p->strideX) - p->padX - p->padW;
}

static parameters shape(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC, size_t kernel,
                        size_t stride, size_t pad, size_t group)
{
    parameters p = {.srcC = srcC, .srcH = h, .srcW = w, .srcT = SimdTensorData32f, .srcF = format, .dstC = dstC,
                    .dstT = SimdTensorData32f, .dstF = format, .kernelY = kernel, .kernelX = kernel, .dilationY = 1,
                    .dilationX = 1, .strideY = stride, .strideX = stride, .padY = pad, .padX = pad, .padH = pad, .padW = pad,
                    .group = group};
    set_output(&p);
    return p;
}

/* 1 .. limit, small ones more often. */
static size_t few(size_t limit) { return check_random(1, check_random(1, limit)); }

/* Padding of an axis: mostly less than the kernel, sometimes all that leaves one output. */
static void set_pads(size_t all, size_t kernel, size_t * before, size_t * after)
{
    const size_t limit = check_random(0, 7) ? sn_min(kernel, all) - 1 : all - 1;
    *before = check_random(0, limit);
    *after = check_random(0, sn_min(limit, all - 1 - *before));
}

static parameters random_shape(SimdTensorFormatType format)
{
    parameters p = shape(format, 1, 1, 1, 1, 1, 1, 0, 1);
    p.kernelY = few(5), p.kernelX = few(5);
    p.dilationY = few(3), p.dilationX = few(3);
    p.strideY = few(5), p.strideX = few(5);
    const size_t kind = check_random(0, format == SimdTensorFormatNchw ? 4 : 2);
    p.group = kind == 3 ? check_random(1, 24) : kind == 4 ? few(4) : 1;
    p.srcC = (kind == 3 ? 1 : few(20)) * p.group;
    p.dstC = (kind == 3 ? few(3) : few(40)) * p.group;
    if (kind == 0) { /* without overlap */
        p.strideY = p.kernelY, p.strideX = p.kernelX;
        p.dilationY = p.dilationX = 1;
    } else if (kind == 1) {
        p.strideY = p.strideX = 1;
    }
    p.srcH = check_random(1, 8);
    p.srcW = check_random(1, check_random(0, 4) ? 9 : 34);
    if (kind != 0 || check_random(0, 2) == 0) {
        set_pads(whole(p.srcH, p.kernelY, p.dilationY, p.strideY), (p.kernelY - 1) * p.dilationY + 1, &p.padY, &p.padH);
        set_pads(whole(p.srcW, p.kernelX, p.dilationX, p.strideX), (p.kernelX - 1) * p.dilationX + 1, &p.padX, &p.padW);
    }
    p.activation = (SimdConvolutionActivationType)check_random(0, SimdConvolutionActivationHswish);
    set_output(&p);
    return p;
}

static void run_case(struct job j, enum check_fill fill)
{
    declare(&j, fill);
    check_run(j.batch == 1 ? forward_twice : forward, &j);
}

static void random_case(SimdTensorFormatType format)
{
    struct job j = {.p = random_shape(format), .batch = few(2), .own_buffer = check_random(0, 1),
                    .no_bias = check_random(0, 3) == 0};
    if (weight_size(&j.p) * j.p.dstH * j.p.dstW > 300000 && j.p.group != j.p.srcC) { /* keeps base's time short */
        j.p.srcC = j.p.group * few(3);
        j.p.dstC = j.p.group * few(6);
    }
    run_case(j, check_random(0, 15) ? CHECK_RANDOM : (enum check_fill)check_random(0, CHECK_FILLS - 1));
}

/* Every width of a tile and every tail of channels; NCHW depthwise too. */
static void tails(SimdTensorFormatType format)
{
    for (size_t n = 1; n <= 34; ++n) {
        run_case((struct job){.p = shape(format, 5, 1, n, 3, 1, 1, 0, 1), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, 3, 2, n, n, 2, 2, 0, 1), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, n, 3, 4, 35 - n, 4, 2, 1, 1), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, 2, 3, n, n, 3, 2, 1, 1), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, 2, n, 2, 3, 3, 3, 0, 1), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, n, 4, 5, n, 3, 1, 1, 1), .batch = 1}, CHECK_RANDOM);
        if (format == SimdTensorFormatNchw) {
            run_case((struct job){.p = shape(format, 3, 5, n, 3, 4, 2, 1, 3), .batch = 1}, CHECK_RANDOM);
            run_case((struct job){.p = shape(format, 2, n, 3, 4, 3, 2, 0, 2), .batch = 1}, CHECK_RANDOM);
        }
    }
}

/* Shapes that make a driver cut: bands of lines, blocks of a long sum, pixels a multiple of 2 KB apart, single pixels. */
static void cuts(SimdTensorFormatType format)
{
    run_case((struct job){.p = shape(format, 2, 60, 80, 2, 4, 2, 1, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 4, 50, 70, 3, 2, 2, 0, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 1, 80, 100, 1, 3, 2, 1, 1), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 1010, 3, 3, 2, 3, 2, 1, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 9000, 2, 3, 2, 2, 2, 0, 1), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 512, 4, 5, 17, 2, 2, 0, 1), .batch = 2, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 512, 4, 5, 3, 4, 2, 1, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 300, 8, 9, 4, 3, 1, 1, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 40, 1, 1, 70, 4, 1, 0, 1), .batch = 2}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 7, 30, 1, 20, 3, 2, 1, 1), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 3, 2, 2, 3000, 3, 3, 0, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 2, 3, 4, 5, 24, 24, 0, 1), .batch = 1}, CHECK_RANDOM); /* many phases */
    run_case((struct job){.p = shape(format, 2, 3, 3, 3, 2, 40, 0, 1), .batch = 1}, CHECK_RANDOM);  /* most without taps */
    run_case((struct job){.p = shape(format, 2, 9, 9, 3, 3, 1, 5, 1), .batch = 1}, CHECK_RANDOM); /* one output is left */
    run_case((struct job){.p = shape(format, 0, 3, 3, 5, 3, 2, 1, 1), .batch = 1}, CHECK_RANDOM); /* the bias alone */
    struct job none = {.p = shape(format, 2, 1, 1, 5, 5, 2, 0, 1), .batch = 1}; /* an image without lines */
    none.p.srcH = 0, none.p.dstH = 3;
    run_case(none, CHECK_RANDOM);
    if (format == SimdTensorFormatNhwc)
        return;
    run_case((struct job){.p = shape(format, 18000, 2, 3, 4, 2, 2, 0, 2), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 4, 2, 3, 1500, 3, 3, 0, 2), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 4, 50, 60, 4, 4, 2, 1, 2), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 4, 3, 4, 6, 24, 24, 0, 2), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 4, 3, 3, 6, 2, 40, 0, 2), .batch = 1}, CHECK_RANDOM);
    struct job bands = {.p = shape(format, 3, 100, 110, 6, 4, 2, 1, 3), .batch = 1, .own_buffer = true};
    run_case(bands, CHECK_RANDOM);
}

/* Stride 1 with channels enough for Winograd. */
static void tiles(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(60); n < count; ++n) {
        struct job j = {.p = shape(format, 16 + n % 52, 1 + n % 11, 1 + n % 9, 1 + n % 67, 3, 1, 0, 1),
                        .batch = 1 + n % 7 / 6, .own_buffer = n % 2 == 1, .no_bias = n % 5 == 0};
        j.p.padY = check_random(0, sn_min(j.p.dstH - 1, 2)), j.p.padX = check_random(0, sn_min(j.p.dstW - 1, 2));
        j.p.padH = check_random(0, sn_min(j.p.dstH - 1 - j.p.padY, 2));
        j.p.padW = check_random(0, sn_min(j.p.dstW - 1 - j.p.padX, 2));
        j.p.activation = (SimdConvolutionActivationType)(n % 3 ? n / 3 % 7 : 0);
        set_output(&j.p);
        run_case(j, n % 4 ? CHECK_RANDOM : (enum check_fill)(n / 4 % CHECK_FILLS));
    }
}

static void fills(SimdTensorFormatType format)
{
    for (int fill = 0; fill < CHECK_FILLS; ++fill)
        for (int act = 0; act <= SimdConvolutionActivationHswish; ++act) {
            struct job j = {.p = shape(format, 6, 4, 5, 19, 4, 2, 1, 1), .batch = 1};
            j.p.activation = (SimdConvolutionActivationType)act;
            run_case(j, (enum check_fill)fill);
            j.p = shape(format, 6, 4, 5, 19, 2, 2, 0, 1);
            j.p.activation = (SimdConvolutionActivationType)act;
            run_case(j, (enum check_fill)fill);
            if (format == SimdTensorFormatNchw) {
                j.p.group = j.p.srcC = j.p.dstC = 19;
                run_case(j, (enum check_fill)fill);
                j.p.group = 2, j.p.srcC = 6, j.p.dstC = 10;
                run_case(j, (enum check_fill)fill);
            }
        }
}

static void batches(SimdTensorFormatType format)
{
    for (size_t i = 0; i < 4; ++i) {
        const size_t group = format == SimdTensorFormatNchw && i > 1 ? 3 * i - 3 : 1;
        struct job j = {.p = shape(format, 6, 7, 9, 6, 2 + i, 2, i % 2, group), .batch = 5};
        declare(&j, CHECK_EQUAL);
        check_run(forward_batch, &j);
    }
}

/* ---- bad arguments */

static void set_null(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    SimdSynetDeconvolution32fSetParams(j->wrong_context ? NULL : context, j->no_bias ? a[WEIGHT] : NULL, NULL, NULL, NULL);
}

static void forward_null(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    SimdSynetDeconvolution32fForward(j->wrong_context ? NULL : context, a[SRC], NULL, a[DST]);
}

static void refuse_init(struct job j, const char * argument)
{
    const struct job good = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 6, 4, 2, 1, 1), .batch = 1};
    declare(&good, CHECK_RANDOM);
    check_case(INIT, "bad %s", argument);
    check_out("dst", CHECK_32F, 4);
    check_open(init);
    check_refused(CHECK_VALUE, argument, NULL, &j);
}

/* A good shape with one thing changed. */
#define REFUSE(argument, change)                                                                                            \
    do {                                                                                                                    \
        struct job j = {.p = shape(SimdTensorFormatNchw, 4, 6, 6, 6, 4, 2, 1, 2), .batch = 1};                              \
        change;                                                                                                             \
        refuse_init(j, argument);                                                                                           \
    } while (0)

static void refusals(void)
{
    const size_t huge = SIZE_MAX / 2;
    REFUSE("batch", j.batch = 0);
    REFUSE("conv", j.null_conv = true);
    REFUSE("srcT", j.p.srcT = SimdTensorData8u);
    REFUSE("dstT", j.p.dstT = SimdTensorData16b);
    REFUSE("srcF", j.p.srcF = j.p.dstF = SimdTensorFormatNchw8c);
    REFUSE("dstF", j.p.dstF = SimdTensorFormatNhwc);
    REFUSE("kernelY", j.p.kernelY = 0);
    REFUSE("kernelX", j.p.kernelX = 0);
    REFUSE("kernelX", j.p.kernelX = huge);
    REFUSE("kernelY", j.p.dilationY = huge);
    REFUSE("dilationY", j.p.dilationY = 0);
    REFUSE("dilationX", j.p.dilationX = 0);
    REFUSE("strideY", j.p.strideY = 0);
    REFUSE("strideX", j.p.strideX = 0);
    REFUSE("strideX", j.p.strideX = huge);
    REFUSE("dstH", j.p.dstH = 11);
    REFUSE("dstW", j.p.dstW = 13);
    REFUSE("dstW", j.p.dstW = 0);
    REFUSE("dstH", j.p.srcH = 5);
    REFUSE("padY", j.p.padY = 13);
    REFUSE("padY", (j.p.padY = 13, j.p.dstH = 0));
    REFUSE("padW", (j.p.padX = 10, j.p.padW = 4, j.p.dstW = 0));
    REFUSE("padY", j.p.padY = SIZE_MAX);
    REFUSE("padW", j.p.padW = SIZE_MAX - 7);
    REFUSE("srcH", j.p.srcH = huge);
    REFUSE("padY", (j.p.srcH = 0, j.p.kernelY = 1, j.p.dstH = 0));
    REFUSE("group", j.p.group = 0);
    REFUSE("srcC", j.p.group = 3);
    REFUSE("dstC", j.p.group = 4);
    REFUSE("group", (j.p.srcF = j.p.dstF = SimdTensorFormatNhwc));
    REFUSE("activation", j.p.activation = (SimdConvolutionActivationType)7);
    REFUSE("activation", j.p.activation = (SimdConvolutionActivationType)-1);
    REFUSE("conv", j.batch = SIZE_MAX / 16);
    REFUSE("conv", j.p.srcC = j.p.dstC = SIZE_MAX / 64 * 2);
}

static void refusals_of_calls(void)
{
    struct job j = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 2, 1, 1), .batch = 1};
    j.p.activation = SimdConvolutionActivationPrelu;
    declare(&j, CHECK_RANDOM);
    j.wrong_context = true;
    check_refused(CHECK_VALUE, "context", forward_null, &j);
    j.wrong_context = false;
    j.no_set = true;
    check_refused(CHECK_STATE, "SetParams", forward_null, &j);
    check_case(SET_PARAMS, "bad arguments");
    check_in("src", CHECK_32F, src_size(&j), CHECK_RANDOM);
    check_in("weight", CHECK_32F, weight_size(&j.p), CHECK_RANDOM);
    check_open(init);
    check_refused(CHECK_VALUE, "weight", set_null, &j);
    j.no_bias = true;
    check_refused(CHECK_VALUE, "params", set_null, &j);
    j.wrong_context = true;
    check_refused(CHECK_VALUE, "context", set_null, &j);
    check_that(SimdSynetDeconvolution32fInternalBufferSize(NULL) == 0, INIT, "a context that is NULL has a buffer");
}

/* ---- benchmarks: layers of known networks */

static void bench_case(SimdTensorFormatType format, size_t c, size_t size, size_t o, size_t kernel, size_t stride, size_t pad,
                       size_t group)
{
    struct job j = {.p = shape(format, c, size, size, o, kernel, stride, pad, group), .batch = 1, .bench = true};
    j.p.activation = SimdConvolutionActivationRelu;
    declare(&j, CHECK_RANDOM);
    check_bench(forward, &j, 2.0 * (double)weight_size(&j.p) * (double)(j.p.srcH * j.p.srcW), 0);
}

static void bench(void)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNhwc, SimdTensorFormatNchw};
    for (size_t i = 0; i < 2; ++i) {
        bench_case(formats[i], 128, 28, 64, 2, 2, 0, 1);
        bench_case(formats[i], 21, 34, 21, 4, 2, 1, 1);
        bench_case(formats[i], 64, 28, 32, 3, 1, 1, 1);
        bench_case(formats[i], 256, 14, 128, 2, 2, 0, 1);
        bench_case(formats[i], 64, 56, 32, 2, 2, 0, 1);
        bench_case(formats[i], 32, 112, 16, 2, 2, 0, 1);
        bench_case(formats[i], 128, 16, 64, 4, 2, 1, 1);
        bench_case(formats[i], 64, 32, 32, 5, 2, 2, 1);
        bench_case(formats[i], 64, 32, 32, 3, 2, 1, 1);
        bench_case(formats[i], 512, 4, 256, 4, 2, 1, 1);
    }
    bench_case(SimdTensorFormatNchw, 64, 56, 64, 4, 2, 1, 64);
    bench_case(SimdTensorFormatNchw, 64, 56, 64, 3, 1, 1, 64);
}

void check_deconvolution_32f(void)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNchw, SimdTensorFormatNhwc};
    for (size_t i = 0; i < 2; ++i) {
        tails(formats[i]);
        tiles(formats[i]);
        fills(formats[i]);
        batches(formats[i]);
        if (!check_quick())
            cuts(formats[i]);
        for (size_t n = 0; n < check_count(1500); ++n)
            random_case(formats[i]);
    }
    struct job empty = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 0, 3, 2, 1, 1), .batch = 1};
    check_case(FORWARD, "no output channels");
    check_open(open);
    check_empty(forward_null, &empty);
    refusals();
    refusals_of_calls();
    bench();
}
