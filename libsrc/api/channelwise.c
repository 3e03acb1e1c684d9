#include "ops/channelwise.h"

#include <string.h>

#include "api/call.h"
#include "api/enums.h"
#include "contract/format.h"

/* Arguments that must be arrays: their names, and the arguments. */
#define ARRAYS(...) #__VA_ARGS__, (const sn_32f * const []){__VA_ARGS__}

/* True if a layer is to be computed: it is not empty, and its format, its sizes and those arrays are valid. */
static bool has_work(const char * function, const struct sn_channelwise * l, const char * names,
                     const sn_32f * const * arrays)
{
    const size_t images = l->op == SN_FUSED_4 ? 2 : 1, lanes = sn_max(sn_format_lanes(l->format), 1);
    size_t elements;
    SN_CHECK_FOR(function, sn_format_is_image(l->format), false,
                 "format is %s, expected SimdTensorFormatNchw, Nhwc, Nchw4c, Nchw8c or Nchw16c",
                 SN_NAME(sn_formats, l->format));
    SN_CHECK_FOR(function, l->channels <= SIZE_MAX - l->channels1, false,
                 "channels0 is %zu and channels1 is %zu, too large for an array", l->channels, l->channels1);
    SN_CHECK_FOR(function, sn_image_elements(&elements, images, l->channels + l->channels1, l->spatial, l->format), false,
                 "channels is %zu and spatial is %zu, too large for an array", l->channels + l->channels1, l->spatial);
    if (l->op == SN_FUSED_4 || l->op == SN_FUSED_9) /* the second part must begin at a whole block */
        SN_CHECK_FOR(function, l->channels % lanes == 0, false, "%s is %zu, expected a multiple of %zu in this format",
                     l->op == SN_FUSED_4 ? "channels" : "channels0", l->channels, lanes);
    for (; elements && *names; ++arrays) {
        const size_t length = strcspn(names, ",");
        SN_CHECK_FOR(function, *arrays, false, "%.*s is NULL, expected an array", (int)length, names);
        names += length + strspn(names + length, ", ");
    }
    return elements > 0;
}

void SimdSynetAddBias(const sn_32f * bias, size_t channels, size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_ADD_BIAS, .src = dst, .p = {bias}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(bias, dst)))
        sn_channelwise(&layer);
}

void SimdSynetScaleLayerForward(const sn_32f * src, const sn_32f * scale, const sn_32f * bias, size_t channels,
                                size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = bias ? SN_SCALE_BIAS : SN_SCALE, .src = src, .p = {scale, bias},
                                         .channels = channels, .spatial = spatial, .dst = dst,
                                         .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(src, scale, dst)))
        sn_channelwise(&layer);
}

void SimdSynetPreluLayerForward(const sn_32f * src, const sn_32f * slope, size_t channels, size_t spatial, sn_32f * dst,
                                SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_PRELU, .src = src, .p = {slope}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(src, slope, dst)))
        sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward0(const sn_32f * src, const sn_32f * bias, const sn_32f * scale, size_t channels,
                                 size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_FUSED_0, .src = src, .p = {bias, scale}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(src, bias, scale, dst)))
        sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward1(const sn_32f * src, const sn_32f * bias0, const sn_32f * scale1, const sn_32f * bias1,
                                 size_t channels, size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_FUSED_1, .src = src, .p = {bias0, scale1, bias1}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(src, bias0, scale1, bias1, dst)))
        sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward2(const sn_32f * src, const sn_32f * scale, const sn_32f * bias, size_t channels,
                                 size_t spatial, const sn_32f * slope, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    struct sn_channelwise layer = {.op = SN_FUSED_2, .src = src, .p = {scale, bias}, .channels = channels,
                                   .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (!has_work(__func__, &layer, ARRAYS(src, scale, bias, slope, dst)))
        return;
    layer.s = slope[0];
    sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward3(const sn_32f * src, const sn_32f * scale, const sn_32f * bias, size_t channels,
                                 size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_FUSED_3, .src = src, .p = {bias, scale}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(src, scale, bias, dst)))
        sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward4(const sn_32f * src, const sn_32f * bias0, const sn_32f * scale1, const sn_32f * bias1,
                                 size_t channels, size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    struct sn_channelwise layer = {.op = SN_FUSED_4, .src = src, .p = {bias0}, .channels = channels, .spatial = spatial,
                                   .dst = dst, .format = (enum sn_format)format};
    if (!has_work(__func__, &layer, ARRAYS(src, bias0, scale1, bias1, dst)))
        return;
    layer.s = scale1[0];
    layer.t = bias1[0];
    sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward8(const sn_32f * src0, const sn_32f * src1, const sn_32f * src2, size_t channels,
                                 size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_FUSED_8, .src = src0, .src1 = src1, .p = {src2}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(src0, src1, src2, dst)))
        sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward9(const sn_32f * src0, const sn_32f * src1, const sn_32f * scale, const sn_32f * bias,
                                 size_t channels0, size_t channels1, size_t spatial, sn_32f * dst0, sn_32f * dst1,
                                 SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels0, channels1, spatial, format);
    const struct sn_channelwise layer = {.op = SN_FUSED_9, .src = src0, .src1 = src1, .p = {scale, bias},
                                         .channels = channels0, .channels1 = channels1, .spatial = spatial,
                                         .dst = dst0, .dst1 = dst1, .format = (enum sn_format)format};
    if (!has_work(__func__, &layer, ARRAYS(scale, bias, dst0)))
        return;
    SN_CHECK(src0 || channels0 == 0, SN_VOID, "src0 is NULL, expected an array");
    SN_CHECK(src1 || channels1 == 0, SN_VOID, "src1 is NULL, expected an array");
    sn_channelwise(&layer);
}
