/* Layers of quantised bytes that move and requantise them, on several threads: arguments are checked, and not empty. */
#ifndef SN_OPS_BYTES_QUANTIZED_H
#define SN_OPS_BYTES_QUANTIZED_H

#include "ops/elementwise/affine.h"

/* The numbers of bytes whose value is (byte + bias) * norm, made bytes of a scale and a zero. */
static inline struct sn_affine sn_requantization(int32_t bias, float norm, float scale, int32_t zero)
{
    return (struct sn_affine){.srcScale = norm, .srcZero = (float)-bias, .dstScale = scale, .dstZero = zero, .upper = 255};
}

/* `count` sources of `rows` rows, each of size[i] bytes, beside each other in rows of `step` bytes. */
struct sn_quantized_concat {
    size_t count, rows, step;
    const uint8_t ** src;
    const size_t * size;
    const sn_32i * bias;
    const sn_32f * norm;
    float scale;
    int32_t zero;
    uint8_t * dst;
};

void sn_quantized_concat(const struct sn_table * table, const struct sn_quantized_concat * p);

/* A tensor of these channels. */
struct sn_part {
    const uint8_t * at;
    size_t channels;
};

/* Channels of two sources, shuffled into two results; `bytes` of the sources. */
struct sn_quantized_shuffle {
    struct sn_part src[2], dst[2];
    struct sn_affine bytes[2];
    size_t spatial;
    bool nhwc, inverse;
};

/* False if there is no memory. */
bool sn_quantized_shuffle(const struct sn_table * table, const struct sn_quantized_shuffle * p);

#endif
