/*
 * A heap has the best values of a line up to here, the worst of them first: most values are only compared with that one.
 * Lines are divided among threads, a line is not. The best one alone is found as a reduction finds it.
 */
#include "ops/top_k.h"

#include "ops/ranks.h"
#include "ops/reduce.h"
#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

SN_INLINE void select_best(const struct sn_top_k * t, const sn_32f * src, uint64_t * ranks, bool largest)
{
    const uint32_t flip = largest ? 0 : UINT32_MAX;
    const size_t k = t->k, count = t->count, inner = t->inner;
    for (size_t i = 0; i < k; ++i)
        ranks[i] = sn_rank_of(sn_order_of(src[i * inner], flip), i);
    sn_heap_make(ranks, k);
    float worst = src[sn_rank_index(ranks[0]) * inner];
    const sn_32f * at = src + k * inner;
    for (size_t i = k; i < count; ++i, at += inner) {
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
