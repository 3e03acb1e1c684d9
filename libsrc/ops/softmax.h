/* Softmax, split over threads: arguments as in the public function, checked and not empty. */
#ifndef SN_OPS_SOFTMAX_H
#define SN_OPS_SOFTMAX_H

#include <stddef.h>

void sn_softmax_32f(const float * src, size_t outer, size_t count, size_t inner, float * dst);

#endif
