#include "api/call.h"
#include "api/convolution.h"
#include "api/forward.h"
#include "ops/convolution/rounded.h"

static const struct sn_context_kind kind = {.name = "Convolution32f", .destroy = sn_convolution_destroy,
    .forward = sn_convolution_forward_floats, .stages = sn_convolution_stages};

void * SimdSynetConvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm)
{
    SN_BEGIN();
    (void)gemm;
    struct sn_convolution_parameters p;
    if (!sn_convert_parameters(__func__, batch, conv, 1, &p) || !sn_check_convolution(__func__, &p, SN_DATA_32F, NULL))
        return NULL;
    return sn_convolution_init(&kind, __func__, sn_convolution_32f_family(sn_table(), &p), batch, &p);
}

size_t SimdSynetConvolution32fExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

size_t SimdSynetConvolution32fInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

void SimdSynetConvolution32fSetParams(void * context, const sn_32f * weight, SimdBool * internal, const sn_32f * bias,
                                      const sn_32f * params)
{
    SN_CALL_OF(context);
    if (sn_convolution_set_params(&kind, __func__, context, &(struct sn_set_params){weight, bias, params, NULL, NULL}) &&
        internal)
        *internal = SimdTrue;
}

void SimdSynetConvolution32fForward(void * context, const sn_32f * src, sn_32f * buf, sn_32f * dst)
{
    SN_CALL_OF(context);
    sn_convolution_forward(&kind, __func__, context, src, buf, dst);
}

void SimdnetConvolution32fForwardAdd(void * context, const sn_32f * src, sn_32f * buf, const sn_32f * add, sn_32f * dst)
{
    SN_CALL_OF(context);
    sn_convolution_forward_add(&kind, __func__, context, src, buf, add, dst);
}
