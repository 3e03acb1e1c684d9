/* A deconvolution that doubles an image: kernel and stride are 2, so every input makes a square of four outputs. */
#include <simdnet.h>
#include <stdio.h>

enum { C = 2, H = 3, W = 3, O = 1, K = 2 };

int main(void)
{
    SimdConvolutionParameters shape = {0};
    shape.srcC = C, shape.srcH = H, shape.srcW = W;
    shape.dstC = O, shape.dstH = K * H, shape.dstW = K * W;
    shape.srcF = shape.dstF = SimdTensorFormatNchw;
    shape.kernelY = shape.kernelX = shape.strideY = shape.strideX = K;
    shape.dilationY = shape.dilationX = shape.group = 1;

    void * deconvolution = SimdSynetDeconvolution32fInit(1, &shape, NULL);
    if (!deconvolution) {
        printf("%s\n", SimdnetLastError());
        return 1;
    }
    const float image[C * H * W] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 2, 2, 2, 3, 3, 3};
    const float weight[C * O * K * K] = {1, 1, 1, 1, 0, 0, 0, 10}; /* input channel, output channel, row, column */
    float result[O * K * H * K * W];

    SimdSynetDeconvolution32fSetParams(deconvolution, weight, NULL, NULL, NULL);
    SimdSynetDeconvolution32fForward(deconvolution, image, NULL, result);
    printf("%s\n", SimdnetContextInfo(deconvolution));
    for (int y = 0; y < K * H; ++y) {
        for (int x = 0; x < K * W; ++x)
            printf("%4g", result[y * K * W + x]);
        printf("\n");
    }
    SimdRelease(deconvolution);
    return 0;
}

/* Output:
 *
 *   ...
 *      1   1   2   2   3   3
 *      1  11   2  12   3  13
 *      4   4   5   5   6   6
 *      4  24   5  25   6  26
 *      7   7   8   8   9   9
 *      7  37   8  38   9  39
 */
