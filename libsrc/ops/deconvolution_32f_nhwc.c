/*
 * NHWC, by the GEMM tile: rows of A are neighbouring outputs of a phase, whose inputs are neighbouring pixels; columns are
 * output channels. The tile writes a phase where it belongs, every stride-th pixel of every stride-th row.
 *
 * Phases side by side that have the same inputs are one product with the columns of all of them. Where kernel and stride are
 * equal that is a whole row of the kernel: a 1x1 convolution that writes whole rows of the result.
 *
 * NCHW of one group is converted on the way, where that is faster: the lines that a band needs before, its result behind.
 *
 * The image is read in place where it can be; a band of its lines is copied when outputs reach beyond it, or when pixels lie
 * a multiple of 2 KB apart, which share few places of the first cache.
 */
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/deconvolution_32f.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"

static bool is_nchw(const struct sn_convolution_32f * c) { return c->p.srcF == SN_NCHW; }

/* The floats in a row of all panels of so many columns. */
static size_t width_of(const struct sn_convolution_32f * c, size_t columns)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    return columns / tile->columns * tile->columns + sn_gemm_width(tile, columns % tile->columns);
}

/* ---- the choice */

static bool takes_nhwc(const struct sn_convolution_32f * c) { return !is_nchw(c); }

/*
 * Cost model, in cycles of a vector for one output of a phase: what a product costs the NCHW way, whose lanes are pixels,
 * for each input, and the gathering of the inputs; and what it costs with channels as lanes, and the conversions. As
 * measured with 512-bit vectors.
 */
static bool takes_nchw(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (p->group != 1 || !c->y.taps || !c->x.taps)
        return false;
    const size_t lanes = sn_lanes(c), alike = sn_phases_alike(&c->x, 0), pixels = c->y.count * c->x.count;
    const double phases = (double)(c->y.number * c->x.number), outputs = (double)p->dstC;
    const double depth = (double)p->srcC * (double)(p->kernelY * p->kernelX) / phases;
    const double used = (double)(sn_ceil_div(pixels, lanes) * lanes) / (double)pixels;
    const double direct = used * (depth * (1.1 * outputs + 10 / (double)alike) + 6 * outputs);
    const double columns = (double)width_of(c, alike * p->dstC) / (double)alike;
    return 1.03 * depth * columns + 9 * (outputs + (double)p->srcC / phases) < direct;
}

/* ---- plan and weights */

/* The workspace of NCHW: the band, if it is copied, then the rows of the result, and the converted lines. */
static size_t result_offset(const struct sn_convolution_32f * c)
{
    return c->band.copied ? sn_align(c->band.lines * c->band.line, SN_ALIGN / sizeof(float)) : 0;
}

static size_t lines_offset(const struct sn_convolution_32f * c)
{
    return result_offset(c) + sn_align(c->band.rows * c->y.number * c->p.dstW * c->p.dstC, SN_ALIGN / sizeof(float));
}

static bool plan_band(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_band * band = &c->band;
    const bool used = c->y.taps && c->x.taps;
    const bool clash = sn_share_sets(p->srcC * sizeof(float), SN_TWO_SETS) && p->dstW * p->dstH > 1;
    band->copied = used && (clash || !sn_phases_inside(&c->y, p->srcH) || !sn_phases_inside(&c->x, p->srcW));
    band->columns = band->copied ? c->x.count + c->x.reach : p->srcW;
    band->pixel = p->srcC + (clash ? SN_ALIGN / sizeof(float) : 0);
    size_t line, row, all;
    if (!sn_product(&band->line, band->columns, band->pixel) || !sn_product(&row, c->y.number, p->dstW, p->dstC) ||
        !sn_product(&line, p->srcW, p->srcC) || !sn_product(&all, row + band->line + (is_nchw(c) ? line : 0), 1))
        return false;
    sn_deconvolution_32f_rows(c, all, c->y.reach * band->line, sn_cpu()->cacheL2 / 2 / sizeof(float));
    if (!sn_product(&c->workSize, band->copied, band->lines, band->line))
        return false;
    return !is_nchw(c) || (sn_product(&row, row, band->rows) && sn_product(&line, line, band->lines) &&
                           sn_product(&c->workSize, lines_offset(c) + line, 1));
}

static bool plan(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (!plan_band(c))
        return false;
    const bool joined = c->x.lineStep == 1 && c->band.pixel == p->srcC;
    c->length = joined ? 0 : p->srcC; /* 0: that of all taps of a line */
    if (joined)
        c->segments = c->y.taps;
    else if (!sn_deconvolution_32f_segments(c, 1))
        return false;
    c->channels = c->step = 0; /* step: floats for one tap in y of all phases in x */
    for (size_t f = 0, n, columns, size; f < c->x.number; f += n) {
        n = sn_phases_alike(&c->x, f);
        if (!sn_product(&columns, n, p->dstC) || !sn_product(&columns, width_of(c, columns), 1) ||
            !sn_product(&size, c->x.phase[f].taps, p->srcC, columns) || !sn_product(&c->step, c->step + size, 1) ||
            !sn_product(&c->channels, c->channels + columns, 1))
            return false;
    }
    size_t taps = 0;
    for (size_t f = 0; f < c->y.number; ++f)
        taps += c->y.phase[f].taps;
    return sn_product(&c->weightSize, taps, c->step);
}

/*
 * A row of a panel: columns first .. first + count - 1 of the phases from f on, for tap number `turn` of each. weight: that
 * of tap 0 in the row of the kernel and of output 0.
 */
static void pack_row(const struct sn_convolution_32f * c, const sn_32f * weight, size_t f, size_t turn, size_t first,
                     size_t count, sn_32f * row)
{
    const size_t outputs = c->p.dstC, plane = c->p.kernelY * c->p.kernelX;
    for (size_t n; count; first += n, count -= n, row += n) {
        const size_t kx = sn_phase_tap(&c->x, &c->x.phase[f + first / outputs], turn), o = first % outputs;
        n = sn_min(count, outputs - o);
        if (is_nchw(c))
            for (size_t i = 0; i < n; ++i)
                row[i] = weight[(o + i) * plane + kx];
        else
            memcpy(row, weight + kx * outputs + o, n * sizeof(float));
    }
}

/* The panels of the phases from fx on in x, `alike` of them, and fy in y. */
static sn_32f * pack_phases(const struct sn_convolution_32f * c, const sn_32f * weight, size_t fy, size_t fx, size_t alike,
                            sn_32f * packed)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const struct sn_phase * y = &c->y.phase[fy], * x = &c->x.phase[fx];
    for (size_t first = 0; first < alike * p->dstC; first += tile->columns) {
        const size_t columns = sn_min(tile->columns, alike * p->dstC - first), width = sn_gemm_width(tile, columns);
        for (size_t ky = 0; ky < y->taps; ++ky)
            for (size_t kx = 0; kx < x->taps; ++kx)
                for (size_t i = 0; i < p->srcC; ++i, packed += width) {
                    const size_t row = sn_phase_tap(&c->y, y, ky) * p->kernelX; /* of the kernel */
                    const size_t at = i * p->kernelY * p->kernelX * p->dstC + row * (is_nchw(c) ? 1 : p->dstC);
                    pack_row(c, weight + at, fx, kx, first, columns, packed);
                }
    }
    return packed;
}

static void pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    if (c->length)
        sn_deconvolution_32f_offsets(c, 1, segment);
    else
        for (size_t s = 0; s < c->segments; ++s)
            segment[s] = s * c->y.lineStep * c->band.line;
    for (size_t fy = 0; fy < c->y.number; ++fy)
        for (size_t fx = 0, alike; fx < c->x.number; fx += alike) {
            alike = sn_phases_alike(&c->x, fx);
            packed = pack_phases(c, weight, fy, fx, alike, packed);
        }
}

static void spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    const size_t outputs = c->p.dstC;
    for (size_t f = 0, alike; f < c->x.number; f += alike) {
        alike = sn_phases_alike(&c->x, f);
        for (size_t i = 0; i < alike; ++i)
            memcpy(spread + i * outputs, values, outputs * sizeof(float));
        spread += width_of(c, alike * outputs);
    }
}

/* ---- forward */

static void copy_band(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, sn_32f * band)
{
    const size_t C = c->p.srcC, pixel = c->band.pixel, line = c->band.line;
    const struct sn_span y = sn_span_of(c->y.low + (ptrdiff_t)row, c->band.lines, c->p.srcH);
    const struct sn_span x = sn_span_of(c->x.low, c->band.columns, c->p.srcW);
    src += y.inside && x.inside ? (y.begin * c->p.srcW + x.begin) * C : 0;
    memset(band, 0, y.before * line * sizeof(float));
    band += y.before * line;
    for (size_t i = 0; i < y.inside; ++i, band += line, src += c->p.srcW * C) {
        sn_32f * to = band + x.before * pixel, * behind = to + x.inside * pixel;
        memset(band, 0, x.before * pixel * sizeof(float));
        if (pixel == C)
            memcpy(to, src, x.inside * C * sizeof(float));
        else
            for (size_t n = 0; n < x.inside; ++n)
                memcpy(to + n * pixel, src + n * C, C * sizeof(float));
        memset(behind, 0, (size_t)(band + line - behind) * sizeof(float));
    }
    memset(band, 0, (c->band.lines - y.before - y.inside) * line * sizeof(float));
}

/* The lines of an NCHW image that outputs `row` and behind need, as those of an NHWC image; the result is where it would
 * begin. */
static const sn_32f * convert_lines(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, sn_32f * work)
{
    const struct sn_span y = sn_span_of(c->y.low + (ptrdiff_t)row, c->band.lines, c->p.srcH);
    const size_t first = y.inside ? y.begin * c->p.srcW : 0;
    sn_32f * image = work - first * c->p.srcC;
    c->table->layout.image_32f(c->p.srcC, c->p.srcH * c->p.srcW, src, SN_NCHW, image, SN_NHWC,
                                first, first + y.inside * c->p.srcW);
    return image;
}

/* The rows of a product may be any pixels: in one line, if they follow each other, or down the columns, if these are
 * longer. */
static void arrange(struct sn_gemm_32f * g, size_t rows)
{
    if (g->aStepY == g->width * g->aStepX && g->cStepY == g->width * g->cStepX) {
        g->width *= g->height;
        g->height = 1;
    } else if (g->width < rows && g->width < g->height) {
        const struct sn_gemm_32f was = *g;
        g->height = was.width, g->aStepY = was.aStepX, g->cStepY = was.cStepX;
        g->width = was.height, g->aStepX = was.aStepY, g->cStepX = was.cStepY;
    }
}

/* `rows` outputs of a phase y, in all phases x. src is the band, b the weights of the phase, dst its first row. */
static void compute_phase(const struct sn_convolution_32f * c, const sn_32f * src, const struct sn_phase * y, size_t rows,
                          const sn_32f * b, sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const sn_32f * bias = c->bias, * slope = c->slope;
    for (size_t f = 0, alike; f < c->x.number; f += alike) {
        const struct sn_phase * x = &c->x.phase[f];
        alike = sn_phases_alike(&c->x, f);
        struct sn_gemm_32f gemm = {.a = src + y->from * c->band.line + x->from * c->band.pixel, .height = rows,
            .width = x->count, .aStepY = c->band.line, .aStepX = c->band.pixel, .segments = y->taps,
            .segment = c->segment, .length = x->taps * p->srcC, .cStepY = c->y.stride * p->dstW * p->dstC,
            .cStepX = c->x.stride * p->dstC, .activation = sn_tile_activation(c), .param = {c->param[0], c->param[1]}};
        if (c->length) {
            gemm.segments *= x->taps;
            gemm.segment = sn_phase_offsets(c, x, 1);
            gemm.length = c->length;
        }
        arrange(&gemm, tile->rows);
        for (size_t first = 0; first < alike * p->dstC; first += tile->columns) {
            gemm.columns = sn_min(tile->columns, alike * p->dstC - first);
            gemm.b = b;
            gemm.c = dst + f * p->dstC + first;
            gemm.bias = bias + first;
            gemm.slope = slope ? slope + first : NULL;
            tile->run(&gemm);
            b += y->taps * x->taps * p->srcC * sn_gemm_width(tile, gemm.columns);
        }
        bias += width_of(c, alike * p->dstC);
        slope = slope ? slope + width_of(c, alike * p->dstC) : NULL;
    }
}

static void compute_band(const struct sn_convolution_32f * c, size_t g, const sn_32f * src, sn_32f * work, size_t row,
                         sn_32f * dst)
{
    (void)g;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t first = row * c->y.stride; /* of the result */
    sn_32f * result = is_nchw(c) ? work + result_offset(c) : dst + first * p->dstW * p->dstC;
    if (is_nchw(c))
        src = convert_lines(c, src, row, work + lines_offset(c));
    if (c->band.copied) {
        copy_band(c, src, row, work);
        src = work;
    } else if (c->y.taps && c->x.taps) {
        src += (size_t)(c->y.low + (ptrdiff_t)row) * c->band.line + (size_t)c->x.low * c->band.pixel;
    }
    const sn_32f * b = c->weight;
    for (size_t f = 0; f < c->y.number; ++f) {
        const struct sn_phase * y = &c->y.phase[f];
        const size_t rows = sn_phase_rows(c, y, row);
        if (rows)
            compute_phase(c, src, y, rows, b, result + f * p->dstW * p->dstC);
        b += y->taps * c->step;
    }
    const size_t last = sn_min(first + c->band.rows * c->y.stride, p->dstH);
    if (is_nchw(c))
        c->table->layout.image_32f(p->dstC, p->dstH * p->dstW, result - first * p->dstW * p->dstC, SN_NHWC,
                                    dst, SN_NCHW, first * p->dstW, last * p->dstW);
}

static void forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    sn_deconvolution_32f_bands(c, compute_band, src, work, dst);
}

const struct sn_convolution_32f_way
    sn_deconvolution_32f_nhwc = {"phases NHWC", true, takes_nhwc, plan, pack, spread, forward, NULL},
    sn_deconvolution_32f_converted = {"phases NCHW by NHWC", true, takes_nchw, plan, pack, spread, forward, NULL};
