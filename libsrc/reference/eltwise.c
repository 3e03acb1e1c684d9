#include <float.h>

#include "contract/eltwise.h"
#include "reference/reference.h"

static float product(const sn_32f * const * src, size_t count, size_t j)
{
    float d = 1;
    for (size_t i = 0; i < count; ++i)
        d *= src[i][j];
    return d;
}

static float sum(const sn_32f * const * src, const sn_32f * weight, size_t count, size_t j)
{
    double d = 0;
    for (size_t i = 0; i < count; ++i)
        d += (double)src[i][j] * (double)weight[i];
    return (float)d;
}

static float largest(const sn_32f * const * src, size_t count, size_t j)
{
    float d = count == 1 ? -FLT_MAX : src[0][j];
    for (size_t i = count == 1 ? 0 : 1; i < count; ++i)
        d = d > src[i][j] ? d : src[i][j];
    return d;
}

static float smallest(const sn_32f * const * src, size_t count, size_t j)
{
    float d = count == 1 ? FLT_MAX : src[0][j];
    for (size_t i = count == 1 ? 0 : 1; i < count; ++i)
        d = d < src[i][j] ? d : src[i][j];
    return d;
}

static void eltwise_32f(const sn_32f * const * src, const sn_32f * weight, size_t count, size_t offset, size_t size,
                        enum sn_eltwise type, sn_32f * dst, bool stream)
{
    (void)stream;
    for (size_t j = offset; j < offset + size; ++j)
        switch (type) {
        case SN_ELTWISE_PRODUCT: dst[j] = product(src, count, j); break;
        case SN_ELTWISE_SUM: dst[j] = sum(src, weight, count, j); break;
        case SN_ELTWISE_MAX: dst[j] = largest(src, count, j); break;
        case SN_ELTWISE_MIN: dst[j] = smallest(src, count, j); break;
        }
}

SN_INSTALL(eltwise, eltwise) { slots->run_32f = eltwise_32f; }
