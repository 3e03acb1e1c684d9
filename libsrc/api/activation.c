#include "api/call.h"
#include "api/overlap.h"
#include "ops/elementwise/pointwise.h"

/* The public functions differ in the number and the names of their parameters only. */
static bool is_good(const char * function, const sn_32f * src, size_t size, const sn_32f * const params[2],
                    const char * const names[2], const sn_32f * dst)
{
    size_t elements;
    SN_CHECK_FOR(function, sn_product(&elements, size), false, "size is %zu, more than memory can hold", size);
    SN_CHECK_FOR(function, src, false, "src is NULL, expected an array");
    for (int i = 0; i < 2; ++i)
        SN_CHECK_FOR(function, params[i] || !names[i], false, "%s is NULL, expected one float", names[i]);
    SN_CHECK_FOR(function, dst, false, "dst is NULL, expected an array");
    return sn_apart_or_same(function, SN_ARRAY(dst, size), SN_ARRAY(src, size));
}

static void activate(enum sn_pointwise activation, const char * function, const sn_32f * src, size_t size,
                     const sn_32f * const params[2], const char * const names[2], sn_32f * dst)
{
    if (size == 0 || !is_good(function, src, size, params, names, dst))
        return;
    const float values[2] = {names[0] ? params[0][0] : 0, names[1] ? params[1][0] : 0};
    sn_pointwise_32f(activation, src, size, values, dst);
}

#define ACTIVATE_0(activation)                                                                                              \
    activate(activation, __func__, src, size, (const sn_32f *[2]){NULL, NULL}, (const char *[2]){NULL, NULL}, dst)
#define ACTIVATE_1(activation, p)                                                                                           \
    activate(activation, __func__, src, size, (const sn_32f *[2]){p, NULL}, (const char *[2]){#p, NULL}, dst)
#define ACTIVATE_2(activation, p, q)                                                                                        \
    activate(activation, __func__, src, size, (const sn_32f *[2]){p, q}, (const char *[2]){#p, #q}, dst)

void SimdSynetRelu32f(const sn_32f * src, size_t size, const sn_32f * slope, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_1(SN_RELU, slope);
}

void SimdSynetElu32f(const sn_32f * src, size_t size, const sn_32f * alpha, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_1(SN_ELU, alpha);
}

void SimdSynetHswish32f(const sn_32f * src, size_t size, const sn_32f * shift, const sn_32f * scale, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_2(SN_HSWISH, shift, scale);
}

void SimdSynetRestrictRange32f(const sn_32f * src, size_t size, const sn_32f * lower, const sn_32f * upper, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_2(SN_RESTRICT_RANGE, lower, upper);
}

void SimdSynetSigmoid32f(const sn_32f * src, size_t size, const sn_32f * slope, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_1(SN_SIGMOID, slope);
}

void SimdSynetSoftplus32f(const sn_32f * src, size_t size, const sn_32f * beta, const sn_32f * threshold, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_2(SN_SOFTPLUS, beta, threshold);
}

void SimdSynetTanh32f(const sn_32f * src, size_t size, const sn_32f * slope, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_1(SN_TANH, slope);
}

void SimdSynetSwish32f(const sn_32f * src, size_t size, const sn_32f * slope, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_1(SN_SWISH, slope);
}

void SimdSynetMish32f(const sn_32f * src, size_t size, const sn_32f * threshold, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_1(SN_MISH, threshold);
}

void SimdSynetHardSigmoid32f(const sn_32f * src, size_t size, const sn_32f * scale, const sn_32f * shift, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_2(SN_HARD_SIGMOID, scale, shift);
}

void SimdSynetGelu32f(const sn_32f * src, size_t size, sn_32f * dst)
{
    SN_CALL(size);
    ACTIVATE_0(SN_GELU);
}
