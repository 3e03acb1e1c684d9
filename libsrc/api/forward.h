/* The parameters of SimdnetForward(), for the contexts that it computes. */
#ifndef SN_API_FORWARD_H
#define SN_API_FORWARD_H

#include "api/context.h"
#include "api/parameters.h"
#include "ops/convolution/plan.h"

/* Checks the distances, and sets *at, for a context whose first and last convolution are given, the same if it has one.
 * False if the last error is set. */
bool sn_take_forward(const char * function, const SimdnetForwardParameters * f, const struct sn_convolution * first,
                     const struct sn_convolution * last, struct sn_distances * at);

/* For the kinds of contexts of a single convolution: of floats or bfloat16 numbers, to which floats may be added, and of
 * bytes, whose context says whether it adds any. */
void sn_convolution_forward_floats(const char * function, void * context, const SimdnetForwardParameters * f);
void sn_convolution_forward_bytes(const char * function, void * context, const SimdnetForwardParameters * f);

#endif
