/* Contexts of inner products of quantised bytes: those of a convolution, whose parameters are M, N and K. */
#include <math.h>
#include <stdio.h>

#include "api/call.h"
#include "api/enums.h"
#include "api/forward.h"
#include "api/inner_product.h"
#include "ops/convolution/8i.h"
#include "ops/inner_product_32f.h"

static const struct sn_context_kind kind = {.name = "QuantizedInnerProduct", .destroy = sn_convolution_destroy,
    .forward = sn_convolution_forward_bytes, .stages = sn_convolution_stages};

static bool check_type(const char * function, const char * name, SimdTensorDataType type, SimdTensorDataType expected)
{
    SN_CHECK_FOR(function, type == expected, false, "%s is %s, expected %s", name,
                 SN_NAME(sn_data_types, (enum sn_data)type), SN_NAME(sn_data_types, (enum sn_data)expected));
    return true;
}

void * SimdSynetQuantizedInnerProductInit(size_t M, size_t N, size_t K, SimdTensorDataType typeA, SimdTensorDataType typeB,
                                          SimdTensorDataType typeC, SimdBool transB, SimdBool constB, SimdBool bias)
{
    SN_BEGIN();
    struct sn_convolution_parameters p = sn_inner_product_parameters(M, N, K, SN_ACTIVATION_IDENTITY);
    p.srcT = p.dstT = SN_DATA_8U;
    if (!check_type(__func__, "typeA", typeA, SimdTensorData8u) || !check_type(__func__, "typeB", typeB, SimdTensorData8i) ||
        !check_type(__func__, "typeC", typeC, SimdTensorData8u) ||
        !sn_check_inner_product(__func__, &p, transB, constB, bias))
        return NULL;
    SN_CHECK(constB == SimdTrue, NULL, "constB is SimdFalse, expected SimdTrue");
    struct sn_convolution_context * c = sn_convolution_init(&kind, __func__, &sn_inner_product_quantized, 1, &p);
    if (!c)
        return NULL;
    ((struct sn_dot_family *)(void *)c->plan.familyData)->transposed = transB == SimdTrue;
    snprintf(c->head.shape, sizeof(c->head.shape), "%zux%zux%zu%s,8u*8i->8u", M, N, K, transB == SimdTrue ? ",transB" : "");
    return c;
}

size_t SimdSynetQuantizedInnerProductInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

size_t SimdSynetQuantizedInnerProductExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

/* A scale of a whole matrix. */
static bool check_scale(const char * function, const char * name, const sn_32f * scale)
{
    SN_CHECK_FOR(function, scale, false, "%s is NULL, expected a number", name);
    SN_CHECK_FOR(function, *scale > 0 && isfinite(*scale), false, "%s is %g, expected a finite number above 0", name,
                 (double)*scale);
    return true;
}

void SimdSynetQuantizedInnerProductSetParams(void * context, const sn_32f * aScale, const uint8_t * aZero, const int8_t * b,
                                             const sn_32f * bScale, const sn_32i * bias, const sn_32f * cScale,
                                             const uint8_t * cZero)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution_parameters * p = &sn_convolution_of(context)->p;
    if (!check_scale(__func__, "aScale", aScale) || !check_scale(__func__, "cScale", cScale))
        return;
    SN_CHECK(b || p->dstC * p->srcC == 0, SN_VOID, "b is NULL, expected %zu bytes", p->dstC * p->srcC);
    SN_CHECK(bScale || p->dstC == 0, SN_VOID, "bScale is NULL, expected %zu floats", p->dstC);
    static const int8_t none; /* weights that are not read */
    const struct sn_set_quantized quantized = {{*aScale, 1, *cScale}, {aZero ? *aZero : 0, 0, cZero ? *cZero : 0},
        b ? b : &none, bScale, bias, NULL, NULL};
    sn_convolution_set_params(&kind, __func__, context, &(struct sn_set_params){.quantized = &quantized});
}

void SimdSynetQuantizedInnerProductForward(void * context, const uint8_t * A, const uint8_t * B, uint8_t * buf, uint8_t * C)
{
    SN_CALL_OF(context);
    (void)B;
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution * c = sn_convolution_of(context);
    const struct sn_inner_product_arrays arrays = {A, NULL, buf, C, sizeof(*A), 1, sizeof(*C), 0};
    struct sn_arrays a;
    if (sn_inner_product_begin(__func__, c, &arrays, &a))
        c->algorithm->forward(c, &a);
}
