/* Properties of tensor formats. */
#ifndef SN_CONTRACT_FORMAT_H
#define SN_CONTRACT_FORMAT_H

#include "contract/enums.h"
#include "runtime/common.h"
#include "runtime/memory.h"

/* Channels in a block of NCHWxc: 4, 8 or 16; 0 for every other format. */
static inline size_t sn_format_lanes(enum sn_format format)
{
    switch (format) {
    case SN_NCHW4C: return 4;
    case SN_NCHW8C: return 8;
    case SN_NCHW16C: return 16;
    default: return 0;
    }
}

/* True for an image format with a definite layout: NCHW, NHWC or NCHWxc. */
static inline bool sn_format_is_image(enum sn_format format)
{
    return format >= SN_NCHW && format <= SN_NCHW16C;
}

/* The number of elements of `batch` images, with the padding of NCHWxc; false if it exceeds the largest array. */
static inline bool sn_image_elements(size_t * elements, size_t batch, size_t channels, size_t spatial,
                                     enum sn_format format)
{
    const size_t lanes = sn_format_lanes(format);
    return lanes ? sn_product(elements, batch, sn_ceil_div(channels, lanes), lanes, spatial)
                 : sn_product(elements, batch, channels, spatial);
}

/* Outputs in a block of Oyxixo: 4, 8 or 16; 0 for every other format. */
static inline size_t sn_filter_lanes(enum sn_format format)
{
    switch (format) {
    case SN_OYXI4O: return 4;
    case SN_OYXI8O: return 8;
    case SN_OYXI16O: return 16;
    default: return 0;
    }
}

/* True for a filter format with a definite layout: Oiyx, Yxio or Oyxixo. */
static inline bool sn_format_is_filter(enum sn_format format)
{
    return format >= SN_OIYX && format <= SN_OYXI16O;
}

/* The number of elements of a filter, with the padding of Oyxixo; false if it exceeds the largest array. */
static inline bool sn_filter_elements(size_t * elements, size_t output, size_t input, size_t kernel,
                                      enum sn_format format)
{
    const size_t lanes = sn_max(sn_filter_lanes(format), 1);
    return sn_product(elements, sn_ceil_div(output, lanes), lanes, input, kernel);
}

/* Bytes of a pixel in a format that SimdSynetSetInput accepts; 0 for every other format. */
static inline size_t sn_pixel_bytes(enum sn_pixel format)
{
    switch (format) {
    case SN_PIXEL_GRAY8: return 1;
    case SN_PIXEL_BGR24:
    case SN_PIXEL_RGB24: return 3;
    case SN_PIXEL_BGRA32: return 4;
    default: return 0;
    }
}

#endif
