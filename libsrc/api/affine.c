/* Layers of bfloat16 numbers, and of floats and bytes with scales and shifts of channels. */
#include "ops/elementwise/affine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/arrays.h"
#include "api/call.h"
#include "api/context.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "ops/bytes/statistics.h"

void SimdSynetRelu16b(const sn_16b * src, size_t size, const sn_32f * slope, sn_16b * dst)
{
    SN_CALL(size);
    size_t elements;
    SN_CHECK(sn_product(&elements, size), SN_VOID, "size is %zu, more than memory can hold", size);
    if (size == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(slope, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (sn_apart_or_same(__func__, SN_ARRAY(dst, size), SN_ARRAY(src, size)))
        sn_affine(sn_table(), &(struct sn_affine_layer){.kind = SN_AFFINE_PRELU_16B_16B, .size = size, .channels = 1,
            .inner = size, .kAll = *slope, .bytes = sn_affine_plain(255), .src = src, .dst = dst});
}

/* ---- tensors of channels */

static size_t inner_of(SimdTensorFormatType format, size_t spatial) { return format == SimdTensorFormatNhwc ? 1 : spatial; }

/* The arguments of a conversion are checked, and the tensor is not empty; elements have these numbers of bytes. */
static bool check_conversion(const char * function, const struct sn_affine_layer * p, size_t from, size_t to)
{
    SN_CHECK_FOR(function, p->src, false, "src is NULL, expected an array");
    SN_CHECK_FOR(function, p->k, false, "scale is NULL, expected an array");
    SN_CHECK_FOR(function, p->h, false, "shift is NULL, expected an array");
    SN_CHECK_FOR(function, p->dst, false, "dst is NULL, expected an array");
    const struct sn_array dst = {"dst", p->dst, p->size * to};
    return sn_apart(function, dst, (struct sn_array){"src", p->src, p->size * from}) &&
           sn_apart(function, dst, (struct sn_array){"scale", p->k, p->channels * sizeof(float)}) &&
           sn_apart(function, dst, (struct sn_array){"shift", p->h, p->channels * sizeof(float)});
}

static void convert(const char * function, struct sn_affine_layer * p, size_t batch, size_t height, size_t width,
                    SimdTensorFormatType format)
{
    if (!sn_check_format(function, "format", format))
        return;
    SN_CHECK_FOR(function, sn_product(&p->size, batch, p->channels, height, width), SN_VOID,
                 "batch is %zu, channels is %zu, height is %zu and width is %zu, too large for an array", batch, p->channels,
                 height, width);
    if (p->size == 0)
        return;
    p->inner = inner_of(format, height * width);
    const bool narrows = p->kind == SN_AFFINE_SUM_32F_8U;
    if (check_conversion(function, p, narrows ? 4 : 1, narrows ? 1 : 4))
        sn_affine(sn_table(), p);
}

void SimdSynetConvert32fTo8u(const sn_32f * src, size_t batch, size_t channels, size_t height, size_t width,
                             SimdTensorFormatType format, const sn_32f * scale, const sn_32f * shift, uint8_t * dst,
                             SimdSynetCompatibilityType compatibility)
{
    SN_CALL_FORMATS(1, batch, channels, height, width, format);
    const int mode = (int)compatibility & SimdSynetCompatibility8iMask;
    struct sn_affine_layer p = {.kind = SN_AFFINE_SUM_32F_8U, .channels = channels, .k = scale, .h = shift,
        .bytes = sn_affine_plain(mode == SimdSynetCompatibility8iNarrowed ? 180 : 255), .src = src, .dst = dst};
    convert(__func__, &p, batch, height, width, format);
}

void SimdSynetConvert8uTo32f(const uint8_t * src, size_t batch, size_t channels, size_t height, size_t width,
                             SimdTensorFormatType format, const sn_32f * scale, const sn_32f * shift, sn_32f * dst,
                             SimdSynetCompatibilityType compatibility)
{
    SN_CALL_FORMATS(1, batch, channels, height, width, format);
    (void)compatibility;
    struct sn_affine_layer p = {.kind = SN_AFFINE_SUM_8U_32F, .channels = channels, .k = scale, .h = shift,
        .bytes = sn_affine_plain(255), .src = src, .dst = dst};
    convert(__func__, &p, batch, height, width, format);
}

/* ---- contexts: the kind of a kernel, by the types of source and destination */

struct scale {
    struct sn_context head;
    enum sn_affine_kind affine;
    size_t size, channels, inner;
    size_t from, to;        /* bytes of an element */
    bool norm, bias;        /* Scale16b: which coefficients there are */
    sn_32f * step, * scale; /* Scale8i: of the bytes of src and of dst; NULL before SetParams() */
    float srcZero, dstZero;
    sn_32f * k, * h;        /* Scale8i: the coefficients, in one block with the two arrays above */
};

static bool check_type(const char * function, const char * name, SimdTensorDataType type, SimdTensorDataType small)
{
    SN_CHECK_FOR(function, type == SimdTensorData32f || type == small, false, "%s is %s, expected SimdTensorData32f or %s",
                 name, SN_NAME(sn_data_types, type), SN_NAME(sn_data_types, small));
    return true;
}

/* A context of these types, float or `small`. */
static struct scale * scale_new(const char * function, const struct sn_context_kind * kind, size_t batch, size_t channels,
                                size_t spatial, SimdTensorDataType srcType, SimdTensorDataType dstType,
                                SimdTensorDataType small, SimdTensorFormatType format)
{
    static const enum sn_affine_kind kinds[2][2][2] = {
        {{SN_AFFINE_SUM_32F_32F, SN_AFFINE_SUM_32F_16B}, {SN_AFFINE_SUM_16B_32F, SN_AFFINE_SUM_16B_16B}},
        {{SN_AFFINE_SUM_32F_32F, SN_AFFINE_SUM_32F_8U}, {SN_AFFINE_SUM_8U_32F, SN_AFFINE_SUM_8U_8U}}};
    size_t size;
    SN_CHECK_FOR(function, sn_product(&size, batch, channels, spatial), NULL,
                 "channels is %zu and spatial is %zu, too large for an array", channels, spatial);
    if (!check_type(function, "srcType", srcType, small) || !check_type(function, "dstType", dstType, small) ||
        !sn_check_format(function, "format", format))
        return NULL;
    struct scale * c = sn_context_new(kind, sizeof(*c), function);
    if (!c)
        return NULL;
    c->affine = kinds[small == SimdTensorData8u][srcType == small][dstType == small];
    c->size = size, c->channels = channels, c->inner = inner_of(format, spatial);
    c->from = sn_data_bytes(srcType), c->to = sn_data_bytes(dstType);
    sn_context_describe(&c->head, "%s -> %s", sn_enumerator(&sn_data_types, srcType),
                        sn_enumerator(&sn_data_types, dstType));
    snprintf(c->head.shape, sizeof(c->head.shape), "batch:%zu,channels:%zu,spatial:%zu,%s", batch, channels, spatial,
             sn_enumerator(&sn_formats, format));
    return c;
}

static const struct sn_context_kind scale_16b = {.name = "Scale16b"};

void * SimdSynetScale16bInit(size_t channels, size_t spatial, SimdTensorDataType srcType, SimdTensorDataType dstType,
                             SimdTensorFormatType format, SimdBool norm, SimdBool bias)
{
    SN_BEGIN();
    SN_CHECK(norm == SimdFalse || norm == SimdTrue, NULL, "norm is %d, expected SimdFalse or SimdTrue", (int)norm);
    SN_CHECK(bias == SimdFalse || bias == SimdTrue, NULL, "bias is %d, expected SimdFalse or SimdTrue", (int)bias);
    SN_CHECK(norm || bias, NULL, "norm and bias are SimdFalse, expected SimdTrue for one of them");
    struct scale * c = scale_new(__func__, &scale_16b, 1, channels, spatial, srcType, dstType, SimdTensorData16b, format);
    if (c)
        c->norm = norm, c->bias = bias;
    return c;
}

void SimdSynetScale16bForward(void * context, const uint8_t * src, const sn_32f * norm, const sn_32f * bias, uint8_t * dst)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &scale_16b, __func__))
        return;
    const struct scale * c = context;
    if (c->size == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK(norm || !c->norm, SN_VOID, "norm is NULL, expected an array");
    SN_CHECK(bias || !c->bias, SN_VOID, "bias is NULL, expected an array");
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_array sum = SN_ARRAY(dst, c->size * c->to);
    if (!sn_apart_for(__func__, sum, SN_ARRAY(src, c->size * c->from), c->from == c->to) ||
        !sn_apart(__func__, sum, SN_ARRAY(norm, c->norm ? c->channels : 0)) ||
        !sn_apart(__func__, sum, SN_ARRAY(bias, c->bias ? c->channels : 0)))
        return;
    /* x * 1 and x + -0 are x, for zeros of either sign, too. */
    sn_affine(c->head.table, &(struct sn_affine_layer){.kind = c->affine, .size = c->size, .channels = c->channels,
        .inner = c->inner, .k = c->norm ? norm : NULL, .h = c->bias ? bias : NULL, .kAll = 1, .hAll = -0.0f,
        .bytes = sn_affine_plain(255), .src = src, .dst = dst});
}

/* ---- bytes by statistics */

static void scale_8i_destroy(void * context) { sn_free(((struct scale *)context)->step); }

/* SimdnetShareParams(): a copy, as the parameters are few. */
static bool scale_8i_share(const char * function, void * context, const void * from);

static const struct sn_context_kind scale_8i = {.name = "Scale8i", .destroy = scale_8i_destroy, .share = scale_8i_share};

void * SimdSynetScale8iInit(size_t batch, size_t channels, size_t spatial, SimdTensorDataType srcType,
                            SimdTensorDataType dstType, SimdTensorFormatType format,
                            SimdSynetCompatibilityType compatibility)
{
    SN_BEGIN();
    (void)compatibility;
    return scale_new(__func__, &scale_8i, batch, channels, spatial, srcType, dstType, SimdTensorData8u, format);
}

static size_t scale_8i_bytes(const struct scale * c) { return 4 * c->channels * sizeof(float); }

size_t SimdSynetScale8iInternalBufferSize(const void * context)
{
    SN_BEGIN();
    const struct scale * c = context;
    return sn_context_check(c, &scale_8i, __func__) && c->step ? scale_8i_bytes(c) : 0;
}

static bool check_numbers(const char * function, const char * name, const sn_32f * values, size_t channels)
{
    for (size_t i = 0; i < channels; ++i)
        SN_CHECK_FOR(function, isfinite(values[i]), false, "%s of channel %zu is %g, expected a finite number", name, i,
                     (double)values[i]);
    return true;
}

static bool check_statistics(const char * function, const sn_32f * const * stats, size_t channels)
{
    static const char * const names[] = {"stats[0]", "stats[1]", "stats[2]", "stats[3]"};
    for (size_t t = 0; t < 4; ++t) {
        SN_CHECK_FOR(function, stats[t] || channels == 0, false, "%s is NULL, expected %zu floats", names[t], channels);
        if (!check_numbers(function, names[t], stats[t], channels))
            return false;
        for (size_t i = 0; t % 2 && i < channels; ++i)
            SN_CHECK_FOR(function, stats[t - 1][i] <= stats[t][i], false,
                         "%s of channel %zu is %g, expected at most the maximum", names[t - 1], i, (double)stats[t - 1][i]);
    }
    return true;
}

/* Memory for the parameters, if there is none yet. */
static bool has_memory(const char * function, struct scale * c)
{
    size_t floats;
    if (c->step)
        return true;
    c->step = sn_product(&floats, c->channels, 4) ? sn_allocate(sn_max(scale_8i_bytes(c), 1), SN_ALIGN) : NULL;
    if (!c->step) {
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for the parameters of %zu channels", c->channels);
        return false;
    }
    c->scale = c->step + c->channels;
    c->k = c->scale + c->channels;
    c->h = c->k + c->channels;
    return true;
}

void SimdSynetScale8iSetParams(void * context, const sn_32f * scale, const sn_32f * bias, const sn_32f * const * stats)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &scale_8i, __func__))
        return;
    struct scale * c = context;
    SN_CHECK(scale || c->channels == 0, SN_VOID, "scale is NULL, expected an array");
    SN_CHECK(stats || c->step, SN_VOID, "stats is NULL, expected four arrays in the first call");
    if (!check_numbers(__func__, "scale", scale, c->channels) ||
        !check_numbers(__func__, "bias", bias, bias ? c->channels : 0) ||
        (stats && !check_statistics(__func__, stats, c->channels)) || !has_memory(__func__, c))
        return;
    if (stats) {
        c->srcZero = sn_steps(stats[0], stats[1], c->channels, c->step);
        c->dstZero = sn_steps(stats[2], stats[3], c->channels, c->scale);
        sn_reciprocals(c->channels, c->scale);
    }
    sn_combine(&(struct sn_combination){c->channels, c->from == 1 ? c->step : NULL, c->srcZero, scale, bias,
                                        c->to == 1 ? c->scale : NULL, c->dstZero, c->k, c->h});
}

static bool scale_8i_share(const char * function, void * context, const void * from)
{
    struct scale * to = context;
    const struct scale * c = from;
    SN_CHECK_FOR(function, c->channels == to->channels, false, "channels of from is %zu, expected %zu as in context",
                 c->channels, to->channels);
    SN_CHECK_FOR(function, c->affine == to->affine, false,
                 "srcType and dstType of from are '%.*s', expected '%.*s' as in context", (int)c->head.algorithm,
                 c->head.info, (int)to->head.algorithm, to->head.info);
    SN_CHECK_FOR(function, c->head.table == to->head.table, false,
                 "the instruction set of from is %s, expected %s as in context", c->head.table->isa, to->head.table->isa);
    if (!c->step) {
        sn_error_set(SN_ERROR_STATE, function, "from has no parameters yet, expected SetParams to be called before");
        return false;
    }
    if (!has_memory(function, to))
        return false;
    memcpy(to->step, c->step, scale_8i_bytes(c));
    to->srcZero = c->srcZero, to->dstZero = c->dstZero;
    return true;
}

void SimdSynetScale8iForward(void * context, const uint8_t * src, uint8_t * dst)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &scale_8i, __func__))
        return;
    const struct scale * c = context;
    if (!c->step) {
        sn_error_set(SN_ERROR_STATE, __func__, "the context has no parameters yet, expected SetParams to be called before");
        return;
    }
    if (c->size == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (sn_apart_for(__func__, SN_ARRAY(dst, c->size * c->to), SN_ARRAY(src, c->size * c->from), c->from == c->to))
        sn_affine(c->head.table, &(struct sn_affine_layer){.kind = c->affine, .size = c->size, .channels = c->channels,
            .inner = c->inner, .k = c->k, .h = c->h, .bytes = sn_affine_plain(255), .src = src, .dst = dst});
}
