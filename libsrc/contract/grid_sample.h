/* Images at the positions of a grid: where the elements lie that are combined, and their sums. */
#ifndef SN_CONTRACT_GRID_SAMPLE_H
#define SN_CONTRACT_GRID_SAMPLE_H

#include "contract/enums.h"
#include "runtime/common.h"

/*
 * Elements of each axis around a position, at most, and positions of a block, a multiple of the lanes of any vector. A block
 * reads a few lines of each plane: with 64 positions, 32 planes of 160x160 took 1.4 times as long (bilinear; nearest 3 times),
 * since each line was fetched anew for several blocks. 512 positions gain nothing, and all arrays of a block are on the stack.
 */
enum { SN_GRID_TAPS = 4, SN_GRID_BLOCK = 256 };

/* Coordinates from low to high are inside. */
struct sn_grid_axis {
    size_t size;
    float low, high;
};

struct sn_grid_rule {
    enum sn_grid_interpolation interpolation;
    enum sn_grid_padding padding;
    bool align;
    struct sn_grid_axis y, x;
};

/* What an axis contributes to position n: weights, and masks, 0 for elements that count as 0. */
struct sn_grid_taps {
    float weight[SN_GRID_TAPS][SN_GRID_BLOCK];
    uint32_t mask[SN_GRID_TAPS][SN_GRID_BLOCK];
};

struct sn_grid_positions {
    /* Position n has elements row[i][n] + column[j][n] of a plane; rows are multiples of its width. */
    int32_t row[SN_GRID_TAPS][SN_GRID_BLOCK], column[SN_GRID_TAPS][SN_GRID_BLOCK];
    struct sn_grid_taps y, x;
    bool masked; /* some element counts as 0 */
};

/* Sets p for the pairs (x, y) of a grid; false if it cannot, and the driver has to. */
typedef bool (*sn_grid_locate_fn)(const struct sn_grid_rule * rule, const sn_32f * grid, size_t count,
                                  struct sn_grid_positions * p);

/* Planes of an image, and their results, which are `step` elements from those of the next plane. */
struct sn_grid_planes {
    const sn_32f * src;
    size_t width, size, count; /* size: elements of a plane */
    sn_32f * dst;
    size_t step;
};

/* The planes at the first `count` positions. */
typedef void (*sn_grid_values_fn)(const struct sn_grid_positions * p, size_t taps, size_t count,
                                  const struct sn_grid_planes * planes);

/* The kernels of a level. */
struct sn_grid_sample_slots {
    sn_grid_locate_fn locate;
    sn_grid_values_fn values;
};

#endif
