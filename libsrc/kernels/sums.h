/* Sums of the lanes of many vectors at a time. */
#ifndef SN_KERNELS_SUMS_H
#define SN_KERNELS_SUMS_H

#include "kernels/vec.h"

/*
 * The sum of all lanes of r[i] in lane i: a tree with two zips and an addition for every vector but one; v_reduce_add_32f
 * for each would take four times as many operations. The order of additions is the same for all i.
 */
SN_INLINE v32f sums_of_lanes(v32f r[V32F_N])
{
#define STEP(n)                                                                                                             \
    if (V32F_N > n)                                                                                                         \
    SN_UNROLL for (int i = 0; i < n; ++i) r[i] = v_add_32f(v_zip_low_32f(r[i], r[i + n]), v_zip_high_32f(r[i], r[i + n]))
    STEP(8);
    STEP(4);
    STEP(2);
    STEP(1);
#undef STEP
    return r[0];
}

#endif
