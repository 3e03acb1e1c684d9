#include "api/call.h"
#include "api/context.h"
#include "api/convolution.h"
#include "api/enums.h"
#include "api/forward.h"
#include "ops/convolution/merged_32f.h"

#include <stdio.h>

struct context {
    struct sn_context head;
    struct sn_merged_convolution_32f plan;
};

static void destroy(void * context) { sn_merged_convolution_32f_free(&((struct context *)context)->plan); }

static void forward(const char * function, void * context, const SimdnetForwardParameters * f)
{
    const struct sn_merged_convolution_32f * plan = &((const struct context *)context)->plan;
    struct sn_distances at;
    struct sn_arrays a = {f->src, NULL, f->add, f->dst, &at};
    SN_CHECK_FOR(function, !f->add || !plan->add, SN_VOID,
                 "add is not NULL, expected NULL: the context adds its source already");
    const struct sn_convolution * first = &plan->stage[plan->first], * last = &plan->stage[plan->last];
    const struct sn_forward forward = {function, first, last, plan->batch, plan->workSize, false};
    if (sn_take_forward(function, f, first, last, &at) && sn_forward_begin(&forward, &a, f->buf))
        sn_merged_convolution_32f_forward(plan, &a);
}

static struct sn_convolution * plans(void * context, size_t * count)
{
    struct sn_merged_convolution_32f * plan = &((struct context *)context)->plan;
    *count = (size_t)plan->last - plan->first + 1;
    return &plan->stage[plan->first];
}

static const struct sn_context_kind kind = {.name = "MergedConvolution32f", .destroy = destroy, .forward = forward, .plans = plans};

/* ---- checks of the stages */

#define CHECK(condition, text, ...) SN_CHECK_FOR(c->function, condition, false, "%s" text, c->of, __VA_ARGS__)

static bool check_common(const struct sn_convolution_check * c, bool same_strides)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcF == SN_NHWC, "srcF is %s, expected SimdTensorFormatNhwc", SN_NAME(sn_formats, p->srcF));
    CHECK(p->kernelX == p->kernelY, "kernelX is %zu, expected %zu as kernelY", p->kernelX, p->kernelY);
    CHECK(p->dilationY == 1, "dilationY is %zu, expected 1", p->dilationY);
    CHECK(p->dilationX == 1, "dilationX is %zu, expected 1", p->dilationX);
    CHECK(p->strideY <= 3, "strideY is %zu, expected 1, 2 or 3", p->strideY);
    CHECK(p->strideX <= 3, "strideX is %zu, expected 1, 2 or 3", p->strideX);
    CHECK(p->strideX == p->strideY || !same_strides, "strideX is %zu, expected %zu as strideY", p->strideX, p->strideY);
    return true;
}

static bool check_stage(const struct sn_convolution_check * c, enum sn_merged_stage stage)
{
    const struct sn_convolution_parameters * p = c->p;
    const size_t k = p->kernelY;
    switch (stage) {
    case SN_EXPANSION:
        CHECK(k == 1 || k == 3, "kernelY is %zu, expected 1 or 3", k);
        CHECK(p->group == 1, "group is %zu, expected 1", p->group);
        break;
    case SN_DEPTHWISE:
        CHECK(k == 3 || k == 5 || k == 7, "kernelY is %zu, expected 3, 5 or 7 for a depthwise convolution", k);
        CHECK(p->group == p->srcC, "group is %zu, expected %zu as srcC for a depthwise convolution", p->group, p->srcC);
        CHECK(p->dstC == p->srcC, "dstC is %zu, expected %zu as srcC for a depthwise convolution", p->dstC, p->srcC);
        break;
    default:
        CHECK(k == 1, "kernelY is %zu, expected 1", k);
        CHECK(p->strideY == 1 && p->strideX == 1, "strideY, strideX are %zu, %zu, expected 1", p->strideY, p->strideX);
        CHECK(p->group == 1, "group is %zu, expected 1", p->group);
    }
    return true;
}

/* The input of stage i must be the output of the stage before; messages name both. */
static bool check_chain(const struct sn_convolution_check * c, size_t i, const struct sn_convolution_parameters * before)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcC == before->dstC, "srcC is %zu, expected %zu as conv[%zu].dstC", p->srcC, before->dstC, i - 1);
    CHECK(p->srcH == before->dstH, "srcH is %zu, expected %zu as conv[%zu].dstH", p->srcH, before->dstH, i - 1);
    CHECK(p->srcW == before->dstW, "srcW is %zu, expected %zu as conv[%zu].dstW", p->srcW, before->dstW, i - 1);
    return true;
}

/* The source must have the shape of the output of the third stage, to which it is added. */
static bool check_add(const char * function, const struct sn_convolution_parameters * p)
{
    const struct sn_convolution_parameters * last = p + 2;
    SN_CHECK_FOR(function, last->dstC == p->srcC, false, "conv[2].dstC is %zu, expected %zu as conv[0].srcC for add",
                 last->dstC, p->srcC);
    SN_CHECK_FOR(function, last->dstH == p->srcH, false, "conv[2].dstH is %zu, expected %zu as conv[0].srcH for add",
                 last->dstH, p->srcH);
    SN_CHECK_FOR(function, last->dstW == p->srcW, false, "conv[2].dstW is %zu, expected %zu as conv[0].srcW for add",
                 last->dstW, p->srcW);
    return true;
}

/* With two stages, the kernel of the second determines whether it is the depthwise stage. */
static enum sn_merged_stage first_stage(const struct sn_convolution_parameters * p, size_t count)
{
    return count == 2 && p[1].kernelY == 1 ? SN_DEPTHWISE : SN_EXPANSION;
}

static const char * const names[] = {"conv[0].", "conv[1].", "conv[2]."};

static bool check_parameters(const char * function, const struct sn_convolution_parameters * p, size_t count, bool add)
{
    for (size_t i = 0; i < count; ++i) {
        const struct sn_convolution_check c = {function, names[i], &p[i]};
        if (!sn_check_convolution_types(&c) || !sn_check_convolution_size(&c) || !sn_check_convolution_channels(&c) ||
            !check_common(&c, count == 3) || !check_stage(&c, first_stage(p, count) + (enum sn_merged_stage)i) ||
            (i > 0 && !check_chain(&c, i, &p[i - 1])))
            return false;
    }
    return count == 2 || !add || check_add(function, p);
}

/* ---- the public functions */

static void describe(struct context * c)
{
    const struct sn_merged_convolution_32f * plan = &c->plan;
    const struct sn_gemm_32f_tile * tile = &c->head.table->gemm.tile_32f;
    static const char * const stages[] = {"expansion", "depthwise", "projection"};
    char how[64] = "one after the other";
    if (tile->run)
        snprintf(how, sizeof(how), "in steps of %zu rows, tile %zux%zu", plan->rows, tile->rows, tile->columns);
    sn_context_describe(&c->head, "%s to %s %s", stages[plan->first], stages[plan->last], how);
}

void * SimdSynetMergedConvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, size_t count, SimdBool add)
{
    SN_BEGIN();
    struct sn_convolution_parameters p[3];
    SN_CHECK(count == 3 || count == 2, NULL, "count is %zu, expected 3 or 2", count);
    if (!sn_convert_parameters(__func__, batch, conv, count, p) || !check_parameters(__func__, p, count, add != SimdFalse))
        return NULL;
    struct context * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    struct sn_merged_convolution_32f * plan = &c->plan;
    plan->table = c->head.table;
    plan->batch = batch;
    plan->first = first_stage(p, count);
    plan->last = plan->first + (enum sn_merged_stage)(count - 1);
    plan->add = add != SimdFalse && count == 3;
    for (size_t i = 0; i < count; ++i)
        plan->stage[plan->first + i].p = p[i];
    if (!sn_merged_convolution_32f_plan(plan)) {
        sn_context_free(c);
        SN_CHECK(false, NULL, "conv of batch %zu describes an array that is too large", batch);
    }
    describe(c);
    sn_convolution_shape(&c->head, batch, p, count);
    return c;
}

size_t SimdSynetMergedConvolution32fExternalBufferSize(const void * context)
{
    SN_BEGIN();
    if (!sn_context_check(context, &kind, __func__))
        return 0;
    return sn_external_size(((const struct context *)context)->plan.workSize, sizeof(float));
}

size_t SimdSynetMergedConvolution32fInternalBufferSize(const void * context)
{
    SN_BEGIN();
    if (!sn_context_check(context, &kind, __func__))
        return 0;
    return sn_merged_convolution_32f_memory(&((const struct context *)context)->plan) / sizeof(float);
}

void SimdSynetMergedConvolution32fSetParams(void * context, const sn_32f * const * weight, SimdBool * internal,
                                            const sn_32f * const * bias, const sn_32f * const * params)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    struct sn_merged_convolution_32f * plan = &((struct context *)context)->plan;
    SN_CHECK(weight, SN_VOID, "weight is NULL, expected an array of arrays");
    const size_t count = (size_t)plan->last - plan->first + 1;
    struct sn_set_params given[SN_MERGED_STAGES];
    for (size_t i = 0; i < count; ++i) {
        const struct sn_convolution_check c = {__func__, names[i], &plan->stage[plan->first + i].p};
        given[i] = (struct sn_set_params){weight[i], bias ? bias[i] : NULL, params ? params[i] : NULL, NULL};
        if (!sn_check_convolution_arrays(&c, given[i].weight, given[i].params))
            return;
    }
    const struct sn_fault fault = sn_merged_convolution_32f_set(plan, given);
    if (!sn_report_fault(__func__, &fault))
        return;
    for (size_t i = 0; internal && i < count; ++i)
        internal[i] = SimdTrue;
}

void SimdSynetMergedConvolution32fForward(void * context, const sn_32f * src, sn_32f * buf, sn_32f * dst)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_merged_convolution_32f * plan = &((const struct context *)context)->plan;
    const struct sn_convolution * first = &plan->stage[plan->first], * last = &plan->stage[plan->last];
    const struct sn_forward f = {__func__, first, last, plan->batch, plan->workSize, false};
    struct sn_arrays a = {src, NULL, NULL, dst, &plan->dense};
    if (sn_forward_begin(&f, &a, buf))
        sn_merged_convolution_32f_forward(plan, &a);
}
