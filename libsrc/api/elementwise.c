/* SimdnetElementwise() and SimdnetSelect(). */
#include "ops/elementwise/elementwise.h"

#include "api/broadcast.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/parameters.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

#define NAME(NAME, Name) #Name,
static const char * const operations[] = {SN_ELEMENTWISE_LIST(NAME)};

static bool check_operation(const char * function, const SimdnetElementwiseParameters * q)
{
    const int operation = (int)q->operation;
    CHECK((size_t)operation < SN_ELEMENTWISE_OPERATIONS,
          "operation is %d, expected a SimdnetElementwiseOperation, Add to %s", operation,
          operations[SN_ELEMENTWISE_OPERATIONS - 1]);
    CHECK(q->dataType >= SimdTensorData32f && q->dataType <= SimdTensorDataBool,
          "dataType is %s, expected SimdTensorData32f to SimdTensorDataBool", SN_NAME(sn_data_types, q->dataType));
    CHECK(q->dataType != SimdTensorData32f || operation >= SN_ELEMENTWISE_EQUAL || operation == SN_ELEMENTWISE_MODULO ||
              operation == SN_ELEMENTWISE_REMAINDER,
          "operation is %s, expected Modulo, Remainder or a comparison of floats: SimdnetBinary() has their arithmetic",
          operations[operation]);
    return true;
}

void SimdnetElementwise(const SimdnetElementwiseParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetElementwiseParameters * q = parameters;
    const size_t * n = q->shape;
    SN_CALL(q->operation, q->dataType, q->count, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
    if (!check_operation(__func__, q))
        return;
    struct sn_elementwise job = {.operation = (enum sn_elementwise_operation)q->operation, .type = (enum sn_data)q->dataType,
                                 .dst = q->dst};
    struct sn_broadcast c = {.function = __func__};
    const size_t bytes = sn_data_bytes(q->dataType);
    const bool same = job.operation < SN_ELEMENTWISE_EQUAL || q->dataType == SimdTensorDataBool;
    if (!sn_take_result(&c, q->count, q->shape, q->dst, same ? bytes : 1) ||
        !sn_take_operand(&c, (const char *[]){"a", "aShape"}, q->a, bytes, q->aShape, same, &job.a) ||
        !sn_take_operand(&c, (const char *[]){"b", "bShape"}, q->b, bytes, q->bShape, same, &job.b) || !sn_is_covered(&c) ||
        c.size == 0)
        return;
    job.size = c.size;
    sn_elementwise(&job);
}

void SimdnetSelect(const SimdnetSelectParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetSelectParameters * q = parameters;
    const size_t * n = q->shape;
    SN_CALL(q->dataType, q->count, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
    struct sn_select job = {.dst = q->dst};
    struct sn_broadcast c = {.function = __func__};
    size_t bytes;
    if (!sn_take_element(__func__, "dataType", q->dataType, &bytes) ||
        !sn_take_result(&c, q->count, q->shape, q->dst, bytes) ||
        !sn_take_operand(&c, (const char *[]){"condition", "conditionShape"}, q->condition, 1, q->conditionShape, false,
                      &job.condition) ||
        !sn_take_operand(&c, (const char *[]){"a", "aShape"}, q->a, bytes, q->aShape, true, &job.a) ||
        !sn_take_operand(&c, (const char *[]){"b", "bShape"}, q->b, bytes, q->bShape, true, &job.b) || !sn_is_covered(&c) ||
        c.size == 0)
        return;
    job.size = c.size;
    sn_select(&job);
}
