/* SimdnetGather(), SimdSynetGatherElements*(). All indices are checked before anything is written. */
#include "ops/gather.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/context.h"
#include "api/enums.h"
#include "api/overlap.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* True if all indices are inside; the message about the first other one calls the array `name`. */
static bool are_inside(const char * function, const char * name, const struct sn_indices * indices, size_t count)
{
    const size_t place = sn_index_beyond(indices, count);
    CHECK(place == indices->size || count > 0, "%s[%zu] is %" PRId64 ", expected no index where there is no element", name,
          place, sn_index_at(indices, place));
    CHECK(place == indices->size, "%s[%zu] is %" PRId64 ", expected one of -%zu .. %zu", name, place,
          sn_index_at(indices, place), count, count - 1);
    return true;
}

void SimdnetGather(SimdTensorDataType dataType, const void * src, size_t outer, size_t count, size_t inner,
                   const sn_64i * index, size_t indices, void * dst)
{
    SN_CALL(dataType, outer, count, inner, indices);
    const size_t element = sn_data_bytes(dataType);
    size_t all, results;
    SN_CHECK(element, SN_VOID, "dataType is %s, expected a SimdTensorDataType other than SimdTensorDataUnknown",
             SN_NAME(sn_data_types, dataType));
    SN_CHECK(sn_product(&all, outer, count, inner) && sn_product(&results, outer, indices, inner), SN_VOID,
             "outer is %zu, count is %zu, inner is %zu and indices is %zu, too large for an array", outer, count, inner,
             indices);
    if (results == 0)
        return;
    const struct sn_gather g = {src, outer, count, inner * element, {index, true, indices}, dst};
    SN_CHECK(src || all == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_POINTER(index, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_array result = {"dst", dst, results * element};
    if (sn_apart(__func__, result, (struct sn_array){"src", src, all * element}) &&
        sn_apart(__func__, result, SN_ARRAY(index, indices)) && are_inside(__func__, "index", &g.indices, count))
        sn_gather(&g);
}

/* ---- GatherElements */

enum { MOST_DIMENSIONS = 16 };

struct gather_elements {
    struct sn_context head;
    struct sn_gather_elements plan; /* without arrays */
    bool constant;
    void * index;                   /* of SetIndex(), or NULL */
};

static size_t index_bytes(const struct gather_elements * c)
{
    return c->plan.indices.size * (c->plan.indices.wide ? sizeof(int64_t) : sizeof(int32_t));
}

static void destroy(void * context) { sn_free(((struct gather_elements *)context)->index); }

static const struct sn_context_kind kind = {.name = "GatherElements", .destroy = destroy};

static bool check_types(const char * function, SimdTensorDataType data, SimdTensorDataType index)
{
    CHECK(data == SimdTensorData32f || data == SimdTensorData16b || data == SimdTensorData8u,
          "dataType is %s, expected SimdTensorData32f, SimdTensorData16b or SimdTensorData8u",
          SN_NAME(sn_data_types, data));
    CHECK(index == SimdTensorData32i || index == SimdTensorData64i,
          "indexType is %s, expected SimdTensorData32i or SimdTensorData64i", SN_NAME(sn_data_types, index));
    return true;
}

void * SimdSynetGatherElementsInit(SimdTensorDataType dataType, SimdTensorDataType indexType, SimdBool indexConst,
                                   size_t indexUsers, const size_t * outer, size_t outerSize, size_t srcCount, size_t inner,
                                   size_t idxCount)
{
    SN_BEGIN();
    size_t blocks, all, results;
    (void)indexUsers;
    if (!check_types(__func__, dataType, indexType))
        return NULL;
    SN_CHECK(outerSize <= MOST_DIMENSIONS, NULL, "outerSize is %zu, expected at most %d", outerSize, MOST_DIMENSIONS);
    SN_CHECK(outer || outerSize == 0, NULL, "outer is NULL, expected an array");
    SN_CHECK(sn_product_of(&blocks, outer, outerSize), NULL, "outer of %zu dimensions is too large for an array", outerSize);
    SN_CHECK(sn_product(&all, blocks, srcCount, inner) && sn_product(&results, blocks, idxCount, inner), NULL,
             "srcCount is %zu, inner is %zu and idxCount is %zu, too large for an array", srcCount, inner, idxCount);
    struct gather_elements * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->constant = indexConst != SimdFalse;
    c->plan = (struct sn_gather_elements){.outer = blocks, .count = srcCount, .inner = inner, .selected = idxCount,
        .bytes = sn_data_bytes(dataType), .indices = {NULL, indexType == SimdTensorData64i, results}};
    sn_context_describe(&c->head, "gather of %s by %s", sn_enumerator(&sn_data_types, dataType),
                        sn_enumerator(&sn_data_types, indexType));
    snprintf(c->head.shape, sizeof(c->head.shape), "outer:%zu,srcCount:%zu,inner:%zu,idxCount:%zu", blocks, srcCount, inner,
             idxCount);
    return c;
}

size_t SimdSynetGatherElementsInternalBufferSize(const void * context)
{
    SN_BEGIN();
    const struct gather_elements * c = context;
    return sn_context_check(c, &kind, __func__) && c->index ? index_bytes(c) : 0;
}

void SimdSynetGatherElementsSetIndex(const void * context, const uint8_t * idx)
{
    SN_CALL_OF(context);
    struct gather_elements * c = (void *)(uintptr_t)context; /* const as documented */
    if (!sn_context_check(c, &kind, __func__) || !c->constant || c->plan.indices.size == 0)
        return;
    SN_CHECK_POINTER(idx, SN_VOID);
    struct sn_indices given = c->plan.indices;
    given.at = idx;
    if (!are_inside(__func__, "idx", &given, c->plan.count))
        return;
    void * copy = c->index ? c->index : sn_allocate(index_bytes(c), SN_ALIGN);
    if (!copy) {
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for %zu bytes of indices", index_bytes(c));
        return;
    }
    memcpy(copy, idx, index_bytes(c));
    c->index = copy;
}

void SimdSynetGatherElementsForward(void * context, const uint8_t * src, const uint8_t * idx, uint8_t * dst)
{
    SN_CALL_OF(context);
    const struct gather_elements * c = context;
    if (!sn_context_check(c, &kind, __func__) || c->plan.indices.size == 0)
        return;
    struct sn_gather_elements plan = c->plan;
    const size_t all = plan.outer * plan.count * plan.inner;
    SN_CHECK(src || all == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK(idx || c->index, SN_VOID, "idx is NULL, expected an array: SetIndex() has set none");
    SN_CHECK_POINTER(dst, SN_VOID);
    plan.src = src;
    plan.indices.at = idx ? idx : c->index;
    plan.dst = dst;
    const struct sn_array result = {"dst", dst, plan.indices.size * plan.bytes};
    if (sn_apart(__func__, result, (struct sn_array){"src", src, all * plan.bytes}) &&
        sn_apart(__func__, result, (struct sn_array){"idx", idx, idx ? index_bytes(c) : 0}) &&
        (!idx || are_inside(__func__, "idx", &plan.indices, plan.count)))
        sn_gather_elements(&plan);
}
