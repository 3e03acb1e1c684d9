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
    for (int l = 0, first = 0, i = 0; l < V32F_N; ++l) { /* without divisions, as lines may be short */
        from[l] = first + i;
        i = i + 1 < (int)pitch ? i + 1 : 0;
        first += i ? 0 : n;
    }
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

/* ---- pixels of three values, such as colours
 *
 * Three vectors are V32F_N pixels. Lane l of vector v is value V32F_N * v + l of them. As 3 does not divide V32F_N, the values
 * of one plane are in other lanes of each vector: two selections collect them, one permutation orders them. Vectors that are
 * not whole are treated as four rows, below. 640x640 pixels take 0.25 to 0.5 of the time of four rows (sse41, avx2, Zen 3).
 */

struct thirds {
    v32m lanes[3];    /* those with l % 3 = 0, 1 and 2 */
    v32i position[3]; /* of the pixel in lane l, when plane 0, 1 or 2 has been collected */
    v32i lane[3];     /* the inverse: the lane of pixel l */
};

/* l % 3 of the lanes in which vector v has values of `plane`. */
SN_INLINE size_t third_of(size_t plane, size_t v) { return (plane + 2 * V32F_N * v) % 3; }

SN_INLINE struct thirds find_thirds(void)
{
    struct thirds t;
    float residue[V32F_N];
    for (size_t l = 0; l < V32F_N; ++l)
        residue[l] = (float)(l % 3);
    for (size_t plane = 0; plane < 3; ++plane) {
        int32_t position[V32F_N], lane[V32F_N];
        for (size_t s = 0; s < V32F_N; ++s) {
            lane[s] = (int32_t)((3 * s + plane) % V32F_N);
            position[lane[s]] = (int32_t)s;
        }
        t.lanes[plane] = v_eq_32f(v_load_32f(residue), v_set_32f((float)plane));
        t.position[plane] = v_load_32i(position);
        t.lane[plane] = v_load_32i(lane);
    }
    return t;
}

/* Three rows to three vectors of pixels, as zip_32f(). */
SN_INLINE void zip_thirds_32f(v32f * r, const struct thirds * t)
{
    v32f plane[3];
    SN_UNROLL for (size_t j = 0; j < 3; ++j) plane[j] = v_lookup_32f(r[j], t->position[j]);
    SN_UNROLL for (size_t v = 0; v < 3; ++v) {
        const v32f others = v_select_32f(t->lanes[third_of(1, v)], plane[1], plane[2]);
        r[v] = v_select_32f(t->lanes[third_of(0, v)], plane[0], others);
    }
}

static __attribute__((unused)) void three_planes_to_lanes(const sn_32f * src, size_t stride, size_t size, sn_32f * dst)
{
    const struct thirds t = find_thirds();
    for (size_t s = 0; s < size; s += V32F_N, dst += 3 * V32F_N) {
        v32f r[3];
        SN_UNROLL for (size_t j = 0; j < 3; ++j) r[j] = v_load_32f(src + j * stride + s);
        zip_thirds_32f(r, &t);
        SN_UNROLL for (size_t v = 0; v < 3; ++v) v_store_32f(dst + v * V32F_N, r[v]);
    }
}

static __attribute__((unused)) void lanes_to_three_planes(const sn_32f * src, size_t size, sn_32f * dst, size_t stride)
{
    const struct thirds t = find_thirds();
    for (size_t s = 0; s < size; s += V32F_N, src += 3 * V32F_N) {
        v32f r[3];
        SN_UNROLL for (size_t v = 0; v < 3; ++v) r[v] = v_load_32f(src + v * V32F_N);
        SN_UNROLL for (size_t j = 0; j < 3; ++j) {
            const v32f others = v_select_32f(t.lanes[third_of(j, 1)], r[1], r[2]);
            v_store_32f(dst + j * stride + s, v_lookup_32f(v_select_32f(t.lanes[third_of(j, 0)], r[0], others), t.lane[j]));
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
    if (planes == 3 && lanes == 3 && pitch == 3) {
        const size_t whole = size / V32F_N * V32F_N;
        three_planes_to_lanes(src, stride, whole, dst);
        src += whole, dst += 3 * whole, size -= whole;
    }
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
    if (planes == 3 && lanes == 3 && pitch == 3) {
        const size_t whole = size / V32F_N * V32F_N;
        lanes_to_three_planes(src, whole, dst, stride);
        src += 3 * whole, dst += whole, size -= whole;
    }
    switch (lanes_for(lanes)) {
    case 2: to_planes_by(src, pitch, size, dst, stride, planes, 2); break;
    case 4: to_planes_by(src, pitch, size, dst, stride, planes, 4); break;
    case 8: to_planes_by(src, pitch, size, dst, stride, planes, V32F_N < 8 ? V32F_N : 8); break;
    default: to_planes_by(src, pitch, size, dst, stride, planes, V32F_N);
    }
}

#endif
