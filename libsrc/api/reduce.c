#include "ops/reduce.h"

#include "api/arrays.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* Sets the dimensions, and the number of elements of a result and of results; false if the last error is set. */
static bool take_dimensions(const char * function, const SimdnetReduceParameters * q, struct sn_reduce * r, size_t * reduced,
                            size_t * results)
{
    size_t kept[SIMDNET_MAX_DIMENSIONS], gone[SIMDNET_MAX_DIMENSIONS], stride = 1, number = 0;
    for (size_t k = q->count; k-- > 0; stride *= q->shape[k]) {
        const bool is_reduced = q->reduced[k] == SimdTrue;
        CHECK(is_reduced || q->reduced[k] == SimdFalse, "reduced[%zu] is %d, expected SimdFalse or SimdTrue", k,
              (int)q->reduced[k]);
        r->d[k] = (struct sn_reduce_dimension){q->shape[k], stride, is_reduced};
        kept[k] = is_reduced ? 1 : q->shape[k];
        gone[k] = is_reduced ? q->shape[k] : 1;
        number += is_reduced;
    }
    CHECK(q->operation < SimdnetReduceArgMax || number == 1,
          "reduced has %zu dimensions, expected one for SimdnetReduceArgMax and SimdnetReduceArgMin", number);
    CHECK(sn_product_of(reduced, gone, q->count) && sn_product_of(results, kept, q->count),
          "shape of %zu dimensions is too large for an array", q->count);
    CHECK(q->operation < SimdnetReduceArgMax || *reduced || *results == 0,
          "shape has 0 elements in the reduced dimension, expected at least 1");
    r->count = q->count;
    return true;
}

static bool check_type(const char * function, const SimdnetReduceParameters * q)
{
    CHECK(q->dataType >= SimdTensorData32f && q->dataType <= SimdTensorDataBool,
          "dataType is %s, expected SimdTensorData32f to SimdTensorDataBool", SN_NAME(sn_data_types, q->dataType));
    CHECK(q->dataType == SimdTensorData32f || q->operation != SimdnetReduceLogSumExp,
          "dataType is %s, expected SimdTensorData32f for SimdnetReduceLogSumExp", SN_NAME(sn_data_types, q->dataType));
    return true;
}

void SimdnetReduce(const SimdnetReduceParameters * parameters)
{
    SN_BEGIN();
    SimdnetReduceParameters own;
    if (!sn_take_known(__func__, parameters, offsetof(SimdnetReduceParameters, dataType), &own, sizeof(own)))
        return;
    const SimdnetReduceParameters * q = &own;
    const size_t * n = q->shape;
    SN_CALL(q->operation, q->count, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
    struct sn_reduce r = {.op = (enum sn_reduce_op)q->operation, .type = (enum sn_data)q->dataType,
                          .last = q->last == SimdTrue, .src = q->src, .dst = q->dst};
    size_t elements, reduced, results;
    SN_CHECK(q->operation >= SimdnetReduceSum && q->operation <= SimdnetReduceArgMin, SN_VOID,
             "operation is %d, expected a SimdnetReduceOperation, Sum to ArgMin", (int)q->operation);
    SN_CHECK(q->last == SimdFalse || q->last == SimdTrue, SN_VOID, "last is %d, expected SimdFalse or SimdTrue",
             (int)q->last);
    if (!check_type(__func__, q) || !sn_take_shape(__func__, q->count, q->shape, &elements) ||
        !take_dimensions(__func__, q, &r, &reduced, &results) || results == 0)
        return;
    SN_CHECK(q->src || elements == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK(q->dst, SN_VOID, "dst is NULL, expected an array");
    const size_t element = sn_data_bytes(q->dataType);
    const size_t bytes = q->operation >= SimdnetReduceArgMax ? sizeof(int64_t) : element;
    if (!sn_apart(__func__, (struct sn_array){"dst", q->dst, results * bytes},
                  (struct sn_array){"src", q->src, elements * element}))
        return;
    if (q->dataType == SimdTensorData32f)
        sn_reduce(r);
    else
        sn_reduce_integers(&r, element);
}
