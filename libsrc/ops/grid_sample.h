/* Images at the positions of a grid, on several threads: arguments as in the public functions, checked and not empty. */
#ifndef SN_OPS_GRID_SAMPLE_H
#define SN_OPS_GRID_SAMPLE_H

#include "contract/table.h"

struct sn_grid_sample {
    const struct sn_table * table;
    size_t batch, channels, srcH, srcW, dstH, dstW;
    enum sn_grid_interpolation interpolation;
    enum sn_grid_padding padding;
    bool align;
    const sn_32f * src, * grid;
    sn_32f * dst;
};

void sn_grid_sample_32f(const struct sn_grid_sample * g);

#endif
