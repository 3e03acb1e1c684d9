/*
 * Convolution32f. Bound: the rounding of a chain of K multiply-adds and of the activation behind it,
 * ((K + 3) * eps * (sum |a * b| + |bias|)) * slope + 8 * eps * |result|, where `slope` is the steepest of the activation.
 * Where an instruction set computes F(m,3) by Winograd, as SimdnetContextInfo() tells, the chain's part is what the header
 * promises: (k + 8 * srcC, if values are equal) * 2^-24 * sum over channels of (largest input of the tile) * (sum of
 * |weights|); and a tile may be spoilt by what is not finite.
 */
#include <stdlib.h>

#include "check_convolution.h"

#define INIT "SimdSynetConvolution32fInit"
#define FORWARD "SimdSynetConvolution32fForward"
#define SET_PARAMS "SimdSynetConvolution32fSetParams"

#define shape check_convolution_shape

typedef SimdConvolutionParameters parameters;

struct job {
    parameters p;
    size_t batch;
    bool own_buffer; /* give Forward a buffer */
    bool no_bias, no_set, wrong_context, null_conv;
    bool bench;
};

enum { SRC, WEIGHT, BIAS, PARAMS, DST };

size_t check_activation_params(const parameters * p)
{
    const size_t counts[] = {0, 0, 1, 2, p->dstC, 1, 2};
    return (unsigned)p->activation < 7 ? counts[p->activation] : 0;
}

static size_t src_size(const struct job * j) { return j->batch * j->p.srcC * j->p.srcH * j->p.srcW; }
static size_t dst_size(const struct job * j) { return j->batch * j->p.dstC * j->p.dstH * j->p.dstW; }

/* ---- a context and its use */

float * check_copy(const void * values, size_t count)
{
    float * own = malloc(count * sizeof(float) + 1);
    if (count)
        memcpy(own, values, count * sizeof(float));
    return own;
}

static void * init(const void * job, void * const * a)
{
    const struct job * j = job;
    (void)a;
    return SimdSynetConvolution32fInit(j->batch, j->null_conv ? NULL : &j->p, NULL);
}

static void * open(const void * job, void * const * a)
{
    const struct job * j = job;
    void * context = init(job, a);
    if (!context || j->no_set)
        return context;
    float * weight = check_copy(a[WEIGHT], check_convolution_weights(&j->p)), * bias = check_copy(a[BIAS], j->p.dstC);
    float * params = check_copy(a[PARAMS], check_activation_params(&j->p));
    SimdBool internal = SimdFalse;
    SimdSynetConvolution32fSetParams(context, weight, &internal, j->no_bias ? NULL : bias, params);
    if (internal != SimdTrue && j->p.dstC != 0)
        check_that(false, SET_PARAMS, "internal is not SimdTrue");
    memset(weight, 0xFF, check_convolution_weights(&j->p) * sizeof(float));
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
        const size_t size = SimdSynetConvolution32fExternalBufferSize(context);
        if (size == 0)
            check_that(false, "SimdSynetConvolution32fExternalBufferSize", "is 0");
        buf = check_buffer(size);
    }
    SimdSynetConvolution32fForward(context, a[SRC], buf, a[DST]);
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

static size_t weight_at(const parameters * p, size_t o, size_t i, size_t ky, size_t kx)
{
    const size_t n = p->srcC / p->group;
    return p->srcF == SimdTensorFormatNhwc ? ((ky * p->kernelX + kx) * n + i) * p->dstC + o
                                           : ((o * n + i) * p->kernelY + ky) * p->kernelX + kx;
}

static double magnitude(const parameters * p, const float * src, const float * weight, size_t o, size_t y, size_t x)
{
    const size_t n = p->srcC / p->group;
    double sum = 0;
    for (size_t ky = 0; ky < p->kernelY; ++ky)
        for (size_t kx = 0; kx < p->kernelX; ++kx) {
            const ptrdiff_t sy = (ptrdiff_t)(y * p->strideY + ky * p->dilationY) - (ptrdiff_t)p->padY;
            const ptrdiff_t sx = (ptrdiff_t)(x * p->strideX + kx * p->dilationX) - (ptrdiff_t)p->padX;
            if (sy < 0 || sx < 0 || sy >= (ptrdiff_t)p->srcH || sx >= (ptrdiff_t)p->srcW)
                continue;
            for (size_t i = 0; i < n; ++i)
                sum += fabs((double)weight[weight_at(p, o, i, ky, kx)] *
                            src[image_at(p->srcF, p->srcC, p->srcH, p->srcW, o / (p->dstC / p->group) * n + i, (size_t)sy,
                                         (size_t)sx)]);
        }
    return isfinite(sum) ? sum : INFINITY;
}

/* The m of F(m,3) on the instruction set in use; 0 for another algorithm. */
static size_t winograd_block(check_open_fn make, const void * job)
{
    size_t block = 0;
    void * context = make(job, NULL);
    const char * info = context ? strstr(SimdnetContextInfo(context), "Winograd F(") : NULL;
    if (info)
        block = (size_t)(info[strlen("Winograd F(")] - '0');
    SimdRelease(context);
    return block;
}

unsigned check_convolution_algorithms(check_open_fn make, const void * job)
{
    unsigned found = 0;
    for (size_t i = 1; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        found |= 1u << winograd_block(make, job);
    }
    SimdnetSetMaxIsa(NULL);
    return found;
}

/* The largest input of each channel in the tile of an output; NAN where one is not finite. */
static void largest_of_tile(const parameters * p, const float * src, size_t y, size_t x, size_t block, double * largest)
{
    for (size_t c = 0; c < p->srcC; ++c) {
        largest[c] = 0;
        for (size_t i = 0; i < (block + 2) * (block + 2); ++i) {
            const size_t sy = y / block * block + i / (block + 2) - p->padY;
            const size_t sx = x / block * block + i % (block + 2) - p->padX;
            if (sy >= p->srcH || sx >= p->srcW)
                continue;
            const double v = fabs((double)src[image_at(p->srcF, p->srcC, p->srcH, p->srcW, c, sy, sx)]);
            largest[c] = isnan(largest[c]) || !isfinite(v) ? NAN : fmax(largest[c], v);
        }
    }
}

static double winograd_error(const parameters * p, const float * weight, size_t o, const double * largest, size_t block,
                             bool equal)
{
    static const double k[] = {[2] = 4, [3] = 12, [4] = 32};
    double sum = 0;
    for (size_t i = 0; i < p->srcC; ++i) {
        double taps = 0;
        for (size_t t = 0; t < 9; ++t)
            taps += fabs((double)weight[weight_at(p, o, i, t / 3, t % 3)]);
        sum += taps * largest[i];
    }
    return (k[block] + (equal ? 8 * (double)p->srcC : 0)) * 0x1p-24 * sum;
}

/* What the sum of an output may be wrong by, whichever of the algorithms computes it; `largest` as above for each block. */
static double sum_error(const parameters * p, const float * weight, size_t o, double size, unsigned used,
                        double * const * largest)
{
    const double depth = (double)(p->srcC / p->group * p->kernelY * p->kernelX);
    double error = used & 1 ? depth * size * FLT_EPSILON : 0;
    for (size_t block = 2; block <= 4; ++block)
        if (used >> block & 1) {
            const double other = winograd_error(p, weight, o, largest[block], block, used & CHECK_EQUAL_VALUES);
            if (isnan(other))
                return NAN;
            error = fmax(error, other);
        }
    return error;
}

double check_activated(const parameters * p, const float * params, size_t o, double size, double error)
{
    double slope = 1, result = size;
    if (p->activation == SimdConvolutionActivationPrelu)
        slope = fmax(1, fabs(params[o]));
    else if (p->activation == SimdConvolutionActivationLeakyRelu || p->activation == SimdConvolutionActivationElu)
        slope = fmax(1, fabs(params[0])), result *= slope;
    else if (p->activation == SimdConvolutionActivationHswish)
        slope = 3 * fabs((double)params[0] * params[1]), result *= slope;
    if (p->activation == SimdConvolutionActivationElu) /* its terms are exp(v) and 1 */
        result += 2 * fabs(params[0]);
    return error * slope + (3 * size * slope + 8 * result) * FLT_EPSILON;
}

void check_convolution_bounds(const parameters * p, size_t batch, const float * src, const float * weight,
                              const float * bias, const float * params, unsigned used, double * bound)
{
    double * largest[5];
    for (size_t block = 0; block < 5; ++block)
        largest[block] = malloc((p->srcC + 1) * sizeof(double));
    for (size_t b = 0; b < batch; ++b, src += p->srcC * p->srcH * p->srcW, bound += p->dstC * p->dstH * p->dstW)
        for (size_t y = 0; y < p->dstH; ++y)
            for (size_t x = 0; x < p->dstW; ++x) {
                for (size_t block = 2; block < 5; ++block)
                    if (used >> block & 1)
                        largest_of_tile(p, src, y, x, block, largest[block]);
                for (size_t o = 0; o < p->dstC; ++o) {
                    const double size = magnitude(p, src, weight, o, y, x) + fabs(bias[o]);
                    bound[image_at(p->dstF, p->dstC, p->dstH, p->dstW, o, y, x)] =
                        check_activated(p, params, o, size, sum_error(p, weight, o, size, used, largest));
                }
            }
    for (size_t block = 0; block < 5; ++block)
        free(largest[block]);
}

/* ---- cases */

void check_activation_values(const parameters * p, float * params)
{
    const float values[7][2] = {{0, 0}, {0, 0}, {0.1f, 0}, {-0.4f, 0.6f}, {0, 0}, {1.1f, 0}, {3.0f, 1.0f / 6}};
    if (p->activation != SimdConvolutionActivationPrelu)
        memcpy(params, values[p->activation], check_activation_params(p) * sizeof(float));
}

static void declare(const struct job * j, enum check_fill fill)
{
    const parameters * p = &j->p;
    check_case(FORWARD, "%s%s%s %s", check_convolution_text(p, j->batch), j->own_buffer ? " buf" : "", j->no_bias ? " no bias" : "", check_fill_name(fill));
    const float * src = check_in("src", CHECK_32F, src_size(j), fill);
    const bool wild = fill == CHECK_LARGE || fill == CHECK_INF || fill == CHECK_NAN;
    const float * weight = check_in("weight", CHECK_32F, check_convolution_weights(p), wild ? CHECK_RANDOM : fill);
    float * bias = check_in("bias", CHECK_32F, p->dstC, CHECK_RANDOM);
    float * params = check_in("params", CHECK_32F, check_activation_params(p), CHECK_RANDOM);
    check_out("dst", CHECK_32F, dst_size(j));
    check_open(open);
    check_activation_values(p, params);
    if (!j->bench)
        check_convolution_bounds(p, j->batch, src, weight, bias, params,
                                 check_convolution_algorithms(init, j) | (fill == CHECK_EQUAL ? CHECK_EQUAL_VALUES : 0),
                                 check_bound());
}

static void run_case(struct job j, enum check_fill fill)
{
    declare(&j, fill);
    check_run(j.batch == 1 ? forward_twice : forward, &j);
}

static void random_case(SimdTensorFormatType format)
{
    struct job j = {.p = check_convolution_random(format, 20, 40), .batch = check_few(2), .own_buffer = check_random(0, 1),
                    .no_bias = check_random(0, 3) == 0};
    run_case(j, check_random(0, 15) ? CHECK_RANDOM : (enum check_fill)check_random(0, CHECK_FILLS - 1));
}

/* Every width of a tile and every tail of channels. */
static void tails(SimdTensorFormatType format)
{
    for (size_t n = 1; n <= 34; ++n) {
        run_case((struct job){.p = shape(format, 5, 1, n, 3, 1, 1, 0, 1), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, 3, 5, n, n, 3, 1, 1, 1), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, n, 4, 5, 35 - n, 2, 2, 1, 1), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, n, 4, 11, n, 3, 1, 1, n), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, 3, 5, n + 2, 3, 3, 2, 1, 3), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, 2, 6, n + 4, 2, 5, 1 + n % 2, 2, 2), .batch = 1}, CHECK_RANDOM);
        run_case((struct job){.p = shape(format, 4 * n, 3, 3, 2 * n, 1, 1, 0, n), .batch = 1}, CHECK_RANDOM);
    }
}

/* Depthwise: every size of image that its blocks are cut to, with channels that fill vectors and that do not. */
static void blocks(SimdTensorFormatType format)
{
    const size_t channels[] = {1, 7, 16, 24, 35};
    for (size_t n = 0, count = check_count(600); n < count; ++n) {
        const size_t kernel = n % 2 ? 3 : 5, stride = 1 + n / 2 % 2, group = channels[n / 4 % 5];
        struct job j = {.p = shape(format, group, 3 + n / 20 % 16, 3 + n / 7 % 18, group, kernel, stride, kernel / 2, group),
                        .batch = 1, .own_buffer = n % 3 == 0};
        j.p.activation = (SimdConvolutionActivationType)(n % 7);
        if (n % 5 == 0)
            j.p.padX = j.p.padW = check_random(kernel > j.p.srcW ? kernel / 2 : 0, kernel);
        check_convolution_output(&j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* Shapes that make a driver cut: bands of lines, blocks of a long sum, pixels a multiple of 2 KB apart, high and narrow. */
static void cuts(SimdTensorFormatType format)
{
    run_case((struct job){.p = shape(format, 3, 200, 300, 2, 3, 1, 1, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 3, 230, 300, 2, 3, 2, 0, 1), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 2, 500, 400, 2, 3, 1, 1, 2), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 1010, 3, 3, 2, 3, 1, 1, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 9000, 2, 3, 2, 1, 1, 0, 1), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 512, 4, 5, 17, 1, 1, 0, 1), .batch = 2}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 300, 18, 20, 4, 3, 1, 1, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 16, 70, 90, 17, 3, 1, 1, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 512, 4, 5, 3, 3, 1, 1, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 256, 7, 9, 5, 1, 2, 0, 1), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 256, 7, 9, 4, 1, 2, 1, 2), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 7, 60, 1, 20, 1, 1, 0, 1), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 7, 60, 3, 20, 3, 1, 0, 1), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 7, 60, 3, 20, 3, 1, 1, 1), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 4, 3, 3, 5, 1, 5, 4, 1), .batch = 1}, CHECK_RANDOM); /* outputs of pure padding */
    run_case((struct job){.p = shape(format, 4, 3, 3, 4, 2, 5, 4, 4), .batch = 1}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 17, 90, 100, 17, 3, 2, 1, 17), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 256, 9, 10, 256, 3, 1, 1, 256), .batch = 2, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 512, 7, 7, 512, 5, 2, 2, 512), .batch = 1, .own_buffer = true}, CHECK_RANDOM);
    run_case((struct job){.p = shape(format, 0, 3, 3, 5, 3, 1, 1, 1), .batch = 1}, CHECK_RANDOM); /* the bias alone */
}

/* Few pixels and many channels, which threads share among them. */
static void channels(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 8; ++n) {
        struct job j = {.p = shape(format, 40, 3 + n / 4, 4, 170, n % 2 ? 3 : 1, 1 + n / 2 % 2, n % 2, 1), .batch = 1 + n / 4};
        j.p.activation = n % 2 ? SimdConvolutionActivationPrelu : SimdConvolutionActivationElu;
        run_case(j, CHECK_RANDOM);
    }
    run_case((struct job){.p = shape(format, 512, 2, 3, 140, 1, 1, 0, 1), .batch = 1}, CHECK_RANDOM);
}

/* 3x3 of stride 1 with channels enough for Winograd: all channel counts, all small images, pads, activations, fills. */
static void tiles(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(250); n < count; ++n) {
        struct job j = {.p = shape(format, 16 + n % 52, 1 + n % 11, 1 + n % 9, 1 + n % 67, 3, 1, 1, 1),
                        .batch = 1 + n % 7 / 6, .own_buffer = n % 2 == 1, .no_bias = n % 5 == 0};
        j.p.padY = check_random(j.p.srcH < 3 ? 1 : 0, 3), j.p.padX = check_random(j.p.srcW < 3 ? 1 : 0, 3);
        j.p.padH = check_random(j.p.srcH < 3 ? 1 : 0, 3), j.p.padW = check_random(j.p.srcW < 3 ? 1 : 0, 3);
        j.p.activation = (SimdConvolutionActivationType)(n % 3 ? n / 3 % 7 : 0);
        check_convolution_output(&j.p);
        run_case(j, n % 4 ? CHECK_RANDOM : (enum check_fill)(n / 4 % CHECK_FILLS));
    }
}

static void fills(SimdTensorFormatType format)
{
    for (int fill = 0; fill < CHECK_FILLS; ++fill)
        for (int act = 0; act <= SimdConvolutionActivationHswish; ++act) {
            struct job j = {.p = shape(format, 6, 6, 7, 19, 3, 1, 1, 1), .batch = 1};
            j.p.activation = (SimdConvolutionActivationType)act;
            run_case(j, (enum check_fill)fill);
            j.p.group = j.p.srcC = j.p.dstC = 19;
            run_case(j, (enum check_fill)fill);
        }
}

static void batches(SimdTensorFormatType format)
{
    struct job large = {.p = shape(format, 20, 9, 10, 33, 3, 1, 1, 1), .batch = 3};
    declare(&large, CHECK_EQUAL);
    check_run(forward_batch, &large);
    const size_t groups[] = {1, 2, 6};
    for (size_t i = 0; i < 3; ++i) {
        struct job j = {.p = shape(format, 6, 7, 9, 6, 3, 1 + i % 2, 1, groups[i]), .batch = 5};
        declare(&j, CHECK_EQUAL);
        check_run(forward_batch, &j);
    }
}

/* ---- bad arguments */

static void set_null(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    SimdSynetConvolution32fSetParams(j->wrong_context ? NULL : context, j->no_bias ? a[WEIGHT] : NULL, NULL, NULL, NULL);
}

static void forward_null(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    SimdSynetConvolution32fForward(j->wrong_context ? NULL : context, a[SRC], NULL, a[DST]);
}

static void refuse_init(struct job j, const char * argument)
{
    const struct job good = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 1), .batch = 1};
    declare(&good, CHECK_RANDOM);
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
    REFUSE("dstT", j.p.dstT = SimdTensorData16b);
    REFUSE("srcF", j.p.srcF = j.p.dstF = SimdTensorFormatNchw8c);
    REFUSE("dstF", j.p.dstF = SimdTensorFormatNchw);
    REFUSE("kernelY", j.p.kernelY = 0);
    REFUSE("kernelX", j.p.kernelX = 0);
    REFUSE("kernelX", j.p.kernelX = 9);
    REFUSE("kernelY", j.p.dilationY = 4);
    REFUSE("kernelY", j.p.dilationY = huge);
    REFUSE("dilationY", j.p.dilationY = 0);
    REFUSE("dilationX", j.p.dilationX = 0);
    REFUSE("strideY", j.p.strideY = 0);
    REFUSE("strideX", j.p.strideX = 0);
    REFUSE("dstH", j.p.dstH = 5);
    REFUSE("dstW", j.p.dstW = 7);
    REFUSE("dstW", j.p.dstW = 0);
    REFUSE("padY", j.p.padY = SIZE_MAX);
    REFUSE("padW", j.p.padW = SIZE_MAX - 7);
    REFUSE("srcH", j.p.srcH = huge);
    REFUSE("group", j.p.group = 0);
    REFUSE("srcC", j.p.group = 3);
    REFUSE("dstC", j.p.group = 4);
    REFUSE("activation", j.p.activation = (SimdConvolutionActivationType)7);
    REFUSE("activation", j.p.activation = (SimdConvolutionActivationType)-1);
    REFUSE("conv", j.batch = SIZE_MAX / 16);
    REFUSE("conv", j.p.srcC = j.p.dstC = SIZE_MAX / 64 * 2);
}

static void refusals_of_calls(void)
{
    struct job j = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 1), .batch = 1};
    j.p.activation = SimdConvolutionActivationPrelu;
    declare(&j, CHECK_RANDOM);
    j.wrong_context = true;
    check_refused(CHECK_VALUE, "context", forward_null, &j);
    j.wrong_context = false;
    j.no_set = true;
    check_refused(CHECK_STATE, "SetParams", forward_null, &j);
    check_case(SET_PARAMS, "bad arguments");
    check_in("src", CHECK_32F, src_size(&j), CHECK_RANDOM);
    check_in("weight", CHECK_32F, check_convolution_weights(&j.p), CHECK_RANDOM);
    check_open(init);
    check_refused(CHECK_VALUE, "weight", set_null, &j);
    j.no_bias = true;
    check_refused(CHECK_VALUE, "params", set_null, &j);
    j.wrong_context = true;
    check_refused(CHECK_VALUE, "context", set_null, &j);
}

/* ---- benchmarks: layers of known networks */

static void bench_case(SimdTensorFormatType format, size_t c, size_t size, size_t o, size_t kernel, size_t stride, size_t group)
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
        bench_case(formats[i], 64, 56, 64, 3, 1, 1);
        bench_case(formats[i], 256, 14, 256, 3, 1, 1);
        bench_case(formats[i], 512, 7, 512, 3, 1, 1);
        bench_case(formats[i], 256, 56, 512, 1, 2, 1);
        bench_case(formats[i], 3, 224, 64, 7, 2, 1);
        bench_case(formats[i], 3, 224, 32, 3, 2, 1);
        bench_case(formats[i], 32, 112, 32, 3, 1, 32);
        bench_case(formats[i], 96, 112, 96, 3, 2, 96);
        bench_case(formats[i], 120, 28, 120, 5, 1, 120);
        bench_case(formats[i], 16, 112, 96, 1, 1, 1);
        bench_case(formats[i], 32, 208, 64, 3, 2, 1);
    }
}

void check_convolution_32f(void)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNchw, SimdTensorFormatNhwc};
    for (size_t i = 0; i < 2; ++i) {
        tails(formats[i]);
        tiles(formats[i]);
        blocks(formats[i]);
        channels(formats[i]);
        fills(formats[i]);
        batches(formats[i]);
        if (!check_quick())
            cuts(formats[i]);
        for (size_t n = 0; n < check_count(1500); ++n)
            random_case(formats[i]);
    }
    struct job empty = {.p = shape(SimdTensorFormatNhwc, 4, 6, 6, 0, 3, 1, 1, 1), .batch = 1};
    check_case(FORWARD, "no output channels");
    check_open(open);
    check_empty(forward_null, &empty);
    refusals();
    refusals_of_calls();
    bench();
}
