/*
 * Conversion of filters between Oiyx and layouts with the outputs innermost. The outputs are the rows of Oiyx, input and tap
 * its columns q = i * K + k. Yxio and Oyxixo have a row of outputs for each q, in another order (kernels/transpose.h).
 *
 * Yxio is one transposition. Oyxixo is converted V32F_N outputs at a time: part of a block if that is as wide as a vector,
 * otherwise several blocks, which are copied from a buffer of full vectors.
 */
#ifndef SN_KERNELS_LAYOUT_FILTER_H
#define SN_KERNELS_LAYOUT_FILTER_H

#include "kernels/transpose.h"

/* The rows of outputs of a layout with pixels of `pitch` floats. */
static struct rows filter_rows(size_t input, size_t kernel, size_t pitch)
{
    return (struct rows){input * pitch, kernel, pitch};
}

static void oiyx_to_yxio(size_t output, size_t input, size_t kernel, const sn_32f * src, sn_32f * dst, size_t begin,
                         size_t end)
{
    const struct part p = {0, output, begin * kernel, (end - begin) * kernel};
    transpose_part(src, (struct rows){input * kernel, 0, 0}, dst, filter_rows(input, kernel, output), p, false, true, false);
}

static void yxio_to_oiyx(size_t output, size_t input, size_t kernel, const sn_32f * src, sn_32f * dst, size_t begin,
                         size_t end)
{
    const struct part p = {begin * kernel, (end - begin) * kernel, 0, output};
    transpose_part(src, filter_rows(input, kernel, output), dst, (struct rows){input * kernel, 0, 0}, p, true, false, false);
}

/* Up to V32F_N outputs, rows of Oiyx, to full vectors of them; missing outputs become 0. */
SN_INLINE void outputs_to_vectors(const sn_32f * src, struct rows from, size_t outputs, sn_32f * dst, struct rows to,
                                  size_t begin, size_t end, bool permuted)
{
    for (size_t q = begin; q < end; q += V32F_N) {
        const struct part p = {0, outputs, q, sn_min(end - q, V32F_N)};
        if (outputs == V32F_N && p.width == V32F_N)
            transpose_square(src, from, dst, to, p, false, permuted, false);
        else
            transpose_rest(src, from, dst, to, p, V32F_N, false, permuted);
    }
}

SN_INLINE void vectors_to_outputs(const sn_32f * src, struct rows from, size_t outputs, sn_32f * dst, struct rows to,
                                  size_t begin, size_t end, bool permuted)
{
    for (size_t q = begin; q < end; q += V32F_N) {
        const struct part p = {q, sn_min(end - q, V32F_N), 0, outputs};
        if (outputs == V32F_N && p.height == V32F_N)
            transpose_square(src, from, dst, to, p, permuted, false, false);
        else
            transpose_rest(src, from, dst, to, p, p.height, permuted, false);
    }
}

/* Copies `lanes` values for each of `count` rows, at offsets `from` in src and `to` in dst. */
static void copy_lanes(const sn_32f * src, const size_t * from, sn_32f * dst, const size_t * to, size_t lanes, size_t count)
{
    for (size_t q = 0; q < count; ++q)
        v_store_tail_32f(dst + to[q], v_load_tail_32f(src + from[q], lanes), lanes);
}

/* V32F_N outputs of Oiyx, or the last ones, to blocks of fewer lanes. */
static void outputs_to_blocks(const sn_32f * src, struct rows plain, size_t outputs, sn_32f * dst, struct rows rows,
                              size_t lanes, size_t block, size_t begin, size_t end)
{
    float buffer[TRANSPOSE_TILE * V32F_N] SN_ALIGNED;
    size_t from[TRANSPOSE_TILE], to[TRANSPOSE_TILE];
    const struct rows vectors = {V32F_N, 0, 0};
    rows_at(vectors, 0, TRANSPOSE_TILE, false, from);
    for (size_t q = begin, n; q < end; q += n) {
        n = sn_min(end - q, TRANSPOSE_TILE);
        rows_at(rows, q, n, true, to);
        outputs_to_vectors(src + q, plain, outputs, buffer, vectors, 0, n, false);
        for (size_t o = 0; o < outputs; o += lanes)
            copy_lanes(buffer + o, from, dst + o / lanes * block, to, lanes, n);
    }
}

static void blocks_to_outputs(const sn_32f * src, struct rows rows, size_t lanes, size_t block, size_t outputs, sn_32f * dst,
                              struct rows plain, size_t begin, size_t end)
{
    float buffer[TRANSPOSE_TILE * V32F_N] SN_ALIGNED;
    size_t from[TRANSPOSE_TILE], to[TRANSPOSE_TILE];
    const struct rows vectors = {V32F_N, 0, 0};
    rows_at(vectors, 0, TRANSPOSE_TILE, false, to);
    for (size_t q = begin, n; q < end; q += n) {
        n = sn_min(end - q, TRANSPOSE_TILE);
        rows_at(rows, q, n, true, from);
        for (size_t o = 0; o < outputs; o += lanes)
            copy_lanes(src + o / lanes * block, from, buffer + o, to, lanes, n);
        vectors_to_outputs(buffer, vectors, outputs, dst + q, plain, 0, n, false);
    }
}

static void oiyx_to_blocks(size_t output, size_t input, size_t kernel, const sn_32f * src, sn_32f * dst, size_t lanes,
                           size_t begin, size_t end)
{
    const size_t line = input * kernel, all = sn_ceil_div(output, lanes) * lanes;
    const struct rows plain = {line, 0, 0}, rows = filter_rows(input, kernel, lanes);
    for (size_t o = 0; o < all; o += V32F_N) {
        const size_t outputs = sn_min(output - sn_min(o, output), V32F_N);
        const sn_32f * from = src + sn_min(o, output) * line;
        sn_32f * block = dst + o / lanes * lanes * line + o % lanes;
        if (lanes >= V32F_N)
            outputs_to_vectors(from, plain, outputs, block, rows, begin * kernel, end * kernel, true);
        else
            outputs_to_blocks(from, plain, outputs, block, rows, lanes, lanes * line, begin * kernel, end * kernel);
    }
}

static void blocks_to_oiyx(size_t output, size_t input, size_t kernel, const sn_32f * src, sn_32f * dst, size_t lanes,
                           size_t begin, size_t end)
{
    const size_t line = input * kernel;
    const struct rows plain = {line, 0, 0}, rows = filter_rows(input, kernel, lanes);
    for (size_t o = 0; o < output; o += V32F_N) {
        const size_t outputs = sn_min(output - o, V32F_N);
        const sn_32f * block = src + o / lanes * lanes * line + o % lanes;
        if (lanes >= V32F_N)
            vectors_to_outputs(block, rows, outputs, dst + o * line, plain, begin * kernel, end * kernel, true);
        else
            blocks_to_outputs(block, rows, lanes, lanes * line, outputs, dst + o * line, plain, begin * kernel,
                              end * kernel);
    }
}

#endif
