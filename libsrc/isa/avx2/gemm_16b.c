/* 6 x 16, as of floats: 12 of the 16 registers are sums, two hold B, one A. */
#include "kernels/gemm_16b_float.h"
#include "kernels/install.h"

TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1) TILE(7, 1) TILE(8, 1) TILE(9, 1) TILE(10, 1)
TILE(11, 1) TILE(12, 1)
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2)

static const tile_fn tiles_1[] = {tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1,
                                  tile_9x1, tile_10x1, tile_11x1, tile_12x1};
static const tile_fn tiles_2[] = {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2};

static void run(const struct sn_dot * g)
{
    if (g->columns <= V32F_N)
        tile_column(g, tiles_1, 12);
    else
        tile_column(g, tiles_2, 6);
}

void ISA_FN(install_gemm_16b)(struct sn_table * table)
{
    table->gemm_16b = (struct sn_dot_tile){.run = run, .rows = 6, .columns = 2 * V32F_N, .granule = V32F_N, .group = 2,
        .number = TILE_NUMBER, .biased = false};
}
