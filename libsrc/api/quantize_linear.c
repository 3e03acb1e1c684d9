/* Floats to bytes and back. */
#include "ops/bytes/quantize_linear.h"

#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"
#include "contract/quantize_linear.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* Checks the arguments of one scale, with a zero of this name; true if there is something to compute. */
static bool take_plain(const char * function, size_t size, struct sn_array src, const char * name, int32_t zero,
                       const sn_32f * norm, struct sn_array dst)
{
    size_t bytes;
    CHECK(sn_product(&bytes, size, sizeof(float)), "size is %zu, more than memory can hold", size);
    CHECK(zero >= -SN_MOST_ZERO && zero <= SN_MOST_ZERO, "%s is %d, expected %d .. %d", name, (int)zero, -SN_MOST_ZERO,
          SN_MOST_ZERO);
    if (size == 0)
        return false;
    CHECK(src.at, "src is NULL, expected an array");
    CHECK(norm, "norm is NULL, expected an array");
    CHECK(dst.at, "dst is NULL, expected an array");
    return sn_apart(function, dst, src);
}

void SimdSynetQuantizeLinear(const sn_32f * src, size_t size, const sn_32f * norm, int32_t zero, uint8_t * dst)
{
    SN_CALL(size);
    if (!take_plain(__func__, size, SN_ARRAY(src, size), "zero", zero, norm, SN_ARRAY(dst, size)))
        return;
    const float scale = *norm;
    sn_quantize_linear(&(struct sn_quantize_linear){.size = size, .channels = 1, .inner = size, .scale = &scale,
                                                    .offset = zero, .src = src, .dst = dst});
}

void SimdSynetDequantizeLinear(const uint8_t * src, size_t size, int32_t bias, const sn_32f * norm, sn_32f * dst)
{
    SN_CALL(size);
    if (!take_plain(__func__, size, SN_ARRAY(src, size), "bias", bias, norm, SN_ARRAY(dst, size)))
        return;
    const float scale = *norm;
    sn_dequantize_linear(&(struct sn_quantize_linear){.size = size, .channels = 1, .inner = size, .scale = &scale,
                                                      .offset = -bias, .src = src, .dst = dst});
}

/* ---- with scales of channels */

/* Checks the arguments; true if there is something to compute. Elements of src and dst have these numbers of bytes. */
static bool take(const char * function, const SimdnetQuantizeLinearParameters * q, size_t from, size_t to,
                 struct sn_quantize_linear * p)
{
    size_t bytes;
    CHECK(q->dataType == SimdTensorData8u || q->dataType == SimdTensorData8i,
          "dataType is %s, expected SimdTensorData8u or SimdTensorData8i", SN_NAME(sn_data_types, q->dataType));
    CHECK(sn_product(&bytes, q->outer, q->channels, q->inner, sizeof(float)),
          "outer * channels * inner is %zu * %zu * %zu, expected a size that memory can have", q->outer, q->channels,
          q->inner);
    if (bytes == 0)
        return false;
    CHECK(q->scale, "scale is NULL, expected an array");
    CHECK(q->src, "src is NULL, expected an array");
    CHECK(q->dst, "dst is NULL, expected an array");
    *p = (struct sn_quantize_linear){.size = bytes / sizeof(float), .channels = q->channels, .inner = q->inner,
        .scale = q->scale, .zero = q->zero, .divides = true, .negative = q->dataType == SimdTensorData8i, .src = q->src,
        .dst = q->dst};
    const struct sn_array dst = {"dst", q->dst, p->size * to};
    return sn_apart(function, dst, (struct sn_array){"src", q->src, p->size * from}) &&
           sn_apart(function, dst, (struct sn_array){"scale", q->scale, q->channels * sizeof(float)}) &&
           sn_apart(function, dst, (struct sn_array){"zero", q->zero, q->zero ? q->channels : 0});
}

void SimdnetQuantizeLinear(const SimdnetQuantizeLinearParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetQuantizeLinearParameters * q = parameters;
    struct sn_quantize_linear p;
    SN_CALL(q->dataType, q->outer, q->channels, q->inner);
    if (take(__func__, q, sizeof(float), 1, &p))
        sn_quantize_linear(&p);
}

void SimdnetDequantizeLinear(const SimdnetQuantizeLinearParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetQuantizeLinearParameters * q = parameters;
    struct sn_quantize_linear p;
    SN_CALL(q->dataType, q->outer, q->channels, q->inner);
    if (take(__func__, q, 1, sizeof(float), &p))
        sn_dequantize_linear(&p);
}

/* ---- with the range of the source */

static bool dynamic_apart(const char * function, const SimdnetDynamicQuantizeParameters * q)
{
    const struct sn_array dst = {"dst", q->dst, q->elements}, src = {"src", q->src, q->elements * sizeof(float)};
    const struct sn_array scale = {"scale", q->scale, sizeof(float)}, zero = {"zero", q->zero, 1};
    return sn_apart(function, dst, src) && sn_apart(function, scale, src) && sn_apart(function, scale, dst) &&
           sn_apart(function, zero, src) && sn_apart(function, zero, dst) && sn_apart(function, zero, scale);
}

void SimdnetDynamicQuantize(const SimdnetDynamicQuantizeParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetDynamicQuantizeParameters * q = parameters;
    SN_CALL(q->elements);
    SN_CHECK(q->elements <= SIZE_MAX / sizeof(float), SN_VOID, "elements is %zu, more than memory can hold", q->elements);
    SN_CHECK(q->src || q->elements == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK(q->dst || q->elements == 0, SN_VOID, "dst is NULL, expected an array");
    SN_CHECK(q->scale, SN_VOID, "scale is NULL, expected a number");
    SN_CHECK(q->zero, SN_VOID, "zero is NULL, expected a byte");
    if (dynamic_apart(__func__, q))
        sn_dynamic_quantize(&(struct sn_dynamic_quantize){q->src, q->elements, q->dst, q->scale, q->zero});
}
