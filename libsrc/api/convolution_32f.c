#include "api/context.h"
#include "api/convolution.h"
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

static bool check_parameters(const char * function, size_t batch, const SimdConvolutionParameters * p)
{
    const struct sn_convolution_check c = {function, "", p};
    SN_CHECK_FOR(function, batch > 0, false, "batch is 0, expected at least 1");
    SN_CHECK_FOR(function, p, false, "conv is NULL, expected parameters");
    return sn_check_convolution_types(&c) && sn_check_convolution_size(&c) && sn_check_convolution_channels(&c);
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
    return sn_external_size(((const struct context *)context)->plan.workSize);
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
    const struct sn_convolution_check check = {__func__, "", &plan->p};
    if (!sn_check_convolution_arrays(&check, weight, params))
        return;
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
    float * work;
    if (sn_workspace(__func__, buf, plan->workSize, &work))
        sn_convolution_32f_forward(plan, src, work, dst);
}
