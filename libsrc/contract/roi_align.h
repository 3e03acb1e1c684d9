/*
 * Regions of images as grids of bins. Linear interpolation is separable: the rows of a bin are combined to a line first, then
 * the elements of the line.
 */
#ifndef SN_CONTRACT_ROI_ALIGN_H
#define SN_CONTRACT_ROI_ALIGN_H

#include "runtime/common.h"

enum { SN_ROI_LANES = 64 }; /* bins whose elements are combined at once, a multiple of the lanes of any vector */

/*
 * An element of a dimension that has a weight in a bin. A mean uses `high` alone, the sum of its weights. A maximum takes the
 * largest weight of positive elements, and of negative ones `low`, the smallest, which is 0 if some sample has no element.
 */
struct sn_roi_tap {
    size_t at;
    float high, low;
};

/* Tap t of bin n is at [t][n]; bins with fewer taps than others repeat one: in a mean with a weight of 0. */
struct sn_roi_bins {
    size_t bins, taps;
    const int32_t (*at)[SN_ROI_LANES];
    const float (*high)[SN_ROI_LANES], (*low)[SN_ROI_LANES];
};

/* The kernels of a level. An element whose weight is 0 counts as 0, whatever it is. */
struct sn_roi_align_slots {
    /* line(x) of n elements: the taps are rows of src, `step` elements from one to the next. Without taps it is 0. */
    void (*line)(const struct sn_roi_tap * tap, size_t taps, bool max, const sn_32f * src, size_t step, size_t n, sn_32f * line);
    /* At least 1 tap. */
    void (*bins)(const struct sn_roi_bins * b, bool max, const sn_32f * lines, sn_32f * dst);
};

#endif
