#include "api/call.h"
#include "api/convolution.h"
#include "ops/convolution_16b.h"

static const struct sn_context_kind kind = {"Convolution16b", sn_dot_destroy};

void * SimdnetConvolution16bInit(size_t batch, const SimdConvolutionParameters * conv)
{
    SN_ENTER();
    struct sn_convolution_parameters p;
    if (!sn_take_convolution(__func__, batch, conv, 1, &p) ||
        !sn_check_convolution(__func__, &p, SN_DATA_16B, "SimdTensorData16b"))
        return NULL;
    return sn_dot_init(&kind, sizeof(struct sn_dot_context), __func__, batch, &p, sn_convolution_16b_plan);
}

size_t SimdnetConvolution16bExternalBufferSize(const void * context)
{
    SN_ENTER();
    return sn_dot_external(&kind, __func__, context);
}

size_t SimdnetConvolution16bInternalBufferSize(const void * context)
{
    SN_ENTER();
    return sn_dot_internal(&kind, __func__, context);
}

void SimdnetConvolution16bSetParams(void * context, const sn_32f * weight, const sn_32f * bias, const sn_32f * params)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    struct sn_convolution_dot * plan = &((struct sn_dot_context *)context)->plan;
    const struct sn_convolution_check check = {__func__, "", &plan->p};
    if (!sn_check_convolution_arrays(&check, weight, params))
        return;
    if (!sn_convolution_16b_set(plan, weight, bias, params))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the weights");
}

void SimdnetConvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    sn_dot_forward(&kind, __func__, context, src, buf, dst);
}
