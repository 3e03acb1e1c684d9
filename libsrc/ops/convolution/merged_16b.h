/* Successive convolutions of bfloat16 numbers: expansion, depthwise, projection; the first or the last may be missing. */
#ifndef SN_OPS_CONVOLUTION_MERGED_16B_H
#define SN_OPS_CONVOLUTION_MERGED_16B_H

#include "ops/convolution/merged_32f.h"

struct sn_merged_convolution_16b {
    const struct sn_table * table;
    size_t batch;
    enum sn_merged_stage first, last; /* the stages are first .. last */
    bool add;                         /* adds the source to the sums of the last stage */
    struct sn_convolution stage[SN_MERGED_STAGES]; /* plans with their parameters */

    struct sn_distances dense;        /* of the source and of the result */
    size_t workSize;                  /* bytes of workspace for one thread; may be 0 */

    /* A step: `rows` output rows of the depthwise stage, from `lines` lines of the expansion. */
    size_t rows, lines;
    size_t middle, sums, added, rest; /* offsets in the workspace, after these lines: the numbers between depthwise and
                                         projection, sums to which the source is added, the source as floats, that of the
                                         stages */
};

/* Computes all sizes for the stages' p, batch, table, first, last and add, which are set; false: one is too large. */
bool sn_merged_convolution_16b_plan(struct sn_merged_convolution_16b * m);

/* Sets the parameters of the stages; with a fault, all of them stay unchanged. */
struct sn_fault sn_merged_convolution_16b_set(struct sn_merged_convolution_16b * m, const struct sn_set_params * given);

/* The bytes that the stages occupy; 0 before SetParams. */
size_t sn_merged_convolution_16b_memory(const struct sn_merged_convolution_16b * m);

void sn_merged_convolution_16b_free(struct sn_merged_convolution_16b * m);

/* Computes all images. */
void sn_merged_convolution_16b_forward(const struct sn_merged_convolution_16b * m, const struct sn_arrays * a);

#endif
