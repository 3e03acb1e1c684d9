/*
 * Pooling: maxima of floats, bfloat16 and bytes, and averages, over windows of rows and columns.
 *
 * A tensor is planes of rows of pixels of `inner` elements (see contract/table.h). A window's maximum is taken in two steps,
 * first over its rows (and planes), element by element, then over its columns. Both are vectors over neighbouring outputs;
 * pooling_kind.h, which is included once per element type, has them. Two rows of outputs go together: the rows of the image
 * that both windows cover are read once.
 *
 * Nothing is masked per element: clipped rows are left out of the first step; the second reads a buffer in which the border
 * is there, as elements that change nothing.
 */
#include <float.h>
#include <string.h>

#include "contract/pooling.h"
#include "kernels/install.h"

__extension__ typedef __int128 wide;

struct span {
    size_t begin, count;
};

/* The part of the image that output i of an axis covers. Wide numbers take most of the time of a small call. */
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
    const wide end = ((wide)axis->pad + axis->src + axis->stride - 1) / axis->stride;
    const size_t last = end < (wide)axis->dst ? (size_t)end : axis->dst;
    return axis->src && begin < last ? (struct span){begin, last - begin} : (struct span){0, 0};
}

/* An axis that is not pooled. */
static bool is_alone(const struct sn_pool_axis * axis)
{
    return axis->kernel == 1 && axis->stride == 1 && axis->pad == 0 && axis->src == axis->dst;
}

/* An axis with one window that is all of it. */
static bool is_whole(const struct sn_pool_axis * axis)
{
    return axis->dst == 1 && axis->src && window_of(axis, 0).count == axis->src;
}

/* Elements between rows and planes of the image and of the output. */
struct pitches {
    size_t row, plane, dstRow, dstPlane;
};

static struct pitches pitches_of(const struct sn_pooling * p)
{
    const size_t row = p->axis[2].src * p->inner, dstRow = p->axis[2].dst * p->inner;
    return (struct pitches){row, row * p->axis[1].src, dstRow, dstRow * p->axis[1].dst};
}

/* The divisor of an average is the product of one number for each axis. */
static float divisor_of(const struct sn_pooling * p, int axis, size_t cells)
{
    return (float)(p->excludePad ? cells : p->axis[axis].kernel);
}

/*
 * One or two rows of outputs and what they read: rows that both windows cover, and those that one of them has for itself.
 * A step without common rows is one row of empty windows.
 */
struct step {
    size_t y;                       /* the first row of outputs */
    bool two;
    struct span common, own[2];     /* begin in elements */
    size_t first, last;             /* elements before the first and the last row */
    float divisor[2];               /* the rows' part of it */
};

enum { PLAN = 32 };

/* The steps of PLAN pairs at most, the same for every plane: pair i has first[i] .. first[i + 1] - 1. */
struct plan {
    size_t first[PLAN + 1];
    struct step step[2 * PLAN];
};

/* The step of row y of outputs, and of row y + 1 if that is below `end` and they share rows of the image. */
static void plan_step(struct step * s, const struct sn_pooling * p, size_t y, size_t end)
{
    const struct sn_pool_axis * axis = &p->axis[1];
    const size_t pitch = axis[1].src * p->inner;
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
 * A run of outputs along a row whose columns fit the buffer. Positions count pixels from the begin of the first window,
 * padding included.
 */
struct chunk {
    size_t output, outputs; /* the first output, and how many */
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
 * How a row lies in the buffer. With stride 2 and single elements the even and the odd positions are kept apart, so that a
 * window's columns are at unit distance from those of the next. data[f] is where the image's columns begin in phase f, at
 * the alignment of a vector; origin[f] is where position f is.
 */
struct layout {
    size_t phases, pitch;
    size_t first; /* the phase of the image's first column */
    size_t origin[2], data[2], count[2], end[2]; /* elements */
};

static struct layout layout_of(const struct sn_pool_axis * axis, size_t inner, const struct chunk * c, size_t lanes)
{
    const size_t length = (c->outputs - 1) * axis->stride + axis->kernel;
    struct layout l = {.phases = axis->stride == 2 && inner == 1 ? 2 : 1};
    l.first = c->lead % l.phases;
    for (size_t f = 0; f < l.phases; ++f) {
        /* Positions f, f + phases, ...: how many lie before the image, and how many before its end. */
        const size_t before = (c->lead + l.phases - 1 - f) / l.phases * inner;
        const size_t until = (c->lead + c->columns + l.phases - 1 - f) / l.phases * inner;
        l.data[f] = l.pitch + (before + lanes - 1) / lanes * lanes;
        l.origin[f] = l.data[f] - before;
        l.count[f] = until - before;
        l.end[f] = l.origin[f] + sn_ceil_div(length - sn_min(f, length), l.phases) * inner;
        l.pitch = (l.end[f] + 2 * lanes - 1) / lanes * lanes;
    }
    return l;
}

/* ---- one instance of pooling_kind.h for each kind */

/* What is known of a step when the code for it is compiled: its numbers of rows, or 0 when they are not. */
struct known {
    int common, own;
    bool two, flat; /* it has two rows of outputs; windows have one plane */
};

#define WORD(name) SN_JOIN3(v_, name, SN_JOIN2(_, TYPE))

#define BITS(v) SN_JOIN3(v_cast_, TYPE, _32i)(v)
#define FROM_BITS(v) SN_JOIN2(v_cast_32i_, TYPE)(v)

/* Read from 64 - n: the mask of the first n bytes of a vector. */
static const int8_t first_bytes[128] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
};

/* RING: columns of overlapping windows, a power of two. NARROW: elements of a pixel. RUN: vectors of a walk. */
enum { BUFFER_BYTES = 16384, MAX_ROWS = 32, RING = 32, NARROW = 4, RUN = 32 };

/* Vectors of single elements that are reduced beside each other. */
enum { ACCUMULATORS = 4 };

#include "kernels/pooling_sums.h"

#define KIND max_32f
#define ELEMENT sn_32f
#define VECTOR v32f
#define LANES V32F_N
#define TYPE 32f
#define IDENTITY v_set_32f(-FLT_MAX)
#define REDUCTION v32f
#define FIRST(v) v_max_32f(v_set_32f(-FLT_MAX), v)
#define ENTER(v) (v)
#define REDUCE(a, b) v_max_32f(a, b)
#define REST(r) (r)
#define RESUME(v) (v)
#define LEAVE(r, divisor) (r)
#define ACROSS(v) v_set_32f(v_reduce_max_32f(v))
#define HAS_DIVISOR 0
#include "kernels/pooling_kind.h"

#define KIND average_32f
#define ELEMENT sn_32f
#define VECTOR v32f
#define LANES V32F_N
#define TYPE 32f
#define IDENTITY v_zero_32f()
#define REDUCTION v32f
#define FIRST(v) (v)
#define ENTER(v) (v)
#define REDUCE(a, b) v_add_32f(a, b)
#define REST(r) (r)
#define RESUME(v) (v)
#define LEAVE(r, divisor) v_div_32f(r, divisor)
#define ACROSS(v) v_set_32f(v_reduce_add_32f(v))
#define HAS_DIVISOR 1
#include "kernels/pooling_kind.h"

/*
 * Maxima of bfloat16 as of integers. Among numbers of which one at least is not negative the greatest is the greatest signed
 * integer; of negative ones it is the least. So both are kept, two instructions for each vector where an order of integers
 * made of its bits first would take four. The least begins with -Inf, hence is negative, and above all others as unsigned:
 * of both the lower one is the maximum.
 */
struct extremes {
    v16i most, least;
};

SN_INLINE v16i lowest_16b(void) { return v_set_16i((int16_t)0xFF80); } /* -Inf */
SN_INLINE struct extremes first_16b(v16i v) { return (struct extremes){v, v_min_16i(v, lowest_16b())}; }
SN_INLINE struct extremes enter_16b(v16i v) { return (struct extremes){v, v}; }
SN_INLINE v16i rest_16b(struct extremes r) { return v_min_16u(r.most, r.least); }
SN_INLINE struct extremes reduce_16b(struct extremes a, struct extremes b)
{
    return (struct extremes){v_max_16i(a.most, b.most), v_min_16i(a.least, b.least)};
}

#define KIND max_16b
#define ELEMENT sn_16b
#define VECTOR v16i
#define LANES V16I_N
#define TYPE 16i
#define IDENTITY lowest_16b()
#define REDUCTION struct extremes
#define FIRST(v) first_16b(v)
#define ENTER(v) enter_16b(v)
#define REDUCE(a, b) reduce_16b(a, b)
#define REST(r) rest_16b(r)
#define RESUME(v) first_16b(v)
#define LEAVE(r, divisor) rest_16b(r)
#define ACROSS(v) across_max_16b(v)
#define HAS_DIVISOR 0
#include "kernels/pooling_kind.h"

#define KIND max_8u
#define ELEMENT uint8_t
#define VECTOR v8u
#define LANES V8U_N
#define TYPE 8u
#define IDENTITY v_set_8u(0)
#define REDUCTION v8u
#define FIRST(v) (v)
#define ENTER(v) (v)
#define REDUCE(a, b) v_max_8u(a, b)
#define REST(r) (r)
#define RESUME(v) (v)
#define LEAVE(r, divisor) (r)
#define ACROSS(v) across_max_8u(v)
#define HAS_DIVISOR 0
#include "kernels/pooling_kind.h"

SN_INSTALL(pooling, pooling)
{
    slots->max_32f = pooling_max_32f;
    slots->max_16b = pooling_max_16b;
    slots->max_8u = pooling_max_8u;
    slots->average_32f = pooling_average_32f;
}
