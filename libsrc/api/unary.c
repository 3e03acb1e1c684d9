#include "api/call.h"
#include "api/overlap.h"
#include "ops/pointwise.h"

#define OPERATION(NAME, Name, ...) [SimdSynetUnaryOperation32f##Name] = {SN_##NAME, #Name},
static const struct operation {
    enum sn_pointwise function;
    const char * name;
} operations[] = {SN_UNARY_OPERATIONS(OPERATION) OPERATION(TANH, Tanh, )};

enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

void SimdSynetUnaryOperation32fLayerForward(const sn_32f * src, size_t size, SimdSynetUnaryOperation32fType type,
                                            sn_32f * dst)
{
    const float slope = 1; /* of tanh */
    SN_CALL(size, type);
    size_t elements;
    SN_CHECK((size_t)type < OPERATIONS, SN_VOID, "type is %d, expected a SimdSynetUnaryOperation32fType, Abs to %s",
             (int)type, operations[OPERATIONS - 1].name);
    if (size == 0)
        return;
    SN_CHECK(sn_product(&elements, size), SN_VOID, "size is %zu, more than memory can hold", size);
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!sn_apart_or_same(__func__, SN_ARRAY(dst, size), SN_ARRAY(src, size)))
        return;
    sn_pointwise_32f(operations[type].function, src, size, &slope, dst);
}
