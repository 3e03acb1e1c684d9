/* dst[i] = bias[i] + the product of row i of `weight` (count x size) with src; bias may be NULL. */
#ifndef SN_OPS_INNER_PRODUCT_H
#define SN_OPS_INNER_PRODUCT_H

#include <stddef.h>

void sn_inner_product_32f(const float * src, const float * weight, const float * bias, size_t count, size_t size,
                          float * dst);

#endif
