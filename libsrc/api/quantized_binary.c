/* Sums and products of two tensors of bytes with broadcasting. */
#include "ops/bytes/quantized_binary.h"

#include <math.h>

#include "api/broadcast.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/parameters.h"
#include "api/quantized.h"

#define MOST 0x1p23f /* so far from 2^24 that rounding does not matter */

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

bool sn_check_zero_of(const char * function, const char * name, int32_t zero, bool negative)
{
    const int least = negative ? -128 : 0;
    CHECK(zero >= least && zero <= least + 255, "%s is %d, expected %d .. %d", name, (int)zero, least, least + 255);
    return true;
}

static bool check_numbers(const char * function, const SimdnetQuantizedBinaryParameters * q)
{
    CHECK(q->operation == SimdnetBinaryAdd || q->operation == SimdnetBinaryMultiply,
          "operation is %d, expected SimdnetBinaryAdd or SimdnetBinaryMultiply", (int)q->operation);
    CHECK(q->dataType == SimdTensorData8u || q->dataType == SimdTensorData8i,
          "dataType is %s, expected SimdTensorData8u or SimdTensorData8i", SN_NAME(sn_data_types, q->dataType));
    const bool negative = q->dataType == SimdTensorData8i;
    return sn_check_scale(function, "aScale", q->aScale) && sn_check_scale(function, "bScale", q->bScale) &&
           sn_check_scale(function, "dstScale", q->dstScale) && sn_check_zero_of(function, "aZero", q->aZero, negative) &&
           sn_check_zero_of(function, "bZero", q->bZero, negative) &&
           sn_check_zero_of(function, "dstZero", q->dstZero, negative);
}

bool sn_is_near_sum(float aScale, float bScale, float shift) { return aScale * 256 + bScale * 256 + fabsf(shift) < MOST; }

/* Each operation is rounded: none may be joined with another. `near` is false if a number is NaN. */
struct sn_quantized_binary sn_quantized_numbers(const SimdnetQuantizedBinaryParameters * q)
{
    struct sn_quantized_binary n = {.aZero = (float)q->aZero, .bZero = (float)q->bZero, .shift = (float)q->dstZero,
                                    .negative = q->dataType == SimdTensorData8i};
    if (q->operation == SimdnetBinaryMultiply) {
        const float scale = q->aScale * q->bScale;
        n.factor = scale / q->dstScale;
        n.near = n.factor * (256 * 256) < MOST;
        return n;
    }
    n.aScale = q->aScale / q->dstScale;
    n.bScale = q->bScale / q->dstScale;
    const float aPart = n.aScale * n.aZero, bPart = n.bScale * n.bZero, both = aPart + bPart;
    n.shift -= both;
    n.near = sn_is_near_sum(n.aScale, n.bScale, n.shift);
    return n;
}

void SimdnetQuantizedBinary(const SimdnetQuantizedBinaryParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetQuantizedBinaryParameters * q = parameters;
    const size_t * n = q->shape;
    SN_CALL(q->operation, q->dataType, q->count, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
    struct sn_quantized_pair pair = {.add = q->operation == SimdnetBinaryAdd, .dst = q->dst};
    struct sn_broadcast c = {.function = __func__};
    if (!check_numbers(__func__, q) || !sn_take_result(&c, q->count, q->shape, q->dst, 1) ||
        !sn_take_operand(&c, (const char *[]){"a", "aShape"}, q->a, 1, q->aShape, true, &pair.a) ||
        !sn_take_operand(&c, (const char *[]){"b", "bShape"}, q->b, 1, q->bShape, true, &pair.b) || !sn_is_covered(&c) ||
        c.size == 0)
        return;
    pair.numbers = sn_quantized_numbers(q);
    pair.size = c.size;
    sn_quantized_binary(&pair);
}
