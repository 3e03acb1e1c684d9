/* Values that the tests of the vector vocabulary give to its words, as bits. */
#ifndef SN_TESTS_TEST_VEC_VALUES_H
#define SN_TESTS_TEST_VEC_VALUES_H

#include "test_vec.h"

/*
 * Zeros, subnormals, normals at the limits of the range, infinities, quiet and signalling NaNs, each with both signs; ties
 * of rounding to integer and to bfloat16, integers, and the largest numbers that have a fraction bit.
 */
static const uint32_t special_32f[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00008000, 0x807FFFFF, 0x00800000,
    0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 0xFFBFFFFF, 0x3F800000,
    0xBF800000, 0x3F000000, 0xBF000000, 0x3EFFFFFF, 0x3FC00000, 0x40200000, 0xC0200000, 0xC0600000, 0x3F808000, 0x3F818000,
    0xBF808001, 0x4AFFFFFF, 0x4B000001, 0xCAFFFFFD, 0x4A7FFFFE, 0x4E9651F4, 0x33800000};

static const uint32_t special_32i[] = {0, 1, 2, 127, 128, 254, 255, 256, 32767, 32768, 65535, 65536, 16777217, 0x7F000000,
    0x7FFFFFBF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFF0000, 0xFFFF7FFF, 0xFFFF8000, 0xFFFF8001, 0xFFFFFF00, 0xFFFFFFFE,
    0xFFFFFFFF, 0x55555555, 0xAAAAAAAA};

static const uint32_t special_16i[] = {0, 1, 2, 127, 128, 255, 256, 0x3F80, 0x7F80, 0x7FC0, 0x7FFF, 0x8000, 0x8001, 0xBF80,
    0xFF00, 0xFF80, 0xFFFE, 0xFFFF, 0x5555, 0xAAAA};

SN_INLINE bool is_nan(uint32_t bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; }

#endif
