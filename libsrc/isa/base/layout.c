#include "core/format.h"
#include "isa/base/base.h"

static size_t offset(size_t channels, size_t spatial, size_t c, size_t s, SimdTensorFormatType format)
{
    if (format == SimdTensorFormatNchw)
        return c * spatial + s;
    if (format == SimdTensorFormatNhwc)
        return s * channels + c;
    const size_t lanes = sn_format_lanes(format);
    return ((c / lanes) * spatial + s) * lanes + c % lanes;
}

static void convert_image_32f(size_t channels, size_t spatial, const float * src, SimdTensorFormatType srcFormat,
                              float * dst, SimdTensorFormatType dstFormat, size_t begin, size_t end)
{
    const size_t lanes = sn_format_lanes(dstFormat);
    const size_t written = lanes ? sn_ceil_div(channels, lanes) * lanes : channels;
    for (size_t c = 0; c < written; ++c)
        for (size_t s = begin; s < end; ++s)
            dst[offset(channels, spatial, c, s, dstFormat)] =
                c < channels ? src[offset(channels, spatial, c, s, srcFormat)] : 0.0f;
}

void sn_install_layout_base(struct sn_table * table) { table->convert_image_32f = convert_image_32f; }
