/*
 * Times of layers, for tests/bench/windows/compare.py, which runs this program with the DLL under Wine and with Linux's
 * library in turn: a line for each layer, with its name and the least number of cycles of the processor's clock.
 */
#include <simdnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

enum { FLOATS = 1 << 20, ROUNDS = 60 };

static float * a, * b, * c;
static const float one = 1, zero = 0, lrn[3] = {1, 1e-4f, -0.75f};

/* The least of many calls: what else the machine does makes some of them longer. */
#define TIME(name, call)                                                                                                        \
    do {                                                                                                                        \
        unsigned long long least = ~0ull;                                                                                       \
        for (int i = 0; i < ROUNDS; ++i) {                                                                                      \
            const unsigned long long begin = __rdtsc();                                                                         \
            call;                                                                                                               \
            const unsigned long long spent = __rdtsc() - begin;                                                                 \
            least = spent < least ? spent : least;                                                                              \
        }                                                                                                                       \
        printf("%s\t%llu\n", name, least);                                                                                      \
        if (*SimdnetLastError())                                                                                                \
            fprintf(stderr, "%s: %s\n", name, SimdnetLastError()), exit(1);                                                     \
    } while (0)

/* channels -> outputs, size x size, kernel x kernel, NHWC; depthwise if `group` is `channels`. */
static SimdConvolutionParameters convolution(size_t channels, size_t outputs, size_t size, size_t kernel, size_t stride,
                                             size_t group)
{
    SimdConvolutionParameters p;
    memset(&p, 0, sizeof(p));
    p.srcC = channels, p.dstC = outputs, p.group = group;
    p.srcH = p.srcW = size, p.dstH = p.dstW = (size + stride - 1) / stride;
    p.srcF = p.dstF = SimdTensorFormatNhwc;
    p.kernelY = p.kernelX = kernel;
    p.dilationY = p.dilationX = 1, p.strideY = p.strideX = stride;
    p.padY = p.padX = p.padH = p.padW = kernel / 2;
    p.activation = SimdConvolutionActivationRelu;
    if (stride == 2)
        p.padY = p.padX = kernel / 2 - (kernel == 3);
    return p;
}

static void floats(const char * name, SimdConvolutionParameters p)
{
    void * context = SimdSynetConvolution32fInit(1, &p, NULL);
    SimdSynetConvolution32fSetParams(context, b, NULL, b, NULL);
    TIME(name, SimdSynetConvolution32fForward(context, a, NULL, c));
    SimdRelease(context);
}

static void bytes(const char * name, SimdConvolutionParameters p)
{
    static float least[2048], most[2048];
    const float * const stats[4] = {least, most, least, most};
    for (int i = 0; i < 2048; ++i)
        most[i] = 1;
    p.srcT = p.dstT = SimdTensorData8u;
    void * context = SimdSynetConvolution8iInit(1, &p);
    SimdSynetConvolution8iSetParams(context, b, b, NULL, stats);
    TIME(name, SimdSynetConvolution8iForward(context, (const uint8_t *)a, NULL, (uint8_t *)c));
    SimdRelease(context);
}

static void halves(const char * name, SimdConvolutionParameters p)
{
    p.srcT = p.dstT = SimdTensorData16b;
    void * context = SimdSynetConvolution16bInit(1, &p, SimdSynetCompatibilityDefault);
    SimdSynetConvolution16bSetParams(context, b, b, NULL);
    TIME(name, SimdSynetConvolution16bForward(context, (const uint8_t *)a, NULL, (uint8_t *)c));
    SimdRelease(context);
}

static void inner_product(size_t rows)
{
    char name[40];
    void * context = SimdSynetInnerProduct32fInit(rows, 512, 512, SimdTrue, SimdTrue, SimdTrue, SimdConvolutionActivationRelu);
    SimdSynetInnerProduct32fSetParams(context, b, NULL, b, NULL);
    snprintf(name, sizeof(name), "inner product, %u rows", (unsigned)rows);
    TIME(name, SimdSynetInnerProduct32fForward(context, a, NULL, NULL, c));
    SimdRelease(context);
}

static void without_contexts(void)
{
    const SimdTensorFormatType nhwc = SimdTensorFormatNhwc, nchw = SimdTensorFormatNchw;
    TIME("gemm 192", SimdGemm32fNN(192, 192, 192, &one, a, 192, b, 192, &zero, c, 192));
    TIME("pooling max nhwc", SimdSynetPoolingMax32f(a, 64, 56, 56, 1, 3, 3, 1, 2, 2, 0, 1, 1, c, 64, 28, 28, nhwc));
    TIME("pooling max nchw", SimdSynetPoolingMax32f(a, 64, 56, 56, 1, 3, 3, 1, 2, 2, 0, 1, 1, c, 64, 28, 28, nchw));
    TIME("pooling average nhwc", SimdSynetPoolingAverage(a, 64, 56, 56, 3, 3, 2, 2, 1, 1, c, 28, 28, SimdTrue, nhwc));
    TIME("softmax, 64 rows", SimdSynetSoftmaxLayerForward(a, 64, 1000, 1, c));
    TIME("softmax, 1 row", SimdSynetSoftmaxLayerForward(a, 1, 64000, 1, c));
    TIME("layer norm", SimdSynetNormalizeLayerForwardV2(a, 1, 256, 196, b, b, &one, nhwc, NULL, c));
    TIME("lrn", SimdSynetLrnLayerCrossChannels(a, 2, 64, 784, lrn, c, nhwc));
    TIME("scale", SimdSynetScaleLayerForward(a, b, b, 64, 784, c, nhwc));
    TIME("sigmoid", SimdSynetSigmoid32f(a, 50000, &one, c));
    TIME("tanh", SimdSynetTanh32f(a, 50000, &one, c));
    TIME("gelu", SimdSynetGelu32f(a, 50000, c));
    TIME("floats to bytes", SimdSynetConvert32fTo8u(a, 1, 64, 28, 28, nhwc, b, b, (uint8_t *)c, SimdSynetCompatibilityDefault));
}

static float * values(void)
{
    float * array = calloc(FLOATS + 16, sizeof(float));
    if (!array)
        exit(1);
    float * aligned = (float *)(((uintptr_t)array + 63) & ~(uintptr_t)63);
    for (int i = 0; i < FLOATS; ++i)
        aligned[i] = (float)(i * 7919 % 101) / 101;
    return aligned;
}

int main(void)
{
    a = values(), b = values(), c = values();
    floats("convolution 3x3, 64 -> 64, 28", convolution(64, 64, 28, 3, 1, 1));
    floats("convolution 3x3 / 2, 64 -> 128, 28", convolution(64, 128, 28, 3, 2, 1));
    floats("convolution 1x1, 128 -> 128, 28", convolution(128, 128, 28, 1, 1, 1));
    floats("convolution 3x3, 3 -> 32, 56", convolution(3, 32, 56, 3, 1, 1));
    floats("depthwise 3x3, 128, 28", convolution(128, 128, 28, 3, 1, 128));
    floats("depthwise 5x5, 128, 14", convolution(128, 128, 14, 5, 1, 128));
    bytes("bytes 3x3, 64 -> 64, 28", convolution(64, 64, 28, 3, 1, 1));
    bytes("bytes 1x1, 128 -> 128, 28", convolution(128, 128, 28, 1, 1, 1));
    bytes("bytes depthwise 3x3, 128, 28", convolution(128, 128, 28, 3, 1, 128));
    halves("bfloat16 3x3, 64 -> 64, 28", convolution(64, 64, 28, 3, 1, 1));
    halves("bfloat16 1x1, 128 -> 128, 28", convolution(128, 128, 28, 1, 1, 1));
    inner_product(1);
    inner_product(64);
    without_contexts();
    return 0;
}
