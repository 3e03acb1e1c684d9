/*
 * 14 x 32: 28 of the 32 registers are sums, two hold B, one A. A single last vector of a panel uses tiles of 14 x 16, which
 * are as fast, since 4 sums hide the latency of the unit.
 *
 * A panel of 8 or 24 columns ends in half a vector: on processors that execute vectors in two halves, it takes half the
 * time, on others as long as a whole one.
 */
#ifndef SN_ISA_AVX512_TILES_32F_H
#define SN_ISA_AVX512_TILES_32F_H

#include "isa/avx512/vec_avx512.h"

/*
 * Lower halves of vectors. With intrinsics, gcc 12 has only half of the registers for them, and copies sums back and forth.
 * The factor is a memory operand of each multiply-add: 24 columns reach the peak, and 0.89 of it with a register for both.
 */
#define TILE_HALVES
#if defined(__clang__)
/*
 * For %t in the code below, clang 22 prints the names of masks in place of registers from 16 on. With an intrinsic for the
 * product, clang 14 broadcast a factor twice and had sums of 12 rows or more in memory: 24 and 56 columns took 1.2 to 1.5
 * times as long.
 */
SN_INLINE v32f half_load_32f(const sn_32f * p) { return _mm512_castps256_ps512(_mm256_loadu_ps((const void *)p)); }
SN_INLINE void half_store_32f(sn_32f * p, v32f v) { _mm256_storeu_ps((void *)p, _mm512_castps512_ps256(v)); }
SN_INLINE v32f half_fma_32f(const sn_32f * a, v32f b, v32f c)
{
    __m256 sum = _mm512_castps512_ps256(c);
    __asm__("vfmadd231ps %2%{1to8%}, %1, %0" : "+v"(sum) : "v"(_mm512_castps512_ps256(b)), "m"(*a));
    return _mm512_castps256_ps512(sum);
}
#else
SN_INLINE v32f half_load_32f(const sn_32f * p)
{
    v32f v;
    __asm__("vmovups %1, %t0" : "=v"(v) : "m"(*(const float(*)[8])p));
    return v;
}
SN_INLINE void half_store_32f(sn_32f * p, v32f v) { __asm__("vmovups %t1, %0" : "=m"(*(float(*)[8])p) : "v"(v)); }
SN_INLINE v32f half_fma_32f(const sn_32f * a, v32f b, v32f c)
{
    __asm__("vfmadd231ps %2%{1to8%}, %t1, %t0" : "+v"(c) : "v"(b), "m"(*a));
    return c;
}
#endif

#define TILE_SHAPES(X) X(14, 1) X(14, 2)
#define TILE_SHAPES_HALF(X) X(14, 1) X(14, 2)
#define TILE_PREFETCHES(vectors) true

#endif
