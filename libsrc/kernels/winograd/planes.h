/*
 * NCHW: V32F_N rows of tiles at a time, and up to V32F_N tiles of each; fewer of the image, to limit the stack.
 */
#ifndef SN_KERNELS_WINOGRAD_PLANES_H
#define SN_KERNELS_WINOGRAD_PLANES_H

#include <string.h>

#include "kernels/lanes.h"
#include "kernels/winograd/parts.h"
#include "kernels/winograd/tile.h"

enum {
    TILES = V32F_N,
    SOME = 8,
    ROWS = 6, PLANES = 36,                    /* the most rows and coefficients of a tile */
    STRIP = ROWS * (4 * SOME + 2) * V32F_N,   /* floats of the image for SOME tiles of ROWS rows, or more of fewer */
};

static size_t tiles_of_strip(struct sn_winograd_size s) { return SOME * ROWS / sn_winograd_rows(s); }

/* The pixels of a strip from rows of the image, one for each lane or NULL; those before and after `count` are 0. */
static void strip_of_rows(const sn_32f * const * from, size_t before, size_t count, size_t columns, sn_32f * strip)
{
    v32f r[V32F_N];
    memset(strip, 0, before * V32F_N * sizeof(float));
    sn_32f * to = strip + before * V32F_N;
    for (size_t x = 0; x < count; x += V32F_N, to += V32F_N * V32F_N) {
        const size_t some = sn_min(count - x, V32F_N);
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
            r[i] = from[i] ? load_lanes(from[i] + x, some) : v_zero_32f();
        v_transpose_32f(r);
        if (some == V32F_N) {
            SN_UNROLL for (size_t i = 0; i < V32F_N; ++i) v_store_32f(to + i * V32F_N, r[i]);
        } else {
            SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
                if (i < some)
                    v_store_32f(to + i * V32F_N, r[i]);
        }
    }
    memset(strip + (before + count) * V32F_N, 0, (columns - before - count) * V32F_N * sizeof(float));
}

/* The inverse. */
static void rows_of_strip(const sn_32f * strip, size_t columns, sn_32f * const * to)
{
    v32f r[V32F_N];
    for (size_t x = 0; x < columns; x += V32F_N, strip += V32F_N * V32F_N) {
        const size_t some = sn_min(columns - x, V32F_N);
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
            r[i] = i < some ? v_load_32f(strip + i * V32F_N) : v_zero_32f();
        v_transpose_32f(r);
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
            if (to[i])
                store_lanes(to[i] + x, r[i], some);
    }
}

/* The position of a lane: row u of tiles, and its first image row. */
struct lane {
    size_t channel, y;
};

static void lanes_of(size_t first, size_t count, size_t tilesY, size_t block, struct lane * lane)
{
    for (size_t i = 0; i < count; ++i)
        lane[i] = (struct lane){(first + i) / tilesY, (first + i) % tilesY * block};
}

/* Stores one plane of `tiles` tiles of the lanes to rows of tiles. More than a vector of them are a square. */
static void plane_to_rows(const sn_32f * pixels, size_t count, size_t tiles, sn_32f * dst, size_t tilesX)
{
    if (tiles < V32F_N) {
        planes_to_lanes(pixels, V32F_N, tiles, count, dst, tiles, tiles);
        return;
    }
    v32f r[V32F_N];
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i) r[i] = v_load_32f(pixels + i * V32F_N);
    v_transpose_32f(r);
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
        if (i < count)
            v_store_32f(dst + i * tilesX, r[i]);
}

static void plane_of_rows(const sn_32f * src, size_t tilesX, size_t count, size_t tiles, sn_32f * pixels)
{
    if (tiles < V32F_N) {
        lanes_to_planes(src, tiles, count, pixels, V32F_N, tiles, tiles);
        return;
    }
    v32f r[V32F_N];
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i) r[i] = i < count ? v_load_32f(src + i * tilesX) : v_zero_32f();
    v_transpose_32f(r);
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i) v_store_32f(pixels + i * V32F_N, r[i]);
}

/* The strip of tiles first .. first + tiles - 1 of `count` lanes: as many rows as a tile has. */
static void strip_of_image(const struct sn_winograd_input_32f * job, const struct lane * lane, size_t count, size_t first,
                           size_t tiles, sn_32f * strip)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t rows = sn_winograd_rows(s), columns = tiles * s.blockX + s.kernelX - 1;
    size_t before;
    const size_t there = inside(first * s.blockX, job->padX, columns, 1, job->width, &before);
    const size_t x = first * s.blockX + before - job->padX;
    for (size_t i = 0; i < rows; ++i) {
        const sn_32f * from[V32F_N] = {NULL};
        for (size_t l = 0; l < count && there; ++l) {
            const size_t y = lane[l].y + i - job->padY; /* wraps above the image */
            if (y < job->height)
                from[l] = job->src + (lane[l].channel * job->height + y) * job->width + x;
        }
        strip_of_rows(from, sn_min(before, columns), there, columns, strip + i * columns * V32F_N);
    }
}

static void image_of_strip(const struct sn_winograd_output_32f * job, const struct lane * lane, size_t count, size_t first,
                           size_t tiles, const sn_32f * strip)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t columns = tiles * s.blockX, x = first * s.blockX;
    for (size_t i = 0; i < s.blockY; ++i) {
        sn_32f * to[V32F_N] = {NULL};
        for (size_t l = 0; l < count; ++l)
            if (lane[l].y + i < job->height)
                to[l] = job->dst + (lane[l].channel * job->height + lane[l].y + i) * job->width + x;
        rows_of_strip(strip + i * columns * V32F_N, sn_min(columns, job->width - x), to);
    }
}

/* Tiles first .. first + tiles - 1 of `count` rows of tiles from `row` on; dst is the address of the first. */
static void input_block(const struct sn_winograd_input_32f * job, size_t row, size_t count, size_t first, size_t tiles,
                        sn_32f * dst)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    float strip[STRIP] SN_ALIGNED, pixels[PLANES * TILES * V32F_N] SN_ALIGNED;
    struct lane lane[V32F_N];
    struct tile t = {.stepX = V32F_N, .dst = pixels, .plane = tiles * V32F_N};
    lanes_of(row, count, job->tilesY, s.blockY, lane);
    for (size_t at = 0, some; at < tiles; at += some) {
        some = sn_min(tiles - at, tiles_of_strip(s));
        strip_of_image(job, lane, count, first + at, some, strip);
        t.src = strip;
        t.stepY = (some * s.blockX + s.kernelX - 1) * V32F_N;
        for (size_t p = 0; p < some; ++p, t.src += s.blockX * V32F_N, t.dst += V32F_N)
            input[job->kind](&t, V32F_N);
    }
    for (size_t k = 0; k < sn_winograd_planes(s); ++k)
        plane_to_rows(pixels + k * t.plane, count, tiles, dst + k * job->plane, job->tilesX);
}

static void output_block(const struct sn_winograd_output_32f * job, size_t row, size_t count, size_t first, size_t tiles,
                         const sn_32f * src)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    float strip[STRIP] SN_ALIGNED, pixels[PLANES * TILES * V32F_N] SN_ALIGNED;
    struct lane lane[V32F_N];
    struct tile t = {.src = pixels, .stepX = V32F_N, .plane = tiles * V32F_N};
    if (count < V32F_N)
        memset(pixels, 0, sn_winograd_planes(s) * tiles * V32F_N * sizeof(float));
    for (size_t k = 0; k < sn_winograd_planes(s); ++k)
        plane_of_rows(src + k * job->plane, job->tilesX, count, tiles, pixels + k * t.plane);
    lanes_of(row, count, job->tilesY, s.blockY, lane);
    for (size_t at = 0, some; at < tiles; at += some) {
        some = sn_min(tiles - at, tiles_of_strip(s));
        t.dst = strip;
        t.stepY = some * s.blockX * V32F_N;
        for (size_t p = 0; p < some; ++p, t.src += V32F_N, t.dst += s.blockX * V32F_N)
            output[job->kind](&t, V32F_N);
        image_of_strip(job, lane, count, first + at, some, strip);
    }
}

/* The first of at most TILES tiles: the last group overlaps the one before, and writes the same values again. */
static size_t tiles_from(size_t at, size_t tilesX, size_t tiles) { return sn_min(at, tilesX - tiles); }

static void input_planes(const struct sn_winograd_input_32f * job)
{
    const size_t tiles = sn_min(job->tilesX, TILES);
    for (size_t u = job->begin; u < job->end; u += V32F_N)
        for (size_t at = 0; at < job->tilesX; at += tiles) {
            const size_t first = tiles_from(at, job->tilesX, tiles);
            input_block(job, u, sn_min(job->end - u, V32F_N), first, tiles,
                        job->dst + (u - job->begin) * job->tilesX + first);
        }
}

static void output_planes(const struct sn_winograd_output_32f * job)
{
    const size_t tiles = sn_min(job->tilesX, TILES);
    for (size_t u = job->begin; u < job->end; u += V32F_N)
        for (size_t at = 0; at < job->tilesX; at += tiles) {
            const size_t first = tiles_from(at, job->tilesX, tiles);
            output_block(job, u, sn_min(job->end - u, V32F_N), first, tiles,
                         job->src + (u - job->begin) * job->tilesX + first);
        }
}

#endif
