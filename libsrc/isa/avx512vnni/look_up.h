/* Bytes of a table by the instructions of AVX512_VBMI, which choose from two registers: see kernels/default/look_up.h. */
#ifndef SN_ISA_AVX512VNNI_LOOK_UP_H
#define SN_ISA_AVX512VNNI_LOOK_UP_H

#include "runtime/cpu.h"

#define LOOK_UP_TARGET __attribute__((target("avx512vbmi")))

static inline bool look_up_is_usable(void) { return sn_cpu()->features & SN_CPU_AVX512VBMI; }

static void look_up_prepare(const uint8_t * table, uint8_t * prepared) { memcpy(prepared, table, SN_TABLE8); }

struct look_up {
    __m512i quarter[4];
};

SN_INLINE struct look_up look_up_of(const uint8_t * table)
{
    struct look_up t;
    SN_UNROLL for (int i = 0; i < 4; ++i) t.quarter[i] = _mm512_loadu_si512(table + 64 * i);
    return t;
}

LOOK_UP_TARGET SN_INLINE v8u look_up(const struct look_up * t, v8u i)
{
    const __m512i low = _mm512_permutex2var_epi8(t->quarter[0], i, t->quarter[1]);
    const __m512i high = _mm512_permutex2var_epi8(t->quarter[2], i, t->quarter[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(i), low, high);
}

#endif
