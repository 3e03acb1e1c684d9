/* Contexts of two or three convolutions, see merged.h. */
#include "api/merged.h"

#include "api/enums.h"

#include <stdio.h>

#define CHECK(condition, text, ...) SN_CHECK_FOR(c->function, condition, false, "%s" text, c->of, __VA_ARGS__)

/* ---- checks of the stages */

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
static enum sn_merged_stage first_of(const struct sn_convolution_parameters * p, size_t count)
{
    return count == 2 && p[1].kernelY == 1 ? SN_DEPTHWISE : SN_EXPANSION;
}

const char * const sn_merged_names[] = {"conv[0].", "conv[1].", "conv[2]."};

static bool check_types(const struct sn_convolution_check * c, enum sn_data small)
{
    if (small == SN_DATA_32F)
        return sn_check_convolution_types(c);
    return sn_check_convolution_types_of(c, small, small == SN_DATA_16B ? "SimdTensorData16b" : "SimdTensorData8u");
}

/* Only contexts of floats have a projection with padding. */
static bool check_padding(const struct sn_convolution_check * c, enum sn_merged_stage stage)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(stage != SN_PROJECTION || (p->padY | p->padX | p->padH | p->padW) == 0,
          "padY, padX, padH, padW are %zu, %zu, %zu, %zu, expected 0", p->padY, p->padX, p->padH, p->padW);
    return true;
}

bool sn_take_merged(const char * function, size_t batch, const SimdConvolutionParameters * conv, size_t count,
                    const struct sn_merged_kind * how, struct sn_merged_rules rules, struct sn_convolution_parameters * p)
{
    const enum sn_data small = how->smallType;
    SN_CHECK_FOR(function, count == 3 || count == 2, false, "count is %zu, expected 3 or 2", count);
    if (!sn_convert_parameters(function, batch, conv, count, p))
        return false;
    for (size_t i = 0; i < count; ++i) {
        const struct sn_convolution_check c = {function, sn_merged_names[i], &p[i]};
        const enum sn_merged_stage stage = first_of(p, count) + (enum sn_merged_stage)i;
        if (!check_types(&c, small) || !sn_check_convolution_size(&c) || !sn_check_convolution_channels(&c) ||
            !check_common(&c, rules.square) || !check_stage(&c, stage) ||
            (small != SN_DATA_32F && !check_padding(&c, stage)) || (i > 0 && !check_chain(&c, i, &p[i - 1])))
            return false;
    }
    return count == 2 || !rules.add || check_add(function, p);
}

/* ---- contexts */

static void describe(struct sn_merged_context * c)
{
    static const char * const stages[] = {"expansion", "depthwise", "projection"};
    const struct sn_merged * plan = &c->plan;
    const enum sn_merged_stage tiled = plan->given == SN_DEPTHWISE ? SN_PROJECTION : SN_EXPANSION;
    const struct sn_tile_shape tile = plan->stage[tiled].family->tile(c->head.table);
    char how[64] = "one after the other";
    if (plan->rows)
        snprintf(how, sizeof(how), "in steps of %zu rows, tile %zux%zu", plan->rows, tile.rows, tile.columns);
    sn_context_describe(&c->head, "%s%s to %s %s", plan->kind == &sn_merged_32f_rounded ? "by bfloat16, " : "",
                        stages[plan->given], stages[plan->given + plan->count - 1], how);
}

void * sn_merged_init(const struct sn_context_kind * kind, const char * function, const struct sn_merged_kind * how,
                      size_t batch, const struct sn_convolution_parameters * p, size_t count, enum sn_merged_addition add)
{
    struct sn_merged_context * c = sn_context_new(kind, sizeof(*c), function);
    if (!c)
        return NULL;
    struct sn_merged * plan = &c->plan;
    *plan = (struct sn_merged){.kind = how, .table = c->head.table, .batch = batch, .given = first_of(p, count),
        .count = count, .add = count == 3 ? add : SN_ADDS_NOTHING};
    for (size_t i = 0; i < count; ++i)
        plan->stage[plan->given + i].p = p[i];
    if (!sn_merged_plan(plan)) {
        sn_context_free(c);
        SN_CHECK_FOR(function, false, NULL, "conv of batch %zu describes an array that is too large", batch);
    }
    describe(c);
    sn_convolution_shape(&c->head, batch, p, count);
    return c;
}

void sn_merged_destroy(void * context) { sn_merged_free(&((struct sn_merged_context *)context)->plan); }

struct sn_stages sn_merged_stages_of(void * context)
{
    struct sn_merged * plan = &((struct sn_merged_context *)context)->plan;
    return (struct sn_stages){&plan->stage[plan->first], .count = sn_merged_stages(plan),
        .first = (size_t)(plan->given - plan->first), .given = plan->count,
        .add = (size_t)plan->add};
}

size_t sn_merged_external(const struct sn_context_kind * kind, const char * function, const void * context)
{
    if (!sn_context_check(context, kind, function))
        return 0;
    const struct sn_merged * plan = &((const struct sn_merged_context *)context)->plan;
    return sn_external_size(plan->workSize, plan->kind->unit);
}

size_t sn_merged_internal(const struct sn_context_kind * kind, const char * function, const void * context)
{
    if (!sn_context_check(context, kind, function))
        return 0;
    const struct sn_merged * plan = &((const struct sn_merged_context *)context)->plan;
    return sn_merged_memory(plan) / plan->kind->unit;
}

/* The statistics of a stage: of its source and of its result, or those between which a conversion converts. */
static void stats_of(const struct sn_merged * plan, enum sn_merged_stage stage, const sn_32f * const * all,
                     const sn_32f ** stats)
{
    const bool conversion = stage < plan->given || stage >= plan->given + plan->count, last = stage == SN_PROJECTION;
    const sn_32f * const * from = all + (!last ? 0 : conversion ? 4 : 2);
    const bool bytes = plan->stage[stage].p.dstT == SN_DATA_8U && !conversion;
    for (size_t i = 0; i < 4; ++i)
        stats[i] = i < 2 || bytes ? from[i] : NULL;
}

bool sn_merged_set_params(const struct sn_context_kind * kind, const char * function, void * context,
                          const struct sn_merged_arrays * given)
{
    if (!sn_context_check(context, kind, function))
        return false;
    struct sn_merged * plan = &((struct sn_merged_context *)context)->plan;
    SN_CHECK_FOR(function, given->weight, false, "weight is NULL, expected an array of arrays");
    struct sn_set_params all[SN_MERGED_STAGES] = {{0}};
    const sn_32f * stats[SN_MERGED_STAGES][4];
    for (enum sn_merged_stage stage = plan->first; stage <= plan->last; ++stage)
        if (given->stats) {
            stats_of(plan, stage, given->stats, stats[stage]);
            all[stage].stats = stats[stage];
        }
    for (size_t i = 0; i < plan->count; ++i) {
        const struct sn_convolution_check c = {function, sn_merged_names[i], &plan->stage[plan->given + i].p};
        struct sn_set_params * one = &all[plan->given + i];
        one->weight = given->weight[i];
        one->bias = given->bias ? given->bias[i] : NULL;
        one->params = given->params ? given->params[i] : NULL;
        if (!sn_check_convolution_arrays(&c, one->weight, one->params))
            return false;
    }
    const struct sn_fault fault = sn_merged_set(plan, &all[plan->first]);
    return sn_report_fault(function, &fault);
}

/* ---- Forward */

/* True if there is something to compute. */
static bool begin(const char * function, const struct sn_merged * plan, struct sn_arrays * a, void * buf)
{
    const struct sn_convolution * first = &plan->stage[plan->first], * last = &plan->stage[plan->last];
    return sn_forward_begin(&(struct sn_forward){function, first, last, plan->batch, plan->workSize, false}, a, buf);
}

void sn_merged_forward_any(const char * function, void * context, const SimdnetForwardParameters * f)
{
    const struct sn_merged_context * c = context;
    const struct sn_merged * plan = &c->plan;
    struct sn_distances at;
    struct sn_arrays a = {f->src, NULL, f->add, f->dst, &at};
    SN_CHECK_FOR(function, !f->add || plan->kind->adds, SN_VOID, "add is not NULL, expected NULL: a %s adds no other array",
                 c->head.kind->name);
    SN_CHECK_FOR(function, !f->add || !plan->add, SN_VOID,
                 "add is not NULL, expected NULL: the context adds its source already");
    if (sn_take_forward(function, f, &plan->stage[plan->first], &plan->stage[plan->last], &at) &&
        begin(function, plan, &a, f->buf))
        plan->kind->forward(plan, &a);
}

void sn_merged_forward(const struct sn_context_kind * kind, const char * function, const void * context, const void * src,
                       void * buf, void * dst)
{
    if (!sn_context_check(context, kind, function))
        return;
    const struct sn_merged * plan = &((const struct sn_merged_context *)context)->plan;
    struct sn_arrays a = {src, NULL, NULL, dst, &plan->dense};
    if (begin(function, plan, &a, buf))
        plan->kind->forward(plan, &a);
}
