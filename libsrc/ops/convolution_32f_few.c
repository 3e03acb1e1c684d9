/*
 * Convolutions with few outputs in a group, where the tile would leave most columns empty: bands and units of work are those
 * of the direct ways, which hand over to the kernels of contract/convolution_32f.h.
 */
#include <string.h>

#include "ops/convolution_32f.h"
#include "runtime/memory.h"

static size_t outputs(const struct sn_convolution_32f * c) { return c->p.dstC / c->p.group; }

/*
 * Winograd's algorithm, which saves three multiplications of four, is faster for four outputs, or three, where many inputs
 * pay for the transforms, and where its tiles cut the image without a rest: 64 x 56 x 56 by 1.08.
 */
static bool is_for_winograd(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->dstC >= 3 && p->srcC >= 4 * sn_lanes(c) && p->dstH % 4 == 0 && p->dstW % 4 == 0 &&
           sn_convolution_32f_winograd_4.takes(c);
}

static bool is_few(const struct sn_convolution_32f * c, enum sn_format format)
{
    return c->p.srcF == format && c->srcSize && c->dstSize && outputs(c) <= SN_FEW && !is_for_winograd(c);
}

/* ---- NHWC */

/* Rows of weights, and values of a pixel in a vector: three have a fourth that is 0. */
static size_t padded(const struct sn_convolution_32f * c) { return outputs(c) == 3 ? 4 : outputs(c); }

/*
 * Cost model, in cycles of a vector's multiply-adds: the tile takes one for each step of the sum and each vector of outputs;
 * here a vector of steps takes one for each output, and adding up its lanes 3.
 */
static bool nhwc_takes(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (!is_few(c, SN_NHWC) || p->group != 1)
        return false;
    const size_t lanes = sn_lanes(c), tile = sn_gemm_width(&c->table->gemm.tile_32f, p->dstC);
    const size_t vectors = p->dilationX == 1 ? p->kernelY * sn_ceil_div(p->kernelX * p->srcC, lanes)
                                             : p->kernelY * p->kernelX * sn_ceil_div(p->srcC, lanes);
    return padded(c) * (vectors + 3) * lanes < p->kernelY * p->kernelX * p->srcC * tile;
}

static bool nhwc_plan(struct sn_convolution_32f * c)
{
    c->few = true;
    if (!sn_convolution_32f_nhwc.plan(c))
        return false;
    c->channels = sn_lanes(c);
    return sn_product(&c->weightSize, c->depth, padded(c));
}

static void nhwc_pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    sn_nhwc_segments(c, segment);
    for (size_t o = 0; o < c->p.dstC; ++o)
        for (size_t k = 0; k < c->depth; ++k)
            *packed++ = weight[k * c->p.dstC + o];
}

static void nhwc_spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    for (size_t i = 0; i < c->channels; ++i)
        spread[i] = i % padded(c) < c->p.dstC ? values[i % padded(c)] : 0;
}

void sn_few_nhwc(const struct sn_convolution_32f * c, const struct sn_nhwc_rows * r)
{
    struct sn_gemm_32f gemm = {.a = r->src, .height = r->rows, .width = c->p.dstW, .aStepY = r->srcLine,
        .aStepX = r->srcPixel, .segment = c->segment, .segments = c->segments, .length = c->length, .b = c->weight,
        .columns = c->p.dstC, .c = r->dst, .cStepY = r->dstLine, .cStepX = r->dstPixel, .bias = c->bias, .slope = c->slope,
        .activation = sn_tile_activation(c), .param = {c->param[0], c->param[1]}};
    if (r->srcLine == gemm.width * r->srcPixel && r->dstLine == gemm.width * r->dstPixel) { /* all rows in one line */
        gemm.width *= r->rows;
        gemm.height = 1;
    }
    c->table->convolution_32f.few_nhwc(&gemm);
}

static void nhwc_forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    sn_convolution_32f_nhwc.forward(c, src, work, dst);
}

const struct sn_convolution_32f_way sn_convolution_32f_few_nhwc = {
    "few outputs NHWC", false, nhwc_takes, nhwc_plan, nhwc_pack, nhwc_spread, nhwc_forward, NULL};

/* ---- NCHW */

static bool nchw_takes(const struct sn_convolution_32f * c) { return is_few(c, SN_NCHW); }

static bool nchw_plan(struct sn_convolution_32f * c)
{
    c->few = true;
    return sn_nchw_plan(c);
}

static void nchw_pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    sn_convolution_32f_nchw.pack(c, weight, packed, segment);
}

static void nchw_spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    memcpy(spread, values, c->channels * sizeof(float));
}

void sn_few_nchw(const struct sn_convolution_32f * c, size_t g, const sn_32f * src, size_t rows, sn_32f * dst)
{
    const size_t first = g * outputs(c);
    struct sn_few_nchw_32f f = {.src = src, .offset = c->segment, .depth = c->depth, .weight = c->weight + first * c->step,
        .step = c->step, .bias = c->bias + first, .slope = c->slope ? c->slope + first : NULL,
        .activation = sn_tile_activation(c), .param = {c->param[0], c->param[1]}, .dst = dst, .outputs = outputs(c),
        .rows = rows, .columns = c->p.dstW, .srcRow = c->band.strideY * c->band.line, .dstRow = c->p.dstW,
        .dstPlane = c->p.dstH * c->p.dstW};
    if (f.srcRow == f.columns) { /* all rows in one */
        f.columns *= rows;
        f.rows = 1;
    }
    c->table->convolution_32f.few_nchw(&f);
}

static void nchw_forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    sn_convolution_32f_nchw.forward(c, src, work, dst);
}

const struct sn_convolution_32f_way sn_convolution_32f_few_nchw = {
    "few outputs NCHW", false, nchw_takes, nchw_plan, nchw_pack, nchw_spread, nchw_forward, NULL};
