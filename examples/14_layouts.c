/* A layer from another framework: its weights and images are in planes (NCHW), the rest of our network in pixels (NHWC). */
#include <simdnet.h>
#include <stdio.h>

enum { C = 3, H = 4, W = 5, O = 2, K = 3, SRC = C * H * W, DST = O * H * W, WEIGHTS = O * C * K * K };

static int convolve(SimdTensorFormatType format, const float * src, const float * weight, float * dst)
{
    SimdConvolutionParameters shape = {0};
    shape.srcC = C, shape.dstC = O;
    shape.srcH = shape.dstH = H, shape.srcW = shape.dstW = W;
    shape.srcF = shape.dstF = format;
    shape.kernelY = shape.kernelX = K;
    shape.dilationY = shape.dilationX = shape.strideY = shape.strideX = shape.group = 1;
    shape.padY = shape.padX = shape.padH = shape.padW = 1;
    void * convolution = SimdSynetConvolution32fInit(1, &shape, NULL);
    if (!convolution)
        return 0;
    SimdSynetConvolution32fSetParams(convolution, weight, NULL, NULL, NULL);
    SimdSynetConvolution32fForward(convolution, src, NULL, dst);
    SimdRelease(convolution);
    return 1;
}

int main(void)
{
    float planes[SRC], oiyx[WEIGHTS], result[DST]; /* integers: sums are exact in any order */
    for (int i = 0; i < SRC; ++i)
        planes[i] = (float)(i * i % 7 - 3);
    for (int i = 0; i < WEIGHTS; ++i)
        oiyx[i] = (float)(i * i % 5 - 2);
    if (!convolve(SimdTensorFormatNchw, planes, oiyx, result))
        return puts(SimdnetLastError()), 1;

    /* Weights are converted once, when a network is loaded; images where the layout changes within the network. */
    float pixels[SRC], yxio[WEIGHTS], resultPixels[DST], resultPlanes[DST];
    SimdSynetConvertFilter(O, C, K * K, oiyx, SimdTensorFormatOiyx, yxio, SimdTensorFormatYxio);
    SimdSynetConvertImage(1, C, H * W, planes, SimdTensorFormatNchw, pixels, SimdTensorFormatNhwc);
    if (!convolve(SimdTensorFormatNhwc, pixels, yxio, resultPixels))
        return puts(SimdnetLastError()), 1;
    SimdSynetConvertImage(1, O, H * W, resultPixels, SimdTensorFormatNhwc, resultPlanes, SimdTensorFormatNchw);

    int different = 0;
    for (int i = 0; i < DST; ++i)
        different += result[i] != resultPlanes[i];
    printf("plane 0, row 1: %g %g %g %g %g\n", result[5], result[6], result[7], result[8], result[9]);
    printf("pixels 5 to 7:  (%g, %g) (%g, %g) (%g, %g)\n", resultPixels[10], resultPixels[11], resultPixels[12],
           resultPixels[13], resultPixels[14], resultPixels[15]);
    printf("%d of %d results differ between the layouts\n", different, DST);

    /* Blocks of 8 channels: unused lanes are 0. */
    float blocks[8 * H * W];
    SimdSynetConvertImage(1, C, H * W, planes, SimdTensorFormatNchw, blocks, SimdTensorFormatNchw8c);
    printf("first pixel in a block of 8: %g %g %g %g ...\n", blocks[0], blocks[1], blocks[2], blocks[3]);
    return *SimdnetLastError() ? puts(SimdnetLastError()), 1 : 0;
}

/* Output:
 *
 *   plane 0, row 1: 1 42 19 -45 -25
 *   pixels 5 to 7:  (1, -16) (42, -33) (19, 4)
 *   0 of 40 results differ between the layouts
 *   first pixel in a block of 8: -3 -2 1 0 ...
 */
