#include "api/convolution.h"

#include <stdio.h>

#include "runtime/keep.h"
#include "runtime/text.h"

#define CHECK(condition, text, ...) SN_CHECK_FOR(c->function, condition, false, "%s" text, c->of, __VA_ARGS__)

/* Floats that aligning a caller's buffer may cost, 63 bytes of them. */
enum { SLACK = SN_ALIGN / sizeof(float) };

static bool check_formats(const struct sn_convolution_check * c)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcF == SN_NCHW || p->srcF == SN_NHWC,
          "srcF is %d, expected SimdTensorFormatNchw or SimdTensorFormatNhwc", (int)p->srcF);
    CHECK(p->dstF == p->srcF, "dstF is %d, expected %d as srcF", (int)p->dstF, (int)p->srcF);
    return true;
}

bool sn_check_convolution_types(const struct sn_convolution_check * c)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcT == SN_DATA_32F, "srcT is %d, expected SimdTensorData32f", (int)p->srcT);
    CHECK(p->dstT == SN_DATA_32F, "dstT is %d, expected SimdTensorData32f", (int)p->dstT);
    return check_formats(c);
}

bool sn_check_convolution_types_of(const struct sn_convolution_check * c, enum sn_data small, const char * name)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcT == SN_DATA_32F || p->srcT == small, "srcT is %d, expected SimdTensorData32f or %s", (int)p->srcT,
          name);
    CHECK(p->dstT == SN_DATA_32F || p->dstT == small, "dstT is %d, expected SimdTensorData32f or %s", (int)p->dstT,
          name);
    return check_formats(c);
}

bool sn_check_convolution_channels(const struct sn_convolution_check * c)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->group > 0, "group is %zu, expected at least 1", p->group);
    CHECK(p->srcC % p->group == 0, "srcC is %zu, expected a multiple of group, which is %zu", p->srcC, p->group);
    CHECK(p->dstC % p->group == 0, "dstC is %zu, expected a multiple of group, which is %zu", p->dstC, p->group);
    CHECK((unsigned)p->activation <= SN_ACTIVATION_HSWISH,
          "activation is %d, expected 0 .. 6 (SimdConvolutionActivationType)", (int)p->activation);
    return true;
}

bool sn_check_convolution_axis(const struct sn_convolution_check * c, const struct sn_convolution_axis * a)
{
    const size_t limit = PTRDIFF_MAX / 8;
    CHECK(a->kernel > 0, "kernel%s is 0, expected at least 1", a->name);
    CHECK(a->dilation > 0, "dilation%s is 0, expected at least 1", a->name);
    CHECK(a->stride > 0, "stride%s is 0, expected at least 1", a->name);
    CHECK(a->src <= limit, "src%s is %zu, too large", a->extent, a->src);
    CHECK(a->before <= limit, "pad%s is %zu, too large", a->name, a->before);
    CHECK(a->after <= limit, "pad%s is %zu, too large", a->extent, a->after);
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

bool sn_take_convolution(const char * function, size_t batch, const SimdConvolutionParameters * conv, size_t count,
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

struct sn_convolution_parameters sn_convolution_simplified(struct sn_convolution_parameters p)
{
    p.strideY = p.dstH == 1 ? 1 : p.strideY;
    p.strideX = p.dstW == 1 ? 1 : p.strideX;
    p.dilationY = p.kernelY == 1 ? 1 : p.dilationY;
    p.dilationX = p.kernelX == 1 ? 1 : p.dilationX;
    return p;
}

bool sn_check_convolution_arrays(const struct sn_convolution_check * c, const sn_32f * weight, const sn_32f * params)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(weight || p->dstC == 0, "weight is NULL, expected the weights of %zu output channels", p->dstC);
    CHECK(params || sn_activation_params(p->activation, p->dstC) == 0,
          "params is NULL, expected the parameters of activation %d", (int)p->activation);
    return true;
}

/* Appends what has a value for each axis, "s2" or "s2x1"; nothing where it is the usual 1. */
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

size_t sn_external_size(size_t workspace) { return workspace ? workspace + SLACK : 1; }

/* `buf` aligned, or scratch memory; NULL, and the last error set, without memory. */
static void * place(const char * function, void * buf, size_t bytes, size_t unit, const char * units)
{
    void * work = buf ? (void *)sn_align((uintptr_t)buf, SN_ALIGN) : sn_scratch(bytes);
    if (!work)
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for a buffer of %zu %s", bytes / unit, units);
    return work;
}

bool sn_workspace(const char * function, sn_32f * buf, size_t workspace, sn_32f ** work)
{
    *work = workspace ? place(function, buf, workspace * sizeof(float), sizeof(float), "floats") : NULL;
    return workspace == 0 || *work;
}

/* False when Forward has nothing to do, or cannot: then the last error is set. */
static bool check_forward(const char * function, const void * held, size_t results, const void * src, const void * dst)
{
    if (!held) {
        sn_error_set(SN_ERROR_STATE, function, "SetParams has not been called, Forward needs weights");
        return false;
    }
    if (results == 0)
        return false;
    SN_CHECK_FOR(function, src, false, "src is NULL, expected an array");
    SN_CHECK_FOR(function, dst, false, "dst is NULL, expected an array");
    return true;
}

/* ---- a convolution or a deconvolution */

struct context {
    struct sn_context head;
    struct sn_convolution_32f plan;
};

void sn_convolution_destroy(void * context) { sn_convolution_32f_free(&((struct context *)context)->plan); }

static void describe(struct context * c)
{
    const struct sn_gemm_32f_tile * tile = &c->head.table->gemm.tile_32f;
    char shape[64] = "";
    if (c->plan.way->tiled)
        snprintf(shape, sizeof(shape), ", tile %zux%zu", tile->rows, tile->columns);
    snprintf(c->head.info, sizeof(c->head.info), "%s%s%s, %s", c->plan.turn ? "as a convolution, " : "",
             c->plan.way->name, shape, c->head.table->isa);
}

void * sn_convolution_init(const struct sn_context_kind * kind, const char * function, size_t batch,
                           const struct sn_convolution_parameters * p,
                           enum sn_error_kind (*plan)(struct sn_convolution_32f * c))
{
    struct context * c = sn_context_new(kind, sizeof(*c), function);
    if (!c)
        return NULL;
    c->plan.p = *p;
    c->plan.batch = batch;
    c->plan.table = c->head.table;
    const enum sn_error_kind error = plan(&c->plan);
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

size_t sn_convolution_external(const struct sn_context_kind * kind, const char * function, const void * context)
{
    if (!sn_context_check(context, kind, function))
        return 0;
    return sn_external_size(((const struct context *)context)->plan.workSize);
}

size_t sn_convolution_internal(const struct sn_context_kind * kind, const char * function, const void * context)
{
    return sn_context_check(context, kind, function) ? sn_convolution_32f_held(&((const struct context *)context)->plan) : 0;
}

void sn_convolution_set(const struct sn_context_kind * kind, const char * function, void * context, const sn_32f * weight,
                        SimdBool * internal, const sn_32f * bias, const sn_32f * params)
{
    if (!sn_context_check(context, kind, function))
        return;
    struct sn_convolution_32f * plan = &((struct context *)context)->plan;
    const struct sn_convolution_check check = {function, "", &plan->p};
    if (!sn_check_convolution_arrays(&check, weight, params))
        return;
    if (!sn_convolution_32f_set(plan, weight, bias, params)) {
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for the weights");
        return;
    }
    if (internal)
        *internal = SimdTrue;
}

void sn_convolution_forward(const struct sn_context_kind * kind, const char * function, void * context, const sn_32f * src,
                            sn_32f * buf, sn_32f * dst)
{
    if (!sn_context_check(context, kind, function))
        return;
    const struct sn_convolution_32f * plan = &((struct context *)context)->plan;
    sn_32f * work;
    if (check_forward(function, plan->held, plan->dstSize, src, dst) && sn_workspace(function, buf, plan->workSize, &work))
        sn_convolution_32f_forward(plan, src, work, dst);
}

void sn_convolution_forward_add(const struct sn_context_kind * kind, const char * function, void * context,
                                const sn_32f * src, sn_32f * buf, const sn_32f * add, sn_32f * dst)
{
    if (!sn_context_check(context, kind, function))
        return;
    const struct sn_convolution_32f * plan = &((struct context *)context)->plan;
    sn_32f * work;
    if (!check_forward(function, plan->held, plan->dstSize, src, dst))
        return;
    if (!add)
        sn_error_set(SN_ERROR_VALUE, function, "add is NULL, expected an array");
    else if (sn_workspace(function, buf, plan->workSize, &work))
        sn_convolution_32f_forward_add(plan, src, work, add, dst);
}

/* ---- convolutions of small numbers */

void sn_dot_destroy(void * context) { sn_drop(((struct sn_dot_context *)context)->plan.held); }

static void describe_dot(struct sn_dot_context * c)
{
    const struct sn_dot_tile * tile = c->plan.tile;
    char shape[64] = "";
    if (c->plan.way->tiled)
        snprintf(shape, sizeof(shape), ", tile %zux%zu", tile->rows, tile->columns);
    snprintf(c->head.info, sizeof(c->head.info), "%s%s, %s", c->plan.way->name, shape, c->head.table->isa);
}

void * sn_dot_init(const struct sn_context_kind * kind, size_t size, const char * function, size_t batch,
                   const struct sn_convolution_parameters * p, bool (*plan)(struct sn_convolution_dot * c))
{
    struct sn_dot_context * c = sn_context_new(kind, size, function);
    if (!c)
        return NULL;
    c->plan.p = sn_convolution_simplified(*p);
    c->plan.batch = batch;
    c->plan.table = c->head.table;
    if (!plan(&c->plan)) {
        sn_context_free(c);
        SN_CHECK_FOR(function, false, NULL, "conv of batch %zu describes an array that is too large", batch);
    }
    describe_dot(c);
    sn_convolution_shape(&c->head, batch, p, 1);
    return c;
}

size_t sn_dot_external(const struct sn_context_kind * kind, const char * function, const void * context)
{
    if (!sn_context_check(context, kind, function))
        return 0;
    const size_t size = ((const struct sn_dot_context *)context)->plan.workBytes;
    return size ? size + SN_ALIGN - 1 : 1; /* aligning a caller's buffer may cost so many */
}

size_t sn_dot_internal(const struct sn_context_kind * kind, const char * function, const void * context)
{
    return sn_context_check(context, kind, function) ? ((const struct sn_dot_context *)context)->plan.heldBytes : 0;
}

void sn_dot_forward(const struct sn_context_kind * kind, const char * function, const void * context, const uint8_t * src,
                    uint8_t * buf, uint8_t * dst)
{
    if (!sn_context_check(context, kind, function))
        return;
    const struct sn_convolution_dot * plan = &((const struct sn_dot_context *)context)->plan;
    if (!check_forward(function, plan->held, plan->dstBytes, src, dst))
        return;
    uint8_t * work = plan->workBytes ? place(function, buf, plan->workBytes, 1, "bytes") : NULL;
    if (work || plan->workBytes == 0)
        plan->way->forward(plan, src, work, dst);
}
