/*
 * The tile of floats, kernels/gemm_32f.h, in the shapes of the instruction set: whole vectors (TILE_SHAPES), those whose
 * last vector is half (TILE_SHAPES_HALF), and those that prefetch (TILE_SHAPES_PREFETCH); the last two lists may be empty.
 *
 * A single row is computed apart: the few sums of a panel would wait for each other, so those of several panels are computed
 * together.
 */
#include <tiles_32f.h>

#include "contract/gemm.h"
#include "kernels/gemm_32f.h"
#include "kernels/install.h"
#include "kernels/tile_shapes.h"

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
#define WIDEST shapes[sizeof(shapes) / sizeof(shapes[0]) - 1]

/* ---- a vector by whole panels */

/* The sums that are computed together: enough for the latency of a multiply-add in two units. */
enum { CHAINS = 8 };

/* `count` panels from the one that b points to; `vectors` of a row of a panel. Both are compile-time constants. */
SN_INLINE void vector_panels(const struct sn_gemm_vector_32f * p, size_t first, size_t count, size_t vectors)
{
    const size_t width = vectors * V32F_N;
    const sn_32f * b = p->b + first * p->depth * width;
    v32f sum[CHAINS];
    SN_UNROLL for (size_t j = 0; j < count * vectors; ++j) sum[j] = v_load_32f(p->bias + first * width + j * V32F_N);
    for (size_t k = 0; k < p->depth; ++k, b += width) {
        const v32f a = v_set_32f(p->a[k]);
        SN_UNROLL for (size_t j = 0; j < count * vectors; ++j)
        {
            const sn_32f * row = b + j / vectors * p->depth * width + j % vectors * V32F_N;
            sum[j] = v_fma_32f(a, v_load_32f(row), sum[j]);
        }
    }
    SN_UNROLL for (size_t j = 0; j < count * vectors; ++j) v_store_32f(p->c + first * width + j * V32F_N, sum[j]);
}

static void vector(const struct sn_gemm_vector_32f * p)
{
    const size_t together = CHAINS / WIDEST.vectors;
    size_t i = 0;
    for (; i + together <= p->panels; i += together)
        vector_panels(p, i, together, WIDEST.vectors);
    for (; i < p->panels; ++i)
        vector_panels(p, i, 1, WIDEST.vectors);
}

SN_INSTALL(gemm_32f, gemm)
{
    slots->tile_32f = (struct sn_gemm_32f_tile){.run = run, .rows = WIDEST.rows, .columns = WIDEST.vectors * V32F_N,
        .granule = TILE_GRANULE};
    slots->vector_32f = vector;
}
