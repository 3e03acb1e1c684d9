#include "api/call.h"
#include "api/convolution.h"
#include "api/forward.h"
#include "ops/convolution/16b.h"

static const struct sn_context_kind kind = {.name = "Convolution16b", .destroy = sn_convolution_destroy,
    .forward = sn_convolution_forward_floats, .stages = sn_convolution_stages};

static void * init(const char * function, size_t batch, const SimdConvolutionParameters * conv)
{
    struct sn_convolution_parameters p;
    if (!sn_convert_parameters(function, batch, conv, 1, &p) ||
        !sn_check_convolution(function, &p, SN_DATA_16B, "SimdTensorData16b"))
        return NULL;
    return sn_convolution_init(&kind, function, &sn_convolution_16b, batch, &p);
}

void * SimdSynetConvolution16bInit(size_t batch, const SimdConvolutionParameters * conv,
                                   SimdSynetCompatibilityType compatibility)
{
    SN_BEGIN();
    (void)compatibility;
    return init(__func__, batch, conv);
}

size_t SimdSynetConvolution16bExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

size_t SimdSynetConvolution16bInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

void SimdSynetConvolution16bSetParams(void * context, const sn_32f * weight, const sn_32f * bias, const sn_32f * params)
{
    SN_CALL_OF(context);
    sn_convolution_set_params(&kind, __func__, context, &(struct sn_set_params){weight, bias, params, NULL, NULL});
}

void SimdSynetConvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    sn_convolution_forward(&kind, __func__, context, src, buf, dst);
}

/* ---- the former names */

void * SimdnetConvolution16bInit(size_t batch, const SimdConvolutionParameters * conv)
{
    SN_BEGIN();
    return init(__func__, batch, conv);
}

size_t SimdnetConvolution16bExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

size_t SimdnetConvolution16bInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

void SimdnetConvolution16bSetParams(void * context, const sn_32f * weight, const sn_32f * bias, const sn_32f * params)
{
    SN_CALL_OF(context);
    sn_convolution_set_params(&kind, __func__, context, &(struct sn_set_params){weight, bias, params, NULL, NULL});
}

void SimdnetConvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    sn_convolution_forward(&kind, __func__, context, src, buf, dst);
}
