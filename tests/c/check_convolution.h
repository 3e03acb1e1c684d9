/* What the checks of convolutions and deconvolutions share. */
#ifndef SN_CHECK_CONVOLUTION_H
#define SN_CHECK_CONVOLUTION_H

#include "check.h"

/* ---- check_convolution.c */

/* A shape of floats, square but for the image; sets the size of the output; 1 .. limit, small ones more often. */
SimdConvolutionParameters check_convolution_shape(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC,
                                                  size_t kernel, size_t stride, size_t pad, size_t group);
void check_convolution_output(SimdConvolutionParameters * p);
size_t check_few(size_t limit);

/* Anything, with up to so many channels in a group. */
SimdConvolutionParameters check_convolution_random(SimdTensorFormatType format, size_t inputs, size_t outputs);

/*
 * Lists of shapes, false behind the last one: every width of a tile and every tail of channels, when n goes from 1 to
 * `most`; what makes a driver cut; layers of known networks, for benchmarks.
 */
bool check_convolution_tail(SimdTensorFormatType format, size_t n, size_t most, size_t i, SimdConvolutionParameters * p);
bool check_convolution_cut(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p);
bool check_convolution_known(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p);

/* The number of weights, and of the multiplications and additions of an image. */
size_t check_convolution_weights(const SimdConvolutionParameters * p);
double check_convolution_flops(const SimdConvolutionParameters * p);

/* All of the parameters, for the text of a case; valid until the next call. */
const char * check_convolution_text(const SimdConvolutionParameters * p, size_t batch);

/* The number of the `params` of an activation, and values that are good for it; Prelu keeps what there is. */
size_t check_activation_params(const SimdConvolutionParameters * p);
void check_activation_values(const SimdConvolutionParameters * p, float * params);

/* ---- check_convolution_32f.c */

/* The bound behind the activation for a sum that is wrong by `error`; size is the sum of the terms' absolute values. */
double check_activated(const SimdConvolutionParameters * p, const float * params, size_t o, double size, double error);

/* One bit for each algorithm that some instruction set uses in contexts that `open` makes: 1 << m for F(m,3), else 1. */
unsigned check_convolution_algorithms(check_open_fn open, const void * job);

enum { CHECK_EQUAL_VALUES = 1u << 8 }; /* beside these: all values are the same, so all roundings of a chain too */

/* The bounds of a convolution of `batch` images; add is what is added before the activation, or NULL. */
void check_convolution_bounds(const SimdConvolutionParameters * p, size_t batch, const float * src, const float * weight,
                              const float * bias, const float * add, const float * params, unsigned algorithms,
                              double * bound);

#endif
