/*
 * 14 x 32: 28 of the 32 registers are sums, two hold B, one A. The lone last vector of a panel goes with tiles 14 x 16: they
 * are as fast, since 4 sums hide the latency of the unit.
 *
 * A panel of 8 or 24 columns ends in half a vector: where vectors are worked off in two halves, it takes half the time, and
 * where they are not, as long as a whole one.
 */
#include "kernels/vec.h"

/*
 * Lower halves of vectors. By intrinsics, gcc 12 has only half of the registers for them, and copies sums to and fro. The
 * factor comes from memory in each multiply-add: 24 columns reach the peak so, and 0.89 of it with a register for both.
 */
#define TILE_HALVES
SN_INLINE v32f half_load_32f(const sn_32f * p)
{
    v32f v;
    __asm__("vmovups %1, %t0" : "=v"(v) : "m"(*(const float(*)[8])p));
    return v;
}
SN_INLINE void half_store_32f(sn_32f * p, v32f v) { __asm__("vmovups %t1, %0" : "=m"(*(float(*)[8])p) : "v"(v)); }
SN_INLINE v32f half_fma_32f(const sn_32f * a, v32f b, v32f c)
{
    __asm__("vfmadd231ps %2%{1to8%}, %t1, %t0" : "+v"(c) : "v"(b), "m"(*a));
    return c;
}

#include "kernels/gemm_32f.h"
#include "kernels/install.h"

/* Of 8, 16, 24 and 32 columns; the last ones may fetch ahead. */
#define HEIGHT(rows) TILE_HALF(rows, 1) TILE(rows, 1) TILE_HALF(rows, 2) TILE(rows, 2) TILE_AHEAD(rows, 2)
HEIGHT(1) HEIGHT(2) HEIGHT(3) HEIGHT(4) HEIGHT(5) HEIGHT(6) HEIGHT(7)
HEIGHT(8) HEIGHT(9) HEIGHT(10) HEIGHT(11) HEIGHT(12) HEIGHT(13) HEIGHT(14)

#define HEIGHTS(width)                                                                                                      \
    {tile_1x##width, tile_2x##width, tile_3x##width,  tile_4x##width,  tile_5x##width,  tile_6x##width,  tile_7x##width,    \
     tile_8x##width, tile_9x##width, tile_10x##width, tile_11x##width, tile_12x##width, tile_13x##width, tile_14x##width}
static const tile_fn tiles[][14] = {HEIGHTS(1_half), HEIGHTS(1), HEIGHTS(2_half), HEIGHTS(2), HEIGHTS(2_ahead)};

static void run(const struct sn_gemm_32f * g)
{
    const size_t width = (g->columns - 1) / (V32F_N / 2);
    tile_column(g, tiles[width + (width == 3 && g->ahead)], 14);
}

void ISA_FN(install_gemm_32f)(struct sn_table * table)
{
    table->gemm_32f = (struct sn_gemm_32f_tile){.run = run, .rows = 14, .columns = 2 * V32F_N, .granule = V32F_N / 2};
}
