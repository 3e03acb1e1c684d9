/*
 * The register tile of contract/gemm.h as a template: rows x (vectors * V32F_N) sums stay in registers during the loop over
 * k. Each step loads `vectors` vectors of B and one element of each row of A, which it broadcasts. kernels/gemm/32f.c
 * instantiates the shapes that isa/<isa>/tiles_32f.h lists.
 *
 * The last `halves` of these vectors (none or one) are half vectors: an instruction set on which half the lanes take half
 * the time defines TILE_HALVES and the operations half_..._32f on the lower half of a v32f before it includes this.
 *
 * What is needed to reach the speed of the multiply-add units (gcc 12, clang 14; checked by tests/test_disassembly.py):
 *   - every loop over sums is unrolled by pragma, so that the arrays become registers;
 *   - few instructions other than loads and multiply-adds: if another program runs on the second thread of the core, they
 *     take slots of it. So a trip of the loop is two steps of k, seven rows of A share a base pointer, whose addressing modes
 *     reach the others (tile_row), and one test skips both prefetches: 97 instructions for 56 multiply-adds of 14 x 32. With
 *     116, a pointer for three rows and a step a trip, 1x1 convolutions were up to 1.08 times as slow then, alone equal;
 *   - everything that the loop does not need is in memory (struct tile_state): gcc moves what finds no general register to
 *     vector registers, and a move back from these is executed only after all multiply-adds that are still queued;
 *   - an instance computes all tiles of its height below each other, at most 8 of them, so that few stores lie between the
 *     sums of two tiles. More than 8 would have to wait for the stores of C, which fill the store queue;
 *   - hardware prefetchers predict the accesses to the panel of B and the rows of A, but not to other data.
 */
#ifndef SN_KERNELS_GEMM_32F_H
#define SN_KERNELS_GEMM_32F_H

#include "contract/gemm.h"
#include "kernels/activate.h"

/* The largest instance: arrays have this size, and an instance uses a part of it. */
enum { TILE_ROWS = 16, TILE_VECTORS = 4 };

/* A tile, and the number of tiles of its kind still to compute. It is in memory, and reloaded when needed. */
struct tile_state {
    const struct sn_gemm_32f * g;
    const sn_32f * a;
    sn_32f * c;
    size_t row, left;
    uintptr_t prefetch; /* what the next two steps prefetch, or 0 */
    size_t share;       /* bytes that two steps prefetch */
};

/* Computes `count` tiles of one height below each other. */
typedef void (*tile_fn)(const struct sn_gemm_32f * g, const sn_32f * a, sn_32f * c, size_t row, size_t count);

/* The last panel of B is narrowed to a multiple of this. */
#ifdef TILE_HALVES
enum { TILE_GRANULE = V32F_N / 2 };
#else
enum { TILE_GRANULE = V32F_N };
#define half_load_32f v_load_32f
#define half_store_32f v_store_32f
#define half_fma_32f(a, b, c) v_fma_32f(v_set_32f(*(a)), b, c)
#endif

/* Whether vector j is a half, and its first column; both are compile-time constants. */
#define IS_HALF(j) ((j) >= vectors - halves)
#define COLUMN(j) ((j) * V32F_N - (IS_HALF(j) ? ((j) - (vectors - halves)) * (V32F_N / 2) : 0))

/* Hides the origin of a pointer from the compiler. */
#define OPAQUE(p) __asm__("" : "+r"(p))

/*
 * A vector of B, in a register: gcc would make the load an operand of every multiply-add, and so repeat it, which takes up to
 * twice the time (256x14x14 to 512 by 3x3 with stride 2, tiles of 7 x 32, on Emerald Rapids; 1.37 on Zen 4). Without fused
 * multiply-adds, registers are too few.
 */
SN_INLINE v32f tile_load(const sn_32f * p, bool half)
{
    const v32f v = half ? half_load_32f(p) : v_load_32f(p);
    return V_FMA ? v_keep_32f(v) : v;
}

SN_INLINE void tile_store_vector(sn_32f * p, v32f v, bool half)
{
    if (half)
        half_store_32f(p, v);
    else
        v_store_32f(p, v);
}

SN_INLINE void tile_start(v32f sum[TILE_ROWS][TILE_VECTORS], const struct sn_gemm_32f * g, const sn_32f * c, size_t row,
                          int rows, int vectors, int halves)
{
    if (!g->bias) {
        const v32f zero = v_set_32f(g->from ? -0.0f : 0); /* added to a zero, it keeps the sign */
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = zero;
    } else if (g->byRow) {
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_set_32f(g->bias[row + (size_t)i]);
    } else {
        SN_UNROLL for (int j = 0; j < vectors; ++j)
        {
            const v32f bias = tile_load(g->bias + COLUMN(j), IS_HALF(j));
            SN_UNROLL for (int i = 0; i < rows; ++i) sum[i][j] = bias;
        }
    }
    if (g->from) {
        const sn_32f * from = g->from + (c - g->c);
        const size_t tail = g->columns - (size_t)COLUMN(vectors - 1);
        const v32f beta = v_set_32f(g->beta ? g->beta[0] : 1);
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const sn_32f * line = from + (size_t)i * g->cStepX;
            SN_UNROLL for (int j = 0; j < vectors - 1; ++j)
                sum[i][j] = v_fma_32f(beta, tile_load(line + COLUMN(j), IS_HALF(j)), sum[i][j]);
            sum[i][vectors - 1] = v_fma_32f(beta, v_load_tail_32f(line + COLUMN(vectors - 1), tail), sum[i][vectors - 1]);
        }
    }
}

/* The rows of A that share a base pointer. */
enum { TILE_GROUP = 7 };

/*
 * Row i of the group at p. `bytes` has the distances of 1, 3 and 5 rows; 2, 4 and 6 are multiples of these that an addressing
 * mode can express. They are hidden from the compiler, which would compute others and keep them.
 */
SN_INLINE const sn_32f * tile_row(const sn_32f * p, size_t bytes[3], int i)
{
    SN_UNROLL for (int n = 0; n < 3; ++n) OPAQUE(bytes[n]);
    const size_t offset = i == 5 ? bytes[2] : i > 0 && i % 3 == 0 ? (size_t)i / 3 * bytes[1] : (size_t)i * bytes[0];
    return (const sn_32f *)((uintptr_t)p + offset);
}

/* The step k after those of p and b. */
SN_INLINE void tile_step(v32f sum[TILE_ROWS][TILE_VECTORS], const sn_32f ** p, size_t bytes[3], const sn_32f * b, int k,
                         int rows, int vectors, int halves)
{
    v32f x[TILE_VECTORS];
    b += k * COLUMN(vectors);
    SN_UNROLL for (int j = 0; j < vectors; ++j) x[j] = tile_load(b + COLUMN(j), IS_HALF(j));
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        if (i % TILE_GROUP == 0)
            OPAQUE(p[i / TILE_GROUP]);
        const sn_32f * y = tile_row(p[i / TILE_GROUP], bytes, i % TILE_GROUP) + k;
        SN_UNROLL for (int j = 0; j < vectors; ++j)
            sum[i][j] = IS_HALF(j) ? half_fma_32f(y, x[j], sum[i][j]) : v_fma_32f(v_set_32f(*y), x[j], sum[i][j]);
    }
}

/* One segment, with B from b on; fetch: each two steps prefetch at->share bytes from at->prefetch on, unless that is 0. */
SN_INLINE void tile_multiply(v32f sum[TILE_ROWS][TILE_VECTORS], const sn_32f * a, size_t step, size_t length,
                             const sn_32f ** b, volatile struct tile_state * at, bool fetch, int rows, int vectors, int halves)
{
    if (!length)
        return;
    uintptr_t next = fetch ? at->prefetch : 0;
    const size_t share = fetch ? at->share : 0;
    const sn_32f * p[(TILE_ROWS + TILE_GROUP - 1) / TILE_GROUP], * q = *b;
    size_t bytes[3] = {step * sizeof(float), 3 * step * sizeof(float), 5 * step * sizeof(float)};
    SN_UNROLL for (int i = 0; i < rows; i += TILE_GROUP) p[i / TILE_GROUP] = a + (size_t)i * step;
    for (;;) {
        if (fetch && next) {
            SN_PREFETCH(next);
            if (share > SN_LINE)
                SN_PREFETCH(next + SN_LINE);
            next += share;
        }
        tile_step(sum, p, bytes, q, 0, rows, vectors, halves);
        if (length == 1) {
            q += COLUMN(vectors);
            break;
        }
        tile_step(sum, p, bytes, q, 1, rows, vectors, halves);
        SN_UNROLL for (int i = 0; i < rows; i += TILE_GROUP) p[i / TILE_GROUP] += 2;
        q += 2 * COLUMN(vectors);
        length -= 2;
        if (!length)
            break;
    }
    *b = q;
    if (fetch)
        at->prefetch = next;
}

/*
 * If a store takes as long as two multiply-adds, as on AVX-512, the last step of k and the stores are done row by row: the
 * stores of a whole tile at once would delay the next tile. Limits are applied even to results that have none, since a value
 * that has just been computed is stored faster than a sum: on Zen 4 multiply-adds and stores read registers by the same
 * port. The stores of 14 x 32 take 72 cycles at once, 43 row by row and 24 with limits. Narrower vectors gain nothing by it.
 */
enum { STORE_BY_ROW = V32F_N == 16 };

SN_INLINE bool tile_stores_by_row(const struct sn_gemm_32f * g)
{
    const enum sn_activation type = g->activation;
    return STORE_BY_ROW && g->segments && g->length &&
           (type == SN_ACTIVATION_IDENTITY || type == SN_ACTIVATION_RELU ||
            type == SN_ACTIVATION_RESTRICT_RANGE);
}

/* Applies limits to results that have been stored: those of no products, which are not stored row by row. */
static __attribute__((noinline, unused)) void limit_rows(const struct sn_gemm_32f * g, sn_32f * c, size_t rows)
{
    const struct limits limits = limits_of(g->activation, g->param);
    for (size_t i = 0; i < rows; ++i, c += g->cStepX)
        for (size_t j = 0; j < g->columns; j += V32F_N) {
            const size_t n = sn_min(g->columns - j, V32F_N);
            v_store_tail_32f(c + j, limit(v_load_tail_32f(c + j, n), limits), n);
        }
}

SN_INLINE void tile_activate_as(v32f sum[TILE_ROWS][TILE_VECTORS], const struct sn_gemm_32f * g, size_t row, int rows,
                                int vectors, int halves, enum sn_activation type)
{
    const v32f p0 = v_set_32f(g->param[0]), p1 = v_set_32f(g->param[1]);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < vectors; ++j)
        {
            v32f slope = p0;
            if (type == SN_ACTIVATION_PRELU && g->byRow)
                slope = v_set_32f(g->slope[row + (size_t)i]);
            else if (type == SN_ACTIVATION_PRELU)
                slope = tile_load(g->slope + COLUMN(j), IS_HALF(j));
            sum[i][j] = activate_32f(sum[i][j], type, slope, p0, p1);
        }
}

/* A copy of the loops for each activation, selected once per tile; others follow when the tile has been stored. */
SN_INLINE void tile_activate(v32f sum[TILE_ROWS][TILE_VECTORS], const struct sn_gemm_32f * g, size_t row, int rows,
                             int vectors, int halves)
{
#define AS(type) tile_activate_as(sum, g, row, rows, vectors, halves, SN_ACTIVATION_##type)
    switch (g->activation) {
    case SN_ACTIVATION_RELU:
        if (!STORE_BY_ROW)
            AS(RELU);
        break;
    case SN_ACTIVATION_PRELU: AS(PRELU); break;
    case SN_ACTIVATION_RESTRICT_RANGE:
        if (!STORE_BY_ROW)
            AS(RESTRICT_RANGE);
        break;
    case SN_ACTIVATION_HSWISH: AS(HSWISH); break;
    default: break;
    }
#undef AS
}

SN_INLINE void tile_store(v32f sum[TILE_ROWS][TILE_VECTORS], const struct sn_gemm_32f * g, sn_32f * c, int rows, int vectors,
                          int halves)
{
    const size_t tail = g->columns - (size_t)COLUMN(vectors - 1);
    if (tail == (halves ? V32F_N / 2 : V32F_N)) {
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < vectors; ++j)
                tile_store_vector(c + (size_t)i * g->cStepX + COLUMN(j), sum[i][j], IS_HALF(j));
    } else {
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            SN_UNROLL for (int j = 0; j < vectors - 1; ++j)
                tile_store_vector(c + (size_t)i * g->cStepX + COLUMN(j), sum[i][j], IS_HALF(j));
            v_store_tail_32f(c + (size_t)i * g->cStepX + COLUMN(vectors - 1), sum[i][vectors - 1], tail);
        }
    }
}

/*
 * Whether non-temporal stores are used, where they are known to be faster. It is tested once for a tile: tested for each
 * store, which were 28 jumps, 16x112x112 to 96 channels took 1.02 of the time when nothing is streamed. 256 bits wide it
 * gained nothing.
 */
SN_INLINE bool tile_streams(const struct sn_gemm_32f * g, int rows, int halves)
{
    return rows > 8 && !halves && tile_stores_by_row(g) && g->stream;
}

SN_INLINE void tile_store_by_row(v32f sum[TILE_ROWS][TILE_VECTORS], const struct sn_gemm_32f * g, const sn_32f * a,
                                 const sn_32f * b, sn_32f * c, int rows, int vectors, int halves, bool stream)
{
    const struct limits limits = limits_of(g->activation, g->param);
    const size_t aStep = g->aStepX, cStep = g->cStepX, tail = g->columns - (size_t)COLUMN(vectors - 1);
    const bool whole = tail == (halves ? V32F_N / 2 : V32F_N);
    v32f x[TILE_VECTORS];
    SN_UNROLL for (int j = 0; j < vectors; ++j) x[j] = tile_load(b + COLUMN(j), IS_HALF(j));
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        if (i > 0 && i % 3 == 0) {
            a += 3 * aStep, c += 3 * cStep;
            OPAQUE(a); /* otherwise all addresses are computed at once, which needs too many registers */
            OPAQUE(c);
        }
        const sn_32f * y = a + (size_t)(i % 3) * aStep;
        sn_32f * z = c + (size_t)(i % 3) * cStep;
        SN_UNROLL for (int j = 0; j < vectors; ++j)
        {
            const v32f v = IS_HALF(j) ? half_fma_32f(y, x[j], sum[i][j]) : v_fma_32f(v_set_32f(*y), x[j], sum[i][j]);
            if (stream)
                v_stream_32f(z + COLUMN(j), limit(v, limits));
            else if (j < vectors - 1 || whole)
                tile_store_vector(z + COLUMN(j), limit(v, limits), IS_HALF(j));
            else
                v_store_tail_32f(z + COLUMN(j), limit(v, limits), tail);
        }
    }
}

/*
 * A tile that continues from C, or adds to something, waits for those rows, which were last used in the previous pass and
 * are each in another page: so the previous tile prefetches them. 1.1 times as fast for 49 x 512 x 4608.
 */
SN_INLINE void tile_prefetch_next(const struct sn_gemm_32f * g, const sn_32f * from, int rows)
{
    uintptr_t next = (uintptr_t)from + (size_t)rows * g->cStepX * sizeof(float);
    for (int i = 0; i < rows; ++i, next += g->cStepX * sizeof(float)) {
        SN_PREFETCH(next);
        SN_PREFETCH(next + 64);
    }
}

/*
 * Rows of C that are only written are prefetched too, before the sums: 3 x 224 x 224 to 64 channels, whose result exceeds
 * the L2 cache, is 1.15 times as fast on Zen 4. On other processors (runtime/traits.c) it is slower: `coldC`.
 */
SN_INLINE void tile_prefetch_rows(const struct sn_gemm_32f * g, const sn_32f * c, int rows, int vectors)
{
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        if (i > 0 && i % 3 == 0) {
            c += 3 * g->cStepX;
            OPAQUE(c);
        }
        SN_UNROLL for (int j = 0; j < vectors; j += 64 / (V32F_N * 4))
            __builtin_prefetch(c + (size_t)(i % 3) * g->cStepX + j * V32F_N, 1);
    }
}

/*
 * What a tile prefetches is spread over its steps. A cache line in each step from the first on, until the next panel was
 * complete, filled the buffers in which loads of B wait too. With weights that are in no cache, products of 128 rows take
 * 0.84 to 0.92 of that time (AVX2 0.89 to 0.95), 16 to 64 rows with AVX2 0.75 to 0.87, Winograd's of 256x14x14 to 256 0.8 (a Xeon
 * with AMX). Two lines in each two steps of AVX2, of which most had been prefetched before, take up to 1.08.
 */
SN_INLINE size_t tile_share(const struct sn_gemm_32f * g, int rows)
{
    const size_t bytes = (size_t)rows * g->prefetchStep * sizeof(float), steps = sn_max(g->segments * g->length, 1);
    return sn_min(2 * bytes / steps + 1, 2 * (size_t)SN_LINE);
}

SN_INLINE void tile(volatile struct tile_state * at, bool fetches, int rows, int vectors, int halves)
{
    const struct sn_gemm_32f * g = at->g;
    sn_32f * c = at->c;
    v32f sum[TILE_ROWS][TILE_VECTORS];
    tile_start(sum, g, c, at->row, rows, vectors, halves);
    if (g->from)
        tile_prefetch_next(g, g->from + (c - g->c), rows);
    if (g->from != g->c && !g->coldC && !tile_streams(g, rows, halves))
        tile_prefetch_rows(g, c, rows, vectors);
    const sn_32f * b = g->b;
    if (fetches)
        at->prefetch = g->prefetch ? (uintptr_t)(g->prefetch + at->row * g->prefetchStep) : 0;
    for (size_t left = g->segments; left; --left) {
        g = at->g;
        const sn_32f * a = at->a + g->segment[g->segments - left];
        const size_t length = g->length - (left == 1 && tile_stores_by_row(g));
        tile_multiply(sum, a, g->aStepX, length, &b, at, fetches, rows, vectors, halves);
    }
    g = at->g, c = at->c;
    if (tile_stores_by_row(g)) {
        const sn_32f * last = at->a + g->segment[g->segments - 1] + g->length - 1;
        if (tile_streams(g, rows, halves))
            tile_store_by_row(sum, g, last, b, c, rows, vectors, halves, true);
        else
            tile_store_by_row(sum, g, last, b, c, rows, vectors, halves, false);
        return;
    }
    if (g->activation != SN_ACTIVATION_IDENTITY)
        tile_activate(sum, g, at->row, rows, vectors, halves);
    tile_store(sum, g, c, rows, vectors, halves);
    if (activates_rows(g->activation))
        ACTIVATE_ROWS(c, (size_t)rows, g->columns, g->cStepX, g->activation, g->param);
    if (STORE_BY_ROW && (g->activation == SN_ACTIVATION_RELU || g->activation == SN_ACTIVATION_RESTRICT_RANGE))
        limit_rows(g, c, (size_t)rows);
}

#define TILE_ARGUMENTS const struct sn_gemm_32f *g, const sn_32f *a, sn_32f *c, size_t row, size_t count

SN_INLINE void tile_all(TILE_ARGUMENTS, bool fetches, int rows, int vectors, int halves)
{
    volatile struct tile_state at;
    at.g = g, at.a = a, at.c = c, at.row = row, at.left = count;
    at.share = fetches && g->prefetch ? tile_share(g, rows) : 0;
    for (;;) {
        tile(&at, fetches, rows, vectors, halves);
        if (--at.left == 0)
            return;
        at.a += (size_t)rows * at.g->aStepX;
        at.c += (size_t)rows * at.g->cStepX;
        at.row += (size_t)rows;
    }
}

/* An instance, as a separate function so that the compiler can use all registers; and one whose last vector is half. */
#define TILE_AS(name, ...)                                                                                                  \
    static __attribute__((noinline)) void name(TILE_ARGUMENTS) { tile_all(g, a, c, row, count, __VA_ARGS__); }
#define TILE(rows, vectors) TILE_AS(tile_##rows##x##vectors, TILE_PREFETCHES(vectors), rows, vectors, 0)
#define TILE_HALF(rows, vectors) TILE_AS(tile_##rows##x##vectors##_half, TILE_PREFETCHES(vectors), rows, vectors, 1)

/* Splits the rows of each y into the fewest tiles, of about equal height. tiles[h - 1] is the instance of height h. */
SN_INLINE void tile_column(const struct sn_gemm_32f * g, const tile_fn * tiles, size_t rows)
{
    const size_t count = sn_ceil_div(g->width, rows);
    const size_t height = g->width / count, taller = g->width % count; /* this many tiles are one row higher */
    const size_t rest = taller * (height + 1);
    for (size_t y = 0; y < g->height; ++y) {
        const sn_32f * a = g->a + y * g->aStepY;
        sn_32f * c = g->c + y * g->cStepY;
        if (taller)
            tiles[height](g, a, c, 0, taller);
        tiles[height - 1](g, a + rest * g->aStepX, c + rest * g->cStepX, rest, count - taller);
    }
}

#endif
