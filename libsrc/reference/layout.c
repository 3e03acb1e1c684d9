#include <string.h>

#include "contract/format.h"
#include "contract/layout.h"
#include "reference/reference.h"

static size_t offset(size_t channels, size_t spatial, size_t c, size_t s, enum sn_format format)
{
    if (format == SN_NCHW)
        return c * spatial + s;
    if (format == SN_NHWC)
        return s * channels + c;
    const size_t lanes = sn_format_lanes(format);
    return ((c / lanes) * spatial + s) * lanes + c % lanes;
}

static void convert_image_32f(size_t channels, size_t spatial, const sn_32f * src, enum sn_format srcFormat,
                              sn_32f * dst, enum sn_format dstFormat, size_t begin, size_t end)
{
    const size_t lanes = sn_format_lanes(dstFormat);
    const size_t written = lanes ? sn_ceil_div(channels, lanes) * lanes : channels;
    for (size_t c = 0; c < written; ++c)
        for (size_t s = begin; s < end; ++s)
            dst[offset(channels, spatial, c, s, dstFormat)] =
                c < channels ? src[offset(channels, spatial, c, s, srcFormat)] : 0.0f;
}

static size_t filter_offset(size_t output, size_t input, size_t kernel, size_t o, size_t i, size_t k,
                            enum sn_format format)
{
    if (format == SN_OIYX)
        return (o * input + i) * kernel + k;
    if (format == SN_YXIO)
        return (k * input + i) * output + o;
    const size_t lanes = sn_filter_lanes(format);
    return ((o / lanes * kernel + k) * input + i) * lanes + o % lanes;
}

static void convert_filter_32f(size_t output, size_t input, size_t kernel, const sn_32f * src,
                               enum sn_format srcFormat, sn_32f * dst, enum sn_format dstFormat,
                               size_t begin, size_t end)
{
    const size_t lanes = sn_filter_lanes(dstFormat);
    const size_t written = lanes ? sn_ceil_div(output, lanes) * lanes : output;
    for (size_t o = 0; o < written; ++o)
        for (size_t i = begin; i < end; ++i)
            for (size_t k = 0; k < kernel; ++k)
                dst[filter_offset(output, input, kernel, o, i, k, dstFormat)] =
                    o < output ? src[filter_offset(output, input, kernel, o, i, k, srcFormat)] : 0.0f;
}

/* Also of a signalling NaN. */
static void transpose(const uint8_t * src, size_t srcStep, size_t rows, size_t columns, uint8_t * dst, size_t dstStep,
                      size_t element)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < columns; ++c)
            memcpy(dst + c * dstStep + r * element, src + r * srcStep + c * element, element);
}

static void transpose_32f(const void * src, size_t srcStep, size_t rows, size_t columns, void * dst, size_t dstStep)
{
    transpose(src, srcStep, rows, columns, dst, dstStep, sizeof(float));
}

static void transpose_16b(const void * src, size_t srcStep, size_t rows, size_t columns, void * dst, size_t dstStep)
{
    transpose(src, srcStep, rows, columns, dst, dstStep, sizeof(uint16_t));
}

static void transpose_8u(const void * src, size_t srcStep, size_t rows, size_t columns, void * dst, size_t dstStep)
{
    transpose(src, srcStep, rows, columns, dst, dstStep, sizeof(uint8_t));
}

SN_INSTALL(layout, layout)
{
    slots->image_32f = convert_image_32f;
    slots->filter_32f = convert_filter_32f;
    slots->transpose_32f = transpose_32f;
    slots->stream_32f = transpose_32f;
    slots->transpose_16b = transpose_16b;
    slots->transpose_8u = transpose_8u;
}
