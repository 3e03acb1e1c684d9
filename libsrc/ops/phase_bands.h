/*
 * Bands of a deconvolution, which all phases read. The taps of a phase are taken from the last one on, so that lines of
 * input go upwards.
 */
#ifndef SN_OPS_PHASE_BANDS_H
#define SN_OPS_PHASE_BANDS_H

#include "ops/band.h"
#include "ops/phases.h"

/* Bands of about equal height, that `budget` floats suffice for: `row` for each output of a phase, and `fixed` for a
 * band. */
void sn_phase_band_rows(const struct sn_convolution * c, size_t row, size_t fixed, size_t budget,
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
bool sn_phase_segments_plan(struct sn_convolution * c, size_t planes);
void sn_phase_segments_pack(const struct sn_convolution * c, const struct sn_band * band, size_t planes);
static inline const size_t * sn_phase_offsets(const struct sn_convolution * c, const struct sn_phase * x, size_t planes)
{
    const size_t taps = sn_phases_x(c)->taps;
    return c->segment + (x->taps < taps ? sn_phases_y(c)->taps * taps * planes : 0);
}

/* compute() for `rows` outputs, from `row` on, of all phases of a group of an image, which are all of the arrays: all such,
 * at most band->rows at a time. */
void sn_phase_bands_run(const struct sn_convolution * c, const struct sn_band * band, const struct sn_arrays * a,
                        void (*compute)(const struct sn_convolution * c, const struct sn_share * s,
                                        const struct sn_arrays * a));

#endif
