#include <math.h>
#include <stdio.h>

#include "api/call.h"
#include "api/enums.h"
#include "api/forward.h"
#include "api/merged.h"
#include "ops/convolution/merged_quantized.h"

struct context {
    struct sn_context head;
    struct sn_merged_quantized plan;
};

static void destroy(void * context) { sn_merged_quantized_free(&((struct context *)context)->plan); }

/* True if there is something to compute. */
static bool begin(const char * function, const struct sn_merged_quantized * plan, struct sn_arrays * a, void * buf)
{
    const struct sn_convolution * first = &plan->stage[plan->first], * last = &plan->stage[plan->last];
    return sn_forward_begin(&(struct sn_forward){function, first, last, plan->batch, plan->workSize, false}, a, buf);
}

static void forward(const char * function, void * context, const SimdnetForwardParameters * f)
{
    const struct sn_merged_quantized * plan = &((const struct context *)context)->plan;
    struct sn_distances at;
    struct sn_arrays a = {f->src, NULL, NULL, f->dst, &at};
    SN_CHECK_FOR(function, !f->add, SN_VOID,
                 "add is not NULL, expected NULL: a QuantizedMergedConvolution adds nothing but its source");
    if (sn_take_forward(function, f, &plan->stage[plan->first], &plan->stage[plan->last], &at) &&
        begin(function, plan, &a, f->buf))
        sn_merged_quantized_forward(plan, &a);
}

static struct sn_convolution * plans(void * context, size_t * count)
{
    struct sn_merged_quantized * plan = &((struct context *)context)->plan;
    *count = (size_t)plan->last - plan->first + 1;
    return &plan->stage[plan->first];
}

static const struct sn_context_kind kind = {.name = "QuantizedMergedConvolution", .destroy = destroy, .forward = forward,
    .plans = plans};

static void describe(struct context * c)
{
    const struct sn_merged_quantized * plan = &c->plan;
    static const char * const stages[] = {"expansion", "depthwise", "projection"};
    sn_context_describe(&c->head, "%s to %s one after the other", stages[plan->first], stages[plan->last]);
}

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
    SN_CHECK(count == 3 || count == 2, NULL, "count is %zu, expected 3 or 2", count);
    SN_CHECK(add >= SN_ADDS_NOTHING && add <= SN_ADDS_TO_SOURCE, NULL, "add is %d, expected 0, 1 or 2", add);
    SN_CHECK(add == SN_ADDS_NOTHING || count == 3, NULL, "add is %d, expected 0 for two convolutions", add);
    if (!sn_convert_parameters(__func__, batch, conv, count, p) ||
        !sn_check_merged(__func__, p, count, add != SN_ADDS_NOTHING, SN_DATA_8U) || !check_stages(__func__, p, count))
        return NULL;
    struct context * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    struct sn_merged_quantized * plan = &c->plan;
    plan->table = c->head.table;
    plan->batch = batch;
    plan->first = sn_merged_first(p, count);
    plan->last = plan->first + (enum sn_merged_stage)(count - 1);
    plan->add = (enum sn_quantized_addition)add;
    for (size_t i = 0; i < count; ++i)
        plan->stage[plan->first + i].p = p[i];
    if (!sn_merged_quantized_plan(plan)) {
        sn_context_free(c);
        SN_CHECK(false, NULL, "conv of batch %zu describes an array that is too large", batch);
    }
    describe(c);
    sn_convolution_shape(&c->head, batch, p, count);
    return c;
}

size_t SimdSynetQuantizedMergedConvolutionExternalBufferSize(const void * context)
{
    SN_BEGIN();
    if (!sn_context_check(context, &kind, __func__))
        return 0;
    return sn_external_size(((const struct context *)context)->plan.workSize, 1);
}

size_t SimdSynetQuantizedMergedConvolutionInternalBufferSize(const void * context)
{
    SN_BEGIN();
    if (!sn_context_check(context, &kind, __func__))
        return 0;
    return sn_merged_quantized_memory(&((const struct context *)context)->plan);
}

/* The scales of tensors; with an addition, also that of its result. */
static bool check_scales(const char * function, const sn_32f * scale, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        SN_CHECK_FOR(function, scale[i] > 0 && isfinite(scale[i]), false, "ioScale[%zu] is %g, expected a finite number above 0",
                     i, (double)scale[i]);
    return true;
}

/* Both zeros in one number, so that each byte takes one multiplication and one addition, rounded together. */
static struct sn_add_quantized sum_of(const struct sn_merged_quantized * plan, const sn_32f * scale, const uint8_t * zero)
{
    const size_t a = plan->add == SN_ADDS_SOURCE ? 3 : 0, b = 3 - a;
    const float aScale = scale[a] / scale[4], bScale = scale[b] / scale[4];
    const float zeros = fmaf(aScale, (float)zero[a], bScale * (float)zero[b]);
    return (struct sn_add_quantized){.aScale = aScale, .bScale = bScale, .shift = (float)zero[4] - zeros};
}

void SimdSynetQuantizedMergedConvolutionSetParams(void * context, const sn_32f * ioScale, const uint8_t * ioZero,
                                                  const int8_t * const * weight, const sn_32f * const * weightScale,
                                                  const sn_32i * const * bias)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    struct sn_merged_quantized * plan = &((struct context *)context)->plan;
    const bool adds = plan->add != SN_ADDS_NOTHING;
    const size_t count = (size_t)plan->last - plan->first + 1, tensors = count + 1 + adds;
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
            weightScale[i], bias ? bias[i] : NULL};
        given[i].quantized = &quantized[i];
        if (!sn_check_convolution_arrays(&c, weight[i], NULL))
            return;
        SN_CHECK(weightScale[i] || c.p->dstC == 0, SN_VOID, "weightScale[%zu] is NULL, expected %zu floats", i, c.p->dstC);
    }
    const struct sn_add_quantized sum = adds ? sum_of(plan, ioScale, ioZero) : (struct sn_add_quantized){0};
    SN_CHECK(isfinite(sum.shift), SN_VOID, "ioScale[4] is %g, expected a number by which the others can be divided",
             (double)ioScale[4]);
    const struct sn_fault fault = sn_merged_quantized_set(plan, given, &sum);
    sn_report_fault(__func__, &fault);
}

void SimdSynetQuantizedMergedConvolutionForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_merged_quantized * plan = &((const struct context *)context)->plan;
    struct sn_arrays a = {src, NULL, NULL, dst, &plan->dense};
    if (begin(__func__, plan, &a, buf))
        sn_merged_quantized_forward(plan, &a);
}
