/* SimdnetQuantizedSetParams(): what two kinds of contexts of quantised bytes have in common, and a table of results. */
#include <math.h>

#include "api/call.h"
#include "api/convolution.h"
#include "api/parameters.h"
#include "api/quantized.h"
#include "ops/convolution/8i.h"

/* The only convolution of a context of these kinds; NULL for others. */
static const struct sn_convolution * plan_of(const struct sn_context * context)
{
    const struct sn_stages all = context->kind->stages ? context->kind->stages((void *)(uintptr_t)context) :
                                                         (struct sn_stages){NULL, .count = 0};
    if (all.count != 1)
        return NULL;
    const struct sn_convolution_family * family = all.plan->family;
    return family == &sn_convolution_quantized || family == &sn_inner_product_quantized ? all.plan : NULL;
}

static bool check_arrays(const char * function, const struct sn_convolution_parameters * p, const SimdnetQuantizedParams * q)
{
    SN_CHECK_FOR(function, q->weight || p->dstC * p->srcC == 0, false, "weight is NULL, expected those of %zu outputs", p->dstC);
    const sn_32f * scale = q->weightScale;
    SN_CHECK_FOR(function, scale || p->dstC == 0, false, "weightScale is NULL, expected %zu floats", p->dstC);
    for (size_t o = 0; o < p->dstC; ++o)
        SN_CHECK_FOR(function, scale[o] > 0 && isfinite(scale[o]), false,
                     "weightScale[%zu] is %g, expected a finite number above 0", o, (double)scale[o]);
    return true;
}

void SimdnetQuantizedSetParams(void * context, const SimdnetQuantizedParams * parameters)
{
    SN_CALL_OF(context);
    static const int8_t none; /* weights that are not read */
    const struct sn_context * own = context;
    if (!sn_is_context(own, __func__) || !sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const struct sn_convolution * plan = plan_of(own);
    SN_CHECK(plan, SN_VOID, "context is one of %s, expected one of QuantizedConvolution or QuantizedInnerProduct",
             own->kind->name);
    SN_CHECK(plan->p.activation == SN_ACTIVATION_IDENTITY, SN_VOID, "the activation of context is not Identity, expected it");
    const SimdnetQuantizedParams * q = parameters;
    if (!sn_check_scale(__func__, "srcScale", q->srcScale) || !sn_check_scale(__func__, "dstScale", q->dstScale) ||
        !check_arrays(__func__, &plan->p, q))
        return;
    const struct sn_set_quantized quantized = {{q->srcScale, 1, q->dstScale}, {q->srcZero, 0, q->dstZero},
        q->weight ? q->weight : &none, q->weightScale, q->bias, q->table};
    sn_convolution_set_params(own->kind, __func__, context, &(struct sn_set_params){.quantized = &quantized});
}
