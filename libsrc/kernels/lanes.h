/*
 * Conversion between planes and pixels of few lanes, at most V32F_N.
 *
 * n rows, n a power of two, are interleaved by log2(n) operations per vector: value k of row j goes to position k * n + j of
 * n vectors. If n is V32F_N this is a transposition, which has its own operation. So all vectors are full, for any number of
 * planes. If pixels have fewer than n values, each vector is compressed by one permutation, and the unused lanes of its
 * store are overwritten by the next one; the last one is stored exactly.
 */
#ifndef SN_KERNELS_LANES_H
#define SN_KERNELS_LANES_H

#include "kernels/vec.h"

/* ---- interleaving n rows; n <= V32F_N is a compile-time constant */

/* One step: the first half of the vectors, taken as one sequence, is interleaved with the second half. */
SN_INLINE void zip_step_32f(v32f * r, int n)
{
    v32f t[V32F_N];
    SN_UNROLL for (int i = 0; i < n / 2; ++i) {
        t[2 * i] = v_zip_low_32f(r[i], r[i + n / 2]);
        t[2 * i + 1] = v_zip_high_32f(r[i], r[i + n / 2]);
    }
    SN_UNROLL for (int i = 0; i < n; ++i) r[i] = t[i];
}

SN_INLINE void unzip_step_32f(v32f * r, int n)
{
    v32f t[V32F_N];
    SN_UNROLL for (int i = 0; i < n / 2; ++i) {
        t[i] = v_even_32f(r[2 * i], r[2 * i + 1]);
        t[i + n / 2] = v_odd_32f(r[2 * i], r[2 * i + 1]);
    }
    SN_UNROLL for (int i = 0; i < n; ++i) r[i] = t[i];
}

/* Rows to interleaved vectors, in order. */
SN_INLINE void zip_32f(v32f * r, int n)
{
    if (n == V32F_N) {
        v_transpose_32f(r);
        return;
    }
    zip_step_32f(r, n);
    if (n >= 4)
        zip_step_32f(r, n);
    if (n >= 8)
        zip_step_32f(r, n);
}

/* Vectors to rows. */
SN_INLINE void unzip_32f(v32f * r, int n)
{
    if (n == V32F_N) {
        v_transpose_32f(r);
        return;
    }
    unzip_step_32f(r, n);
    if (n >= 4)
        unzip_step_32f(r, n);
    if (n >= 8)
        unzip_step_32f(r, n);
}

/* ---- pixels; n is a compile-time constant */

/* Lane l of a vector of pixels n apart is lane from[l] of a vector of pixels `pitch` apart, or the reverse. */
SN_INLINE void expanding(int32_t from[V32F_N], int n, size_t pitch)
{
    for (int l = 0; l < V32F_N; ++l)
        from[l] = l % n < (int)pitch ? l / n * (int)pitch + l % n : 0;
}

SN_INLINE void compressing(int32_t from[V32F_N], int n, size_t pitch)
{
    for (int l = 0; l < V32F_N; ++l)
        from[l] = l / (int)pitch * n + l % (int)pitch;
}

SN_INLINE void to_lanes_by(const sn_32f * src, size_t stride, size_t planes, size_t size, sn_32f * dst, size_t pitch, int n)
{
    const size_t step = (size_t)(V32F_N / n) * pitch; /* from one vector of pixels to the next */
    const bool compress = n < V32F_N && pitch < (size_t)n, apart = pitch > (size_t)n;
    int32_t from[V32F_N];
    compressing(from, n, sn_min(pitch, (size_t)n));
    const v32i order = v_load_32i(from);
    v32f r[V32F_N];
    for (size_t s = 0; s < size; s += V32F_N) {
        const size_t positions = sn_min(size - s, V32F_N);
        SN_UNROLL for (size_t j = 0; j < (size_t)n; ++j)
            r[j] = j >= planes             ? v_zero_32f()
                   : positions == V32F_N ? v_load_32f(src + j * stride + s)
                                         : v_load_tail_32f(src + j * stride + s, positions);
        zip_32f(r, n);
        sn_32f * p = dst + s * pitch;
        const size_t room = (size - s) * pitch;
        SN_UNROLL for (size_t i = 0; i < (size_t)n; ++i) {
            const v32f v = compress ? v_lookup_32f(r[i], order) : r[i];
            if (apart ? i < positions : i * step + V32F_N <= room)
                v_store_32f(p + i * step, v);
            else if (!apart && i * step < room)
                v_store_tail_32f(p + i * step, v, room - i * step);
        }
    }
}

SN_INLINE void to_planes_by(const sn_32f * src, size_t pitch, size_t size, sn_32f * dst, size_t stride, size_t planes, int n)
{
    const size_t step = (size_t)(V32F_N / n) * pitch;
    const bool expand = n < V32F_N && pitch < (size_t)n, apart = pitch > (size_t)n;
    int32_t from[V32F_N];
    expanding(from, n, sn_min(pitch, (size_t)n));
    const v32i order = v_load_32i(from);
    v32f r[V32F_N];
    for (size_t s = 0; s < size; s += V32F_N) {
        const size_t positions = sn_min(size - s, V32F_N);
        const sn_32f * p = src + s * pitch;
        const size_t room = (size - s) * pitch;
        SN_UNROLL for (size_t i = 0; i < (size_t)n; ++i) {
            v32f v = v_zero_32f();
            if (apart ? i < positions : i * step + V32F_N <= room)
                v = v_load_32f(p + i * step);
            else if (!apart && i * step < room)
                v = v_load_tail_32f(p + i * step, room - i * step);
            r[i] = expand ? v_lookup_32f(v, order) : v;
        }
        unzip_32f(r, n);
        SN_UNROLL for (size_t j = 0; j < (size_t)n; ++j) {
            if (j >= planes)
                continue;
            if (positions == V32F_N)
                v_store_32f(dst + j * stride + s, r[j]);
            else
                v_store_tail_32f(dst + j * stride + s, r[j], positions);
        }
    }
}

/* The least power of two that is at least `lanes`, at most V32F_N. */
SN_INLINE int lanes_for(size_t lanes)
{
    int n = 2;
    while (n < V32F_N && (size_t)n < lanes)
        n *= 2;
    return n;
}

/* Converts `planes` of `size` positions, `stride` apart, to pixels `pitch` apart; lanes beyond the planes become 0. */
static __attribute__((unused)) void planes_to_lanes(const sn_32f * src, size_t stride, size_t planes, size_t size,
                                                    sn_32f * dst, size_t pitch, size_t lanes)
{
    switch (lanes_for(lanes)) {
    case 2: to_lanes_by(src, stride, planes, size, dst, pitch, 2); break;
    case 4: to_lanes_by(src, stride, planes, size, dst, pitch, 4); break;
    case 8: to_lanes_by(src, stride, planes, size, dst, pitch, V32F_N < 8 ? V32F_N : 8); break;
    default: to_lanes_by(src, stride, planes, size, dst, pitch, V32F_N);
    }
}

/* The inverse, for the first `planes` lanes of the pixels. */
static __attribute__((unused)) void lanes_to_planes(const sn_32f * src, size_t pitch, size_t size, sn_32f * dst,
                                                    size_t stride, size_t planes, size_t lanes)
{
    switch (lanes_for(lanes)) {
    case 2: to_planes_by(src, pitch, size, dst, stride, planes, 2); break;
    case 4: to_planes_by(src, pitch, size, dst, stride, planes, 4); break;
    case 8: to_planes_by(src, pitch, size, dst, stride, planes, V32F_N < 8 ? V32F_N : 8); break;
    default: to_planes_by(src, pitch, size, dst, stride, planes, V32F_N);
    }
}

#endif
