/* Convolution of bfloat16 numbers: the family, and its algorithms besides that of the tile (dot.h). */
#ifndef SN_OPS_CONVOLUTION_16B_H
#define SN_OPS_CONVOLUTION_16B_H

#include "ops/convolution/dot.h"
#include "runtime/numeric.h"

extern const struct sn_convolution_family sn_convolution_16b;
extern const struct sn_candidate sn_convolution_16b_candidates[];

/* Functions of the family for others: prepare(), set_params(), tile(). */
enum sn_error_kind sn_convolution_16b_prepare(struct sn_convolution * c);
const void * sn_convolution_16b_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                           struct sn_fault * fault);
struct sn_tile_shape sn_tile_16b(const struct sn_table * table);

/* `base` has only the first. */
extern const struct sn_convolution_algorithm sn_convolution_16b_base, sn_convolution_16b_depthwise;

/* Whether floats stay as they are: a depthwise convolution in NHWC rounds neither a float source nor its weights. */
static inline bool sn_16b_is_exact(const struct sn_convolution * c)
{
    return c->family == &sn_convolution_16b && c->format == SN_NHWC && c->p.group > 1 && sn_is_depthwise(c);
}

/* A weight as it is multiplied. */
static inline float sn_16b_weight(const struct sn_convolution * c, float weight)
{
    return sn_16b_is_exact(c) ? weight : sn_16b_to_32f(sn_32f_to_16b(weight));
}

#endif
