#include "ops/top_k.h"

#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, SN_VOID, __VA_ARGS__)

/* Values of any type, of `bytes` bytes each. */
static void top_k(const char * function, const struct sn_top_k * t, size_t bytes)
{
    size_t all;
    CHECK(t->k <= t->count, "k is %zu, expected at most %zu, which is count", t->k, t->count);
    CHECK(t->count <= UINT32_MAX, "count is %zu, expected less than 2^32", t->count);
    CHECK(sn_product(&all, t->outer, t->count, t->inner, sn_max(bytes, sizeof(float))),
          "outer is %zu, count is %zu and inner is %zu, too large for an array", t->outer, t->count, t->inner);
    const size_t results = t->outer * t->k * t->inner, elements = t->outer * t->count * t->inner;
    if (results == 0)
        return;
    CHECK(t->src, "src is NULL, expected an array");
    CHECK(t->values, "values is NULL, expected an array");
    CHECK(t->indices, "indices is NULL, expected an array");
    const struct sn_array src = {"src", t->src, elements * bytes}, values = {"values", t->values, results * bytes};
    const struct sn_array indices = {"indices", t->indices, results * sizeof(int64_t)};
    if (sn_apart(function, values, src) && sn_apart(function, indices, src) && sn_apart(function, indices, values) &&
        !(t->type == SN_DATA_32F ? sn_top_k_32f(t) : sn_top_k_integers(t, bytes)))
        sn_error_set(SN_ERROR_MEMORY, function, "no memory for %zu values and indices", t->k);
}

void SimdnetTopK(const sn_32f * src, size_t outer, size_t count, size_t inner, size_t k, SimdBool largest, SimdBool sorted,
                 sn_32f * values, sn_64i * indices)
{
    SN_CALL(outer, count, inner, k, largest, sorted);
    const struct sn_top_k job = {SN_DATA_32F, src, outer, count, inner, k, largest != SimdFalse, sorted != SimdFalse, values,
        indices};
    top_k(__func__, &job, sizeof(float));
}

void SimdnetTopKIntegers(SimdTensorDataType dataType, const void * src, size_t outer, size_t count, size_t inner, size_t k,
                         SimdBool largest, SimdBool sorted, void * values, sn_64i * indices)
{
    SN_CALL(dataType, outer, count, inner, k, largest, sorted);
    SN_CHECK(dataType >= SimdTensorData32i && dataType <= SimdTensorDataBool, SN_VOID,
             "dataType is %s, expected SimdTensorData32i to SimdTensorDataBool", SN_NAME(sn_data_types, dataType));
    const struct sn_top_k job = {(enum sn_data)dataType, src, outer, count, inner, k, largest != SimdFalse,
        sorted != SimdFalse, values, indices};
    top_k(__func__, &job, sn_data_bytes(dataType));
}
