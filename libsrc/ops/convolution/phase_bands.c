#include "ops/convolution/phase_bands.h"

#include "ops/convolution/cost.h"

void sn_phase_band_rows(const struct sn_convolution * c, size_t row, size_t fixed, size_t budget,
                        struct sn_band * band)
{
    const size_t count = sn_phases_y(c)->count, fit = budget > fixed ? (budget - fixed) / sn_max(row, 1) : 0;
    band->rows = sn_ceil_div(count, sn_ceil_div(count, sn_min(sn_max(fit, 1), count)));
    band->lines = sn_phase_lines(c, band->rows);
}

bool sn_phase_segments_plan(struct sn_convolution * c, size_t planes)
{
    const size_t taps = sn_phases_x(c)->taps;
    c->segments = 0;
    return taps == 0 || sn_product(&c->segments, sn_phases_y(c)->taps, 2 * taps - 1, planes);
}

void sn_phase_segments_offsets(const struct sn_convolution * c, const struct sn_band * band, size_t planes)
{
    const struct sn_phases * py = sn_phases_y(c), * px = sn_phases_x(c);
    size_t * segment = c->segment;
    for (size_t taps = px->taps; taps && taps + 1 >= px->taps; --taps)
        for (size_t y = 0; y < py->taps; ++y)
            for (size_t x = 0; x < taps; ++x)
                for (size_t i = 0; i < planes; ++i)
                    *segment++ = y * py->lineStep * band->line + x * px->lineStep * band->pixel + i * band->plane;
}

/* Arrays of what is computed in parts: in NCHW, groups. */
static size_t parts_of(const struct sn_convolution * c) { return c->p.srcF == SN_NHWC ? 1 : c->p.group; }

enum { COLUMNS = 32 }; /* of each phase, in a unit: at least two tiles of rows */

struct sn_phase_columns sn_phase_columns_of(const struct sn_convolution * c, const struct sn_share * s)
{
    return (struct sn_phase_columns){s->line * COLUMNS, sn_min((s->line + s->lines) * COLUMNS, sn_phases_x(c)->count)};
}

bool sn_phase_columns_run(const struct sn_convolution * c, const struct sn_arrays * a,
                          void (*compute)(const struct sn_convolution * c, const struct sn_share * s,
                                          const struct sn_arrays * a))
{
    const size_t units = sn_ceil_div(sn_phases_x(c)->count, COLUMNS);
    if (sn_phases_y(c)->count != 1 || units < 2)
        return false;
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute, .parts = parts_of(c),
        .time = sn_deconvolution_32f_time(c), .shares = {.lines = units, .most = units}});
    return true;
}

void sn_phase_bands_run(const struct sn_convolution * c, const struct sn_band * band, const struct sn_arrays * a,
                        void (*compute)(const struct sn_convolution * c, const struct sn_share * s,
                                        const struct sn_arrays * a))
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .parts = parts_of(c), .time = sn_deconvolution_32f_time(c),
        .shares = {.lines = sn_phases_y(c)->count, .most = band->rows, .least = sn_ceil_div(32, sn_phases_x(c)->count)}});
}
