/* Products of a matrix and a vector. */
#ifndef SN_CONTRACT_INNER_PRODUCT_H
#define SN_CONTRACT_INNER_PRODUCT_H

#include "runtime/common.h"

/*
 * dst[i] = alpha * (sum over j of src[j] * weight[i * step + j]) + bias[i] + beta * dst[i] for i < count and j < size; bias
 * may be NULL, and with beta 0 dst is not read.
 */
struct sn_inner_product_32f {
    const sn_32f * src, * weight;
    size_t step, matrix; /* matrix: floats of all rows; a thread may compute some of the rows */
    const sn_32f * bias;
    size_t count, size;
    float alpha, beta;
    sn_32f * dst;
};
typedef void (*sn_inner_product_32f_fn)(const struct sn_inner_product_32f * p);

/* The kernels of a level. */
struct sn_inner_product_slots {
    sn_inner_product_32f_fn run_32f;
};

#endif
