#include "ops/softmax.h"

#include "api/call.h"
#include "api/overlap.h"

static void softmax(const char * function, const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst)
{
    size_t elements;
    SN_CHECK_FOR(function, sn_product(&elements, outer, count, inner), SN_VOID,
                 "outer is %zu, count is %zu and inner is %zu, too large for an array", outer, count, inner);
    if (elements == 0)
        return;
    SN_CHECK_FOR(function, src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, dst, SN_VOID, "dst is NULL, expected an array");
    if (sn_apart_or_same(function, SN_ARRAY(dst, elements), SN_ARRAY(src, elements)))
        sn_softmax_32f(src, outer, count, inner, dst);
}

void SimdSynetSoftmaxLayerForward(const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst)
{
    SN_CALL(outer, count, inner);
    softmax(__func__, src, outer, count, inner, dst);
}

void SimdSynetSoftmax32f(const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst)
{
    SN_CALL(outer, count, inner);
    softmax(__func__, src, outer, count, inner, dst);
}

void SimdSynetSoftmax16b(const sn_16b * src, size_t outer, size_t count, size_t inner, sn_16b * dst)
{
    SN_CALL(outer, count, inner);
    size_t elements;
    SN_CHECK(sn_product(&elements, outer, count, inner), SN_VOID,
             "outer is %zu, count is %zu and inner is %zu, too large for an array", outer, count, inner);
    if (elements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (sn_apart_or_same(__func__, SN_ARRAY(dst, elements), SN_ARRAY(src, elements)) &&
        !sn_softmax_16b(src, outer, count, inner, dst))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for lines of %zu floats", count);
}
