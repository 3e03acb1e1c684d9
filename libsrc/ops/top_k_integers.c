/*
 * The largest or smallest integers of lines, as ops/top_k.c has those of floats: with ranks of two numbers, as an order of 64
 * bits leaves no room for the index. A line is widened first, so elements of any type and distance are compared alike.
 */
#include <string.h>

#include "ops/elementwise/cast.h"
#include "ops/top_k.h"
#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

struct rank {
    uint64_t order;
    size_t index;
};

struct job {
    const struct sn_top_k * t;
    size_t bytes;
};

/* Of equal values that of the higher index is lower. */
SN_INLINE bool is_lower(struct rank a, struct rank b)
{
    return a.order < b.order || (a.order == b.order && a.index > b.index);
}

/* Restores a heap, whose first rank is the lowest, after ranks[at] has become larger. */
static void sift(struct rank * ranks, size_t size, size_t at)
{
    const struct rank rank = ranks[at];
    for (size_t child; (child = 2 * at + 1) < size; at = child) {
        child += child + 1 < size && is_lower(ranks[child + 1], ranks[child]);
        if (!is_lower(ranks[child], rank))
            break;
        ranks[at] = ranks[child];
    }
    ranks[at] = rank;
}

/* The best k of a line, the lowest one first. */
static void select_best(const int64_t * line, size_t count, size_t k, uint64_t flip, struct rank * ranks)
{
    for (size_t i = 0; i < k; ++i)
        ranks[i] = (struct rank){(uint64_t)line[i] ^ flip, i};
    for (size_t i = k / 2; i-- > 0;)
        sift(ranks, k, i);
    for (size_t i = k; i < count; ++i) {
        const uint64_t order = (uint64_t)line[i] ^ flip;
        if (SN_LIKELY(order <= ranks[0].order)) /* an equal value before it is better */
            continue;
        ranks[0] = (struct rank){order, i};
        sift(ranks, k, 0);
    }
}

/* The best rank first. */
static void sort(struct rank * ranks, size_t size)
{
    while (size > 1) {
        const struct rank worst = ranks[0];
        ranks[0] = ranks[--size];
        ranks[size] = worst;
        sift(ranks, size, 0);
    }
}

static void lines(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_top_k * t = job->t;
    const size_t bytes = job->bytes, step = t->inner * bytes;
    const uint64_t sign = t->type == SN_DATA_64U ? 0 : (uint64_t)1 << 63, flip = t->largest ? sign : ~sign;
    struct rank * ranks = work;
    int64_t * line = (int64_t *)(void *)(ranks + t->k);
    for (size_t n = begin; n < end; ++n) {
        const size_t o = n / t->inner, i = n % t->inner;
        const uint8_t * src = (const uint8_t *)t->src + o * t->count * step + i * bytes;
        uint8_t * values = t->values;
        if (t->inner == 1)
            sn_widen(t->type, src, t->count, line);
        else
            for (size_t c = 0; c < t->count; ++c)
                sn_widen(t->type, src + c * step, 1, line + c);
        select_best(line, t->count, t->k, flip, ranks);
        if (t->sorted)
            sort(ranks, t->k);
        for (size_t j = 0; j < t->k; ++j) {
            const size_t at = (o * t->k + j) * t->inner + i;
            memcpy(values + at * bytes, src + ranks[j].index * step, bytes);
            t->indices[at] = (int64_t)ranks[j].index;
        }
    }
}

bool sn_top_k_integers(const struct sn_top_k * t, size_t bytes)
{
    size_t ranks, line;
    if (!sn_product(&ranks, t->k, sizeof(struct rank)) || !sn_product(&line, t->count, sizeof(int64_t)))
        return false;
    void * work = sn_scratch(ranks + line);
    if (!work)
        return false;
    const struct job job = {t, bytes};
    const double all = (double)t->outer * (double)t->inner;
    sn_parallel_for(&(struct sn_parallel){.run = lines, .job = &job, .units = t->outer * t->inner,
        .least = sn_items_per_unit(t->count),
        .cost = sn_cost_of_bytes(32 * all * ((double)t->count + 10 * (double)t->k)), .work = work,
        .workBytes = ranks + line});
    return true;
}
