/*
 * How the tile of quantised convolutions multiplies where no instruction multiplies bytes: by 16-bit products of pairs. A
 * level that has such an instruction has a header of this name in its folder, which is found before this one:
 *
 *   TILE_GROUP            activations that a lane of A holds, and that are multiplied together
 *   TILE_BIASED           they are multiplied less 128
 *   tile_load(p)          4 bytes of A in every lane, as tile_dot() takes them
 *   tile_dot(sum, a, b)   sum, and in each lane the products of the group of a with the group of b
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
