/* Layers that change each element by coefficients of its channel, between floats, bfloat16 numbers and bytes. */
#ifndef SN_CONTRACT_AFFINE_H
#define SN_CONTRACT_AFFINE_H

#include "runtime/common.h"

enum sn_affine_type { SN_AFFINE_32F, SN_AFFINE_16B, SN_AFFINE_8U };

/*
 * y of x with coefficients k and h, in float32:
 *
 *   SUM     x * k + h, rounded twice
 *   FUSED   x * k + h, rounded once
 *   PRELU   max(0, x) + k * min(0, x), of which -0 becomes 0 for k >= 0
 */
enum sn_affine_formula { SN_AFFINE_SUM, SN_AFFINE_FUSED, SN_AFFINE_PRELU };

/* The kernels: X(formula, type of src, type of dst). */
#define SN_AFFINE_LIST(X)                                                                                                   \
    X(SUM, 32F, 32F)                                                                                                        \
    X(SUM, 32F, 16B)                                                                                                        \
    X(SUM, 16B, 32F)                                                                                                        \
    X(SUM, 16B, 16B)                                                                                                        \
    X(SUM, 32F, 8U)                                                                                                         \
    X(SUM, 8U, 32F)                                                                                                         \
    X(SUM, 8U, 8U)                                                                                                          \
    X(FUSED, 8U, 8U)                                                                                                        \
    X(PRELU, 16B, 16B)                                                                                                      \
    X(PRELU, 8U, 8U)

#define SN_AFFINE_KIND(formula, from, to) SN_AFFINE_##formula##_##from##_##to,
enum sn_affine_kind { SN_AFFINE_LIST(SN_AFFINE_KIND) SN_AFFINE_KINDS };

/* Equal numbers that single coefficients are repeated to: the floats of the largest vector of bytes. */
enum { SN_AFFINE_REPEATED = 64 };

struct sn_affine {
    const sn_32f * k, * h; /* of each element if `each`, otherwise SN_AFFINE_REPEATED equal ones */
    bool each;
    float srcZero, srcScale; /* bytes: x = (byte - srcZero) * srcScale; -255 <= srcZero <= 255 */
    float dstScale;          /* bytes: min(max(nearest(y * dstScale) + dstZero, 0), upper), ties to even; NaN is 0 */
    int32_t dstZero;         /* -255 .. 255 */
    uint8_t upper;
};

/* src and dst are `size` elements; they may be one array if their types are equal. */
typedef void (*sn_affine_fn)(const struct sn_affine * p, const uint8_t * src, size_t size, uint8_t * dst);

/* The kernels of a level. */
struct sn_affine_slots {
    sn_affine_fn run[SN_AFFINE_KINDS];
};

#endif
