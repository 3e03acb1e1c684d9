/*
 * The tile of contract/dot.h for bfloat16 as a template: rows x (vectors * V32F_N) sums stay in registers during the loop
 * over k. B has two bfloat16 numbers, of neighbouring k, in each lane. dot_16b.h has the multiplications.
 */
#ifndef SN_KERNELS_GEMM_16B_H
#define SN_KERNELS_GEMM_16B_H

#include "contract/convolution_16b.h"
#include "kernels/activate.h"

/* The largest instance: arrays have this size, and an instance uses a part of it. */
enum { TILE_ROWS = 14, TILE_VECTORS = 2 };

typedef void (*tile_fn)(const struct sn_dot * g, const uint8_t * a, uint8_t * c, sn_32f * sums);

SN_INLINE void tile_multiply(v32f sum[TILE_ROWS][TILE_VECTORS], const uint8_t * a, size_t step, size_t length,
                             const uint8_t * b, int rows, int vectors);
SN_INLINE void tile_store_16b(uint8_t * p, v32f v, size_t n);

/* The rows of A: one base pointer for three of them; with one for all, addresses need too many registers. */
struct rows_of_a {
    const uint8_t * base[(TILE_ROWS + 2) / 3];
};

SN_INLINE struct rows_of_a rows_from(const uint8_t * a, size_t step, int rows)
{
    struct rows_of_a p;
    SN_UNROLL for (int i = 0; i < rows; i += 3) p.base[i / 3] = a + (size_t)i * step;
    return p;
}

SN_INLINE const uint8_t * row_of(const struct rows_of_a * p, size_t step, int i)
{
    return p->base[i / 3] + (size_t)(i % 3) * step;
}

SN_INLINE void move_rows(struct rows_of_a * p, size_t bytes, int rows)
{
    SN_UNROLL for (int i = 0; i < rows; i += 3) p->base[i / 3] += bytes;
}

/* Stores limited sums as results. `narrow` is a compile-time constant. */
SN_INLINE void tile_put(v32f sum[TILE_ROWS][TILE_VECTORS], const struct sn_dot * g, uint8_t * c, bool narrow, int rows,
                        int vectors)
{
    const struct sn_result_16b * r = g->result;
    const struct limits limits = limits_of(r->activation, r->param);
    const size_t tail = g->columns - (size_t)(vectors - 1) * V32F_N, element = narrow ? 2 : sizeof(float);
    SN_UNROLL for (int i = 0; i < rows; ++i, c += g->cStepX)
        SN_UNROLL for (int j = 0; j < vectors; ++j)
        {
            const v32f v = limit(sum[i][j], limits);
            uint8_t * to = c + (size_t)j * V32F_N * element;
            if (narrow)
                tile_store_16b(to, v, j < vectors - 1 ? V32F_N : tail);
            else if (j < vectors - 1 || tail == V32F_N)
                v_store_32f(to, v);
            else
                v_store_tail_32f(to, v, tail);
        }
}

/* The sums of a tile, for activations that need many registers; those of activate_rows() have been applied. */
static __attribute__((noinline)) void tile_activate(const struct sn_dot * g, const sn_32f * sums, size_t step, size_t rows,
                                                    uint8_t * c)
{
    const struct sn_result_16b * r = g->result;
    const v32f p0 = v_set_32f(r->param[0]), p1 = v_set_32f(r->param[1]);
    for (; rows; --rows, sums += step, c += g->cStepX)
        for (size_t j = 0; j < g->columns; j += V32F_N) {
            const v32f slope = r->slope ? v_load_32f(r->slope + j) : p0;
            const v32f v = activate_32f(v_load_32f(sums + j), r->activation, slope, p0, p1);
            const size_t n = sn_min(g->columns - j, V32F_N);
            if (r->narrow)
                tile_store_16b(c + 2 * j, v, n);
            else
                v_store_tail_32f(c + sizeof(float) * j, v, n);
        }
}

SN_INLINE void tile(const struct sn_dot * g, const uint8_t * a, uint8_t * c, sn_32f * sums, int rows, int vectors)
{
    v32f sum[TILE_ROWS][TILE_VECTORS];
    SN_UNROLL for (int j = 0; j < vectors; ++j)
    {
        const v32f start = v_load_32f((const sn_32f *)g->start + j * V32F_N);
        SN_UNROLL for (int i = 0; i < rows; ++i) sum[i][j] = start;
    }
    const uint8_t * b = g->b;
    for (size_t s = 0; s < g->segments; ++s, b += g->length * (size_t)vectors * V8U_N)
        tile_multiply(sum, a + g->segment[s], g->aStepX, g->length, b, rows, vectors);
    const struct sn_result_16b * r = g->result;
    if (second_pass(r->activation)) {
        SN_UNROLL for (int i = 0; i < rows; ++i)
            SN_UNROLL for (int j = 0; j < vectors; ++j) v_store_32f(sums + (i * vectors + j) * (int)V32F_N, sum[i][j]);
        if (activates_rows(r->activation))
            ACTIVATE_ROWS(sums, (size_t)rows, g->columns, (size_t)vectors * V32F_N, r->activation, r->param);
        tile_activate(g, sums, (size_t)vectors * V32F_N, (size_t)rows, c);
    } else if (r->narrow) {
        tile_put(sum, g, c, true, rows, vectors);
    } else {
        tile_put(sum, g, c, false, rows, vectors);
    }
}

/* An instance, as a separate function so that the compiler can use all registers. */
#define TILE(rows, vectors)                                                                                                 \
    static __attribute__((noinline)) void tile_##rows##x##vectors(const struct sn_dot * g, const uint8_t * a,               \
                                                                  uint8_t * c, sn_32f * sums)                               \
    {                                                                                                                       \
        tile(g, a, c, sums, rows, vectors);                                                                                 \
    }

/* Splits the rows of each y into the fewest tiles, of about equal height. tiles[h - 1] is the instance of height h. */
SN_INLINE void tile_column(const struct sn_dot * g, const tile_fn * tiles, size_t rows)
{
    SN_ALIGNED float sums[TILE_ROWS * TILE_VECTORS * V32F_N];
    const size_t count = sn_ceil_div(g->width, rows);
    const size_t height = g->width / count, taller = g->width % count; /* this many tiles are one row higher */
    for (size_t y = 0; y < g->height; ++y) {
        const uint8_t * a = g->a + y * g->aStepY;
        uint8_t * c = g->c + y * g->cStepY;
        for (size_t i = 0, x = 0; i < count; ++i) {
            const size_t h = height + (i < taller);
            tiles[h - 1](g, a + x * g->aStepX, c + x * g->cStepX, sums);
            x += h;
        }
    }
}

#endif
