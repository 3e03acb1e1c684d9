/*
 * Convolution of floats: the choice of an algorithm for a shape, and what all algorithms share.
 *
 * A plan is made once for a shape and an instruction set. It holds the packed weights, the bias and the parameters of the
 * activation, never a pointer of the caller, and Forward does not change it: many threads may run one plan.
 */
#ifndef SN_OPS_CONVOLUTION_32F_H
#define SN_OPS_CONVOLUTION_32F_H

#include "core/table.h"

struct sn_convolution_32f;

/* One way to compute a convolution: a room of its own, ops/convolution_32f_<name>.c. */
struct sn_convolution_32f_way {
    const char * name;

    /* True when it can take this shape on this instruction set. */
    bool (*takes)(const struct sn_convolution_32f * c);

    /* Computes sizes: weightSize, channels, workSize and what is its own. False when one is too large for an array. */
    bool (*plan)(struct sn_convolution_32f * c);

    /* Writes weightSize floats from the caller's weights. */
    void (*pack)(const struct sn_convolution_32f * c, const float * weight, float * packed);

    /* Copies an array of one float per output channel to where it wants it among `channels` floats, which are zero. */
    void (*spread)(const struct sn_convolution_32f * c, const float * values, float * spread);

    /* Computes all images. work: workSize floats, aligned to SN_ALIGN. */
    void (*forward)(const struct sn_convolution_32f * c, const float * src, float * work, float * dst);
};

struct sn_convolution_32f {
    SimdConvolutionParameters p;
    size_t batch;
    const struct sn_table * table;
    const struct sn_convolution_32f_way * way;

    size_t srcSize, dstSize;   /* floats of one image */
    size_t weightSize;         /* floats of the packed weights */
    size_t channels;           /* floats of an array with one value per output channel, as the algorithm spreads it */
    size_t workSize;           /* floats of workspace for one thread; may be 0 */

    float * held;              /* everything that SetParams gave, heldSize floats; NULL before */
    size_t heldSize;
    const float * weight;      /* in held */
    const float * bias;        /* in held: `channels` floats */
    const float * slope;       /* in held: `channels` floats for Prelu and LeakyRelu (all the same then), else NULL */
    float param[2];            /* of the other activations */

    /* What the algorithms plan for themselves. */
    size_t bandRows;           /* output rows computed from one band of input */
};

/* The number of floats in the `params` of an activation. */
size_t sn_activation_params(SimdConvolutionActivationType activation, size_t channels);

/* Chooses the algorithm and computes all sizes for p, batch and table, which are set; false: one is too large. */
bool sn_convolution_32f_plan(struct sn_convolution_32f * c);

/* Takes in weights, bias (may be NULL) and parameters; false without memory, and then the plan is as before. */
bool sn_convolution_32f_set(struct sn_convolution_32f * c, const float * weight, const float * bias, const float * params);

void sn_convolution_32f_forward(const struct sn_convolution_32f * c, const float * src, float * work, float * dst);

#endif
