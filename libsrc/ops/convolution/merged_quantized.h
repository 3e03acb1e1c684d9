/* Successive convolutions of quantised bytes: expansion, depthwise, projection; the first or the last may be missing. */
#ifndef SN_OPS_CONVOLUTION_MERGED_QUANTIZED_H
#define SN_OPS_CONVOLUTION_MERGED_QUANTIZED_H

#include "ops/convolution/8i.h"
#include "ops/convolution/merged_32f.h"

/* What is added to the result of the last stage, and in which order: the rounding depends on it. */
enum sn_quantized_addition { SN_ADDS_NOTHING, SN_ADDS_SOURCE, SN_ADDS_TO_SOURCE };

struct sn_merged_quantized {
    const struct sn_table * table;
    size_t batch;
    enum sn_merged_stage first, last; /* the stages are first .. last */
    enum sn_quantized_addition add;
    struct sn_convolution stage[SN_MERGED_STAGES]; /* plans of one image, with their parameters */

    struct sn_distances dense; /* of the source and of the result */
    size_t workSize;           /* bytes of workspace; may be 0 */
    size_t image, rest;        /* offsets in it: of the second image between stages, and of the stages' own workspace */
};

/* Computes all sizes for the stages' p, batch, table, first, last and add, which are set; false: one is too large. */
bool sn_merged_quantized_plan(struct sn_merged_quantized * m);

/* Sets the parameters of the stages and, if it adds, the numbers of the addition; with a fault, all stay unchanged. */
struct sn_fault sn_merged_quantized_set(struct sn_merged_quantized * m, const struct sn_set_params * given,
                                        const struct sn_add_quantized * sum);

/* The bytes that the stages occupy; 0 before SetParams. */
size_t sn_merged_quantized_memory(const struct sn_merged_quantized * m);

void sn_merged_quantized_free(struct sn_merged_quantized * m);

/* Computes all images. */
void sn_merged_quantized_forward(const struct sn_merged_quantized * m, const struct sn_arrays * a);

#endif
