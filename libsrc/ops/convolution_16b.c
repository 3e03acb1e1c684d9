#include "ops/convolution_16b.h"

#include <string.h>

#include "ops/convolution_32f.h"
#include "runtime/keep.h"
#include "runtime/memory.h"
#include "runtime/numeric.h"

/* ---- the way of `base`: the loops of the formula, weights and parameters as the caller gave them */

static bool base_plan(struct sn_convolution_dot * c)
{
    c->channels = c->p.dstC;
    c->group = c->p.dstC / c->p.group;
    return sn_product(&c->weightBytes, c->weightCount, sizeof(uint16_t));
}

static void base_pack(const struct sn_convolution_dot * c, const void * weight)
{
    memcpy(c->weight, weight, c->weightBytes);
}

static void base_forward(const struct sn_convolution_dot * c, const uint8_t * src, uint8_t * work, uint8_t * dst)
{
    (void)work;
    const sn_32f * params = c->slope ? c->slope : c->param;
    for (size_t b = 0; b < c->batch; ++b)
        c->table->convolution_16b.plain(&c->p, c->weight, c->start, params, src + b * c->srcBytes, dst + b * c->dstBytes);
}

const struct sn_convolution_dot_way sn_convolution_16b_base = {"base", false, base_plan, base_pack, base_forward};

/* ---- the plan */

struct sn_result_16b sn_result_16b_of(const struct sn_convolution_dot * c, size_t first)
{
    return (struct sn_result_16b){.narrow = c->p.dstT == SN_DATA_16B, .activation = sn_dot_activation(c),
        .slope = c->slope ? c->slope + first : NULL, .param = {c->param[0], c->param[1]}};
}

static void result(const struct sn_convolution_dot * c, size_t first, union sn_dot_result * to)
{
    to->as_16b = sn_result_16b_of(c, first);
}

bool sn_convolution_16b_plan(struct sn_convolution_dot * c)
{
    static const struct sn_convolution_dot_family family = {sizeof(uint16_t), sizeof(uint16_t), true, result};
    const struct sn_convolution_parameters * p = &c->p;
    const bool depthwise = p->group == p->srcC && p->group == p->dstC;
    c->family = &family;
    c->tile = &c->table->convolution_16b.tile;
    c->pixels = c->table->convolution_16b.pixels;
    c->planes = c->table->convolution_16b.planes;
    c->way = !c->tile->run ? &sn_convolution_16b_base
             : depthwise   ? &sn_convolution_16b_depthwise
                           : &sn_convolution_dot_tiled;
    return sn_convolution_dot_plan(c);
}

bool sn_convolution_16b_set(struct sn_convolution_dot * c, const sn_32f * weight, const sn_32f * bias, const sn_32f * params)
{
    /* The plan that will be, so that without memory the one that is stays; beside it the weights, rounded. */
    struct sn_convolution_dot next = *c;
    size_t bytes;
    sn_16b * small = NULL;
    next.held = NULL;
    if (sn_product(&bytes, c->weightCount, sizeof(*small)))
        small = sn_allocate(sn_max(bytes, 1), SN_ALIGN);
    if (!small || !sn_convolution_dot_hold(&next, sn_dot_lay_out)) {
        sn_free(small);
        return false;
    }
    for (size_t i = 0; i < c->weightCount; ++i)
        small[i] = sn_32f_to_16b(weight[i]);
    if (c->p.dstC) { /* of any number of groups */
        sn_32f * start = next.start;
        sn_convolution_dot_params(&next, params);
        for (size_t o = 0; bias && o < c->p.dstC; ++o)
            start[sn_dot_spread(&next, o)] = bias[o];
        next.way->pack(&next, small);
    }
    sn_free(small);
    sn_drop(c->held);
    *c = next;
    return true;
}
