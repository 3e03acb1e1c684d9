/*
 * The tile of bytes, kernels/gemm/8i.h, in the shapes of the instruction set. If it has 32 registers (TILE_BYTES_SHAPES),
 * sums of whole panels of four vectors are converted to bytes in registers.
 */
#include <tiles_8i.h>

#include "contract/convolution_8i.h"
#include "kernels/gemm/8i.h"
#include "kernels/install.h"
#include "kernels/gemm/tile_shapes.h"

TILE_SHAPES(TILE_INSTANCES)

#ifdef TILE_BYTES_SHAPES
#define TILE_BYTES_NAME(rows, vectors) tile_bytes_##rows,
#define TILE_BYTES_INSTANCES(rows, vectors)                                                                                 \
    ROWS_##rows(TILE_BYTES, vectors) static const tile_bytes_fn tiles_bytes[] = {ROWS_##rows(TILE_BYTES_NAME, vectors)};

TILE_BYTES_SHAPES(TILE_BYTES_INSTANCES)

static bool run_bytes(const struct sn_dot * g)
{
    if (g->columns != V8U_N || !result_is_quick(g->result))
        return false;
    tile_column_bytes(g, tiles_bytes, sizeof(tiles_bytes) / sizeof(tiles_bytes[0]));
    return true;
}
#else
static bool run_bytes(const struct sn_dot * g) { return (void)g, false; }
#endif

#define RUN(rows, vectors) case vectors: tile_column(g, tiles_##vectors, rows, vectors); break;

static void run(const struct sn_dot * g)
{
    if (!run_bytes(g))
        switch (sn_ceil_div(g->columns, V32F_N)) { TILE_SHAPES(RUN) }
}

static const struct tile_shape shapes[] = {TILE_SHAPES(TILE_SHAPE)};

SN_INSTALL(gemm_8i, convolution_8i)
{
    const struct tile_shape widest = shapes[sizeof(shapes) / sizeof(shapes[0]) - 1];
    slots->tile = (struct sn_dot_tile){.run = run, .rows = widest.rows, .columns = widest.vectors * V32F_N,
        .granule = V32F_N, .group = TILE_GROUP, .number = 4 / TILE_GROUP, .biased = TILE_BIASED};
}
