/*
 * Conversions of floats to bfloat16 and half precision, and back; bound by memory in large arrays. Halves are converted by
 * operations on integers, which every instruction set has. The conversions of F16C are not used: they make signalling NaNs
 * quiet in the direction that keeps them here.
 */
#include "contract/narrow.h"
#include "kernels/install.h"

/* ---- two vectors of floats, to or from a vector of 16-bit numbers */

/* Halves in the lower 16 bits of the lanes; the upper ones are 0. */
SN_INLINE v32i half_of(v32f x)
{
    const v32i bits = v_cast_32f_32i(x), size = v_and_32i(bits, v_set_32i(0x7FFFFFFF));
    const v32i odd = v_and_32i(v_shr_32i(size, 13), v_set_32i(1));
    const v32i normal = v_shr_32i(v_add_32i(v_add_32i(size, v_set_32i(0xFFF - (112 << 23))), odd), 13);
    /* Below 2^-14: multiples of 2^-24. */
    const v32m small = v_gt_32i(v_set_32i(0x38800000), size);
    const v32f multiple = v_mul_32f(v_cast_32i_32f(v_select_32i(small, size, v_set_32i(0))), v_set_32f(0x1p24f));
    v32i half = v_select_32i(small, v_cvt_32f_32i(v_round_32f(multiple)), normal);
    half = v_select_32i(v_gt_32i(size, v_set_32i(0x477FFFFF)), v_set_32i(0x7C00), half);
    const v32i nan = v_or_32i(v_and_32i(v_shr_32i(size, 13), v_set_32i(0x3FF)), v_set_32i(0x7E00));
    half = v_select_32i(v_gt_32i(size, v_set_32i(0x7F800000)), nan, half);
    return v_or_32i(half, v_and_32i(v_shr_32i(bits, 16), v_set_32i(0x8000)));
}

SN_INLINE v32f float_of(v32i half)
{
    const v32i size = v_and_32i(half, v_set_32i(0x7FFF)), bits = v_shl_32i(size, 13);
    const v32i small = v_cast_32f_32i(v_mul_32f(v_cvt_32i_32f(size), v_set_32f(0x1p-24f)));
    v32i x = v_select_32i(v_gt_32i(v_set_32i(0x400), size), small, v_add_32i(bits, v_set_32i(112 << 23)));
    x = v_select_32i(v_gt_32i(size, v_set_32i(0x7BFF)), v_or_32i(bits, v_set_32i(0x7F800000)), x);
    return v_cast_32i_32f(v_or_32i(x, v_shl_32i(v_and_32i(half, v_set_32i(0x8000)), 16)));
}

SN_INLINE v16i halves_of(v32f a, v32f b) { return v_even_16i(v_cast_32i_16i(half_of(a)), v_cast_32i_16i(half_of(b))); }

/* ---- the functions */

static void to_16b(const uint8_t * src, size_t size, uint8_t * dst)
{
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_16b_32f(dst + 2 * i, v_load_32f(src + 4 * i));
    v_store_tail_16b_32f(dst + 2 * i, v_load_tail_32f(src + 4 * i, size - i), size - i);
}

static void from_16b(const uint8_t * src, size_t size, uint8_t * dst)
{
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + 4 * i, v_load_16b_32f(src + 2 * i));
    v_store_tail_32f(dst + 4 * i, v_load_tail_16b_32f(src + 2 * i, size - i), size - i);
}

static void to_16f(const uint8_t * src, size_t size, uint8_t * dst)
{
    size_t i = 0;
    for (; i + V16I_N <= size; i += V16I_N)
        v_store_16i(dst + 2 * i, halves_of(v_load_32f(src + 4 * i), v_load_32f(src + 4 * (i + V32F_N))));
    const size_t n = size - i, low = sn_min(n, V32F_N);
    const v32f a = v_load_tail_32f(src + 4 * i, low), b = v_load_tail_32f(src + 4 * (i + low), n - low);
    v_store_tail_16i(dst + 2 * i, halves_of(a, b), n);
}

static void from_16f(const uint8_t * src, size_t size, uint8_t * dst)
{
    for (size_t i = 0; i < size; i += V16I_N) {
        const size_t n = sn_min(size - i, V16I_N), low = sn_min(n, V32F_N);
        const v32i halves = v_cast_16i_32i(n == V16I_N ? v_load_16i(src + 2 * i) : v_load_tail_16i(src + 2 * i, n));
        const v32f even = float_of(v_and_32i(halves, v_set_32i(0xFFFF))), odd = float_of(v_shr_32i(halves, 16));
        const v32f a = v_zip_low_32f(even, odd), b = v_zip_high_32f(even, odd);
        if (n == V16I_N) {
            v_store_32f(dst + 4 * i, a);
            v_store_32f(dst + 4 * (i + V32F_N), b);
        } else {
            v_store_tail_32f(dst + 4 * i, a, low);
            v_store_tail_32f(dst + 4 * (i + low), b, n - low);
        }
    }
}

SN_INSTALL(narrow, narrow)
{
    slots->run[SN_32F_TO_16B] = to_16b;
    slots->run[SN_16B_TO_32F] = from_16b;
    slots->run[SN_32F_TO_16F] = to_16f;
    slots->run[SN_16F_TO_32F] = from_16f;
}
