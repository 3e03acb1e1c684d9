/*
 * Transposition of matrices of 16-bit elements or of bytes, in squares of whole vectors: the elements that 2 or 4 rows have
 * in a column are joined to a word of 32 bits, and squares of words are transposed as floats are. The last square of a side
 * overlaps the one before.
 */
#ifndef SN_KERNELS_TRANSPOSE_SMALL_H
#define SN_KERNELS_TRANSPOSE_SMALL_H

#include "kernels/vec.h"

/* The upper part of each word of a, `bits` long, for the lower part of that of b; likewise all parts in the mask. */
SN_INLINE void exchange_parts(v32i * a, v32i * b, int bits, int32_t mask)
{
    const v32i exchanged = v_and_32i(v_xor_32i(v_shr_32i(*a, bits), *b), v_set_32i(mask));
    *b = v_xor_32i(*b, exchanged);
    *a = v_xor_32i(*a, v_shl_32i(exchanged, bits));
}

/* Rows with `parts` elements in a word: r[k] becomes the words of elements k of all rows. */
SN_INLINE void join_rows(v32i * r, size_t parts)
{
    if (parts == 2) {
        exchange_parts(&r[0], &r[1], 16, 0xffff);
        return;
    }
    exchange_parts(&r[0], &r[2], 16, 0xffff);
    exchange_parts(&r[1], &r[3], 16, 0xffff);
    exchange_parts(&r[0], &r[1], 8, 0xff00ff);
    exchange_parts(&r[2], &r[3], 8, 0xff00ff);
}

SN_INLINE void transpose_small_square(const uint8_t * src, size_t srcStep, uint8_t * dst, size_t dstStep, size_t parts)
{
    v32f words[4][V32F_N];
    for (size_t l = 0; l < V32F_N; ++l) {
        v32i r[4];
        SN_UNROLL for (size_t k = 0; k < parts; ++k, src += srcStep) r[k] = v_load_32i(src);
        join_rows(r, parts);
        SN_UNROLL for (size_t k = 0; k < parts; ++k) words[k][l] = v_cast_32i_32f(r[k]);
    }
    for (size_t k = 0; k < parts; ++k) {
        v32f r[V32F_N];
        uint8_t * row = dst + k * dstStep;
        SN_UNROLL for (size_t l = 0; l < V32F_N; ++l) r[l] = words[k][l];
        v_transpose_32f(r);
        SN_UNROLL for (size_t l = 0; l < V32F_N; ++l, row += parts * dstStep) v_store_32f(row, r[l]);
    }
}

/* At least as many rows and columns as a square has; `parts`, a compile-time constant, elements are a word. */
SN_INLINE void transpose_small(const uint8_t * src, size_t srcStep, size_t rows, size_t columns, uint8_t * dst,
                               size_t dstStep, size_t parts)
{
    const size_t n = parts * V32F_N, element = sizeof(float) / parts;
    /* Along the longer step, as floats: see transpose_tile(). */
    const bool along_rows = dstStep > srcStep;
    const size_t outer = along_rows ? columns : rows, inner = along_rows ? rows : columns;
    for (size_t i = 0; i < outer; i += n)
        for (size_t j = 0; j < inner; j += n) {
            const size_t x = sn_min(along_rows ? i : j, columns - n), y = sn_min(along_rows ? j : i, rows - n);
            const uint8_t * from = src + y * srcStep + x * element;
            transpose_small_square(from, srcStep, dst + x * dstStep + y * element, dstStep, parts);
        }
}

#endif
