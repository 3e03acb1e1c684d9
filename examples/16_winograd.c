/* A convolution from its parts: Winograd's transforms around matrix products, compared with the library's own. */
#include <math.h>
#include <simdnet.h>
#include <stdio.h>
#include <stdlib.h>

/* Kernel 3x3, tiles of 4x4 outputs: 36 coefficients, one product each, instead of 9 * 16 multiplications. */
enum { C = 8, D = 16, H = 12, W = 12, T = 36, TILES = (H / 4) * (W / 4) };

static float * values(size_t count)
{
    float * array = malloc(count * sizeof(float));
    if (!array)
        exit(1);
    for (size_t i = 0; i < count; ++i)
        array[i] = (float)(i * 7919 % 101) / 50 - 1;
    return array;
}

static void library(const float * image, const float * weight, float * result)
{
    SimdConvolutionParameters shape = {0};
    shape.srcC = C, shape.dstC = D;
    shape.srcH = shape.dstH = H, shape.srcW = shape.dstW = W;
    shape.srcF = shape.dstF = SimdTensorFormatNhwc;
    shape.kernelY = shape.kernelX = 3;
    shape.dilationY = shape.dilationX = shape.strideY = shape.strideX = shape.group = 1;
    shape.padY = shape.padX = shape.padH = shape.padW = 1;
    void * convolution = SimdSynetConvolution32fInit(1, &shape, NULL);
    SimdSynetConvolution32fSetParams(convolution, weight, NULL, NULL, NULL);
    SimdSynetConvolution32fForward(convolution, image, NULL, result);
    SimdRelease(convolution);
}

int main(void)
{
    float * image = values(H * W * C), * weight = values(9 * C * D), * result = values(H * W * D);
    float * u = values(T * C * D), * v = values(T * TILES * C), * m = values(T * TILES * D), * expected = values(H * W * D);
    const float one = 1, zero = 0;

    SimdWinogradKernel3x3Block4x4SetFilter(weight, C * D, u, SimdTrue); /* once per network */
    SimdWinogradKernel3x3Block4x4SetInput(image, C, H, W, 1, 1, 1, 1, v, TILES * C, SimdTrue);
    for (int t = 0; t < T; ++t)
        SimdGemm32fNN(TILES, D, C, &one, v + t * TILES * C, C, u + t * C * D, D, &zero, m + t * TILES * D, D);
    SimdWinogradKernel3x3Block4x4SetOutput(m, TILES * D, result, D, H, W, SimdTrue);
    library(image, weight, expected);
    if (*SimdnetLastError())
        return puts(SimdnetLastError()), 1;

    float error = 0, largest = 0;
    for (int i = 0; i < H * W * D; ++i) {
        error = fabsf(result[i] - expected[i]) > error ? fabsf(result[i] - expected[i]) : error;
        largest = fabsf(expected[i]) > largest ? fabsf(expected[i]) : largest;
    }
    printf("%d tiles of 16 outputs: %.2f multiplications for each instead of 9\n", TILES, T / 16.0);
    printf("largest output %.2f, error below 1e-5 of it: %s\n", largest, error < 1e-5f * largest ? "yes" : "no");
    float * const all[] = {image, weight, result, u, v, m, expected};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        free(all[i]);
    return 0;
}

/* Output:
 *
 *   9 tiles of 16 outputs: 2.25 multiplications for each instead of 9
 *   largest output 5.04, error below 1e-5 of it: yes
 */
