/* The activations that need a second pass, over the results of one channel: rows of a plane. */
#ifndef SN_KERNELS_ACTIVATE_PLANE_H
#define SN_KERNELS_ACTIVATE_PLANE_H

#include "kernels/activate.h"

SN_INLINE void activate_some(sn_32f * at, size_t n, enum sn_activation activation, v32f slope, v32f p0, v32f p1)
{
    if (n == V32F_N)
        v_store_32f(at, activate_32f(v_load_32f(at), activation, slope, p0, p1));
    else
        v_store_tail_32f(at, activate_32f(v_load_tail_32f(at, n), activation, slope, p0, p1), n);
}

/* Rows are `step` floats apart. Does nothing for activations without a second pass. */
static void activate_plane(sn_32f * dst, size_t rows, size_t columns, size_t step, enum sn_activation activation,
                           float slope, const sn_32f * param)
{
    if (!second_pass(activation))
        return;
    if (activates_rows(activation)) {
        ACTIVATE_ROWS(dst, rows, columns, step, activation, param);
        return;
    }
    const v32f of_channel = v_set_32f(slope), p0 = v_set_32f(param[0]), p1 = v_set_32f(param[1]);
    if (step == columns) {
        columns *= rows;
        rows = 1;
    }
    for (size_t y = 0; y < rows; ++y)
        for (size_t i = 0; i < columns; i += V32F_N)
            activate_some(dst + y * step + i, sn_min(columns - i, V32F_N), activation, of_channel, p0, p1);
}

#endif
