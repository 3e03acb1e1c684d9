/*
 * Tiles of quantised convolutions by sdot, which adds four products of signed bytes to each 32-bit sum. Activations
 * become signed as they are loaded: 128 less, which the start of the sums makes good.
 */
#include "kernels/gemm_8i.h"
#include "kernels/install.h"

enum { TILE_GROUP = 4 };

SN_INLINE v32i tile_load(const uint8_t * p) { return v_xor_32i(tile_broadcast(p), v_set_32i((int32_t)0x80808080)); }

SN_INLINE v32i tile_dot(v32i sum, v32i a, v32i b)
{
    return vdotq_s32(sum, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
}

TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1) TILE(7, 1) TILE(8, 1)
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2) TILE(7, 2) TILE(8, 2)
TILE(1, 3) TILE(2, 3) TILE(3, 3) TILE(4, 3) TILE(5, 3) TILE(6, 3) TILE(7, 3)
TILE(1, 4) TILE(2, 4) TILE(3, 4) TILE(4, 4) TILE(5, 4)

static const tile_fn tiles_1[] = {tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1};
static const tile_fn tiles_2[] = {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2, tile_7x2, tile_8x2};
static const tile_fn tiles_3[] = {tile_1x3, tile_2x3, tile_3x3, tile_4x3, tile_5x3, tile_6x3, tile_7x3};
static const tile_fn tiles_4[] = {tile_1x4, tile_2x4, tile_3x4, tile_4x4, tile_5x4};

static void run(const struct sn_dot * g)
{
    switch (sn_ceil_div(g->columns, V32F_N)) {
    case 1: tile_column(g, tiles_1, 8, 1); break;
    case 2: tile_column(g, tiles_2, 8, 2); break;
    case 3: tile_column(g, tiles_3, 7, 3); break;
    default: tile_column(g, tiles_4, 5, 4);
    }
}

/* The entry point that core/dispatch.c knows. */
void ISA_FN(install)(struct sn_table * table);

void ISA_FN(install)(struct sn_table * table)
{
    table->gemm_8i = (struct sn_dot_tile){.run = run, .rows = 5, .columns = 4 * V32F_N, .granule = V32F_N,
        .group = TILE_GROUP, .number = 4 / TILE_GROUP, .biased = true};
}
