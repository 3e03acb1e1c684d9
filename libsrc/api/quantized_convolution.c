#include "api/call.h"
#include "api/convolution.h"
#include "api/enums.h"
#include "api/forward.h"
#include "ops/convolution/8i.h"

static const struct sn_context_kind kind = {.name = "QuantizedConvolution", .destroy = sn_convolution_destroy,
    .forward = sn_convolution_forward_bytes, .stages = sn_convolution_stages};

void * SimdSynetQuantizedConvolutionInit(size_t batch, const SimdConvolutionParameters * conv)
{
    SN_BEGIN();
    struct sn_convolution_parameters p;
    if (!sn_convert_parameters(__func__, batch, conv, 1, &p))
        return NULL;
    SN_CHECK(p.srcT == SN_DATA_8U, NULL, "srcT is %s, expected SimdTensorData8u", SN_NAME(sn_data_types, p.srcT));
    SN_CHECK(p.dstT == SN_DATA_8U, NULL, "dstT is %s, expected SimdTensorData8u", SN_NAME(sn_data_types, p.dstT));
    if (!sn_check_convolution(__func__, &p, SN_DATA_8U, "SimdTensorData8u"))
        return NULL;
    return sn_convolution_init(&kind, __func__, &sn_convolution_quantized, batch, &p);
}

size_t SimdSynetQuantizedConvolutionExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

size_t SimdSynetQuantizedConvolutionInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

void SimdSynetQuantizedConvolutionSetParams(void * context, const sn_32f * ioScale, const uint8_t * ioZero,
                                            const int8_t * weight, const sn_32f * weightScale, const sn_32i * bias,
                                            const sn_32f * params)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution_parameters * p = &sn_convolution_of(context)->p;
    const bool used = p->dstC != 0;
    SN_CHECK(ioScale, SN_VOID, "ioScale is NULL, expected three floats");
    SN_CHECK(ioZero, SN_VOID, "ioZero is NULL, expected three bytes");
    SN_CHECK(weightScale || !used, SN_VOID, "weightScale is NULL, expected %zu floats", p->dstC);
    const struct sn_set_quantized quantized = {{ioScale[0], ioScale[1], ioScale[2]}, {ioZero[0], ioZero[1], ioZero[2]},
        weight, weightScale, bias, NULL, NULL};
    sn_convolution_set_params(&kind, __func__, context, &(struct sn_set_params){.params = params, .quantized = &quantized});
}

void SimdSynetQuantizedConvolutionForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    sn_convolution_forward(&kind, __func__, context, src, buf, dst);
}
