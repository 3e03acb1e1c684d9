/* The effect of an invalid argument: an error text, nothing is written, and the program continues. */
#include <simdnet.h>
#include <stdio.h>

static const char * const kinds[4] = {"none", "value", "memory", "state"};

/* The error belongs to the last call of this thread: the next call replaces it. */
static void report(void)
{
    printf("%s: %s\n", kinds[SimdnetLastErrorKind()], *SimdnetLastError() ? SimdnetLastError() : "-");
}

int main(void)
{
    float src[4] = {-1, 0, 1, 2}, dst[4] = {7, 7, 7, 7};
    const float slope = 0;

    SimdSynetRelu32f(NULL, 4, &slope, dst);
    report();
    SimdSynetRelu32f(src, SIZE_MAX / 2, &slope, dst);
    report();
    printf("dst is still %g %g %g %g\n", dst[0], dst[1], dst[2], dst[3]);

    SimdSynetRelu32f(src, 4, &slope, dst);
    report();
    SimdSynetRelu32f(NULL, 0, NULL, NULL); /* an empty array is not an error */
    report();

    /* Init functions return NULL; functions that take a context check it, too. */
    SimdConvolutionParameters shape = {0};
    shape.srcC = shape.dstC = 4;
    shape.srcH = shape.srcW = shape.dstH = shape.dstW = 8;
    shape.srcF = shape.dstF = SimdTensorFormatNhwc;
    shape.kernelY = shape.kernelX = 3;
    shape.dilationY = shape.dilationX = shape.strideY = shape.strideX = shape.group = 1;
    void * convolution = SimdSynetConvolution32fInit(1, &shape, NULL);
    printf("%s, ", convolution ? "made" : "not made");
    report();
    shape.dstH = shape.dstW = 6;
    convolution = SimdSynetConvolution32fInit(1, &shape, NULL);
    printf("%s, ", convolution ? "made" : "not made");
    report();
    SimdSynetConvolution32fForward(convolution, src, NULL, dst);
    report();
    SimdSynetAdd16bForward(convolution, (const uint8_t *)src, (const uint8_t *)src, (uint8_t *)dst);
    report();
    SimdRelease(convolution);

    if (!SimdAllocate(SIZE_MAX / 4, 64))
        report();
    return 0;
}

/* Output:
 *
 *   value: SimdSynetRelu32f: src is NULL, expected an array
 *   value: SimdSynetRelu32f: size is 9223372036854775807, more than memory can hold
 *   dst is still 7 7 7 7
 *   none: -
 *   none: -
 *   not made, value: SimdSynetConvolution32fInit: dstH is 8, expected 6
 *   made, none: -
 *   state: SimdSynetConvolution32fForward: the context has no weights yet, expected SetParams to be called before
 *   value: SimdSynetAdd16bForward: context is one of Convolution32f, expected one of Add16b
 *   memory: SimdAllocate: no memory for 4611686018427387903 bytes aligned to 64
 */
