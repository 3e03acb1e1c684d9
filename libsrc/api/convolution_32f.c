#include "api/call.h"
#include "api/convolution.h"

static const struct sn_context_kind kind = {"Convolution32f", sn_convolution_destroy};

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

void * SimdSynetConvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm)
{
    SN_ENTER();
    (void)gemm;
    if (!check_parameters(__func__, batch, conv))
        return NULL;
    const SimdConvolutionParameters p = simplified(*conv);
    return sn_convolution_init(&kind, __func__, batch, &p, sn_convolution_32f_plan);
}

size_t SimdSynetConvolution32fExternalBufferSize(const void * context)
{
    SN_ENTER();
    return sn_convolution_external(&kind, __func__, context);
}

size_t SimdSynetConvolution32fInternalBufferSize(const void * context)
{
    SN_ENTER();
    return sn_convolution_internal(&kind, __func__, context);
}

void SimdSynetConvolution32fSetParams(void * context, const float * weight, SimdBool * internal, const float * bias,
                                      const float * params)
{
    SN_CALL_OF(context);
    sn_convolution_set(&kind, __func__, context, weight, internal, bias, params);
}

void SimdSynetConvolution32fForward(void * context, const float * src, float * buf, float * dst)
{
    SN_CALL_OF(context);
    sn_convolution_forward(&kind, __func__, context, src, buf, dst);
}
