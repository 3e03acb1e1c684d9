#include "ops/activation.h"

#include "api/check.h"

void SimdSynetRelu32f(const float * src, size_t size, const float * slope, float * dst)
{
    SN_ENTER();
    if (size == 0)
        return;
    size_t elements;
    SN_CHECK(sn_product(&elements, size), SN_VOID, "size is %zu, more than memory can hold", size);
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(slope, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    sn_relu_32f(src, size, slope[0], dst);
}
