/*
 * Conversions between images and the tile of quantised convolutions: images to bytes in NHWC, results to planes.
 *
 * Floats are quantised to a vector of bytes at a time. Planes of bytes and pixels are transposed (kernels/transpose_small.h);
 * those of floats are quantised to bytes of four channels in the 32-bit lanes of a vector, one lane for each of V32F_N pixels,
 * and a square of such vectors is transposed.
 */
#include "contract/convolution_8i.h"
#include "kernels/install.h"
#include "kernels/transpose_small.h"

#include <string.h>

/* ---- floats to bytes */

/* V32F_N values as integers, which a pack will saturate. The order of min and max converts NaN to 0. */
SN_INLINE v32i quantise(v32f x, v32f scale, v32f zero)
{
    const v32f t = v_add_32f(v_mul_32f(x, scale), zero);
    return v_cvt_32f_32i(v_min_32f(v_max_32f(t, v_zero_32f()), v_set_32f(255)));
}

/* n floats with a scale each; `src` may have any alignment. */
SN_INLINE v8u quantise_8u(const uint8_t * src, const sn_32f * scale, v32f zero, size_t n)
{
    v32i x[4];
    SN_UNROLL for (size_t i = 0; i < 4; ++i)
    {
        const size_t rest = n > i * V32F_N ? sn_min(n - i * V32F_N, V32F_N) : 0;
        x[i] = quantise(v_load_tail_32f(src + i * V8U_N, rest), v_load_tail_32f(scale + i * V32F_N, rest), zero);
    }
    return v_pack_32i_8u(x[0], x[1], x[2], x[3]);
}

static void widen(const uint8_t * src, size_t n, uint8_t * dst)
{
    size_t i = 0;
    for (; i + V16I_N <= n; i += V16I_N)
        v_store_16i(dst + 2 * i, v_load_8u_16i(src + i));
    if (i < n)
        v_store_tail_16i(dst + 2 * i, v_load_tail_8u_16i(src + i, n - i), n - i);
}

/* ---- NHWC */

/* A row of n elements, with n scales. */
static void row_of_pixels(const struct sn_pixels * p, const uint8_t * src, const sn_32f * scale, size_t n, uint8_t * dst)
{
    SN_ALIGNED uint8_t bytes[V8U_N];
    const v32f zero = v_set_32f(p->zero);
    if (!p->floats) {
        if (p->wide)
            widen(src, n, dst);
        else
            memcpy(dst, src, n);
        return;
    }
    for (size_t i = 0; i < n; i += V8U_N) {
        const size_t rest = sn_min(n - i, V8U_N);
        const v8u x = quantise_8u(src + 4 * i, scale + i, zero, rest);
        if (p->wide) {
            v_store_8u(bytes, x);
            widen(bytes, rest, dst + 2 * i);
        } else if (rest == V8U_N) {
            v_store_8u(dst + i, x);
        } else {
            v_store_tail_8u(dst + i, x, rest);
        }
    }
}

/* The number of elements to which scales are repeated if consecutive pixels have few channels. */
enum { REPEATED = 512 };

static void from_pixels(const struct sn_pixels * p)
{
    const size_t element = p->floats ? sizeof(float) : 1, wide = p->wide ? 2 : 1;
    const uint8_t * src = p->src;
    const bool joined = p->srcPixel == p->channels && p->dstPixel == p->channels * wide;
    if (joined && !p->floats) {
        row_of_pixels(p, src, NULL, p->channels * p->pixels, p->dst);
    } else if (joined && p->channels <= REPEATED / 2 && p->pixels > 1) {
        float scale[REPEATED];
        const size_t together = REPEATED / p->channels, size = together * p->channels;
        for (size_t i = 0; i < size; ++i)
            scale[i] = p->scale[i % p->channels];
        for (size_t i = 0; i < p->channels * p->pixels; i += size)
            row_of_pixels(p, src + i * element, scale, sn_min(size, p->channels * p->pixels - i), p->dst + i * wide);
    } else {
        for (size_t i = 0; i < p->pixels; ++i)
            row_of_pixels(p, src + i * p->srcPixel * element, p->scale, p->channels, p->dst + i * p->dstPixel);
    }
}

/* ---- NCHW */

/* The square of V32F_N pixels and V8U_N channels of floats that begins at (pixel, c), or what exists of it: vector i of
 * `square` becomes the channels of a pixel. */
SN_INLINE void square_of_floats(const struct sn_pixels * p, size_t c, size_t pixel, size_t n, v32f square[V32F_N])
{
    const v32f zero = v_set_32f(p->zero);
    const sn_32f * src = (const sn_32f *)p->src + c * p->srcChannel + pixel;
    for (size_t i = 0; i < V32F_N; ++i) {
        v32i x[4];
        for (size_t k = 0; k < 4; ++k, ++c, src += p->srcChannel)
            x[k] = c < p->channels ? quantise(v_load_tail_32f(src, n), v_set_32f(p->scale[c]), zero) : v_set_32i(0);
        square[i] = v_cast_32i_32f(v_cast_8u_32i(v_join_32i_8u(x[0], x[1], x[2], x[3])));
    }
    v_transpose_32f(square);
}

static void floats_of_planes(const struct sn_pixels * p, uint8_t * dst, size_t step)
{
    for (size_t pixel = 0; pixel < p->pixels; pixel += V32F_N)
        for (size_t c = 0; c < p->channels; c += V8U_N) {
            const size_t n = sn_min(p->pixels - pixel, V32F_N), channels = sn_min(p->channels - c, V8U_N);
            v32f square[V32F_N];
            square_of_floats(p, c, pixel, n, square);
            for (size_t i = 0; i < n; ++i)
                v_store_tail_8u(dst + (pixel + i) * step + c, v_cast_32i_8u(v_cast_32f_32i(square[i])), channels);
        }
}

static void transpose_8u(const uint8_t * src, size_t srcStep, size_t rows, size_t columns, uint8_t * dst, size_t dstStep)
{
    transpose_small(src, srcStep, rows, columns, dst, dstStep, 4);
}

static void bytes_of_planes(const struct sn_pixels * p, uint8_t * dst, size_t step)
{
    if (p->floats)
        floats_of_planes(p, dst, step);
    else
        transpose_8u(p->src, p->srcChannel, p->channels, p->pixels, dst, step);
}

/* Bytes that will be widened, of some pixels and channels: from a buffer. */
static void wide_of_planes(const struct sn_pixels * p)
{
    SN_ALIGNED uint8_t bytes[V8U_N * V8U_N];
    const size_t element = p->floats ? sizeof(float) : 1;
    for (size_t pixel = 0; pixel < p->pixels; pixel += V8U_N)
        for (size_t c = 0; c < p->channels; c += V8U_N) {
            struct sn_pixels part = *p;
            part.src = (const uint8_t *)p->src + (c * p->srcChannel + pixel) * element;
            part.scale = p->floats ? p->scale + c : NULL;
            part.channels = sn_min(p->channels - c, V8U_N);
            part.pixels = sn_min(p->pixels - pixel, V8U_N);
            bytes_of_planes(&part, bytes, V8U_N);
            for (size_t i = 0; i < part.pixels; ++i)
                widen(bytes + i * V8U_N, part.channels, p->dst + (pixel + i) * p->dstPixel + 2 * c);
        }
}

static void pixels_8i(const struct sn_pixels * p)
{
    if (p->srcChannel == 1)
        from_pixels(p);
    else if (p->wide)
        wide_of_planes(p);
    else
        bytes_of_planes(p, p->dst, p->dstPixel);
}

static void planes_8u(const uint8_t * src, size_t step, size_t channels, size_t pixels, uint8_t * dst, size_t plane)
{
    transpose_8u(src, step, pixels, channels, dst, plane);
}

/* ---- phases */

/* A vector of a phase, with a stride of 2 or 4, a constant, from `stride` vectors. */
SN_INLINE v8u every(const uint8_t * src, size_t stride)
{
    const v8u a = v_even_8u(v_load_8u(src), v_load_8u(src + V8U_N));
    if (stride == 2)
        return a;
    return v_even_8u(a, v_even_8u(v_load_8u(src + 2 * V8U_N), v_load_8u(src + 3 * V8U_N)));
}

/* Whole vectors: the next phase overwrites what they hold too much. Tails take longer than loading a line for each. */
SN_INLINE void split_line(const struct sn_phases_8i * p, const uint8_t * src, size_t stride, uint8_t * dst)
{
    for (size_t f = 0; f < p->phases; ++f)
        for (size_t i = 0; f + i * stride < p->columns; i += V8U_N)
            v_store_8u(dst + f * p->run + i, every(src + f + stride * i, stride));
}

/* Likewise, `size` bytes for each pixel, a constant. */
SN_INLINE void split_pixels(const struct sn_phases_8i * p, const uint8_t * src, uint8_t * dst, size_t size)
{
    const size_t step = p->stride * p->pixel;
    for (size_t f = 0; f < p->phases; ++f) {
        const uint8_t * from = src + f * p->pixel;
        uint8_t * to = dst + f * p->run;
        for (size_t x = f; x < p->columns; x += p->stride, from += step, to += p->pixel)
            memcpy(to, from, size);
    }
}

static void phases_8u(const struct sn_phases_8i * p, const uint8_t * src, uint8_t * dst)
{
    if (p->pixel == 1 && p->stride == 2)
        split_line(p, src, 2, dst);
    else if (p->pixel == 1 && p->stride == 4)
        split_line(p, src, 4, dst);
    else if (p->pixel == 1)
        split_pixels(p, src, dst, 1);
    else if (p->pixel <= 4)
        split_pixels(p, src, dst, 4);
    else if (p->pixel <= 16)
        split_pixels(p, src, dst, 16);
    else
        split_pixels(p, src, dst, V8U_N);
}

SN_INSTALL(convolution_8i, convolution_8i)
{
    slots->pixels = pixels_8i;
    slots->planes = planes_8u;
    slots->phases = phases_8u;
}
