/* Convolution32f, with and without an addition. Bounds: check_convolution_bounds.c. */
#include <stdlib.h>

#include "check_layer.h"

typedef SimdConvolutionParameters parameters;

/* One layer of four is computed as those get it who prefer exact sums: with the direct algorithms where Winograd's is faster. */
static void * make(const struct check_layer * l)
{
    const size_t sizes = l->null_conv ? 0 : l->p->srcC + l->p->dstC + l->p->srcH + l->p->kernelY;
    SimdnetSetPreference(sizes % 4 == 3 ? SimdnetPreferExact : SimdnetPreferSpeed); /* not after Init, whose error is read */
    return SimdSynetConvolution32fInit(l->batch, l->null_conv ? NULL : l->p, NULL);
}

static bool call_set_params(const struct check_layer * l, void * context, const float * const * a)
{
    SimdBool internal = SimdFalse;
    (void)l;
    SimdSynetConvolution32fSetParams(context, a[CHECK_WEIGHT], &internal, a[CHECK_BIAS], a[CHECK_PARAMS]);
    return internal == SimdTrue;
}

static void run(void * context, const void * src, void * buf, void * dst)
{
    SimdSynetConvolution32fForward(context, src, buf, dst);
}

static const struct check_layer_family family = {
    CHECK_LAYER_FUNCTIONS(SimdSynetConvolution32f), .unit = sizeof(float), .weight_unit = sizeof(float), .make = make,
    .call_set_params = call_set_params, .run = run};

/* ForwardAdd: the source itself is added, which then has the shape of the result. */
static void run_add(void * context, const void * src, void * buf, void * dst)
{
    SimdnetConvolution32fForwardAdd(context, src, buf, src, dst);
}

static const struct check_layer_family adding = {
    .init = "SimdSynetConvolution32fInit", .set_params = "SimdSynetConvolution32fSetParams",
    .forward = "SimdnetConvolution32fForwardAdd", .external = "SimdSynetConvolution32fExternalBufferSize",
    .internal = "SimdSynetConvolution32fInternalBufferSize", .external_size = SimdSynetConvolution32fExternalBufferSize,
    .internal_size = SimdSynetConvolution32fInternalBufferSize, .unit = sizeof(float), .weight_unit = sizeof(float),
    .make = make, .call_set_params = call_set_params, .run = run_add};

/* ---- cases */

static struct check_layer layer(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC, size_t kernel,
                                size_t stride, size_t pad, size_t group)
{
    return check_layer_of(&family, check_convolution_shape(format, srcC, h, w, dstC, kernel, stride, pad, group));
}

static void declare(const struct check_layer * j, enum check_fill fill)
{
    void * a[CHECK_NO_ARRAY];
    if (!check_layer_case(j, check_convolution_text(j->p, j->batch), fill, a))
        return;
    check_convolution_bounds(j->p, j->batch, a[CHECK_SRC], a[CHECK_WEIGHT], a[CHECK_BIAS],
                             j->family == &adding ? a[CHECK_SRC] : NULL, a[CHECK_PARAMS],
                             check_convolution_algorithms(check_layer_init, j) |
                                 (fill == CHECK_EQUAL ? CHECK_EQUAL_VALUES : 0),
                             check_bound());
}

static void run_case(struct check_layer j, enum check_fill fill)
{
    declare(&j, fill);
    check_layer_run(&j);
}

static void random_case(SimdTensorFormatType format)
{
    struct check_layer j = check_layer_of(&family, check_convolution_random(format, 20, 40));
    j.batch = check_few(2), j.own_buffer = check_random(0, 1), j.no_bias = check_random(0, 3) == 0;
    run_case(j, check_random(0, 15) ? CHECK_RANDOM : (enum check_fill)check_random(0, CHECK_FILLS - 1));
}

static void tails(SimdTensorFormatType format)
{
    enum { MOST = 34 };
    parameters p;
    for (size_t n = 1; n <= MOST; ++n)
        for (size_t i = 0; check_convolution_tail(format, n, MOST, i, &p); ++i)
            run_case(check_layer_of(&family, p), CHECK_RANDOM);
}

/* Depthwise: images of every size on which its division into blocks depends, with channels that fill vectors or not. */
static void blocks(SimdTensorFormatType format)
{
    const size_t channels[] = {1, 7, 16, 24, 35};
    for (size_t n = 0, count = check_count(600); n < count; ++n) {
        const size_t kernel = n % 2 ? 3 : 5, stride = 1 + n / 2 % 2, group = channels[n / 4 % 5];
        struct check_layer j =
            layer(format, group, 3 + n / 20 % 16, 3 + n / 7 % 18, group, kernel, stride, kernel / 2, group);
        j.own_buffer = n % 3 == 0;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        if (n % 5 == 0)
            j.p->padX = j.p->padW = check_random(kernel > j.p->srcW ? kernel / 2 : 0, kernel);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* Depthwise by 3x3 without stride: planes of every width up to two vectors and more, with padding of 0 to 2 on each side. */
static void planes(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(800); n < count; ++n) {
        struct check_layer j = layer(format, 2, 1 + n / 3 % 11, 1 + n % 37, 2, 3, 1, 1, 2);
        j.p->activation = check_activation_at(n / 2 % CHECK_ACTIVATIONS);
        if (n % 2) {
            size_t * const pads[] = {&j.p->padY, &j.p->padH, &j.p->padX, &j.p->padW};
            for (size_t side = 0; side < 4; ++side)
                *pads[side] = check_random(0, 2);
            j.p->padY += j.p->srcH + j.p->padY + j.p->padH < 3 ? 2 : 0;
            j.p->padX += j.p->srcW + j.p->padX + j.p->padW < 3 ? 2 : 0;
        }
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* Depthwise: kernels with 7 and 9 columns and any number of rows, and dilations, with images of every size of blocks. */
static void large_blocks(SimdTensorFormatType format)
{
    const size_t channels[] = {1, 7, 16, 24, 35};
    for (size_t n = 0, count = check_count(600); n < count; ++n) {
        const size_t group = channels[n / 4 % 5];
        struct check_layer j = layer(format, group, 1 + n % 19, 1 + n / 3 % 29, group, 1, 1, 0, group);
        j.own_buffer = n % 3 == 0;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        j.p->kernelX = n % 2 ? 7 + n / 2 % 2 * 2 : check_random(1, 6);
        j.p->kernelY = n % 8 < 5 ? j.p->kernelX : check_random(1, 9);
        j.p->dilationX = n % 2 ? check_random(1, 2) : check_random(2, 6);
        j.p->dilationY = n % 5 ? j.p->dilationX : check_random(1, 6);
        j.p->strideX = n % 11 ? 1 : 2, j.p->strideY = n % 13 ? 1 : 2;
        const size_t reachY = (j.p->kernelY - 1) * j.p->dilationY, reachX = (j.p->kernelX - 1) * j.p->dilationX;
        j.p->padY = check_random((reachY + 1) / 2, reachY), j.p->padX = check_random((reachX + 1) / 2, reachX);
        j.p->padH = check_random((reachY + 1) / 2, reachY), j.p->padW = check_random((reachX + 1) / 2, reachX);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* Depthwise: kernels of up to 11 rows and columns with strides of 2 and 3, with images of every size of blocks, and dilations. */
static void strided_blocks(SimdTensorFormatType format)
{
    const size_t channels[] = {1, 7, 16, 24, 35};
    for (size_t n = 0, count = check_count(450); n < count; ++n) {
        const size_t group = channels[n / 2 % 5], kernelY = n % 7 ? check_random(2, 11) : 3;
        const size_t kernelX = n % 7 ? check_random(1, 11) : 3, dilation = n % 3 ? 1 : check_random(2, 6);
        struct check_layer j = layer(format, group, kernelY * dilation + n % 14, kernelX * dilation + n / 3 % 53 * (1 + n % 3),
                                     group, 1, 2 + n % 2, 0, group);
        j.p->dilationX = dilation, j.p->dilationY = n % 4 ? dilation : check_random(1, dilation);
        j.p->kernelY = kernelY, j.p->kernelX = kernelX;
        const size_t reachY = kernelY * j.p->dilationY, reachX = kernelX * dilation;
        j.p->padY = check_random(0, reachY), j.p->padX = check_random(0, reachX);
        j.p->padH = check_random(0, reachY), j.p->padW = check_random(0, reachX);
        j.own_buffer = n % 3 == 0;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* Groups of every width up to 32, with other numbers of outputs, and images of every size of blocks. */
static void groups(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(600); n < count; ++n) {
        const size_t inputs = 1 + n % 32, outputs = n % 3 ? inputs : 1 + n / 3 % 24, group = 2 + n / 5 % 8;
        const size_t kernel = n % 4 ? 3 : 1 + n / 4 % 6, stride = 1 + n / 7 % 5 / 3 + n % 53 / 52;
        struct check_layer j = layer(format, inputs * group, kernel + n / 11 % 13, kernel + n / 13 % 17, outputs * group,
                                     kernel, stride, kernel / 2, group);
        j.batch = 1 + n % 9 / 8, j.own_buffer = n % 2 == 0, j.no_bias = n % 7 == 0;
        if (n % 6 == 0) {
            j.p->dilationY = j.p->padY = j.p->padH = check_random(1, 3);
            j.p->dilationX = j.p->padX = j.p->padW = check_random(1, 3);
        }
        if (j.p->srcH + 2 * j.p->padY <= (kernel - 1) * j.p->dilationY)
            j.p->dilationY = 1;
        if (j.p->srcW + 2 * j.p->padX <= (kernel - 1) * j.p->dilationX)
            j.p->dilationX = 1;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* Dilations that are a large part of the image, or exceed it: most taps meet only padding, or all of one output. */
static void far_taps(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(60); n < count; ++n) {
        const size_t channels = n % 2 ? check_random(32, 70) : check_random(1, 12), group = n % 5 ? 1 : 2;
        struct check_layer j = layer(format, channels * group, 1 + n / 2 % 14, 1 + n / 3 % 14, check_random(1, 40) * group, 1,
                                     1, 0, group);
        j.p->kernelY = check_random(1, 5), j.p->kernelX = check_random(2, 6);
        j.p->dilationY = check_random(1, 9), j.p->dilationX = check_random(4, 12);
        j.p->strideX = n % 7 ? 1 : 2;
        const size_t reachY = (j.p->kernelY - 1) * j.p->dilationY, reachX = (j.p->kernelX - 1) * j.p->dilationX;
        j.p->padY = reachY / 2, j.p->padH = reachY - reachY / 2;
        j.p->padX = reachX / 2, j.p->padW = reachX - reachX / 2;
        j.batch = 1 + n % 3 / 2, j.own_buffer = n % 2 == 0;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* Dilated kernels of random sizes, with paddings up to the given ones in two layers of three. */
static void run_dilated(struct check_layer j, size_t n, size_t padY, size_t padX)
{
    if (n % 3) {
        j.p->padY = check_random(0, padY), j.p->padH = check_random(0, padY);
        j.p->padX = check_random(0, padX), j.p->padW = check_random(0, padX);
    }
    j.batch = 1 + n % 5 / 4, j.own_buffer = n % 2 == 0;
    j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
    check_convolution_output(j.p);
    run_case(j, CHECK_RANDOM);
}

/* Bands of output rows that use the same dilated lines: a copy of these, the image itself, or of the edges only; strides that
 * have a divisor in common with the dilation, whose copies leave out columns, and classes of rows of unequal number. */
static void dilated_bands(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(90); n < count; ++n) {
        const size_t group = n % 7 ? 1 : 2, channels = n % 2 ? check_random(20, 50) : check_random(1, 20);
        struct check_layer j = layer(format, channels * group, check_random(20, 60), check_random(16, 40),
                                     check_random(5, 40) * group, 1, 1, 0, group);
        j.p->kernelY = check_random(2, 4), j.p->kernelX = check_random(1, 3);
        j.p->dilationY = check_random(2, 6), j.p->dilationX = check_random(1, 4);
        j.p->strideY = check_random(1, 4), j.p->strideX = check_random(1, 4);
        run_dilated(j, n, 9, 2);
    }
}

/* Wide images whose lines a dilation leaves out for most taps: one line of taps after the other, and taps apart. */
static void wide_dilated(void)
{
    for (size_t n = 0, count = check_count(16); n < count; ++n) {
        const size_t channels = n % 4 ? check_random(32, 60) : check_random(124, 132);
        struct check_layer j = layer(SimdTensorFormatNhwc, channels, check_random(5, 9), check_random(80, 120),
                                     check_random(1, 40), 1, 1, 0, 1);
        j.p->kernelY = check_random(3, 5), j.p->kernelX = check_random(2, 3);
        j.p->dilationY = check_random(3, 5), j.p->dilationX = check_random(2, 9);
        j.p->strideY = check_random(1, 2);
        j.p->padY = j.p->padH = (j.p->kernelY - 1) * j.p->dilationY / 2;
        run_dilated(j, 0, 0, 0);
    }
}

/* Images of one pixel: each number of vectors that is left of the outputs, and half of one. */
static void one_pixel(void)
{
    for (size_t n = 0, count = check_count(160); n < count; ++n) {
        const size_t group = n % 5 ? 1 : 2;
        struct check_layer j = layer(SimdTensorFormatNhwc, check_random(1, 30) * group, 1, 1,
                                     check_random(1, 160) * group, 1, 1, 0, group);
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* Dilated kernels of few outputs in NCHW: planes whose lines are copied in phases, for rows longer than several vectors. */
static void dilated_planes(void)
{
    for (size_t n = 0, count = check_count(60); n < count; ++n) {
        const size_t group = n % 5 ? 1 : 2;
        struct check_layer j = layer(SimdTensorFormatNchw, check_random(1, 6) * group, check_random(30, 80),
                                     check_random(60, 140), check_random(1, 4) * group, 1, 1, 0, group);
        j.p->kernelY = check_random(2, 5), j.p->kernelX = check_random(1, 5);
        j.p->dilationY = check_random(2, 7), j.p->dilationX = check_random(1, 7);
        j.p->strideY = check_random(1, 4), j.p->strideX = n % 2 ? check_random(1, 3) : 4;
        run_dilated(j, n, 15, 15);
    }
}

static void signals(SimdTensorFormatType format)
{
    parameters p;
    for (size_t n = 0; check_convolution_signal(format, n, &p); ++n) {
        p.activation = check_activation_at(n % CHECK_ACTIVATIONS);
        run_case(check_layer_with(check_layer_of(&family, p), 1 + n % 5 / 4, n % 2 == 0), CHECK_RANDOM);
    }
}

/* Narrow images with padding, whose products underflow to zeros of either sign: threads get fewer rows than the image has. */
static void narrow(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 12; ++n) {
        struct check_layer j = layer(format, 8 + n % 2, 6 + n, 4 + n % 3, 18, 3, 1, 1, 1);
        j.p->dilationX = 2;
        j.p->padY = n % 3 / 2, j.p->padH = 2;
        j.p->activation = SimdConvolutionActivationHswish;
        j.no_bias = true;
        check_convolution_output(j.p);
        run_case(check_layer_with(j, 1 + n % 3, n % 2 == 0), CHECK_DENORMAL);
    }
}

static void whole(SimdTensorFormatType format)
{
    parameters p;
    for (size_t n = 0; check_convolution_whole(format, n, &p); ++n)
        run_case(check_layer_with(check_layer_of(&family, p), n % 13 ? check_few(6) : 20, n % 2 == 0), CHECK_RANDOM);
}

/* Columns of taps, whose rows could be one line: with much padding they leave it out. */
static void padded_columns(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(40); n < count; ++n) {
        struct check_layer j = layer(format, check_random(5, 40), check_random(8, 40), check_random(3, 30),
                                     check_random(5, 40), 1, 1, 0, 1);
        j.p->kernelY = check_random(2, 9);
        j.p->dilationY = check_random(1, 4);
        const size_t reach = (j.p->kernelY - 1) * j.p->dilationY;
        j.p->padY = check_random(0, reach + 1), j.p->padH = reach - (j.p->padY < reach ? j.p->padY : reach);
        j.batch = 1 + n % 2;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* One input and many outputs in each group, by kernels that are higher than wide, or wider; and strides of both. */
static void one_input(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(40); n < count; ++n) {
        const size_t group = check_random(2, 9);
        struct check_layer j = layer(format, group, check_random(9, 40), check_random(7, 50), group * check_random(17, 150), 1, 1,
                                     0, group);
        j.p->kernelY = check_random(2, 9), j.p->kernelX = check_random(1, 7);
        j.p->strideY = check_random(1, 4), j.p->strideX = check_random(1, 4);
        j.p->padY = check_random(0, 4), j.p->padH = check_random(0, 2), j.p->padW = check_random(0, 4);
        j.p->padX = check_random(0, 9);
        j.batch = 1 + n % 2;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
    run_case(layer(format, 3, 170, 50, 72, 3, 1, 1, 3), CHECK_RANDOM); /* results exceed an L2 cache of 2 MB */
}

/* Taps apart of pixels that are 4 KB apart, the rows of a tile, in one band and in several. */
static void far_taps_of_wide_pixels(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 4; ++n) {
        const size_t stride = 1 + n % 2;
        struct check_layer j = layer(format, 1024 / stride, 5 + 17 * (n / 2), 6 + 21 * (n / 2), 40, 3, stride, 0, 1);
        j.p->dilationY = j.p->dilationX = j.p->padY = j.p->padX = j.p->padH = j.p->padW = 4 + 14 * (n / 2);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

/* More weights of a tile than half of an L2 cache of 2 MB holds: one row of taps after the other, of which some meet padding. */
static void many_weights(void)
{
    run_case(layer(SimdTensorFormatNhwc, 2048, 5, 5, 40, 3, 2, 1, 1), CHECK_RANDOM);
}

/* Depthwise: lines that exceed an L2 cache of 2 MB, so that columns are computed in strips; narrow ones, too. */
static void wide_lines(void)
{
    for (size_t stride = 1; stride <= 2; ++stride)
        run_case(layer(SimdTensorFormatNhwc, 640, 3, 75 * stride, 640, 7, stride, 3, 640), CHECK_RANDOM);
    struct check_layer fetched = layer(SimdTensorFormatNhwc, 1600, 5, 160, 1600, 9, 2, 4, 1600); /* of 24 MB in total */
    fetched.batch = 4;
    run_case(fetched, CHECK_RANDOM);
}

/* Few channels of a group by a kernel that has no instance of its own, with strides, in wide rows; four vectors of outputs of
 * a group, in narrow rows. */
static void wide_groups(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 4; ++n)
        run_case(layer(format, 16, 7, 21 + n, 16, 5, 2, 2, n % 2 ? 4 : 2), CHECK_RANDOM);
    for (size_t n = 2; n <= 3; ++n)
        run_case(layer(format, 2, n, n, 64, 3, 1, 1, 2), CHECK_RANDOM);
}

/* Few lines and several panels of outputs, which threads divide, see check --threads. */
static void panels(SimdTensorFormatType format)
{
    for (size_t n = 0; n < CHECK_ACTIVATIONS; ++n) {
        struct check_layer j[] = {layer(format, 20, 3, 80, 160, 1, 1, 0, 1), layer(format, 40, 5, 9, 70, 3, 1, 1, 1),
            layer(format, 70, 20, 20, 64, 3, 1, 1, 1)};
        for (size_t i = 0; i < sizeof(j) / sizeof(j[0]); ++i) {
            j[i].batch = 1 + n % 2;
            j[i].p->activation = check_activation_at(n);
            run_case(j[i], CHECK_RANDOM);
        }
    }
}

static void cuts(SimdTensorFormatType format)
{
    parameters p;
    for (size_t i = 0; check_convolution_cut(format, i, &p); ++i)
        run_case(check_layer_with(check_layer_of(&family, p), p.srcH * p.srcW < 100 ? 2 : 1, i % 3 > 0), CHECK_RANDOM);
}

/* One to five outputs of each group: sums of every length, whole units of groups and parts of one, taps in any padding. */
static void few_outputs_of_groups(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 150; ++n) {
        const size_t kernel = 1 + n / 2 % 4, groups = 2 + n % 23;
        struct check_layer j = layer(format, groups * (1 + n * 5 % 41), 1 + n % 3 + kernel / 2, 1 + n % 7 + kernel / 2,
                                     groups * (1 + n % 5), kernel, 1 + n % 13 / 9, kernel / 2, groups);
        if (n % 4 == 1)
            j.p->dilationX = 1 + j.p->padX, j.p->padX = j.p->padW = 2 * (kernel - 1);
        j.batch = 1 + n % 2, j.no_bias = n % 7 == 0;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
}

static void one_channel(SimdTensorFormatType format)
{
    parameters p;
    for (size_t n = 0; check_convolution_one_channel(format, n, &p); ++n) {
        struct check_layer j = check_layer_with(check_layer_of(&family, p), 1 + n % 3, n % 2);
        j.no_bias = n % 7 == 0;
        run_case(j, CHECK_RANDOM);
    }
}

/* One to five outputs: every width of a block of pixels, every tail of a sum, all activations. */
static void few_outputs(SimdTensorFormatType format)
{
    for (size_t n = 1; n <= 200; ++n) {
        const size_t kernel = n % 3 ? 3 : 1, groups = n % 11 ? 1 : 2;
        struct check_layer j = layer(format, groups * (1 + n % 37), 1 + n % 4 + kernel / 2, 2 + n * 7 % 67,
                                     groups * (1 + n % 5), kernel, 1 + n % 13 / 11, kernel / 2, groups);
        j.batch = 1 + n % 2, j.no_bias = n % 7 == 0;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        run_case(j, CHECK_RANDOM);
    }
    for (size_t n = 0; n < 80; ++n) { /* with strides and dilations, which are converted from NCHW */
        const size_t kernel = 1 + n % 5, dilation = 1 + n % 7 / 5;
        struct check_layer j = layer(format, 8 + n * 11 % 90, 9 + n * 5 % 23, 9 + n * 3 % 31, 1 + n % 4, kernel, 1 + n % 3,
                                     n % 2 * dilation * (kernel / 2), 1);
        j.p->dilationY = j.p->dilationX = dilation;
        j.batch = 1 + n % 3 / 2, j.no_bias = n % 7 == 0;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        check_convolution_output(j.p);
        run_case(j, CHECK_RANDOM);
    }
    for (size_t lanes = 4; lanes <= 16; lanes *= 2)
        for (size_t outputs = 1; outputs <= 4; ++outputs)
            run_case(layer(format, lanes, 3, 21, outputs, 1, 1, 0, 1), CHECK_RANDOM); /* sums of a single vector */
}

/* Few pixels and many channels, which are divided among threads. */
static void channels(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 8; ++n) {
        struct check_layer j = layer(format, 40, 3 + n / 4, 4, 170, n % 2 ? 3 : 1, 1 + n / 2 % 2, n % 2, 1);
        j.batch = 1 + n / 4;
        j.p->activation = n % 2 ? SimdConvolutionActivationPrelu : SimdConvolutionActivationElu;
        run_case(j, CHECK_RANDOM);
    }
    run_case(layer(format, 512, 2, 3, 140, 1, 1, 0, 1), CHECK_RANDOM);
}

/* 3x3 with enough channels for Winograd: all channel counts, all small images, pads, activations, fills. */
static void tiles_of_stride(SimdTensorFormatType format, size_t stride)
{
    for (size_t n = 0, count = check_count(250); n < count; ++n) {
        struct check_layer j =
            layer(format, 16 + n % 52, 1 + n % (5 + 6 * stride), 1 + n % (2 + 7 * stride), 1 + n % 67, 3, stride, 1, 1);
        j.batch = 1 + n % 5 / 3 * 2, j.own_buffer = n % 2 == 1, j.no_bias = n % 5 == 0;
        j.p->padY = check_random(j.p->srcH < 3 ? 1 : 0, 3), j.p->padX = check_random(j.p->srcW < 3 ? 1 : 0, 3);
        j.p->padH = check_random(j.p->srcH < 3 ? 1 : 0, 3), j.p->padW = check_random(j.p->srcW < 3 ? 1 : 0, 3);
        j.p->activation = check_activation_at(n % 3 ? n / 3 % CHECK_ACTIVATIONS : 0);
        check_convolution_output(j.p);
        run_case(j, n % 4 ? CHECK_RANDOM : (enum check_fill)(n / 4 % CHECK_FILLS));
    }
}

static void tiles(SimdTensorFormatType format)
{
    tiles_of_stride(format, 1);
    tiles_of_stride(format, 2);
}

static void fills(SimdTensorFormatType format)
{
    for (int fill = 0; fill < CHECK_FILLS; ++fill)
        for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act) {
            struct check_layer j = layer(format, 6, 6, 7, 19, 3, 1, 1, 1);
            j.p->activation = check_activation_at(act);
            run_case(j, (enum check_fill)fill);
            j.p->group = j.p->srcC = j.p->dstC = 19;
            run_case(j, (enum check_fill)fill);
        }
}

static void batches(SimdTensorFormatType format)
{
    parameters p;
    for (size_t i = 0; check_convolution_batch(format, i, &p); ++i) {
        const struct check_layer j = check_layer_with(check_layer_of(&family, p), 5, i % 2);
        run_case(j, CHECK_RANDOM);
        declare(&j, CHECK_EQUAL);
        check_layer_run_equal(&j);
    }
}

/* ---- with addition */

/* The layer, changed so that result and source have the same shape: stride 1, as many outputs as inputs, and paddings that
 * keep the size. */
static struct check_layer added(struct check_layer l)
{
    SimdConvolutionParameters * p = l.p;
    const size_t reachY = p->dilationY * (p->kernelY - 1), reachX = p->dilationX * (p->kernelX - 1);
    l.family = &adding;
    p->dstC = p->srcC;
    p->strideY = p->strideX = 1;
    p->padY = reachY / 2, p->padH = reachY - p->padY;
    p->padX = reachX / 2, p->padW = reachX - p->padX;
    check_convolution_output(p);
    return l;
}

/* Like tiles(), for the other kernels by Winograd's algorithm, and with dilations, which may exceed the image. */
static void dilated_tiles(SimdTensorFormatType format)
{
    static const size_t kernels[][2] = {{3, 3}, {1, 3}, {3, 1}, {1, 5}, {5, 1}, {5, 5}, {1, 7}, {7, 1}};
    for (size_t n = 0, count = check_count(400); n < count; ++n) {
        const size_t * kernel = kernels[n % 8], more = kernel[0] * kernel[1] == 7 ? 52 : 0; /* channels that it is worth to */
        struct check_layer j = layer(format, more + 16 + n % 21, 8 + n % 23, 8 + n % 19, more + 4 + n % 37, 1, 1, 0, 1);
        j.batch = 1 + n % 7 / 6, j.own_buffer = n % 2 == 1, j.no_bias = n % 5 == 0;
        j.p->kernelY = kernel[0], j.p->kernelX = kernel[1];
        j.p->dilationY = check_random(1, check_random(1, 9)), j.p->dilationX = check_random(1, check_random(1, 9));
        const size_t reachY = (kernel[0] - 1) * j.p->dilationY, reachX = (kernel[1] - 1) * j.p->dilationX;
        j.p->padY = check_random((reachY + 1) / 2, reachY + 1), j.p->padX = check_random((reachX + 1) / 2, reachX + 1);
        j.p->padH = check_random((reachY + 1) / 2, reachY + 1), j.p->padW = check_random((reachX + 1) / 2, reachX + 1);
        j.p->activation = check_activation_at(n % 3 ? n / 3 % CHECK_ACTIVATIONS : 0);
        check_convolution_output(j.p);
        run_case(n % 4 == 1 ? added(j) : j, n % 4 ? CHECK_RANDOM : (enum check_fill)(n / 4 % CHECK_FILLS));
    }
}

/* Images of one line, in whose padding all other rows or columns of the kernel lie: it is computed as a kernel of one. */
static void lines(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(60); n < count; ++n) {
        const size_t kernel = n % 3 ? 3 : 5, length = 5 + n % 29;
        struct check_layer j = layer(format, 20 + n % 40, n % 2 ? 1 : length, n % 2 ? length : 1, 20 + n % 37, kernel, 1,
                                     kernel / 2, 1);
        j.batch = 1 + n % 4;
        *(n % 2 ? &j.p->padX : &j.p->padY) = check_random(0, kernel);
        check_convolution_output(j.p);
        run_case(j, n % 5 ? CHECK_RANDOM : (enum check_fill)(n / 5 % CHECK_FILLS));
    }
}

/* Kernels of one column, whose stride leaves out columns, with padding above and below: only that of the edges is copied. */
static void columns_left_out(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(60); n < count; ++n) {
        struct check_layer j = layer(format, 20 + n % 40, 5 + n % 13, 7 + n % 29, 5 + n % 37, 1, 2 + n % 2, 0, 1);
        const size_t least = n % 4 / 3; /* of the padding: kernels of 7 rows meet images of 5 */
        j.p->kernelY = 1 + 2 * (n % 4), j.p->padY = check_random(least, n % 4), j.p->padH = check_random(least, n % 4);
        j.p->padX = n % 7 == 0, j.batch = 1 + n % 3, j.own_buffer = n % 2 == 1;
        check_convolution_output(j.p);
        run_case(j, n % 5 ? CHECK_RANDOM : (enum check_fill)(n / 5 % CHECK_FILLS));
    }
}

/* Shape n of a family, with another activation, batch, buffer and fill for each n. */
static void run_varied(struct check_layer j, size_t n)
{
    check_convolution_output(j.p);
    j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
    j.batch = 1 + n % 3 / 2, j.own_buffer = n % 2 == 1, j.no_bias = n % 6 == 0;
    run_case(j, n % 5 ? CHECK_RANDOM : (enum check_fill)(n / 5 % CHECK_FILLS));
}

/* Depthwise, few channels: in NHWC several pixels are one. All numbers of these in a row, and rests; all kernels, and paddings. */
static void joined_pixels(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(400); n < count; ++n) {
        const size_t channels = 1 + n % 19;
        struct check_layer j = layer(format, channels, 8 + n / 5 % 7, 7 + n / 3 % 71, channels, 1, 1, 0, channels);
        j.p->kernelY = 1 + n / 2 % 7, j.p->kernelX = 1 + n % 7;
        j.p->strideY = 1 + n % 13 / 12, j.p->dilationX = 1 + n % 17 / 16;
        const size_t least = j.p->dilationX > 1 && j.p->kernelX > 3 ? 4 : 0; /* of the padding beside */
        j.p->padY = check_random(0, j.p->kernelY), j.p->padX = check_random(least, j.p->kernelX + 1);
        j.p->padH = check_random(0, j.p->kernelY), j.p->padW = check_random(least, j.p->kernelX + 1);
        run_varied(j, n);
    }
}

/* Depthwise, as wide as the image: planes whose rows are computed as one, also if these are shorter than a vector, or all are. */
static void joined_rows(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(400); n < count; ++n) {
        const size_t channels = 1 + n / 3 % 7, height = n % 11 ? 1 + n / 5 % 60 : 1000;
        struct check_layer j = layer(format, channels, height, 1 + n % 23, channels, 1, 1, 0, channels);
        j.p->kernelY = n % 3 ? 1 + n / 2 % 5 : 3, j.p->kernelX = n % 3 ? 1 + n / 7 % 5 : 3;
        j.p->dilationY = 1 + n % 7 / 5, j.p->dilationX = 1 + n % 5 / 4;
        j.p->padY = check_random(0, j.p->kernelY * j.p->dilationY), j.p->padH = check_random(0, j.p->kernelY * j.p->dilationY);
        j.p->padX = check_random(0, (j.p->kernelX - 1) * j.p->dilationX);
        j.p->padW = (j.p->kernelX - 1) * j.p->dilationX - j.p->padX;
        if (height + j.p->padY + j.p->padH <= (j.p->kernelY - 1) * j.p->dilationY)
            j.p->padY = j.p->kernelY * j.p->dilationY;
        run_varied(j, n);
    }
}

/* Depthwise, strides and dilations with a divisor: a convolution of every n-th pixel, and of lines that rows may share. */
static void depthwise_divisors(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(300); n < count; ++n) {
        const size_t channels = n % 3 ? 1 + n % 20 : 20 + n % 50, x = 1 + n / 2 % 3, y = 1 + n / 3 % 3;
        struct check_layer j = layer(format, channels, 25 + n / 5 % 19, 25 + n / 3 % 31, channels, 1, 1, 0, channels);
        j.p->kernelY = j.p->kernelX = 2 + n / 7 % 4;
        j.p->strideY = y * (1 + n % 11 / 10), j.p->dilationY = y * (1 + n % 13 / 12);
        j.p->strideX = x * (1 + n % 7 / 6), j.p->dilationX = x * (1 + n % 17 / 16);
        j.p->padY = check_random(0, 2 * y), j.p->padX = check_random(0, 2 * x);
        j.p->padH = check_random(0, 2 * y), j.p->padW = check_random(0, 2 * x);
        run_varied(j, n);
    }
}

/* More outputs than vectors of pixels take at once, in parts of every size, of rows shorter than a vector and longer. */
static void parts_of_outputs(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(400); n < count; ++n) {
        const size_t kernel = 1 + 2 * (n % 4), group = n % 9 == 8 ? 2 : 1, inputs = 1 + n % 5;
        struct check_layer j = layer(format, group * inputs, 8 + n / 7 % 9, 7 + n / 3 % 43, group * (5 + n % 60), kernel,
                                     1 + n % 11 / 9, kernel / 2, group);
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        j.batch = 1 + n % 3 / 2, j.own_buffer = n % 2 == 1, j.no_bias = n % 6 == 0;
        run_case(j, n % 5 ? CHECK_RANDOM : (enum check_fill)(n / 5 % CHECK_FILLS));
    }
}

/* Five to eight outputs of long sums: in NHWC parts of four, by kernels and strides for which Winograd's algorithm is not used. */
static void parts_of_few_outputs(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(60); n < count; ++n) {
        const size_t kernel = 2 + n % 3 / 2 + n % 7 / 6 * 4, inputs = 256 / (kernel * kernel) + 1 + n % 9;
        struct check_layer j = layer(format, inputs, kernel + n / 3 % 9, 2 * kernel + n / 2 % 23, 5 + n % 4, kernel, 1 + n % 5 / 3,
                                     n % 2 * (kernel / 2), 1);
        j.p->dilationX = 1 + n % 11 / 10;
        run_varied(j, n);
    }
    for (size_t n = 0; n < 2 * CHECK_ACTIVATIONS; ++n) /* with an addition, after which slopes follow */
        run_varied(added(layer(format, 6 + n % 3, 9, 7 + n, 8, 7, 1, 3, 1)), n);
}

/* All algorithms: 1x1, few and many channels, groups, depthwise, Winograd; all activations. */
static void additions(SimdTensorFormatType format)
{
    for (size_t n = 0, count = check_count(200); n < count; ++n) {
        const size_t channels[] = {1, 3, 4, 16, 20, 35, 48, 70}, c = channels[n / 7 % 8];
        const size_t kernel = n % 3 ? 3 : 1, group = n % 5 == 4 ? c : n % 11 == 10 && c % 4 == 0 ? 4 : 1;
        struct check_layer j = added(layer(format, c, 1 + n % 15, 1 + n % 13, c, kernel, 1, 0, group));
        j.batch = 1 + n % 4 / 3, j.own_buffer = n % 2 == 1, j.no_bias = n % 6 == 0;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        run_case(j, n % 4 ? CHECK_RANDOM : (enum check_fill)(n / 4 % CHECK_FILLS));
    }
    for (size_t n = 0, count = check_count(100); n < count; ++n) {
        struct check_layer j = check_layer_of(&adding, check_convolution_random(format, 20, 20));
        if (j.p->group > 1 && j.p->srcC % j.p->group)
            j.p->group = 1;
        j.batch = check_few(2), j.own_buffer = check_random(0, 1);
        run_case(added(j), CHECK_RANDOM);
    }
}

/* With an addition: a band that is copied or a sum that is divided, blocks of tiles, and equal images. */
static void large_additions(SimdTensorFormatType format)
{
    static const size_t shapes[][4] = {{512, 3, 5, 1}, {1600, 1, 2, 1}, {24, 30, 50, 3}}; /* channels, height, width, kernel */
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
        const size_t * n = shapes[i];
        run_case(added(layer(format, n[0], n[1], n[2], n[0], n[3], 1, n[3] / 2, 1)), CHECK_RANDOM);
    }
    struct check_layer equal = check_layer_with(added(layer(format, 20, 9, 10, 20, 3, 1, 1, 1)), 3, false);
    declare(&equal, CHECK_EQUAL);
    check_layer_run_equal(&equal);
}

/* 16 outputs of each channel from an image of 400 pixels. */
static struct check_layer of_large_image(size_t srcC, size_t dstC)
{
    struct check_layer j = layer(SimdTensorFormatNchw, srcC, 20, 20, dstC, 3, 1, 0, 2);
    j.p->dilationY = j.p->dilationX = 8;
    j.p->dstH = j.p->dstW = 4;
    return j;
}

/*
 * NCHW by the tile, with sums so long that they are divided into several blocks with the small caches of one place, even
 * with the largest blocks of all levels, 288: the addend, the bias and the activation must be applied once. Groups exclude
 * Winograd's algorithm, few outputs of a large image its conversion to NHWC, and 65 of a group those in parts.
 */
static void sums_of_blocks(void)
{
    const SimdTensorFormatType nchw = SimdTensorFormatNchw;
    for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act) {
        const struct check_layer layers[] = {layer(nchw, 1400, 4, 8, 26, 1, 1, 0, 2), of_large_image(160, 130),
                                             added(layer(nchw, 1300, 4, 8, 1300, 1, 1, 0, 2))};
        for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); ++i) {
            struct check_layer j = check_layer_with(layers[i], 1, act % 2 == 1);
            j.p->activation = check_activation_at(act);
            for (size_t level = 1; SimdnetIsaLevel(level); ++level) {
                SimdnetSetMaxIsa(SimdnetIsaLevel(level));
                void * c = check_layer_init(&j, NULL);
                check_that(strstr(SimdnetContextInfo(c), "direct NCHW,"), j.family->init, "%s for sums of blocks",
                           SimdnetContextInfo(c));
                SimdRelease(c);
            }
            SimdnetSetMaxIsa(NULL);
            run_case(j, CHECK_RANDOM);
        }
    }
}

static void run_without_add(const void * layer, void * context, void * const * a)
{
    (void)layer;
    SimdnetConvolution32fForwardAdd(context, a[CHECK_SRC], NULL, NULL, a[CHECK_DST]);
}

static void refusals_of_add(void)
{
    struct check_layer j = added(layer(SimdTensorFormatNhwc, 6, 6, 6, 6, 3, 1, 1, 1));
    j.p->activation = SimdConvolutionActivationPrelu;
    check_layer_refuse_calls(&j);
    void * a[CHECK_NO_ARRAY];
    check_layer_case(&j, "no add", CHECK_RANDOM, a);
    check_refused(CHECK_VALUE, "add", run_without_add, &j);
    j.p->srcC = j.p->dstC = 0;
    check_layer_empty(&j);
}

/* ---- bad arguments */

static void refusals(void)
{
    const struct check_layer good = layer(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 2);
    check_layer_refuse_parameters(&good);
    CHECK_REFUSED_INIT(good, "srcT", j.p->srcT = SimdTensorData8u);
    CHECK_REFUSED_INIT(good, "dstT", j.p->dstT = SimdTensorData16b);
    CHECK_REFUSED_INIT(good, "kernelX", j.p->kernelX = 9);
    CHECK_REFUSED_INIT(good, "kernelY", j.p->dilationY = 4);
}

static void refusals_of_calls(void)
{
    struct check_layer j = layer(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 1);
    j.p->activation = SimdConvolutionActivationPrelu;
    check_layer_refuse_calls(&j);
}

/* ---- benchmarks: layers of known networks */

static void begin_bench(struct check_layer * j)
{
    void * a[CHECK_NO_ARRAY];
    check_layer_case(j, check_convolution_text(j->p, 1), CHECK_RANDOM, a);
}

static void bench(void) { check_layer_bench_known(&family, begin_bench); }

/* The cases of a format. Called by their addresses, they have frames of their own: as a part of one function, all of them together
 * would take most of the stack of `--stack 64` from the library. */
static void (*const cases_of_format[])(SimdTensorFormatType) = {
    tails, few_outputs, one_channel, few_outputs_of_groups, tiles, dilated_tiles, lines, columns_left_out,
    joined_pixels, joined_rows, depthwise_divisors, parts_of_outputs, parts_of_few_outputs, blocks, large_blocks,
    strided_blocks, planes, groups, wide_groups, far_taps, signals, whole, narrow, dilated_bands, padded_columns,
    one_input, far_taps_of_wide_pixels, channels, fills, batches, additions, large_additions, panels,
};

CHECK_FAMILY(convolution_32f)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNchw, SimdTensorFormatNhwc};
    for (size_t i = 0; i < 2; ++i) {
        for (size_t n = 0; n < sizeof(cases_of_format) / sizeof(cases_of_format[0]); ++n)
            cases_of_format[n](formats[i]);
        if (!check_quick())
            cuts(formats[i]);
        for (size_t n = 0; n < check_count(1500); ++n)
            random_case(formats[i]);
    }
    dilated_planes();
    wide_dilated();
    one_pixel();
    many_weights();
    wide_lines();
    sums_of_blocks();
    const struct check_layer empty = layer(SimdTensorFormatNhwc, 4, 6, 6, 0, 3, 1, 1, 1);
    check_layer_empty(&empty);
    refusals();
    refusals_of_calls();
    refusals_of_add();
    if (check_timed())
        bench();
}
