/*
 * The Winograd transforms of filters, images and products, in both layouts.
 *
 * A transform works on one vector of lanes: the same position of V32F_N tiles. In NHWC the lanes are channels, and a tile is
 * read and written in place. In NCHW the lanes are rows of tiles, counted across the channels: image rows that are a block
 * apart are transposed into pixels of V32F_N lanes, including padding, and coefficients are transposed back. So lanes are
 * full both with few channels and large images and with many channels and small ones; with the tiles of one row as lanes,
 * most lanes would be empty in small images.
 *
 * An image's tile is transformed in two halves of its rows: all 6 x 6 coefficients at once do not fit into registers, and
 * loading twice is cheaper than spilling.
 *
 * Instances are unrolled and process whole vectors; partial vectors, and outputs at an edge, use a padded copy.
 */
#include "kernels/winograd.h"

#include <string.h>

#include "contract/winograd.h"
#include "kernels/activate.h"
#include "kernels/install.h"
#include "kernels/lanes.h"

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
INSTANCE(join, 2_3, 2, 3, SQUARE)
INSTANCE(join, 3_3, 3, 3, SQUARE)
INSTANCE(join, 4_3, 4, 3, SQUARE)
INSTANCE(join, 2_5, 2, 5, SQUARE)
INSTANCE(join, 4X_3X, 4, 3, ROW)
INSTANCE(join, halves_4X_5X, 4, 5, HALVES)
INSTANCE(join, halves_6X_3X, 6, 3, HALVES)
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
    {LIST(name), strided_##name##_2_3, strided_##name##_4_3, name##_halves_4X_5X, name##_halves_4X_5X, name##_4X_3X,        \
     name##_halves_4X_5X, name##_halves_4X_5X, name##_4_3}
static const transform_fn input[] = LIST_INPUT(input), input_edge[] = LIST_INPUT(input_edge);
static const transform_fn output[SN_WINOGRADS] = {LIST(output)};
#define OF_CONVOLUTION(name)                                                                                                \
    {[SN_WINOGRAD_4X_3X] = name##_4X_3X, [SN_WINOGRAD_HALVES_4X_5X] = name##_halves_4X_5X,                                  \
     [SN_WINOGRAD_4Y_3Y] = name##_4X_3X, [SN_WINOGRAD_HALVES_4Y_5Y] = name##_halves_4X_5X,                                  \
     [SN_WINOGRAD_HALVES_6X_3X] = name##_halves_6X_3X, [SN_WINOGRAD_HALVES_6Y_3Y] = name##_halves_6X_3X,                    \
     [SN_WINOGRAD_2_3] = name##_2_3, [SN_WINOGRAD_3_3] = name##_3_3, [SN_WINOGRAD_4_3] = name##_4_3,                        \
     [SN_WINOGRAD_2_3_STRIDE_2] = strided_##name##_2_3, [SN_WINOGRAD_4_3_STRIDE_2] = strided_##name##_4_3,                  \
     [SN_WINOGRAD_2_5] = name##_2_5}
static const transform_fn finish[SN_WINOGRADS] = OF_CONVOLUTION(finish), join[SN_WINOGRADS] = OF_CONVOLUTION(join);

/* Calls the instance of a kind. Tiles are passed by address: copies of a struct that has just been written cost 50 ns. */
static void transform(const transform_fn * list, enum sn_winograd kind, const struct tile * t, size_t channels)
{
    if (kind < SN_WINOGRAD_4Y_3Y || kind > SN_WINOGRAD_HALVES_6Y_3Y) { /* no column */
        list[kind](t, channels);
        return;
    }
    const struct tile turned = {.src = t->src, .dst = t->dst, .stepY = t->stepX, .stepX = t->stepY, .plane = t->plane,
        .top = t->left, .rows = t->columns, .left = t->top, .columns = t->rows, .bias = t->bias, .add = t->add,
        .activation = t->activation, .param = t->param};
    list[kind](&turned, channels);
}

/* ---- padded copies: for fewer channels than the lanes of a vector, and for outputs that lie partly outside the image */

enum { SIDE = 9 }; /* the most rows or columns of pixels, and of coefficients */

SN_INLINE v32f load_lanes(const sn_32f * p, size_t lanes)
{
    return lanes == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, lanes);
}

SN_INLINE void store_lanes(sn_32f * p, v32f v, size_t lanes)
{
    if (lanes == V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, lanes);
}

/* Copies vectors that are `from` and `to` apart; lanes that are not loaded become 0. */
static void load_vectors(const sn_32f * src, size_t from, sn_32f * dst, size_t to, size_t count, size_t lanes)
{
    for (size_t i = 0; i < count; ++i, src += from, dst += to) v_store_32f(dst, load_lanes(src, lanes));
}

static void store_vectors(const sn_32f * src, size_t from, sn_32f * dst, size_t to, size_t count, size_t lanes)
{
    for (size_t i = 0; i < count; ++i, src += from, dst += to) store_lanes(dst, v_load_32f(src), lanes);
}

/* The channels of a tile of the input from c on, fewer than a vector. */
static void input_rest(const struct sn_winograd_input_32f * job, struct tile t, size_t c)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t planes = sn_winograd_planes(s), row = sn_winograd_columns(s) * V32F_N, lanes = job->channels - c;
    float pixels[SIDE * SIDE * V32F_N] SN_ALIGNED, coefficients[SIDE * SIDE * V32F_N] SN_ALIGNED;
    struct tile copy = {.src = pixels, .stepY = row, .stepX = V32F_N, .dst = coefficients, .plane = V32F_N};
    memset(pixels, 0, planes * V32F_N * sizeof(float));
    for (size_t y = t.top; y < t.top + t.rows; ++y)
        load_vectors(t.src + y * t.stepY + t.left * t.stepX + c, t.stepX, pixels + y * row + t.left * V32F_N, V32F_N,
                     t.columns, lanes);
    transform(input, job->kind, &copy, V32F_N);
    store_vectors(coefficients, V32F_N, t.dst + c, t.plane, planes, lanes);
}

/* The channels from c on of a tile; only its first rows and columns are inside the image, or lanes are missing. */
static void output_part(const struct sn_winograd_output_32f * job, const transform_fn * list, struct tile t, size_t c)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t planes = sn_winograd_planes(s), row = s.blockX * V32F_N;
    float pixels[4 * 4 * V32F_N] SN_ALIGNED, coefficients[SIDE * SIDE * V32F_N] SN_ALIGNED;
    struct tile copy = t;
    copy.dst = pixels, copy.add = pixels, copy.stepY = row, copy.stepX = V32F_N;
    for (; c < job->channels; c += V32F_N) {
        const size_t lanes = sn_min(job->channels - c, V32F_N);
        const bool whole = lanes == V32F_N;
        if (!whole)
            load_vectors(t.src + c, t.plane, coefficients, V32F_N, planes, lanes);
        copy.src = whole ? t.src + c : coefficients;
        copy.plane = whole ? t.plane : V32F_N;
        copy.bias = job->bias ? t.bias + c : NULL;
        if (job->add) {
            memset(pixels, 0, sizeof(pixels));
            for (size_t y = 0; y < t.rows; ++y)
                load_vectors(t.add + y * t.stepY + c, t.stepX, pixels + y * row, V32F_N, t.columns, lanes);
        }
        transform(list, job->kind, &copy, V32F_N);
        for (size_t y = 0; y < t.rows; ++y)
            store_vectors(pixels + y * row, V32F_N, t.dst + y * t.stepY + c, t.stepX, t.columns, lanes);
    }
}

/* ---- NHWC */

/* The positions `step` apart in `length`; a division for each tile would take longer than the transform of a row. */
static size_t positions(size_t length, size_t step) { return step == 1 ? length : sn_ceil_div(length, step); }

/* The part of `size` positions from `begin` on, `step` apart, that is in 0 .. limit - 1; begin counts from -pad. */
static size_t inside(size_t begin, size_t pad, size_t size, size_t step, size_t limit, size_t * first)
{
    *first = sn_min(begin < pad ? positions(pad - begin, step) : 0, size);
    const size_t end = limit + pad > begin ? sn_min(positions(limit + pad - begin, step), size) : 0;
    return end > *first ? end - *first : 0;
}

static void input_pixels(const struct sn_winograd_input_32f * job)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t rows = sn_winograd_rows(s), columns = sn_winograd_columns(s), vectors = job->channels / V32F_N * V32F_N;
    const size_t dilationY = job->dilationY, dilationX = job->dilationX, line = job->width * job->pixel;
    struct tile t = {.stepY = dilationY * line, .stepX = dilationX * job->pixel, .plane = job->plane, .dst = job->dst};
    size_t ty = job->begin / job->tilesX, tx = job->begin % job->tilesX;
    for (size_t left = job->end - job->begin; left; ++ty, tx = 0) {
        const size_t y = sn_winograd_place(job->dstH, s.blockY, dilationY, ty).first * s.stride;
        t.rows = inside(y, job->padY, rows, dilationY, job->height, &t.top);
        for (; left && tx < job->tilesX; --left, ++tx, t.dst += job->tile) {
            const size_t x = sn_winograd_place(job->dstW, s.blockX, dilationX, tx).first * s.stride;
            t.columns = inside(x, job->padX, columns, dilationX, job->width, &t.left);
            t.src = job->src + (y - job->padY) * line + (x - job->padX) * job->pixel;
            transform(t.rows == rows && t.columns == columns ? input : input_edge, job->kind, &t, vectors);
            if (vectors < job->channels)
                input_rest(job, t, vectors);
        }
    }
}

/* The activations other than min and max, on a tile that has just been written. */
static void activate_tile(const struct sn_winograd_output_32f * job, const struct tile * t)
{
    const v32f p0 = v_set_32f(job->param[0]), p1 = v_set_32f(job->param[1]);
    if (activates_rows(job->activation)) {
        for (size_t y = 0; y < t->rows; ++y)
            ACTIVATE_ROWS(t->dst + y * t->stepY, t->columns, job->channels, t->stepX, job->activation, job->param);
        return;
    }
    for (size_t y = 0; y < t->rows; ++y)
        for (size_t x = 0; x < t->columns; ++x)
            for (size_t c = 0; c < job->channels; c += V32F_N) {
                sn_32f * to = t->dst + y * t->stepY + x * t->stepX + c;
                const size_t lanes = sn_min(job->channels - c, V32F_N);
                const v32f slope = job->slope ? v_load_32f(job->slope + c) : p0;
                store_lanes(to, activate_32f(load_lanes(to, lanes), job->activation, slope, p0, p1), lanes);
            }
}

static void output_pixels(const struct sn_winograd_output_32f * job)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t dilationY = job->dilationY, dilationX = job->dilationX, line = job->width * job->pixel;
    struct tile t = {.stepY = dilationY * line, .stepX = dilationX * job->pixel, .plane = job->plane, .src = job->src,
                     .bias = job->bias, .activation = job->activation, .param = job->param};
    const transform_fn * list = job->add ? join : job->bias ? finish : output;
    size_t ty = job->begin / job->tilesX, tx = job->begin % job->tilesX;
    for (size_t left = job->end - job->begin; left; ++ty, tx = 0) {
        const size_t y = sn_winograd_place(job->height, s.blockY, dilationY, ty).first;
        t.rows = sn_min(s.blockY, positions(job->height - y, dilationY));
        for (; left && tx < job->tilesX; --left, ++tx, t.src += job->tile) {
            const size_t x = sn_winograd_place(job->width, s.blockX, dilationX, tx).first;
            t.columns = sn_min(s.blockX, positions(job->width - x, dilationX));
            t.dst = job->dst + y * line + x * job->pixel;
            t.add = job->add ? job->add + (t.dst - job->dst) : t.dst;
            const size_t vectors = t.rows == s.blockY && t.columns == s.blockX ? job->channels / V32F_N * V32F_N : 0;
            transform(list, job->kind, &t, vectors);
            if (vectors < job->channels)
                output_part(job, list, t, vectors);
            if (second_pass(job->activation))
                activate_tile(job, &t);
        }
    }
}

/* ---- NCHW: V32F_N rows of tiles at a time, and up to V32F_N tiles of each; fewer of the image, to limit the stack */

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

/* ---- filters */

enum { FILTERS = 4 * V32F_N, TAPS = 25 };

/* A vector of filters: coefficients u of taps g. Not unrolled, since it runs once per network. */
static void filter_tile(struct sn_winograd_size s, bool halves, const v32f * g, v32f * u)
{
    const bool turned = s.kernelX == 1; /* a column, transformed like a row */
    const int m = (int)(turned ? s.blockY : s.blockX), r = (int)(turned ? s.kernelY : s.kernelX), n = m + r - 1;
    const int taps = turned ? 1 : (int)s.kernelY, rows = taps == 1 ? 1 : n;
    if (halves) {
        winograd_filter_halves(r, g, u);
        return;
    }
    v32f w[WINOGRAD_SIDE][WINOGRAD_SIDE];
    for (int x = 0; x < r; ++x) {
        v32f column[WINOGRAD_SIDE], v[WINOGRAD_SIDE];
        for (int y = 0; y < taps; ++y) column[y] = v[y] = g[y * r + x];
        if (taps > 1)
            winograd_filter(m, r, column, v);
        for (int i = 0; i < rows; ++i) w[i][x] = v[i];
    }
    for (int i = 0; i < rows; ++i) winograd_filter(m, r, w[i], u + i * n);
}

/* The same for stride 2, see contract/winograd.h. */
static void strided_filter_tile(int m, const v32f * g, v32f * u)
{
    v32f w[3][WINOGRAD_SIDE];
    for (int x = 0; x < 3; ++x) {
        const v32f taps[] = {g[x], g[6 + x]};
        winograd_filter(m, 2, taps, w[x]);
    }
    for (int i = 0; i <= m; ++i, u += m + 1) {
        const v32f taps[] = {w[0][i], w[2][i]};
        winograd_filter(m, 2, taps, u);
    }
    for (int i = 0; i <= m; ++i) *u++ = w[1][i];
    const v32f taps[] = {g[3], g[5]};
    winograd_filter(m, 2, taps, u);
    u[m + 1] = g[4];
}

/* Taps of up to FILTERS consecutive filters, to planes. More taps than lanes are copied in parts that may overlap. */
static void spread_taps(const sn_32f * src, size_t taps, size_t count, sn_32f * planes)
{
    if (taps <= V32F_N) {
        lanes_to_planes(src, taps, count, planes, FILTERS, taps, taps);
        return;
    }
    for (size_t k = 0; k < taps; k += V32F_N) {
        const size_t first = sn_min(k, taps - V32F_N);
        lanes_to_planes(src + first, taps, count, planes + first * FILTERS, FILTERS, V32F_N, V32F_N);
    }
}

static void winograd_filter_32f(const struct sn_winograd_filter_32f * job)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t taps = s.kernelY * s.kernelX;
    const bool halves = job->kind == SN_WINOGRAD_HALVES_4X_5X || job->kind == SN_WINOGRAD_HALVES_4Y_5Y ||
                        job->kind == SN_WINOGRAD_HALVES_6X_3X || job->kind == SN_WINOGRAD_HALVES_6Y_3Y;
    float planes[TAPS * FILTERS] SN_ALIGNED;
    v32f g[TAPS], u[SIDE * SIDE];
    sn_32f * dst = job->dst;
    for (size_t i = job->begin, count; i < job->end; i += count, dst += count) {
        count = sn_min(job->end - i, FILTERS);
        if (!job->trans)
            spread_taps(job->src + i * taps, taps, count, planes);
        for (size_t j = 0; j < count; j += V32F_N) {
            const sn_32f * src = job->trans ? job->src + i + j : planes + j;
            const size_t step = job->trans ? job->size : FILTERS, lanes = sn_min(count - j, V32F_N);
            for (size_t k = 0; k < taps; ++k) g[k] = load_lanes(src + k * step, lanes);
            if (s.stride == 1)
                filter_tile(s, halves, g, u);
            else
                strided_filter_tile((int)s.blockX, g, u);
            for (size_t k = 0; k < sn_winograd_filters(s); ++k) store_lanes(dst + j + k * job->plane, u[k], lanes);
        }
    }
}

static void winograd_input_32f(const struct sn_winograd_input_32f * job)
{
    if (job->trans)
        input_pixels(job);
    else
        input_planes(job);
}

static void winograd_output_32f(const struct sn_winograd_output_32f * job)
{
    if (job->trans)
        output_pixels(job);
    else
        output_planes(job);
}

SN_INSTALL(winograd, winograd)
{
    slots->filter_32f = winograd_filter_32f;
    slots->input_32f = winograd_input_32f;
    slots->output_32f = winograd_output_32f;
}
