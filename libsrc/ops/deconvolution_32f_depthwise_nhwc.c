/*
 * NHWC with one channel in each group: every phase is a small depthwise convolution of stride 1, which reads the image in
 * place and writes every stride-th pixel of every stride-th row.
 */
#include "ops/deconvolution_32f.h"
#include "ops/depthwise_rows.h"
#include "ops/phase_bands.h"

/* The maximum number of pointers to lines for one call of the kernel, unless one row needs more. */
enum { LINES = 1024 };

static bool supports(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NHWC && c->p.srcC > 0 && c->p.srcC == c->p.group && c->p.dstC == c->p.group;
}

/* Lines from one output row of a phase to the next if rows share lines; otherwise each row has its own. */
static size_t line_step(const struct sn_convolution * c)
{
    const struct sn_phases * y = sn_phases_y(c);
    return y->lineStep == 1 ? 1 : y->taps;
}

static size_t most_rows(const struct sn_convolution * c) { return sn_max(1, LINES / sn_max(1, sn_phases_y(c)->taps)); }

static bool plan(struct sn_convolution * c)
{
    const size_t rows = sn_min(sn_phases_y(c)->count, most_rows(c));
    c->workSize = sn_align((rows * line_step(c) + sn_phases_y(c)->taps) * sizeof(void *), SN_ALIGN);
    return sn_depthwise_rows_weights(c);
}

/* ---- weights: for each phase y and phase x those of a depthwise convolution */

static sn_32f * pack_phase(const struct sn_convolution * c, const sn_32f * weight, const struct sn_phase * y,
                           const struct sn_phase * x, sn_32f * to)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), taps = y->taps * x->taps;
    for (size_t o = 0; o < p->dstC; ++o) {
        const sn_32f * from = weight + o * p->kernelY * p->kernelX;
        sn_32f * lane = to + o / lanes * taps * lanes + o % lanes;
        for (size_t ky = 0; ky < y->taps; ++ky)
            for (size_t kx = 0; kx < x->taps; ++kx, lane += lanes)
                *lane = from[sn_phase_tap(sn_phases_y(c), y, ky) * p->kernelX + sn_phase_tap(sn_phases_x(c), x, kx)];
    }
    return to + taps * c->channels;
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    sn_32f * to = c->weight;
    for (size_t fy = 0; fy < y->number; ++fy)
        for (size_t fx = 0; fx < x->number; ++fx)
            to = pack_phase(c, weight, &y->phase[fy], &x->phase[fx], to);
}

/* ---- computation */

/* Sets the pointers to the lines for `rows` outputs of a phase, of which the first is `row`. */
static void find_lines(const struct sn_convolution * c, const struct sn_phase * y, size_t row, size_t rows, const sn_32f * src,
                       size_t pixel, const sn_32f ** line)
{
    const struct sn_phases * all = sn_phases_y(c);
    const size_t first = (size_t)all->low + y->from + row; /* wraps for lines above the image */
    for (size_t r = 0; r < rows; ++r)
        for (size_t ky = 0; ky < y->taps; ++ky) {
            const size_t at = first + r + ky * all->lineStep;
            line[r * (all->lineStep == 1 ? 1 : y->taps) + ky] = at < c->p.srcH ? src + at * c->p.srcW * pixel : NULL;
        }
}

/* Makes a job that of phase x; a phase without taps, in either direction, is one without lines. Kernels for many columns expect
 * at least one line. */
static struct sn_depthwise_nhwc columns_of(const struct sn_convolution * c, struct sn_depthwise_nhwc d,
                                           const struct sn_phase * x)
{
    const struct sn_phases * all = sn_phases_x(c);
    const ptrdiff_t first = all->low + (ptrdiff_t)x->from;
    const size_t before = first < 0 ? 0 - (size_t)first : 0, at = sn_min(first < 0 ? 0 : (size_t)first, d.srcW);
    d.padX = before;
    d.offset = at * d.srcPixel;
    d.srcW -= at;
    d.strideX = 1;
    d.dilationX = all->lineStep;
    if (!x->taps)
        d.kernelY = 0;
    d.kernelX = d.kernelY ? x->taps : 1;
    d.dstW = x->count;
    d.dstPixel *= all->stride;
    return d;
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const size_t dstPixel = a->at->dstPixel;
    const sn_32f * weight = sn_weights(c);
    const sn_32f ** line = a->work;
    for (size_t fy = 0; fy < y->number; ++fy) {
        const struct sn_phase * phase = &y->phase[fy];
        const size_t rows = sn_phase_rows(phase, s->line, s->lines), outputs = (fy + s->line * y->stride) * c->p.dstW;
        struct sn_depthwise_nhwc d = sn_depthwise_job(c, &(struct sn_depthwise_rows){0}, 0, c->p.dstC,
                                                      a->at->srcPixel, dstPixel);
        find_lines(c, phase, s->line, rows, a->src, a->at->srcPixel, line);
        d.line = (const void * const *)line;
        d.lineStep = y->lineStep == 1 ? 1 : phase->taps;
        d.kernelY = phase->taps;
        d.rows = rows;
        d.dstRow *= y->stride;
        for (size_t fx = 0; fx < x->number; ++fx) {
            struct sn_depthwise_nhwc f = columns_of(c, d, &x->phase[fx]);
            f.weight = weight;
            f.dst = (sn_32f *)a->dst + (outputs + fx) * dstPixel;
            weight += phase->taps * x->phase[fx].taps * c->channels;
            if (rows && f.dstW)
                c->table->convolution_32f.depthwise_nhwc(&f);
        }
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_phase_bands_run(c, &(struct sn_band){.rows = most_rows(c)}, a, compute);
}

const struct sn_convolution_algorithm sn_deconvolution_32f_depthwise_nhwc = {.name = "depthwise phases NHWC",
    .supports = supports, .plan = plan, .pack = pack, .alike = sn_phases_same, .forward = forward};
