/* The last error: its text, its kind, when it is cleared, and that each thread has its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/error.h"
#include "test.h"

static void life_of_a_text(void)
{
    float x[4] = {1, -2, 3, -4}, slope = 0.5f;
    TEST_NO_ERROR();
    SimdSynetRelu32f(NULL, 4, &slope, x);
    TEST(strcmp(SimdnetLastError(), "SimdSynetRelu32f: src is NULL, expected an array") == 0);
    TEST(SimdnetLastErrorKind() == 1);
    TEST(SimdnetLastErrorKind() == 1 && SimdnetLastError()[0] != '\0'); /* reading it changes nothing */
    TEST(x[0] == 1 && x[1] == -2 && x[2] == 3 && x[3] == -4);
    SimdSynetRelu32f(x, 4, &slope, x);
    TEST_NO_ERROR();
    TEST(x[0] == 1 && x[1] == -1 && x[2] == 3 && x[3] == -2);
    SimdSynetRelu32f(NULL, 4, NULL, NULL);
    TEST(SimdnetLastErrorKind() == 1);
    SimdSynetRelu32f(NULL, 0, NULL, NULL);
    TEST_NO_ERROR();
}

/* Each function of the infrastructure clears the error of an earlier call. */
static void clearing(void)
{
#define CLEARS(call)                                                                                                        \
    do {                                                                                                                    \
        SimdSynetRelu32f(NULL, 4, NULL, NULL);                                                                              \
        (void)(call);                                                                                                       \
        TEST_NO_ERROR();                                                                                                    \
    } while (0)
    CLEARS(SimdVersion());
    CLEARS(SimdCpuInfo(SimdCpuInfoThreads));
    CLEARS(SimdPerformanceStatistic());
    CLEARS((SimdFree(SimdAllocate(10, 64)), 0));
    CLEARS(SimdAlign(5, 4));
    CLEARS(SimdAlignment());
    CLEARS((SimdRelease(NULL), 0));
    CLEARS(SimdGetThreadNumber());
    CLEARS((SimdSetThreadNumber(1), 0));
    CLEARS(SimdSynetSpecifyTensorFormat(SimdTensorFormatNchwXc));
    CLEARS(SimdSynetTensorAlignment(SimdTensorFormatNchw));
    CLEARS(SimdnetVersionNumber());
    CLEARS(SimdnetActiveIsa());
    CLEARS(SimdnetSetMaxIsa(NULL));
    CLEARS(SimdnetSetVerbose(0));
    CLEARS((int)SimdnetGetPreference());
    CLEARS(SimdnetIsaLevel(0));
    CLEARS(SimdnetIsaLevel(1000));
#undef CLEARS
}

static void long_texts(void)
{
    static char name[5000];
    memset(name, 'n', sizeof(name) - 1);
    TEST(SimdnetSetMaxIsa(name) == SimdFalse);
    TEST(SimdnetLastErrorKind() == 1 && strlen(SimdnetLastError()) > 20 && strlen(SimdnetLastError()) < 1000);
    sn_error_set(SN_ERROR_VALUE, name, "%s", name); /* truncated, no overflow */
    TEST(strlen(SimdnetLastError()) > 100 && strlen(SimdnetLastError()) < 1000);
    sn_error_set(SN_ERROR_STATE, "f", "%s", name);
    TEST(SimdnetLastErrorKind() == 3 && strncmp(SimdnetLastError(), "f: nnn", 6) == 0);
    sn_error_clear();
    TEST_NO_ERROR();
}

/* Sizes that exceed all memory, or matter only if others are not 0: refused, or nothing to do, without delay. */
static void extreme_sizes(void)
{
    const size_t huge = SIZE_MAX - 63;
    float x[4] = {1, 2, 3, 4};
    SimdSynetInnerProductLayerForward(x, x, NULL, huge, 0, x);
    TEST(SimdnetLastErrorKind() == 1);
    TEST(SimdAllocate(0, SIZE_MAX / 2 + 1) == NULL && SimdnetLastErrorKind() == 2);
    TEST(x[0] == 1 && x[1] == 2 && x[2] == 3 && x[3] == 4);

    SimdSynetPoolingForwardMax(NULL, 1, huge, 0, huge, 1, 1, 1, 0, 0, x, 1, 1, SimdFalse);
    TEST_NO_ERROR();
    TEST(x[0] == -FLT_MAX && x[1] == 2);

    /* A single tap may have any dilation, a single output any stride, an output without channels any number of groups. */
    SimdConvolutionParameters p = {.srcC = 1, .srcH = 1, .srcW = 1, .dstC = 1, .dstH = 1, .dstW = 1, .kernelY = 1,
        .kernelX = 1, .dilationY = huge, .dilationX = huge, .strideY = huge, .strideX = huge, .padX = 1, .group = 1};
    for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNhwc; ++format) {
        p.srcF = p.dstF = (SimdTensorFormatType)format;
        p.srcC = p.dstC = p.group = 1;
        void * context = SimdSynetConvolution32fInit(1, &p, NULL);
        SimdSynetConvolution32fSetParams(context, x + 1, NULL, x + 2, NULL);
        SimdSynetConvolution32fForward(context, x + 3, NULL, x);
        TEST_NO_ERROR();
        TEST(x[0] == 3); /* padding, plus the bias */
        SimdRelease(context);
        p.srcC = p.dstC = 0;
        p.group = huge;
        context = SimdSynetConvolution32fInit(1, &p, NULL);
        SimdSynetConvolution32fSetParams(context, NULL, NULL, x, NULL);
        SimdSynetConvolution32fForward(context, NULL, NULL, NULL);
        TEST_NO_ERROR();
        SimdRelease(context);
    }

    /* In a deconvolution, it is a single input that allows any stride. */
    p.padX = 0;
    for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNhwc; ++format) {
        p.srcF = p.dstF = (SimdTensorFormatType)format;
        p.srcC = p.dstC = p.group = 1;
        p.strideY = p.strideX = huge / 16;
        void * context = SimdSynetDeconvolution32fInit(1, &p, NULL);
        x[1] = 2, x[2] = 3, x[3] = 5;
        SimdSynetDeconvolution32fSetParams(context, x + 1, NULL, x + 2, NULL);
        SimdSynetDeconvolution32fForward(context, x + 3, NULL, x);
        TEST_NO_ERROR();
        TEST(x[0] == 13);
        SimdRelease(context);
        p.srcC = p.dstC = 0;
        p.group = format == SimdTensorFormatNchw ? huge : 1;
        context = SimdSynetDeconvolution32fInit(1, &p, NULL);
        SimdSynetDeconvolution32fSetParams(context, NULL, NULL, x, NULL);
        SimdSynetDeconvolution32fForward(context, NULL, NULL, NULL);
        TEST_NO_ERROR();
        SimdRelease(context);
    }
}

static pthread_barrier_t barrier;

/* Odd threads cause errors while even ones succeed; each sees only its own. Returns NULL on success. */
static void * one_of_many(void * argument)
{
    const size_t number = (size_t)(uintptr_t)argument;
    const float slope = 0;
    float x = 1;
    const char * wrong = NULL;
    if (SimdnetLastErrorKind() != 0)
        wrong = "a new thread has an error";
    for (int i = 0; i < 200; ++i) {
        pthread_barrier_wait(&barrier);
        SimdSynetRelu32f(number & 1 ? NULL : &x, 1, &slope, &x);
        pthread_barrier_wait(&barrier);
        if ((SimdnetLastErrorKind() == 1) != (number & 1) || (SimdnetLastError()[0] != '\0') != (number & 1))
            wrong = "a thread sees what another did";
    }
    return (void *)(uintptr_t)wrong;
}

static void threads(void)
{
    enum { THREADS = 6 };
    pthread_t thread[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; ++i)
        if (pthread_create(&thread[i], NULL, one_of_many, (void *)(uintptr_t)i) != 0)
            exit(1);
    for (size_t i = 0; i < THREADS; ++i) {
        void * wrong = NULL;
        TEST(pthread_join(thread[i], &wrong) == 0 && wrong == NULL);
    }
    pthread_barrier_destroy(&barrier);
}

/* The C library's exp(), of which base makes use, sets errno for large numbers. */
static void errno_after_a_good_call(void)
{
    const float src[3] = {-1e30f, 0, 1e30f}, slope = 1;
    float dst[3];
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        errno = 0;
        SimdSynetSigmoid32f(src, 3, &slope, dst);
        SimdSynetSwish32f(src, 3, &slope, dst);
        TEST(errno == 0);
        const float picture[4] = {1, 2, 3, 4}, grid[2] = {INFINITY, 0};
        void * context = SimdSynetGridSample2dInit(1, 1, 2, 2, 1, 1, SimdTensorData32f, SimdGridSampleInterpBilinear,
                                                   SimdGridSamplePaddingReflect, SimdFalse);
        errno = 0;
        SimdSynetGridSample2dForward(context, (const uint8_t *)picture, (const uint8_t *)grid, (uint8_t *)dst);
        TEST(errno == 0 && isnan(dst[0])); /* fmodf() sets it for infinities */
        SimdRelease(context);
    }
    SimdnetSetMaxIsa(NULL);
}

int main(void)
{
    test_alarm();
    life_of_a_text();
    clearing();
    long_texts();
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        extreme_sizes();
    }
    SimdnetSetMaxIsa(NULL);
    errno_after_a_good_call();
    threads();
    return test_end();
}
