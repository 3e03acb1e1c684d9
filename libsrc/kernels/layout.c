/*
 * Conversion of layouts. All are transpositions: NCHW is planes of positions, NHWC and NCHWxc are pixels of lanes. Many
 * channels of NHWC: kernels/transpose.h. Few lanes (the block of NCHWxc, or fewer channels than V32F_N): kernels/lanes.h.
 *
 * A filter is an image whose channels are the outputs and whose positions are k * I + i, except for Oiyx, where they are
 * i * K + k. With one input or one tap both are equal; otherwise see kernels/layout_filter.h.
 */
#include "contract/format.h"
#include "contract/layout.h"
#include "kernels/install.h"
#include "kernels/lanes.h"
#include "kernels/layout_filter.h"
#include "kernels/transpose.h"
#include "kernels/transpose_small.h"

/* ---- pixels to pixels */

/* Copies the first `lanes` values of each pixel; the pixel written has `width` values, the others are 0. */
static void copy_pixels(const sn_32f * src, size_t srcPitch, size_t lanes, sn_32f * dst, size_t dstPitch, size_t width,
                        size_t size)
{
    for (size_t l = 0; l < width; l += V32F_N) {
        const size_t in = sn_min(lanes - sn_min(l, lanes), V32F_N), out = sn_min(width - l, V32F_N);
        const sn_32f * p = src + sn_min(l, lanes);
        if (in == V32F_N)
            for (size_t s = 0; s < size; ++s)
                v_store_32f(dst + l + s * dstPitch, v_load_32f(p + s * srcPitch));
        else
            for (size_t s = 0; s < size; ++s)
                v_store_tail_32f(dst + l + s * dstPitch, v_load_tail_32f(p + s * srcPitch, in), out);
    }
}

/* ---- formats; src and dst are always those of an image; `size` positions from `begin` */

/* Between NHWC and blocks of X lanes, in tiles of pixels so that cache lines of NHWC are used by all blocks. */
static void between_pixels(size_t channels, size_t spatial, const sn_32f * src, sn_32f * dst, size_t lanes, bool to_blocks,
                           size_t begin, size_t end)
{
    for (size_t s = begin, size; s < end; s += size) {
        size = sn_min(end - s, TRANSPOSE_TILE);
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
static void between_planes(size_t channels, size_t spatial, const sn_32f * src, sn_32f * dst, size_t lanes, bool to_blocks,
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

static void copy_plane(const sn_32f * src, size_t size, sn_32f * dst)
{
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + i, v_load_32f(src + i));
    if (i < size)
        v_store_tail_32f(dst + i, v_load_tail_32f(src + i, size - i), size - i);
}

/* Few rows or columns are lanes of pixels, which must be dense. */
static void transpose_32f(const sn_32f * src, size_t srcStride, size_t rows, size_t columns, sn_32f * dst, size_t dstStride,
                          bool stream)
{
    if (rows < V32F_N && dstStride == rows)
        planes_to_lanes(src, srcStride, rows, columns, dst, rows, rows);
    else if (columns < V32F_N && srcStride == columns)
        lanes_to_planes(src, columns, rows, dst, dstStride, columns, columns);
    else
        transpose(src, srcStride, rows, columns, dst, dstStride, stream);
}

static void transpose_words(const void * src, size_t srcStep, size_t rows, size_t columns, void * dst, size_t dstStep)
{
    transpose_32f(src, srcStep / sizeof(float), rows, columns, dst, dstStep / sizeof(float), false);
}

static void stream_words(const void * src, size_t srcStep, size_t rows, size_t columns, void * dst, size_t dstStep)
{
    transpose_32f(src, srcStep / sizeof(float), rows, columns, dst, dstStep / sizeof(float), true);
}

static void transpose_16b(const void * src, size_t srcStep, size_t rows, size_t columns, void * dst, size_t dstStep)
{
    transpose_small(src, srcStep, rows, columns, dst, dstStep, 2);
}

/* Dense pixels of three bytes, such as colours, to planes. */
static void colours_to_planes(const uint8_t * src, size_t size, uint8_t * dst, size_t stride)
{
    const v32i low = v_set_32i(0xff);
    for (size_t s = 0; s < size; s += V8U_N) {
        v32i r[3][4];
        SN_UNROLL for (size_t k = 0; k < 4; ++k) {
            const size_t at = sn_min(s + k * V32F_N, size), n = sn_min(size - at, V32F_N);
            const v32i pixels = n == V32F_N ? v_load_24_32i(src + 3 * at) : v_load_tail_24_32i(src + 3 * at, n);
            r[0][k] = v_and_32i(pixels, low);
            r[1][k] = v_and_32i(v_shr_32i(pixels, 8), low);
            r[2][k] = v_shr_32i(pixels, 16);
        }
        SN_UNROLL for (size_t j = 0; j < 3; ++j) {
            const v8u bytes = v_pack_32i_8u(r[j][0], r[j][1], r[j][2], r[j][3]);
            if (size - s >= V8U_N)
                v_store_8u(dst + j * stride + s, bytes);
            else
                v_store_tail_8u(dst + j * stride + s, bytes, size - s);
        }
    }
}

/* Planes to dense pixels of three bytes, 16 pixels at a time; the last ones overlap those before. */
static void planes_to_colours(const uint8_t * src, size_t stride, size_t size, uint8_t * dst)
{
    enum { PIXELS = 16, BYTES = 3 * PIXELS, STORED = V8U_N < BYTES ? V8U_N : BYTES };
    uint8_t places[3][BYTES + V8U_N]; /* of the bytes in their planes; 128 for those of other planes */
    memset(places, 128, sizeof(places));
    for (size_t i = 0; i < BYTES; ++i)
        places[i % 3][i] = (uint8_t)(i / 3);
    if (size < PIXELS) {
        for (size_t i = 0; i < 3 * size; ++i)
            dst[i] = src[i % 3 * stride + i / 3];
        return;
    }
    for (size_t s = 0; s < size; s += PIXELS) {
        const size_t first = sn_min(s, size - PIXELS);
        SN_UNROLL for (size_t k = 0; k < BYTES; k += STORED) {
            const size_t at = k + STORED <= BYTES ? k : BYTES - STORED; /* two vectors of 32 bytes overlap */
            v8u bytes = v_pick_8u(src + first, v_load_8u(places[0] + at));
            SN_UNROLL for (size_t j = 1; j < 3; ++j)
                bytes = v_max_8u(bytes, v_pick_8u(src + j * stride + first, v_load_8u(places[j] + at)));
            if (STORED == V8U_N)
                v_store_8u(dst + 3 * first + at, bytes);
            else
                v_store_tail_8u(dst + 3 * first + at, bytes, STORED);
        }
    }
}

static void transpose_8u(const void * src, size_t srcStep, size_t rows, size_t columns, void * dst, size_t dstStep)
{
    if (columns == 3 && srcStep == 3)
        colours_to_planes(src, rows, dst, dstStep);
    else if (rows == 3 && dstStep == 3)
        planes_to_colours(src, srcStep, columns, dst);
    else
        transpose_small(src, srcStep, rows, columns, dst, dstStep, 4);
}

static void convert_image_32f(size_t channels, size_t spatial, const sn_32f * src, enum sn_format srcFormat,
                              sn_32f * dst, enum sn_format dstFormat, size_t begin, size_t end)
{
    if (spatial == 1) { /* NCHW and NHWC are equal */
        srcFormat = srcFormat == SN_NCHW ? SN_NHWC : srcFormat;
        dstFormat = dstFormat == SN_NCHW ? SN_NHWC : dstFormat;
    }
    const size_t lanes = sn_max(sn_format_lanes(srcFormat), sn_format_lanes(dstFormat)), size = end - begin;
    const bool to_blocks = sn_format_lanes(dstFormat) != 0;
    if (lanes && (srcFormat == SN_NHWC || dstFormat == SN_NHWC))
        between_pixels(channels, spatial, src, dst, lanes, to_blocks, begin, end);
    else if (lanes)
        between_planes(channels, spatial, src, dst, lanes, to_blocks, begin, end);
    else if (channels == 1 || spatial == 1)
        copy_plane(src + begin, channels * size, dst + begin);
    else if (srcFormat == SN_NCHW)
        transpose_32f(src + begin, spatial, channels, size, dst + begin * channels, channels, false);
    else
        transpose_32f(src + begin * channels, channels, size, channels, dst + begin, spatial, false);
}

/* ---- filters */

static enum sn_format image_format(enum sn_format format)
{
    switch (format) {
    case SN_OIYX: return SN_NCHW;
    case SN_YXIO: return SN_NHWC;
    case SN_OYXI4O: return SN_NCHW4C;
    case SN_OYXI8O: return SN_NCHW8C;
    default: return SN_NCHW16C;
    }
}

static void convert_filter_32f(size_t output, size_t input, size_t kernel, const sn_32f * src,
                               enum sn_format srcFormat, sn_32f * dst, enum sn_format dstFormat,
                               size_t begin, size_t end)
{
    const bool from_oiyx = srcFormat == SN_OIYX, to_oiyx = dstFormat == SN_OIYX;
    if (input == 1)
        convert_image_32f(output, kernel, src, image_format(srcFormat), dst, image_format(dstFormat), 0, kernel);
    else if (kernel == 1 || (!from_oiyx && !to_oiyx))
        for (size_t k = 0; k < kernel; ++k)
            convert_image_32f(output, input * kernel, src, image_format(srcFormat), dst, image_format(dstFormat),
                              k * input + begin, k * input + end);
    else if (dstFormat == SN_YXIO)
        oiyx_to_yxio(output, input, kernel, src, dst, begin, end);
    else if (srcFormat == SN_YXIO)
        yxio_to_oiyx(output, input, kernel, src, dst, begin, end);
    else if (from_oiyx)
        oiyx_to_blocks(output, input, kernel, src, dst, sn_filter_lanes(dstFormat), begin, end);
    else
        blocks_to_oiyx(output, input, kernel, src, dst, sn_filter_lanes(srcFormat), begin, end);
}

SN_INSTALL(layout, layout)
{
    slots->image_32f = convert_image_32f;
    slots->filter_32f = convert_filter_32f;
    slots->transpose_32f = transpose_words;
    slots->stream_32f = stream_words;
    slots->transpose_16b = transpose_16b;
    slots->transpose_8u = transpose_8u;
}
