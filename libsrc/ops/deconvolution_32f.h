/*
 * Deconvolution of floats: the family, and what its algorithms share.
 *
 * Of stride 1 it is a convolution with the flipped kernel. Of any other, its outputs fall into phases (ops/phases.h), each a
 * convolution of stride 1 with some of the taps. Nothing is scattered, no product is computed that is not part of a result,
 * and no result is written more than once.
 *
 * All phases read the same band of input lines. The taps of a phase are taken from the last one on, so that lines of input
 * go upwards.
 */
#ifndef SN_OPS_DECONVOLUTION_32F_H
#define SN_OPS_DECONVOLUTION_32F_H

#include "ops/band.h"
#include "ops/phases.h"

extern const struct sn_convolution_family sn_deconvolution_32f;

extern const struct sn_convolution_algorithm sn_deconvolution_32f_base, sn_deconvolution_32f_depthwise,
    sn_deconvolution_32f_nhwc, sn_deconvolution_32f_converted, sn_deconvolution_32f_nchw;

/* Bands of about equal height, that `budget` floats suffice for: `row` for each output of a phase, and `fixed` for a
 * band. */
void sn_deconvolution_32f_rows(const struct sn_convolution * c, size_t row, size_t fixed, size_t budget,
                               struct sn_band * band);

/* Those of `rows` outputs from `row` on that a phase has. */
static inline size_t sn_phase_rows(const struct sn_phase * f, size_t row, size_t rows)
{
    return f->count > row ? sn_min(rows, f->count - row) : 0;
}

/*
 * Offsets in a band of the inputs of an output: by lines, columns, then `planes` planes. Phases have the largest number of
 * columns or one less: a table for either, where the lines of a phase are the first ones.
 */
bool sn_deconvolution_32f_segments(struct sn_convolution * c, size_t planes);
void sn_deconvolution_32f_offsets(const struct sn_convolution * c, const struct sn_band * band, size_t planes);
static inline const size_t * sn_phase_offsets(const struct sn_convolution * c, const struct sn_phase * x, size_t planes)
{
    const size_t taps = sn_phases_x(c)->taps;
    return c->segment + (x->taps < taps ? sn_phases_y(c)->taps * taps * planes : 0);
}

/* compute() for `rows` outputs, from `row` on, of all phases of a group of an image, which are all of the arrays: all such,
 * at most band->rows at a time. */
void sn_deconvolution_32f_run(const struct sn_convolution * c, const struct sn_band * band, const struct sn_arrays * a,
                              void (*compute)(const struct sn_convolution * c, const struct sn_share * s,
                                              const struct sn_arrays * a));

#endif
