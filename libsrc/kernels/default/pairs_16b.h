/*
 * Depthwise convolution by an instruction that adds products of pairs of bfloat16 numbers. An instruction set that has one
 * replaces this header by one of the same name in its folder, with a function that returns whether it has computed the rows.
 */
#ifndef SN_KERNELS_DEFAULT_PAIRS_16B_H
#define SN_KERNELS_DEFAULT_PAIRS_16B_H

static bool depthwise_pairs(const struct sn_depthwise_nhwc * d)
{
    (void)d;
    return false;
}

#endif
