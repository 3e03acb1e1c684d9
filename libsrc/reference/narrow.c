#include "contract/narrow.h"
#include "reference/reference.h"
#include "runtime/numeric.h"

static uint16_t half_of(float x)
{
    const uint32_t bits = sn_bits_32f(x), size = bits & 0x7FFFFFFF, exponent = size >> 23, sign = bits >> 16 & 0x8000;
    if (size > 0x7F800000)
        return (uint16_t)(sign | 0x7E00 | (size >> 13 & 0x3FF));
    if (exponent >= 127 + 16)
        return (uint16_t)(sign | 0x7C00);
    if (exponent < 127 - 25)
        return (uint16_t)sign;
    /* Below 2^-14 the last place of a half is 2^-24. */
    const uint32_t normal = 127 - 14, shift = exponent < normal ? 13 + normal - exponent : 13;
    const uint32_t significand = (size & 0x7FFFFF) | 0x800000;
    const uint32_t whole = significand >> shift, rest = significand & ((1U << shift) - 1), tie = 1U << (shift - 1);
    const uint32_t rounded = whole + (rest > tie || (rest == tie && (whole & 1)));
    return (uint16_t)(sign | (exponent < normal ? rounded : rounded + ((exponent - normal) << 10)));
}

static float float_of(uint16_t half)
{
    const uint32_t exponent = half >> 10 & 31, fraction = half & 0x3FF, sign = (uint32_t)(half & 0x8000) << 16;
    if (exponent == 31)
        return sn_from_bits_32f(sign | 0x7F800000 | fraction << 13);
    const float place = sn_from_bits_32f((127 - 25 + (exponent ? exponent : 1)) << 23);
    const float size = (float)(exponent ? fraction | 0x400 : fraction) * place;
    return sn_from_bits_32f(sign | sn_bits_32f(size));
}

#define NARROW(name, from, to, f)                                                                                           \
    static void name(const uint8_t * src, size_t size, uint8_t * dst)                                                       \
    {                                                                                                                       \
        for (size_t i = 0; i < size; ++i)                                                                                   \
            ((to *)dst)[i] = f(((const from *)src)[i]);                                                                     \
    }

NARROW(to_16b, sn_32f, sn_16b, sn_32f_to_16b)
NARROW(from_16b, sn_16b, sn_32f, sn_16b_to_32f)
NARROW(to_16f, sn_32f, sn_16b, half_of)
NARROW(from_16f, sn_16b, sn_32f, float_of)

SN_INSTALL(narrow, narrow)
{
    slots->run[SN_32F_TO_16B] = to_16b;
    slots->run[SN_16B_TO_32F] = from_16b;
    slots->run[SN_32F_TO_16F] = to_16f;
    slots->run[SN_16F_TO_32F] = from_16f;
}
