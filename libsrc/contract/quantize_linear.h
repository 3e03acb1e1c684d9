/* Floats to bytes and back. */
#ifndef SN_CONTRACT_QUANTIZE_LINEAR_H
#define SN_CONTRACT_QUANTIZE_LINEAR_H

#include "contract/enums.h"
#include "runtime/common.h"

/* Zeros, also those of SimdSynetQuantizeLinear(), are at most this on either side of 0: floats hold all sums exactly. */
#define SN_MOST_ZERO (1 << 23)

/* The scale and the zero of every element if `each`, otherwise one of both for all. */
struct sn_quantization {
    const sn_32f * scale;
    const int32_t * zero;
    bool each;
    bool divides;  /* quantisation: x / scale, otherwise x * scale; with `each` it divides */
    bool negative; /* bytes are int8_t, otherwise uint8_t */
};

/* The nearest integer of x / scale, ties to even, plus zero, limited to what a byte holds; the least byte for NaN. */
typedef void (*sn_quantize_linear_fn)(const struct sn_quantization * q, const sn_32f * src, size_t size, uint8_t * dst);

/* (src - zero) * scale. With `stream` dst may be written with non-temporal stores. */
typedef void (*sn_dequantize_linear_fn)(const struct sn_quantization * q, const uint8_t * src, size_t size, sn_32f * dst,
                                        bool stream);

/* Makes range[0] the least and range[1] the largest of itself and all elements that are not NaN. range[0] <= 0 <= range[1],
 * and zeros may have any sign. */
typedef void (*sn_range_fn)(const sn_32f * src, size_t size, float range[2]);

/* The kernels of a level. */
struct sn_quantize_linear_slots {
    sn_quantize_linear_fn quantize;
    sn_dequantize_linear_fn dequantize;
    sn_range_fn range;
};

#endif
