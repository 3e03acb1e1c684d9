/*
 * Arrays written by aligned vectors: a store across two cache lines costs as much as two, and v_stream_32f takes no other.
 * The vectors of an array whose address is no multiple of 4 cannot be aligned; those of a short one are not worth it.
 */
#ifndef SN_KERNELS_ALIGNED_H
#define SN_KERNELS_ALIGNED_H

#include "kernels/vec.h"

/* Whether there are aligned vectors behind the first elements of dst, aligned_head() of them. */
SN_INLINE bool can_align(const sn_32f * dst, size_t size)
{
    return size >= 8 * V32F_N && (uintptr_t)dst % sizeof(float) == 0;
}

/* The elements before the first aligned vector; 0 also where none can be. */
SN_INLINE size_t aligned_head(const sn_32f * dst, size_t size)
{
    return can_align(dst, size) ? (0 - (uintptr_t)dst / sizeof(float)) % V32F_N : 0;
}

/* Stores v, with `stream` past the caches: then p is aligned. */
SN_INLINE void put(sn_32f * p, v32f v, bool stream)
{
    if (stream)
        v_stream_32f(p, v);
    else
        v_store_32f(p, v);
}

#endif
