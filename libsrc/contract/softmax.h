/* Softmax. */
#ifndef SN_CONTRACT_SOFTMAX_H
#define SN_CONTRACT_SOFTMAX_H

#include "runtime/common.h"

/* The same arguments as SimdSynetSoftmaxLayerForward. */
typedef void (*sn_softmax_32f_fn)(const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst);

/* The kernels of a level. */
struct sn_softmax_slots {
    sn_softmax_32f_fn run_32f;
};

#endif
