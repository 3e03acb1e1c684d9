/*
 * Images at the positions of a grid. The operations are those of the driver in the same order, none fused, so that all
 * levels have the same bits. What needs a remainder, or is larger than a vector's integers may be, is left to the driver.
 */
#include "contract/grid_sample.h"
#include <collect.h>
#include "kernels/install.h"

/* ---- where elements lie */

static const float NEAREST_TAP = -8, FARTHEST = 0x1p22f;

SN_INLINE v32f denormalised(v32f g, const struct sn_grid_axis * axis, bool align)
{
    const v32f half = v_set_32f(0.5f), one = v_set_32f(1), size = v_set_32f((float)axis->size), next = v_add_32f(g, one);
    return align ? v_mul_32f(v_mul_32f(next, half), v_sub_32f(size, one))
                 : v_mul_32f(v_sub_32f(v_mul_32f(next, size), one), half);
}

/* All bits of a lane, or none. */
SN_INLINE v32i bits_of(v32m m) { return v_select_32i(m, v_set_32i(-1), v_set_32i(0)); }

SN_INLINE v32i outside(v32f x, const struct sn_grid_axis * axis)
{
    return v_or_32i(bits_of(v_lt_32f(x, v_set_32f(axis->low))), bits_of(v_lt_32f(v_set_32f(axis->high), x)));
}

SN_INLINE v32f limited(v32f x, v32i where, const struct sn_grid_axis * axis, enum sn_grid_interpolation interpolation)
{
    const float margin = interpolation == SN_GRID_BICUBIC ? 3 : 0, high = (float)(axis->size - 1) + margin;
    const v32f inside = v_min_32f(v_set_32f(high), v_max_32f(v_set_32f(-margin), x));
    return v_select_32f(v_gt_32i(v_set_32i(0), where), inside, x);
}

/* A polynomial of bicubic weights at distance d, 1 to 2. */
SN_INLINE v32f outer_weight(v32f d)
{
    const float a = -0.75f;
    const v32f p = v_sub_32f(v_mul_32f(v_set_32f(a), d), v_set_32f(5 * a));
    return v_sub_32f(v_mul_32f(v_add_32f(v_mul_32f(p, d), v_set_32f(8 * a)), d), v_set_32f(4 * a));
}

/* The same at a distance of 0 to 1. */
SN_INLINE v32f inner_weight(v32f d)
{
    const float a = -0.75f;
    const v32f p = v_sub_32f(v_mul_32f(v_set_32f(a + 2), d), v_set_32f(a + 3));
    return v_add_32f(v_mul_32f(v_mul_32f(p, d), d), v_set_32f(1));
}

SN_INLINE void set_weights(enum sn_grid_interpolation interpolation, v32f t, size_t n, struct sn_grid_taps * taps)
{
    const v32f one = v_set_32f(1), rest = v_sub_32f(one, t);
    switch (interpolation) {
    case SN_GRID_NEAREST: v_store_32f(&taps->weight[0][n], one); break;
    case SN_GRID_BILINEAR:
        v_store_32f(&taps->weight[0][n], rest);
        v_store_32f(&taps->weight[1][n], t);
        break;
    case SN_GRID_BICUBIC:
        v_store_32f(&taps->weight[0][n], outer_weight(v_add_32f(t, one)));
        v_store_32f(&taps->weight[1][n], inner_weight(t));
        v_store_32f(&taps->weight[2][n], inner_weight(rest));
        v_store_32f(&taps->weight[3][n], outer_weight(v_sub_32f(v_set_32f(2), t)));
    }
}

/* Elements outside are the nearest ones, or mirror images, of which none is farther away than the other end. */
SN_INLINE v32i inside(v32i k, v32m before, v32m behind, int32_t size, const struct sn_grid_rule * rule)
{
    const bool mirror = rule->padding == SN_GRID_REFLECT;
    const int32_t edge = rule->align ? 0 : 1;
    const v32i first = mirror ? v_sub_32i(v_set_32i(-edge), k) : v_set_32i(0);
    const v32i last = mirror ? v_sub_32i(v_set_32i(2 * size - 2 + edge), k) : v_set_32i(size - 1);
    return v_select_32i(before, first, v_select_32i(behind, last, k));
}

/* The taps of some positions from n on, and their indices. Returns a lane that is not 0 where some element counts as 0. */
SN_INLINE v32i take_taps(const struct sn_grid_rule * rule, const struct sn_grid_axis * axis, v32f x, size_t n, int count,
                         enum sn_grid_interpolation interpolation, struct sn_grid_taps * taps, v32i indices[SN_GRID_TAPS])
{
    const int32_t size = (int32_t)axis->size;
    x = v_max_32f(v_set_32f(NEAREST_TAP), x);
    v32i index = v_cvt_32f_32i(x), beyond = v_set_32i(0);
    index = v_add_32i(index, bits_of(v_lt_32f(x, v_cvt_32i_32f(index))));
    set_weights(interpolation, v_sub_32f(x, v_cvt_32i_32f(index)), n, taps);
    SN_UNROLL for (int i = 0; i < count; ++i) {
        const v32i k = v_add_32i(index, v_set_32i(i - (count == 4)));
        const v32m before = v_gt_32i(v_set_32i(0), k), behind = v_gt_32i(k, v_set_32i(size - 1));
        const v32i out = v_or_32i(bits_of(before), bits_of(behind));
        const v32i mask = rule->padding == SN_GRID_ZEROS ? v_xor_32i(out, v_set_32i(-1)) : v_set_32i(-1);
        beyond = v_or_32i(beyond, out);
        v_store_32i(&taps->mask[i][n], mask);
        indices[i] = inside(k, before, behind, size, rule);
    }
    return beyond;
}

/* `taps` are those of rule->interpolation, a constant. */
SN_INLINE bool locate_by(const struct sn_grid_rule * rule, const sn_32f * grid, size_t count, int taps,
                         enum sn_grid_interpolation interpolation, struct sn_grid_positions * p)
{
    const v32f farthest = v_set_32f(FARTHEST), width = v_set_32f((float)rule->x.size);
    v32i beyond = v_set_32i(0), unknown = v_set_32i(0), row[SN_GRID_TAPS], column[SN_GRID_TAPS];
    for (size_t n = 0; n < count; n += V32F_N) {
        const size_t floats = 2 * sn_min(count - n, V32F_N), first = sn_min(floats, V32F_N);
        const v32f a = v_load_tail_32f(grid + 2 * n, first), b = v_load_tail_32f(grid + 2 * n + first, floats - first);
        v32f x = denormalised(v_even_32f(a, b), &rule->x, rule->align);
        v32f y = denormalised(v_odd_32f(a, b), &rule->y, rule->align);
        if (interpolation == SN_GRID_NEAREST)
            x = v_round_32f(x), y = v_round_32f(y);
        const v32i where = v_or_32i(outside(x, &rule->x), outside(y, &rule->y));
        if (rule->padding == SN_GRID_REFLECT)
            unknown = v_or_32i(unknown, where);
        if (rule->padding == SN_GRID_BORDER) {
            x = limited(x, where, &rule->x, interpolation);
            y = limited(y, where, &rule->y, interpolation);
        }
        const v32i known = v_and_32i(bits_of(v_lt_32f(x, farthest)), bits_of(v_lt_32f(y, farthest)));
        unknown = v_or_32i(unknown, v_xor_32i(known, v_set_32i(-1)));
        beyond = v_or_32i(beyond, take_taps(rule, &rule->x, x, n, taps, interpolation, &p->x, column));
        beyond = v_or_32i(beyond, take_taps(rule, &rule->y, y, n, taps, interpolation, &p->y, row));
        SN_UNROLL for (int i = 0; i < taps; ++i) {
            v_store_32i(&p->row[i][n], v_cvt_32f_32i(v_mul_32f(v_cvt_32i_32f(row[i]), width)));
            v_store_32i(&p->column[i][n], column[i]);
        }
    }
    p->masked = rule->padding == SN_GRID_ZEROS && v_any(v_gt_32i(v_set_32i(0), beyond));
    return !v_any(v_gt_32i(v_set_32i(0), unknown));
}

/* Indices are computed as floats, and with SN_GRID_REFLECT no element lies farther outside than the image is large. */
static bool locate(const struct sn_grid_rule * rule, const sn_32f * grid, size_t count, struct sn_grid_positions * p)
{
    if (rule->y.size * rule->x.size > 1 << 24 ||
        (rule->padding == SN_GRID_REFLECT && sn_min(rule->y.size, rule->x.size) < SN_GRID_TAPS))
        return false;
    switch (rule->interpolation) {
    case SN_GRID_NEAREST: return locate_by(rule, grid, count, 1, SN_GRID_NEAREST, p);
    case SN_GRID_BILINEAR: return locate_by(rule, grid, count, 2, SN_GRID_BILINEAR, p);
    default: return locate_by(rule, grid, count, SN_GRID_TAPS, SN_GRID_BICUBIC, p);
    }
}

/* ---- values */

/*
 * How the elements of a row are loaded at the positions of a vector. Those of most positions are adjacent: one load for all
 * of them in place of one for each (half of the time bilinear, a third bicubic). At the borders and for positions outside
 * they are CHOSEN from adjacent ones.
 */
enum order { IN_ORDER, CHOSEN, ANYWHERE };

struct rows {
    int32_t first[SN_GRID_TAPS][SN_GRID_BLOCK]; /* of row i, the first of the adjacent elements; ANYWHERE: 0 is the row */
    int32_t from[SN_GRID_TAPS][SN_GRID_BLOCK];  /* element j is from[j] of them; ANYWHERE: its column */
    uint8_t order[SN_GRID_BLOCK];               /* of the vector that begins there */
    bool masked[SN_GRID_BLOCK];
};

SN_INLINE v32i least_of(v32i a, v32i b) { return v_select_32i(v_gt_32i(a, b), b, a); }

SN_INLINE void take_rows(const struct sn_grid_positions * p, size_t taps, size_t width, size_t n, struct rows * r)
{
    const v32i all = v_set_32i(-1);
    v32i first = v_set_32i((int32_t)(width - sn_min(taps, width))), moved = v_set_32i(0), far = moved, mask = all;
    SN_UNROLL for (size_t j = 0; j < taps; ++j) {
        first = least_of(first, v_load_32i(&p->column[j][n]));
        mask = v_and_32i(mask, v_and_32i(v_load_32i(&p->x.mask[j][n]), v_load_32i(&p->y.mask[j][n])));
    }
    SN_UNROLL for (size_t j = 0; j < taps; ++j) {
        const v32i from = v_sub_32i(v_load_32i(&p->column[j][n]), first);
        v_store_32i(&r->from[j][n], from);
        v_store_32i(&r->first[j][n], v_add_32i(v_load_32i(&p->row[j][n]), first));
        moved = v_or_32i(moved, v_xor_32i(from, v_set_32i((int32_t)j)));
        far = v_or_32i(far, bits_of(v_gt_32i(from, v_set_32i((int32_t)taps - 1))));
    }
    const bool in_order = !v_any(v_gt_32i(moved, v_set_32i(0))), near = width >= taps && !v_any(v_gt_32i(v_set_32i(0), far));
    r->order[n] = !near ? ANYWHERE : in_order ? IN_ORDER : CHOSEN;
    r->masked[n] = p->masked && v_any(v_gt_32i(v_set_32i(0), v_xor_32i(all, mask)));
}

/* Elements row + column of lanes, for images of few columns and positions that are no numbers. */
static __attribute__((noinline)) v32f elements_anywhere(const sn_32f * plane, const int32_t * row, const int32_t * column)
{
    float lanes[V32F_N] SN_ALIGNED;
    for (size_t l = 0; l < V32F_N; ++l)
        lanes[l] = plane[row[l] + column[l]];
    return v_load_32f(lanes);
}

/* Adjacent elements from first[0 .. V32F_N - 1] on. */
SN_INLINE void load_adjacent(v32f * e, size_t taps, const sn_32f * plane, const int32_t * first)
{
    if (taps == 2)
        v_collect_2_32f(e, plane, first);
    else
        v_collect_4_32f(e, plane, first);
}

/* The elements of row i in the order of the taps. */
SN_INLINE void load_row(const struct rows * r, size_t i, size_t taps, enum order order, const sn_32f * plane, size_t n,
                        v32f * e)
{
    v32f adjacent[SN_GRID_TAPS];
    if (order == ANYWHERE) {
        for (size_t j = 0; j < taps; ++j)
            e[j] = elements_anywhere(plane, &r->first[i][n], &r->from[j][n]);
        return;
    }
    load_adjacent(adjacent, taps, plane, &r->first[i][n]);
    SN_UNROLL for (size_t j = 0; j < taps; ++j) {
        const v32i from = v_load_32i(&r->from[j][n]);
        e[j] = adjacent[order == CHOSEN ? 0 : j];
        SN_UNROLL for (size_t k = 1; k < taps && order == CHOSEN; ++k)
            e[j] = v_select_32f(v_gt_32i(from, v_set_32i((int32_t)k - 1)), adjacent[k], e[j]);
    }
}

SN_INLINE v32f kept(const struct sn_grid_positions * p, v32f v, size_t i, size_t j, size_t n)
{
    const v32i mask = v_and_32i(v_load_32i(&p->y.mask[i][n]), v_load_32i(&p->x.mask[j][n]));
    return v_cast_32i_32f(v_and_32i(v_cast_32f_32i(v), mask));
}

SN_INLINE v32f value(const struct sn_grid_positions * p, const struct rows * r, const sn_32f * plane, size_t taps,
                     enum order order, bool masked, size_t n)
{
    v32f value = v_zero_32f(), e[SN_GRID_TAPS];
    for (size_t i = 0; i < taps; ++i) {
        load_row(r, i, taps, order, plane, n, e);
        v32f sum = v_zero_32f();
        SN_UNROLL for (size_t j = 0; j < taps; ++j) {
            const v32f product = v_mul_32f(v_load_32f(&p->x.weight[j][n]), masked ? kept(p, e[j], i, j, n) : e[j]);
            sum = j ? v_add_32f(sum, product) : product;
        }
        const v32f line = v_mul_32f(v_load_32f(&p->y.weight[i][n]), sum);
        value = i ? v_add_32f(value, line) : line;
    }
    return value;
}

SN_INLINE v32f value_of(const struct sn_grid_positions * p, const struct rows * r, const sn_32f * plane, size_t taps, size_t n)
{
    if (r->order[n] == IN_ORDER && !r->masked[n])
        return value(p, r, plane, taps, IN_ORDER, false, n);
    return r->order[n] == ANYWHERE ? value(p, r, plane, taps, ANYWHERE, true, n) : value(p, r, plane, taps, CHOSEN, true, n);
}

SN_INLINE void values_by(const struct sn_grid_positions * p, size_t taps, size_t count, const struct sn_grid_planes * planes)
{
    struct rows rows;
    for (size_t n = 0; n < count; n += V32F_N)
        take_rows(p, taps, planes->width, n, &rows);
    for (size_t c = 0; c < planes->count; ++c)
        for (size_t n = 0; n < count; n += V32F_N) {
            const v32f v = value_of(p, &rows, planes->src + c * planes->size, taps, n);
            sn_32f * dst = planes->dst + c * planes->step + n;
            if (count - n >= V32F_N)
                v_store_32f(dst, v);
            else
                v_store_tail_32f(dst, v, count - n);
        }
}

/* A single tap of weight 1, or NaN. */
SN_INLINE v32f nearest(const struct sn_grid_positions * p, const int32_t * at, const sn_32f * plane, size_t n)
{
    const v32f v = collected(at + n, plane), weight = v_load_32f(&p->x.weight[0][n]);
    return v_mul_32f(v_load_32f(&p->y.weight[0][n]), v_mul_32f(weight, p->masked ? kept(p, v, 0, 0, n) : v));
}

static void nearest_values(const struct sn_grid_positions * p, size_t count, const struct sn_grid_planes * planes)
{
    int32_t at[SN_GRID_BLOCK] SN_ALIGNED;
    for (size_t n = 0; n < count; n += V32F_N)
        v_store_32i(at + n, v_add_32i(v_load_32i(&p->row[0][n]), v_load_32i(&p->column[0][n])));
    for (size_t c = 0; c < planes->count; ++c) {
        const sn_32f * src = planes->src + c * planes->size;
        sn_32f * dst = planes->dst + c * planes->step;
        size_t n = 0;
        for (; n + V32F_N <= count; n += V32F_N)
            v_store_32f(dst + n, nearest(p, at, src, n));
        if (n < count)
            v_store_tail_32f(dst + n, nearest(p, at, src, n), count - n);
    }
}

static void values(const struct sn_grid_positions * p, size_t taps, size_t count, const struct sn_grid_planes * planes)
{
    switch (taps) {
    case 1: nearest_values(p, count, planes); break;
    case 2: values_by(p, 2, count, planes); break;
    default: values_by(p, SN_GRID_TAPS, count, planes);
    }
}

SN_INSTALL(grid_sample, grid_sample)
{
    slots->locate = locate;
    slots->values = values;
}
