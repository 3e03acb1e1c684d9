/* Some output rows of a depthwise NHWC convolution of floats: the kernel's job and its pointers to lines. */
#ifndef SN_OPS_DEPTHWISE_ROWS_H
#define SN_OPS_DEPTHWISE_ROWS_H

#include "ops/convolution.h"

struct sn_depthwise_rows {
    size_t rows, lines; /* rows of one call of the kernel, and their pointers to lines */
    size_t step;        /* pointers from one output row to the next */
};

/* Plans the rows, at most `most`; returns the bytes of the pointers, with which the workspace begins. */
size_t sn_depthwise_rows_plan(const struct sn_convolution * c, size_t most, struct sn_depthwise_rows * r);

/* Plans channels and packed weights for the kernel; false: too large. Packs the weights from [tap][channel]. */
bool sn_depthwise_rows_weights(struct sn_convolution * c);
void sn_depthwise_rows_pack(const struct sn_convolution * c, const void * weight);

/* A job for channels first .. first + count - 1, with the floats between pixels. Without line, rows, dst. */
struct sn_depthwise_nhwc_32f sn_depthwise_job(const struct sn_convolution * c, const struct sn_depthwise_rows * r,
                                              size_t first, size_t count, size_t srcPixel, size_t dstPixel);

/* Sets the pointers to the lines that `rows` output rows from `row` on need; pixels of the image src have `pixel` floats.
 * Lines outside of it are NULL. */
void sn_depthwise_lines(const struct sn_convolution * c, const struct sn_depthwise_rows * r, const sn_32f * src, size_t row,
                        size_t rows, size_t pixel, const sn_32f ** line);

#endif
