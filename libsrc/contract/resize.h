/* Resizing of images: weighted sums of neighbours, along rows, then along columns. */
#ifndef SN_CONTRACT_RESIZE_H
#define SN_CONTRACT_RESIZE_H

#include "runtime/common.h"

/* Element types, and how sums of bytes become bytes. */
enum sn_resize_type {
    SN_RESIZE_32F,
    SN_RESIZE_16B,        /* bfloat16 */
    SN_RESIZE_16U,
    SN_RESIZE_8U,         /* rounds sum * scale + bias to even */
    SN_RESIZE_8U_SHIFTED, /* rows are cut to 15 bits, and their products with weights of 14 bits to 13 */
    SN_RESIZE_8U_AREA     /* weights of an axis have the sum 2048; sums have 30 bits */
};

/* Pixels of fewer elements are resized element by element: vectors contain several pixels. */
enum { SN_RESIZE_WIDE = 8 };

/* The most rows that are resized together: the lanes of the longest vector. */
enum { SN_RESIZE_ROWS = 16 };

/*
 * Output i of an axis is the sum over t < taps of weight[i * taps + t] * src[begin[i] + t]. begin never decreases, and
 * begin[i] + taps <= src.
 */
struct sn_resize_axis {
    size_t src, dst, taps;
    const uint32_t * begin;
    const sn_32f * weight;
    bool copies;          /* taps and all weights are 1 */
    bool doubles;         /* copies, and outputs 2 * i and 2 * i + 1 are those of i */

    /*
     * The horizontal axis if pixels are not wide: rows as vectors of `lanes` elements, the last one of which overlaps
     * others. Lane l of vector v has its first source at element window[v].begin + from[v * lanes + l], and its weights
     * are lane[(t * vectors + v) * lanes + l].
     */
    size_t lanes, vectors;
    bool near;            /* all vectors are */
    const struct sn_resize_window * window;
    const int32_t * from;
    const sn_32f * lane;
};

/* Where a row may be read for a vector; `near` if all sources of the vector are among the `lanes` elements there. */
struct sn_resize_window {
    uint32_t begin;
    uint32_t near;
};

/* Elements as floats. */
typedef void (*sn_resize_widen_fn)(enum sn_resize_type type, const void * src, size_t size, sn_32f * dst);

/* A row of x->dst pixels from one of x->src pixels. If x->copies, bits are kept. */
typedef void (*sn_resize_row_fn)(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst);

/*
 * The same for n rows of at most x->lanes, for pixels that are not wide, rows of at least x->lanes elements, and if not
 * x->copies. `work` has room for x->src * channels * x->lanes floats.
 */
struct sn_resize_rows {
    enum sn_resize_type type; /* of src */
    size_t channels, n;
    const void * const * src;
    sn_32f * const * dst;
    sn_32f * work;
};
typedef void (*sn_resize_rows_fn)(const struct sn_resize_axis * x, const struct sn_resize_rows * rows);

/* Elements begin .. begin + size - 1 of a row of outputs from those of `taps` rows. */
struct sn_resize_column {
    const sn_32f * const * row;
    const sn_32f * weight;
    size_t taps;
    enum sn_resize_type type;
    float scale, bias;
};
typedef void (*sn_resize_column_fn)(const struct sn_resize_column * c, size_t begin, size_t size, void * dst);

/*
 * Rows begin .. end - 1 of an image of floats. Both axes copy, or both have two taps; pixels have at least as many channels
 * as a vector has lanes, or x->near, or one channel and x->doubles. Distances of rows are in elements.
 */
struct sn_resize_image {
    const struct sn_resize_axis * x, * y;
    size_t channels;
    const sn_32f * src;
    sn_32f * dst;
    size_t srcRow, dstRow;
    bool stream; /* a hint: dst exceeds the caches */
};
typedef void (*sn_resize_image_fn)(const struct sn_resize_image * image, size_t begin, size_t end);

/* The kernels of a level. */
struct sn_resize_slots {
    sn_resize_widen_fn widen;
    sn_resize_row_fn row;
    sn_resize_rows_fn rows;
    sn_resize_column_fn column;
    sn_resize_image_fn image;
};

#endif
