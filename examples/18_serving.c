/* Many requests, many threads, one context: every thread has its own images and buffer, the weights are shared. */
#define _POSIX_C_SOURCE 199309L
#include <pthread.h>
#include <simdnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 8, REQUESTS = 100, C = 32, SIZE = 28, IMAGE = SIZE * SIZE * C, WEIGHTS = 9 * C * C };

static void * convolution; /* created once, before the threads */
static float image[IMAGE], weight[WEIGHTS], expected[IMAGE];

struct worker {
    pthread_t thread;
    int served, wrong;
};

/* The work of a server's thread; each thread has its own last error. */
static void * serve(void * argument)
{
    struct worker * worker = argument;
    float * result = malloc(IMAGE * sizeof(float));
    float * buffer = malloc(SimdSynetConvolution32fExternalBufferSize(convolution) * sizeof(float));
    for (int i = 0; result && buffer && i < REQUESTS; ++i) {
        SimdSynetConvolution32fForward(convolution, image, buffer, result);
        worker->served += !*SimdnetLastError();
        worker->wrong += memcmp(result, expected, sizeof expected) != 0;
    }
    free(result);
    free(buffer);
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    SimdConvolutionParameters shape = {0};
    shape.srcC = shape.dstC = C;
    shape.srcH = shape.srcW = shape.dstH = shape.dstW = SIZE;
    shape.srcF = shape.dstF = SimdTensorFormatNhwc;
    shape.kernelY = shape.kernelX = 3;
    shape.dilationY = shape.dilationX = shape.strideY = shape.strideX = shape.group = 1;
    shape.padY = shape.padX = shape.padH = shape.padW = 1;
    for (int i = 0; i < IMAGE; ++i)
        image[i] = (float)(i * 7919 % 101) / 50 - 1;
    for (int i = 0; i < WEIGHTS; ++i)
        weight[i] = (float)(i * 7919 % 103) / 500 - 0.1f;
    if (!(convolution = SimdSynetConvolution32fInit(1, &shape, NULL)))
        return puts(SimdnetLastError()), 1;
    SimdSynetConvolution32fSetParams(convolution, weight, NULL, NULL, NULL);
    SimdSynetConvolution32fForward(convolution, image, NULL, expected);
    struct worker workers[THREADS] = {{0}};
    int served = 0, wrong = 0;
    const double begin = now();
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&workers[i].thread, NULL, serve, &workers[i]))
            return 1;
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(workers[i].thread, NULL);
        served += workers[i].served, wrong += workers[i].wrong;
    }
    printf("%d requests in %d threads, %.0f per second, ", served, THREADS, served / (now() - begin));
    printf("%d with other bits\n", wrong);
    SimdRelease(convolution);
    return 0;
}

/* Output:
 *
 *   800 requests in 8 threads, ... per second, 0 with other bits
 */
