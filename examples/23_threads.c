/* One call on several threads: faster, with bit-identical results. The number of threads is set for the whole process. */
#define _POSIX_C_SOURCE 199309L
#include <simdnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { C = 64, SIZE = 56, IMAGE = SIZE * SIZE * C, WEIGHTS = 9 * C * C };

static float * values(size_t count, float scale)
{
    float * array = malloc(count * sizeof(float));
    if (!array)
        exit(1);
    for (size_t i = 0; i < count; ++i)
        array[i] = scale * ((float)(i * 7919 % 101) / 50 - 1);
    return array;
}

/* The fastest of several calls, in microseconds. */
static double measure(void * convolution, const float * image, float * result)
{
    double best = 1e9;
    for (int i = 0; i < 20; ++i) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        SimdSynetConvolution32fForward(convolution, image, NULL, result);
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double took = 1e6 * (double)(end.tv_sec - begin.tv_sec) + 1e-3 * (double)(end.tv_nsec - begin.tv_nsec);
        best = took < best ? took : best;
    }
    return best;
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
    void * convolution = SimdSynetConvolution32fInit(1, &shape, NULL);
    if (!convolution)
        return puts(SimdnetLastError()), 1;
    float * image = values(IMAGE, 1), * weight = values(WEIGHTS, 0.1f), * one = values(IMAGE, 0), * many = values(IMAGE, 0);
    SimdSynetConvolution32fSetParams(convolution, weight, NULL, NULL, NULL);

    /* 1 unless SIMDNET_NUM_THREADS is set; limited to the number of processors. */
    SimdSetThreadNumber(1);
    const double alone = measure(convolution, image, one);
    SimdSetThreadNumber(1000);
    printf("%zu threads at the most\n", SimdGetThreadNumber());
    const double together = measure(convolution, image, many);
    printf("%.0f us on one, %.0f us on all, bit-identical: %s\n", alone, together,
           memcmp(one, many, IMAGE * sizeof(float)) == 0 ? "yes" : "no");

    SimdRelease(convolution);
    free(image);
    free(weight);
    free(one);
    free(many);
    return *SimdnetLastError() ? puts(SimdnetLastError()), 1 : 0;
}

/* Output:
 *
 *   ... threads at the most
 *   ... us on one, ... us on all, bit-identical: yes
 */
