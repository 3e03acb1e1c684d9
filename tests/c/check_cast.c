/*
 * Conversions of types: a loop that is the same for all levels, so it is also compared with C's own conversions. Elements are
 * arrays of bytes of the checker.
 */
#include "check.h"

static const char * const names[] = {"32f", "32i", "8i", "8u", "64i", "64u", "bool"};
static const size_t bytes[] = {4, 4, 1, 1, 8, 8, 1};
static unsigned char result[8 * 20000];

struct cast {
    SimdTensorDataType from, to;
    size_t count;
};

static void cast(const void * job, void * context, void * const * a)
{
    const struct cast * c = job;
    (void)context;
    SimdnetCast(c->from, a[0], c->count, c->to, a[1]);
}

/* ---- what each element becomes */

struct number {
    float as_float;
    uint64_t bits; /* of an integer, and of a float as one of 64 bits */
};

static struct number taken(SimdTensorDataType type, const unsigned char * at)
{
    float number;
    int32_t narrow;
    uint64_t wide;
    memcpy(&number, at, type == SimdTensorData32f ? sizeof(number) : 0);
    memcpy(&narrow, at, type == SimdTensorData32i ? sizeof(narrow) : 0);
    memcpy(&wide, at, bytes[type] == 8 ? sizeof(wide) : 0);
    switch (type) {
    case SimdTensorData32f: return (struct number){number, 0};
    case SimdTensorData32i: return (struct number){(float)narrow, (uint64_t)narrow};
    case SimdTensorData8i: return (struct number){(signed char)*at, (uint64_t)(signed char)*at};
    case SimdTensorData8u: return (struct number){*at, *at};
    case SimdTensorData64i: return (struct number){(float)(int64_t)wide, wide};
    case SimdTensorData64u: return (struct number){(float)wide, wide};
    default: return (struct number){*at ? 1.0f : 0.0f, *at ? 1 : 0};
    }
}

/* Of a float: towards zero; the lowest number if there is none. */
static uint64_t integer_of(double x, SimdTensorDataType to)
{
    const double most = to == SimdTensorData64u ? 0x1p64 : bytes[to] == 8 ? 0x1p63 : 0x1p31;
    const double least = bytes[to] == 8 ? -0x1p63 : -0x1p31;
    if (isnan(x) || x < least || x >= most)
        return (uint64_t)(int64_t)least;
    return x < 0 ? 0 - (uint64_t)-x : (uint64_t)x;
}

static bool is_cast(const struct cast * c, const unsigned char * src)
{
    for (size_t i = 0; i < c->count; ++i) {
        const struct number n = taken(c->from, src + i * bytes[c->from]);
        uint64_t bits = c->from == SimdTensorData32f && c->to != SimdTensorData32f ? integer_of(n.as_float, c->to) : n.bits;
        if (c->to == SimdTensorDataBool)
            bits = c->from == SimdTensorData32f ? n.as_float != 0 : n.bits != 0;
        const void * expected = c->to == SimdTensorData32f ? (const void *)&n.as_float : &bits; /* low bytes come first */
        if (memcmp(result + i * bytes[c->to], expected, bytes[c->to]) != 0)
            return false;
    }
    return true;
}

static void check_cast_of(SimdTensorDataType from, SimdTensorDataType to, size_t count, enum check_fill fill)
{
    const struct cast job = {from, to, count};
    if (!check_case("SimdnetCast", "%s to %s, %zu %s", names[from], names[to], count, check_fill_name(fill)))
        return;
    const bool is_float = from == SimdTensorData32f;
    const void * src = check_in("src", is_float ? CHECK_32F : CHECK_8U, is_float ? count : count * bytes[from], fill);
    check_out("dst", to == SimdTensorData32f ? CHECK_32F : CHECK_8U, to == SimdTensorData32f ? count : count * bytes[to]);
    check_run(cast, &job);
    SimdnetCast(from, src, count, to, result);
    check_that(is_cast(&job, src), "SimdnetCast", "%s to %s, %zu %s", names[from], names[to], count, check_fill_name(fill));
}

/* Around the limits of the integers. */
static void limits(void)
{
    static const float numbers[] = {0, -0.0f, 0.99f, -0.99f, 2.5f, -2.5f, 127.5f, 128, 255.5f, 256, -129, 0x1.fffffep30f,
        0x1p31f, -0x1p31f, -0x1.000002p31f, 0x1.fffffep62f, 0x1p63f, -0x1p63f, -0x1.000002p63f, 0x1.fffffep63f, 0x1p64f, 3e38f,
        -3e38f, INFINITY, -INFINITY, NAN};
    const size_t count = sizeof(numbers) / sizeof(numbers[0]);
    for (int to = 0; to < 7 && check_selected("SimdnetCast"); ++to) {
        const struct cast job = {SimdTensorData32f, (SimdTensorDataType)to, count};
        SimdnetCast(job.from, numbers, count, job.to, result);
        check_that(is_cast(&job, (const unsigned char *)numbers), "SimdnetCast", "limits of %s", names[to]);
    }
}

static void refusals(void)
{
    const struct cast good = {SimdTensorData32i, SimdTensorData64i, 6};
    struct cast job = good;
    check_case("SimdnetCast", "refusals");
    check_in("src", CHECK_32I, 6, CHECK_RANDOM);
    check_out("dst", CHECK_32I, 12);
    check_refused_null(cast, &job);
    check_refused_overlap(false, cast, &job);
    for (int type = -2; type < 12; ++type) {
        if (type >= SimdTensorData32f && type <= SimdTensorDataBool)
            continue;
        job = good, job.from = (SimdTensorDataType)type;
        check_refused(CHECK_VALUE, "srcType", cast, &job);
        job = good, job.to = (SimdTensorDataType)type;
        check_refused(CHECK_VALUE, "dstType", cast, &job);
    }
    job = good, job.count = SIZE_MAX / 8;
    check_refused(CHECK_VALUE, "count", cast, &job);
    job.count = 0;
    check_empty(cast, &job);
}

CHECK_FAMILY(cast)
{
    static const enum check_fill fills[] = {CHECK_RANDOM, CHECK_TIES};
    for (int from = 0; from < 7; ++from)
        for (int to = 0; to < 7; ++to)
            for (size_t i = 0; i < 2; ++i)
                check_cast_of((SimdTensorDataType)from, (SimdTensorDataType)to, i ? 1300 : check_random(1, 40), fills[i]);
    check_cast_of(SimdTensorData64i, SimdTensorData32f, 20000, CHECK_RANDOM);
    check_cast_of(SimdTensorData32f, SimdTensorData8u, 20000, CHECK_LARGE);
    limits();
    refusals();
}
