/*
 * NCHW with one input channel in each group: every phase is a small depthwise convolution with stride 1, for each output
 * channel. Uses vectors of pixels, from a copy of some lines with their padding; the phases of these lines are computed one
 * after another, then interleaved into rows of the result.
 */
#include "ops/convolution/cost.h"
#include "ops/convolution/deconvolution.h"
#include "ops/convolution/phase_planes.h"
#include "runtime/cpu.h"

SN_FITS_ALGORITHM_DATA(struct sn_band);

static const struct sn_band * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NCHW && c->p.srcC > 0 && c->p.srcC == c->p.group;
}

/* Cycles */
static const double PHASE_CALL = 65;     /* for a phase of a plane, */
static const double PHASE_VECTOR = 6;    /* and a vector of its outputs; */
static const double INTERLEAVED_ROW = 185, INTERLEAVED = 12; /* for a row of other than 2 or 4 phases, and a vector of it */

static double cost(const struct sn_convolution * c)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const double phases = (double)(y->number * x->number), rows = (double)(y->number * y->count);
    const double vectors = (double)x->number * sn_vectors(c, x->count), taps = sn_taps(c) / phases;
    const bool zipped = x->number == 2 || x->number == 4;
    const double interleaved = zipped ? 0 : INTERLEAVED_ROW + INTERLEAVED * sn_vectors(c, c->p.dstW);
    const double row = vectors * (PHASE_VECTOR + taps) + interleaved;
    return (double)c->p.dstC * (SN_DEPTHWISE_PLANE + PHASE_CALL * phases + rows * row);
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_phases * x = sn_phases_x(c);
    struct sn_band * band = (void *)c->algorithmData;
    sn_channels_plain(c);
    c->segments = x->taps;
    size_t row, copied, products;
    if (!sn_product(&row, x->number, x->count) ||
        !sn_phase_planes_plan(c, true, 1, row, sn_cpu()->cacheL1 / 2 / sizeof(float), band, &copied))
        return false;
    return sn_product(&products, band->rows, row) && sn_floats(&c->workSize, copied + products) &&
           sn_floats(&c->weightSize, c->p.kernelY, c->p.kernelX, c->p.dstC);
}

/* Packs the taps of an output channel for phase y and phase x, by lines; returns the address for the next phase. */
static sn_32f * pack_phase(const struct sn_convolution * c, const sn_32f * weight, const struct sn_phase * y,
                           const struct sn_phase * x, sn_32f * to)
{
    for (size_t ky = 0; ky < y->taps; ++ky)
        for (size_t kx = 0; kx < x->taps; ++kx)
            *to++ = weight[sn_phase_tap(sn_phases_y(c), y, ky) * c->p.kernelX + sn_phase_tap(sn_phases_x(c), x, kx)];
    return to;
}

static void offsets(const struct sn_convolution * c)
{
    for (size_t i = 0; i < c->segments; ++i)
        c->segment[i] = i * sn_phases_x(c)->lineStep;
}

/* Packs the taps of each output channel, phase by phase. */
static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const size_t taps = c->p.kernelY * c->p.kernelX;
    const sn_32f * w = weight;
    for (size_t o = 0; o < c->p.dstC; ++o) {
        sn_32f * to = sn_weights(c) + o * taps;
        for (size_t fy = 0; fy < y->number; ++fy)
            for (size_t fx = 0; fx < x->number; ++fx)
                to = pack_phase(c, w + o * taps, &y->phase[fy], &x->phase[fx], to);
    }
}

/* Computes `rows` outputs of a phase y in all phases x, of one channel; src is the band. */
static void compute_phase(const struct sn_convolution * c, size_t channel, const sn_32f * src, const struct sn_phase * y,
                          size_t rows, const sn_32f * weight, sn_32f * products, sn_32f * dst)
{
    const struct sn_phases * all = sn_phases_x(c);
    const size_t columns = all->count, line = data_of(c)->line;
    struct sn_depthwise_nchw_32f d = {.srcStep = line, .tapStep = sn_phases_y(c)->lineStep * line, .tap = c->segment,
        .kernelY = y->taps, .weight = weight, .bias = c->bias[channel], .slope = c->slope ? c->slope[channel] : 0,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}, .dstStep = columns, .rows = rows,
        .columns = columns};
    for (size_t f = 0; f < all->number; ++f) {
        const struct sn_phase * x = &all->phase[f];
        d.src = src + y->from * line + x->from;
        d.kernelX = x->taps;
        d.dst = products + f * rows * columns;
        c->table->convolution_32f.depthwise_nchw(&d);
        d.weight += y->taps * x->taps;
    }
    const struct sn_interleave_32f job = {.src = products, .phases = all->number, .phaseStep = rows * columns,
        .srcStep = columns, .dst = dst, .dstStep = sn_phases_y(c)->stride * c->p.dstW, .rows = rows, .size = c->p.dstW};
    sn_phase_planes_interleave(c, &job);
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const size_t first = s->image % p->group * sn_outputs(c), taps = p->kernelY * p->kernelX;
    sn_32f * products = a->work, * band = products + data_of(c)->rows * x->number * x->count, * dst = a->dst;
    sn_phase_planes_copy(c, data_of(c), a->src, s->line, s->lines, SN_ALL_COLUMNS, band);
    for (size_t o = first; o < first + sn_outputs(c); ++o, dst += p->dstH * p->dstW) {
        const sn_32f * weight = sn_weights(c) + o * taps;
        for (size_t f = 0; f < y->number; ++f) {
            const struct sn_phase * phase = &y->phase[f];
            const size_t rows = sn_phase_rows(phase, s->line, s->lines);
            if (rows)
                compute_phase(c, o, band, phase, rows, weight, products, dst + (s->line * y->stride + f) * p->dstW);
            for (size_t i = 0; i < x->number; ++i)
                weight += phase->taps * x->phase[i].taps;
        }
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_phase_bands_run(c, data_of(c), a, compute);
}

const struct sn_convolution_algorithm sn_deconvolution_32f_depthwise = {.name = "depthwise phases NCHW",
    .supports = supports, .cost = cost, .plan = plan, .offsets = offsets, .pack = pack, .alike = sn_phases_same,
    .forward = forward};
