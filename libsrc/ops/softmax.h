/* Softmax, on several threads: arguments as in the public function, checked and not empty. */
#ifndef SN_OPS_SOFTMAX_H
#define SN_OPS_SOFTMAX_H

#include "runtime/common.h"

void sn_softmax_32f(const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst);

/* Of bfloat16 numbers; false if there is no memory. */
bool sn_softmax_16b(const sn_16b * src, size_t outer, size_t count, size_t inner, sn_16b * dst);

#endif
