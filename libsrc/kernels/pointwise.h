/*
 * One pass over an array: dst = f(src). Stores are aligned (a store that crosses a cache line costs as much as two), and
 * each iteration processes several vectors to hide the latency of f: as fast as a copy if f is cheap.
 *
 * The function and the counts are compile-time constants: each kernel is a line of this template, and f is inlined into it.
 */
#ifndef SN_KERNELS_POINTWISE_H
#define SN_KERNELS_POINTWISE_H

#include "kernels/aligned.h"
#include "kernels/install.h"
#include "kernels/vec_math.h"

/* f of a vector; p are the parameters, each broadcast to all lanes. */
typedef v32f (*pointwise_fn)(v32f x, const v32f * p);

enum { POINTWISE_PARAMS = 2 };

/*
 * So many floats in advance src is prefetched if it exceeds the caches. Of functions of many instructions few vectors are
 * computed at the same time, so hardly more lines are on their way: GELU of 64x320x320 takes 0.28 of the time (avx2), 0.7 (amx).
 */
enum { POINTWISE_AHEAD = 1024 };

/* n results, fewer than a vector. */
SN_INLINE void pointwise_tail(pointwise_fn f, const sn_32f * src, size_t n, const v32f * p, sn_32f * dst)
{
    v_store_tail_32f(dst, f(v_ones_behind_32f(v_load_tail_32f(src, n), n), p), n);
}

SN_INLINE void pointwise_rest(pointwise_fn f, const sn_32f * src, size_t size, const v32f * p, sn_32f * dst)
{
    const size_t whole = size - size % V32F_N;
    for (size_t i = 0; i < whole; i += V32F_N)
        v_store_32f(dst + i, f(v_load_32f(src + i), p));
    if (whole < size)
        pointwise_tail(f, src + whole, size - whole, p, dst + whole);
}

/*
 * Elements begin .. end - 1, whole groups. group: vectors per iteration, at most 4. `odd` computes the same as f, in every
 * other vector.
 */
SN_INLINE void pointwise_groups(pointwise_fn f, pointwise_fn odd, int group, const sn_32f * src, size_t begin, size_t end,
                                const v32f * p, sn_32f * dst, bool stream)
{
    for (size_t i = begin; i < end; i += (size_t)group * V32F_N) {
        v32f x[4];
        if (stream)
            SN_UNROLL for (size_t j = 0; j < (size_t)group * V32F_N; j += SN_LINE / sizeof(float))
                SN_PREFETCH(src + i + j + POINTWISE_AHEAD);
        SN_UNROLL for (int j = 0; j < group; ++j) x[j] = (j % 2 ? odd : f)(v_load_32f(src + i + j * V32F_N), p);
        SN_UNROLL for (int j = 0; j < group; ++j) put(dst + i + j * V32F_N, x[j], stream);
    }
}

/* `count` is the number of parameters. */
SN_INLINE void pointwise(pointwise_fn f, pointwise_fn odd, int count, int group, const sn_32f * src, size_t size,
                         const sn_32f * params, sn_32f * dst, bool stream)
{
    v32f p[POINTWISE_PARAMS];
    SN_UNROLL for (int i = 0; i < count; ++i) p[i] = v_set_32f(params[i]);
    const size_t head = aligned_head(dst, size), step = (size_t)group * V32F_N, end = size - (size - head) % step;
    if (head)
        pointwise_tail(f, src, head, p, dst);
    if (stream && can_align(dst, size)) {
        pointwise_groups(f, odd, group, src, head, end, p, dst, true);
        v_fence();
    } else {
        pointwise_groups(f, odd, group, src, head, end, p, dst, false);
    }
    pointwise_rest(f, src + end, size - end, p, dst + end);
}

/* The kernel NAME_32f, from the function NAME of `count` parameters. */
#define POINTWISE(name, count, group) POINTWISE_OF(name, name, name, count, group)

/* The kernel NAME_32f, from the function F; every other vector is computed by ODD, with the same results, which for some
 * functions is on other execution units. */
#define POINTWISE_OF(name, f, odd, count, group)                                                                            \
    static void name##_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)               \
    {                                                                                                                       \
        pointwise(f, odd, count, group, src, size, params, dst, stream);                                                    \
    }

#endif
