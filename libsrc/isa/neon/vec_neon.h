/*
 * The vocabulary of kernels/vec.h on aarch64 NEON: 4 floats, 8 16-bit integers, 16 bytes, 32 registers.
 *
 * All memory is read and written as bytes: loads of wider elements would imply an alignment that the caller's arrays need
 * not have. Maxima and minima are compare and select, because the instructions treat NaN differently. There are no masks:
 * tails are two overlapping pieces of 8 or 4 bytes, and a table look-up moves the second into place. The vx_ functions are
 * private to this file.
 */
#ifndef SN_ISA_VEC_NEON_H
#define SN_ISA_VEC_NEON_H

#if !defined(__aarch64__) || !defined(__ARM_NEON) || !defined(__AARCH64EL__)
#error "vec_neon.h needs little-endian aarch64"
#endif

#include "runtime/common.h"

#include <arm_neon.h>
#include <string.h>

#define V32F_N 4
#define V16I_N 8
#define V8U_N 16
#define V_FMA 1

typedef float32x4_t v32f;
typedef int32x4_t v32i;
typedef int16x8_t v16i;
typedef uint8x16_t v8u;
typedef uint32x4_t v32m; /* all bits of a lane, or none */

/* Tails. */

#define VX_NO 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255

/* The 16 bytes from 16 - s on are the look-up that shifts bytes up by s, those from 16 + s on down; zeros are shifted in. */
static const uint8_t vx_slide[48] = {VX_NO, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, VX_NO};

#undef VX_NO

SN_INLINE v8u vx_up(v8u x, size_t bytes) { return vqtbl1q_u8(x, vld1q_u8(vx_slide + 16 - bytes)); }
SN_INLINE v8u vx_down(v8u x, size_t bytes) { return vqtbl1q_u8(x, vld1q_u8(vx_slide + 16 + bytes)); }

SN_INLINE v8u vx_low(uint8x8_t x) { return vcombine_u8(x, vdup_n_u8(0)); }
SN_INLINE v8u vx_load_8(const void *p) { return vx_low(vld1_u8(p)); }
SN_INLINE v8u vx_load_4(const void *p)
{
    uint32_t x;
    memcpy(&x, p, 4);
    return vx_low(vcreate_u8(x));
}
SN_INLINE uint32_t vx_first_4(v8u v) { return vgetq_lane_u32(vreinterpretq_u32_u8(v), 0); }
SN_INLINE void vx_store_8(void *p, v8u v) { vst1_u8(p, vget_low_u8(v)); }
SN_INLINE void vx_store_4(void *p, v8u v)
{
    uint32_t x = vx_first_4(v);
    memcpy(p, &x, 4);
}

/* The first 0..16 bytes from memory, zeros after them. Pieces agree where they overlap. */
SN_INLINE v8u vx_load_first(const void *p, size_t n)
{
    const uint8_t *bytes = p;
    if (n >= 8)
        return vorrq_u8(vx_load_8(bytes), vx_up(vx_load_8(bytes + n - 8), n - 8));
    if (n >= 4)
        return vorrq_u8(vx_load_4(bytes), vx_up(vx_load_4(bytes + n - 4), n - 4));
    uint32_t x = 0;
    if (n & 1)
        x = (uint32_t)bytes[n - 1] << 8 * (n - 1);
    if (n & 2)
    {
        uint16_t low;
        memcpy(&low, bytes, 2);
        x |= low;
    }
    return vx_low(vcreate_u8(x));
}

SN_INLINE void vx_store_first(void *p, v8u v, size_t n)
{
    uint8_t *bytes = p;
    if (n >= 8)
    {
        vx_store_8(bytes, v);
        vx_store_8(bytes + n - 8, vx_down(v, n - 8));
    }
    else if (n >= 4)
    {
        vx_store_4(bytes, v);
        vx_store_4(bytes + n - 4, vx_down(v, n - 4));
    }
    else
    {
        uint32_t x = vx_first_4(v);
        if (n & 2)
            memcpy(bytes, &x, 2); /* little-endian: the low half */
        if (n & 1)
            bytes[n - 1] = (uint8_t)(x >> 8 * (n - 1));
    }
}

/* Memory. */

SN_INLINE v8u v_load_8u(const void *p) { return vld1q_u8(p); }
SN_INLINE v8u v_load_tail_8u(const void *p, size_t n) { return vx_load_first(p, n); }
SN_INLINE void v_store_8u(void *p, v8u v) { vst1q_u8(p, v); }
SN_INLINE void v_store_tail_8u(void *p, v8u v, size_t n) { vx_store_first(p, v, n); }

SN_INLINE v16i v_load_16i(const void *p) { return vreinterpretq_s16_u8(vld1q_u8(p)); }
SN_INLINE v16i v_load_tail_16i(const void *p, size_t n) { return vreinterpretq_s16_u8(vx_load_first(p, 2 * n)); }
SN_INLINE void v_store_16i(void *p, v16i v) { vst1q_u8(p, vreinterpretq_u8_s16(v)); }
SN_INLINE void v_store_tail_16i(void *p, v16i v, size_t n) { vx_store_first(p, vreinterpretq_u8_s16(v), 2 * n); }

SN_INLINE v32i v_load_32i(const void *p) { return vreinterpretq_s32_u8(vld1q_u8(p)); }
SN_INLINE v32i v_load_tail_32i(const void *p, size_t n) { return vreinterpretq_s32_u8(vx_load_first(p, 4 * n)); }
SN_INLINE void v_store_32i(void *p, v32i v) { vst1q_u8(p, vreinterpretq_u8_s32(v)); }
SN_INLINE void v_store_tail_32i(void *p, v32i v, size_t n) { vx_store_first(p, vreinterpretq_u8_s32(v), 4 * n); }

SN_INLINE v32f v_load_32f(const void *p) { return vreinterpretq_f32_u8(vld1q_u8(p)); }
SN_INLINE v32f v_load_tail_32f(const void *p, size_t n) { return vreinterpretq_f32_u8(vx_load_first(p, 4 * n)); }
SN_INLINE void v_store_32f(void *p, v32f v) { vst1q_u8(p, vreinterpretq_u8_f32(v)); }
SN_INLINE void v_store_tail_32f(void *p, v32f v, size_t n) { vx_store_first(p, vreinterpretq_u8_f32(v), 4 * n); }

/* This set has non-temporal stores only of pairs, without an intrinsic: an ordinary store, which needs no fence. */
SN_INLINE void v_stream_32f(void *p, v32f v) { v_store_32f(p, v); }
SN_INLINE void v_fence(void) {}

/* The low four 16-bit elements in the upper halves of 32-bit lanes. */
SN_INLINE v32f vx_widen_16b(v8u x) { return vreinterpretq_f32_u16(vzip1q_u16(vdupq_n_u16(0), vreinterpretq_u16_u8(x))); }

/* The upper half of every 32-bit lane becomes the bfloat16, the lower half is undefined. */
SN_INLINE uint32x4_t vx_round_16b(v32f v)
{
    uint32x4_t bits = vreinterpretq_u32_f32(v);
    uint32x4_t lsb = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), lsb);
}

/* The same, correct for NaN. */
SN_INLINE uint32x4_t vx_round_nan_16b(v32f v)
{
    uint32x4_t quiet = vorrq_u32(vreinterpretq_u32_f32(v), vdupq_n_u32(0x00400000));
    return vbslq_u32(vceqq_f32(v, v), vx_round_16b(v), quiet);
}

/* The four bfloat16 in the low half. */
SN_INLINE v8u vx_narrow_16b(v32f v) { return vx_low(vreinterpret_u8_u16(vshrn_n_u32(vx_round_nan_16b(v), 16))); }

SN_INLINE v32f v_load_16b_32f(const void *p) { return vx_widen_16b(vx_load_8(p)); }
SN_INLINE v32f v_load_tail_16b_32f(const void *p, size_t n) { return vx_widen_16b(vx_load_first(p, 2 * n)); }
SN_INLINE void v_store_16b_32f(void *p, v32f v) { vx_store_8(p, vx_narrow_16b(v)); }
SN_INLINE void v_store_sum_16b_32f(void *p, v32f v)
{
    vx_store_8(p, vx_low(vreinterpret_u8_u16(vshrn_n_u32(vx_round_16b(v), 16))));
}
SN_INLINE void v_store_tail_16b_32f(void *p, v32f v, size_t n) { vx_store_first(p, vx_narrow_16b(v), 2 * n); }

/* The low four bytes, widened. */
SN_INLINE v32i vx_widen_8u(v8u x)
{
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vget_low_u8(x)))));
}
SN_INLINE v32i v_load_8u_32i(const void *p) { return vx_widen_8u(vx_load_4(p)); }
SN_INLINE v32i v_load_tail_8u_32i(const void *p, size_t n) { return vx_widen_8u(vx_load_first(p, n)); }
SN_INLINE v32i vx_widen_8i(v8u x) { return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(vget_low_u8(x))))); }
SN_INLINE v32i v_load_8i_32i(const void *p) { return vx_widen_8i(vx_load_4(p)); }
SN_INLINE v32i v_load_tail_8i_32i(const void *p, size_t n) { return vx_widen_8i(vx_load_first(p, n)); }

SN_INLINE v16i v_load_8u_16i(const void *p) { return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(p))); }
SN_INLINE v16i v_load_tail_8u_16i(const void *p, size_t n)
{
    return vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(vx_load_first(p, n))));
}
SN_INLINE v16i v_load_8i_16i(const void *p) { return vmovl_s8(vreinterpret_s8_u8(vld1_u8(p))); }
SN_INLINE v16i v_load_tail_8i_16i(const void *p, size_t n)
{
    return vmovl_s8(vreinterpret_s8_u8(vget_low_u8(vx_load_first(p, n))));
}

SN_INLINE v32i vx_widen_24(v8u x)
{
    static const uint8_t order[16] = {0, 1, 2, 255, 3, 4, 5, 255, 6, 7, 8, 255, 9, 10, 11, 255};
    return vreinterpretq_s32_u8(vqtbl1q_u8(x, vld1q_u8(order)));
}
SN_INLINE v32i v_load_24_32i(const void *p)
{
    return vx_widen_24(vcombine_u8(vld1_u8(p), vget_low_u8(vx_load_4((const uint8_t *)p + 8))));
}
SN_INLINE v32i v_load_tail_24_32i(const void *p, size_t n) { return vx_widen_24(vx_load_first(p, 3 * n)); }

/* Constants. */

SN_INLINE v32f v_zero_32f(void) { return vdupq_n_f32(0); }
SN_INLINE v32f v_set_32f(float x) { return vdupq_n_f32(x); }
SN_INLINE v32i v_set_32i(int32_t x) { return vdupq_n_s32(x); }
SN_INLINE v16i v_set_16i(int16_t x) { return vdupq_n_s16(x); }
SN_INLINE v8u v_set_8u(uint8_t x) { return vdupq_n_u8(x); }

/* 32f arithmetic. */

SN_INLINE v32f v_add_32f(v32f a, v32f b) { return vaddq_f32(a, b); }
SN_INLINE v32f v_sub_32f(v32f a, v32f b) { return vsubq_f32(a, b); }
SN_INLINE v32f v_mul_32f(v32f a, v32f b) { return vmulq_f32(a, b); }
SN_INLINE v32f v_div_32f(v32f a, v32f b) { return vdivq_f32(a, b); }
SN_INLINE v32f v_fma_32f(v32f a, v32f b, v32f c) { return vfmaq_f32(c, a, b); }
SN_INLINE v32f v_fnma_32f(v32f a, v32f b, v32f c) { return vfmsq_f32(c, a, b); }
SN_INLINE v32f v_fma_once_32f(v32f a, v32f b, v32f c) { return v_fma_32f(a, b, c); }
SN_INLINE v32f v_max_32f(v32f a, v32f b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
SN_INLINE v32f v_min_32f(v32f a, v32f b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
SN_INLINE v32f v_abs_32f(v32f a) { return vabsq_f32(a); }
SN_INLINE v32f v_sqrt_32f(v32f a) { return vsqrtq_f32(a); }
SN_INLINE v32f v_sqrt_by_products_32f(v32f a) { return v_sqrt_32f(a); }
/* The estimate has 8 bits, so there are two steps. They give NaN for the estimates of 0 and of infinity, which are exact. */
SN_INLINE v32f v_rsqrt_32f(v32f a)
{
    v32f y = vrsqrteq_f32(a), once = vmulq_f32(y, vrsqrtsq_f32(vmulq_f32(a, y), y));
    v32f better = vmulq_f32(once, vrsqrtsq_f32(vmulq_f32(a, once), once));
    return vbslq_f32(vceqq_f32(better, better), better, y);
}
SN_INLINE v32f v_round_32f(v32f a) { return vrndnq_f32(a); }

/* In two steps, each by a power of two that is a normal float: the first one is exact. */
SN_INLINE v32f vx_power_of_2(int32x4_t n) { return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23)); }
SN_INLINE v32f v_scale_32f(v32f a, v32f n)
{
    int32x4_t all = vcvtmq_s32_f32(n), half = vshrq_n_s32(all, 1);
    return vmulq_f32(vmulq_f32(a, vx_power_of_2(half)), vx_power_of_2(vsubq_s32(all, half)));
}

/* |a|, subnormals times 2^24: computed once if a kernel uses both exponent and mantissa. */
SN_INLINE uint32x4_t vx_is_tiny(v32f a) { return vcaltq_f32(a, vdupq_n_f32(0x1p-126f)); }
SN_INLINE uint32x4_t vx_normal(v32f a)
{
    float32x4_t size = vabsq_f32(a);
    return vreinterpretq_u32_f32(vbslq_f32(vx_is_tiny(a), vmulq_f32(size, vdupq_n_f32(0x1p24f)), size));
}
SN_INLINE v32f v_exponent_32f(v32f a)
{
    float32x4_t infinity = vdupq_n_f32(__builtin_inff());
    float32x4_t bias = vbslq_f32(vx_is_tiny(a), vdupq_n_f32(151), vdupq_n_f32(127));
    float32x4_t e = vsubq_f32(vcvtq_f32_u32(vshrq_n_u32(vx_normal(a), 23)), bias);
    e = vbslq_f32(vcaltq_f32(a, infinity), e, vabsq_f32(a));
    return vbslq_f32(vceqzq_f32(a), vnegq_f32(infinity), e);
}
SN_INLINE v32f v_mantissa_32f(v32f a)
{
    uint32x4_t digits = vandq_u32(vx_normal(a), vdupq_n_u32(0x007FFFFF));
    uint32x4_t m = vorrq_u32(digits, vdupq_n_u32(0x3F800000));
    return vreinterpretq_f32_u32(vornq_u32(m, vcgezq_f32(a))); /* all bits set are a NaN */
}

/* 32f comparison and selection. */

SN_INLINE v32m v_lt_32f(v32f a, v32f b) { return vcltq_f32(a, b); }
SN_INLINE v32m v_le_32f(v32f a, v32f b) { return vcleq_f32(a, b); }
SN_INLINE v32m v_eq_32f(v32f a, v32f b) { return vceqq_f32(a, b); }
SN_INLINE v32m v_nlt_32f(v32f a, v32f b) { return vmvnq_u32(vcltq_f32(a, b)); }
SN_INLINE v32f v_where_32f(v32m m, v32f a) { return vreinterpretq_f32_u32(vandq_u32(m, vreinterpretq_u32_f32(a))); }
SN_INLINE v32f v_select_32f(v32m m, v32f a, v32f b) { return vbslq_f32(m, a, b); }
SN_INLINE int v_any(v32m m) { return vmaxvq_u32(m) != 0; }

/* 32f across lanes. */

SN_INLINE float v_reduce_add_32f(v32f v) { return vaddvq_f32(v); }
SN_INLINE float v_reduce_max_32f(v32f v) { return vmaxvq_f32(v); }

SN_INLINE v32f v_even_32f(v32f a, v32f b) { return vuzp1q_f32(a, b); }
SN_INLINE v32f v_odd_32f(v32f a, v32f b) { return vuzp2q_f32(a, b); }
SN_INLINE v32f v_zip_low_32f(v32f a, v32f b) { return vzip1q_f32(a, b); }
SN_INLINE v32f v_zip_high_32f(v32f a, v32f b) { return vzip2q_f32(a, b); }

/* The index of a lane is converted to the indices of its four bytes. */
SN_INLINE v32f v_lookup_32f(v32f table, v32i i)
{
    uint32x4_t lanes = vandq_u32(vreinterpretq_u32_s32(i), vdupq_n_u32(3));
    uint32x4_t bytes = vmlaq_u32(vdupq_n_u32(0x03020100), lanes, vdupq_n_u32(0x04040404));
    return vreinterpretq_f32_u8(vqtbl1q_u8(vreinterpretq_u8_f32(table), vreinterpretq_u8_u32(bytes)));
}

SN_INLINE void v_transpose_32f(v32f r[4])
{
    float64x2_t even01 = vreinterpretq_f64_f32(vtrn1q_f32(r[0], r[1]));
    float64x2_t odd01 = vreinterpretq_f64_f32(vtrn2q_f32(r[0], r[1]));
    float64x2_t even23 = vreinterpretq_f64_f32(vtrn1q_f32(r[2], r[3]));
    float64x2_t odd23 = vreinterpretq_f64_f32(vtrn2q_f32(r[2], r[3]));
    r[0] = vreinterpretq_f32_f64(vtrn1q_f64(even01, even23));
    r[1] = vreinterpretq_f32_f64(vtrn1q_f64(odd01, odd23));
    r[2] = vreinterpretq_f32_f64(vtrn2q_f64(even01, even23));
    r[3] = vreinterpretq_f32_f64(vtrn2q_f64(odd01, odd23));
}

SN_INLINE void v_load_columns_32f(v32f *r, const void *p, size_t stride)
{
    const uint8_t *row = p;
    SN_UNROLL
    for (int k = 0; k < 4; k++, row += stride * sizeof(float))
        r[k] = v_load_32f(row);
    v_transpose_32f(r);
}

SN_INLINE const uint8_t *vx_float_at(const void *p, int32_t i) { return (const uint8_t *)p + sizeof(float) * (uint32_t)i; }
SN_INLINE float32x4_t vx_two_pairs(const void *p, const int32_t *i)
{
    return vreinterpretq_f32_u8(vcombine_u8(vld1_u8(vx_float_at(p, i[0])), vld1_u8(vx_float_at(p, i[1]))));
}
SN_INLINE void v_collect_2_32f(v32f *r, const void *p, const int32_t *i)
{
    const v32f a = vx_two_pairs(p, i), b = vx_two_pairs(p, i + 2);
    r[0] = vuzp1q_f32(a, b);
    r[1] = vuzp2q_f32(a, b);
}
SN_INLINE void v_collect_4_32f(v32f *r, const void *p, const int32_t *i)
{
    SN_UNROLL
    for (int k = 0; k < 4; k++)
        r[k] = v_load_32f(vx_float_at(p, i[k]));
    v_transpose_32f(r);
}

/*
 * 32i. Sums are unsigned because gcc treats the signed intrinsics as signed arithmetic, whose overflow is undefined. Shifts
 * are operators because the intrinsics require a literal, which fails in builds without optimisation.
 */

SN_INLINE v32i vx_signed(uint32x4_t v) { return vreinterpretq_s32_u32(v); }
SN_INLINE uint32x4_t vx_unsigned(v32i v) { return vreinterpretq_u32_s32(v); }

SN_INLINE v32i v_add_32i(v32i a, v32i b) { return vx_signed(vaddq_u32(vx_unsigned(a), vx_unsigned(b))); }
SN_INLINE v32i v_sub_32i(v32i a, v32i b) { return vx_signed(vsubq_u32(vx_unsigned(a), vx_unsigned(b))); }
SN_INLINE v32i v_mul_32i(v32i a, v32i b) { return vmulq_s32(a, b); }
SN_INLINE v32i v_and_32i(v32i a, v32i b) { return vandq_s32(a, b); }
SN_INLINE v32i v_or_32i(v32i a, v32i b) { return vorrq_s32(a, b); }
SN_INLINE v32i v_xor_32i(v32i a, v32i b) { return veorq_s32(a, b); }
SN_INLINE v32i v_put_byte_32i(v32i v, v32i from, int k) { return vbslq_s32(vdupq_n_u32(0xFFu << (8 * k)), from, v); }
SN_INLINE v32i v_shl_32i(v32i a, int count) { return vx_signed(vx_unsigned(a) << (unsigned)count); }
SN_INLINE v32i v_shr_32i(v32i a, int count) { return vx_signed(vx_unsigned(a) >> (unsigned)count); }
SN_INLINE v32i v_sra_32i(v32i a, int count) { return a >> count; }
SN_INLINE v32i v_madd_16i_32i(v16i a, v16i b)
{
    return vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
}
SN_INLINE v32m v_gt_32i(v32i a, v32i b) { return vcgtq_s32(a, b); }
SN_INLINE v32i v_select_32i(v32m m, v32i a, v32i b) { return vbslq_s32(m, a, b); }

/* Conversions. */

SN_INLINE v32i v_cast_32f_32i(v32f v) { return vreinterpretq_s32_f32(v); }
SN_INLINE v32f v_cast_32i_32f(v32i v) { return vreinterpretq_f32_s32(v); }
SN_INLINE v32i v_cast_16i_32i(v16i v) { return vreinterpretq_s32_s16(v); }
SN_INLINE v16i v_cast_32i_16i(v32i v) { return vreinterpretq_s16_s32(v); }
SN_INLINE v32i v_cast_8u_32i(v8u v) { return vreinterpretq_s32_u8(v); }
SN_INLINE v8u v_cast_32i_8u(v32i v) { return vreinterpretq_u8_s32(v); }
SN_INLINE v32f v_cvt_32i_32f(v32i v) { return vcvtq_f32_s32(v); }
SN_INLINE v32i v_cvt_32f_32i(v32f v) { return vcvtnq_s32_f32(v); }

SN_INLINE v8u v_pack_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    int16x8_t ab = vqmovn_high_s32(vqmovn_s32(a), b);
    int16x8_t cd = vqmovn_high_s32(vqmovn_s32(c), d);
    return vqmovun_high_s16(vqmovun_s16(ab), cd);
}

SN_INLINE v8u v_join_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    static const uint8_t order[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    return vqtbl1q_u8(v_pack_32i_8u(a, b, c, d), vld1q_u8(order));
}

SN_INLINE v32f v_even_16b_32f(v16i v) { return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_s16(v), 16)); }
SN_INLINE v32f v_odd_16b_32f(v16i v)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_s16(v), vdupq_n_u32(0xFFFF0000)));
}
SN_INLINE v16i v_join_16b_32f(v32f even, v32f odd)
{
    return vreinterpretq_s16_u32(vsriq_n_u32(vx_round_16b(odd), vx_round_16b(even), 16));
}

/* 16i and 8u. */

SN_INLINE v16i v_max_16i(v16i a, v16i b) { return vmaxq_s16(a, b); }
SN_INLINE v16i v_min_16i(v16i a, v16i b) { return vminq_s16(a, b); }
SN_INLINE v16i v_add_16i(v16i a, v16i b) { return vaddq_s16(a, b); }
SN_INLINE v16i v_sub_16i(v16i a, v16i b) { return vsubq_s16(a, b); }
SN_INLINE v16i v_min_16u(v16i a, v16i b)
{
    return vreinterpretq_s16_u16(vminq_u16(vreinterpretq_u16_s16(a), vreinterpretq_u16_s16(b)));
}
SN_INLINE v16i v_even_16i(v16i a, v16i b) { return vuzp1q_s16(a, b); }
SN_INLINE v16i v_odd_16i(v16i a, v16i b) { return vuzp2q_s16(a, b); }

SN_INLINE v8u v_max_8u(v8u a, v8u b) { return vmaxq_u8(a, b); }
SN_INLINE v8u v_min_8u(v8u a, v8u b) { return vminq_u8(a, b); }
SN_INLINE v8u v_subs_8i(v8u a, v8u b)
{
    return vreinterpretq_u8_s8(vqsubq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
}
SN_INLINE v8u v_pick_8u(const void * p, v8u i) { return vqtbl1q_u8(vld1q_u8(p), vandq_u8(i, vdupq_n_u8(0x8F))); }
SN_INLINE v8u v_even_8u(v8u a, v8u b) { return vuzp1q_u8(a, b); }
SN_INLINE v8u v_odd_8u(v8u a, v8u b) { return vuzp2q_u8(a, b); }

/* Slides. bytes: a constant, the size of 1 to 4 lanes. The instruction requires a literal. */

SN_INLINE v8u vx_slide_bytes(v8u a, v8u b, int bytes)
{
    switch (bytes)
    {
    case 1: return vextq_u8(a, b, 1);
    case 2: return vextq_u8(a, b, 2);
    case 3: return vextq_u8(a, b, 3);
    case 4: return vextq_u8(a, b, 4);
    case 6: return vextq_u8(a, b, 6);
    case 8: return vextq_u8(a, b, 8);
    case 12: return vextq_u8(a, b, 12);
    default: return b;
    }
}
SN_INLINE v32f v_slide_32f(v32f a, v32f b, int n)
{
    return vreinterpretq_f32_u8(vx_slide_bytes(vreinterpretq_u8_f32(a), vreinterpretq_u8_f32(b), 4 * n));
}
SN_INLINE v16i v_slide_16i(v16i a, v16i b, int n)
{
    return vreinterpretq_s16_u8(vx_slide_bytes(vreinterpretq_u8_s16(a), vreinterpretq_u8_s16(b), 2 * n));
}
SN_INLINE v8u v_slide_8u(v8u a, v8u b, int n) { return vx_slide_bytes(a, b, n); }

/* Help for the compiler. */

SN_INLINE v32f v_keep_32f(v32f v)
{
    __asm__("" : "+w"(v));
    return v;
}

SN_INLINE v32i v_keep_32i(v32i v)
{
    __asm__("" : "+w"(v));
    return v;
}

#endif
