/*
 * Concatenation of the pixels of two tensors: pixel q of dst is the `aSize` values of pixel q of a, then the `bSize` values
 * of pixel q of b. All three are dense and have `number` pixels, those of dst of aSize + bSize values. Exactly these are
 * read and written; dst is neither a nor b, but a may be b.
 *
 * Narrow pixels: the lanes of one vector of dst are at most V32F_N consecutive values of a, and as many of b. So a vector of
 * each is loaded and permuted, and each lane selects one of the two. The permutation depends on the position in the pixel
 * at which the vector begins, and these positions repeat.
 *
 * Wide pixels: rows are copied by whole vectors, one after the other. What is written beyond the end of a row is overwritten
 * by the next rows; the last pixels, which would overrun the arrays, are copied exactly.
 */
#ifndef SN_KERNELS_CONCAT_H
#define SN_KERNELS_CONCAT_H

#include "kernels/vec.h"

/* Maximum length of a plan: whole cycles of positions in a narrow pixel, at least four vectors, at most its size or 6. */
enum { CONCAT_PLAN = V32F_N + 2 };

/* How these vectors are composed: the offsets of their values in a and in b, and an index for each lane: the lowest byte is
 * the index into the values of a, the next byte into those of b, and the sign bit selects b. */
struct concat_plan {
    int32_t lanes[CONCAT_PLAN][V32F_N] SN_ALIGNED;
    size_t a[CONCAT_PLAN], b[CONCAT_PLAN];
    size_t vectors, pixels;
};

static void concat_plan(size_t aSize, size_t bSize, struct concat_plan * plan)
{
    const size_t pixel = aSize + bSize;
    int32_t list[2 * V32F_N], before = 0;
    for (size_t i = 0, at = 0; i < pixel + V32F_N; ++i) {
        list[i] = at < aSize ? before : before | INT32_MIN;
        before += at < aSize ? 1 : 256;
        at = at + 1 < pixel ? at + 1 : 0;
    }
    size_t k = 0, at = 0, q = 0;
    do {
        v_store_32i(plan->lanes[k], v_sub_32i(v_load_32i(list + at), v_set_32i(list[at] & INT32_MAX)));
        plan->a[k] = q * aSize + sn_min(at, aSize);
        plan->b[k] = q * bSize + sn_max(at, aSize) - aSize;
        q += (at + V32F_N) / pixel;
        at = (at + V32F_N) % pixel;
        ++k;
    } while (at || k < 4);
    plan->vectors = k;
    plan->pixels = q;
}

SN_INLINE v32f concat_lanes(const int32_t * lanes, v32f a, v32f b)
{
    const v32i at = v_load_32i(lanes);
    return v_select_32f(v_gt_32i(v_set_32i(0), at), v_lookup_32f(b, v_shr_32i(at, 8)), v_lookup_32f(a, at));
}

static void concat_narrow(const sn_32f * a, size_t aSize, const sn_32f * b, size_t bSize, size_t number, sn_32f * dst)
{
    struct concat_plan plan;
    concat_plan(aSize, bSize, &plan);
    /* Pixels covered by the reads beyond those of an iteration: less than a vector of each source. */
    const size_t beyond = sn_ceil_div(V32F_N, sn_min(aSize, bSize));
    for (size_t n; number; number -= n) {
        n = sn_min(number, plan.pixels);
        const size_t aLeft = number * aSize, bLeft = number * bSize, left = n * (aSize + bSize);
        if (number >= plan.pixels + beyond)
            for (size_t k = 0; k < plan.vectors; ++k) {
                const v32f x = v_load_32f(a + plan.a[k]), y = v_load_32f(b + plan.b[k]);
                v_store_32f(dst + k * V32F_N, concat_lanes(plan.lanes[k], x, y));
            }
        else
            for (size_t k = 0; k * V32F_N < left; ++k) {
                const v32f x = v_load_tail_32f(a + plan.a[k], sn_min(aLeft - plan.a[k], V32F_N));
                const v32f y = v_load_tail_32f(b + plan.b[k], sn_min(bLeft - plan.b[k], V32F_N));
                v_store_tail_32f(dst + k * V32F_N, concat_lanes(plan.lanes[k], x, y), sn_min(left - k * V32F_N, V32F_N));
            }
        a += n * aSize;
        b += n * bSize;
        dst += left;
    }
}

SN_INLINE void concat_row(const sn_32f * src, size_t size, sn_32f * dst)
{
    for (size_t i = 0; i < size; i += V32F_N)
        v_store_32f(dst + i, v_load_32f(src + i));
}

SN_INLINE void concat_row_cut(const sn_32f * src, size_t size, sn_32f * dst)
{
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + i, v_load_32f(src + i));
    if (i < size)
        v_store_tail_32f(dst + i, v_load_tail_32f(src + i, size - i), size - i);
}

static void concat_wide(const sn_32f * a, size_t aSize, const sn_32f * b, size_t bSize, size_t number, sn_32f * dst)
{
    const size_t pixel = aSize + bSize;
    /* A row is overrun by at most V32F_N - 1 values: the values of this many pixels in each array. */
    const size_t cut = sn_min(number, sn_ceil_div(V32F_N - 1, sn_min(aSize, bSize)));
    for (size_t q = 0; q < number - cut; ++q) {
        concat_row(a + q * aSize, aSize, dst + q * pixel);
        concat_row(b + q * bSize, bSize, dst + q * pixel + aSize);
    }
    for (size_t q = number - cut; q < number; ++q) {
        concat_row_cut(a + q * aSize, aSize, dst + q * pixel);
        concat_row_cut(b + q * bSize, bSize, dst + q * pixel + aSize);
    }
}

static void concat_32f(const sn_32f * a, size_t aSize, const sn_32f * b, size_t bSize, size_t number, sn_32f * dst)
{
    if (aSize == 0 || bSize == 0)
        concat_row_cut(aSize ? a : b, number * (aSize + bSize), dst);
    else if (aSize + bSize <= V32F_N)
        concat_narrow(a, aSize, b, bSize, number, dst);
    else
        concat_wide(a, aSize, b, bSize, number, dst);
}

#endif
