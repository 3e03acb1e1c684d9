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

/*
 * Of positions by a given scale each result is rounded to float, as ONNX Runtime and PyTorch compute them: an error of a unit
 * decides which element is nearest. It is not on axes so long that float does not have all indices and halves.
 */
static double rounded(const struct sn_resize_rule * r, double x)
{
    const size_t most = (size_t)1 << 23;
    return r->scale == 0 || r->src > most || r->dst > most ? x : (double)(float)x;
}

/* The position of output i in the source. Without a scale the quotient of sizes is rounded once: whole positions are exact. */
static double position(const struct sn_resize_rule * r, size_t i)
{
    const double n = (double)r->src, m = (double)r->dst, x = (double)i, scale = r->scale;
    if (scale == 1)
        return x;
    if (r->coordinates == SN_RESIZE_ALIGN_CORNERS)
        return r->dst == 1 ? 0 : rounded(r, rounded(r, x * (n - 1)) / (m - 1));
    if (r->coordinates == SN_RESIZE_ASYMMETRIC)
        return rounded(r, scale != 0 ? x / scale : x * n / m);
    if (r->coordinates == SN_RESIZE_PYTORCH_HALF_PIXEL && r->dst == 1)
        return 0;
    const double half = scale != 0 ? (x + 0.5) / scale : (x + 0.5) * n / m;
    if (r->coordinates == SN_RESIZE_HALF_PIXEL_SYMMETRIC && scale != 0)
        return rounded(r, rounded(r, n / 2 * rounded(r, 1 - rounded(r, m / rounded(r, scale * n)))) + half - 0.5);
    return rounded(r, rounded(r, half) - 0.5);
}

static void nearest(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    const double x = position(r, i), half = r->scale != 0 ? 0.5 + 1e-6 : 0.5; /* also halves that were rounded */
    switch (r->rounding) {
    case SN_RESIZE_ROUND_PREFER_FLOOR: sn_resize_add(line, ceil(x - half), 1); break;
    case SN_RESIZE_ROUND_PREFER_CEIL: sn_resize_add(line, floor(x + half), 1); break;
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

/* Where the box of output i begins: it has 1 / scale elements, or as many as fill the image. */
static double box_begin(const struct sn_resize_rule * r, size_t i)
{
    return r->scale != 0 ? (double)i * (1 / r->scale) : (double)i * (double)r->src / (double)r->dst;
}

/* The part of each element that lies in the box of output i. */
static void area(const struct sn_resize_rule * r, size_t i, struct sn_resize_line * line)
{
    const double n = (double)r->src, begin = fmin(box_begin(r, i), n - 1), end = fmin(box_begin(r, i + 1), n);
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
    axis->doubles = rule->dst == 2 * rule->src;
    for (size_t i = 0; i < rule->dst; ++i) {
        take(rule, i, line);
        for (size_t t = 0; t < taps; ++t)
            weight[i * taps + t] = (float)line->value[axis->begin[i] + t];
        axis->copies = axis->copies && weight[i] == 1;
        axis->doubles = axis->doubles && axis->copies && axis->begin[i] == i / 2;
        clear(line);
    }
}

/* Vector v of the horizontal axis if pixels are not wide. */
static void set_vector(struct sn_resize_axis * x, size_t channels, size_t v, struct sn_resize_window * window,
                       int32_t * from, sn_32f * lane)
{
    const size_t lanes = x->lanes, all = x->dst * channels, size = x->src * channels, n = sn_min(all, lanes);
    const size_t first = sn_min(v * lanes, all - n);
    size_t begin = size - sn_min(size, lanes), end = 0;
    for (size_t e = first; e < first + n; ++e) {
        const size_t at = x->begin[e / channels] * channels + e % channels;
        begin = sn_min(begin, at);
        end = sn_max(end, at + (x->taps - 1) * channels + 1);
    }
    *window = (struct sn_resize_window){(uint32_t)begin, end - begin <= lanes};
    x->near = x->near && window->near;
    for (size_t l = 0; l < lanes; ++l) {
        const size_t e = first + sn_min(l, n - 1), i = e / channels;
        from[l] = (int32_t)(x->begin[i] * channels + e % channels - begin);
        for (size_t t = 0; t < x->taps; ++t)
            lane[t * x->vectors * lanes + l] = x->weight[i * x->taps + t];
    }
}

/* One axis, in one block of memory. If it is horizontal and pixels are not wide, they have `channels`, vectors `lanes`. */
static bool make_axis(const struct sn_resize_rule * rule, size_t channels, size_t lanes, struct sn_resize_axis * axis,
                      void ** memory)
{
    struct sn_resize_line line = {NULL, rule->src, 0, 0};
    size_t size;
    double * values = sn_allocate(rule->src * sizeof(*values), SN_ALIGN);
    uint32_t * begin = values ? sn_allocate(rule->dst * sizeof(*begin), SN_ALIGN) : NULL;
    *memory = NULL;
    *axis = (struct sn_resize_axis){.src = rule->src, .dst = rule->dst, .begin = begin, .lanes = lanes,
        .vectors = sn_ceil_div(rule->dst * channels, lanes), .near = channels > 0};
    if (begin) {
        memset(values, 0, rule->src * sizeof(*values));
        line.value = values;
        set_windows(rule, axis, begin, &line);
        const size_t vectors = axis->vectors, taps = axis->taps;
        if (sn_product(&size, rule->dst + vectors, (taps + 1) * (lanes + 1) + 2))
            *memory = sn_allocate(size * sizeof(float), SN_ALIGN);
        if (*memory) {
            sn_32f * lane = *memory, * weight = lane + vectors * lanes * taps;
            int32_t * from = (int32_t *)(weight + rule->dst * taps);
            struct sn_resize_window * window = (struct sn_resize_window *)(from + vectors * lanes);
            uint32_t * kept = (uint32_t *)(window + vectors);
            axis->weight = weight, axis->lane = lane, axis->from = from, axis->window = window;
            set_weights(rule, axis, weight, &line);
            for (size_t v = 0; v < vectors; ++v)
                set_vector(axis, channels, v, window + v, from + v * lanes, lane + v * lanes);
            axis->begin = memcpy(kept, begin, rule->dst * sizeof(*begin));
        }
    }
    sn_free(begin);
    sn_free(values);
    return *memory != NULL;
}

bool sn_resize_init(struct sn_resize * r, const struct sn_resize_rule * x, const struct sn_resize_rule * y)
{
    const size_t few = r->channels < SN_RESIZE_WIDE ? r->channels : 0;
    const size_t lanes = r->table->alignment / sizeof(float);
    return make_axis(x, few, lanes, &r->x, &r->memory[0]) && make_axis(y, 0, lanes, &r->y, &r->memory[1]);
}

void sn_resize_free(struct sn_resize * r)
{
    sn_free(r->memory[0]);
    sn_free(r->memory[1]);
}
