/* Arrays put together element by element, split over threads. Arguments as in the public function, checked and not empty. */
#ifndef SN_OPS_ELTWISE_H
#define SN_OPS_ELTWISE_H

#include "simdnet.h"

void sn_eltwise_32f(float const * const * src, const float * weight, size_t count, size_t size,
                    SimdSynetEltwiseOperationType type, float * dst);

#endif
