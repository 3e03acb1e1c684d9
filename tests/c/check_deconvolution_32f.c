/*
 * Deconvolution32f and Deconvolution16b. Bound: the rounding of a chain of K multiply-adds, where K is the number of products that
 * reach an output, and of the activation after it, as in check_convolution_bounds.c. Where an instruction set computes it as a
 * convolution by Winograd's algorithm, the bound of that convolution. Of bfloat16 numbers: that of the rounded source and
 * weights, and what flushed subnormal numbers add, as in check_convolution_16b.c.
 */
#include <stdlib.h>

#include "check_layer.h"
#include "runtime/common.h"
#include "runtime/numeric.h"

typedef SimdConvolutionParameters parameters;

static void * make(const struct check_layer * l)
{
    return SimdSynetDeconvolution32fInit(l->batch, l->null_conv ? NULL : l->p, NULL);
}

static bool call_set_params(const struct check_layer * l, void * context, const float * const * a)
{
    SimdBool internal = SimdFalse;
    (void)l;
    SimdSynetDeconvolution32fSetParams(context, a[CHECK_WEIGHT], &internal, a[CHECK_BIAS], a[CHECK_PARAMS]);
    return internal == SimdTrue;
}

static void run(void * context, const void * src, void * buf, void * dst)
{
    SimdSynetDeconvolution32fForward(context, src, buf, dst);
}

/* Weights that reach no output are not stored, so there is no lower bound for the size of stored weights. */
static const struct check_layer_family floats = {
    CHECK_LAYER_FUNCTIONS(SimdSynetDeconvolution32f), .unit = sizeof(float), .make = make,
    .call_set_params = call_set_params, .run = run};

static void * make_small(const struct check_layer * l)
{
    return SimdSynetDeconvolution16bInit(l->batch, l->null_conv ? NULL : l->p, SimdSynetCompatibilityDefault);
}

static bool call_set_params_small(const struct check_layer * l, void * context, const float * const * a)
{
    (void)l;
    SimdSynetDeconvolution16bSetParams(context, a[CHECK_WEIGHT], a[CHECK_BIAS], a[CHECK_PARAMS]);
    return true;
}

static void run_small(void * context, const void * src, void * buf, void * dst)
{
    SimdSynetDeconvolution16bForward(context, src, buf, dst);
}

static const struct check_layer_family small = {CHECK_LAYER_FUNCTIONS(SimdSynetDeconvolution16b), .unit = 1, .narrow = true,
    .make = make_small, .call_set_params = call_set_params_small, .run = run_small};

/* The one whose cases are declared now. */
static const struct check_layer_family * family = &floats;

static bool is_small(void) { return family == &small; }

/* ---- bounds */

static size_t image_at(SimdTensorFormatType f, size_t C, size_t H, size_t W, size_t c, size_t y, size_t x)
{
    return f == SimdTensorFormatNhwc ? (y * W + x) * C + c : (c * H + y) * W + x;
}

/* Adds |src * weight| and 1 for each product that reaches an output. */
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

static void direct_bounds(const struct check_layer * j, const float * src, const float * weight, const float * bias,
                          const float * params, double * bound)
{
    const parameters * p = j->p;
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
            const double lost = is_small() ? 4 * 0x1p-126 * (2 * number[n] + 3) : 0; /* activations have slopes below 4 */
            bound[n] = check_activated(p, params, o, size, (number[n] + 3 * is_small()) * size * FLT_EPSILON) + lost;
        }
    }
    free(number);
}

/* The convolution equal to a deconvolution of stride 1, and its weights. */
static parameters convolution_of(parameters p)
{
    const size_t y = (p.kernelY - 1) * p.dilationY, x = (p.kernelX - 1) * p.dilationX;
    p.padY = y - p.padY, p.padH = y - p.padH, p.padX = x - p.padX, p.padW = x - p.padW;
    return p;
}

static float * turned(const parameters * p, const float * weight)
{
    const bool nhwc = p->srcF == SimdTensorFormatNhwc;
    const size_t I = p->srcC / p->group, O = p->dstC / p->group, taps = p->kernelY * p->kernelX; /* per group */
    float * to = malloc(p->srcC * O * taps * sizeof(float));
    for (size_t i = 0; i < p->srcC; ++i)
        for (size_t o = 0; o < O; ++o)
            for (size_t k = 0; k < taps; ++k) {
                const size_t g = i / I, all = g * O + o;
                to[nhwc ? ((taps - 1 - k) * I + i % I) * p->dstC + all : (all * I + i % I) * taps + taps - 1 - k] =
                    weight[nhwc ? (i * taps + k) * O + o : (i * O + o) * taps + k];
            }
    return to;
}

static float * rounded(const void * data, SimdTensorDataType type, size_t count)
{
    float * x = malloc(count * sizeof(float) + 1);
    for (size_t i = 0; i < count; ++i) {
        uint16_t number;
        float v;
        memcpy(&number, (const char *)data + 2 * i, type == SimdTensorData16b ? sizeof(number) : 0);
        memcpy(&v, (const char *)data + 4 * i, type == SimdTensorData16b ? 0 : sizeof(v));
        x[i] = sn_16b_to_32f(type == SimdTensorData16b ? number : sn_32f_to_16b(v));
    }
    return x;
}

static void fill_bounds(const struct check_layer * j, enum check_fill fill, void * const * a)
{
    if (is_small()) {
        float * src_16b = rounded(a[CHECK_SRC], j->p->srcT, check_layer_count(j, CHECK_SRC));
        float * weight_16b = rounded(a[CHECK_WEIGHT], SimdTensorData32f, check_layer_count(j, CHECK_WEIGHT));
        direct_bounds(j, src_16b, weight_16b, a[CHECK_BIAS], a[CHECK_PARAMS], check_bound());
        free(src_16b);
        free(weight_16b);
        return;
    }
    const float * src = a[CHECK_SRC], * weight = a[CHECK_WEIGHT], * bias = a[CHECK_BIAS], * params = a[CHECK_PARAMS];
    const unsigned used = check_convolution_algorithms(check_layer_init, j);
    if (used == 1) {
        direct_bounds(j, src, weight, bias, params, check_bound());
        return;
    }
    const parameters p = convolution_of(*j->p);
    float * other = turned(j->p, weight);
    check_convolution_bounds(&p, j->batch, src, other, bias, NULL, params,
                             used | (fill == CHECK_EQUAL ? CHECK_EQUAL_VALUES : 0), check_bound());
    free(other);
}

/* ---- cases */

static bool declare(const struct check_layer * j, enum check_fill fill, void ** a)
{
    const parameters * p = j->p;
    char text[200];
    snprintf(text, sizeof(text),
             "types=%d,%d %zux%zux%zux%zu->%zux%zux%zu k%zux%zu d%zux%zu s%zux%zu p%zu,%zu,%zu,%zu g%zu act%d %s", (int)p->srcT,
             (int)p->dstT, j->batch, p->srcC, p->srcH, p->srcW, p->dstC, p->dstH, p->dstW, p->kernelY, p->kernelX, p->dilationY,
             p->dilationX, p->strideY, p->strideX, p->padY, p->padX, p->padH, p->padW, p->group, (int)p->activation,
             check_format_name(p->srcF));
    return check_layer_case(j, text, fill, a);
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

/* One of the four combinations of types. */
static void set_types(parameters * p, size_t number)
{
    p->srcT = is_small() && number & 1 ? SimdTensorData16b : SimdTensorData32f;
    p->dstT = is_small() && number & 2 ? SimdTensorData16b : SimdTensorData32f;
}

static struct check_layer layer(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC, size_t kernel,
                                size_t stride, size_t pad, size_t group)
{
    struct check_layer l = check_layer_of(family, shape(format, srcC, h, w, dstC, kernel, stride, pad, group));
    set_types(l.p, srcC + w);
    return l;
}

/* 1 .. limit, small ones more often. */
static size_t few(size_t limit) { return check_random(1, check_random(1, limit)); }

/* Padding of an axis: usually less than the kernel, sometimes as much as leaves a single output. */
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
    const size_t kind = check_random(0, 4);
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
    p.activation = check_any_activation();
    set_output(&p);
    return p;
}

static void run_case(struct check_layer j, enum check_fill fill)
{
    void * a[CHECK_NO_ARRAY];
    if (!declare(&j, fill, a))
        return;
    fill_bounds(&j, fill, a);
    check_layer_run(&j);
}

static void random_case(SimdTensorFormatType format)
{
    struct check_layer j = check_layer_with(check_layer_of(family, random_shape(format)), few(2), check_random(0, 1));
    parameters * p = j.p;
    set_types(p, is_small() ? check_random(0, 3) : 0);
    j.no_bias = check_random(0, 3) == 0;
    const size_t products = check_layer_count(&j, CHECK_WEIGHT) * p->dstH * p->dstW;
    if (products > 300000 && p->group != p->srcC) { /* limits base's time */
        p->srcC = p->group * few(3);
        p->dstC = p->group * few(6);
    }
    run_case(j, check_random(0, 15) ? CHECK_RANDOM : (enum check_fill)check_random(0, CHECK_FILLS - 1));
}

/* Every width of a tile and every tail of channels; NCHW depthwise too. */
static void tails(SimdTensorFormatType format)
{
    for (size_t n = 1; n <= 34; ++n) {
        run_case(layer(format, 5, 1, n, 3, 1, 1, 0, 1), CHECK_RANDOM);
        run_case(layer(format, 3, 2, n, n, 2, 2, 0, 1), CHECK_RANDOM);
        run_case(layer(format, n, 3, 4, 35 - n, 4, 2, 1, 1), CHECK_RANDOM);
        run_case(layer(format, 2, 3, n, n, 3, 2, 1, 1), CHECK_RANDOM);
        run_case(layer(format, 2, n, 2, 3, 3, 3, 0, 1), CHECK_RANDOM);
        run_case(layer(format, n, 4, 5, n, 3, 1, 1, 1), CHECK_RANDOM);
        run_case(layer(format, 3, 5, n, 3, 4, 2, 1, 3), CHECK_RANDOM);
        run_case(layer(format, 2, n, 3, 4, 3, 2, 0, 2), CHECK_RANDOM);
        run_case(layer(format, 3 * n, 3, 4, 3 * (35 - n), 2, 2, 0, 3), CHECK_RANDOM);
        run_case(layer(format, 2 * n, 3, 4, 2 * (35 - n), 3, 1, 1, 2), CHECK_RANDOM);
    }
}

/* With a stride and a dilation of 2, every second phase has no taps, in rows where the columns have all those of the kernel. */
static void phases_without_taps(SimdTensorFormatType format)
{
    for (size_t kernel = 1; kernel <= 9; ++kernel) {
        struct check_layer j = layer(format, 11, 6, 8, 11, kernel, 2, 0, 11);
        j.p->dilationY = j.p->dilationX = 2;
        set_output(j.p);
        run_case(j, CHECK_RANDOM);
        j = layer(format, 20, 6, 24, 2, kernel, 2, 0, 2); /* products of all taps */
        j.p->dilationY = j.p->dilationX = 2;
        j.p->padY = j.p->padX = kernel / 4;
        set_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* Channels, height, width, outputs, kernel, stride, padding, groups. Calls, one for each, are 7 KB of stack with clang. */
static const size_t shapes_of_cuts[][8] = {
    {10, 9, 20, 128, 2, 2, 0, 2}, /* some outputs after the others, in NCHW */
    {6, 9, 13, 118, 4, 2, 1, 2},
    {4, 13, 14, 82, 3, 4, 0, 2},
    {8, 7, 12, 114, 5, 2, 2, 2},
    {20, 11, 9, 6, 1, 4, 0, 2}, /* rows and columns without taps */
    {90, 4, 5, 3, 2, 4, 0, 1},
    {3, 10, 10, 111, 1, 4, 0, 1},
    {4, 60, 50, 50, 2, 5, 0, 2},
    {2, 3, 4, 5, 24, 24, 0, 1}, /* many phases */
    {2, 3, 3, 3, 2, 40, 0, 1}, /* most of them without taps */
    {2, 9, 9, 3, 3, 1, 5, 1}, /* one output is left */
    {0, 3, 3, 5, 3, 2, 1, 1}, /* the bias alone */
    {0, 3, 3, 4, 1, 1, 0, 2},
    {0, 3, 3, 4, 3, 2, 1, 2},
};

/* Shapes that drivers divide: bands of rows, blocks of a long sum, pixels a multiple of 2 KB apart, single pixels. */
static void cuts(SimdTensorFormatType format)
{
    run_case(check_layer_with(layer(format, 2, 60, 80, 2, 4, 2, 1, 1), 1, true), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 4, 50, 70, 3, 2, 2, 0, 1), 1, true), CHECK_RANDOM);
    run_case(layer(format, 1, 80, 100, 1, 3, 2, 1, 1), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 1010, 3, 3, 2, 3, 2, 1, 1), 1, true), CHECK_RANDOM);
    run_case(layer(format, 9000, 2, 3, 2, 2, 2, 0, 1), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 512, 4, 5, 17, 2, 2, 0, 1), 2, true), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 512, 4, 5, 3, 4, 2, 1, 1), 1, true), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 300, 8, 9, 4, 3, 1, 1, 1), 1, true), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 40, 1, 1, 70, 4, 1, 0, 1), 2, false), CHECK_RANDOM);
    run_case(layer(format, 7, 30, 1, 20, 3, 2, 1, 1), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 3, 2, 2, 3000, 3, 3, 0, 1), 1, true), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 9, 120, 130, 35, 3, 3, 0, 1), 1, true), CHECK_RANDOM);
    for (size_t i = 0; i < sizeof(shapes_of_cuts) / sizeof(shapes_of_cuts[0]); ++i) {
        const size_t * n = shapes_of_cuts[i];
        run_case(layer(format, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]), CHECK_RANDOM);
    }
    struct check_layer none = layer(format, 2, 1, 1, 5, 5, 2, 0, 1); /* an image without rows */
    none.p->srcH = 0, none.p->dstH = 3;
    run_case(none, CHECK_RANDOM);
    for (size_t stride = 8191; stride <= 8193; ++stride) { /* around the largest number of phases */
        struct check_layer far = layer(format, 2, 2, 3, 3, 2, 1, 0, 1);
        far.p->strideX = stride;
        set_output(far.p);
        run_case(far, CHECK_RANDOM);
    }
    for (size_t group = 1; group <= 4; group *= 2) { /* a huge stride: its product with 4 channels wraps to 0 */
        run_case(layer(format, 4, 1, 1, 4, 1, (size_t)1 << 62, 0, group), CHECK_RANDOM);
        run_case(layer(format, 4, 1, 1, 4, 3, (size_t)1 << 62, 1, group), CHECK_RANDOM);
    }
    run_case(check_layer_with(layer(format, 18000, 2, 3, 4, 2, 2, 0, 2), 1, true), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 4, 2, 3, 1500, 3, 3, 0, 2), 1, true), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 4, 50, 60, 4, 4, 2, 1, 2), 1, true), CHECK_RANDOM);
    run_case(layer(format, 4, 3, 4, 6, 24, 24, 0, 2), CHECK_RANDOM);
    run_case(layer(format, 4, 3, 3, 6, 2, 40, 0, 2), CHECK_RANDOM);
    run_case(check_layer_with(layer(format, 3, 100, 110, 6, 4, 2, 1, 3), 1, true), CHECK_RANDOM);
}

/* Narrow images, whose products underflow to zeros of either sign: threads get fewer rows than the image has. */
static void narrow(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 24; ++n) {
        struct check_layer j = layer(format, 8 + n % 2, 5 + n / 2, 2 + n % 5, 18, 3 + n % 3, 1 + n % 2, n % 3, 1);
        j.no_bias = true;
        j.batch = 1 + n % 3;
        run_case(j, CHECK_DENORMAL);
    }
}

/* Results of one line, or of one column, whose pixels are divided among threads: phases with unequal numbers of them, products of several phases. */
static void signals(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(90); n < count; ++n) {
        const size_t group = n % 4 ? 1 : 3, kernel = check_random(1, 9), stride = n % 5 ? check_random(1, 4) : kernel;
        struct check_layer j = layer(format, check_few(40) * group, 1, check_random(30, 200), check_few(70) * group, 1, 1, 0,
                                     group);
        if (n % 6 == 5)
            j.p->srcC = j.p->dstC = j.p->group = check_few(70);
        j.p->kernelX = kernel, j.p->strideX = stride, j.p->dilationX = n % 3 ? 1 : check_random(1, 3);
        j.p->padX = check_random(0, (kernel - 1) * j.p->dilationX), j.p->padW = check_random(0, (kernel - 1) * j.p->dilationX);
        j.batch = 1 + n % 5 / 4, j.own_buffer = n % 2 == 0;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        if (n / 6 % 3 == 2)
            check_convolution_column(j.p, n % 2);
        set_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

static void one_channel(SimdTensorFormatType format)
{
    parameters p;
    for (size_t n = 0; check_convolution_one_channel(format, n, &p); ++n) {
        set_output(&p);
        struct check_layer j = check_layer_with(check_layer_of(family, p), 1 + n % 3, n % 2);
        set_types(j.p, n), j.no_bias = n % 7 == 0;
        run_case(j, CHECK_RANDOM);
    }
}

/* Groups without overlap, whose results are products, and others; images of few pixels, and of many lines and long sums. */
static void products(SimdTensorFormatType format)
{
    static const size_t images[][2] = {{1, 1}, {1, 2}, {3, 1}, {2, 2}, {1, 4}, {3, 5}, {7, 40}, {30, 33}};
    for (size_t n = 0; n < 120; ++n) {
        const size_t i = n % 8, groups = 1 + n % 5, kernel = 2 + n / 8 % 4;
        const size_t inputs = (1 + n * 7 % 90) * groups, outputs = (1 + n / 2 % 4) * groups;
        struct check_layer j = layer(format, inputs, images[i][0], images[i][1], outputs, kernel, kernel, 0, groups);
        if (n % 3 == 1)
            j.p->kernelX = j.p->strideX = 1 + n / 3 % 6;
        else if (n % 6 == 5)
            j.p->kernelY = j.p->kernelX = 2 + kernel, j.p->padY = j.p->padX = j.p->padH = j.p->padW = 1;
        set_output(j.p);
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        j.batch = 1 + n / 7 % 2, j.no_bias = n % 11 == 0;
        run_case(j, CHECK_RANDOM);
    }
}

/* Kernels larger than the stride on small images with many inputs: products of pixels with panels of weights, in several parts. */
static void panels(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(24); n < count; ++n) {
        const size_t outputs = n % 2 ? check_random(17, 50) : check_random(80, 120);
        struct check_layer j = layer(format, check_random(40, 90), check_random(n % 2 ? 2 : 5, 6), 6, outputs, 1, 1, 0, 1);
        parameters * p = j.p;
        p->kernelY = check_random(n % 2 ? 3 : 5, 6), p->kernelX = 5 + n % 3 % 2;
        p->strideY = 2, p->strideX = 2 + n % 4 / 3;
        p->dilationY = n % 7 == 6 ? 2 : 1;
        p->padY = n % 3 / 2, p->padW = n % 5 / 4;
        p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        set_output(p);
        j.no_bias = n % 5 == 0;
        run_case(check_layer_with(j, 1 + n % 3 / 2, n % 2 == 1), n % 8 ? CHECK_RANDOM : (enum check_fill)(n / 8 % CHECK_FILLS));
    }
}

/* Stride 1 with enough channels for Winograd. */
static void tiles(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(60); n < count; ++n) {
        struct check_layer j = layer(format, 16 + n % 52, 1 + n % 11, 1 + n % 9, 1 + n % 67, 3, 1, 0, 1);
        parameters * p = j.p;
        p->padY = check_random(0, sn_min(p->dstH - 1, 2)), p->padX = check_random(0, sn_min(p->dstW - 1, 2));
        p->padH = check_random(0, sn_min(p->dstH - 1 - p->padY, 2));
        p->padW = check_random(0, sn_min(p->dstW - 1 - p->padX, 2));
        p->activation = check_activation_at(n % 3 ? n / 3 % CHECK_ACTIVATIONS : 0);
        set_output(p);
        j.no_bias = n % 5 == 0;
        run_case(check_layer_with(j, 1 + n % 7 / 6, n % 2 == 1),
                 n % 4 ? CHECK_RANDOM : (enum check_fill)(n / 4 % CHECK_FILLS));
    }
}

static void fills(SimdTensorFormatType format)
{
    for (int fill = 0; fill < CHECK_FILLS; ++fill)
        for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act) {
            struct check_layer j = layer(format, 6, 4, 5, 19, 4, 2, 1, 1);
            j.p->activation = check_activation_at(act);
            run_case(j, (enum check_fill)fill);
            j = layer(format, 6, 4, 5, 19, 2, 2, 0, 1);
            j.p->activation = check_activation_at(act);
            run_case(j, (enum check_fill)fill);
            j.p->group = j.p->srcC = j.p->dstC = 19;
            run_case(j, (enum check_fill)fill);
            j.p->group = 2, j.p->srcC = 6, j.p->dstC = 10;
            run_case(j, (enum check_fill)fill);
        }
}

static void batches(SimdTensorFormatType format)
{
    static const struct {
        size_t kernel, stride, pad, group;
    } list[] = {{2, 2, 0, 1}, {3, 2, 1, 1}, {4, 2, 0, 3}, {5, 2, 1, 6}, {4, 2, 1, 1}, {3, 3, 0, 1}, {2, 3, 0, 1},
                {1, 1, 0, 1}, {3, 1, 1, 1}};
    for (size_t i = 0; i < 18; ++i) {
        const size_t n = i % 9, group = list[n].group, height = i < 9 ? 7 : 1;
        const struct check_layer j = check_layer_with(
            layer(format, 6, height, 9, 6, list[n].kernel, list[n].stride, height > 1 ? list[n].pad : 0, group), 5, false);
        run_case(j, CHECK_RANDOM);
        void * a[CHECK_NO_ARRAY];
        if (!declare(&j, CHECK_EQUAL, a))
            continue;
        fill_bounds(&j, CHECK_EQUAL, a);
        check_layer_run_equal(&j);
    }
}

/* ---- bad arguments */

static void refusals(void)
{
    const struct check_layer good = layer(SimdTensorFormatNchw, 4, 6, 6, 6, 4, 2, 1, 2);
    check_layer_refuse_parameters(&good);
    const size_t huge = SIZE_MAX / 2;
    CHECK_REFUSED_INIT(good, "srcT", j.p->srcT = SimdTensorData8u);
    CHECK_REFUSED_INIT(good, "dstT", j.p->dstT = is_small() ? SimdTensorData32i : SimdTensorData16b);
    CHECK_REFUSED_INIT(good, "kernelX", j.p->kernelX = huge);
    CHECK_REFUSED_INIT(good, "strideX", j.p->strideX = huge);
    CHECK_REFUSED_INIT(good, "dstH", j.p->srcH = 5);
    CHECK_REFUSED_INIT(good, "padY", j.p->padY = 13);
    CHECK_REFUSED_INIT(good, "padY", (j.p->padY = 13, j.p->dstH = 0));
    CHECK_REFUSED_INIT(good, "padW", (j.p->padX = 10, j.p->padW = 4, j.p->dstW = 0));
    CHECK_REFUSED_INIT(good, "padY", (j.p->srcH = 0, j.p->kernelY = 1, j.p->dstH = 0));
}

static void refusals_of_calls(void)
{
    struct check_layer j = layer(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 2, 1, 1);
    j.p->activation = SimdConvolutionActivationPrelu;
    check_layer_refuse_calls(&j);
}

/* ---- benchmarks: layers of known networks */

static void bench_case(SimdTensorFormatType format, size_t c, size_t size, size_t o, size_t kernel, size_t stride,
                       size_t pad, size_t group)
{
    struct check_layer j = layer(format, c, size, size, o, kernel, stride, pad, group);
    void * a[CHECK_NO_ARRAY];
    j.p->activation = SimdConvolutionActivationRelu;
    declare(&j, CHECK_RANDOM, a);
    check_layer_bench(&j, 2.0 * (double)(check_layer_count(&j, CHECK_WEIGHT) * j.p->srcH * j.p->srcW));
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

static void all_cases(size_t random)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNchw, SimdTensorFormatNhwc};
    for (size_t i = 0; i < 2; ++i) {
        tails(formats[i]);
        tiles(formats[i]);
        fills(formats[i]);
        batches(formats[i]);
        phases_without_taps(formats[i]);
        one_channel(formats[i]);
        signals(formats[i]);
        narrow(formats[i]);
        products(formats[i]);
        panels(formats[i]);
        if (!check_quick())
            cuts(formats[i]);
        for (size_t n = 0; n < check_count(random); ++n)
            random_case(formats[i]);
    }
    const struct check_layer empty = layer(SimdTensorFormatNhwc, 4, 6, 6, 0, 3, 2, 1, 1);
    check_layer_empty(&empty);
    refusals();
    refusals_of_calls();
    if (check_timed())
        bench();
}

CHECK_FAMILY(deconvolution_32f)
{
    family = &floats;
    all_cases(1500);
}

CHECK_FAMILY(deconvolution_16b)
{
    family = &small;
    all_cases(800);
}
