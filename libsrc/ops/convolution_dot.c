#include "ops/convolution_dot.h"

#include <string.h>

#include "ops/convolution_32f.h"
#include "runtime/keep.h"
#include "runtime/memory.h"

bool sn_convolution_dot_plan(struct sn_convolution_dot * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    size_t all;
    c->srcElement = p->srcT == SN_DATA_32F ? sizeof(float) : c->family->small;
    c->dstElement = p->dstT == SN_DATA_32F ? sizeof(float) : c->family->small;
    return sn_product(&c->srcBytes, c->srcElement, p->srcC, p->srcH, p->srcW) &&
           sn_product(&all, c->batch, p->srcC, p->srcH, p->srcW) &&
           sn_product(&c->dstBytes, c->dstElement, p->dstC, p->dstH, p->dstW) &&
           sn_product(&all, c->batch, p->dstC, p->dstH, p->dstW) &&
           sn_product(&c->weightCount, p->dstC, p->srcC / p->group, p->kernelY, p->kernelX) && c->way->plan(c);
}

/* ---- memory: one block, laid out in the order of the widths of what it holds */

static bool has_slope(const struct sn_convolution_dot * c)
{
    return c->p.activation == SN_ACTIVATION_PRELU || c->p.activation == SN_ACTIVATION_LEAKY_RELU;
}

void * sn_dot_take(uintptr_t * at, size_t bytes)
{
    void * here = (void *)*at;
    *at += sn_align(bytes, SN_ALIGN);
    return here;
}

uintptr_t sn_dot_lay_out(struct sn_convolution_dot * c, uintptr_t at)
{
    c->segment = sn_dot_take(&at, c->segments * sizeof(size_t));
    c->weight = sn_dot_take(&at, c->weightBytes);
    c->start = sn_dot_take(&at, c->channels * 4);
    c->slope = has_slope(c) ? sn_dot_take(&at, c->channels * sizeof(float)) : NULL;
    return at;
}

bool sn_convolution_dot_hold(struct sn_convolution_dot * c,
                             uintptr_t (*lay_out)(struct sn_convolution_dot * c, uintptr_t at))
{
    size_t bytes;
    if (!sn_product(&bytes, c->channels, 6 * sizeof(float)) || !sn_product(&bytes, c->p.srcC, sizeof(float)))
        return false;
    c->heldBytes = lay_out(c, 0);
    c->held = sn_keep(sn_max(c->heldBytes, 1));
    if (!c->held)
        return false;
    memset(c->held, 0, c->heldBytes);
    lay_out(c, (uintptr_t)c->held);
    return true;
}

void sn_convolution_dot_params(struct sn_convolution_dot * c, const sn_32f * params)
{
    if (c->p.activation == SN_ACTIVATION_PRELU)
        for (size_t o = 0; o < c->p.dstC; ++o)
            c->slope[sn_dot_spread(c, o)] = params[o];
    else if (has_slope(c))
        for (size_t i = 0; i < c->channels; ++i)
            c->slope[i] = params[0];
    else
        for (size_t i = 0; i < sn_activation_params(c->p.activation, c->p.dstC); ++i)
            c->param[i] = params[i];
}
