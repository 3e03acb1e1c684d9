/* Maxima and averages over windows. */
#ifndef SN_CONTRACT_POOLING_H
#define SN_CONTRACT_POOLING_H

#include "contract/layout.h"

/* Output i of an axis covers its inputs max(0, i * stride - pad) .. min(src, i * stride - pad + kernel) - 1. */
struct sn_pool_axis {
    size_t src, dst, kernel, stride, pad;
};

/*
 * Pools src[i0][i1][i2][i] over its first three axes into dst[o0][o1][o2][i]. Both layouts are of this form: NCHW has the
 * axes C, H, W and inner 1; NHWC has images, H, W and inner C; NHWC pooled over channels too has H, W, C and inner 1. Pixels
 * may lie among other elements, which are neither read nor written.
 */
struct sn_pooling {
    const void * src;
    void * dst;
    struct sn_pool_axis axis[3];
    size_t inner;
    size_t srcPixel, dstPixel;  /* elements from pixel to pixel; `inner` if they are dense */
    sn_transpose_fn transpose;  /* of elements as large as these */
    bool excludePad;            /* average: divides by the number of elements inside the image */
};

/* The units of a pooling are pairs of output rows: unit u is row 2 * (u % pairs) and the next, if there is one, of o0 =
 * u / pairs. Inputs that the windows of both rows cover are read once, and the order of sums does not depend on the division
 * into units. */
static inline size_t sn_pooling_pairs(const struct sn_pooling * p) { return sn_ceil_div(p->axis[1].dst, 2); }

/* Computes units begin .. end - 1. */
typedef void (*sn_pooling_fn)(const struct sn_pooling * p, size_t begin, size_t end);

/* The kernels of a level. */
struct sn_pooling_slots {
    sn_pooling_fn max_32f;
    sn_pooling_fn max_16b;
    sn_pooling_fn max_8u;
    sn_pooling_fn average_32f;
    sn_pooling_fn average_16b;
};

#endif
