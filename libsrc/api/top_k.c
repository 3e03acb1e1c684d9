#include "ops/top_k.h"

#include "api/call.h"
#include "api/overlap.h"

void SimdnetTopK(const sn_32f * src, size_t outer, size_t count, size_t inner, size_t k, SimdBool largest, SimdBool sorted,
                 sn_32f * values, sn_64i * indices)
{
    SN_CALL(outer, count, inner, k, largest, sorted);
    size_t all, results;
    SN_CHECK(k <= count, SN_VOID, "k is %zu, expected at most %zu, which is count", k, count);
    SN_CHECK(count <= UINT32_MAX, SN_VOID, "count is %zu, expected less than 2^32", count);
    SN_CHECK(sn_product(&all, outer, count, inner), SN_VOID,
             "outer is %zu, count is %zu and inner is %zu, too large for an array", outer, count, inner);
    results = outer * k * inner;
    if (results == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(values, SN_VOID);
    SN_CHECK_POINTER(indices, SN_VOID);
    const struct sn_array first = SN_ARRAY(values, results), second = SN_ARRAY(indices, results);
    if (!sn_apart(__func__, first, SN_ARRAY(src, all)) || !sn_apart(__func__, second, SN_ARRAY(src, all)) ||
        !sn_apart(__func__, second, first))
        return;
    const struct sn_top_k job = {src, outer, count, inner, k, largest != SimdFalse, sorted != SimdFalse, values, indices};
    if (!sn_top_k_32f(&job))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for %zu values and indices", k);
}
