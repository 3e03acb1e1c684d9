/*
 * For programs that were written for the Simd Library: includes simdnet.h, and replaces what differs. Optional; simdnet.h is
 * complete without it.
 *
 *     #include <simdnet_simd.h>          in place of <Simd/SimdLib.h>
 *
 * Declarations are those of 2020 unless SIMDNET_SIMD_YEAR is defined as 2026 before this line, or by the compiler's option
 * -DSIMDNET_SIMD_YEAR=2026. A call with the arguments of the other year does not compile: the error names a function
 * SimdnetSimd2020...() or SimdnetSimd2026...(), whose line says what to define. In both years:
 *
 *   SimdSynetFusedLayerForward3()   takes src, bias, scale, as the implementation of the Simd Library
 *
 * In 2026, too:
 *
 *   SimdSynetUnaryOperation32f*     the enumerators, which have other numbers than those of simdnet.h
 *   SimdSynetConvolution32fInit()   has no argument `gemm`
 *   SimdSynetDeconvolution32fInit() has `compatibility` in its place, which is ignored
 *   SimdSynetConvolution8iInit()    has an argument `compatibility`, which is ignored: results are exact always
 *   SimdSynetScaleLayerForward()    takes height, width and compatibility, which is ignored
 *   SimdSynetShuffleLayerForward()  takes the arrays first, and the direction `type`
 *
 * The numbers of SimdCpuInfoType are those of 2020: use the names. Functions that are inline here have names that begin with
 * SimdnetSimd; macros have the names of the Simd Library.
 */
#ifndef SIMDNET_SIMD_H
#define SIMDNET_SIMD_H

#include "simdnet.h"

#ifndef SIMDNET_SIMD_YEAR
#define SIMDNET_SIMD_YEAR 2020
#elif SIMDNET_SIMD_YEAR != 2020 && SIMDNET_SIMD_YEAR != 2026
#error "SIMDNET_SIMD_YEAR must be 2020 (the default) or 2026"
#endif

static inline void SimdnetSimdFusedLayerForward3(const float * src, const float * bias, const float * scale, size_t channels,
                                                 size_t spatial, float * dst, SimdTensorFormatType format)
{
    SimdSynetFusedLayerForward3(src, scale, bias, channels, spatial, dst, format);
}

#define SimdSynetFusedLayerForward3 SimdnetSimdFusedLayerForward3

#if SIMDNET_SIMD_YEAR == 2020

/* ---- functions with other arguments in 2026. If a call has wrong ones, compilers quote the first line of the function. */

static inline void * SimdnetSimd2020Convolution32fInit( /* without gemm: define SIMDNET_SIMD_YEAR as 2026 */
    size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm)
{
    return SimdSynetConvolution32fInit(batch, conv, gemm);
}

static inline void * SimdnetSimd2020Convolution8iInit( /* with compatibility: define SIMDNET_SIMD_YEAR as 2026 */
    size_t batch, const SimdConvolutionParameters * conv)
{
    return SimdSynetConvolution8iInit(batch, conv);
}

static inline void SimdnetSimd2020ScaleLayerForward( /* with height and width: define SIMDNET_SIMD_YEAR as 2026 */
    const float * src, const float * scale, const float * bias, size_t channels, size_t spatial, float * dst,
    SimdTensorFormatType format)
{
    SimdSynetScaleLayerForward(src, scale, bias, channels, spatial, dst, format);
}

#define SimdSynetConvolution32fInit SimdnetSimd2020Convolution32fInit
#define SimdSynetConvolution8iInit SimdnetSimd2020Convolution8iInit
#define SimdSynetScaleLayerForward SimdnetSimd2020ScaleLayerForward
#define SimdSynetUnaryOperation32f SimdnetSimdUnaryOperation32f_is_of_SIMDNET_SIMD_YEAR_2026

#else

/* ---- unary operations */

#define SimdSynetUnaryOperation32fType SimdnetSimdUnaryType
#define SimdSynetUnaryOperation32fAbs SimdnetSimdUnaryAbs
#define SimdSynetUnaryOperation32fCeil SimdnetSimdUnaryCeil
#define SimdSynetUnaryOperation32fCos SimdnetSimdUnaryCos
#define SimdSynetUnaryOperation32fErf SimdnetSimdUnaryErf
#define SimdSynetUnaryOperation32fExp SimdnetSimdUnaryExp
#define SimdSynetUnaryOperation32fFloor SimdnetSimdUnaryFloor
#define SimdSynetUnaryOperation32fLog SimdnetSimdUnaryLog
#define SimdSynetUnaryOperation32fNeg SimdnetSimdUnaryNeg
#define SimdSynetUnaryOperation32fNot SimdnetSimdUnaryNot
#define SimdSynetUnaryOperation32fRcp SimdnetSimdUnaryRcp
#define SimdSynetUnaryOperation32fRound SimdnetSimdUnaryRound
#define SimdSynetUnaryOperation32fRsqrt SimdnetSimdUnaryRsqrt
#define SimdSynetUnaryOperation32fSign SimdnetSimdUnarySign
#define SimdSynetUnaryOperation32fSin SimdnetSimdUnarySin
#define SimdSynetUnaryOperation32fSqrt SimdnetSimdUnarySqrt
#define SimdSynetUnaryOperation32fTanh SimdnetSimdUnaryTanh
#define SimdSynetUnaryOperation32fZero SimdnetSimdUnaryZero

/* ---- contexts */

static inline void * SimdnetSimd2026Convolution32fInit( /* with gemm: define SIMDNET_SIMD_YEAR as 2020 */
    size_t batch, const SimdConvolutionParameters * conv)
{
    return SimdSynetConvolution32fInit(batch, conv, NULL);
}

static inline void * SimdnetSimdDeconvolution32fInit(size_t batch, const SimdConvolutionParameters * conv,
                                                     SimdSynetCompatibilityType compatibility)
{
    (void)compatibility;
    return SimdSynetDeconvolution32fInit(batch, conv, NULL);
}

static inline void * SimdnetSimd2026Convolution8iInit( /* without compatibility: define SIMDNET_SIMD_YEAR as 2020 */
    size_t batch, const SimdConvolutionParameters * conv, SimdSynetCompatibilityType compatibility)
{
    (void)compatibility;
    return SimdSynetConvolution8iInit(batch, conv);
}

#define SimdSynetConvolution32fInit SimdnetSimd2026Convolution32fInit
#define SimdSynetDeconvolution32fInit SimdnetSimdDeconvolution32fInit
#define SimdSynetConvolution8iInit SimdnetSimd2026Convolution8iInit

/* ---- layers */

static inline void SimdnetSimd2026ScaleLayerForward( /* with spatial: define SIMDNET_SIMD_YEAR as 2020 */
    const float * src, const float * scale, const float * bias, size_t channels, size_t height, size_t width, float * dst,
    SimdTensorFormatType format, SimdSynetCompatibilityType compatibility)
{
    (void)compatibility;
    SimdSynetScaleLayerForward(src, scale, bias, channels, height * width, dst, format);
}

/* The inverse of the shuffle: the channels of src0 become the even ones of dst0 followed by dst1, those of src1 the odd
 * ones. Plain loops; either has (channels0 + channels1) / 2 channels. */
static inline void SimdnetSimdUnshuffle(const float * src0, const float * src1, size_t channels0, size_t channels1,
                                        size_t spatial, float * dst0, float * dst1, int nhwc)
{
    const size_t all = channels0 + channels1, half = all / 2;
    for (size_t c = 0; c < all; ++c) {
        const float * src = c % 2 ? src1 : src0;
        float * dst = c < channels0 ? dst0 : dst1;
        const size_t from = c / 2, to = c < channels0 ? c : c - channels0, channels = c < channels0 ? channels0 : channels1;
        for (size_t s = 0; s < spatial; ++s)
            dst[nhwc ? s * channels + to : to * spatial + s] = src[nhwc ? s * half + from : from * spatial + s];
    }
}

/* type 0: as simdnet.h, src0 and src1 have channels0 and channels1; 1: the inverse, dst0 and dst1 have. */
static inline void SimdnetSimdShuffleLayerForward(const float * src0, const float * src1, size_t channels0, size_t channels1,
                                                  size_t spatial, float * dst0, float * dst1, SimdTensorFormatType format,
                                                  int type)
{
    if (type == 0)
        SimdSynetShuffleLayerForward(src0, channels0, src1, channels1, spatial, dst0, dst1, (channels0 + channels1) / 2,
                                     format);
    else if (type == 1 && (format == SimdTensorFormatNchw || format == SimdTensorFormatNhwc))
        SimdnetSimdUnshuffle(src0, src1, channels0, channels1, spatial, dst0, dst1, format == SimdTensorFormatNhwc);
}

#define SimdSynetScaleLayerForward SimdnetSimd2026ScaleLayerForward
#define SimdSynetShuffleLayerForward SimdnetSimdShuffleLayerForward

#endif

#endif
