/*
 * The largest or smallest values: the same code for all levels, so it is also compared with a direct implementation, which
 * counts how many values are better than each. Indices are arrays of twice as many CHECK_32I.
 */
#include "check.h"

#define TOP_K "SimdnetTopK"

struct top {
    size_t outer, count, inner, k;
    bool largest, unsorted;
};

static void top(const void * job, void * context, void * const * a)
{
    const struct top * t = job;
    (void)context;
    SimdnetTopK(a[0], t->outer, t->count, t->inner, t->k, (SimdBool)t->largest, (SimdBool)!t->unsorted, a[1], a[2]);
}

static bool is_better(const struct top * t, const sn_32f * line, size_t i, size_t j)
{
    const float x = line[i * t->inner], y = line[j * t->inner];
    const bool equal = x == y || (isnan(x) && isnan(y)), greater = isnan(x) ? !isnan(y) : x > y;
    return equal ? i < j : greater == t->largest;
}

static float values[1 << 16];
static int64_t indices[1 << 16];

/* True if the results of a line, in this order unless unsorted, are the best ones. */
static bool is_best(const struct top * t, const sn_32f * line, size_t first)
{
    for (size_t j = 0; j < t->k; ++j) {
        const size_t at = first + j * t->inner, index = (size_t)indices[at];
        size_t better = 0;
        for (size_t i = 0; i < t->count; ++i)
            better += is_better(t, line, i, index);
        if ((t->unsorted ? better >= t->k : better != j) || memcmp(&values[at], &line[index * t->inner], 4) != 0)
            return false;
    }
    return true;
}

static void check_top(size_t outer, size_t count, size_t inner, size_t k, size_t kind, enum check_fill fill)
{
    const struct top job = {outer, count, inner, k, kind % 2, kind / 2 % 2};
    const char * order = job.unsorted ? " unsorted" : "";
    if (!check_case(TOP_K, "outer=%zu count=%zu inner=%zu k=%zu %s%s %s", outer, count, inner, k,
                    job.largest ? "largest" : "smallest", order, check_fill_name(fill)))
        return;
    const float * src = check_in("src", CHECK_32F, outer * count * inner, fill);
    check_out("values", CHECK_32F, outer * k * inner);
    check_out("indices", CHECK_32I, 2 * outer * k * inner);
    check_run(top, &job);
    bool good = true;
    SimdnetTopK(src, outer, count, inner, k, (SimdBool)job.largest, (SimdBool)!job.unsorted, values, indices);
    for (size_t line = 0; line < outer * inner; ++line) {
        const size_t o = line / inner, i = line % inner;
        good &= is_best(&job, src + o * count * inner + i, o * k * inner + i);
    }
    check_that(good, TOP_K, "outer=%zu count=%zu inner=%zu k=%zu largest=%d%s %s", outer, count, inner, k, job.largest,
               order, check_fill_name(fill));
}

/* ---- integers, of random bytes */

struct integers {
    struct top top;
    SimdTensorDataType type;
    size_t bytes;
};

static void top_integers(const void * job, void * context, void * const * a)
{
    const struct integers * n = job;
    const struct top * t = &n->top;
    (void)context;
    SimdnetTopKIntegers(n->type, a[0], t->outer, t->count, t->inner, t->k, (SimdBool)t->largest, (SimdBool)!t->unsorted, a[1],
                        a[2]);
}

/* In the order of all types but 64u; of these, with the other sign. */
static int64_t number_of(const struct integers * n, const uint8_t * at)
{
    int32_t small;
    int64_t wide;
    memcpy(&small, at, n->bytes == 4 ? 4 : 1);
    memcpy(&wide, at, n->bytes == 8 ? 8 : 1);
    switch (n->type) {
    case SimdTensorData32i: return small;
    case SimdTensorData8i: return (int8_t)*at;
    case SimdTensorData8u: return *at;
    case SimdTensorDataBool: return *at != 0;
    case SimdTensorData64u: return wide ^ INT64_MIN;
    default: return wide;
    }
}

static bool is_best_of_integers(const struct integers * n, const uint8_t * line, const uint8_t * results, size_t first)
{
    const struct top * t = &n->top;
    for (size_t j = 0; j < t->k; ++j) {
        const size_t at = first + j * t->inner, index = (size_t)indices[at];
        const int64_t value = number_of(n, line + index * t->inner * n->bytes);
        size_t better = 0;
        for (size_t i = 0; i < t->count; ++i) {
            const int64_t other = number_of(n, line + i * t->inner * n->bytes);
            better += other == value ? i < index : (other > value) == t->largest;
        }
        if ((t->unsorted ? better >= t->k : better != j) ||
            memcmp(results + at * n->bytes, line + index * t->inner * n->bytes, n->bytes) != 0)
            return false;
    }
    return true;
}

static void check_integers(SimdTensorDataType type, size_t outer, size_t count, size_t inner, size_t k, size_t kind,
                           enum check_fill fill)
{
    static const size_t bytes[] = {4, 4, 1, 1, 8, 8, 1};
    static uint8_t results[1 << 16];
    const struct integers job = {{outer, count, inner, k, kind % 2, kind / 2 % 2}, type, bytes[type]};
    const struct top * t = &job.top;
    if (!check_case(TOP_K "Integers", "type=%d outer=%zu count=%zu inner=%zu k=%zu %s%s %s", (int)type, outer, count, inner,
                    k, t->largest ? "largest" : "smallest", t->unsorted ? " unsorted" : "", check_fill_name(fill)))
        return;
    const uint8_t * src = check_in("src", CHECK_8U, outer * count * inner * job.bytes, fill);
    check_out("values", CHECK_8U, outer * k * inner * job.bytes);
    check_out("indices", CHECK_32I, 2 * outer * k * inner);
    check_run(top_integers, &job);
    bool good = true;
    top_integers(&job, NULL, (void * const[]){(void *)(uintptr_t)src, results, indices});
    for (size_t line = 0; line < outer * inner; ++line) {
        const size_t o = line / inner, i = line % inner;
        good &= is_best_of_integers(&job, src + (o * count * inner + i) * job.bytes, results, o * k * inner + i);
    }
    check_that(good, TOP_K "Integers", "type=%d outer=%zu count=%zu inner=%zu k=%zu", (int)type, outer, count, inner, k);
}

static void refused_integers(void)
{
    struct integers job = {{2, 5, 3, 4, true, false}, SimdTensorData64i, 8};
    check_case(TOP_K "Integers", "refusals");
    check_in("src", CHECK_32I, 60, CHECK_RANDOM);
    check_out("values", CHECK_32I, 48);
    check_out("indices", CHECK_32I, 48);
    check_refused_null(top_integers, &job);
    check_refused_overlap(false, top_integers, &job);
    job.top.k = 6;
    check_refused(CHECK_VALUE, "k", top_integers, &job);
    job.top.k = 4;
    for (int bad = 0; bad < 4; ++bad) {
        job.type = (SimdTensorDataType)(const int[]){-1, 0, SimdTensorData16b, 100}[bad];
        check_refused(CHECK_VALUE, "dataType", top_integers, &job);
    }
}

static void refusals(void)
{
    struct top job = {2, 5, 3, 4, true, false};
    const struct top good = job;
    check_case(TOP_K, "refusals");
    check_in("src", CHECK_32F, 30, CHECK_RANDOM);
    check_out("values", CHECK_32F, 24);
    check_out("indices", CHECK_32I, 48);
    check_refused_null(top, &job);
    check_refused_overlap(false, top, &job);
    job.k = 6;
    check_refused(CHECK_VALUE, "k", top, &job);
    job = good;
    job.outer = SIZE_MAX / 16;
    check_refused(CHECK_VALUE, "outer", top, &job);
    job = good;
    job.count = SIZE_MAX / 16;
    check_refused(CHECK_VALUE, "count", top, &job);
    job = good;
    job.count = (size_t)UINT32_MAX + 1;
    check_refused(CHECK_VALUE, "count", top, &job);
    job.count = UINT32_MAX, job.k = 0;
    check_empty(top, &job);
    for (int zero = 0; zero < 4; ++zero) {
        job = good;
        *(zero == 0 ? &job.outer : zero == 1 ? &job.inner : &job.k) = 0;
        if (zero == 3)
            job.count = 0;
        check_empty(top, &job);
    }
}

CHECK_FAMILY(top_k)
{
    for (size_t count = 1; count <= 40; ++count)
        for (size_t k = 1; k <= count; k += 1 + count / 5)
            check_top(1 + count % 3, count, 1 + k % 4, k, count + k, (enum check_fill)((count + k) % CHECK_FILLS));
    for (size_t kind = 0; kind < 4; ++kind) {
        check_top(1, 8400, 1, 300, kind, CHECK_RANDOM);
        for (int fill = 0; fill < CHECK_FILLS; ++fill) /* few of many, which a bound of the best selects */
            check_top(1, 1500 + 7 * kind, 1, 16 + 20 * kind, kind, (enum check_fill)fill);
        check_top(2, 3000, 2, 100, kind, CHECK_NAN);
        check_top(1, 1000, 1, 1000, kind, CHECK_TIES);
        check_top(20, 100, 15, 1, kind, CHECK_EQUAL);
        check_top(200, 1000, 1, 5, kind, CHECK_INF);
    }
    for (size_t i = 0, n = check_count(60); i < n; ++i) {
        const size_t count = check_random(1, 300);
        check_top(check_random(1, 5), count, check_random(1, 8), check_random(1, count), i,
                  (enum check_fill)check_random(0, CHECK_FILLS - 1));
    }
    for (int type = SimdTensorData32i; type <= SimdTensorDataBool; ++type)
        for (size_t i = 0, n = check_count(40); i < n; ++i) {
            const size_t count = check_random(1, 200);
            check_integers((SimdTensorDataType)type, check_random(1, 4), count, i % 2 ? 1 : check_random(1, 5),
                           check_random(1, count), i, (enum check_fill)check_random(0, CHECK_FILLS - 1));
        }
    refusals();
    refused_integers();
}
