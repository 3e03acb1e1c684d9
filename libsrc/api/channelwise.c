#include "ops/elementwise/channelwise.h"

#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "contract/format.h"

/* The arguments that are arrays; results are the last ones. */
enum role { ABSENT, NUMBER, COEFFICIENTS, FIRST, SECOND, RESULT, ROLES };

struct argument {
    const char * name;
    const sn_32f * at;
    enum role role;
};

#define ONE(p) {#p, p, NUMBER}
#define EACH(p) {#p, p, COEFFICIENTS} /* of the channels */
#define SRC(p) {#p, p, FIRST}
#define SRC1(p) {#p, p, SECOND}
#define DST(p) {#p, p, RESULT}
#define EACH_OR_NULL(p) {#p, p, (p) ? COEFFICIENTS : ABSENT}
#define DST_OR_NULL(p) {#p, p, (p) ? RESULT : ABSENT}
#define ARRAYS(...) (const struct argument[]){__VA_ARGS__, {NULL, NULL, ABSENT}}

/* True if no result overlaps an argument before it; `bytes` are the sizes of each role. */
static bool is_apart(const char * function, const struct argument * arguments, const size_t * bytes, bool in_place)
{
    const struct argument * dst = arguments;
    while (dst->role != RESULT)
        ++dst;
    for (; dst->role == RESULT; ++dst)
        for (const struct argument * a = arguments; a != dst; ++a) {
            const struct sn_array result = {dst->name, dst->at, bytes[RESULT]}, other = {a->name, a->at, bytes[a->role]};
            if (!sn_apart_for(function, result, other, in_place && (a->role == FIRST || a->role == SECOND)))
                return false;
        }
    return true;
}

/* True if a layer is to be computed: it is not empty, and its format, its sizes and its arrays are valid. */
static bool has_work(const char * function, const struct sn_channelwise * l, const struct argument * arguments)
{
    const bool in_place = l->op != SN_FUSED_4 && l->op != SN_FUSED_9;
    const size_t images = l->op == SN_FUSED_4 ? 2 : 1, lanes = sn_max(sn_format_lanes(l->format), 1);
    size_t elements;
    SN_CHECK_FOR(function, sn_format_is_image(l->format), false,
                 "format is %s, expected SimdTensorFormatNchw, Nhwc, Nchw4c, Nchw8c or Nchw16c",
                 SN_NAME(sn_formats, l->format));
    SN_CHECK_FOR(function, l->channels <= SIZE_MAX - l->channels1, false,
                 "channels0 is %zu and channels1 is %zu, too large for an array", l->channels, l->channels1);
    SN_CHECK_FOR(function, sn_image_elements(&elements, images, l->channels + l->channels1, l->spatial, l->format), false,
                 "channels is %zu and spatial is %zu, too large for an array", l->channels + l->channels1, l->spatial);
    if (!in_place) /* the second part must begin at a whole block */
        SN_CHECK_FOR(function, l->channels % lanes == 0, false, "%s is %zu, expected a multiple of %zu in this format",
                     l->op == SN_FUSED_4 ? "channels" : "channels0", l->channels, lanes);
    if (elements == 0)
        return false;
    const size_t each = sn_align(l->channels + l->channels1, lanes), first = sn_align(l->channels, lanes) * l->spatial;
    const size_t second = l->op == SN_FUSED_9 ? elements - first : first;
    const size_t bytes[ROLES] = {[COEFFICIENTS] = each * sizeof(float), [FIRST] = first * sizeof(float),
                                 [SECOND] = second * sizeof(float), [RESULT] = elements * sizeof(float)};
    for (const struct argument * a = arguments; a->name; ++a)
        SN_CHECK_FOR(function, a->at || (a->role != NUMBER && bytes[a->role] == 0), false,
                     "%s is NULL, expected an array", a->name);
    return is_apart(function, arguments, bytes, in_place);
}

void SimdSynetAddBias(const sn_32f * bias, size_t channels, size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_ADD_BIAS, .src = dst, .p = {bias}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(EACH(bias), DST(dst))))
        sn_channelwise(&layer);
}

void SimdSynetScaleLayerForward(const sn_32f * src, const sn_32f * scale, const sn_32f * bias, size_t channels,
                                size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = bias ? SN_SCALE_BIAS : SN_SCALE, .src = src, .p = {scale, bias},
                                         .channels = channels, .spatial = spatial, .dst = dst,
                                         .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(SRC(src), EACH(scale), EACH_OR_NULL(bias), DST(dst))))
        sn_channelwise(&layer);
}

void SimdSynetPreluLayerForward(const sn_32f * src, const sn_32f * slope, size_t channels, size_t spatial, sn_32f * dst,
                                SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_PRELU, .src = src, .p = {slope}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(SRC(src), EACH(slope), DST(dst))))
        sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward0(const sn_32f * src, const sn_32f * bias, const sn_32f * scale, size_t channels,
                                 size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_FUSED_0, .src = src, .p = {bias, scale}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(SRC(src), EACH(bias), EACH(scale), DST(dst))))
        sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward1(const sn_32f * src, const sn_32f * bias0, const sn_32f * scale1, const sn_32f * bias1,
                                 size_t channels, size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    const struct sn_channelwise layer = {.op = SN_FUSED_1, .src = src, .p = {bias0, scale1, bias1}, .channels = channels,
                                         .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (has_work(__func__, &layer, ARRAYS(SRC(src), EACH(bias0), EACH(scale1), EACH(bias1), DST(dst))))
        sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward2(const sn_32f * src, const sn_32f * scale, const sn_32f * bias, size_t channels,
                                 size_t spatial, const sn_32f * slope, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    struct sn_channelwise layer = {.op = SN_FUSED_2, .src = src, .p = {scale, bias}, .channels = channels,
                                   .spatial = spatial, .dst = dst, .format = (enum sn_format)format};
    if (!has_work(__func__, &layer, ARRAYS(SRC(src), EACH(scale), EACH(bias), ONE(slope), DST(dst))))
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
    if (has_work(__func__, &layer, ARRAYS(SRC(src), EACH(scale), EACH(bias), DST(dst))))
        sn_channelwise(&layer);
}

void SimdSynetFusedLayerForward4(const sn_32f * src, const sn_32f * bias0, const sn_32f * scale1, const sn_32f * bias1,
                                 size_t channels, size_t spatial, sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    struct sn_channelwise layer = {.op = SN_FUSED_4, .src = src, .p = {bias0}, .channels = channels, .spatial = spatial,
                                   .dst = dst, .format = (enum sn_format)format};
    if (!has_work(__func__, &layer, ARRAYS(SRC(src), EACH(bias0), ONE(scale1), ONE(bias1), DST(dst))))
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
    if (has_work(__func__, &layer, ARRAYS(SRC(src0), SRC1(src1), EACH(src2), DST(dst))))
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
    if (has_work(__func__, &layer, ARRAYS(SRC(src0), SRC1(src1), EACH(scale), EACH(bias), DST(dst0), DST_OR_NULL(dst1))))
        sn_channelwise(&layer);
}
