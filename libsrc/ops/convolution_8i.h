/* Quantised convolution: what SetParams makes of weights and statistics, and the choice of an algorithm. */
#ifndef SN_OPS_CONVOLUTION_8I_H
#define SN_OPS_CONVOLUTION_8I_H

#include "ops/convolution_dot.h"

/* base has the first. */
extern const struct sn_convolution_dot_way sn_convolution_8i_base, sn_convolution_8i_depthwise;

struct sn_convolution_8i {
    struct sn_convolution_dot dot;
    sn_32f * norm, * bias;         /* in dot.held, as all that follow */
    sn_32f * dstScale;
    uint8_t * low, * high;
    sn_32f * given;                /* the parameters of the activation, as the caller gave them */
    float dstZero;
    bool tame;                     /* see struct sn_result_8i */
};

/* A number given to SetParams that cannot be; `name` is NULL when all is well. */
struct sn_fault_8i {
    const char * name; /* as in "stats[0] of channel" */
    size_t channel;
    float value;
    const char * expected;
    bool memory; /* there was none */
};

/* Chooses the algorithm and computes all sizes for dot.p, dot.batch and dot.table, which are set; false: one is too large.
 * The plan is that of a struct sn_convolution_8i. */
bool sn_convolution_8i_plan(struct sn_convolution_dot * c);

/* Takes in weights, bias (may be NULL), parameters and statistics. With a fault the plan is as before. */
struct sn_fault_8i sn_convolution_8i_set(struct sn_convolution_8i * c, const sn_32f * weight, const sn_32f * bias,
                                         const sn_32f * params, const sn_32f * const * stats);

/* The part of the results that begins at `first` of the spread arrays. */
struct sn_result_8i sn_result_8i_of(const struct sn_convolution_8i * c, size_t first);

#endif
