/* SimdnetBinary() */
#include "ops/elementwise/binary.h"

#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

_Static_assert(sizeof(((SimdnetBinaryParameters *)0)->shape) == SN_MOST_DIMENSIONS * sizeof(size_t), "dimensions");

/* Checks that an operand can be broadcast to the shape, and computes its size. */
static bool check_shape(const char * function, const char * name, const size_t * shape, const SimdnetBinaryParameters * q,
                        size_t * size)
{
    for (size_t k = 0; k < q->count; ++k)
        CHECK(shape[k] == q->shape[k] || shape[k] == 1, "%s[%zu] is %zu, expected 1 or %zu as in shape", name, k, shape[k],
              q->shape[k]);
    CHECK(sn_product_of(size, shape, q->count), "%s has more elements than memory can hold", name);
    return true;
}

static bool check_activation(const char * function, SimdConvolutionActivationType activation)
{
    const bool known = (activation >= SimdConvolutionActivationIdentity && activation <= SimdConvolutionActivationGelu) ||
                       activation == SimdnetConvolutionActivationSigmoid;
    CHECK(known && activation != SimdConvolutionActivationPrelu,
          "activation is %s, expected a SimdConvolutionActivationType other than SimdConvolutionActivationPrelu",
          SN_NAME(sn_activations, activation));
    return true;
}

#define NAME(NAME, Name, name) #Name,
static const char * const operations[] = {SN_BINARY_LIST(NAME)};

/* Sizes of dst, a and b. */
static bool check(const char * function, const SimdnetBinaryParameters * q, size_t size[3])
{
    CHECK((size_t)q->operation < SN_BINARY_OPERATIONS, "operation is %d, expected a SimdnetBinaryOperation, Add to %s",
          (int)q->operation, operations[SN_BINARY_OPERATIONS - 1]);
    CHECK(q->count <= SN_MOST_DIMENSIONS, "count is %zu, expected at most %d", q->count, (int)SN_MOST_DIMENSIONS);
    if (!check_activation(function, q->activation) || !check_shape(function, "shape", q->shape, q, &size[0]) ||
        !check_shape(function, "aShape", q->aShape, q, &size[1]) || !check_shape(function, "bShape", q->bShape, q, &size[2]))
        return false;
    for (size_t k = 0; k < q->count; ++k)
        CHECK(q->aShape[k] == q->shape[k] || q->bShape[k] == q->shape[k],
              "shape[%zu] is %zu, expected 1 as in aShape and bShape", k, q->shape[k]);
    return true;
}

void SimdnetBinary(const SimdnetBinaryParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetBinaryParameters * q = parameters;
    SN_CALL(q->operation, q->count, q->activation);
    size_t size[3];
    if (!check(__func__, q, size) || size[0] == 0)
        return;
    SN_CHECK(q->a, SN_VOID, "a is NULL, expected an array");
    SN_CHECK(q->b, SN_VOID, "b is NULL, expected an array");
    SN_CHECK(q->dst, SN_VOID, "dst is NULL, expected an array");
    const struct sn_array dst = {"dst", q->dst, size[0] * sizeof(float)};
    const struct sn_array a = {"a", q->a, size[1] * sizeof(float)}, b = {"b", q->b, size[2] * sizeof(float)};
    if (!sn_apart_for(__func__, dst, a, size[1] == size[0]) || !sn_apart_for(__func__, dst, b, size[2] == size[0]))
        return;
    const struct sn_binary p = {(enum sn_binary_operation)q->operation, q->count, q->shape, q->aShape, q->bShape, q->a, q->b,
                                q->dst, (enum sn_activation)q->activation, q->params};
    sn_binary_32f(&p);
}
