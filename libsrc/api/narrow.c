/* Conversions of floats to bfloat16 and half precision, and back. */
#include "ops/narrow.h"

#include "api/call.h"
#include "api/overlap.h"

static void narrow(const char * function, enum sn_narrow which, struct sn_array src, size_t size, struct sn_array dst)
{
    SN_CHECK_FOR(function, sn_product(&(size_t){0}, size, sizeof(float)), SN_VOID,
                 "size is %zu, more than memory can hold", size);
    if (size == 0)
        return;
    SN_CHECK_FOR(function, src.at, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, dst.at, SN_VOID, "dst is NULL, expected an array");
    if (sn_apart(function, dst, src))
        sn_narrow(which, src.at, size, (void *)(uintptr_t)dst.at);
}

void SimdFloat32ToBFloat16(const sn_32f * src, size_t size, sn_16b * dst)
{
    SN_CALL(size);
    narrow(__func__, SN_32F_TO_16B, SN_ARRAY(src, size), size, SN_ARRAY(dst, size));
}

void SimdBFloat16ToFloat32(const sn_16b * src, size_t size, sn_32f * dst)
{
    SN_CALL(size);
    narrow(__func__, SN_16B_TO_32F, SN_ARRAY(src, size), size, SN_ARRAY(dst, size));
}

void SimdFloat32ToFloat16(const sn_32f * src, size_t size, sn_16b * dst)
{
    SN_CALL(size);
    narrow(__func__, SN_32F_TO_16F, SN_ARRAY(src, size), size, SN_ARRAY(dst, size));
}

void SimdFloat16ToFloat32(const sn_16b * src, size_t size, sn_32f * dst)
{
    SN_CALL(size);
    narrow(__func__, SN_16F_TO_32F, SN_ARRAY(src, size), size, SN_ARRAY(dst, size));
}
