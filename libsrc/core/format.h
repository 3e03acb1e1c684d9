/* What a tensor format is made of, for everybody who must follow one. */
#ifndef SN_CORE_FORMAT_H
#define SN_CORE_FORMAT_H

#include "core/memory.h"
#include "simdnet.h"

/* Channels that lie together in NCHWxc: 4, 8 or 16; 0 for every other format. */
static inline size_t sn_format_lanes(SimdTensorFormatType format)
{
    switch (format) {
    case SimdTensorFormatNchw4c: return 4;
    case SimdTensorFormatNchw8c: return 8;
    case SimdTensorFormatNchw16c: return 16;
    default: return 0;
    }
}

/* An image format of a definite layout: NCHW, NHWC or NCHWxc. */
static inline bool sn_format_is_image(SimdTensorFormatType format)
{
    return format >= SimdTensorFormatNchw && format <= SimdTensorFormatNchw16c;
}

/* The elements of `batch` images, the lanes that NCHWxc adds included; false when they could not be an array. */
static inline bool sn_image_elements(size_t * elements, size_t batch, size_t channels, size_t spatial,
                                     SimdTensorFormatType format)
{
    const size_t lanes = sn_format_lanes(format);
    return lanes ? sn_product(elements, batch, sn_ceil_div(channels, lanes), lanes, spatial)
                 : sn_product(elements, batch, channels, spatial);
}

/* Outputs that lie together in Oyxixo: 4, 8 or 16; 0 for every other format. */
static inline size_t sn_filter_lanes(SimdTensorFormatType format)
{
    switch (format) {
    case SimdTensorFormatOyxi4o: return 4;
    case SimdTensorFormatOyxi8o: return 8;
    case SimdTensorFormatOyxi16o: return 16;
    default: return 0;
    }
}

/* A filter format of a definite layout: Oiyx, Yxio or Oyxixo. */
static inline bool sn_format_is_filter(SimdTensorFormatType format)
{
    return format >= SimdTensorFormatOiyx && format <= SimdTensorFormatOyxi16o;
}

/* The elements of a filter, the lanes that Oyxixo adds included; false when they could not be an array. */
static inline bool sn_filter_elements(size_t * elements, size_t output, size_t input, size_t kernel,
                                      SimdTensorFormatType format)
{
    const size_t lanes = sn_max(sn_filter_lanes(format), 1);
    return sn_product(elements, sn_ceil_div(output, lanes), lanes, input, kernel);
}

/* Bytes of a pixel that SimdSynetSetInput takes; 0 for every other format. */
static inline size_t sn_pixel_bytes(SimdPixelFormatType format)
{
    switch (format) {
    case SimdPixelFormatGray8: return 1;
    case SimdPixelFormatBgr24:
    case SimdPixelFormatRgb24: return 3;
    case SimdPixelFormatBgra32: return 4;
    default: return 0;
    }
}

#endif
