#include "ops/elementwise/eltwise.h"

#include <stdio.h>

#include "api/call.h"
#include "api/overlap.h"

/* dst may be any of the sources. */
static bool is_apart(const char * function, struct sn_array dst, const sn_32f * const * src, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const struct sn_array one = {"src", src[i], dst.bytes};
        if (src[i] != dst.at && sn_overlap(&dst, &one)) {
            char name[32];
            snprintf(name, sizeof(name), "src[%zu]", i);
            return sn_refuse_overlap(function, dst.name, name, true);
        }
    }
    return true;
}

void SimdSynetEltwiseLayerForward(const sn_32f * const * src, const sn_32f * weight, size_t count, size_t size,
                                  SimdSynetEltwiseOperationType type, sn_32f * dst)
{
    SN_CALL(count, size, type);
    size_t elements;
    SN_CHECK(type >= SimdSynetEltwiseOperationProduct && type <= SimdSynetEltwiseOperationMin, SN_VOID,
             "type is %d, expected SimdSynetEltwiseOperationProduct, Sum, Max or Min", (int)type);
    SN_CHECK(count > 0, SN_VOID, "count is 0, expected at least 1");
    SN_CHECK(sn_product(&elements, count, size), SN_VOID, "count is %zu and size is %zu, more than memory can hold", count,
             size);
    if (size == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    for (size_t i = 0; i < count; ++i)
        SN_CHECK(src[i], SN_VOID, "src[%zu] is NULL, expected an array", i);
    SN_CHECK(weight || type != SimdSynetEltwiseOperationSum, SN_VOID, "weight is NULL, expected an array");
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!is_apart(__func__, SN_ARRAY(dst, size), src, count) ||
        (type == SimdSynetEltwiseOperationSum && !sn_apart(__func__, SN_ARRAY(dst, size), SN_ARRAY(weight, count))))
        return;
    sn_eltwise_32f(src, weight, count, size, (enum sn_eltwise)type, dst);
}
