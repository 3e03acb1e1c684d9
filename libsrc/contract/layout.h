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

/*
 * Element c of row r of src becomes element r of row c of dst, for r < rows, c < columns; steps are the bytes from a row to
 * the next one. Rows and columns of 16-bit elements and of bytes that are shorter than a vector of the level are slow, except
 * for dense pixels of three bytes (srcStep and columns are 3). stream_32f may write around the caches.
 */
typedef void (*sn_transpose_fn)(const void * src, size_t srcStep, size_t rows, size_t columns, void * dst, size_t dstStep);

/* The kernels of a level. */
struct sn_layout_slots {
    sn_convert_image_32f_fn image_32f;
    sn_convert_filter_32f_fn filter_32f;
    sn_transpose_fn transpose_32f, transpose_16b, transpose_8u, stream_32f;
};

#endif
