/* Small layers with every kind of context, for tests of what they have in common; their data are ones. */
#ifndef SN_TESTS_LAYERS_H
#define SN_TESTS_LAYERS_H

#include <stddef.h>
#include <stdint.h>

#include "simdnet.h"

enum { MOST_C = 64, SIDE = 12, MOST = MOST_C * 4 * SIDE * SIDE };

static float ones[MOST], zeros[MOST_C], highs[MOST_C];
static uint16_t small_ones[MOST];
static uint8_t byte_ones[MOST];
static int8_t signed_ones[MOST];
static const float * const weights[3] = {ones, ones, ones};
static const float * const stats[4] = {zeros, highs, zeros, highs};

struct layer {
    const struct kind * kind;
    SimdConvolutionParameters p[3];
    size_t count; /* number of shapes, of a merged convolution */
};

struct kind {
    const char * name;
    void * (*init)(const struct layer * l);
    void (*set)(void * context);
    void (*forward)(void * context, float * dst);
    const char * computes; /* the end of that function's name; NULL: "Forward" */
};

static void * init_32f(const struct layer * l) { return SimdSynetConvolution32fInit(1, l->p, NULL); }
static void set_32f(void * context) { SimdSynetConvolution32fSetParams(context, ones, NULL, ones, NULL); }
static void forward_32f(void * context, float * dst) { SimdSynetConvolution32fForward(context, ones, NULL, dst); }
static const struct kind convolution_32f = {"SimdSynetConvolution32f", init_32f, set_32f, forward_32f, NULL};

static void * init_back(const struct layer * l) { return SimdSynetDeconvolution32fInit(1, l->p, NULL); }
static void set_back(void * context) { SimdSynetDeconvolution32fSetParams(context, ones, NULL, ones, NULL); }
static void forward_back(void * context, float * dst) { SimdSynetDeconvolution32fForward(context, ones, NULL, dst); }
static const struct kind deconvolution_32f = {"SimdSynetDeconvolution32f", init_back, set_back, forward_back, NULL};

static void * init_merged(const struct layer * l) { return SimdSynetMergedConvolution32fInit(1, l->p, l->count, SimdFalse); }
static void set_merged(void * context) { SimdSynetMergedConvolution32fSetParams(context, weights, NULL, weights, NULL); }
static void forward_merged(void * context, float * dst) { SimdSynetMergedConvolution32fForward(context, ones, NULL, dst); }
static const struct kind merged_32f = {"SimdSynetMergedConvolution32f", init_merged, set_merged, forward_merged, NULL};

static void * init_8i(const struct layer * l) { return SimdSynetConvolution8iInit(1, l->p); }
static void set_8i(void * context) { SimdSynetConvolution8iSetParams(context, ones, NULL, NULL, stats); }
static void forward_8i(void * context, float * dst)
{
    SimdSynetConvolution8iForward(context, byte_ones, NULL, (uint8_t *)dst);
}
static const struct kind convolution_8i = {"SimdSynetConvolution8i", init_8i, set_8i, forward_8i, NULL};

static void * init_quantized(const struct layer * l) { return SimdSynetQuantizedConvolutionInit(1, l->p); }
static void set_quantized(void * context)
{
    SimdSynetQuantizedConvolutionSetParams(context, ones, byte_ones, signed_ones, ones, NULL, NULL);
}
static void forward_quantized(void * context, float * dst)
{
    SimdSynetQuantizedConvolutionForward(context, byte_ones, NULL, (uint8_t *)dst);
}
static const struct kind quantized_convolution = {"SimdSynetQuantizedConvolution", init_quantized, set_quantized,
                                                  forward_quantized, NULL};

static void * init_merged_8i(const struct layer * l)
{
    return SimdSynetMergedConvolution8iInit(1, l->p, l->count, SimdSynetCompatibilityDefault);
}
static void set_merged_8i(void * context)
{
    static const float * const params[] = {ones, ones, ones};
    static const float * const bounds[] = {zeros, highs, zeros, highs, zeros, highs};
    SimdSynetMergedConvolution8iSetParams(context, weights, NULL, NULL, params, bounds);
}
static void forward_merged_8i(void * context, float * dst)
{
    SimdSynetMergedConvolution8iForward(context, (const uint8_t *)ones, NULL, (uint8_t *)dst);
}
static const struct kind merged_8i = {"SimdSynetMergedConvolution8i", init_merged_8i, set_merged_8i, forward_merged_8i, NULL};

static void * init_quantized_merged(const struct layer * l)
{
    SimdConvolutionParameters p[3] = {l->p[0], l->p[1], l->p[2]};
    for (size_t i = 0; i < l->count; ++i)
        p[i].activation = SimdConvolutionActivationIdentity;
    return SimdSynetQuantizedMergedConvolutionInit(1, p, l->count, 0);
}
static void set_quantized_merged(void * context)
{
    static const int8_t * const weight[] = {signed_ones, signed_ones, signed_ones};
    SimdSynetQuantizedMergedConvolutionSetParams(context, ones, byte_ones, weight, weights, NULL);
}
static void forward_quantized_merged(void * context, float * dst)
{
    SimdSynetQuantizedMergedConvolutionForward(context, byte_ones, NULL, (uint8_t *)dst);
}
static const struct kind quantized_merged = {"SimdSynetQuantizedMergedConvolution", init_quantized_merged, set_quantized_merged,
                                             forward_quantized_merged, NULL};

static void * init_16b(const struct layer * l) { return SimdSynetConvolution16bInit(1, l->p, SimdSynetCompatibilityDefault); }
static void set_16b(void * context) { SimdSynetConvolution16bSetParams(context, ones, NULL, NULL); }
static void forward_16b(void * context, float * dst)
{
    SimdSynetConvolution16bForward(context, (const uint8_t *)small_ones, NULL, (uint8_t *)dst);
}
static void * init_back_16b(const struct layer * l)
{
    return SimdSynetDeconvolution16bInit(1, l->p, SimdSynetCompatibilityDefault);
}
static void set_back_16b(void * context) { SimdSynetDeconvolution16bSetParams(context, ones, NULL, NULL); }
static void forward_back_16b(void * context, float * dst)
{
    SimdSynetDeconvolution16bForward(context, (const uint8_t *)small_ones, NULL, (uint8_t *)dst);
}
static void * init_merged_16b(const struct layer * l)
{
    return SimdSynetMergedConvolution16bInit(1, l->p, l->count, l->count == 3 ? SimdTrue : SimdFalse);
}
static void set_merged_16b(void * context) { SimdSynetMergedConvolution16bSetParams(context, weights, weights, NULL); }
static void forward_merged_16b(void * context, float * dst)
{
    SimdSynetMergedConvolution16bForward(context, (const uint8_t *)small_ones, NULL, (uint8_t *)dst);
}
static const struct kind merged_16b = {"SimdSynetMergedConvolution16b", init_merged_16b, set_merged_16b, forward_merged_16b,
                                       NULL};
static const struct kind deconvolution_16b = {"SimdSynetDeconvolution16b", init_back_16b, set_back_16b, forward_back_16b, NULL};
static const struct kind convolution_16b = {"SimdSynetConvolution16b", init_16b, set_16b, forward_16b, NULL};

static void * init_add(const struct layer * l)
{
    const size_t size = l->p->dstC * l->p->dstH * l->p->dstW;
    return SimdSynetAdd16bInit(&size, 1, SimdTensorData32f, &size, 1, SimdTensorData32f, SimdTensorData32f,
                               SimdTensorFormatUnknown);
}
static void set_nothing(void * context) { (void)context; }
static void forward_add(void * context, float * dst)
{
    SimdSynetAdd16bForward(context, (const uint8_t *)ones, (const uint8_t *)ones, (uint8_t *)dst);
}
static const struct kind add_16b = {"SimdSynetAdd16b", init_add, set_nothing, forward_add, NULL};

static void * init_quantized_add(const struct layer * l)
{
    const size_t size = l->p->dstC * l->p->dstH * l->p->dstW;
    return SimdSynetQuantizedAddInit(&size, 1, l->p->srcT, NULL, 0, &size, 1, l->p->srcT, NULL, 3,
                                     SimdConvolutionActivationIdentity, NULL, l->p->dstT, NULL, 5);
}
static void forward_quantized_add(void * context, float * dst)
{
    SimdSynetQuantizedAddForward(context, byte_ones, byte_ones, (uint8_t *)dst);
}
static const struct kind quantized_add = {"SimdSynetQuantizedAdd", init_quantized_add, set_nothing, forward_quantized_add,
                                          NULL};

static void * init_scale_16b(const struct layer * l)
{
    return SimdSynetScale16bInit(l->p->dstC, l->p->dstH * l->p->dstW, l->p->srcT, l->p->dstT, l->p->dstF, SimdTrue, SimdTrue);
}
static void forward_scale_16b(void * context, float * dst)
{
    SimdSynetScale16bForward(context, (const uint8_t *)small_ones, ones, ones, (uint8_t *)dst);
}
static const struct kind scale_16b = {"SimdSynetScale16b", init_scale_16b, set_nothing, forward_scale_16b, NULL};

static void * init_scale_8i(const struct layer * l)
{
    return SimdSynetScale8iInit(1, l->p->dstC, l->p->dstH * l->p->dstW, l->p->srcT, l->p->dstT, l->p->dstF,
                                SimdSynetCompatibilityDefault);
}
static void set_scale_8i(void * context) { SimdSynetScale8iSetParams(context, ones, ones, stats); }
static void forward_scale_8i(void * context, float * dst) { SimdSynetScale8iForward(context, byte_ones, (uint8_t *)dst); }
static const struct kind scale_8i = {"SimdSynetScale8i", init_scale_8i, set_scale_8i, forward_scale_8i, NULL};

/* The rows of an image are steps, and its columns sequences. */
static void * init_recurrent(const struct layer * l, SimdnetRecurrentType type)
{
    const SimdnetRecurrentParameters p = {.size = sizeof(p), .type = type, .direction = SimdnetRecurrentBidirectional,
        .steps = l->p->srcH, .batch = l->p->srcW, .input = l->p->srcC, .hidden = l->p->dstC};
    return SimdnetRecurrentInit(&p);
}
static void * init_lstm(const struct layer * l) { return init_recurrent(l, SimdnetRecurrentLstm); }
static void * init_gru(const struct layer * l) { return init_recurrent(l, SimdnetRecurrentGru); }
static void set_recurrent(void * context) { SimdnetRecurrentSetParams(context, ones, ones, ones, NULL); }
static void forward_recurrent(void * context, float * dst)
{
    SimdnetRecurrentCompute(context, &(SimdnetRecurrentArrays){.size = sizeof(SimdnetRecurrentArrays), .src = ones,
        .dst = dst});
}
static const struct kind lstm = {"SimdnetRecurrent", init_lstm, set_recurrent, forward_recurrent, "Compute"};
static const struct kind gru = {"SimdnetRecurrent", init_gru, set_recurrent, forward_recurrent, "Compute"};

static void * init_quantized_gemm(const struct layer * l) { return SimdnetQuantizedGemmInit(l->p->dstC, l->p->srcC, l->p->srcT); }
static void set_quantized_gemm(void * context) { SimdnetQuantizedGemmSetParams(context, byte_ones, SimdTrue); }
static void forward_quantized_gemm(void * context, float * dst)
{
    SimdnetQuantizedGemmForward(context, &(SimdnetQuantizedGemmParameters){.size = sizeof(SimdnetQuantizedGemmParameters),
        .M = 3, .N = 40, .K = 5, .typeA = SimdTensorData8i, .typeB = SimdTensorData8u, .typeC = SimdTensorData32f,
        .A = byte_ones, .C = dst});
}
static const struct kind quantized_gemm = {"SimdnetQuantizedGemm", init_quantized_gemm, set_quantized_gemm,
                                           forward_quantized_gemm, NULL};

/* SAME padding of a square kernel. */
static SimdConvolutionParameters shape(SimdTensorFormatType format, size_t inputs, size_t outputs, size_t kernel,
                                       size_t group)
{
    const size_t pad = kernel / 2;
    return (SimdConvolutionParameters){
        .srcC = inputs, .srcH = SIDE, .srcW = SIDE, .srcT = SimdTensorData32f, .srcF = format,
        .dstC = outputs, .dstH = SIDE, .dstW = SIDE, .dstT = SimdTensorData32f, .dstF = format,
        .kernelY = kernel, .kernelX = kernel, .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1,
        .padY = pad, .padX = pad, .padH = pad, .padW = pad, .group = group, .activation = SimdConvolutionActivationRelu};
}

static struct layer of_type(struct layer l, SimdTensorDataType type)
{
    l.p->srcT = l.p->dstT = type;
    return l;
}

static struct layer of_stride_2(struct layer l)
{
    l.p->strideY = l.p->strideX = 2;
    l.p->dstH = l.p->dstW = 2 * SIDE - 1;
    return l;
}

static struct layer of_floats(const struct kind * kind, SimdConvolutionParameters p) { return (struct layer){kind, {p}, 1}; }

enum { LAYERS = 44 };

/* Layers with different algorithms; `all` has space for LAYERS. Returns their number. */
static size_t all_layers(struct layer * all)
{
    size_t n = 0;
    for (int nhwc = 0; nhwc < 2; ++nhwc) {
        const SimdTensorFormatType format = nhwc ? SimdTensorFormatNhwc : SimdTensorFormatNchw;
        const SimdConvolutionParameters p = shape(format, 5, 5, 3, 1), depthwise = shape(format, 6, 6, 3, 6);
        all[n++] = of_floats(&convolution_32f, p);
        all[n++] = of_floats(&convolution_32f, depthwise);
        all[n++] = of_floats(&convolution_32f, shape(format, 9, 2, 3, 1));   /* few outputs */
        all[n++] = of_floats(&convolution_32f, shape(format, 64, 64, 3, 1)); /* Winograd's algorithm, large blocks */
        all[n++] = of_floats(&deconvolution_32f, p);
        all[n++] = of_stride_2(of_floats(&deconvolution_32f, p));
        all[n++] = of_type(of_floats(&deconvolution_16b, p), SimdTensorData16b);
        all[n++] = of_type(of_stride_2(of_floats(&deconvolution_16b, p)), SimdTensorData16b);
        all[n++] = of_type(of_floats(&convolution_8i, p), SimdTensorData8u);
        all[n++] = of_type(of_floats(&quantized_convolution, p), SimdTensorData8u);
        all[n++] = of_type(of_floats(&quantized_convolution, depthwise), SimdTensorData8u);
        all[n++] = of_type(of_floats(&convolution_16b, p), SimdTensorData16b);
        all[n++] = of_type(of_floats(&convolution_16b, depthwise), SimdTensorData16b);
        all[n++] = of_floats(&add_16b, p);
        all[n++] = of_type(of_floats(&scale_16b, p), SimdTensorData16b);
        all[n++] = of_type(of_floats(&scale_8i, p), SimdTensorData8u);
        all[n++] = of_type(of_floats(&quantized_add, p), SimdTensorData8u);
    }
    const SimdConvolutionParameters wide = shape(SimdTensorFormatNhwc, 5, 40, 1, 1);
    const SimdConvolutionParameters depthwise = shape(SimdTensorFormatNhwc, 40, 40, 3, 40);
    const SimdConvolutionParameters narrow = shape(SimdTensorFormatNhwc, 40, 5, 1, 1);
    all[n++] = (struct layer){&merged_32f, {wide, depthwise, narrow}, 3};
    all[n++] = (struct layer){&merged_32f, {depthwise, narrow}, 2};
    all[n] = (struct layer){&merged_16b, {wide, depthwise, narrow}, 3};
    all[n].p[0].srcT = all[n].p[2].dstT = SimdTensorData16b;
    ++n;
    all[n++] = (struct layer){&merged_16b, {wide, depthwise}, 2};
    all[n++] = (struct layer){&merged_8i, {wide, depthwise, narrow}, 3};
    all[n] = (struct layer){&merged_8i, {depthwise, narrow}, 2};
    all[n].p[0].srcT = SimdTensorData8u;
    ++n;
    all[n] = (struct layer){&quantized_merged, {wide, depthwise, narrow}, 3};
    for (size_t i = 0; i < 3; ++i)
        all[n].p[i].srcT = all[n].p[i].dstT = SimdTensorData8u;
    ++n;
    all[n++] = of_floats(&lstm, shape(SimdTensorFormatNhwc, 5, 5, 1, 1));
    all[n++] = of_floats(&gru, shape(SimdTensorFormatNhwc, 5, 5, 1, 1));
    all[n++] = of_type(of_floats(&quantized_gemm, wide), SimdTensorData8u);
    return n;
}

/* To be called before the first of them is created. */
static void fill_layers(void)
{
    for (size_t i = 0; i < MOST; ++i)
        ones[i] = 1, small_ones[i] = 0x3F80, byte_ones[i] = 1, signed_ones[i] = 1;
    for (size_t i = 0; i < MOST_C; ++i)
        highs[i] = 255;
}

#endif
