/* Successive convolutions: expansion, depthwise, projection; the first or the last may be missing. */
#ifndef SN_OPS_CONVOLUTION_MERGED_32F_H
#define SN_OPS_CONVOLUTION_MERGED_32F_H

#include "ops/convolution/plan.h"

enum sn_merged_stage { SN_EXPANSION, SN_DEPTHWISE, SN_PROJECTION, SN_MERGED_STAGES };

struct sn_merged_convolution_32f {
    const struct sn_table * table;
    size_t batch;
    enum sn_merged_stage first, last; /* the stages are first .. last */
    bool add;                         /* adds the source to the sums of the last stage */
    struct sn_convolution stage[SN_MERGED_STAGES]; /* plans with their parameters */

    struct sn_distances dense;        /* of the source and of the result */
    size_t workSize;                  /* bytes of workspace for one thread; may be 0 */

    /* A step: `rows` output rows of the depthwise stage, from a ring of padded lines that the expansion fills. */
    size_t rows;
    size_t lines, line, pixel;        /* of the ring: lines, 0 without expansion; floats between them and between pixels */
    size_t bufferPixel;               /* floats between pixels of the depthwise result, which the projection reads */
    size_t buffer, band;              /* their offsets in the workspace, after the ring */
};

/* Computes all sizes for the stages' p, batch, table, first, last and add, which are set; false: one is too large. */
bool sn_merged_convolution_32f_plan(struct sn_merged_convolution_32f * m);

/* Sets the parameters of the stages; with a fault, all of them stay unchanged. */
struct sn_fault sn_merged_convolution_32f_set(struct sn_merged_convolution_32f * m, const struct sn_set_params * given);

/* The bytes that the stages occupy; 0 before SetParams. */
size_t sn_merged_convolution_32f_memory(const struct sn_merged_convolution_32f * m);

void sn_merged_convolution_32f_free(struct sn_merged_convolution_32f * m);

/* Computes all images. */
void sn_merged_convolution_32f_forward(const struct sn_merged_convolution_32f * m, const struct sn_arrays * a);

#endif
