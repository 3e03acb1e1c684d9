/* Addition of two arrays. */
#ifndef SN_CONTRACT_ADD_H
#define SN_CONTRACT_ADD_H

#include "contract/enums.h"
#include "runtime/common.h"

/* The arguments of SimdSynetAdd8i except sizes and format; upper is the largest byte of the result. */
struct sn_add_8i {
    const uint8_t * a;
    const sn_32f * aScale, * aShift;
    const uint8_t * b;
    const sn_32f * bScale, * bShift;
    uint8_t * c;
    const sn_32f * cScale, * cShift;
    uint8_t upper;
};

/* One image of SimdSynetAdd8i, NCHW or NHWC. */
typedef void (*sn_add_8i_fn)(const struct sn_add_8i * add, size_t channels, size_t spatial, enum sn_format format);

/* dst[i] = a[i] + b[i], elements float or bfloat16, at any address. */
typedef void (*sn_add_16b_fn)(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size);

/*
 * The sum of two arrays, each of floats or of bytes with a scale and a zero, as floats or as bytes.
 *
 *   all bytes   nearest(fma(a, aScale, fma(b, bScale, shift))), each fma rounded once; at least `least`
 *   otherwise   v = (a - aZero) * aScale + (b - bZero) * bScale, a float as it is; max(0, v) if `relu`;
 *               as a byte nearest(v * dstScale) + dstZero
 *
 * nearest() is to even, and bytes are limited to 0 .. 255; NaN gives 0.
 */
struct sn_add_quantized {
    float aScale, bScale, shift;
    float aZero, bZero;
    float dstScale;
    int32_t dstZero;
    uint8_t least;
    bool relu;
};

typedef void (*sn_add_quantized_fn)(const struct sn_add_quantized * p, const uint8_t * a, const uint8_t * b, uint8_t * dst,
                                    size_t size);

/* The kernels: X(type of a, type of b, type of dst): 0 is float, 1 is byte. */
#define SN_ADD_QUANTIZED_LIST(X) X(0, 0, 0) X(0, 0, 1) X(0, 1, 0) X(0, 1, 1) X(1, 0, 0) X(1, 0, 1) X(1, 1, 0) X(1, 1, 1)

/* The kernels of a level. */
struct sn_add_slots {
    sn_add_8i_fn run_8i;
    sn_add_16b_fn run_16b[2][2][2]; /* [a][b][dst]: 0 is float, 1 is bfloat16 */
    sn_add_quantized_fn run_quantized[2][2][2];
};

#endif
