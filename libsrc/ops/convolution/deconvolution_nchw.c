/*
 * NCHW, by the GEMM tile: rows of A are the weights of an output channel, columns of B are outputs of a phase, counted
 * across its rows (see 32f_nchw.c). Each phase is a convolution with stride 1, so the inputs of neighbouring
 * outputs for a tap are neighbours in the image. Products of all phases are computed for some pixels, then interleaved into
 * rows of the result.
 *
 * A panel of B is used for all neighbouring phases that have the same inputs. To keep their pixels aligned, all phases have
 * as many columns as the first one: the last column of another phase may be beyond the result, and is not written.
 *
 * If the panels of a band are small, all of them are kept, and some output channels are computed from them after the others: so
 * the result is written plane by plane. Otherwise each panel writes a few pixels to the planes of all channels, which are in as
 * many pages.
 */
#include <math.h>
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/deconvolution.h"
#include "ops/convolution/phase_planes.h"
#include "runtime/cpu.h"

enum {
    COLUMNS = 64, /* of a panel, at most: sets the size of the array of its pieces */
    MOST_OUTPUTS = 28, /* channels that are computed from kept panels after the others, at most: whole tiles of rows */
    LINE = SN_ALIGN / sizeof(float)
};

struct phases_nchw {
    struct sn_band band;
    size_t block;   /* of depth that is packed at a time */
    size_t outputs; /* channels that are computed together */
    size_t kept;    /* floats of all panels of a band, or 0 */
};
SN_FITS_ALGORITHM_DATA(struct phases_nchw);

static const struct phases_nchw * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

/* ---- cost */

/* Vector cycles of a product, an input, an output, for each output of a phase; and with kept panels, where an output takes longer
 * if there are more phases. */
static const double PHASES_PRODUCT = 1.1, PHASES_GATHERED = 10, PHASES_WRITTEN = 14;
static const double KEPT_PRODUCT = 0.96, KEPT_WRITTEN = 6, KEPT_PHASE = 1;
static const double PHASES_COPIED = 3, PHASES_CUT = 1; /* of an output of a row without taps; the last vector of a cut line */

/* Vector cycles in which each sum gets one product: a tile of fewer sums takes as long as one of so many. And those that
 * another group takes beside its sums. */
static const double PHASES_LATENCY = 8, PHASES_GROUP = 40;

/* Each panel reads all weights: what takes longer if they are far. 1856x11x11 to 112 by 4x4 with stride 2 takes 0.67 of the time
 * by NHWC, 512x16x16 to 256 0.84, 2048x7x7 to 256 by 3x3 0.9 (avx2; avx512 0.93, 0.96, 1.1; Xeon with AMX). */
static const double PHASES_FAR = 1.06;

/* The channels that are computed from kept panels after the others. */
static size_t some_of(const struct sn_convolution * c)
{
    const size_t rows = c->table->gemm.tile_32f.rows;
    return sn_max(MOST_OUTPUTS / rows, 1) * rows;
}

/* What whole vectors compute of so many floats, over what is used. */
static double rounded_up(const struct sn_convolution * c, size_t floats)
{
    return sn_vectors(c, floats) * (double)sn_lanes(c) / (double)floats;
}

static double cost(const struct sn_convolution * c)
{
    const size_t columns = sn_phases_x(c)->count, pixels = sn_phases_y(c)->count * columns;
    const bool kept = sn_outputs(c) > some_of(c);
    const double outputs = (double)c->p.dstC, product = kept ? KEPT_PRODUCT : PHASES_PRODUCT;
    const double written = kept ? KEPT_WRITTEN + KEPT_PHASE * (double)sn_phases_x(c)->number : PHASES_WRITTEN;
    const bool pieces = sn_phases_reach_out(sn_phases_y(c), c->p.srcH) || sn_phases_reach_out(sn_phases_x(c), c->p.srcW);
    const double cut = pieces ? 1 + PHASES_CUT * (double)sn_lanes(c) / (double)columns : 1;
    const double gathered = cut * PHASES_GATHERED * (double)c->p.group / (double)sn_phases_alike(sn_phases_x(c), 0);
    const double least = PHASES_LATENCY * (double)sn_lanes(c) / (double)c->table->gemm.tile_32f.columns;
    const double rows = (double)c->p.group * fmax((double)sn_outputs(c), least);
    const double products = rounded_up(c, pixels) * sn_phases_depth(c) * (product * rows + gathered);
    const double with = sn_phases_with_taps(sn_phases_y(c));
    const double results = rounded_up(c, columns) * (with * written + (1 - with) * PHASES_COPIED) * outputs;
    const double far = sn_weights_are_far(c) ? PHASES_FAR : 1;
    return sn_of_phases(c, far * products + results + PHASES_GROUP * (double)(c->p.group - 1));
}

/* ---- plan and weights */

static size_t depth_of(const struct sn_convolution * c, const struct sn_phase * y, const struct sn_phase * x)
{
    return y->taps * x->taps * sn_inputs(c);
}

/* Floats from the weights of an output channel to the next. */
static size_t step_of(size_t depth) { return sn_spaced(depth, SN_FOUR_SETS); }

/* The phases of an axis with so many taps. */
static size_t phases_with(const struct sn_phases * a, size_t taps)
{
    size_t number = 0;
    for (size_t f = 0; f < a->number; ++f)
        number += a->phase[f].taps == taps;
    return number;
}

/* Plans the weights of all phases. A phase has the maximum number of taps, one less, or none: so there are four sizes. */
static bool plan_weights(struct sn_convolution * c)
{
    size_t all = 0, size;
    const struct sn_phases * py = sn_phases_y(c), * px = sn_phases_x(c);
    for (size_t y = py->taps; y && y + 1 >= py->taps; --y)
        for (size_t x = px->taps; x && x + 1 >= px->taps; --x) {
            const size_t step = step_of(y * x * sn_inputs(c));
            if (!sn_product(&size, phases_with(py, y), phases_with(px, x), step, c->p.dstC) ||
                !sn_product(&all, all + size, 1))
                return false;
        }
    return sn_floats(&c->weightSize, all);
}

/* Floats of `panels` panels of a phase: the kernel that packs them writes up to a vector more. */
static size_t panels_size(const struct sn_convolution * c, size_t depth, size_t panels)
{
    return sn_align(panels * depth * c->table->gemm.tile_32f.columns + sn_lanes(c), LINE);
}

static size_t panels_of(const struct sn_convolution * c, size_t rows)
{
    return sn_ceil_div(rows * sn_phases_x(c)->count, c->table->gemm.tile_32f.columns);
}

/* The panels of `rows` rows of a phase in y, in all phases in x. */
static size_t row_panels_size(const struct sn_convolution * c, const struct sn_phase * y, size_t rows)
{
    const struct sn_phases * x = sn_phases_x(c);
    size_t size = 0;
    for (size_t f = 0; f < x->number; f += sn_phases_alike(x, f))
        size += panels_size(c, depth_of(c, y, &x->phase[f]), panels_of(c, rows));
    return size;
}

/* Whether phase f in y has the inputs of the one before. */
static bool as_before(const struct sn_convolution * c, size_t f)
{
    return f > 0 && sn_phases_alike(sn_phases_y(c), f - 1) > 1;
}

/* The workspace: a panel of B or all of a band, products of all phases of some channels, and the band. */
static size_t panel_size(const struct sn_convolution * c)
{
    return sn_max(panels_size(c, data_of(c)->block, 1), data_of(c)->kept);
}

static size_t products_size(const struct sn_convolution * c)
{
    const size_t wide = c->table->gemm.tile_32f.columns;
    return sn_phases_x(c)->number * data_of(c)->outputs * wide + LINE; /* the interleaving reads one vector more */
}

/* The panels of a band of so many rows. */
static size_t kept_size(const struct sn_convolution * c, size_t rows)
{
    const struct sn_phases * y = sn_phases_y(c);
    size_t size = 0;
    for (size_t f = 0; f < y->number; ++f)
        size += as_before(c, f) ? 0 : row_panels_size(c, &y->phase[f], rows);
    return size;
}

/* Plans a band whose panels are kept: those of some rows that fit into `budget` floats with their lines. Sets o->kept to 0 if
 * there is one panel, or if output channels are few. */
static bool plan_kept(const struct sn_convolution * c, size_t depth, size_t budget, struct phases_nchw * o, size_t * copied)
{
    const size_t some = some_of(c);
    o->kept = 0;
    if (depth > o->block || sn_outputs(c) <= some)
        return true;
    if (!sn_phase_planes_plan(c, false, sn_inputs(c), kept_size(c, 1), budget, &o->band, copied))
        return false;
    const size_t kept = kept_size(c, o->band.rows);
    if (kept > budget || panels_of(c, o->band.rows) < 2)
        return true;
    o->kept = kept;
    o->outputs = sn_min(o->outputs, sn_ceil_div(sn_outputs(c), sn_ceil_div(sn_outputs(c), some)));
    return true;
}

static bool plan(struct sn_convolution * c)
{
    struct phases_nchw * o = (void *)c->algorithmData;
    const size_t wide = c->table->gemm.tile_32f.columns, part = sn_cpu()->cacheL2 / 4 / sizeof(float);
    size_t copied, depth, products;
    if (!sn_phase_segments_plan(c, sn_inputs(c)) ||
        !sn_product(&depth, sn_phases_y(c)->taps, sn_phases_x(c)->taps, sn_inputs(c)))
        return false;
    sn_channels_plain(c);
    o->block = sn_min(depth, sn_max(part / wide, 1));
    o->outputs = sn_min(sn_outputs(c), sn_max(part / wide / sn_phases_x(c)->number, 1));
    if (!plan_kept(c, depth, 2 * part, o, &copied) ||
        (!o->kept && !sn_phase_planes_plan(c, false, sn_inputs(c), 0, 2 * part, &o->band, &copied)))
        return false;
    return sn_product(&products, sn_phases_x(c)->number, o->outputs, wide) &&
           sn_floats(&c->workSize, copied + panel_size(c) + products_size(c)) && plan_weights(c);
}

/* Packs the weights of output channel o of a group for one phase; `weight`: those of the group for input channel 0. */
static void pack_output(const struct sn_convolution * c, const sn_32f * weight, size_t o, const struct sn_phase * y,
                        const struct sn_phase * x, sn_32f * packed)
{
    const size_t kernel = c->p.kernelY * c->p.kernelX;
    for (size_t ky = 0; ky < y->taps; ++ky)
        for (size_t kx = 0; kx < x->taps; ++kx) {
            const size_t tap = sn_phase_tap(sn_phases_y(c), y, ky) * c->p.kernelX + sn_phase_tap(sn_phases_x(c), x, kx);
            for (size_t i = 0; i < sn_inputs(c); ++i)
                *packed++ = weight[(i * sn_outputs(c) + o) * kernel + tap];
        }
}

static void offsets(const struct sn_convolution * c)
{
    sn_phase_segments_offsets(c, &data_of(c)->band, sn_inputs(c));
}

/* [group][phase y][phase x][output channel][line][column][input channel] */
static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const sn_32f * w = weight;
    sn_32f * packed = c->weight;
    for (size_t g = 0; g < p->group; ++g, w += sn_inputs(c) * sn_outputs(c) * p->kernelY * p->kernelX)
        for (size_t fy = 0; fy < sn_phases_y(c)->number; ++fy)
            for (size_t fx = 0; fx < sn_phases_x(c)->number; ++fx) {
                const struct sn_phase * y = &sn_phases_y(c)->phase[fy], * x = &sn_phases_x(c)->phase[fx];
                const size_t step = step_of(depth_of(c, y, x));
                for (size_t o = 0; o < sn_outputs(c); ++o, packed += step)
                    pack_output(c, w, o, y, x, packed);
            }
}

/* ---- forward */

/* Some pixels of all phases in x, and some output channels. */
struct panel {
    const struct sn_convolution * c;
    const struct sn_phase * y;
    struct sn_phase_columns all; /* of each row that are computed: all if there are several rows */
    struct sn_columns_32f columns; /* src: the band, of the group */
    struct sn_piece piece[COLUMNS];
    size_t pixels;
    sn_32f * panels; /* the first one of each phase, one after another; all in one place if none are kept */
    size_t number;   /* of panels of a phase, or 0 */
    bool packed;
    size_t channel, channels; /* the first one, among those of all groups */
    sn_32f * product;         /* [phase x][channel][pixel] */
};

/* Computes phases f .. f + alike - 1, which have the same inputs; `weight`: their weights for the panel's channels. */
static void compute_phases(const struct panel * q, size_t f, size_t alike, const sn_32f * weight, sn_32f * panel)
{
    static const size_t start = 0;
    const struct sn_convolution * c = q->c;
    const struct sn_phase * x = &sn_phases_x(c)->phase[f];
    const size_t depth = depth_of(c, q->y, x), step = step_of(depth), wide = c->table->gemm.tile_32f.columns;
    struct sn_columns_32f columns = q->columns;
    columns.panel = panel;
    struct sn_gemm_32f gemm = {.height = 1, .width = q->channels, .aStepX = step, .segment = &start, .segments = 1,
        .b = panel, .columns = q->pixels, .cStepX = wide,
        .slope = c->slope ? c->slope + q->channel : NULL, .byRow = true, .param = {c->param[0], c->param[1]}};
    columns.src += q->y->from * data_of(c)->band.line + x->from;
    size_t k = 0;
    do { /* once even for an empty sum */
        gemm.length = columns.depth = sn_min(data_of(c)->block, depth - k);
        gemm.bias = k > 0 ? NULL : c->bias + q->channel;
        gemm.activation = k + gemm.length == depth ? sn_activation_of(c) : SN_ACTIVATION_IDENTITY;
        columns.offset = sn_phase_offsets(c, x, sn_inputs(c)) + k;
        if (!q->packed)
            c->table->convolution_32f.columns(&columns);
        for (size_t i = 0; i < alike; ++i) {
            gemm.a = weight + i * sn_outputs(c) * step + k;
            gemm.c = q->product + (f + i) * q->channels * wide;
            gemm.from = k > 0 ? gemm.c : NULL;
            c->table->gemm.tile_32f.run(&gemm);
        }
        k += gemm.length;
    } while (k < depth);
}

/* Interleaves the panel's products of the group's channels; dst: the group's first plane, at the first row of the phase. */
static void scatter(const struct panel * q, size_t first, sn_32f * dst)
{
    const struct sn_convolution * c = q->c;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t wide = c->table->gemm.tile_32f.columns, columns = sn_phases_x(c)->count;
    struct sn_interleave_32f job = {.phases = sn_phases_x(c)->number, .phaseStep = q->channels * wide, .srcStep = wide,
        .dstStep = p->dstH * p->dstW, .rows = q->channels};
    for (size_t done = 0, n; done < q->pixels; done += n) {
        const size_t y = (first + done) / columns, x = (first + done) % columns * sn_phases_x(c)->number;
        n = sn_min(columns - x / sn_phases_x(c)->number, q->pixels - done);
        job.src = q->product + done;
        job.dst = dst + y * sn_phases_y(c)->stride * p->dstW + x;
        job.size = sn_min(n * sn_phases_x(c)->number, p->dstW - x);
        sn_phase_planes_interleave(c, &job);
    }
}

/* Computes all phases in x at the panel's pixels, of which the first is `first`, for output channels begin .. end - 1 of group g.
 * Phases without taps have the same results for each panel. */
static void compute_panel(struct panel * q, size_t g, size_t begin, size_t end, const sn_32f * weight, size_t first,
                          sn_32f * dst)
{
    const struct sn_convolution * c = q->c;
    const size_t before = first - q->all.begin; /* pixels of panels before this one */
    for (size_t o = begin; o < end; o += data_of(c)->outputs) {
        q->channel = g * sn_outputs(c) + o;
        q->channels = sn_min(data_of(c)->outputs, end - o);
        const sn_32f * w = weight;
        sn_32f * panels = q->panels;
        for (size_t f = 0, alike; f < sn_phases_x(c)->number; f += alike) {
            const size_t depth = depth_of(c, q->y, &sn_phases_x(c)->phase[f]), step = step_of(depth);
            alike = sn_phases_alike(sn_phases_x(c), f);
            if (before == 0 || sn_phases_x(c)->phase[f].taps || end - begin > data_of(c)->outputs)
                compute_phases(q, f, alike, w + o * step, panels + (q->number ? before * depth : 0));
            w += alike * sn_outputs(c) * step;
            panels += q->number ? panels_size(c, depth, q->number) : 0;
        }
        scatter(q, first, dst + o * c->p.dstH * c->p.dstW);
    }
}

/* The pieces of a band's lines that contain the first inputs of outputs first .. first + count - 1 of a phase. */
static size_t cut(const struct sn_convolution * c, size_t first, size_t count, struct sn_piece * piece)
{
    const size_t columns = sn_phases_x(c)->count;
    if (data_of(c)->band.line == columns) { /* rows are contiguous */
        piece[0] = (struct sn_piece){first, count};
        return 1;
    }
    size_t pieces = 0;
    for (size_t y = first / columns, x = first % columns; count; ++y, x = 0) {
        const size_t n = sn_min(columns - x, count);
        piece[pieces++] = (struct sn_piece){y * data_of(c)->band.line + x, n};
        count -= n;
    }
    return pieces;
}

/* Computes `rows` rows of the phase, or some columns of one, in all phases x. */
static void compute_phase(struct panel * q, size_t g, size_t begin, size_t end, size_t rows, const sn_32f * weight,
                          sn_32f * dst)
{
    const struct sn_gemm_32f_tile * tile = &q->c->table->gemm.tile_32f;
    const size_t end_of_all = sn_min(rows * sn_phases_x(q->c)->count, q->all.end);
    q->columns.piece = q->piece;
    for (size_t first = q->all.begin; first < end_of_all; first += tile->columns) {
        q->pixels = sn_min(tile->columns, end_of_all - first);
        q->columns.pieces = cut(q->c, first, q->pixels, q->piece);
        q->columns.width = sn_gemm_width(tile, q->pixels);
        compute_panel(q, g, begin, end, weight, first, dst);
    }
}

/* Copies the first row of a phase in `channels` planes to its other rows. */
static void repeat_row(const struct sn_convolution * c, size_t channels, size_t rows, sn_32f * dst)
{
    const size_t width = c->p.dstW, step = sn_phases_y(c)->stride * width;
    for (size_t o = 0; o < channels; ++o, dst += c->p.dstH * width)
        for (size_t y = 1; y < rows; ++y)
            memcpy(dst + y * step, dst, width * sizeof(float));
}

/* Computes output channels begin .. end - 1 of group g, whose weights are given. Rows without taps are alike: 5x10x10 to 111 by 1x1
 * with stride 4 takes 0.6 of the time of all rows. */
static void compute_channels(struct panel * q, const struct sn_share * s, size_t g, size_t begin, size_t end,
                             const sn_32f * weight, const struct sn_arrays * a)
{
    const struct sn_convolution * c = q->c;
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const bool kept = data_of(c)->kept > 0;
    size_t before = 0; /* floats of panels */
    q->panels = a->work;
    for (size_t f = 0; f < y->number; ++f) {
        q->y = &y->phase[f];
        const size_t rows = sn_phase_rows(q->y, s->line, s->lines);
        const bool again = as_before(c, f);
        q->packed = kept && (begin > 0 || again);
        q->number = kept ? panels_of(c, rows) : 0;
        if (kept && !again) {
            q->panels += before;
            before = row_panels_size(c, q->y, rows);
        }
        sn_32f * dst = (sn_32f *)a->dst + (s->line * y->stride + f) * c->p.dstW;
        if (rows)
            compute_phase(q, g, begin, end, q->y->taps ? rows : 1, weight, dst);
        if (!q->y->taps)
            repeat_row(c, end - begin, rows, dst + begin * c->p.dstH * c->p.dstW);
        for (size_t i = 0; i < x->number; ++i)
            weight += sn_outputs(c) * step_of(depth_of(c, q->y, &x->phase[i]));
    }
}

/* Computes some rows, and columns of them. */
static void compute_part(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a,
                         struct sn_phase_columns columns)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band;
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const size_t g = s->image % p->group, outputs = sn_outputs(c), some = data_of(c)->kept ? data_of(c)->outputs : outputs;
    struct panel q = {.c = c, .all = columns, .product = (sn_32f *)a->work + panel_size(c),
        .columns = {.src = a->src, .exact = !band->copied}};
    if (band->copied) {
        sn_32f * copy = q.product + products_size(c);
        for (size_t i = 0; i < sn_inputs(c); ++i)
            sn_phase_planes_copy(c, band, q.columns.src + i * p->srcH * p->srcW, s->line, s->lines, columns,
                                 copy + i * band->plane);
        q.columns.src = copy;
    } else if (sn_phases_used(c)) {
        q.columns.src += (size_t)(y->low + (ptrdiff_t)s->line) * band->line + (size_t)x->low;
    }
    const sn_32f * weight = sn_weights(c) + g * (c->weightSize / sizeof(float) / p->group);
    for (size_t o = 0; o < outputs; o += some)
        compute_channels(&q, s, g, o, sn_min(o + some, outputs), weight, a);
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    compute_part(c, s, a, SN_ALL_COLUMNS);
}

/* Some columns of the only row of each phase. */
static void compute_columns(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_share row = {.image = s->image, .lines = 1};
    compute_part(c, &row, a, sn_phase_columns_of(c, s));
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    if (!sn_phase_columns_run(c, a, compute_columns))
        sn_phase_bands_run(c, &data_of(c)->band, a, compute);
}

const struct sn_convolution_algorithm sn_deconvolution_32f_nchw = {.name = "phases NCHW", .tiled = true,
    .supports = supports, .cost = cost, .plan = plan, .offsets = offsets, .pack = pack,
    .alike = sn_phases_same, .forward = forward};
