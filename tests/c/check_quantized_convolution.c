/* QuantizedConvolution: exact on every instruction set. */
#include <stdlib.h>

#include "check_layer.h"

typedef SimdConvolutionParameters parameters;

static void * make(const struct check_layer * l)
{
    return SimdSynetQuantizedConvolutionInit(l->batch, l->null_conv ? NULL : l->p);
}

/* Weights and bias as integers from the numbers of -1 .. 1 of a case; scales that give some bytes at both ends. */
static bool call_set_params(const struct check_layer * l, void * context, const float * const * a)
{
    static const uint8_t zeros[] = {0, 255, 7, 128, 1};
    const parameters * p = l->p;
    const size_t count = check_layer_count(l, CHECK_WEIGHT), taps = p->dstC ? count / p->dstC : 0;
    const sn_32f * weights = a[CHECK_WEIGHT], * biases = a[CHECK_BIAS]; /* at any address */
    int8_t * weight = malloc(count + 1);
    int32_t * bias = malloc((p->dstC + 1) * sizeof(*bias));
    float * scale = malloc((p->dstC + 1) * sizeof(*scale));
    for (size_t i = 0; i < count && weights; ++i)
        weight[i] = (int8_t)lrintf(fminf(fmaxf(weights[i], -1), 1) * 127);
    for (size_t o = 0; o < p->dstC; ++o) {
        bias[o] = biases ? (int32_t)(fminf(fmaxf(biases[o], -1), 1) * 9999) : 0;
        scale[o] = o % 5 ? 0.5f / (float)(1 + o % 3) : 3e4f; /* of which norm is more than 0.25 */
    }
    const float io[] = {0.25f, 0.5f, l->p->srcW % 2 ? 0.5f : 0.3f};
    const float scaled[] = {io[0] / sqrtf((float)taps + 1) * 0.125f, io[1], io[2]};
    const uint8_t zero[] = {zeros[p->srcC % 5], zeros[p->dstC % 5], zeros[p->srcH % 5]};
    uint8_t table[256];
    for (size_t i = 0; i < 256; ++i)
        table[i] = (uint8_t)(i * 77 + p->dstC);
    const SimdnetQuantizedParams q = {.size = sizeof(q), .srcScale = scaled[0], .srcZero = zero[0], .dstScale = io[2],
        .dstZero = zero[2], .weight = weights ? weight : NULL, .weightScale = scale, .bias = biases ? bias : NULL, .table = table};
    if (p->activation == SimdConvolutionActivationIdentity && p->dstC % 3 == 1)
        SimdnetQuantizedSetParams(context, &q);
    else
        SimdSynetQuantizedConvolutionSetParams(context, scaled, zero, weights ? weight : NULL, scale, biases ? bias : NULL,
                                               a[CHECK_PARAMS]);
    free(weight);
    free(bias);
    free(scale);
    return true;
}

static void run(void * context, const void * src, void * buf, void * dst)
{
    SimdSynetQuantizedConvolutionForward(context, src, buf, dst);
}

static const struct check_layer_family family = {
    CHECK_LAYER_FUNCTIONS(SimdSynetQuantizedConvolution), .unit = 1, .weight_unit = 1, .narrow = true, .make = make,
    .call_set_params = call_set_params, .run = run};

static struct check_layer layer_of(parameters p)
{
    struct check_layer l = check_layer_of(&family, p);
    l.p->srcT = l.p->dstT = SimdTensorData8u;
    return l;
}

static void run_case(struct check_layer j, enum check_fill fill)
{
    void * a[CHECK_NO_ARRAY];
    if (!check_layer_case(&j, check_convolution_text(j.p, j.batch), fill, a))
        return;
    check_layer_run(&j);
}

/* Convolutions of all algorithms, with every activation. */
static void some(SimdTensorFormatType format, size_t n)
{
    parameters p;
    for (size_t i = 0; check_convolution_tail(format, n, 68, i, &p); ++i)
        run_case(layer_of(p), CHECK_RANDOM);
    struct check_layer j = layer_of(check_convolution_shape(format, n, 9, 18, n, 2 + n % 4, 1 + n % 2, 1, n));
    j.p->activation = check_activation_at(n % CHECK_ACTIVATIONS);
    run_case(j, CHECK_RANDOM);
}

/* 3x3, see check_convolution_8i.c. */
static void squares(SimdTensorFormatType format)
{
    static const size_t channels[] = {16, 31, 32, 49, 66, 96}, sides[] = {4, 6, 9, 12, 15, 22};
    for (size_t i = 0; i < 36; ++i) {
        const size_t c = channels[i % 6], k = channels[(i / 6 + 2 * i) % 6] - (i % 5 == 4 ? 15 : 0);
        const size_t wide = sides[(i + i / 4) % 6];
        struct check_layer j = layer_of(check_convolution_shape(format, c, sides[i / 6], wide, k, 3, 1, i % 3, 1));
        j.batch = 1 + i % 3, j.no_bias = i % 4 == 3;
        j.p->activation = check_activation_at(i / 2 % CHECK_ACTIVATIONS);
        run_case(j, i % 2 ? CHECK_RANDOM : CHECK_EQUAL);
    }
}

static void random_case(SimdTensorFormatType format)
{
    struct check_layer j = layer_of(check_convolution_random(format, 30, 80));
    j.batch = check_few(2), j.own_buffer = check_random(0, 1), j.no_bias = check_random(0, 3) == 0;
    run_case(j, check_random(0, 9) ? CHECK_RANDOM : CHECK_EQUAL);
}

static void refusals(SimdTensorFormatType format)
{
    struct check_layer good = layer_of(check_convolution_shape(format, 4, 6, 6, 6, 3, 1, 1, 2));
    check_layer_refuse_parameters(&good);
    CHECK_REFUSED_INIT(good, "srcT", j.p->srcT = SimdTensorData32f);
    CHECK_REFUSED_INIT(good, "dstT", j.p->dstT = SimdTensorData32f);
    good.p->activation = SimdConvolutionActivationPrelu;
    check_layer_refuse_calls(&good);
}

CHECK_FAMILY(quantized_convolution)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNchw, SimdTensorFormatNhwc};
    for (size_t i = 0; i < 2; ++i) {
        for (size_t n = 1; n <= 68; ++n)
            some(formats[i], n);
        squares(formats[i]);
        for (size_t n = 0; n < check_count(800); ++n)
            random_case(formats[i]);
        refusals(formats[i]);
    }
    const struct check_layer empty = layer_of(check_convolution_shape(SimdTensorFormatNhwc, 4, 6, 6, 0, 3, 1, 1, 1));
    check_layer_empty(&empty);
}
