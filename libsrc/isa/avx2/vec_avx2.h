/*
 * The vocabulary of kernels/vec.h on AVX2 + FMA + F16C: 8 floats, 16 16-bit integers, 32 bytes, 16 registers.
 *
 * Tail loads of 32-bit lanes are masked loads. Tail stores are not: a masked store costs 18 to 42 micro-operations on
 * several cores (6.6 ns on Zen 4, a plain store 0.5); two or three stores of pieces are faster. Tails of bytes and 16-bit
 * lanes are loaded and stored in pieces (isa/sse41/tail_128.h).
 * The vx_ functions are private to this file.
 */
#ifndef SN_ISA_VEC_AVX2_H
#define SN_ISA_VEC_AVX2_H

#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "vec_avx2.h needs -mavx2 -mfma -mf16c"
#endif

#include "isa/sse41/collect_128.h"
#include "isa/sse41/tail_128.h"
#include "runtime/common.h"

#include <immintrin.h>

#define V32F_N 8
#define V16I_N 16
#define V8U_N 32
#define V_FMA 1

typedef __m256 v32f;
typedef __m256i v32i;
typedef __m256i v16i;
typedef __m256i v8u;
typedef __m256 v32m; /* all bits of a lane, or none */

/* Memory. */

/* The 8 numbers from element 8 - n on are the mask of the first n lanes. Aligned so that no read crosses a cache line. */
static const int32_t vx_first[16] __attribute__((aligned(64))) = {-1, -1, -1, -1, -1, -1, -1, -1};

SN_INLINE __m256i vx_first_8(size_t n) { return _mm256_loadu_si256((const __m256i *)(vx_first + 8 - n)); }

SN_INLINE __m256i vx_load_first_256(const void *p, size_t n)
{
    if (n < 16)
        return _mm256_zextsi128_si256(vx_load_first_128(p, n));
    __m128i lo = _mm_loadu_si128(p);
    __m128i last = _mm_loadu_si128((const __m128i *)((const uint8_t *)p + n - 16));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(lo), vx_down_128(last, 32 - n), 1);
}

SN_INLINE void vx_store_first_256(void *p, __m256i v, size_t n)
{
    __m128i rest = _mm256_castsi256_si128(v);
    if (n >= 16)
    {
        _mm_storeu_si128(p, rest);
        rest = _mm256_extracti128_si256(v, 1);
        p = (uint8_t *)p + 16;
        n -= 16;
    }
    vx_store_first_128(p, rest, n);
}

SN_INLINE v32f v_load_32f(const void *p) { return _mm256_loadu_ps(p); }
SN_INLINE v32f v_load_tail_32f(const void *p, size_t n) { return _mm256_maskload_ps(p, vx_first_8(n)); }
SN_INLINE void v_store_32f(void *p, v32f v) { _mm256_storeu_ps(p, v); }
SN_INLINE void v_store_tail_32f(void *p, v32f v, size_t n) { vx_store_first_256(p, _mm256_castps_si256(v), 4 * n); }
SN_INLINE void v_stream_32f(void *p, v32f v) { _mm256_stream_ps(p, v); }
SN_INLINE void v_fence(void) { _mm_sfence(); }

SN_INLINE v32i v_load_32i(const void *p) { return _mm256_loadu_si256(p); }
SN_INLINE v32i v_load_tail_32i(const void *p, size_t n) { return _mm256_maskload_epi32(p, vx_first_8(n)); }
SN_INLINE void v_store_32i(void *p, v32i v) { _mm256_storeu_si256(p, v); }
SN_INLINE void v_store_tail_32i(void *p, v32i v, size_t n) { vx_store_first_256(p, v, 4 * n); }

SN_INLINE v16i v_load_16i(const void *p) { return _mm256_loadu_si256(p); }
SN_INLINE v16i v_load_tail_16i(const void *p, size_t n) { return vx_load_first_256(p, 2 * n); }
SN_INLINE void v_store_16i(void *p, v16i v) { _mm256_storeu_si256(p, v); }
SN_INLINE void v_store_tail_16i(void *p, v16i v, size_t n) { vx_store_first_256(p, v, 2 * n); }

SN_INLINE v8u v_load_8u(const void *p) { return _mm256_loadu_si256(p); }
SN_INLINE v8u v_load_tail_8u(const void *p, size_t n) { return vx_load_first_256(p, n); }
SN_INLINE void v_store_8u(void *p, v8u v) { _mm256_storeu_si256(p, v); }
SN_INLINE void v_store_tail_8u(void *p, v8u v, size_t n) { vx_store_first_256(p, v, n); }

/* A broadcast from memory needs no execution port, unlike an extension before a shift. */
SN_INLINE v32f vx_widen_16b(__m128i x)
{
    const __m256i order = _mm256_setr_epi8(-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7,
                                           -1, -1, 8, 9, -1, -1, 10, 11, -1, -1, 12, 13, -1, -1, 14, 15);
    return _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(x), order));
}

/* The upper half of every 32-bit lane becomes the bfloat16, the lower half is undefined; a NaN may become another value. */
SN_INLINE __m256i vx_round_16b(v32f v)
{
    __m256i bits = _mm256_castps_si256(v);
    __m256i lsb = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), lsb);
}

/* The same, correct for NaN. */
SN_INLINE __m256i vx_round_nan_16b(v32f v)
{
    __m256 quiet = _mm256_or_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x00400000)));
    __m256 nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(vx_round_16b(v)), quiet, nan));
}

/* The upper halves of 32-bit lanes. */
SN_INLINE __m128i vx_upper_halves(__m256i v)
{
    const __m128i order = _mm_setr_epi8(2, 3, 6, 7, 10, 11, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i halves = _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(order));
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(halves, 0x08));
}

SN_INLINE __m128i vx_narrow_16b(v32f v)
{
    return vx_upper_halves(vx_round_nan_16b(v));
}

SN_INLINE v32f v_load_16b_32f(const void *p) { return vx_widen_16b(_mm_loadu_si128(p)); }
SN_INLINE v32f v_load_tail_16b_32f(const void *p, size_t n) { return vx_widen_16b(vx_load_first_128(p, 2 * n)); }
SN_INLINE void v_store_16b_32f(void *p, v32f v) { _mm_storeu_si128(p, vx_narrow_16b(v)); }
SN_INLINE void v_store_sum_16b_32f(void *p, v32f v) { _mm_storeu_si128(p, vx_upper_halves(vx_round_16b(v))); }
SN_INLINE void v_store_tail_16b_32f(void *p, v32f v, size_t n) { vx_store_first_128(p, vx_narrow_16b(v), 2 * n); }

SN_INLINE v32i v_load_8u_32i(const void *p) { return _mm256_cvtepu8_epi32(vx_load_8(p)); }
SN_INLINE v32i v_load_tail_8u_32i(const void *p, size_t n) { return _mm256_cvtepu8_epi32(vx_load_first_128(p, n)); }
SN_INLINE v32i v_load_8i_32i(const void *p) { return _mm256_cvtepi8_epi32(vx_load_8(p)); }
SN_INLINE v32i v_load_tail_8i_32i(const void *p, size_t n) { return _mm256_cvtepi8_epi32(vx_load_first_128(p, n)); }
SN_INLINE v16i v_load_8u_16i(const void *p) { return _mm256_cvtepu8_epi16(_mm_loadu_si128(p)); }
SN_INLINE v16i v_load_tail_8u_16i(const void *p, size_t n)
{
    return n < 16 ? _mm256_cvtepu8_epi16(vx_load_first_128(p, n)) : v_load_8u_16i(p);
}
SN_INLINE v16i v_load_8i_16i(const void *p) { return _mm256_cvtepi8_epi16(_mm_loadu_si128(p)); }
SN_INLINE v16i v_load_tail_8i_16i(const void *p, size_t n)
{
    return n < 16 ? _mm256_cvtepi8_epi16(vx_load_first_128(p, n)) : v_load_8i_16i(p);
}

/* The upper half is loaded from byte 8 on, since there are only 24: its numbers begin 4 bytes later. */
SN_INLINE v32i v_load_24_32i(const void *p)
{
    __m128i upper = _mm_loadu_si128((const __m128i *)((const uint8_t *)p + 8));
    __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(p)), upper, 1);
    return _mm256_shuffle_epi8(both, _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, 4, 5, 6, -1, 7,
        8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1));
}
SN_INLINE v32i v_load_tail_24_32i(const void *p, size_t n)
{
    __m256i spread = _mm256_permutevar8x32_epi32(vx_load_first_256(p, 3 * n), _mm256_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5));
    __m128i order = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    return _mm256_shuffle_epi8(spread, _mm256_broadcastsi128_si256(order));
}

/* Constants. */

SN_INLINE v32f v_zero_32f(void) { return _mm256_setzero_ps(); }
SN_INLINE v32f v_set_32f(float x) { return _mm256_set1_ps(x); }
SN_INLINE v32i v_set_32i(int32_t x) { return _mm256_set1_epi32(x); }
SN_INLINE v16i v_set_16i(int16_t x) { return _mm256_set1_epi16(x); }
SN_INLINE v8u v_set_8u(uint8_t x) { return _mm256_set1_epi8((char)x); }

/* 32f arithmetic. vmaxps and vminps return their second operand if either is NaN, as v_max and v_min require. */

SN_INLINE v32f v_add_32f(v32f a, v32f b) { return _mm256_add_ps(a, b); }
SN_INLINE v32f v_sub_32f(v32f a, v32f b) { return _mm256_sub_ps(a, b); }
SN_INLINE v32f v_mul_32f(v32f a, v32f b) { return _mm256_mul_ps(a, b); }
SN_INLINE v32f v_div_32f(v32f a, v32f b) { return _mm256_div_ps(a, b); }
SN_INLINE v32f v_fma_32f(v32f a, v32f b, v32f c) { return _mm256_fmadd_ps(a, b, c); }
SN_INLINE v32f v_fnma_32f(v32f a, v32f b, v32f c) { return _mm256_fnmadd_ps(a, b, c); }
SN_INLINE v32f v_fma_once_32f(v32f a, v32f b, v32f c) { return v_fma_32f(a, b, c); }
SN_INLINE v32f v_max_32f(v32f a, v32f b) { return _mm256_max_ps(a, b); }
SN_INLINE v32f v_min_32f(v32f a, v32f b) { return _mm256_min_ps(a, b); }
SN_INLINE v32f v_abs_32f(v32f a)
{
    return _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF)));
}
SN_INLINE v32f v_sqrt_32f(v32f a) { return _mm256_sqrt_ps(a); }
SN_INLINE v32f v_sqrt_by_products_32f(v32f a) { return v_sqrt_32f(a); }
/* Newton's step gives NaN for the estimates of 0 and of infinity, which are already exact. */
SN_INLINE v32f v_rsqrt_32f(v32f a)
{
    v32f y = _mm256_rsqrt_ps(a), e = _mm256_fnmadd_ps(_mm256_mul_ps(a, y), y, _mm256_set1_ps(1));
    v32f better = _mm256_fmadd_ps(_mm256_mul_ps(y, e), _mm256_set1_ps(0.5f), y);
    return _mm256_blendv_ps(better, y, _mm256_cmp_ps(e, e, _CMP_UNORD_Q));
}
SN_INLINE v32f v_round_32f(v32f a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
/* In two steps, each by a power of two that is a normal float: the first one is exact. */
SN_INLINE v32f vx_power_of_2(__m256i n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
SN_INLINE v32f v_scale_32f(v32f a, v32f n)
{
    __m256i all = _mm256_cvtps_epi32(_mm256_floor_ps(n)), half = _mm256_srai_epi32(all, 1);
    return _mm256_mul_ps(_mm256_mul_ps(a, vx_power_of_2(half)), vx_power_of_2(_mm256_sub_epi32(all, half)));
}

/* |a|, subnormals times 2^24: computed once if a kernel uses both exponent and mantissa. */
SN_INLINE __m256 vx_is_tiny(v32f a) { return _mm256_cmp_ps(v_abs_32f(a), _mm256_set1_ps(0x1p-126f), _CMP_LT_OQ); }
SN_INLINE __m256i vx_normal(v32f a)
{
    __m256 size = v_abs_32f(a);
    return _mm256_castps_si256(_mm256_blendv_ps(size, _mm256_mul_ps(size, _mm256_set1_ps(0x1p24f)), vx_is_tiny(a)));
}
SN_INLINE v32f v_exponent_32f(v32f a)
{
    __m256 size = v_abs_32f(a), infinity = _mm256_set1_ps(__builtin_inff());
    __m256 bias = _mm256_blendv_ps(_mm256_set1_ps(127), _mm256_set1_ps(151), vx_is_tiny(a));
    __m256 e = _mm256_sub_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(vx_normal(a), 23)), bias);
    e = _mm256_blendv_ps(size, e, _mm256_cmp_ps(size, infinity, _CMP_LT_OQ));
    return _mm256_blendv_ps(e, _mm256_set1_ps(-__builtin_inff()), _mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_EQ_OQ));
}
SN_INLINE v32f v_mantissa_32f(v32f a)
{
    __m256i digits = _mm256_and_si256(vx_normal(a), _mm256_set1_epi32(0x007FFFFF));
    __m256 m = _mm256_castsi256_ps(_mm256_or_si256(digits, _mm256_set1_epi32(0x3F800000)));
    return _mm256_or_ps(m, _mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_NGE_UQ)); /* all bits set are a NaN */
}

/* 32f comparison and selection. */

SN_INLINE v32m v_lt_32f(v32f a, v32f b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
SN_INLINE v32m v_le_32f(v32f a, v32f b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
SN_INLINE v32m v_eq_32f(v32f a, v32f b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
SN_INLINE v32m v_nlt_32f(v32f a, v32f b) { return _mm256_cmp_ps(a, b, _CMP_NLT_UQ); }
SN_INLINE v32f v_where_32f(v32m m, v32f a) { return _mm256_and_ps(m, a); }
SN_INLINE v32f v_select_32f(v32m m, v32f a, v32f b) { return _mm256_blendv_ps(b, a, m); }
SN_INLINE int v_any(v32m m) { return _mm256_movemask_ps(m) != 0; }

/* 32f across lanes. */

SN_INLINE float v_reduce_add_32f(v32f v)
{
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}

SN_INLINE float v_reduce_max_32f(v32f v)
{
    __m128 y = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    y = _mm_max_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
}

/* Two-operand shuffles and packs work within halves and leave quarters in the order a0 b0 a1 b1: this gives a0 a1 b0 b1. */
SN_INLINE __m256i vx_order(__m256i v) { return _mm256_permute4x64_epi64(v, 0xD8); }
SN_INLINE v32f vx_order_32f(v32f v) { return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xD8)); }

SN_INLINE v32f v_even_32f(v32f a, v32f b) { return vx_order_32f(_mm256_shuffle_ps(a, b, 0x88)); }
SN_INLINE v32f v_odd_32f(v32f a, v32f b) { return vx_order_32f(_mm256_shuffle_ps(a, b, 0xDD)); }

SN_INLINE v32f v_zip_low_32f(v32f a, v32f b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20);
}
SN_INLINE v32f v_zip_high_32f(v32f a, v32f b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31);
}

SN_INLINE v32f v_lookup_32f(v32f table, v32i i) { return _mm256_permutevar8x32_ps(table, i); }

/* The 4x4 blocks within the halves of four rows. */
SN_INLINE void vx_transpose_blocks(v32f r[4])
{
    __m256d lo01 = _mm256_castps_pd(_mm256_unpacklo_ps(r[0], r[1]));
    __m256d hi01 = _mm256_castps_pd(_mm256_unpackhi_ps(r[0], r[1]));
    __m256d lo23 = _mm256_castps_pd(_mm256_unpacklo_ps(r[2], r[3]));
    __m256d hi23 = _mm256_castps_pd(_mm256_unpackhi_ps(r[2], r[3]));
    r[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(lo01, lo23));
    r[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(lo01, lo23));
    r[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(hi01, hi23));
    r[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(hi01, hi23));
}

/* First the 4x4 blocks within the halves of four rows, then the halves as a 2x2 matrix: 24 shuffles. */
SN_INLINE void v_transpose_32f(v32f r[8])
{
    SN_UNROLL
    for (int i = 0; i < 8; i += 4)
        vx_transpose_blocks(r + i);
    SN_UNROLL
    for (int i = 0; i < 4; i++)
    {
        const v32f upper = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
        r[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        r[i + 4] = upper;
    }
}

/* Inserted from memory, halves need no shuffle: 16 of them for a square. */
SN_INLINE void v_load_columns_32f(v32f *r, const void *p, size_t stride)
{
    const sn_32f *row = p;
    SN_UNROLL
    for (int k = 0; k < 4; k++, row += stride)
        r[k] = _mm256_set_m128(_mm_loadu_ps(row + 4 * stride), _mm_loadu_ps(row));
    vx_transpose_blocks(r);
}

SN_INLINE void v_collect_2_32f(v32f *r, const void *p, const int32_t *i)
{
    const v32f a = _mm256_set_m128(vx_two_pairs(p, i + 4), vx_two_pairs(p, i));
    const v32f b = _mm256_set_m128(vx_two_pairs(p, i + 6), vx_two_pairs(p, i + 2));
    r[0] = _mm256_shuffle_ps(a, b, 0x88);
    r[1] = _mm256_shuffle_ps(a, b, 0xDD);
}
SN_INLINE void v_collect_4_32f(v32f *r, const void *p, const int32_t *i)
{
    SN_UNROLL
    for (int k = 0; k < 4; k++)
        r[k] = _mm256_set_m128(vx_four_floats(p, i[k + 4]), vx_four_floats(p, i[k]));
    vx_transpose_blocks(r);
}

/* 32i. */

SN_INLINE v32i v_add_32i(v32i a, v32i b) { return _mm256_add_epi32(a, b); }
SN_INLINE v32i v_sub_32i(v32i a, v32i b) { return _mm256_sub_epi32(a, b); }
SN_INLINE v32i v_mul_32i(v32i a, v32i b) { return _mm256_mullo_epi32(a, b); }
SN_INLINE v32i v_and_32i(v32i a, v32i b) { return _mm256_and_si256(a, b); }
SN_INLINE v32i v_or_32i(v32i a, v32i b) { return _mm256_or_si256(a, b); }
SN_INLINE v32i v_xor_32i(v32i a, v32i b) { return _mm256_xor_si256(a, b); }
SN_INLINE v32i v_put_byte_32i(v32i v, v32i from, int k)
{
    return _mm256_blendv_epi8(v, from, _mm256_set1_epi32((int)(0xFFu << (8 * k))));
}
SN_INLINE v32i v_shl_32i(v32i a, int count) { return _mm256_slli_epi32(a, count); }
SN_INLINE v32i v_shr_32i(v32i a, int count) { return _mm256_srli_epi32(a, count); }
SN_INLINE v32i v_sra_32i(v32i a, int count) { return _mm256_srai_epi32(a, count); }
SN_INLINE v32i v_madd_16i_32i(v16i a, v16i b) { return _mm256_madd_epi16(a, b); }
SN_INLINE v32m v_gt_32i(v32i a, v32i b) { return _mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b)); }
SN_INLINE v32i v_select_32i(v32m m, v32i a, v32i b)
{
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(b), _mm256_castsi256_ps(a), m));
}

/* Conversions. */

SN_INLINE v32i v_cast_32f_32i(v32f v) { return _mm256_castps_si256(v); }
SN_INLINE v32f v_cast_32i_32f(v32i v) { return _mm256_castsi256_ps(v); }
SN_INLINE v32i v_cast_16i_32i(v16i v) { return v; }
SN_INLINE v16i v_cast_32i_16i(v32i v) { return v; }
SN_INLINE v32i v_cast_8u_32i(v8u v) { return v; }
SN_INLINE v8u v_cast_32i_8u(v32i v) { return v; }
SN_INLINE v32f v_cvt_32i_32f(v32i v) { return _mm256_cvtepi32_ps(v); }
SN_INLINE v32i v_cvt_32f_32i(v32f v) { return _mm256_cvtps_epi32(v); }

/* Packs work within halves; one permute of 32-bit groups at the end puts all four vectors in order. */
SN_INLINE v8u v_pack_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

SN_INLINE v8u v_join_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    return _mm256_shuffle_epi8(packed, _mm256_broadcastsi128_si256(order));
}

SN_INLINE v32f v_even_16b_32f(v16i v) { return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16)); }
SN_INLINE v32f v_odd_16b_32f(v16i v)
{
    return _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32((int)0xFFFF0000)));
}
SN_INLINE v16i v_join_16b_32f(v32f even, v32f odd)
{
    return _mm256_blend_epi16(_mm256_srli_epi32(vx_round_16b(even), 16), vx_round_16b(odd), 0xAA);
}

/* 16i and 8u. */

SN_INLINE v16i v_max_16i(v16i a, v16i b) { return _mm256_max_epi16(a, b); }
SN_INLINE v16i v_min_16i(v16i a, v16i b) { return _mm256_min_epi16(a, b); }
SN_INLINE v16i v_add_16i(v16i a, v16i b) { return _mm256_add_epi16(a, b); }
SN_INLINE v16i v_sub_16i(v16i a, v16i b) { return _mm256_sub_epi16(a, b); }
SN_INLINE v16i v_min_16u(v16i a, v16i b) { return _mm256_min_epu16(a, b); }
SN_INLINE v16i v_even_16i(v16i a, v16i b)
{
    __m256i low = _mm256_set1_epi32(0x0000FFFF);
    return vx_order(_mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low)));
}
SN_INLINE v16i v_odd_16i(v16i a, v16i b)
{
    return vx_order(_mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16)));
}

SN_INLINE v8u v_max_8u(v8u a, v8u b) { return _mm256_max_epu8(a, b); }
SN_INLINE v8u v_min_8u(v8u a, v8u b) { return _mm256_min_epu8(a, b); }
SN_INLINE v8u v_subs_8i(v8u a, v8u b) { return _mm256_subs_epi8(a, b); }
SN_INLINE v8u v_pick_8u(const void * p, v8u i)
{
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(p)), i);
}
SN_INLINE v8u v_even_8u(v8u a, v8u b)
{
    __m256i low = _mm256_set1_epi16(0x00FF);
    return vx_order(_mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low)));
}
SN_INLINE v8u v_odd_8u(v8u a, v8u b)
{
    return vx_order(_mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)));
}

/* Slides. */

/* bytes: a constant, the size of 1 to 4 lanes. The instructions require a literal, and shift within halves. */
SN_INLINE __m256i vx_slide_bytes(__m256i a, __m256i b, int bytes)
{
    const __m256i next = _mm256_permute2x128_si256(a, b, 0x21);
    switch (bytes)
    {
    case 1: return _mm256_alignr_epi8(next, a, 1);
    case 2: return _mm256_alignr_epi8(next, a, 2);
    case 3: return _mm256_alignr_epi8(next, a, 3);
    case 4: return _mm256_alignr_epi8(next, a, 4);
    case 6: return _mm256_alignr_epi8(next, a, 6);
    case 8: return _mm256_alignr_epi8(next, a, 8);
    case 12: return _mm256_alignr_epi8(next, a, 12);
    case 16: return next;
    default: return b;
    }
}
SN_INLINE v32f v_slide_32f(v32f a, v32f b, int n)
{
    return _mm256_castsi256_ps(vx_slide_bytes(_mm256_castps_si256(a), _mm256_castps_si256(b), 4 * n));
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
