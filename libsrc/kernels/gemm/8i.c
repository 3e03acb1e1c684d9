/*
 * The tile of bytes, kernels/gemm/8i.h, in the shapes of the instruction set. If it has 32 registers (TILE_BYTES_SHAPES),
 * sums of whole panels of four vectors are converted to bytes in registers.
 *
 * Where it multiplies 16 bits, whole panels may also be bytes (TILE_NARROW_SHAPE, the widest shape), half of what is read: one
 * row by 4096 x 4096 takes 0.42 of the time with avx512, 0.35 with avx2, 0.58 with sse41 (Zen 4), by 1024 x 1024 0.81, 0.79
 * and 0.98; 4 rows by 512 x 512, which the caches hold, 0.97, 1.04 and 1.04.
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

#ifdef TILE_NARROW_SHAPE
#define TILE_NARROW_NAME(rows, vectors) tile_narrow_##rows,
#define TILE_NARROW_INSTANCES(rows, vectors)                                                                                \
    ROWS_##rows(TILE_NARROW, vectors) static const tile_fn tiles_narrow[] = {ROWS_##rows(TILE_NARROW_NAME, vectors)};       \
    enum { NARROW_ROWS = rows, NARROW_VECTORS = vectors };

TILE_NARROW_SHAPE(TILE_NARROW_INSTANCES)

static void run_narrow(const struct sn_dot * g) { tile_column(g, tiles_narrow, NARROW_ROWS, NARROW_VECTORS); }
#define RUN_NARROW (TILE_GROUP == 2 ? run_narrow : NULL)
#else
#define RUN_NARROW NULL
#endif

static const struct tile_shape shapes[] = {TILE_SHAPES(TILE_SHAPE)};

SN_INSTALL(gemm_8i, convolution_8i)
{
    const struct tile_shape widest = shapes[sizeof(shapes) / sizeof(shapes[0]) - 1];
    slots->tile = (struct sn_dot_tile){.run = run, .rows = widest.rows, .columns = widest.vectors * V32F_N,
        .run_narrow = RUN_NARROW, .granule = V32F_N, .group = TILE_GROUP, .number = 4 / TILE_GROUP, .biased = TILE_BIASED};
}
