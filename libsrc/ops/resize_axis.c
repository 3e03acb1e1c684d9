/* The weights of an axis, and the rules of ONNX Resize. */
#include <math.h>
#include <string.h>

#include "ops/resize.h"
#include "runtime/memory.h"

/* ---- weights of one output */

void sn_resize_add(struct sn_resize_line * line, double index, double weight)
{
    if (weight == 0)
        return;
    const size_t i = index <= 0 ? 0 : index >= (double)(line->size - 1) ? line->size - 1 : (size_t)index;
    line->value[i] += weight;
    line->low = sn_min(line->low, i);
    line->high = sn_max(line->high, i);
}

static void take(const struct sn_resize_rule * rule, size_t i, struct sn_resize_line * line)
{
    line->low = line->size;
    line->high = 0;
    rule->taps(rule, i, line);
}

static void clear(struct sn_resize_line * line)
{
    memset(line->value + line->low, 0, (line->high + 1 - line->low) * sizeof(*line->value));
}

/* ---- positions */

/* The position of output i in the source. The quotient of sizes is rounded once: whole positions are exact. */
static double position(const struct sn_resize_rule * r, size_t i)
{
    const double n = (double)r->src, m = (double)r->dst, x = (double)i, scale = r->scale != 0 ? r->scale : m / n;
    const double center = r->scale != 0 ? (x + 0.5) / scale - 0.5 : (x + 0.5) * n / m - 0.5;
    switch (r->coordinates) {
    case SN_RESIZE_ALIGN_CORNERS: return r->dst == 1 ? 0 : x * (n - 1) / (m - 1);
    case SN_RESIZE_ASYMMETRIC: return r->scale != 0 ? x / scale : x * n / m;
    case SN_RESIZE_PYTORCH_HALF_PIXEL: return r->dst == 1 ? 0 : center;
    case SN_RESIZE_HALF_PIXEL_SYMMETRIC: return n / 2 * (1 - m / (scale * n)) + center;
    default: return center;
    }
}

static void nearest(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    const double x = position(r, i);
    switch (r->rounding) {
    case SN_RESIZE_ROUND_PREFER_FLOOR: sn_resize_add(line, ceil(x - 0.5), 1); break;
    case SN_RESIZE_ROUND_PREFER_CEIL: sn_resize_add(line, floor(x + 0.5), 1); break;
    case SN_RESIZE_FLOOR: sn_resize_add(line, floor(x), 1); break;
    default: sn_resize_add(line, ceil(x), 1);
    }
}

/* A triangle, or Keys' kernel (doi:10.1109/TASSP.1981.1163711), at distance d. */
static double kernel(const struct sn_resize_rule * r, double d)
{
    const double a = r->cubic;
    d = fabs(d);
    if (r->radius == 1)
        return fmax(1 - d, 0);
    return d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
           : d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a
                   : 0;
}

static void weighted(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    const double x = position(r, i), scale = r->scale != 0 ? r->scale : (double)r->dst / (double)r->src;
    const double narrow = r->antialias ? fmin(scale, 1) : 1, last = floor(x + r->radius / narrow);
    double sum = 0;
    for (double j = ceil(x - r->radius / narrow); j <= last; ++j) {
        if (r->excludeOutside && (j < 0 || j > (double)(r->src - 1)))
            continue;
        const double weight = kernel(r, (j - x) * narrow);
        sn_resize_add(line, j, weight);
        sum += weight;
    }
    if (line->low > line->high) /* all taps are outside */
        sn_resize_add(line, x, sum = 1);
    if (r->excludeOutside || narrow < 1)
        for (size_t j = line->low; j <= line->high; ++j)
            line->value[j] /= sum;
}

/* The part of each element that lies in the box of output i, of n / m elements. */
static void area(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    const double n = (double)r->src, m = (double)r->dst, step = r->scale != 0 ? 1 / r->scale : n / m;
    const double begin = fmin(r->scale != 0 ? (double)i * step : (double)i * n / m, n - 1);
    const double end = fmin(r->scale != 0 ? (double)(i + 1) * step : (double)(i + 1) * n / m, n);
    for (double j = floor(begin); j < end; ++j)
        sn_resize_add(line, j, (fmin(j + 1, end) - fmax(j, begin)) / (end - begin));
}

void sn_resize_method(struct sn_resize_rule * rule, enum sn_resize_method method)
{
    rule->taps = method == SN_RESIZE_NEAREST ? nearest : method == SN_RESIZE_AREA ? area : weighted;
    rule->radius = method == SN_RESIZE_CUBIC ? 2 : 1;
}

/* ---- an axis */

/* Sets begin and taps: a window of the same size for all outputs, which never moves back. */
static void set_windows(const struct sn_resize_rule * rule, struct sn_resize_axis * axis, uint32_t * begin,
                        struct sn_resize_line * line)
{
    size_t least = rule->src, taps = 1;
    for (size_t i = rule->dst; i-- > 0;) {
        take(rule, i, line);
        least = sn_min(least, line->low);
        taps = sn_max(taps, line->high + 1 - least);
        begin[i] = (uint32_t)least;
        clear(line);
    }
    for (size_t i = 0; i < rule->dst; ++i)
        begin[i] = (uint32_t)sn_min(begin[i], rule->src - taps);
    axis->taps = taps;
}

static void set_weights(const struct sn_resize_rule * rule, struct sn_resize_axis * axis, sn_32f * weight,
                        struct sn_resize_line * line)
{
    const size_t taps = axis->taps;
    axis->copies = taps == 1;
    for (size_t i = 0; i < rule->dst; ++i) {
        take(rule, i, line);
        for (size_t t = 0; t < taps; ++t)
            weight[i * taps + t] = (float)line->value[axis->begin[i] + t];
        axis->copies = axis->copies && weight[i] == 1;
        clear(line);
    }
}

/* For rows of pixels that are not wide. */
static void set_elements(struct sn_resize_axis * axis, size_t channels, int32_t * at, sn_32f * lane)
{
    const size_t taps = axis->taps;
    for (size_t i = 0; i < axis->dst; ++i)
        for (size_t c = 0; c < channels; ++c) {
            at[i * channels + c] = (int32_t)(axis->begin[i] * channels + c);
            for (size_t t = 0; t < taps; ++t)
                lane[(t * axis->dst + i) * channels + c] = axis->weight[i * taps + t];
        }
}

/* Whether outputs 2 * i and 2 * i + 1 are shifted by i - k against those of k. */
static bool alike(const struct sn_resize_axis * axis, size_t i, size_t k)
{
    const size_t pair = 2 * axis->taps * sizeof(float);
    return axis->begin[2 * i] + k == axis->begin[2 * k] + i && axis->begin[2 * i + 1] + k == axis->begin[2 * k + 1] + i &&
           memcmp(axis->weight + 2 * i * axis->taps, axis->weight + 2 * k * axis->taps, pair) == 0;
}

static void find_pairs(struct sn_resize_axis * axis)
{
    const size_t middle = axis->dst / 4;
    if (axis->dst != 2 * axis->src)
        return;
    axis->shift[0] = (int32_t)axis->begin[2 * middle] - (int32_t)middle;
    axis->shift[1] = (int32_t)axis->begin[2 * middle + 1] - (int32_t)middle;
    axis->low = middle;
    axis->high = middle + 1;
    while (axis->low > 0 && alike(axis, axis->low - 1, middle))
        --axis->low;
    while (axis->high < axis->src && alike(axis, axis->high, middle))
        ++axis->high;
}

/* One axis, in one block of memory; `channels` of a pixel if it is horizontal and not wide, else 0. */
static bool make_axis(const struct sn_resize_rule * rule, size_t channels, struct sn_resize_axis * axis, void ** memory)
{
    struct sn_resize_line line = {NULL, rule->src, 0, 0};
    size_t size;
    double * values = sn_allocate(rule->src * sizeof(*values), SN_ALIGN);
    uint32_t * begin = values ? sn_allocate(rule->dst * sizeof(*begin), SN_ALIGN) : NULL;
    *memory = NULL;
    *axis = (struct sn_resize_axis){.src = rule->src, .dst = rule->dst, .begin = begin};
    if (begin) {
        memset(values, 0, rule->src * sizeof(*values));
        line.value = values;
        set_windows(rule, axis, begin, &line);
        const size_t weights = rule->dst * axis->taps, lanes = rule->dst * channels;
        if (sn_product(&size, rule->dst, (axis->taps + 1) * (channels + 1) + 1))
            *memory = sn_allocate(size * sizeof(float), SN_ALIGN);
        if (*memory) {
            sn_32f * weight = *memory, * lane = weight + weights;
            uint32_t * kept = (uint32_t *)(lane + lanes * axis->taps);
            int32_t * at = (int32_t *)(kept + rule->dst);
            axis->weight = weight, axis->lane = lane, axis->at = at;
            set_weights(rule, axis, weight, &line);
            set_elements(axis, channels, at, lane);
            axis->begin = memcpy(kept, begin, rule->dst * sizeof(*begin));
            if (channels == 1)
                find_pairs(axis);
        }
    }
    sn_free(begin);
    sn_free(values);
    return *memory != NULL;
}

bool sn_resize_init(struct sn_resize * r, const struct sn_resize_rule * x, const struct sn_resize_rule * y)
{
    const size_t few = r->channels < SN_RESIZE_WIDE ? r->channels : 0;
    return make_axis(x, few, &r->x, &r->memory[0]) && make_axis(y, 0, &r->y, &r->memory[1]);
}

void sn_resize_free(struct sn_resize * r)
{
    sn_free(r->memory[0]);
    sn_free(r->memory[1]);
}
