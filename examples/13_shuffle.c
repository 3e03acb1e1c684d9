/* Why ShuffleNet shuffles: without it, half of the channels would never depend on the others. */
#include <simdnet.h>
#include <stdio.h>

enum { C = 8, HALF = C / 2 };

/* Stands for the convolutions of a unit: each channel of the half becomes the sum of all of them. */
static void branch(float * half)
{
    float all[HALF * HALF], sum[HALF];
    const float one = 1, zero = 0;
    for (int i = 0; i < HALF * HALF; ++i)
        all[i] = 1;
    SimdGemm32fNN(1, HALF, HALF, &one, half, HALF, all, HALF, &zero, sum, HALF);
    for (int i = 0; i < HALF; ++i)
        half[i] = sum[i];
}

/* Prints on how many of the initial channels each channel depends. */
static void units(int shuffled)
{
    float traces[C][C] = {{0}}; /* traces[i]: an image of one pixel, where only channel i is set */
    for (int i = 0; i < C; ++i)
        traces[i][i] = 1;

    for (int unit = 0; unit <= 4; ++unit) {
        printf("  after %d units:", unit);
        for (int c = 0; c < C; ++c) {
            int known = 0;
            for (int i = 0; i < C; ++i)
                known += traces[i][c] > 0;
            printf(" %d", known);
        }
        printf("\n");
        for (int i = 0; i < C; ++i) {
            float even[HALF], odd[HALF], * kept = traces[i], * worked = traces[i] + HALF;
            branch(worked);
            if (shuffled) {
                SimdSynetShuffleLayerForward(kept, HALF, worked, HALF, 1, even, odd, HALF, SimdTensorFormatNhwc);
                for (int c = 0; c < HALF; ++c)
                    kept[c] = even[c], worked[c] = odd[c];
            }
        }
    }
}

int main(void)
{
    printf("kept half and worked half, side by side:\n");
    units(0);
    printf("shuffled, channels 0 2 4 6 and 1 3 5 7:\n");
    units(1);
    return *SimdnetLastError() ? puts(SimdnetLastError()), 1 : 0;
}

/* Output:
 *
 *   kept half and worked half, side by side:
 *     after 0 units: 1 1 1 1 1 1 1 1
 *     after 1 units: 1 1 1 1 4 4 4 4
 *     after 2 units: 1 1 1 1 4 4 4 4
 *     after 3 units: 1 1 1 1 4 4 4 4
 *     after 4 units: 1 1 1 1 4 4 4 4
 *   shuffled, channels 0 2 4 6 and 1 3 5 7:
 *     after 0 units: 1 1 1 1 1 1 1 1
 *     after 1 units: 1 1 4 4 1 1 4 4
 *     after 2 units: 1 4 6 6 1 4 6 6
 *     after 3 units: 1 6 7 7 4 6 7 7
 *     after 4 units: 1 7 7 7 6 7 7 7
 */
