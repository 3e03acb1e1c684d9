/*
 * Gather and GatherElements: loops over bytes that are the same for all levels, so they are also compared with a formula of
 * one line. Indices are 64-bit numbers in arrays of twice as many CHECK_32I.
 */
#include "check.h"

/* ---- indices */

/* Valid ones of both signs, the extremes among them. */
static int64_t index_at(size_t i, size_t count)
{
    const int64_t n = (int64_t)count;
    return i % 7 == 0 ? -n : i % 7 == 3 ? n - 1 : (int64_t)check_random(0, 2 * count - 1) - n;
}

static void put_index(void * array, bool wide, size_t i, int64_t index)
{
    const int32_t narrow = (int32_t)index;
    memcpy((char *)array + i * (wide ? 8 : 4), wide ? (const void *)&index : &narrow, wide ? 8 : 4);
}

static size_t taken(const void * array, bool wide, size_t i, size_t count)
{
    const int64_t index = wide ? ((const sn_64i *)array)[i] : ((const sn_32i *)array)[i];
    return (size_t)(index < 0 ? index + (int64_t)count : index);
}

static void * declare_indices(const char * name, bool wide, size_t size, size_t count)
{
    void * array = check_in(name, CHECK_32I, wide ? 2 * size : size, CHECK_RANDOM);
    for (size_t i = 0; i < size; ++i)
        put_index(array, wide, i, index_at(i, count));
    return array;
}

/* Arrays of a data type, as those of a type of the checker. */
static size_t bytes_of(SimdTensorDataType type)
{
    static const size_t bytes[] = {4, 4, 1, 1, 8, 8, 1, 2, 2};
    return bytes[type];
}

static enum check_type check_type_of(size_t bytes) { return bytes == 1 ? CHECK_8U : bytes == 2 ? CHECK_16B : CHECK_32I; }

static size_t check_count_of(size_t bytes, size_t elements) { return bytes == 8 ? 2 * elements : elements; }

static unsigned char result[1 << 20];

/* ---- Gather */

struct gather {
    SimdTensorDataType type;
    size_t outer, count, inner, indices;
};

static void gather(const void * job, void * context, void * const * a)
{
    const struct gather * g = job;
    (void)context;
    SimdnetGather(g->type, a[0], g->outer, g->count, g->inner, a[1], g->indices, a[2]);
}

static bool is_gathered(const struct gather * g, const unsigned char * src, const void * index)
{
    const size_t item = g->inner * bytes_of(g->type);
    for (size_t o = 0; o < g->outer; ++o)
        for (size_t j = 0; j < g->indices; ++j)
            if (memcmp(result + (o * g->indices + j) * item, src + (o * g->count + taken(index, true, j, g->count)) * item,
                       item) != 0)
                return false;
    return true;
}

static void check_gather_of(SimdTensorDataType type, size_t outer, size_t count, size_t inner, size_t indices)
{
    const struct gather job = {type, outer, count, inner, indices};
    const size_t bytes = bytes_of(type);
    if (!check_case("SimdnetGather", "type=%d outer=%zu count=%zu inner=%zu indices=%zu", (int)type, outer, count, inner,
                    indices))
        return;
    const void * src = check_in("src", check_type_of(bytes), check_count_of(bytes, outer * count * inner), CHECK_RANDOM);
    const void * index = declare_indices("index", true, indices, count);
    check_out("dst", check_type_of(bytes), check_count_of(bytes, outer * indices * inner));
    check_run(gather, &job);
    SimdnetGather(type, src, outer, count, inner, index, indices, result);
    check_that(is_gathered(&job, src, index), "SimdnetGather", "type=%d outer=%zu count=%zu inner=%zu indices=%zu",
               (int)type, outer, count, inner, indices);
}

static void gather_refusals(void)
{
    const struct gather good = {SimdTensorData32f, 2, 5, 3, 4};
    struct gather job = good;
    check_case("SimdnetGather", "refusals");
    check_in("src", CHECK_32F, 30, CHECK_RANDOM);
    void * index = declare_indices("index", true, 4, 5);
    check_out("dst", CHECK_32F, 24);
    check_refused_null(gather, &job);
    check_refused_overlap(false, gather, &job);
    for (int type = -2; type < 12; ++type) {
        job.type = (SimdTensorDataType)type;
        if (type < 0 || type > 8)
            check_refused(CHECK_VALUE, "dataType", gather, &job);
    }
    job = good;
    job.outer = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "outer", gather, &job);
    job = (struct gather){SimdTensorData32f, 0, 5, 3, 4};
    check_empty(gather, &job);
    job = (struct gather){SimdTensorData32f, 2, 5, 3, 0};
    check_empty(gather, &job);
    job = (struct gather){SimdTensorData32f, 2, 0, 3, 4};
    check_refused(CHECK_VALUE, "index", gather, &job);
    static const int64_t bad[] = {5, -6, INT64_MAX, INT64_MIN, 1ll << 32, -(1ll << 32)};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        put_index(index, true, i % 4, bad[i]);
        check_refused(CHECK_VALUE, "index", gather, &good);
        put_index(index, true, i % 4, 0);
    }
}

/* Of several bad indices the message names the first one, also with several threads. */
static void first_bad_index(void)
{
    enum { SIZE = 100000 };
    static int64_t index[SIZE];
    static unsigned char source[8], gathered[SIZE];
    static const size_t places[] = {0, 1, 8191, 8192, 50000, SIZE - 1};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && check_selected("SimdnetGather"); ++i) {
        char expected[80];
        for (size_t k = 0; k < SIZE; ++k)
            index[k] = k < places[i] ? 7 - (int64_t)(k % 16) : 8;
        snprintf(expected, sizeof(expected), "SimdnetGather: index[%zu] is 8, expected one of -8 .. 7", places[i]);
        SimdnetGather(SimdTensorData8u, source, 1, 8, 1, index, SIZE, gathered);
        check_that(strcmp(SimdnetLastError(), expected) == 0, "SimdnetGather", "bad index at %zu: %s", places[i],
                   SimdnetLastError());
    }
}

static void gathers(void)
{
    for (int type = 0; type <= 8; ++type)
        for (size_t inner = 1; inner <= 9; ++inner)
            check_gather_of((SimdTensorDataType)type, 1 + inner % 3, 1 + 2 * inner, inner, 3 + inner % 5);
    check_gather_of(SimdTensorData32f, 1, 1000, 1, 30000);
    check_gather_of(SimdTensorData32f, 7, 11, 1, 5000);
    check_gather_of(SimdTensorData8u, 3, 40, 65, 900);
    check_gather_of(SimdTensorData16b, 1, 30, 2, 70000);
    check_gather_of(SimdTensorData32f, 2, 50, 768, 60);
    for (size_t i = 0, n = check_count(60); i < n; ++i)
        check_gather_of((SimdTensorDataType)check_random(0, 8), check_random(1, 5), check_random(1, 30),
                        check_random(1, 40), check_random(1, 100));
    gather_refusals();
    first_bad_index();
}

/* ---- GatherElements */

#define INIT "SimdSynetGatherElementsInit"
#define FORWARD "SimdSynetGatherElementsForward"
#define SET_INDEX "SimdSynetGatherElementsSetIndex"

struct elements {
    SimdTensorDataType type, index_type;
    size_t outer[3], outers, count, inner, selected;
    bool constant;
};

static void * open_elements(const void * job, void * const * a)
{
    const struct elements * e = job;
    (void)a;
    return SimdSynetGatherElementsInit(e->type, e->index_type, e->constant ? SimdTrue : SimdFalse, 1, e->outer, e->outers,
                                       e->count, e->inner, e->selected);
}

static void forward(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetGatherElementsForward(context, a[0], a[1], a[2]);
}

static void forward_of_set(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetGatherElementsSetIndex(context, a[1]);
    SimdSynetGatherElementsForward(context, a[0], NULL, a[2]);
}

static void set_index(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetGatherElementsSetIndex(context, a[1]);
}

static bool are_gathered(const struct elements * e, size_t outer, const unsigned char * src, const void * idx)
{
    const size_t bytes = bytes_of(e->type), line = e->selected * e->inner;
    for (size_t k = 0; k < outer * line; ++k) {
        const size_t t = taken(idx, e->index_type == SimdTensorData64i, k, e->count);
        const size_t from = (k / line * e->count + t) * e->inner + k % e->inner;
        if (memcmp(result + k * bytes, src + from * bytes, bytes) != 0)
            return false;
    }
    return true;
}

static void check_elements(SimdTensorDataType type, bool wide, size_t outer, size_t count, size_t inner, size_t selected)
{
    struct elements job = {type, wide ? SimdTensorData64i : SimdTensorData32i, {outer, 1}, outer % 3, count, inner, selected,
                           inner % 2};
    if (job.outers == 0)
        outer = 1;
    const size_t bytes = bytes_of(type), size = outer * selected * inner;
    if (!check_case(FORWARD, "type=%d %s outer=%zu count=%zu inner=%zu selected=%zu", (int)type, wide ? "64i" : "32i", outer,
                    count, inner, selected))
        return;
    check_open(open_elements);
    const void * src = check_in("src", check_type_of(bytes), outer * count * inner, CHECK_RANDOM);
    const void * idx = declare_indices("idx", wide, size, count);
    check_out("dst", check_type_of(bytes), size);
    check_run(job.constant ? forward_of_set : forward, &job);
    void * context = open_elements(&job, NULL);
    SimdSynetGatherElementsForward(context, src, idx, result);
    check_that(are_gathered(&job, outer, src, idx), FORWARD, "type=%d %s outer=%zu count=%zu inner=%zu selected=%zu",
               (int)type, wide ? "64i" : "32i", outer, count, inner, selected);
    SimdRelease(context);
}

static void init_refusals(void)
{
    const struct elements good = {SimdTensorData32f, SimdTensorData64i, {2}, 1, 5, 3, 4, true};
    struct elements job = good;
    check_case(INIT, "refusals");
    check_open(open_elements);
    for (int type = -1; type < 10; ++type) {
        job = good;
        job.type = (SimdTensorDataType)type;
        if (type != SimdTensorData32f && type != SimdTensorData16b && type != SimdTensorData8u)
            check_refused(CHECK_VALUE, "dataType", NULL, &job);
        job = good;
        job.index_type = (SimdTensorDataType)type;
        if (type != SimdTensorData32i && type != SimdTensorData64i)
            check_refused(CHECK_VALUE, "indexType", NULL, &job);
    }
    job = good;
    job.outer[0] = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "outer", NULL, &job);
    job = good;
    job.outers = SIZE_MAX;
    check_refused(CHECK_VALUE, "outerSize", NULL, &job);
    job = good;
    job.inner = SIZE_MAX / 16;
    check_refused(CHECK_VALUE, "inner", NULL, &job);
    check_that(!SimdSynetGatherElementsInit(good.type, good.index_type, SimdTrue, 1, NULL, 1, 5, 3, 4), INIT,
               "outer is NULL");
}

static void elements_refusals(void)
{
    struct elements job = {SimdTensorData32f, SimdTensorData64i, {2}, 1, 5, 3, 4, true};
    check_case(FORWARD, "refusals");
    check_open(open_elements);
    check_in("src", CHECK_32F, 30, CHECK_RANDOM);
    void * idx = declare_indices("idx", true, 24, 5);
    check_out("dst", CHECK_32F, 24);
    check_refused_null(forward, &job);
    check_refused_overlap(false, forward, &job);
    put_index(idx, true, 20, 5);
    check_refused(CHECK_VALUE, "idx", forward, &job);
    put_index(idx, true, 20, -6);
    check_refused(CHECK_VALUE, "idx", forward, &job);
    put_index(idx, true, 20, 0);
    job.count = 0;
    check_refused(CHECK_VALUE, "idx", forward, &job);
    job.count = 5;
    job.selected = 0;
    check_empty(forward, &job);
    job.selected = 4;
    check_case(SET_INDEX, "refusals");
    check_open(open_elements);
    check_in("src", CHECK_32F, 30, CHECK_RANDOM);
    idx = declare_indices("idx", true, 24, 5);
    check_out("dst", CHECK_32F, 24);
    put_index(idx, true, 7, 5);
    check_refused(CHECK_VALUE, "idx", set_index, &job);
}

/* SetIndex() copies the indices, may be called again, and leaves them unchanged if it refuses; idx of Forward() precedes. */
static void indices_of_a_context(void)
{
    static const float src[] = {10, 20, 30};
    static const int32_t first[] = {2, -3}, second[] = {1, 1}, bad[] = {0, 3};
    float dst[2] = {0};
    void * constant = SimdSynetGatherElementsInit(SimdTensorData32f, SimdTensorData32i, SimdTrue, 1, NULL, 0, 3, 1, 2);
    void * other = SimdSynetGatherElementsInit(SimdTensorData32f, SimdTensorData32i, SimdFalse, 1, NULL, 0, 3, 1, 2);
    const size_t before = SimdSynetGatherElementsInternalBufferSize(constant);
    int32_t given[] = {first[0], first[1]};
    SimdSynetGatherElementsSetIndex(constant, (const uint8_t *)given);
    given[0] = given[1] = 1;
    SimdSynetGatherElementsForward(constant, (const uint8_t *)src, NULL, (uint8_t *)dst);
    check_that(dst[0] == 30 && dst[1] == 10, SET_INDEX, "first indices");
    check_that(before == 0 && SimdSynetGatherElementsInternalBufferSize(constant) == sizeof(first), SET_INDEX,
               "buffer size");
    SimdSynetGatherElementsSetIndex(constant, (const uint8_t *)bad);
    SimdSynetGatherElementsForward(constant, (const uint8_t *)src, NULL, (uint8_t *)dst);
    check_that(dst[0] == 30 && dst[1] == 10, SET_INDEX, "after a refusal");
    SimdSynetGatherElementsForward(constant, (const uint8_t *)src, (const uint8_t *)second, (uint8_t *)dst);
    check_that(dst[0] == 20 && dst[1] == 20, FORWARD, "other indices than those of SetIndex");
    SimdSynetGatherElementsSetIndex(constant, (const uint8_t *)second);
    dst[0] = 0;
    SimdSynetGatherElementsForward(constant, (const uint8_t *)src, NULL, (uint8_t *)dst);
    check_that(dst[0] == 20 && dst[1] == 20, SET_INDEX, "second indices");
    SimdSynetGatherElementsSetIndex(other, (const uint8_t *)first);
    SimdSynetGatherElementsForward(other, (const uint8_t *)src, NULL, (uint8_t *)dst);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE && dst[0] == 20, SET_INDEX, "indices that are not constant");
    const SimdnetForwardParameters parameters = {.size = sizeof(parameters), .src = src, .dst = dst};
    SimdnetForward(other, &parameters);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE, "SimdnetForward", "a context of another source");
    SimdRelease(constant);
    SimdRelease(other);
}

CHECK_FAMILY(gather)
{
    static const SimdTensorDataType types[] = {SimdTensorData32f, SimdTensorData16b, SimdTensorData8u};
    gathers();
    for (size_t i = 0; i < 36; ++i)
        check_elements(types[i % 3], i % 2, 1 + i % 4, 1 + i, 1 + i % 7, 1 + i % 5);
    for (size_t i = 0; i < 3; ++i) {
        check_elements(types[i], true, 2, 30, 1, 20000);
        check_elements(types[i], false, 3, 17, 250, 40);
        check_elements(types[i], i % 2, 40, 8400, 1, 30);
    }
    for (size_t i = 0, n = check_count(60); i < n; ++i)
        check_elements(types[check_random(0, 2)], check_random(0, 1), check_random(1, 5), check_random(1, 40),
                       check_random(1, 30), check_random(1, 60));
    init_refusals();
    elements_refusals();
    indices_of_a_context();
}
