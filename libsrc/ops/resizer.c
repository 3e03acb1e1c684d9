#include "ops/resizer.h"

#include <math.h>

/* ---- floats and copies; `coordinates` of the rule is the method */

static float ratio(const struct sn_resize_rule * r) { return (float)r->src / (float)r->dst; }

static void nearest(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    sn_resize_add(line, floor((double)(((float)i + 0.5f) * ratio(r))), 1);
}

static void nearest_pytorch(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    sn_resize_add(line, (double)(i * r->src / r->dst), 1);
}

/* Returns the element before the position of output i, and sets *fraction. */
static double split(const struct sn_resize_rule * r, size_t i, sn_32f * fraction)
{
    const float step = r->dst == 1 ? 0 : (float)(r->src - 1) / (float)(r->dst - 1), k = ratio(r);
    const float x = r->coordinates == SN_RESIZER_BILINEAR_CAFFE     ? (float)i * step
                    : r->coordinates == SN_RESIZER_BILINEAR_PYTORCH ? (float)i * k
                                                                    : ((float)i + 0.5f) * k - 0.5f;
    const float j = floorf(x), last = (float)r->src - 2;
    *fraction = j < 0 ? 0 : j > last ? 1 : x - j;
    return (double)(j < 0 ? 0 : j > last ? last : j);
}

/* A weight as a number of units; without units it is itself. */
static double in_units(double weight, double unit) { return unit != 0 ? nearbyint(weight * unit) : weight; }

static void linear(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    float a;
    const double j = split(r, i, &a);
    /* 4 bits are rounded half up, more bits to even */
    const double second = r->unit == 16 ? trunc((double)(a * 16 + 0.5f)) : in_units((double)a, r->unit);
    sn_resize_add(line, j, r->unit != 0 ? r->unit - second : (double)(1 - a));
    sn_resize_add(line, j + 1, second);
}

/* ---- bytes: the sum of weights is the unit; the largest takes what rounding has left */

static void settle(struct sn_resize_line * line, double unit)
{
    size_t largest = line->low;
    double sum = 0;
    for (size_t i = line->low; i <= line->high; ++i) {
        sum += line->value[i];
        largest = line->value[i] > line->value[largest] ? i : largest;
    }
    line->value[largest] += unit - sum;
}

/* Lagrange's polynomials of four points. */
static void cubic(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    float a;
    const double j = split(r, i, &a), d = (double)a;
    double weight[4] = {-(2 - d) * (1 - d) * d / 6, (2 - d) * (1 + d) * (1 - d) / 2, (2 - d) * (1 + d) * d / 2,
                        -(1 + d) * (1 - d) * d / 6};
    for (int t = 0; t < 4; ++t)
        weight[t] = in_units(weight[t], r->unit);
    weight[d < 0.5 ? 1 : 2] += r->unit - (weight[0] + weight[1] + weight[2] + weight[3]);
    for (int t = 0; t < 4; ++t)
        sn_resize_add(line, j - 1 + t, weight[t]);
}

/* The boundary of boxes i - 1 and i of n elements: the element that contains it, and its weight behind the boundary. */
static double boundary(const struct sn_resize_rule * r, size_t n, size_t i, double unit, double * weight)
{
    const float k = (float)n / (float)r->dst, t = (float)i * k;
    const bool end = i == r->dst || t >= (float)n;
    const float e = end ? (float)(n - 1) : floorf(t);
    *weight = trunc(unit * (double)(1 - (end ? 1 : t - e)) / (double)k);
    return (double)e;
}

/* An element of an image that was halved is two of the source; an odd last one counts twice. */
static void add_area(const struct sn_resize_rule * r, struct sn_resize_line * line, double j, double weight)
{
    if (!r->antialias) {
        sn_resize_add(line, j, weight);
        return;
    }
    sn_resize_add(line, 2 * j, weight);
    sn_resize_add(line, 2 * j + 1, weight);
}

static void area(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    const size_t n = r->antialias ? sn_ceil_div(r->src, 2) : r->src;
    const double unit = r->antialias ? r->unit / 2 : r->unit;
    double first, next, inner;
    boundary(r, n, 0, unit, &inner);
    const double begin = boundary(r, n, i, unit, &first), end = boundary(r, n, i + 1, unit, &next);
    for (double j = begin; j <= end; ++j)
        add_area(r, line, j, (j == begin ? first : inner) - (j == end ? next : 0));
    if (line->low > line->high) { /* all weights are less than a unit */
        sn_resize_add(line, begin, r->unit);
        return;
    }
    settle(line, r->unit);
}

struct sn_resize_rule sn_resizer_rule(enum sn_resizer_method method, bool bytes, bool halved, size_t src, size_t dst)
{
    struct sn_resize_rule rule = {.src = src, .dst = dst, .coordinates = (int)method, .antialias = halved};
    switch (method) {
    case SN_RESIZER_NEAREST: rule.taps = nearest; break;
    case SN_RESIZER_NEAREST_PYTORCH: rule.taps = nearest_pytorch; break;
    case SN_RESIZER_BICUBIC: rule.taps = cubic, rule.unit = 128; break;
    case SN_RESIZER_AREA:
    case SN_RESIZER_AREA_FAST: rule.taps = area, rule.unit = 2048; break;
    case SN_RESIZER_BILINEAR_OPENCV: rule.taps = linear, rule.unit = 16384; break;
    default: rule.taps = linear, rule.unit = bytes ? 16 : 0;
    }
    return rule;
}

/* Halves are rounded up: sums are multiples of `scale`, so half of that more never passes another integer. */
void sn_resizer_columns(enum sn_resizer_method method, struct sn_resize * r)
{
    const bool areas = method == SN_RESIZER_AREA || method == SN_RESIZER_AREA_FAST;
    r->columnType = r->type != SN_RESIZE_8U                ? r->type
                    : areas                                ? SN_RESIZE_8U_AREA
                    : method == SN_RESIZER_BILINEAR_OPENCV ? SN_RESIZE_8U_SHIFTED
                                                           : SN_RESIZE_8U;
    r->scale = method == SN_RESIZER_BICUBIC ? 0x1p-14f : 0x1p-8f;
    r->bias = r->scale / 2;
}
