/* Floats from several places, for the vocabularies of x86-64. */
#ifndef SN_ISA_COLLECT_128_H
#define SN_ISA_COLLECT_128_H

#include "runtime/common.h"

#include <emmintrin.h>

SN_INLINE const void *vx_float_at(const void *p, int32_t i) { return (const char *)p + sizeof(float) * (uint32_t)i; }

SN_INLINE __m128 vx_four_floats(const void *p, int32_t i) { return _mm_loadu_ps(vx_float_at(p, i)); }

/* Two floats from i[0] on, then two from i[1] on. */
SN_INLINE __m128 vx_two_pairs(const void *p, const int32_t *i)
{
    const __m128d low = _mm_load_sd(vx_float_at(p, i[0]));
    return _mm_castpd_ps(_mm_loadh_pd(low, vx_float_at(p, i[1])));
}

#endif
