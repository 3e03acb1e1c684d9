/*
 * NCHW with few outputs in a group, which would use only a few rows of the tile: vectors of pixels, from the bands of the
 * direct algorithm, without gathering panels.
 */
#include "ops/convolution/32f.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/nchw_band.h"

struct few_nchw {
    struct sn_band band;
    size_t depth; /* multiply-adds of one output */
    size_t step;  /* floats from one row of packed weights to the next */
};
SN_FITS_ALGORITHM_DATA(struct few_nchw);

static const struct few_nchw * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NCHW && c->srcSize && c->dstSize && sn_outputs(c) <= SN_FEW_NCHW;
}

/*
 * Vector cycles of a product, for any outputs and for each: fitted to 18 layers (Zen 4). More than SN_FEW outputs are two parts,
 * which read the image twice: by these factors, other algorithms keep small images of many channels, and, where a vector is no
 * longer than the outputs, most layers but 1x1. With vectors of 16 floats, 8x150x150 to 8 by 5x5 takes 0.5 of the time of a
 * product of matrices, 8x256x256 by 3x3 0.45, 128x28x28 by 1x1 0.6 (Emerald Rapids; avx2 1.0, 0.87 and 0.63).
 */
static const double FEW_PRODUCT = 1.5, FEW_OUTPUT = 0.6, TWO_PARTS = 1.5, TWO_PARTS_OF_SHORT_VECTORS = 1.8;

/*
 * Rows shorter than a vector waste its lanes, and with a stride all lines are sorted into phases first: 24x18x18 to 1 by 3x3
 * with stride 4 takes 3 to 5 times as long as by NHWC, 16x40x40 by 4x4 with stride 4 three times.
 */
static double cost(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double lines = sn_planes_in_place(p) ? 0 : (double)((p->kernelY == 1 ? p->dstH : p->srcH) * p->srcC);
    const double vectors = (double)(p->dstH * p->group) * sn_vectors(c, p->dstW);
    const double two = sn_lanes(c) > SN_FEW_NCHW ? TWO_PARTS : TWO_PARTS_OF_SHORT_VECTORS;
    const double parts = sn_outputs(c) > SN_FEW ? two : 1;
    const double product = parts * (FEW_PRODUCT + FEW_OUTPUT * (double)sn_outputs(c));
    return lines * sn_line_copied(c) + sn_of_vectors(c, vectors * sn_depth(c) * product);
}

static bool plan(struct sn_convolution * c)
{
    struct few_nchw * f = (void *)c->algorithmData;
    return sn_planes_plan(c, &f->band, &f->depth, &f->step);
}

static void offsets(const struct sn_convolution * c) { sn_planes_offsets(c, &data_of(c)->band); }

static void pack(const struct sn_convolution * c, const void * weight)
{
    sn_planes_pack(c, weight, data_of(c)->depth, data_of(c)->step);
}

/* Computes some rows of one group; a->src and a->dst are the arrays of this group. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct few_nchw * o = data_of(c);
    const struct sn_convolution_parameters * p = &c->p;
    const size_t first = s->image % p->group * sn_outputs(c);
    struct sn_few_nchw_32f f = {.src = sn_planes_source(c, &o->band, a->src, s->line, s->lines, a->work),
        .offset = c->segment, .depth = o->depth, .weight = sn_weights(c) + first * o->step, .step = o->step,
        .bias = c->bias + first, .slope = c->slope ? c->slope + first : NULL, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}, .dst = (sn_32f *)a->dst + s->line * p->dstW, .outputs = sn_outputs(c),
        .rows = s->lines, .columns = p->dstW, .srcRow = o->band.strideY * o->band.line, .dstRow = p->dstW,
        .dstPlane = p->dstH * p->dstW};
    if (f.srcRow == f.columns) { /* all rows are one row */
        f.columns *= f.rows;
        f.rows = 1;
    }
    c->table->convolution_32f.few_nchw(&f);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute, .parts = c->p.group,
        .time = sn_convolution_32f_time(c), .shares = {.lines = c->p.dstH, .most = data_of(c)->band.rows,
        .least = sn_ceil_div(2 * c->table->gemm.tile_32f.columns, c->p.dstW)}});
}

const struct sn_convolution_algorithm sn_convolution_32f_few_nchw = {.name = "few outputs NCHW", .supports = supports,
    .cost = cost, .plan = plan, .offsets = offsets, .pack = pack, .forward = forward};
