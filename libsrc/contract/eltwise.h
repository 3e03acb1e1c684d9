/* Operations on several arrays, element by element. */
#ifndef SN_CONTRACT_ELTWISE_H
#define SN_CONTRACT_ELTWISE_H

#include "contract/enums.h"
#include "runtime/common.h"

/* Elements offset .. offset + size - 1 of SimdSynetEltwiseLayerForward; with `stream`, dst may be written with non-temporal
 * stores. */
typedef void (*sn_eltwise_32f_fn)(const sn_32f * const * src, const sn_32f * weight, size_t count, size_t offset,
                                  size_t size, enum sn_eltwise type, sn_32f * dst, bool stream);

/* The kernels of a level. */
struct sn_eltwise_slots {
    sn_eltwise_32f_fn run_32f;
};

#endif
