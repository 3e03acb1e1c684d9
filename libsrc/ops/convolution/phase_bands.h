/*
 * Bands of a deconvolution, which all phases read. The taps of a phase are used in reverse order, so that the lines of input
 * are in ascending order.
 */
#ifndef SN_OPS_CONVOLUTION_PHASE_BANDS_H
#define SN_OPS_CONVOLUTION_PHASE_BANDS_H

#include "ops/convolution/band.h"
#include "ops/convolution/phases.h"

/* Plans bands of about equal height that need at most `budget` floats: `row` for each output row of a phase, and `fixed` for
 * each band. */
void sn_phase_band_rows(const struct sn_convolution * c, size_t row, size_t fixed, size_t budget,
                        struct sn_band * band);

/* How many of `rows` output rows from `row` on a phase has. */
static inline size_t sn_phase_rows(const struct sn_phase * f, size_t row, size_t rows)
{
    return f->count > row ? sn_min(rows, f->count - row) : 0;
}

/*
 * Offsets in a band of the inputs of an output: by lines, columns, then `planes` planes. Phases have the maximum number of
 * columns or one less: there is a table for each, and a phase with fewer lines uses the first ones.
 */
bool sn_phase_segments_plan(struct sn_convolution * c, size_t planes);
void sn_phase_segments_offsets(const struct sn_convolution * c, const struct sn_band * band, size_t planes);
static inline const size_t * sn_phase_offsets(const struct sn_convolution * c, const struct sn_phase * x, size_t planes)
{
    const size_t taps = sn_phases_x(c)->taps;
    return c->segment + (x->taps < taps ? sn_phases_y(c)->taps * taps * planes : 0);
}

/* Outputs begin .. end - 1 of each phase in x, those that it has. */
struct sn_phase_columns {
    size_t begin, end;
};
static const struct sn_phase_columns SN_ALL_COLUMNS = {0, SIZE_MAX};

/*
 * Where phases have a single row, as in signals, threads share the columns: runs compute() for some of them, which
 * sn_phase_columns_of() finds, of all phases of each group of each image. False: they are not shared, and nothing was computed.
 */
bool sn_phase_columns_run(const struct sn_convolution * c, const struct sn_arrays * a,
                          void (*compute)(const struct sn_convolution * c, const struct sn_share * s,
                                          const struct sn_arrays * a));
struct sn_phase_columns sn_phase_columns_of(const struct sn_convolution * c, const struct sn_share * s);

/* Runs compute() for all output rows, at most band->rows at a time, of all phases of each group of each image; its arrays
 * are those of one group of one image. */
void sn_phase_bands_run(const struct sn_convolution * c, const struct sn_band * band, const struct sn_arrays * a,
                        void (*compute)(const struct sn_convolution * c, const struct sn_share * s,
                                        const struct sn_arrays * a));

#endif
