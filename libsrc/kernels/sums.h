/* Sums of the lanes of many vectors at a time. */
#ifndef SN_KERNELS_SUMS_H
#define SN_KERNELS_SUMS_H

#include "kernels/vec.h"

/*
 * All lanes of r[i] combined in lane i: a tree with two zips and an operation for every vector but one; v_reduce_add_32f for
 * each would take four times as many operations. The order of operations is the same for all i. `combine` is a compile-time
 * constant.
 */
SN_INLINE v32f tree_of_lanes(v32f r[V32F_N], v32f (*combine)(v32f, v32f))
{
#define STEP(n)                                                                                                             \
    if (V32F_N > n)                                                                                                         \
    SN_UNROLL for (int i = 0; i < n; ++i) r[i] = combine(v_zip_low_32f(r[i], r[i + n]), v_zip_high_32f(r[i], r[i + n]))
    STEP(8);
    STEP(4);
    STEP(2);
    STEP(1);
#undef STEP
    return r[0];
}

SN_INLINE v32f sums_of_lanes(v32f r[V32F_N]) { return tree_of_lanes(r, v_add_32f); }

#endif
