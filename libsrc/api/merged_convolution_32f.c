#include "api/call.h"
#include "api/merged.h"
#include "ops/convolution/rounded.h"

static const struct sn_context_kind kind = SN_MERGED_KIND("MergedConvolution32f", NULL);

void * SimdSynetMergedConvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, size_t count, SimdBool add)
{
    SN_BEGIN();
    struct sn_convolution_parameters p[3];
    const bool adds = add != SimdFalse;
    if (!sn_take_merged(__func__, batch, conv, count, &sn_merged_32f, (struct sn_merged_rules){adds, count == 3}, p))
        return NULL;
    return sn_merged_init(&kind, __func__, sn_merged_32f_kind(sn_table(), p, count), batch, p, count,
                          adds ? SN_ADDS_SOURCE : SN_ADDS_NOTHING);
}

size_t SimdSynetMergedConvolution32fExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_merged_external(&kind, __func__, context);
}

size_t SimdSynetMergedConvolution32fInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_merged_internal(&kind, __func__, context);
}

void SimdSynetMergedConvolution32fSetParams(void * context, const sn_32f * const * weight, SimdBool * internal,
                                            const sn_32f * const * bias, const sn_32f * const * params)
{
    SN_CALL_OF(context);
    const struct sn_merged_arrays given = {weight, bias, params, NULL};
    if (sn_merged_set_params(&kind, __func__, context, &given))
        for (size_t i = 0; internal && i < ((const struct sn_merged_context *)context)->plan.count; ++i)
            internal[i] = SimdTrue;
}

void SimdSynetMergedConvolution32fForward(void * context, const sn_32f * src, sn_32f * buf, sn_32f * dst)
{
    SN_CALL_OF(context);
    sn_merged_forward(&kind, __func__, context, src, buf, dst);
}
