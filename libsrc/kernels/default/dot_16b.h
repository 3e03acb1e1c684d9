/*
 * Multiplication in the tile of bfloat16 convolutions if no instruction multiplies bfloat16: by multiply-adds of floats. A
 * holds bfloat16 numbers as floats, so that a number can be loaded by a broadcast. A segment is added in two passes, first
 * with the even numbers of the pairs of B, then with the odd ones: in one pass gcc 12 needs more than 16 registers.
 *
 * kernels/gemm/16b.c includes this after the template. An instruction set with such an instruction replaces this header by
 * one of the same name in its folder:
 *
 *   TILE_NUMBER             bytes of a number of A: bfloat16, or a float rounded to bfloat16
 *   tile_multiply(sum, a, step, length, b, rows, vectors)   adds `length` pairs of every row of A; see struct rows_of_a
 *   tile_store_16b(p, v, n) stores n numbers of v, rounded to bfloat16
 */
#ifndef SN_KERNELS_DEFAULT_DOT_16B_H
#define SN_KERNELS_DEFAULT_DOT_16B_H

enum { TILE_NUMBER = 4 };

SN_INLINE void tile_multiply(v32f sum[TILE_ROWS][TILE_VECTORS], const uint8_t * a, size_t step, size_t length,
                             const uint8_t * b, int rows, int vectors)
{
    SN_UNROLL for (int k = 0; k < 2; ++k)
    {
        struct rows_of_a p = rows_from(a + k * TILE_NUMBER, step, rows);
        const uint8_t * from = b;
        for (size_t n = length; n; --n) {
            v32f x[TILE_VECTORS];
            SN_UNROLL for (int j = 0; j < vectors; ++j)
            {
                const v16i pairs = v_load_16i(from + (size_t)j * V8U_N);
                x[j] = k == 0 ? v_even_16b_32f(pairs) : v_odd_16b_32f(pairs);
            }
            SN_UNROLL for (int i = 0; i < rows; ++i)
            {
                const v32f y = v_set_32f(*(const sn_32f *)(const void *)row_of(&p, step, i));
                SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_fma_32f(y, x[j], sum[i][j]);
            }
            move_rows(&p, 2 * TILE_NUMBER, rows);
            from += vectors * V8U_N;
        }
    }
}

SN_INLINE void tile_store_16b(uint8_t * p, v32f v, size_t n)
{
    if (n == V32F_N)
        v_store_16b_32f(p, v);
    else
        v_store_tail_16b_32f(p, v, n);
}

#endif
