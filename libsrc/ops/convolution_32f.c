#include "ops/convolution_32f.h"

#include <string.h>

#include "ops/convolution_cost.h"

/* ---- `base`: the loops of the formula, weights and parameters as the caller gave them */

bool sn_base_admits(const struct sn_convolution * c) { return !c->table->gemm.tile_32f.run; }

bool sn_base_plan(struct sn_convolution * c)
{
    sn_channels_plain(c);
    return sn_floats(&c->weightSize, sn_weight_count(c));
}

void sn_base_pack(const struct sn_convolution * c, const void * weight) { memcpy(c->weight, weight, c->weightSize); }

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t srcSize = c->srcSize / sizeof(float), dstSize = c->dstSize / sizeof(float);
    const sn_32f * params = c->slope ? c->slope : c->param, * src = a->src, * add = a->add;
    sn_32f * dst = a->dst;
    for (size_t b = 0; b < c->batch; ++b)
        c->table->convolution_32f.plain(&c->p, c->weight, c->bias, params, src + b * srcSize, add ? add + b * dstSize : NULL,
                                        dst + b * dstSize);
}

const struct sn_convolution_algorithm sn_convolution_32f_base = {.name = "base", .adds = true, .admits = sn_base_admits,
    .plan = sn_base_plan, .pack = sn_base_pack, .forward = forward};

/* ---- the family */

/*
 * Where lines of the output have nothing to do with each other, as in a 1x1 convolution, the images of a batch are one of
 * many lines: small ones fill the tile then, and weights pass by once. 32 pixels of 1024 to 1000 channels are 2.8 times as
 * fast.
 */
static void simplify(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    size_t lines;
    sn_convolution_simplify(c);
    if (p->srcF != SN_NHWC || p->kernelY != 1 || p->strideY != 1 || p->padY || p->srcH != p->dstH ||
        !sn_product(&lines, c->batch, p->srcH))
        return;
    p->srcH = p->dstH = lines;
    c->batch = 1;
}

struct sn_tile_shape sn_tile_32f(const struct sn_table * table)
{
    return (struct sn_tile_shape){table->gemm.tile_32f.rows, table->gemm.tile_32f.columns};
}

static enum sn_error_kind choose(struct sn_convolution * c)
{
    c->algorithm = sn_convolution_choice(c);
    return SN_ERROR_NONE;
}

const void * sn_convolution_32f_take(struct sn_convolution * c, const struct sn_given * given, void * scratch,
                                     struct sn_fault * fault)
{
    (void)scratch, (void)fault;
    sn_convolution_spread(c, given->bias, c->bias);
    return given->weight;
}

const struct sn_convolution_family sn_convolution_32f = {.small = SN_DATA_32F, .unit = sizeof(float), .units = "floats",
    .align = sizeof(float), .note = "", .tile = sn_tile_32f, .simplify = simplify, .choose = choose,
    .take = sn_convolution_32f_take};
