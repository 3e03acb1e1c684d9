#include "ops/convolution_32f.h"

#include <string.h>

#include "ops/pieces.h"
#include "runtime/keep.h"
#include "runtime/memory.h"

size_t sn_activation_params(enum sn_activation activation, size_t channels)
{
    switch (activation) {
    case SN_ACTIVATION_IDENTITY:
    case SN_ACTIVATION_RELU: return 0;
    case SN_ACTIVATION_LEAKY_RELU:
    case SN_ACTIVATION_ELU: return 1;
    case SN_ACTIVATION_RESTRICT_RANGE:
    case SN_ACTIVATION_HSWISH: return 2;
    case SN_ACTIVATION_PRELU: return channels;
    }
    return 0;
}

/* ---- the way of `base`: the loops of the formula, weights and parameters as the caller gave them */

bool sn_base_takes(const struct sn_convolution_32f * c) { return !c->table->gemm.tile_32f.run; }

bool sn_base_plan(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    c->channels = p->dstC;
    return sn_product(&c->weightSize, p->dstC, p->srcC / p->group, p->kernelY, p->kernelX);
}

void sn_base_pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    (void)segment;
    memcpy(packed, weight, c->weightSize * sizeof(float));
}

void sn_base_spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    memcpy(spread, values, c->channels * sizeof(float));
}

static void base_forward_add(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, const sn_32f * add,
                             sn_32f * dst)
{
    (void)work;
    const sn_32f * params = c->slope ? c->slope : c->param;
    for (size_t b = 0; b < c->batch; ++b)
        c->table->convolution_32f.plain(&c->p, c->weight, c->bias, params, src + b * c->srcSize,
                                        add ? add + b * c->dstSize : NULL, dst + b * c->dstSize);
}

static void base_forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    base_forward_add(c, src, work, NULL, dst);
}

const struct sn_convolution_32f_way sn_convolution_32f_base = {
    "base", false, sn_base_takes, sn_base_plan, sn_base_pack, sn_base_spread, base_forward, base_forward_add};

/* ---- the plan */

/* In order of preference; the last but one takes all NHWC, the last everything. */
static const struct sn_convolution_32f_way * const ways[] = {
    &sn_convolution_32f_base, &sn_convolution_32f_depthwise_sliced, &sn_convolution_32f_depthwise_nhwc,
    &sn_convolution_32f_depthwise_converted, &sn_convolution_32f_depthwise_nchw, &sn_convolution_32f_few_nhwc,
    &sn_convolution_32f_few_nchw, &sn_convolution_32f_winograd_2, &sn_convolution_32f_winograd_3,
    &sn_convolution_32f_winograd_4, &sn_convolution_32f_winograd_strided_2, &sn_convolution_32f_winograd_strided_4,
    &sn_convolution_32f_converted, &sn_convolution_32f_nhwc, &sn_convolution_32f_nchw};

/*
 * Where lines of the output have nothing to do with each other, as in a 1x1 convolution, the images of a batch are one of
 * many lines: small ones fill the tile then, and weights pass by once. 32 pixels of 1024 to 1000 channels are 2.8 times as
 * fast.
 */
static void join_batch(struct sn_convolution_32f * c)
{
    struct sn_convolution_parameters * p = &c->p;
    size_t lines;
    if (p->srcF != SN_NHWC || p->kernelY != 1 || p->strideY != 1 || p->padY || p->srcH != p->dstH ||
        !sn_product(&lines, c->batch, p->srcH))
        return;
    p->srcH = p->dstH = lines;
    c->batch = 1;
}

enum sn_error_kind sn_convolution_32f_plan(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    size_t all, weights;
    if (!c->way)
        join_batch(c);
    if (!sn_product(&c->srcSize, p->srcC, p->srcH, p->srcW) || !sn_product(&all, c->batch, p->srcC, p->srcH, p->srcW) ||
        !sn_product(&c->dstSize, p->dstC, p->dstH, p->dstW) || !sn_product(&all, c->batch, p->dstC, p->dstH, p->dstW) ||
        !sn_product(&weights, p->dstC, p->srcC / p->group, p->kernelY, p->kernelX))
        return SN_ERROR_VALUE;
    for (size_t i = 0; !c->way; ++i)
        c->way = ways[i]->takes(c) ? ways[i] : NULL;
    if (!c->way->plan(c))
        return SN_ERROR_VALUE;
    if (c->weightSize == 0) /* sums of nothing, or no sums: however large the kernel, it has no taps */
        c->segments = 0;
    return SN_ERROR_NONE;
}

/* ---- weights, bias and parameters */

static bool has_slope(const struct sn_convolution_32f * c)
{
    return c->p.activation == SN_ACTIVATION_PRELU || c->p.activation == SN_ACTIVATION_LEAKY_RELU;
}

/* The block that holds everything begins with the offsets, aligned as the floats behind them want it. */
static bool allocate(struct sn_convolution_32f * c)
{
    const size_t offsets = sn_align(c->segments * sizeof(size_t), SN_ALIGN) / sizeof(float);
    const size_t size = offsets + c->weightSize + c->channels * (has_slope(c) ? 2 : 1);
    c->held = sn_keep(sn_max(size, 1) * sizeof(float));
    if (!c->held)
        return false;
    c->heldSize = size;
    c->segment = c->held;
    c->weight = (sn_32f *)c->held + offsets;
    c->bias = c->weight + c->weightSize;
    c->slope = has_slope(c) ? c->bias + c->channels : NULL;
    return true;
}

bool sn_convolution_32f_set(struct sn_convolution_32f * c, const sn_32f * weight, const sn_32f * bias, const sn_32f * params)
{
    sn_32f * turned = NULL;
    if (c->turn && c->weightSize && !(turned = c->turn(c, weight)))
        return false;
    if (!c->held && !allocate(c)) {
        sn_free(turned);
        return false;
    }
    memset(c->held, 0, c->heldSize * sizeof(float));
    if (c->p.dstC == 0) /* of any number of groups */
        return true;
    if (c->weightSize)
        c->way->pack(c, turned ? turned : weight, (sn_32f *)c->weight, (size_t *)c->segment);
    sn_free(turned);
    if (bias)
        c->way->spread(c, bias, (sn_32f *)c->bias);
    sn_32f * slope = (sn_32f *)c->slope;
    if (c->p.activation == SN_ACTIVATION_PRELU)
        c->way->spread(c, params, slope);
    else if (slope)
        for (size_t i = 0; i < c->channels; ++i)
            slope[i] = params[0];
    else
        for (size_t i = 0; i < sn_activation_params(c->p.activation, c->p.dstC); ++i)
            c->param[i] = params[i];
    return true;
}

double sn_convolution_32f_cost(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (sn_threads() == 1)
        return 0; /* nobody asks, and small layers would notice */
    const double taps = (double)(p->kernelY * p->kernelX) * (double)(p->srcC / p->group);
    return (double)c->batch * (sn_cost_of_sums((double)c->dstSize * taps, c->table->alignment) +
                               sn_cost_of_bytes(4 * ((double)c->srcSize + (double)c->dstSize)));
}

void sn_convolution_32f_forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    c->way->forward(c, src, work, dst);
}

size_t sn_convolution_32f_held(const struct sn_convolution_32f * c)
{
    return c->held ? c->heldSize + sn_ceil_div(c->y.bytes + c->x.bytes, sizeof(float)) : 0;
}

void sn_convolution_32f_free(struct sn_convolution_32f * c)
{
    sn_drop(c->held);
    sn_free(c->y.phase);
    sn_free(c->x.phase);
}
