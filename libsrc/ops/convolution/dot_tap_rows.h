/*
 * Convolution of bytes by the tile whose outputs leave out the rows of taps that meet only padding. Padding is the number that
 * represents 0, so what these rows would add follows from their weights, and is added to the initial sums.
 */
#ifndef SN_OPS_CONVOLUTION_DOT_TAP_ROWS_H
#define SN_OPS_CONVOLUTION_DOT_TAP_ROWS_H

#include "ops/convolution/dot.h"

/* The rows of a product may be any pixels: makes all rows one line, if they are contiguous, or rows of columns, if tiles of `rows`
 * rows along them are higher than along rows. */
void sn_dot_order_rows(struct sn_dot * gemm, size_t rows);

/* Whether tiles of c have less to multiply so; depth: groups of numbers in a sum; dense: the rows of outputs, and what they read,
 * are contiguous. It follows from the shape and the level, since the weights are kept with their sums. */
bool sn_dot_leaves_out(const struct sn_convolution * c, size_t depth, bool dense);

/* The sums of the weights: for each number of rows of taps from the first on, of all channels as they are spread. */
bool sn_dot_sums_size(const struct sn_convolution * c, size_t * bytes); /* false: too large */
void sn_dot_pack_sums(const struct sn_convolution * c, const void * weight, int32_t * sums);

/* Multiplies by one panel, whose first channel has index `first`: rows of a product that all have the taps of row `row` of outputs,
 * or the rows of outputs from `row` on. gemm->start is not read. */
void sn_dot_run_taps(const struct sn_convolution * c, const struct sn_dot * gemm, const int32_t * sums, size_t first,
                     size_t row);
void sn_dot_run_tap_rows(const struct sn_convolution * c, const struct sn_dot * gemm, const int32_t * sums, size_t first,
                         size_t row);

#endif
