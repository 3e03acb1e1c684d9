/*
 * A unit of work is a block of positions of an image: where each of them lies is computed once, for all channels, by a kernel
 * or, if some position is unusual, here. The steps are those of the public header. No coordinate leads to an element outside
 * of the image, whatever it is.
 */
#include "ops/grid_sample.h"

#include <math.h>
#include <string.h>

#include "ops/units.h"
#include "runtime/threads.h"

enum { FAR = -8 }; /* stands for coordinates so far away that no tap is inside */

/* ---- coordinates */

static float denormalised(float g, const struct sn_grid_axis * axis, bool align)
{
    const float size = (float)axis->size;
    return align ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
}

/*
 * Limited to the image or, for bicubic interpolation, to where all taps are at the border. The operands of comparisons are
 * ordered so that NaN propagates.
 */
static float limited(float x, const struct sn_grid_axis * axis, enum sn_grid_interpolation interpolation)
{
    const float margin = interpolation == SN_GRID_BICUBIC ? 3 : 0, high = (float)(axis->size - 1) + margin;
    return x < -margin ? -margin : x > high ? high : x;
}

/* Mirrored at the bounds as often as necessary. The remainder is exact, so the result is inside for any x. */
static float reflected(float x, const struct sn_grid_axis * axis)
{
    const float range = axis->high - axis->low;
    if (x >= axis->low && x <= axis->high)
        return x;
    if (range <= 0 || !isfinite(x)) /* of an infinity, fmodf() would set errno */
        return x - x; /* 0, or NaN */
    const float beyond = fmodf(x < axis->low ? axis->low - x : x - axis->high, 2 * range);
    const float inside = beyond <= range ? beyond : 2 * range - beyond;
    return x < axis->low ? axis->low + inside : axis->high - inside;
}

static bool is_outside(float x, const struct sn_grid_axis * axis) { return x < axis->low || x > axis->high; }

/* ---- taps */

static int64_t reflected_index(int64_t index, const struct sn_grid_axis * axis, bool align)
{
    const int64_t size = (int64_t)axis->size, period = align ? 2 * size - 2 : 2 * size;
    if (size == 1)
        return 0;
    index %= period;
    index += index < 0 ? period : 0;
    return index < size ? index : period - index - (align ? 0 : 1);
}

/* t is between 0 and 1, or NaN. */
static void set_weights(enum sn_grid_interpolation interpolation, float t, sn_32f * weight)
{
    const float a = -0.75f;
    switch (interpolation) {
    case SN_GRID_NEAREST: weight[0] = t == t ? 1 : t; break;
    case SN_GRID_BILINEAR:
        weight[0] = 1 - t;
        weight[1] = t;
        break;
    case SN_GRID_BICUBIC:
        weight[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
        weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
        weight[2] = ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1;
        weight[3] = ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a;
    }
}

static int taps_of(enum sn_grid_interpolation interpolation)
{
    return interpolation == SN_GRID_BICUBIC ? 4 : interpolation == SN_GRID_BILINEAR ? 2 : 1;
}

/* The taps of coordinate x of position n, and their indices; true if all of them are in the image. */
static bool take_taps(const struct sn_grid_rule * g, const struct sn_grid_axis * axis, float x, size_t n,
                      struct sn_grid_taps * taps, int32_t indices[SN_GRID_TAPS])
{
    const int count = taps_of(g->interpolation);
    int64_t index = FAR;
    float t = x == x ? 0 : x, weight[SN_GRID_TAPS];
    if (x > FAR && x < 0x1p60f) {
        index = (int64_t)x;
        index -= (float)index > x;
        t = x - (float)index;
    }
    set_weights(g->interpolation, t, weight);
    bool all = true;
    for (int i = 0; i < count; ++i) {
        int64_t k = index + i - (count == 4);
        const bool inside = (uint64_t)k < axis->size;
        all &= inside;
        if (!inside)
            k = g->padding == SN_GRID_REFLECT ? reflected_index(k, axis, g->align) : k < 0 ? 0 : (int64_t)axis->size - 1;
        taps->weight[i][n] = weight[i];
        taps->mask[i][n] = inside || g->padding != SN_GRID_ZEROS ? UINT32_MAX : 0;
        indices[i] = (int32_t)k;
    }
    return all;
}

static void take_position(const struct sn_grid_rule * g, const sn_32f * grid, size_t n, struct sn_grid_positions * p)
{
    float x = denormalised(grid[0], &g->x, g->align), y = denormalised(grid[1], &g->y, g->align);
    if (g->interpolation == SN_GRID_NEAREST) {
        x = rintf(x);
        y = rintf(y);
    }
    if (is_outside(x, &g->x) || is_outside(y, &g->y)) {
        if (g->padding == SN_GRID_BORDER) {
            x = limited(x, &g->x, g->interpolation);
            y = limited(y, &g->y, g->interpolation);
        } else if (g->padding == SN_GRID_REFLECT) {
            x = reflected(x, &g->x);
            y = reflected(y, &g->y);
        }
    }
    int32_t column[SN_GRID_TAPS], row[SN_GRID_TAPS];
    const bool inside_x = take_taps(g, &g->x, x, n, &p->x, column), inside_y = take_taps(g, &g->y, y, n, &p->y, row);
    const int taps = taps_of(g->interpolation);
    p->masked |= !(inside_x && inside_y) && g->padding == SN_GRID_ZEROS;
    for (int k = 0; k < taps; ++k) {
        p->row[k][n] = row[k] * (int32_t)g->x.size;
        p->column[k][n] = column[k];
    }
}

/* ---- values */

static struct sn_grid_axis axis_of(size_t size, bool align)
{
    const float last = (float)(size - 1);
    return align ? (struct sn_grid_axis){size, 0, last} : (struct sn_grid_axis){size, -0.5f, last + 0.5f};
}

static void blocks(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct sn_grid_sample * g = argument;
    const struct sn_grid_rule rule = {g->interpolation, g->padding, g->align, axis_of(g->srcH, g->align),
        axis_of(g->srcW, g->align)};
    const size_t all = g->dstH * g->dstW, units = sn_ceil_div(all, SN_GRID_BLOCK), size = g->srcH * g->srcW;
    const size_t taps = (size_t)taps_of(g->interpolation);
    struct sn_grid_positions positions;
    memset(&positions, 0, sizeof(positions)); /* kernels read the elements of vectors that are not full */
    for (size_t unit = begin; unit < end; ++unit) {
        const size_t image = unit / units, first = unit % units * SN_GRID_BLOCK, count = sn_min(SN_GRID_BLOCK, all - first);
        const sn_32f * grid = g->grid + 2 * (image * all + first);
        if (!g->table->grid_sample.locate(&rule, grid, count, &positions)) {
            positions.masked = false;
            for (size_t n = 0; n < count; ++n)
                take_position(&rule, grid + 2 * n, n, &positions);
        }
        const struct sn_grid_planes planes = {g->src + image * g->channels * size, g->srcW, size, g->channels,
            g->dst + image * g->channels * all + first, all};
        g->table->grid_sample.values(&positions, taps, count, &planes);
    }
}

void sn_grid_sample_32f(const struct sn_grid_sample * g)
{
    const size_t all = g->dstH * g->dstW;
    const double taps = taps_of(g->interpolation), values = (double)(g->batch * all) * (double)g->channels;
    sn_parallel_for(&(struct sn_parallel){.run = blocks, .job = g, .units = g->batch * sn_ceil_div(all, SN_GRID_BLOCK),
        .least = sn_items_per_unit(SN_GRID_BLOCK * g->channels), .cost = values * (1 + taps * taps / 2)});
}
