#include "ops/convolution_8i.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/convolution_32f.h"
#include "runtime/keep.h"
#include "runtime/memory.h"
#include "runtime/numeric.h"

/* ---- the way of `base`: the loops of the formula, everything as the caller gave it */

static bool base_plan(struct sn_convolution_dot * c)
{
    c->channels = c->p.dstC;
    c->group = c->p.dstC / c->p.group;
    c->weightBytes = c->weightCount;
    return true;
}

static void base_pack(const struct sn_convolution_dot * c, const void * weight)
{
    memcpy(c->weight, weight, c->weightCount);
}

static void base_forward(const struct sn_convolution_dot * c, const uint8_t * src, uint8_t * work, uint8_t * dst)
{
    (void)work;
    const struct sn_convolution_8i * own = (const struct sn_convolution_8i *)c;
    const struct sn_quantised_8i q = {c->weight, own->norm, own->bias, c->srcScale, own->dstScale, c->srcZero, own->dstZero,
        own->given};
    for (size_t b = 0; b < c->batch; ++b)
        c->table->convolution_8i.plain(&c->p, &q, src + b * c->srcBytes, dst + b * c->dstBytes);
}

const struct sn_convolution_dot_way sn_convolution_8i_base = {"base", false, base_plan, base_pack, base_forward};

/* ---- the plan */

struct sn_result_8i sn_result_8i_of(const struct sn_convolution_8i * c, size_t first)
{
    enum sn_activation activation = sn_dot_activation(&c->dot);
    const bool bytes = c->dot.p.dstT == SN_DATA_8U;
    if (bytes && (activation == SN_ACTIVATION_RELU || activation == SN_ACTIVATION_RESTRICT_RANGE))
        activation = SN_ACTIVATION_IDENTITY; /* low and high stand for them */
    return (struct sn_result_8i){.bytes = bytes, .bounded = c->bounded, .norm = c->norm + first, .bias = c->bias + first,
        .scale = c->dstScale + first, .zero = c->dstZero, .low = c->low + first, .high = c->high + first,
        .activation = activation, .slope = c->dot.slope ? c->dot.slope + first : NULL,
        .param = {c->dot.param[0], c->dot.param[1]}};
}

static void result(const struct sn_convolution_dot * c, size_t first, union sn_dot_result * to)
{
    to->as_8i = sn_result_8i_of((const struct sn_convolution_8i *)c, first);
}

bool sn_convolution_8i_plan(struct sn_convolution_dot * c)
{
    static const struct sn_convolution_dot_family family = {1, 1, false, result};
    const struct sn_convolution_parameters * p = &c->p;
    const bool depthwise = p->group == p->srcC && p->group == p->dstC;
    c->family = &family;
    c->tile = &c->table->convolution_8i.tile;
    c->pixels = c->table->convolution_8i.pixels;
    c->planes = c->table->convolution_8i.planes;
    c->way = !c->tile->run ? &sn_convolution_8i_base
             : depthwise   ? &sn_convolution_8i_depthwise
                           : &sn_convolution_dot_tiled;
    return sn_convolution_dot_plan(c);
}

/* ---- what becomes of statistics and weights; the formulas are in include/simdnet.h */

/* Scales of a tensor; its zero. */
static float scales(const sn_32f * min, const sn_32f * max, size_t channels, sn_32f * scale)
{
    bool neg = false;
    for (size_t i = 0; i < channels; ++i)
        neg |= min[i] < 0;
    for (size_t i = 0; i < channels; ++i) {
        const float low = fabsf(min[i]), high = fabsf(max[i]);
        const float inv = (low > high ? low : high) / (neg ? 127.0f : 255.0f);
        scale[i] = 1 / (inv < 1e-7f ? 1 : inv);
    }
    return neg ? 128 : 0;
}

/* Nearest integer within -128 .. 127; 0 of a NaN. */
static int8_t nearest_8i(float t)
{
    if (!(t > -128))
        return t <= -128 ? -128 : 0;
    return (int8_t)lrintf(t < 127 ? t : 127);
}

/* What one filter comes to. */
struct filter {
    float norm, b;
    int64_t sum, magnitude; /* of its w8, and of their absolute values */
};

/* The filter of output channel o; what is not finite about it is `fault`. */
static struct filter filter(const struct sn_convolution_8i * c, const sn_32f * weight, float bias, size_t o,
                            int8_t * weight8, struct sn_fault_8i * fault)
{
    const struct sn_convolution_parameters * p = &c->dot.p;
    const size_t inputs = p->srcC / p->group, first = o / (p->dstC / p->group) * inputs, taps = p->kernelY * p->kernelX;
    const sn_32f * scale = c->dot.srcScale + first;
    struct filter f = {0, bias, 0, 0};
    float most = 0;
    if (!isfinite(bias))
        *fault = (struct sn_fault_8i){"bias of output channel", o, bias, "a finite number", false};
    for (size_t i = 0; i < inputs; ++i)
        for (size_t t = 0; t < taps; ++t) {
            const float n = fabsf(weight[sn_weight_at(p, o, i, 0, t)] / scale[i]);
            if (!isfinite(n))
                *fault = (struct sn_fault_8i){"weight of output channel", o, n, "finite numbers, also once scaled", false};
            most = n > most ? n : most;
        }
    if (most == 0 || fault->name)
        return f;
    const float ws = 127 / most;
    for (size_t i = 0; i < inputs; ++i)
        for (size_t t = 0; t < taps; ++t) {
            const size_t at = sn_weight_at(p, o, i, 0, t);
            weight8[at] = nearest_8i(weight[at] / scale[i] * ws);
            f.sum += weight8[at];
            f.magnitude += abs(weight8[at]);
        }
    f.norm = 1 / ws;
    f.b = bias - (float)((int64_t)c->dot.srcZero * f.sum) / ws;
    if (!isfinite(f.norm) || !isfinite(f.b))
        *fault = (struct sn_fault_8i){"weight of output channel", o, most, "smaller numbers: norm or b is not finite",
            false};
    return f;
}

/* The byte of a limit, as results are rounded. */
static uint8_t byte_of(float v, float scale, float zero) { return sn_32f_to_8u(v * scale + zero, 255); }

/* The limits of bytes of channel o that stand for the activation. */
static void limit(struct sn_convolution_8i * c, size_t o, const sn_32f * params)
{
    const float zero = c->dstZero, scale = c->dstScale[o];
    c->low[o] = 0;
    c->high[o] = 255;
    if (c->dot.p.activation == SN_ACTIVATION_RELU)
        c->low[o] = byte_of(0, scale, zero);
    if (c->dot.p.activation == SN_ACTIVATION_RESTRICT_RANGE) {
        c->low[o] = isnan(params[0]) ? 0 : byte_of(params[0], scale, zero);
        c->high[o] = isnan(params[1]) ? 255 : byte_of(params[1], scale, zero);
    }
}

/* All filters into c, spread, and into weight8 in the caller's layout. */
static struct sn_fault_8i quantise(struct sn_convolution_8i * c, const sn_32f * weight, const sn_32f * bias,
                                   const sn_32f * params, const sn_32f * const * stats, sn_32f * scale, int8_t * weight8)
{
    struct sn_fault_8i fault = {NULL, 0, 0, NULL, false};
    c->dot.srcZero = scales(stats[0], stats[1], c->dot.p.srcC, c->dot.srcScale);
    c->dstZero = scales(stats[2], stats[3], c->dot.p.dstC, scale);
    c->bounded = true;
    int32_t * start = c->dot.start;
    for (size_t o = 0; o < c->dot.p.dstC && !fault.name; ++o) {
        const size_t to = sn_dot_spread(&c->dot, o);
        const struct filter f = filter(c, weight, bias ? bias[o] : 0, o, weight8, &fault);
        c->norm[to] = f.norm;
        c->bias[to] = f.b;
        c->dstScale[to] = scale[o];
        start[to] = c->dot.tile->biased ? (int32_t)(uint32_t)(f.sum * 128) : 0;
        limit(c, to, params);
        const double most = 255.0 * (double)f.magnitude * (double)f.norm + fabs((double)f.b);
        c->bounded &= f.magnitude <= INT32_MAX / 255 && most * (double)scale[o] < 1e9;
    }
    return fault;
}

/* ---- memory */

static uintptr_t lay_out(struct sn_convolution_dot * c, uintptr_t at)
{
    struct sn_convolution_8i * own = (struct sn_convolution_8i *)c;
    const size_t floats = c->channels * sizeof(float);
    at = sn_dot_lay_out(c, at);
    own->norm = sn_dot_take(&at, floats);
    own->bias = sn_dot_take(&at, floats);
    own->dstScale = sn_dot_take(&at, floats);
    c->srcScale = sn_dot_take(&at, c->p.srcC * sizeof(float));
    own->low = sn_dot_take(&at, c->channels); /* these are read by vectors of bytes, also beyond their ends */
    own->high = sn_dot_take(&at, c->channels + SN_ALIGN);
    own->given = sn_dot_take(&at, sn_activation_params(c->p.activation, c->p.dstC) * sizeof(float));
    return at;
}

static void set_params(struct sn_convolution_8i * c, const sn_32f * params)
{
    sn_convolution_dot_params(&c->dot, params);
    for (size_t i = 0; i < sn_activation_params(c->dot.p.activation, c->dot.p.dstC); ++i)
        c->given[i] = params[i];
}

static struct sn_fault_8i fault_of_stats(const struct sn_convolution_8i * c, const sn_32f * const * stats)
{
    static const char * const names[] = {"stats[0] of channel", "stats[1] of channel", "stats[2] of channel",
                                         "stats[3] of channel"};
    for (size_t t = 0; t < 4; ++t)
        for (size_t i = 0; i < (t < 2 ? c->dot.p.srcC : c->dot.p.dstC); ++i) {
            if (!isfinite(stats[t][i]))
                return (struct sn_fault_8i){names[t], i, stats[t][i], "a finite number", false};
            if (t % 2 && stats[t - 1][i] > stats[t][i])
                return (struct sn_fault_8i){names[t - 1], i, stats[t - 1][i], "at most the maximum", false};
        }
    return (struct sn_fault_8i){NULL, 0, 0, NULL, false};
}

struct sn_fault_8i sn_convolution_8i_set(struct sn_convolution_8i * c, const sn_32f * weight, const sn_32f * bias,
                                         const sn_32f * params, const sn_32f * const * stats)
{
    struct sn_fault_8i fault = fault_of_stats(c, stats);
    if (fault.name)
        return fault;
    /* The plan that will be, so that a fault leaves the one that is; beside it what is of no use afterwards. */
    struct sn_convolution_8i next = *c;
    size_t scratch;
    sn_32f * scale = NULL;
    next.dot.held = NULL;
    if (sn_product(&scratch, c->dot.p.dstC, sizeof(float)))
        scale = sn_allocate(sn_max(scratch + c->dot.weightCount, 1), SN_ALIGN);
    if (!scale || !sn_convolution_dot_hold(&next.dot, lay_out)) {
        sn_free(scale);
        return (struct sn_fault_8i){NULL, 0, 0, NULL, true};
    }
    int8_t * weight8 = (int8_t *)(scale + c->dot.p.dstC);
    memset(weight8, 0, c->dot.weightCount);
    if (c->dot.p.dstC) { /* of any number of groups */
        set_params(&next, params);
        fault = quantise(&next, weight, bias, params, stats, scale, weight8);
        if (!fault.name)
            next.dot.way->pack(&next.dot, weight8);
    }
    sn_free(scale);
    sn_drop(fault.name ? next.dot.held : c->dot.held);
    if (!fault.name)
        *c = next;
    return fault;
}
