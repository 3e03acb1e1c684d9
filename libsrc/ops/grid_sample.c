/*
 * A unit of work is a block of positions of an image: where each of them lies is computed once, for all channels. The steps
 * are those of the public header. No coordinate leads to an element outside of the image, whatever it is.
 */
#include "ops/grid_sample.h"

#include <math.h>

#include "ops/units.h"
#include "runtime/numeric.h"
#include "runtime/threads.h"

enum {
    TAPS = 4,
    BLOCK = 64, /* positions of a unit: 8 KB of taps */
    PLANES = 4, /* that share the loads of taps */
    FAR = -8    /* stands for coordinates so far away that no tap is inside */
};

/* What an axis contributes to a position: offsets, weights, and masks, 0 for elements that count as 0. */
struct taps {
    size_t at[TAPS];
    float weight[TAPS];
    uint32_t mask[TAPS];
};

struct position {
    struct taps y, x;
    bool masked; /* some element counts as 0 */
};

/* An axis: `step` elements from an index to the next. */
struct axis {
    size_t size, step;
    float low, high; /* step 3 */
};

/* ---- coordinates */

static float denormalised(float g, const struct axis * axis, bool align)
{
    const float size = (float)axis->size;
    return align ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
}

/*
 * Limited to the image or, for bicubic interpolation, to where all taps are at the border. The operands of comparisons are
 * ordered so that NaN propagates.
 */
static float limited(float x, const struct axis * axis, enum sn_grid_interpolation interpolation)
{
    const float margin = interpolation == SN_GRID_BICUBIC ? 3 : 0, high = (float)(axis->size - 1) + margin;
    return x < -margin ? -margin : x > high ? high : x;
}

/* Mirrored at the bounds as often as necessary. The remainder is exact, so the result is inside for any x. */
static float reflected(float x, const struct axis * axis)
{
    const float range = axis->high - axis->low;
    if (x >= axis->low && x <= axis->high)
        return x;
    if (range <= 0)
        return x - x; /* 0, or NaN */
    const float beyond = fmodf(x < axis->low ? axis->low - x : x - axis->high, 2 * range);
    const float inside = beyond <= range ? beyond : 2 * range - beyond;
    return x < axis->low ? axis->low + inside : axis->high - inside;
}

static bool is_outside(float x, const struct axis * axis) { return x < axis->low || x > axis->high; }

/* ---- taps */

static int64_t reflected_index(int64_t index, const struct axis * axis, bool align)
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

/* True if all taps of coordinate x are in the image. */
static bool take_taps(const struct sn_grid_sample * g, const struct axis * axis, float x, struct taps * taps)
{
    const int count = taps_of(g->interpolation);
    int64_t index = FAR;
    float t = x == x ? 0 : x;
    if (x > FAR && x < 0x1p60f) {
        index = (int64_t)x;
        index -= (float)index > x;
        t = x - (float)index;
    }
    set_weights(g->interpolation, t, taps->weight);
    bool all = true;
    for (int i = 0; i < count; ++i) {
        int64_t k = index + i - (count == 4);
        const bool inside = (uint64_t)k < axis->size;
        all &= inside;
        taps->mask[i] = inside || g->padding != SN_GRID_ZEROS ? UINT32_MAX : 0;
        if (!inside)
            k = g->padding == SN_GRID_ZEROS || (g->padding == SN_GRID_BORDER && k < 0) ? 0
                : g->padding == SN_GRID_BORDER ? (int64_t)axis->size - 1 : reflected_index(k, axis, g->align);
        taps->at[i] = (size_t)k * axis->step;
    }
    return all;
}

static void take_position(const struct sn_grid_sample * g, const struct axis * across, const struct axis * down,
                          const sn_32f * grid, struct position * p)
{
    float x = denormalised(grid[0], across, g->align), y = denormalised(grid[1], down, g->align);
    if (g->interpolation == SN_GRID_NEAREST) {
        x = rintf(x);
        y = rintf(y);
    }
    if (is_outside(x, across) || is_outside(y, down)) {
        if (g->padding == SN_GRID_BORDER) {
            x = limited(x, across, g->interpolation);
            y = limited(y, down, g->interpolation);
        } else if (g->padding == SN_GRID_REFLECT) {
            x = reflected(x, across);
            y = reflected(y, down);
        }
    }
    const bool inside_x = take_taps(g, across, x, &p->x), inside_y = take_taps(g, down, y, &p->y);
    p->masked = !(inside_x && inside_y) && g->padding == SN_GRID_ZEROS;
}

/* ---- values */

SN_INLINE float tap(const sn_32f * line, const struct position * p, int i, int j, bool masked)
{
    const float value = line[p->x.at[j]];
    return p->x.weight[j] * (masked ? sn_from_bits_32f(sn_bits_32f(value) & p->x.mask[j] & p->y.mask[i]) : value);
}

SN_INLINE float value(const sn_32f * plane, const struct position * p, int taps, bool masked)
{
    float value = 0;
    SN_UNROLL for (int i = 0; i < taps; ++i) {
        const sn_32f * line = plane + p->y.at[i];
        float sum = tap(line, p, i, 0, masked);
        SN_UNROLL for (int j = 1; j < taps; ++j) sum += tap(line, p, i, j, masked);
        value = i ? value + p->y.weight[i] * sum : p->y.weight[i] * sum;
    }
    return value;
}

/* Some planes of `size` elements at some positions; the results of a plane are `step` elements from those of the next. */
SN_INLINE void sample(const sn_32f * plane, size_t size, size_t planes, const struct position * positions, size_t count,
                      int taps, sn_32f * dst, size_t step)
{
    for (size_t n = 0; n < count; ++n) {
        const struct position * p = &positions[n];
        if (SN_LIKELY(!p->masked))
            for (size_t c = 0; c < planes; ++c)
                dst[c * step + n] = value(plane + c * size, p, taps, false);
        else
            for (size_t c = 0; c < planes; ++c)
                dst[c * step + n] = value(plane + c * size, p, taps, true);
    }
}

static void sample_planes(const struct sn_grid_sample * g, const sn_32f * plane, size_t planes,
                          const struct position * positions, size_t count, sn_32f * dst)
{
    const size_t size = g->srcH * g->srcW, step = g->dstH * g->dstW;
    switch (g->interpolation) {
    case SN_GRID_NEAREST: sample(plane, size, planes, positions, count, 1, dst, step); break;
    case SN_GRID_BILINEAR: sample(plane, size, planes, positions, count, 2, dst, step); break;
    case SN_GRID_BICUBIC: sample(plane, size, planes, positions, count, 4, dst, step);
    }
}

static struct axis axis_of(size_t size, size_t step, bool align)
{
    const float last = (float)(size - 1);
    return align ? (struct axis){size, step, 0, last} : (struct axis){size, step, -0.5f, last + 0.5f};
}

static void blocks(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct sn_grid_sample * g = argument;
    const struct axis down = axis_of(g->srcH, g->srcW, g->align), across = axis_of(g->srcW, 1, g->align);
    const size_t all = g->dstH * g->dstW, units = sn_ceil_div(all, BLOCK);
    struct position positions[BLOCK];
    for (size_t unit = begin; unit < end; ++unit) {
        const size_t image = unit / units, first = unit % units * BLOCK, count = sn_min(BLOCK, all - first);
        for (size_t i = 0; i < count; ++i)
            take_position(g, &across, &down, g->grid + 2 * (image * all + first + i), &positions[i]);
        for (size_t c = 0; c < g->channels; c += PLANES) {
            const size_t plane = image * g->channels + c;
            sample_planes(g, g->src + plane * g->srcH * g->srcW, sn_min(PLANES, g->channels - c), positions, count,
                          g->dst + plane * all + first);
        }
    }
}

void sn_grid_sample_32f(const struct sn_grid_sample * g)
{
    const size_t all = g->dstH * g->dstW;
    const double taps = taps_of(g->interpolation), values = (double)(g->batch * all) * (double)g->channels;
    sn_parallel_for(&(struct sn_parallel){.run = blocks, .job = g, .units = g->batch * sn_ceil_div(all, BLOCK),
        .least = sn_items_per_unit(BLOCK * g->channels), .cost = values * (1 + taps * taps / 2)});
}
