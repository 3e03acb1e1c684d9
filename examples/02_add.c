/* A context for an addition of bfloat16 and float, and a bias per channel. */
#include <simdnet.h>
#include <stdio.h>

int main(void)
{
    /* bfloat16 is the upper half of a float: 1.0 is 0x3F800000. */
    const uint16_t a[4] = {0x3F80, 0x4000, 0x4040, 0x4080};
    const float b[4] = {0.5f, 0.25f, 0.125f, 0.0625f};
    float sum[4];

    const size_t shape[2] = {2, 2};
    void * add = SimdSynetAdd16bInit(shape, 2, SimdTensorData16b, shape, 2, SimdTensorData32f, SimdTensorData32f,
                                     SimdTensorFormatUnknown);
    if (!add) {
        printf("%s\n", SimdnetLastError());
        return 1;
    }
    SimdSynetAdd16bForward(add, (const uint8_t *)a, (const uint8_t *)b, (uint8_t *)sum);
    printf("%s: %g %g %g %g\n", SimdnetContextInfo(add), sum[0], sum[1], sum[2], sum[3]);
    SimdRelease(add);

    const float bias[2] = {10, 20};
    SimdSynetAddBias(bias, 2, 2, sum, SimdTensorFormatNhwc);
    printf("with bias: %g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
    return 0;
}

/* Output:
 *
 *   16b + 32f -> 32f, ...: 1.5 2.25 3.125 4.0625
 *   with bias: 11.5 22.25 13.125 24.0625
 */
