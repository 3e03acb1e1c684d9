/* Inner products of M rows with bias and activation, as convolutions of M pixels: ops/inner_product_32f.c. */
#ifndef SN_OPS_INNER_PRODUCT_32F_H
#define SN_OPS_INNER_PRODUCT_32F_H

#include "ops/convolution/32f.h"
#include "ops/convolution/dot.h"

/* The families: B is constant and packed by SetParams; or it is an argument of each call. */
extern const struct sn_convolution_family sn_inner_product_32f_packed, sn_inner_product_32f_given;

/*
 * What p does not say: the beginning of c->familyData of all families, also those of inner_product_16b.h. Bias and
 * dot.transposed are set after the plan is made; families that multiply floats use nothing else of `dot`.
 */
struct sn_inner_product_data {
    struct sn_dot_family dot;
    bool bias; /* that of SetParams is used */
};
SN_FITS_FAMILY_DATA(struct sn_inner_product_data);

static inline const struct sn_inner_product_data * sn_inner_product_data_of(const struct sn_convolution * c)
{
    return (const void *)c->familyData;
}

/* The parameters of the convolution. */
struct sn_convolution_parameters sn_inner_product_parameters(size_t M, size_t N, size_t K, enum sn_activation activation);

/* Computes all rows with a B that is not packed. */
void sn_inner_product_32f_given_b(const struct sn_convolution * c, const sn_32f * B, const struct sn_arrays * a);

#endif
