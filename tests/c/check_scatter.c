/*
 * Scattering, GatherND and cumulative sums. Most loops are the same for all levels, so results are also compared with a loop
 * over single elements. Arrays of integers are arrays of bytes of the checker; indices, of 64 bits, twice as many CHECK_32I.
 */
#include "check.h"
#include "shapes.h"

#define ELEMENTS "SimdnetScatterElements"
#define SCATTER_ND "SimdnetScatterNd"
#define GATHER_ND "SimdnetGatherNd"
#define SUM "SimdnetCumulativeSum"

enum { MOST = 1 << 17 };

static const char * const types[] = {"32f", "32i", "8i", "8u", "64i", "64u", "bool", "16b", "16f"};
static unsigned char expected[MOST], result[MOST];

static size_t bytes_of(SimdTensorDataType type)
{
    static const size_t bytes[] = {4, 4, 1, 1, 8, 8, 1, 2, 2};
    return bytes[type];
}

static void * declare(const char * name, SimdTensorDataType type, size_t count, enum check_fill fill)
{
    return type == SimdTensorData32f ? check_in(name, CHECK_32F, count, fill)
                                     : check_in(name, CHECK_8U, count * bytes_of(type), CHECK_RANDOM);
}

static void declare_result(SimdTensorDataType type, size_t count)
{
    if (type == SimdTensorData32f)
        check_out("dst", CHECK_32F, count);
    else
        check_out("dst", CHECK_8U, count * bytes_of(type));
}

/* Valid ones of both signs; few places are often met again. */
static int64_t some_index(size_t count) { return (int64_t)check_random(0, 2 * count - 1) - (int64_t)count; }

static int64_t index_in(const void * array, size_t i)
{
    int64_t index;
    memcpy(&index, (const char *)array + 8 * i, sizeof(index));
    return index;
}

static size_t counted(int64_t index, size_t count) { return index < 0 ? count - (size_t)-index : (size_t)index; }

/* ---- what an update does */

static uint64_t bits_of(SimdTensorDataType type, const unsigned char * at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, bytes_of(type));
    if (type == SimdTensorDataBool)
        return bits != 0;
    const bool is_signed = type == SimdTensorData32i || type == SimdTensorData8i;
    const size_t more = 64 - 8 * bytes_of(type);
    return is_signed ? (uint64_t)((int64_t)(bits << more) >> more) : bits;
}

static bool is_less(SimdTensorDataType type, uint64_t a, uint64_t b)
{
    return type == SimdTensorData64u ? a < b : (int64_t)a < (int64_t)b;
}

static void change(SimdTensorDataType type, SimdnetScatterReduction reduction, unsigned char * dst, const unsigned char * from)
{
    if (reduction == SimdnetScatterNone) {
        memcpy(dst, from, bytes_of(type));
    } else if (type == SimdTensorData32f) {
        sn_32f *a = (sn_32f *)dst, b = *(const sn_32f *)from;
        const bool unordered = isnan(*a) || isnan(b);
        const float most = unordered ? NAN : *a > b ? *a : b, least = unordered ? NAN : *a < b ? *a : b;
        *a = reduction == SimdnetScatterAdd        ? *a + b
             : reduction == SimdnetScatterMultiply ? *a * b
             : reduction == SimdnetScatterMaximum  ? most
                                                   : least;
    } else {
        const uint64_t a = bits_of(type, dst), b = bits_of(type, from), larger = is_less(type, a, b) ? b : a;
        uint64_t found = reduction == SimdnetScatterAdd        ? a + b
                         : reduction == SimdnetScatterMultiply ? a * b
                         : reduction == SimdnetScatterMaximum  ? larger
                                                               : a + b - larger;
        found = type == SimdTensorDataBool ? found != 0 : found;
        memcpy(dst, &found, bytes_of(type));
    }
}

static bool is_expected(SimdTensorDataType type, size_t count)
{
    if (type != SimdTensorData32f)
        return memcmp(expected, result, count * bytes_of(type)) == 0;
    for (size_t i = 0; i < count; ++i) {
        const float a = ((const sn_32f *)expected)[i], b = ((const sn_32f *)result)[i];
        if (!(a == b || (isnan(a) && isnan(b))))
            return false;
    }
    return true;
}

/* ---- elements */

static void scatter_elements(const void * job, void * context, void * const * a)
{
    SimdnetScatterElementsParameters p = *(const SimdnetScatterElementsParameters *)job;
    (void)context;
    p.src = a[0];
    p.index = a[1];
    p.updates = a[2];
    p.dst = a[3];
    SimdnetScatterElements(&p);
}

static void scatter_one_by_one(const SimdnetScatterElementsParameters * p)
{
    const size_t bytes = bytes_of(p->dataType), updates = shape_size(p->updatesShape, p->count);
    memcpy(expected, p->src, shape_size(p->shape, p->count) * bytes);
    for (size_t i = 0; i < updates; ++i) {
        size_t at[8], rest = i, place = 0, where = 0;
        for (size_t k = p->count; k-- > 0; rest /= p->updatesShape[k])
            at[k] = rest % p->updatesShape[k];
        for (size_t k = 0; k < p->count; ++k)
            where = where * p->indexShape[k] + (p->indexShape[k] == 1 ? 0 : at[k]);
        at[p->axis] = counted(index_in(p->index, where), p->shape[p->axis]);
        for (size_t k = 0; k < p->count; ++k)
            place = place * p->shape[k] + at[k];
        change(p->dataType, p->reduction, expected + place * bytes, (const unsigned char *)p->updates + i * bytes);
    }
}

static void elements_case(SimdnetScatterElementsParameters p, enum check_fill fill)
{
    const size_t size = shape_size(p.shape, p.count), indices = shape_size(p.indexShape, p.count);
    const size_t * n = p.updatesShape;
    if (!check_case(ELEMENTS, "%s reduction=%d axis=%zu of %zu: %zu x %zu x %zu into %zu, %zu indices %s", types[p.dataType],
                    (int)p.reduction, p.axis, p.count, n[0], p.count > 1 ? n[1] : 1, p.count > 2 ? n[2] : 1, size, indices,
                    check_fill_name(fill)))
        return;
    p.src = declare("src", p.dataType, size, fill);
    unsigned char * index = check_in("index", CHECK_32I, 2 * indices, CHECK_RANDOM);
    for (size_t i = 0; i < indices; ++i) {
        const int64_t place = some_index(p.shape[p.axis]);
        memcpy(index + 8 * i, &place, sizeof(place));
    }
    p.index = (const void *)index;
    p.updates = declare("updates", p.dataType, shape_size(n, p.count), fill);
    declare_result(p.dataType, size);
    check_exact(CHECK_NAN_FREE | CHECK_ZERO_FREE);
    check_run(scatter_elements, &p);
    scatter_one_by_one(&p);
    p.dst = result;
    SimdnetScatterElements(&p);
    check_that(is_expected(p.dataType, size), ELEMENTS, "%s reduction=%d axis=%zu of %zu: %s", types[p.dataType],
               (int)p.reduction, p.axis, p.count, SimdnetLastError());
}

static void elements_of(SimdTensorDataType type, SimdnetScatterReduction reduction, size_t turn)
{
    SimdnetScatterElementsParameters p = {.size = sizeof(p), .dataType = type, .reduction = reduction};
    p.count = turn % 4 + 1;
    p.axis = check_random(0, p.count - 1);
    for (size_t k = 0; k < p.count; ++k) {
        p.shape[k] = check_random(1, k + 1 == p.count && turn % 3 == 0 ? 70 : 7);
        p.updatesShape[k] = k == p.axis ? check_random(1, 12) : check_random(1, p.shape[k]);
        p.indexShape[k] = check_random(0, 2) ? p.updatesShape[k] : 1;
    }
    elements_case(p, (enum check_fill)(turn % CHECK_FILLS));
}

static void elements_refused(const char * text, SimdnetScatterElementsParameters p)
{
    check_refused(CHECK_VALUE, text, scatter_elements, &p);
}

/* A case whose arrays fit 8 updates, of which 8 indices of 0 say where; returns these. */
static int64_t * arrays_of_refusals(const char * function)
{
    check_case(function, "refusals");
    check_in("src", CHECK_32F, 12, CHECK_RANDOM);
    check_optional();
    int64_t * index = check_in("index", CHECK_32I, 16, CHECK_RANDOM);
    memset(index, 0, 64);
    check_in("updates", CHECK_32F, 8, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 12);
    return index;
}

static void elements_refusals(void)
{
    const SimdnetScatterElementsParameters good = {.size = sizeof(good), .dataType = SimdTensorData32f, .count = 2,
        .shape = {3, 4}, .updatesShape = {2, 4}, .indexShape = {2, 4}, .reduction = SimdnetScatterAdd};
    SimdnetScatterElementsParameters p;
    int64_t * index = arrays_of_refusals(ELEMENTS);
    check_refused_null(scatter_elements, &good);
    check_refused_overlap(true, scatter_elements, &good);
    elements_refused("reduction is 5", (p = good, p.reduction = (SimdnetScatterReduction)5, p));
    elements_refused("dataType is SimdTensorData16b", (p = good, p.dataType = SimdTensorData16b, p));
    elements_refused("dataType", (p = good, p.dataType = SimdTensorDataUnknown, p));
    elements_refused("count is 0", (p = good, p.count = 0, p));
    elements_refused("count is 9", (p = good, p.count = 9, p));
    elements_refused("axis is 2", (p = good, p.axis = 2, p));
    elements_refused("updatesShape[1] is 5", (p = good, p.updatesShape[1] = 5, p));
    elements_refused("updatesShape of", (p = good, p.updatesShape[0] = SIZE_MAX / 2, p.indexShape[0] = 1, p));
    elements_refused("indexShape[0] is 3", (p = good, p.indexShape[0] = 3, p));
    elements_refused("size is 8", (p = good, p.size = 8, p));
    memcpy((char *)index + 24, &(int64_t){3}, 8);
    elements_refused("index[3] is 3", good);
    SimdnetScatterElements(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, ELEMENTS, "NULL: %s", SimdnetLastError());
}

/* ---- parts */

static void scatter_nd(const void * job, void * context, void * const * a)
{
    SimdnetScatterNdParameters p = *(const SimdnetScatterNdParameters *)job;
    (void)context;
    p.src = a[0];
    p.index = a[1];
    p.updates = a[2];
    p.dst = p.rowCount ? a[4] : a[3];
    p.rows = p.rowCount ? a[3] : NULL;
    SimdnetScatterNd(&p);
}

static void gather_nd(const void * job, void * context, void * const * a)
{
    SimdnetScatterNdParameters p = *(const SimdnetScatterNdParameters *)job;
    (void)context;
    p.src = a[0];
    p.index = a[1];
    p.dst = a[2];
    SimdnetGatherNd(&p);
}

/* The place of a selected element in the array. */
static size_t place_of(const SimdnetScatterNdParameters * p, size_t number, size_t i)
{
    size_t place = number / p->indices;
    for (size_t k = 0; k < p->depth; ++k)
        place = place * p->shape[k] + counted(index_in(p->index, number * p->depth + k), p->shape[k]);
    return place * p->inner + i;
}

static const void * declare_nd_index(const SimdnetScatterNdParameters * p)
{
    const size_t numbers = p->batch * p->indices * p->depth;
    unsigned char * index = check_in("index", CHECK_32I, 2 * numbers, CHECK_RANDOM);
    for (size_t i = 0; i < numbers; ++i) {
        const int64_t place = some_index(p->shape[i % p->depth]);
        memcpy(index + 8 * i, &place, sizeof(place));
    }
    return index;
}

static const void * declare_rows(size_t numbers, size_t count)
{
    unsigned char * rows = check_in("rows", CHECK_32I, 2 * numbers, CHECK_RANDOM);
    for (size_t i = 0; i < numbers; ++i)
        memcpy(rows + 8 * i, &(int64_t){some_index(count)}, 8);
    return rows;
}

static void scatter_nd_case(SimdnetScatterNdParameters p, enum check_fill fill)
{
    const size_t whole = p.batch * shape_size(p.shape, p.depth) * p.inner, bytes = bytes_of(p.dataType);
    if (!check_case(SCATTER_ND, "%s reduction=%d batch=%zu depth=%zu inner=%zu indices=%zu rows=%zu %zu %s",
                    types[p.dataType], (int)p.reduction, p.batch, p.depth, p.inner, p.indices, p.rowCount, whole,
                    check_fill_name(fill)))
        return;
    const size_t updates = p.batch * p.indices;
    p.src = declare("src", p.dataType, whole, fill);
    p.index = declare_nd_index(&p);
    p.updates = declare("updates", p.dataType, (p.rowCount ? p.rowCount : updates) * p.inner, fill);
    p.rows = p.rowCount ? declare_rows(updates, p.rowCount) : NULL;
    declare_result(p.dataType, whole);
    check_exact(CHECK_NAN_FREE | CHECK_ZERO_FREE);
    check_run(scatter_nd, &p);
    memcpy(expected, p.src, whole * bytes);
    for (size_t j = 0; j < updates; ++j)
        for (size_t i = 0; i < p.inner; ++i) {
            const size_t row = p.rows ? counted(index_in(p.rows, j), p.rowCount) : j;
            change(p.dataType, p.reduction, expected + place_of(&p, j, i) * bytes,
                   (const unsigned char *)p.updates + (row * p.inner + i) * bytes);
        }
    p.dst = result;
    SimdnetScatterNd(&p);
    check_that(is_expected(p.dataType, whole), SCATTER_ND, "%s reduction=%d: %s", types[p.dataType], (int)p.reduction,
               SimdnetLastError());
}

static void gather_nd_case(SimdnetScatterNdParameters p)
{
    const size_t whole = p.batch * shape_size(p.shape, p.depth) * p.inner, bytes = bytes_of(p.dataType);
    if (!check_case(GATHER_ND, "%s batch=%zu depth=%zu inner=%zu indices=%zu %zu", types[p.dataType], p.batch, p.depth,
                    p.inner, p.indices, whole))
        return;
    p.src = declare("src", p.dataType, whole, CHECK_RANDOM);
    p.index = declare_nd_index(&p);
    declare_result(p.dataType, p.batch * p.indices * p.inner);
    check_run(gather_nd, &p);
    for (size_t j = 0; j < p.batch * p.indices; ++j)
        for (size_t i = 0; i < p.inner; ++i)
            memcpy(expected + (j * p.inner + i) * bytes, (const unsigned char *)p.src + place_of(&p, j, i) * bytes, bytes);
    p.dst = result;
    SimdnetGatherNd(&p);
    check_that(is_expected(p.dataType, p.batch * p.indices * p.inner), GATHER_ND, "%s: %s", types[p.dataType],
               SimdnetLastError());
}

static SimdnetScatterNdParameters some_parts(SimdTensorDataType type, size_t turn)
{
    SimdnetScatterNdParameters p = {.size = sizeof(p), .dataType = type, .batch = check_random(1, 2), .depth = turn % 4,
        .inner = check_random(1, turn % 3 ? 9 : 80), .indices = check_random(1, 12)};
    for (size_t k = 0; k < p.depth; ++k)
        p.shape[k] = check_random(1, 5);
    return p;
}

static void nd_refused(const char * text, SimdnetScatterNdParameters p)
{
    check_refused(CHECK_VALUE, text, scatter_nd, &p);
}

static void rows_refusals(void)
{
    const SimdnetScatterNdParameters good = {.size = sizeof(good), .dataType = SimdTensorData32f, .depth = 1, .shape = {3},
        .inner = 4, .indices = 2, .reduction = SimdnetScatterAdd, .rowCount = 2};
    SimdnetScatterNdParameters p;
    check_case(SCATTER_ND, "refusals of rows");
    check_in("src", CHECK_32F, 12, CHECK_RANDOM);
    memset(check_in("index", CHECK_32I, 4, CHECK_RANDOM), 0, 16);
    check_in("updates", CHECK_32F, 8, CHECK_RANDOM);
    int64_t * rows = check_in("rows", CHECK_32I, 4, CHECK_RANDOM);
    check_optional();
    memset(rows, 0, 16);
    check_out("dst", CHECK_32F, 12);
    check_refused_overlap(true, scatter_nd, &good);
    nd_refused("rowCount is", (p = good, p.rowCount = SIZE_MAX / 2, p));
    memcpy((char *)rows + 8, &(int64_t){2}, 8);
    nd_refused("rows[1] is 2, expected -2 or more, and less than 2", good);
    p = good, p.size = offsetof(SimdnetScatterNdParameters, rows), p.reduction = SimdnetScatterNone;
    p.src = expected, p.index = rows, p.dst = result;
    check_that((SimdnetGatherNd(&p), strstr(SimdnetLastError(), "index[1] is 2")) == NULL, GATHER_ND, "of 0.2.0: %s",
               SimdnetLastError());
}

static void nd_refusals(void)
{
    const SimdnetScatterNdParameters good = {.size = sizeof(good), .dataType = SimdTensorData32f, .depth = 2, .shape = {3, 2},
        .inner = 2, .indices = 4, .reduction = SimdnetScatterAdd};
    SimdnetScatterNdParameters p;
    int64_t * index = arrays_of_refusals(SCATTER_ND);
    check_refused_null(scatter_nd, &good);
    check_refused_overlap(true, scatter_nd, &good);
    nd_refused("reduction is -1", (p = good, p.reduction = (SimdnetScatterReduction)-1, p));
    nd_refused("dataType is SimdTensorData16f", (p = good, p.dataType = SimdTensorData16f, p));
    nd_refused("depth is 9", (p = good, p.depth = 9, p));
    nd_refused("shape of", (p = good, p.shape[0] = SIZE_MAX / 4, p));
    nd_refused("indices is", (p = good, p.indices = SIZE_MAX / 4, p));
    nd_refused("size is 8", (p = good, p.size = 8, p));
    memcpy((char *)index + 40, &(int64_t){-3}, 8);
    nd_refused("index[5] is -3, expected -2 or more", good);
    SimdnetScatterNd(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, SCATTER_ND, "NULL: %s", SimdnetLastError());
}

static void gather_refusals(void)
{
    const SimdnetScatterNdParameters good = {.size = sizeof(good), .dataType = SimdTensorData32f, .depth = 2, .shape = {3, 2},
        .inner = 2, .indices = 4};
    SimdnetScatterNdParameters p;
    check_case(GATHER_ND, "refusals");
    check_in("src", CHECK_32F, 12, CHECK_RANDOM);
    int64_t * index = check_in("index", CHECK_32I, 16, CHECK_RANDOM);
    memset(index, 0, 64);
    check_out("dst", CHECK_32F, 8);
    check_refused_null(gather_nd, &good);
    check_refused_overlap(false, gather_nd, &good);
    check_refused(CHECK_VALUE, "reduction is 1", gather_nd, (p = good, p.reduction = SimdnetScatterAdd, &p));
    check_refused(CHECK_VALUE, "depth is 9", gather_nd, (p = good, p.depth = 9, &p));
    check_refused(CHECK_VALUE, "size is 8", gather_nd, (p = good, p.size = 8, &p));
    memcpy((char *)index + 8, &(int64_t){2}, 8);
    check_refused(CHECK_VALUE, "index[1] is 2", gather_nd, &good);
    p = good, p.indices = 0;
    check_empty(gather_nd, &p);
    SimdnetGatherNd(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, GATHER_ND, "NULL: %s", SimdnetLastError());
}

/* ---- sums */

struct sums {
    SimdTensorDataType type;
    size_t outer, count, inner;
    SimdBool exclusive, reverse;
};

static void cumulative(const void * job, void * context, void * const * a)
{
    const struct sums * s = job;
    (void)context;
    SimdnetCumulativeSum(s->type, a[0], s->outer, s->count, s->inner, s->exclusive, s->reverse, a[1]);
}

static void sums_case(struct sums s, enum check_fill fill)
{
    const size_t all = s.outer * s.count * s.inner, bytes = bytes_of(s.type);
    if (!check_case(SUM, "%s %zux%zux%zu exclusive=%d reverse=%d %s", types[s.type], s.outer, s.count, s.inner,
                    (int)s.exclusive, (int)s.reverse, check_fill_name(fill)))
        return;
    const unsigned char * src = declare("src", s.type, all, fill);
    declare_result(s.type, all);
    check_exact(CHECK_NAN_FREE);
    check_run(cumulative, &s);
    memset(expected, 0, all * bytes);
    for (size_t at = 0; at < all; ++at) {
        const size_t c = at / s.inner % s.count;
        for (size_t n = 0; n < s.count; ++n) { /* from the first element of the sum to the last */
            const size_t other = s.reverse ? s.count - 1 - n : n;
            const bool within = s.reverse ? other >= c : other <= c;
            if (within && !(s.exclusive && other == c))
                change(s.type, SimdnetScatterAdd, expected + at * bytes, src + (at - c * s.inner + other * s.inner) * bytes);
        }
    }
    SimdnetCumulativeSum(s.type, src, s.outer, s.count, s.inner, s.exclusive, s.reverse, result);
    check_that(is_expected(s.type, all), SUM, "%s %zux%zux%zu exclusive=%d reverse=%d", types[s.type], s.outer, s.count,
               s.inner, (int)s.exclusive, (int)s.reverse);
    memcpy(result, src, all * bytes);
    SimdnetCumulativeSum(s.type, result, s.outer, s.count, s.inner, s.exclusive, s.reverse, result);
    check_that(is_expected(s.type, all), SUM, "in place, %s %zux%zux%zu exclusive=%d reverse=%d", types[s.type], s.outer,
               s.count, s.inner, (int)s.exclusive, (int)s.reverse);
}

static void sums_refusals(void)
{
    const struct sums good = {SimdTensorData32i, 2, 3, 2, SimdFalse, SimdFalse};
    struct sums s = good;
    check_case(SUM, "refusals");
    check_in("src", CHECK_32I, 12, CHECK_RANDOM);
    check_out("dst", CHECK_32I, 12);
    check_refused_null(cumulative, &good);
    check_refused_overlap(true, cumulative, &good);
    check_refused(CHECK_VALUE, "dataType is SimdTensorDataBool", cumulative, (s.type = SimdTensorDataBool, &s));
    s = good, s.outer = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "outer is", cumulative, &s);
    s = good, s.count = 0;
    check_empty(cumulative, &s);
}

CHECK_FAMILY(scatter)
{
    size_t turn = 0;
    for (int type = 0; type <= SimdTensorData16f; ++type)
        for (int reduction = 0; reduction <= (type > SimdTensorDataBool ? 0 : SimdnetScatterMinimum); ++reduction)
            for (size_t n = 0; n < (check_quick() ? 8 : 40); ++n, ++turn) {
                const SimdTensorDataType of = (SimdTensorDataType)type;
                elements_of(of, (SimdnetScatterReduction)reduction, turn);
                SimdnetScatterNdParameters p = some_parts(of, turn);
                p.reduction = (SimdnetScatterReduction)reduction;
                p.rowCount = turn / 2 % 3 ? 0 : check_random(1, 7);
                scatter_nd_case(p, (enum check_fill)(turn % CHECK_FILLS));
                if (reduction == 0)
                    gather_nd_case(some_parts(of, turn));
            }
    for (int type = 0; type <= SimdTensorData64u; ++type)
        for (size_t n = 0; n < 24; ++n) /* lines alone, some of them, and many, which are added side by side in parts */
            sums_case((struct sums){(SimdTensorDataType)type, check_random(1, 3), check_random(1, n % 3 == 2 ? 9 : 40),
                                    n % 3 == 0 ? 1 : n % 3 == 1 ? check_random(2, 40) : check_random(200, 600),
                                    (SimdBool)(n & 1), (SimdBool)(n >> 1 & 1)},
                      (enum check_fill)(n % CHECK_FILLS));
    if (check_selected(ELEMENTS))
        elements_refusals();
    if (check_selected(SCATTER_ND)) {
        nd_refusals();
        rows_refusals();
    }
    if (check_selected(GATHER_ND))
        gather_refusals();
    if (check_selected(SUM))
        sums_refusals();
}
