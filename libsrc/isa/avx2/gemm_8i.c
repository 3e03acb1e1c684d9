/* Tiles of quantised convolutions on AVX2, by 16-bit products: 12 sums, 2 vectors of B, one of A, and a product. */
#include "kernels/gemm_8i.h"
#include "kernels/install.h"

enum { TILE_GROUP = 2 };

SN_INLINE v32i tile_load(const uint8_t * p) { return tile_broadcast(p); }

SN_INLINE v32i tile_dot(v32i sum, v32i a, v32i b)
{
    return v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(a), v_cast_32i_16i(b)));
}

TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1)
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2)

static const tile_fn tiles_1[] = {tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1};
static const tile_fn tiles_2[] = {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2};

static void run(const struct sn_dot * g)
{
    switch (sn_ceil_div(g->columns, V32F_N)) {
    case 1: tile_column(g, tiles_1, 6, 1); break;
    default: tile_column(g, tiles_2, 6, 2);
    }
}

void ISA_FN(install_gemm_8i)(struct sn_table * table)
{
    table->gemm_8i = (struct sn_dot_tile){.run = run, .rows = 6, .columns = 2 * V32F_N, .granule = V32F_N,
        .group = TILE_GROUP, .number = 4 / TILE_GROUP, .biased = false};
}
