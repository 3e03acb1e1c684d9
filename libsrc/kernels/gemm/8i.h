/*
 * The register tile of struct sn_dot as a template: rows x (vectors * V32F_N) sums stay in registers during the loop over k.
 * Each step loads `vectors` vectors of B and 4 bytes of each row of A, which it broadcasts; dot_8i.h has the
 * multiplications.
 *
 * Sums are converted to results through an array in the L1 cache, except bytes of bounded values if 32 registers have space
 * for the sums and the constants of one vector after the other: storing and loading 24 sums takes 12 to 20 % of the time
 * that 64 channels take.
 */
#ifndef SN_KERNELS_GEMM_8I_H
#define SN_KERNELS_GEMM_8I_H

#include "contract/convolution_8i.h"
#include "kernels/result_8i.h"

#include <dot_8i.h>

/* The largest instance: arrays have this size, and an instance uses a part of it. */
enum { TILE_ROWS = 14, TILE_VECTORS = 4 };

enum { TOGETHER = 4 }; /* steps of one row */

typedef void (*tile_fn)(const struct sn_dot * g, const uint8_t * a, int32_t * sums);
/* How tiles convert sums to bytes. */
enum tile_results { TILE_BOUNDED, TILE_PLAIN, TILE_REQUANTISED };

typedef void (*tile_bytes_fn)(const struct sn_dot * g, const uint8_t * a, uint8_t * c, enum tile_results results);

/* A vector of B, kept as in kernels/gemm/32f.h; `narrow`: its numbers of 16 bits are bytes in memory. */
SN_INLINE v32i tile_weights(const uint8_t * b, int j, bool narrow)
{
    if (narrow)
        return v_cast_16i_32i(v_load_8i_16i(b + (size_t)j * (V8U_N / 2)));
    const v32i v = v_load_32i(b + (size_t)j * V8U_N);
    return V_FMA ? v_keep_32i(v) : v;
}

/*
 * One group of each row, at p, by that of a panel at b. One base pointer for three rows of A: with one for all, addresses need
 * too many registers.
 */
SN_INLINE const uint8_t * tile_step(v32i sum[TILE_ROWS][TILE_VECTORS], const uint8_t ** p, size_t step, const uint8_t * b,
                                    int rows, int vectors, bool narrow)
{
    v32i x[TILE_VECTORS];
    SN_UNROLL for (int j = 0; j < vectors; ++j) x[j] = tile_weights(b, j, narrow);
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        const v32i y = tile_load(p[i / 3] + (size_t)(i % 3) * step);
        SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = tile_dot(sum[i][j], y, x[j]);
    }
    SN_UNROLL for (int i = 0; i < rows; i += 3) p[i / 3] += 4;
    return b + vectors * V8U_N / (narrow ? 2 : 1);
}

/*
 * Sums of a result that take turns with the steps, so that about ten are computed at once: two units have a latency of
 * five. 672x1x1 to 832 by 1x1 takes 0.61 of the time with avxvnni, 1280x1x1 to 1000 0.48, 128x7x7 by 3x3 0.86 (Xeon with
 * AMX).
 */
enum { MOST_PARTS = 4 };

SN_INLINE int tile_parts(int rows, int vectors)
{
    return TILE_GROUP < 4 || vectors == TILE_VECTORS || rows * vectors > 6 ? 1 : rows * vectors > 3 ? 2 : MOST_PARTS;
}

/*
 * One segment. One row by weights that are bytes in memory has so few operations in a step that some are taken together: 0.90
 * of the time with avx512 by 4096 x 1024, 0.96 with avx2 (Zen 4). Prefetches in the panel only make products of bytes
 * slower: 1.0 to 1.2 times the time, 1 to 4 KB ahead.
 */
SN_INLINE const uint8_t * tile_multiply(v32i sum[MOST_PARTS][TILE_ROWS][TILE_VECTORS], const uint8_t * a, size_t step,
                                        size_t length, const uint8_t * b, int rows, int vectors, bool narrow)
{
    const int parts = tile_parts(rows, vectors);
    const size_t together = rows == 1 && narrow ? TOGETHER : (size_t)parts;
    const uint8_t * p[(TILE_ROWS + 2) / 3];
    SN_UNROLL for (int i = 0; i < rows; i += 3) p[i / 3] = a + (size_t)i * step;
    for (; together > 1 && length >= together; length -= together)
        SN_UNROLL for (size_t s = 0; s < together; ++s)
            b = tile_step(sum[s % (size_t)parts], p, step, b, rows, vectors, narrow);
    for (; length; --length)
        b = tile_step(sum[0], p, step, b, rows, vectors, narrow);
    return b;
}

SN_INLINE void tile_sums(const struct sn_dot * g, const uint8_t * a, v32i sum[TILE_ROWS][TILE_VECTORS], int rows,
                         int vectors, bool narrow)
{
    const int parts = tile_parts(rows, vectors);
    v32i part[MOST_PARTS][TILE_ROWS][TILE_VECTORS];
    SN_UNROLL for (int j = 0; j < vectors; ++j)
    {
        const v32i start = v_load_32i((const int32_t *)g->start + j * V32F_N);
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int s = 0; s < parts; ++s) part[s][i][j] = s ? v_set_32i(0) : start;
    }
    const uint8_t * b = g->b;
    for (size_t s = 0; s < g->segments; ++s)
        b = tile_multiply(part, a + g->segment[s], g->aStepX, g->length, b, rows, vectors, narrow);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < vectors; ++j)
        {
            sum[i][j] = part[0][i][j];
            SN_UNROLL for (int s = 1; s < parts; ++s) sum[i][j] = v_add_32i(sum[i][j], part[s][i][j]);
        }
}

SN_INLINE void tile(const struct sn_dot * g, const uint8_t * a, int32_t * sums, int rows, int vectors, bool narrow)
{
    v32i sum[TILE_ROWS][TILE_VECTORS];
    tile_sums(g, a, sum, rows, vectors, narrow);
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int j = 0; j < vectors; ++j) v_store_32i(sums + (i * vectors + j) * (int)V32F_N, sum[i][j]);
}

/* An instance, as a separate function so that the compiler can use all registers. */
#define TILE(rows, vectors)                                                                                                 \
    static __attribute__((noinline)) void tile_##rows##x##vectors(const struct sn_dot * g, const uint8_t * a,           \
                                                                  int32_t * sums)                                           \
    {                                                                                                                       \
        tile(g, a, sums, rows, vectors, false);                                                                             \
    }

/* The same with weights that are bytes in memory, for the height of the widest tile. */
#define TILE_NARROW(rows, vectors)                                                                                          \
    static __attribute__((noinline, unused)) void tile_narrow_##rows(const struct sn_dot * g, const uint8_t * a,            \
                                                                     int32_t * sums)                                        \
    {                                                                                                                       \
        tile(g, a, sums, rows, vectors, true);                                                                              \
    }

/* Converts four whole vectors of sums to bytes, as result_bounded() does; `plain` is a compile-time constant. */
SN_INLINE void tile_results(const struct sn_result_8i * r, v32i sum[TILE_ROWS][TILE_VECTORS], uint8_t * c, size_t step,
                            int rows, bool plain)
{
    const v32f zero = v_set_32f(r->zero);
    SN_UNROLL for (int j = 0; j < TILE_VECTORS; ++j)
    {
        const v32f norm = v_load_32f(r->norm + j * (int)V32F_N), bias = v_load_32f(r->bias + j * (int)V32F_N);
        const v32f scale = v_load_32f(r->scale + j * (int)V32F_N);
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const v32f v = v_add_32f(v_mul_32f(v_cvt_32i_32f(sum[i][j]), norm), bias), t = v_mul_32f(v, scale);
            sum[i][j] = v_cvt_32f_32i(plain ? t : v_add_32f(t, zero));
        }
    }
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        const v8u bytes = v_pack_32i_8u(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        v_store_8u(c + (size_t)i * step, plain ? bytes : v_min_8u(v_max_8u(bytes, v_load_8u(r->low)), v_load_8u(r->high)));
    }
}

/* The same as result_bounded_requantised() does. */
SN_INLINE void tile_requantised(const struct sn_result_8i * r, v32i sum[TILE_ROWS][TILE_VECTORS], uint8_t * c, size_t step,
                                int rows)
{
    const v32i offset = v_set_32i(r->offset);
    SN_UNROLL for (int j = 0; j < TILE_VECTORS; ++j)
    {
        const v32f norm = v_load_32f(r->norm + j * (int)V32F_N);
        const v32i first = v_load_32i(r->first + j * (int)V32F_N);
        SN_UNROLL for (int i = 0; i < rows; ++i) sum[i][j] = result_requantised(sum[i][j], first, norm, offset);
    }
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        const v8u bytes = v_pack_32i_8u(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        v_store_8u(c + (size_t)i * step, v_min_8u(v_max_8u(bytes, v_load_8u(r->low)), v_load_8u(r->high)));
    }
}

SN_INLINE void tile_bytes(const struct sn_dot * g, const uint8_t * a, uint8_t * c, int rows, enum tile_results results)
{
    v32i sum[TILE_ROWS][TILE_VECTORS];
    tile_sums(g, a, sum, rows, TILE_VECTORS, false);
    if (results == TILE_REQUANTISED)
        tile_requantised(g->result, sum, c, g->cStepX, rows);
    else if (results == TILE_PLAIN)
        tile_results(g->result, sum, c, g->cStepX, rows, true);
    else
        tile_results(g->result, sum, c, g->cStepX, rows, false);
}

/* An instance of four vectors with results that are result_is_quick(). */
#define TILE_BYTES(rows, vectors)                                                                                           \
    static __attribute__((noinline, unused)) void tile_bytes_##rows(const struct sn_dot * g, const uint8_t * a,         \
                                                                    uint8_t * c, enum tile_results results)                 \
    {                                                                                                                       \
        tile_bytes(g, a, c, rows, results);                                                                                 \
    }

/* Splits rows like tile_column(), for a whole panel of four vectors whose results are result_is_quick(). */
SN_INLINE void tile_column_bytes(const struct sn_dot * g, const tile_bytes_fn * tiles, size_t rows)
{
    const struct sn_result_8i * r = g->result;
    const enum tile_results results = r->requantised                ? TILE_REQUANTISED
                                      : result_is_plain(r, V8U_N) ? TILE_PLAIN
                                                                    : TILE_BOUNDED;
    const size_t count = sn_ceil_div(g->width, rows);
    const size_t height = g->width / count, taller = g->width % count;
    for (size_t y = 0; y < g->height; ++y) {
        const uint8_t * a = g->a + y * g->aStepY;
        uint8_t * c = g->c + y * g->cStepY;
        for (size_t i = 0; i < count; ++i) {
            const size_t h = height + (i < taller);
            tiles[h - 1](g, a, c, results);
            a += h * g->aStepX;
            c += h * g->cStepX;
        }
    }
}

/* Splits the rows of each y into the fewest tiles, of about equal height. tiles[h - 1] is the instance of height h. Sums of whole
 * vectors without a gap between rows are stored in place. */
SN_INLINE void tile_column(const struct sn_dot * g, const tile_fn * tiles, size_t rows, size_t vectors)
{
    SN_ALIGNED int32_t sums[TILE_ROWS * TILE_VECTORS * V32F_N];
    const struct sn_result_8i * r = g->result;
    const bool joined = vectors == 1 && g->columns == V32F_N && result_is_quick(r);
    const struct result_limits limits = joined ? result_limits_of(r) : (struct result_limits){{0}, {0}};
    const bool direct = r->sums && g->columns == vectors * V32F_N && g->cStepX == g->columns * sizeof(int32_t);
    const size_t count = sn_ceil_div(g->width, rows);
    const size_t height = g->width / count, taller = g->width % count; /* this many tiles are one row higher */
    for (size_t y = 0; y < g->height; ++y) {
        const uint8_t * a = g->a + y * g->aStepY;
        uint8_t * c = g->c + y * g->cStepY;
        for (size_t i = 0, x = 0; i < count; ++i) {
            const size_t h = height + (i < taller);
            tiles[h - 1](g, a + x * g->aStepX, direct ? (int32_t *)(void *)(c + x * g->cStepX) : sums);
            const size_t whole = joined ? h / 4 * 4 : 0;
            if (whole)
                result_joined(sums, r, &limits, c + x * g->cStepX, g->cStepX, whole);
            if (!direct && whole < h)
                result_rows(sums + whole * vectors * V32F_N, vectors * V32F_N, r, g->columns, c + (x + whole) * g->cStepX,
                            g->cStepX, h - whole);
            x += h;
        }
    }
}

#endif
