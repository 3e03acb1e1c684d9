/*
 * Arrays written by aligned vectors: a store that crosses a cache line costs as much as two, and v_stream_32f requires
 * alignment. Vectors cannot be aligned if the address of the array is not a multiple of 4; for short arrays it gains nothing.
 */
#ifndef SN_KERNELS_ALIGNED_H
#define SN_KERNELS_ALIGNED_H

#include "kernels/vec.h"

/* Whether dst has aligned vectors after the first aligned_head() elements. */
SN_INLINE bool can_align(const sn_32f * dst, size_t size)
{
    return size >= 8 * V32F_N && (uintptr_t)dst % sizeof(float) == 0;
}

/* The number of elements before the first aligned vector; 0 also if vectors cannot be aligned. */
SN_INLINE size_t aligned_head(const sn_32f * dst, size_t size)
{
    return can_align(dst, size) ? (0 - (uintptr_t)dst / sizeof(float)) % V32F_N : 0;
}

/* Stores v; `stream` bypasses the caches and requires p to be aligned. */
SN_INLINE void put(sn_32f * p, v32f v, bool stream)
{
    if (stream)
        v_stream_32f(p, v);
    else
        v_store_32f(p, v);
}

#endif
