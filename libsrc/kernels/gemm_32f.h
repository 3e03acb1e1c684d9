/*
 * The register tile of contract/gemm.h as a template: rows x (vectors * V32F_N) sums stay in registers while k runs. Each
 * step loads `vectors` vectors of B and one element of each row of A, which it broadcasts. kernels/gemm_32f.c instantiates
 * the shapes that isa/<isa>/tiles_32f.h lists.
 *
 * The last `halves` of these vectors (none or one) are halves, where half the lanes take half the time: an instruction set
 * for which that is so defines TILE_HALVES and the words half_..._32f for the lower half of a v32f before it includes this.
 *
 * What keeps it at the speed of the multiply-add units (gcc 12, clang 14; tests/test_disassembly.py watches it):
 *   - every loop over sums is unrolled by pragma, so that the arrays become registers;
 *   - one base pointer for three rows of A, the others at +aStep and +2 * aStep, which an address can express: with one
 *     pointer for all, address registers spill from 13 rows on;
 *   - each of these pointers goes on by itself where there are many, and all else waits in memory (struct tile_place): what
 *     finds no register, gcc keeps in vector registers, from where it comes back behind all multiply-adds that still wait
 *     for their turn;
 *   - an instance computes all tiles of its height below each other: few stores lie between the sums of two tiles then. More
 *     than 8 would have to wait for those of C, which fill the queue of stores;
 *   - the panel of B and the rows of A are what hardware prefetchers are made for; what comes after them is not.
 */
#ifndef SN_KERNELS_GEMM_32F_H
#define SN_KERNELS_GEMM_32F_H

#include "contract/gemm.h"
#include "kernels/activate.h"

/* The largest instance: arrays have this size, an instance uses its part of it. */
enum { TILE_ROWS = 16, TILE_VECTORS = 4 };

/* A tile, and how many of its kind are still to do. It is in memory, and read again when it is wanted. */
struct tile_place {
    const struct sn_gemm_32f * g;
    const sn_32f * a;
    sn_32f * c;
    size_t row, left;
};

/* So many tiles of one height below each other. */
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

/* Of vector j: whether it is a half, and its first column. All are constants. */
#define IS_HALF(j) ((j) >= vectors - halves)
#define AT(j) ((j) * V32F_N - (IS_HALF(j) ? ((j) - (vectors - halves)) * (V32F_N / 2) : 0))

/* Makes the compiler forget where a pointer comes from. */
#define OPAQUE(p) __asm__("" : "+r"(p))

SN_INLINE v32f tile_load(const sn_32f * p, bool half) { return half ? half_load_32f(p) : v_load_32f(p); }
SN_INLINE void tile_put(sn_32f * p, v32f v, bool half)
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
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_zero_32f();
    } else if (g->byRow) {
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_set_32f(g->bias[row + (size_t)i]);
    } else {
        SN_UNROLL for (int j = 0; j < vectors; ++j)
        {
            const v32f bias = tile_load(g->bias + AT(j), IS_HALF(j));
            SN_UNROLL for (int i = 0; i < rows; ++i) sum[i][j] = bias;
        }
    }
    if (g->from) {
        const sn_32f * from = g->from + (c - g->c);
        const size_t tail = g->columns - (size_t)AT(vectors - 1);
        const v32f beta = v_set_32f(g->beta ? g->beta[0] : 1);
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const sn_32f * line = from + (size_t)i * g->cStepX;
            SN_UNROLL for (int j = 0; j < vectors - 1; ++j)
                sum[i][j] = v_fma_32f(beta, tile_load(line + AT(j), IS_HALF(j)), sum[i][j]);
            sum[i][vectors - 1] = v_fma_32f(beta, v_load_tail_32f(line + AT(vectors - 1), tail), sum[i][vectors - 1]);
        }
    }
}

/* One segment, with B from b on; fetch: a cache line for each step, from `ahead` on. */
SN_INLINE void tile_multiply(v32f sum[TILE_ROWS][TILE_VECTORS], const sn_32f * a, size_t step, size_t length,
                             const sn_32f ** b, uintptr_t * ahead, bool fetch, int rows, int vectors, int halves)
{
    const sn_32f * p[(TILE_ROWS + 2) / 3];
    SN_UNROLL for (int i = 0; i < rows; i += 3) p[i / 3] = a + (size_t)i * step;
    for (; length; --length) {
        v32f x[TILE_VECTORS];
        if (rows > 6)
            SN_UNROLL for (int i = 0; i < rows; i += 3) OPAQUE(p[i / 3]);
        SN_UNROLL for (int j = 0; j < vectors; ++j) x[j] = tile_load(*b + AT(j), IS_HALF(j));
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const sn_32f * y = p[i / 3] + (size_t)(i % 3) * step;
            SN_UNROLL for (int j = 0; j < vectors; ++j)
                sum[i][j] = IS_HALF(j) ? half_fma_32f(y, x[j], sum[i][j]) : v_fma_32f(v_set_32f(*y), x[j], sum[i][j]);
        }
        SN_UNROLL for (int i = 0; i < rows; i += 3) ++p[i / 3];
        *b += AT(vectors);
        if (fetch) {
            SN_PREFETCH(*ahead);
            *ahead += 64;
        }
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
                slope = tile_load(g->slope + AT(j), IS_HALF(j));
            sum[i][j] = activate_32f(sum[i][j], type, slope, p0, p1);
        }
}

/* One copy of the loops for each activation, chosen once for a tile. Elu is too long for it, see tile_elu(). */
SN_INLINE void tile_activate(v32f sum[TILE_ROWS][TILE_VECTORS], const struct sn_gemm_32f * g, size_t row, int rows,
                             int vectors, int halves)
{
#define AS(type) tile_activate_as(sum, g, row, rows, vectors, halves, SN_ACTIVATION_##type)
    switch (g->activation) {
    case SN_ACTIVATION_RELU: AS(RELU); break;
    case SN_ACTIVATION_PRELU: AS(PRELU); break;
    case SN_ACTIVATION_RESTRICT_RANGE: AS(RESTRICT_RANGE); break;
    case SN_ACTIVATION_HSWISH: AS(HSWISH); break;
    default: break;
    }
#undef AS
}

SN_INLINE void tile_store(v32f sum[TILE_ROWS][TILE_VECTORS], const struct sn_gemm_32f * g, sn_32f * c, int rows, int vectors,
                          int halves)
{
    const size_t tail = g->columns - (size_t)AT(vectors - 1);
    if (tail == (halves ? V32F_N / 2 : V32F_N)) {
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < vectors; ++j)
                tile_put(c + (size_t)i * g->cStepX + AT(j), sum[i][j], IS_HALF(j));
    } else {
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            SN_UNROLL for (int j = 0; j < vectors - 1; ++j)
                tile_put(c + (size_t)i * g->cStepX + AT(j), sum[i][j], IS_HALF(j));
            v_store_tail_32f(c + (size_t)i * g->cStepX + AT(vectors - 1), sum[i][vectors - 1], tail);
        }
    }
}

/*
 * Where a store takes as long as two multiply-adds, as on AVX-512, the last step of k and the stores go row by row: the
 * stores of a whole tile at once would hold up the next one. There are limits also for results that have none, since what
 * has just been computed is stored faster than a sum: on Zen 4 multiply-adds and stores read registers by the same port. The
 * stores of 14 x 32 take 72 cycles at once, 43 row by row and 24 so. Narrower vectors are none the better for it.
 */
enum { ROW_BY_ROW = V32F_N == 16 };

SN_INLINE bool tile_finishes(const struct sn_gemm_32f * g)
{
    const enum sn_activation type = g->activation;
    return ROW_BY_ROW && g->segments && g->length &&
           (type == SN_ACTIVATION_IDENTITY || type == SN_ACTIVATION_RELU ||
            type == SN_ACTIVATION_RESTRICT_RANGE);
}

SN_INLINE void tile_finish(v32f sum[TILE_ROWS][TILE_VECTORS], const struct sn_gemm_32f * g, const sn_32f * a,
                           const sn_32f * b, sn_32f * c, int rows, int vectors, int halves)
{
    const struct limits limits = limits_of(g->activation, g->param);
    const size_t aStep = g->aStepX, cStep = g->cStepX, tail = g->columns - (size_t)AT(vectors - 1);
    const bool whole = tail == (halves ? V32F_N / 2 : V32F_N);
    v32f x[TILE_VECTORS];
    SN_UNROLL for (int j = 0; j < vectors; ++j) x[j] = tile_load(b + AT(j), IS_HALF(j));
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        if (i > 0 && i % 3 == 0) {
            a += 3 * aStep, c += 3 * cStep;
            OPAQUE(a); /* else all addresses are computed at once, and take more registers than there are */
            OPAQUE(c);
        }
        const sn_32f * y = a + (size_t)(i % 3) * aStep;
        sn_32f * z = c + (size_t)(i % 3) * cStep;
        SN_UNROLL for (int j = 0; j < vectors; ++j)
        {
            const v32f v = IS_HALF(j) ? half_fma_32f(y, x[j], sum[i][j]) : v_fma_32f(v_set_32f(*y), x[j], sum[i][j]);
            if (j < vectors - 1 || whole)
                tile_put(z + AT(j), limit(v, limits), IS_HALF(j));
            else
                v_store_tail_32f(z + AT(j), limit(v, limits), tail);
        }
    }
}

/* Elu, in a second pass over a tile that has just been stored: exp wants registers that the sums have. */
static __attribute__((noinline, unused)) void tile_elu(const struct sn_gemm_32f * g, sn_32f * c, size_t rows)
{
    const v32f p0 = v_set_32f(g->param[0]);
    for (size_t i = 0; i < rows; ++i, c += g->cStepX)
        for (size_t j = 0; j < g->columns; j += V32F_N) {
            const size_t n = sn_min(g->columns - j, V32F_N);
            const v32f v = v_load_tail_32f(c + j, n);
            v_store_tail_32f(c + j, activate_32f(v, SN_ACTIVATION_ELU, p0, p0, p0), n);
        }
}

/*
 * A tile that goes on from C, or adds to something, waits for its rows, which lie where the last pass has left them, far
 * away and each in another page: so the tile before asks for them. 1.1 times as fast for 49 x 512 x 4608.
 */
SN_INLINE void tile_announce(const struct sn_gemm_32f * g, const sn_32f * from, int rows)
{
    uintptr_t next = (uintptr_t)from + (size_t)rows * g->cStepX * sizeof(float);
    for (int i = 0; i < rows; ++i, next += g->cStepX * sizeof(float)) {
        SN_PREFETCH(next);
        SN_PREFETCH(next + 64);
    }
}

/*
 * Rows of C that are written only are asked for too, before the sums: 3 x 224 x 224 to 64 channels, whose result no second
 * cache holds, is 1.15 times as fast.
 */
SN_INLINE void tile_expect(const struct sn_gemm_32f * g, const sn_32f * c, int rows, int vectors)
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

SN_INLINE void tile(const volatile struct tile_place * at, bool fetch, int rows, int vectors, int halves)
{
    const struct sn_gemm_32f * g = at->g;
    sn_32f * c = at->c;
    v32f sum[TILE_ROWS][TILE_VECTORS];
    tile_start(sum, g, c, at->row, rows, vectors, halves);
    if (g->from)
        tile_announce(g, g->from + (c - g->c), rows);
    if (g->from != g->c)
        tile_expect(g, c, rows, vectors);
    const sn_32f * b = g->b;
    uintptr_t ahead = fetch ? (uintptr_t)(g->ahead + at->row * g->aheadStep) : 0;
    for (size_t left = g->segments; left; --left) {
        g = at->g;
        const sn_32f * a = at->a + g->segment[g->segments - left];
        const size_t length = g->length - (left == 1 && tile_finishes(g));
        tile_multiply(sum, a, g->aStepX, length, &b, &ahead, fetch, rows, vectors, halves);
    }
    g = at->g, c = at->c;
    if (tile_finishes(g)) {
        tile_finish(sum, g, at->a + g->segment[g->segments - 1] + g->length - 1, b, c, rows, vectors, halves);
        return;
    }
    if (g->activation != SN_ACTIVATION_IDENTITY)
        tile_activate(sum, g, at->row, rows, vectors, halves);
    tile_store(sum, g, c, rows, vectors, halves);
    if (g->activation == SN_ACTIVATION_ELU)
        tile_elu(g, c, (size_t)rows);
}

#define TILE_ARGUMENTS const struct sn_gemm_32f *g, const sn_32f *a, sn_32f *c, size_t row, size_t count

SN_INLINE void tile_all(TILE_ARGUMENTS, bool fetch, int rows, int vectors, int halves)
{
    volatile struct tile_place at;
    at.g = g, at.a = a, at.c = c, at.row = row, at.left = count;
    for (;;) {
        tile(&at, fetch, rows, vectors, halves);
        if (--at.left == 0)
            return;
        at.a += (size_t)rows * at.g->aStepX;
        at.c += (size_t)rows * at.g->cStepX;
        at.row += (size_t)rows;
    }
}

/*
 * An instance, as a function of its own so that the compiler gives it all registers; one whose last vector is half; and one
 * that fetches what comes next. That is another function, since it starts 20 cycles later, which short sums would feel.
 */
#define TILE_AS(name, ...)                                                                                                  \
    static __attribute__((noinline)) void name(TILE_ARGUMENTS) { tile_all(g, a, c, row, count, __VA_ARGS__); }
#define TILE(rows, vectors) TILE_AS(tile_##rows##x##vectors, false, rows, vectors, 0)
#define TILE_HALF(rows, vectors) TILE_AS(tile_##rows##x##vectors##_half, false, rows, vectors, 1)
#define TILE_AHEAD(rows, vectors) TILE_AS(tile_##rows##x##vectors##_ahead, true, rows, vectors, 0)

/* Cuts the rows of each y into the fewest tiles, of about equal height. tiles[h - 1] is the instance of height h. */
SN_INLINE void tile_column(const struct sn_gemm_32f * g, const tile_fn * tiles, size_t rows)
{
    const size_t count = sn_ceil_div(g->width, rows);
    const size_t height = g->width / count, taller = g->width % count; /* so many are one higher */
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
