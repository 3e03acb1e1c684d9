/* Layers that change each element by coefficients of its channel, on several threads: arguments are checked, and not empty. */
#ifndef SN_OPS_ELEMENTWISE_AFFINE_H
#define SN_OPS_ELEMENTWISE_AFFINE_H

#include "contract/table.h"

/* Element i belongs to channel i / inner % channels. */
struct sn_affine_layer {
    enum sn_affine_kind kind;
    size_t size, channels, inner; /* size is a multiple of channels * inner */
    const sn_32f * k, * h;        /* of each channel; NULL: kAll, hAll for all of them */
    float kAll, hAll;
    struct sn_affine bytes;       /* its numbers of bytes */
    const void * src;
    void * dst;
};

/* What bytes without scale and zero have. */
static inline struct sn_affine sn_affine_plain(uint8_t upper)
{
    return (struct sn_affine){.srcScale = 1, .dstScale = 1, .upper = upper};
}

void sn_affine(const struct sn_table * table, const struct sn_affine_layer * p);

/* From bytes to values, a scale and a shift, and from values to bytes, as one product with k and one sum with h. */
struct sn_combination {
    size_t channels;
    const sn_32f * step; /* of the source's bytes; NULL for floats */
    float srcZero;
    const sn_32f * scale, * bias; /* bias may be NULL */
    const sn_32f * inverse;       /* of the steps of the result's bytes; NULL for floats */
    float dstZero;
    sn_32f * k, * h;
};

void sn_combine(const struct sn_combination * p);

/* values[i] = 1 / values[i] */
void sn_reciprocals(size_t count, sn_32f * values);

/* Rows of `size` bytes, one after another, to rows that are `step` apart: the value of each byte for dst's scale and zero. */
struct sn_requantize {
    size_t rows, size, step;
    struct sn_affine bytes;
    const uint8_t * src;
    uint8_t * dst;
};

void sn_requantize(const struct sn_table * table, const struct sn_requantize * p);

#endif
