/*
 * A band: the input that some output rows need, either in the image itself or copied with its padding. If the kernel height
 * (width) is 1, the lines (columns) that a stride skips are left out of the copy, and the stride becomes 1.
 *
 * With a dilation, output rows that are no neighbours use the same lines. sn_band_dilated() makes bands of those, whose rows
 * are `classes` apart, and whose lines dilationY: a `dense` copy has no others.
 */
#ifndef SN_OPS_CONVOLUTION_BAND_H
#define SN_OPS_CONVOLUTION_BAND_H

#include "contract/convolution.h"
#include "runtime/common.h"

struct sn_band {
    bool copied;
    size_t rows;             /* output rows computed from one band */
    size_t lines;            /* input lines for these rows, padding included */
    size_t columns;          /* columns of a line, padding included */
    size_t strideY, strideX; /* between the inputs of neighbouring outputs, in lines and columns of the band */
    size_t pixel, line;      /* steps between columns and between lines: in floats, or bytes for smaller numbers */
    size_t phases, run;      /* NCHW: a line is `phases` runs of `run` floats, see nchw_band.h */
    size_t plane;            /* NCHW: floats between channels */
    size_t classes;          /* 0: output rows of a band are neighbours; else so far apart */
    bool dense;
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

/* The lines of the image of which a band of neighbouring rows has one, see sn_band_sparse(). */
static inline size_t sn_band_every(const struct sn_band * band, const struct sn_convolution_parameters * p)
{
    return band->classes ? 1 : p->strideY / band->strideY;
}

/* The lines of a band between two taps. */
static inline size_t sn_band_tap(const struct sn_band * band, const struct sn_convolution_parameters * p)
{
    return band->dense ? 1 : p->dilationY / sn_band_every(band, p);
}

/* The columns of the image of which a band of pixels has one: a copy may leave out those that a stride skips. */
static inline size_t sn_band_step(const struct sn_band * band, const struct sn_convolution_parameters * p)
{
    return p->strideX / band->strideX;
}

/* The columns of a band that the outputs use. */
static inline size_t sn_band_columns(const struct sn_band * band, const struct sn_convolution_parameters * p)
{
    return sn_used(p->dstW, band->strideX, p->kernelX, p->dilationX / sn_band_step(band, p));
}

/* Plans a band of pixels: sets copied, columns and the strides. It is copied if `wanted`, or for padding. With `planes` no
 * columns are left out, since lines of planes are not read with a stride. */
void sn_band_plan(struct sn_band * band, const struct sn_convolution_parameters * p, bool wanted, bool planes);

/* Leaves out the lines that no tap of any row uses, if the stride and the dilation have a common divisor. It must be copied. */
void sn_band_sparse(struct sn_band * band, const struct sn_convolution_parameters * p);

/* Makes a band one of output rows that use the same lines, for a kernel and a dilation of several lines. */
void sn_band_dilated(struct sn_band * band, const struct sn_convolution_parameters * p, bool dense);

/* Makes a band that of some columns of the outputs, those of p; its pixels and strides remain. */
void sn_band_narrow(struct sn_band * band, const struct sn_convolution_parameters * p);

/* Sets band->rows and band->lines so that the lines have a size of about `budget`. band->line and strideY must be set. */
void sn_band_rows(struct sn_band * band, const struct sn_convolution_parameters * p, size_t budget);

/* Sets them for at most `rows` rows. */
void sn_band_limit(struct sn_band * band, const struct sn_convolution_parameters * p, size_t rows);

/* Rows are counted class by class, each with those that are missing, so that none is in a band with rows of the next class:
 * so many, and the first of those from `at` on, below `end`, that are in one band of a class. */
struct sn_class_rows {
    size_t row, rows; /* the first row, and rows, sn_band_classes() apart: 0 if all are missing */
    size_t counted;
};
size_t sn_band_counted(const struct sn_band * band, const struct sn_convolution_parameters * p);
struct sn_class_rows sn_band_rows_at(const struct sn_band * band, const struct sn_convolution_parameters * p, size_t at,
                                     size_t end);

/* From an output row of a band to the next. */
static inline size_t sn_band_classes(const struct sn_band * band) { return sn_max(band->classes, 1); }

/* The lines that all bands copy, with bands of about `budget`; band->line and strideY must be set. */
size_t sn_band_copied(struct sn_band band, const struct sn_convolution_parameters * p, size_t budget);

/* Functions that copy a band of pixels: both get `job` as their first argument, and addresses of bytes. */
struct sn_band_copy {
    const struct sn_band * band;
    const struct sn_convolution_parameters * p;
    size_t unit; /* bytes of the unit of band->pixel and band->line */
    const void * job;
    void (*fill)(const void * job, uint8_t * to, size_t bytes); /* padding */
    /* copies `pixels` pixels of the image: first, first + step ... */
    void (*copy)(const void * job, size_t first, size_t step, size_t pixels, uint8_t * to);
};

/* Copies the input of output rows row .. row + rows - 1. */
void sn_band_copy(const struct sn_band_copy * b, size_t row, size_t rows, uint8_t * to);

#endif
