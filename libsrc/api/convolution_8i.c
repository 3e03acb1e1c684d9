#include "api/call.h"
#include "api/context.h"
#include "api/convolution.h"
#include "ops/convolution_8i.h"

#include <stdio.h>

struct context {
    struct sn_context head;
    struct sn_convolution_8i plan;
};

static void destroy(void * context)
{
    struct context * c = context;
    sn_free(c->plan.held);
}

static const struct sn_context_kind kind = {"Convolution8i", destroy};

/* Bytes that aligning a caller's buffer may cost. */
enum { SLACK = SN_ALIGN - 1 };

static bool check_parameters(const char * function, size_t batch, const SimdConvolutionParameters * p)
{
    const struct sn_convolution_check c = {function, "", p};
    SN_CHECK_FOR(function, batch > 0, false, "batch is 0, expected at least 1");
    SN_CHECK_FOR(function, p, false, "conv is NULL, expected parameters");
    return sn_check_convolution_types_8i(&c) && sn_check_convolution_size(&c) && sn_check_convolution_channels(&c);
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
    const struct sn_gemm_8i_tile * tile = &c->head.table->gemm_8i;
    char shape[64] = "";
    if (c->plan.way->tiled)
        snprintf(shape, sizeof(shape), ", tile %zux%zu", tile->rows, tile->columns);
    snprintf(c->head.info, sizeof(c->head.info), "%s%s, %s", c->plan.way->name, shape, c->head.table->isa);
}

void * SimdSynetConvolution8iInit(size_t batch, const SimdConvolutionParameters * conv)
{
    SN_ENTER();
    if (!check_parameters(__func__, batch, conv))
        return NULL;
    struct context * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->plan.p = simplified(*conv);
    c->plan.batch = batch;
    c->plan.table = c->head.table;
    if (!sn_convolution_8i_plan(&c->plan)) {
        sn_context_free(c);
        SN_CHECK(false, NULL, "conv of batch %zu describes an array that is too large", batch);
    }
    describe(c);
    sn_convolution_shape(&c->head, batch, conv, 1);
    return c;
}

size_t SimdSynetConvolution8iExternalBufferSize(const void * context)
{
    SN_ENTER();
    if (!sn_context_check(context, &kind, __func__))
        return 0;
    const size_t size = ((const struct context *)context)->plan.workBytes;
    return size ? size + SLACK : 1;
}

size_t SimdSynetConvolution8iInternalBufferSize(const void * context)
{
    SN_ENTER();
    return sn_context_check(context, &kind, __func__) ? ((const struct context *)context)->plan.heldBytes : 0;
}

static bool check_stats(const char * function, const SimdConvolutionParameters * p, const float * const * stats)
{
    SN_CHECK_FOR(function, stats, false, "stats is NULL, expected four arrays");
    for (size_t i = 0; i < 4; ++i) {
        const size_t channels = i < 2 ? p->srcC : p->dstC;
        SN_CHECK_FOR(function, stats[i] || channels == 0, false, "stats[%zu] is NULL, expected %zu floats", i, channels);
    }
    return true;
}

void SimdSynetConvolution8iSetParams(void * context, const float * weight, const float * bias, const float * params,
                                     const float * const * stats)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    struct sn_convolution_8i * plan = &((struct context *)context)->plan;
    const struct sn_convolution_check check = {__func__, "", &plan->p};
    if (!sn_check_convolution_arrays(&check, weight, params) || !check_stats(__func__, &plan->p, stats))
        return;
    const struct sn_fault_8i fault = sn_convolution_8i_set(plan, weight, bias, params, stats);
    if (fault.memory)
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the weights");
    else
        SN_CHECK(!fault.name, SN_VOID, "%s %zu is %g, expected %s", fault.name, fault.channel, (double)fault.value,
                 fault.expected);
}

void SimdSynetConvolution8iForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution_8i * plan = &((struct context *)context)->plan;
    if (!plan->held) {
        sn_error_set(SN_ERROR_STATE, __func__, "SetParams has not been called, Forward needs weights");
        return;
    }
    if (plan->dstBytes == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    uint8_t * work = NULL;
    if (plan->workBytes) {
        work = buf ? (uint8_t *)sn_align((uintptr_t)buf, SN_ALIGN) : sn_scratch(plan->workBytes);
        if (!work) {
            sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for a buffer of %zu bytes", plan->workBytes);
            return;
        }
    }
    sn_convolution_8i_forward(plan, src, work, dst);
}
