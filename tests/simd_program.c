/* A program as it is written for the Simd Library, of 2020 or of 2026: tests/sh/check_install.sh compiles it with simdnet_simd.h,
 * as C and as C++, for both. It prints what it computed, and fails if that is wrong. */
#include <simdnet_simd.h>

#include <stdio.h>
#include <string.h>

static int wrong;

static void expect(const char * name, const float * actual, const float * expected, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        if (actual[i] != expected[i]) {
            printf("%s: value %d is %g, expected %g\n", name, (int)i, (double)actual[i], (double)expected[i]);
            wrong = 1;
        }
}

static void layers(void)
{
    const float src[4] = {1, -2, 3, -4}, bias[2] = {1, 1}, slope[2] = {0.5f, 0.25f};
    const float fused[4] = {2, -0.25f, 4, -0.75f}, half[2] = {0.5f, 0.5f};
    float dst[4], both[2] = {7, 7};
    SimdSynetFusedLayerForward3(src, bias, slope, 2, 2, dst, SimdTensorFormatNhwc);
    expect("SimdSynetFusedLayerForward3", dst, fused, 4);
    SimdSynetSoftmax32f(both, 1, 2, 1, dst);
    expect("SimdSynetSoftmax32f", dst, half, 2);
}

static SimdConvolutionParameters identity(SimdTensorFormatType format)
{
    SimdConvolutionParameters p;
    memset(&p, 0, sizeof(p));
    p.srcC = p.srcH = p.srcW = p.dstC = p.dstH = p.dstW = 1;
    p.kernelY = p.kernelX = p.dilationY = p.dilationX = p.strideY = p.strideX = p.group = 1;
    p.srcF = p.dstF = format;
    return p;
}

static void infos(void * context, const char * info)
{
    if (!context || !info || !*info) {
        printf("a context: %s\n", SimdnetLastError());
        wrong = 1;
    }
    SimdRelease(context);
}

#if SIMDNET_SIMD_YEAR == 2020

static void of_this_year(void)
{
    const SimdConvolutionParameters p = identity(SimdTensorFormatNhwc);
    void * context = SimdSynetConvolution32fInit(1, &p, NULL);
    infos(context, SimdSynetConvolution32fInfo(context));
}

#else

static void unary(void)
{
    static const SimdSynetUnaryOperation32fType types[] = {
        SimdSynetUnaryOperation32fAbs, SimdSynetUnaryOperation32fCeil, SimdSynetUnaryOperation32fFloor,
        SimdSynetUnaryOperation32fNeg, SimdSynetUnaryOperation32fRcp,  SimdSynetUnaryOperation32fRound,
        SimdSynetUnaryOperation32fSign, SimdSynetUnaryOperation32fZero};
    const float x = -2.5f, expected[] = {2.5f, -2, -3, 2.5f, -0.4f, -2, -1, 0};
    float y[8];
    for (int i = 0; i < 8; ++i)
        SimdSynetUnaryOperation32f(&x, 1, types[i], &y[i]);
    expect("SimdSynetUnaryOperation32f", y, expected, 8);
    if (SimdSynetUnaryOperation32fAbs != 0 || SimdSynetUnaryOperation32fExp != 4 || SimdSynetUnaryOperation32fZero != 16)
        wrong = 1;
    SimdSynetUnaryOperation32f(&x, 1, (SimdSynetUnaryOperation32fType)17, &y[0]);
    if (SimdnetLastErrorKind() == 0)
        wrong = 1;
}

static void arrays(void)
{
    const float src[8] = {0, 1, 2, 3, 4, 5, 6, 7}, scale[2] = {2, 3};
    const float even[4] = {0, 4, 2, 6}, odd[4] = {1, 5, 3, 7}, scaled[8] = {0, 3, 4, 9, 8, 15, 12, 21};
    float dst[8], back[8], a[4], b[4];
    SimdSynetScaleLayerForward(src, scale, NULL, 2, 2, 2, dst, SimdTensorFormatNhwc, SimdSynetCompatibilityDefault);
    expect("SimdSynetScaleLayerForward", dst, scaled, 8);
    SimdSynetShuffleLayerForward(src, src + 4, 2, 2, 2, a, b, SimdTensorFormatNhwc, 0);
    expect("even channels", a, even, 4);
    expect("odd channels", b, odd, 4);
    for (int format = 0; format < 2; ++format) {
        SimdSynetShuffleLayerForward(src, src + 4, 2, 2, 2, a, b, (SimdTensorFormatType)format, 0);
        SimdSynetShuffleLayerForward(a, b, 2, 2, 2, back, back + 4, (SimdTensorFormatType)format, 1);
        expect("the inverse of a shuffle", back, src, 8);
    }
}

static void of_this_year(void)
{
    const SimdConvolutionParameters p = identity(SimdTensorFormatNhwc);
    SimdConvolutionParameters bytes = p;
    void * context = SimdSynetConvolution32fInit(1, &p);
    infos(context, SimdSynetConvolution32fInfo(context));
    context = SimdSynetDeconvolution32fInit(1, &p, SimdSynetCompatibilityDefault);
    infos(context, SimdSynetDeconvolution32fInfo(context));
    bytes.srcT = bytes.dstT = SimdTensorData8u;
    context = SimdSynetConvolution8iInit(1, &bytes, SimdSynetCompatibilityDefault);
    infos(context, SimdSynetConvolution8iInfo(context));
    unary();
    arrays();
}

#endif

int main(void)
{
    layers();
    of_this_year();
    printf("%d: %s\n", SIMDNET_SIMD_YEAR, wrong ? "wrong" : "right");
    return wrong;
}
