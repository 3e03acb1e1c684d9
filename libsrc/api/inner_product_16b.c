/* Contexts of inner products of bfloat16 numbers: those of a convolution, whose parameters are M, N and K. */
#include "ops/inner_product_16b.h"

#include <stdio.h>

#include "api/call.h"
#include "api/enums.h"
#include "api/inner_product.h"
#include "ops/inner_product_32f.h"

static const struct sn_context_kind kind = {.name = "InnerProduct16b", .destroy = sn_convolution_destroy,
    .forward = sn_inner_product_forward_any, .stages = sn_convolution_stages};

static bool check_type(const char * function, const char * name, enum sn_data type)
{
    SN_CHECK_FOR(function, type == SN_DATA_32F || type == SN_DATA_16B, false,
                 "%s is %s, expected SimdTensorData32f or SimdTensorData16b", name, SN_NAME(sn_data_types, type));
    return true;
}

void * SimdSynetInnerProduct16bInit(size_t M, size_t N, size_t K, SimdTensorDataType typeA, SimdTensorDataType typeB,
                                    SimdTensorDataType typeC, SimdBool transB, SimdBool constB, SimdBool bias,
                                    SimdConvolutionActivationType activation)
{
    SN_BEGIN();
    struct sn_convolution_parameters p = sn_inner_product_parameters(M, N, K, (enum sn_activation)activation);
    p.srcT = (enum sn_data)typeA, p.dstT = (enum sn_data)typeC;
    if (!check_type(__func__, "typeA", p.srcT) || !check_type(__func__, "typeB", (enum sn_data)typeB) ||
        !check_type(__func__, "typeC", p.dstT) || !sn_check_inner_product(__func__, &p, transB, constB, bias))
        return NULL;
    const bool packed = constB == SimdTrue;
    struct sn_convolution_context * c = sn_convolution_init(
        &kind, __func__, packed ? &sn_inner_product_16b_packed : &sn_inner_product_16b_given, 1, &p);
    if (!c)
        return NULL;
    const bool floats = typeB == SimdTensorData32f;
    ((struct sn_inner_product_16b *)(void *)c->plan.familyData)->floats = floats;
    sn_inner_product_set_flags(&c->plan, transB, bias);
    snprintf(c->head.shape, sizeof(c->head.shape), "%zux%zux%zu%s%s,%s*%s->%s", M, N, K, transB == SimdTrue ? ",transB" : "",
             packed ? ",constB" : "", typeA == SimdTensorData32f ? "32f" : "16b", floats ? "32f" : "16b",
             typeC == SimdTensorData32f ? "32f" : "16b");
    return c;
}

size_t SimdSynetInnerProduct16bInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

size_t SimdSynetInnerProduct16bExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

void SimdSynetInnerProduct16bSetParams(void * context, const sn_32f * weight, const sn_32f * bias, const sn_32f * params)
{
    SN_CALL_OF(context);
    static const sn_32f none; /* weights that are not read */
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution * c = sn_convolution_of(context);
    const struct sn_set_params given = {sn_has_constant_b(c) ? weight : &none,
                                        sn_inner_product_data_of(c)->bias ? bias : NULL, params, NULL, NULL};
    sn_convolution_set_params(&kind, __func__, context, &given);
}

void SimdSynetInnerProduct16bForward(void * context, const uint8_t * A, const uint8_t * B, uint8_t * buf, uint8_t * C)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution * c = sn_convolution_of(context);
    const size_t weights = sn_has_constant_b(c) ? 0 : c->p.dstC * c->p.srcC;
    const size_t number = sn_inner_product_16b_of(c)->floats ? sizeof(sn_32f) : sizeof(sn_16b);
    const struct sn_inner_product_arrays arrays = {A, B, buf, C, sn_element(c->p.srcT), number, sn_element(c->p.dstT),
                                                   weights};
    struct sn_arrays a;
    if (!sn_inner_product_begin(__func__, c, &arrays, &a))
        return;
    if (sn_has_constant_b(c))
        c->algorithm->forward(c, &a);
    else
        sn_inner_product_16b_given_b(c, B, &a);
}
