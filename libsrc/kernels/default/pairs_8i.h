/*
 * Pairs of bytes of two lines as pairs of 16-bit numbers, for joined_8i.h of this folder. As with that, an instruction set may
 * replace this header by its own of the same name, which defines place(), joined_bytes() and pair(first, second, k).
 */
#ifndef SN_KERNELS_DEFAULT_PAIRS_8I_H
#define SN_KERNELS_DEFAULT_PAIRS_8I_H

#include "kernels/vec.h"

/* Channel 4 * i + k is in lane i of vector k, since extracting bytes of lanes is cheap. */
SN_INLINE size_t place(size_t c) { return c % 4 * V32F_N + c / 4; }

SN_INLINE v8u joined_bytes(const v32i v[4]) { return v_join_32i_8u(v[0], v[1], v[2], v[3]); }

/* Byte k of the lanes of two lines. */
SN_INLINE v32i pair(v8u first, v8u second, int k)
{
    const v32i a = v_cast_8u_32i(first), b = v_cast_8u_32i(second), low = v_set_32i(255);
    switch (k) {
    case 0: return v_put_byte_32i(v_and_32i(a, low), v_shl_32i(b, 16), 2);
    case 1: return v_put_byte_32i(v_and_32i(v_shr_32i(a, 8), low), v_shl_32i(b, 8), 2);
    case 2: return v_put_byte_32i(v_and_32i(v_shr_32i(a, 16), low), b, 2);
    default: return v_put_byte_32i(v_shr_32i(a, 24), v_shr_32i(b, 8), 2);
    }
}

#endif
