/* Pooling of one image, and the effect of an invalid argument. */
#include <simdnet.h>
#include <stdio.h>

enum { C = 2, H = 4, W = 6, OUT_H = 2, OUT_W = 3 };

int main(void)
{
    /* NHWC: channel c of pixel (y, x) is at (y * W + x) * C + c. */
    float image[H * W * C], maxima[OUT_H * OUT_W * C], means[OUT_H * OUT_W * C];
    for (int i = 0; i < H * W * C; ++i)
        image[i] = (float)i;

    SimdSynetPoolingMax32f(image, C, H, W, 1, 2, 2, 1, 2, 2, 0, 0, 0, maxima, C, OUT_H, OUT_W, SimdTensorFormatNhwc);
    SimdSynetPoolingAverage(image, C, H, W, 2, 2, 2, 2, 0, 0, means, OUT_H, OUT_W, SimdTrue, SimdTensorFormatNhwc);

    for (int y = 0; y < OUT_H; ++y)
        for (int x = 0; x < OUT_W; ++x) {
            const int at = (y * OUT_W + x) * C;
            printf("(%d, %d): max %2.0f %2.0f, mean %4.1f %4.1f\n", y, x, maxima[at], maxima[at + 1], means[at],
                   means[at + 1]);
        }

    /* A stride of 0 is refused: nothing is written, and SimdnetLastError() returns the reason. */
    SimdSynetPoolingAverage(image, C, H, W, 2, 2, 0, 2, 0, 0, means, OUT_H, OUT_W, SimdTrue, SimdTensorFormatNhwc);
    printf("refused: %s\n", SimdnetLastError());
    return 0;
}

/* Output:
 *
 *   (0, 0): max 14 15, mean  7.0  8.0
 *   (0, 1): max 18 19, mean 11.0 12.0
 *   (0, 2): max 22 23, mean 15.0 16.0
 *   (1, 0): max 38 39, mean 31.0 32.0
 *   (1, 1): max 42 43, mean 35.0 36.0
 *   (1, 2): max 46 47, mean 39.0 40.0
 *   refused: SimdSynetPoolingAverage: strideY is 0, expected at least 1
 */
