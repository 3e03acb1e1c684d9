#include "ops/layout.h"

#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "contract/format.h"
#include "dispatch/dispatch.h"

SimdTensorFormatType SimdSynetSpecifyTensorFormat(SimdTensorFormatType format)
{
    SN_BEGIN();
    const int wider = sn_table()->alignment == 16 ? 0 : sn_table()->alignment == 32 ? 1 : 2;
    switch (format) {
    case SimdTensorFormatNchwXc: return (SimdTensorFormatType)(SimdTensorFormatNchw4c + wider);
    case SimdTensorFormatOyxiXo: return (SimdTensorFormatType)(SimdTensorFormatOyxi4o + wider);
    default: return SimdTensorFormatUnknown;
    }
}

size_t SimdSynetTensorAlignment(SimdTensorFormatType format)
{
    SN_BEGIN();
    switch (format) {
    case SimdTensorFormatNchw:
    case SimdTensorFormatNhwc:
    case SimdTensorFormatOiyx:
    case SimdTensorFormatYxio: return 1;
    case SimdTensorFormatNchw4c:
    case SimdTensorFormatOyxi4o: return 4;
    case SimdTensorFormatNchw8c:
    case SimdTensorFormatOyxi8o: return 8;
    case SimdTensorFormatNchw16c:
    case SimdTensorFormatOyxi16o: return 16;
    default: return 0;
    }
}

#define IMAGE_FORMATS "SimdTensorFormatNchw, Nhwc, Nchw4c, Nchw8c or Nchw16c"
#define FILTER_FORMATS "SimdTensorFormatOiyx, Yxio, Oyxi4o, Oyxi8o or Oyxi16o"

void SimdSynetConvertImage(size_t batch, size_t channels, size_t spatial, const sn_32f * src,
                           SimdTensorFormatType srcFormat, sn_32f * dst, SimdTensorFormatType dstFormat)
{
    SN_CALL_FORMATS(2, batch, channels, spatial, srcFormat, dstFormat);
    const enum sn_format from = (enum sn_format)srcFormat, to = (enum sn_format)dstFormat;
    size_t srcElements, dstElements;
    SN_CHECK(sn_format_is_image(from), SN_VOID, "srcFormat is %s, expected " IMAGE_FORMATS,
             SN_NAME(sn_formats, srcFormat));
    SN_CHECK(sn_format_is_image(to), SN_VOID, "dstFormat is %s, expected " IMAGE_FORMATS,
             SN_NAME(sn_formats, dstFormat));
    SN_CHECK(from == to || !sn_format_lanes(from) || !sn_format_lanes(to), SN_VOID,
             "srcFormat is %s and dstFormat is %s, expected one without blocks: convert twice",
             SN_NAME(sn_formats, srcFormat), SN_NAME(sn_formats, dstFormat));
    SN_CHECK(sn_image_elements(&srcElements, batch, channels, spatial, from) &&
             sn_image_elements(&dstElements, batch, channels, spatial, to),
             SN_VOID, "batch is %zu, channels is %zu and spatial is %zu, too large for an array", batch, channels, spatial);
    if (dstElements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (sn_apart(__func__, SN_ARRAY(dst, dstElements), SN_ARRAY(src, srcElements)))
        sn_convert_image_32f(batch, channels, spatial, src, from, dst, to);
}

void SimdSynetConvertFilter(size_t output, size_t input, size_t kernel, const sn_32f * src, SimdTensorFormatType srcFormat,
                            sn_32f * dst, SimdTensorFormatType dstFormat)
{
    SN_CALL_FORMATS(2, output, input, kernel, srcFormat, dstFormat);
    const enum sn_format from = (enum sn_format)srcFormat, to = (enum sn_format)dstFormat;
    size_t srcElements, dstElements;
    SN_CHECK(sn_format_is_filter(from), SN_VOID, "srcFormat is %s, expected " FILTER_FORMATS,
             SN_NAME(sn_formats, srcFormat));
    SN_CHECK(sn_format_is_filter(to), SN_VOID, "dstFormat is %s, expected " FILTER_FORMATS,
             SN_NAME(sn_formats, dstFormat));
    SN_CHECK(from == to || !sn_filter_lanes(from) || !sn_filter_lanes(to), SN_VOID,
             "srcFormat is %s and dstFormat is %s, expected one without blocks: convert twice",
             SN_NAME(sn_formats, srcFormat), SN_NAME(sn_formats, dstFormat));
    SN_CHECK(sn_filter_elements(&srcElements, output, input, kernel, from) &&
             sn_filter_elements(&dstElements, output, input, kernel, to),
             SN_VOID, "output is %zu, input is %zu and kernel is %zu, too large for an array", output, input, kernel);
    if (dstElements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (sn_apart(__func__, SN_ARRAY(dst, dstElements), SN_ARRAY(src, srcElements)))
        sn_convert_filter_32f(output, input, kernel, src, from, dst, to);
}
