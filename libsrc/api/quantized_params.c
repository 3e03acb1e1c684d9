/* SimdnetQuantizedSetParams(): what two kinds of contexts of quantised bytes have in common, and what follows their sums. */
#include <math.h>
#include <stddef.h>

#include "api/call.h"
#include "api/convolution.h"
#include "api/enums.h"
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
    SN_CHECK_FOR(function, q->weight || p->dstC * p->srcC == 0, false, "weight is NULL, expected those of %zu outputs",
                 p->dstC);
    const sn_32f * scale = q->weightScale;
    SN_CHECK_FOR(function, scale || p->dstC == 0, false, "weightScale is NULL, expected %zu floats", p->dstC);
    for (size_t o = 0; o < p->dstC; ++o)
        SN_CHECK_FOR(function, scale[o] > 0 && isfinite(scale[o]), false,
                     "weightScale[%zu] is %g, expected a finite number above 0", o, (double)scale[o]);
    return true;
}

static bool check_sum(const char * function, const SimdnetQuantizedParams * q)
{
    SN_CHECK_FOR(function, q->addType == SimdTensorData8u || q->addType == SimdTensorData8i, false,
                 "addType is %s, expected SimdTensorData8u or SimdTensorData8i", SN_NAME(sn_data_types, q->addType));
    const bool negative = q->addType == SimdTensorData8i;
    return sn_check_scale(function, "ownScale", q->ownScale) && sn_check_scale(function, "addScale", q->addScale) &&
           sn_check_scale(function, "sumScale", q->sumScale) &&
           sn_check_zero_of(function, "ownZero", q->ownZero, negative) &&
           sn_check_zero_of(function, "addZero", q->addZero, negative) &&
           sn_check_zero_of(function, "sumZero", q->sumZero, negative);
}

/* The numbers of an addition that SimdnetQuantizedBinary() would compute from results and bytes of a call. */
static struct sn_quantized_sum sum_of(const SimdnetQuantizedParams * q)
{
    SimdnetQuantizedBinaryParameters own = {.operation = SimdnetBinaryAdd, .dataType = q->addType, .aScale = q->ownScale,
        .aZero = q->ownZero, .bScale = q->addScale, .bZero = q->addZero, .dstScale = q->sumScale, .dstZero = q->sumZero};
    if (q->addFirst) {
        own.aScale = q->addScale, own.aZero = q->addZero;
        own.bScale = q->ownScale, own.bZero = q->ownZero;
    }
    return (struct sn_quantized_sum){sn_quantized_numbers(&own), q->addFirst == SimdTrue};
}

void SimdnetQuantizedSetParams(void * context, const SimdnetQuantizedParams * parameters)
{
    SN_CALL_OF(context);
    static const int8_t none; /* weights that are not read */
    const struct sn_context * own = context;
    SimdnetQuantizedParams given;
    if (!sn_is_context(own, __func__) ||
        !sn_take_known(__func__, parameters, offsetof(SimdnetQuantizedParams, adds), &given, sizeof(given)))
        return;
    const struct sn_convolution * plan = plan_of(own);
    SN_CHECK(plan, SN_VOID, "context is one of %s, expected one of QuantizedConvolution or QuantizedInnerProduct",
             own->kind->name);
    SN_CHECK(plan->p.activation == SN_ACTIVATION_IDENTITY, SN_VOID,
             "the activation of context is not Identity, expected it");
    const SimdnetQuantizedParams * q = &given;
    if (!sn_check_scale(__func__, "srcScale", q->srcScale) || !sn_check_scale(__func__, "dstScale", q->dstScale) ||
        !check_arrays(__func__, &plan->p, q) || (q->adds && !check_sum(__func__, q)))
        return;
    const struct sn_quantized_sum sum = q->adds ? sum_of(q) : (struct sn_quantized_sum){.first = false};
    const struct sn_set_quantized quantized = {{q->srcScale, 1, q->dstScale}, {q->srcZero, 0, q->dstZero},
        q->weight ? q->weight : &none, q->weightScale, q->bias, q->table, q->adds ? &sum : NULL};
    sn_convolution_set_params(own->kind, __func__, context, &(struct sn_set_params){.quantized = &quantized});
}
