#include "ops/channel_sum.h"

#include "api/arrays.h"
#include "api/call.h"
#include "api/overlap.h"

void SimdSynetChannelSum16b(const sn_16b * src, size_t channels, size_t spatial, SimdTensorFormatType format, sn_32f * sum)
{
    SN_CALL_FORMATS(1, channels, spatial, format);
    size_t elements;
    if (!sn_check_format(__func__, "format", format))
        return;
    SN_CHECK(sn_product(&elements, channels, sn_max(spatial, 1)), SN_VOID, /* sum has elements even without a source */
             "channels is %zu and spatial is %zu, too large for an array", channels, spatial);
    if (channels == 0)
        return;
    SN_CHECK(src || spatial == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_POINTER(sum, SN_VOID);
    if (sn_apart(__func__, SN_ARRAY(sum, channels), SN_ARRAY(src, channels * spatial)))
        sn_channel_sum_16b(src, channels, spatial, (enum sn_format)format, sum);
}
