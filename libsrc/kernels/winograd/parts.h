/*
 * Parts of vectors and of images: lanes that are missing, positions that are inside.
 */
#ifndef SN_KERNELS_WINOGRAD_PARTS_H
#define SN_KERNELS_WINOGRAD_PARTS_H

#include "kernels/vec.h"

enum { SIDE = 9 }; /* the most rows or columns of pixels, and of coefficients */

SN_INLINE v32f load_lanes(const sn_32f * p, size_t lanes)
{
    return lanes == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, lanes);
}

SN_INLINE void store_lanes(sn_32f * p, v32f v, size_t lanes)
{
    if (lanes == V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, lanes);
}

/* The positions `step` apart in `length`; a division for each tile would take longer than the transform of a row. */
static size_t positions(size_t length, size_t step) { return step == 1 ? length : sn_ceil_div(length, step); }

/* The part of `size` positions from `begin` on, `step` apart, that is in 0 .. limit - 1; begin counts from -pad. */
static size_t inside(size_t begin, size_t pad, size_t size, size_t step, size_t limit, size_t * first)
{
    *first = sn_min(begin < pad ? positions(pad - begin, step) : 0, size);
    const size_t end = limit + pad > begin ? sn_min(positions(limit + pad - begin, step), size) : 0;
    return end > *first ? end - *first : 0;
}

#endif
