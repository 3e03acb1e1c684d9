/* Plain layers in sequence: a picture becomes a tensor, which is scaled, activated, normalized and turned into
 * probabilities. */
#include <simdnet.h>
#include <stdio.h>

enum { WIDTH = 6, HEIGHT = 4, CHANNELS = 3, PIXELS = WIDTH * HEIGHT, ROW = 3 * (WIDTH + 2) };

/* Prints the error of the last function, if there is one. */
static int refused(void)
{
    if (SimdnetLastErrorKind() == 0)
        return 0;
    printf("%s\n", SimdnetLastError());
    return 1;
}

int main(void)
{
    uint8_t picture[HEIGHT * ROW]; /* red, green, blue; two columns more than needed */
    for (int i = 0; i < HEIGHT * ROW; ++i)
        picture[i] = (uint8_t)(37 * i % 256);

    /* Blue, green, red, each from -1 to 1. */
    const float lower[CHANNELS] = {-1, -1, -1}, upper[CHANNELS] = {1, 1, 1};
    float x[PIXELS * CHANNELS];
    SimdSynetSetInput(picture, WIDTH, HEIGHT, ROW, SimdPixelFormatRgb24, lower, upper, x, CHANNELS, SimdTensorFormatNhwc);
    if (refused())
        return 1;

    /* One coefficient for each channel; these layers work in place. */
    const float scale[CHANNELS] = {0.5f, 1, 2}, bias[CHANNELS] = {0, 0.1f, 0.2f}, slope[CHANNELS] = {0.25f, 0.25f, 0.25f};
    SimdSynetScaleLayerForward(x, scale, bias, CHANNELS, PIXELS, x, SimdTensorFormatNhwc);
    SimdSynetPreluLayerForward(x, slope, CHANNELS, PIXELS, x, SimdTensorFormatNhwc);

    /* x * (1 + 0.1 * sum of squares over 3 channels) ^ -0.75 */
    const float k[3] = {1, 0.1f, -0.75f};
    float y[PIXELS * CHANNELS], gate[PIXELS * CHANNELS];
    SimdSynetLrnLayerCrossChannels(x, 1, CHANNELS, PIXELS, k, y, SimdTensorFormatNhwc);

    /* y * sigmoid(y), then probabilities of the channels. */
    const float one = 1;
    const float * const factors[2] = {y, gate};
    SimdSynetSigmoid32f(y, PIXELS * CHANNELS, &one, gate);
    SimdSynetEltwiseLayerForward(factors, NULL, 2, PIXELS * CHANNELS, SimdSynetEltwiseOperationProduct, y);
    SimdSynetSoftmaxLayerForward(y, PIXELS, CHANNELS, 1, y);
    printf("first pixel: %.4f %.4f %.4f\n", y[0], y[1], y[2]);

    /* A layout that a function does not support is refused, and nothing is written. */
    SimdSynetLrnLayerCrossChannels(x, 1, CHANNELS, PIXELS, k, y, SimdTensorFormatNchw8c);
    printf("refused: %s\n", SimdnetLastError());
    return 0;
}

/* Output:
 *
 *   first pixel: 0.3546 0.3394 0.3060
 *   refused: SimdSynetLrnLayerCrossChannels: format is SimdTensorFormatNchw8c, expected SimdTensorFormatNchw or SimdTensorFormatNhwc
 */
