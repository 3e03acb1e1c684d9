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

static void run_whole(const struct sn_gemm_32f * g)
{
    const size_t vectors = sn_ceil_div(g->columns, V32F_N);
    if (vectors * V32F_N - g->columns >= V32F_N / 2)
        switch (vectors) { TILE_SHAPES_HALF(RUN_HALF) }
    switch (vectors) { TILE_SHAPES(RUN) }
}

/*
 * A panel that does not stay in the L1 cache is read from L2 by every tile. So a sum that is deep is divided: all rows are
 * computed by a part of the panel, then by the next one, and continue from C. On avx2, 736x31x31 to 736 by 1x1 takes 0.95 of
 * the time, 288x28x28 to 288 in 3 groups 0.93, 832x7x7 to 384 0.93, 192x17x17 by 1x7 0.94, 288x37x37 to 40 by 7x7 with stride
 * 4 0.93. Tiles of 16 floats read less of B for each product, and more of C: they would take 1.05 to 1.1 (a Xeon with AMX).
 */
enum { PART = 32 << 10 };
static const size_t DEEP = V32F_N == 16 ? SIZE_MAX : 36 << 10;

static const struct tile_shape shapes[] = {TILE_SHAPES(TILE_SHAPE)};

static struct tile_shape widest(void) { return shapes[sizeof(shapes) / sizeof(shapes[0]) - 1]; }

/* A part of a sum, `size` floats of B; its rows prefetch the next part together. */
static void run_part(const struct sn_gemm_32f * g, size_t size)
{
    struct sn_gemm_32f row = *g;
    if (!g->onward || !g->prefetch) {
        run_whole(g);
        return;
    }
    row.height = 1;
    row.prefetch = g->b + size;
    row.prefetchStep = size / (g->height * g->width);
    for (size_t y = 0; y < g->height; ++y) {
        run_whole(&row);
        row.a += g->aStepY, row.c += g->cStepY;
        row.from = row.from ? row.from + g->cStepY : NULL;
        row.prefetch += row.prefetchStep * g->width;
    }
}

/* Parts are some whole segments, or of one segment an even number of steps. */
static void run_parts(const struct sn_gemm_32f * g)
{
    const size_t width = sn_ceil_div(g->columns, TILE_GRANULE) * TILE_GRANULE, most = PART / sizeof(float) / width;
    const size_t steps = sn_ceil_div(g->length, 2 * sn_ceil_div(g->length, most)) * 2;
    const size_t segments = sn_ceil_div(g->segments, sn_ceil_div(g->segments, sn_max(most / g->length, 1)));
    struct sn_gemm_32f part = *g;
    part.activation = SN_ACTIVATION_IDENTITY;
    part.stream = false;
    for (size_t s = 0; s < g->segments; s += segments)
        for (size_t k = 0; k < g->length; k += steps) {
            part.a = g->a + k;
            part.segment = g->segment + s;
            part.segments = sn_min(segments, g->segments - s);
            part.length = sn_min(steps, g->length - k);
            if (s + segments >= g->segments && k + steps >= g->length)
                part.activation = g->activation;
            const size_t size = part.segments * part.length * width;
            run_part(&part, size);
            part.b += size;
            part.from = part.c;
            part.bias = part.beta = NULL;
            part.prefetch = g->onward ? g->prefetch : NULL;
        }
}

static void run(const struct sn_gemm_32f * g)
{
    const struct sn_gemm_32f_tile tile = {.rows = widest().rows, .granule = TILE_GRANULE, .deep = DEEP};
    if (sn_gemm_is_deep(&tile, g))
        run_parts(g);
    else
        run_whole(g);
}

SN_INSTALL(gemm_32f, gemm)
{
    slots->tile_32f = (struct sn_gemm_32f_tile){.run = run, .rows = widest().rows, .columns = widest().vectors * V32F_N,
        .granule = TILE_GRANULE, .deep = DEEP};
}
