/*
 * Transposition of matrices of 16-bit elements or of bytes, in squares of whole vectors: the elements that 2 or 4 rows have
 * in a column are joined to a word of 32 bits, and squares of words are transposed as floats are. The last square of a side
 * overlaps the one before; if a side is shorter than a square, the square is padded with zeros, which are not stored.
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

/* A square of `rows` rows of src, `width` bytes each; `whole`, a compile-time constant: it has as many as the vectors. */
struct small_square {
    size_t rows, width;
    bool whole;
};

SN_INLINE v32i load_small(const uint8_t * src, const struct small_square * s, size_t row)
{
    if (s->whole)
        return v_load_32i(src);
    return row < s->rows ? v_cast_8u_32i(v_load_tail_8u(src, s->width)) : v_set_32i(0);
}

/* Stores row `row` of the transposed square. */
SN_INLINE void store_small(uint8_t * dst, v32f v, const struct small_square * s, size_t row, size_t parts)
{
    const size_t element = sizeof(float) / parts;
    if (s->whole)
        v_store_32f(dst, v);
    else if (row * element < s->width)
        v_store_tail_8u(dst, v_cast_32i_8u(v_cast_32f_32i(v)), s->rows * element);
}

SN_INLINE void transpose_small_square(const uint8_t * src, size_t srcStep, struct small_square s, uint8_t * dst,
                                      size_t dstStep, size_t parts)
{
    v32f words[4][V32F_N];
    for (size_t l = 0; l < V32F_N; ++l) {
        v32i r[4];
        SN_UNROLL for (size_t k = 0; k < parts; ++k) r[k] = load_small(src + k * srcStep, &s, l * parts + k);
        src += parts * srcStep;
        join_rows(r, parts);
        SN_UNROLL for (size_t k = 0; k < parts; ++k) words[k][l] = v_cast_32i_32f(r[k]);
    }
    for (size_t k = 0; k < parts; ++k) {
        v32f r[V32F_N];
        SN_UNROLL for (size_t l = 0; l < V32F_N; ++l) r[l] = words[k][l];
        v_transpose_32f(r);
        SN_UNROLL for (size_t l = 0; l < V32F_N; ++l)
            store_small(dst + (l * parts + k) * dstStep, r[l], &s, l * parts + k, parts);
    }
}

/* Any number of rows and columns; `parts`, a compile-time constant, elements are a word. */
SN_INLINE void transpose_small(const uint8_t * src, size_t srcStep, size_t rows, size_t columns, uint8_t * dst,
                               size_t dstStep, size_t parts)
{
    const size_t n = parts * V32F_N, element = sizeof(float) / parts;
    /* Along the longer step, as floats: see transpose_tile(). */
    const bool along_rows = dstStep > srcStep;
    const size_t outer = along_rows ? columns : rows, inner = along_rows ? rows : columns;
    for (size_t i = 0; i < outer; i += n)
        for (size_t j = 0; j < inner; j += n) {
            const size_t x = sn_min(along_rows ? i : j, columns - sn_min(n, columns));
            const size_t y = sn_min(along_rows ? j : i, rows - sn_min(n, rows));
            const uint8_t * from = src + y * srcStep + x * element;
            uint8_t * to = dst + x * dstStep + y * element;
            const struct small_square whole = {n, V8U_N, true};
            const struct small_square part = {sn_min(rows, n), sn_min(columns, n) * element, false};
            if (sn_min(rows, columns) >= n)
                transpose_small_square(from, srcStep, whole, to, dstStep, parts);
            else
                transpose_small_square(from, srcStep, part, to, dstStep, parts);
        }
}

#endif
