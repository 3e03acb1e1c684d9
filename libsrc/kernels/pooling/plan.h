/*
 * Windows of pooling, independent of its kind: the input of each output, which rows are computed together, and the layout of
 * rows in the buffer.
 */
#ifndef SN_KERNELS_POOLING_PLAN_H
#define SN_KERNELS_POOLING_PLAN_H

#include "contract/pooling.h"

__extension__ typedef __int128 wide;

struct span {
    size_t begin, count;
};

/* The part of the image that output i of an axis covers. 128-bit numbers, if they were always used,
 * would take most of the time of a small call. */
static struct span window_of(const struct sn_pool_axis * axis, size_t i)
{
    if ((axis->src | axis->kernel | axis->stride | axis->pad | i) >> 31 == 0) {
        const ptrdiff_t b = (ptrdiff_t)(i * axis->stride) - (ptrdiff_t)axis->pad, e = b + (ptrdiff_t)axis->kernel;
        const ptrdiff_t f = b < 0 ? 0 : b, l = e < (ptrdiff_t)axis->src ? e : (ptrdiff_t)axis->src;
        return f < l ? (struct span){(size_t)f, (size_t)(l - f)} : (struct span){0, 0};
    }
    const wide begin = (wide)i * axis->stride - axis->pad, end = begin + axis->kernel, size = (wide)axis->src;
    const wide first = begin < 0 ? 0 : begin, last = end < size ? end : size;
    return first < last ? (struct span){(size_t)first, (size_t)(last - first)} : (struct span){0, 0};
}

/* The outputs of an axis whose windows are not empty. */
static struct span covered(const struct sn_pool_axis * axis)
{
    size_t begin = 0;
    if (axis->kernel <= axis->pad)
        begin = (axis->pad - axis->kernel) / axis->stride + 1;
    const wide end = (axis->pad | axis->src | axis->stride) >> 31 == 0
                         ? (axis->pad + axis->src + axis->stride - 1) / axis->stride
                         : ((wide)axis->pad + axis->src + axis->stride - 1) / axis->stride;
    const size_t last = end < (wide)axis->dst ? (size_t)end : axis->dst;
    return axis->src && begin < last ? (struct span){begin, last - begin} : (struct span){0, 0};
}

/* An axis that is not pooled. */
static bool is_identity(const struct sn_pool_axis * axis)
{
    return axis->kernel == 1 && axis->stride == 1 && axis->pad == 0 && axis->src == axis->dst;
}

/* An axis with one window that is all of it. */
static bool is_global(const struct sn_pool_axis * axis)
{
    return axis->dst == 1 && axis->src && window_of(axis, 0).count == axis->src;
}

/* Elements between rows and planes of the image and of the output. */
struct pitches {
    size_t row, plane, dstRow, dstPlane;
};

static struct pitches pitches_of(const struct sn_pooling * p)
{
    const size_t row = p->axis[2].src * p->srcPixel, dstRow = p->axis[2].dst * p->dstPixel;
    return (struct pitches){row, row * p->axis[1].src, dstRow, dstRow * p->axis[1].dst};
}

/* The divisor of an average is the product of one number for each axis. */
static float divisor_of(const struct sn_pooling * p, int axis, size_t cells)
{
    return (float)(p->excludePad ? cells : p->axis[axis].kernel);
}

/*
 * One or two rows of outputs and their input: rows that both windows cover, and those that only one of them covers. A step
 * without common rows is one row of empty windows.
 */
struct step {
    size_t y;                       /* the first row of outputs */
    bool two;
    struct span common, own[2];     /* `begin` is in elements */
    size_t first, last;             /* elements before the first and the last row */
    float divisor[2];               /* the factor of the rows */
};

enum { PLAN = 32 };

/* The steps of at most PLAN pairs, the same for every plane: pair i has steps first[i] .. first[i + 1] - 1. */
struct plan {
    size_t first[PLAN + 1];
    struct step step[2 * PLAN];
};

/* Plans the step of row y of outputs, and of row y + 1 if that is below `end` and they share rows of the image. */
static void plan_step(struct step * s, const struct sn_pooling * p, size_t y, size_t end)
{
    const struct sn_pool_axis * axis = &p->axis[1];
    const size_t pitch = axis[1].src * p->srcPixel;
    const struct span a = window_of(axis, y), b = y + 1 < end ? window_of(axis, y + 1) : (struct span){0, 0};
    *s = (struct step){.y = y, .common = {a.begin * pitch, a.count}};
    if (a.count && b.count && b.begin < a.begin + a.count) {
        s->two = true;
        s->own[0] = (struct span){a.begin * pitch, b.begin - a.begin};
        s->common = (struct span){b.begin * pitch, a.begin + a.count - b.begin};
        s->own[1] = (struct span){(a.begin + a.count) * pitch, b.begin + b.count - a.begin - a.count};
    }
    s->first = a.begin * pitch;
    s->last = s->two ? (b.begin + b.count - 1) * pitch : (a.begin + a.count - 1) * pitch;
    s->divisor[0] = divisor_of(p, 1, a.count);
    s->divisor[1] = s->two ? divisor_of(p, 1, b.count) : s->divisor[0];
}

/* Plans pairs begin .. end - 1. With `single` no step has two rows. */
static void plan_pairs(struct plan * plan, const struct sn_pooling * p, size_t begin, size_t end, bool single)
{
    size_t n = 0;
    for (size_t i = begin; i < end; ++i) {
        const size_t last = sn_min(2 * i + 2, p->axis[1].dst);
        plan->first[i - begin] = n;
        for (size_t y = 2 * i; y < last; y += plan->step[n++].two ? 2 : 1)
            plan_step(&plan->step[n], p, y, single ? y + 1 : last);
    }
    plan->first[end - begin] = n;
}

/*
 * A run of outputs along a row whose columns fit in the buffer. Positions count pixels from the beginning of the first
 * window, including padding.
 */
struct chunk {
    size_t output, outputs; /* the first output, and their number */
    size_t column, columns; /* of the image */
    size_t lead;            /* the position of that column */
};

static struct chunk chunk_at(const struct sn_pool_axis * axis, size_t output, size_t outputs)
{
    const ptrdiff_t begin = (ptrdiff_t)((wide)output * axis->stride - axis->pad);
    const ptrdiff_t end = begin + (ptrdiff_t)((outputs - 1) * axis->stride + axis->kernel);
    const size_t column = begin > 0 ? (size_t)begin : 0;
    const size_t columns = sn_min((size_t)end, axis->src) - column;
    return (struct chunk){output, outputs, column, columns, (size_t)((ptrdiff_t)column - begin)};
}

/*
 * The layout of a row in the buffer, in elements: position 0 is at `origin`; the `count` elements of the image begin at
 * `data`, aligned to a vector; the border is from `origin` to `data`, and from their end to `end`.
 */
struct layout {
    size_t origin, data, count, end, pitch;
};

static struct layout layout_of(const struct sn_pool_axis * axis, size_t inner, const struct chunk * c, size_t lanes)
{
    const size_t length = ((c->outputs - 1) * axis->stride + axis->kernel) * inner, before = c->lead * inner;
    struct layout l = {.data = (before + lanes - 1) / lanes * lanes, .count = c->columns * inner};
    l.origin = l.data - before;
    l.end = l.origin + length;
    l.pitch = sn_ceil_div(l.end, lanes) * lanes + 4 * lanes;
    return l;
}

#endif
