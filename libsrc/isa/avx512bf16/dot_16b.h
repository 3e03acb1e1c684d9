/*
 * vdpbf16ps adds both products of a pair to each sum: twice the multiply-adds of floats. With tiles of 14 x 32, as for
 * floats, there are 16 loads for 28 instructions that take a cycle each.
 *
 * The instruction treats subnormal numbers as zeros and flushes subnormal results to zero, and so does the one that rounds
 * results here: they are tested against an error bound, which allows that. Results that the contract requires to be exact
 * are rounded by the operations of the vocabulary.
 */
#ifndef SN_ISA_AVX512BF16_DOT_16B_H
#define SN_ISA_AVX512BF16_DOT_16B_H

enum { TILE_NUMBER = 2 };

/* In assembler, as in isa/avx512vnni/dot_8i.h: gcc spills the sums of the intrinsic to memory. */
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
        SN_UNROLL for (int j = 0; j < vectors; ++j)
            x[j] = v_keep_32i(v_load_32i(b + (size_t)j * V8U_N)); /* see kernels/gemm/32f.h */
        SN_UNROLL for (int i = 0; i < rows; ++i)
        {
            const v32i y = v_broadcast_32i(row_of(&p, step, i));
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

#endif
