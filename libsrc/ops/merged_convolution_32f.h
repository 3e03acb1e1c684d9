/* Convolutions one after the other: expansion, depthwise, projection, of which the first or the last may be missing. */
#ifndef SN_OPS_MERGED_CONVOLUTION_32F_H
#define SN_OPS_MERGED_CONVOLUTION_32F_H

#include "ops/convolution.h"

enum sn_merged_stage { SN_EXPANSION, SN_DEPTHWISE, SN_PROJECTION, SN_MERGED_STAGES };

struct sn_merged_convolution_32f {
    const struct sn_table * table;
    size_t batch;
    enum sn_merged_stage first, last; /* there are those from first to last */
    bool add;                         /* the source to the sums of the last */
    struct sn_convolution stage[SN_MERGED_STAGES]; /* plans, each with what SetParams gave it */

    size_t workSize;                  /* bytes of workspace for one thread; may be 0 */

    /* A step: so many output rows of the depthwise stage, from a ring of padded lines that the expansion fills. */
    size_t rows;
    size_t lines, line, pixel;        /* of the ring: lines, 0 without expansion; floats between them and between pixels */
    size_t bufferPixel;               /* floats between pixels of the depthwise result that the projection takes */
    size_t buffer, band;              /* where these begin in the workspace, behind the ring */
};

/* Computes all sizes for the stages' p, batch, table, first, last and add, which are set; false: one is too large. */
bool sn_merged_convolution_32f_plan(struct sn_merged_convolution_32f * m);

/* The stages that there are take in what they are given; with a fault, all of them are as before. */
struct sn_fault sn_merged_convolution_32f_set(struct sn_merged_convolution_32f * m, const struct sn_given * given);

/* The bytes that the stages hold; 0 before they are given something. */
size_t sn_merged_convolution_32f_held(const struct sn_merged_convolution_32f * m);

void sn_merged_convolution_32f_free(struct sn_merged_convolution_32f * m);

/* Computes all images. */
void sn_merged_convolution_32f_forward(const struct sn_merged_convolution_32f * m, const struct sn_arrays * a);

#endif
