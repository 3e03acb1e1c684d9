#include "api/call.h"
#include "api/overlap.h"
#include "ops/pointwise.h"

void SimdSynetUnaryOperation32fLayerForward(const sn_32f * src, size_t size, SimdSynetUnaryOperation32fType type,
                                            sn_32f * dst)
{
    static const enum sn_pointwise functions[] = {SN_ABS, SN_EXP, SN_LOG, SN_NEG, SN_RSQRT, SN_SQRT, SN_TANH, SN_ZERO,
        SN_CEIL, SN_COS, SN_ERF, SN_FLOOR, SN_NOT, SN_RCP, SN_ROUND, SN_SIGN, SN_SIN};
    const float slope = 1; /* of tanh */
    SN_CALL(size, type);
    size_t elements;
    SN_CHECK((unsigned)type <= SimdSynetUnaryOperation32fSin, SN_VOID,
             "type is %d, expected a SimdSynetUnaryOperation32fType, Abs to Sin", (int)type);
    if (size == 0)
        return;
    SN_CHECK(sn_product(&elements, size), SN_VOID, "size is %zu, more than memory can hold", size);
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!sn_apart_or_same(__func__, SN_ARRAY(dst, size), SN_ARRAY(src, size)))
        return;
    sn_pointwise_32f(functions[type], src, size, &slope, dst);
}
