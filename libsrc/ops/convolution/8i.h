/* Quantised convolution: the family, and its algorithms besides that of the tile (dot.h). */
#ifndef SN_OPS_CONVOLUTION_8I_H
#define SN_OPS_CONVOLUTION_8I_H

#include "ops/convolution/dot.h"

/* The last is of inner products of quantised bytes: convolutions in NHWC of M pixels, K channels to N, by one pixel. */
extern const struct sn_convolution_family sn_convolution_8i, sn_convolution_quantized, sn_inner_product_quantized;

/* Whether calls may be given bytes that are added to the results. */
bool sn_quantized_adds(const struct sn_convolution * c);

/* Functions of the first family for the others. */
struct sn_tile_shape sn_tile_8i(const struct sn_table * table);
void sn_convolution_8i_simplify(struct sn_convolution * c);

/* What the sums of an output begin with, from the sums of its weights, and of those that see only padding and are left out. */
int32_t sn_start_8i(const struct sn_convolution * c, int64_t sum, int64_t padded);

/* The weights that the caller gave, and whether tap t of the given kernel is used. */
size_t sn_given_weights(const struct sn_convolution * c);
bool sn_is_used(const struct sn_convolution * c, size_t t);

/* The shape with the kernel that the caller gave. */
struct sn_convolution_parameters sn_given_shape(const struct sn_convolution * c);

/* Of `base` in each family of bytes: all arrays in the caller's layout. */
bool sn_base_8i_plan(struct sn_convolution * c);
void sn_base_8i_pack(const struct sn_convolution * c, const void * weight);

/* `base` has only the first. */
extern const struct sn_convolution_algorithm sn_convolution_8i_base, sn_convolution_8i_flat,
    sn_convolution_8i_depthwise, sn_convolution_8i_depthwise_32f, sn_convolution_8i_winograd;
bool sn_depthwise_32f_preferred(const struct sn_convolution * c);
bool sn_depthwise_8i_by_lines(const struct sn_convolution * c);
bool sn_depthwise_8i_preferred(const struct sn_convolution * c);
bool sn_flat_8i_preferred(const struct sn_convolution * c);
bool sn_flat_8i_splits_pixels(const struct sn_convolution * c); /* in depthwise convolutions */
bool sn_winograd_8i_preferred(const struct sn_convolution * c);

#endif
