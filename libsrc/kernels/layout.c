/*
 * Changes of layout: every one of them is a transposition, for NCHW is planes of positions, NHWC and NCHWxc are pixels of lanes.
 *
 * Many channels of NHWC: squares of V32F_N, in tiles of 64 x 64 so that lines of both sides are used while they are near. The
 * last square of a side reaches back over the one before instead of being cut; it writes the same values again.
 *
 * Few lanes (the block of NCHWxc, or fewer channels than V32F_N): kernels/lanes.h.
 */
#include "core/format.h"
#include "kernels/install.h"
#include "kernels/lanes.h"

enum { TILE = 64 };

/* ---- many channels: dst[c * dstStride + r] = src[r * srcStride + c] */

/* A square of full vectors. */
static void transpose_square(const float * src, size_t srcStride, float * dst, size_t dstStride)
{
    v32f r[V32F_N];
    SN_UNROLL for (int i = 0; i < V32F_N; ++i) r[i] = v_load_32f(src + (size_t)i * srcStride);
    v_transpose_32f(r);
    SN_UNROLL for (int i = 0; i < V32F_N; ++i) v_store_32f(dst + (size_t)i * dstStride, r[i]);
}

/* A rectangle that fits into a square. */
static void transpose_rest(const float * src, size_t srcStride, size_t rows, size_t columns, float * dst, size_t dstStride)
{
    v32f r[V32F_N];
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
        r[i] = i < rows ? v_load_tail_32f(src + i * srcStride, columns) : v_zero_32f();
    v_transpose_32f(r);
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
        if (i < columns)
            v_store_tail_32f(dst + i * dstStride, r[i], rows);
}

/* Up to TILE rows and columns. */
static void transpose_tile(const float * src, size_t srcStride, size_t rows, size_t columns, float * dst, size_t dstStride)
{
    if (rows < V32F_N || columns < V32F_N) {
        for (size_t r = 0; r < rows; r += V32F_N)
            for (size_t c = 0; c < columns; c += V32F_N)
                transpose_rest(src + r * srcStride + c, srcStride, sn_min(rows - r, V32F_N), sn_min(columns - c, V32F_N),
                               dst + c * dstStride + r, dstStride);
        return;
    }
    /* Along the longer stride, whose lines are the likelier to be driven out before their other half is used. */
    const bool along_rows = dstStride > srcStride;
    const size_t outer = along_rows ? columns : rows, inner = along_rows ? rows : columns;
    for (size_t i = 0; i < outer; i += V32F_N)
        for (size_t j = 0; j < inner; j += V32F_N) {
            const size_t x = sn_min(along_rows ? i : j, columns - V32F_N), y = sn_min(along_rows ? j : i, rows - V32F_N);
            transpose_square(src + y * srcStride + x, srcStride, dst + x * dstStride + y, dstStride);
        }
}

/* The size of the next tile when `rest` remain: the last one is never narrower than a vector, if that can be. */
static size_t tile_of(size_t rest) { return rest < TILE + V32F_N ? rest : TILE; }

static void transpose(const float * src, size_t srcStride, size_t rows, size_t columns, float * dst, size_t dstStride)
{
    for (size_t r = 0, height; r < rows; r += height) {
        height = tile_of(rows - r);
        for (size_t c = 0, width; c < columns; c += width) {
            width = tile_of(columns - c);
            transpose_tile(src + r * srcStride + c, srcStride, height, width, dst + c * dstStride + r, dstStride);
        }
    }
}

/* ---- pixels to pixels */

/* The first `lanes` values of each pixel; the pixel written has `width` of them, the others 0. */
static void copy_pixels(const float * src, size_t srcPitch, size_t lanes, float * dst, size_t dstPitch, size_t width,
                        size_t size)
{
    for (size_t l = 0; l < width; l += V32F_N) {
        const size_t in = sn_min(lanes - sn_min(l, lanes), V32F_N), out = sn_min(width - l, V32F_N);
        const float * p = src + sn_min(l, lanes);
        if (in == V32F_N)
            for (size_t s = 0; s < size; ++s)
                v_store_32f(dst + l + s * dstPitch, v_load_32f(p + s * srcPitch));
        else
            for (size_t s = 0; s < size; ++s)
                v_store_tail_32f(dst + l + s * dstPitch, v_load_tail_32f(p + s * srcPitch, in), out);
    }
}

/* ---- formats; all src and dst of an image, `size` positions from `begin` */

/* Between NHWC and blocks of X lanes, in tiles of pixels so that the lines of NHWC are used by all blocks. */
static void between_pixels(size_t channels, size_t spatial, const float * src, float * dst, size_t lanes, bool to_blocks,
                           size_t begin, size_t end)
{
    for (size_t s = begin, size; s < end; s += size) {
        size = sn_min(end - s, TILE);
        for (size_t c = 0; c < channels; c += lanes) {
            const size_t there = sn_min(channels - c, lanes), nhwc = s * channels + c, block = c * spatial + s * lanes;
            if (to_blocks)
                copy_pixels(src + nhwc, channels, there, dst + block, lanes, lanes, size);
            else
                copy_pixels(src + block, lanes, there, dst + nhwc, channels, there, size);
        }
    }
}

/* Between NCHW and blocks of X lanes, V32F_N lanes at a time. */
static void between_planes(size_t channels, size_t spatial, const float * src, float * dst, size_t lanes, bool to_blocks,
                           size_t begin, size_t end)
{
    const size_t size = end - begin, part = sn_min(lanes, V32F_N);
    for (size_t c = 0; c < channels; c += lanes)
        for (size_t l = 0; l < lanes; l += part) {
            const size_t there = sn_min(channels - sn_min(c + l, channels), part);
            const size_t plane = sn_min(c + l, channels - 1) * spatial + begin, block = c * spatial + begin * lanes + l;
            if (to_blocks)
                planes_to_lanes(src + plane, spatial, there, size, dst + block, lanes, part);
            else if (there)
                lanes_to_planes(src + block, lanes, size, dst + plane, spatial, there, part);
        }
}

static void copy_plane(const float * src, size_t size, float * dst)
{
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + i, v_load_32f(src + i));
    if (i < size)
        v_store_tail_32f(dst + i, v_load_tail_32f(src + i, size - i), size - i);
}

static void convert_image_32f(size_t channels, size_t spatial, const float * src, SimdTensorFormatType srcFormat,
                              float * dst, SimdTensorFormatType dstFormat, size_t begin, size_t end)
{
    if (spatial == 1) { /* then NCHW is NHWC */
        srcFormat = srcFormat == SimdTensorFormatNchw ? SimdTensorFormatNhwc : srcFormat;
        dstFormat = dstFormat == SimdTensorFormatNchw ? SimdTensorFormatNhwc : dstFormat;
    }
    const size_t lanes = sn_max(sn_format_lanes(srcFormat), sn_format_lanes(dstFormat)), size = end - begin;
    const bool to_blocks = sn_format_lanes(dstFormat) != 0;
    if (lanes && (srcFormat == SimdTensorFormatNhwc || dstFormat == SimdTensorFormatNhwc))
        between_pixels(channels, spatial, src, dst, lanes, to_blocks, begin, end);
    else if (lanes)
        between_planes(channels, spatial, src, dst, lanes, to_blocks, begin, end);
    else if (channels == 1 || spatial == 1)
        copy_plane(src + begin, channels * size, dst + begin);
    else if (srcFormat == SimdTensorFormatNchw && channels < V32F_N)
        planes_to_lanes(src + begin, spatial, channels, size, dst + begin * channels, channels, channels);
    else if (srcFormat == SimdTensorFormatNchw)
        transpose(src + begin, spatial, channels, size, dst + begin * channels, channels);
    else if (channels < V32F_N)
        lanes_to_planes(src + begin * channels, channels, size, dst + begin, spatial, channels, channels);
    else
        transpose(src + begin * channels, channels, size, channels, dst + begin, spatial);
}

void ISA_FN(install_layout)(struct sn_table * table) { table->convert_image_32f = convert_image_32f; }
