/* What the checks of convolutions and deconvolutions share; all of it is in check_convolution_32f.c. */
#ifndef SN_CHECK_CONVOLUTION_H
#define SN_CHECK_CONVOLUTION_H

#include "check.h"

/* The number of the `params` of an activation, and values that are good for it; Prelu keeps what there is. */
size_t check_activation_params(const SimdConvolutionParameters * p);
void check_activation_values(const SimdConvolutionParameters * p, float * params);

/* A copy that is freed once SetParams has returned: the library may not keep the pointer. */
float * check_copy(const void * values, size_t count);

/* The bound behind the activation for a sum that is wrong by `error`; size is the sum of the absolute values of the terms. */
double check_activated(const SimdConvolutionParameters * p, const float * params, size_t o, double size, double error);

/* One bit for each algorithm that some instruction set uses in contexts that `open` makes: 1 << m for F(m,3), else 1. */
unsigned check_convolution_algorithms(check_open_fn open, const void * job);

enum { CHECK_EQUAL_VALUES = 1u << 8 }; /* beside these: all values are the same, so all roundings of a chain too */

/* The bounds of a convolution of `batch` images. */
void check_convolution_bounds(const SimdConvolutionParameters * p, size_t batch, const float * src, const float * weight,
                              const float * bias, const float * params, unsigned algorithms, double * bound);

#endif
