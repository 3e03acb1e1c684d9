/* An inverted residual block: expansion, depthwise convolution, projection, and the image added, in one call. */
#include <simdnet.h>
#include <stdio.h>
#include <stdlib.h>

enum { C = 24, WIDE = 144, SIZE = 56, STAGES = 3 };

static float * values(size_t count, float scale)
{
    float * array = malloc(count * sizeof(float));
    for (size_t i = 0; array && i < count; ++i)
        array[i] = scale * (float)((int)(i * 7919 % 101) - 50) / 50;
    return array;
}

static SimdConvolutionParameters stage(size_t srcC, size_t dstC, size_t kernel, size_t group)
{
    SimdConvolutionParameters p = {0};
    p.srcC = srcC, p.dstC = dstC;
    p.srcH = p.srcW = p.dstH = p.dstW = SIZE;
    p.srcF = p.dstF = SimdTensorFormatNhwc;
    p.kernelY = p.kernelX = kernel;
    p.dilationY = p.dilationX = p.strideY = p.strideX = 1;
    p.padY = p.padX = p.padH = p.padW = kernel / 2;
    p.group = group;
    return p;
}

int main(void)
{
    SimdConvolutionParameters stages[STAGES] = {stage(C, WIDE, 1, 1), stage(WIDE, WIDE, 3, WIDE), stage(WIDE, C, 1, 1)};
    stages[0].activation = stages[1].activation = SimdConvolutionActivationRelu;

    void * block = SimdSynetMergedConvolution32fInit(1, stages, STAGES, SimdTrue);
    if (!block) {
        printf("%s\n", SimdnetLastError());
        return 1;
    }
    float * image = values(SIZE * SIZE * C, 1), * result = values(SIZE * SIZE * C, 0);
    float * weights[STAGES] = {values(C * WIDE, 0.1f), values(9 * WIDE, 0.1f), values(WIDE * C, 0.1f)};
    if (!image || !result || !weights[0] || !weights[1] || !weights[2])
        return 1;

    SimdSynetMergedConvolution32fSetParams(block, (const float * const *)weights, NULL, NULL, NULL);
    SimdSynetMergedConvolution32fForward(block, image, NULL, result);
    printf("%s\n", SimdnetContextInfo(block));
    printf("a buffer of %zu floats instead of two images of %d, pixel (5, 5): %.4f %.4f ...\n",
           SimdSynetMergedConvolution32fExternalBufferSize(block), SIZE * SIZE * WIDE, result[(5 * SIZE + 5) * C],
           result[(5 * SIZE + 5) * C + 1]);

    free(image);
    free(result);
    for (int i = 0; i < STAGES; ++i)
        free(weights[i]);
    SimdRelease(block);
    return 0;
}

/* Output:
 *
 *   expansion to projection ...
 *   a buffer of ... floats instead of two images of 451584, pixel (5, 5): 0.2849 -0.9212 ...
 */
