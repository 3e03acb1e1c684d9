#include "api/call.h"
#include "api/merged.h"

static const struct sn_context_kind kind = SN_MERGED_KIND("MergedConvolution16b", NULL);

void * SimdSynetMergedConvolution16bInit(size_t batch, const SimdConvolutionParameters * conv, size_t count, SimdBool add)
{
    SN_BEGIN();
    struct sn_convolution_parameters p[3];
    const bool adds = add != SimdFalse;
    if (!sn_take_merged(__func__, batch, conv, count, &sn_merged_16b, (struct sn_merged_rules){adds, false}, p))
        return NULL;
    return sn_merged_init(&kind, __func__, &sn_merged_16b, batch, p, count, adds ? SN_ADDS_SOURCE : SN_ADDS_NOTHING);
}

size_t SimdSynetMergedConvolution16bExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_merged_external(&kind, __func__, context);
}

size_t SimdSynetMergedConvolution16bInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_merged_internal(&kind, __func__, context);
}

void SimdSynetMergedConvolution16bSetParams(void * context, const sn_32f * const * weight, const sn_32f * const * bias,
                                            const sn_32f * const * params)
{
    SN_CALL_OF(context);
    sn_merged_set_params(&kind, __func__, context, &(struct sn_merged_arrays){weight, bias, params, NULL});
}

void SimdSynetMergedConvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst)
{
    SN_CALL_OF(context);
    sn_merged_forward(&kind, __func__, context, src, buf, dst);
}
