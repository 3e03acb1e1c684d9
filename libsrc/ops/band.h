/*
 * A band: the input that some output rows need, either in the image itself or copied with its padding. Where the kernel is
 * one cell high (or wide), the lines (columns) that a stride passes over are left out of the copy, and the stride becomes 1.
 */
#ifndef SN_OPS_BAND_H
#define SN_OPS_BAND_H

#include "contract/convolution.h"
#include "runtime/common.h"

struct sn_band {
    bool copied;
    size_t rows;             /* output rows computed from one band */
    size_t lines;            /* input lines for so many, padding included */
    size_t columns;          /* columns of a line, padding included */
    size_t strideY, strideX; /* between the inputs of neighbouring outputs, in lines and columns of the band */
    size_t pixel, line;      /* between columns and between lines: floats of floats, bytes of smaller numbers */
    size_t phases, run;      /* NCHW: a line is so many runs of so many floats, see ops/nchw_band.h */
    size_t plane;            /* NCHW: floats between channels */
};

/* The columns (lines) of a padded image that the outputs use. */
static inline size_t sn_used(size_t outputs, size_t stride, size_t kernel, size_t dilation)
{
    return (outputs - 1) * stride + (kernel - 1) * dilation + 1;
}

/* The lines of the image, begin .. end - 1, that output rows row .. row + rows - 1 need; there may be none. */
struct sn_lines {
    size_t begin, end;
};
struct sn_lines sn_lines_of(const struct sn_convolution_parameters * p, size_t row, size_t rows);

/* Of a band of pixels: sets copied, columns and the strides. It is copied when `wanted`, or for padding; lines of planes are
 * not read by a stride, so that with `planes` no columns are left out. */
void sn_band_plan(struct sn_band * band, const struct sn_convolution_parameters * p, bool wanted, bool planes);

/* Chooses band->rows so that lines of about `budget` suffice, and lines with it. band->line and strideY are set. */
void sn_band_rows(struct sn_band * band, const struct sn_convolution_parameters * p, size_t budget);

/* The same for at most so many rows. */
void sn_band_limit(struct sn_band * band, const struct sn_convolution_parameters * p, size_t rows);

/* How a band of pixels is copied: both functions get `job` first, and an address that counts bytes. */
struct sn_band_copy {
    const struct sn_band * band;
    const struct sn_convolution_parameters * p;
    size_t unit; /* bytes of what band->pixel and band->line count */
    const void * job;
    void (*fill)(const void * job, uint8_t * to, size_t bytes); /* padding */
    /* `pixels` pixels of the image: number `first`, and each `step` on */
    void (*copy)(const void * job, size_t first, size_t step, size_t pixels, uint8_t * to);
};

/* Copies what output rows row .. row + rows - 1 need. */
void sn_band_copy(const struct sn_band_copy * b, size_t row, size_t rows, uint8_t * to);

#endif
