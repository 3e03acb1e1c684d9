/* Sums of inner products of bytes, as convolutions of M pixels whose weights are packed in each call. */
#ifndef SN_OPS_INNER_PRODUCT_8I_H
#define SN_OPS_INNER_PRODUCT_8I_H

#include "ops/convolution/8i.h"

/* dst(i, j) = sum of src[i * K + k] * weight[j * K + k]; sizes are checked and above 0, dst may have any address. An error if
 * there is no memory: dst is then unchanged. */
enum sn_error_kind sn_inner_product_8i(size_t M, size_t N, size_t K, const uint8_t * src, const int8_t * weight, sn_32i * dst);

#endif
