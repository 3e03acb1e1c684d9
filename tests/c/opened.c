/*
 * A program opens the library as Python does, with any C library: opened LIBRARY. A thread that existed before has an error of its
 * own, and a convolution in it has the right result. `make check-musl` runs it with musl's loader.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "simdnet.h"

enum { SIDE = 64, CHANNELS = 16, SIZE = SIDE * SIDE * CHANNELS };

static void * opened;
static pthread_barrier_t opening;

static void * function(const char * name)
{
    void * found = dlsym(opened, name);
    if (!found)
        printf("FAIL no %s\n", name);
    return found;
}

/* Returns whether a convolution with 1x1 kernels doubles. */
static int doubles(void)
{
    static float weight[CHANNELS * CHANNELS], x[SIZE], y[SIZE];
    const SimdConvolutionParameters p = {.srcC = CHANNELS, .srcH = SIDE, .srcW = SIDE, .srcT = SimdTensorData32f,
        .srcF = SimdTensorFormatNhwc, .dstC = CHANNELS, .dstH = SIDE, .dstW = SIDE, .dstT = SimdTensorData32f,
        .dstF = SimdTensorFormatNhwc, .kernelY = 1, .kernelX = 1, .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1,
        .group = 1};
    void * (*init)(size_t, const SimdConvolutionParameters *, SimdGemm32fNNPtr);
    void (*set_params)(void *, const float *, SimdBool *, const float *, const float *);
    void (*forward)(void *, const float *, float *, float *);
    void (*release)(void *);
    *(void **)&init = function("SimdSynetConvolution32fInit");
    *(void **)&set_params = function("SimdSynetConvolution32fSetParams");
    *(void **)&forward = function("SimdSynetConvolution32fForward");
    *(void **)&release = function("SimdRelease");
    for (size_t i = 0; i < CHANNELS; ++i)
        weight[i * CHANNELS + i] = 2;
    for (size_t i = 0; i < SIZE; ++i)
        x[i] = (float)(i % 1000);
    void * context = init(1, &p, NULL);
    set_params(context, weight, NULL, NULL, NULL);
    forward(context, x, NULL, y);
    release(context);
    size_t good = 0;
    while (good < SIZE && y[good] == 2 * x[good])
        ++good;
    return good == SIZE;
}

static void * early_thread(void * unused)
{
    pthread_barrier_wait(&opening);
    pthread_barrier_wait(&opening);
    void (*relu)(const float *, size_t, const float *, float *);
    const char * (*error)(void);
    *(void **)&relu = function("SimdSynetRelu32f");
    *(void **)&error = function("SimdnetLastError");
    const int right = doubles();
    relu(NULL, 1, NULL, NULL);
    const int told = strstr(error(), "src is NULL") != NULL;
    if (!right || !told)
        printf("FAIL %s\n", right ? "the text of an error" : "a convolution");
    return right && told ? NULL : unused;
}

int main(int count, char ** arguments)
{
    pthread_t thread;
    void * wrong = NULL;
    pthread_barrier_init(&opening, NULL, 2);
    if (count != 2 || pthread_create(&thread, NULL, early_thread, &thread) != 0)
        return 1;
    pthread_barrier_wait(&opening);
    opened = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
        printf("FAIL %s\n", dlerror());
        return 1;
    }
    const char * (*version)(void), * (*level)(void);
    *(void **)&version = function("SimdVersion");
    *(void **)&level = function("SimdnetActiveIsa");
    pthread_barrier_wait(&opening);
    pthread_join(thread, &wrong);
    printf("opened version %s, level %s: %s\n", version(), level(), wrong ? "failed" : "passed");
    return wrong != NULL;
}
