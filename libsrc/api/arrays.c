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
