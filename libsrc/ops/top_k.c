/*
 * A heap has the best values of a line up to here, the worst of them first: most values are only compared with that one.
 * Lines are divided among threads, a line is not. The best one alone is found as a reduction finds it.
 */
#include "ops/top_k.h"

#include <math.h>

#include "ops/ranks.h"
#include "ops/reduce.h"
#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* Columns of a block of maxima, and the values for each of the best ones by which a bound is worth it. */
enum { COLUMNS = 64, SPARSE = 16, SPARSEST = 256 };

/* The best of `rows` values each, `apart` from each other, for COLUMNS neighbours; never NaN. */
SN_INLINE void best_of_columns(const sn_32f * src, size_t rows, size_t apart, bool largest, float best[COLUMNS])
{
    for (size_t j = 0; j < COLUMNS; ++j)
        best[j] = largest ? -INFINITY : INFINITY;
    for (size_t i = 0; i < rows; ++i, src += apart)
        for (size_t j = 0; j < COLUMNS; ++j)
            best[j] = (largest ? src[j] > best[j] : src[j] < best[j]) ? src[j] : best[j];
}

SN_INLINE float bound_of(const sn_32f * src, size_t count, size_t k, uint64_t * ranks, bool largest)
{
    const uint32_t flip = largest ? 0 : UINT32_MAX;
    const size_t columns = sn_ceil_div(4 * k, COLUMNS) * COLUMNS, rows = count / columns;
    float best[COLUMNS];
    size_t size = 0;
    for (size_t first = 0; first < columns; first += COLUMNS) {
        best_of_columns(src + first, rows, columns, largest, best);
        for (size_t j = 0; j < COLUMNS; ++j) {
            const uint64_t rank = sn_rank_of(sn_order_of(best[j], flip), first + j);
            if (size < k) {
                ranks[size++] = rank;
                if (size == k)
                    sn_heap_make(ranks, k);
            } else if (rank > ranks[0]) {
                ranks[0] = rank;
                sn_heap_sift(ranks, k, 0);
            }
        }
    }
    return sn_value_of((uint32_t)(ranks[0] >> 32), flip);
}

float sn_top_k_bound(const sn_32f * src, size_t count, size_t k, bool largest, uint64_t * ranks)
{
    if (k < COLUMNS / 4 || k > count / SPARSE || k < count / SPARSEST)
        return largest ? -INFINITY : INFINITY;
    return largest ? bound_of(src, count, k, ranks, true) : bound_of(src, count, k, ranks, false);
}

/* The first k values that are as good as the bound; returns the index behind them. */
SN_INLINE size_t fill_ranks(const struct sn_top_k * t, const sn_32f * src, float bound, uint64_t * ranks, bool largest)
{
    const uint32_t flip = largest ? 0 : UINT32_MAX;
    const sn_32f * at = src;
    size_t i = 0;
    for (size_t size = 0; size < t->k; ++i, at += t->inner) {
        if (SN_LIKELY(largest ? *at < bound : *at > bound)) /* NaN goes on */
            continue;
        ranks[size++] = sn_rank_of(sn_order_of(*at, flip), i);
    }
    return i;
}

SN_INLINE void select_best(const struct sn_top_k * t, const sn_32f * src, uint64_t * ranks, bool largest)
{
    const uint32_t flip = largest ? 0 : UINT32_MAX;
    const size_t k = t->k, count = t->count, inner = t->inner;
    const float all = largest ? -INFINITY : INFINITY;
    const float bound = inner == 1 ? sn_top_k_bound(src, count, k, largest, ranks) : all;
    size_t i = fill_ranks(t, src, bound, ranks, largest);
    sn_heap_make(ranks, k);
    float worst = src[sn_rank_index(ranks[0]) * inner];
    const sn_32f * at = src + i * inner;
    for (; i < count; ++i, at += inner) {
        if (SN_LIKELY(largest ? *at <= worst : *at >= worst)) /* an equal value before it is better; NaN goes on */
            continue;
        const uint32_t order = sn_order_of(*at, flip);
        if (order <= ranks[0] >> 32)
            continue;
        ranks[0] = sn_rank_of(order, i);
        sn_heap_sift(ranks, k, 0);
        worst = src[sn_rank_index(ranks[0]) * inner];
    }
}

/* The best rank first. */
static void sort(uint64_t * ranks, size_t size)
{
    while (size > 1) {
        const uint64_t worst = ranks[0];
        ranks[0] = ranks[--size];
        ranks[size] = worst;
        sn_heap_sift(ranks, size, 0);
    }
}

static void lines(const void * argument, void * work, size_t begin, size_t end)
{
    const struct sn_top_k * t = argument;
    uint64_t * ranks = work;
    for (size_t line = begin; line < end; ++line) {
        const size_t o = line / t->inner, i = line % t->inner;
        const sn_32f * src = (const sn_32f *)t->src + o * t->count * t->inner + i;
        sn_32f * values = t->values;
        if (t->largest)
            select_best(t, src, ranks, true);
        else
            select_best(t, src, ranks, false);
        if (t->sorted)
            sort(ranks, t->k);
        for (size_t j = 0; j < t->k; ++j) {
            const size_t at = (o * t->k + j) * t->inner + i, index = sn_rank_index(ranks[j]);
            values[at] = src[index * t->inner];
            t->indices[at] = (int64_t)index;
        }
    }
}

/* With the values of the indices of ArgMax or ArgMin. The latter are those of NaN where a line has one: it is the largest here. */
static void values_of_best(const void * argument, void * work, size_t begin, size_t end)
{
    const struct sn_top_k * t = argument;
    uint64_t * rank = work;
    for (size_t line = begin; line < end; ++line) {
        const sn_32f * src = (const sn_32f *)t->src + line / t->inner * t->count * t->inner + line % t->inner;
        float value = src[(size_t)t->indices[line] * t->inner];
        if (value != value && !t->largest) {
            select_best(t, src, rank, false);
            t->indices[line] = (int64_t)sn_rank_index(*rank);
            value = src[sn_rank_index(*rank) * t->inner];
        }
        ((sn_32f *)t->values)[line] = value;
    }
}

static void best(const struct sn_top_k * t)
{
    const size_t lines = t->outer * t->inner;
    uint64_t rank;
    sn_reduce((struct sn_reduce){.op = t->largest ? SN_REDUCE_ARG_MAX : SN_REDUCE_ARG_MIN, .count = 3, .src = t->src,
        .dst = t->indices, .d = {{t->outer, t->count * t->inner, false}, {t->count, t->inner, true}, {t->inner, 1, false}}});
    values_of_best(t, &rank, 0, lines);
}

bool sn_top_k_32f(const struct sn_top_k * t)
{
    if (t->k == 1) {
        best(t);
        return true;
    }
    const size_t bytes = t->k * sizeof(uint64_t);
    void * work = sn_scratch(bytes);
    if (!work)
        return false;
    const double all = (double)t->outer * (double)t->inner;
    sn_parallel_for(&(struct sn_parallel){.run = lines, .job = t, .units = t->outer * t->inner,
        .least = sn_items_per_unit(t->count),
        .cost = sn_cost_of_bytes(32 * all * ((double)t->count + 10 * (double)t->k)), .work = work, .workBytes = bytes});
    return true;
}
