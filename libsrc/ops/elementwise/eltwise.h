/* Element-wise operations on arrays, on several threads. Arguments as in the public function, checked and not empty. */
#ifndef SN_OPS_ELEMENTWISE_ELTWISE_H
#define SN_OPS_ELEMENTWISE_ELTWISE_H

#include "contract/enums.h"
#include "runtime/common.h"

void sn_eltwise_32f(const sn_32f * const * src, const sn_32f * weight, size_t count, size_t size,
                    enum sn_eltwise type, sn_32f * dst);

#endif
