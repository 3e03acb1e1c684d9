/* Regions of images as grids of bins, on several threads: arguments as in the public function, checked and not empty. */
#ifndef SN_OPS_ROI_ALIGN_H
#define SN_OPS_ROI_ALIGN_H

#include "contract/table.h"

struct sn_roi_align {
    const sn_32f * src, * regions;
    const sn_64i * images;
    size_t channels, srcH, srcW, count, dstH, dstW, ratio;
    float scale;
    bool max, half;
    sn_32f * dst;
};

/* False if there is no memory. */
bool sn_roi_align(const struct sn_roi_align * r);

#endif
