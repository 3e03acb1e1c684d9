/* Which algorithm computes a quantised convolution; `base`; and what the others share: scales, sums and weights as they need them. */
#include "ops/convolution/8i.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/bytes/statistics.h"
#include "runtime/numeric.h"

struct quantised {
    struct sn_dot_family dot;
    sn_32f * norm, * bias; /* in `packed`, like the following arrays */
    sn_32f * dstScale;
    uint8_t * low, * high;
    sn_32f * given;        /* the caller's parameters of the activation */
    float dstZero;
    bool bounded;          /* see struct sn_result_8i */
};
SN_FITS_FAMILY_DATA(struct quantised);

static const struct quantised * data_of(const struct sn_convolution * c) { return (const void *)c->familyData; }

/* ---- `base`: the loops of the formula, with all arrays in the caller's layout */

bool sn_base_8i_plan(struct sn_convolution * c)
{
    sn_channels_plain(c);
    c->weightSize = sn_weight_count(c);
    return true;
}

void sn_base_8i_pack(const struct sn_convolution * c, const void * weight) { memcpy(c->weight, weight, c->weightSize); }

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct quantised * o = data_of(c);
    const struct sn_quantised_8i q = {c->weight, o->norm, o->bias, o->dot.srcScale, o->dstScale, o->dot.srcZero, o->dstZero,
        o->given};
    for (size_t b = 0; b < c->batch; ++b) {
        const struct sn_plain image = sn_plain_of(a, b);
        c->table->convolution_8i.plain(&c->p, &q, &image);
    }
}

const struct sn_convolution_algorithm sn_convolution_8i_base = {.name = "base", .supports = sn_dot_base_supports,
    .plan = sn_base_8i_plan, .pack = sn_base_8i_pack, .forward = forward};

/* ---- results */

static void result(const struct sn_convolution * c, size_t first, union sn_dot_result * to)
{
    const struct quantised * q = data_of(c);
    enum sn_activation activation = sn_activation_of(c);
    const bool bytes = c->p.dstT == SN_DATA_8U;
    if (bytes && (activation == SN_ACTIVATION_RELU || activation == SN_ACTIVATION_RESTRICT_RANGE))
        activation = SN_ACTIVATION_IDENTITY; /* `low` and `high` implement these activations */
    to->as_8i = (struct sn_result_8i){.bytes = bytes, .bounded = q->bounded, .norm = q->norm + first,
        .bias = q->bias + first, .scale = q->dstScale + first, .zero = q->dstZero, .low = q->low + first,
        .high = q->high + first, .activation = activation, .slope = c->slope ? c->slope + first : NULL,
        .param = {c->param[0], c->param[1]}};
}

/* ---- conversion of statistics and weights; the formulas are in include/simdnet.h */

/* Computes the scales of a tensor; returns its zero point. */
static float scales(const sn_32f * min, const sn_32f * max, size_t channels, sn_32f * scale)
{
    const float zero = sn_steps(min, max, channels, scale);
    for (size_t i = 0; i < channels; ++i)
        scale[i] = 1 / scale[i];
    return zero;
}

/* Nearest integer, limited to -128 .. 127; 0 for NaN. */
static int8_t nearest_8i(float t)
{
    if (!(t > -128))
        return t <= -128 ? -128 : 0;
    return (int8_t)lrintf(t < 127 ? t : 127);
}

/* Values computed from one filter. */
struct filter {
    float norm, b;
    int64_t sum, magnitude; /* sums of its quantised weights, and of their absolute values */
    int64_t padded;         /* the sum of those that see only padding, which are left out */
};

/* The shape with the kernel that the caller gave. */
struct sn_convolution_parameters sn_given_shape(const struct sn_convolution * c)
{
    struct sn_convolution_parameters p = c->p;
    p.kernelY = sn_given_y(c), p.kernelX = sn_given_x(c);
    return p;
}

/* Whether tap t of the given kernel is used. */
bool sn_is_used(const struct sn_convolution * c, size_t t)
{
    const size_t y = t / sn_given_x(c) - c->crop.y, x = t % sn_given_x(c) - c->crop.x; /* wrap to huge values */
    return y < sn_used_y(c) && x < sn_used_x(c);
}

int32_t sn_start_8i(const struct sn_convolution * c, int64_t sum, int64_t padded)
{
    const bool biased = sn_dot_of(c)->tile->biased && c->algorithm != &sn_convolution_8i_depthwise;
    return (int32_t)(uint32_t)((biased ? (sum - padded) * 128 : 0) + (int64_t)sn_dot_of(c)->srcZero * padded);
}

/* Quantises the filter of output channel o; a value that is not finite is reported in *fault. */
static struct filter filter(const struct sn_convolution * c, const sn_32f * weight, float bias, size_t o,
                            int8_t * weight8, struct sn_fault * fault)
{
    const struct sn_convolution_parameters p = sn_given_shape(c);
    const size_t inputs = p.srcC / p.group, first = o / (p.dstC / p.group) * inputs, taps = p.kernelY * p.kernelX;
    const sn_32f * scale = sn_dot_of(c)->srcScale + first;
    struct filter f = {0, bias, 0, 0, 0};
    float most = 0;
    if (!isfinite(bias))
        *fault = (struct sn_fault){"bias of output channel", o, bias, "a finite number", false};
    for (size_t i = 0; i < inputs; ++i)
        for (size_t t = 0; t < taps; ++t) {
            const float n = fabsf(weight[sn_weight_at(c->format, &p, o, i, t)] / scale[i]);
            if (!isfinite(n))
                *fault = (struct sn_fault){"weight of output channel", o, n, "finite numbers, also once scaled", false};
            most = n > most ? n : most;
        }
    if (most == 0 || fault->name)
        return f;
    const float ws = 127 / most;
    for (size_t i = 0; i < inputs; ++i)
        for (size_t t = 0; t < taps; ++t) {
            const size_t at = sn_weight_at(c->format, &p, o, i, t);
            weight8[at] = nearest_8i(weight[at] / scale[i] * ws);
            f.sum += weight8[at];
            f.magnitude += abs(weight8[at]);
            f.padded += sn_is_used(c, t) ? 0 : weight8[at];
        }
    f.norm = 1 / ws;
    f.b = bias - (float)((int64_t)sn_dot_of(c)->srcZero * f.sum) / ws;
    if (!isfinite(f.norm) || !isfinite(f.b))
        *fault = (struct sn_fault){"weight of output channel", o, most, "smaller numbers: norm or b is not finite",
            false};
    return f;
}

/* A limit as a byte, rounded like results. */
static uint8_t byte_of(float v, float scale, float zero) { return sn_32f_to_8u(v * scale + zero, 255); }

/* Sets the limits of bytes of channel o, which implement the activation. */
static void limit(const struct sn_convolution * c, size_t o, const sn_32f * params)
{
    const struct quantised * q = data_of(c);
    const float zero = q->dstZero, scale = q->dstScale[o];
    q->low[o] = 0;
    q->high[o] = 255;
    if (c->p.activation == SN_ACTIVATION_RELU)
        q->low[o] = byte_of(0, scale, zero);
    if (c->p.activation == SN_ACTIVATION_RESTRICT_RANGE) {
        q->low[o] = isnan(params[0]) ? 0 : byte_of(params[0], scale, zero);
        q->high[o] = isnan(params[1]) ? 255 : byte_of(params[1], scale, zero);
    }
}

/* Quantises all filters into the arrays of c, and into weight8 in the caller's layout; scale: one float for each output. */
static void quantise(struct sn_convolution * c, const struct sn_set_params * given, sn_32f * scale, int8_t * weight8,
                     struct sn_fault * fault)
{
    struct quantised * q = (void *)c->familyData;
    const sn_32f * const * stats = given->stats;
    int32_t * start = (int32_t *)(void *)c->bias;
    q->dot.srcZero = scales(stats[0], stats[1], c->p.srcC, q->dot.srcScale);
    q->dstZero = stats[2] ? scales(stats[2], stats[3], c->p.dstC, scale) : 0;
    for (size_t o = 0; o < c->p.dstC && !stats[2]; ++o)
        scale[o] = 1;
    q->bounded = true;
    for (size_t o = 0; o < c->p.dstC && !fault->name; ++o) {
        const size_t to = sn_channel_index(c, o);
        const struct filter f = filter(c, given->weight, given->bias ? given->bias[o] : 0, o, weight8, fault);
        q->norm[to] = f.norm;
        q->bias[to] = f.b;
        q->dstScale[to] = scale[o];
        start[to] = sn_start_8i(c, f.sum, f.padded);
        limit(c, to, given->params);
        const double most = 255.0 * (double)f.magnitude * (double)f.norm + fabs((double)f.b);
        q->bounded &= f.magnitude <= INT32_MAX / 255 && most * (double)scale[o] < 1e9;
    }
}

/* ---- the family */

struct sn_tile_shape sn_tile_8i(const struct sn_table * table)
{
    return (struct sn_tile_shape){table->convolution_8i.tile.rows, table->convolution_8i.tile.columns};
}

static enum sn_error_kind prepare(struct sn_convolution * c)
{
    const struct sn_convolution_8i_slots * slots = &c->table->convolution_8i;
    struct quantised * q = (void *)c->familyData;
    *q = (struct quantised){.dot = {.tile = &slots->tile, .pixels = slots->pixels, .planes = slots->planes,
        .result = result}};
    return SN_ERROR_NONE;
}

static uintptr_t layout_arrays(struct sn_convolution * c, uintptr_t at)
{
    struct quantised * q = (void *)c->familyData;
    const size_t floats = c->channels * sizeof(float);
    q->norm = sn_layout_array(&at, floats, SN_ALIGN);
    q->bias = sn_layout_array(&at, floats, SN_ALIGN);
    q->dstScale = sn_layout_array(&at, floats, SN_ALIGN);
    q->dot.srcScale = sn_layout_array(&at, c->p.srcC * sizeof(float), SN_ALIGN);
    q->low = sn_layout_array(&at, c->channels, SN_ALIGN); /* these are read in vectors of bytes, also beyond their ends */
    q->high = sn_layout_array(&at, c->channels + SN_ALIGN, SN_ALIGN);
    q->given = sn_layout_array(&at, sn_activation_params(c->p.activation, c->p.dstC) * sizeof(float), SN_ALIGN);
    return at;
}

static void numbers_of(const struct sn_convolution * c, struct sn_family_numbers * to)
{
    const struct quantised * q = data_of(c);
    *to = (struct sn_family_numbers){.value = {q->dot.srcZero, q->dstZero}, .flag = {q->bounded}};
}

static void set_numbers(struct sn_convolution * c, const struct sn_family_numbers * from)
{
    struct quantised * q = (void *)c->familyData;
    q->dot.srcZero = from->value[0], q->dstZero = from->value[1];
    q->bounded = from->flag[0] != 0;
}

static struct sn_fault fault_of_stats(const struct sn_convolution * c, const sn_32f * const * stats)
{
    static const char * const names[] = {"stats[0] of channel", "stats[1] of channel", "stats[2] of channel",
                                         "stats[3] of channel"};
    for (size_t t = 0; t < 4; ++t)
        for (size_t i = 0; stats[t] && i < (t < 2 ? c->p.srcC : c->p.dstC); ++i) {
            if (!isfinite(stats[t][i]))
                return (struct sn_fault){names[t], i, stats[t][i], "a finite number", false};
            if (t % 2 && stats[t - 1][i] > stats[t][i])
                return (struct sn_fault){names[t - 1], i, stats[t - 1][i], "at most the maximum", false};
        }
    return (struct sn_fault){NULL, 0, 0, NULL, false};
}

/* Depthwise kernels by lines begin their sums with 0, and so cannot leave out taps that see only padding. */
void sn_convolution_8i_simplify(struct sn_convolution * c)
{
    if (!sn_is_depthwise(c)) {
        sn_convolution_crop(c);
        return;
    }
    struct sn_convolution cropped = *c;
    sn_convolution_crop_taps(&cropped);
    sn_convolution_simplify(&cropped);
    sn_convolution_simplify(c);
    if (c->table->convolution_8i.depthwise.run && !sn_depthwise_8i_by_lines(&cropped))
        *c = cropped;
}

size_t sn_given_weights(const struct sn_convolution * c)
{
    return c->p.dstC * sn_inputs(c) * sn_given_y(c) * sn_given_x(c);
}

/* A float for each output, then the weights as bytes, then those that are used unless all are. */
static size_t scratch_size(const struct sn_convolution * c)
{
    return c->p.dstC * sizeof(float) + sn_given_weights(c) + (c->crop.kernelY ? sn_weight_count(c) : 0);
}

static const void * set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                               struct sn_fault * fault)
{
    sn_32f * scale = scratch;
    int8_t * weight8 = (int8_t *)(scale + c->p.dstC);
    memset(weight8, 0, sn_given_weights(c));
    for (size_t i = 0; i < sn_activation_params(c->p.activation, c->p.dstC); ++i)
        data_of(c)->given[i] = given->params[i];
    *fault = fault_of_stats(c, given->stats);
    if (!fault->name)
        quantise(c, given, scale, weight8, fault);
    if (!c->crop.kernelY)
        return weight8;
    sn_convolution_copy_cropped(c, weight8, 1, weight8 + sn_given_weights(c));
    return weight8 + sn_given_weights(c);
}

static const struct sn_candidate candidates[] = {
    {SN_ALGORITHMS(&sn_convolution_8i_base), NULL},
    {SN_ALGORITHMS(&sn_convolution_8i_depthwise_32f), sn_depthwise_32f_preferred},
    {SN_ALGORITHMS(&sn_convolution_8i_flat), sn_flat_8i_preferred},
    {SN_ALGORITHMS(&sn_convolution_8i_depthwise), sn_depthwise_8i_preferred},
    {SN_ALGORITHMS(&sn_convolution_8i_winograd), sn_winograd_8i_preferred},
    {SN_ALGORITHMS(&sn_convolution_dot_tiled), NULL},
    {NULL, NULL},
};

const struct sn_convolution_family sn_convolution_8i = {.candidates = candidates, .smallType = SN_DATA_8U,
    .unit = 1, .units = "bytes", .align = SN_ALIGN, .prefix = "", .tile = sn_tile_8i,
    .simplify = sn_convolution_8i_simplify, .crops = true, .prepare = prepare, .scratch = scratch_size,
    .set_params = set_params, .layout_arrays = layout_arrays, .numbers = numbers_of, .set_numbers = set_numbers};
