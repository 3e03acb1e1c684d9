/*
 * The functions that SimdnetRunCalls() calls: those of include/simdnet.h that return nothing, with their arguments, each a
 * pointer P(index), an integer or enumerator N(type, index) or a floating point number R(type, index).
 * `python -m support.run_calls` in tests/ writes this file, and a test compares them.
 */
#ifndef SN_API_CALLABLE_H
#define SN_API_CALLABLE_H

#define SN_CALLABLE(X)                                                                                                      \
    X(SimdBFloat16ToFloat32, P(0), N(size_t, 1), P(2))                                                                      \
    X(SimdFill32f, P(0), N(size_t, 1), P(2))                                                                                \
    X(SimdFloat16ToFloat32, P(0), N(size_t, 1), P(2))                                                                       \
    X(SimdFloat32ToBFloat16, P(0), N(size_t, 1), P(2))                                                                      \
    X(SimdFloat32ToFloat16, P(0), N(size_t, 1), P(2))                                                                       \
    X(SimdFree, P(0))                                                                                                       \
    X(SimdGemm32fNN, N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), P(4), N(size_t, 5), P(6), N(size_t, 7), P(8), P(9),    \
        N(size_t, 10))                                                                                                      \
    X(SimdGemm32fNT, N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), P(4), N(size_t, 5), P(6), N(size_t, 7), P(8), P(9),    \
        N(size_t, 10))                                                                                                      \
    X(SimdNeuralAddValue, P(0), P(1), N(size_t, 2))                                                                         \
    X(SimdNeuralAddVectorMultipliedByValue, P(0), N(size_t, 1), P(2), P(3))                                                 \
    X(SimdNeuralPow, P(0), N(size_t, 1), P(2), P(3))                                                                        \
    X(SimdNeuralProductSum, P(0), P(1), N(size_t, 2), P(3))                                                                 \
    X(SimdRelease, P(0))                                                                                                    \
    X(SimdResizerRun, P(0), P(1), N(size_t, 2), P(3), N(size_t, 4))                                                         \
    X(SimdSetFastMode, N(SimdBool, 0))                                                                                      \
    X(SimdSetThreadNumber, N(size_t, 0))                                                                                    \
    X(SimdSynetAdd16bForward, P(0), P(1), P(2), P(3))                                                                       \
    X(SimdSynetAdd8i, P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), N(size_t, 9), N(size_t, 10), N(size_t, 11),     \
        N(SimdTensorFormatType, 12), N(SimdSynetCompatibilityType, 13))                                                     \
    X(SimdSynetAddBias, P(0), N(size_t, 1), N(size_t, 2), P(3), N(SimdTensorFormatType, 4))                                 \
    X(SimdSynetChannelSum16b, P(0), N(size_t, 1), N(size_t, 2), N(SimdTensorFormatType, 3), P(4))                           \
    X(SimdSynetConvert32fTo8u, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(SimdTensorFormatType, 5),    \
        P(6), P(7), P(8), N(SimdSynetCompatibilityType, 9))                                                                 \
    X(SimdSynetConvert8uTo32f, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(SimdTensorFormatType, 5),    \
        P(6), P(7), P(8), N(SimdSynetCompatibilityType, 9))                                                                 \
    X(SimdSynetConvertFilter, N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), N(SimdTensorFormatType, 4), P(5),             \
        N(SimdTensorFormatType, 6))                                                                                         \
    X(SimdSynetConvertImage, N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), N(SimdTensorFormatType, 4), P(5),              \
        N(SimdTensorFormatType, 6))                                                                                         \
    X(SimdSynetConvolution16bForward, P(0), P(1), P(2), P(3))                                                               \
    X(SimdSynetConvolution16bSetParams, P(0), P(1), P(2), P(3))                                                             \
    X(SimdSynetConvolution32fForward, P(0), P(1), P(2), P(3))                                                               \
    X(SimdSynetConvolution32fSetParams, P(0), P(1), P(2), P(3), P(4))                                                       \
    X(SimdSynetConvolution8iForward, P(0), P(1), P(2), P(3))                                                                \
    X(SimdSynetConvolution8iSetParams, P(0), P(1), P(2), P(3), P(4))                                                        \
    X(SimdSynetDeconvolution16bForward, P(0), P(1), P(2), P(3))                                                             \
    X(SimdSynetDeconvolution16bSetParams, P(0), P(1), P(2), P(3))                                                           \
    X(SimdSynetDeconvolution32fForward, P(0), P(1), P(2), P(3))                                                             \
    X(SimdSynetDeconvolution32fSetParams, P(0), P(1), P(2), P(3), P(4))                                                     \
    X(SimdSynetDequantizeLinear, P(0), N(size_t, 1), N(int32_t, 2), P(3), P(4))                                             \
    X(SimdSynetEltwiseLayerForward, P(0), P(1), N(size_t, 2), N(size_t, 3), N(SimdSynetEltwiseOperationType, 4), P(5))      \
    X(SimdSynetElu32f, P(0), N(size_t, 1), P(2), P(3))                                                                      \
    X(SimdSynetFusedLayerForward0, P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), N(SimdTensorFormatType, 6))          \
    X(SimdSynetFusedLayerForward1, P(0), P(1), P(2), P(3), N(size_t, 4), N(size_t, 5), P(6), N(SimdTensorFormatType, 7))    \
    X(SimdSynetFusedLayerForward2, P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), P(6), N(SimdTensorFormatType, 7))    \
    X(SimdSynetFusedLayerForward3, P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), N(SimdTensorFormatType, 6))          \
    X(SimdSynetFusedLayerForward4, P(0), P(1), P(2), P(3), N(size_t, 4), N(size_t, 5), P(6), N(SimdTensorFormatType, 7))    \
    X(SimdSynetFusedLayerForward8, P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), N(SimdTensorFormatType, 6))          \
    X(SimdSynetFusedLayerForward9, P(0), P(1), P(2), P(3), N(size_t, 4), N(size_t, 5), N(size_t, 6), P(7), P(8),            \
        N(SimdTensorFormatType, 9))                                                                                         \
    X(SimdSynetGatherElementsForward, P(0), P(1), P(2), P(3))                                                               \
    X(SimdSynetGatherElementsSetIndex, P(0), P(1))                                                                          \
    X(SimdSynetGelu32f, P(0), N(size_t, 1), P(2))                                                                           \
    X(SimdSynetGridSample2dForward, P(0), P(1), P(2), P(3))                                                                 \
    X(SimdSynetHardSigmoid32f, P(0), N(size_t, 1), P(2), P(3), P(4))                                                        \
    X(SimdSynetHswish32f, P(0), N(size_t, 1), P(2), P(3), P(4))                                                             \
    X(SimdSynetInnerProduct16bForward, P(0), P(1), P(2), P(3), P(4))                                                        \
    X(SimdSynetInnerProduct16bSetParams, P(0), P(1), P(2), P(3))                                                            \
    X(SimdSynetInnerProduct32fForward, P(0), P(1), P(2), P(3), P(4))                                                        \
    X(SimdSynetInnerProduct32fSetParams, P(0), P(1), P(2), P(3), P(4))                                                      \
    X(SimdSynetInnerProduct8i, N(size_t, 0), N(size_t, 1), N(size_t, 2), P(3), P(4), P(5), N(SimdSynetCompatibilityType,    \
        6))                                                                                                                 \
    X(SimdSynetInnerProductLayerForward, P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5))                                \
    X(SimdSynetLrnLayerCrossChannels, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), N(SimdTensorFormatType,   \
        6))                                                                                                                 \
    X(SimdSynetMergedConvolution16bForward, P(0), P(1), P(2), P(3))                                                         \
    X(SimdSynetMergedConvolution16bSetParams, P(0), P(1), P(2), P(3))                                                       \
    X(SimdSynetMergedConvolution32fForward, P(0), P(1), P(2), P(3))                                                         \
    X(SimdSynetMergedConvolution32fSetParams, P(0), P(1), P(2), P(3), P(4))                                                 \
    X(SimdSynetMergedConvolution8iForward, P(0), P(1), P(2), P(3))                                                          \
    X(SimdSynetMergedConvolution8iSetParams, P(0), P(1), P(2), P(3), P(4), P(5))                                            \
    X(SimdSynetMish32f, P(0), N(size_t, 1), P(2), P(3))                                                                     \
    X(SimdSynetNormalizeLayerForward, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), N(SimdBool, 6),           \
        N(SimdTensorFormatType, 7), P(8), P(9))                                                                             \
    X(SimdSynetNormalizeLayerForward16bV2, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), P(6),                \
        N(SimdTensorFormatType, 7), P(8), P(9))                                                                             \
    X(SimdSynetNormalizeLayerForwardV2, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), P(6),                   \
        N(SimdTensorFormatType, 7), P(8), P(9))                                                                             \
    X(SimdSynetNormalizeLayerForwardV3, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), P(6),                   \
        N(SimdTensorFormatType, 7), P(8), P(9))                                                                             \
    X(SimdSynetNormalizeLayerForwardV4, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4), P(5), P(6),                   \
        N(SimdTensorFormatType, 7), P(8), P(9))                                                                             \
    X(SimdSynetPermuteForward, P(0), P(1), P(2))                                                                            \
    X(SimdSynetPoolingAverage, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6),    \
        N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdBool, 13),                     \
        N(SimdTensorFormatType, 14))                                                                                        \
    X(SimdSynetPoolingForwardAverage, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, \
        6), N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdBool, 13),                 \
        N(SimdTensorFormatType, 14))                                                                                        \
    X(SimdSynetPoolingForwardMax, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6), \
        N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdBool, 13))                     \
    X(SimdSynetPoolingMax16b, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6),     \
        N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdTensorFormatType, 13))         \
    X(SimdSynetPoolingMax32f, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6),     \
        N(size_t, 7), N(size_t, 8), N(size_t, 9), N(size_t, 10), N(size_t, 11), N(size_t, 12), P(13), N(size_t, 14),        \
        N(size_t, 15), N(size_t, 16), N(SimdTensorFormatType, 17))                                                          \
    X(SimdSynetPoolingMax8u, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5), N(size_t, 6),      \
        N(size_t, 7), N(size_t, 8), N(size_t, 9), P(10), N(size_t, 11), N(size_t, 12), N(SimdTensorFormatType, 13))         \
    X(SimdSynetPreluLayerForward, P(0), P(1), N(size_t, 2), N(size_t, 3), P(4), N(SimdTensorFormatType, 5))                 \
    X(SimdSynetQuantizeLinear, P(0), N(size_t, 1), P(2), N(int32_t, 3), P(4))                                               \
    X(SimdSynetQuantizedAddForward, P(0), P(1), P(2), P(3))                                                                 \
    X(SimdSynetQuantizedConcatLayerForward, N(size_t, 0), P(1), N(size_t, 2), P(3), P(4), P(5), P(6), N(int32_t, 7), P(8))  \
    X(SimdSynetQuantizedConvolutionForward, P(0), P(1), P(2), P(3))                                                         \
    X(SimdSynetQuantizedConvolutionSetParams, P(0), P(1), P(2), P(3), P(4), P(5), P(6))                                     \
    X(SimdSynetQuantizedInnerProductForward, P(0), P(1), P(2), P(3), P(4))                                                  \
    X(SimdSynetQuantizedInnerProductSetParams, P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7))                              \
    X(SimdSynetQuantizedMergedConvolutionForward, P(0), P(1), P(2), P(3))                                                   \
    X(SimdSynetQuantizedMergedConvolutionSetParams, P(0), P(1), P(2), P(3), P(4), P(5))                                     \
    X(SimdSynetQuantizedPreluLayerForward, P(0), P(1), N(int, 2), N(size_t, 3), N(size_t, 4), P(5), P(6), P(7), N(int, 8),  \
        N(SimdTensorFormatType, 9))                                                                                         \
    X(SimdSynetQuantizedScaleLayerForward, P(0), P(1), N(int, 2), N(size_t, 3), N(size_t, 4), P(5), P(6), P(7), P(8),       \
        N(int, 9), N(SimdTensorFormatType, 10))                                                                             \
    X(SimdSynetQuantizedShuffleLayerForward, P(0), N(int, 1), P(2), N(size_t, 3), P(4), N(int, 5), P(6), N(size_t, 7),      \
        N(size_t, 8), P(9), P(10), P(11), N(int, 12), N(SimdTensorFormatType, 13), N(int, 14))                              \
    X(SimdSynetRelu16b, P(0), N(size_t, 1), P(2), P(3))                                                                     \
    X(SimdSynetRelu32f, P(0), N(size_t, 1), P(2), P(3))                                                                     \
    X(SimdSynetRestrictRange32f, P(0), N(size_t, 1), P(2), P(3), P(4))                                                      \
    X(SimdSynetScale16bForward, P(0), P(1), P(2), P(3), P(4))                                                               \
    X(SimdSynetScale8iForward, P(0), P(1), P(2))                                                                            \
    X(SimdSynetScale8iSetParams, P(0), P(1), P(2), P(3))                                                                    \
    X(SimdSynetScaleLayerForward, P(0), P(1), P(2), N(size_t, 3), N(size_t, 4), P(5), N(SimdTensorFormatType, 6))           \
    X(SimdSynetSetInput, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(SimdPixelFormatType, 4), P(5), P(6), P(7),       \
        N(size_t, 8), N(SimdTensorFormatType, 9))                                                                           \
    X(SimdSynetShuffleLayerForward, P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), P(5), P(6), N(size_t, 7),         \
        N(SimdTensorFormatType, 8))                                                                                         \
    X(SimdSynetSigmoid32f, P(0), N(size_t, 1), P(2), P(3))                                                                  \
    X(SimdSynetSoftmax16b, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4))                                            \
    X(SimdSynetSoftmax32f, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4))                                            \
    X(SimdSynetSoftmaxLayerForward, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), P(4))                                   \
    X(SimdSynetSoftplus32f, P(0), N(size_t, 1), P(2), P(3), P(4))                                                           \
    X(SimdSynetSwish32f, P(0), N(size_t, 1), P(2), P(3))                                                                    \
    X(SimdSynetTanh32f, P(0), N(size_t, 1), P(2), P(3))                                                                     \
    X(SimdSynetTiledScale2D32f, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(SimdTensorFormatType, 4), P(5), P(6),     \
        P(7))                                                                                                               \
    X(SimdSynetUnaryOperation32f, P(0), N(size_t, 1), N(SimdnetSimdUnaryType, 2), P(3))                                     \
    X(SimdSynetUnaryOperation32fLayerForward, P(0), N(size_t, 1), N(SimdSynetUnaryOperation32fType, 2), P(3))               \
    X(SimdWinogradKernel1x3Block1x4SetFilter, P(0), N(size_t, 1), P(2), N(SimdBool, 3))                                     \
    X(SimdWinogradKernel1x3Block1x4SetInput, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),    \
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10))                                                    \
    X(SimdWinogradKernel1x3Block1x4SetOutput, P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),           \
        N(SimdBool, 6))                                                                                                     \
    X(SimdWinogradKernel1x5Block1x4SetFilter, P(0), N(size_t, 1), P(2), N(SimdBool, 3))                                     \
    X(SimdWinogradKernel1x5Block1x4SetInput, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),    \
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10))                                                    \
    X(SimdWinogradKernel1x5Block1x4SetOutput, P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),           \
        N(SimdBool, 6))                                                                                                     \
    X(SimdWinogradKernel2x2Block2x2SetFilter, P(0), N(size_t, 1), P(2), N(SimdBool, 3))                                     \
    X(SimdWinogradKernel2x2Block2x2SetInput, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),    \
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10))                                                    \
    X(SimdWinogradKernel2x2Block2x2SetOutput, P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),           \
        N(SimdBool, 6))                                                                                                     \
    X(SimdWinogradKernel2x2Block4x4SetFilter, P(0), N(size_t, 1), P(2), N(SimdBool, 3))                                     \
    X(SimdWinogradKernel2x2Block4x4SetInput, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),    \
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10))                                                    \
    X(SimdWinogradKernel2x2Block4x4SetOutput, P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),           \
        N(SimdBool, 6))                                                                                                     \
    X(SimdWinogradKernel3x3Block2x2SetFilter, P(0), N(size_t, 1), P(2), N(SimdBool, 3))                                     \
    X(SimdWinogradKernel3x3Block2x2SetInput, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),    \
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10))                                                    \
    X(SimdWinogradKernel3x3Block2x2SetOutput, P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),           \
        N(SimdBool, 6))                                                                                                     \
    X(SimdWinogradKernel3x3Block3x3SetFilter, P(0), N(size_t, 1), P(2), N(SimdBool, 3))                                     \
    X(SimdWinogradKernel3x3Block3x3SetInput, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),    \
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10))                                                    \
    X(SimdWinogradKernel3x3Block3x3SetOutput, P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),           \
        N(SimdBool, 6))                                                                                                     \
    X(SimdWinogradKernel3x3Block4x4SetFilter, P(0), N(size_t, 1), P(2), N(SimdBool, 3))                                     \
    X(SimdWinogradKernel3x3Block4x4SetInput, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),    \
        N(size_t, 6), N(size_t, 7), P(8), N(size_t, 9), N(SimdBool, 10))                                                    \
    X(SimdWinogradKernel3x3Block4x4SetOutput, P(0), N(size_t, 1), P(2), N(size_t, 3), N(size_t, 4), N(size_t, 5),           \
        N(SimdBool, 6))                                                                                                     \
    X(SimdnetAttention, P(0))                                                                                               \
    X(SimdnetBinary, P(0))                                                                                                  \
    X(SimdnetCast, N(SimdTensorDataType, 0), P(1), N(size_t, 2), N(SimdTensorDataType, 3), P(4))                            \
    X(SimdnetConvolution16bForward, P(0), P(1), P(2), P(3))                                                                 \
    X(SimdnetConvolution16bSetParams, P(0), P(1), P(2), P(3))                                                               \
    X(SimdnetConvolution32fForwardAdd, P(0), P(1), P(2), P(3), P(4))                                                        \
    X(SimdnetCopy, P(0))                                                                                                    \
    X(SimdnetCumulativeSum, N(SimdTensorDataType, 0), P(1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(SimdBool, 5),       \
        N(SimdBool, 6), P(7))                                                                                               \
    X(SimdnetDequantizeLinear, P(0))                                                                                        \
    X(SimdnetDynamicQuantize, P(0))                                                                                         \
    X(SimdnetElementwise, P(0))                                                                                             \
    X(SimdnetForward, P(0), P(1))                                                                                           \
    X(SimdnetGather, N(SimdTensorDataType, 0), P(1), N(size_t, 2), N(size_t, 3), N(size_t, 4), P(5), N(size_t, 6), P(7))    \
    X(SimdnetGatherNd, P(0))                                                                                                \
    X(SimdnetGemm, P(0))                                                                                                    \
    X(SimdnetGemmNBits, P(0))                                                                                               \
    X(SimdnetGroupNorm, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), P(5), P(6), P(7), P(8))               \
    X(SimdnetPad, P(0))                                                                                                     \
    X(SimdnetPixelwise, P(0))                                                                                               \
    X(SimdnetPooling, P(0))                                                                                                 \
    X(SimdnetQuantizeLinear, P(0))                                                                                          \
    X(SimdnetQuantizedBinary, P(0))                                                                                         \
    X(SimdnetQuantizedGemm, P(0))                                                                                           \
    X(SimdnetQuantizedGemmForward, P(0), P(1))                                                                              \
    X(SimdnetQuantizedGemmSetParams, P(0), P(1), N(SimdBool, 2))                                                            \
    X(SimdnetQuantizedPooling, P(0))                                                                                        \
    X(SimdnetQuantizedSetParams, P(0), P(1))                                                                                \
    X(SimdnetRecurrentCompute, P(0), P(1))                                                                                  \
    X(SimdnetRecurrentSetParams, P(0), P(1), P(2), P(3), P(4))                                                              \
    X(SimdnetRecurrentSetQuantizedParams, P(0), P(1))                                                                       \
    X(SimdnetReduce, P(0))                                                                                                  \
    X(SimdnetResizeForward, P(0), P(1), P(2))                                                                               \
    X(SimdnetRoiAlign, P(0))                                                                                                \
    X(SimdnetScatterElements, P(0))                                                                                         \
    X(SimdnetScatterNd, P(0))                                                                                               \
    X(SimdnetSelect, P(0))                                                                                                  \
    X(SimdnetTable8, P(0))                                                                                                  \
    X(SimdnetTopK, P(0), N(size_t, 1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(SimdBool, 5), N(SimdBool, 6), P(7),      \
        P(8))                                                                                                               \
    X(SimdnetTopKIntegers, N(SimdTensorDataType, 0), P(1), N(size_t, 2), N(size_t, 3), N(size_t, 4), N(size_t, 5),          \
        N(SimdBool, 6), N(SimdBool, 7), P(8), P(9))

#endif
