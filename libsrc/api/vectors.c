/* Functions of vectors that other families compute. */
#include "api/call.h"
#include "api/overlap.h"
#include "dispatch/dispatch.h"
#include "ops/elementwise/channelwise.h"
#include "ops/elementwise/pointwise.h"
#include "ops/inner_product.h"

#define CHECK_SIZE(size)                                                                                                    \
    SN_CHECK(sn_product(&(size_t){0}, size), SN_VOID, "size is %zu, more than memory can hold", size)
#define CHECK_NUMBER(pointer) SN_CHECK(pointer, SN_VOID, #pointer " is NULL, expected one float")

void SimdFill32f(sn_32f * dst, size_t size, const sn_32f * value)
{
    SN_CALL(size);
    CHECK_SIZE(size);
    if (size == 0)
        return;
    SN_CHECK_POINTER(dst, SN_VOID);
    const float number = value ? *value : 0;
    sn_pointwise_32f(SN_FILL, dst, size, &number, dst);
}

void SimdNeuralAddVectorMultipliedByValue(const sn_32f * src, size_t size, const sn_32f * value, sn_32f * dst)
{
    SN_CALL(size);
    CHECK_SIZE(size);
    if (size == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    CHECK_NUMBER(value);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!sn_apart_or_same(__func__, SN_ARRAY(dst, size), SN_ARRAY(src, size)))
        return;
    const float number = *value;
    sn_channelwise(&(struct sn_channelwise){.op = SN_FUSED_8, .src = dst, .src1 = src, .p = {&number}, .channels = 1,
        .spatial = size, .dst = dst, .format = SN_NCHW});
}

void SimdNeuralPow(const sn_32f * src, size_t size, const sn_32f * exponent, sn_32f * dst)
{
    SN_CALL(size);
    CHECK_SIZE(size);
    if (size == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    CHECK_NUMBER(exponent);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!sn_apart_or_same(__func__, SN_ARRAY(dst, size), SN_ARRAY(src, size)))
        return;
    const float number = *exponent;
    sn_pointwise_32f(SN_POW, src, size, &number, dst);
}

void SimdNeuralAddValue(const sn_32f * value, sn_32f * dst, size_t size)
{
    SN_CALL(size);
    CHECK_SIZE(size);
    if (size == 0)
        return;
    CHECK_NUMBER(value);
    SN_CHECK_POINTER(dst, SN_VOID);
    const float number = *value;
    sn_pointwise_32f(SN_ADD_VALUE, dst, size, &number, dst);
}

void SimdNeuralProductSum(const sn_32f * a, const sn_32f * b, size_t size, sn_32f * sum)
{
    SN_CALL(size);
    CHECK_SIZE(size);
    SN_CHECK(a || size == 0, SN_VOID, "a is NULL, expected an array");
    SN_CHECK(b || size == 0, SN_VOID, "b is NULL, expected an array");
    CHECK_NUMBER(sum);
    if (!sn_apart(__func__, SN_ARRAY(sum, 1), SN_ARRAY(a, size)) || !sn_apart(__func__, SN_ARRAY(sum, 1), SN_ARRAY(b, size)))
        return;
    if (size == 0)
        *sum = 0;
    else
        sn_inner_product_32f(sn_table(), &(struct sn_inner_product_32f){.src = b, .weight = a, .step = size, .count = 1,
            .size = size, .alpha = 1, .dst = sum});
}
