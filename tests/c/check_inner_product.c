/* InnerProductLayerForward. Bound: (size + 3) * eps * (sum |a * b| + |bias|), for any order of summation. */
#include "check.h"

#define INNER "SimdSynetInnerProductLayerForward"

struct inner {
    size_t count, size;
    bool no_bias;
};

static void inner(const void * job, void * context, void * const * a)
{
    const struct inner * p = job;
    (void)context;
    SimdSynetInnerProductLayerForward(a[0], a[1], p->no_bias ? NULL : a[2], p->count, p->size, a[3]);
}

static struct inner declare(size_t count, size_t size, bool no_bias, enum check_fill fill)
{
    const struct inner job = {count, size, no_bias};
    if (!check_case(INNER, "count=%zu size=%zu%s %s", count, size, no_bias ? " no bias" : "", check_fill_name(fill)))
        return job;
    const float * src = check_in("src", CHECK_32F, size, fill);
    const bool wild = fill == CHECK_LARGE || fill == CHECK_INF || fill == CHECK_NAN;
    const float * weight = check_in("weight", CHECK_32F, count * size, wild ? CHECK_RANDOM : fill);
    const float * bias = check_in("bias", CHECK_32F, count, CHECK_RANDOM);
    check_optional();
    check_out("dst", CHECK_32F, count);
    double * bound = check_bound();
    for (size_t i = 0; i < count; ++i) {
        double sum = fabs(bias[i]);
        for (size_t j = 0; j < size; ++j)
            sum += fabs((double)src[j] * weight[i * size + j]);
        bound[i] = isfinite(sum) ? (double)(size + 3) * FLT_EPSILON * sum : INFINITY;
    }
    return job;
}

static void run(size_t count, size_t size, bool no_bias, enum check_fill fill)
{
    const struct inner job = declare(count, size, no_bias, fill);
    check_run(inner, &job);
}

/* A row has the same bits alone and in a batch. */
static void inner_by_row(const void * job, void * context, void * const * a)
{
    const struct inner * p = job;
    inner(job, context, a);
    const float * weight = a[1], * bias = a[2], * dst = a[3];
    for (size_t i = 0; i < p->count; ++i) {
        float alone;
        SimdSynetInnerProductLayerForward(a[0], weight + i * p->size, bias + i, 1, p->size, &alone);
        if (!check_same(CHECK_32F, &alone, dst + i, 1))
            check_that(false, INNER, "row %zu of %zu has other bits alone, size=%zu", i, p->count, p->size);
    }
}

static void refusals(void)
{
    struct inner job = declare(5, 7, false, CHECK_RANDOM);
    check_refused_null(inner, &job);
    check_refused_overlap(false, inner, &job);
    job.count = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "count", inner, &job);
    job.count = 0;
    check_empty(inner, &job);
}

static void bench(void)
{
    const size_t sizes[][2] = {{10, 64}, {256, 256}, {1000, 1024}, {1000, 1280}, {4096, 4096}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        const struct inner job = declare(sizes[i][0], sizes[i][1], false, CHECK_RANDOM);
        check_bench(inner, &job, 0, 4.0 * (double)(job.count * job.size));
    }
}

CHECK_FAMILY(inner_product)
{
    for (size_t size = 0; size <= 150; ++size)
        for (size_t count = 1; count <= 10; count += 1 + size % 3)
            run(count, size, size % 5 == 0, CHECK_RANDOM);
    for (int fill = 0; fill < CHECK_FILLS; ++fill)
        for (size_t count = 1; count <= 9; ++count)
            run(count, 37, false, (enum check_fill)fill);
    for (size_t i = 0; i < check_count(100); ++i) {
        const struct inner job = declare(check_random_size(70), check_random_size(700), false, CHECK_RANDOM);
        check_run(inner_by_row, &job);
    }
    refusals();
    if (check_timed())
        bench();
}
