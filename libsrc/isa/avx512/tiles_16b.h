/*
 * The shapes of tiles of bfloat16 convolutions where there are 32 registers, as of floats: 28 sums, two vectors of B, one of
 * A. The file that includes this has what kernels/gemm_16b.h wants.
 */
#ifndef SN_ISA_TILES_16B_H
#define SN_ISA_TILES_16B_H

#include "core/table.h"
#include "kernels/gemm_16b.h"

TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1) TILE(7, 1) TILE(8, 1) TILE(9, 1) TILE(10, 1)
TILE(11, 1) TILE(12, 1) TILE(13, 1) TILE(14, 1)
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2) TILE(7, 2) TILE(8, 2) TILE(9, 2) TILE(10, 2)
TILE(11, 2) TILE(12, 2) TILE(13, 2) TILE(14, 2)

static const tile_fn tiles_1[] = {tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1,
                                  tile_9x1, tile_10x1, tile_11x1, tile_12x1, tile_13x1, tile_14x1};
static const tile_fn tiles_2[] = {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2, tile_7x2, tile_8x2,
                                  tile_9x2, tile_10x2, tile_11x2, tile_12x2, tile_13x2, tile_14x2};

static void run(const struct sn_dot * g)
{
    if (g->columns <= V32F_N)
        tile_column(g, tiles_1, 14);
    else
        tile_column(g, tiles_2, 14);
}

/* What all tables of these tiles say. */
static void install_tiles(struct sn_table * table)
{
    table->gemm_16b = (struct sn_dot_tile){.run = run, .rows = 14, .columns = 2 * V32F_N, .granule = V32F_N, .group = 2,
        .number = TILE_NUMBER, .biased = false};
}

#endif
