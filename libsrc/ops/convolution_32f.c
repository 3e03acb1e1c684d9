#include "ops/convolution_32f.h"

#include <string.h>

#include "core/memory.h"

size_t sn_activation_params(SimdConvolutionActivationType activation, size_t channels)
{
    switch (activation) {
    case SimdConvolutionActivationIdentity:
    case SimdConvolutionActivationRelu: return 0;
    case SimdConvolutionActivationLeakyRelu:
    case SimdConvolutionActivationElu: return 1;
    case SimdConvolutionActivationRestrictRange:
    case SimdConvolutionActivationHswish: return 2;
    case SimdConvolutionActivationPrelu: return channels;
    }
    return 0;
}

/* ---- the way of `base`: the loops of the formula, weights and parameters as the caller gave them */

static bool base_takes(const struct sn_convolution_32f * c)
{
    (void)c;
    return true;
}

static bool base_plan(struct sn_convolution_32f * c)
{
    const SimdConvolutionParameters * p = &c->p;
    c->channels = p->dstC;
    return sn_product(&c->weightSize, p->dstC, p->srcC / p->group, p->kernelY, p->kernelX);
}

static void base_pack(const struct sn_convolution_32f * c, const float * weight, float * packed)
{
    if (c->weightSize)
        memcpy(packed, weight, c->weightSize * sizeof(float));
}

static void base_spread(const struct sn_convolution_32f * c, const float * values, float * spread)
{
    memcpy(spread, values, c->channels * sizeof(float));
}

static void base_forward(const struct sn_convolution_32f * c, const float * src, float * work, float * dst)
{
    (void)work;
    const float * params = c->slope ? c->slope : c->param;
    for (size_t b = 0; b < c->batch; ++b)
        c->table->convolution_32f(&c->p, c->weight, c->bias, params, src + b * c->srcSize, dst + b * c->dstSize);
}

static const struct sn_convolution_32f_way base_way = {
    "base", base_takes, base_plan, base_pack, base_spread, base_forward};

/* ---- the plan */

/* In order of preference; the last takes everything. */
static const struct sn_convolution_32f_way * const ways[] = {&base_way};

bool sn_convolution_32f_plan(struct sn_convolution_32f * c)
{
    const SimdConvolutionParameters * p = &c->p;
    size_t all, weights;
    if (!sn_product(&c->srcSize, p->srcC, p->srcH, p->srcW) || !sn_product(&all, c->batch, p->srcC, p->srcH, p->srcW) ||
        !sn_product(&c->dstSize, p->dstC, p->dstH, p->dstW) || !sn_product(&all, c->batch, p->dstC, p->dstH, p->dstW) ||
        !sn_product(&weights, p->dstC, p->srcC / p->group, p->kernelY, p->kernelX))
        return false;
    size_t i = 0;
    while (!ways[i]->takes(c))
        ++i;
    c->way = ways[i];
    return c->way->plan(c);
}

/* ---- weights, bias and parameters */

static bool has_slope(const struct sn_convolution_32f * c)
{
    return c->p.activation == SimdConvolutionActivationPrelu || c->p.activation == SimdConvolutionActivationLeakyRelu;
}

bool sn_convolution_32f_set(struct sn_convolution_32f * c, const float * weight, const float * bias, const float * params)
{
    if (!c->held) {
        const size_t size = c->weightSize + c->channels * (has_slope(c) ? 2 : 1);
        c->held = sn_allocate(sn_max(size, 1) * sizeof(float), SN_ALIGN);
        if (!c->held)
            return false;
        c->heldSize = size;
    }
    memset(c->held, 0, c->heldSize * sizeof(float));
    float * next = c->held;
    c->way->pack(c, weight, next);
    c->weight = next;
    next += c->weightSize;
    if (bias)
        c->way->spread(c, bias, next);
    c->bias = next;
    next += c->channels;
    if (c->p.activation == SimdConvolutionActivationPrelu)
        c->way->spread(c, params, next);
    else if (has_slope(c))
        for (size_t i = 0; i < c->channels; ++i)
            next[i] = params[0];
    else
        for (size_t i = 0; i < sn_activation_params(c->p.activation, c->p.dstC); ++i)
            c->param[i] = params[i];
    c->slope = has_slope(c) ? next : NULL;
    return true;
}

void sn_convolution_32f_forward(const struct sn_convolution_32f * c, const float * src, float * work, float * dst)
{
    c->way->forward(c, src, work, dst);
}
