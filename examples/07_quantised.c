/* A convolution of bytes: statistics of its source and its result, and how far the result is from the one in floats. */
#include <math.h>
#include <simdnet.h>
#include <stdio.h>

enum { C = 4, H = 6, W = 6, O = 8, K = 3, SRC = H * W * C, DST = H * W * O };

static void fill(float * array, int count, float lower, float upper)
{
    for (int i = 0; i < count; ++i)
        array[i] = lower + (upper - lower) * (float)(i * 7919 % 101) / 100;
}

/* The smallest and the largest value of each channel. */
static void statistics(const float * image, int channels, float * lowest, float * highest)
{
    for (int c = 0; c < channels; ++c) {
        lowest[c] = highest[c] = image[c];
        for (int i = c; i < H * W * channels; i += channels) {
            lowest[c] = fminf(lowest[c], image[i]);
            highest[c] = fmaxf(highest[c], image[i]);
        }
    }
}

int main(void)
{
    SimdConvolutionParameters shape = {0}; /* 0 is also the type of floats, SimdTensorData32f */
    shape.srcC = C, shape.dstC = O;
    shape.srcH = shape.dstH = H, shape.srcW = shape.dstW = W;
    shape.srcF = shape.dstF = SimdTensorFormatNhwc;
    shape.kernelY = shape.kernelX = K;
    shape.dilationY = shape.dilationX = shape.strideY = shape.strideX = shape.group = 1;
    shape.padY = shape.padX = shape.padH = shape.padW = 1;
    shape.activation = SimdConvolutionActivationRelu;

    float image[SRC], weight[K * K * C * O], bias[O], exact[DST];
    fill(image, SRC, 0, 2);
    fill(weight, K * K * C * O, -0.5f, 0.5f);
    fill(bias, O, -1, 1);
    void * floats = SimdSynetConvolution32fInit(1, &shape, NULL);
    SimdSynetConvolution32fSetParams(floats, weight, NULL, bias, NULL);
    SimdSynetConvolution32fForward(floats, image, NULL, exact);

    /* From floats to bytes, which the next layer can take. A real network has statistics of many images. */
    float lowest[C], highest[C], lowestResult[O], highestResult[O];
    statistics(image, C, lowest, highest);
    statistics(exact, O, lowestResult, highestResult);
    const float * const stats[4] = {lowest, highest, lowestResult, highestResult};
    uint8_t result[DST];
    shape.dstT = SimdTensorData8u;
    void * bytes = SimdSynetConvolution8iInit(1, &shape);
    SimdSynetConvolution8iSetParams(bytes, weight, bias, NULL, stats);
    SimdSynetConvolution8iForward(bytes, (const uint8_t *)image, NULL, result);
    if (*SimdnetLastError())
        return puts(SimdnetLastError()), 1;

    float error = 0, largest = 0;
    for (int i = 0; i < DST; ++i) {
        const float value = (float)result[i] * highestResult[i % O] / 255; /* no channel is below 0: byte 0 is 0 */
        error = fabsf(value - exact[i]) > error ? fabsf(value - exact[i]) : error;
        largest = exact[i] > largest ? exact[i] : largest;
    }
    printf("bytes of pixel (2, 2): %d %d %d %d ...\n", result[14 * O], result[14 * O + 1], result[14 * O + 2],
           result[14 * O + 3]);
    printf("largest error: %.1f %% of the largest output\n", 100 * error / largest);
    SimdRelease(floats);
    SimdRelease(bytes);
    return 0;
}

/* Output:
 *
 *   bytes of pixel (2, 2): 150 0 0 185 ...
 *   largest error: 0.5 % of the largest output
 */
