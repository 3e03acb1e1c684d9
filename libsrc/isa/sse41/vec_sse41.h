/*
 * The vocabulary of kernels/vec.h on SSE4.1: 4 floats, 8 16-bit integers, 16 bytes, 16 registers.
 *
 * No fused multiply-add and no masks: v_fma_32f rounds twice, tails are loaded and stored in pieces (isa/sse41/tail_128.h).
 * The vx_ functions are private to this file.
 */
#ifndef SN_ISA_VEC_SSE41_H
#define SN_ISA_VEC_SSE41_H

#if !defined(__SSE4_1__)
#error "vec_sse41.h needs -msse4.1"
#endif

#include "isa/sse41/collect_128.h"
#include "isa/sse41/tail_128.h"
#include "runtime/common.h"

#include <smmintrin.h>

#define V32F_N 4
#define V16I_N 8
#define V8U_N 16
#define V_FMA 0

typedef __m128 v32f;
typedef __m128i v32i;
typedef __m128i v16i;
typedef __m128i v8u;
typedef __m128 v32m; /* all bits of a lane, or none */

/*
 * Memory. Tails are calls, since they have many branches: inline they were a tenth of the code of the level. With a constant
 * number of bytes nothing is left of the branches.
 */

static __attribute__((noinline, unused)) __m128i vx_load_any_first(const void *p, size_t n) { return vx_load_first_128(p, n); }
static __attribute__((noinline, unused)) void vx_store_any_first(void *p, __m128i v, size_t n) { vx_store_first_128(p, v, n); }

SN_INLINE __m128i vx_load_first(const void *p, size_t n)
{
    return __builtin_constant_p(n) ? vx_load_first_128(p, n) : vx_load_any_first(p, n);
}

SN_INLINE void vx_store_first(void *p, __m128i v, size_t n)
{
    if (__builtin_constant_p(n))
        vx_store_first_128(p, v, n);
    else
        vx_store_any_first(p, v, n);
}

SN_INLINE v32f v_load_32f(const void *p) { return _mm_loadu_ps(p); }
SN_INLINE v32f v_load_tail_32f(const void *p, size_t n) { return _mm_castsi128_ps(vx_load_first(p, 4 * n)); }
SN_INLINE void v_store_32f(void *p, v32f v) { _mm_storeu_ps(p, v); }
SN_INLINE void v_store_tail_32f(void *p, v32f v, size_t n) { vx_store_first(p, _mm_castps_si128(v), 4 * n); }
SN_INLINE void v_stream_32f(void *p, v32f v) { _mm_stream_ps(p, v); }
SN_INLINE void v_fence(void) { _mm_sfence(); }

SN_INLINE v32i v_load_32i(const void *p) { return _mm_loadu_si128(p); }
SN_INLINE v32i v_load_tail_32i(const void *p, size_t n) { return vx_load_first(p, 4 * n); }
SN_INLINE void v_store_32i(void *p, v32i v) { _mm_storeu_si128(p, v); }
SN_INLINE void v_store_tail_32i(void *p, v32i v, size_t n) { vx_store_first(p, v, 4 * n); }

SN_INLINE v16i v_load_16i(const void *p) { return _mm_loadu_si128(p); }
SN_INLINE v16i v_load_tail_16i(const void *p, size_t n) { return vx_load_first(p, 2 * n); }
SN_INLINE void v_store_16i(void *p, v16i v) { _mm_storeu_si128(p, v); }
SN_INLINE void v_store_tail_16i(void *p, v16i v, size_t n) { vx_store_first(p, v, 2 * n); }

SN_INLINE v8u v_load_8u(const void *p) { return _mm_loadu_si128(p); }
SN_INLINE v8u v_load_tail_8u(const void *p, size_t n) { return vx_load_first(p, n); }
SN_INLINE void v_store_8u(void *p, v8u v) { _mm_storeu_si128(p, v); }
SN_INLINE void v_store_tail_8u(void *p, v8u v, size_t n) { vx_store_first(p, v, n); }

/* The low four 16-bit elements in the upper halves of 32-bit lanes: one unpack instead of widening and shifting. */
SN_INLINE v32f vx_widen_16b(__m128i x) { return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), x)); }

/* The upper half of every 32-bit lane becomes the bfloat16, the lower half is undefined; a NaN may become another value. */
SN_INLINE __m128i vx_round_16b(v32f v)
{
    __m128i bits = _mm_castps_si128(v);
    __m128i lsb = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
    return _mm_add_epi32(_mm_add_epi32(bits, _mm_set1_epi32(0x7FFF)), lsb);
}

/* The same, correct for NaN. */
SN_INLINE __m128i vx_round_nan_16b(v32f v)
{
    __m128 quiet = _mm_or_ps(v, _mm_castsi128_ps(_mm_set1_epi32(0x00400000)));
    __m128 nan = _mm_cmpunord_ps(v, v);
    return _mm_castps_si128(_mm_blendv_ps(_mm_castsi128_ps(vx_round_16b(v)), quiet, nan));
}

/* The four bfloat16 in the low half. */
SN_INLINE __m128i vx_narrow_16b(v32f v)
{
    __m128i x = _mm_srli_epi32(vx_round_nan_16b(v), 16);
    return _mm_packus_epi32(x, x);
}

SN_INLINE v32f v_load_16b_32f(const void *p) { return vx_widen_16b(vx_load_8(p)); }
SN_INLINE v32f v_load_tail_16b_32f(const void *p, size_t n) { return vx_widen_16b(vx_load_first(p, 2 * n)); }
SN_INLINE void v_store_16b_32f(void *p, v32f v) { vx_store_8(p, vx_narrow_16b(v)); }
SN_INLINE void v_store_sum_16b_32f(void *p, v32f v)
{
    const __m128i x = _mm_srli_epi32(vx_round_16b(v), 16);
    vx_store_8(p, _mm_packus_epi32(x, x));
}
SN_INLINE void v_store_tail_16b_32f(void *p, v32f v, size_t n) { vx_store_first(p, vx_narrow_16b(v), 2 * n); }

SN_INLINE v32i v_load_8u_32i(const void *p) { return _mm_cvtepu8_epi32(vx_load_4(p)); }
SN_INLINE v32i v_load_tail_8u_32i(const void *p, size_t n) { return _mm_cvtepu8_epi32(vx_load_first(p, n)); }
SN_INLINE v32i v_load_8i_32i(const void *p) { return _mm_cvtepi8_epi32(vx_load_4(p)); }
SN_INLINE v32i v_load_tail_8i_32i(const void *p, size_t n) { return _mm_cvtepi8_epi32(vx_load_first(p, n)); }

SN_INLINE v16i v_load_8u_16i(const void *p) { return _mm_cvtepu8_epi16(vx_load_8(p)); }
SN_INLINE v16i v_load_tail_8u_16i(const void *p, size_t n) { return _mm_cvtepu8_epi16(vx_load_first(p, n)); }
SN_INLINE v16i v_load_8i_16i(const void *p) { return _mm_cvtepi8_epi16(vx_load_8(p)); }
SN_INLINE v16i v_load_tail_8i_16i(const void *p, size_t n) { return _mm_cvtepi8_epi16(vx_load_first(p, n)); }

SN_INLINE __m128i vx_widen_24(__m128i x)
{
    return _mm_shuffle_epi8(x, _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
}
SN_INLINE v32i v_load_24_32i(const void *p)
{
    return vx_widen_24(_mm_unpacklo_epi64(vx_load_8(p), vx_load_4((const uint8_t *)p + 8)));
}
SN_INLINE v32i v_load_tail_24_32i(const void *p, size_t n) { return vx_widen_24(vx_load_first(p, 3 * n)); }

/* Constants. */

SN_INLINE v32f v_zero_32f(void) { return _mm_setzero_ps(); }
SN_INLINE v32f v_set_32f(float x) { return _mm_set1_ps(x); }
SN_INLINE v32i v_set_32i(int32_t x) { return _mm_set1_epi32(x); }
SN_INLINE v16i v_set_16i(int16_t x) { return _mm_set1_epi16(x); }
SN_INLINE v8u v_set_8u(uint8_t x) { return _mm_set1_epi8((char)x); }

/* 32f arithmetic. maxps and minps return their second operand if either is NaN, as v_max and v_min require. */

SN_INLINE v32f v_add_32f(v32f a, v32f b) { return _mm_add_ps(a, b); }
SN_INLINE v32f v_sub_32f(v32f a, v32f b) { return _mm_sub_ps(a, b); }
SN_INLINE v32f v_mul_32f(v32f a, v32f b) { return _mm_mul_ps(a, b); }
SN_INLINE v32f v_div_32f(v32f a, v32f b) { return _mm_div_ps(a, b); }
SN_INLINE v32f v_fma_32f(v32f a, v32f b, v32f c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
SN_INLINE v32f v_fnma_32f(v32f a, v32f b, v32f c) { return _mm_sub_ps(c, _mm_mul_ps(a, b)); }
/*
 * a * b + c of doubles that are floats, so that the product is exact. The last bit of the sum tells whether anything was lost:
 * it is set where the exact sum is no double, of the two next to it. Rounded to a float, the result is that of the exact sum.
 */
SN_INLINE __m128d vx_fma_odd(__m128d a, __m128d b, __m128d c)
{
    const __m128d p = _mm_mul_pd(a, b), s = _mm_add_pd(p, c), q = _mm_sub_pd(s, p);
    const __m128d lost = _mm_add_pd(_mm_sub_pd(p, _mm_sub_pd(s, q)), _mm_sub_pd(c, q)); /* NaN of infinities */
    const __m128i any = _mm_castpd_si128(_mm_cmplt_pd(_mm_setzero_pd(), _mm_mul_pd(lost, lost)));
    const __m128i beyond = _mm_srli_epi64(_mm_castpd_si128(_mm_xor_pd(s, lost)), 63); /* s is the larger one of the two */
    const __m128i nearer = _mm_sub_epi64(_mm_castpd_si128(s), _mm_and_si128(beyond, any));
    return _mm_castsi128_pd(_mm_or_si128(nearer, _mm_srli_epi64(any, 63)));
}

SN_INLINE __m128d vx_upper_pd(v32f v) { return _mm_cvtps_pd(_mm_movehl_ps(v, v)); }

SN_INLINE v32f v_fma_once_32f(v32f a, v32f b, v32f c)
{
    const __m128 low = _mm_cvtpd_ps(vx_fma_odd(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c)));
    return _mm_movelh_ps(low, _mm_cvtpd_ps(vx_fma_odd(vx_upper_pd(a), vx_upper_pd(b), vx_upper_pd(c))));
}

SN_INLINE v32f v_max_32f(v32f a, v32f b) { return _mm_max_ps(a, b); }
SN_INLINE v32f v_min_32f(v32f a, v32f b) { return _mm_min_ps(a, b); }
SN_INLINE v32f v_abs_32f(v32f a) { return _mm_and_ps(a, _mm_castsi128_ps(_mm_set1_epi32(0x7FFFFFFF))); }
SN_INLINE v32f v_sqrt_32f(v32f a) { return _mm_sqrt_ps(a); }
SN_INLINE v32f v_sqrt_by_products_32f(v32f a) { return v_sqrt_32f(a); }
/* Newton's step gives NaN for the estimates of 0 and of infinity, which are already exact. */
SN_INLINE v32f v_rsqrt_32f(v32f a)
{
    v32f y = _mm_rsqrt_ps(a), e = _mm_sub_ps(_mm_set1_ps(1), _mm_mul_ps(_mm_mul_ps(a, y), y));
    v32f better = _mm_add_ps(_mm_mul_ps(_mm_mul_ps(y, e), _mm_set1_ps(0.5f)), y);
    return _mm_blendv_ps(better, y, _mm_cmpunord_ps(e, e));
}
SN_INLINE v32f v_round_32f(v32f a) { return _mm_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
/* In two steps, each by a power of two that is a normal float: the first one is exact. */
SN_INLINE v32f vx_power_of_2(__m128i n)
{
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(n, _mm_set1_epi32(127)), 23));
}
SN_INLINE v32f v_scale_32f(v32f a, v32f n)
{
    __m128i all = _mm_cvtps_epi32(_mm_floor_ps(n)), half = _mm_srai_epi32(all, 1);
    return _mm_mul_ps(_mm_mul_ps(a, vx_power_of_2(half)), vx_power_of_2(_mm_sub_epi32(all, half)));
}

/* |a|, subnormals times 2^24: computed once if a kernel uses both exponent and mantissa. */
SN_INLINE __m128 vx_is_tiny(v32f a) { return _mm_cmplt_ps(v_abs_32f(a), _mm_set1_ps(0x1p-126f)); }
SN_INLINE __m128i vx_normal(v32f a)
{
    __m128 size = v_abs_32f(a);
    return _mm_castps_si128(_mm_blendv_ps(size, _mm_mul_ps(size, _mm_set1_ps(0x1p24f)), vx_is_tiny(a)));
}
SN_INLINE v32f v_exponent_32f(v32f a)
{
    __m128 size = v_abs_32f(a);
    __m128 bias = _mm_blendv_ps(_mm_set1_ps(127), _mm_set1_ps(151), vx_is_tiny(a));
    __m128 e = _mm_sub_ps(_mm_cvtepi32_ps(_mm_srli_epi32(vx_normal(a), 23)), bias);
    e = _mm_blendv_ps(size, e, _mm_cmplt_ps(size, _mm_set1_ps(__builtin_inff())));
    return _mm_blendv_ps(e, _mm_set1_ps(-__builtin_inff()), _mm_cmpeq_ps(a, _mm_setzero_ps()));
}
SN_INLINE v32f v_mantissa_32f(v32f a)
{
    __m128i digits = _mm_and_si128(vx_normal(a), _mm_set1_epi32(0x007FFFFF));
    __m128 m = _mm_castsi128_ps(_mm_or_si128(digits, _mm_set1_epi32(0x3F800000)));
    return _mm_or_ps(m, _mm_cmpnge_ps(a, _mm_setzero_ps())); /* all bits set are a NaN */
}

/* 32f comparison and selection. */

SN_INLINE v32m v_lt_32f(v32f a, v32f b) { return _mm_cmplt_ps(a, b); }
SN_INLINE v32m v_le_32f(v32f a, v32f b) { return _mm_cmple_ps(a, b); }
SN_INLINE v32m v_eq_32f(v32f a, v32f b) { return _mm_cmpeq_ps(a, b); }
SN_INLINE v32m v_nlt_32f(v32f a, v32f b) { return _mm_cmpnlt_ps(a, b); }
SN_INLINE v32f v_where_32f(v32m m, v32f a) { return _mm_and_ps(m, a); }
SN_INLINE v32f v_select_32f(v32m m, v32f a, v32f b) { return _mm_blendv_ps(b, a, m); }
SN_INLINE int v_any(v32m m) { return _mm_movemask_ps(m) != 0; }

/* 32f across lanes. */

SN_INLINE float v_reduce_add_32f(v32f v)
{
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

SN_INLINE float v_reduce_max_32f(v32f v)
{
    v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}

SN_INLINE v32f v_even_32f(v32f a, v32f b) { return _mm_shuffle_ps(a, b, 0x88); }
SN_INLINE v32f v_odd_32f(v32f a, v32f b) { return _mm_shuffle_ps(a, b, 0xDD); }
SN_INLINE v32f v_zip_low_32f(v32f a, v32f b) { return _mm_unpacklo_ps(a, b); }
SN_INLINE v32f v_zip_high_32f(v32f a, v32f b) { return _mm_unpackhi_ps(a, b); }

/* The index of a lane is converted to the indices of its four bytes. */
SN_INLINE v32f v_lookup_32f(v32f table, v32i i)
{
    __m128i lanes = _mm_mullo_epi32(_mm_and_si128(i, _mm_set1_epi32(3)), _mm_set1_epi32(0x04040404));
    __m128i bytes = _mm_add_epi32(lanes, _mm_set1_epi32(0x03020100));
    return _mm_castsi128_ps(_mm_shuffle_epi8(_mm_castps_si128(table), bytes));
}

SN_INLINE void v_transpose_32f(v32f r[4])
{
    v32f lo01 = _mm_unpacklo_ps(r[0], r[1]);
    v32f hi01 = _mm_unpackhi_ps(r[0], r[1]);
    v32f lo23 = _mm_unpacklo_ps(r[2], r[3]);
    v32f hi23 = _mm_unpackhi_ps(r[2], r[3]);
    r[0] = _mm_movelh_ps(lo01, lo23);
    r[1] = _mm_movehl_ps(lo23, lo01);
    r[2] = _mm_movelh_ps(hi01, hi23);
    r[3] = _mm_movehl_ps(hi23, hi01);
}

SN_INLINE void v_load_columns_32f(v32f *r, const void *p, size_t stride)
{
    const sn_32f *row = p;
    SN_UNROLL
    for (int k = 0; k < 4; k++, row += stride)
        r[k] = v_load_32f(row);
    v_transpose_32f(r);
}

SN_INLINE void v_collect_2_32f(v32f *r, const void *p, const int32_t *i)
{
    const v32f a = vx_two_pairs(p, i), b = vx_two_pairs(p, i + 2);
    r[0] = _mm_shuffle_ps(a, b, 0x88);
    r[1] = _mm_shuffle_ps(a, b, 0xDD);
}
SN_INLINE void v_collect_4_32f(v32f *r, const void *p, const int32_t *i)
{
    SN_UNROLL
    for (int k = 0; k < 4; k++)
        r[k] = vx_four_floats(p, i[k]);
    v_transpose_32f(r);
}

/* 32i. */

SN_INLINE v32i v_add_32i(v32i a, v32i b) { return _mm_add_epi32(a, b); }
SN_INLINE v32i v_sub_32i(v32i a, v32i b) { return _mm_sub_epi32(a, b); }
SN_INLINE v32i v_mul_32i(v32i a, v32i b) { return _mm_mullo_epi32(a, b); }
SN_INLINE v32i v_and_32i(v32i a, v32i b) { return _mm_and_si128(a, b); }
SN_INLINE v32i v_or_32i(v32i a, v32i b) { return _mm_or_si128(a, b); }
SN_INLINE v32i v_xor_32i(v32i a, v32i b) { return _mm_xor_si128(a, b); }
SN_INLINE v32i v_put_byte_32i(v32i v, v32i from, int k)
{
    return _mm_blendv_epi8(v, from, _mm_set1_epi32((int)(0xFFu << (8 * k))));
}
SN_INLINE v32i v_shl_32i(v32i a, int count) { return _mm_slli_epi32(a, count); }
SN_INLINE v32i v_shr_32i(v32i a, int count) { return _mm_srli_epi32(a, count); }
SN_INLINE v32i v_sra_32i(v32i a, int count) { return _mm_srai_epi32(a, count); }
SN_INLINE v32i v_madd_16i_32i(v16i a, v16i b) { return _mm_madd_epi16(a, b); }
SN_INLINE v32m v_gt_32i(v32i a, v32i b) { return _mm_castsi128_ps(_mm_cmpgt_epi32(a, b)); }
SN_INLINE v32i v_select_32i(v32m m, v32i a, v32i b)
{
    return _mm_castps_si128(_mm_blendv_ps(_mm_castsi128_ps(b), _mm_castsi128_ps(a), m));
}

/* Conversions. */

SN_INLINE v32i v_cast_32f_32i(v32f v) { return _mm_castps_si128(v); }
SN_INLINE v32f v_cast_32i_32f(v32i v) { return _mm_castsi128_ps(v); }
SN_INLINE v32i v_cast_16i_32i(v16i v) { return v; }
SN_INLINE v16i v_cast_32i_16i(v32i v) { return v; }
SN_INLINE v32i v_cast_8u_32i(v8u v) { return v; }
SN_INLINE v8u v_cast_32i_8u(v32i v) { return v; }
SN_INLINE v32f v_cvt_32i_32f(v32i v) { return _mm_cvtepi32_ps(v); }
SN_INLINE v32i v_cvt_32f_32i(v32f v) { return _mm_cvtps_epi32(v); }

SN_INLINE v8u v_pack_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    return _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
}

SN_INLINE v8u v_join_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm_shuffle_epi8(_mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)), order);
}

SN_INLINE v32f v_even_16b_32f(v16i v) { return _mm_castsi128_ps(_mm_slli_epi32(v, 16)); }
SN_INLINE v32f v_odd_16b_32f(v16i v)
{
    return _mm_castsi128_ps(_mm_and_si128(v, _mm_set1_epi32((int)0xFFFF0000)));
}
SN_INLINE v16i v_join_16b_32f(v32f even, v32f odd)
{
    return _mm_blend_epi16(_mm_srli_epi32(vx_round_16b(even), 16), vx_round_16b(odd), 0xAA);
}

/* 16i and 8u. */

SN_INLINE v16i v_max_16i(v16i a, v16i b) { return _mm_max_epi16(a, b); }
SN_INLINE v16i v_min_16i(v16i a, v16i b) { return _mm_min_epi16(a, b); }
SN_INLINE v16i v_add_16i(v16i a, v16i b) { return _mm_add_epi16(a, b); }
SN_INLINE v16i v_sub_16i(v16i a, v16i b) { return _mm_sub_epi16(a, b); }
SN_INLINE v16i v_min_16u(v16i a, v16i b) { return _mm_min_epu16(a, b); }
SN_INLINE v16i v_even_16i(v16i a, v16i b)
{
    __m128i low = _mm_set1_epi32(0x0000FFFF);
    return _mm_packus_epi32(_mm_and_si128(a, low), _mm_and_si128(b, low));
}
SN_INLINE v16i v_odd_16i(v16i a, v16i b) { return _mm_packus_epi32(_mm_srli_epi32(a, 16), _mm_srli_epi32(b, 16)); }

SN_INLINE v8u v_max_8u(v8u a, v8u b) { return _mm_max_epu8(a, b); }
SN_INLINE v8u v_min_8u(v8u a, v8u b) { return _mm_min_epu8(a, b); }
SN_INLINE v8u v_subs_8i(v8u a, v8u b) { return _mm_subs_epi8(a, b); }
SN_INLINE v8u v_pick_8u(const void * p, v8u i) { return _mm_shuffle_epi8(_mm_loadu_si128(p), i); }
SN_INLINE v8u v_even_8u(v8u a, v8u b)
{
    __m128i low = _mm_set1_epi16(0x00FF);
    return _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low));
}
SN_INLINE v8u v_odd_8u(v8u a, v8u b) { return _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)); }

/* Slides. */

/* bytes: a constant, the size of 1 to 4 lanes. The instructions require a literal. */
SN_INLINE __m128i vx_slide_bytes(__m128i a, __m128i b, int bytes)
{
    switch (bytes)
    {
    case 1: return _mm_alignr_epi8(b, a, 1);
    case 2: return _mm_alignr_epi8(b, a, 2);
    case 3: return _mm_alignr_epi8(b, a, 3);
    case 4: return _mm_alignr_epi8(b, a, 4);
    case 6: return _mm_alignr_epi8(b, a, 6);
    case 8: return _mm_alignr_epi8(b, a, 8);
    case 12: return _mm_alignr_epi8(b, a, 12);
    default: return b;
    }
}
SN_INLINE v32f v_slide_32f(v32f a, v32f b, int n)
{
    return _mm_castsi128_ps(vx_slide_bytes(_mm_castps_si128(a), _mm_castps_si128(b), 4 * n));
}
SN_INLINE v16i v_slide_16i(v16i a, v16i b, int n) { return vx_slide_bytes(a, b, 2 * n); }
SN_INLINE v8u v_slide_8u(v8u a, v8u b, int n) { return vx_slide_bytes(a, b, n); }

/* Help for the compiler. */

SN_INLINE v32f v_keep_32f(v32f v)
{
    __asm__("" : "+x"(v));
    return v;
}

SN_INLINE v32i v_keep_32i(v32i v)
{
    __asm__("" : "+x"(v));
    return v;
}

#endif
