#include "api/call.h"
#include "api/convolution.h"
#include "api/forward.h"
#include "ops/convolution/8i.h"

static const struct sn_context_kind kind = {.name = "Convolution8i", .destroy = sn_convolution_destroy,
    .forward = sn_convolution_forward_bytes, .stages = sn_convolution_stages};

void * SimdSynetConvolution8iInit(size_t batch, const SimdConvolutionParameters * conv)
{
    SN_BEGIN();
    struct sn_convolution_parameters p;
    if (!sn_convert_parameters(__func__, batch, conv, 1, &p) ||
        !sn_check_convolution(__func__, &p, SN_DATA_8U, "SimdTensorData8u"))
        return NULL;
    return sn_convolution_init(&kind, __func__, &sn_convolution_8i, batch, &p);
}

size_t SimdSynetConvolution8iExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

size_t SimdSynetConvolution8iInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

static bool check_stats(const char * function, const struct sn_convolution_parameters * p, const sn_32f * const * stats)
{
    SN_CHECK_FOR(function, stats, false, "stats is NULL, expected four arrays");
    for (size_t i = 0; i < 4; ++i) {
        const size_t channels = i < 2 ? p->srcC : p->dstC;
        SN_CHECK_FOR(function, stats[i] || channels == 0, false, "stats[%zu] is NULL, expected %zu floats", i, channels);
    }
    return true;
}

void SimdSynetConvolution8iSetParams(void * context, const sn_32f * weight, const sn_32f * bias, const sn_32f * params,
                                     const sn_32f * const * stats)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    if (check_stats(__func__, &sn_convolution_of(context)->p, stats))
        sn_convolution_set_params(&kind, __func__, context, &(struct sn_set_params){weight, bias, params, stats, NULL});
}

void SimdSynetConvolution8iForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    sn_convolution_forward(&kind, __func__, context, src, buf, dst);
}
