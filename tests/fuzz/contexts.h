/* What contexts.c and convolutions.c share. */
#ifndef SN_FUZZ_CONTEXTS_H
#define SN_FUZZ_CONTEXTS_H

#include "fuzz.h"

int fuzz_activation(void);
/* The numbers of an activation that have sensible values, so that results stay near: p[0] of Elu and others. Mish has a step at
 * its threshold, of 0.13 at 1 and none that floats show at 20. */
const float * fuzz_activation_params(SimdConvolutionActivationType activation, size_t dstC);
enum fuzz_type fuzz_type_of(SimdTensorDataType type);

/* SimdnetForward() for a context of these shapes. */
void fuzz_forward(void * context, size_t batch, const SimdConvolutionParameters * first,
                  const SimdConvolutionParameters * last_one, bool can_add, size_t buffer);

/* ---- targets of convolutions.c; contexts.c has the list, whose order is that of the corpus */

void fuzz_convolution_32f(void);
void fuzz_convolution_16b(void);
void fuzz_deconvolution_16b(void);
void fuzz_convolution_8i(void);
void fuzz_quantized_convolution(void);
void fuzz_merged_convolution(void);
void fuzz_merged_convolution_16b(void);
void fuzz_merged_convolution_8i(void);
void fuzz_quantized_merged_convolution(void);

#endif
