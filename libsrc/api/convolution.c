#include "api/convolution.h"
#include "api/enums.h"

#include <stdio.h>

#include "runtime/text.h"

#define CHECK(condition, text, ...) SN_CHECK_FOR(c->function, condition, false, "%s" text, c->of, __VA_ARGS__)

static bool check_formats(const struct sn_convolution_check * c)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcF == SN_NCHW || p->srcF == SN_NHWC,
          "srcF is %s, expected SimdTensorFormatNchw or SimdTensorFormatNhwc", SN_NAME(sn_formats, p->srcF));
    CHECK(p->dstF == p->srcF, "dstF is %s, expected %s as srcF", SN_NAME(sn_formats, p->dstF),
          SN_NAME(sn_formats, p->srcF));
    return true;
}

bool sn_check_convolution_types(const struct sn_convolution_check * c)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcT == SN_DATA_32F, "srcT is %s, expected SimdTensorData32f", SN_NAME(sn_data_types, p->srcT));
    CHECK(p->dstT == SN_DATA_32F, "dstT is %s, expected SimdTensorData32f", SN_NAME(sn_data_types, p->dstT));
    return check_formats(c);
}

bool sn_check_convolution_types_of(const struct sn_convolution_check * c, enum sn_data small, const char * name)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcT == SN_DATA_32F || p->srcT == small, "srcT is %s, expected SimdTensorData32f or %s",
          SN_NAME(sn_data_types, p->srcT), name);
    CHECK(p->dstT == SN_DATA_32F || p->dstT == small, "dstT is %s, expected SimdTensorData32f or %s",
          SN_NAME(sn_data_types, p->dstT), name);
    return check_formats(c);
}

bool sn_check_convolution_channels(const struct sn_convolution_check * c)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->group > 0, "group is %zu, expected at least 1", p->group);
    CHECK(p->srcC <= SN_MOST_EXTENT, "srcC is %zu, too large", p->srcC);
    CHECK(p->dstC <= SN_MOST_EXTENT, "dstC is %zu, too large", p->dstC);
    CHECK(p->srcC % p->group == 0, "srcC is %zu, expected a multiple of group, which is %zu", p->srcC, p->group);
    CHECK(p->dstC % p->group == 0, "dstC is %zu, expected a multiple of group, which is %zu", p->dstC, p->group);
    CHECK((unsigned)p->activation <= SN_ACTIVATION_GELU || p->activation == SN_ACTIVATION_SIGMOID,
          "activation is %d, expected a SimdConvolutionActivationType, Identity to Gelu or Sigmoid", (int)p->activation);
    return true;
}

bool sn_check_convolution_axis(const struct sn_convolution_check * c, const struct sn_convolution_axis * a)
{
    CHECK(a->kernel > 0, "kernel%s is 0, expected at least 1", a->name);
    CHECK(a->dilation > 0, "dilation%s is 0, expected at least 1", a->name);
    CHECK(a->stride > 0, "stride%s is 0, expected at least 1", a->name);
    CHECK(a->src <= SN_MOST_EXTENT, "src%s is %zu, too large", a->extent, a->src);
    CHECK(a->before <= SN_MOST_EXTENT, "pad%s is %zu, too large", a->name, a->before);
    CHECK(a->after <= SN_MOST_EXTENT, "pad%s is %zu, too large", a->extent, a->after);
    return true;
}

static bool check_size(const struct sn_convolution_check * c, struct sn_convolution_axis a)
{
    if (!sn_check_convolution_axis(c, &a))
        return false;
    size_t reach;
    const size_t padded = a.src + a.before + a.after;
    CHECK(sn_product(&reach, a.kernel - 1, a.dilation) && reach < padded,
          "kernel%s is %zu with dilation%s %zu, larger than the padded image of %zu", a.name, a.kernel, a.name, a.dilation,
          padded);
    const size_t expected = (padded - reach - 1) / a.stride + 1;
    CHECK(a.dst == expected, "dst%s is %zu, expected %zu", a.extent, a.dst, expected);
    return true;
}

bool sn_check_convolution_size(const struct sn_convolution_check * c)
{
    return check_size(c, sn_axis_y(c->p)) && check_size(c, sn_axis_x(c->p));
}

bool sn_convert_parameters(const char * function, size_t batch, const SimdConvolutionParameters * conv, size_t count,
                           struct sn_convolution_parameters * p)
{
    SN_CHECK_FOR(function, batch > 0, false, "batch is 0, expected at least 1");
    SN_CHECK_FOR(function, conv, false, "conv is NULL, expected parameters");
    for (; count; --count, ++conv)
        *p++ = (struct sn_convolution_parameters){conv->srcC, conv->srcH, conv->srcW, (enum sn_data)conv->srcT,
            (enum sn_format)conv->srcF, conv->dstC, conv->dstH, conv->dstW, (enum sn_data)conv->dstT,
            (enum sn_format)conv->dstF, conv->kernelY, conv->kernelX, conv->dilationY, conv->dilationX, conv->strideY,
            conv->strideX, conv->padY, conv->padX, conv->padH, conv->padW, conv->group,
            (enum sn_activation)conv->activation};
    return true;
}

bool sn_check_convolution(const char * function, const struct sn_convolution_parameters * p, enum sn_data small,
                          const char * name)
{
    const struct sn_convolution_check c = {function, "", p};
    return (small == SN_DATA_32F ? sn_check_convolution_types(&c) : sn_check_convolution_types_of(&c, small, name)) &&
           sn_check_convolution_size(&c) && sn_check_convolution_channels(&c);
}

bool sn_check_convolution_arrays(const struct sn_convolution_check * c, const void * weight, const sn_32f * params)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(weight || p->dstC == 0, "weight is NULL, expected the weights of %zu output channels", p->dstC);
    CHECK(params || sn_activation_params(p->activation, p->dstC) == 0,
          "params is NULL, expected the parameters of %s", SN_NAME(sn_activations, p->activation));
    return true;
}

/* Appends a parameter that has a value for each axis, "s2" or "s2x1"; nothing if both are 1. */
static void append_axes(char * text, size_t size, char letter, size_t y, size_t x)
{
    if (y != x)
        sn_append(text, size, ",%c%zux%zu", letter, y, x);
    else if (y != 1)
        sn_append(text, size, ",%c%zu", letter, y);
}

static const char * type_name(enum sn_data type)
{
    return type == SN_DATA_8U ? "8u" : type == SN_DATA_16B ? "16b" : "32f";
}

void sn_convolution_shape(struct sn_context * head, size_t batch, const struct sn_convolution_parameters * conv,
                          size_t count)
{
    const size_t size = sizeof(head->shape);
    char * text = head->shape;
    snprintf(text, size, "%zux%zux%zux%zu", batch, conv->srcC, conv->srcH, conv->srcW);
    for (size_t i = 0; i < count; ++i) {
        const struct sn_convolution_parameters * p = &conv[i];
        sn_append(text, size, "->%zux%zux%zu,%zux%zu", p->dstC, p->dstH, p->dstW, p->kernelY, p->kernelX);
        append_axes(text, size, 's', p->strideY, p->strideX);
        append_axes(text, size, 'd', p->dilationY, p->dilationX);
        append_axes(text, size, 'g', p->group, p->group);
    }
    sn_append(text, size, conv->srcF == SN_NCHW ? ",nchw" : ",nhwc");
    if (conv->srcT != SN_DATA_32F || conv->dstT != SN_DATA_32F)
        sn_append(text, size, ",%s->%s", type_name(conv->srcT), type_name(conv->dstT));
}

size_t sn_external_size(size_t workspace, size_t unit)
{
    return workspace ? sn_ceil_div(workspace + SN_ALIGN - 1, unit) : 1;
}

/* The pixels of an array of `bytes` bytes, `step` elements apart; dense ones are a single row. */
static struct sn_rows pixels_of(const char * name, const void * at, size_t bytes, size_t channels, size_t step,
                                size_t element)
{
    if (step == channels || bytes == 0)
        return (struct sn_rows){name, at, 1, bytes, bytes};
    return (struct sn_rows){name, at, bytes / (channels * element), channels * element, step * element};
}

/* The workspace, in the caller's buffer if there is one, which must not overlap the other arrays. */
static bool workspace(const struct sn_forward * f, void * buf, const struct sn_rows others[3], void ** work)
{
    const struct sn_convolution_family * family = f->last->family;
    const struct sn_array own = {"buf", buf, buf ? sn_external_size(f->workSize, family->unit) * family->unit : 0};
    for (int i = 0; i < 3 && buf; ++i)
        if (!sn_apart(f->function, own, sn_whole(&others[i])))
            return false;
    if (f->workSize == 0)
        return true;
    *work = buf ? (void *)sn_align((uintptr_t)buf, SN_ALIGN) : sn_scratch(f->workSize);
    if (!*work)
        sn_error_set(SN_ERROR_MEMORY, f->function, "no memory for a buffer of %zu %s", f->workSize / family->unit,
                     family->units);
    return *work;
}

bool sn_forward_begin(const struct sn_forward * f, struct sn_arrays * a, void * buf)
{
    const struct sn_convolution_parameters * s = &f->first->p, * d = &f->last->p;
    if (!f->last->packed) {
        sn_error_set(SN_ERROR_STATE, f->function, "the context has no weights yet, expected SetParams to be called before");
        return false;
    }
    if (f->last->dstSize == 0)
        return false;
    SN_CHECK_FOR(f->function, a->src, false, "src is NULL, expected an array");
    SN_CHECK_FOR(f->function, a->dst, false, "dst is NULL, expected an array");
    SN_CHECK_FOR(f->function, a->add || !f->adds, false, "add is NULL, expected an array");
    const size_t src = f->batch * f->first->srcSize, dst = f->batch * f->last->dstSize, element = sn_element(d->dstT);
    const struct sn_rows arrays[] = {
        pixels_of("src", a->src, src, s->srcC, a->at->srcPixel, sn_element(s->srcT)),
        pixels_of("add", a->add, a->add ? dst : 0, d->dstC, a->at->addPixel, element),
        pixels_of("dst", a->dst, dst, d->dstC, a->at->dstPixel, element)};
    return sn_rows_apart(f->function, arrays[2], arrays[0]) && sn_rows_apart(f->function, arrays[2], arrays[1]) &&
           workspace(f, buf, arrays, &a->work);
}

bool sn_report_fault(const char * function, const struct sn_fault * fault)
{
    if (fault->memory)
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for the weights");
    SN_CHECK_FOR(function, !fault->name, false, "%s %zu is %g, expected %s", fault->name, fault->channel,
                 (double)fault->value, fault->expected);
    return !fault->memory;
}

/* ---- a single convolution */

void sn_convolution_destroy(void * context) { sn_convolution_free(&((struct sn_convolution_context *)context)->plan); }

struct sn_stages sn_convolution_stages(void * context)
{
    return (struct sn_stages){&((struct sn_convolution_context *)context)->plan, .count = 1, .first = 0, .given = 1};
}

static void describe(struct sn_convolution_context * c)
{
    const struct sn_convolution_family * family = c->plan.family;
    const struct sn_tile_shape tile = family->tile(c->head.table);
    char shape[64] = "";
    if (c->plan.algorithm->tiled)
        snprintf(shape, sizeof(shape), ", tile %zux%zu", tile.rows, tile.columns);
    sn_context_describe(&c->head, "%s%s%s", family->prefix, c->plan.algorithm->name, shape);
}

void * sn_convolution_init(const struct sn_context_kind * kind, const char * function,
                           const struct sn_convolution_family * family, size_t batch,
                           const struct sn_convolution_parameters * p)
{
    struct sn_convolution_context * c = sn_context_new(kind, sizeof(*c), function);
    if (!c)
        return NULL;
    c->plan.p = *p;
    c->plan.batch = batch;
    c->plan.table = c->head.table;
    c->plan.family = family;
    const enum sn_error_kind error = sn_convolution_plan(&c->plan);
    if (error != SN_ERROR_NONE) {
        sn_context_free(c);
        sn_error_set(error, function, error == SN_ERROR_MEMORY ? "no memory for the plan of batch %zu" :
                     "conv of batch %zu describes an array that is too large", batch);
        return NULL;
    }
    describe(c);
    sn_convolution_shape(&c->head, batch, p, 1);
    return c;
}

/* The plan of a context of this kind; NULL, and the last error set, for any other. */
static const struct sn_convolution * plan_of(const struct sn_context_kind * kind, const char * function,
                                             const void * context)
{
    return sn_context_check(context, kind, function) ? sn_convolution_of(context) : NULL;
}

size_t sn_convolution_external(const struct sn_context_kind * kind, const char * function, const void * context)
{
    const struct sn_convolution * plan = plan_of(kind, function, context);
    return plan ? sn_external_size(plan->workSize, plan->family->unit) : 0;
}

size_t sn_convolution_internal(const struct sn_context_kind * kind, const char * function, const void * context)
{
    const struct sn_convolution * plan = plan_of(kind, function, context);
    return plan ? sn_convolution_memory(plan) / plan->family->unit : 0;
}

bool sn_convolution_set_params(const struct sn_context_kind * kind, const char * function, void * context,
                               const struct sn_set_params * given)
{
    if (!sn_context_check(context, kind, function))
        return false;
    struct sn_convolution * plan = &((struct sn_convolution_context *)context)->plan;
    const struct sn_convolution_check check = {function, "", &plan->p};
    const void * weight = given->quantized ? (const void *)given->quantized->weight : given->weight;
    if (!sn_check_convolution_arrays(&check, weight, given->params))
        return false;
    const struct sn_fault fault = sn_convolution_set(plan, given, 1);
    return sn_report_fault(function, &fault);
}

/* True if there is something to compute. */
static bool begin(const struct sn_convolution * plan, const char * function, struct sn_arrays * a, void * buf, bool adds)
{
    const struct sn_forward f = {function, plan, plan, plan->batch, plan->workSize, adds};
    return sn_forward_begin(&f, a, buf);
}

void sn_convolution_forward(const struct sn_context_kind * kind, const char * function, const void * context,
                            const void * src, void * buf, void * dst)
{
    const struct sn_convolution * plan = plan_of(kind, function, context);
    if (!plan)
        return;
    struct sn_arrays a = sn_dense_arrays(plan, src, NULL, dst);
    if (begin(plan, function, &a, buf, false))
        sn_convolution_forward_plain(plan, &a);
}

void sn_convolution_forward_add(const struct sn_context_kind * kind, const char * function, const void * context,
                                const void * src, void * buf, const void * add, void * dst)
{
    const struct sn_convolution * plan = plan_of(kind, function, context);
    if (!plan)
        return;
    struct sn_arrays a = sn_dense_arrays(plan, src, add, dst);
    if (begin(plan, function, &a, buf, true))
        sn_convolution_forward_32f(plan, &a);
}
