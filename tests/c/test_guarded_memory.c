/*
 * Memory of contexts and scratch memory are neither read nor written beyond their end: each block that the library allocates
 * ends at an inaccessible page. All its allocations go through posix_memalign(), which is replaced here, together with
 * free(). (The checker places the caller's arrays next to such pages.) Released blocks are unmapped, which reveals a double
 * release, whichever allocation of SetParams failed before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/memory.h"
#include "emulated.h"
#include "test.h"

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)

int main(void)
{
    printf("skipped: the sanitizer has an allocator of its own, which sees the same\n");
    return 0;
}

#else

enum { BLOCKS = 64 };

static struct block {
    char * begin, * user;
    size_t bytes; /* including the inaccessible page */
} blocks[BLOCKS];

static size_t failing; /* the number of the next allocation that fails, counted from here; 0 for none */

extern void __libc_free(void * block);

int posix_memalign(void ** block, size_t align, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), most = align > page ? align : page;
    const size_t bytes = sn_align(size, most) + most + page;
    struct block * b = blocks;
    while (b < blocks + BLOCKS && b->begin)
        ++b;
    const bool fails = failing && --failing == 0;
    if (fails || b == blocks + BLOCKS)
        return ENOMEM;
    char * begin = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED)
        return ENOMEM;
    char * const end = (char *)((uintptr_t)(begin + bytes - page) & ~(uintptr_t)(most - 1));
    mprotect(end, page, PROT_NONE);
    *b = (struct block){begin, end - sn_align(size, align), bytes};
    memset(begin, 0x7F, (size_t)(end - begin)); /* as floats, NaNs */
    *block = b->user;
    return 0;
}

void free(void * block)
{
    for (struct block * b = blocks; block && b < blocks + BLOCKS; ++b)
        if (b->user == block) {
            munmap(b->begin, b->bytes);
            *b = (struct block){NULL, NULL, 0};
            return;
        }
    __libc_free(block);
}

/* ---- contexts with any number of channels */

enum { MOST = 132, H = 5, W = 7, PIXELS = H * W };

static char text[200];

static void on_crash(int number)
{
    (void)number;
    const char fail[] = "FAIL beyond a block: ";
    if (write(STDOUT_FILENO, fail, sizeof(fail) - 1) > 0 && write(STDOUT_FILENO, text, strlen(text)) > 0)
        (void)!write(STDOUT_FILENO, "\n", 1);
    _exit(1);
}

static float src[MOST * PIXELS], dst[4 * MOST * PIXELS], weight[MOST * MOST * 9], low[MOST], high[MOST];

static SimdConvolutionParameters shape(SimdTensorDataType type, SimdTensorFormatType format, size_t from, size_t to)
{
    SimdConvolutionParameters p = {.srcC = from, .srcH = H, .srcW = W, .srcT = type, .srcF = format, .dstC = to, .dstH = H,
        .dstW = W, .dstT = type, .dstF = format, .kernelY = 1, .kernelX = 1, .dilationY = 1, .dilationX = 1, .strideY = 1,
        .strideX = 1, .group = 1, .activation = SimdConvolutionActivationRelu};
    if (to % 2) {
        p.kernelY = p.kernelX = 3;
        p.padY = p.padX = p.padH = p.padW = 1;
    }
    snprintf(text, sizeof(text), "%zu to %zu channels, kernel %zu, type %d, format %d on %s", from, to, p.kernelX, (int)type,
             (int)format, SimdnetActiveIsa());
    return p;
}

static void convolution_8i(const SimdConvolutionParameters * p)
{
    const float * const stats[4] = {low, high, low, high};
    void * c = SimdSynetConvolution8iInit(1, p);
    SimdSynetConvolution8iSetParams(c, weight, NULL, NULL, stats);
    SimdSynetConvolution8iForward(c, (const uint8_t *)src, NULL, (uint8_t *)dst);
    TEST_NO_ERROR();
    SimdRelease(c);
}

static void convolution_16b(const SimdConvolutionParameters * p)
{
    void * c = SimdSynetConvolution16bInit(1, p, SimdSynetCompatibilityDefault);
    SimdSynetConvolution16bSetParams(c, weight, NULL, NULL);
    SimdSynetConvolution16bForward(c, (const uint8_t *)src, NULL, (uint8_t *)dst);
    TEST_NO_ERROR();
    SimdRelease(c);
}

static void convolution_32f(const SimdConvolutionParameters * p)
{
    void * c = SimdSynetConvolution32fInit(1, p, NULL);
    SimdSynetConvolution32fSetParams(c, weight, NULL, NULL, NULL);
    SimdSynetConvolution32fForward(c, src, NULL, dst);
    TEST_NO_ERROR();
    SimdRelease(c);
}

static void deconvolution_32f(SimdConvolutionParameters p)
{
    p.strideY = p.strideX = 2;
    p.dstH = 2 * (H - 1) + p.kernelY - p.padY - p.padH;
    p.dstW = 2 * (W - 1) + p.kernelX - p.padX - p.padW;
    void * c = SimdSynetDeconvolution32fInit(1, &p, NULL);
    SimdSynetDeconvolution32fSetParams(c, weight, NULL, NULL, NULL);
    SimdSynetDeconvolution32fForward(c, src, NULL, dst);
    TEST_NO_ERROR();
    SimdRelease(c);
}

/* An expansion, a depthwise convolution, a projection. */
static void * merged(size_t from, size_t to)
{
    const SimdTensorFormatType nhwc = SimdTensorFormatNhwc;
    SimdConvolutionParameters p[3] = {shape(SimdTensorData32f, nhwc, from, to - to % 2),
                                      shape(SimdTensorData32f, nhwc, to - to % 2, to - to % 2 + 1),
                                      shape(SimdTensorData32f, nhwc, to - to % 2, from - from % 2)};
    p[1].group = p[1].dstC = p[1].srcC;
    return SimdSynetMergedConvolution32fInit(1, p, 3, SimdFalse);
}

static const float * const weights[3] = {weight, weight, weight};

static void merged_convolution_32f(size_t from, size_t to)
{
    void * c = merged(from, to);
    SimdSynetMergedConvolution32fSetParams(c, weights, NULL, NULL, NULL);
    SimdSynetMergedConvolution32fForward(c, src, NULL, dst);
    TEST_NO_ERROR();
    SimdRelease(c);
}

/* Released, or given its weights and then released, after an allocation of SetParams failed, for each stage in turn. */
static void merged_convolution_32f_after_a_failure(void)
{
    for (size_t stage = 1; stage <= 3; ++stage)
        for (int again = 0; again < 2; ++again) {
            void * c = merged(20, 30);
            snprintf(text, sizeof(text), "released again, allocation %zu failed on %s", stage, SimdnetActiveIsa());
            failing = stage;
            SimdSynetMergedConvolution32fSetParams(c, weights, NULL, NULL, NULL);
            TEST_REFUSED(2, "SimdSynetMergedConvolution32fSetParams: ");
            TEST(failing == 0 && SimdSynetMergedConvolution32fInternalBufferSize(c) == 0);
            if (again) {
                SimdSynetMergedConvolution32fSetParams(c, weights, NULL, NULL, NULL);
                SimdSynetMergedConvolution32fForward(c, src, NULL, dst);
                TEST_NO_ERROR();
            }
            SimdRelease(c);
            TEST_NO_ERROR();
        }
}

/* A single sequence, and two; hidden units of all kinds of layers. */
static void recurrent(size_t from, size_t to)
{
    for (size_t i = 0; i < 6; ++i) {
        const SimdnetRecurrentParameters p = {.size = sizeof(p), .type = (SimdnetRecurrentType)(i % 3), .steps = 2,
            .batch = 1 + i / 3, .input = from, .hidden = to};
        snprintf(text, sizeof(text), "recurrent layer %zu, %zu to %zu on %s", i, from, to, SimdnetActiveIsa());
        void * c = SimdnetRecurrentInit(&p);
        SimdnetRecurrentSetParams(c, weight, weight, NULL, NULL);
        SimdnetRecurrentCompute(c, &(SimdnetRecurrentArrays){.size = sizeof(SimdnetRecurrentArrays), .src = src, .dst = dst});
        TEST_NO_ERROR();
        SimdRelease(c);
    }
}

static void all_of(size_t from, size_t to)
{
    static const SimdTensorFormatType formats[] = {SimdTensorFormatNchw, SimdTensorFormatNhwc};
    for (size_t f = 0; f < 2; ++f)
        for (int depthwise = 0; depthwise < 2; ++depthwise) {
            SimdConvolutionParameters p = shape(SimdTensorData8u, formats[f], depthwise ? to : from, to);
            p.group = depthwise ? to : 1;
            convolution_8i(&p);
            p.srcT = p.dstT = SimdTensorData16b;
            convolution_16b(&p);
            p.srcT = p.dstT = SimdTensorData32f;
            convolution_32f(&p);
            if (f == 0 || !depthwise)
                deconvolution_32f(p);
        }
    merged_convolution_32f(from + 2, to + 2);
    recurrent(from, to);
}

int main(void)
{
    const struct sigaction action = {.sa_handler = on_crash};
    sigaction(SIGSEGV, &action, NULL);
    for (size_t i = 0; i < MOST; ++i)
        high[i] = 255;
    for (size_t i = 0; !emulated() && SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        for (size_t to = 1; to < MOST - 2; ++to)
            all_of(1 + to % 7 * 3, to);
        merged_convolution_32f_after_a_failure();
    }
    return test_end();
}

#endif
