/* Without memory: each function that allocates says so with kind 2, leaves dst alone, and works again when there is some.
 * And Forward allocates nothing after its first call in a thread. The library's allocations all end in posix_memalign(),
 * which is replaced here. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/numeric.h"
#include "test.h"

static int allocations;
static size_t allocated; /* bytes */
static bool no_memory;

int posix_memalign(void ** block, size_t align, size_t size)
{
    ++allocations;
    allocated += no_memory ? 0 : size;
    *block = no_memory ? NULL : aligned_alloc(align, size ? size : align);
    return *block ? 0 : ENOMEM;
}

enum { C = 5, S = 9 };

static SimdConvolutionParameters shape(SimdTensorFormatType format)
{
    return (SimdConvolutionParameters){
        .srcC = C, .srcH = S, .srcW = S, .srcT = SimdTensorData32f, .srcF = format,
        .dstC = C, .dstH = S, .dstW = S, .dstT = SimdTensorData32f, .dstF = format,
        .kernelY = 3, .kernelX = 3, .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1,
        .padY = 1, .padX = 1, .padH = 1, .padW = 1, .group = 1, .activation = SimdConvolutionActivationRelu};
}

static bool all_are(const float * x, size_t count, float value)
{
    for (size_t i = 0; i < count; ++i)
        if (x[i] != value)
            return false;
    return true;
}

static void infrastructure(void)
{
    no_memory = true;
    TEST(SimdAllocate(100, 64) == NULL);
    TEST_REFUSED(2, "SimdAllocate: ");
    TEST(sn_scratch((size_t)1 << 26) == NULL);
    const size_t dimensions[1] = {10};
    TEST(SimdSynetAdd16bInit(dimensions, 1, SimdTensorData32f, dimensions, 1, SimdTensorData32f, SimdTensorData32f,
                             SimdTensorFormatUnknown) == NULL);
    TEST_REFUSED(2, "SimdSynetAdd16bInit: ");
    no_memory = false;
    TEST(sn_scratch(100) != NULL);
}

static void convolution(SimdTensorFormatType format)
{
    static float src[C * S * S], dst[C * S * S], weight[C * C * 9];
    const SimdConvolutionParameters p = shape(format);
    for (int i = 0; i < C * S * S; ++i)
        src[i] = 1, dst[i] = -7;
    for (int i = 0; i < C * C * 9; ++i)
        weight[i] = 1;
    no_memory = true;
    TEST(SimdSynetConvolution32fInit(1, &p, NULL) == NULL);
    TEST_REFUSED(2, "SimdSynetConvolution32fInit: ");
    no_memory = false;
    void * c = SimdSynetConvolution32fInit(1, &p, NULL);
    TEST(c != NULL);
    SimdBool internal = SimdFalse;
    no_memory = true;
    SimdSynetConvolution32fSetParams(c, weight, &internal, NULL, NULL);
    TEST_REFUSED(2, "SimdSynetConvolution32fSetParams: ");
    TEST(internal == SimdFalse);
    no_memory = false;
    SimdSynetConvolution32fForward(c, src, NULL, dst);
    TEST_REFUSED(3, "SetParams");
    TEST(all_are(dst, C * S * S, -7));
    SimdSynetConvolution32fSetParams(c, weight, &internal, NULL, NULL);
    TEST_NO_ERROR();
    no_memory = true; /* this thread has no scratch memory yet, and the context may want none */
    SimdSynetConvolution32fForward(c, src, NULL, dst);
    TEST(SimdnetLastErrorKind() == 0 || (SimdnetLastErrorKind() == 2 && all_are(dst, C * S * S, -7)));
    no_memory = false;
    SimdSynetConvolution32fForward(c, src, NULL, dst);
    TEST_NO_ERROR();
    TEST(dst[0] == 4 * C);
    allocations = 0;
    for (int i = 0; i < 10; ++i)
        SimdSynetConvolution32fForward(c, src, NULL, dst);
    TEST(allocations == 0);
    SimdRelease(c);
}

/* Of stride 1 (a convolution) and of stride 2. */
static void deconvolution(SimdTensorFormatType format, size_t stride)
{
    static float src[C * S * S], dst[C * 4 * S * S], weight[C * C * 9];
    SimdConvolutionParameters p = shape(format);
    p.strideY = p.strideX = stride;
    p.dstH = p.dstW = stride * (S - 1) + 1;
    const size_t size = C * p.dstH * p.dstW;
    for (int i = 0; i < C * S * S; ++i)
        src[i] = 1;
    for (int i = 0; i < C * C * 9; ++i)
        weight[i] = 1;
    for (size_t i = 0; i < size; ++i)
        dst[i] = -7;
    no_memory = true;
    TEST(SimdSynetDeconvolution32fInit(1, &p, NULL) == NULL);
    TEST_REFUSED(2, "SimdSynetDeconvolution32fInit: ");
    no_memory = false;
    void * c = SimdSynetDeconvolution32fInit(1, &p, NULL);
    no_memory = true;
    SimdSynetDeconvolution32fSetParams(c, weight, NULL, NULL, NULL);
    TEST_REFUSED(2, "SimdSynetDeconvolution32fSetParams: ");
    no_memory = false;
    SimdSynetDeconvolution32fForward(c, src, NULL, dst);
    TEST_REFUSED(3, "SetParams");
    TEST(all_are(dst, (int)size, -7));
    SimdSynetDeconvolution32fSetParams(c, weight, NULL, NULL, NULL);
    SimdSynetDeconvolution32fForward(c, src, NULL, dst);
    TEST_NO_ERROR();
    TEST(dst[0] == (stride == 1 ? 4 * C : C));
    allocations = 0;
    SimdSynetDeconvolution32fForward(c, src, NULL, dst);
    TEST(allocations == 0);
    SimdRelease(c);
}

/* InternalBufferSize() counts all that a context allocates beside itself: weights, bias, offsets, tables of phases. */
static void deconvolution_size(void)
{
    static float weight[C * C * 9];
    SimdConvolutionParameters p = shape(SimdTensorFormatNhwc);
    allocated = 0;
    SimdRelease(SimdSynetDeconvolution32fInit(1, &p, NULL));
    const size_t context = allocated;
    p.strideY = p.strideX = 40;
    p.dstH = p.dstW = 40 * (S - 1) + 1;
    allocated = 0;
    void * c = SimdSynetDeconvolution32fInit(1, &p, NULL);
    TEST(SimdSynetDeconvolution32fInternalBufferSize(c) == 0);
    SimdSynetDeconvolution32fSetParams(c, weight, NULL, NULL, NULL);
    const size_t bytes = SimdSynetDeconvolution32fInternalBufferSize(c) * sizeof(float), others = allocated - context;
    TEST(bytes <= others && bytes + 3 * 64 >= others); /* blocks are multiples of 64 bytes */
    SimdRelease(c);
}

/* All ones: an expansion, a depthwise convolution and a projection, which each add up what they can reach. */
static void merged_convolution(void)
{
    static float src[C * S * S], dst[C * S * S], weight[C * C * 9];
    SimdConvolutionParameters p[3] = {shape(SimdTensorFormatNhwc), shape(SimdTensorFormatNhwc), shape(SimdTensorFormatNhwc)};
    p[1].group = C;
    p[2].kernelY = p[2].kernelX = 1;
    p[2].padY = p[2].padX = p[2].padH = p[2].padW = 0;
    const float * const weights[3] = {weight, weight, weight};
    for (int i = 0; i < C * S * S; ++i)
        src[i] = 1, dst[i] = -7;
    for (int i = 0; i < C * C * 9; ++i)
        weight[i] = 1;
    no_memory = true;
    TEST(SimdSynetMergedConvolution32fInit(1, p, 3, SimdTrue) == NULL);
    TEST_REFUSED(2, "SimdSynetMergedConvolution32fInit: ");
    no_memory = false;
    void * c = SimdSynetMergedConvolution32fInit(1, p, 3, SimdTrue);
    no_memory = true;
    SimdSynetMergedConvolution32fSetParams(c, weights, NULL, NULL, NULL);
    TEST_REFUSED(2, "SimdSynetMergedConvolution32fSetParams: ");
    TEST(SimdSynetMergedConvolution32fInternalBufferSize(c) == 0);
    no_memory = false;
    SimdSynetMergedConvolution32fForward(c, src, NULL, dst);
    TEST_REFUSED(3, "SetParams");
    TEST(all_are(dst, C * S * S, -7));
    SimdSynetMergedConvolution32fSetParams(c, weights, NULL, NULL, NULL);
    SimdSynetMergedConvolution32fForward(c, src, NULL, dst);
    TEST_NO_ERROR();
    TEST(dst[0] == 1 + C * C * (4 + 6 + 6 + 9));
    allocations = 0;
    SimdSynetMergedConvolution32fForward(c, src, NULL, dst);
    TEST(allocations == 0);
    SimdRelease(c);
}

/* Bytes to bytes, all of one scale: 1 stays 1, and so does what the weights add up to. */
static void convolution_8i(SimdTensorFormatType format)
{
    static uint8_t src[C * S * S], dst[C * S * S];
    static float weight[C * C * 9], low[C], high[C];
    SimdConvolutionParameters p = shape(format);
    p.srcT = p.dstT = SimdTensorData8u;
    for (int i = 0; i < C; ++i)
        high[i] = 255;
    const float * const stats[4] = {low, high, low, high};
    for (int i = 0; i < C * S * S; ++i)
        src[i] = 1, dst[i] = 77;
    for (int i = 0; i < C * C * 9; ++i)
        weight[i] = 1;
    no_memory = true;
    TEST(SimdSynetConvolution8iInit(1, &p) == NULL);
    TEST_REFUSED(2, "SimdSynetConvolution8iInit: ");
    no_memory = false;
    void * c = SimdSynetConvolution8iInit(1, &p);
    no_memory = true;
    SimdSynetConvolution8iSetParams(c, weight, NULL, NULL, stats);
    TEST_REFUSED(2, "SimdSynetConvolution8iSetParams: ");
    no_memory = false;
    SimdSynetConvolution8iForward(c, src, NULL, dst);
    TEST_REFUSED(3, "SetParams");
    TEST(dst[0] == 77);
    SimdSynetConvolution8iSetParams(c, weight, NULL, NULL, stats);
    SimdSynetConvolution8iForward(c, src, NULL, dst);
    TEST_NO_ERROR();
    TEST(dst[0] == 4 * C);
    allocations = 0;
    SimdSynetConvolution8iForward(c, src, NULL, dst);
    TEST(allocations == 0);
    SimdRelease(c);
}

/* Ones, of which every number of a sum is exact. */
static void convolution_16b(SimdTensorFormatType format)
{
    static uint16_t src[C * S * S], dst[C * S * S];
    static float weight[C * C * 9];
    uint8_t * from = (uint8_t *)src, * to = (uint8_t *)dst;
    SimdConvolutionParameters p = shape(format);
    p.srcT = p.dstT = SimdTensorData16b;
    for (int i = 0; i < C * S * S; ++i)
        src[i] = 0x3F80, dst[i] = 77;
    for (int i = 0; i < C * C * 9; ++i)
        weight[i] = 1;
    no_memory = true;
    TEST(SimdnetConvolution16bInit(1, &p) == NULL);
    TEST_REFUSED(2, "SimdnetConvolution16bInit: ");
    no_memory = false;
    void * c = SimdnetConvolution16bInit(1, &p);
    no_memory = true;
    SimdnetConvolution16bSetParams(c, weight, NULL, NULL);
    TEST_REFUSED(2, "SimdnetConvolution16bSetParams: ");
    no_memory = false;
    SimdnetConvolution16bForward(c, from, NULL, to);
    TEST_REFUSED(3, "SetParams");
    TEST(dst[0] == 77);
    SimdnetConvolution16bSetParams(c, weight, NULL, NULL);
    SimdnetConvolution16bForward(c, from, NULL, to);
    TEST_NO_ERROR();
    TEST(sn_16b_to_32f(dst[0]) == 4 * C);
    allocations = 0;
    SimdnetConvolution16bForward(c, from, NULL, to);
    TEST(allocations == 0);
    SimdRelease(c);
}

/* Functions without a context need no memory at all. */
static void plain_functions(void)
{
    static float x[4000], y[4000], z[4000];
    static uint8_t bytes[4000], sums[4000];
    const float slope = 0.5f;
    allocations = 0;
    no_memory = true;
    SimdSynetRelu32f(x, 4000, &slope, y);
    TEST_NO_ERROR();
    SimdSynetSoftmaxLayerForward(x, 20, 10, 20, y);
    TEST_NO_ERROR();
    SimdSynetInnerProductLayerForward(x, z, NULL, 40, 100, y);
    TEST_NO_ERROR();
    SimdSynetAddBias(x, 10, 400, y, SimdTensorFormatNhwc);
    TEST_NO_ERROR();
    SimdSynetAdd8i(bytes, x, x, bytes, x, x, sums, x, x, 1, 10, 400, SimdTensorFormatNhwc, SimdSynetCompatibilityDefault);
    TEST_NO_ERROR();
    SimdSynetConvertImage(1, 10, 400, x, SimdTensorFormatNchw, y, SimdTensorFormatNhwc);
    TEST_NO_ERROR();
    for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNhwc; ++format) {
        SimdSynetPoolingMax32f(x, 10, 20, 20, 1, 5, 5, 1, 1, 1, 0, 2, 2, y, 10, 20, 20, (SimdTensorFormatType)format);
        TEST_NO_ERROR();
        SimdSynetPoolingMax8u(bytes, 10, 20, 20, 5, 5, 1, 1, 2, 2, sums, 20, 20, (SimdTensorFormatType)format);
        TEST_NO_ERROR();
        SimdSynetPoolingAverage(x, 10, 20, 20, 5, 5, 1, 1, 2, 2, y, 20, 20, SimdTrue, (SimdTensorFormatType)format);
        TEST_NO_ERROR();
    }
    TEST(allocations == 0);
    no_memory = false;
}

static void * on_every_level(void * unused)
{
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        plain_functions();
        convolution(SimdTensorFormatNhwc);
        convolution(SimdTensorFormatNchw);
        deconvolution_size();
        for (size_t stride = 1; stride <= 2; ++stride) {
            deconvolution(SimdTensorFormatNhwc, stride);
            deconvolution(SimdTensorFormatNchw, stride);
        }
        merged_convolution();
        convolution_8i(SimdTensorFormatNhwc);
        convolution_8i(SimdTensorFormatNchw);
        convolution_16b(SimdTensorFormatNhwc);
        convolution_16b(SimdTensorFormatNchw);
    }
    infrastructure();
    return unused;
}

/* In a thread of its own, which has no scratch memory yet, and then in the first one. */
int main(void)
{
    test_alarm();
    pthread_t thread;
    if (pthread_create(&thread, NULL, on_every_level, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    on_every_level(NULL);
    return test_end();
}
