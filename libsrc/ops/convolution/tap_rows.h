/* A panel of the GEMM tile whose outputs leave out the rows of taps, or the taps, that meet only padding. */
#ifndef SN_OPS_CONVOLUTION_TAP_ROWS_H
#define SN_OPS_CONVOLUTION_TAP_ROWS_H

#include "contract/convolution.h"
#include "contract/gemm.h"

/* The line of the image that tap ky of row y uses is first + y * stride + ky * step, of `lines`. */
struct sn_tap_rows {
    ptrdiff_t first; /* for the first row of the panel */
    size_t stride, step;
    size_t taps, lines;
    size_t fetched; /* floats from gemm->prefetch on that each row prefetches, or 0: all rows the same */
    const struct sn_tap_rows * columns; /* NULL, or the same for the columns of a line: then each tap is a segment, and no
                                         * padding is read */
};

/* The rows of taps of a convolution's outputs from `row` on, and their columns. */
struct sn_tap_rows sn_tap_rows_of(const struct sn_convolution_parameters * p, size_t row);
struct sn_tap_rows sn_tap_columns_of(const struct sn_convolution_parameters * p);

/* Rows of taps begin .. end - 1. */
struct sn_taps {
    size_t begin, end;
};

/* Those of row y that meet the image, at least one. */
struct sn_taps sn_taps_of_row(const struct sn_tap_rows * t, size_t y);

/* The output after `first`, of `outputs`, up to which all have its taps. */
size_t sn_end_of_alike(const struct sn_tap_rows * t, size_t first, size_t outputs);

/* The sum over `outputs` outputs of their taps that meet the image. */
size_t sn_tap_products(const struct sn_tap_rows * t, size_t outputs);

/*
 * Runs the tile for one panel; the segments of gemm are those of all rows of taps, in order. Rows at the upper and lower
 * edge are computed each for itself: 112x4x4 by 7x7 takes 0.66 of the time, 48x4x4 by 5x5 with stride 2 0.8. With `columns`
 * one tap is computed after the other. *gemm is changed meanwhile, and restored.
 */
void sn_run_tap_rows(const struct sn_gemm_32f_tile * tile, struct sn_gemm_32f * gemm, const struct sn_tap_rows * t);

#endif
