#include "ops/elementwise/tiled_scale.h"

#include "api/arrays.h"
#include "api/call.h"
#include "api/overlap.h"

void SimdSynetTiledScale2D32f(const sn_32f * src, size_t channels, size_t height, size_t width, SimdTensorFormatType format,
                              const sn_32f * ver, const sn_32f * hor, sn_32f * dst)
{
    SN_CALL_FORMATS(1, channels, height, width, format);
    size_t elements;
    if (!sn_check_format(__func__, "format", format))
        return;
    SN_CHECK(sn_product(&elements, channels, height, width), SN_VOID,
             "channels is %zu, height is %zu and width is %zu, too large for an array", channels, height, width);
    if (elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(ver, SN_VOID);
    SN_CHECK_POINTER(hor, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_array result = SN_ARRAY(dst, elements);
    if (sn_apart_or_same(__func__, result, SN_ARRAY(src, elements)) &&
        sn_apart(__func__, result, SN_ARRAY(ver, channels * width)) &&
        sn_apart(__func__, result, SN_ARRAY(hor, channels * height)))
        sn_tiled_scale(&(struct sn_tiled_scale){src, ver, hor, channels, height, width, dst, (enum sn_format)format});
}
