/*
 * The transforms of a tile for all its channels, by the kind of the algorithm.
 *
 * An image's tile is transformed in two halves of its rows: all 6 x 6 coefficients at once do not fit into registers, and
 * loading twice is cheaper than spilling.
 */
#ifndef SN_KERNELS_WINOGRAD_TILE_H
#define SN_KERNELS_WINOGRAD_TILE_H

#include "contract/winograd.h"
#include "kernels/winograd/transforms.h"

/* A tile in an image: rows top .. top + rows - 1 are inside, and likewise the columns. */
struct tile {
    const sn_32f * src;
    sn_32f * dst;
    size_t stepY, stepX; /* between pixels of the image */
    size_t plane;        /* between coefficients */
    size_t top, rows, left, columns;
    const sn_32f * bias; /* of an output that this transform finishes */
    const sn_32f * add;  /* added to the output, laid out like dst */
    enum sn_activation activation;
    const sn_32f * param;
};

/* The form of a kernel: a square, a row, or a row whose transform has the points 1/2 and -1/2. */
enum { SQUARE, ROW, HALVES };

/* The arguments of a transform: m and r of F(m, r); the form of the kernel; whether the tile of inputs may lie partly
 * outside the image. These are compile-time constants. */
#define TRANSFORM_ARGUMENTS const struct tile *t, int m, int r, int row, bool edge

SN_INLINE v32f load_pixel(const struct tile * t, const sn_32f * p, int y, int x, bool edge)
{
    const bool outside = edge && ((size_t)y - t->top >= t->rows || (size_t)x - t->left >= t->columns);
    return outside ? v_zero_32f() : v_load_32f(p);
}

/* Rows first .. first + count - 1 of the coefficients of a tile. */
SN_INLINE void input_rows(TRANSFORM_ARGUMENTS, int first, int count)
{
    const int n = m + r - 1, rows = row ? 1 : n;
    v32f w[WINOGRAD_SIDE][WINOGRAD_SIDE];
    const sn_32f * src[WINOGRAD_SIDE];
    SN_UNROLL for (int y = 0; y < rows; ++y) src[y] = t->src + (size_t)y * t->stepY;
    SN_UNROLL for (int x = 0; x < n; ++x)
    {
        v32f d[WINOGRAD_SIDE], v[WINOGRAD_SIDE];
        SN_UNROLL for (int y = 0; y < rows; ++y)
        {
            d[y] = load_pixel(t, src[y], y, x, edge);
            src[y] += t->stepX;
        }
        if (row)
            v[0] = d[0];
        else
            winograd_input(m, r, d, v);
        SN_UNROLL for (int i = 0; i < count; ++i) w[i][x] = v[first + i];
    }
    sn_32f * dst = t->dst + (size_t)(first * n) * t->plane;
    SN_UNROLL for (int i = 0; i < count; ++i)
    {
        v32f v[WINOGRAD_SIDE];
        if (row == HALVES)
            winograd_input_halves(w[i], v);
        else
            winograd_input(m, r, w[i], v);
        SN_UNROLL for (int x = 0; x < n; ++x)
        {
            v_store_32f(dst, v[x]);
            dst += t->plane;
        }
    }
}

SN_INLINE void input_tile(TRANSFORM_ARGUMENTS)
{
    const int rows = row ? 1 : m + r - 1, half = (rows + 1) / 2;
    input_rows(t, m, r, row, edge, 0, half);
    if (!row)
        input_rows(t, m, r, row, edge, half, rows - half);
}

/* finish: adds the bias, and limits the result; join: before that adds t->add. */
SN_INLINE void output_tile_as(TRANSFORM_ARGUMENTS, bool finish, bool join)
{
    (void)edge;
    const int n = m + r - 1, rows = row ? 1 : n, height = row ? 1 : m;
    const v32f bias = finish ? v_load_32f(t->bias) : v_zero_32f();
    const struct limits limits = limits_of(t->activation, t->param);
    v32f w[WINOGRAD_SIDE][WINOGRAD_SIDE];
    const sn_32f * src[WINOGRAD_SIDE];
    SN_UNROLL for (int y = 0; y < rows; ++y) src[y] = t->src + (size_t)(y * n) * t->plane;
    SN_UNROLL for (int x = 0; x < n; ++x)
    {
        v32f p[WINOGRAD_SIDE], v[WINOGRAD_SIDE];
        SN_UNROLL for (int y = 0; y < rows; ++y)
        {
            p[y] = v_load_32f(src[y]);
            src[y] += t->plane;
        }
        if (row)
            v[0] = p[0];
        else
            winograd_output(m, r, p, v);
        SN_UNROLL for (int i = 0; i < height; ++i) w[i][x] = v[i];
    }
    SN_UNROLL for (int i = 0; i < height; ++i)
    {
        v32f v[WINOGRAD_SIDE];
        sn_32f * dst = t->dst + (size_t)i * t->stepY;
        const sn_32f * add = join ? t->add + (size_t)i * t->stepY : NULL;
        if (row == HALVES)
            winograd_output_halves(m, w[i], v);
        else
            winograd_output(m, r, w[i], v);
        SN_UNROLL for (int x = 0; x < m; ++x)
        {
            if (finish)
                v[x] = v_add_32f(v[x], bias);
            if (join)
                v[x] = v_add_32f(v[x], v_load_32f(add + (size_t)x * t->stepX));
            if (finish)
                v[x] = limit(v[x], limits);
            v_store_32f(dst, v[x]);
            dst += t->stepX;
        }
    }
}

SN_INLINE void output_tile(TRANSFORM_ARGUMENTS) { output_tile_as(t, m, r, row, edge, false, false); }
SN_INLINE void finish_tile(TRANSFORM_ARGUMENTS) { output_tile_as(t, m, r, row, edge, true, false); }
SN_INLINE void join_tile(TRANSFORM_ARGUMENTS) { output_tile_as(t, m, r, row, edge, true, true); }

/* The part of a tile with the rows of one parity and the columns of one parity. */
SN_INLINE struct tile phase_of(struct tile t, size_t y, size_t x)
{
    const size_t below = t.top + t.rows, right = t.left + t.columns;
    t.src += y * t.stepY + x * t.stepX;
    t.stepY *= 2, t.stepX *= 2;
    t.top = (t.top + 1 - y) / 2, t.left = (t.left + 1 - x) / 2;
    t.rows = (below + 1 - y) / 2 - t.top, t.columns = (right + 1 - x) / 2 - t.left;
    return t;
}

/* m lines of a phase, each transformed separately. `rows`: they are rows of the image, else columns. */
SN_INLINE void strided_lines(const struct tile * t, int m, bool edge, bool rows)
{
    struct tile line = *t;
    line.plane *= (size_t)m;
    if (!rows)
        line.stepX = t->stepY, line.left = t->top, line.columns = t->rows;
    line.top = 0;
    const size_t first = rows ? t->top : t->left, count = rows ? t->rows : t->columns, step = rows ? t->stepY : t->stepX;
    for (size_t i = 0; i < (size_t)m; ++i, line.src += step, line.dst += t->plane) {
        line.rows = i - first < count;
        input_tile(&line, m, 2, ROW, edge);
    }
}

/* Inputs of stride 2, see contract/winograd.h. */
SN_INLINE void strided_input_tile(TRANSFORM_ARGUMENTS)
{
    (void)r, (void)row;
    const size_t line = (size_t)m * t->plane;
    struct tile part = phase_of(*t, 0, 0);
    input_tile(&part, m, 2, SQUARE, edge);
    part = phase_of(*t, 0, 1);
    part.dst += (size_t)(m + 1) * (line + t->plane);
    strided_lines(&part, m, edge, false);
    part = phase_of(*t, 1, 0);
    part.dst += (size_t)(m + 1) * (2 * line + t->plane);
    strided_lines(&part, m, edge, true);
    part = phase_of(*t, 1, 1);
    part.dst += (size_t)(m + 1) * (3 * line + t->plane);
    for (int y = 0; y < m; ++y)
        SN_UNROLL for (int x = 0; x < m; ++x, part.dst += t->plane)
        {
            const sn_32f * src = part.src + (size_t)y * part.stepY + (size_t)x * part.stepX;
            v_store_32f(part.dst, load_pixel(&part, src, y, x, edge));
        }
}

/*
 * The output of stride 2, see contract/winograd.h. The sums that need a transform along x, of both kinds, come first; then
 * the sums of odd columns are added one by one. At most m + 1 vectors of each of the m rows are in registers.
 */
SN_INLINE void strided_finish_tile_as(TRANSFORM_ARGUMENTS, bool join)
{
    (void)r, (void)row, (void)edge;
    const size_t n = (size_t)m + 1, M = (size_t)m, plane = t->plane;
    const sn_32f * even = t->src, * odd = even + n * n * plane;
    const sn_32f * rows = odd + n * M * plane, * copies = rows + M * n * plane;
    v32f w[4][WINOGRAD_SIDE], y[4][WINOGRAD_SIDE];
    SN_UNROLL for (int x = 0; x <= m; ++x, even += plane)
    {
        v32f p[WINOGRAD_SIDE], v[WINOGRAD_SIDE];
        SN_UNROLL for (int i = 0; i <= m; ++i) p[i] = v_load_32f(even + (size_t)i * n * plane);
        winograd_output(m, 2, p, v);
        SN_UNROLL for (int i = 0; i < m; ++i, rows += plane) w[i][x] = v_add_32f(v[i], v_load_32f(rows));
    }
    SN_UNROLL for (int i = 0; i < m; ++i) winograd_output(m, 2, w[i], y[i]);
    const v32f bias = v_load_32f(t->bias);
    const struct limits limits = limits_of(t->activation, t->param);
    SN_UNROLL for (int x = 0; x < m; ++x, odd += plane, copies += plane)
    {
        v32f p[WINOGRAD_SIDE], v[WINOGRAD_SIDE];
        SN_UNROLL for (int i = 0; i <= m; ++i) p[i] = v_load_32f(odd + (size_t)i * M * plane);
        winograd_output(m, 2, p, v);
        SN_UNROLL for (int i = 0; i < m; ++i)
        {
            const v32f both = v_add_32f(v[i], v_load_32f(copies + (size_t)i * M * plane));
            v32f sum = v_add_32f(v_add_32f(y[i][x], both), bias);
            const size_t at = (size_t)i * t->stepY + (size_t)x * t->stepX;
            if (join)
                sum = v_add_32f(sum, v_load_32f(t->add + at));
            v_store_32f(t->dst + at, limit(sum, limits));
        }
    }
}

SN_INLINE void strided_finish_tile(TRANSFORM_ARGUMENTS) { strided_finish_tile_as(t, m, r, row, edge, false); }
SN_INLINE void strided_join_tile(TRANSFORM_ARGUMENTS) { strided_finish_tile_as(t, m, r, row, edge, true); }

/* ---- an instance of a transform processes all channels of a tile; a separate function, so that it can use all registers */

typedef void (*transform_fn)(const struct tile * tile, size_t channels);

#define INSTANCE_AS(transform, function, ...)                                                                               \
    static __attribute__((noinline)) void function(const struct tile * tile, size_t channels)                               \
    {                                                                                                                       \
        struct tile t = *tile;                                                                                              \
        for (size_t c = 0; c < channels; c += V32F_N, t.src += V32F_N, t.dst += V32F_N, t.bias += V32F_N,                   \
             t.add += V32F_N)                                                                                               \
            transform##_tile(&t, __VA_ARGS__);                                                                              \
    }
#define INSTANCE(transform, name, m, r, row) INSTANCE_AS(transform, transform##_##name, m, r, row, false)

/*
 * Inputs at an edge have separate instances: with padded copies, as for outputs, 512 x 7 x 7 took 1.6 times as long, and a
 * convolution of 14 x 14 1.03 times. Instances for outputs at an edge, and for partial vectors, gained less than 2%.
 */
#define INSTANCE_EDGE(transform, name, m, r, row)                                                                           \
    INSTANCE(transform, name, m, r, row) INSTANCE_AS(transform, transform##_edge_##name, m, r, row, true)

#define INSTANCES(name, m, r, row) INSTANCE_EDGE(input, name, m, r, row) INSTANCE(output, name, m, r, row)
INSTANCES(4X_3X, 4, 3, ROW)
INSTANCES(4X_5X, 4, 5, ROW)
INSTANCES(2_2, 2, 2, SQUARE)
INSTANCES(4_2, 4, 2, SQUARE)
INSTANCES(2_3, 2, 3, SQUARE)
INSTANCES(3_3, 3, 3, SQUARE)
INSTANCES(4_3, 4, 3, SQUARE)
INSTANCE(finish, 2_3, 2, 3, SQUARE)
INSTANCE(finish, 3_3, 3, 3, SQUARE)
INSTANCE(finish, 4_3, 4, 3, SQUARE)
INSTANCE(finish, 2_5, 2, 5, SQUARE)
INSTANCE(finish, 4X_3X, 4, 3, ROW)
INSTANCE(finish, halves_4X_5X, 4, 5, HALVES)
INSTANCE(finish, halves_6X_3X, 6, 3, HALVES)
INSTANCE(finish, halves_2X_7X, 2, 7, HALVES)
INSTANCE(join, 2_3, 2, 3, SQUARE)
INSTANCE(join, 3_3, 3, 3, SQUARE)
INSTANCE(join, 4_3, 4, 3, SQUARE)
INSTANCE(join, 2_5, 2, 5, SQUARE)
INSTANCE(join, 4X_3X, 4, 3, ROW)
INSTANCE(join, halves_4X_5X, 4, 5, HALVES)
INSTANCE(join, halves_6X_3X, 6, 3, HALVES)
INSTANCE(join, halves_2X_7X, 2, 7, HALVES)
INSTANCE_EDGE(input, halves_4X_5X, 4, 5, HALVES)
INSTANCE_EDGE(strided_input, 2_3, 2, 3, SQUARE)
INSTANCE_EDGE(strided_input, 4_3, 4, 3, SQUARE)
INSTANCE(strided_finish, 2_3, 2, 3, SQUARE)
INSTANCE(strided_finish, 4_3, 4, 3, SQUARE)
INSTANCE(strided_join, 2_3, 2, 3, SQUARE)
INSTANCE(strided_join, 4_3, 4, 3, SQUARE)

/* Instances by kind. Those of a row are also for a column, with a turned tile; inputs depend on the number of coefficients
 * alone. */
#define LIST(name) name##_4X_3X, name##_4X_5X, name##_2_2, name##_4_2, name##_2_3, name##_3_3, name##_4_3
#define LIST_INPUT(name)                                                                                                    \
    {LIST(name), strided_##name##_2_3, strided_##name##_4_3, name##_halves_4X_5X, name##_halves_4X_5X, name##_halves_4X_5X, \
     name##_4X_3X, name##_halves_4X_5X, name##_halves_4X_5X, name##_halves_4X_5X, name##_4_3}
static const transform_fn input[] = LIST_INPUT(input), input_edge[] = LIST_INPUT(input_edge);
static const transform_fn output[SN_WINOGRADS] = {LIST(output)};
#define OF_CONVOLUTION(name)                                                                                                \
    {[SN_WINOGRAD_4X_3X] = name##_4X_3X, [SN_WINOGRAD_HALVES_4X_5X] = name##_halves_4X_5X,                                  \
     [SN_WINOGRAD_4Y_3Y] = name##_4X_3X, [SN_WINOGRAD_HALVES_4Y_5Y] = name##_halves_4X_5X,                                  \
     [SN_WINOGRAD_HALVES_6X_3X] = name##_halves_6X_3X, [SN_WINOGRAD_HALVES_6Y_3Y] = name##_halves_6X_3X,                    \
     [SN_WINOGRAD_HALVES_2X_7X] = name##_halves_2X_7X, [SN_WINOGRAD_HALVES_2Y_7Y] = name##_halves_2X_7X,                    \
     [SN_WINOGRAD_2_3] = name##_2_3, [SN_WINOGRAD_3_3] = name##_3_3, [SN_WINOGRAD_4_3] = name##_4_3,                        \
     [SN_WINOGRAD_2_3_STRIDE_2] = strided_##name##_2_3, [SN_WINOGRAD_4_3_STRIDE_2] = strided_##name##_4_3,                  \
     [SN_WINOGRAD_2_5] = name##_2_5}
static const transform_fn finish[SN_WINOGRADS] = OF_CONVOLUTION(finish), join[SN_WINOGRADS] = OF_CONVOLUTION(join);

/* Calls the instance of a kind. Tiles are passed by address: copies of a struct that has just been written cost 50 ns. */
static void transform(const transform_fn * list, enum sn_winograd kind, const struct tile * t, size_t channels)
{
    if (kind < SN_WINOGRAD_4Y_3Y || kind > SN_WINOGRAD_HALVES_2Y_7Y) { /* no column */
        list[kind](t, channels);
        return;
    }
    const struct tile turned = {.src = t->src, .dst = t->dst, .stepY = t->stepX, .stepX = t->stepY, .plane = t->plane,
        .top = t->left, .rows = t->columns, .left = t->top, .columns = t->rows, .bias = t->bias, .add = t->add,
        .activation = t->activation, .param = t->param};
    list[kind](&turned, channels);
}

#endif
