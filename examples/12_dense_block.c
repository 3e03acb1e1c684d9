/* A block of a DenseNet: every layer reads the results of all before it. One call joins, normalizes and activates them. */
#include <simdnet.h>
#include <stdio.h>
#include <string.h>

enum { FIRST = 4, GROWTH = 2, LAYERS = 3, LAST = FIRST + LAYERS * GROWTH, S = 3 * 3 };

int main(void)
{
    float features[S * LAST], joined[S * LAST], active[S * LAST], grown[S * GROWTH];
    for (int i = 0; i < S * FIRST; ++i)
        features[i] = (float)(i % 5) - 2;

    /* Small integers as weights, so that the sums are the same on every instruction set. */
    float scale[LAST], bias[LAST], weight[LAST * GROWTH];
    for (int i = 0; i < LAST; ++i)
        scale[i] = 1, bias[i] = (float)(i % 3) - 1;
    for (int i = 0; i < LAST * GROWTH; ++i)
        weight[i] = (float)(i % 4) - 1;

    const float one = 1, zero = 0;
    size_t channels = FIRST;
    memset(grown, 0, sizeof grown);
    for (int layer = 0; layer < LAYERS; ++layer) {
        /* A 1x1 convolution of NHWC pixels is a product: (S x channels) * (channels x GROWTH). */
        for (size_t i = 0; i < S * channels; ++i)
            active[i] = features[i] > 0 ? features[i] : 0;
        SimdGemm32fNN(S, GROWTH, channels, &one, active, channels, weight, GROWTH, &zero, grown, GROWTH);

        /* joined = features, grown; active = max(0, joined * scale + bias): both in one pass over the memory. */
        SimdSynetFusedLayerForward9(features, grown, scale, bias, channels, GROWTH, S, active, joined,
                                    SimdTensorFormatNhwc);
        if (*SimdnetLastError())
            return puts(SimdnetLastError()), 1;
        channels += GROWTH;
        memcpy(features, joined, S * channels * sizeof(float));
        printf("layer %d, %2zu channels:", layer, channels);
        for (size_t c = 0; c < channels; ++c)
            printf(" %g", features[4 * channels + c]);
        printf("\n");
    }
    printf("activated:");
    for (size_t c = 0; c < channels; ++c)
        printf(" %g", active[4 * channels + c]);
    printf("\n");
    return 0;
}

/* Output:
 *
 *   layer 0,  6 channels: -1 0 1 2 1 4
 *   layer 1,  8 channels: -1 0 1 2 1 4 4 12
 *   layer 2, 10 channels: -1 0 1 2 1 4 4 12 12 36
 *   activated: 0 0 2 1 1 5 3 12 13 35
 */
