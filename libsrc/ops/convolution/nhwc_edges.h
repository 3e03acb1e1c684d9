/*
 * Images in NHWC of which only the input of outputs at the edges, those that need padding, is copied: all others read the image
 * itself. The lines of a copy are as long as those of the image, so that both have the same offsets of taps.
 */
#ifndef SN_OPS_CONVOLUTION_NHWC_EDGES_H
#define SN_OPS_CONVOLUTION_NHWC_EDGES_H

#include "ops/convolution/nhwc_band.h"

/* Whether that is possible: some outputs need no padding, and those that do need no more columns than the image has. */
bool sn_edges_fit(const struct sn_convolution_parameters * p);

/* The same for a band of floats, planned as a copy. */
bool sn_nhwc_edges_fit(const struct sn_convolution_parameters * p, const struct sn_band * band);

/* Rows top .. bottom - 1 and columns left .. right - 1 of the output need no padding. */
struct sn_inner {
    size_t top, bottom, left, right;
};
struct sn_inner sn_inner_of(const struct sn_convolution_parameters * p);

/* Makes a band, planned as a copy, one of edges. */
void sn_nhwc_only_edges(const struct sn_convolution_parameters * p, struct sn_band * band);

/* Some outputs, rows y .. endY - 1 and columns x .. endX - 1: those at an edge, or those that need no padding. */
struct sn_edges_part {
    size_t y, endY, x, endX;
    bool inside;
    size_t at; /* if inside: the pixel of the image that is the first input */
};

struct sn_edges_run {
    const void * job;
    void (*run)(const void * job, const struct sn_edges_part * part);
};

/* Divides whole rows of outputs into parts, and runs them. */
void sn_edges_divide(const struct sn_convolution_parameters * p, size_t row, size_t rows, const struct sn_edges_run * run);

/* Copies the input of a part with its padding, each line to the beginning of a line of the band. */
void sn_edges_copy(const struct sn_band_copy * b, const struct sn_edges_part * part, uint8_t * to);

/* Some outputs, and the function that computes a part of them, with `job`. */
struct sn_nhwc_edges {
    const struct sn_convolution * c;
    const struct sn_band * band;
    struct sn_nhwc_image image;
    sn_32f * work; /* for the copies */
    const void * job;
    void (*compute)(const void * job, const struct sn_nhwc_rows * r); /* the source and r->columns are set */
};

/* Divides r, whole lines of outputs from r->row on, into parts that need padding or not, and computes them. */
void sn_nhwc_edges_run(const struct sn_nhwc_edges * e, const struct sn_nhwc_rows * r);

#endif
