/*
 * Deconvolution of floats: the family, and what its algorithms share.
 *
 * Of stride 1 it is a convolution with the flipped kernel. Of any other, along an axis, let t = y + pad: it gets
 * src[s] * weight[k] where s * stride + k * dilation = t. So outputs y = f, f + stride, f + 2 * stride ... are reached by
 * the same taps, and they are a phase: a convolution of stride 1 with those taps. With g the greatest common divisor of
 * stride and dilation, these are stride / g apart, and what they find in the image dilation / g. Nothing is scattered, no
 * product is computed that is not part of a result, and no result is written more than once.
 *
 * All phases read the same band of input lines. The taps of a phase are taken from the last one on, so that lines of input
 * go upwards.
 */
#ifndef SN_OPS_DECONVOLUTION_32F_H
#define SN_OPS_DECONVOLUTION_32F_H

#include "ops/band.h"
#include "ops/convolution.h"

extern const struct sn_convolution_family sn_deconvolution_32f;

extern const struct sn_convolution_algorithm sn_deconvolution_32f_base, sn_deconvolution_32f_depthwise,
    sn_deconvolution_32f_nhwc, sn_deconvolution_32f_converted, sn_deconvolution_32f_nchw;

struct sn_phase {
    size_t taps;  /* there may be none; then the bias is all */
    size_t first; /* the lowest of them */
    size_t from;  /* the line of a band where the last of them finds output 0; the tap before finds it lineStep further */
    size_t count; /* outputs */
};

/* Of one axis. */
struct sn_phases {
    struct sn_phase * phase;
    size_t number;
    size_t stride;            /* from one output of a phase to the next */
    size_t count;             /* outputs of the first phase, of which no other has more */
    size_t tapStep, lineStep; /* between the taps of a phase, and between the lines of input that they find */
    size_t taps;              /* of the phase that has most of them */
    size_t reach;             /* lines that all phases together need for one output of each, less one */
    ptrdiff_t low;            /* the first of them for output 0, in the image */
};

/* What the family has in c->shared. */
struct sn_phases_2 {
    struct sn_phases y, x;
};
static inline const struct sn_phases * sn_phases_y(const struct sn_convolution * c)
{
    return &((const struct sn_phases_2 *)(const void *)c->shared)->y;
}
static inline const struct sn_phases * sn_phases_x(const struct sn_convolution * c)
{
    return &((const struct sn_phases_2 *)(const void *)c->shared)->x;
}

/* Tap number `n` of a phase, in the order of lines. */
static inline size_t sn_phase_tap(const struct sn_phases * a, const struct sn_phase * f, size_t n)
{
    return f->first + (f->taps - 1 - n) * a->tapStep;
}

/* How many neighbouring phases from f on have the same inputs: their outputs are the columns of one product. */
size_t sn_phases_alike(const struct sn_phases * a, size_t f);

/* Whether any phase has a tap, so that there is an input. */
static inline bool sn_phases_used(const struct sn_convolution * c) { return sn_phases_y(c)->taps && sn_phases_x(c)->taps; }

/* True when some output reaches beyond the image. */
static inline bool sn_phases_reach_out(const struct sn_phases * a, size_t extent)
{
    return a->low < 0 || (size_t)a->low + a->reach + a->count > extent;
}

/* Of `count` places from `low` on, which may be negative: how many are before 0,
 * how many then from `begin` below `extent`. */
struct sn_span {
    size_t before, begin, inside;
};
struct sn_span sn_span_of(ptrdiff_t low, size_t count, size_t extent);

/* Lines of input of so many rows of all phases. */
static inline size_t sn_phase_lines(const struct sn_convolution * c, size_t rows) { return rows + sn_phases_y(c)->reach; }

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
