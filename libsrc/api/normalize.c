#include "ops/normalize.h"

#include "api/arrays.h"
#include "api/call.h"
#include "api/overlap.h"

/* The checks of all functions. `shift` is NULL if the function has none. */
static void normalize(const char * function, struct sn_normalize * p, const sn_32f * eps)
{
    const bool shifts = p->kind >= SN_NORMALIZE_LAYER;
    size_t elements;
    if (!sn_check_format(function, "format", p->format))
        return;
    SN_CHECK_FOR(function, sn_product(&elements, p->batch, p->channels, p->spatial), SN_VOID,
                 "batch is %zu, channels is %zu and spatial is %zu, too large for an array", p->batch, p->channels,
                 p->spatial);
    if (elements == 0)
        return;
    SN_CHECK_FOR(function, p->src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, p->scale, SN_VOID, "scale is NULL, expected an array");
    SN_CHECK_FOR(function, p->shift || !shifts, SN_VOID, "shift is NULL, expected an array");
    SN_CHECK_FOR(function, eps, SN_VOID, "eps is NULL, expected a number");
    SN_CHECK_FOR(function, p->dst, SN_VOID, "dst is NULL, expected an array");
    const struct sn_array dst = {"dst", p->dst, elements * sizeof(float)};
    const struct sn_array scale = {"scale", p->scale, p->channels * sizeof(float)};
    const struct sn_array shift = {"shift", p->shift, shifts ? p->channels * sizeof(float) : 0};
    if (!sn_apart_or_same(function, dst, (struct sn_array){"src", p->src, elements * sizeof(float)}) ||
        !sn_apart(function, dst, scale) || !sn_apart(function, dst, shift))
        return;
    p->eps = *eps;
    if (!sn_normalize_32f(p))
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for the means of %zu channels", p->channels);
}

void SimdSynetNormalizeLayerForward(const sn_32f * src, size_t batch, size_t channels, size_t spatial, const sn_32f * scale,
                                    const sn_32f * eps, SimdBool acrossSpatial, SimdTensorFormatType format, sn_32f * buf,
                                    sn_32f * dst)
{
    SN_CALL_FORMATS(1, batch, channels, spatial, acrossSpatial, format);
    (void)buf;
    SN_CHECK(acrossSpatial == SimdFalse || acrossSpatial == SimdTrue, SN_VOID,
             "acrossSpatial is %d, expected SimdFalse or SimdTrue", (int)acrossSpatial);
    const enum sn_normalize_kind kind = acrossSpatial ? SN_NORMALIZE_LENGTH_ACROSS : SN_NORMALIZE_LENGTH;
    normalize(__func__, &(struct sn_normalize){kind, src, batch, channels, spatial, scale, NULL, 0, dst,
                                               (enum sn_format)format, 0}, eps);
}

void SimdSynetNormalizeLayerForwardV2(const sn_32f * src, size_t batch, size_t channels, size_t spatial,
                                      const sn_32f * scale, const sn_32f * shift, const sn_32f * eps,
                                      SimdTensorFormatType format, sn_32f * buf, sn_32f * dst)
{
    SN_CALL_FORMATS(1, batch, channels, spatial, format);
    (void)buf;
    normalize(__func__, &(struct sn_normalize){SN_NORMALIZE_LAYER, src, batch, channels, spatial, scale, shift, 0, dst,
                                               (enum sn_format)format, 0}, eps);
}

void SimdSynetNormalizeLayerForwardV3(const sn_32f * src, size_t batch, size_t channels, size_t spatial,
                                      const sn_32f * scale, const sn_32f * shift, const sn_32f * eps,
                                      SimdTensorFormatType format, sn_32f * buf, sn_32f * dst)
{
    SN_CALL_FORMATS(1, batch, channels, spatial, format);
    (void)buf;
    normalize(__func__, &(struct sn_normalize){SN_NORMALIZE_INSTANCE, src, batch, channels, spatial, scale, shift, 0, dst,
                                               (enum sn_format)format, 0}, eps);
}

void SimdSynetNormalizeLayerForwardV4(const sn_32f * src, size_t batch, size_t channels, size_t spatial,
                                      const sn_32f * scale, const sn_32f * shift, const sn_32f * eps,
                                      SimdTensorFormatType format, sn_32f * buf, sn_32f * dst)
{
    SN_CALL_FORMATS(1, batch, channels, spatial, format);
    (void)buf;
    normalize(__func__, &(struct sn_normalize){SN_NORMALIZE_RESPONSE, src, batch, channels, spatial, scale, shift, 0, dst,
                                               (enum sn_format)format, 0}, eps);
}

void SimdnetGroupNorm(const sn_32f * src, size_t batch, size_t channels, size_t spatial, size_t groups, const sn_32f * scale,
                      const sn_32f * shift, const sn_32f * eps, sn_32f * dst)
{
    SN_CALL(1, batch, channels, spatial, groups);
    SN_CHECK(groups > 0 && channels % groups == 0, SN_VOID, "groups is %zu, expected a divisor of channels, %zu", groups,
             channels);
    normalize(__func__, &(struct sn_normalize){SN_NORMALIZE_GROUPS, src, batch, channels, spatial, scale, shift, 0, dst,
                                               SN_NCHW, groups}, eps);
}

void SimdSynetNormalizeLayerForward16bV2(const sn_16b * src, size_t batch, size_t channels, size_t spatial,
                                         const sn_32f * scale, const sn_32f * shift, const sn_32f * eps,
                                         SimdTensorFormatType format, sn_32f * buf, sn_16b * dst)
{
    SN_CALL_FORMATS(1, batch, channels, spatial, format);
    size_t elements;
    (void)buf;
    if (!sn_check_format(__func__, "format", format))
        return;
    SN_CHECK(sn_product(&elements, batch, channels, spatial), SN_VOID,
             "batch is %zu, channels is %zu and spatial is %zu, too large for an array", batch, channels, spatial);
    if (elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(scale, SN_VOID);
    SN_CHECK_POINTER(shift, SN_VOID);
    SN_CHECK(eps, SN_VOID, "eps is NULL, expected a number");
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_array result = SN_ARRAY(dst, elements);
    if (!sn_apart_or_same(__func__, result, SN_ARRAY(src, elements)) ||
        !sn_apart(__func__, result, SN_ARRAY(scale, channels)) || !sn_apart(__func__, result, SN_ARRAY(shift, channels)))
        return;
    if (!sn_normalize_16b(&(struct sn_normalize_16b){src, batch, channels, spatial, scale, shift, *eps, dst,
                                                     (enum sn_format)format}))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for positions of %zu floats", channels);
}
