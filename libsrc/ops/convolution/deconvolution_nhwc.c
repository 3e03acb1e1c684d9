/*
 * NHWC, by the GEMM tile: rows of A are neighbouring outputs of a phase, whose inputs are neighbouring pixels; columns are
 * output channels. The tile writes a phase directly to its place, every stride-th pixel of every stride-th row.
 *
 * Neighbouring phases that have the same inputs are one product with the columns of all of them. If kernel and stride are
 * equal, that is a whole row of the kernel: a 1x1 convolution that writes whole rows of the result.
 *
 * Groups are separate products of each phase, since outputs of two phases of a group are not adjacent.
 *
 * NCHW with one group is converted if that is faster: first the lines that a band needs, afterwards its result.
 *
 * The image is read in place if possible; a band of its lines is copied if outputs need padding, or if pixels are a multiple
 * of 2 KB apart, which map to few sets of the L1 cache, or if products have several taps and pixels have gaps between them.
 * Products of several phases cannot be written to pixels with gaps: rows are copied from the workspace.
 */
#include <math.h>
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/deconvolution.h"
#include "ops/convolution/nhwc_band.h"
#include "ops/convolution/phase_bands.h"
#include "ops/convolution/tap_rows.h"
#include "runtime/cpu.h"

struct phases_nhwc {
    struct sn_band band;
    size_t length; /* of a segment; 0: all taps of a line */
    size_t step;   /* floats of weights for one tap in y of all phases in x */
};
SN_FITS_ALGORITHM_DATA(struct phases_nhwc);

static const struct phases_nhwc * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool is_nchw(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

static bool supports_nhwc(const struct sn_convolution * c) { return !is_nchw(c); }

/* Planes are not converted if a row of all phases is more floats: the workspace holds one in NHWC. */
static const double MOST_CONVERTED = 1 << 18;

static bool supports_nchw(const struct sn_convolution * c)
{
    const double row = (double)(sn_phases_y(c)->number * c->p.dstW) * (double)c->p.dstC;
    return is_nchw(c) && c->p.group == 1 && sn_phases_used(c) && row <= MOST_CONVERTED;
}

/* Whether a product has inputs of several pixels; whether one has outputs of several phases. */
static bool has_taps(const struct sn_convolution * c) { return sn_phases_y(c)->taps > 1 || sn_phases_x(c)->taps > 1; }

/* The number of phases from f on that are one product. */
static size_t alike_of(const struct sn_convolution * c, size_t f)
{
    return c->p.group == 1 ? sn_phases_alike(sn_phases_x(c), f) : 1;
}

static bool has_alike(const struct sn_convolution * c)
{
    for (size_t f = 0; f < sn_phases_x(c)->number; ++f)
        if (alike_of(c, f) > 1)
            return true;
    return false;
}

/* ---- cost */

/* Vector cycles of a product, for each output of a phase; times more for a last panel of a single vector; the part of a vector
 * that half of it takes, between half the time (Zen 4) and all of it (Intel); and to convert a float. */
static const double PHASES_PIXELS = 1.03, PHASES_NARROW = 1.5, PHASES_HALF = 0.75, PHASES_CONVERTED = 9;

/* Vector cycles in which each sum gets one product: as many sums are computed at a time. */
static const double PHASES_LATENCY = 8;

/* Vector cycles of a row of a panel of each of several groups, beside its sums: fitted to 12 layers (Xeon with AMX). */
static const double PHASES_GROUP_ROW = 5;

/* The columns that a panel with so many takes the time of. */
static double columns_taken(const struct sn_convolution * c, size_t columns)
{
    const double lanes = (double)sn_lanes(c), width = sn_tile_width(c, columns);
    const double whole = floor(width / lanes) * lanes, taken = whole + (width > whole ? PHASES_HALF * lanes : 0);
    return width > lanes ? taken : PHASES_NARROW * taken;
}

static double cost(const struct sn_convolution * c)
{
    const size_t alike = alike_of(c, 0), columns = alike * sn_outputs(c), wide = c->table->gemm.tile_32f.columns;
    const size_t rows = sn_min(c->table->gemm.tile_32f.rows, sn_phases_y(c)->count * sn_phases_x(c)->count);
    const double least = PHASES_LATENCY * (double)sn_lanes(c) / (double)sn_max(rows, 1);
    const size_t last = columns % wide;
    const double taken = (double)(columns / wide) * fmax((double)wide, least) + (last ? fmax(columns_taken(c, last), least) : 0);
    const double row = c->p.group > 1 ? PHASES_GROUP_ROW * (double)sn_ceil_div(columns, wide) : 0;
    const double products = PHASES_PIXELS * sn_phases_depth(c) * taken / (double)alike;
    return sn_of_phases(c, (products + row * (double)sn_lanes(c)) * (double)c->p.group);
}

static double cost_converted(const struct sn_convolution * c)
{
    const double phases = (double)(sn_phases_y(c)->number * sn_phases_x(c)->number);
    return cost(c) + sn_of_phases(c, PHASES_CONVERTED * ((double)c->p.dstC + (double)c->p.srcC / phases));
}

/* ---- workspace, plan and weights */

/* The workspace: the band, if it is ever copied; then the rows of the result, in NHWC one, and in NCHW the converted
 * lines. */
static size_t result_offset(const struct sn_convolution * c)
{
    const struct sn_band * band = &data_of(c)->band;
    const bool copies = band->copied || (!is_nchw(c) && has_taps(c));
    return copies ? sn_align(band->lines * band->line, SN_ALIGN / sizeof(float)) : 0;
}

static size_t lines_offset(const struct sn_convolution * c)
{
    const size_t result = data_of(c)->band.rows * sn_phases_y(c)->number * c->p.dstW * c->p.dstC;
    return result_offset(c) + sn_align(result, SN_ALIGN / sizeof(float));
}

static bool plan_band(struct sn_convolution * c, struct sn_band * band)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const bool clash = sn_share_sets(p->srcC * sizeof(float), SN_TWO_SETS) && p->dstW * p->dstH > 1;
    band->copied = sn_phases_used(c) && (clash || sn_phases_reach_out(y, p->srcH) || sn_phases_reach_out(x, p->srcW));
    band->columns = band->copied ? x->count + x->reach : p->srcW;
    band->pixel = p->srcC + (clash ? SN_ALIGN / sizeof(float) : 0);
    size_t line, row, all;
    if (!sn_product(&band->line, band->columns, band->pixel) || !sn_product(&row, y->number, p->dstW, p->dstC) ||
        !sn_product(&line, p->srcW, p->srcC) || !sn_product(&all, row + band->line + (is_nchw(c) ? line : 0), 1))
        return false;
    sn_phase_band_rows(c, all, y->reach * band->line, sn_cpu()->cacheL2 / 2 / sizeof(float), band);
    if (!is_nchw(c))
        return sn_product(&all, band->lines, band->line) &&
               sn_floats(&c->workSize, result_offset(c) + (has_alike(c) ? p->dstW * p->dstC : 0));
    return sn_product(&all, band->copied, band->lines, band->line) && sn_product(&row, row, band->rows) &&
           sn_product(&line, line, band->lines) && sn_floats(&c->workSize, lines_offset(c) + line);
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    struct phases_nhwc * o = (void *)c->algorithmData;
    if (!plan_band(c, &o->band))
        return false;
    const bool joined = x->lineStep == 1 && o->band.pixel == p->srcC && p->group == 1;
    o->length = joined ? 0 : sn_inputs(c);
    if (joined)
        c->segments = y->taps;
    else if (!sn_phase_segments_plan(c, 1))
        return false;
    c->channels = o->step = 0;
    for (size_t f = 0, n, columns, size; f < x->number; f += n) {
        n = alike_of(c, f);
        if (!sn_product(&columns, n, sn_outputs(c)) ||
            !sn_product(&columns, sn_panels_width(&c->table->gemm.tile_32f, columns), p->group) ||
            !sn_product(&size, x->phase[f].taps, sn_inputs(c), columns) || !sn_product(&o->step, o->step + size, 1) ||
            !sn_product(&c->channels, c->channels + columns, 1))
            return false;
    }
    size_t taps = 0;
    for (size_t f = 0; f < y->number; ++f)
        taps += y->phase[f].taps;
    c->runStep = sn_panels_width(&c->table->gemm.tile_32f, sn_outputs(c)); /* of the first phase */
    return sn_floats(&c->weightSize, taps, o->step);
}

/*
 * Packs a row of a panel: columns first .. first + count - 1 of the phases from f on, for tap number `tap` of each. weight:
 * the address for tap 0 of the kernel row and output 0.
 */
static void pack_row(const struct sn_convolution * c, const sn_32f * weight, size_t f, size_t tap, size_t first,
                     size_t count, sn_32f * row)
{
    const struct sn_phases * x = sn_phases_x(c);
    const size_t outputs = sn_outputs(c), plane = c->p.kernelY * c->p.kernelX;
    for (size_t n; count; first += n, count -= n, row += n) {
        const size_t kx = sn_phase_tap(x, &x->phase[f + first / outputs], tap), o = first % outputs;
        n = sn_min(count, outputs - o);
        if (is_nchw(c))
            for (size_t i = 0; i < n; ++i)
                row[i] = weight[(o + i) * plane + kx];
        else
            memcpy(row, weight + kx * outputs + o, n * sizeof(float));
    }
}

/* Packs the panels of phases fx .. fx + alike - 1 in x, and fy in y, of the group whose weights are given. */
static sn_32f * pack_phases(const struct sn_convolution * c, const sn_32f * weight, size_t fy, size_t fx, size_t alike,
                            sn_32f * packed)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const struct sn_phase * y = &sn_phases_y(c)->phase[fy], * x = &sn_phases_x(c)->phase[fx];
    for (size_t first = 0; first < alike * sn_outputs(c); first += tile->columns) {
        const size_t columns = sn_min(tile->columns, alike * sn_outputs(c) - first), width = sn_gemm_width(tile, columns);
        for (size_t ky = 0; ky < y->taps; ++ky)
            for (size_t kx = 0; kx < x->taps; ++kx)
                for (size_t i = 0; i < sn_inputs(c); ++i, packed += width) {
                    const size_t row = sn_phase_tap(sn_phases_y(c), y, ky) * p->kernelX; /* of the kernel */
                    const size_t at = i * p->kernelY * p->kernelX * sn_outputs(c) + row * (is_nchw(c) ? 1 : sn_outputs(c));
                    pack_row(c, weight + at, fx, kx, first, columns, packed);
                }
    }
    return packed;
}

static void offsets(const struct sn_convolution * c)
{
    if (data_of(c)->length)
        sn_phase_segments_offsets(c, &data_of(c)->band, 1);
    else
        for (size_t s = 0; s < c->segments; ++s)
            c->segment[s] = s * sn_phases_y(c)->lineStep * data_of(c)->band.line;
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const size_t group = sn_inputs(c) * c->p.kernelY * c->p.kernelX * sn_outputs(c); /* weights of one */
    sn_32f * packed = c->weight;
    for (size_t fy = 0; fy < y->number; ++fy)
        for (size_t fx = 0, alike; fx < x->number; fx += alike) {
            alike = alike_of(c, fx);
            for (size_t g = 0; g < c->p.group; ++g)
                packed = pack_phases(c, (const sn_32f *)weight + g * group, fy, fx, alike, packed);
        }
}

static void spread(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread)
{
    const size_t outputs = sn_outputs(c);
    const struct sn_phases * x = sn_phases_x(c);
    for (size_t f = 0, alike; f < x->number; f += alike) {
        alike = alike_of(c, f);
        for (size_t g = 0; g < c->p.group; ++g) {
            for (size_t i = 0; i < alike; ++i)
                memcpy(spread + i * outputs, values + g * outputs, outputs * sizeof(float));
            spread += sn_panels_width(&c->table->gemm.tile_32f, alike * outputs);
        }
    }
}

/* ---- forward */

/* The input of some rows and columns, to the address of that of the first of them. */
static void copy_band(const struct sn_convolution * c, struct sn_nhwc_image image, size_t row, size_t rows,
                      struct sn_phase_columns columns, sn_32f * band)
{
    const size_t lines = sn_phase_lines(c, rows), all = data_of(c)->band.columns - columns.begin;
    const size_t some = columns.end == SIZE_MAX ? all : sn_min(columns.end - columns.begin + sn_phases_x(c)->reach, all);
    const size_t pixel = data_of(c)->band.pixel, line = data_of(c)->band.line;
    const struct sn_span y = sn_span_of(sn_phases_y(c)->low + (ptrdiff_t)row, lines, c->p.srcH);
    const struct sn_span x = sn_span_of(sn_phases_x(c)->low + (ptrdiff_t)columns.begin, some, c->p.srcW);
    size_t first = y.begin * c->p.srcW + x.begin;
    memset(band, 0, y.before * line * sizeof(float));
    band += y.before * line;
    for (size_t i = 0; i < y.inside; ++i, band += line, first += c->p.srcW) {
        sn_32f * to = band + x.before * pixel, * behind = to + x.inside * pixel;
        memset(band, 0, x.before * pixel * sizeof(float));
        if (x.inside)
            sn_nhwc_copy(c, image, first, 1, x.inside, to, pixel);
        memset(behind, 0, (size_t)(band + some * pixel - behind) * sizeof(float));
    }
    memset(band, 0, (lines - y.before - y.inside) * line * sizeof(float));
}

/* Converts the lines of an NCHW image that `rows` outputs from `row` on need to NHWC; returns the address at which the whole
 * NHWC image would begin. */
static const sn_32f * convert_lines(const struct sn_convolution * c, const sn_32f * src, size_t row, size_t rows,
                                    sn_32f * work)
{
    const size_t lines = sn_phase_lines(c, rows);
    const struct sn_span y = sn_span_of(sn_phases_y(c)->low + (ptrdiff_t)row, lines, c->p.srcH);
    const size_t first = y.inside ? y.begin * c->p.srcW : 0;
    sn_32f * image = work - first * c->p.srcC;
    c->table->layout.image_32f(c->p.srcC, c->p.srcH * c->p.srcW, src, SN_NCHW, image, SN_NHWC,
                               first, first + y.inside * c->p.srcW);
    return image;
}

/* The rows of a product may be any pixels: all as one line, if contiguous, or along columns, if these are longer. False: they
 * stay rows, and may leave out taps: that must depend on all `lines` of a phase, not on those of a thread, since products of
 * padding change the sign of a 0. */
static bool choose_row_order(struct sn_gemm_32f * g, size_t rows, size_t lines)
{
    if (g->aStepY == g->width * g->aStepX && g->cStepY == g->width * g->cStepX) {
        g->width *= g->height;
        g->height = 1;
        return true;
    }
    if (g->width >= rows || g->width >= lines)
        return false;
    if (g->width < g->height) {
        const struct sn_gemm_32f was = *g;
        g->height = was.width, g->aStepY = was.aStepX, g->cStepY = was.cStepX;
        g->width = was.height, g->aStepX = was.aStepY, g->cStepX = was.cStepY;
    }
    return true;
}

/* The weights, biases and slopes of the next product. */
struct parameters {
    const sn_32f * b, * bias, * slope;
};

/*
 * Whether a panel prefetches the next one, of weights that exceed the L2 cache: with few rows, if both stay in it. 1024x4x4 to
 * 512 by 4x4 with stride 2 takes 0.83 of the time, 512x8x8 0.94 (avx512 0.82, 0.93); 98 rows of 128 KB would take 1.1, 72 rows
 * of 950 KB 1.1 (avx512, Xeon with AMX).
 */
static bool prefetches_panels(const struct sn_convolution * c, const struct sn_gemm_32f * g, size_t depth)
{
    enum { FEW_ROWS = 64 };
    const size_t bytes = depth * c->table->gemm.tile_32f.columns * sizeof(float), rows = g->height * g->width;
    return rows && rows <= FEW_ROWS && bytes <= sn_cpu()->cacheL2 / 4 && sn_weights_exceed_l2(c);
}

/* Computes the panels of `columns` outputs of a group from `gemm`, whose other members are those of all panels. taps: NULL, or
 * those of its rows. */
static void compute_panels(const struct sn_convolution * c, struct sn_gemm_32f gemm, const struct sn_tap_rows * taps,
                           size_t columns, size_t depth, struct parameters * at)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    struct sn_tap_rows rows = taps ? *taps : (struct sn_tap_rows){0};
    gemm.onward = (taps || gemm.height == 1) && prefetches_panels(c, &gemm, depth);
    sn_32f * dst = gemm.c;
    for (size_t first = 0; first < columns; first += tile->columns) {
        gemm.columns = sn_min(tile->columns, columns - first);
        gemm.b = at->b;
        gemm.c = dst + first;
        gemm.bias = at->bias + first;
        gemm.slope = at->slope ? at->slope + first : NULL;
        if (gemm.onward) {
            gemm.prefetch = gemm.b + depth * gemm.columns;
            gemm.prefetchStep = depth * gemm.columns / (gemm.height * gemm.width);
            rows.fetched = gemm.prefetchStep * gemm.width;
        }
        if (taps && gemm.width)
            sn_run_tap_rows(tile, &gemm, &rows);
        else if (gemm.width)
            tile->run(&gemm);
        at->b += depth * sn_gemm_width(tile, gemm.columns);
    }
    at->bias += sn_panels_width(tile, columns);
    at->slope = at->slope ? at->slope + sn_panels_width(tile, columns) : NULL;
}

/* Computes `rows` rows of a phase y from `row` on, in some columns of all phases x. src is the band, b the weights of the
 * phase, dst its first row, whose pixels are `pixel` floats apart. */
static void compute_phase(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src,
                          const struct sn_phase * y, size_t row, size_t rows, struct sn_phase_columns columns, const sn_32f * b,
                          sn_32f * dst, size_t pixel)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_phases * all = sn_phases_x(c);
    const struct sn_tap_rows taps = {.first = sn_phases_y(c)->low + (ptrdiff_t)(y->from + row), .stride = 1,
        .step = sn_phases_y(c)->lineStep, .taps = y->taps, .lines = p->srcH};
    struct parameters at = {b, c->bias, c->slope};
    for (size_t f = 0, alike; f < all->number; f += alike) {
        const struct sn_phase * x = &all->phase[f];
        const size_t begin = sn_min(columns.begin, x->count), end = sn_min(columns.end, x->count);
        alike = alike_of(c, f);
        struct sn_gemm_32f gemm = {.height = rows, .width = end - begin, .aStepY = band->line, .aStepX = band->pixel,
            .segments = x->taps ? y->taps : 0, .segment = c->segment, .length = x->taps * sn_inputs(c),
            .cStepY = sn_phases_y(c)->stride * p->dstW * pixel, .cStepX = all->stride * pixel,
            .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}};
        if (data_of(c)->length) {
            gemm.segments *= x->taps;
            gemm.segment = sn_phase_offsets(c, x, 1);
            gemm.length = data_of(c)->length;
        }
        const bool ordered = choose_row_order(&gemm, c->table->gemm.tile_32f.rows, y->count);
        for (size_t g = 0; g < p->group; ++g) {
            gemm.a = src + y->from * band->line + (x->from + begin) * band->pixel + g * sn_inputs(c);
            gemm.c = dst + (f + begin * all->stride) * pixel + g * sn_outputs(c);
            compute_panels(c, gemm, ordered ? NULL : &taps, alike * sn_outputs(c), y->taps * x->taps * sn_inputs(c), &at);
        }
    }
}

/* The same, row by row in the workspace, for pixels with gaps. */
static void compute_spaced(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src,
                           const struct sn_phase * y, size_t first, size_t rows, const sn_32f * b, sn_32f * work,
                           sn_32f * dst, size_t pixel)
{
    const size_t channels = c->p.dstC, line = sn_phases_y(c)->stride * c->p.dstW * pixel;
    sn_32f * row = work + result_offset(c);
    struct sn_lines_32f copy = {.src = row, .srcStep = channels, .stride = 1, .dst = dst, .dstStep = pixel,
        .lines = c->p.dstW, .inside = channels, .size = channels};
    for (size_t i = 0; i < rows; ++i, src += band->line, copy.dst += line) {
        compute_phase(c, band, src, y, first + i, 1, SN_ALL_COLUMNS, b, row, channels);
        c->table->convolution_32f.lines(&copy);
    }
}

/* The band for rows from `row` on, and these columns, in the workspace or in the image; returns the address of its column 0. */
static const sn_32f * find_band(const struct sn_convolution * c, const struct sn_arrays * a, size_t row, size_t rows,
                                struct sn_phase_columns columns, struct sn_band * band)
{
    struct sn_nhwc_image image = {a->src, a->at->srcPixel};
    *band = data_of(c)->band;
    if (is_nchw(c))
        image.src = convert_lines(c, a->src, row, rows, (sn_32f *)a->work + lines_offset(c));
    if (band->copied || (image.pixel != c->p.srcC && has_taps(c))) {
        copy_band(c, image, row, rows, columns, a->work);
        return (sn_32f *)a->work - columns.begin * band->pixel;
    }
    band->pixel = image.pixel;
    band->line = c->p.srcW * image.pixel;
    if (sn_phases_used(c))
        image.src += (size_t)(sn_phases_y(c)->low + (ptrdiff_t)row) * band->line +
                     (size_t)sn_phases_x(c)->low * band->pixel;
    return image.src;
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_phases * y = sn_phases_y(c);
    const size_t row = s->line, first = row * y->stride; /* of the result */
    const size_t pixel = is_nchw(c) ? p->dstC : a->at->dstPixel;
    struct sn_band band;
    const sn_32f * src = find_band(c, a, row, s->lines, SN_ALL_COLUMNS, &band), * b = c->weight;
    sn_32f * work = a->work, * dst = a->dst;
    sn_32f * result = is_nchw(c) ? work + result_offset(c) : dst + first * p->dstW * pixel;
    const bool spaced = pixel != p->dstC && has_alike(c);
    for (size_t f = 0; f < y->number; ++f) {
        const struct sn_phase * phase = &y->phase[f];
        const size_t rows = sn_phase_rows(phase, row, s->lines);
        sn_32f * to = result + f * p->dstW * pixel;
        if (rows && spaced)
            compute_spaced(c, &band, src, phase, row, rows, b, work, to, pixel);
        else if (rows)
            compute_phase(c, &band, src, phase, row, rows, SN_ALL_COLUMNS, b, to, pixel);
        b += phase->taps * data_of(c)->step;
    }
    const size_t last = sn_min(first + s->lines * y->stride, p->dstH);
    if (is_nchw(c))
        c->table->layout.image_32f(p->dstC, p->dstH * p->dstW, result - first * p->dstW * p->dstC, SN_NHWC,
                                   dst, SN_NCHW, first * p->dstW, last * p->dstW);
}

enum { LEAST_COLUMNS = 32 }; /* of each phase: several tiles of rows */

/* Some columns of the only row of each phase: as many at a time as stay in the L2 cache with what is copied for them. */
static void compute_columns(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_phases * y = sn_phases_y(c);
    const size_t column = (c->p.srcC + sn_phases_x(c)->stride * c->p.dstC) * sizeof(float);
    const size_t most = sn_max(sn_cpu()->cacheL2 / 4 / column, LEAST_COLUMNS), pixel = a->at->dstPixel;
    const struct sn_phase_columns all = sn_phase_columns_of(c, s);
    struct sn_phase_columns some = all;
    struct sn_band band;
    for (; some.begin < all.end; some.begin = some.end) {
        some.end = sn_min(some.begin + most, all.end);
        const sn_32f * src = find_band(c, a, 0, 1, some, &band), * b = c->weight;
        for (size_t f = 0; f < y->number; b += y->phase[f++].taps * data_of(c)->step)
            compute_phase(c, &band, src, &y->phase[f], 0, 1, some, b, (sn_32f *)a->dst + f * c->p.dstW * pixel, pixel);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const bool spaced = a->at->dstPixel != c->p.dstC && has_alike(c);
    if (is_nchw(c) || spaced || !sn_phase_columns_run(c, a, compute_columns))
        sn_phase_bands_run(c, &data_of(c)->band, a, compute);
}

const struct sn_convolution_algorithm
    sn_deconvolution_32f_nhwc = {.name = "phases NHWC", .tiled = true, .supports = supports_nhwc, .cost = cost,
        .plan = plan, .offsets = offsets, .pack = pack, .alike = sn_phases_same, .spread = spread, .forward = forward},
    sn_deconvolution_32f_converted = {.name = "phases NCHW by NHWC", .tiled = true, .supports = supports_nchw,
        .cost = cost_converted, .plan = plan, .offsets = offsets, .pack = pack, .alike = sn_phases_same, .spread = spread,
        .forward = forward};
