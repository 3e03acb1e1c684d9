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
    size_t wide;  /* floats of the results of a plane with the columns between its rows, or 0, see wide_columns() */
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

/* Columns of some rows and of what lies between them in the planes, where neighbours are `line` apart. */
static size_t wide_columns(const struct sn_convolution * c, size_t rows, size_t line)
{
    return (rows - 1) * line + c->p.dstW;
}

/* Floats from the inputs of a row to those of the next, see nchw_band.c. */
static size_t line_of(const struct sn_convolution_parameters * p)
{
    const size_t reach = (p->kernelX - 1) * p->dilationX;
    if (sn_planes_in_place(p))
        return p->strideY * p->srcW;
    return (p->kernelY == 1 ? 1 : p->strideY) * sn_min(p->strideX, reach + 1) * (p->dstW + reach / p->strideX);
}

/* Vector cycles of a row of a result that is copied, and of a multiply-add for rows shorter than a vector, beside one. */
static const double WIDE_COPIED = 20, WIDE_SHORT = 1.3;

/*
 * Whether rows are one with what lies between them: it fills vectors that rows do not, and gives chains of multiply-adds
 * that hide their latency, but results are copied. 288x10x10 to 2 by 2x2 takes 0.6 of the time (avx2 0.75), 96x24x24 to 3
 * by 3x3 0.7 (0.97), 64x14x14 to 2 by 3x3 0.7 (0.98) (Xeon with AMX).
 */
static bool is_wide(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double wide = sn_vectors(c, wide_columns(c, p->dstH, line_of(p))), copied = WIDE_COPIED * (double)p->dstH;
    const double rows = (double)p->dstH * sn_vectors(c, p->dstW) * (p->dstW < sn_lanes(c) ? WIDE_SHORT : 1);
    return p->dstH > 1 && line_of(p) > p->dstW && wide * sn_depth(c) + copied < rows * sn_depth(c);
}

/* The part of these cycles with vectors of 16, of which direct algorithms fill less with small images than their models say:
 * of 300 layers of 1 to 16 outputs 52 change to this, and take 0.75 of the time, all but two at most 1.02, one 1.23.
 * With vectors of 8 a smaller part makes layers with many inputs take up to 1.5 times as long (Xeon with AMX). */
static const double WIDE_PART_512 = 0.72;

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
    return c->p.dstW < sn_lanes(c) && !is_wide(c) ? PARTS_SHORT * each : each;
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
    const bool wide = is_wide(c);
    const double ofRows = wide ? sn_vectors(c, wide_columns(c, p->dstH, line_of(p)))
                               : (double)p->dstH * sn_vectors(c, p->dstW);
    const double vectors = (double)p->group * (in_parts(c) && joined ? sn_vectors(c, p->dstH * p->dstW) : ofRows);
    const double copied = wide ? WIDE_COPIED * (double)(p->dstH * p->dstC) : 0;
    const double few = sn_depth(c) * (FEW_PRODUCT + FEW_OUTPUT * (double)sn_outputs(c));
    const double part = wide && sn_lanes(c) == 16 ? WIDE_PART_512 : 1;
    const double sorted = in_parts(c) && p->strideX > 1 ? PARTS_SORTED : 1;
    const double computed = vectors * (in_parts(c) ? of_parts(c) : few);
    return sorted * lines * sn_line_copied(c) + sn_of_vectors(c, part * (computed + copied));
}

static bool plan(struct sn_convolution * c)
{
    struct few_nchw * f = (void *)c->algorithmData;
    size_t size;
    if (!sn_planes_plan(c, !is_wide(c), &f->band, &f->depth, &f->step))
        return false;
    if (in_parts(c))
        f->step = f->depth;
    f->wide = is_wide(c) ? wide_columns(c, f->band.rows, line_of(&c->p)) : 0;
    if (!sn_product(&size, f->wide, sn_outputs(c), sizeof(sn_32f)) ||
        !sn_product(&c->workSize, c->workSize + size, 1))
        return false;
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

/* Computes the rows as one, at `work`, and copies them. */
static void compute_wide(const struct sn_convolution * c, struct sn_few_nchw_32f f, sn_32f * work)
{
    struct sn_lines_32f copy = {.src = work, .srcStep = f.srcRow, .stride = 1, .dst = f.dst, .dstStep = f.dstRow,
        .lines = f.rows, .inside = f.columns, .size = f.columns};
    const size_t plane = f.dstPlane;
    f.dst = work;
    f.dstPlane = data_of(c)->wide;
    f.columns = wide_columns(c, f.rows, f.srcRow);
    f.rows = 1;
    c->table->convolution_32f.few_nchw(&f);
    for (size_t o = 0; o < f.outputs; ++o, copy.src += f.dstPlane, copy.dst += plane)
        c->table->convolution_32f.lines(&copy);
}

/* Computes some rows of one group, that follow each other in the band; a->src and a->dst are the arrays of this group. */
static void compute_rows(const struct sn_convolution * c, size_t group, size_t row, size_t rows, const struct sn_arrays * a)
{
    const struct few_nchw * o = data_of(c);
    const struct sn_convolution_parameters * p = &c->p;
    const size_t first = group * sn_outputs(c);
    struct sn_few_nchw_32f f = {.src = sn_planes_source(c, &o->band, a->src, row, rows, a->work),
        .offset = c->segment, .depth = o->depth, .weight = sn_weights(c) + first * o->step, .step = o->step,
        .bias = c->bias + first, .slope = c->slope ? c->slope + first : NULL, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}, .dst = (sn_32f *)a->dst + row * p->dstW, .outputs = sn_outputs(c),
        .rows = rows, .columns = p->dstW, .srcRow = o->band.strideY * o->band.line,
        .dstRow = sn_band_classes(&o->band) * p->dstW, .dstPlane = c->dstPlane};
    if (o->wide) {
        compute_wide(c, f, (sn_32f *)((char *)a->work + c->workSize) - o->wide * f.outputs);
        return;
    }
    if (f.srcRow == f.columns && f.dstRow == f.columns) { /* all rows are one row */
        f.columns *= f.rows;
        f.rows = 1;
    }
    c->table->convolution_32f.few_nchw(&f);
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    struct sn_class_rows part;
    for (size_t at = s->line, end = at + s->lines; at < end; at += part.counted) {
        part = sn_band_rows_at(&data_of(c)->band, &c->p, at, end);
        if (part.rows)
            compute_rows(c, s->image % c->p.group, part.row, part.rows, a);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute, .parts = c->p.group,
        .time = sn_convolution_32f_time(c), .columns = true, .near = data_of(c)->band.copied,
        .shares = {.lines = sn_band_counted(&data_of(c)->band, &c->p),
        .most = data_of(c)->band.rows, .least = sn_ceil_div(2 * c->table->gemm.tile_32f.columns, c->p.dstW)}});
}

const struct sn_convolution_algorithm sn_convolution_32f_few_nchw = {.name = "few outputs NCHW", .supports = supports,
    .cost = cost, .plan = plan, .offsets = offsets, .pack = pack, .forward = forward};
