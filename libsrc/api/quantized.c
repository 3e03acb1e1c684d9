/* Layers of quantised bytes: every tensor has one scale and one zero. */
#include "ops/bytes/quantized.h"

#include <math.h>

#include "api/arrays.h"
#include "api/call.h"
#include "api/overlap.h"
#include "api/quantized.h"
#include "dispatch/dispatch.h"
#include "ops/bytes/quantized_gemm.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

bool sn_check_scale(const char * function, const char * name, float scale)
{
    CHECK(isfinite(scale) && scale > 0, "%s is %g, expected a finite number above 0", name, (double)scale);
    return true;
}

bool sn_check_scales(const char * function, const char * name, const sn_32f * scale, size_t count)
{
    CHECK(scale, "%s is NULL, expected an array", name);
    const size_t bad = sn_quantized_bad_scale(scale, count);
    CHECK(bad == count, "%s[%zu] is %g, expected a finite number that is not below 0", name, bad, (double)scale[bad]);
    return true;
}

bool sn_check_zero(const char * function, const char * name, int32_t zero)
{
    CHECK(zero >= 0 && zero <= 255, "%s is %d, expected 0 .. 255", name, (int)zero);
    return true;
}

static bool check_bias(const char * function, const char * name, int32_t bias)
{
    CHECK(bias >= -255 && bias <= 0, "%s is %d, expected -255 .. 0, minus a zero", name, (int)bias);
    return true;
}

static bool check_scale_at(const char * function, const char * name, const sn_32f * scale)
{
    CHECK(scale, "%s is NULL, expected a number", name);
    return sn_check_scale(function, name, *scale);
}

/* ---- layers with coefficients of channels */

/* The arguments of a layer that are alike in all of them. */
struct layer {
    const uint8_t * src;
    const sn_32f * srcScale;
    int srcZero;
    size_t channels, spatial;
    const char * name; /* of the coefficients that must be there */
    const sn_32f * k, * h;
    uint8_t * dst;
    const sn_32f * dstScale;
    int dstZero;
    SimdTensorFormatType format;
};

static bool is_apart(const char * function, const struct layer * l, size_t size)
{
    const struct sn_array dst = {"dst", l->dst, size};
    return sn_apart_or_same(function, dst, (struct sn_array){"src", l->src, size}) &&
           sn_apart(function, dst, (struct sn_array){l->name, l->k, l->channels * sizeof(float)}) &&
           sn_apart(function, dst, (struct sn_array){"bias", l->h, l->h ? l->channels * sizeof(float) : 0});
}

static void layer(const char * function, enum sn_affine_kind kind, const struct layer * l)
{
    size_t size;
    if (!sn_check_format(function, "format", l->format) || !sn_check_zero(function, "srcZero", l->srcZero) ||
        !sn_check_zero(function, "dstZero", l->dstZero))
        return;
    SN_CHECK_FOR(function, sn_product(&size, l->channels, l->spatial), SN_VOID,
                 "channels is %zu and spatial is %zu, too large for an array", l->channels, l->spatial);
    if (size == 0)
        return;
    SN_CHECK_FOR(function, l->src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, l->k, SN_VOID, "%s is NULL, expected an array", l->name);
    SN_CHECK_FOR(function, l->dst, SN_VOID, "dst is NULL, expected an array");
    if (!check_scale_at(function, "srcScale", l->srcScale) || !check_scale_at(function, "dstScale", l->dstScale) ||
        !is_apart(function, l, size))
        return;
    const struct sn_affine bytes = {.srcZero = (float)l->srcZero, .srcScale = *l->srcScale, .dstScale = 1 / *l->dstScale,
                                    .dstZero = l->dstZero, .upper = 255};
    sn_affine(sn_table(), &(struct sn_affine_layer){.kind = kind, .size = size, .channels = l->channels,
        .inner = l->format == SimdTensorFormatNhwc ? 1 : l->spatial, .k = l->k, .h = l->h, .bytes = bytes, .src = l->src,
        .dst = l->dst});
}

void SimdSynetQuantizedPreluLayerForward(const uint8_t * src, const sn_32f * srcScale, int srcZero, size_t channels,
                                         size_t spatial, const sn_32f * slope, uint8_t * dst, const sn_32f * dstScale,
                                         int dstZero, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    layer(__func__, SN_AFFINE_PRELU_8U_8U, &(struct layer){src, srcScale, srcZero, channels, spatial, "slope", slope, NULL,
                                                           dst, dstScale, dstZero, format});
}

void SimdSynetQuantizedScaleLayerForward(const uint8_t * src, const sn_32f * srcScale, int srcZero, size_t channels,
                                         size_t spatial, const sn_32f * scale, const sn_32f * bias, uint8_t * dst,
                                         const sn_32f * dstScale, int dstZero, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    layer(__func__, SN_AFFINE_FUSED_8U_8U, &(struct layer){src, srcScale, srcZero, channels, spatial, "scale", scale, bias,
                                                           dst, dstScale, dstZero, format});
}

/* ---- concatenation */

/* Checks the sources; *row is the number of bytes of a row of the result. */
static bool check_sources(const char * function, size_t count, const uint8_t ** src, size_t num, const size_t * size,
                          const sn_32i * bias, const sn_32f * norm, uint8_t * dst, size_t * row)
{
    size_t all;
    *row = 0;
    for (size_t i = 0; i < count; *row += size[i++])
        CHECK(size[i] <= SIZE_MAX - *row, "size[%zu] is %zu, too large for an array", i, size[i]);
    CHECK(sn_product(&all, num, *row), "num is %zu and the sum of size is %zu, too large for an array", num, *row);
    if (all == 0)
        return true;
    CHECK(src, "src is NULL, expected an array");
    CHECK(bias, "bias is NULL, expected an array");
    CHECK(norm, "norm is NULL, expected an array");
    CHECK(dst, "dst is NULL, expected an array");
    for (size_t i = 0; i < count; ++i) {
        CHECK(src[i] || size[i] == 0, "src[%zu] is NULL, expected an array", i);
        if (!check_bias(function, "a number of bias", bias[i]) || !sn_check_scale(function, "a number of norm", norm[i]) ||
            !sn_apart(function, (struct sn_array){"dst", dst, all}, (struct sn_array){"a src", src[i], num * size[i]}))
            return false;
    }
    return sn_apart(function, (struct sn_array){"dst", dst, all}, SN_ARRAY(bias, count)) &&
           sn_apart(function, (struct sn_array){"dst", dst, all}, SN_ARRAY(norm, count));
}

void SimdSynetQuantizedConcatLayerForward(size_t count, const uint8_t ** src, size_t num, const size_t * size,
                                          const sn_32i * bias, const sn_32f * norm, const sn_32f * scale, int32_t zero,
                                          uint8_t * dst)
{
    SN_CALL(count, num);
    size_t row;
    if (!sn_check_zero(__func__, "zero", zero))
        return;
    SN_CHECK(size || count == 0, SN_VOID, "size is NULL, expected an array");
    if (!check_sources(__func__, count, src, num, size, bias, norm, dst, &row) || row == 0 || num == 0 ||
        !check_scale_at(__func__, "scale", scale))
        return;
    sn_quantized_concat(sn_table(),
                        &(struct sn_quantized_concat){count, num, row, src, size, bias, norm, *scale, zero, dst});
}

/* ---- shuffle */

static bool shuffle_apart(const char * function, const struct sn_quantized_shuffle * p)
{
    static const char * const src[] = {"src0", "src1"}, * const dst[] = {"dst0", "dst1"};
    for (size_t i = 0; i < 2; ++i) {
        const struct sn_array result = {dst[i], p->dst[i].at, p->dst[i].channels * p->spatial};
        CHECK(p->src[i].at || p->src[i].channels == 0, "%s is NULL, expected an array", src[i]);
        CHECK(p->dst[i].at || p->dst[i].channels == 0, "%s is NULL, expected an array", dst[i]);
        for (size_t j = 0; j < 2; ++j)
            if (!sn_apart(function, result, (struct sn_array){src[j], p->src[j].at, p->src[j].channels * p->spatial}))
                return false;
    }
    return sn_apart(function, (struct sn_array){"dst1", p->dst[1].at, p->dst[1].channels * p->spatial},
                    (struct sn_array){"dst0", p->dst[0].at, p->dst[0].channels * p->spatial});
}

void SimdSynetQuantizedShuffleLayerForward(const uint8_t * src0, int bias0, const sn_32f * norm0, size_t srcC0,
                                           const uint8_t * src1, int bias1, const sn_32f * norm1, size_t srcC1,
                                           size_t spatial, uint8_t * dst0, uint8_t * dst1, const sn_32f * scale, int zero,
                                           SimdTensorFormatType format, int type)
{
    SN_CALL_FORMATS(1, srcC0, srcC1, spatial, type, format);
    size_t all;
    SN_CHECK(type == 0 || type == 1, SN_VOID, "type is %d, expected 0 or 1", type);
    SN_CHECK(srcC0 % 2 == 0, SN_VOID, "srcC0 is %zu, expected an even number", srcC0);
    SN_CHECK(srcC1 % 2 == 0, SN_VOID, "srcC1 is %zu, expected an even number", srcC1);
    SN_CHECK(srcC1 <= SIZE_MAX - srcC0 && sn_product(&all, srcC0 + srcC1, spatial), SN_VOID,
             "srcC0 is %zu, srcC1 is %zu and spatial is %zu, too large for an array", srcC0, srcC1, spatial);
    if (!sn_check_format(__func__, "format", format) || !check_bias(__func__, "bias0", bias0) ||
        !check_bias(__func__, "bias1", bias1) || !sn_check_zero(__func__, "zero", zero) || all == 0 ||
        !check_scale_at(__func__, "norm0", norm0) || !check_scale_at(__func__, "norm1", norm1) ||
        !check_scale_at(__func__, "scale", scale))
        return;
    const size_t half = (srcC0 + srcC1) / 2;
    const struct sn_quantized_shuffle p = {{{src0, type ? half : srcC0}, {src1, type ? half : srcC1}},
        {{dst0, type ? srcC0 : half}, {dst1, type ? srcC1 : half}},
        {sn_requantization(bias0, *norm0, *scale, zero), sn_requantization(bias1, *norm1, *scale, zero)}, spatial,
        format == SimdTensorFormatNhwc, type == 1};
    if (shuffle_apart(__func__, &p) && !sn_quantized_shuffle(sn_table(), &p))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for %zu bytes", all);
}
