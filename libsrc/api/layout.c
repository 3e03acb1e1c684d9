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

/* The formats of images, or of filters. */
struct formats {
    const char * names;
    bool (*has)(enum sn_format format);
    size_t (*lanes)(enum sn_format format); /* 0: it has no blocks */
};

static const struct formats images = {"SimdTensorFormatNchw, Nhwc, Nchw4c, Nchw8c or Nchw16c", sn_format_is_image,
    sn_format_lanes};
static const struct formats filters = {"SimdTensorFormatOiyx, Yxio, Oyxi4o, Oyxi8o or Oyxi16o", sn_format_is_filter,
    sn_filter_lanes};

static bool are_formats(const char * function, const struct formats * f, enum sn_format src, enum sn_format dst)
{
    SN_CHECK_FOR(function, f->has(src), false, "srcFormat is %s, expected %s", SN_NAME(sn_formats, src), f->names);
    SN_CHECK_FOR(function, f->has(dst), false, "dstFormat is %s, expected %s", SN_NAME(sn_formats, dst), f->names);
    SN_CHECK_FOR(function, src == dst || !f->lanes(src) || !f->lanes(dst), false,
                 "srcFormat is %s and dstFormat is %s, expected one without blocks: convert twice", SN_NAME(sn_formats, src),
                 SN_NAME(sn_formats, dst));
    return true;
}

void SimdSynetConvertImage(size_t batch, size_t channels, size_t spatial, const sn_32f * src,
                           SimdTensorFormatType srcFormat, sn_32f * dst, SimdTensorFormatType dstFormat)
{
    SN_CALL_FORMATS(2, batch, channels, spatial, srcFormat, dstFormat);
    const enum sn_format from = (enum sn_format)srcFormat, to = (enum sn_format)dstFormat;
    size_t srcElements, dstElements;
    if (!are_formats(__func__, &images, from, to))
        return;
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
    if (!are_formats(__func__, &filters, from, to))
        return;
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
