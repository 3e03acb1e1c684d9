/* Quantisation of a tensor by the minimum and maximum of each of its channels; include/simdnet.h has the formulas. */
#ifndef SN_OPS_BYTES_STATISTICS_H
#define SN_OPS_BYTES_STATISTICS_H

#include <math.h>

#include "runtime/common.h"

/* Computes the difference between the values of adjacent bytes of each channel; returns the byte of 0. */
static inline float sn_steps(const sn_32f * min, const sn_32f * max, size_t channels, sn_32f * step)
{
    bool neg = false;
    for (size_t i = 0; i < channels; ++i)
        neg |= min[i] < 0;
    for (size_t i = 0; i < channels; ++i) {
        const float low = fabsf(min[i]), high = fabsf(max[i]);
        const float inv = (low > high ? low : high) / (neg ? 127.0f : 255.0f);
        step[i] = inv < 1e-7f ? 1 : inv;
    }
    return neg ? 128 : 0;
}

#endif
