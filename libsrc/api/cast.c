/* SimdnetCast(). */
#include "ops/elementwise/cast.h"

#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"

static bool take_type(const char * function, const char * name, SimdTensorDataType type, enum sn_data * taken)
{
    SN_CHECK_FOR(function, type >= SimdTensorData32f && type <= SimdTensorDataBool, false,
                 "%s is %s, expected SimdTensorData32f to SimdTensorDataBool: no floats of 16 bits", name,
                 SN_NAME(sn_data_types, type));
    *taken = (enum sn_data)type;
    return true;
}

void SimdnetCast(SimdTensorDataType srcType, const void * src, size_t count, SimdTensorDataType dstType, void * dst)
{
    SN_CALL(srcType, count, dstType);
    struct sn_cast c = {.count = count, .src = src, .dst = dst};
    size_t all;
    if (!take_type(__func__, "srcType", srcType, &c.srcType) || !take_type(__func__, "dstType", dstType, &c.dstType) ||
        count == 0)
        return;
    c.srcBytes = sn_data_bytes(srcType);
    c.dstBytes = sn_data_bytes(dstType);
    SN_CHECK(sn_product(&all, count, sn_max(c.srcBytes, c.dstBytes)), SN_VOID, "count is %zu, too large for an array",
             count);
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (sn_apart(__func__, (struct sn_array){"dst", dst, count * c.dstBytes},
                 (struct sn_array){"src", src, count * c.srcBytes}))
        sn_cast(&c);
}
