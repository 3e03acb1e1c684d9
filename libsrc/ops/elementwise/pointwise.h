/* Element-wise functions of an array, on several threads. Arguments as in the public functions,
 * checked and not empty. */
#ifndef SN_OPS_ELEMENTWISE_POINTWISE_H
#define SN_OPS_ELEMENTWISE_POINTWISE_H

#include "contract/table.h"

void sn_pointwise_32f(enum sn_pointwise function, const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst);

#endif
