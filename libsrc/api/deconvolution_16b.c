#include "api/call.h"
#include "api/convolution.h"
#include "api/forward.h"
#include "ops/convolution/deconvolution.h"

static const struct sn_context_kind kind = {.name = "Deconvolution16b", .destroy = sn_convolution_destroy,
    .forward = sn_convolution_forward_floats, .stages = sn_convolution_stages};

void * SimdSynetDeconvolution16bInit(size_t batch, const SimdConvolutionParameters * conv,
                                     SimdSynetCompatibilityType compatibility)
{
    SN_BEGIN();
    (void)compatibility;
    struct sn_convolution_parameters p;
    if (!sn_convert_parameters(__func__, batch, conv, 1, &p) ||
        !sn_check_deconvolution(__func__, &p, SN_DATA_16B, "SimdTensorData16b"))
        return NULL;
    return sn_convolution_init(&kind, __func__, &sn_deconvolution_16b, batch, &p);
}

size_t SimdSynetDeconvolution16bExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

size_t SimdSynetDeconvolution16bInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

void SimdSynetDeconvolution16bSetParams(void * context, const sn_32f * weight, const sn_32f * bias, const sn_32f * params)
{
    SN_CALL_OF(context);
    sn_convolution_set_params(&kind, __func__, context, &(struct sn_set_params){weight, bias, params, NULL, NULL});
}

void SimdSynetDeconvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    sn_convolution_forward(&kind, __func__, context, src, buf, dst);
}
