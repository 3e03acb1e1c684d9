/*
 * Convolution8i: exact on every instruction set, bytes and floats, since each float operation is rounded separately; except
 * for activations with exp, where the error is at most 1 in bytes and 6 units in the last place in floats.
 */
#include <errno.h>
#include <stdlib.h>

#include "check_layer.h"

typedef SimdConvolutionParameters parameters;

/* Kinds of statistics of a tensor. */
enum stats {
    POSITIVE, /* channels of 0 .. about 1: the zero point is 0 */
    SIGNED,   /* about -1 .. 1: the zero point is 128 */
    CONSTANT, /* minima equal to maxima, some of them 0 */
    TINY,     /* of a destination: nearly all values are out of range */
    STATS
};

static const char * const stats_names[] = {"positive", "signed", "constant", "tiny"};

/* The largest possible products, for which saturating instructions give wrong results; and results that exceed 32 bits
 * before they become bytes. */
enum { WORST = CHECK_FILLS + 1, BEYOND };

static void * make(const struct check_layer * l)
{
    return SimdSynetConvolution8iInit(l->batch, l->null_conv ? NULL : l->p);
}

static bool call_set_params(const struct check_layer * l, void * context, const float * const * a)
{
    (void)l;
    SimdSynetConvolution8iSetParams(context, a[CHECK_WEIGHT], a[CHECK_BIAS], a[CHECK_PARAMS], a + CHECK_STATS);
    return true;
}

static void run(void * context, const void * src, void * buf, void * dst)
{
    SimdSynetConvolution8iForward(context, src, buf, dst);
}

static const struct check_layer_family family = {
    CHECK_LAYER_FUNCTIONS(SimdSynetConvolution8i), .unit = 1, .weight_unit = 1, .stats = true, .narrow = true, .make = make,
    .call_set_params = call_set_params, .run = run};

/* ---- cases */

/* Minima and maxima of about the given size, from random numbers of -1 .. 1. */
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

static void spoil(bool bytes, size_t count, void * data)
{
    for (size_t i = 0; i < count; ++i)
        if (bytes)
            ((uint8_t *)data)[i] = 255;
        else
            ((float *)data)[i] = 1;
}

/* Sums of thousands, with statistics of the result in which 1 is millions of steps. */
static void go_beyond(const struct check_layer * j, void * const * a)
{
    float * weight = a[CHECK_WEIGHT], * min = a[CHECK_STATS + 2], * max = a[CHECK_STATS + 3];
    for (size_t i = 0; i < check_layer_count(j, CHECK_WEIGHT); ++i)
        weight[i] *= 1e4f;
    for (size_t c = 0; c < j->p->dstC; ++c)
        max[c] = -(min[c] = -2e-5f);
}

/* `src` and `dst` are the kinds of statistics of both tensors. */
static void declare(const struct check_layer * j, enum stats src, enum stats dst, int fill)
{
    const parameters * p = j->p;
    char text[256];
    void * a[CHECK_NO_ARRAY];
    snprintf(text, sizeof(text), "%s %s->%s%s", check_convolution_text(p, j->batch), stats_names[src], stats_names[dst],
             fill == WORST ? " worst" : fill == BEYOND ? " beyond" : "");
    if (!check_layer_case(j, text, fill == WORST ? CHECK_EQUAL : fill == BEYOND ? CHECK_RANDOM : (enum check_fill)fill, a))
        return;
    set_stats(src, p->srcC, 1, a[CHECK_STATS], a[CHECK_STATS + 1]);
    set_stats(dst, p->dstC, sqrtf((float)(p->srcC / p->group * p->kernelY * p->kernelX)), a[CHECK_STATS + 2],
              a[CHECK_STATS + 3]);
    if (fill == WORST) {
        spoil(p->srcT == SimdTensorData8u, check_layer_count(j, CHECK_SRC), a[CHECK_SRC]);
        spoil(false, check_layer_count(j, CHECK_WEIGHT), a[CHECK_WEIGHT]);
    }
    if (fill == BEYOND)
        go_beyond(j, a);
    if (check_activation_has_exp(p) && p->dstT == SimdTensorData8u)
        check_bytes_within(1);
    else if (check_activation_has_exp(p))
        check_ulp(6);
}

static struct check_layer layer(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC, size_t kernel,
                                size_t stride, size_t pad, size_t group)
{
    struct check_layer l =
        check_layer_of(&family, check_convolution_shape(format, srcC, h, w, dstC, kernel, stride, pad, group));
    l.p->srcT = l.p->dstT = SimdTensorData8u;
    return l;
}

static void set_types(parameters * p, size_t number)
{
    p->srcT = number & 1 ? SimdTensorData32f : SimdTensorData8u;
    p->dstT = number & 2 ? SimdTensorData32f : SimdTensorData8u;
}

static void run_case(struct check_layer j, enum stats src, enum stats dst, int fill)
{
    declare(&j, src, dst, fill);
    check_layer_run(&j);
}

static void random_case(SimdTensorFormatType format)
{
    struct check_layer j = check_layer_of(&family, check_convolution_random(format, 30, 80));
    const enum stats src = (enum stats)check_random(0, CONSTANT), dst = (enum stats)check_random(0, TINY);
    j.batch = check_few(2), j.own_buffer = check_random(0, 1), j.no_bias = check_random(0, 3) == 0;
    set_types(j.p, check_random(0, 3));
    run_case(j, src, dst,
             check_random(0, 9) ? CHECK_RANDOM : check_random(0, 2) ? WORST : (int)check_random(0, CHECK_FILLS - 1));
}

static void tails(SimdTensorFormatType format)
{
    enum { MOST = 68 };
    parameters p;
    for (size_t n = 1; n <= MOST; ++n)
        for (size_t i = 0; check_convolution_tail(format, n, MOST, i, &p); ++i) {
            set_types(&p, n + i);
            run_case(check_layer_of(&family, p), (enum stats)((n + i) / 4 % 2), (enum stats)((n + i) / 8 % 2), CHECK_RANDOM);
        }
}

static void cuts(SimdTensorFormatType format)
{
    parameters p;
    for (size_t i = 0; check_convolution_cut(format, i, &p); ++i) {
        set_types(&p, i / 2);
        const struct check_layer j = check_layer_with(check_layer_of(&family, p), 1, i % 3 == 0);
        run_case(j, i % 2 ? SIGNED : POSITIVE, SIGNED, CHECK_RANDOM);
        run_case(j, i % 2 ? SIGNED : POSITIVE, SIGNED, WORST);
    }
}

static void signals(SimdTensorFormatType format)
{
    parameters p;
    for (size_t n = 0; check_convolution_signal(format, n, &p); ++n) {
        set_types(&p, n);
        run_case(check_layer_with(check_layer_of(&family, p), 1 + n % 5 / 4, n % 2 == 0), n % 2 ? SIGNED : POSITIVE, SIGNED,
                 CHECK_RANDOM);
    }
}

static void whole(SimdTensorFormatType format)
{
    parameters p;
    for (size_t n = 0; check_convolution_whole(format, n, &p); ++n) {
        set_types(&p, n);
        run_case(check_layer_with(check_layer_of(&family, p), check_few(6), n % 2 == 0), n % 2 ? SIGNED : POSITIVE, SIGNED,
                 CHECK_RANDOM);
    }
}

static void edges(void)
{
    parameters p;
    for (size_t n = 0; check_convolution_edges(n, &p); ++n) {
        set_types(&p, n % 3 ? 0 : 2);
        run_case(check_layer_with(check_layer_of(&family, p), 1 + n % 2, n % 4 == 0), n % 3 ? SIGNED : POSITIVE, SIGNED,
                 CHECK_RANDOM);
    }
}

static void fills(SimdTensorFormatType format)
{
    for (int fill = 0; fill <= BEYOND; ++fill)
        for (size_t act = 0; act < CHECK_ACTIVATIONS && fill != CHECK_FILLS; ++act)
            for (size_t number = 0; number < 4; ++number) {
                const enum stats src = (enum stats)(act % 3), dst = (enum stats)((fill + act) % STATS);
                struct check_layer j = layer(format, 6, 6, 7, 19, 3, 1, 1, 1);
                j.p->activation = check_activation_at(act);
                set_types(j.p, number);
                run_case(j, src, dst, fill);
                j.p->group = j.p->srcC = j.p->dstC = 19;
                run_case(j, src, dst, fill);
                j = layer(format, 20, 5, 9, 200, 1, 1, 0, 1); /* panels of whole vectors of bytes */
                j.p->activation = check_activation_at(act);
                set_types(j.p, number);
                if (fill > CHECK_FILLS)
                    run_case(j, src, dst, fill);
            }
}

static void batches(SimdTensorFormatType format)
{
    parameters p;
    for (size_t i = 0; check_convolution_batch(format, i, &p); ++i) {
        struct check_layer j = check_layer_with(check_layer_of(&family, p), 5, i % 2);
        set_types(j.p, i);
        run_case(j, SIGNED, SIGNED, CHECK_RANDOM);
        declare(&j, SIGNED, SIGNED, CHECK_EQUAL);
        check_layer_run_equal(&j);
    }
}

/* Many groups of few channels, several of which are computed as one. */
static void narrow_groups(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 24; ++n) {
        const size_t groups = n % 4 == 3 ? 7 : 4 + n, inputs = 1 + n % 3, outputs = 1 + n / 2 % 4, kernel = 1 + n % 5 / 2;
        struct check_layer j = layer(format, groups * inputs, 3 + n % 4, 5 + n % 7, groups * outputs, kernel, 1 + n % 2,
                                     kernel / 2, groups);
        j.batch = 1 + n % 2;
        j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
        set_types(j.p, n);
        run_case(j, n % 2 ? SIGNED : POSITIVE, SIGNED, CHECK_RANDOM);
    }
}

/* Groups that are all computed as one, in several panels; panels of a vector of outputs, without gaps between results. */
static void whole_groups(SimdTensorFormatType format)
{
    static const size_t vectors[] = {4, 8, 16};
    for (size_t n = 0; n < 24; ++n) {
        const size_t groups = n % 2 ? 19 : 1, outputs = n % 2 ? 1 + n % 4 : vectors[n / 2 % 3];
        const size_t pad = n % 3 / 2;
        struct check_layer j = layer(format, groups * (1 + n % 5), 5 + n % 7, 3 + 2 * n, groups * outputs, 1 + 2 * pad,
                                     1 + n / 4 % 3, pad, groups);
        j.p->activation = check_activation_at(n / 2 % CHECK_ACTIVATIONS);
        set_types(j.p, n / 8);
        run_case(j, n % 4 < 2 ? SIGNED : POSITIVE, SIGNED, CHECK_RANDOM);
    }
}

/* Kernels of all heights, in images that have other rows in the same vector, and rows left. */
static void depthwise(SimdTensorFormatType format)
{
    static const size_t channels[] = {3, 20, 32, 45, 70, 130}, sides[] = {1, 4, 9, 17, 22};
    for (size_t kernel = 2; kernel <= 18; ++kernel)
        for (size_t i = 0; i < 6; ++i) {
            const size_t c = channels[i], side = sides[(i + kernel) % 5], wide = sides[(i + 2 * kernel) % 5];
            struct check_layer j = layer(format, c, side, wide, c, kernel, 1 + (i + kernel) % 3, kernel / 2, c);
            j.p->kernelX = (i + kernel) % 4 ? kernel : kernel / 2;
            check_convolution_output(j.p);
            set_types(j.p, i % 2 ? 0 : kernel);
            j.p->activation = i % 2 ? SimdConvolutionActivationRelu : SimdConvolutionActivationPrelu;
            run_case(j, kernel % 2 ? SIGNED : POSITIVE, kernel % 3 ? SIGNED : POSITIVE, i % 3 ? CHECK_RANDOM : WORST);
        }
    for (size_t i = 0; i < 48; ++i) { /* rows one by one, of all numbers of pixels */
        static const size_t kernels[] = {3, 4, 7}, strides[] = {3, 1, 2}, blocks[] = {16, 32, 70, 9};
        const size_t c = blocks[i % 4], kernel = kernels[i % 3], stride = strides[i % 3], width = i / 2 * stride + kernel;
        struct check_layer j = layer(format, c, kernel + 2 * stride, width, c, kernel, stride, 0, c);
        set_types(j.p, i % 7 ? 0 : i / 7);
        run_case(j, i % 2 ? SIGNED : POSITIVE, i % 5 ? POSITIVE : SIGNED, i % 3 ? CHECK_RANDOM : WORST);
    }
    for (size_t i = 0; i < 24; ++i) { /* by phases of the dilation */
        const size_t c = channels[i % 6], kernel = 2 + i % 4, dilation = 2 + i % 5;
        struct check_layer j = layer(format, c, sides[3 + i % 2], sides[4 - i % 2], c, kernel, 1, kernel * dilation / 2, c);
        j.p->dilationY = i % 3 ? dilation : 1;
        j.p->dilationX = i % 4 ? dilation : 1;
        check_convolution_output(j.p);
        set_types(j.p, i);
        run_case(j, SIGNED, SIGNED, CHECK_RANDOM);
    }
    for (size_t i = 0; i < 24; ++i) { /* 3x3: blocks of whole vectors, of halves, and others; plain results, and others */
        static const size_t blocks[] = {16, 17, 32, 48, 64, 96};
        const size_t c = blocks[i % 6];
        run_case(layer(format, c, 9, 18, c, 3, 1 + i / 6 % 2, 1, c), POSITIVE, i / 12 ? SIGNED : POSITIVE, CHECK_RANDOM);
    }
    for (size_t i = 0; i < 48; ++i) { /* by taps, in parts with the same padding; of more taps, copied */
        const size_t c = channels[i % 6] + i / 8, kernel = 2 + i % 8;
        struct check_layer j = layer(format, c, sides[2 + i % 3], sides[4 - i / 2 % 3], c, kernel, 2 + i % 2, kernel, c);
        j.p->dilationY = 1 + i % 3, j.p->dilationX = 2 + i / 3 % 5;
        j.p->padY = j.p->dilationY * (kernel - 1) - i % 2, j.p->padX = j.p->dilationX * (kernel - 1) / (1 + i % 2);
        j.p->padH = j.p->padY, j.p->padW = j.p->padX + i / 4 % 3;
        j.p->activation = i % 5 ? SimdConvolutionActivationRelu : SimdConvolutionActivationPrelu;
        check_convolution_output(j.p);
        set_types(j.p, i % 4 ? 0 : i / 4);
        run_case(j, i % 2 ? SIGNED : POSITIVE, SIGNED, i % 3 ? CHECK_RANDOM : WORST);
    }
    for (size_t i = 0; i < 48; ++i) { /* taps of which some, or all but one, see only padding */
        const size_t c = channels[i % 6] + i / 16, kernel = 3 + i % 7, dilation = 1 + i % 4;
        struct check_layer j = layer(format, c, 2 + i % 5, 2 + i / 3 % 7, c, kernel, 1 + i / 5 % 2, 0, c);
        j.p->dilationY = dilation, j.p->dilationX = i % 3 ? dilation : 1;
        j.p->padY = j.p->dilationY * (kernel - 1) / (1 + i / 4 % 2), j.p->padX = j.p->dilationX * (kernel - 1) / 2;
        j.p->padH = j.p->padY, j.p->padW = j.p->padX + i % 2 * dilation;
        j.p->activation = i % 5 ? SimdConvolutionActivationRelu : SimdConvolutionActivationPrelu;
        check_convolution_output(j.p);
        set_types(j.p, i % 4 ? 0 : i / 4);
        run_case(j, i % 2 ? SIGNED : POSITIVE, i % 3 ? SIGNED : POSITIVE, i % 3 ? CHECK_RANDOM : WORST);
    }
    for (size_t i = 0; i < 48; ++i) { /* strides and dilations with a common divisor */
        const size_t c = channels[i % 6], kernel = 2 + i / 2 % 3, stride = 2 + i / 3 % 3;
        struct check_layer j = layer(format, c, 20 + i % 5, 40 + i % 7, c, kernel, stride, i % 6, c);
        j.p->dilationY = (1 + i % 2) * stride, j.p->dilationX = i / 4 % 2 ? 2 : 2 * stride;
        j.p->activation = i % 5 ? SimdConvolutionActivationRelu : SimdConvolutionActivationPrelu;
        check_convolution_output(j.p);
        set_types(j.p, i % 4 ? 0 : i / 4);
        run_case(j, i % 2 ? SIGNED : POSITIVE, SIGNED, i % 3 ? CHECK_RANDOM : WORST);
    }
    for (size_t i = 0; i < 48; ++i) { /* by flat lines, short and long ones */
        static const size_t few[] = {1, 3, 5, 8, 12, 15}, widths[] = {40, 70, 9, 33};
        const size_t c = few[i % 6], kernel = 2 + i % 5, dilation = 1 + i % 3;
        struct check_layer j = layer(format, c, 14, widths[i % 4], c, kernel, 1, kernel * dilation / 2, c);
        j.p->dilationY = j.p->dilationX = dilation;
        j.p->strideY = 1 + i / 24;
        j.p->activation = i % 7 ? SimdConvolutionActivationRelu : SimdConvolutionActivationPrelu;
        check_convolution_output(j.p);
        set_types(j.p, i % 5 ? 0 : i / 5);
        run_case(j, i % 2 ? SIGNED : POSITIVE, SIGNED, CHECK_RANDOM);
    }
    /* Rows that are far apart: an offset from the wrong line leaves the stack. */
    run_case(layer(format, 45, 22, 900, 45, 5, 2, 2, 45), SIGNED, SIGNED, CHECK_RANDOM);
}

/* Computes a layer whose activation, types, signs and values follow from n. */
static void run_varied(struct check_layer j, size_t n)
{
    j.batch = 1 + n % 2;
    j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
    set_types(j.p, n % 3 ? 0 : n / 3);
    run_case(j, n % 2 ? SIGNED : POSITIVE, n % 4 ? SIGNED : POSITIVE, n % 5 ? CHECK_RANDOM : WORST);
}

static const size_t few_widths[] = {3, 9, 40, 70, 140};

/* Few channels by few, which in NCHW are computed from lines of planes: groups, paddings, dilations, lines short and long. */
static void few_by_few(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 60; ++n) {
        const size_t groups = n % 3 ? 1 : 2, inputs = 1 + n % 5, outputs = 1 + n / 2 % 4, kernel = 1 + n % 4;
        struct check_layer j = layer(format, groups * inputs, 5 + n % 9, few_widths[n / 3 % 5], groups * outputs, kernel, 1,
                                     kernel / 2, groups);
        j.p->strideY = 1 + n % 7 / 6;
        j.p->dilationY = 1 + n % 11 / 9, j.p->dilationX = 1 + n % 13 / 10;
        j.p->padX = j.p->padW = n % 2 ? j.p->dilationX * (kernel - 1) : 0;
        j.p->padY = j.p->padH = j.p->dilationY * (kernel - 1) / 2;
        check_convolution_output(j.p);
        run_varied(j, n);
    }
}

/* Lines that are split into phases of the horizontal stride. */
static void few_in_phases(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 48; ++n) {
        const size_t groups = n % 3 ? 1 : 1 + n % 4, inputs = 1 + n / 3 % 3, outputs = 1 + n / 2 % 3, kernel = 1 + n % 5;
        const size_t stride = 2 + n / 2 % 4;
        struct check_layer j = layer(format, groups * inputs, 5 + n % 9, stride * few_widths[2 + n % 3] + n % 7,
                                     groups * (n % 2 ? outputs : inputs), kernel, stride, kernel / 2,
                                     n % 2 ? groups : groups * inputs);
        j.p->strideY = 1 + n % 7 / 3;
        j.p->dilationX = 1 + n % 13 / 8;
        j.p->padX = n % 5, j.p->padW = n % 4;
        check_convolution_output(j.p);
        run_varied(j, n);
    }
}

/* Panels that the L2 cache does not hold; then panels of few groups in each segment, of pixels that are read
 * in place, of a number of channels that leaves a part of the last group unused. */
static void panels(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 4; ++n) {
        const size_t groups = 1 + n / 2;
        struct check_layer j = layer(format, groups * 2048, n % 2 ? 9 : 2, n % 2 ? 7 : 3, groups * 70, 3, 1, 1, groups);
        j.batch = n ? 1 : 8;
        run_case(j, n % 2 ? SIGNED : POSITIVE, SIGNED, CHECK_RANDOM);
    }
    for (size_t n = 0; n < 24; ++n) {
        const size_t kernel = n % 3 == 2 ? 3 : 1;
        struct check_layer j = layer(format, 1 + n, 7 + n % 5, 6 + n % 8, n % 2 ? 64 : 20 + n, kernel, 1 + n / 4 % 2, 0, 1);
        j.batch = 1 + n % 3;
        j.own_buffer = n % 2;
        run_case(j, n % 2 ? SIGNED : POSITIVE, n % 3 ? SIGNED : POSITIVE, n % 5 ? CHECK_RANDOM : WORST);
    }
}

/* 3x3, by Winograd's algorithm where 16-bit numbers are multiplied: channels around vectors and panels, tiles that extend beyond
 * the image, paddings, batches whose images are computed together. */
static void squares(SimdTensorFormatType format)
{
    static const size_t channels[] = {16, 17, 31, 32, 33, 48, 65, 130}, sides[] = {4, 5, 7, 8, 10, 13, 18, 23};
    for (size_t i = 0; i < 32; ++i) {
        const size_t c = channels[i % 8], k = channels[(3 * i + i / 8) % 8] - (i % 5 == 4 ? 15 : 0);
        struct check_layer j = layer(format, c, sides[i / 4], sides[(i + i / 8) % 8], k, 3, 1, 1, 1);
        j.p->padY = i % 3, j.p->padX = (i + 1) % 3, j.p->padH = i / 3 % 3, j.p->padW = i / 2 % 3;
        check_convolution_output(j.p);
        j.batch = 1 + i % 4;
        j.own_buffer = i % 2;
        j.p->activation = check_activation_at(i % CHECK_ACTIVATIONS);
        set_types(j.p, i / 2);
        run_case(j, i % 2 ? SIGNED : POSITIVE, i % 3 ? SIGNED : POSITIVE, CHECK_RANDOM);
        run_case(j, i % 3 ? SIGNED : POSITIVE, SIGNED, WORST);
    }
}

/* ---- bad arguments */

/* Values that SetParams must refuse, one at a time; the context keeps its previous state. */
static void forward_after_faults(const void * job, void * context, void * const * a)
{
    const struct check_layer * l = job;
    const struct {
        size_t array;
        float value;
        const char * names;
    } faults[] = {{CHECK_STATS, 2, "stats[0]"}, {CHECK_STATS, NAN, "stats[0]"}, {CHECK_STATS + 1, INFINITY, "stats[1]"},
                  {CHECK_STATS + 2, 1e6f, "stats[2]"}, {CHECK_STATS + 2, -INFINITY, "stats[2]"},
                  {CHECK_STATS + 3, NAN, "stats[3]"},
                  {CHECK_WEIGHT, NAN, "weight"}, {CHECK_WEIGHT, INFINITY, "weight"},
                  {CHECK_BIAS, NAN, "bias"}};
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); ++i) {
        const float * arrays[CHECK_NO_ARRAY];
        for (size_t k = 0; k < CHECK_NO_ARRAY; ++k)
            arrays[k] = a[k];
        const size_t n = check_layer_count(l, (enum check_layer_array)faults[i].array);
        float * bad = malloc(n * sizeof(float));
        memcpy(bad, a[faults[i].array], n * sizeof(float));
        bad[n - 1] = faults[i].value;
        arrays[faults[i].array] = bad;
        const int before = errno;
        call_set_params(l, context, arrays);
        errno = before; /* which only good calls must leave */
        check_that(SimdnetLastErrorKind() == 1 && strstr(SimdnetLastError(), faults[i].names), family.set_params,
                   "%s with %g: %s", faults[i].names, (double)faults[i].value, SimdnetLastError());
        free(bad);
    }
    check_layer_forward(job, context, a);
}

static void set_no_stats(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetConvolution8iSetParams(context, a[0], NULL, NULL, NULL);
}

static void refusals(void)
{
    const struct check_layer good = layer(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 2);
    check_layer_refuse_parameters(&good);
    CHECK_REFUSED_INIT(good, "dstT", j.p->dstT = SimdTensorData16b);
    CHECK_REFUSED_INIT(good, "kernelX", j.p->kernelX = 9);
}

static void refusals_of_calls(void)
{
    struct check_layer j = layer(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 1);
    check_case(family.set_params, "without statistics");
    check_in("weight", CHECK_32F, check_layer_count(&j, CHECK_WEIGHT), CHECK_RANDOM);
    check_open(check_layer_init);
    check_refused(CHECK_VALUE, "stats", set_no_stats, &j);
    j.p->activation = SimdConvolutionActivationPrelu;
    declare(&j, POSITIVE, POSITIVE, CHECK_RANDOM);
    check_raises(); /* by the faults */
    check_run(forward_after_faults, &j);
    check_layer_refuse_calls(&j);
    static const char * const names[] = {"stats[0]", "stats[1]", "stats[2]", "stats[3]"};
    for (size_t i = 0; i < 4; ++i)
        check_layer_refuse_missing(&j, (enum check_layer_array)(CHECK_STATS + i), names[i]);
}

/* ---- benchmarks: layers of known networks */

static void begin_bench(struct check_layer * j)
{
    set_types(j->p, 0);
    declare(j, POSITIVE, POSITIVE, CHECK_RANDOM);
}

static void bench(void) { check_layer_bench_known(&family, begin_bench); }

CHECK_FAMILY(convolution_8i)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNchw, SimdTensorFormatNhwc};
    for (size_t i = 0; i < 2; ++i) {
        tails(formats[i]);
        squares(formats[i]);
        fills(formats[i]);
        batches(formats[i]);
        narrow_groups(formats[i]);
        whole_groups(formats[i]);
        few_by_few(formats[i]);
        few_in_phases(formats[i]);
        panels(formats[i]);
        depthwise(formats[i]);
        signals(formats[i]);
        whole(formats[i]);
        if (!check_quick())
            cuts(formats[i]);
        for (size_t n = 0; n < check_count(1800); ++n)
            random_case(formats[i]);
    }
    edges();
    const struct check_layer empty = layer(SimdTensorFormatNhwc, 4, 6, 6, 0, 3, 1, 1, 1);
    check_layer_empty(&empty);
    refusals();
    refusals_of_calls();
    if (check_timed())
        bench();
}
