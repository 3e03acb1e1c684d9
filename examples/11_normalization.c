/* Instance normalization: each channel of an image is shifted and scaled to a learnt mean and deviation. */
#include <math.h>
#include <simdnet.h>
#include <stdio.h>

enum { C = 3, S = 8 * 8 };

static void mean_and_variance(const float * image, float * mean, float * variance)
{
    for (int c = 0; c < C; ++c) {
        double sum = 0, squares = 0;
        for (int i = c; i < S * C; i += C)
            sum += image[i], squares += (double)image[i] * image[i];
        mean[c] = (float)(sum / S);
        variance[c] = (float)(squares / S - sum / S * (sum / S));
    }
}

static void print(const char * what, const float * image)
{
    float mean[C], variance[C];
    mean_and_variance(image, mean, variance);
    printf("%s", what);
    for (int c = 0; c < C; ++c)
        printf(" %7.3f +- %.3f", mean[c], sqrtf(variance[c]));
    printf("\n");
}

int main(void)
{
    const float beta[C] = {5, 1, -1}, gamma[C] = {1, 0.5f, 2}; /* target deviations and means */
    float image[S * C], mean[C], variance[C];
    for (int i = 0; i < S * C; ++i)
        image[i] = 10 * sinf(0.7f * (float)i) + (float)(i % C) * 20;
    print("before:", image);

    /* gamma * (x - mean) / deviation + beta is x * scale + bias. */
    mean_and_variance(image, mean, variance);
    float scale[C], bias[C];
    SimdSynetUnaryOperation32fLayerForward(variance, C, SimdSynetUnaryOperation32fRsqrt, scale);
    for (int c = 0; c < C; ++c) {
        scale[c] *= gamma[c];
        bias[c] = beta[c] - mean[c] * scale[c];
    }
    SimdSynetScaleLayerForward(image, scale, bias, C, S, image, SimdTensorFormatNhwc);
    print("behind:", image);
    return *SimdnetLastError() ? puts(SimdnetLastError()), 1 : 0;
}

/* Output:
 *
 *   before:   0.030 +- 7.033  20.130 +- 7.077  40.170 +- 7.110
 *   behind:   5.000 +- 1.000   1.000 +- 0.500  -1.000 +- 2.000
 */
