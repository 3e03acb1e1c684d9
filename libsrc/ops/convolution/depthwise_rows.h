/* Some output rows of a depthwise NHWC convolution of floats or bfloat16 numbers: the kernel's job, its pointers to lines. */
#ifndef SN_OPS_CONVOLUTION_DEPTHWISE_ROWS_H
#define SN_OPS_CONVOLUTION_DEPTHWISE_ROWS_H

#include "ops/convolution/nhwc_band.h"
#include "ops/convolution/plan.h"

struct sn_depthwise_rows {
    size_t rows, lines; /* rows of one call of the kernel, and their pointers to lines */
    size_t step;        /* pointers from one output row to the next */
    size_t together;    /* pixels that are computed as one, see sn_depthwise_together() */
};

/* Whether the inputs of neighbouring pixels evict each other from the L1 cache. */
bool sn_pixels_share_sets(const struct sn_convolution * c);

/* Whether images are beyond the caches; whether the kernel for NHWC reads them from memory pixel after pixel: the neighbours'
 * sets then do not matter. */
bool sn_depthwise_cold(const struct sn_convolution * c);
bool sn_depthwise_in_order(const struct sn_convolution * c);

/* Plans the rows, at most `most`; returns the bytes of the pointers, with which the workspace begins. */
size_t sn_depthwise_rows_plan(const struct sn_convolution * c, size_t most, struct sn_depthwise_rows * r);

/*
 * Runs compute() for all output rows of all images, in units of the rows that the kernel computes together. The rows of a share
 * are at most those of one call of the kernel.
 */
void sn_depthwise_run(const struct sn_convolution * c, const struct sn_depthwise_rows * r, const struct sn_arrays * a, double time,
                      void (*compute)(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a));

/* The first row of a share, and their number. */
size_t sn_depthwise_first(const struct sn_depthwise_rows * r, const struct sn_share * s);
size_t sn_depthwise_count(const struct sn_convolution * c, const struct sn_depthwise_rows * r, const struct sn_share * s);

/* Plans channels and packed weights for the kernel; false: too large. Packs the weights from [tap][channel]. */
bool sn_depthwise_rows_weights(struct sn_convolution * c);
void sn_depthwise_rows_pack(const struct sn_convolution * c, const void * weight);

/*
 * Computes a job of floats whose pixels have few channels: several neighbouring pixels as one with as many times the channels, so that
 * vectors are full. An input of such a pixel begins at each pixel of a line, so its stride is that number of pixels. weight, bias
 * and slope have the values of so many pixels. Pixels whose inputs may be padding, and those that are not dense, are computed one
 * by one.
 */
size_t sn_depthwise_pixels_together(const struct sn_convolution * c); /* how many; 1: none */
void sn_depthwise_together(sn_depthwise_nhwc_fn kernel, const struct sn_depthwise_nhwc * d, size_t pixels);

/*
 * 32f_depthwise_flat.c: whether few channels are computed so from a copy of lines with their padding, by the plan of its algorithm;
 * some rows of such a plan, at distances of dstRow and dstPixel.
 */
bool sn_depthwise_is_flat(const struct sn_convolution * c);
void sn_depthwise_flat_rows(const struct sn_convolution * c, struct sn_nhwc_image image, size_t row, size_t rows, void * work,
                            sn_32f * dst, size_t dstRow, size_t dstPixel);

/* A job for channels first .. first + count - 1, with the elements between pixels. Without line, offset, rows, dst. */
struct sn_depthwise_nhwc sn_depthwise_job(const struct sn_convolution * c, const struct sn_depthwise_rows * r,
                                              size_t first, size_t count, size_t srcPixel, size_t dstPixel);

/* The job of columns begin .. end - 1 of the outputs of another. */
struct sn_depthwise_nhwc sn_depthwise_columns(const struct sn_depthwise_nhwc * d, size_t begin, size_t end);

/* The kernel for jobs of bfloat16 numbers by products of pairs, if the level has one; else NULL. */
sn_depthwise_nhwc_fn sn_depthwise_pairs(const struct sn_convolution * c);

/*
 * Computes d.rows output rows from `row` on, at d.dst, from the image src; `line` is memory for the pointers to lines. With
 * dilation and stride 1, every dilationY-th row and every dilationX-th column is a convolution without dilation, for which
 * the kernel has blocks of several rows and columns; with a stride, every row and column of a number that makes the strides a
 * multiple of the dilation. Columns that are no multiples of a divisor of stride and dilation are left
 * out: 8x38x38 by 3x3 with stride and dilation 2 takes 0.65 of the time (AVX-512; AVX2 0.56), 12 images of 512x56x56 0.73 and
 * 0.75, 64x112x112 by 5x5 0.55 and 0.5. The sums have the same order, so the bits are the same. `together`: see
 * struct sn_depthwise_rows.
 */
void sn_depthwise_compute(const struct sn_convolution * c, sn_depthwise_nhwc_fn kernel, size_t together,
                          struct sn_depthwise_nhwc d, const void * src, size_t row, const void ** line);

#endif
