/*
 * Transposition of matrices of 16-bit elements or of bytes, in squares of whole vectors: the elements that 2 or 4 rows have
 * in a column are joined to a word of 32 bits, and squares of words are transposed as floats are. The last square of a side
 * overlaps the one before. If a side is at most half of a square, several pieces of the other side fill a square; if it is
 * longer, or the other one is shorter than a square, the square is padded with zeros, which are not stored.
 */
#ifndef SN_KERNELS_TRANSPOSE_SMALL_H
#define SN_KERNELS_TRANSPOSE_SMALL_H

#include "kernels/vec.h"

#include <string.h>

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

/* ---- matrices with one short side */

/* A square of whole vectors, and the pieces of the long side in it, each with room for the short side. */
struct narrow {
    SN_ALIGNED uint8_t from[4 * V32F_N * V8U_N], to[4 * V32F_N * V8U_N];
    size_t room;
};

static void narrow_start(struct narrow * s, size_t shorter)
{
    memset(s->from, 0, sizeof(s->from));
    for (s->room = 1; s->room < shorter; s->room *= 2) {}
}

/* `count` pieces of `size` bytes. */
SN_INLINE void copy_sized(const uint8_t * from, size_t fromStep, uint8_t * to, size_t toStep, size_t count, size_t size)
{
    for (size_t i = 0; i < count; ++i, from += fromStep, to += toStep)
        memcpy(to, from, size);
}

static void copy_pieces(const uint8_t * from, size_t fromStep, uint8_t * to, size_t toStep, size_t count, size_t size)
{
    if (size >= 16) {
        copy_sized(from, fromStep, to, toStep, count, 16);
        copy_sized(from + size - 16, fromStep, to + size - 16, toStep, size > 16 ? count : 0, 16);
    } else if (size >= 8) {
        copy_sized(from, fromStep, to, toStep, count, 8);
        copy_sized(from + size - 8, fromStep, to + size - 8, toStep, size > 8 ? count : 0, 8);
    } else {
        for (size_t i = 0; i < count; ++i)
            for (size_t k = 0; k < size; ++k)
                to[i * toStep + k] = from[i * fromStep + k];
    }
}

/* Where piece b of those from x on begins: the last one overlaps those before. */
SN_INLINE size_t piece_at(size_t x, size_t b, size_t n, size_t longer) { return sn_min(x + b * n, longer - n); }

/* Few rows, at most half of a square, and at least a square of columns. */
SN_INLINE void transpose_few_rows(const uint8_t * src, size_t srcStep, size_t rows, size_t columns, uint8_t * dst,
                                  size_t dstStep, size_t parts)
{
    const size_t n = parts * V32F_N, element = sizeof(float) / parts;
    struct narrow s;
    narrow_start(&s, rows);
    for (size_t x = 0; x < columns; x += n / s.room * n) {
        const size_t pieces = sn_min(n / s.room, sn_ceil_div(columns - x, n));
        for (size_t b = 0; b < pieces; ++b)
            for (size_t y = 0; y < rows; ++y)
                v_store_32i(s.from + (b * s.room + y) * V8U_N,
                            v_load_32i(src + y * srcStep + piece_at(x, b, n, columns) * element));
        transpose_small_square(s.from, V8U_N, (struct small_square){n, V8U_N, true}, s.to, V8U_N, parts);
        for (size_t b = 0; b < pieces; ++b)
            copy_pieces(s.to + b * s.room * element, V8U_N, dst + piece_at(x, b, n, columns) * dstStep, dstStep, n,
                        rows * element);
    }
}

/* Few columns likewise. */
SN_INLINE void transpose_few_columns(const uint8_t * src, size_t srcStep, size_t rows, size_t columns, uint8_t * dst,
                                     size_t dstStep, size_t parts)
{
    const size_t n = parts * V32F_N, element = sizeof(float) / parts;
    struct narrow s;
    narrow_start(&s, columns);
    for (size_t y = 0; y < rows; y += n / s.room * n) {
        const size_t pieces = sn_min(n / s.room, sn_ceil_div(rows - y, n));
        for (size_t b = 0; b < pieces; ++b)
            copy_pieces(src + piece_at(y, b, n, rows) * srcStep, srcStep, s.from + b * s.room * element, V8U_N, n,
                        columns * element);
        transpose_small_square(s.from, V8U_N, (struct small_square){n, V8U_N, true}, s.to, V8U_N, parts);
        for (size_t b = 0; b < pieces; ++b)
            for (size_t x = 0; x < columns; ++x)
                v_store_32i(dst + x * dstStep + piece_at(y, b, n, rows) * element,
                            v_load_32i(s.to + (b * s.room + x) * V8U_N));
    }
}

/* ---- all matrices */

/* Any number of rows and columns; `parts`, a compile-time constant, elements are a word. */
SN_INLINE void transpose_small(const uint8_t * src, size_t srcStep, size_t rows, size_t columns, uint8_t * dst,
                               size_t dstStep, size_t parts)
{
    const size_t n = parts * V32F_N, element = sizeof(float) / parts;
    if (2 * rows <= n && columns >= n) {
        transpose_few_rows(src, srcStep, rows, columns, dst, dstStep, parts);
        return;
    }
    if (2 * columns <= n && rows >= n) {
        transpose_few_columns(src, srcStep, rows, columns, dst, dstStep, parts);
        return;
    }
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
