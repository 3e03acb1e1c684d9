#include "ops/channelwise.h"

#include "api/call.h"
#include "core/format.h"

/* What every layer asks of format and sizes; `images` is 2 where the result has two. */
static bool check_sizes(const char * function, size_t images, size_t channels, size_t spatial, SimdTensorFormatType format,
                        size_t * elements)
{
    SN_CHECK_FOR(function, sn_format_is_image(format), false,
                 "format is %d, expected NCHW, NHWC, NCHW4c, NCHW8c or NCHW16c", (int)format);
    SN_CHECK_FOR(function, sn_image_elements(elements, images, channels, spatial, format), false,
                 "channels is %zu and spatial is %zu, too large for an array", channels, spatial);
    return true;
}

/* Where a result begins behind whole blocks of channels. */
static bool check_blocks(const char * function, const char * name, size_t channels, SimdTensorFormatType format)
{
    const size_t lanes = sn_max(sn_format_lanes(format), 1);
    SN_CHECK_FOR(function, channels % lanes == 0, false, "%s is %zu, expected a multiple of %zu in this format", name,
                 channels, lanes);
    return true;
}

void SimdSynetAddBias(const float * bias, size_t channels, size_t spatial, float * dst, SimdTensorFormatType format)
{
    SN_CALL(channels, spatial, format);
    size_t elements;
    if (!check_sizes(__func__, 1, channels, spatial, format, &elements) || elements == 0)
        return;
    SN_CHECK_POINTER(bias, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_channelwise layer = {.op = SN_ADD_BIAS, .src = dst, .p = {bias}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = format};
    sn_channelwise(&layer);
}

void SimdSynetScaleLayerForward(const float * src, const float * scale, const float * bias, size_t channels, size_t spatial,
                                float * dst, SimdTensorFormatType format)
{
    SN_CALL(channels, spatial, format);
    size_t elements;
    if (!check_sizes(__func__, 1, channels, spatial, format, &elements) || elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(scale, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_channelwise layer = {.op = bias ? SN_SCALE_BIAS : SN_SCALE, .src = src, .p = {scale, bias},
                                         .channels = channels, .spatial = spatial, .dst = dst, .format = format};
    sn_channelwise(&layer);
}

void SimdSynetPreluLayerForward(const float * src, const float * slope, size_t channels, size_t spatial, float * dst,
                                SimdTensorFormatType format)
{
    SN_CALL(channels, spatial, format);
    size_t elements;
    if (!check_sizes(__func__, 1, channels, spatial, format, &elements) || elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(slope, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_channelwise layer = {.op = SN_PRELU, .src = src, .p = {slope}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = format};
    sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward0(const float * src, const float * bias, const float * scale, size_t channels,
                                 size_t spatial, float * dst, SimdTensorFormatType format)
{
    SN_CALL(channels, spatial, format);
    size_t elements;
    if (!check_sizes(__func__, 1, channels, spatial, format, &elements) || elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(bias, SN_VOID);
    SN_CHECK_POINTER(scale, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_channelwise layer = {.op = SN_FUSED_0, .src = src, .p = {bias, scale}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = format};
    sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward1(const float * src, const float * bias0, const float * scale1, const float * bias1,
                                 size_t channels, size_t spatial, float * dst, SimdTensorFormatType format)
{
    SN_CALL(channels, spatial, format);
    size_t elements;
    if (!check_sizes(__func__, 1, channels, spatial, format, &elements) || elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(bias0, SN_VOID);
    SN_CHECK_POINTER(scale1, SN_VOID);
    SN_CHECK_POINTER(bias1, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_channelwise layer = {.op = SN_FUSED_1, .src = src, .p = {bias0, scale1, bias1}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = format};
    sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward2(const float * src, const float * scale, const float * bias, size_t channels,
                                 size_t spatial, const float * slope, float * dst, SimdTensorFormatType format)
{
    SN_CALL(channels, spatial, format);
    size_t elements;
    if (!check_sizes(__func__, 1, channels, spatial, format, &elements) || elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(scale, SN_VOID);
    SN_CHECK_POINTER(bias, SN_VOID);
    SN_CHECK_POINTER(slope, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_channelwise layer = {.op = SN_FUSED_2, .src = src, .p = {scale, bias}, .s = slope[0],
                                         .channels = channels, .spatial = spatial, .dst = dst, .format = format};
    sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward3(const float * src, const float * scale, const float * bias, size_t channels,
                                 size_t spatial, float * dst, SimdTensorFormatType format)
{
    SN_CALL(channels, spatial, format);
    size_t elements;
    if (!check_sizes(__func__, 1, channels, spatial, format, &elements) || elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(scale, SN_VOID);
    SN_CHECK_POINTER(bias, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_channelwise layer = {.op = SN_FUSED_3, .src = src, .p = {bias, scale}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = format};
    sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward4(const float * src, const float * bias0, const float * scale1, const float * bias1,
                                 size_t channels, size_t spatial, float * dst, SimdTensorFormatType format)
{
    SN_CALL(channels, spatial, format);
    size_t elements;
    if (!check_sizes(__func__, 2, channels, spatial, format, &elements) ||
        !check_blocks(__func__, "channels", channels, format) || elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(bias0, SN_VOID);
    SN_CHECK_POINTER(scale1, SN_VOID);
    SN_CHECK_POINTER(bias1, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_channelwise layer = {.op = SN_FUSED_4, .src = src, .p = {bias0}, .s = scale1[0], .t = bias1[0],
                                         .channels = channels, .spatial = spatial, .dst = dst, .format = format};
    sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward8(const float * src0, const float * src1, const float * src2, size_t channels,
                                 size_t spatial, float * dst, SimdTensorFormatType format)
{
    SN_CALL(channels, spatial, format);
    size_t elements;
    if (!check_sizes(__func__, 1, channels, spatial, format, &elements) || elements == 0)
        return;
    SN_CHECK_POINTER(src0, SN_VOID);
    SN_CHECK_POINTER(src1, SN_VOID);
    SN_CHECK_POINTER(src2, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_channelwise layer = {.op = SN_FUSED_8, .src = src0, .src1 = src1, .p = {src2}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = format};
    sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward9(const float * src0, const float * src1, const float * scale, const float * bias,
                                 size_t channels0, size_t channels1, size_t spatial, float * dst0, float * dst1,
                                 SimdTensorFormatType format)
{
    SN_CALL(channels0, channels1, spatial, format);
    size_t elements;
    SN_CHECK(channels0 <= SIZE_MAX - channels1, SN_VOID, "channels0 is %zu and channels1 is %zu, too large for an array",
             channels0, channels1);
    if (!check_sizes(__func__, 1, channels0 + channels1, spatial, format, &elements) ||
        !check_blocks(__func__, "channels0", channels0, format) || elements == 0)
        return;
    SN_CHECK(src0 || channels0 == 0, SN_VOID, "src0 is NULL, expected an array");
    SN_CHECK(src1 || channels1 == 0, SN_VOID, "src1 is NULL, expected an array");
    SN_CHECK_POINTER(scale, SN_VOID);
    SN_CHECK_POINTER(bias, SN_VOID);
    SN_CHECK_POINTER(dst0, SN_VOID);
    const struct sn_channelwise layer = {.op = SN_FUSED_9, .src = src0, .src1 = src1, .p = {scale, bias},
                                         .channels = channels0, .channels1 = channels1, .spatial = spatial,
                                         .dst = dst0, .dst1 = dst1, .format = format};
    sn_channelwise(&layer);
}
