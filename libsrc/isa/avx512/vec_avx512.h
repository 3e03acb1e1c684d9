/*
 * The vocabulary of kernels/vec.h on AVX-512 F + BW + DQ + VL: 16 floats, 32 16-bit integers, 64 bytes, 32 registers.
 *
 * Every tail is a mask: masked-off elements are neither read nor written and cannot fault, and a masked store costs as much
 * as a full one (unlike on AVX). VBMI is not used: bytes are deinterleaved as 16-bit pairs. The vx_ functions are private to
 * this file.
 */
#ifndef SN_ISA_VEC_AVX512_H
#define SN_ISA_VEC_AVX512_H

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) || !defined(__AVX512VL__) || \
    !defined(__FMA__) || !defined(__F16C__)
#error "vec_avx512.h needs -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c"
#endif

#include "isa/sse41/collect_128.h"
#include "runtime/common.h"

#include <immintrin.h>

#define V32F_N 16
#define V16I_N 32
#define V8U_N 64
#define V_FMA 1

typedef __m512 v32f;
typedef __m512i v32i;
typedef __m512i v16i;
typedef __m512i v8u;
typedef __mmask16 v32m;

/* Masks of the first n lanes; n may be the number of lanes, so the shifted type must be wider than the mask. */
SN_INLINE __mmask16 vx_first_16(size_t n) { return (__mmask16)((1u << n) - 1); }
SN_INLINE __mmask32 vx_first_32(size_t n) { return (__mmask32)(((uint64_t)1 << n) - 1); }
SN_INLINE __mmask64 vx_first_64(size_t n) { return n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0; }

/* Memory. */

SN_INLINE v32f v_load_32f(const void *p) { return _mm512_loadu_ps(p); }
/* A masked load of 64 bytes across a cache line takes as long as a whole one, even if the mask has no byte of the next line: half
 * a vector, where the compiler knows that it is one, is loaded and stored as 32 bytes. */
SN_INLINE v32f v_load_tail_32f(const void *p, size_t n)
{
    if (__builtin_constant_p(n) && n == 8)
        return _mm512_zextps256_ps512(_mm256_loadu_ps(p));
    return _mm512_maskz_loadu_ps(vx_first_16(n), p);
}
SN_INLINE void v_store_32f(void *p, v32f v) { _mm512_storeu_ps(p, v); }
SN_INLINE void v_store_tail_32f(void *p, v32f v, size_t n)
{
    if (__builtin_constant_p(n) && n == 8)
        _mm256_storeu_ps(p, _mm512_castps512_ps256(v));
    else
        _mm512_mask_storeu_ps(p, vx_first_16(n), v);
}
/* In halves: non-temporal stores reach 37 GB/s this way on Zen 4, 28 by whole vectors. */
SN_INLINE void v_stream_32f(void *p, v32f v)
{
    _mm256_stream_ps(p, _mm512_castps512_ps256(v));
    _mm256_stream_ps((void *)((uint8_t *)p + 32), _mm512_extractf32x8_ps(v, 1));
}
SN_INLINE void v_fence(void) { _mm_sfence(); }

SN_INLINE v32i v_load_32i(const void *p) { return _mm512_loadu_si512(p); }
SN_INLINE v32i v_load_tail_32i(const void *p, size_t n) { return _mm512_maskz_loadu_epi32(vx_first_16(n), p); }
SN_INLINE void v_store_32i(void *p, v32i v) { _mm512_storeu_si512(p, v); }
SN_INLINE void v_store_tail_32i(void *p, v32i v, size_t n) { _mm512_mask_storeu_epi32(p, vx_first_16(n), v); }

SN_INLINE v16i v_load_16i(const void *p) { return _mm512_loadu_si512(p); }
SN_INLINE v16i v_load_tail_16i(const void *p, size_t n) { return _mm512_maskz_loadu_epi16(vx_first_32(n), p); }
SN_INLINE void v_store_16i(void *p, v16i v) { _mm512_storeu_si512(p, v); }
SN_INLINE void v_store_tail_16i(void *p, v16i v, size_t n) { _mm512_mask_storeu_epi16(p, vx_first_32(n), v); }

SN_INLINE v8u v_load_8u(const void *p) { return _mm512_loadu_si512(p); }
SN_INLINE v8u v_load_tail_8u(const void *p, size_t n) { return _mm512_maskz_loadu_epi8(vx_first_64(n), p); }
SN_INLINE void v_store_8u(void *p, v8u v) { _mm512_storeu_si512(p, v); }
SN_INLINE void v_store_tail_8u(void *p, v8u v, size_t n) { _mm512_mask_storeu_epi8(p, vx_first_64(n), v); }

/* One vpermw with a mask of zeros made depthwise convolutions by 3x3 and 5x5 take 1.03 to 1.09 times as long. */
SN_INLINE v32f vx_widen_16b(__m256i x)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

/*
 * The upper half of every 32-bit lane becomes the bfloat16, the lower half is undefined; a NaN may overflow to another
 * value. vcvtneps2bf16 would be shorter, but it flushes subnormals to zero.
 */
SN_INLINE __m512i vx_round_16b(v32f v)
{
    __m512i bits = _mm512_castps_si512(v);
    __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x00010000));
    __m512i rounded = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF));
    return _mm512_mask_sub_epi32(rounded, odd, rounded, _mm512_set1_epi32(-1));
}

/* The upper halves of 32-bit lanes; a shift and vpmovdw take three operations of the processor. */
SN_INLINE __m256i vx_upper_halves(__m512i v)
{
    const __m256i order = _mm256_setr_epi16(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_castsi512_si256(_mm512_permutexvar_epi16(_mm512_castsi256_si512(order), v));
}

SN_INLINE __m256i vx_narrow_16b(v32f v)
{
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    __m512i quiet = _mm512_mask_or_epi32(vx_round_16b(v), nan, _mm512_castps_si512(v), _mm512_set1_epi32(0x00400000));
    return vx_upper_halves(quiet);
}

SN_INLINE v32f v_load_16b_32f(const void *p) { return vx_widen_16b(_mm256_loadu_si256(p)); }
SN_INLINE v32f v_load_tail_16b_32f(const void *p, size_t n)
{
    return vx_widen_16b(_mm256_maskz_loadu_epi16(vx_first_16(n), p));
}
SN_INLINE void v_store_16b_32f(void *p, v32f v) { _mm256_storeu_si256(p, vx_narrow_16b(v)); }
SN_INLINE void v_store_sum_16b_32f(void *p, v32f v) { _mm256_storeu_si256(p, vx_upper_halves(vx_round_16b(v))); }
SN_INLINE void v_store_tail_16b_32f(void *p, v32f v, size_t n)
{
    _mm256_mask_storeu_epi16(p, vx_first_16(n), vx_narrow_16b(v));
}

SN_INLINE v32i v_load_8i_32i(const void *p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128(p)); }
SN_INLINE v32i v_load_tail_8i_32i(const void *p, size_t n)
{
    return _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(vx_first_16(n), p));
}
SN_INLINE v32i v_load_8u_32i(const void *p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(p)); }
SN_INLINE v32i v_load_tail_8u_32i(const void *p, size_t n)
{
    return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(vx_first_16(n), p));
}

SN_INLINE v16i v_load_8u_16i(const void *p) { return _mm512_cvtepu8_epi16(_mm256_loadu_si256(p)); }
SN_INLINE v16i v_load_tail_8u_16i(const void *p, size_t n)
{
    return _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(vx_first_32(n), p));
}
SN_INLINE v16i v_load_8i_16i(const void *p) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256(p)); }
SN_INLINE v16i v_load_tail_8i_16i(const void *p, size_t n)
{
    return _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(vx_first_32(n), p));
}

/* The low 48 bytes: 12 to each quarter, then 3 to each lane. */
SN_INLINE __m512i vx_widen_24(__m512i x)
{
    __m512i quarters = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
    __m128i order = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(quarters, x), _mm512_broadcast_i32x4(order));
}
SN_INLINE v32i v_load_24_32i(const void *p) { return vx_widen_24(_mm512_maskz_loadu_epi32(0x0FFF, p)); }
SN_INLINE v32i v_load_tail_24_32i(const void *p, size_t n)
{
    return vx_widen_24(_mm512_maskz_loadu_epi8(vx_first_64(3 * n), p));
}

/* Constants. */

SN_INLINE v32f v_zero_32f(void) { return _mm512_setzero_ps(); }
SN_INLINE v32f v_set_32f(float x) { return _mm512_set1_ps(x); }
SN_INLINE v32i v_set_32i(int32_t x) { return _mm512_set1_epi32(x); }
SN_INLINE v16i v_set_16i(int16_t x) { return _mm512_set1_epi16(x); }
SN_INLINE v8u v_set_8u(uint8_t x) { return _mm512_set1_epi8((char)x); }

/* 32f arithmetic. vmaxps and vminps return their second operand if either is NaN, as v_max and v_min require. */

SN_INLINE v32f v_add_32f(v32f a, v32f b) { return _mm512_add_ps(a, b); }
SN_INLINE v32f v_sub_32f(v32f a, v32f b) { return _mm512_sub_ps(a, b); }
SN_INLINE v32f v_mul_32f(v32f a, v32f b) { return _mm512_mul_ps(a, b); }
SN_INLINE v32f v_div_32f(v32f a, v32f b) { return _mm512_div_ps(a, b); }
SN_INLINE v32f v_fma_32f(v32f a, v32f b, v32f c) { return _mm512_fmadd_ps(a, b, c); }
SN_INLINE v32f v_fnma_32f(v32f a, v32f b, v32f c) { return _mm512_fnmadd_ps(a, b, c); }
SN_INLINE v32f v_fma_once_32f(v32f a, v32f b, v32f c) { return v_fma_32f(a, b, c); }
SN_INLINE v32f v_max_32f(v32f a, v32f b) { return _mm512_max_ps(a, b); }
SN_INLINE v32f v_min_32f(v32f a, v32f b) { return _mm512_min_ps(a, b); }
SN_INLINE v32f v_abs_32f(v32f a)
{
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(0x7FFFFFFF)));
}
SN_INLINE v32f v_sqrt_32f(v32f a) { return _mm512_sqrt_ps(a); }
/* Newton's step gives NaN for the estimates of 0 and of infinity, which are already exact. */
SN_INLINE v32f v_rsqrt_32f(v32f a)
{
    v32f y = _mm512_rsqrt14_ps(a), e = _mm512_fnmadd_ps(_mm512_mul_ps(a, y), y, _mm512_set1_ps(1));
    return _mm512_mask_fmadd_ps(y, _mm512_cmp_ps_mask(e, e, _CMP_ORD_Q), _mm512_mul_ps(e, _mm512_set1_ps(0.5f)), y);
}
/* Goldschmidt's iteration and a last step with the remainder: exact for every estimate with an error of at most 2^-14. */
SN_INLINE v32f v_sqrt_by_products_32f(v32f a)
{
    const v32f half = _mm512_set1_ps(0.5f), y = _mm512_rsqrt14_ps(a);
    const v32f g = _mm512_mul_ps(a, y), h = _mm512_mul_ps(half, y), r = _mm512_fnmadd_ps(g, h, half);
    const v32f root = _mm512_fmadd_ps(g, r, g), inverse = _mm512_fmadd_ps(h, r, h);
    return _mm512_fmadd_ps(_mm512_fnmadd_ps(root, root, a), inverse, root);
}
SN_INLINE v32f v_round_32f(v32f a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
SN_INLINE v32f v_scale_32f(v32f a, v32f n) { return _mm512_scalef_ps(a, n); }
SN_INLINE v32f v_exponent_32f(v32f a) { return _mm512_getexp_ps(a); }
/* Both bits of the sign control are set: zeros give 1, negative numbers NaN. */
SN_INLINE v32f v_mantissa_32f(v32f a)
{
    return _mm512_getmant_ps(a, _MM_MANT_NORM_1_2, (_MM_MANTISSA_SIGN_ENUM)(_MM_MANT_SIGN_zero | _MM_MANT_SIGN_nan));
}

/* 32f comparison and selection. */

SN_INLINE v32m v_lt_32f(v32f a, v32f b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
SN_INLINE v32m v_le_32f(v32f a, v32f b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
SN_INLINE v32m v_eq_32f(v32f a, v32f b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
SN_INLINE v32m v_nlt_32f(v32f a, v32f b) { return _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ); }
SN_INLINE v32f v_where_32f(v32m m, v32f a) { return _mm512_maskz_mov_ps(m, a); }
SN_INLINE v32f v_select_32f(v32m m, v32f a, v32f b) { return _mm512_mask_blend_ps(m, b, a); }
SN_INLINE int v_any(v32m m) { return m != 0; }

/* 32f across lanes. Halves are reduced explicitly: the compilers' own reductions may add in another order. */

SN_INLINE float v_reduce_add_32f(v32f v)
{
    __m256 x = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}

SN_INLINE float v_reduce_max_32f(v32f v)
{
    __m256 x = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_max_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
}

SN_INLINE v32f v_even_32f(v32f a, v32f b)
{
    __m512i index = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(a, index, b);
}

SN_INLINE v32f v_odd_32f(v32f a, v32f b)
{
    __m512i index = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_ps(a, index, b);
}

SN_INLINE v32f v_zip_low_32f(v32f a, v32f b)
{
    __m512i index = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(a, index, b);
}

SN_INLINE v32f v_zip_high_32f(v32f a, v32f b)
{
    __m512i index = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    return _mm512_permutex2var_ps(a, index, b);
}

SN_INLINE v32f v_lookup_32f(v32f table, v32i i) { return _mm512_permutexvar_ps(i, table); }

/* The 4x4 blocks within the quarters of four rows. */
SN_INLINE void vx_transpose_blocks(v32f r[4])
{
    __m512d lo01 = _mm512_castps_pd(_mm512_unpacklo_ps(r[0], r[1]));
    __m512d hi01 = _mm512_castps_pd(_mm512_unpackhi_ps(r[0], r[1]));
    __m512d lo23 = _mm512_castps_pd(_mm512_unpacklo_ps(r[2], r[3]));
    __m512d hi23 = _mm512_castps_pd(_mm512_unpackhi_ps(r[2], r[3]));
    r[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(lo01, lo23));
    r[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(lo01, lo23));
    r[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(hi01, hi23));
    r[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(hi01, hi23));
}

/*
 * First the 4x4 blocks within the four quarters of four rows, then the quarters as a 4x4 matrix: 64 shuffles, with at most
 * 20 live values.
 */
SN_INLINE void v_transpose_32f(v32f r[16])
{
    SN_UNROLL
    for (int i = 0; i < 16; i += 4)
        vx_transpose_blocks(r + i);
    SN_UNROLL
    for (int i = 0; i < 4; i++)
    {
        v32f even01 = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        v32f odd01 = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xDD);
        v32f even23 = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        v32f odd23 = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xDD);
        r[i] = _mm512_shuffle_f32x4(even01, even23, 0x88);
        r[i + 4] = _mm512_shuffle_f32x4(odd01, odd23, 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(even01, even23, 0xDD);
        r[i + 12] = _mm512_shuffle_f32x4(odd01, odd23, 0xDD);
    }
}

/* Inserted from memory, quarters need no shuffle: 32 of them for a square, and as many other operations as inserts. */
SN_INLINE v32f vx_quarters_at(const sn_32f *p, size_t step)
{
    const __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + step), 1);
    const v32f three = _mm512_insertf32x4(_mm512_castps256_ps512(low), _mm_loadu_ps(p + 2 * step), 2);
    return _mm512_insertf32x4(three, _mm_loadu_ps(p + 3 * step), 3);
}
SN_INLINE void v_load_columns_32f(v32f *r, const void *p, size_t stride)
{
    const sn_32f *row = p;
    SN_UNROLL
    for (int k = 0; k < 4; k++, row += stride)
        r[k] = vx_quarters_at(row, 4 * stride);
    vx_transpose_blocks(r);
}

SN_INLINE v32f vx_of_quarters(__m128 a, __m128 b, __m128 c, __m128 d)
{
    const __m512 low = _mm512_castps256_ps512(_mm256_set_m128(b, a));
    return _mm512_insertf32x8(low, _mm256_set_m128(d, c), 1);
}
SN_INLINE v32f vx_eight_pairs(const void *p, const int32_t *i)
{
    return vx_of_quarters(vx_two_pairs(p, i), vx_two_pairs(p, i + 4), vx_two_pairs(p, i + 8), vx_two_pairs(p, i + 12));
}
SN_INLINE void v_collect_2_32f(v32f *r, const void *p, const int32_t *i)
{
    const v32f a = vx_eight_pairs(p, i), b = vx_eight_pairs(p, i + 2);
    r[0] = _mm512_shuffle_ps(a, b, 0x88);
    r[1] = _mm512_shuffle_ps(a, b, 0xDD);
}
SN_INLINE void v_collect_4_32f(v32f *r, const void *p, const int32_t *i)
{
    SN_UNROLL
    for (int k = 0; k < 4; k++)
        r[k] = vx_of_quarters(vx_four_floats(p, i[k]), vx_four_floats(p, i[k + 4]), vx_four_floats(p, i[k + 8]),
                              vx_four_floats(p, i[k + 12]));
    vx_transpose_blocks(r);
}

/* 32i. */

SN_INLINE v32i v_add_32i(v32i a, v32i b) { return _mm512_add_epi32(a, b); }
SN_INLINE v32i v_sub_32i(v32i a, v32i b) { return _mm512_sub_epi32(a, b); }
SN_INLINE v32i v_mul_32i(v32i a, v32i b) { return _mm512_mullo_epi32(a, b); }
SN_INLINE v32i v_and_32i(v32i a, v32i b) { return _mm512_and_si512(a, b); }
SN_INLINE v32i v_or_32i(v32i a, v32i b) { return _mm512_or_si512(a, b); }
SN_INLINE v32i v_xor_32i(v32i a, v32i b) { return _mm512_xor_si512(a, b); }
SN_INLINE v32i v_put_byte_32i(v32i v, v32i from, int k)
{
    return _mm512_mask_blend_epi8((__mmask64)0x1111111111111111 << k, v, from);
}
SN_INLINE v32i v_shl_32i(v32i a, int count) { return _mm512_slli_epi32(a, count); }
SN_INLINE v32i v_shr_32i(v32i a, int count) { return _mm512_srli_epi32(a, count); }
SN_INLINE v32i v_sra_32i(v32i a, int count) { return _mm512_srai_epi32(a, count); }
SN_INLINE v32i v_madd_16i_32i(v16i a, v16i b) { return _mm512_madd_epi16(a, b); }
SN_INLINE v32m v_gt_32i(v32i a, v32i b) { return _mm512_cmpgt_epi32_mask(a, b); }
SN_INLINE v32i v_select_32i(v32m m, v32i a, v32i b) { return _mm512_mask_blend_epi32(m, b, a); }

/* Conversions. */

SN_INLINE v32i v_cast_32f_32i(v32f v) { return _mm512_castps_si512(v); }
SN_INLINE v32f v_cast_32i_32f(v32i v) { return _mm512_castsi512_ps(v); }
SN_INLINE v32i v_cast_16i_32i(v16i v) { return v; }
SN_INLINE v16i v_cast_32i_16i(v32i v) { return v; }
SN_INLINE v32i v_cast_8u_32i(v8u v) { return v; }
SN_INLINE v8u v_cast_32i_8u(v32i v) { return v; }
SN_INLINE v32f v_cvt_32i_32f(v32i v) { return _mm512_cvtepi32_ps(v); }
SN_INLINE v32i v_cvt_32f_32i(v32f v) { return _mm512_cvtps_epi32(v); }

/* Packs work within quarters; one permute of 32-bit groups at the end puts all four vectors in order. */
SN_INLINE v8u v_pack_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i packed = _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    return _mm512_permutexvar_epi32(order, packed);
}

SN_INLINE v8u v_join_32i_8u(v32i a, v32i b, v32i c, v32i d)
{
    __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m512i packed = _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    return _mm512_shuffle_epi8(packed, order);
}

SN_INLINE v32f v_even_16b_32f(v16i v) { return _mm512_castsi512_ps(_mm512_slli_epi32(v, 16)); }
SN_INLINE v32f v_odd_16b_32f(v16i v)
{
    return _mm512_castsi512_ps(_mm512_and_si512(v, _mm512_set1_epi32((int)0xFFFF0000)));
}
SN_INLINE v16i v_join_16b_32f(v32f even, v32f odd)
{
    return _mm512_mask_blend_epi16(0xAAAAAAAA, _mm512_srli_epi32(vx_round_16b(even), 16), vx_round_16b(odd));
}

/* 16i and 8u. */

SN_INLINE v16i v_max_16i(v16i a, v16i b) { return _mm512_max_epi16(a, b); }
SN_INLINE v16i v_min_16i(v16i a, v16i b) { return _mm512_min_epi16(a, b); }
SN_INLINE v16i v_add_16i(v16i a, v16i b) { return _mm512_add_epi16(a, b); }
SN_INLINE v16i v_sub_16i(v16i a, v16i b) { return _mm512_sub_epi16(a, b); }
SN_INLINE v16i v_min_16u(v16i a, v16i b) { return _mm512_min_epu16(a, b); }

/* Pairs 2i, 2i + 1 of 16-bit indices written as one 32-bit number each, to keep the table short. */
SN_INLINE v16i v_even_16i(v16i a, v16i b)
{
    __m512i index = _mm512_setr_epi32(0x020000, 0x060004, 0x0A0008, 0x0E000C, 0x120010, 0x160014, 0x1A0018, 0x1E001C,
        0x220020, 0x260024, 0x2A0028, 0x2E002C, 0x320030, 0x360034, 0x3A0038, 0x3E003C);
    return _mm512_permutex2var_epi16(a, index, b);
}

SN_INLINE v16i v_odd_16i(v16i a, v16i b)
{
    __m512i index = _mm512_setr_epi32(0x030001, 0x070005, 0x0B0009, 0x0F000D, 0x130011, 0x170015, 0x1B0019, 0x1F001D,
        0x230021, 0x270025, 0x2B0029, 0x2F002D, 0x330031, 0x370035, 0x3B0039, 0x3F003D);
    return _mm512_permutex2var_epi16(a, index, b);
}

SN_INLINE v8u v_max_8u(v8u a, v8u b) { return _mm512_max_epu8(a, b); }
SN_INLINE v8u v_min_8u(v8u a, v8u b) { return _mm512_min_epu8(a, b); }

SN_INLINE v8u v_subs_8i(v8u a, v8u b) { return _mm512_subs_epi8(a, b); }
SN_INLINE v8u v_pick_8u(const void * p, v8u i)
{
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128(p)), i);
}

/* a and b hold 16-bit numbers below 256: their low bytes, those of a first. */
SN_INLINE v8u vx_low_bytes(__m512i a, __m512i b)
{
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), _mm512_packus_epi16(a, b));
}
SN_INLINE v8u v_even_8u(v8u a, v8u b)
{
    __m512i low = _mm512_set1_epi16(0x00FF);
    return vx_low_bytes(_mm512_and_si512(a, low), _mm512_and_si512(b, low));
}
SN_INLINE v8u v_odd_8u(v8u a, v8u b) { return vx_low_bytes(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8)); }

/* Slides. */

/* bytes: a constant, the size of 1 to 4 lanes. Instructions require a literal; only 32-bit lanes shift across quarters. */
SN_INLINE __m512i vx_slide_bytes(__m512i a, __m512i b, int bytes)
{
    const __m512i next = _mm512_alignr_epi32(b, a, 4);
    switch (bytes)
    {
    case 1: return _mm512_alignr_epi8(next, a, 1);
    case 2: return _mm512_alignr_epi8(next, a, 2);
    case 3: return _mm512_alignr_epi8(next, a, 3);
    case 4: return _mm512_alignr_epi32(b, a, 1);
    case 6: return _mm512_alignr_epi8(next, a, 6);
    case 8: return _mm512_alignr_epi32(b, a, 2);
    case 12: return _mm512_alignr_epi32(b, a, 3);
    case 16: return _mm512_alignr_epi32(b, a, 4);
    default: return b;
    }
}
SN_INLINE v32f v_slide_32f(v32f a, v32f b, int n)
{
    return _mm512_castsi512_ps(vx_slide_bytes(_mm512_castps_si512(a), _mm512_castps_si512(b), 4 * n));
}
SN_INLINE v16i v_slide_16i(v16i a, v16i b, int n) { return vx_slide_bytes(a, b, 2 * n); }
SN_INLINE v8u v_slide_8u(v8u a, v8u b, int n) { return vx_slide_bytes(a, b, n); }

/* Help for the compiler. */

SN_INLINE v32f v_keep_32f(v32f v)
{
    __asm__("" : "+v"(v));
    return v;
}

SN_INLINE v32i v_keep_32i(v32i v)
{
    __asm__("" : "+v"(v));
    return v;
}

#endif
