/* Normalization of images: layer, instance and global response normalization, and division by the length. */
#ifndef SN_CONTRACT_NORMALIZE_H
#define SN_CONTRACT_NORMALIZE_H

#include "contract/enums.h"
#include "runtime/common.h"

enum sn_normalize_kind {
    SN_NORMALIZE_LENGTH,        /* SimdSynetNormalizeLayerForward: each position ... */
    SN_NORMALIZE_LENGTH_ACROSS, /* ... or the whole image                            */
    SN_NORMALIZE_LAYER,         /* V2                                                */
    SN_NORMALIZE_INSTANCE,      /* V3                                                */
    SN_NORMALIZE_RESPONSE,      /* V4                                                */
    SN_NORMALIZE_GROUPS         /* SimdnetGroupNorm(), NCHW                          */
};

/* The arguments of the public functions; shift is NULL for the first two kinds. */
struct sn_normalize {
    enum sn_normalize_kind kind;
    const sn_32f * src;
    size_t batch, channels, spatial;
    const sn_32f * scale, * shift;
    float eps;
    sn_32f * dst;
    enum sn_format format;
    size_t groups; /* of channels; only of the last kind */
};

/* All images, a direct implementation of the formulas. */
typedef void (*sn_normalize_fn)(const struct sn_normalize * p);

/*
 * `number` lines of `count` values, each normalized by itself: rows of `count` neighbours, one after another, or columns,
 * neighbours of each other, whose values are `stride` apart. Value i of a line has scale[i] and shift[i]. With shift NULL,
 * values are divided by the root of eps + the sum of their squares; otherwise the mean is subtracted, and they are divided
 * by the root of eps + the variance.
 */
struct sn_normalize_lines {
    const sn_32f * src;
    size_t number, count, stride;
    const sn_32f * scale, * shift;
    float eps;
    sn_32f * dst;
    bool stream; /* rows: results are written around the caches, where v_stream_32f() can store them */
};

typedef void (*sn_normalize_lines_fn)(const struct sn_normalize_lines * lines);

/*
 * The sum of the squared differences from the mean of each of `number` lines of `count` values, rows or columns that are
 * `number` apart. With mean NULL, from 0.
 */
typedef void (*sn_moments_fn)(const sn_32f * src, size_t number, size_t count, sn_32f * mean, sn_32f * squares);

/*
 * The coefficients a and b of (x - mean) / sqrt(squares / count + eps) * scale + shift = x * a + b for `number` lines:
 * `squares` becomes a, and `mean` b. A single value is its mean, so that a is 0.
 */
typedef void (*sn_coefficients_fn)(size_t number, size_t count, const sn_32f * scale, const sn_32f * shift, float eps,
                                   sn_32f * mean, sn_32f * squares);

/* The kernels of a level. Only `base` has the first, and it lacks the others. */
struct sn_normalize_slots {
    sn_normalize_fn layer;
    sn_normalize_lines_fn rows, columns;
    sn_moments_fn row_moments, column_moments;
    sn_coefficients_fn coefficients;
};

#endif
