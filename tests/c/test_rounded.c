/*
 * SimdnetPreferBfloat16, on every instruction set: a context of floats has the bits of the context of bfloat16 numbers whose source
 * and result are floats, where its info says so, and otherwise the bits of one that prefers speed. On `amx`, layers of many
 * channels multiply so, and no layer of few channels does; on the others none does.
 */
#include <math.h>

#include "test.h"

typedef SimdConvolutionParameters parameters;

enum { MOST = 1 << 18, PADDING = 64 };

static float source[MOST], weight[MOST], bias[256], slopes[256], added[MOST], buffer[MOST];
static float expected[MOST], result[MOST];
static const SimdTensorFormatType NHWC = SimdTensorFormatNhwc, NCHW = SimdTensorFormatNchw;
static const float * const weights[] = {weight, weight + 5, weight + 10}, * const biases[] = {bias, bias, bias},
                   * const params[] = {slopes, slopes, slopes};

static void fill(float * to, size_t count)
{
    static uint32_t state = 1;
    for (size_t i = 0; i < count; ++i) {
        state = state * 1664525 + 1013904223;
        to[i] = (float)(state >> 8) / (1 << 23) - 1;
    }
}

/* A layer: a convolution, two or three merged ones, or an inner product of M = srcH rows. */
struct layer {
    size_t batch, count; /* count 0: an inner product */
    parameters p[3];
    SimdBool transB, residual;
    bool many; /* it has so many channels that bfloat16 gains */
};

static parameters shape(SimdTensorFormatType format, size_t side, size_t srcC, size_t dstC, size_t kernel, size_t group,
                        SimdConvolutionActivationType activation)
{
    const size_t pad = kernel / 2;
    return (parameters){.srcC = srcC, .srcH = side, .srcW = side, .srcT = SimdTensorData32f, .srcF = format, .dstC = dstC,
        .dstH = side, .dstW = side, .dstT = SimdTensorData32f, .dstF = format, .kernelY = kernel, .kernelX = kernel,
        .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1, .padY = pad, .padX = pad, .padH = pad, .padW = pad,
        .group = group, .activation = activation};
}

/* With parameters set. `small`: the context of bfloat16 numbers. */
static void * context_of(const struct layer * l, bool small)
{
    void * c;
    if (l->count == 0) {
        const parameters * p = l->p;
        const SimdTensorDataType t = SimdTensorData32f;
        c = small ? SimdSynetInnerProduct16bInit(p->srcH, p->dstC, p->srcC, t, t, t, l->transB, SimdTrue, SimdTrue, p->activation)
                  : SimdSynetInnerProduct32fInit(p->srcH, p->dstC, p->srcC, l->transB, SimdTrue, SimdTrue, p->activation);
        if (small)
            SimdSynetInnerProduct16bSetParams(c, weight, bias, slopes);
        else
            SimdSynetInnerProduct32fSetParams(c, weight, NULL, bias, slopes);
    } else if (l->count == 1) {
        c = small ? SimdSynetConvolution16bInit(l->batch, l->p, SimdSynetCompatibilityDefault)
                  : SimdSynetConvolution32fInit(l->batch, l->p, NULL);
        if (small)
            SimdSynetConvolution16bSetParams(c, weight, bias, slopes);
        else
            SimdSynetConvolution32fSetParams(c, weight, NULL, bias, slopes);
    } else {
        c = small ? SimdSynetMergedConvolution16bInit(l->batch, l->p, l->count, l->residual)
                  : SimdSynetMergedConvolution32fInit(l->batch, l->p, l->count, l->residual);
        if (small)
            SimdSynetMergedConvolution16bSetParams(c, weights, biases, params);
        else
            SimdSynetMergedConvolution32fSetParams(c, weights, NULL, biases, params);
    }
    TEST_NO_ERROR();
    return c;
}

static size_t results_of(const struct layer * l)
{
    const parameters * last = &l->p[l->count ? l->count - 1 : 0];
    return l->count ? l->batch * last->dstC * last->dstH * last->dstW : last->srcH * last->dstC;
}

static void forward(void * c, const float * add, void * buf, float * dst)
{
    SimdnetForward(c, &(SimdnetForwardParameters){.size = sizeof(SimdnetForwardParameters), .src = source, .add = add, .dst = dst,
                                                  .buf = buf});
    TEST_NO_ERROR();
}

static size_t buffer_size(const struct layer * l, const void * c)
{
    return l->count == 0   ? SimdSynetInnerProduct32fExternalBufferSize(c)
           : l->count == 1 ? SimdSynetConvolution32fExternalBufferSize(c)
                           : SimdSynetMergedConvolution32fExternalBufferSize(c);
}

static void is_rounded_as_said(const struct layer * l, bool fast)
{
    const size_t count = results_of(l);
    SimdnetSetPreference(SimdnetPreferBfloat16);
    void * c = context_of(l, false);
    SimdnetSetPreference(SimdnetPreferSpeed);
    const bool rounded = strncmp(SimdnetContextInfo(c), "by bfloat16, ", 13) == 0;
    TEST(rounded == (fast && l->many));
    void * other = context_of(l, rounded), * floats = context_of(l, false);
    forward(other, NULL, NULL, expected);
    const size_t size = buffer_size(l, c);
    TEST(size + PADDING <= MOST);
    fill(buffer + size, PADDING);
    float after[PADDING];
    memcpy(after, buffer + size, sizeof(after));
    forward(c, NULL, buffer, result);
    TEST(memcmp(result, expected, count * sizeof(float)) == 0);
    TEST(memcmp(after, buffer + size, sizeof(after)) == 0);
    if (!l->residual) { /* an array that a call adds: beside floats */
        forward(c, added, NULL, result);
        forward(floats, added, NULL, expected);
        float error = 0, largest = 0;
        for (size_t i = 0; i < count; ++i) {
            error = fmaxf(error, fabsf(result[i] - expected[i]));
            largest = fmaxf(largest, fabsf(expected[i]));
        }
        TEST(error <= (rounded ? 0.02F : 1e-5F) * largest);
    }
    TEST(SimdnetShareParams(c, floats) == (rounded ? SimdFalse : SimdTrue));
    SimdRelease(c);
    SimdRelease(other);
    SimdRelease(floats);
}

int main(void)
{
    test_alarm();
    const SimdConvolutionActivationType none = SimdConvolutionActivationIdentity, prelu = SimdConvolutionActivationPrelu,
                                        swish = SimdConvolutionActivationSwish;
    const struct layer layers[] = {
        {2, 1, {shape(NHWC, 14, 32, 24, 3, 1, prelu)}, 0, 0, true},
        {1, 1, {shape(NCHW, 14, 32, 24, 3, 1, swish)}, 0, 0, true},
        {1, 1, {shape(NCHW, 9, 48, 40, 1, 1, none)}, 0, 0, true},
        {1, 1, {shape(NHWC, 12, 32, 32, 3, 4, none)}, 0, 0, true},
        {1, 1, {shape(NHWC, 12, 3, 16, 7, 1, none)}, 0, 0, true},
        {1, 1, {shape(NHWC, 12, 3, 16, 3, 1, none)}, 0, 0, false},
        {1, 1, {shape(NHWC, 12, 32, 4, 3, 1, none)}, 0, 0, false},
        {1, 1, {shape(NHWC, 12, 32, 32, 3, 32, none)}, 0, 0, false},
        {1, 1, {shape(NCHW, 12, 32, 32, 3, 8, none)}, 0, 0, false},
        {1, 3, {shape(NHWC, 10, 24, 48, 1, 1, swish), shape(NHWC, 10, 48, 48, 3, 48, prelu), shape(NHWC, 10, 48, 24, 1, 1, none)},
         0, SimdTrue, true},
        {2, 3, {shape(NHWC, 10, 24, 48, 3, 1, prelu), shape(NHWC, 10, 48, 48, 5, 48, swish), shape(NHWC, 10, 48, 32, 1, 1, prelu)},
         0, 0, true},
        {1, 2, {shape(NHWC, 10, 24, 48, 1, 1, swish), shape(NHWC, 10, 48, 48, 3, 48, none)}, 0, 0, true},
        {1, 2, {shape(NHWC, 10, 48, 48, 3, 48, prelu), shape(NHWC, 10, 48, 16, 1, 1, prelu)}, 0, 0, true},
        {1, 2, {shape(NHWC, 10, 48, 48, 3, 48, prelu), shape(NHWC, 10, 48, 4, 1, 1, prelu)}, 0, 0, false},
        {1, 0, {shape(NHWC, 37, 64, 50, 1, 1, prelu)}, SimdFalse, 0, true},
        {1, 0, {shape(NHWC, 1, 100, 50, 1, 1, none)}, SimdTrue, 0, true},
        {1, 0, {shape(NHWC, 9, 16, 50, 1, 1, none)}, SimdTrue, 0, false},
    };
    fill(source, MOST);
    fill(weight, MOST);
    fill(bias, 256);
    fill(slopes, 256);
    fill(added, MOST);
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        const bool fast = strcmp(SimdnetIsaLevel(level), "amx") == 0;
        for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); ++i) {
            const int failed = test_failed;
            is_rounded_as_said(&layers[i], fast);
            if (test_failed > failed)
                printf("layer %zu on %s\n", i, SimdnetIsaLevel(level));
        }
    }
    return test_end();
}
