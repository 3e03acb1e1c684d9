/* SimdnetScatterElements(), SimdnetScatterNd(), SimdnetGatherNd() and SimdnetCumulativeSum(). */
#include "ops/scatter.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "api/arrays.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"
#include "ops/gather.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

static bool check_reduction(const char * function, SimdnetScatterReduction reduction, SimdTensorDataType type,
                            size_t * bytes)
{
    CHECK(reduction >= SimdnetScatterNone && reduction <= SimdnetScatterMinimum,
          "reduction is %d, expected a SimdnetScatterReduction, None to Minimum", (int)reduction);
    if (!sn_take_element(function, "dataType", type, bytes))
        return false;
    CHECK(reduction == SimdnetScatterNone || type <= SimdTensorDataBool,
          "dataType is %s, expected SimdTensorData32f to SimdTensorDataBool unless reduction is None",
          SN_NAME(sn_data_types, type));
    return true;
}

/* Takes the elements of src, of an array that is not empty. */
static void start_from(const void * src, size_t bytes, void * dst)
{
    if (src && src != dst)
        memcpy(dst, src, bytes);
}

/* Four arrays in bytes: dst may be src, and overlaps no other. */
static bool are_apart(const char * function, struct sn_array dst, struct sn_array src, struct sn_array updates,
                      struct sn_array index)
{
    CHECK(dst.at, "dst is NULL, expected an array");
    CHECK(updates.at || updates.bytes == 0, "updates is NULL, expected an array");
    CHECK(index.at || index.bytes == 0, "index is NULL, expected an array");
    src.bytes = src.at ? src.bytes : 0;
    return sn_apart_or_same(function, dst, src) && sn_apart(function, dst, updates) && sn_apart(function, dst, index);
}

/* ---- elements */

/* The shapes of the arrays, and their sizes. */
static bool check_shapes(const char * function, const SimdnetScatterElementsParameters * q, size_t * size, size_t * updates,
                         size_t * indices)
{
    CHECK(q->count > 0, "count is 0, expected at least 1");
    if (!sn_take_shape(function, q->count, q->shape, size))
        return false;
    CHECK(q->axis < q->count, "axis is %zu, expected less than count, %zu", q->axis, q->count);
    CHECK(sn_product_of(updates, q->updatesShape, q->count), "updatesShape of %zu dimensions is too large for an array",
          q->count);
    *indices = 1;
    for (size_t k = 0; k < q->count; ++k) {
        const size_t n = q->updatesShape[k], index = q->indexShape[k];
        CHECK(k == q->axis || n <= q->shape[k], "updatesShape[%zu] is %zu, expected at most %zu as in shape", k, n,
              q->shape[k]);
        CHECK(index == n || index == 1, "indexShape[%zu] is %zu, expected 1 or %zu as in updatesShape", k, index, n);
        *indices *= index;
    }
    return true;
}

static bool are_inside(const char * function, const char * name, const int64_t * index, size_t size, size_t count)
{
    const struct sn_indices indices = {(const void *)index, true, size};
    const size_t place = sn_index_beyond(&indices, count);
    CHECK(place == size, "%s[%zu] is %" PRId64 ", expected -%zu or more, and less than %zu", name, place,
          sn_index_at(&indices, place), count, count);
    return true;
}

void SimdnetScatterElements(const SimdnetScatterElementsParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetScatterElementsParameters * q = parameters;
    const size_t * n = q->updatesShape;
    SN_CALL(q->dataType, q->reduction, q->count, q->axis, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
    struct sn_scatter_elements s = {.type = (enum sn_data)q->dataType, .reduction = (enum sn_scatter_reduction)q->reduction,
        .count = q->count, .axis = q->axis, .shape = q->shape, .updatesShape = q->updatesShape, .indexShape = q->indexShape,
        .index = q->index, .updates = q->updates, .dst = q->dst};
    size_t size, updates, indices;
    if (!check_reduction(__func__, q->reduction, q->dataType, &s.bytes) ||
        !check_shapes(__func__, q, &size, &updates, &indices))
        return;
    indices = updates ? indices : 0;
    if (size + updates == 0 ||
        !are_apart(__func__, (struct sn_array){"dst", q->dst, size * s.bytes},
                   (struct sn_array){"src", q->src, size * s.bytes},
                   (struct sn_array){"updates", q->updates, updates * s.bytes},
                   (struct sn_array){"index", q->index, indices * sizeof(int64_t)}) ||
        !are_inside(__func__, "index", q->index, indices, q->shape[q->axis]))
        return;
    start_from(q->src, size * s.bytes, q->dst);
    if (updates)
        sn_scatter_elements(&s);
}

/* ---- parts */

/* The elements of the whole array, of what is selected, and of updates; the numbers of all indices, and `rows`. */
struct nd_sizes {
    size_t whole, parts, updates, numbers, rows;
};

static bool take_nd(const char * function, const SimdnetScatterNdParameters * q, struct sn_scatter_nd * s,
                    struct nd_sizes * n)
{
    size_t shape;
    if (!check_reduction(function, q->reduction, q->dataType, &s->bytes))
        return false;
    CHECK(q->depth <= SIMDNET_MAX_DIMENSIONS, "depth is %zu, expected at most %d", q->depth, SIMDNET_MAX_DIMENSIONS);
    *s = (struct sn_scatter_nd){(enum sn_data)q->dataType, (enum sn_scatter_reduction)q->reduction, s->bytes,
        q->batch ? q->batch : 1, q->depth, q->inner, q->indices, q->shape, q->index, NULL, q->dst, q->rows, q->rowCount};
    CHECK(sn_product_of(&shape, q->shape, q->depth) && sn_product(&n->whole, s->batch, shape, q->inner),
          "shape of %zu dimensions is too large for an array", q->depth);
    CHECK(sn_product(&n->parts, s->batch, q->indices, q->inner) && sn_product(&n->numbers, s->batch, q->indices, q->depth),
          "indices is %zu, too large for an array", q->indices);
    CHECK(!q->rows || sn_product(&n->updates, q->rowCount, q->inner), "rowCount is %zu, too large for an array",
          q->rowCount);
    n->updates = q->rows ? n->updates : n->parts;
    n->rows = q->rows && n->parts ? s->batch * q->indices : 0;
    return true;
}

static bool are_nd_inside(const char * function, const struct sn_scatter_nd * s, size_t numbers)
{
    const size_t place = sn_nd_beyond(s), count = numbers ? s->shape[place % s->depth] : 0;
    CHECK(place == numbers, "index[%zu] is %" PRId64 ", expected -%zu or more, and less than %zu", place, s->index[place],
          count, count);
    return true;
}

void SimdnetScatterNd(const SimdnetScatterNdParameters * parameters)
{
    SN_BEGIN();
    SimdnetScatterNdParameters own;
    if (!sn_take_known(__func__, parameters, offsetof(SimdnetScatterNdParameters, rows), &own, sizeof(own)))
        return;
    const SimdnetScatterNdParameters * q = &own;
    SN_CALL(q->dataType, q->reduction, q->batch, q->depth, q->inner, q->indices, q->rows != NULL);
    struct sn_scatter_nd s;
    struct nd_sizes n;
    if (!take_nd(__func__, q, &s, &n) || n.whole + n.numbers == 0 ||
        !are_apart(__func__, (struct sn_array){"dst", q->dst, n.whole * s.bytes},
                   (struct sn_array){"src", q->src, n.whole * s.bytes},
                   (struct sn_array){"updates", q->updates, n.updates * s.bytes},
                   (struct sn_array){"index", q->index, n.numbers * sizeof(int64_t)}) ||
        !sn_apart(__func__, (struct sn_array){"dst", q->dst, n.whole * s.bytes},
                  (struct sn_array){"rows", q->rows, n.rows * sizeof(int64_t)}) ||
        !are_nd_inside(__func__, &s, n.numbers) || !are_inside(__func__, "rows", q->rows, n.rows, q->rowCount))
        return;
    start_from(q->src, n.whole * s.bytes, q->dst);
    s.from = q->updates;
    if (n.parts)
        sn_scatter_nd(&s);
}

void SimdnetGatherNd(const SimdnetScatterNdParameters * parameters)
{
    SN_BEGIN();
    SimdnetScatterNdParameters own;
    if (!sn_take_known(__func__, parameters, offsetof(SimdnetScatterNdParameters, rows), &own, sizeof(own)))
        return;
    own.rows = NULL; /* of scattering */
    const SimdnetScatterNdParameters * q = &own;
    SN_CALL(q->dataType, q->batch, q->depth, q->inner, q->indices);
    struct sn_scatter_nd s;
    struct nd_sizes n;
    if (!take_nd(__func__, q, &s, &n))
        return;
    SN_CHECK(q->reduction == SimdnetScatterNone, SN_VOID, "reduction is %d, expected SimdnetScatterNone", (int)q->reduction);
    if (n.parts == 0)
        return;
    SN_CHECK(q->dst, SN_VOID, "dst is NULL, expected an array");
    SN_CHECK(q->src || n.whole == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK(q->index || n.numbers == 0, SN_VOID, "index is NULL, expected an array");
    const struct sn_array dst = {"dst", q->dst, n.parts * s.bytes};
    if (!sn_apart(__func__, dst, (struct sn_array){"src", q->src, n.whole * s.bytes}) ||
        !sn_apart(__func__, dst, (struct sn_array){"index", q->index, n.numbers * sizeof(int64_t)}) ||
        !are_nd_inside(__func__, &s, n.numbers))
        return;
    s.from = q->src;
    sn_gather_nd(&s);
}

/* ---- sums */

void SimdnetCumulativeSum(SimdTensorDataType dataType, const void * src, size_t outer, size_t count, size_t inner,
                          SimdBool exclusive, SimdBool reverse, void * dst)
{
    SN_CALL(dataType, outer, count, inner, exclusive, reverse);
    size_t all;
    SN_CHECK(dataType >= SimdTensorData32f && dataType <= SimdTensorData64u, SN_VOID,
             "dataType is %s, expected SimdTensorData32f to SimdTensorData64u", SN_NAME(sn_data_types, dataType));
    SN_CHECK(sn_product(&all, outer, count, inner), SN_VOID,
             "outer is %zu, count is %zu and inner is %zu, too large for an array", outer, count, inner);
    if (all == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_cumulative c = {(enum sn_data)dataType, sn_data_bytes(dataType), outer, count, inner,
                                    exclusive != SimdFalse, reverse != SimdFalse, src, dst};
    if (sn_apart_or_same(__func__, (struct sn_array){"dst", dst, all * c.bytes},
                         (struct sn_array){"src", src, all * c.bytes}))
        sn_cumulative_sum(&c);
}
