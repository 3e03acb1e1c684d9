/*
 * Floats from anywhere by the gather instruction: see kernels/default/collect.h. On the processors of this level, other than
 * on Zen 4, it takes 0.6 to 0.9 of the time of loads one by one (nearest elements of grids).
 */
#ifndef SN_ISA_AMX_COLLECT_H
#define SN_ISA_AMX_COLLECT_H

#include "kernels/vec.h"

SN_INLINE v32f collected(const int32_t * index, const sn_32f * src)
{
    return _mm512_i32gather_ps(v_load_32i(index), src, sizeof(float));
}

#endif
