/* Floats from anywhere as a vector. */
#ifndef SN_KERNELS_DEFAULT_COLLECT_H
#define SN_KERNELS_DEFAULT_COLLECT_H

#include "kernels/vec.h"

/*
 * Lane l is src[index[l]]; indices are not negative. Two of them are loaded at once: 0.24 ns an element on Zen 4, 0.28 one
 * by one, 0.41 by the gather instructions of AVX-512, which isa/amx/collect.h uses.
 */
SN_INLINE v32f collected(const int32_t * index, const sn_32f * src)
{
    float lanes[V32F_N] SN_ALIGNED;
    SN_UNROLL for (size_t l = 0; l < V32F_N; l += 2) {
        uint64_t two;
        memcpy(&two, index + l, sizeof(two));
        lanes[l] = src[(uint32_t)two];
        lanes[l + 1] = src[two >> 32];
    }
    return v_load_32f(lanes);
}

#endif
