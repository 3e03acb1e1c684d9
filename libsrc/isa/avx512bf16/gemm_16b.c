/*
 * Tiles of bfloat16 convolutions by vdpbf16ps, which adds both products of a pair to each sum: twice the multiply-adds of
 * floats. 14 x 32, as of floats: 16 loads for 28 instructions that take a cycle each.
 *
 * The instruction takes subnormal numbers for zeros and makes none, and so does the one that rounds results here: they are
 * held to a bound, which has room for that. What is owed to the bit is rounded by the words of the vocabulary.
 */
#include <string.h>

enum { TILE_NUMBER = 2 };

#include "kernels/gemm_16b.h"
#include "kernels/install.h"

/* In assembler, as in isa/avx512vnni/gemm_8i.c: gcc moves the sums of the intrinsic through memory. */
SN_INLINE v32f dot(v32f sum, v32i a, v32i b)
{
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

SN_INLINE void tile_multiply(v32f sum[TILE_ROWS][TILE_VECTORS], const uint8_t * a, size_t step, size_t length,
                             const uint8_t * b, int rows, int vectors)
{
    struct rows_of_a p = rows_from(a, step, rows);
    for (; length; --length) {
        v32i x[TILE_VECTORS];
        SN_UNROLL for (int j = 0; j < vectors; ++j) x[j] = v_load_32i(b + (size_t)j * V8U_N);
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            int32_t pair;
            memcpy(&pair, row_of(&p, step, i), sizeof(pair));
            const v32i y = v_set_32i(pair);
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = dot(sum[i][j], y, x[j]);
        }
        move_rows(&p, 2 * TILE_NUMBER, rows);
        b += vectors * V8U_N;
    }
}

SN_INLINE void tile_store_16b(uint8_t * p, v32f v, size_t n)
{
    const __m256i x = (__m256i)_mm512_cvtneps_pbh(v);
    if (n == V32F_N)
        _mm256_storeu_si256((__m256i *)(void *)p, x);
    else
        _mm256_mask_storeu_epi16(p, vx_first_16(n), x);
}

TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1) TILE(7, 1) TILE(8, 1) TILE(9, 1) TILE(10, 1)
TILE(11, 1) TILE(12, 1) TILE(13, 1) TILE(14, 1)
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2) TILE(7, 2) TILE(8, 2) TILE(9, 2) TILE(10, 2)
TILE(11, 2) TILE(12, 2) TILE(13, 2) TILE(14, 2)

static const tile_fn tiles_1[] = {tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1,
                                  tile_9x1, tile_10x1, tile_11x1, tile_12x1, tile_13x1, tile_14x1};
static const tile_fn tiles_2[] = {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2, tile_7x2, tile_8x2,
                                  tile_9x2, tile_10x2, tile_11x2, tile_12x2, tile_13x2, tile_14x2};

static void run(const struct sn_dot * g)
{
    if (g->columns <= V32F_N)
        tile_column(g, tiles_1, 14);
    else
        tile_column(g, tiles_2, 14);
}

/* The entry point that core/dispatch.c knows. */
void ISA_FN(install)(struct sn_table * table);

void ISA_FN(install)(struct sn_table * table)
{
    table->gemm_16b = (struct sn_dot_tile){.run = run, .rows = 14, .columns = 2 * V32F_N, .granule = V32F_N, .group = 2,
        .number = TILE_NUMBER, .biased = false};
}
