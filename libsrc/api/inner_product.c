#include "api/call.h"
#include "api/overlap.h"
#include "dispatch/dispatch.h"
#include "ops/inner_product.h"

void SimdSynetInnerProductLayerForward(const sn_32f * src, const sn_32f * weight, const sn_32f * bias, size_t count,
                                       size_t size, sn_32f * dst)
{
    SN_CALL(count, size);
    if (count == 0)
        return;
    size_t elements;
    SN_CHECK(sn_product(&elements, count, sn_max(size, 1)), SN_VOID,
             "count is %zu and size is %zu, too large for an array", count, size);
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(weight, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!sn_apart(__func__, SN_ARRAY(dst, count), SN_ARRAY(src, size)) ||
        !sn_apart(__func__, SN_ARRAY(dst, count), SN_ARRAY(weight, count * size)) ||
        !sn_apart(__func__, SN_ARRAY(dst, count), SN_ARRAY(bias, bias ? count : 0)))
        return;
    sn_inner_product_32f(sn_table(), &(struct sn_inner_product_32f){.src = src, .weight = weight, .step = size, .bias = bias,
        .count = count, .size = size, .alpha = 1, .dst = dst});
}
