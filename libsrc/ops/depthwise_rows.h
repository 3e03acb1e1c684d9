/* Some output rows of a depthwise NHWC convolution of floats: pointers to lines that the kernel is given, and its job. */
#ifndef SN_OPS_DEPTHWISE_ROWS_H
#define SN_OPS_DEPTHWISE_ROWS_H

#include "ops/convolution.h"

struct sn_depthwise_rows {
    size_t rows, lines; /* of one call of the kernel, and pointers for them */
    size_t step;        /* pointers from one output row to the next */
};

/* Plans the rows, at most `most` of them, and the workspace, which begins with the pointers: its bytes are returned. */
size_t sn_depthwise_rows_plan(const struct sn_convolution * c, size_t most, struct sn_depthwise_rows * r);

/* Channels, and the bytes of weights as the kernel needs them; false: too large. Those weights from [tap][channel]. */
bool sn_depthwise_rows_weights(struct sn_convolution * c);
void sn_depthwise_rows_pack(const struct sn_convolution * c, const void * weight);

/* A job for channels first .. first + count - 1; pixels of both sides have `pixel` floats. Without line, rows and dst. */
struct sn_depthwise_nhwc_32f sn_depthwise_job(const struct sn_convolution * c, const struct sn_depthwise_rows * r,
                                              size_t first, size_t count, size_t pixel);

/* Sets the lines that `rows` output rows from `row` on need, of the image src, whose pixels have `pixel` floats; NULL are
 * those outside of it. */
void sn_depthwise_lines(const struct sn_convolution * c, const struct sn_depthwise_rows * r, const sn_32f * src, size_t row,
                        size_t rows, size_t pixel, const sn_32f ** line);

#endif
