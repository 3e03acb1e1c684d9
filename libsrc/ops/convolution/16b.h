/* Convolution of bfloat16 numbers: the family, and its algorithms besides that of the tile (dot.h). */
#ifndef SN_OPS_CONVOLUTION_16B_H
#define SN_OPS_CONVOLUTION_16B_H

#include "ops/convolution/dot.h"
#include "runtime/numeric.h"

/* Of Convolution16b; and of Convolution32f that multiplies so, by the tile: rounded.h. */
extern const struct sn_convolution_family sn_convolution_16b, sn_convolution_32f_rounded;
extern const struct sn_candidate sn_convolution_16b_candidates[];

/* Functions of the family for others: prepare(), set_params(), tile(). */
enum sn_error_kind sn_convolution_16b_prepare(struct sn_convolution * c);
const void * sn_convolution_16b_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                           struct sn_fault * fault);
struct sn_tile_shape sn_tile_16b(const struct sn_table * table);

/* `base` has only the first. */
extern const struct sn_convolution_algorithm sn_convolution_16b_base, sn_convolution_16b_depthwise,
    sn_convolution_16b_depthwise_planes;

/*
 * By algorithms of floats, 16b_floats.c: plan(), forward() by the inner family, `images` at a time, scratch() and set_params()
 * of a family.
 */
bool sn_16b_floats_plan(struct sn_convolution * c, size_t images);
void sn_16b_floats_forward(const struct sn_convolution * c, const struct sn_arrays * a,
                           const struct sn_convolution_family * family, size_t images);
size_t sn_16b_floats_scratch(const struct sn_convolution * c);
const void * sn_16b_floats_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                      struct sn_fault * fault);

/* Whether the third computes a convolution. */
bool sn_16b_depthwise_planes_preferred(const struct sn_convolution * c);

/* In prepare() of a convolution: lets algorithms of floats compute it if they are faster. */
bool sn_16b_use_floats(struct sn_convolution * c);

/* Computes some output rows of one image by the second, for plans of several convolutions. */
void sn_16b_depthwise_rows(const struct sn_convolution * c, size_t row, size_t rows, const struct sn_arrays * a);

/* A weight as it is multiplied. */
static inline float sn_16b_weight(const struct sn_convolution * c, float weight)
{
    return sn_dot_of(c)->exact ? weight : sn_16b_to_32f(sn_32f_to_16b(weight));
}

#endif
