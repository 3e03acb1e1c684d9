/* Shared by the checks of convolutions and deconvolutions. */
#ifndef SN_CHECK_CONVOLUTION_H
#define SN_CHECK_CONVOLUTION_H

#include "check.h"

/* ---- check_convolution.c */

/* A convolution of floats, square except for the image; sets the size of the output. A random size of 1 .. limit, small ones
 * more often. */
SimdConvolutionParameters check_convolution_shape(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC,
                                                  size_t kernel, size_t stride, size_t pad, size_t group);
void check_convolution_output(SimdConvolutionParameters * p);
size_t check_few(size_t limit);

/* Makes a column of an image of one line, before its output is set; `wide`: with taps that see only padding on both sides. */
void check_convolution_column(SimdConvolutionParameters * p, bool wide);

/* A random convolution with up to the given number of channels per group. */
SimdConvolutionParameters check_convolution_random(SimdTensorFormatType format, size_t inputs, size_t outputs);

/*
 * Lists of shapes; the functions return false after the last one: every width of a tile and every tail of channels, for n
 * from 1 to `most`; shapes that drivers divide into blocks; shapes for batches; layers of known networks, for benchmarks; one
 * channel, whose images are the same in both formats, with every activation; random images of one line or column, whose pixels are
 * divided among threads and into parts for the cache, parts in padding alone, and few results; random images in NHWC with strides
 * and padding, of which only the input of the edges is copied where numbers are multiplied as they are.
 */
bool check_convolution_tail(SimdTensorFormatType format, size_t n, size_t most, size_t i, SimdConvolutionParameters * p);
bool check_convolution_cut(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p);
bool check_convolution_batch(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p);
bool check_convolution_known(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p);
bool check_convolution_signal(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p);
/* Kernels that cover an image, most of one or few pixels, or, each fifth one, the columns of its lines. */
bool check_convolution_whole(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p);
bool check_convolution_edges(size_t i, SimdConvolutionParameters * p);
bool check_convolution_one_channel(SimdTensorFormatType format, size_t i, SimdConvolutionParameters * p);

/* The number of weights, and of multiplications and additions per image. */
size_t check_convolution_weights(const SimdConvolutionParameters * p);
double check_convolution_flops(const SimdConvolutionParameters * p);

/* All of the parameters, for the text of a case; valid until the next call. */
const char * check_convolution_text(const SimdConvolutionParameters * p, size_t batch);

/* All activations, by index; a random one; and whether the last bits of its results differ between instruction sets. */
enum { CHECK_ACTIVATIONS = 12 };
SimdConvolutionActivationType check_activation_at(size_t index);
SimdConvolutionActivationType check_any_activation(void);
bool check_activation_has_exp(const SimdConvolutionParameters * p);

/* The number of `params` of the activation, and valid values for them; those of Prelu are left as they are. */
size_t check_activation_params(const SimdConvolutionParameters * p);
void check_activation_values(const SimdConvolutionParameters * p, float * params);

/* ---- check_convolution_bounds.c */

/* The error bound after the activation for a sum with an error of `error`; size is the sum of the terms' absolute values. */
double check_activated(const SimdConvolutionParameters * p, const float * params, size_t o, double size, double error);

/* One bit for each algorithm that some instruction set selects for contexts created by `open`: 1 << m for F(m,r) by Winograd,
 * 8 or 16 bits further for that of rows or of columns, else 1. */
unsigned check_convolution_algorithms(check_open_fn open, const void * job);

enum { CHECK_EQUAL_VALUES = 1u << 7 }; /* a flag beside them: equal values, so equal roundings in a chain */

/* The bounds of a convolution of `batch` images; `add` is added before the activation, or NULL. */
void check_convolution_bounds(const SimdConvolutionParameters * p, size_t batch, const float * src, const float * weight,
                              const float * bias, const float * add, const float * params, unsigned algorithms,
                              double * bound);

#endif
