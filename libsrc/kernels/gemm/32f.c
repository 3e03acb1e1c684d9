/*
 * The tile of floats, kernels/gemm/32f.h, in the shapes of the instruction set: whole vectors (TILE_SHAPES), those whose
 * last vector is half (TILE_SHAPES_HALF), and those that prefetch (TILE_SHAPES_PREFETCH); the last two lists may be empty.
 */
#include <tiles_32f.h>

#include "contract/gemm.h"
#include "kernels/gemm/32f.h"
#include "kernels/install.h"
#include "kernels/gemm/tile_shapes.h"

#define TILE_NAME_HALF(rows, vectors) tile_##rows##x##vectors##_half,
#define TILE_INSTANCES_HALF(rows, vectors)                                                                                  \
    ROWS_##rows(TILE_HALF, vectors) static const tile_fn tiles_##vectors##_half[] = {ROWS_##rows(TILE_NAME_HALF, vectors)};
#define TILE_NAME_PREFETCH(rows, vectors) tile_##rows##x##vectors##_prefetch,
#define TILE_INSTANCES_PREFETCH(rows, vectors)                                                                              \
    ROWS_##rows(TILE_PREFETCH, vectors)                                                                                     \
    static const tile_fn tiles_##vectors##_prefetch[] = {ROWS_##rows(TILE_NAME_PREFETCH, vectors)};

TILE_SHAPES(TILE_INSTANCES)
TILE_SHAPES_HALF(TILE_INSTANCES_HALF)
TILE_SHAPES_PREFETCH(TILE_INSTANCES_PREFETCH)

#define RUN(rows, vectors) case vectors: tile_column(g, tiles_##vectors, rows); return;
#define RUN_HALF(rows, vectors) case vectors: tile_column(g, tiles_##vectors##_half, rows); return;
#define RUN_PREFETCH(rows, vectors) case vectors: tile_column(g, tiles_##vectors##_prefetch, rows); return;

static void run(const struct sn_gemm_32f * g)
{
    const size_t vectors = sn_ceil_div(g->columns, V32F_N);
    if (vectors * V32F_N - g->columns >= V32F_N / 2)
        switch (vectors) { TILE_SHAPES_HALF(RUN_HALF) }
    else if (g->prefetch)
        switch (vectors) { TILE_SHAPES_PREFETCH(RUN_PREFETCH) }
    switch (vectors) { TILE_SHAPES(RUN) }
}

static const struct tile_shape shapes[] = {TILE_SHAPES(TILE_SHAPE)};

SN_INSTALL(gemm_32f, gemm)
{
    const struct tile_shape widest = shapes[sizeof(shapes) / sizeof(shapes[0]) - 1];
    slots->tile_32f = (struct sn_gemm_32f_tile){.run = run, .rows = widest.rows, .columns = widest.vectors * V32F_N,
        .granule = TILE_GRANULE};
}
