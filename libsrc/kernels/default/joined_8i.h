/*
 * Joins and multiplies lines of bytes for quantised depthwise convolution if no instruction multiplies bytes: by 16-bit
 * products of pairs, which are the halves of 32-bit lanes. An instruction set that has such an instruction replaces this
 * header by one of the same name in its folder:
 *
 *   JOINED, GROUPS          numbers in a 32-bit lane: 4 bytes, or 2 of 16 bits; vectors of joined lines
 *   joined(line, k, x)      vector k of a block (kernels/depthwise/block_8i.h) of four lines: x[0] of all, or x[0] of the first
 *                           two and x[1] of the others
 *   joined_dot(sum, x, w)   sum, plus in each lane the products of the numbers of x with those of w
 *   place(c), RUN           the position of byte c of a block in its vectors; RUN consecutive bytes stay together
 *   joined_bytes(v)         the bytes of such vectors of integers, saturated, in order
 *   load_two(p, q, n)       n bytes from p and n from q in one vector of bytes; n is at most half of it
 *   store_two(p, q, v, n)   the inverse
 *   place_two(second, c)    the index in that vector of byte c of p, or of q
 */
#ifndef SN_KERNELS_DEFAULT_JOINED_8I_H
#define SN_KERNELS_DEFAULT_JOINED_8I_H

#include "kernels/vec.h"

enum { JOINED = 2, RUN = 1, GROUPS = 4 / JOINED };

/* v_keep_32i stops gcc 12 from reordering the additions of products, which would spill them to memory. */
SN_INLINE v32i joined_dot(v32i sum, v32i x, v32i w)
{
    return v_keep_32i(v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(x), v_cast_32i_16i(w))));
}

#include <pairs_8i.h>

SN_INLINE void joined(const v8u line[4], int k, v32i x[GROUPS])
{
    SN_UNROLL for (int g = 0; g < GROUPS; ++g) x[g] = pair(line[2 * g], line[2 * g + 1], k);
}

/* Four bytes of one alternate with four of the other. */
SN_INLINE v8u load_two(const uint8_t * p, const uint8_t * q, size_t n)
{
    const v32i a = v_cast_8u_32i(v_load_tail_8u(p, n)), b = v_cast_8u_32i(v_load_tail_8u(q, n));
    return v_cast_32i_8u(v_cast_32f_32i(v_zip_low_32f(v_cast_32i_32f(a), v_cast_32i_32f(b))));
}

SN_INLINE void store_two(uint8_t * p, uint8_t * q, v8u v, size_t n)
{
    const v32f x = v_cast_32i_32f(v_cast_8u_32i(v));
    v_store_tail_8u(p, v_cast_32i_8u(v_cast_32f_32i(v_even_32f(x, x))), n);
    v_store_tail_8u(q, v_cast_32i_8u(v_cast_32f_32i(v_odd_32f(x, x))), n);
}

SN_INLINE size_t place_two(size_t second, size_t c) { return c / 4 * 8 + second * 4 + c % 4; }

#endif
