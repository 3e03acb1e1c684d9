#include "api/call.h"
#include "api/overlap.h"
#include "ops/elementwise/pointwise.h"

#define OPERATION(NAME, Name, ...) [SimdSynetUnaryOperation32f##Name] = {SN_##NAME, #Name},
static const struct operation {
    enum sn_pointwise function;
    const char * name;
} operations[] = {SN_UNARY_OPERATIONS(OPERATION) OPERATION(TANH, Tanh, )};

enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

/* The operations by the numbers of the Simd Library of 2026. */
static const unsigned char later[] = {
    [SimdnetSimdUnaryAbs] = SimdSynetUnaryOperation32fAbs,
    [SimdnetSimdUnaryCeil] = SimdSynetUnaryOperation32fCeil,
    [SimdnetSimdUnaryCos] = SimdSynetUnaryOperation32fCos,
    [SimdnetSimdUnaryErf] = SimdSynetUnaryOperation32fErf,
    [SimdnetSimdUnaryExp] = SimdSynetUnaryOperation32fExp,
    [SimdnetSimdUnaryFloor] = SimdSynetUnaryOperation32fFloor,
    [SimdnetSimdUnaryLog] = SimdSynetUnaryOperation32fLog,
    [SimdnetSimdUnaryNeg] = SimdSynetUnaryOperation32fNeg,
    [SimdnetSimdUnaryNot] = SimdSynetUnaryOperation32fNot,
    [SimdnetSimdUnaryRcp] = SimdSynetUnaryOperation32fRcp,
    [SimdnetSimdUnaryRound] = SimdSynetUnaryOperation32fRound,
    [SimdnetSimdUnaryRsqrt] = SimdSynetUnaryOperation32fRsqrt,
    [SimdnetSimdUnarySign] = SimdSynetUnaryOperation32fSign,
    [SimdnetSimdUnarySin] = SimdSynetUnaryOperation32fSin,
    [SimdnetSimdUnarySqrt] = SimdSynetUnaryOperation32fSqrt,
    [SimdnetSimdUnaryTanh] = SimdSynetUnaryOperation32fTanh,
    [SimdnetSimdUnaryZero] = SimdSynetUnaryOperation32fZero,
};

/* The arrays of an operation that exists. */
static void run(const char * function, const struct operation * operation, const sn_32f * src, size_t size, sn_32f * dst)
{
    const float slope = 1; /* of tanh */
    size_t elements;
    if (size == 0)
        return;
    SN_CHECK_FOR(function, sn_product(&elements, size), SN_VOID, "size is %zu, more than memory can hold", size);
    SN_CHECK_FOR(function, src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, dst, SN_VOID, "dst is NULL, expected an array");
    if (sn_apart_or_same(function, SN_ARRAY(dst, size), SN_ARRAY(src, size)))
        sn_pointwise_32f(operation->function, src, size, &slope, dst);
}

void SimdSynetUnaryOperation32fLayerForward(const sn_32f * src, size_t size, SimdSynetUnaryOperation32fType type,
                                            sn_32f * dst)
{
    SN_CALL(size, type);
    SN_CHECK((size_t)type < OPERATIONS, SN_VOID, "type is %d, expected a SimdSynetUnaryOperation32fType, Abs to %s",
             (int)type, operations[OPERATIONS - 1].name);
    run(__func__, &operations[type], src, size, dst);
}

void SimdSynetUnaryOperation32f(const sn_32f * src, size_t size, SimdnetSimdUnaryType type, sn_32f * dst)
{
    SN_CALL(size, type);
    SN_CHECK((size_t)type < sizeof(later), SN_VOID, "type is %d, expected a SimdnetSimdUnaryType, Abs to Zero", (int)type);
    run(__func__, &operations[later[type]], src, size, dst);
}
