/*
 * Multiplication in the tile of quantised convolutions if no instruction multiplies bytes: by 16-bit products of pairs. An
 * instruction set that has such an instruction replaces this header by one of the same name in its folder:
 *
 *   TILE_GROUP            activations in a lane of A, which are multiplied together
 *   TILE_BIASED           whether 128 is subtracted from activations before they are multiplied
 *   tile_load(p)          4 bytes of A in every lane, in the form that tile_dot() expects
 *   tile_dot(sum, a, b)   sum, plus in each lane the products of the group of a with the group of b
 */
#ifndef SN_KERNELS_DEFAULT_DOT_8I_H
#define SN_KERNELS_DEFAULT_DOT_8I_H

#include "kernels/vec.h"

enum { TILE_GROUP = 2, TILE_BIASED = false };

SN_INLINE v32i tile_load(const uint8_t * p) { return v_broadcast_32i(p); }

SN_INLINE v32i tile_dot(v32i sum, v32i a, v32i b)
{
    return v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(a), v_cast_32i_16i(b)));
}

#endif
