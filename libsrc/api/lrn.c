#include "ops/lrn.h"

#include "api/arrays.h"
#include "api/call.h"
#include "api/overlap.h"

void SimdSynetLrnLayerCrossChannels(const sn_32f * src, size_t half, size_t channels, size_t spatial, const sn_32f * k,
                                    sn_32f * dst, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, half, channels, spatial, format);
    size_t elements;
    if (!sn_check_format(__func__, "format", format))
        return;
    SN_CHECK(sn_product(&elements, channels, spatial), SN_VOID, "channels is %zu and spatial is %zu, too large for an array",
             channels, spatial);
    if (elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(k, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!sn_apart(__func__, SN_ARRAY(dst, elements), SN_ARRAY(src, elements)) ||
        !sn_apart(__func__, SN_ARRAY(dst, elements), SN_ARRAY(k, 3)))
        return;
    const struct sn_lrn p = {src, half < channels ? half : channels - 1, channels, spatial, k, dst, (enum sn_format)format};
    if (!sn_lrn_32f(&p))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the squares of %zu channels", channels);
}
