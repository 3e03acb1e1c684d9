/* Sums of the values of each channel. */
#ifndef SN_CONTRACT_CHANNEL_SUM_H
#define SN_CONTRACT_CHANNEL_SUM_H

#include "runtime/common.h"

/*
 * Sums of bfloat16 numbers, in float:
 *
 *   rows      sum[i] = sum over j of src[i * step + j], i < rows, j < size
 *   columns   sum[j] = sum over i of src[i * step + j]; the order of the additions of a column depends on `rows` alone
 */
typedef void (*sn_sums_16b_fn)(const sn_16b * src, size_t rows, size_t size, size_t step, sn_32f * sum);

/* The kernels of a level. */
struct sn_channel_sum_slots {
    sn_sums_16b_fn rows, columns;
};

#endif
