#include "api/call.h"
#include "api/forward.h"
#include "api/merged.h"
#include "ops/convolution/merged_16b.h"

#include <stdio.h>

struct context {
    struct sn_context head;
    struct sn_merged_convolution_16b plan;
};

static void destroy(void * context) { sn_merged_convolution_16b_free(&((struct context *)context)->plan); }

/* True if there is something to compute. */
static bool begin(const char * function, const struct sn_merged_convolution_16b * plan, struct sn_arrays * a, void * buf)
{
    const struct sn_convolution * first = &plan->stage[plan->first], * last = &plan->stage[plan->last];
    return sn_forward_begin(&(struct sn_forward){function, first, last, plan->batch, plan->workSize, false}, a, buf);
}

static void forward(const char * function, void * context, const SimdnetForwardParameters * f)
{
    const struct sn_merged_convolution_16b * plan = &((const struct context *)context)->plan;
    struct sn_distances at;
    struct sn_arrays a = {f->src, NULL, NULL, f->dst, &at};
    SN_CHECK_FOR(function, !f->add, SN_VOID, "add is not NULL, expected NULL: a MergedConvolution16b adds nothing but its source");
    if (sn_take_forward(function, f, &plan->stage[plan->first], &plan->stage[plan->last], &at) &&
        begin(function, plan, &a, f->buf))
        sn_merged_convolution_16b_forward(plan, &a);
}

static struct sn_convolution * plans(void * context, size_t * count)
{
    struct sn_merged_convolution_16b * plan = &((struct context *)context)->plan;
    *count = (size_t)plan->last - plan->first + 1;
    return &plan->stage[plan->first];
}

static const struct sn_context_kind kind = {.name = "MergedConvolution16b", .destroy = destroy, .forward = forward,
    .plans = plans};

static void describe(struct context * c)
{
    const struct sn_merged_convolution_16b * plan = &c->plan;
    const struct sn_dot_tile * tile = &c->head.table->convolution_16b.tile;
    static const char * const stages[] = {"expansion", "depthwise", "projection"};
    char how[64] = "one after the other";
    if (tile->run)
        snprintf(how, sizeof(how), "in steps of %zu rows, tile %zux%zu", plan->rows, tile->rows, tile->columns);
    sn_context_describe(&c->head, "%s to %s %s", stages[plan->first], stages[plan->last], how);
}

void * SimdSynetMergedConvolution16bInit(size_t batch, const SimdConvolutionParameters * conv, size_t count, SimdBool add)
{
    SN_BEGIN();
    struct sn_convolution_parameters p[3];
    SN_CHECK(count == 3 || count == 2, NULL, "count is %zu, expected 3 or 2", count);
    if (!sn_convert_parameters(__func__, batch, conv, count, p) ||
        !sn_check_merged(__func__, p, count, add != SimdFalse, SN_DATA_16B))
        return NULL;
    struct context * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    struct sn_merged_convolution_16b * plan = &c->plan;
    plan->table = c->head.table;
    plan->batch = batch;
    plan->first = sn_merged_first(p, count);
    plan->last = plan->first + (enum sn_merged_stage)(count - 1);
    plan->add = add != SimdFalse && count == 3;
    for (size_t i = 0; i < count; ++i)
        plan->stage[plan->first + i].p = p[i];
    if (!sn_merged_convolution_16b_plan(plan)) {
        sn_context_free(c);
        SN_CHECK(false, NULL, "conv of batch %zu describes an array that is too large", batch);
    }
    describe(c);
    sn_convolution_shape(&c->head, batch, p, count);
    return c;
}

size_t SimdSynetMergedConvolution16bExternalBufferSize(const void * context)
{
    SN_BEGIN();
    if (!sn_context_check(context, &kind, __func__))
        return 0;
    return sn_external_size(((const struct context *)context)->plan.workSize, 1);
}

size_t SimdSynetMergedConvolution16bInternalBufferSize(const void * context)
{
    SN_BEGIN();
    if (!sn_context_check(context, &kind, __func__))
        return 0;
    return sn_merged_convolution_16b_memory(&((const struct context *)context)->plan);
}

void SimdSynetMergedConvolution16bSetParams(void * context, const sn_32f * const * weight, const sn_32f * const * bias,
                                            const sn_32f * const * params)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    struct sn_merged_convolution_16b * plan = &((struct context *)context)->plan;
    SN_CHECK(weight, SN_VOID, "weight is NULL, expected an array of arrays");
    const size_t count = (size_t)plan->last - plan->first + 1;
    struct sn_set_params given[SN_MERGED_STAGES];
    for (size_t i = 0; i < count; ++i) {
        const struct sn_convolution_check c = {__func__, sn_merged_names[i], &plan->stage[plan->first + i].p};
        given[i] = (struct sn_set_params){weight[i], bias ? bias[i] : NULL, params ? params[i] : NULL, NULL, NULL};
        if (!sn_check_convolution_arrays(&c, given[i].weight, given[i].params))
            return;
    }
    const struct sn_fault fault = sn_merged_convolution_16b_set(plan, given);
    sn_report_fault(__func__, &fault);
}

void SimdSynetMergedConvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_merged_convolution_16b * plan = &((const struct context *)context)->plan;
    struct sn_arrays a = {src, NULL, NULL, dst, &plan->dense};
    if (begin(__func__, plan, &a, buf))
        sn_merged_convolution_16b_forward(plan, &a);
}
