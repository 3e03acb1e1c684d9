/*
 * Depthwise convolution by an instruction that adds products of pairs of bfloat16 numbers. An instruction set that has one
 * replaces this header by one of the same name in its folder, with a function that returns the kernel for a job, or NULL.
 */
#ifndef SN_KERNELS_DEFAULT_PAIRS_16B_H
#define SN_KERNELS_DEFAULT_PAIRS_16B_H

static sn_depthwise_nhwc_fn depthwise_pairs(const struct sn_depthwise_nhwc * d)
{
    (void)d;
    return NULL;
}

#endif
