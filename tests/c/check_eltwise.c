/*
 * Eltwise: exact, except for the sum, where each product and each addition may round. NaN payloads and the sign of a zero
 * maximum may differ.
 */
#include "check.h"

#define ELTWISE "SimdSynetEltwiseLayerForward"

enum { MOST = 12 };

struct eltwise {
    size_t count, size;
    SimdSynetEltwiseOperationType type;
    size_t in_place; /* the index of the array that is also dst; NONE: none of them */
    bool no_list;
};

enum { NONE = 99 };

/* Arrays: all sources except the one in place, weight, dst. */
static void eltwise(const void * job, void * context, void * const * a)
{
    const struct eltwise * p = job;
    const float * src[MOST];
    size_t next = 0;
    (void)context;
    for (size_t i = 0; i < p->count; ++i)
        src[i] = i == p->in_place ? NULL : a[next++];
    const float * weight = a[next++];
    float * dst = a[next];
    if (p->in_place < p->count)
        src[p->in_place] = dst;
    SimdSynetEltwiseLayerForward(p->no_list ? NULL : src, weight, p->count, p->size, p->type, dst);
}

static const char * const type_name[] = {"product", "sum", "max", "min"};
static const char * const source_name[MOST] = {"src[0]", "src[1]", "src[2]", "src[3]", "src[4]",  "src[5]",
                                               "src[6]", "src[7]", "src[8]", "src[9]", "src[10]", "src[11]"};

/* The error of the sum in any order. */
static void bound(float const * const * src, const float * weight, size_t count, size_t size, double * error)
{
    for (size_t j = 0; j < size; ++j) {
        double sum = 0;
        for (size_t i = 0; i < count; ++i)
            sum += fabs((double)src[i][j] * (double)weight[i]);
        error[j] = sum < 0x1p127 ? (double)(count + 1) * 0x1p-24 * sum + (double)count * 0x1p-149 : INFINITY;
    }
}

static struct eltwise eltwise_case(size_t count, size_t size, size_t type, size_t in_place, enum check_fill fill)
{
    const struct eltwise job = {count, size, (SimdSynetEltwiseOperationType)type, in_place, false};
    const float * src[MOST];
    if (!check_case(ELTWISE, "%s count=%zu size=%zu dst=%zu %s", type_name[type], count, size, in_place,
                    check_fill_name(fill)))
        return job;
    for (size_t i = 0; i < count; ++i)
        if (i != in_place)
            src[i] = check_in(source_name[i], CHECK_32F, size, fill);
    const float * weight = check_in("weight", CHECK_32F, count, CHECK_RANDOM);
    if (type != SimdSynetEltwiseOperationSum)
        check_optional();
    if (in_place < count)
        src[in_place] = check_inout("dst", CHECK_32F, size, fill);
    else
        check_out("dst", CHECK_32F, size);
    check_exact(CHECK_NAN_FREE | CHECK_ZERO_FREE);
    if (type == SimdSynetEltwiseOperationSum)
        bound(src, weight, count, size, check_bound());
    return job;
}

static void check_eltwise_at(size_t count, size_t size, size_t type, size_t in_place, enum check_fill fill)
{
    const struct eltwise job = eltwise_case(count, size, type, in_place, fill);
    check_run(eltwise, &job);
}

static void refusals(void)
{
    for (size_t type = 0; type < 4; ++type) {
        struct eltwise job = eltwise_case(3, 9, type, NONE, CHECK_RANDOM);
        const struct eltwise good = job;
        check_refused_null(eltwise, &job);
        if (type == SimdSynetEltwiseOperationSum) /* others ignore the weights */
            check_refused_overlap(true, eltwise, &job);
        job.no_list = true;
        check_refused(CHECK_VALUE, "src", eltwise, &job);
        job = good;
        job.size = SIZE_MAX / 4;
        check_refused(CHECK_VALUE, "size", eltwise, &job);
        job = good;
        job.count = 0;
        check_refused(CHECK_VALUE, "count", eltwise, &job);
        job = good;
        job.size = 0;
        check_empty(eltwise, &job);
    }
    struct eltwise job = eltwise_case(3, 9, SimdSynetEltwiseOperationMax, NONE, CHECK_RANDOM);
    job.type = (SimdSynetEltwiseOperationType)4;
    check_refused(CHECK_VALUE, "type", eltwise, &job);
    job.type = (SimdSynetEltwiseOperationType)-1;
    check_refused(CHECK_VALUE, "type", eltwise, &job);
}

/* Aim: the time of a copy of as many bytes. */
static void bench(void)
{
    static const size_t shapes[][2] = {{2, 200704}, {3, 200704}, {4, 200704}, {5, 200704}, {8, 200704}, {12, 200704},
                                       {2, 49},     {2, 1000},   {8, 1000},   {1, 200704}, {2, 8000000}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t type = 0; type < 4; ++type) {
            const struct eltwise job = eltwise_case(shapes[i][0], shapes[i][1], type, NONE, CHECK_EQUAL);
            check_bench(eltwise, &job, 0, 4.0 * (double)((job.count + 1) * job.size));
        }
}

CHECK_FAMILY(eltwise)
{
    size_t turn = 0;
    for (size_t size = 1; size <= 300; size += check_quick() ? 9 : 1)
        for (size_t count = 1; count <= MOST; count += size % 3 + 1)
            for (size_t type = 0; type < 4; ++type, ++turn)
                check_eltwise_at(count, size, type, turn % 2 ? NONE : turn / 2 % count,
                                 (enum check_fill)(turn / 3 % CHECK_FILLS));
    for (size_t type = 0; type < 4; ++type)
        for (size_t count = 1; count <= 9; ++count) {
            check_eltwise_at(count, 1000 + 321 * count, type, NONE, CHECK_RANDOM);
            check_eltwise_at(count, 1000 + 321 * count, type, count - 1, CHECK_RANDOM);
            check_eltwise_at(count, 70000, type, NONE, CHECK_TIES); /* more than one unit of work */
        }
    for (size_t i = 0, n = check_count(60); i < n; ++i) {
        const size_t count = check_random(1, MOST);
        check_eltwise_at(count, check_random_size(1000), i % 4, i % 3 ? NONE : check_random(0, count - 1),
                         (enum check_fill)check_random(0, CHECK_FILLS - 1));
    }
    if (!check_quick())
        for (size_t type = 0; type < 4; ++type) {
            check_eltwise_at(2, 8000003, type, NONE, CHECK_TIES); /* beyond the caches */
            check_eltwise_at(2, 8000003, type, 1, CHECK_TIES);
        }
    refusals();
    if (check_timed())
        bench();
}
