#include "ops/set_input.h"

#include "api/arrays.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "contract/format.h"

void SimdSynetSetInput(const uint8_t * src, size_t width, size_t height, size_t stride, SimdPixelFormatType srcFormat,
                       const sn_32f * lower, const sn_32f * upper, sn_32f * dst, size_t channels,
                       SimdTensorFormatType dstFormat)
{
    const size_t pixel = sn_pixel_bytes((enum sn_pixel)srcFormat);
    SN_CALL_FORMATS(1, width, height, pixel, channels, dstFormat);
    size_t row, bytes, elements;
    SN_CHECK(pixel > 0, SN_VOID, "srcFormat is %s, expected SimdPixelFormatGray8, Bgr24, Bgra32 or Rgb24",
             SN_NAME(sn_pixel_formats, srcFormat));
    SN_CHECK(channels == 1 || channels == 3, SN_VOID, "channels is %zu, expected 1 or 3", channels);
    if (!sn_check_format(__func__, "dstFormat", dstFormat))
        return;
    SN_CHECK(sn_product(&row, width, pixel) && sn_product(&elements, channels, height, width), SN_VOID,
             "width is %zu and height is %zu, too large for an array", width, height);
    if (elements == 0)
        return;
    SN_CHECK(stride >= row, SN_VOID, "stride is %zu, expected at least the bytes of a row, %zu", stride, row);
    SN_CHECK(sn_product(&bytes, stride, height), SN_VOID, "stride is %zu and height is %zu, too large for an array", stride,
             height);
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(lower, SN_VOID);
    SN_CHECK_POINTER(upper, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!sn_rows_apart(__func__, SN_ROWS(dst, 1, elements, elements), SN_ROWS(src, height, row, stride)) ||
        !sn_apart(__func__, SN_ARRAY(dst, elements), SN_ARRAY(lower, channels)) ||
        !sn_apart(__func__, SN_ARRAY(dst, elements), SN_ARRAY(upper, channels)))
        return;
    const struct sn_set_input p = {src, width, height, stride, (enum sn_pixel)srcFormat, lower, upper, dst, channels,
                                   (enum sn_format)dstFormat};
    sn_set_input_32f(&p);
}
