/* What the contexts of inner products of all element types share; they are those of a convolution. */
#ifndef SN_API_INNER_PRODUCT_H
#define SN_API_INNER_PRODUCT_H

#include "api/convolution.h"

/* Each check returns true, or sets the last error and returns false. */

/* Two sizes, whose names are these letters, of a matrix. */
bool sn_check_matrix(const char * function, const char * names, size_t a, size_t b);

/* The sizes, the flags and the activation of Init. */
bool sn_check_inner_product(const char * function, const struct sn_convolution_parameters * p, SimdBool transB,
                            SimdBool constB, SimdBool bias);

/* Sets what Init says besides the sizes, when the plan is made. */
void sn_inner_product_set_flags(struct sn_convolution * c, SimdBool transB, SimdBool bias);

/* Whether SetParams packs B, of floats or of bfloat16 numbers; otherwise it is an argument of each call. */
bool sn_has_constant_b(const struct sn_convolution * c);

/* For the kinds of contexts that may have either; SimdnetForward() has no B. */
void sn_inner_product_forward_any(const char * function, void * context, const SimdnetForwardParameters * f);

/* The arrays of Forward, whose elements have these bytes; B of `weights` elements, 0 if it is not read. */
struct sn_inner_product_arrays {
    const void * A, * B;
    void * buf, * C;
    size_t sizeA, sizeB, sizeC, weights;
};

/* Checks the arrays and sets *a: true if there is something to compute, as sn_forward_begin(). */
bool sn_inner_product_begin(const char * function, const struct sn_convolution * c,
                            const struct sn_inner_product_arrays * arrays, struct sn_arrays * a);

#endif
