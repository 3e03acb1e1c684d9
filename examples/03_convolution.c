/* A convolution: shape and weights are set once, then it processes any number of images. */
#include <simdnet.h>
#include <stdio.h>
#include <stdlib.h>

enum { C = 8, H = 32, W = 32, O = 16, K = 3 };

static float * values(size_t count, float scale)
{
    float * array = malloc(count * sizeof(float));
    for (size_t i = 0; array && i < count; ++i)
        array[i] = scale * (float)((int)(i * 7919 % 101) - 50) / 50;
    return array;
}

int main(void)
{
    SimdConvolutionParameters shape = {0};
    shape.srcC = C, shape.srcH = H, shape.srcW = W;
    shape.dstC = O, shape.dstH = H, shape.dstW = W;
    shape.srcF = shape.dstF = SimdTensorFormatNhwc;
    shape.kernelY = shape.kernelX = K;
    shape.dilationY = shape.dilationX = shape.strideY = shape.strideX = shape.group = 1;
    shape.padY = shape.padX = shape.padH = shape.padW = 1;
    shape.activation = SimdConvolutionActivationRelu;

    void * convolution = SimdSynetConvolution32fInit(1, &shape, NULL);
    if (!convolution) {
        printf("%s\n", SimdnetLastError());
        return 1;
    }
    float * image = values(H * W * C, 1), * weight = values(K * K * C * O, 0.1f), * result = values(H * W * O, 0);
    const float bias[O] = {1, 2, 3};
    if (!image || !weight || !result)
        return 1;

    SimdSynetConvolution32fSetParams(convolution, weight, NULL, bias, NULL); /* copies them: the arrays may be freed */
    SimdSynetConvolution32fForward(convolution, image, NULL, result);
    printf("%s\n", SimdnetContextInfo(convolution));
    printf("%zu floats of weights, pixel (5, 5): %.4f %.4f %.4f ...\n",
           SimdSynetConvolution32fInternalBufferSize(convolution), result[(5 * W + 5) * O], result[(5 * W + 5) * O + 1],
           result[(5 * W + 5) * O + 2]);

    free(image);
    free(weight);
    free(result);
    SimdRelease(convolution);
    return 0;
}

/* Output:
 *
 *   ...
 *   ... floats of weights, pixel (5, 5): 0.9651 1.9495 2.8370 ...
 */
