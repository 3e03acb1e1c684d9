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
    size_t step;  /* floats from one row of packed weights to the next; depth with parts */
};
SN_FITS_ALGORITHM_DATA(struct few_nchw);

static const struct few_nchw * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NCHW && c->srcSize && c->dstSize && sn_outputs(c) <= SN_FEW_NCHW;
}

/* Whether weights are packed for parts of the outputs of a group. */
static bool in_parts(const struct sn_convolution * c) { return sn_outputs(c) > SN_FEW; }

static size_t parts_of(const struct sn_convolution * c)
{
    return sn_ceil_div(sn_outputs(c), c->table->convolution_32f.few_nchw_part);
}

/* Vector cycles of a product, for any outputs and for each: fitted to 18 layers (Zen 4). */
static const double FEW_PRODUCT = 1.5, FEW_OUTPUT = 0.6;

/*
 * With parts: of a product for an output, an odd one of a part counting twice, and besides, for each vector of pixels, of
 * each line of a plane that a part reads and of each result; times more for rows shorter than a vector, and for lines with a
 * stride. Of 227 layers of 1 to 256 inputs and 9 to 64 outputs it is chosen for 35, which take 0.67 of the time on average,
 * none more than 1.03; with avx2 39, 0.72 and 1.13 (Xeon with AMX).
 */
static const double PARTS_PRODUCT = 1.05, PARTS_LINE = 4, PARTS_RESULT = 12, PARTS_SHORT = 1.2, PARTS_SORTED = 2;

static double of_parts(const struct sn_convolution * c)
{
    const size_t parts = parts_of(c), outputs = sn_outputs(c);
    size_t computed = 0;
    for (size_t i = 0; i < parts; ++i)
        computed += ((i + 1) * outputs / parts - i * outputs / parts + 1) / 2 * 2;
    const double each = sn_depth(c) * PARTS_PRODUCT * (double)computed +
                        PARTS_LINE * (double)(parts * sn_inputs(c) * c->p.kernelY) + PARTS_RESULT * (double)outputs;
    return c->p.dstW < sn_lanes(c) ? PARTS_SHORT * each : each;
}

/*
 * Rows shorter than a vector waste its lanes, and with a stride all lines are sorted into phases first: 24x18x18 to 1 by 3x3
 * with stride 4 takes 3 to 5 times as long as by NHWC, 16x40x40 by 4x4 with stride 4 three times.
 */
static double cost(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double lines = sn_planes_in_place(p) ? 0 : (double)((p->kernelY == 1 ? p->dstH : p->srcH) * p->srcC);
    const bool joined = sn_planes_in_place(p) && p->strideY * p->srcW == p->dstW; /* all rows are one, see compute() */
    const double ofRows = (double)p->dstH * sn_vectors(c, p->dstW);
    const double vectors = (double)p->group * (in_parts(c) && joined ? sn_vectors(c, p->dstH * p->dstW) : ofRows);
    const double few = sn_depth(c) * (FEW_PRODUCT + FEW_OUTPUT * (double)sn_outputs(c));
    const double sorted = in_parts(c) && p->strideX > 1 ? PARTS_SORTED : 1;
    return sorted * lines * sn_line_copied(c) + sn_of_vectors(c, vectors * (in_parts(c) ? of_parts(c) : few));
}

static bool plan(struct sn_convolution * c)
{
    struct few_nchw * f = (void *)c->algorithmData;
    if (!sn_planes_plan(c, &f->band, &f->depth, &f->step))
        return false;
    if (in_parts(c))
        f->step = f->depth;
    return !in_parts(c) || sn_floats(&c->weightSize, f->depth * c->p.dstC + 1);
}

static void offsets(const struct sn_convolution * c) { sn_planes_offsets(c, &data_of(c)->band); }

static void pack(const struct sn_convolution * c, const void * weight)
{
    const size_t depth = data_of(c)->depth, outputs = sn_outputs(c);
    if (!in_parts(c)) {
        sn_planes_pack(c, weight, depth, data_of(c)->step);
        return;
    }
    const size_t parts = parts_of(c);
    const sn_32f * from = weight;
    sn_32f * to = sn_weights(c);
    for (size_t g = 0; g < c->p.group; ++g)
        for (size_t i = 0; i < parts; ++i) {
            const size_t count = (i + 1) * outputs / parts - i * outputs / parts;
            for (size_t o = 0; o < count; ++o)
                for (size_t k = 0; k < depth; ++k)
                    to[k * count + o] = *from++;
            to += count * depth;
        }
    *to = 0; /* is read */
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
