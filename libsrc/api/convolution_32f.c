#include "api/check.h"
#include "api/context.h"
#include "ops/convolution_32f.h"

#include <stdio.h>

struct context {
    struct sn_context head;
    struct sn_convolution_32f plan;
};

static void destroy(void * context)
{
    struct context * c = context;
    sn_free(c->plan.held);
}

static const struct sn_context_kind kind = {"Convolution32f", destroy};

/* Floats that aligning a caller's buffer may cost. */
enum { SLACK = SN_ALIGN / sizeof(float) - 1 };

/*
 * The size rule of one axis: output = (src + pads - ((kernel - 1) * dilation + 1)) / stride + 1. No term may exceed what an
 * array can have, so the sums here do not wrap.
 */
static bool check_axis(const char * function, const char * axis, size_t src, size_t kernel, size_t dilation, size_t stride,
                       size_t pad_before, size_t pad_after, size_t dst)
{
    const size_t limit = PTRDIFF_MAX / 8;
    SN_CHECK_FOR(function, kernel > 0, false, "kernel%s is 0, expected at least 1", axis);
    SN_CHECK_FOR(function, dilation > 0, false, "dilation%s is 0, expected at least 1", axis);
    SN_CHECK_FOR(function, stride > 0, false, "stride%s is 0, expected at least 1", axis);
    const char * extent = *axis == 'Y' ? "H" : "W";
    SN_CHECK_FOR(function, src <= limit, false, "src%s is %zu, too large", extent, src);
    SN_CHECK_FOR(function, pad_before <= limit, false, "pad%s is %zu, too large", axis, pad_before);
    SN_CHECK_FOR(function, pad_after <= limit, false, "pad%s is %zu, too large", extent, pad_after);
    size_t reach;
    const size_t padded = src + pad_before + pad_after;
    SN_CHECK_FOR(function, sn_product(&reach, kernel - 1, dilation) && reach < padded, false,
                 "kernel%s is %zu with dilation%s %zu, larger than the padded image of %zu", axis, kernel, axis, dilation,
                 padded);
    const size_t expected = (padded - reach - 1) / stride + 1;
    SN_CHECK_FOR(function, dst == expected, false, "dst%s is %zu, expected %zu", extent, dst, expected);
    return true;
}

static bool check_types(const char * function, const SimdConvolutionParameters * p)
{
    SN_CHECK_FOR(function, p->srcT == SimdTensorData32f, false, "srcT is %d, expected SimdTensorData32f", (int)p->srcT);
    SN_CHECK_FOR(function, p->dstT == SimdTensorData32f, false, "dstT is %d, expected SimdTensorData32f", (int)p->dstT);
    SN_CHECK_FOR(function, p->srcF == SimdTensorFormatNchw || p->srcF == SimdTensorFormatNhwc, false,
                 "srcF is %d, expected SimdTensorFormatNchw or SimdTensorFormatNhwc", (int)p->srcF);
    SN_CHECK_FOR(function, p->dstF == p->srcF, false, "dstF is %d, expected %d as srcF", (int)p->dstF, (int)p->srcF);
    return true;
}

static bool check_parameters(const char * function, size_t batch, const SimdConvolutionParameters * p)
{
    SN_CHECK_FOR(function, batch > 0, false, "batch is 0, expected at least 1");
    SN_CHECK_FOR(function, p, false, "conv is NULL, expected parameters");
    if (!check_types(function, p))
        return false;
    if (!check_axis(function, "Y", p->srcH, p->kernelY, p->dilationY, p->strideY, p->padY, p->padH, p->dstH) ||
        !check_axis(function, "X", p->srcW, p->kernelX, p->dilationX, p->strideX, p->padX, p->padW, p->dstW))
        return false;
    SN_CHECK_FOR(function, p->group > 0, false, "group is 0, expected at least 1");
    SN_CHECK_FOR(function, p->srcC % p->group == 0, false, "srcC is %zu, expected a multiple of group, which is %zu",
                 p->srcC, p->group);
    SN_CHECK_FOR(function, p->dstC % p->group == 0, false, "dstC is %zu, expected a multiple of group, which is %zu",
                 p->dstC, p->group);
    SN_CHECK_FOR(function, (unsigned)p->activation <= SimdConvolutionActivationHswish, false,
                 "activation is %d, expected 0 .. 6 (SimdConvolutionActivationType)", (int)p->activation);
    return true;
}

/* Takes out what has no effect: the stride to a single output and the dilation of a single tap, whatever they are. */
static SimdConvolutionParameters simplified(SimdConvolutionParameters p)
{
    p.strideY = p.dstH == 1 ? 1 : p.strideY;
    p.strideX = p.dstW == 1 ? 1 : p.strideX;
    p.dilationY = p.kernelY == 1 ? 1 : p.dilationY;
    p.dilationX = p.kernelX == 1 ? 1 : p.dilationX;
    return p;
}

static void describe(struct context * c)
{
    const struct sn_gemm_32f_tile * tile = &c->head.table->gemm_32f;
    char shape[64] = "";
    if (c->plan.way->tiled)
        snprintf(shape, sizeof(shape), ", tile %zux%zu", tile->rows, tile->columns);
    snprintf(c->head.info, sizeof(c->head.info), "%s%s, %s", c->plan.way->name, shape, c->head.table->isa);
}

void * SimdSynetConvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm)
{
    SN_ENTER();
    (void)gemm;
    if (!check_parameters(__func__, batch, conv))
        return NULL;
    struct context * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->plan.p = simplified(*conv);
    c->plan.batch = batch;
    c->plan.table = c->head.table;
    if (!sn_convolution_32f_plan(&c->plan)) {
        sn_context_free(c);
        SN_CHECK(false, NULL, "conv of batch %zu describes an array that is too large", batch);
    }
    describe(c);
    return c;
}

size_t SimdSynetConvolution32fExternalBufferSize(const void * context)
{
    SN_ENTER();
    if (!sn_context_check(context, &kind, __func__))
        return 0;
    const size_t size = ((const struct context *)context)->plan.workSize;
    return size ? size + SLACK : 1;
}

size_t SimdSynetConvolution32fInternalBufferSize(const void * context)
{
    SN_ENTER();
    return sn_context_check(context, &kind, __func__) ? ((const struct context *)context)->plan.heldSize : 0;
}

void SimdSynetConvolution32fSetParams(void * context, const float * weight, SimdBool * internal, const float * bias,
                                      const float * params)
{
    SN_ENTER();
    if (!sn_context_check(context, &kind, __func__))
        return;
    struct sn_convolution_32f * plan = &((struct context *)context)->plan;
    if (plan->p.dstC != 0)
        SN_CHECK_POINTER(weight, SN_VOID);
    if (sn_activation_params(plan->p.activation, plan->p.dstC) != 0)
        SN_CHECK(params, SN_VOID, "params is NULL, expected the parameters of activation %d", (int)plan->p.activation);
    if (!sn_convolution_32f_set(plan, weight, bias, params)) {
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the weights");
        return;
    }
    if (internal)
        *internal = SimdTrue;
}

void SimdSynetConvolution32fForward(void * context, const float * src, float * buf, float * dst)
{
    SN_ENTER();
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution_32f * plan = &((struct context *)context)->plan;
    if (!plan->held) {
        sn_error_set(SN_ERROR_STATE, __func__, "SetParams has not been called, Forward needs weights");
        return;
    }
    if (plan->dstSize == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    float * work = NULL;
    if (plan->workSize) {
        work = buf ? (float *)sn_align((uintptr_t)buf, SN_ALIGN) : sn_scratch(plan->workSize * sizeof(float));
        if (!work) {
            sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for a buffer of %zu floats", plan->workSize);
            return;
        }
    }
    sn_convolution_32f_forward(plan, src, work, dst);
}
