/* Contexts of inner products: those of a convolution, whose parameters are M, N and K. */
#include "ops/inner_product_32f.h"

#include <stdio.h>

#include "api/call.h"
#include "api/inner_product.h"
#include "ops/convolution/rounded.h"

static const struct sn_context_kind kind = {.name = "InnerProduct32f", .destroy = sn_convolution_destroy,
    .forward = sn_inner_product_forward_any, .stages = sn_convolution_stages};

void * SimdSynetInnerProduct32fInit(size_t M, size_t N, size_t K, SimdBool transB, SimdBool constB, SimdBool bias,
                                    SimdConvolutionActivationType activation)
{
    SN_BEGIN();
    const struct sn_convolution_parameters p = sn_inner_product_parameters(M, N, K, (enum sn_activation)activation);
    if (!sn_check_inner_product(__func__, &p, transB, constB, bias))
        return NULL;
    const struct sn_convolution_family * family =
        constB == SimdTrue ? sn_inner_product_32f_family(sn_table(), &p) : &sn_inner_product_32f_given;
    struct sn_convolution_context * c = sn_convolution_init(&kind, __func__, family, 1, &p);
    if (!c)
        return NULL;
    sn_inner_product_set_flags(&c->plan, transB, bias);
    snprintf(c->head.shape, sizeof(c->head.shape), "%zux%zux%zu%s%s", M, N, K, transB == SimdTrue ? ",transB" : "",
             constB == SimdTrue ? ",constB" : "");
    return c;
}

size_t SimdSynetInnerProduct32fInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

size_t SimdSynetInnerProduct32fExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

void SimdSynetInnerProduct32fSetParams(void * context, const sn_32f * weight, SimdBool * internal, const sn_32f * bias,
                                       const sn_32f * params)
{
    SN_CALL_OF(context);
    static const sn_32f none; /* weights that are not read */
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution * c = sn_convolution_of(context);
    const struct sn_set_params given = {sn_has_constant_b(c) ? weight : &none,
                                        sn_inner_product_data_of(c)->bias ? bias : NULL, params, NULL, NULL};
    if (sn_convolution_set_params(&kind, __func__, context, &given) && internal)
        *internal = SimdTrue;
}

void SimdSynetInnerProduct32fForward(void * context, const sn_32f * A, const sn_32f * B, sn_32f * buf, sn_32f * C)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution * c = sn_convolution_of(context);
    const size_t weights = sn_has_constant_b(c) ? 0 : c->p.dstC * c->p.srcC;
    const struct sn_inner_product_arrays arrays = {A, B, buf, C, sizeof(*A), sizeof(*B), sizeof(*C), weights};
    struct sn_arrays a;
    if (!sn_inner_product_begin(__func__, c, &arrays, &a))
        return;
    if (sn_has_constant_b(c))
        c->algorithm->forward(c, &a);
    else
        sn_inner_product_32f_given_b(c, B, &a);
}
