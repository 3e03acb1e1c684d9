#include <math.h>

#include "api/call.h"
#include "api/enums.h"
#include "api/merged.h"
#include "api/quantized.h"
#include "ops/convolution/8i.h"

/* The numbers of an addition, which are among the parameters, depend on the order of its terms. */
static bool alike(const char * function, const void * context, const void * from)
{
    const int own = (int)((const struct sn_merged_context *)context)->plan.add;
    const int add = (int)((const struct sn_merged_context *)from)->plan.add;
    SN_CHECK_FOR(function, add == own, false, "add of from is %d, expected %d as in context", add, own);
    return true;
}

static const struct sn_context_kind kind = SN_MERGED_KIND("QuantizedMergedConvolution", alike);

/* All bytes, without activations: they are limits of the bytes of a stage. */
static bool check_stages(const char * function, const struct sn_convolution_parameters * p, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        SN_CHECK_FOR(function, p[i].srcT == SN_DATA_8U, false, "conv[%zu].srcT is %s, expected SimdTensorData8u", i,
                     SN_NAME(sn_data_types, p[i].srcT));
        SN_CHECK_FOR(function, p[i].dstT == SN_DATA_8U, false, "conv[%zu].dstT is %s, expected SimdTensorData8u", i,
                     SN_NAME(sn_data_types, p[i].dstT));
        SN_CHECK_FOR(function, p[i].activation == SN_ACTIVATION_IDENTITY, false,
                     "conv[%zu].activation is %d, expected SimdConvolutionActivationIdentity", i, (int)p[i].activation);
    }
    return true;
}

void * SimdSynetQuantizedMergedConvolutionInit(size_t batch, const SimdConvolutionParameters * conv, size_t count, int add)
{
    SN_BEGIN();
    struct sn_convolution_parameters p[3];
    SN_CHECK(add >= SN_ADDS_NOTHING && add <= SN_ADDS_TO_SOURCE, NULL, "add is %d, expected 0, 1 or 2", add);
    SN_CHECK(add == SN_ADDS_NOTHING || count != 2, NULL, "add is %d, expected 0 for two convolutions", add);
    const struct sn_merged_rules rules = {add != SN_ADDS_NOTHING, false};
    if (!sn_take_merged(__func__, batch, conv, count, &sn_merged_quantized, rules, p) || !check_stages(__func__, p, count))
        return NULL;
    return sn_merged_init(&kind, __func__, &sn_merged_quantized, batch, p, count, (enum sn_merged_addition)add);
}

size_t SimdSynetQuantizedMergedConvolutionExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_merged_external(&kind, __func__, context);
}

size_t SimdSynetQuantizedMergedConvolutionInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_merged_internal(&kind, __func__, context);
}

/* The scales of tensors; with an addition, also that of its result. */
static bool check_scales(const char * function, const sn_32f * scale, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        SN_CHECK_FOR(function, scale[i] > 0 && isfinite(scale[i]), false,
                     "ioScale[%zu] is %g, expected a finite number above 0", i, (double)scale[i]);
    return true;
}

/* Both zeros in one number, so that each byte takes one multiplication and one addition, rounded together. */
static struct sn_quantized_sum sum_of(const struct sn_merged * plan, const sn_32f * scale, const uint8_t * zero)
{
    const size_t a = plan->add == SN_ADDS_SOURCE ? 3 : 0, b = 3 - a;
    const float aScale = scale[a] / scale[4], bScale = scale[b] / scale[4];
    const float zeros = fmaf(aScale, (float)zero[a], bScale * (float)zero[b]);
    const float shift = (float)zero[4] - zeros;
    return (struct sn_quantized_sum){{.aScale = aScale, .bScale = bScale, .shift = shift,
                                      .near = sn_is_near_sum(aScale, bScale, shift)}, plan->add == SN_ADDS_TO_SOURCE};
}

void SimdSynetQuantizedMergedConvolutionSetParams(void * context, const sn_32f * ioScale, const uint8_t * ioZero,
                                                  const int8_t * const * weight, const sn_32f * const * weightScale,
                                                  const sn_32i * const * bias)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    struct sn_merged * plan = &((struct sn_merged_context *)context)->plan;
    const bool adds = plan->add != SN_ADDS_NOTHING;
    const size_t count = plan->count, tensors = count + 1 + adds;
    SN_CHECK(ioScale, SN_VOID, "ioScale is NULL, expected %zu floats", tensors);
    SN_CHECK(ioZero, SN_VOID, "ioZero is NULL, expected %zu bytes", tensors);
    SN_CHECK(weight, SN_VOID, "weight is NULL, expected an array of arrays");
    SN_CHECK(weightScale, SN_VOID, "weightScale is NULL, expected an array of arrays");
    if (!check_scales(__func__, ioScale, tensors))
        return;
    struct sn_set_quantized quantized[SN_MERGED_STAGES];
    struct sn_set_params given[SN_MERGED_STAGES] = {{0}};
    for (size_t i = 0; i < count; ++i) {
        const struct sn_convolution_check c = {__func__, sn_merged_names[i], &plan->stage[plan->first + i].p};
        quantized[i] = (struct sn_set_quantized){{ioScale[i], 1, ioScale[i + 1]}, {ioZero[i], 0, ioZero[i + 1]}, weight[i],
            weightScale[i], bias ? bias[i] : NULL, NULL, NULL};
        given[i].quantized = &quantized[i];
        if (!sn_check_convolution_arrays(&c, weight[i], NULL))
            return;
        SN_CHECK(weightScale[i] || c.p->dstC == 0, SN_VOID, "weightScale[%zu] is NULL, expected %zu floats", i, c.p->dstC);
    }
    const struct sn_quantized_sum sum = adds ? sum_of(plan, ioScale, ioZero) : (struct sn_quantized_sum){.first = false};
    SN_CHECK(isfinite(sum.numbers.shift), SN_VOID, "ioScale[4] is %g, expected a number by which the others can be divided",
             (double)ioScale[4]);
    quantized[count - 1].sum = adds ? &sum : NULL;
    const struct sn_fault fault = sn_merged_set(plan, given);
    sn_report_fault(__func__, &fault);
}

void SimdSynetQuantizedMergedConvolutionForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    sn_merged_forward(&kind, __func__, context, src, buf, dst);
}
