/*
 * Winograd's algorithm F(4x4, 3x3) of bytes, exactly, in integers of 16 bits, where pairs of those are multiplied: 2.25 products
 * for an output and channel in place of 9.
 *
 * The points are 0, 1, -1, 2, -1/2 and infinity. No two pairs of them are equal modulo 2, so the denominators of the algorithm,
 * multiplied, have the least power of 2, 4, beside the odd number 225. With integer matrices
 *
 *        2  3 -4 -3  2  0              1  0  0
 *        0 -2 -5 -1  2  0             -1 -1 -1              15  5  5  1  8  0
 *   B' = 0  2  1 -5  2  0         G =  1 -1  1         A' =  0  5 -5  2 -4  0
 *        0 -1 -2  1  2  0              1  2  4               0  5  5  4  2  0
 *        0  2 -1 -2  1  0             -4  2 -1               0  5 -5  8 -1 15
 *        0  2  3 -4 -3  2              0  0  1
 *
 * A' ((G g G') * (B' d B)) A is 900 times the sums. Coefficients of inputs of 0 to 255 are at most 24990, those of weights of -128
 * to 127 at most 6272. Products and sums are computed modulo 2^32, where 225 has the inverse 0x87654321: what remains is 4 times
 * the sum, and sums below 2^29 are found by a shift. (The points of F(4x4, 3x3) of floats, with -2 in place of -1/2, leave 64 times
 * the sum.)
 */
#include "contract/convolution_8i.h"
#include "kernels/install.h"
#include "kernels/result_8i.h"

enum { BLOCK = SN_WINOGRAD_8I_BLOCK, SIDE = SN_WINOGRAD_8I_SIDE, HALF = SIDE / 2 };

SN_INLINE v16i twice(v16i a) { return v_add_16i(a, a); }
SN_INLINE v16i thrice(v16i a) { return v_add_16i(twice(a), a); }

/* v = B' d */
SN_INLINE void transform_inputs(const v16i * d, v16i * v)
{
    const v16i a = v_sub_16i(d[4], d[2]), b = v_sub_16i(d[3], d[1]);
    const v16i a2 = twice(a), b2 = twice(b), a3 = v_add_16i(a2, a), b3 = v_add_16i(b2, b);
    const v16i even = v_sub_16i(a2, thrice(d[3])), odd = v_sub_16i(b2, thrice(d[2]));
    v[0] = v_add_16i(twice(v_sub_16i(d[0], d[2])), v_sub_16i(a2, b3));
    v[1] = v_add_16i(even, odd);
    v[2] = v_sub_16i(even, odd);
    v[3] = v_add_16i(a2, b);
    v[4] = v_sub_16i(a, b2);
    v[5] = v_sub_16i(twice(v_sub_16i(d[5], d[3])), v_add_16i(b2, a3));
}

/* y = A' p */
SN_INLINE void transform_products(const v32i * p, v32i * y)
{
    const v32i s = v_add_32i(p[1], p[2]), d = v_sub_32i(p[1], p[2]);
    const v32i s5 = v_add_32i(v_shl_32i(s, 2), s), d5 = v_add_32i(v_shl_32i(d, 2), d);
    const v32i first = v_sub_32i(v_shl_32i(p[0], 4), p[0]), last = v_sub_32i(v_shl_32i(p[5], 4), p[5]); /* 15 times */
    y[0] = v_add_32i(v_add_32i(first, s5), v_add_32i(p[3], v_shl_32i(p[4], 3)));
    y[1] = v_add_32i(d5, v_shl_32i(v_sub_32i(p[3], v_shl_32i(p[4], 1)), 1));
    y[2] = v_add_32i(s5, v_shl_32i(v_add_32i(v_shl_32i(p[3], 1), p[4]), 1));
    y[3] = v_add_32i(v_add_32i(last, d5), v_sub_32i(v_shl_32i(p[3], 3), p[4]));
}

/* A tile of inputs: the addresses of its lines, and of its pixels in them. */
struct tile {
    const uint8_t * line[SIDE];
    size_t pixel[SIDE];
    uint8_t * dst;
    size_t plane;
};

/* Rows first .. first + HALF - 1 of the coefficients of a vector of channels, the first of them `at`: all at once do not fit into
 * registers. */
SN_INLINE void input_rows(const struct tile * t, size_t at, int first)
{
    v16i w[HALF][SIDE];
    SN_UNROLL for (int x = 0; x < SIDE; ++x)
    {
        v16i d[SIDE], v[SIDE];
        SN_UNROLL for (int y = 0; y < SIDE; ++y) d[y] = v_load_16i(t->line[y] + t->pixel[x] + at * sizeof(int16_t));
        transform_inputs(d, v);
        SN_UNROLL for (int i = 0; i < HALF; ++i) w[i][x] = v[first + i];
    }
    uint8_t * dst = t->dst + (size_t)(first * SIDE) * t->plane + at * sizeof(int16_t);
    SN_UNROLL for (int i = 0; i < HALF; ++i)
    {
        v16i v[SIDE];
        transform_inputs(w[i], v);
        SN_UNROLL for (int x = 0; x < SIDE; ++x, dst += t->plane) v_store_16i(dst, v[x]);
    }
}

static __attribute__((noinline)) void input_whole(const struct tile * t, size_t at, size_t end)
{
    for (; at < end; at += V16I_N) {
        input_rows(t, at, 0);
        input_rows(t, at, HALF);
    }
}

/* The n channels from `at` on, fewer than a vector, by copies: instances with tails would be 24 KB. Only if the last vector cannot
 * overlap the one before, since the channels are fewer, or the last one has no partner. */
static __attribute__((noinline)) void input_part(const struct tile * t, size_t at, size_t n)
{
    SN_ALIGNED uint8_t from[SIDE * SIDE * V8U_N], to[SIDE * SIDE * V8U_N];
    struct tile part = {.dst = to, .plane = V8U_N};
    for (size_t y = 0; y < SIDE; ++y) {
        part.line[y] = from + y * SIDE * V8U_N;
        part.pixel[y] = y * V8U_N;
        for (size_t x = 0; x < SIDE; ++x)
            v_store_16i(from + (y * SIDE + x) * V8U_N, v_load_tail_16i(t->line[y] + t->pixel[x] + at * sizeof(int16_t), n));
    }
    input_whole(&part, 0, V16I_N);
    for (size_t k = 0; k < SIDE * SIDE; ++k)
        v_store_tail_16i(t->dst + k * t->plane + at * sizeof(int16_t), v_load_16i(to + k * V8U_N), n + n % 2);
}

static void winograd_input(const struct sn_winograd_input_8i * w)
{
    const size_t whole = w->channels / V16I_N * V16I_N;
    const bool overlaps = whole > 0 && w->channels % 2 == 0;
    struct tile t = {.dst = w->dst, .plane = w->plane};
    for (size_t ty = 0; ty < w->tilesY; ++ty) {
        for (size_t y = 0; y < SIDE; ++y)
            t.line[y] = w->src + sn_min(ty * BLOCK + y, w->lines - 1) * w->stepY;
        for (size_t tx = 0; tx < w->tilesX; ++tx, t.dst += w->tile) {
            for (size_t x = 0; x < SIDE; ++x)
                t.pixel[x] = sn_min(tx * BLOCK + x, w->columns - 1) * w->stepX;
            input_whole(&t, 0, whole);
            if (whole < w->channels && overlaps)
                input_whole(&t, w->channels - V16I_N, w->channels);
            else if (whole < w->channels)
                input_part(&t, whole, w->channels - whole);
        }
    }
}

/* Tiles whose sums are converted together, so that a row of them is as long as result_rows() admits. */
enum { TOGETHER = 4, ROW = TOGETHER * BLOCK };

/* A vector of channels of a tile: sums of output (y, x) to sums + (y * ROW + x) * step. */
SN_INLINE void output_sums(const int32_t * src, size_t plane, v32i start, int32_t * sums, size_t step)
{
    const v32i inverse = v_set_32i((int32_t)0x87654321);
    v32i w[BLOCK][SIDE];
    SN_UNROLL for (int x = 0; x < SIDE; ++x)
    {
        v32i p[SIDE], y[BLOCK];
        SN_UNROLL for (int i = 0; i < SIDE; ++i) p[i] = v_load_32i(src + (size_t)(i * SIDE + x) * plane);
        transform_products(p, y);
        SN_UNROLL for (int i = 0; i < BLOCK; ++i) w[i][x] = y[i];
    }
    SN_UNROLL for (int i = 0; i < BLOCK; ++i)
    {
        v32i y[BLOCK];
        transform_products(w[i], y);
        SN_UNROLL for (int x = 0; x < BLOCK; ++x)
            v_store_32i(sums + (size_t)(i * ROW + x) * step, v_add_32i(v_sra_32i(v_mul_32i(y[x], inverse), 2), start));
    }
}

/* Up to TOGETHER tiles of a row. */
static __attribute__((noinline)) void output_tiles(const struct sn_winograd_output_8i * w, const int32_t * src, size_t tiles,
                                                   int32_t * sums)
{
    const size_t step = sn_ceil_div(w->channels, V32F_N) * V32F_N;
    for (size_t i = 0; i < tiles; ++i)
        for (size_t at = 0; at < w->channels; at += V32F_N)
            output_sums(src + i * w->tile + at, w->plane, v_load_32i(w->start + at), sums + i * BLOCK * step + at, step);
}

static void winograd_output(const struct sn_winograd_output_8i * w)
{
    SN_ALIGNED int32_t sums[BLOCK * ROW * V8U_N];
    const size_t step = sn_ceil_div(w->channels, V32F_N) * V32F_N;
    const int32_t * src = w->src;
    for (size_t ty = 0; ty < w->tilesY; ++ty)
        for (size_t tx = 0, tiles; tx < w->tilesX; tx += tiles, src += tiles * w->tile) {
            tiles = sn_min(TOGETHER, w->tilesX - tx);
            output_tiles(w, src, tiles, sums);
            const size_t rows = sn_min(BLOCK, w->rows - ty * BLOCK), columns = sn_min(tiles * BLOCK, w->columns - tx * BLOCK);
            uint8_t * dst = w->dst + ty * BLOCK * w->stepY + tx * BLOCK * w->stepX;
            for (size_t y = 0; y < rows; ++y)
                result_rows(sums + y * ROW * step, step, w->result, w->channels, dst + y * w->stepY, w->stepX, columns);
        }
}

SN_INSTALL(winograd_8i, convolution_8i)
{
    slots->winograd = (struct sn_winograd_8i){winograd_input, winograd_output};
}
