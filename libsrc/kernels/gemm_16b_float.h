/*
 * Where no instruction multiplies bfloat16 numbers: the tile of kernels/gemm_16b.h by multiply-adds of floats. A has bfloat16
 * numbers as floats, so that one comes in a broadcast; B is read twice, first for the even numbers of its pairs, then for the
 * odd ones, which takes one shift or one mask for each vector.
 */
#ifndef SN_KERNELS_GEMM_16B_FLOAT_H
#define SN_KERNELS_GEMM_16B_FLOAT_H

enum { TILE_NUMBER = 4 };

#include "kernels/gemm_16b.h"

SN_INLINE void tile_step(v32f sum[TILE_ROWS][TILE_VECTORS], const uint8_t * const a[TILE_THIRDS], size_t step,
                         const uint8_t * b, int rows, int vectors)
{
    SN_UNROLL for (int k = 0; k < 2; ++k)
    {
        v32f x[TILE_VECTORS];
        SN_UNROLL for (int j = 0; j < vectors; ++j)
        {
            const v16i pairs = v_load_16i(b + (size_t)j * V8U_N);
            x[j] = k == 0 ? v_even_16b_32f(pairs) : v_odd_16b_32f(pairs);
        }
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const v32f y = v_set_32f(((const float *)(const void *)(a[i / 3] + (size_t)(i % 3) * step))[k]);
            SN_UNROLL for (int j = 0; j < vectors; ++j) sum[i][j] = v_fma_32f(y, x[j], sum[i][j]);
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
