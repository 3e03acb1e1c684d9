/*
 * One row to four by the panels of the GEMM tile: the few sums of a panel would wait for each other, and for memory, so
 * those of several panels are computed together. The bits are those of the tile. Two rows: an LSTM of two sequences (1 MB of
 * R) takes 0.94 of the time with avx512, 0.87 with avx2.
 *
 * Three and four rows of 768 to 2304, 7 MB, take 0.87 and 0.72 of the time of the tile with avx512, 0.79 and 0.81 from
 * memory (avx2, three rows: 0.76 and 0.84). Four rows then reach the peak of multiply-adds, and from memory the speed of a
 * plain sum of the weights.
 *
 * What is left of one row, up to CHAINS vectors, is computed together too, with a last panel that is narrower: 960 to 40 takes
 * 0.72 of the time, 1152 to 48 0.68, 4096 to 120 0.66 (avx2 0.68, 0.66, 0.74; 1824 to 24 0.69; Xeon with AMX).
 *
 * Inner products of 768 to 768 (2 MB of weights) are 1.14 times as fast as with the tile, 1.06 with two rows; 384 to 384 1.11
 * and 1.16.
 *
 * A row is bound by reading the panels: 115 GB/s from the L2 cache of Zen 4, which is all it gives, 98 where they exceed it.
 * Neither software prefetch, 0.5 to 4 KB ahead, nor 2 or 8 panels at a time, nor panels of 8 vectors were faster there. On
 * a Xeon whose latency is longer, prefetching 1 KB ahead takes 0.85 to 0.95 of the time where all weights are 130 to 150 MB
 * (0.5 KB 0.88 to 0.96, 2 KB 0.9 to 1.02), 1.01 to 1.02 where they stay in its L3 cache, and 1.4 in the L2 cache: so this
 * depends on the size of B. One panel at a time takes 1.2 to 1.5 of the time from memory, 2 and 8 about 1.
 */
#include <tiles_32f.h>

#include "contract/gemm.h"
#include "kernels/activate.h"
#include "kernels/install.h"
#include "kernels/gemm/tile_shapes.h"

static const struct tile_shape shapes[] = {TILE_SHAPES(TILE_SHAPE)};

/* The vectors of a row of a panel, and the sums that are computed together: enough for the latency of a multiply-add in two
 * units. */
#define VECTORS shapes[sizeof(shapes) / sizeof(shapes[0]) - 1].vectors
enum { CHAINS = 8, MOST_ROWS = 4 };

#ifdef TILE_HALVES
enum { GRANULE = V32F_N / 2 };
#else
enum { GRANULE = V32F_N };
#endif

/*
 * As long as there are registers for two panels: four rows of one panel took 1.25 times as long as the tile with avx2, from
 * memory.
 */
enum { ROWS = V32F_N == 16 ? MOST_ROWS : V32F_N == 8 ? 3 : 2 };

/* The most sums of three or four rows. */
enum { SUMS = V32F_N == 16 ? 16 : 12 };

/* Floats from those that are multiplied to those of the same panel that are prefetched, and those of a cache line. */
enum { AHEAD = 256, LINE = 16 };

/* `count` panels from `first` on; all but these two are compile-time constants. */
SN_INLINE void panels_at_once(const struct sn_gemm_rows_32f * p, size_t first, size_t rows, size_t count, size_t vectors, bool far)
{
    const size_t width = vectors * V32F_N, column = first * width;
    const sn_32f * a = p->a, * b = p->b + column * p->depth;
    v32f sum[MOST_ROWS][CHAINS];
    SN_UNROLL for (size_t j = 0; j < count * vectors; ++j)
        SN_UNROLL for (size_t i = 0; i < rows; ++i) sum[i][j] = v_load_32f(p->bias + column + j * V32F_N);
    for (size_t k = 0; k < p->depth; ++k, ++a, b += width) {
        v32f factor[MOST_ROWS];
        SN_UNROLL for (size_t i = 0; i < rows; ++i) factor[i] = v_set_32f(a[i * p->lda]);
        SN_UNROLL for (size_t j = 0; j < count * vectors; ++j)
        {
            const sn_32f * next = b + j / vectors * p->depth * width + j % vectors * V32F_N;
            const v32f x = v_load_32f(next);
            if (far && j * V32F_N % LINE == 0)
                __builtin_prefetch((const void *)(next + AHEAD), 0, 3);
            SN_UNROLL for (size_t i = 0; i < rows; ++i) sum[i][j] = v_fma_32f(factor[i], x, sum[i][j]);
        }
    }
    SN_UNROLL for (size_t j = 0; j < count * vectors; ++j)
        SN_UNROLL for (size_t i = 0; i < rows; ++i) v_store_32f(p->c + i * p->ldc + column + j * V32F_N, sum[i][j]);
}

SN_INLINE void all_panels(const struct sn_gemm_rows_32f * p, size_t rows, bool far)
{
    const size_t together = (rows > 2 ? SUMS : CHAINS) / VECTORS / rows;
    size_t n = 0;
    for (; n + together <= p->panels; n += together)
        panels_at_once(p, n, rows, together, VECTORS, far);
    for (; n < p->panels; ++n)
        panels_at_once(p, n, rows, 1, VECTORS, far);
}

/* The last `count` vectors of one row, from column `first` of the panel on; the last one may be half. Both are constants. */
SN_INLINE void last_vectors(const struct sn_gemm_rows_32f * p, size_t first, size_t end, size_t count, bool half, bool far)
{
    const size_t width = VECTORS * V32F_N, whole = (count - half) / VECTORS * VECTORS, last = count - 1;
    const size_t narrow = (count - whole) * V32F_N - (half ? GRANULE : 0), tail = half ? GRANULE : V32F_N;
    const sn_32f * b = p->b + first * p->depth, * rest = b + whole * V32F_N * p->depth;
    v32f sum[CHAINS];
    SN_UNROLL for (size_t j = 0; j < count; ++j) sum[j] = v_load_tail_32f(p->bias + first + j * V32F_N, j < last ? V32F_N : tail);
    for (size_t k = 0; k < p->depth; ++k, b += width, rest += narrow) {
        const v32f factor = v_set_32f(p->a[k]);
        SN_UNROLL for (size_t j = 0; j < count; ++j)
        {
            const sn_32f * panel = b + j / VECTORS * p->depth * width + j % VECTORS * V32F_N;
            const sn_32f * next = j < whole ? panel : rest + (j - whole) * V32F_N;
            if (far && j * V32F_N % LINE == 0)
                __builtin_prefetch((const void *)(next + AHEAD), 0, 3);
            sum[j] = v_fma_32f(factor, j < last || !half ? v_load_32f(next) : v_load_tail_32f(next, tail), sum[j]);
        }
    }
    SN_UNROLL for (size_t j = 0; j < last; ++j) v_store_32f(p->c + first + j * V32F_N, sum[j]);
    v_store_tail_32f(p->c + first + last * V32F_N, sum[last], end - first - last * V32F_N);
}

/* Columns first .. end - 1 of one row. */
SN_INLINE void rest_of_row(const struct sn_gemm_rows_32f * p, size_t first, size_t end, bool half, bool far)
{
#define LAST(count) case count: last_vectors(p, first, end, count, half, far); break;
    switch (sn_ceil_div(end - first, V32F_N)) { LAST(1) LAST(2) LAST(3) LAST(4) LAST(5) LAST(6) LAST(7) LAST(8) }
#undef LAST
}

SN_INLINE void one_row(const struct sn_gemm_rows_32f * p, bool far)
{
    const size_t end = p->panels * VECTORS * V32F_N + p->columns, together = CHAINS / VECTORS;
    size_t n = 0;
    for (; n + together <= p->panels; n += together)
        panels_at_once(p, n, 1, together, VECTORS, far);
    const size_t first = n * VECTORS * V32F_N;
    if (GRANULE < V32F_N && sn_ceil_div(end, GRANULE) * GRANULE % V32F_N)
        rest_of_row(p, first, end, true, far);
    else
        rest_of_row(p, first, end, false, far);
}

/* In a second pass, which costs little beside reading B. */
static void activate(const struct sn_gemm_rows_32f * p)
{
    const v32f p0 = v_set_32f(p->param[0]), p1 = v_set_32f(p->param[1]);
    const size_t columns = p->panels * VECTORS * V32F_N + p->columns;
    for (size_t i = 0; i < p->rows; ++i)
        for (size_t n = 0; n < columns; n += V32F_N) {
            const size_t tail = sn_min(columns - n, V32F_N);
            sn_32f * c = p->c + i * p->ldc + n;
            const v32f slope = p->slope ? v_load_tail_32f(p->slope + n, tail) : v_zero_32f();
            v_store_tail_32f(c, activate_32f(v_load_tail_32f(c, tail), p->activation, slope, p0, p1), tail);
        }
    if (activates_rows(p->activation))
        ACTIVATE_ROWS(p->c, p->rows, columns, p->ldc, p->activation, p->param);
}

SN_INLINE void all_rows(const struct sn_gemm_rows_32f * p, bool far)
{
    if (p->rows == 1)
        one_row(p, far);
    else if (p->rows == 2)
        all_panels(p, 2, far);
    else if (ROWS > 2 && p->rows == 3)
        all_panels(p, 3, far);
    else if (ROWS > 3)
        all_panels(p, 4, far);
}

static void run(const struct sn_gemm_rows_32f * p)
{
    if (p->far && !V_COMPACT)
        all_rows(p, true);
    else
        all_rows(p, false);
    if (p->activation != SN_ACTIVATION_IDENTITY)
        activate(p);
}

SN_INSTALL(gemm_rows_32f, gemm) { slots->rows_32f = (struct sn_gemm_rows_32f_slot){run, ROWS}; }
