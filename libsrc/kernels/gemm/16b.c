/* The bfloat16 tile, kernels/gemm/16b.h, in the shapes of the instruction set. */
#include <tiles_16b.h>

#include "contract/convolution_16b.h"
#include "kernels/gemm/16b.h"
#include "kernels/install.h"
#include "kernels/gemm/tile_shapes.h"

#include <dot_16b.h>

TILE_SHAPES(TILE_INSTANCES)

#define RUN(rows, vectors) case vectors: tile_column(g, tiles_##vectors, rows); break;

static void run(const struct sn_dot * g)
{
    switch (sn_ceil_div(g->columns, V32F_N)) { TILE_SHAPES(RUN) }
}

static const struct tile_shape shapes[] = {TILE_SHAPES(TILE_SHAPE)};

SN_INSTALL(gemm_16b, convolution_16b)
{
    const struct tile_shape widest = shapes[sizeof(shapes) / sizeof(shapes[0]) - 1];
    slots->tile = (struct sn_dot_tile){.run = run, .rows = widest.rows, .columns = widest.vectors * V32F_N,
        .granule = V32F_N, .group = 2, .number = TILE_NUMBER, .biased = false};
}
