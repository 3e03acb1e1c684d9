/*
 * The shapes of tiles of quantised convolutions where there are 32 registers of 16 sums: those of up to 24 sums, with 4
 * vectors of B, A and a product beside. The file that includes this has TILE_GROUP and what kernels/gemm_8i.h wants.
 */
#ifndef SN_ISA_TILES_8I_H
#define SN_ISA_TILES_8I_H

#include "core/table.h"
#include "kernels/gemm_8i.h"

TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1) TILE(7, 1) TILE(8, 1) TILE(9, 1) TILE(10, 1)
TILE(11, 1) TILE(12, 1) TILE(13, 1) TILE(14, 1)
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2) TILE(7, 2) TILE(8, 2) TILE(9, 2) TILE(10, 2)
TILE(11, 2) TILE(12, 2)
TILE(1, 3) TILE(2, 3) TILE(3, 3) TILE(4, 3) TILE(5, 3) TILE(6, 3) TILE(7, 3) TILE(8, 3)
TILE(1, 4) TILE(2, 4) TILE(3, 4) TILE(4, 4) TILE(5, 4) TILE(6, 4)
TILE_BYTES(1) TILE_BYTES(2) TILE_BYTES(3) TILE_BYTES(4) TILE_BYTES(5) TILE_BYTES(6)

static const tile_fn tiles_1[] = {tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1,
                                   tile_9x1, tile_10x1, tile_11x1, tile_12x1, tile_13x1, tile_14x1};
static const tile_fn tiles_2[] = {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2, tile_7x2, tile_8x2,
                                   tile_9x2, tile_10x2, tile_11x2, tile_12x2};
static const tile_fn tiles_3[] = {tile_1x3, tile_2x3, tile_3x3, tile_4x3, tile_5x3, tile_6x3, tile_7x3, tile_8x3};
static const tile_fn tiles_4[] = {tile_1x4, tile_2x4, tile_3x4, tile_4x4, tile_5x4, tile_6x4};
static const tile_bytes_fn bytes_4[] = {tile_bytes_1, tile_bytes_2, tile_bytes_3, tile_bytes_4, tile_bytes_5, tile_bytes_6};

static void run(const struct sn_dot * g)
{
    if (g->columns == V8U_N && result_is_bounded(g->result)) {
        tile_column_bytes(g, bytes_4, 6);
        return;
    }
    switch (sn_ceil_div(g->columns, V32F_N)) {
    case 1: tile_column(g, tiles_1, 14, 1); break;
    case 2: tile_column(g, tiles_2, 12, 2); break;
    case 3: tile_column(g, tiles_3, 8, 3); break;
    default: tile_column(g, tiles_4, 6, 4);
    }
}

/* What all tables of these tiles say. */
static void install_tiles(struct sn_table * table)
{
    table->gemm_8i = (struct sn_dot_tile){.run = run, .rows = 6, .columns = 4 * V32F_N, .granule = V32F_N,
        .group = TILE_GROUP, .number = 4 / TILE_GROUP, .biased = false};
}

#endif
