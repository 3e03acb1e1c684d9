/*
 * Transposition of matrices with many rows and columns: squares of V32F_N, in tiles of 64 x 64 so that cache lines of both
 * sides are used while they are cached. The last square of a side overlaps the one before instead of being partial; it
 * writes the same values again.
 *
 * The rows of one side may be in permuted order: a filter's row q = i * K + k of Oiyx is row k * I + i of Yxio. This affects
 * only addresses, so one transposition serves images and filters.
 */
#ifndef SN_KERNELS_TRANSPOSE_H
#define SN_KERNELS_TRANSPOSE_H

#include "kernels/vec.h"

enum { TRANSPOSE_TILE = 64 };

/* The offset of row r is r * stride if period is 0, else r % period * stride + r / period * jump. */
struct rows {
    size_t stride, period, jump;
};

/* The offsets of rows first .. first + count - 1; `permuted`, a compile-time constant, states whether there is a period. */
SN_INLINE void rows_at(struct rows rows, size_t first, size_t count, bool permuted, size_t * at)
{
    if (!permuted) {
        for (size_t i = 0; i < count; ++i)
            at[i] = (first + i) * rows.stride;
        return;
    }
    size_t k = first % rows.period, place = k * rows.stride + first / rows.period * rows.jump;
    for (size_t i = 0; i < count; ++i) {
        at[i] = place;
        place += rows.stride;
        if (++k == rows.period) {
            k = 0;
            place += rows.jump - rows.period * rows.stride;
        }
    }
}

/* A part of the matrix: rows y .. y + height - 1 and columns x .. x + width - 1 of src become columns and rows of dst. */
struct part {
    size_t y, height, x, width;
};

/*
 * Vectors of V32F_N rows. At a constant stride the pointer advances: gcc computes an array of offsets in vectors, and moves
 * from these to address registers take longer than the loads.
 */
SN_INLINE void load_rows(v32f * r, const sn_32f * src, struct rows from, size_t first, bool permuted)
{
    size_t at[V32F_N];
    const sn_32f * row = src + first * from.stride;
    if (permuted)
        rows_at(from, first, V32F_N, true, at);
    SN_UNROLL for (int i = 0; i < V32F_N; ++i, row += from.stride) r[i] = v_load_32f(permuted ? src + at[i] : row);
}

SN_INLINE void store_rows(sn_32f * dst, struct rows to, size_t first, const v32f * r, bool permuted)
{
    size_t at[V32F_N];
    sn_32f * row = dst + first * to.stride;
    if (permuted)
        rows_at(to, first, V32F_N, true, at);
    SN_UNROLL for (int i = 0; i < V32F_N; ++i, row += to.stride) v_store_32f(permuted ? dst + at[i] : row, r[i]);
}

/* Prefetched ahead of stores, in rows of dst: two cache lines. */
enum { TRANSPOSE_AHEAD = 2 * SN_LINE / (int)sizeof(float) };

/*
 * Whether columns are inserted as quarters of vectors, see transpose_columns(): between planes and pixels of few channels,
 * and to pixels that are whole vectors. Other matrices took 0.9 to 1.14 times as long, those with rows of dst that are further
 * apart or share sets of the L1 cache 1 to 1.1, halves of shorter vectors, which save fewer shuffles, 0.9 to 1.2.
 */
enum { NEAR = 2048, SHARED_SETS = 512, FEW_CHANNELS = 2 * V32F_N };
static bool is_by_columns(size_t srcStride, size_t dstStride)
{
    const bool pixels = srcStride <= FEW_CHANNELS || dstStride <= FEW_CHANNELS || dstStride % V32F_N == 0;
    const bool shared = srcStride % SHARED_SETS == 0 || dstStride % SHARED_SETS == 0;
    return V32F_N == 16 && pixels && dstStride <= NEAR && !shared;
}

/*
 * V32F_N rows, four columns of at least as many at a time: see v_load_columns_32f(). The last four overlap those before. 16
 * planes take 0.7 to 0.8 of the time of squares that are loaded whole. fetched: as many rows of dst, `ahead` floats from
 * there, are prefetched.
 */
SN_INLINE void transpose_columns(const sn_32f * src, size_t srcStride, sn_32f * dst, size_t dstStride, size_t columns,
                                 ptrdiff_t ahead, bool fetched)
{
    for (size_t step;; columns -= step, src += step, dst += step * dstStride) {
        sn_32f * to = dst;
        v32f r[4];
        v_load_columns_32f(r, src, srcStride);
        SN_UNROLL for (int k = 0; k < 4; ++k, to += dstStride)
        {
            if (fetched)
                __builtin_prefetch(to + ahead, 1);
            v_store_32f(to, r[k]);
        }
        if (columns <= 4)
            break;
        step = sn_min(columns - 4, 4);
    }
}

static __attribute__((noinline, unused)) void columns_fetched(const sn_32f * src, size_t srcStride, sn_32f * dst,
                                                              size_t dstStride, size_t columns, ptrdiff_t ahead)
{
    transpose_columns(src, srcStride, dst, dstStride, columns, ahead, true);
}

static __attribute__((noinline, unused)) void columns_plain(const sn_32f * src, size_t srcStride, sn_32f * dst,
                                                            size_t dstStride, size_t columns)
{
    transpose_columns(src, srcStride, dst, dstStride, columns, 0, false);
}

/* The part is a square of full vectors. Results that are streamed are aligned, and not in permuted order. */
SN_INLINE void transpose_square(const sn_32f * src, struct rows from, sn_32f * dst, struct rows to, struct part p,
                                bool permuted_from, bool permuted_to, bool stream)
{
    v32f r[V32F_N];
    load_rows(r, src + p.x, from, p.y, permuted_from);
    v_transpose_32f(r);
    if (!permuted_to && stream)
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i) v_stream_32f(dst + p.y + (p.x + i) * to.stride, r[i]);
    else
        store_rows(dst + p.y, to, p.x, r, permuted_to);
}

/* The part fits in a square; rows of dst get `written` values, zeros after the `height` existing ones. */
SN_INLINE void transpose_rest(const sn_32f * src, struct rows from, sn_32f * dst, struct rows to, struct part p,
                              size_t written, bool permuted_from, bool permuted_to)
{
    v32f r[V32F_N];
    size_t at[V32F_N];
    rows_at(from, p.y, p.height, permuted_from, at);
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
        r[i] = i < p.height ? v_load_tail_32f(src + at[i] + p.x, p.width) : v_zero_32f();
    v_transpose_32f(r);
    rows_at(to, p.x, p.width, permuted_to, at);
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
        if (i < p.width)
            v_store_tail_32f(dst + at[i] + p.y, r[i], written);
}

/*
 * A tile of at least V32F_N rows and 4 columns, in no permuted order, along the longer stride (see below). Where one or two
 * vectors of channels become planes, as in depthwise layers, the lines that will be written are prefetched: planes of 81 to
 * 728 floats that are not in the L1 cache take 0.5 to 0.7 of the time without.
 */
SN_INLINE void transpose_plain(const sn_32f * src, size_t srcStride, sn_32f * dst, size_t dstStride, struct part p)
{
    const bool along_rows = dstStride > srcStride, fetched = along_rows && srcStride <= FEW_CHANNELS;
    const size_t group = along_rows ? V32F_N : p.width;
    src += p.y * srcStride + p.x;
    dst += p.x * dstStride + p.y;
    for (size_t i = 0; i < p.width; i += group) {
        const size_t x = sn_min(i, p.width - 4), columns = sn_min(group, p.width - x);
        const ptrdiff_t next = (ptrdiff_t)(group * dstStride - p.height), first = -(ptrdiff_t)(x * dstStride);
        const ptrdiff_t after = i + group < p.width ? next : first; /* in the next columns, or the first of the next tile */
        for (size_t j = 0; j < p.height; j += V32F_N) {
            const size_t y = sn_min(j, p.height - V32F_N);
            const sn_32f * from = src + y * srcStride + x;
            sn_32f * to = dst + x * dstStride + y;
            if (fetched)
                columns_fetched(from, srcStride, to, dstStride, columns,
                                (ptrdiff_t)TRANSPOSE_AHEAD + (y + TRANSPOSE_AHEAD < p.height ? 0 : after));
            else
                columns_plain(from, srcStride, to, dstStride, columns);
        }
    }
}

/* Up to TRANSPOSE_TILE rows and columns. */
SN_INLINE void transpose_tile(const sn_32f * src, struct rows from, sn_32f * dst, struct rows to, struct part p,
                              bool permuted_from, bool permuted_to, bool stream)
{
    const bool plain = !permuted_from && !permuted_to && !stream;
    if (plain && p.height >= V32F_N && p.width >= 4 && is_by_columns(from.stride, to.stride)) {
        transpose_plain(src, from.stride, dst, to.stride, p);
        return;
    }
    if (p.height < V32F_N || p.width < V32F_N) {
        for (size_t y = 0; y < p.height; y += V32F_N)
            for (size_t x = 0; x < p.width; x += V32F_N) {
                const size_t height = sn_min(p.height - y, V32F_N);
                const struct part rest = {p.y + y, height, p.x + x, sn_min(p.width - x, V32F_N)};
                transpose_rest(src, from, dst, to, rest, height, permuted_from, permuted_to);
            }
        return;
    }
    /* Along the longer stride, whose cache lines are more likely to be evicted before their other half is used. */
    const bool along_rows = to.stride > from.stride;
    const size_t outer = along_rows ? p.width : p.height, inner = along_rows ? p.height : p.width;
    for (size_t i = 0; i < outer; i += V32F_N)
        for (size_t j = 0; j < inner; j += V32F_N) {
            const size_t x = sn_min(along_rows ? i : j, p.width - V32F_N), y = sn_min(along_rows ? j : i, p.height - V32F_N);
            const struct part square = {p.y + y, V32F_N, p.x + x, V32F_N};
            transpose_square(src, from, dst, to, square, permuted_from, permuted_to, stream);
        }
}

/* The size of the next tile if `rest` remain: the last one is not narrower than a vector, if possible. */
static size_t transpose_tile_size(size_t rest) { return rest < TRANSPOSE_TILE + V32F_N ? rest : TRANSPOSE_TILE; }

SN_INLINE void transpose_part(const sn_32f * src, struct rows from, sn_32f * dst, struct rows to, struct part p,
                              bool permuted_from, bool permuted_to, bool stream)
{
    for (size_t y = 0, height; y < p.height; y += height) {
        height = transpose_tile_size(p.height - y);
        for (size_t x = 0, width; x < p.width; x += width) {
            width = transpose_tile_size(p.width - x);
            const struct part tile = {p.y + y, height, p.x + x, width};
            transpose_tile(src, from, dst, to, tile, permuted_from, permuted_to, stream);
        }
    }
}

/* dst[c * dstStride + r] = src[r * srcStride + c]; `stream` has an effect if vectors and all rows of dst are whole cache
 * lines: parts of lines, written one after another, took 2 to 3.5 times as long (avx2). */
static void transpose(const sn_32f * src, size_t srcStride, size_t rows, size_t columns, sn_32f * dst, size_t dstStride,
                      bool stream)
{
    const struct part whole = {0, rows, 0, columns};
    stream = stream && V32F_N * sizeof(float) == SN_LINE && ((uintptr_t)dst | (rows | dstStride) * sizeof(float)) % SN_LINE == 0;
    transpose_part(src, (struct rows){srcStride, 0, 0}, dst, (struct rows){dstStride, 0, 0}, whole, false, false, stream);
    if (stream)
        v_fence();
}

#endif
