/*
 * Softmax. Bound, relative to the result: 2 units in the last place of the exponential, for the numerator and the terms of
 * the sum; the rounding of v - max; (log2(count) + 8) * 2^-24 for the sum; the division; and 2^-125 for terms that may be 0.
 */
#include "check.h"

#define SOFTMAX "SimdSynetSoftmaxLayerForward"

struct softmax {
    size_t outer, count, inner;
};

static void softmax(const void * job, void * context, void * const * a)
{
    const struct softmax * p = job;
    (void)context;
    SimdSynetSoftmaxLayerForward(a[0], p->outer, p->count, p->inner, a[1]);
}

static void softmax_in_place(const void * job, void * context, void * const * a)
{
    const struct softmax * p = job;
    (void)context;
    SimdSynetSoftmaxLayerForward(a[0], p->outer, p->count, p->inner, a[0]);
}

/* Evaluates the formula again, line by line. Where a value is not finite the bound is 0: NaN and 0 must agree. */
static void bound(const struct softmax * p, const float * src, double * error)
{
    const double eps = 0x1p-24;
    for (size_t line = 0; line < p->outer * p->inner; ++line) {
        const size_t first = line / p->inner * p->count * p->inner + line % p->inner;
        double max = -INFINITY, sum = 0, spread = 0;
        for (size_t c = 0; c < p->count; ++c)
            max = fmax(max, (double)src[first + c * p->inner]);
        for (size_t c = 0; c < p->count; ++c) {
            const double d = max - (double)src[first + c * p->inner];
            sum += exp(-d);
            spread += d < 110 ? d * exp(-d) : 0;
        }
        for (size_t c = 0; c < p->count; ++c) {
            const double d = max - (double)src[first + c * p->inner], result = exp(-d) / sum;
            const double relative = eps * (4 + 4 + (d < 110 ? d : 110) + spread / sum + 4 + log2((double)p->count) + 8);
            error[first + c * p->inner] = isfinite(d) ? result * relative + 0x1p-125 : 0;
        }
    }
}

static void scale(float * x, size_t size, float by)
{
    for (size_t i = 0; i < size; ++i)
        x[i] *= by;
}

static void check_softmax_at(size_t outer, size_t count, size_t inner, enum check_fill fill, float by)
{
    const struct softmax job = {outer, count, inner};
    const size_t size = outer * count * inner;
    for (int in_place = 0; in_place < 2; ++in_place) {
        if (!check_case(SOFTMAX, "outer=%zu count=%zu inner=%zu %s by=%g%s", outer, count, inner, check_fill_name(fill),
                        (double)by, in_place ? " in place" : ""))
            continue;
        float * src = (in_place ? check_inout : check_in)("src", CHECK_32F, size, fill);
        scale(src, size, by);
        if (!in_place)
            check_out("dst", CHECK_32F, size);
        bound(&job, src, check_bound());
        check_run(in_place ? softmax_in_place : softmax, &job);
    }
}

/* A term of 1 first, then many small ones, which a plain chain of additions would lose. */
static void small_terms(size_t count, size_t inner)
{
    const struct softmax job = {3, count, inner};
    if (!check_case(SOFTMAX, "count=%zu inner=%zu many small terms", count, inner))
        return;
    float * src = check_in("src", CHECK_32F, 3 * count * inner, CHECK_RANDOM);
    for (size_t i = 0; i < 3 * count * inner; ++i)
        src[i] = i / inner % count ? -17.35f + 0.01f * src[i] : 0;
    check_out("dst", CHECK_32F, 3 * count * inner);
    bound(&job, src, check_bound());
    check_run(softmax, &job);
}

static void refusals(void)
{
    struct softmax job = {2, 3, 5};
    check_case(SOFTMAX, "refusals");
    check_in("src", CHECK_32F, 30, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 30);
    check_refused_null(softmax, &job);
    check_refused_overlap(true, softmax, &job);
    job = (struct softmax){SIZE_MAX / 8, 3, 1};
    check_refused(CHECK_VALUE, "outer", softmax, &job);
    job = (struct softmax){0, 3, 5};
    check_empty(softmax, &job);
    job = (struct softmax){3, 0, 5};
    check_empty(softmax, &job);
    job = (struct softmax){3, 5, 0};
    check_empty(softmax, &job);
}

/* A line with invalid values does not affect the others: finite lines next to one with an infinity, a NaN, or only -Inf. */
static void bad_lines(size_t count, size_t inner)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    const size_t outer = 40;
    for (size_t kind = 0; kind < 4; ++kind)
        for (size_t i = 0, n = check_count(8); i < n; ++i) {
            const size_t line = check_random(0, outer * inner - 1), at = check_random(0, count - 1);
            if (!check_case(SOFTMAX, "count=%zu inner=%zu bad value %zu at %zu of line %zu", count, inner, kind, at, line))
                continue;
            float * src = check_in("src", CHECK_32F, outer * count * inner, CHECK_RANDOM);
            const size_t first = line / inner * count * inner + line % inner;
            for (size_t c = 0; c < count; ++c)
                if (c == at || kind == 3)
                    src[first + c * inner] = kind == 3 ? -INFINITY : bad[kind];
            check_out("dst", CHECK_32F, outer * count * inner);
            const struct softmax job = {outer, count, inner};
            bound(&job, src, check_bound());
            check_run(softmax, &job);
        }
}

/* Aims on the reference core: 45 us for (3136, 64, 1) and 50 us for (1, 64, 3136). */
static void bench(void)
{
    static const size_t shapes[][3] = {{3136, 64, 1}, {1, 64, 3136}, {64, 10, 1},   {1, 1000, 1},
                                       {64, 1000, 1}, {10000, 2, 1}, {10000, 3, 1}, {10000, 10, 1},
                                       {4096, 21, 1}, {1, 21, 65536}, {100, 7, 7},  {1000, 4, 3}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
        const struct softmax job = {shapes[i][0], shapes[i][1], shapes[i][2]};
        const size_t size = job.outer * job.count * job.inner;
        check_case(SOFTMAX, "outer=%zu count=%zu inner=%zu", job.outer, job.count, job.inner);
        scale(check_in("src", CHECK_32F, size, CHECK_RANDOM), size, 5);
        check_out("dst", CHECK_32F, size);
        check_bench(softmax, &job, 0, 8.0 * (double)size);
    }
}

CHECK_FAMILY(softmax)
{
    static const size_t counts[] = {1,  2,  3,  4,  5,  7,  8,  9,  10, 13,  15,  16,
                                    17, 21, 31, 32, 33, 47, 63, 64, 65, 100, 257, 1000};
    static const size_t inners[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 49, 64, 130};
    static const float scales[] = {1, 20, 100, 0x1p-20f};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
        for (size_t outer = 1; outer <= 35; outer += outer < 18 ? 1 : 7)
            if (counts[i] < 200 || outer < 3)
                check_softmax_at(outer, counts[i], 1, (enum check_fill)((i + outer) % CHECK_FILLS), scales[outer % 4]);
        for (size_t k = 0; k < sizeof(inners) / sizeof(inners[0]); ++k)
            if (counts[i] < 200 || k % 4 == 1)
                check_softmax_at(1 + i % 2, counts[i], inners[k], (enum check_fill)((i + k) % CHECK_FILLS),
                                 scales[(i + k) % 4]);
    }
    for (size_t k = 0; k < 3; ++k) {
        small_terms(500, inners[5 * k]);
        small_terms(5000, inners[5 * k]);
        if (k == 0 || !check_quick())
            small_terms(70001, inners[5 * k]);
    }
    for (size_t i = 0, n = check_count(60); i < n; ++i)
        check_softmax_at(check_random(1, 9), check_random_size(100), i % 2 ? 1 : check_random_size(100),
                         (enum check_fill)check_random(0, CHECK_FILLS - 1), scales[i % 4]);
    bad_lines(3, 1);
    bad_lines(10, 1);
    bad_lines(40, 1);
    bad_lines(10, 3);
    bad_lines(5, 20);
    refusals();
    if (check_timed())
        bench();
}
