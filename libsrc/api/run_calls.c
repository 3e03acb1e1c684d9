/*
 * SimdnetRunCalls(): prepared calls, one after the other. `python -m support.run_calls` in tests/ writes this file of
 * include/simdnet.h: C has no way to call a function with arguments whose types are known at run time only.
 */
#include "api/check.h"

#include <string.h>

#define P(i) a[i].pointer
#define N(type, i) (type)a[i].number
#define R(type, i) (type)a[i].real

static void run_SimdBFloat16ToFloat32(const SimdnetArgument * a) { SimdBFloat16ToFloat32(P(0), N(size_t, 1), P(2)); }
static void run_SimdFill32f(const SimdnetArgument * a) { SimdFill32f(P(0), N(size_t, 1), P(2)); }
static void run_SimdFloat16ToFloat32(const SimdnetArgument * a) { SimdFloat16ToFloat32(P(0), N(size_t, 1), P(2)); }
static void run_SimdFloat32ToBFloat16(const SimdnetArgument * a) { SimdFloat32ToBFloat16(P(0), N(size_t, 1), P(2)); }
static void run_SimdFloat32ToFloat16(const SimdnetArgument * a) { SimdFloat32ToFloat16(P(0), N(size_t, 1), P(2)); }
static void run_SimdFree(const SimdnetArgument * a) { SimdFree(P(0)); }
static void run_SimdGemm32fNN(const SimdnetArgument * a)
{
    SimdGemm32fNN(N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), P(4), N(size_t, 5), P(6), N(size_t, 7), P(8), P(9),
        N(size_t, 10));
}
static void run_SimdGemm32fNT(const SimdnetArgument * a)
{
    SimdGemm32fNT(N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), P(4), N(size_t, 5), P(6), N(size_t, 7), P(8), P(9),
        N(size_t, 10));
}
static void run_SimdNeuralAddValue(const SimdnetArgument * a) { SimdNeuralAddValue(P(0), P(1), N(size_t, 2)); }
static void run_SimdNeuralAddVectorMultipliedByValue(const SimdnetArgument * a)
{
    SimdNeuralAddVectorMultipliedByValue(P(0), N(size_t, 1), P(2), P(3));
}
static void run_SimdNeuralPow(const SimdnetArgument * a) { SimdNeuralPow(P(0), N(size_t, 1), P(2), P(3)); }
static void run_SimdNeuralProductSum(const SimdnetArgument * a) { SimdNeuralProductSum(P(0), P(1), N(size_t, 2), P(3)); }
static void run_SimdRelease(const SimdnetArgument * a) { SimdRelease(P(0)); }
static void run_SimdResizerRun(const SimdnetArgument * a) { SimdResizerRun(P(0), P(1), N(size_t, 2), P(3), N(size_t, 4)); }
static void run_SimdSetFastMode(const SimdnetArgument * a) { SimdSetFastMode(N(SimdBool, 0)); }
static void run_SimdSetThreadNumber(const SimdnetArgument * a) { SimdSetThreadNumber(N(size_t, 0)); }
static void run_SimdSynetAdd16bForward(const SimdnetArgument * a) { SimdSynetAdd16bForward(P(0), P(1), P(2), P(3)); }
static void run_SimdSynetAdd8i(const SimdnetArgument * a)
{
    SimdSynetAdd8i(P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), N(size_t, 9), N(size_t, 10), N(size_t, 11),
        N(SimdTensorFormatType, 12), N(SimdSynetCompatibilityType, 13));
}
static void run_SimdSynetAddBias(const SimdnetArgument * a)
{
    SimdSynetAddBias(P(0), N(size_t, 1), N(size_t, 2), P(3), N(SimdTensorFormatType, 4));
}
static void run_SimdSynetChannelSum16b(const SimdnetArgument * a)
{
    SimdSynetChannelSum16b(P(0), N(size_t, 1), N(size_t, 2), N(SimdTensorFormatType, 3), P(4));
}
static void run_SimdSynetConvert32fTo8u(const SimdnetArgument * a)
{
    SimdSynetConvert32fTo8u(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(SimdTensorFormatType, 5),
        P(6), P(7), P(8), N(SimdSynetCompatibilityType, 9));
}
static void run_SimdSynetConvert8uTo32f(const SimdnetArgument * a)
{
    SimdSynetConvert8uTo32f(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(SimdTensorFormatType, 5),
        P(6), P(7), P(8), N(SimdSynetCompatibilityType, 9));
}
static void run_SimdSynetConvertFilter(const SimdnetArgument * a)
{
    SimdSynetConvertFilter(N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), N(SimdTensorFormatType, 4), P(5),
        N(SimdTensorFormatType, 6));
}
static void run_SimdSynetConvertImage(const SimdnetArgument * a)
{
    SimdSynetConvertImage(N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), N(SimdTensorFormatType, 4), P(5),
        N(SimdTensorFormatType, 6));
}
static void run_SimdSynetConvolution16bForward(const SimdnetArgument * a)
{
    SimdSynetConvolution16bForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetConvolution16bSetParams(const SimdnetArgument * a)
{
    SimdSynetConvolution16bSetParams(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetConvolution32fForward(const SimdnetArgument * a)
{
    SimdSynetConvolution32fForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetConvolution32fSetParams(const SimdnetArgument * a)
{
    SimdSynetConvolution32fSetParams(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdSynetConvolution8iForward(const SimdnetArgument * a)
{
    SimdSynetConvolution8iForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetConvolution8iSetParams(const SimdnetArgument * a)
{
    SimdSynetConvolution8iSetParams(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdSynetDeconvolution16bForward(const SimdnetArgument * a)
{
    SimdSynetDeconvolution16bForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetDeconvolution16bSetParams(const SimdnetArgument * a)
{
    SimdSynetDeconvolution16bSetParams(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetDeconvolution32fForward(const SimdnetArgument * a)
{
    SimdSynetDeconvolution32fForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetDeconvolution32fSetParams(const SimdnetArgument * a)
{
    SimdSynetDeconvolution32fSetParams(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdSynetDequantizeLinear(const SimdnetArgument * a)
{
    SimdSynetDequantizeLinear(P(0), N(size_t, 1), N(int32_t, 2), P(3), P(4));
}
static void run_SimdSynetEltwiseLayerForward(const SimdnetArgument * a)
{
    SimdSynetEltwiseLayerForward(P(0), P(1), N(size_t, 2), N(size_t, 3), N(SimdSynetEltwiseOperationType, 4), P(5));
}
static void run_SimdSynetElu32f(const SimdnetArgument * a) { SimdSynetElu32f(P(0), N(size_t, 1), P(2), P(3)); }
static void run_SimdSynetFusedLayerForward0(const SimdnetArgument * a)
{
    SimdSynetFusedLayerForward0(P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), N(SimdTensorFormatType, 6));
}
static void run_SimdSynetFusedLayerForward1(const SimdnetArgument * a)
{
    SimdSynetFusedLayerForward1(P(0), P(1), P(2), P(3), N(size_t, 4), N(size_t, 5), P(6), N(SimdTensorFormatType, 7));
}
static void run_SimdSynetFusedLayerForward2(const SimdnetArgument * a)
{
    SimdSynetFusedLayerForward2(P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), P(6), N(SimdTensorFormatType, 7));
}
static void run_SimdSynetFusedLayerForward3(const SimdnetArgument * a)
{
    SimdSynetFusedLayerForward3(P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), N(SimdTensorFormatType, 6));
}
static void run_SimdSynetFusedLayerForward4(const SimdnetArgument * a)
{
    SimdSynetFusedLayerForward4(P(0), P(1), P(2), P(3), N(size_t, 4), N(size_t, 5), P(6), N(SimdTensorFormatType, 7));
}
static void run_SimdSynetFusedLayerForward8(const SimdnetArgument * a)
{
    SimdSynetFusedLayerForward8(P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), N(SimdTensorFormatType, 6));
}
static void run_SimdSynetFusedLayerForward9(const SimdnetArgument * a)
{
    SimdSynetFusedLayerForward9(P(0), P(1), P(2), P(3), N(size_t, 4), N(size_t, 5), N(size_t, 6), P(7), P(8),
        N(SimdTensorFormatType, 9));
}
static void run_SimdSynetGatherElementsForward(const SimdnetArgument * a)
{
    SimdSynetGatherElementsForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetGatherElementsSetIndex(const SimdnetArgument * a) { SimdSynetGatherElementsSetIndex(P(0), P(1)); }
static void run_SimdSynetGelu32f(const SimdnetArgument * a) { SimdSynetGelu32f(P(0), N(size_t, 1), P(2)); }
static void run_SimdSynetGridSample2dForward(const SimdnetArgument * a)
{
    SimdSynetGridSample2dForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetHardSigmoid32f(const SimdnetArgument * a)
{
    SimdSynetHardSigmoid32f(P(0), N(size_t, 1), P(2), P(3), P(4));
}
static void run_SimdSynetHswish32f(const SimdnetArgument * a) { SimdSynetHswish32f(P(0), N(size_t, 1), P(2), P(3), P(4)); }
static void run_SimdSynetInnerProduct16bForward(const SimdnetArgument * a)
{
    SimdSynetInnerProduct16bForward(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdSynetInnerProduct16bSetParams(const SimdnetArgument * a)
{
    SimdSynetInnerProduct16bSetParams(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetInnerProduct32fForward(const SimdnetArgument * a)
{
    SimdSynetInnerProduct32fForward(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdSynetInnerProduct32fSetParams(const SimdnetArgument * a)
{
    SimdSynetInnerProduct32fSetParams(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdSynetInnerProduct8i(const SimdnetArgument * a)
{
    SimdSynetInnerProduct8i(N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), P(4), P(5), N(SimdSynetCompatibilityType,
        6));
}
static void run_SimdSynetInnerProductLayerForward(const SimdnetArgument * a)
{
    SimdSynetInnerProductLayerForward(P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5));
}
static void run_SimdSynetLrnLayerCrossChannels(const SimdnetArgument * a)
{
    SimdSynetLrnLayerCrossChannels(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), N(SimdTensorFormatType,
        6));
}
static void run_SimdSynetMergedConvolution16bForward(const SimdnetArgument * a)
{
    SimdSynetMergedConvolution16bForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetMergedConvolution16bSetParams(const SimdnetArgument * a)
{
    SimdSynetMergedConvolution16bSetParams(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetMergedConvolution32fForward(const SimdnetArgument * a)
{
    SimdSynetMergedConvolution32fForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetMergedConvolution32fSetParams(const SimdnetArgument * a)
{
    SimdSynetMergedConvolution32fSetParams(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdSynetMergedConvolution8iForward(const SimdnetArgument * a)
{
    SimdSynetMergedConvolution8iForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetMergedConvolution8iSetParams(const SimdnetArgument * a)
{
    SimdSynetMergedConvolution8iSetParams(P(0), P(1), P(2), P(3), P(4), P(5));
}
static void run_SimdSynetMish32f(const SimdnetArgument * a) { SimdSynetMish32f(P(0), N(size_t, 1), P(2), P(3)); }
static void run_SimdSynetNormalizeLayerForward(const SimdnetArgument * a)
{
    SimdSynetNormalizeLayerForward(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), N(SimdBool, 6),
        N(SimdTensorFormatType, 7), P(8), P(9));
}
static void run_SimdSynetNormalizeLayerForward16bV2(const SimdnetArgument * a)
{
    SimdSynetNormalizeLayerForward16bV2(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), P(6),
        N(SimdTensorFormatType, 7), P(8), P(9));
}
static void run_SimdSynetNormalizeLayerForwardV2(const SimdnetArgument * a)
{
    SimdSynetNormalizeLayerForwardV2(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), P(6),
        N(SimdTensorFormatType, 7), P(8), P(9));
}
static void run_SimdSynetNormalizeLayerForwardV3(const SimdnetArgument * a)
{
    SimdSynetNormalizeLayerForwardV3(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), P(6),
        N(SimdTensorFormatType, 7), P(8), P(9));
}
static void run_SimdSynetNormalizeLayerForwardV4(const SimdnetArgument * a)
{
    SimdSynetNormalizeLayerForwardV4(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), P(6),
        N(SimdTensorFormatType, 7), P(8), P(9));
}
static void run_SimdSynetPermuteForward(const SimdnetArgument * a) { SimdSynetPermuteForward(P(0), P(1), P(2)); }
static void run_SimdSynetPoolingAverage(const SimdnetArgument * a)
{
    SimdSynetPoolingAverage(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6),
        N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdBool, 13),
        N(SimdTensorFormatType, 14));
}
static void run_SimdSynetPoolingForwardAverage(const SimdnetArgument * a)
{
    SimdSynetPoolingForwardAverage(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t,
        6), N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdBool, 13),
        N(SimdTensorFormatType, 14));
}
static void run_SimdSynetPoolingForwardMax(const SimdnetArgument * a)
{
    SimdSynetPoolingForwardMax(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6),
        N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdBool, 13));
}
static void run_SimdSynetPoolingMax16b(const SimdnetArgument * a)
{
    SimdSynetPoolingMax16b(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6),
        N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdTensorFormatType, 13));
}
static void run_SimdSynetPoolingMax32f(const SimdnetArgument * a)
{
    SimdSynetPoolingMax32f(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6),
        N(size_t, 7), N(size_t, 8), N(size_t, 9), N(size_t, 10), N(size_t, 11), N(size_t, 12), P(13), N(size_t, 14),
        N(size_t, 15), N(size_t, 16), N(SimdTensorFormatType, 17));
}
static void run_SimdSynetPoolingMax8u(const SimdnetArgument * a)
{
    SimdSynetPoolingMax8u(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6),
        N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdTensorFormatType, 13));
}
static void run_SimdSynetPreluLayerForward(const SimdnetArgument * a)
{
    SimdSynetPreluLayerForward(P(0), P(1), N(size_t, 2), N(size_t, 3), P(4), N(SimdTensorFormatType, 5));
}
static void run_SimdSynetQuantizeLinear(const SimdnetArgument * a)
{
    SimdSynetQuantizeLinear(P(0), N(size_t, 1), P(2), N(int32_t, 3), P(4));
}
static void run_SimdSynetQuantizedAddForward(const SimdnetArgument * a)
{
    SimdSynetQuantizedAddForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetQuantizedConcatLayerForward(const SimdnetArgument * a)
{
    SimdSynetQuantizedConcatLayerForward(N(size_t, 0), P(1), N(size_t, 2), P(3), P(4), P(5), P(6), N(int32_t, 7), P(8));
}
static void run_SimdSynetQuantizedConvolutionForward(const SimdnetArgument * a)
{
    SimdSynetQuantizedConvolutionForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetQuantizedConvolutionSetParams(const SimdnetArgument * a)
{
    SimdSynetQuantizedConvolutionSetParams(P(0), P(1), P(2), P(3), P(4), P(5), P(6));
}
static void run_SimdSynetQuantizedInnerProductForward(const SimdnetArgument * a)
{
    SimdSynetQuantizedInnerProductForward(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdSynetQuantizedInnerProductSetParams(const SimdnetArgument * a)
{
    SimdSynetQuantizedInnerProductSetParams(P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7));
}
static void run_SimdSynetQuantizedMergedConvolutionForward(const SimdnetArgument * a)
{
    SimdSynetQuantizedMergedConvolutionForward(P(0), P(1), P(2), P(3));
}
static void run_SimdSynetQuantizedMergedConvolutionSetParams(const SimdnetArgument * a)
{
    SimdSynetQuantizedMergedConvolutionSetParams(P(0), P(1), P(2), P(3), P(4), P(5));
}
static void run_SimdSynetQuantizedPreluLayerForward(const SimdnetArgument * a)
{
    SimdSynetQuantizedPreluLayerForward(P(0), P(1), N(int, 2), N(size_t, 3), N(size_t, 4), P(5), P(6), P(7), N(int, 8),
        N(SimdTensorFormatType, 9));
}
static void run_SimdSynetQuantizedScaleLayerForward(const SimdnetArgument * a)
{
    SimdSynetQuantizedScaleLayerForward(P(0), P(1), N(int, 2), N(size_t, 3), N(size_t, 4), P(5), P(6), P(7), P(8), N(int,
        9), N(SimdTensorFormatType, 10));
}
static void run_SimdSynetQuantizedShuffleLayerForward(const SimdnetArgument * a)
{
    SimdSynetQuantizedShuffleLayerForward(P(0), N(int, 1), P(2), N(size_t, 3), P(4), N(int, 5), P(6), N(size_t, 7),
        N(size_t, 8), P(9), P(10), P(11), N(int, 12), N(SimdTensorFormatType, 13), N(int, 14));
}
static void run_SimdSynetRelu16b(const SimdnetArgument * a) { SimdSynetRelu16b(P(0), N(size_t, 1), P(2), P(3)); }
static void run_SimdSynetRelu32f(const SimdnetArgument * a) { SimdSynetRelu32f(P(0), N(size_t, 1), P(2), P(3)); }
static void run_SimdSynetRestrictRange32f(const SimdnetArgument * a)
{
    SimdSynetRestrictRange32f(P(0), N(size_t, 1), P(2), P(3), P(4));
}
static void run_SimdSynetScale16bForward(const SimdnetArgument * a)
{
    SimdSynetScale16bForward(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdSynetScale8iForward(const SimdnetArgument * a) { SimdSynetScale8iForward(P(0), P(1), P(2)); }
static void run_SimdSynetScale8iSetParams(const SimdnetArgument * a) { SimdSynetScale8iSetParams(P(0), P(1), P(2), P(3)); }
static void run_SimdSynetScaleLayerForward(const SimdnetArgument * a)
{
    SimdSynetScaleLayerForward(P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), N(SimdTensorFormatType, 6));
}
static void run_SimdSynetSetInput(const SimdnetArgument * a)
{
    SimdSynetSetInput(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(SimdPixelFormatType, 4), P(5), P(6), P(7),
        N(size_t, 8), N(SimdTensorFormatType, 9));
}
static void run_SimdSynetShuffleLayerForward(const SimdnetArgument * a)
{
    SimdSynetShuffleLayerForward(P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), P(5), P(6), N(size_t, 7),
        N(SimdTensorFormatType, 8));
}
static void run_SimdSynetSigmoid32f(const SimdnetArgument * a) { SimdSynetSigmoid32f(P(0), N(size_t, 1), P(2), P(3)); }
static void run_SimdSynetSoftmax16b(const SimdnetArgument * a)
{
    SimdSynetSoftmax16b(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4));
}
static void run_SimdSynetSoftmax32f(const SimdnetArgument * a)
{
    SimdSynetSoftmax32f(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4));
}
static void run_SimdSynetSoftmaxLayerForward(const SimdnetArgument * a)
{
    SimdSynetSoftmaxLayerForward(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4));
}
static void run_SimdSynetSoftplus32f(const SimdnetArgument * a)
{
    SimdSynetSoftplus32f(P(0), N(size_t, 1), P(2), P(3), P(4));
}
static void run_SimdSynetSwish32f(const SimdnetArgument * a) { SimdSynetSwish32f(P(0), N(size_t, 1), P(2), P(3)); }
static void run_SimdSynetTanh32f(const SimdnetArgument * a) { SimdSynetTanh32f(P(0), N(size_t, 1), P(2), P(3)); }
static void run_SimdSynetTiledScale2D32f(const SimdnetArgument * a)
{
    SimdSynetTiledScale2D32f(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(SimdTensorFormatType, 4), P(5), P(6),
        P(7));
}
static void run_SimdSynetUnaryOperation32f(const SimdnetArgument * a)
{
    SimdSynetUnaryOperation32f(P(0), N(size_t, 1), N(SimdnetSimdUnaryType, 2), P(3));
}
static void run_SimdSynetUnaryOperation32fLayerForward(const SimdnetArgument * a)
{
    SimdSynetUnaryOperation32fLayerForward(P(0), N(size_t, 1), N(SimdSynetUnaryOperation32fType, 2), P(3));
}
static void run_SimdWinogradKernel1x3Block1x4SetFilter(const SimdnetArgument * a)
{
    SimdWinogradKernel1x3Block1x4SetFilter(P(0), N(size_t, 1), P(2), N(SimdBool, 3));
}
static void run_SimdWinogradKernel1x3Block1x4SetInput(const SimdnetArgument * a)
{
    SimdWinogradKernel1x3Block1x4SetInput(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10));
}
static void run_SimdWinogradKernel1x3Block1x4SetOutput(const SimdnetArgument * a)
{
    SimdWinogradKernel1x3Block1x4SetOutput(P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(SimdBool, 6));
}
static void run_SimdWinogradKernel1x5Block1x4SetFilter(const SimdnetArgument * a)
{
    SimdWinogradKernel1x5Block1x4SetFilter(P(0), N(size_t, 1), P(2), N(SimdBool, 3));
}
static void run_SimdWinogradKernel1x5Block1x4SetInput(const SimdnetArgument * a)
{
    SimdWinogradKernel1x5Block1x4SetInput(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10));
}
static void run_SimdWinogradKernel1x5Block1x4SetOutput(const SimdnetArgument * a)
{
    SimdWinogradKernel1x5Block1x4SetOutput(P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(SimdBool, 6));
}
static void run_SimdWinogradKernel2x2Block2x2SetFilter(const SimdnetArgument * a)
{
    SimdWinogradKernel2x2Block2x2SetFilter(P(0), N(size_t, 1), P(2), N(SimdBool, 3));
}
static void run_SimdWinogradKernel2x2Block2x2SetInput(const SimdnetArgument * a)
{
    SimdWinogradKernel2x2Block2x2SetInput(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10));
}
static void run_SimdWinogradKernel2x2Block2x2SetOutput(const SimdnetArgument * a)
{
    SimdWinogradKernel2x2Block2x2SetOutput(P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(SimdBool, 6));
}
static void run_SimdWinogradKernel2x2Block4x4SetFilter(const SimdnetArgument * a)
{
    SimdWinogradKernel2x2Block4x4SetFilter(P(0), N(size_t, 1), P(2), N(SimdBool, 3));
}
static void run_SimdWinogradKernel2x2Block4x4SetInput(const SimdnetArgument * a)
{
    SimdWinogradKernel2x2Block4x4SetInput(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10));
}
static void run_SimdWinogradKernel2x2Block4x4SetOutput(const SimdnetArgument * a)
{
    SimdWinogradKernel2x2Block4x4SetOutput(P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(SimdBool, 6));
}
static void run_SimdWinogradKernel3x3Block2x2SetFilter(const SimdnetArgument * a)
{
    SimdWinogradKernel3x3Block2x2SetFilter(P(0), N(size_t, 1), P(2), N(SimdBool, 3));
}
static void run_SimdWinogradKernel3x3Block2x2SetInput(const SimdnetArgument * a)
{
    SimdWinogradKernel3x3Block2x2SetInput(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10));
}
static void run_SimdWinogradKernel3x3Block2x2SetOutput(const SimdnetArgument * a)
{
    SimdWinogradKernel3x3Block2x2SetOutput(P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(SimdBool, 6));
}
static void run_SimdWinogradKernel3x3Block3x3SetFilter(const SimdnetArgument * a)
{
    SimdWinogradKernel3x3Block3x3SetFilter(P(0), N(size_t, 1), P(2), N(SimdBool, 3));
}
static void run_SimdWinogradKernel3x3Block3x3SetInput(const SimdnetArgument * a)
{
    SimdWinogradKernel3x3Block3x3SetInput(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10));
}
static void run_SimdWinogradKernel3x3Block3x3SetOutput(const SimdnetArgument * a)
{
    SimdWinogradKernel3x3Block3x3SetOutput(P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(SimdBool, 6));
}
static void run_SimdWinogradKernel3x3Block4x4SetFilter(const SimdnetArgument * a)
{
    SimdWinogradKernel3x3Block4x4SetFilter(P(0), N(size_t, 1), P(2), N(SimdBool, 3));
}
static void run_SimdWinogradKernel3x3Block4x4SetInput(const SimdnetArgument * a)
{
    SimdWinogradKernel3x3Block4x4SetInput(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10));
}
static void run_SimdWinogradKernel3x3Block4x4SetOutput(const SimdnetArgument * a)
{
    SimdWinogradKernel3x3Block4x4SetOutput(P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(SimdBool, 6));
}
static void run_SimdnetAttention(const SimdnetArgument * a) { SimdnetAttention(P(0)); }
static void run_SimdnetBinary(const SimdnetArgument * a) { SimdnetBinary(P(0)); }
static void run_SimdnetCast(const SimdnetArgument * a)
{
    SimdnetCast(N(SimdTensorDataType, 0), P(1), N(size_t, 2), N(SimdTensorDataType, 3), P(4));
}
static void run_SimdnetConvolution16bForward(const SimdnetArgument * a)
{
    SimdnetConvolution16bForward(P(0), P(1), P(2), P(3));
}
static void run_SimdnetConvolution16bSetParams(const SimdnetArgument * a)
{
    SimdnetConvolution16bSetParams(P(0), P(1), P(2), P(3));
}
static void run_SimdnetConvolution32fForwardAdd(const SimdnetArgument * a)
{
    SimdnetConvolution32fForwardAdd(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdnetCopy(const SimdnetArgument * a) { SimdnetCopy(P(0)); }
static void run_SimdnetCumulativeSum(const SimdnetArgument * a)
{
    SimdnetCumulativeSum(N(SimdTensorDataType, 0), P(1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(SimdBool, 5),
        N(SimdBool, 6), P(7));
}
static void run_SimdnetDequantizeLinear(const SimdnetArgument * a) { SimdnetDequantizeLinear(P(0)); }
static void run_SimdnetDynamicQuantize(const SimdnetArgument * a) { SimdnetDynamicQuantize(P(0)); }
static void run_SimdnetElementwise(const SimdnetArgument * a) { SimdnetElementwise(P(0)); }
static void run_SimdnetForward(const SimdnetArgument * a) { SimdnetForward(P(0), P(1)); }
static void run_SimdnetGather(const SimdnetArgument * a)
{
    SimdnetGather(N(SimdTensorDataType, 0), P(1), N(size_t, 2), N(size_t, 3), N(size_t, 4), P(5), N(size_t, 6), P(7));
}
static void run_SimdnetGatherNd(const SimdnetArgument * a) { SimdnetGatherNd(P(0)); }
static void run_SimdnetGemm(const SimdnetArgument * a) { SimdnetGemm(P(0)); }
static void run_SimdnetGemmNBits(const SimdnetArgument * a) { SimdnetGemmNBits(P(0)); }
static void run_SimdnetPad(const SimdnetArgument * a) { SimdnetPad(P(0)); }
static void run_SimdnetPixelwise(const SimdnetArgument * a) { SimdnetPixelwise(P(0)); }
static void run_SimdnetPooling(const SimdnetArgument * a) { SimdnetPooling(P(0)); }
static void run_SimdnetQuantizeLinear(const SimdnetArgument * a) { SimdnetQuantizeLinear(P(0)); }
static void run_SimdnetQuantizedBinary(const SimdnetArgument * a) { SimdnetQuantizedBinary(P(0)); }
static void run_SimdnetQuantizedGemm(const SimdnetArgument * a) { SimdnetQuantizedGemm(P(0)); }
static void run_SimdnetQuantizedGemmForward(const SimdnetArgument * a) { SimdnetQuantizedGemmForward(P(0), P(1)); }
static void run_SimdnetQuantizedGemmSetParams(const SimdnetArgument * a)
{
    SimdnetQuantizedGemmSetParams(P(0), P(1), N(SimdBool, 2));
}
static void run_SimdnetQuantizedPooling(const SimdnetArgument * a) { SimdnetQuantizedPooling(P(0)); }
static void run_SimdnetRecurrentCompute(const SimdnetArgument * a) { SimdnetRecurrentCompute(P(0), P(1)); }
static void run_SimdnetRecurrentSetParams(const SimdnetArgument * a)
{
    SimdnetRecurrentSetParams(P(0), P(1), P(2), P(3), P(4));
}
static void run_SimdnetRecurrentSetQuantizedParams(const SimdnetArgument * a)
{
    SimdnetRecurrentSetQuantizedParams(P(0), P(1));
}
static void run_SimdnetReduce(const SimdnetArgument * a) { SimdnetReduce(P(0)); }
static void run_SimdnetResizeForward(const SimdnetArgument * a) { SimdnetResizeForward(P(0), P(1), P(2)); }
static void run_SimdnetRoiAlign(const SimdnetArgument * a) { SimdnetRoiAlign(P(0)); }
static void run_SimdnetScatterElements(const SimdnetArgument * a) { SimdnetScatterElements(P(0)); }
static void run_SimdnetScatterNd(const SimdnetArgument * a) { SimdnetScatterNd(P(0)); }
static void run_SimdnetSelect(const SimdnetArgument * a) { SimdnetSelect(P(0)); }
static void run_SimdnetTable8(const SimdnetArgument * a) { SimdnetTable8(P(0)); }
static void run_SimdnetTopK(const SimdnetArgument * a)
{
    SimdnetTopK(P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(SimdBool, 5), N(SimdBool, 6), P(7),
        P(8));
}
static void run_SimdnetTopKIntegers(const SimdnetArgument * a)
{
    SimdnetTopKIntegers(N(SimdTensorDataType, 0), P(1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),
        N(SimdBool, 6), N(SimdBool, 7), P(8), P(9));
}

static const struct {
    const char * name;
    SimdnetCallFunction run;
} functions[] = {
    {"SimdBFloat16ToFloat32", run_SimdBFloat16ToFloat32},
    {"SimdFill32f", run_SimdFill32f},
    {"SimdFloat16ToFloat32", run_SimdFloat16ToFloat32},
    {"SimdFloat32ToBFloat16", run_SimdFloat32ToBFloat16},
    {"SimdFloat32ToFloat16", run_SimdFloat32ToFloat16},
    {"SimdFree", run_SimdFree},
    {"SimdGemm32fNN", run_SimdGemm32fNN},
    {"SimdGemm32fNT", run_SimdGemm32fNT},
    {"SimdNeuralAddValue", run_SimdNeuralAddValue},
    {"SimdNeuralAddVectorMultipliedByValue", run_SimdNeuralAddVectorMultipliedByValue},
    {"SimdNeuralPow", run_SimdNeuralPow},
    {"SimdNeuralProductSum", run_SimdNeuralProductSum},
    {"SimdRelease", run_SimdRelease},
    {"SimdResizerRun", run_SimdResizerRun},
    {"SimdSetFastMode", run_SimdSetFastMode},
    {"SimdSetThreadNumber", run_SimdSetThreadNumber},
    {"SimdSynetAdd16bForward", run_SimdSynetAdd16bForward},
    {"SimdSynetAdd8i", run_SimdSynetAdd8i},
    {"SimdSynetAddBias", run_SimdSynetAddBias},
    {"SimdSynetChannelSum16b", run_SimdSynetChannelSum16b},
    {"SimdSynetConvert32fTo8u", run_SimdSynetConvert32fTo8u},
    {"SimdSynetConvert8uTo32f", run_SimdSynetConvert8uTo32f},
    {"SimdSynetConvertFilter", run_SimdSynetConvertFilter},
    {"SimdSynetConvertImage", run_SimdSynetConvertImage},
    {"SimdSynetConvolution16bForward", run_SimdSynetConvolution16bForward},
    {"SimdSynetConvolution16bSetParams", run_SimdSynetConvolution16bSetParams},
    {"SimdSynetConvolution32fForward", run_SimdSynetConvolution32fForward},
    {"SimdSynetConvolution32fSetParams", run_SimdSynetConvolution32fSetParams},
    {"SimdSynetConvolution8iForward", run_SimdSynetConvolution8iForward},
    {"SimdSynetConvolution8iSetParams", run_SimdSynetConvolution8iSetParams},
    {"SimdSynetDeconvolution16bForward", run_SimdSynetDeconvolution16bForward},
    {"SimdSynetDeconvolution16bSetParams", run_SimdSynetDeconvolution16bSetParams},
    {"SimdSynetDeconvolution32fForward", run_SimdSynetDeconvolution32fForward},
    {"SimdSynetDeconvolution32fSetParams", run_SimdSynetDeconvolution32fSetParams},
    {"SimdSynetDequantizeLinear", run_SimdSynetDequantizeLinear},
    {"SimdSynetEltwiseLayerForward", run_SimdSynetEltwiseLayerForward},
    {"SimdSynetElu32f", run_SimdSynetElu32f},
    {"SimdSynetFusedLayerForward0", run_SimdSynetFusedLayerForward0},
    {"SimdSynetFusedLayerForward1", run_SimdSynetFusedLayerForward1},
    {"SimdSynetFusedLayerForward2", run_SimdSynetFusedLayerForward2},
    {"SimdSynetFusedLayerForward3", run_SimdSynetFusedLayerForward3},
    {"SimdSynetFusedLayerForward4", run_SimdSynetFusedLayerForward4},
    {"SimdSynetFusedLayerForward8", run_SimdSynetFusedLayerForward8},
    {"SimdSynetFusedLayerForward9", run_SimdSynetFusedLayerForward9},
    {"SimdSynetGatherElementsForward", run_SimdSynetGatherElementsForward},
    {"SimdSynetGatherElementsSetIndex", run_SimdSynetGatherElementsSetIndex},
    {"SimdSynetGelu32f", run_SimdSynetGelu32f},
    {"SimdSynetGridSample2dForward", run_SimdSynetGridSample2dForward},
    {"SimdSynetHardSigmoid32f", run_SimdSynetHardSigmoid32f},
    {"SimdSynetHswish32f", run_SimdSynetHswish32f},
    {"SimdSynetInnerProduct16bForward", run_SimdSynetInnerProduct16bForward},
    {"SimdSynetInnerProduct16bSetParams", run_SimdSynetInnerProduct16bSetParams},
    {"SimdSynetInnerProduct32fForward", run_SimdSynetInnerProduct32fForward},
    {"SimdSynetInnerProduct32fSetParams", run_SimdSynetInnerProduct32fSetParams},
    {"SimdSynetInnerProduct8i", run_SimdSynetInnerProduct8i},
    {"SimdSynetInnerProductLayerForward", run_SimdSynetInnerProductLayerForward},
    {"SimdSynetLrnLayerCrossChannels", run_SimdSynetLrnLayerCrossChannels},
    {"SimdSynetMergedConvolution16bForward", run_SimdSynetMergedConvolution16bForward},
    {"SimdSynetMergedConvolution16bSetParams", run_SimdSynetMergedConvolution16bSetParams},
    {"SimdSynetMergedConvolution32fForward", run_SimdSynetMergedConvolution32fForward},
    {"SimdSynetMergedConvolution32fSetParams", run_SimdSynetMergedConvolution32fSetParams},
    {"SimdSynetMergedConvolution8iForward", run_SimdSynetMergedConvolution8iForward},
    {"SimdSynetMergedConvolution8iSetParams", run_SimdSynetMergedConvolution8iSetParams},
    {"SimdSynetMish32f", run_SimdSynetMish32f},
    {"SimdSynetNormalizeLayerForward", run_SimdSynetNormalizeLayerForward},
    {"SimdSynetNormalizeLayerForward16bV2", run_SimdSynetNormalizeLayerForward16bV2},
    {"SimdSynetNormalizeLayerForwardV2", run_SimdSynetNormalizeLayerForwardV2},
    {"SimdSynetNormalizeLayerForwardV3", run_SimdSynetNormalizeLayerForwardV3},
    {"SimdSynetNormalizeLayerForwardV4", run_SimdSynetNormalizeLayerForwardV4},
    {"SimdSynetPermuteForward", run_SimdSynetPermuteForward},
    {"SimdSynetPoolingAverage", run_SimdSynetPoolingAverage},
    {"SimdSynetPoolingForwardAverage", run_SimdSynetPoolingForwardAverage},
    {"SimdSynetPoolingForwardMax", run_SimdSynetPoolingForwardMax},
    {"SimdSynetPoolingMax16b", run_SimdSynetPoolingMax16b},
    {"SimdSynetPoolingMax32f", run_SimdSynetPoolingMax32f},
    {"SimdSynetPoolingMax8u", run_SimdSynetPoolingMax8u},
    {"SimdSynetPreluLayerForward", run_SimdSynetPreluLayerForward},
    {"SimdSynetQuantizeLinear", run_SimdSynetQuantizeLinear},
    {"SimdSynetQuantizedAddForward", run_SimdSynetQuantizedAddForward},
    {"SimdSynetQuantizedConcatLayerForward", run_SimdSynetQuantizedConcatLayerForward},
    {"SimdSynetQuantizedConvolutionForward", run_SimdSynetQuantizedConvolutionForward},
    {"SimdSynetQuantizedConvolutionSetParams", run_SimdSynetQuantizedConvolutionSetParams},
    {"SimdSynetQuantizedInnerProductForward", run_SimdSynetQuantizedInnerProductForward},
    {"SimdSynetQuantizedInnerProductSetParams", run_SimdSynetQuantizedInnerProductSetParams},
    {"SimdSynetQuantizedMergedConvolutionForward", run_SimdSynetQuantizedMergedConvolutionForward},
    {"SimdSynetQuantizedMergedConvolutionSetParams", run_SimdSynetQuantizedMergedConvolutionSetParams},
    {"SimdSynetQuantizedPreluLayerForward", run_SimdSynetQuantizedPreluLayerForward},
    {"SimdSynetQuantizedScaleLayerForward", run_SimdSynetQuantizedScaleLayerForward},
    {"SimdSynetQuantizedShuffleLayerForward", run_SimdSynetQuantizedShuffleLayerForward},
    {"SimdSynetRelu16b", run_SimdSynetRelu16b},
    {"SimdSynetRelu32f", run_SimdSynetRelu32f},
    {"SimdSynetRestrictRange32f", run_SimdSynetRestrictRange32f},
    {"SimdSynetScale16bForward", run_SimdSynetScale16bForward},
    {"SimdSynetScale8iForward", run_SimdSynetScale8iForward},
    {"SimdSynetScale8iSetParams", run_SimdSynetScale8iSetParams},
    {"SimdSynetScaleLayerForward", run_SimdSynetScaleLayerForward},
    {"SimdSynetSetInput", run_SimdSynetSetInput},
    {"SimdSynetShuffleLayerForward", run_SimdSynetShuffleLayerForward},
    {"SimdSynetSigmoid32f", run_SimdSynetSigmoid32f},
    {"SimdSynetSoftmax16b", run_SimdSynetSoftmax16b},
    {"SimdSynetSoftmax32f", run_SimdSynetSoftmax32f},
    {"SimdSynetSoftmaxLayerForward", run_SimdSynetSoftmaxLayerForward},
    {"SimdSynetSoftplus32f", run_SimdSynetSoftplus32f},
    {"SimdSynetSwish32f", run_SimdSynetSwish32f},
    {"SimdSynetTanh32f", run_SimdSynetTanh32f},
    {"SimdSynetTiledScale2D32f", run_SimdSynetTiledScale2D32f},
    {"SimdSynetUnaryOperation32f", run_SimdSynetUnaryOperation32f},
    {"SimdSynetUnaryOperation32fLayerForward", run_SimdSynetUnaryOperation32fLayerForward},
    {"SimdWinogradKernel1x3Block1x4SetFilter", run_SimdWinogradKernel1x3Block1x4SetFilter},
    {"SimdWinogradKernel1x3Block1x4SetInput", run_SimdWinogradKernel1x3Block1x4SetInput},
    {"SimdWinogradKernel1x3Block1x4SetOutput", run_SimdWinogradKernel1x3Block1x4SetOutput},
    {"SimdWinogradKernel1x5Block1x4SetFilter", run_SimdWinogradKernel1x5Block1x4SetFilter},
    {"SimdWinogradKernel1x5Block1x4SetInput", run_SimdWinogradKernel1x5Block1x4SetInput},
    {"SimdWinogradKernel1x5Block1x4SetOutput", run_SimdWinogradKernel1x5Block1x4SetOutput},
    {"SimdWinogradKernel2x2Block2x2SetFilter", run_SimdWinogradKernel2x2Block2x2SetFilter},
    {"SimdWinogradKernel2x2Block2x2SetInput", run_SimdWinogradKernel2x2Block2x2SetInput},
    {"SimdWinogradKernel2x2Block2x2SetOutput", run_SimdWinogradKernel2x2Block2x2SetOutput},
    {"SimdWinogradKernel2x2Block4x4SetFilter", run_SimdWinogradKernel2x2Block4x4SetFilter},
    {"SimdWinogradKernel2x2Block4x4SetInput", run_SimdWinogradKernel2x2Block4x4SetInput},
    {"SimdWinogradKernel2x2Block4x4SetOutput", run_SimdWinogradKernel2x2Block4x4SetOutput},
    {"SimdWinogradKernel3x3Block2x2SetFilter", run_SimdWinogradKernel3x3Block2x2SetFilter},
    {"SimdWinogradKernel3x3Block2x2SetInput", run_SimdWinogradKernel3x3Block2x2SetInput},
    {"SimdWinogradKernel3x3Block2x2SetOutput", run_SimdWinogradKernel3x3Block2x2SetOutput},
    {"SimdWinogradKernel3x3Block3x3SetFilter", run_SimdWinogradKernel3x3Block3x3SetFilter},
    {"SimdWinogradKernel3x3Block3x3SetInput", run_SimdWinogradKernel3x3Block3x3SetInput},
    {"SimdWinogradKernel3x3Block3x3SetOutput", run_SimdWinogradKernel3x3Block3x3SetOutput},
    {"SimdWinogradKernel3x3Block4x4SetFilter", run_SimdWinogradKernel3x3Block4x4SetFilter},
    {"SimdWinogradKernel3x3Block4x4SetInput", run_SimdWinogradKernel3x3Block4x4SetInput},
    {"SimdWinogradKernel3x3Block4x4SetOutput", run_SimdWinogradKernel3x3Block4x4SetOutput},
    {"SimdnetAttention", run_SimdnetAttention},
    {"SimdnetBinary", run_SimdnetBinary},
    {"SimdnetCast", run_SimdnetCast},
    {"SimdnetConvolution16bForward", run_SimdnetConvolution16bForward},
    {"SimdnetConvolution16bSetParams", run_SimdnetConvolution16bSetParams},
    {"SimdnetConvolution32fForwardAdd", run_SimdnetConvolution32fForwardAdd},
    {"SimdnetCopy", run_SimdnetCopy},
    {"SimdnetCumulativeSum", run_SimdnetCumulativeSum},
    {"SimdnetDequantizeLinear", run_SimdnetDequantizeLinear},
    {"SimdnetDynamicQuantize", run_SimdnetDynamicQuantize},
    {"SimdnetElementwise", run_SimdnetElementwise},
    {"SimdnetForward", run_SimdnetForward},
    {"SimdnetGather", run_SimdnetGather},
    {"SimdnetGatherNd", run_SimdnetGatherNd},
    {"SimdnetGemm", run_SimdnetGemm},
    {"SimdnetGemmNBits", run_SimdnetGemmNBits},
    {"SimdnetPad", run_SimdnetPad},
    {"SimdnetPixelwise", run_SimdnetPixelwise},
    {"SimdnetPooling", run_SimdnetPooling},
    {"SimdnetQuantizeLinear", run_SimdnetQuantizeLinear},
    {"SimdnetQuantizedBinary", run_SimdnetQuantizedBinary},
    {"SimdnetQuantizedGemm", run_SimdnetQuantizedGemm},
    {"SimdnetQuantizedGemmForward", run_SimdnetQuantizedGemmForward},
    {"SimdnetQuantizedGemmSetParams", run_SimdnetQuantizedGemmSetParams},
    {"SimdnetQuantizedPooling", run_SimdnetQuantizedPooling},
    {"SimdnetRecurrentCompute", run_SimdnetRecurrentCompute},
    {"SimdnetRecurrentSetParams", run_SimdnetRecurrentSetParams},
    {"SimdnetRecurrentSetQuantizedParams", run_SimdnetRecurrentSetQuantizedParams},
    {"SimdnetReduce", run_SimdnetReduce},
    {"SimdnetResizeForward", run_SimdnetResizeForward},
    {"SimdnetRoiAlign", run_SimdnetRoiAlign},
    {"SimdnetScatterElements", run_SimdnetScatterElements},
    {"SimdnetScatterNd", run_SimdnetScatterNd},
    {"SimdnetSelect", run_SimdnetSelect},
    {"SimdnetTable8", run_SimdnetTable8},
    {"SimdnetTopK", run_SimdnetTopK},
    {"SimdnetTopKIntegers", run_SimdnetTopKIntegers},
};

SimdnetCallFunction SimdnetCallOf(const char * name)
{
    SN_BEGIN();
    SN_CHECK(name, NULL, "name is NULL, expected the name of a function");
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
        if (strcmp(name, functions[i].name) == 0)
            return functions[i].run;
    }
    return NULL;
}

void SimdnetRunCalls(const SimdnetCall * calls, size_t count)
{
    SN_BEGIN();
    SN_CHECK(calls || !count, SN_VOID, "calls is NULL, expected an array");
    for (size_t i = 0; i < count && !SimdnetLastErrorKind(); ++i) {
        SN_CHECK(calls[i].run, SN_VOID, "calls[%zu].run is NULL, expected what SimdnetCallOf() returns", i);
        SN_CHECK(calls[i].arguments, SN_VOID, "calls[%zu].arguments is NULL, expected an array", i);
        calls[i].run(calls[i].arguments);
    }
}
