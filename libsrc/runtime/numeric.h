/* Scalar conversions of numbers, used by `base` and the tests; the vector vocabulary gives bit-identical results. */
#ifndef SN_RUNTIME_NUMERIC_H
#define SN_RUNTIME_NUMERIC_H

#include <stdint.h>
#include <string.h>

static inline uint32_t sn_bits_32f(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline float sn_from_bits_32f(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* bfloat16 is the upper half of a float. */
static inline float sn_16b_to_32f(uint16_t x) { return sn_from_bits_32f((uint32_t)x << 16); }

/*
 * Rounds to the nearest bfloat16, ties to even; subnormals are kept, values beyond the largest bfloat16 become infinity.
 * A NaN stays a NaN: its upper half is kept and made quiet.
 */
static inline uint16_t sn_32f_to_16b(float x)
{
    uint32_t bits = sn_bits_32f(x);
    if ((bits & 0x7FFFFFFF) > 0x7F800000)
        return (uint16_t)(bits >> 16 | 0x0040);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* Nearest integer of t, ties to even, limited to 0 .. upper; 0 for NaN. Below 256, adding 2^23 rounds the fraction away. */
static inline uint8_t sn_32f_to_8u(float t, uint8_t upper)
{
    if (!(t > 0))
        return 0;
    if (t >= upper)
        return upper;
    const float rounded = t + 0x1p23f;
    return (uint8_t)(sn_bits_32f(rounded) & 0xFF);
}

#endif
