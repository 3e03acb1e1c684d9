/* Conversions of layouts. */
#ifndef SN_CONTRACT_LAYOUT_H
#define SN_CONTRACT_LAYOUT_H

#include "contract/enums.h"
#include "runtime/common.h"

/* Positions begin .. end - 1 of one image of SimdSynetConvertImage, all channels; the formats differ. */
typedef void (*sn_convert_image_32f_fn)(size_t channels, size_t spatial, const sn_32f * src, enum sn_format srcFormat,
                                        sn_32f * dst, enum sn_format dstFormat, size_t begin, size_t end);

/* Inputs begin .. end - 1 of SimdSynetConvertFilter, all outputs and taps; the formats differ. */
typedef void (*sn_convert_filter_32f_fn)(size_t output, size_t input, size_t kernel, const sn_32f * src,
                                         enum sn_format srcFormat, sn_32f * dst, enum sn_format dstFormat,
                                         size_t begin, size_t end);

/* dst[c * dstStride + r] = src[r * srcStride + c] for r < rows, c < columns. */
typedef void (*sn_transpose_32f_fn)(const sn_32f * src, size_t srcStride, size_t rows, size_t columns, sn_32f * dst,
                                    size_t dstStride);

/* The kernels of a level. */
struct sn_layout_slots {
    sn_convert_image_32f_fn image_32f;
    sn_convert_filter_32f_fn filter_32f;
    sn_transpose_32f_fn transpose_32f;
};

#endif
