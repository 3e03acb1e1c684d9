/* Sums and products of bytes with scales and zeros. */
#ifndef SN_CONTRACT_QUANTIZED_BINARY_H
#define SN_CONTRACT_QUANTIZED_BINARY_H

#include "runtime/common.h"

/*
 * The numbers of an operation:
 *
 *   Add        nearest(fma(a, aScale, fma(b, bScale, shift))), each fma rounded once
 *   Multiply   nearest((a - aZero) * (b - bZero) * factor + shift), the product of integers exact, then each operation rounded
 *
 * nearest() is to even, and results are limited to 0 .. 255, or -128 .. 127 if `negative`; NaN gives the least.
 */
struct sn_quantized_binary {
    float aScale, bScale;
    float aZero, bZero, factor;
    float shift;
    bool negative; /* bytes are int8_t */
    bool near;     /* results are numbers of at most 2^24 before they are limited: no scale is extreme */
};

/* dst may be a or b. */
typedef void (*sn_quantized_binary_fn)(const struct sn_quantized_binary * p, const uint8_t * a, const uint8_t * b,
                                       uint8_t * dst, size_t size);

/* The kernels of a level. */
struct sn_quantized_binary_slots {
    sn_quantized_binary_fn add, multiply;
};

#endif
