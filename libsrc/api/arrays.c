#include "api/arrays.h"

#include "api/check.h"
#include "api/enums.h"
#include "ops/copy.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

bool sn_take_shape(const char * function, size_t count, const size_t * shape, size_t * elements)
{
    CHECK(count <= SIMDNET_MAX_DIMENSIONS, "count is %zu, expected at most %d", count, SIMDNET_MAX_DIMENSIONS);
    CHECK(sn_product_of(elements, shape, count), "shape of %zu dimensions is too large for an array", count);
    return true;
}

bool sn_take_element(const char * function, const char * name, SimdTensorDataType type, size_t * element)
{
    CHECK(type != SimdTensorDataUnknown && sn_enumerator(&sn_data_types, (int)type), "%s is %s, expected a type of elements",
          name, SN_NAME(sn_data_types, type));
    *element = sn_copy_element((int)type);
    return true;
}

bool sn_check_shapes(const char * function, const size_t * aShape, size_t aCount, const size_t * bShape, size_t bCount,
                     size_t * size)
{
    SN_CHECK_FOR(function, aCount == bCount, false, "bCount is %zu, expected %zu as aCount", bCount, aCount);
    SN_CHECK_FOR(function, aCount == 0 || aShape, false, "aShape is NULL, expected an array");
    SN_CHECK_FOR(function, aCount == 0 || bShape, false, "bShape is NULL, expected an array");
    for (size_t i = 0; i < aCount; ++i)
        SN_CHECK_FOR(function, aShape[i] == bShape[i], false, "bShape[%zu] is %zu, expected %zu as in aShape", i, bShape[i],
                     aShape[i]);
    SN_CHECK_FOR(function, sn_product_of(size, aShape, aCount), false, "aShape of %zu dimensions is too large for an array",
                 aCount);
    return true;
}

bool sn_refuse_format(const char * function, const char * name, int format)
{
    sn_error_set(SN_ERROR_VALUE, function, "%s is %s, expected SimdTensorFormatNchw or SimdTensorFormatNhwc", name,
                 SN_NAME(sn_formats, format));
    return false;
}
