/* SimdnetElementwise() and SimdnetSelect(). */
#include "ops/elementwise.h"

#include "api/arrays.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

#define NAME(NAME, Name) #Name,
static const char * const operations[] = {SN_ELEMENTWISE_LIST(NAME)};

/* The shapes and arrays of a call: of the operands, one after another. */
struct broadcast {
    const char * function;
    size_t count, size; /* dimensions and elements of the result */
    const size_t * shape;
    bool covered[SIMDNET_MAX_DIMENSIONS]; /* by an operand of the result's extent */
    struct sn_array dst;
};

static bool take_result(struct broadcast * c, size_t count, const size_t * shape, const void * dst, size_t bytes)
{
    const char * function = c->function;
    if (!sn_take_shape(function, count, shape, &c->size))
        return false;
    CHECK(c->size == 0 || dst, "dst is NULL, expected an array");
    c->count = count;
    c->shape = shape;
    c->dst = (struct sn_array){"dst", dst, c->size * bytes};
    return true;
}

/* An operand and the names of its arguments; `in_place`: dst may be this array if the shapes are equal. */
static bool take_operand(struct broadcast * c, const char * names[2], const void * at, size_t bytes, const size_t * shape,
                         bool in_place, struct sn_operand * taken)
{
    const char * function = c->function;
    size_t size = 1;
    for (size_t k = 0; k < c->count; ++k) {
        CHECK(shape[k] == c->shape[k] || shape[k] == 1, "%s[%zu] is %zu, expected 1 or %zu as in shape", names[1], k,
              shape[k], c->shape[k]);
        c->covered[k] = c->covered[k] || shape[k] == c->shape[k];
        size *= shape[k];
    }
    if (c->size == 0)
        return true;
    CHECK(at, "%s is NULL, expected an array", names[0]);
    *taken = sn_operand_of(at, bytes, c->count, shape, c->shape);
    return sn_apart_for(function, c->dst, (struct sn_array){names[0], at, size * bytes}, in_place && size == c->size);
}

/* A dimension in which all operands are repeated is an error of the caller. */
static bool is_covered(const struct broadcast * c)
{
    const char * function = c->function;
    for (size_t k = 0; k < c->count; ++k)
        CHECK(c->covered[k], "shape[%zu] is %zu, expected 1 as in the shapes of the operands", k, c->shape[k]);
    return true;
}

static bool check_operation(const char * function, const SimdnetElementwiseParameters * q)
{
    const int operation = (int)q->operation;
    CHECK((size_t)operation < SN_ELEMENTWISE_OPERATIONS, "operation is %d, expected a SimdnetElementwiseOperation, Add to %s",
          operation, operations[SN_ELEMENTWISE_OPERATIONS - 1]);
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
    struct broadcast c = {.function = __func__};
    const size_t bytes = sn_data_bytes(q->dataType);
    const bool same = job.operation < SN_ELEMENTWISE_EQUAL || q->dataType == SimdTensorDataBool;
    if (!take_result(&c, q->count, q->shape, q->dst, same ? bytes : 1) ||
        !take_operand(&c, (const char *[]){"a", "aShape"}, q->a, bytes, q->aShape, same, &job.a) ||
        !take_operand(&c, (const char *[]){"b", "bShape"}, q->b, bytes, q->bShape, same, &job.b) || !is_covered(&c) ||
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
    struct broadcast c = {.function = __func__};
    size_t bytes;
    if (!sn_take_element(__func__, "dataType", q->dataType, &bytes) ||
        !take_result(&c, q->count, q->shape, q->dst, bytes) ||
        !take_operand(&c, (const char *[]){"condition", "conditionShape"}, q->condition, 1, q->conditionShape, false,
                      &job.condition) ||
        !take_operand(&c, (const char *[]){"a", "aShape"}, q->a, bytes, q->aShape, true, &job.a) ||
        !take_operand(&c, (const char *[]){"b", "bShape"}, q->b, bytes, q->bShape, true, &job.b) || !is_covered(&c) ||
        c.size == 0)
        return;
    job.size = c.size;
    sn_select(&job);
}
