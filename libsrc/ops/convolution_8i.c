#include "ops/convolution_8i.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/numeric.h"
#include "ops/convolution_32f.h"

/* ---- the way of `base`: the loops of the formula, everything as the caller gave it */

static bool base_plan(struct sn_convolution_8i * c)
{
    c->channels = c->p.dstC;
    c->group = c->p.dstC / c->p.group;
    c->weightBytes = c->weightCount;
    return true;
}

static void base_pack(const struct sn_convolution_8i * c, const int8_t * weight)
{
    memcpy(c->weight, weight, c->weightCount);
}

static void base_forward(const struct sn_convolution_8i * c, const uint8_t * src, uint8_t * work, uint8_t * dst)
{
    (void)work;
    const struct sn_quantised_8i q = {c->weight, c->norm, c->bias, c->srcScale, c->dstScale, c->srcZero, c->dstZero,
        c->given};
    for (size_t b = 0; b < c->batch; ++b)
        c->table->convolution_8i(&c->p, &q, src + b * c->srcBytes, dst + b * c->dstBytes);
}

const struct sn_convolution_8i_way sn_convolution_8i_base = {"base", false, base_plan, base_pack, base_forward};

/* ---- the plan */


bool sn_convolution_8i_plan(struct sn_convolution_8i * c)
{
    const SimdConvolutionParameters * p = &c->p;
    size_t all;
    c->srcElement = p->srcT == SimdTensorData8u ? 1 : sizeof(float);
    c->dstElement = p->dstT == SimdTensorData8u ? 1 : sizeof(float);
    if (!sn_product(&c->srcBytes, c->srcElement, p->srcC, p->srcH, p->srcW) ||
        !sn_product(&all, c->batch, p->srcC, p->srcH, p->srcW) ||
        !sn_product(&c->dstBytes, c->dstElement, p->dstC, p->dstH, p->dstW) ||
        !sn_product(&all, c->batch, p->dstC, p->dstH, p->dstW) ||
        !sn_product(&c->weightCount, p->dstC, p->srcC / p->group, p->kernelY, p->kernelX))
        return false;
    const bool depthwise = p->group == p->srcC && p->group == p->dstC;
    c->way = !c->table->gemm_8i.run ? &sn_convolution_8i_base
             : depthwise            ? &sn_convolution_8i_depthwise
                                    : &sn_convolution_8i_tiled;
    return c->way->plan(c);
}

/* ---- what becomes of statistics and weights; the formulas are in include/simdnet.h */

/* Scales of a tensor; its zero. */
static float scales(const float * min, const float * max, size_t channels, float * scale)
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
static struct filter filter(const struct sn_convolution_8i * c, const float * weight, float bias, size_t o, int8_t * weight8,
                            struct sn_fault_8i * fault)
{
    const SimdConvolutionParameters * p = &c->p;
    const size_t inputs = p->srcC / p->group, first = o / (p->dstC / p->group) * inputs, taps = p->kernelY * p->kernelX;
    const float * scale = c->srcScale + first;
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
    f.b = bias - (float)((int64_t)c->srcZero * f.sum) / ws;
    if (!isfinite(f.norm) || !isfinite(f.b))
        *fault = (struct sn_fault_8i){"weight of output channel", o, most, "smaller numbers: norm or b is not finite",
            false};
    return f;
}

/* The byte of a limit, as results are rounded. */
static uint8_t byte_of(float v, float scale, float zero) { return sn_32f_to_8u(v * scale + zero, 255); }

/* The limits of bytes of channel o that stand for the activation. */
static void limit(struct sn_convolution_8i * c, size_t o, const float * params)
{
    const float zero = c->dstZero, scale = c->dstScale[o];
    c->low[o] = 0;
    c->high[o] = 255;
    if (c->p.activation == SimdConvolutionActivationRelu)
        c->low[o] = byte_of(0, scale, zero);
    if (c->p.activation == SimdConvolutionActivationRestrictRange) {
        c->low[o] = isnan(params[0]) ? 0 : byte_of(params[0], scale, zero);
        c->high[o] = isnan(params[1]) ? 255 : byte_of(params[1], scale, zero);
    }
}

/* All filters into c, spread, and into weight8 in the caller's layout. */
static struct sn_fault_8i quantise(struct sn_convolution_8i * c, const float * weight, const float * bias,
                                   const float * params, const float * const * stats, float * scale, int8_t * weight8)
{
    struct sn_fault_8i fault = {NULL, 0, 0, NULL, false};
    c->srcZero = scales(stats[0], stats[1], c->p.srcC, c->srcScale);
    c->dstZero = scales(stats[2], stats[3], c->p.dstC, scale);
    c->tame = true;
    for (size_t o = 0; o < c->p.dstC && !fault.name; ++o) {
        const size_t to = sn_spread_8i(c, o);
        const struct filter f = filter(c, weight, bias ? bias[o] : 0, o, weight8, &fault);
        c->norm[to] = f.norm;
        c->bias[to] = f.b;
        c->dstScale[to] = scale[o];
        c->start[to] = (int32_t)(uint32_t)(f.sum * 128);
        limit(c, to, params);
        const double most = 255.0 * (double)f.magnitude * (double)f.norm + fabs((double)f.b);
        c->tame &= f.magnitude <= INT32_MAX / 255 && most * (double)scale[o] < 1e9;
    }
    return fault;
}

/* ---- memory: one block, laid out in the order of the widths of what it holds */

static bool has_slope(const struct sn_convolution_8i * c)
{
    return c->p.activation == SimdConvolutionActivationPrelu || c->p.activation == SimdConvolutionActivationLeakyRelu;
}

static void * take(uintptr_t * at, size_t bytes)
{
    void * here = (void *)*at;
    *at += sn_align(bytes, SN_ALIGN);
    return here;
}

/* Lays the arrays out from the address `at` on; the end of them. */
static uintptr_t lay_out(struct sn_convolution_8i * c, uintptr_t at)
{
    const size_t floats = c->channels * sizeof(float);
    c->segment = take(&at, c->segments * sizeof(size_t));
    c->weight = take(&at, c->weightBytes);
    c->start = take(&at, floats);
    c->norm = take(&at, floats);
    c->bias = take(&at, floats);
    c->slope = has_slope(c) ? take(&at, floats) : NULL;
    c->dstScale = take(&at, floats);
    c->srcScale = take(&at, c->p.srcC * sizeof(float));
    c->low = take(&at, c->channels + SN_ALIGN); /* these are read by vectors of bytes */
    c->high = take(&at, c->channels + SN_ALIGN);
    c->given = take(&at, sn_activation_params(c->p.activation, c->p.dstC) * sizeof(float));
    return at;
}

static bool allocate(struct sn_convolution_8i * c)
{
    size_t bytes;
    if (!sn_product(&bytes, c->channels, 6 * sizeof(float)) || !sn_product(&bytes, c->p.srcC, sizeof(float)))
        return false;
    c->heldBytes = lay_out(c, 0);
    c->held = sn_allocate(sn_max(c->heldBytes, 1), SN_ALIGN);
    if (!c->held)
        return false;
    memset(c->held, 0, c->heldBytes);
    lay_out(c, (uintptr_t)c->held);
    return true;
}

static void set_params(struct sn_convolution_8i * c, const float * params)
{
    const size_t count = sn_activation_params(c->p.activation, c->p.dstC);
    for (size_t i = 0; i < count; ++i)
        c->given[i] = params[i];
    if (c->p.activation == SimdConvolutionActivationPrelu)
        for (size_t o = 0; o < c->p.dstC; ++o)
            c->slope[sn_spread_8i(c, o)] = params[o];
    else if (has_slope(c))
        for (size_t i = 0; i < c->channels; ++i)
            c->slope[i] = params[0];
    else
        for (size_t i = 0; i < count; ++i)
            c->param[i] = params[i];
}

static struct sn_fault_8i fault_of_stats(const struct sn_convolution_8i * c, const float * const * stats)
{
    static const char * const names[] = {"stats[0] of channel", "stats[1] of channel", "stats[2] of channel",
                                         "stats[3] of channel"};
    for (size_t t = 0; t < 4; ++t)
        for (size_t i = 0; i < (t < 2 ? c->p.srcC : c->p.dstC); ++i) {
            if (!isfinite(stats[t][i]))
                return (struct sn_fault_8i){names[t], i, stats[t][i], "a finite number", false};
            if (t % 2 && stats[t - 1][i] > stats[t][i])
                return (struct sn_fault_8i){names[t - 1], i, stats[t - 1][i], "at most the maximum", false};
        }
    return (struct sn_fault_8i){NULL, 0, 0, NULL, false};
}

struct sn_fault_8i sn_convolution_8i_set(struct sn_convolution_8i * c, const float * weight, const float * bias,
                                         const float * params, const float * const * stats)
{
    struct sn_fault_8i fault = fault_of_stats(c, stats);
    if (fault.name)
        return fault;
    /* The plan that will be, so that a fault leaves the one that is; beside it what is of no use afterwards. */
    struct sn_convolution_8i next = *c;
    size_t scratch;
    float * scale = NULL;
    next.held = NULL;
    if (sn_product(&scratch, c->p.dstC, sizeof(float)))
        scale = sn_allocate(sn_max(scratch + c->weightCount, 1), SN_ALIGN);
    if (!scale || !allocate(&next)) {
        sn_free(scale);
        return (struct sn_fault_8i){NULL, 0, 0, NULL, true};
    }
    int8_t * weight8 = (int8_t *)(scale + c->p.dstC);
    memset(weight8, 0, c->weightCount);
    if (c->p.dstC) { /* of any number of groups */
        set_params(&next, params);
        fault = quantise(&next, weight, bias, params, stats, scale, weight8);
        if (!fault.name)
            next.way->pack(&next, weight8);
    }
    sn_free(scale);
    sn_free(fault.name ? next.held : c->held);
    if (!fault.name)
        *c = next;
    return fault;
}

void sn_convolution_8i_forward(const struct sn_convolution_8i * c, const uint8_t * src, uint8_t * work, uint8_t * dst)
{
    c->way->forward(c, src, work, dst);
}
