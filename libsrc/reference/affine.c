#include "contract/affine.h"

#include <math.h>
#include <string.h>

#include "reference/reference.h"
#include "runtime/numeric.h"

static float load(const struct sn_affine * p, enum sn_affine_type type, const uint8_t * src, size_t i)
{
    if (type == SN_AFFINE_32F)
        return ((const sn_32f *)src)[i];
    if (type == SN_AFFINE_16B)
        return sn_16b_to_32f(((const sn_16b *)src)[i]);
    return ((float)src[i] - p->srcZero) * p->srcScale;
}

static float value(enum sn_affine_formula formula, float x, float k, float h)
{
    if (formula == SN_AFFINE_SUM)
        return x * k + h;
    if (formula == SN_AFFINE_FUSED)
        return fmaf(x, k, h);
    const float positive = x > 0 ? x : 0, negative = 0 < x ? 0 : x; /* NaN is negative */
    return positive + k * negative;
}

static void store(const struct sn_affine * p, enum sn_affine_type type, uint8_t * dst, size_t i, float y)
{
    if (type == SN_AFFINE_32F) {
        ((sn_32f *)dst)[i] = y;
    } else if (type == SN_AFFINE_16B) {
        ((sn_16b *)dst)[i] = sn_32f_to_16b(y);
    } else {
        const float t = y * p->dstScale;
        const double sum = rint((double)t) + p->dstZero;
        dst[i] = (uint8_t)(sum > 0 ? fmin(sum, p->upper) : 0);
    }
}

#define KERNEL(formula, from, to)                                                                                           \
    static void run_##formula##_##from##_##to(const struct sn_affine * p, const uint8_t * src, size_t size, uint8_t * dst)  \
    {                                                                                                                       \
        for (size_t i = 0; i < size; ++i) {                                                                                 \
            const size_t c = p->each ? i : 0;                                                                               \
            const float x = load(p, SN_AFFINE_##from, src, i);                                                              \
            store(p, SN_AFFINE_##to, dst, i, value(SN_AFFINE_##formula, x, p->k[c], p->h[c]));                              \
        }                                                                                                                   \
    }

SN_AFFINE_LIST(KERNEL)

#define SLOT(formula, from, to) slots->run[SN_AFFINE_##formula##_##from##_##to] = run_##formula##_##from##_##to;

SN_INSTALL(affine, affine) { SN_AFFINE_LIST(SLOT) }
