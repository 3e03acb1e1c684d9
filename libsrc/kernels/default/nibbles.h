/*
 * Products of numbers of 4 bits by signed bytes where the least products are those of pairs of 16 bits (dot_8i.h, TILE_GROUP
 * 2). An instruction set that adds two products of bytes replaces this header by one of the same name in its folder:
 *
 *   HAS_NIBBLES             whether it does
 *   nibble_products(a, b)   16-bit sums of two products of the bytes of a, 0 to 15, and of b; at most 3840
 */
#ifndef SN_KERNELS_DEFAULT_NIBBLES_H
#define SN_KERNELS_DEFAULT_NIBBLES_H

#include "kernels/vec.h"

enum { HAS_NIBBLES = 0 };

SN_INLINE v16i nibble_products(v32i a, v32i b)
{
    (void)a, (void)b;
    return v_set_16i(0);
}

#endif
