#include <float.h>

#include "isa/base/base.h"

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
                        SimdSynetEltwiseOperationType type, sn_32f * dst, bool stream)
{
    (void)stream;
    for (size_t j = offset; j < offset + size; ++j)
        switch (type) {
        case SimdSynetEltwiseOperationProduct: dst[j] = product(src, count, j); break;
        case SimdSynetEltwiseOperationSum: dst[j] = sum(src, weight, count, j); break;
        case SimdSynetEltwiseOperationMax: dst[j] = largest(src, count, j); break;
        case SimdSynetEltwiseOperationMin: dst[j] = smallest(src, count, j); break;
        }
}

void sn_install_eltwise_base(struct sn_table * table) { table->eltwise_32f = eltwise_32f; }
