/* Inner products of M rows of bfloat16 numbers with bias and activation, as convolutions of M pixels: inner_product_16b.c. */
#ifndef SN_OPS_INNER_PRODUCT_16B_H
#define SN_OPS_INNER_PRODUCT_16B_H

#include "ops/convolution/16b.h"
#include "ops/inner_product_32f.h"

/* The families: B is constant, floats that SetParams packs; or it is an argument of each call. */
extern const struct sn_convolution_family sn_inner_product_16b_packed, sn_inner_product_16b_given;

/* InnerProduct32f that multiplies so: ops/convolution/rounded.h. */
extern const struct sn_convolution_family sn_inner_product_32f_rounded;

/* `floats` is set after the plan is made. */
struct sn_inner_product_16b {
    struct sn_inner_product_data data;
    size_t packed; /* bytes of the B of each call, packed, with which the workspace begins */
    bool floats;   /* B of each call has floats */
};
SN_FITS_FAMILY_DATA(struct sn_inner_product_16b);

static inline const struct sn_inner_product_16b * sn_inner_product_16b_of(const struct sn_convolution * c)
{
    return (const void *)c->familyData;
}

/* Computes all rows with the B of this call. */
void sn_inner_product_16b_given_b(const struct sn_convolution * c, const void * B, const struct sn_arrays * a);

#endif
