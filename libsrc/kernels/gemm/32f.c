/*
 * The tile of floats, kernels/gemm/32f.h, in the shapes of the instruction set: whole vectors (TILE_SHAPES), and those whose
 * last vector is half (TILE_SHAPES_HALF), which may be none. TILE_PREFETCHES(vectors) tells which of the former prefetch.
 */
#include <tiles_32f.h>

#include "contract/gemm.h"
#include "kernels/gemm/32f.h"
#include "kernels/install.h"
#include "kernels/gemm/tile_shapes.h"

#define TILE_NAME_HALF(rows, vectors) tile_##rows##x##vectors##_half,
#define TILE_INSTANCES_HALF(rows, vectors)                                                                                  \
    ROWS_##rows(TILE_HALF, vectors) static const tile_fn tiles_##vectors##_half[] = {ROWS_##rows(TILE_NAME_HALF, vectors)};
TILE_SHAPES(TILE_INSTANCES)
TILE_SHAPES_HALF(TILE_INSTANCES_HALF)

#define RUN(rows, vectors) case vectors: tile_column(g, tiles_##vectors, rows); return;
#define RUN_HALF(rows, vectors) case vectors: tile_column(g, tiles_##vectors##_half, rows); return;

static void run(const struct sn_gemm_32f * g)
{
    const size_t vectors = sn_ceil_div(g->columns, V32F_N);
    if (vectors * V32F_N - g->columns >= V32F_N / 2)
        switch (vectors) { TILE_SHAPES_HALF(RUN_HALF) }
    switch (vectors) { TILE_SHAPES(RUN) }
}

static const struct tile_shape shapes[] = {TILE_SHAPES(TILE_SHAPE)};

SN_INSTALL(gemm_32f, gemm)
{
    const struct tile_shape widest = shapes[sizeof(shapes) / sizeof(shapes[0]) - 1];
    slots->tile_32f = (struct sn_gemm_32f_tile){.run = run, .rows = widest.rows, .columns = widest.vectors * V32F_N,
        .granule = TILE_GRANULE};
}
