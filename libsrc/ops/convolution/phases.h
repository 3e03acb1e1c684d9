/*
 * The phases of a deconvolution along an axis.
 *
 * With t = y + pad, output y is the sum of src[s] * weight[k] for all s * stride + k * dilation = t. So outputs y = f,
 * f + stride, f + 2 * stride ... use the same taps. They form a phase: a convolution with stride 1 and these taps. With g
 * the greatest common divisor of stride and dilation, the taps are stride / g apart, and their inputs dilation / g.
 */
#ifndef SN_OPS_CONVOLUTION_PHASES_H
#define SN_OPS_CONVOLUTION_PHASES_H

#include "ops/convolution/plan.h"

struct sn_phase {
    size_t taps;  /* may be 0; then the outputs are the bias */
    size_t first; /* the lowest tap */
    size_t from;  /* the line of a band that the last tap uses for output 0; the tap before uses the one lineStep further */
    size_t count; /* outputs */
};

/* The phases of one axis. */
struct sn_phases {
    struct sn_phase * phase;
    size_t number;
    size_t stride;            /* from one output of a phase to the next */
    size_t count;             /* outputs of the first phase, the maximum of all phases */
    size_t tapStep, lineStep; /* between the taps of a phase, and between the lines of input that they use */
    size_t taps;              /* maximum number of taps of a phase */
    size_t reach;             /* lines that all phases together need for one output of each, minus 1 */
    ptrdiff_t low;            /* the first of these lines for output 0, in the image */
};

/* The phases of both axes: c->familyData of the family. */
struct sn_phase_axes {
    struct sn_phases y, x;
};
static inline const struct sn_phases * sn_phases_y(const struct sn_convolution * c)
{
    return &((const struct sn_phase_axes *)(const void *)c->familyData)->y;
}
static inline const struct sn_phases * sn_phases_x(const struct sn_convolution * c)
{
    return &((const struct sn_phase_axes *)(const void *)c->familyData)->x;
}

/* Tap number `n` of a phase, in the order of lines. */
static inline size_t sn_phase_tap(const struct sn_phases * a, const struct sn_phase * f, size_t n)
{
    return f->first + (f->taps - 1 - n) * a->tapStep;
}

/* How many neighbouring phases from f on have the same inputs: their outputs are the columns of one product. */
size_t sn_phases_alike(const struct sn_phases * a, size_t f);

/* True if both plans have the same phases with the same taps, so that weights sorted by phases are the same. */
bool sn_phases_same(const struct sn_convolution * c, const struct sn_convolution * other);

/* True if any phase has a tap, so that input is read. */
static inline bool sn_phases_used(const struct sn_convolution * c) { return sn_phases_y(c)->taps && sn_phases_x(c)->taps; }

/* True if some output needs padding. */
static inline bool sn_phases_reach_out(const struct sn_phases * a, size_t extent)
{
    return a->low < 0 || (size_t)a->low + a->reach + a->count > extent;
}

/* Of `count` positions from `low` on, which may be negative: the number before 0, then the number inside, from `begin` on
 * and below `extent`. */
struct sn_span {
    size_t before, begin, inside;
};
struct sn_span sn_span_of(ptrdiff_t low, size_t count, size_t extent);

/* Lines of input for `rows` rows of all phases. */
static inline size_t sn_phase_lines(const struct sn_convolution * c, size_t rows) { return rows + sn_phases_y(c)->reach; }

/* For cost models: the part of the phases that have taps, the multiply-adds of an output, and cycles for all outputs from vector
 * cycles for one of a phase. */
double sn_phases_with_taps(const struct sn_phases * a);
double sn_phases_depth(const struct sn_convolution * c);
double sn_of_phases(const struct sn_convolution * c, double cycles);

/* The floats in a row of all panels for `columns` columns. */
static inline size_t sn_panels_width(const struct sn_gemm_32f_tile * tile, size_t columns)
{
    return columns / tile->columns * tile->columns + sn_gemm_width(tile, columns % tile->columns);
}

/* Plans the phases and their table, c->tables, which is NULL if it would be too large or if there is no tile. The only error
 * is lack of memory. */
enum sn_error_kind sn_phases_plan(struct sn_convolution * c);

#endif
