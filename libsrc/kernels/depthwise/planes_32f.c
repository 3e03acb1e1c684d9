/*
 * Depthwise convolution of an NCHW plane by 3x3 without stride, read where it is: vectors of neighbouring pixels of one
 * channel in several rows. An input serves all rows that share it, and all weights are in registers. Lines outside of the
 * plane are left out; where some pixels of a vector are outside, those inside are loaded and moved to their lanes.
 *
 * Inside, a vector takes 1.3 times as long as its 9 multiply-adds (AVX2), at an edge 2 to 3 times. Tried, and slower: a row
 * at a time with both of its edges, two vectors at a time (the weights are then loaded in each block), slides of one load.
 */
#include "contract/convolution_32f.h"
#include "kernels/activate_plane.h"
#include "kernels/install.h"

enum { TAPS = 3, ROWS = 4 };

/* Where the inputs of a vector are: all inside the plane; the first one to the left of it, or the last one to the right, as
 * at the edges with one column of padding; or anywhere. */
enum place { INSIDE, LEFT, RIGHT, ANY };

/* For ANY, the pixels of a tap: `count` for lanes `first` and following. */
struct window {
    size_t first, count;
    v32i index; /* of the pixel of each lane: negative before the first */
};

/* Of the pixels from column `at` on, which wraps to a huge value left of the plane. */
static struct window window_of(size_t at, size_t width)
{
    static const int32_t numbers[2 * 16] = {-16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1,
                                            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const size_t left = 0 - at, first = left <= SIZE_MAX / 2 ? sn_min(left, V32F_N) : 0, begin = at + first;
    const size_t count = begin < width ? sn_min(width - begin, V32F_N - first) : 0;
    return (struct window){first, count, v_load_32i(numbers + 16 - first)};
}

/* Moves lanes to the positions that `index` says; those below 0 are zeros. */
SN_INLINE v32f moved(v32f v, v32i index)
{
    return v_select_32f(v_gt_32i(v_set_32i(0), index), v_zero_32f(), v_lookup_32f(v, index));
}

/* With so many registers a loaded vector stays in one: gcc would load it again for each multiply-add, from two lines of the
 * cache; 56x75x75 takes 0.71 of the time (Zen 4). */
enum { KEEPS_LOADS = V32F_N == 16 };

/* The inputs of the taps of a row, from address `from` on. */
SN_INLINE void load_taps(const sn_32f * from, const struct window w[TAPS], v32f a[TAPS], enum place place)
{
    if (place == ANY) {
        SN_UNROLL for (int kx = 0; kx < TAPS; ++kx)
        {
            a[kx] = v_load_tail_32f(from + kx + w[kx].first, w[kx].count);
            if (w[kx].first)
                a[kx] = moved(a[kx], w[kx].index);
        }
        return;
    }
    a[1] = v_load_32f(from + 1);
    a[0] = place == LEFT ? moved(a[1], w[0].index) : v_load_32f(from);
    a[2] = place == RIGHT ? v_load_tail_32f(from + 2, V32F_N - 1) : v_load_32f(from + 2);
    SN_UNROLL for (int kx = 0; KEEPS_LOADS && kx < TAPS; ++kx) a[kx] = v_keep_32f(a[kx]);
}

/* What is the same in all rows. It is in memory: gcc 12 would rather keep it in registers than the sums. */
struct common {
    sn_32f bias[V32F_N], low[V32F_N], high[V32F_N];
    struct window w[TAPS];
};

/* One vector in some rows; `line`: from where each row of taps is read, NULL outside of the plane; `all`: none is. */
SN_INLINE void block(const struct sn_depthwise_plane_32f * d, const v32f weight[TAPS * TAPS],
                     const sn_32f * const line[ROWS + TAPS - 1], size_t x, const struct common * common, sn_32f * dst,
                     int rows, bool all, enum place place)
{
    __asm__("" : "+r"(common));
    v32f sum[ROWS];
    const v32f bias = v_load_32f(common->bias);
    SN_UNROLL for (int i = 0; i < rows; ++i) sum[i] = bias;
    SN_UNROLL for (int l = 0; l < rows + TAPS - 1; ++l)
        if (all || line[l]) {
            v32f a[TAPS];
            load_taps(line[l] + x, common->w, a, place);
            SN_UNROLL for (int kx = 0; kx < TAPS; ++kx)
                SN_UNROLL for (int i = 0; i < rows; ++i)
                    if (l - i >= 0 && l - i < TAPS)
                        sum[i] = v_fma_32f(a[kx], weight[(l - i) * TAPS + kx], sum[i]);
        }
    const size_t lanes = place == ANY ? sn_min(d->columns, V32F_N) : V32F_N;
    const v32f low = v_load_32f(common->low), high = v_load_32f(common->high);
    SN_UNROLL for (int i = 0; i < rows; ++i, dst += d->columns)
    {
        const v32f v = v_min_32f(high, v_max_32f(low, sum[i]));
        if (lanes == V32F_N)
            v_store_32f(dst, v);
        else
            v_store_tail_32f(dst, v, lanes);
    }
}

/* Rows from y on: vectors from column x to `end`. */
SN_INLINE void some_rows(const struct sn_depthwise_plane_32f * d, const v32f weight[TAPS * TAPS], size_t x, size_t end,
                         const struct common * common, size_t y, int rows, enum place place)
{
    const sn_32f * line[ROWS + TAPS - 1], * from = d->src + (y - d->padY) * d->width - d->padX;
    const bool all = y >= d->padY && y + (size_t)rows + TAPS - 1 <= d->padY + d->height;
    SN_UNROLL for (int l = 0; l < rows + TAPS - 1; ++l, from += d->width)
        line[l] = y + (size_t)l - d->padY < d->height ? from : NULL;
    sn_32f * dst = d->dst + y * d->columns + x;
    if (all)
        for (; x < end; x += V32F_N, dst += V32F_N)
            block(d, weight, line, x, common, dst, rows, true, place);
    else
        for (; x < end; x += V32F_N, dst += V32F_N)
            block(d, weight, line, x, common, dst, rows, false, place);
}

/* All rows; the last ones overlap those before. */
SN_INLINE void all_rows(const struct sn_depthwise_plane_32f * d, size_t x, size_t end, enum place place)
{
    v32f weight[TAPS * TAPS];
    struct common common;
    const struct limits limits = limits_of(d->activation, d->param);
    v_store_32f(common.bias, v_set_32f(d->bias));
    v_store_32f(common.low, limits.low);
    v_store_32f(common.high, limits.high);
    for (size_t kx = 0; kx < TAPS && place != INSIDE; ++kx)
        common.w[kx] = window_of(x + kx - d->padX, d->width);
    SN_UNROLL for (int k = 0; k < TAPS * TAPS; ++k) weight[k] = v_keep_32f(v_set_32f(d->weight[k]));
    if (d->rows < ROWS)
        for (size_t y = 0; y < d->rows; ++y)
            some_rows(d, weight, x, end, &common, y, 1, place);
    else
        for (size_t y = 0; y < d->rows; y += ROWS)
            some_rows(d, weight, x, end, &common, sn_min(y, d->rows - ROWS), ROWS, place);
}

typedef void (*columns_fn)(const struct sn_depthwise_plane_32f * d, size_t x, size_t end);
#define PLACE(place)                                                                                                        \
    static __attribute__((noinline)) void columns_##place(const struct sn_depthwise_plane_32f * d, size_t x, size_t end)    \
    {                                                                                                                       \
        all_rows(d, x, end, place);                                                                                         \
    }
PLACE(INSIDE) PLACE(LEFT) PLACE(RIGHT) PLACE(ANY)

static const columns_fn columns[] = {columns_INSIDE, columns_LEFT, columns_RIGHT, columns_ANY};

/* Of the vector from column x on. */
static enum place place_of(const struct sn_depthwise_plane_32f * d, size_t x)
{
    const size_t behind = d->padX + d->width, end = x + V32F_N + TAPS - 1;
    if (x + 1 < d->padX || end > behind + 1 || d->columns < V32F_N || (x < d->padX && end > behind))
        return ANY;
    return x < d->padX ? LEFT : end > behind ? RIGHT : INSIDE;
}

/* The last vector overlaps the one before, so that all are whole, unless a row is shorter than a vector. */
static void depthwise_plane_32f(const struct sn_depthwise_plane_32f * d)
{
    const size_t last = d->columns - sn_min(d->columns, V32F_N);
    for (size_t x = 0, end; x < d->columns; x = end) {
        x = sn_min(x, last);
        const enum place place = place_of(d, x);
        for (end = x + V32F_N; place == INSIDE && end <= last && place_of(d, end) == INSIDE;)
            end += V32F_N;
        columns[place](d, x, end);
    }
    activate_plane(d->dst, d->rows, d->columns, d->columns, d->activation, d->slope, d->param);
}

SN_INSTALL(depthwise_planes_32f, convolution_32f) { slots->depthwise_plane = depthwise_plane_32f; }
