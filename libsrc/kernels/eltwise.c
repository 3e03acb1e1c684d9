/*
 * Arrays combined element by element: product, weighted sum, maximum, minimum.
 *
 * Up to four arrays are read in one pass, four vectors of each per iteration, with aligned stores: as fast as a copy. More
 * are processed in blocks that fit in the L1 cache: the first four give a block of results, which with the next three gives
 * another, and so on, so that there are never more than five streams of memory at once; only the last of these passes writes
 * dst. A block is read before dst is written, so dst may be any of the arrays.
 *
 * An element is computed from left to right, for any number of arrays and at any position: results are bit-identical.
 */
#include "contract/eltwise.h"
#include "kernels/aligned.h"
#include "kernels/install.h"

#include <float.h>

enum { GROUP = 4, SOURCES = 4, BLOCK = 2048 };

/* Up to four arrays, and the factors of their elements. */
struct terms {
    const sn_32f * src[SOURCES];
    float weight[SOURCES];
    size_t count;
};

SN_INLINE v32f combine(v32f d, v32f x, v32f weight, enum sn_eltwise type)
{
    switch (type) {
    case SN_ELTWISE_PRODUCT: return v_mul_32f(d, x);
    case SN_ELTWISE_SUM: return v_fma_32f(x, weight, d);
    case SN_ELTWISE_MAX: return v_max_32f(d, x);
    default: return v_min_32f(d, x);
    }
}

/* The maximum of a single array starts from -FLT_MAX. */
SN_INLINE v32f first(v32f x, v32f weight, enum sn_eltwise type, int count)
{
    if (type == SN_ELTWISE_SUM)
        return v_mul_32f(x, weight);
    if (count > 1 || type == SN_ELTWISE_PRODUCT)
        return x;
    return combine(v_set_32f(type == SN_ELTWISE_MAX ? -FLT_MAX : FLT_MAX), x, weight, type);
}

/* `size` elements one vector at a time. */
SN_INLINE void tail(const struct terms * t, const v32f * weight, size_t from, size_t size, sn_32f * dst,
                    enum sn_eltwise type, int count)
{
    for (size_t j = from; j < from + size; j += V32F_N) {
        const size_t n = sn_min(from + size - j, V32F_N);
        v32f d = first(v_load_tail_32f(t->src[0] + j, n), weight[0], type, count);
        SN_UNROLL for (int i = 1; i < count; ++i) d = combine(d, v_load_tail_32f(t->src[i] + j, n), weight[i], type);
        v_store_tail_32f(dst + j, d, n);
    }
}

/* dst[0 .. size) from the same elements of the arrays; `type` and `count` are compile-time constants. */
SN_INLINE void pass_as(const struct terms * t, size_t size, sn_32f * dst, bool stream, enum sn_eltwise type, int count)
{
    v32f weight[SOURCES];
    SN_UNROLL for (int i = 0; i < count; ++i) weight[i] = v_set_32f(t->weight[i]);
    size_t j = aligned_head(dst, size);
    tail(t, weight, 0, j, dst, type, count);
    for (; j + GROUP * V32F_N <= size; j += GROUP * V32F_N) {
        v32f d[GROUP];
        SN_UNROLL for (int g = 0; g < GROUP; ++g)
            d[g] = first(v_load_32f(t->src[0] + j + g * V32F_N), weight[0], type, count);
        SN_UNROLL for (int i = 1; i < count; ++i) {
            SN_UNROLL for (int g = 0; g < GROUP; ++g)
                d[g] = combine(d[g], v_load_32f(t->src[i] + j + g * V32F_N), weight[i], type);
        }
        SN_UNROLL for (int g = 0; g < GROUP; ++g) put(dst + j + g * V32F_N, d[g], stream);
    }
    tail(t, weight, j, size - j, dst, type, count);
}

SN_INLINE void pass_of(const struct terms * t, size_t size, sn_32f * dst, bool stream, enum sn_eltwise type)
{
    switch (t->count) {
    case 1: pass_as(t, size, dst, stream, type, 1); break;
    case 2: pass_as(t, size, dst, stream, type, 2); break;
    case 3: pass_as(t, size, dst, stream, type, 3); break;
    default: pass_as(t, size, dst, stream, type, 4);
    }
}

static void pass(const struct terms * t, size_t size, sn_32f * dst, bool stream, enum sn_eltwise type)
{
    stream = stream && can_align(dst, size);
    switch (type) {
    case SN_ELTWISE_PRODUCT: pass_of(t, size, dst, stream, type); break;
    case SN_ELTWISE_SUM: pass_of(t, size, dst, stream, type); break;
    case SN_ELTWISE_MAX: pass_of(t, size, dst, stream, type); break;
    case SN_ELTWISE_MIN: pass_of(t, size, dst, stream, type); break;
    }
}

/* Adds arrays `begin` and following, as many as fit, from `offset`; returns the number of the next one. */
static size_t add_sources(struct terms * t, const sn_32f * const * src, const sn_32f * weight, size_t count, size_t begin,
                          size_t offset)
{
    for (; begin < count && t->count < SOURCES; ++begin, ++t->count) {
        t->src[t->count] = src[begin] + offset;
        t->weight[t->count] = weight ? weight[begin] : 1;
    }
    return begin;
}

static void eltwise_32f(const sn_32f * const * src, const sn_32f * weight, size_t count, size_t offset, size_t size,
                        enum sn_eltwise type, sn_32f * dst, bool stream)
{
    float block[BLOCK] SN_ALIGNED;
    const size_t step = count <= SOURCES ? size : BLOCK;
    for (size_t j = offset, n; j < offset + size; j += n) {
        n = sn_min(offset + size - j, step);
        struct terms t = {.count = 0};
        size_t i = add_sources(&t, src, weight, count, 0, j);
        while (i < count) {
            pass(&t, n, block, false, type);
            t = (struct terms){{block}, {1}, 1};
            i = add_sources(&t, src, weight, count, i, j);
        }
        pass(&t, n, dst + j, stream, type);
    }
    if (stream)
        v_fence();
}

SN_INSTALL(eltwise, eltwise) { slots->run_32f = eltwise_32f; }
