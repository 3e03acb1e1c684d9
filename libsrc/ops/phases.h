/*
 * The phases of a deconvolution along an axis.
 *
 * With t = y + pad, output y gets src[s] * weight[k] where s * stride + k * dilation = t. So outputs y = f, f + stride,
 * f + 2 * stride ... are reached by the same taps, and they are a phase: a convolution of stride 1 with those taps. With g
 * the greatest common divisor of stride and dilation, these are stride / g apart, and what they find in the image
 * dilation / g.
 */
#ifndef SN_OPS_PHASES_H
#define SN_OPS_PHASES_H

#include "ops/convolution.h"

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

/* Of both axes, what the family has in c->shared. */
struct sn_phase_axes {
    struct sn_phases y, x;
};
static inline const struct sn_phases * sn_phases_y(const struct sn_convolution * c)
{
    return &((const struct sn_phase_axes *)(const void *)c->shared)->y;
}
static inline const struct sn_phases * sn_phases_x(const struct sn_convolution * c)
{
    return &((const struct sn_phase_axes *)(const void *)c->shared)->x;
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

/* The floats in a row of all panels of so many columns. */
static inline size_t sn_panels_width(const struct sn_gemm_32f_tile * tile, size_t columns)
{
    return columns / tile->columns * tile->columns + sn_gemm_width(tile, columns % tile->columns);
}

/* Plans the phases and their table, c->tables, which is NULL where it would be too large, and where there is no tile. An
 * error is that there is no memory. */
enum sn_error_kind sn_phases_plan(struct sn_convolution * c);

#endif
