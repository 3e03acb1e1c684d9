/* What products of floats and of bytes with matrices of 4 or 8 bits have in common. */
#ifndef SN_KERNELS_NBITS_H
#define SN_KERNELS_NBITS_H

#include "contract/gemm_nbits.h"
#include "kernels/vec.h"

/* Compile-time constants of an instance; zeros: each block has its own. */
struct form {
    int bits;
    bool zeros;
};

/* What does not depend on the row; units are words or bytes of it. */
struct look {
    v32f table;    /* the float of a number of 4 bits, less the zero if it is the same everywhere */
    v32f middle;   /* that zero */
    v32i block;    /* of each unit of a vector, relative to the first one's */
    int shift;     /* units of a block, as a power of 2 */
    size_t scales; /* of a vector, at least 1 */
};

/* With blocks of so many units, a power of two. */
SN_INLINE struct look look_of(size_t bits, size_t units, bool zeros)
{
    SN_ALIGNED float table[V32F_N];
    SN_ALIGNED int32_t block[V32F_N];
    struct look look = {.shift = __builtin_ctzll(units)};
    for (size_t i = 0; i < V32F_N; ++i) {
        table[i] = (float)i - (zeros ? 0 : 8);
        block[i] = (int32_t)(i >> look.shift);
    }
    look.table = v_load_32f(table);
    look.block = v_load_32i(block);
    look.middle = v_set_32f((float)(1 << (bits - 1)));
    look.scales = sn_ceil_div(V32F_N, units);
    return look;
}

/* The values of the blocks of a vector of words, in each word's lane. */
SN_INLINE v32f of_blocks(const struct look * look, const sn_32f * values, size_t n)
{
    return look->scales == 1 ? v_set_32f(*values) : v_lookup_32f(v_load_tail_32f(values, n), look->block);
}

/* Rows of the matrix from the first on; rows are `bytes` apart, those of blocks `blocks`. */
struct rows {
    const uint8_t * weight;
    const sn_32f * scale, * zero;
    size_t bytes, blocks;
};

#endif
