/*
 * The vector vocabulary: the only vector operations a kernel may use.
 *
 * A kernel under libsrc/kernels/ is written once with these operations and compiled once per instruction set with
 * SN_ISA, the name of the level, and SN_VOCABULARY, the name of its vocabulary, defined by the Makefile. This file defines
 * each operation; the implementations are libsrc/isa/<isa>/vec_<isa>.h, and tests/c/test_vec_*.c test all of them against
 * these definitions.
 *
 * Types. V32F_N, V16I_N and V8U_N are compile-time constants; V16I_N = 2 * V32F_N and V8U_N = 4 * V32F_N.
 *   v32f   V32F_N floats                           v32i   V32F_N signed 32-bit integers
 *   v16i   V16I_N signed 16-bit integers (also raw bfloat16)
 *   v8u    V8U_N unsigned bytes                    v32m   one truth value for each of V32F_N lanes
 *
 * Memory. Every load and store takes a pointer to any byte address, hence a void pointer. The tail forms access exactly the
 * first n elements, 0 <= n <= lanes, and a tail load fills the other lanes with zero. Only v_stream_32f requires a pointer
 * aligned to the vector; call v_fence() once after the last of them.
 *
 *   v_load_32f(p)  v_load_tail_32f(p, n)  v_store_32f(p, v)  v_store_tail_32f(p, v, n)     and the same for 32i 16i 8u
 *   v_stream_32f(p, v)      non-temporal store                v_fence()   orders streamed stores before later ones
 *   v_load_16b_32f(p)  v_load_tail_16b_32f(p, n)              V32F_N bfloat16 values, widened to float in order
 *   v_store_16b_32f(p, v)  v_store_tail_16b_32f(p, v, n)      exactly as sn_32f_to_16b of runtime/numeric.h
 *   v_store_sum_16b_32f(p, v)   the same in fewer instructions; a NaN must be quiet and have 0 in its lower half, as in
 *                           v_join_16b_32f
 *   v_load_8u_32i(p)  v_load_tail_8u_32i(p, n)                V32F_N bytes, widened to 32 bits in order
 *   v_load_8i_32i(p)  v_load_tail_8i_32i(p, n)                the same of signed bytes
 *   v_load_8u_16i(p)  v_load_tail_8u_16i(p, n)                V16I_N bytes, widened to 16 bits in order
 *   v_load_8i_16i(p)  v_load_tail_8i_16i(p, n)                the same of signed bytes
 *   v_load_24_32i(p)  v_load_tail_24_32i(p, n)                V32F_N numbers of 3 bytes, the lowest first, likewise
 *   v_load_columns_32f(r, p, stride)                          lane l of r[k] is float l * stride + k of those at p, for k
 *                           below 4: the columns of V32F_N rows
 *   v_collect_2_32f(r, p, i)  v_collect_4_32f(r, p, i)        lane l of r[k] is float i[l] + k of those at p, for the V32F_N
 *                           int32_t at i, none of which is negative, and k below 2, or 4
 *
 * Constants.
 *   v_zero_32f()  v_set_32f(x)  v_set_32i(x)  v_set_16i(x)  v_set_8u(x)                    x in every lane
 *   v_broadcast_32i(p)                                        4 bytes of memory in every lane
 *
 * 32f arithmetic, lane by lane, IEEE, rounded once.
 *   v_add_32f(a, b)  v_sub_32f(a, b)  v_mul_32f(a, b)  v_div_32f(a, b)
 *   v_fma_32f(a, b, c)      a * b + c, fused if the set supports it (V_FMA is 1), else a multiply, then an add (V_FMA is 0)
 *   v_fnma_32f(a, b, c)     c - a * b, likewise
 *   v_fma_once_32f(a, b, c)   a * b + c, fused on every set; slow where V_FMA is 0
 *   v_max_32f(a, b)         a > b ? a : b, so b if either is NaN     v_min_32f(a, b)   a < b ? a : b, likewise
 *   v_abs_32f(a)            clears the sign
 *   v_sqrt_32f(a)           square root; NaN below 0, -0 for -0
 *   v_sqrt_by_products_32f(a)   the same bits for 2^-100 <= a <= FLT_MAX, else undefined; by multiplications if the set has
 *                           a good estimate, so that it and v_sqrt_32f use different execution units
 *   v_rsqrt_32f(a)          1 / sqrt(a), with an error of at most 4 units in the last place, by an estimate of the processor
 *                           and Newton's step: the last bits may differ between makers of processors. 0 for Inf, Inf for 0,
 *                           NaN below 0; undefined for denormal a
 *   v_round_32f(a)          nearest integer, ties to even, in any rounding mode of the thread
 *   v_scale_32f(a, n)       a * 2^floor(n) for -252 <= n <= 250; NaN if a is NaN. Rounded once if 1/2 <= |a| <= 2, or if
 *                           |a| <= 2^101 and n <= -64
 *   v_exponent_32f(a)       floor(log2(|a|)), denormals too; -Inf for 0, Inf for infinities, NaN for NaN
 *   v_mantissa_32f(a)       a / 2^exponent, so 1 <= mantissa < 2; 1 for zeros of either sign and for Inf; NaN for a < 0
 *
 * 32f comparison and selection.
 *   v_lt_32f(a, b)  v_le_32f(a, b)  v_eq_32f(a, b)            -> v32m; false if either is NaN
 *   v_nlt_32f(a, b)         -> v32m: not a < b, so true if either is NaN
 *   v_where_32f(m, a)       a where m is true, else 0: often part of the instruction that computes a
 *   v_select_32f(m, a, b)   a where m is true, else b         v_any(m)   1 if any lane of m is true, else 0
 *
 * 32f across lanes. The order of the additions is fixed for an instruction set.
 *   v_reduce_add_32f(v)  v_reduce_max_32f(v)                  -> float; the latter includes all lanes, undefined with NaN
 *   v_even_32f(a, b)        lanes 0 2 4 ... of a, then of b   v_odd_32f(a, b)    lanes 1 3 5 ... of a, then of b
 *   v_zip_low_32f(a, b)     a0 b0 a1 b1 ..., from the lower halves   v_zip_high_32f(a, b)   the same from the upper halves
 *   v_lookup_32f(table, i)  lane i modulo V32F_N of the table, for each lane of the v32i
 *   v_transpose_32f(r)      r is v32f[V32F_N], the rows of a square; transposed in place
 *
 * 32i.
 *   v_add_32i  v_sub_32i  v_mul_32i  v_and_32i  v_or_32i  v_xor_32i      (a, b), wrapping
 *   v_put_byte_32i(v, from, k)   v, with byte k of each lane replaced by that of `from`; k is a constant, 0 is the lowest
 *   v_shl_32i(a, count)  v_shr_32i(a, count)  v_sra_32i(a, count)      count is a constant (an int below the width of a
 *                       lane); shr shifts in zeros, sra copies of the sign
 *   v_gt_32i(a, b)          -> v32m                           v_select_32i(m, a, b)
 *
 *   v_madd_16i_32i(a, b)    lane i is a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1], of the v16i a and b; wrapping
 *
 * Conversions. A cast keeps the bits, a cvt keeps the value.
 *   v_cast_32f_32i(v)  v_cast_32i_32f(v)  v_cast_16i_32i(v)  v_cast_32i_16i(v)  v_cast_8u_32i(v)  v_cast_32i_8u(v)
 *   v_cvt_32i_32f(v)        rounds to nearest even
 *   v_cvt_32f_32i(v)        rounds to nearest even; undefined outside the range of int32 and for NaN: clamp first
 *   v_pack_32i_8u(a, b, c, d)   lanes of a, b, c, d in this order, each saturated to 0..255
 *   v_join_32i_8u(a, b, c, d)   byte 4 * i is lane i of a saturated to 0..255, byte 4 * i + 1 that of b, and so on
 *   v_even_16b_32f(v)  v_odd_16b_32f(v)     the even / odd bfloat16 elements of a v16i as floats
 *   v_join_16b_32f(even, odd)               the inverse, rounded as sn_32f_to_16b; a NaN must be quiet and have 0 in its
 *                                           lower half, as the results of arithmetic with bfloat16 values have
 *
 * 16i and 8u.
 *   v_max_16i(a, b)  v_min_16i(a, b)  v_min_16u(a, b)   of signed numbers; u: the same bits as unsigned numbers
 *   v_add_16i(a, b)  v_sub_16i(a, b)         wrapping
 *   v_even_16i(a, b)  v_odd_16i(a, b)
 *   v_max_8u(a, b)   v_min_8u(a, b)   v_even_8u(a, b)   v_odd_8u(a, b)
 *   v_subs_8i(a, b)         a - b of the v8u as signed bytes, limited to -128 .. 127
 *   v_pick_8u(p, i)         byte i % 16 of the 16 bytes at p, for each byte i of the v8u below 128; 0 for the others
 *
 * Slides: lanes n .. of a, then lanes 0 .. n - 1 of b; n is a constant, 1 to 4.
 *   v_slide_32f(a, b, n)  v_slide_16i(a, b, n)  v_slide_8u(a, b, n)
 *
 * Help for the compiler.
 *   v_keep_32f(v)  v_keep_32i(v)   returns v, and makes the compiler keep it in a register from here on: it neither folds
 *                           the load of v into each use nor recomputes v
 *
 * An operation is added only when two kernels need it: define it here, implement it for every set, test it.
 */
#ifndef SN_KERNELS_VEC_H
#define SN_KERNELS_VEC_H

#include <string.h>

#include "runtime/common.h"

#if !defined(SN_ISA)
#error "kernels are compiled by the Makefile, once per instruction set, with SN_ISA and SN_VOCABULARY defined"
#endif

/* vec_avx2.h and so on: the folder of the instruction set is in the compiler's path. */
#include SN_STRING(SN_JOIN2(vec_, SN_VOCABULARY).h)

SN_INLINE v32i v_broadcast_32i(const void * p)
{
    int32_t x;
    memcpy(&x, p, sizeof(x));
    return v_set_32i(x);
}

/* Whether code should be small rather than fast: for processors without fused multiply-add, which were made before 2013. */
#define V_COMPACT (!V_FMA)

/* Names a kernel with linkage: ISA_FN(relu_32f) is sn_relu_32f_avx2 when compiled for AVX2. */
#define ISA_FN(name) SN_JOIN3(sn_, name, SN_JOIN2(_, SN_ISA))

/* Names a function that levels with the same vocabulary share: it is compiled for the level of that name. */
#define VOCABULARY_FN(name) SN_JOIN3(sn_, name, SN_JOIN2(_, SN_VOCABULARY))

#endif
