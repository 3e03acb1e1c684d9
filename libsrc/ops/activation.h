/* Activations of an array, split over threads. Arguments as in the public functions, checked and not empty. */
#ifndef SN_OPS_ACTIVATION_H
#define SN_OPS_ACTIVATION_H

#include <stddef.h>

void sn_relu_32f(const float * src, size_t size, float slope, float * dst);

#endif
