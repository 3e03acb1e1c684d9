/*
 * Conversions between images or matrices and the tile of bfloat16 convolutions: images to bfloat16 numbers in NHWC, or to
 * floats rounded to bfloat16, and results to planes.
 *
 * Planes are converted to pixels in squares: numbers of two channels are joined in the 32-bit lanes of a vector, one lane
 * for each pixel, and a square of such vectors is transposed. A vector of bfloat16 numbers of a plane makes two of them, for
 * its even and for its odd pixels. The conversion to planes is the inverse.
 */
#include "contract/convolution_16b.h"
#include "kernels/install.h"

#include <math.h>
#include <string.h>

/* Replaces every NaN by one that rounding in v_join_16b_32f() cannot turn into another value. */
SN_INLINE v32f clean(v32f x) { return v_select_32f(v_eq_32f(x, x), x, v_set_32f(NAN)); }

/* Rounded to bfloat16, as a float. */
SN_INLINE v32f rounded(v32f x) { return v_cast_32i_32f(v_cast_16i_32i(v_join_16b_32f(v_zero_32f(), clean(x)))); }

SN_INLINE v32f load_32f(const uint8_t * p, size_t n) { return n == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, n); }
SN_INLINE v32f load_16b(const uint8_t * p, size_t n) { return n == V32F_N ? v_load_16b_32f(p) : v_load_tail_16b_32f(p, n); }
SN_INLINE v16i load_16i(const uint8_t * p, size_t n) { return n == V16I_N ? v_load_16i(p) : v_load_tail_16i(p, n); }

SN_INLINE void store_32f(uint8_t * p, v32f v, size_t n)
{
    if (n == V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, n);
}

SN_INLINE void store_16i(uint8_t * p, v32i v, size_t n)
{
    if (n == V16I_N)
        v_store_16i(p, v_cast_32i_16i(v));
    else
        v_store_tail_16i(p, v_cast_32i_16i(v), n);
}

/* Up to V32F_N values of one channel, as floats rounded to bfloat16. */
SN_INLINE v32f values(const uint8_t * src, bool floats, size_t n)
{
    return floats ? rounded(load_32f(src, n)) : load_16b(src, n);
}

/* ---- NHWC */

static void row_of_pixels(const struct sn_pixels * p, const uint8_t * src, size_t n, uint8_t * dst)
{
    if (!p->floats && !p->wide) {
        memcpy(dst, src, 2 * n);
        return;
    }
    for (size_t i = 0; i < n; i += V32F_N) {
        const size_t rest = sn_min(n - i, V32F_N);
        if (p->wide)
            store_32f(dst + 4 * i, values(src + (p->floats ? 4 : 2) * i, p->floats, rest), rest);
        else if (rest == V32F_N)
            v_store_16b_32f(dst + 2 * i, v_load_32f(src + 4 * i));
        else
            v_store_tail_16b_32f(dst + 2 * i, v_load_tail_32f(src + 4 * i, rest), rest);
    }
}

static void from_pixels(const struct sn_pixels * p)
{
    const size_t element = p->floats ? 4 : 2, number = p->wide ? 4 : 2;
    if (p->srcPixel == p->channels && p->dstPixel == p->channels * number)
        row_of_pixels(p, p->src, p->channels * p->pixels, p->dst);
    else
        for (size_t i = 0; i < p->pixels; ++i)
            row_of_pixels(p, (const uint8_t *)p->src + i * p->srcPixel * element, p->channels, p->dst + i * p->dstPixel);
}

/* ---- NCHW */

/* Up to V32F_N channels of up to V32F_N pixels. */
SN_INLINE void square_of_floats(const struct sn_pixels * p, size_t c, size_t pixel, size_t n, bool floats)
{
    const size_t channels = sn_min(p->channels - c, V32F_N), element = floats ? 4 : 2;
    const uint8_t * src = (const uint8_t *)p->src + (c * p->srcChannel + pixel) * element;
    uint8_t * dst = p->dst + pixel * p->dstPixel + c * sizeof(float);
    v32f square[V32F_N];
    for (size_t i = 0; i < V32F_N; ++i)
        square[i] = i < channels ? values(src + i * p->srcChannel * element, floats, n) : v_zero_32f();
    v_transpose_32f(square);
    for (size_t i = 0; i < n; ++i)
        store_32f(dst + i * p->dstPixel, square[i], channels);
}

/* Transposes a square of pairs of channels, and stores the first n of its pixels, `step` bytes apart. */
SN_INLINE void store_square(v32f square[V32F_N], size_t n, size_t channels, uint8_t * dst, size_t step)
{
    v_transpose_32f(square);
    if (n == V32F_N && channels == V16I_N) {
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i) v_store_16i(dst + i * step, v_cast_32i_16i(v_cast_32f_32i(square[i])));
    } else {
        for (size_t i = 0; i < n; ++i)
            store_16i(dst + i * step, v_cast_32f_32i(square[i]), channels);
    }
}

/* Up to V16I_N channels of up to V32F_N pixels, from floats. */
SN_INLINE void square_from_floats(const struct sn_pixels * p, size_t c, size_t pixel, size_t n)
{
    const size_t channels = sn_min(p->channels - c, V16I_N), plane = p->srcChannel * sizeof(float);
    const uint8_t * src = (const uint8_t *)p->src + c * plane + pixel * sizeof(float);
    v32f square[V32F_N];
    for (size_t i = 0; i < V32F_N; ++i, src += 2 * plane) {
        const v32f a = 2 * i < channels ? load_32f(src, n) : v_zero_32f();
        const v32f b = 2 * i + 1 < channels ? load_32f(src + plane, n) : v_zero_32f();
        square[i] = v_cast_32i_32f(v_cast_16i_32i(v_join_16b_32f(clean(a), clean(b))));
    }
    store_square(square, n, channels, p->dst + pixel * p->dstPixel + 2 * c, p->dstPixel);
}

/* The even 16-bit numbers of a and b joined in lanes, or the odd ones. */
SN_INLINE v32i pairs_of(v32i a, v32i b, bool odd)
{
    return odd ? v_or_32i(v_shr_32i(a, 16), v_and_32i(b, v_set_32i(-0x10000)))
               : v_or_32i(v_and_32i(a, v_set_32i(0xFFFF)), v_shl_32i(b, 16));
}

/* Up to V16I_N channels of the even or of the odd pixels of up to V16I_N pixels. Planes are read once for each, since two
 * squares do not fit into registers at once. */
SN_INLINE void square_of_pairs(const struct sn_pixels * p, size_t c, size_t pixel, size_t n, bool odd)
{
    const size_t channels = sn_min(p->channels - c, V16I_N), plane = p->srcChannel * 2;
    const uint8_t * src = (const uint8_t *)p->src + c * plane + pixel * 2;
    v32f square[V32F_N];
    if (n == V16I_N && channels == V16I_N) {
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
        {
            const v32i a = v_cast_16i_32i(v_load_16i(src)), b = v_cast_16i_32i(v_load_16i(src + plane));
            square[i] = v_cast_32i_32f(pairs_of(a, b, odd));
            src += 2 * plane;
        }
    } else {
        const v32i zero = v_set_32i(0);
        for (size_t i = 0; i < V32F_N; ++i, src += 2 * plane) {
            const v32i a = 2 * i < channels ? v_cast_16i_32i(load_16i(src, n)) : zero;
            const v32i b = 2 * i + 1 < channels ? v_cast_16i_32i(load_16i(src + plane, n)) : zero;
            square[i] = v_cast_32i_32f(pairs_of(a, b, odd));
        }
    }
    store_square(square, (n + !odd) / 2, channels, p->dst + (pixel + odd) * p->dstPixel + 2 * c, 2 * p->dstPixel);
}

static void from_planes(const struct sn_pixels * p)
{
    const size_t pixels = p->wide || p->floats ? V32F_N : V16I_N, channels = p->wide ? V32F_N : V16I_N;
    for (size_t pixel = 0; pixel < p->pixels; pixel += pixels) {
        const size_t n = sn_min(p->pixels - pixel, pixels);
        for (size_t c = 0; c < p->channels; c += channels)
            if (p->wide && p->floats)
                square_of_floats(p, c, pixel, n, true);
            else if (p->wide)
                square_of_floats(p, c, pixel, n, false);
            else if (p->floats)
                square_from_floats(p, c, pixel, n);
            else {
                square_of_pairs(p, c, pixel, n, false);
                square_of_pairs(p, c, pixel, n, true);
            }
    }
}

static void pixels_16b(const struct sn_pixels * p)
{
    if (p->srcChannel == 1)
        from_pixels(p);
    else
        from_planes(p);
}

/* ---- pixels to planes */

/* Pixels src, src + step ... as a square of pairs of channels. */
SN_INLINE void load_square(const uint8_t * src, size_t step, size_t channels, size_t n, v32f square[V32F_N])
{
    if (n == V32F_N && channels == V16I_N) {
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i) square[i] = v_load_32f(src + i * step);
    } else {
        for (size_t i = 0; i < V32F_N; ++i)
            square[i] = v_cast_32i_32f(i < n ? v_cast_16i_32i(load_16i(src + i * step, channels)) : v_set_32i(0));
    }
    v_transpose_32f(square);
}

static void planes_16b(const uint8_t * src, size_t step, size_t channels, size_t pixels, uint8_t * dst, size_t plane)
{
    for (size_t pixel = 0; pixel < pixels; pixel += V16I_N)
        for (size_t c = 0; c < channels; c += V16I_N) {
            const size_t n = sn_min(pixels - pixel, V16I_N), wide = sn_min(channels - c, V16I_N);
            const uint8_t * from = src + pixel * step + 2 * c;
            uint8_t * to = dst + 2 * (c * plane + pixel);
            v32f even[V32F_N], odd[V32F_N];
            load_square(from, 2 * step, wide, (n + 1) / 2, even);
            load_square(from + step, 2 * step, wide, n / 2, odd);
            for (size_t i = 0; 2 * i < wide; ++i, to += 4 * plane) {
                const v32i a = v_cast_32f_32i(even[i]), b = v_cast_32f_32i(odd[i]);
                store_16i(to, pairs_of(a, b, false), n);
                if (2 * i + 1 < wide)
                    store_16i(to + 2 * plane, pairs_of(a, b, true), n);
            }
        }
}

/* ---- panels of a matrix */

static void panel_of_rows(const struct sn_panel_16b * p)
{
    const size_t number = p->floats ? 4 : 2;
    for (size_t k = 0; k < p->depth; k += 2)
        for (size_t j = 0; j < p->width; j += V32F_N) {
            const size_t n = sn_min(p->columns - sn_min(j, p->columns), V32F_N);
            const uint8_t * row = (const uint8_t *)p->b + (k * p->step + j) * number, * next = row + p->step * number;
            const v32f a = p->floats ? load_32f(row, n) : load_16b(row, n);
            const v32f b = k + 1 == p->depth ? v_zero_32f() : p->floats ? load_32f(next, n) : load_16b(next, n);
            v_store_16i(p->panel + (k / 2 * p->width + j) * 4, v_join_16b_32f(clean(a), clean(b)));
        }
}

/* Up to V16I_N floats, rounded, in the order of memory. */
SN_INLINE v16i load_rounded(const uint8_t * p, size_t n)
{
    uint8_t rounded[V16I_N * 2] SN_ALIGNED;
    const size_t first = sn_min(n, V32F_N);
    v_store_16b_32f(rounded, load_32f(p, first));
    v_store_16b_32f(rounded + V32F_N * 2, n > first ? load_32f(p + first * 4, n - first) : v_zero_32f());
    return v_load_16i(rounded);
}

/* Squares of pairs, as of planes. */
static void panel_of_columns(const struct sn_panel_16b * p)
{
    const size_t number = p->floats ? 4 : 2;
    for (size_t j = 0; j < p->width; j += V32F_N)
        for (size_t k = 0; k < p->depth; k += V16I_N) {
            const size_t n = sn_min(p->depth - k, V16I_N);
            const uint8_t * row = (const uint8_t *)p->b + (j * p->step + k) * number;
            uint8_t * to = p->panel + (k / 2 * p->width + j) * 4;
            v32f square[V32F_N];
            for (size_t i = 0; i < V32F_N; ++i, row += p->step * number)
                square[i] = j + i >= p->columns ? v_zero_32f()
                                                : v_cast_32i_32f(v_cast_16i_32i(p->floats ? load_rounded(row, n)
                                                                                          : load_16i(row, n)));
            v_transpose_32f(square);
            for (size_t i = 0; 2 * i < n; ++i)
                v_store_32f(to + i * p->width * 4, square[i]);
        }
}

static void panel_16b(const struct sn_panel_16b * p)
{
    if (p->transposed)
        panel_of_columns(p);
    else
        panel_of_rows(p);
}

SN_INSTALL(convolution_16b, convolution_16b)
{
    slots->panel = panel_16b;
    slots->pixels = pixels_16b;
    slots->planes = planes_16b;
}
