/*
 * Kernels of matrix products in addition to the GEMM tile (contract/gemm.h).
 *
 * Panels for the tile, scaled during packing, so that the product needs no multiplication by alpha. A row of B is read from
 * end to end, over all panels, which suits hardware prefetchers: panel by panel, 49 x 512 x 4608 took 1.2 times as long.
 * A transposed B is packed by squares of V32F_N.
 *
 * Few rows, for which a copy of B is slower: C is updated by DEPTH rows of B at a time, in pieces that fit in the L1
 * cache, so that B is read in DEPTH long streams. 1 x 1000 x 1280 takes a third of the time of the tile and its panels.
 */
#include "contract/gemm.h"
#include "kernels/install.h"

/* ---- panels */

SN_INLINE void copy(const sn_32f * b, size_t full, size_t rest, v32f alpha, sn_32f * to)
{
    SN_UNROLL for (size_t n = 0; n < full; n += V32F_N) v_store_32f(to + n, v_mul_32f(alpha, v_load_32f(b + n)));
    if (rest)
        v_store_32f(to + full, v_mul_32f(alpha, v_load_tail_32f(b + full, rest)));
}

/* The last panel, of fewer columns. What is written beyond the end of a row is overwritten by the next row. */
static void narrow_panel(const struct sn_gemm_panels_32f * p, const sn_32f * b, size_t columns, sn_32f * panel)
{
    const v32f alpha = v_set_32f(p->alpha);
    const size_t rest = columns % V32F_N, full = columns - rest, width = p->narrow;
    for (size_t k = 0; k < p->depth; ++k) {
        size_t n = 0;
        for (; n < full; n += V32F_N)
            copy(b + k * p->step + n, V32F_N, 0, alpha, panel + k * width + n);
        if (rest)
            copy(b + k * p->step + n, 0, rest, alpha, panel + k * width + n);
    }
}

/* `wide` is a compile-time constant. */
SN_INLINE void wide_panels(const struct sn_gemm_panels_32f * p, size_t count, size_t wide)
{
    const v32f alpha = v_set_32f(p->alpha);
    for (size_t k = 0; k < p->depth; ++k)
        for (size_t i = 0; i < count; ++i)
            copy(p->b + k * p->step + i * wide, wide, 0, alpha, p->panel + i * p->pitch + k * wide);
}

static void panels(const struct sn_gemm_panels_32f * p)
{
    const size_t count = p->columns / p->wide, rest = p->columns % p->wide;
    if (p->wide == 2 * V32F_N)
        wide_panels(p, count, 2 * V32F_N);
    else
        wide_panels(p, count, 4 * V32F_N);
    if (rest)
        narrow_panel(p, p->b + count * p->wide, rest, p->panel + count * p->pitch);
}

/*
 * Packs `columns` rows of B, `depth` values of each, to rows of `room` floats; all at most V32F_N, and compile-time
 * constants for a whole square.
 */
SN_INLINE void square(const sn_32f * b, size_t step, size_t columns, size_t depth, v32f alpha, sn_32f * panel, size_t width,
                      size_t room)
{
    v32f r[V32F_N];
    SN_UNROLL for (size_t n = 0; n < V32F_N; ++n)
    {
        if (n >= columns)
            r[n] = v_zero_32f();
        else
            r[n] = depth == V32F_N ? v_load_32f(b + n * step) : v_load_tail_32f(b + n * step, depth);
        r[n] = v_mul_32f(alpha, r[n]);
    }
    v_transpose_32f(r);
    SN_UNROLL for (size_t k = 0; k < V32F_N; ++k)
        if (k < depth && room == V32F_N)
            v_store_32f(panel + k * width, r[k]);
        else if (k < depth)
            v_store_tail_32f(panel + k * width, r[k], room);
}

static __attribute__((noinline)) void part_of_square(const sn_32f * b, size_t step, size_t columns, size_t depth, v32f alpha,
                                                     sn_32f * panel, size_t width, size_t room)
{
    square(b, step, columns, depth, alpha, panel, width, room);
}

static void panels_transposed(const struct sn_gemm_panels_32f * p)
{
    const v32f alpha = v_set_32f(p->alpha);
    for (size_t n = 0; n < p->columns; n += V32F_N) {
        const size_t first = n / p->wide * p->wide; /* column of this panel */
        const size_t width = p->columns - first < p->wide ? p->narrow : p->wide;
        const size_t columns = sn_min(p->columns - n, V32F_N);
        const size_t room = sn_min(width - (n - first), V32F_N); /* floats left in a row */
        sn_32f * panel = p->panel + n / p->wide * p->pitch + (n - first);
        for (size_t k = 0; k < p->depth; k += V32F_N) {
            const sn_32f * b = p->b + n * p->step + k;
            if (columns == V32F_N && p->depth - k >= V32F_N)
                square(b, p->step, V32F_N, V32F_N, alpha, panel + k * width, width, V32F_N);
            else
                part_of_square(b, p->step, columns, sn_min(p->depth - k, V32F_N), alpha, panel + k * width, width, room);
        }
    }
}

/* ---- few rows */

enum { ROWS = V32F_N == 16 ? 4 : 2, DEPTH = 4, PIECE = 1024 }; /* ROWS * DEPTH factors are in registers */

/* C += alpha * A * B for columns begin .. end - 1 and `depth` steps from k on; k = 0 starts from beta * C. */
SN_INLINE void few_rows_of(const struct sn_gemm * g, size_t begin, size_t end, size_t k, int rows, int depth, bool start)
{
    const v32f beta = v_set_32f(g->beta);
    v32f a[ROWS][DEPTH];
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int d = 0; d < depth; ++d) a[i][d] = v_set_32f(g->alpha * g->A[(size_t)i * g->lda + k + (size_t)d]);
    for (size_t n = begin; n < end; n += V32F_N) {
        const size_t rest = sn_min(end - n, V32F_N);
        v32f b[DEPTH];
        SN_UNROLL for (int d = 0; d < depth; ++d)
        {
            const sn_32f * p = g->B + (k + (size_t)d) * g->ldb + n;
            b[d] = rest == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, rest);
        }
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            sn_32f * p = g->C + (size_t)i * g->ldc + n;
            v32f c = v_zero_32f();
            if (!start || g->beta != 0)
                c = rest == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, rest);
            if (start)
                c = v_mul_32f(c, beta);
            SN_UNROLL for (int d = 0; d < depth; ++d) c = v_fma_32f(a[i][d], b[d], c);
            if (rest == V32F_N)
                v_store_32f(p, c);
            else
                v_store_tail_32f(p, c, rest);
        }
    }
}

/* The first steps, so that the number of remaining ones is a multiple of DEPTH. */
SN_INLINE size_t few_rows_start(const struct sn_gemm * g, size_t begin, size_t end, int rows)
{
    const size_t depth = (g->K - 1) % DEPTH + 1;
    switch (depth) {
    case 1: few_rows_of(g, begin, end, 0, rows, 1, true); break;
    case 2: few_rows_of(g, begin, end, 0, rows, 2, true); break;
    case 3: few_rows_of(g, begin, end, 0, rows, 3, true); break;
    default: few_rows_of(g, begin, end, 0, rows, 4, true); break;
    }
    return depth;
}

SN_INLINE void few_rows(const struct sn_gemm * g, size_t begin, size_t end, int rows)
{
    for (size_t n = begin; n < end; n += PIECE) {
        const size_t to = sn_min(n + PIECE, end);
        for (size_t k = few_rows_start(g, n, to, rows); k < g->K; k += DEPTH)
            few_rows_of(g, n, to, k, rows, DEPTH, false);
    }
}

static void few(const struct sn_gemm * g, size_t begin, size_t end)
{
    switch (g->M) {
    case 1: few_rows(g, begin, end, 1); break;
    case 2: few_rows(g, begin, end, 2); break;
    case 3: few_rows(g, begin, end, ROWS < 3 ? ROWS : 3); break;
    default: few_rows(g, begin, end, ROWS); break;
    }
}

SN_INSTALL(gemm, gemm)
{
    slots->panels_32f[0] = panels;
    slots->panels_32f[1] = panels_transposed;
    slots->few_32f = (struct sn_gemm_few_32f){few, ROWS};
}
