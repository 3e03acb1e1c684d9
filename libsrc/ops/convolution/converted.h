/*
 * NCHW that is computed as NHWC: before some output rows the lines that they need are converted, behind them their result. Of some
 * channels, whose planes begin at `src` and `dst`; all pixels are dense.
 */
#ifndef SN_OPS_CONVOLUTION_CONVERTED_H
#define SN_OPS_CONVOLUTION_CONVERTED_H

#include "ops/convolution/plan.h"

/* The lines that `rows` output rows need at most. */
size_t sn_converted_lines(const struct sn_convolution_parameters * p, size_t rows);

/* Converts the lines that output rows row .. row + rows - 1 need to `lines`; returns where the first line of the image would be. */
sn_32f * sn_lines_to_nhwc(const struct sn_convolution * c, size_t channels, const sn_32f * src, size_t row, size_t rows,
                          sn_32f * lines);

/* Converts output rows row .. row + rows - 1; and what is added to them. */
void sn_rows_to_nchw(const struct sn_convolution * c, size_t channels, const sn_32f * result, size_t row, size_t rows,
                     sn_32f * dst);
void sn_rows_to_nhwc(const struct sn_convolution * c, size_t channels, const sn_32f * add, size_t row, size_t rows,
                     sn_32f * result);

#endif
