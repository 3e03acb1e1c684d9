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
#include "kernels/gemm/few_8i.h"
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

/* ---- few bytes by few columns */

/* What lanes have, as few_rows() says; others are results that are not used. */
struct lanes {
    SN_ALIGNED uint8_t pick[FEW_GROUPS][V8U_N];
    SN_ALIGNED int32_t weight[FEW_GROUPS][V32F_N], start[V32F_N];
    SN_ALIGNED sn_32f norm[V32F_N], bias[V32F_N], scale[V32F_N];
    SN_ALIGNED uint8_t low[V8U_N], high[V8U_N]; /* again for each vector of sums */
    size_t rows;
};

static void find_lanes(const struct sn_dot * g, struct lanes * to)
{
    const struct sn_result_8i * r = g->result;
    to->rows = few_rows(g);
    for (size_t l = 0, row = 0, o = 0; l < V32F_N; ++l, ++o) {
        if (o == g->columns)
            o = 0, ++row;
        for (size_t k = 0; k < g->length; ++k) {
            to->weight[k][l] = ((const int32_t *)g->b)[k * V32F_N + o];
            for (size_t i = 0; i < 4; ++i)
                to->pick[k][4 * l + i] = (uint8_t)(row < to->rows ? row * g->aStepX + 4 * k + i : 0);
        }
        to->start[l] = ((const int32_t *)g->start)[o];
        to->norm[l] = r->norm[o], to->bias[l] = r->bias[o], to->scale[l] = r->scale[o];
        for (size_t i = l; i < V8U_N; i += V32F_N)
            to->low[i] = r->low[o], to->high[i] = r->high[o];
    }
}

/* Four vectors of results from `a`, `step` bytes apart. The groups of a `single` row in a vector, a constant, are broadcast. */
SN_INLINE void few_results(const struct sn_dot * g, const struct lanes * n, const uint8_t * a, size_t step, uint8_t * bytes,
                           bool single)
{
    v32i sum[4];
    SN_UNROLL for (size_t i = 0; i < 4; ++i) sum[i] = v_load_32i(n->start);
    for (size_t k = 0; k < g->length; ++k) {
        const v8u pick = v_load_8u(n->pick[k]);
        const v32i w = v_load_32i(n->weight[k]);
        SN_UNROLL for (size_t i = 0; i < 4; ++i)
        {
            const uint8_t * p = a + i * step;
            sum[i] = tile_dot(sum[i], single ? tile_load(p + 4 * k) : v_cast_8u_32i(v_pick_8u(p, pick)), w);
        }
    }
    const v32f norm = v_load_32f(n->norm), bias = v_load_32f(n->bias), scale = v_load_32f(n->scale), one = v_set_32f(1);
    const v32f zero = v_set_32f(((const struct sn_result_8i *)g->result)->zero);
    SN_UNROLL for (size_t i = 0; i < 4; ++i)
    {
        const v32f v = v_fma_32f(v_mul_32f(v_cvt_32i_32f(sum[i]), norm), one, bias);
        sum[i] = v_cvt_32f_32i(v_add_32f(v_mul_32f(v, scale), zero));
    }
    const v8u packed = v_pack_32i_8u(sum[0], sum[1], sum[2], sum[3]);
    v_store_8u(bytes, v_min_8u(v_max_8u(packed, v_load_8u(n->low)), v_load_8u(n->high)));
}

SN_INLINE void few_lines(const struct sn_dot * g, const struct lanes * n, bool single)
{
    SN_ALIGNED uint8_t bytes[V8U_N];
    const size_t step = n->rows * g->aStepX, size = n->rows * g->columns;
    const size_t inputs = (g->width - 1) * g->aStepX + 4 * g->length, results = g->width * g->columns;
    for (size_t y = 0; y < g->height; ++y) {
        const uint8_t * a = g->a + y * g->aStepY;
        uint8_t * c = g->c + y * g->cStepY;
        size_t from = 0, to = 0;
        for (; from + 3 * step + FEW_BYTES <= inputs && to + 3 * size + V32F_N <= results; from += 4 * step, to += 4 * size) {
            few_results(g, n, a + from, step, bytes, single); /* bytes behind those of a vector are overwritten by the next ones */
            SN_UNROLL for (size_t i = 0; i < 4; ++i) memcpy(c + to + i * size, bytes + i * V32F_N, V32F_N);
        }
        for (; to < results; from += step, to += size) {
            uint8_t last[FEW_BYTES] = {0};
            memcpy(last, a + from, sn_min(inputs - from, FEW_BYTES));
            few_results(g, n, last, 0, bytes, single);
            memcpy(c + to, bytes, sn_min(results - to, size));
        }
    }
}

static __attribute__((noinline, unused)) void run_few_bytes(const struct sn_dot * g)
{
    struct lanes n;
    find_lanes(g, &n);
    if (n.rows == 1)
        few_lines(g, &n, true);
    else
        few_lines(g, &n, false);
}

#define RUN(rows, vectors) case vectors: tile_column(g, tiles_##vectors, rows, vectors); break;

static void run(const struct sn_dot * g)
{
    if (TILE_GROUP == 4 && !TILE_BIASED && few_is_possible(g))
        run_few_bytes(g);
    else if (!run_bytes(g))
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
