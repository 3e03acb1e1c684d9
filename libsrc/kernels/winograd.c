/*
 * The Winograd transforms of filters, images and products, in both layouts.
 *
 * A transform works on one vector of lanes: the same place of V32F_N tiles. In NHWC the lanes are channels, and a tile is
 * read and written where it lies. In NCHW the lanes are rows of tiles, counted through the channels: image rows that lie a
 * block apart are transposed into pixels of V32F_N lanes, padding included, and coefficients are transposed back. So lanes
 * are full whether channels are few and the image large or the reverse; the tiles of one row as lanes would leave most of
 * them empty in small images.
 *
 * An image's tile is transformed in two halves of its rows: all of 6 x 6 coefficients at once do not fit into registers, and
 * loads are cheaper than the stores that spilling costs.
 */
#include "kernels/winograd.h"

#include <string.h>

#include "contract/winograd.h"
#include "kernels/activate.h"
#include "kernels/install.h"
#include "kernels/lanes.h"

/* A tile in an image: rows top .. top + rows - 1 and columns alike lie inside. */
struct tile {
    const sn_32f * src;
    sn_32f * dst;
    size_t stepY, stepX; /* between pixels of the image */
    size_t plane;        /* between coefficients */
    size_t top, rows, left, columns;
    const sn_32f * bias; /* of an output that is finished here */
    const sn_32f * add;  /* what is added to it, lies as dst */
    enum sn_activation activation;
    const sn_32f * param;
};

/* What a transform is given: m and r of F(m, r); whether the kernel is a row; careful: some of the tile lies outside, or
 * lanes are fewer than those of a vector. All are constants but `lanes`. */
#define TRANSFORM_ARGUMENTS const struct tile *t, size_t lanes, int m, int r, bool row, bool careful

SN_INLINE bool is_inside(const struct tile * t, int y, int x)
{
    return (size_t)y - t->top < t->rows && (size_t)x - t->left < t->columns;
}

SN_INLINE v32f load_lanes(const sn_32f * p, size_t lanes, bool careful)
{
    return !careful || lanes == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, lanes);
}

SN_INLINE void store_lanes(sn_32f * p, v32f v, size_t lanes, bool careful)
{
    if (!careful || lanes == V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, lanes);
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
            d[y] = careful && !is_inside(t, y, x) ? v_zero_32f() : load_lanes(src[y], lanes, careful);
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
        winograd_input(m, r, w[i], v);
        SN_UNROLL for (int x = 0; x < n; ++x)
        {
            store_lanes(dst, v[x], lanes, careful);
            dst += t->plane;
        }
    }
}

SN_INLINE void input_tile(TRANSFORM_ARGUMENTS)
{
    const int rows = row ? 1 : m + r - 1, half = (rows + 1) / 2;
    input_rows(t, lanes, m, r, row, careful, 0, half);
    if (!row)
        input_rows(t, lanes, m, r, row, careful, half, rows - half);
}

/* finish: the bias is added, and the result limited; join: before that t->add is added too. */
SN_INLINE void output_tile_as(TRANSFORM_ARGUMENTS, bool finish, bool join)
{
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
            p[y] = load_lanes(src[y], lanes, careful);
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
        winograd_output(m, r, w[i], v);
        SN_UNROLL for (int x = 0; x < m; ++x)
        {
            const bool inside = !careful || is_inside(t, i, x);
            if (finish)
                v[x] = v_add_32f(v[x], bias);
            if (join && inside)
                v[x] = v_add_32f(v[x], load_lanes(add + (size_t)x * t->stepX, lanes, careful));
            if (finish)
                v[x] = limit(v[x], limits);
            if (inside)
                store_lanes(dst, v[x], lanes, careful);
            dst += t->stepX;
        }
    }
}

SN_INLINE void output_tile(TRANSFORM_ARGUMENTS) { output_tile_as(t, lanes, m, r, row, careful, false, false); }
SN_INLINE void finish_tile(TRANSFORM_ARGUMENTS) { output_tile_as(t, lanes, m, r, row, careful, true, false); }
SN_INLINE void join_tile(TRANSFORM_ARGUMENTS) { output_tile_as(t, lanes, m, r, row, careful, true, true); }

/* The part of a tile whose rows are even or odd, and whose columns are. */
SN_INLINE struct tile phase_of(struct tile t, size_t y, size_t x)
{
    const size_t below = t.top + t.rows, right = t.left + t.columns;
    t.src += y * t.stepY + x * t.stepX;
    t.stepY *= 2, t.stepX *= 2;
    t.top = (t.top + 1 - y) / 2, t.left = (t.left + 1 - x) / 2;
    t.rows = (below + 1 - y) / 2 - t.top, t.columns = (right + 1 - x) / 2 - t.left;
    return t;
}

/* m lines of a phase, each of which is transformed alone. `rows`: they are rows of the image, else columns. */
SN_INLINE void strided_lines(const struct tile * t, size_t lanes, int m, bool careful, bool rows)
{
    struct tile line = *t;
    line.plane *= (size_t)m;
    if (!rows)
        line.stepX = t->stepY, line.left = t->top, line.columns = t->rows;
    line.top = 0;
    const size_t first = rows ? t->top : t->left, count = rows ? t->rows : t->columns, step = rows ? t->stepY : t->stepX;
    for (size_t i = 0; i < (size_t)m; ++i, line.src += step, line.dst += t->plane) {
        line.rows = i - first < count;
        input_tile(&line, lanes, m, 2, true, careful);
    }
}

/* Inputs of stride 2, see contract/winograd.h. */
SN_INLINE void strided_input_tile(TRANSFORM_ARGUMENTS)
{
    (void)r, (void)row;
    const size_t line = (size_t)m * t->plane;
    struct tile part = phase_of(*t, 0, 0);
    input_tile(&part, lanes, m, 2, false, careful);
    part = phase_of(*t, 0, 1);
    part.dst += (size_t)(m + 1) * (line + t->plane);
    strided_lines(&part, lanes, m, careful, false);
    part = phase_of(*t, 1, 0);
    part.dst += (size_t)(m + 1) * (2 * line + t->plane);
    strided_lines(&part, lanes, m, careful, true);
    part = phase_of(*t, 1, 1);
    part.dst += (size_t)(m + 1) * (3 * line + t->plane);
    for (int y = 0; y < m; ++y)
        SN_UNROLL for (int x = 0; x < m; ++x, part.dst += t->plane)
        {
            const sn_32f * src = part.src + (size_t)y * part.stepY + (size_t)x * part.stepX;
            const bool outside = careful && !is_inside(&part, y, x);
            store_lanes(part.dst, outside ? v_zero_32f() : load_lanes(src, lanes, careful), lanes, careful);
        }
}

/*
 * The output of stride 2, see contract/winograd.h. Sums of both kinds that want a transform along x are first; then those
 * of odd columns are added as they come. m + 1 vectors of each of the m rows lie in registers, at most.
 */
SN_INLINE void strided_finish_tile_as(TRANSFORM_ARGUMENTS, bool join)
{
    (void)r, (void)row;
    const size_t n = (size_t)m + 1, M = (size_t)m, plane = t->plane;
    const sn_32f * even = t->src, * odd = even + n * n * plane;
    const sn_32f * rows = odd + n * M * plane, * copies = rows + M * n * plane;
    v32f w[4][WINOGRAD_SIDE], y[4][WINOGRAD_SIDE];
    SN_UNROLL for (int x = 0; x <= m; ++x, even += plane)
    {
        v32f p[WINOGRAD_SIDE], v[WINOGRAD_SIDE];
        SN_UNROLL for (int i = 0; i <= m; ++i) p[i] = load_lanes(even + (size_t)i * n * plane, lanes, careful);
        winograd_output(m, 2, p, v);
        SN_UNROLL for (int i = 0; i < m; ++i, rows += plane) w[i][x] = v_add_32f(v[i], load_lanes(rows, lanes, careful));
    }
    SN_UNROLL for (int i = 0; i < m; ++i) winograd_output(m, 2, w[i], y[i]);
    const v32f bias = v_load_32f(t->bias);
    const struct limits limits = limits_of(t->activation, t->param);
    SN_UNROLL for (int x = 0; x < m; ++x, odd += plane, copies += plane)
    {
        v32f p[WINOGRAD_SIDE], v[WINOGRAD_SIDE];
        SN_UNROLL for (int i = 0; i <= m; ++i) p[i] = load_lanes(odd + (size_t)i * M * plane, lanes, careful);
        winograd_output(m, 2, p, v);
        SN_UNROLL for (int i = 0; i < m; ++i)
        {
            const v32f both = v_add_32f(v[i], load_lanes(copies + (size_t)i * M * plane, lanes, careful));
            v32f sum = v_add_32f(v_add_32f(y[i][x], both), bias);
            const size_t at = (size_t)i * t->stepY + (size_t)x * t->stepX;
            if (careful && !is_inside(t, i, x))
                continue;
            if (join)
                sum = v_add_32f(sum, load_lanes(t->add + at, lanes, careful));
            store_lanes(t->dst + at, limit(sum, limits), lanes, careful);
        }
    }
}

SN_INLINE void strided_finish_tile(TRANSFORM_ARGUMENTS) { strided_finish_tile_as(t, lanes, m, r, row, careful, false); }
SN_INLINE void strided_join_tile(TRANSFORM_ARGUMENTS) { strided_finish_tile_as(t, lanes, m, r, row, careful, true); }

/* ---- an instance of a transform works on all channels of a tile; it is a function of its own to have all registers */

typedef void (*transform_fn)(struct tile t, size_t channels);

#define INSTANCE(transform, name, m, r, row)                                                                                \
    static __attribute__((noinline)) void transform##_##name(struct tile t, size_t channels)                                \
    {                                                                                                                       \
        for (size_t c = 0; c < channels; c += V32F_N, t.src += V32F_N, t.dst += V32F_N, t.bias += V32F_N,                   \
             t.add += V32F_N)                                                                                               \
            transform##_tile(&t, V32F_N, m, r, row, false);                                                                 \
    }                                                                                                                       \
    static __attribute__((noinline)) void transform##_careful_##name(struct tile t, size_t channels)                        \
    {                                                                                                                       \
        for (size_t c = 0; c < channels; c += V32F_N, t.src += V32F_N, t.dst += V32F_N, t.bias += V32F_N,                   \
             t.add += V32F_N)                                                                                               \
            transform##_tile(&t, sn_min(channels - c, V32F_N), m, r, row, true);                                            \
    }

#define INSTANCES(name, m, r, row) INSTANCE(input, name, m, r, row) INSTANCE(output, name, m, r, row)
INSTANCES(4X_3X, 4, 3, true)
INSTANCES(4X_5X, 4, 5, true)
INSTANCES(2_2, 2, 2, false)
INSTANCES(4_2, 4, 2, false)
INSTANCES(2_3, 2, 3, false)
INSTANCES(3_3, 3, 3, false)
INSTANCES(4_3, 4, 3, false)
INSTANCE(finish, 2_3, 2, 3, false)
INSTANCE(finish, 3_3, 3, 3, false)
INSTANCE(finish, 4_3, 4, 3, false)
INSTANCE(join, 2_3, 2, 3, false)
INSTANCE(join, 3_3, 3, 3, false)
INSTANCE(join, 4_3, 4, 3, false)
INSTANCE(strided_input, 2_3, 2, 3, false)
INSTANCE(strided_input, 4_3, 4, 3, false)
INSTANCE(strided_finish, 2_3, 2, 3, false)
INSTANCE(strided_finish, 4_3, 4, 3, false)
INSTANCE(strided_join, 2_3, 2, 3, false)
INSTANCE(strided_join, 4_3, 4, 3, false)

/* [careful][kind] */
#define LIST(name) name##_4X_3X, name##_4X_5X, name##_2_2, name##_4_2, name##_2_3, name##_3_3, name##_4_3
#define STRIDED(name) name##_2_3, name##_4_3
static const transform_fn input[2][SN_WINOGRADS] = {
    {LIST(input), STRIDED(strided_input)}, {LIST(input_careful), STRIDED(strided_input_careful)}};
static const transform_fn output[2][SN_WINOGRADS] = {{LIST(output)}, {LIST(output_careful)}};
#define OF_3(name)                                                                                                          \
    {[SN_WINOGRAD_2_3] = name##_2_3, [SN_WINOGRAD_3_3] = name##_3_3, [SN_WINOGRAD_4_3] = name##_4_3,                        \
     [SN_WINOGRAD_2_3_STRIDE_2] = strided_##name##_2_3, [SN_WINOGRAD_4_3_STRIDE_2] = strided_##name##_4_3}
static const transform_fn finish[2][SN_WINOGRADS] = {OF_3(finish), OF_3(finish_careful)};
static const transform_fn join[2][SN_WINOGRADS] = {OF_3(join), OF_3(join_careful)};

/* whole: all of the tile lies inside. Then whole vectors of channels go the short way. */
static void transform(const transform_fn list[2][SN_WINOGRADS], enum sn_winograd kind, struct tile t, bool whole,
                      size_t channels)
{
    const size_t vectors = whole ? channels / V32F_N * V32F_N : 0;
    if (vectors)
        list[0][kind](t, vectors);
    if (channels == vectors)
        return;
    t.src += vectors;
    t.dst += vectors;
    t.bias += vectors;
    t.add += vectors;
    list[1][kind](t, channels - vectors);
}

/* The part of `size` positions from `begin` on that lies in 0 .. limit - 1; begin counts from -pad. */
static size_t inside(size_t begin, size_t pad, size_t size, size_t limit, size_t * first)
{
    *first = sn_min(begin < pad ? pad - begin : 0, size);
    const size_t end = limit + pad > begin ? sn_min(limit + pad - begin, size) : 0;
    return end > *first ? end - *first : 0;
}

/* ---- NHWC */

static void input_pixels(const struct sn_winograd_input_32f * job)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t rows = sn_winograd_rows(s), columns = sn_winograd_columns(s);
    struct tile t = {.stepY = job->width * job->pixel, .stepX = job->pixel, .plane = job->plane, .dst = job->dst};
    for (size_t p = job->begin; p < job->end; ++p, t.dst += job->tile) {
        const size_t y = p / job->tilesX * s.blockY * s.stride, x = p % job->tilesX * s.blockX * s.stride;
        t.rows = inside(y, job->padY, rows, job->height, &t.top);
        t.columns = inside(x, job->padX, columns, job->width, &t.left);
        t.src = job->src + (y - job->padY) * t.stepY + (x - job->padX) * t.stepX;
        transform(input, job->kind, t, t.rows == rows && t.columns == columns, job->channels);
    }
}

/* The activations that are more than limits, on a tile that has just been written. */
static void activate_tile(const struct sn_winograd_output_32f * job, const struct tile * t)
{
    const v32f p0 = v_set_32f(job->param[0]), p1 = v_set_32f(job->param[1]);
    for (size_t y = 0; y < t->rows; ++y)
        for (size_t x = 0; x < t->columns; ++x)
            for (size_t c = 0; c < job->channels; c += V32F_N) {
                sn_32f * to = t->dst + y * t->stepY + x * t->stepX + c;
                const size_t lanes = sn_min(job->channels - c, V32F_N);
                const v32f slope = job->slope ? v_load_32f(job->slope + c) : p0;
                store_lanes(to, activate_32f(load_lanes(to, lanes, true), job->activation, slope, p0, p1), lanes, true);
            }
}

static void output_pixels(const struct sn_winograd_output_32f * job)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    struct tile t = {.stepY = job->width * job->pixel, .stepX = job->pixel, .plane = job->plane, .src = job->src,
                     .bias = job->bias, .activation = job->activation, .param = job->param};
    for (size_t p = job->begin; p < job->end; ++p, t.src += job->tile) {
        const size_t y = p / job->tilesX * s.blockY, x = p % job->tilesX * s.blockX;
        t.rows = sn_min(s.blockY, job->height - y);
        t.columns = sn_min(s.blockX, job->width - x);
        t.dst = job->dst + y * t.stepY + x * t.stepX;
        t.add = job->add ? job->add + (t.dst - job->dst) : t.dst;
        transform(job->add ? join : job->bias ? finish : output, job->kind, t,
                  t.rows == s.blockY && t.columns == s.blockX, job->channels);
        if (second_pass(job->activation))
            activate_tile(job, &t);
    }
}

/* ---- NCHW: V32F_N rows of tiles at a time, and up to V32F_N tiles of each; of the image fewer, for the stack's sake */

enum {
    TILES = V32F_N,
    SOME = 8,
    ROWS = 6, PLANES = 36,                    /* the most rows and coefficients of a tile */
    STRIP = ROWS * (4 * SOME + 2) * V32F_N,   /* floats of the image for SOME tiles of so many rows, or for more of fewer */
};

static size_t tiles_of_strip(struct sn_winograd_size s) { return SOME * ROWS / sn_winograd_rows(s); }

/* Pixels of a strip from rows of the image, one for each lane or NULL; those before and behind `count` are 0. */
static void strip_of_rows(const sn_32f * const * from, size_t before, size_t count, size_t columns, sn_32f * strip)
{
    v32f r[V32F_N];
    memset(strip, 0, before * V32F_N * sizeof(float));
    sn_32f * to = strip + before * V32F_N;
    for (size_t x = 0; x < count; x += V32F_N, to += V32F_N * V32F_N) {
        const size_t some = sn_min(count - x, V32F_N);
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
            r[i] = from[i] ? load_lanes(from[i] + x, some, true) : v_zero_32f();
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

/* The way back. */
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
                store_lanes(to[i] + x, r[i], some, true);
    }
}

/* Where the lanes are: row u of tiles, and the first image row of it. */
struct lane {
    size_t channel, y;
};

static void lanes_of(size_t first, size_t count, size_t tilesY, size_t block, struct lane * lane)
{
    for (size_t i = 0; i < count; ++i)
        lane[i] = (struct lane){(first + i) / tilesY, (first + i) % tilesY * block};
}

/* One plane of `tiles` tiles of the lanes, to where rows of tiles lie. More than a vector of them are a square. */
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
    const size_t there = inside(first * s.blockX, job->padX, columns, job->width, &before);
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

/* Tiles first .. first + tiles - 1 of `count` rows of tiles from `row` on; dst is that of the first. */
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
            input[0][job->kind](t, V32F_N);
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
            output[0][job->kind](t, V32F_N);
        image_of_strip(job, lane, count, first + at, some, strip);
    }
}

/* The first of at most TILES tiles: the last ones reach back over those before, and write the same values again. */
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

enum { FILTERS = 4 * V32F_N, TAPS = 9 };

/* `lanes` filters; src has its taps `step` floats apart. */
SN_INLINE void filter_lanes(const sn_32f * src, size_t step, sn_32f * dst, size_t plane, size_t lanes, int m, int r,
                            bool row)
{
    const int n = m + r - 1, rows = row ? 1 : n, taps = row ? 1 : r;
    v32f w[WINOGRAD_SIDE][WINOGRAD_SIDE];
    SN_UNROLL for (int x = 0; x < r; ++x)
    {
        v32f g[WINOGRAD_SIDE], u[WINOGRAD_SIDE];
        SN_UNROLL for (int y = 0; y < taps; ++y) g[y] = load_lanes(src + (size_t)(y * r + x) * step, lanes, true);
        if (row)
            u[0] = g[0];
        else
            winograd_filter(m, r, g, u);
        SN_UNROLL for (int i = 0; i < rows; ++i) w[i][x] = u[i];
    }
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        v32f u[WINOGRAD_SIDE];
        winograd_filter(m, r, w[i], u);
        SN_UNROLL for (int x = 0; x < n; ++x)
        {
            store_lanes(dst, u[x], lanes, true);
            dst += plane;
        }
    }
}

/* The same for stride 2, see contract/winograd.h. */
SN_INLINE void strided_filter_lanes(const sn_32f * src, size_t step, sn_32f * dst, size_t plane, size_t lanes, int m)
{
    v32f g[3][3], w[3][WINOGRAD_SIDE], u[WINOGRAD_SIDE];
    SN_UNROLL for (int k = 0; k < TAPS; ++k) g[k % 3][k / 3] = load_lanes(src + (size_t)k * step, lanes, true);
    SN_UNROLL for (int x = 0; x < 3; ++x)
    {
        const v32f taps[] = {g[x][0], g[x][2]};
        winograd_filter(m, 2, taps, w[x]);
    }
    SN_UNROLL for (int i = 0; i <= m; ++i)
    {
        const v32f taps[] = {w[0][i], w[2][i]};
        winograd_filter(m, 2, taps, u);
        SN_UNROLL for (int x = 0; x <= m; ++x, dst += plane) store_lanes(dst, u[x], lanes, true);
    }
    SN_UNROLL for (int i = 0; i <= m; ++i, dst += plane) store_lanes(dst, w[1][i], lanes, true);
    const v32f taps[] = {g[0][1], g[2][1]};
    winograd_filter(m, 2, taps, u);
    SN_UNROLL for (int x = 0; x <= m; ++x, dst += plane) store_lanes(dst, u[x], lanes, true);
    store_lanes(dst, g[1][1], lanes, true);
}

/* Taps of up to FILTERS filters that lie together, to planes. More taps than lanes are taken in parts that may overlap. */
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

SN_INLINE void filter_range(const struct sn_winograd_filter_32f * job, int m, int r, bool row, bool strided)
{
    const size_t taps = (size_t)(row ? r : r * r);
    float planes[TAPS * FILTERS] SN_ALIGNED;
    sn_32f * dst = job->dst;
    for (size_t i = job->begin, count; i < job->end; i += count, dst += count) {
        count = sn_min(job->end - i, FILTERS);
        if (!job->trans)
            spread_taps(job->src + i * taps, taps, count, planes);
        for (size_t j = 0; j < count; j += V32F_N) {
            const sn_32f * src = job->trans ? job->src + i + j : planes + j;
            const size_t step = job->trans ? job->size : FILTERS, lanes = sn_min(count - j, V32F_N);
            if (strided)
                strided_filter_lanes(src, step, dst + j, job->plane, lanes, m);
            else
                filter_lanes(src, step, dst + j, job->plane, lanes, m, r, row);
        }
    }
}

static void winograd_filter_32f(const struct sn_winograd_filter_32f * job)
{
    switch (job->kind) {
    case SN_WINOGRAD_4X_3X: filter_range(job, 4, 3, true, false); break;
    case SN_WINOGRAD_4X_5X: filter_range(job, 4, 5, true, false); break;
    case SN_WINOGRAD_2_2: filter_range(job, 2, 2, false, false); break;
    case SN_WINOGRAD_4_2: filter_range(job, 4, 2, false, false); break;
    case SN_WINOGRAD_2_3: filter_range(job, 2, 3, false, false); break;
    case SN_WINOGRAD_3_3: filter_range(job, 3, 3, false, false); break;
    case SN_WINOGRAD_4_3: filter_range(job, 4, 3, false, false); break;
    case SN_WINOGRAD_2_3_STRIDE_2: filter_range(job, 2, 3, false, true); break;
    default: filter_range(job, 4, 3, false, true);
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
