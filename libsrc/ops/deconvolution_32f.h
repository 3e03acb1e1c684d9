/*
 * Deconvolution of floats: what its algorithms share. Plans are those of convolutions (ops/convolution_32f.h), with other
 * ways.
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

#include "ops/convolution_32f.h"

struct sn_phase {
    size_t taps;  /* there may be none; then the bias is all */
    size_t first; /* the lowest of them */
    size_t from;  /* the line of a band where the last of them finds output 0; the tap before finds it lineStep further */
    size_t count; /* outputs */
};

/* Tap number `turn` of a phase, in the order of lines. */
static inline size_t sn_phase_tap(const struct sn_phases * a, const struct sn_phase * f, size_t turn)
{
    return f->first + (f->taps - 1 - turn) * a->tapStep;
}

/* How many neighbouring phases from f on have the same inputs: their outputs are the columns of one product. */
size_t sn_phases_alike(const struct sn_phases * a, size_t f);

/* True when no output reaches beyond the image, of `extent` lines. */
static inline bool sn_phases_inside(const struct sn_phases * a, size_t extent)
{
    return a->low >= 0 && (size_t)a->low + a->reach + a->count <= extent;
}

/* Of `count` places from `low` on, which may be negative: how many are before 0,
 * how many then from `begin` below `extent`. */
struct sn_span {
    size_t before, begin, inside;
};
struct sn_span sn_span_of(ptrdiff_t low, size_t count, size_t extent);

/* Bands of about equal height, that `budget` floats suffice for: `row` for each output of a phase,
 * and `fixed` for a band. */
void sn_deconvolution_32f_rows(struct sn_convolution_32f * c, size_t row, size_t fixed, size_t budget);

/* The rows of a band that a phase has, from output `row` of the phases on. */
static inline size_t sn_phase_rows(const struct sn_convolution_32f * c, const struct sn_phase * f, size_t row)
{
    return f->count > row ? sn_min(c->band.rows, f->count - row) : 0;
}

/*
 * Offsets in a band of the inputs of an output: by lines, columns, then `planes` planes. Phases have the largest number of
 * columns or one less: a table for either, where the lines of a phase are the first ones.
 */
bool sn_deconvolution_32f_segments(struct sn_convolution_32f * c, size_t planes);
void sn_deconvolution_32f_offsets(const struct sn_convolution_32f * c, size_t planes, size_t * segment);
static inline const size_t * sn_phase_offsets(const struct sn_convolution_32f * c, const struct sn_phase * x, size_t planes)
{
    return c->segment + (x->taps < c->x.taps ? c->y.taps * c->x.taps * planes : 0);
}

/*
 * NCHW: the band of `planes` channels, or the image itself if that will do and need not be `copied`, for `budget` floats
 * with `more` for a row of all phases beside them; workSize is that of the band. And the copy of what outputs `row` and
 * behind need of a plane.
 */
bool sn_planes_plan(struct sn_convolution_32f * c, bool copied, size_t planes, size_t more, size_t budget);
void sn_planes_copy(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, sn_32f * to);

/* Rows of the result from products of all phases in x; up to a vector behind those of a row is read. */
void sn_planes_interleave(const struct sn_convolution_32f * c, const struct sn_interleave_32f * job);

/*
 * Computes outputs `row` and behind of all phases, as many as the band of the plan has rows, for group g of an image: src
 * and dst are its first planes, or the image where there is one group.
 */
typedef void (*sn_deconvolution_32f_band_fn)(const struct sn_convolution_32f * c, size_t g, const sn_32f * src,
                                             sn_32f * work, size_t row, sn_32f * dst);

/* All bands of all groups and images, shared out to threads. */
void sn_deconvolution_32f_bands(const struct sn_convolution_32f * c, sn_deconvolution_32f_band_fn compute,
                                const sn_32f * src, sn_32f * work, sn_32f * dst);

/* Chooses the algorithm and computes all sizes for p, batch and table, which are set; as sn_convolution_32f_plan(). */
enum sn_error_kind sn_deconvolution_32f_plan(struct sn_convolution_32f * c);

extern const struct sn_convolution_32f_way sn_deconvolution_32f_depthwise, sn_deconvolution_32f_nhwc,
    sn_deconvolution_32f_converted, sn_deconvolution_32f_nchw;

#endif
