/*
 * NCHW with one input channel in each group: every phase is a small depthwise convolution of stride 1, for each output
 * channel. Vectors of pixels, from a copy of some lines with what outputs reach beyond them; the phases of these lines are
 * computed one after the other, then interleaved into rows of the result.
 */
#include <string.h>

#include "ops/deconvolution_32f.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"

static bool takes(const struct sn_convolution_32f * c)
{
    return c->p.srcF == SN_NCHW && c->p.srcC > 0 && c->p.srcC == c->p.group;
}

static bool plan(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    c->channels = p->dstC;
    c->segments = c->x.taps;
    c->depth = p->kernelY * p->kernelX;
    size_t row, products;
    if (!sn_product(&row, c->x.number, c->x.count) ||
        !sn_planes_plan(c, true, 1, row, sn_cpu()->cacheL1 / 2 / sizeof(float)))
        return false;
    return sn_product(&products, c->band.rows, row) && sn_product(&c->workSize, c->workSize + products, 1) &&
           sn_product(&c->weightSize, c->depth, p->dstC);
}

/* The taps of an output channel, phase after phase. */
static void pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    for (size_t x = 0; x < c->segments; ++x)
        segment[x] = x * c->x.lineStep;
    for (size_t o = 0; o < c->p.dstC; ++o, weight += c->depth, packed += c->depth) {
        sn_32f * to = packed;
        for (size_t fy = 0; fy < c->y.number; ++fy)
            for (size_t fx = 0; fx < c->x.number; ++fx)
                for (size_t ky = 0; ky < c->y.phase[fy].taps; ++ky)
                    for (size_t kx = 0; kx < c->x.phase[fx].taps; ++kx)
                        *to++ = weight[sn_phase_tap(&c->y, &c->y.phase[fy], ky) * c->p.kernelX +
                                       sn_phase_tap(&c->x, &c->x.phase[fx], kx)];
    }
}

static void spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    memcpy(spread, values, c->channels * sizeof(float));
}

/* `rows` outputs of a phase y in all phases x, of one channel; src is the band. */
static void compute_phase(const struct sn_convolution_32f * c, size_t channel, const sn_32f * src, const struct sn_phase * y,
                          size_t rows, const sn_32f * weight, sn_32f * products, sn_32f * dst)
{
    const size_t columns = c->x.count;
    struct sn_depthwise_nchw_32f d = {.srcStep = c->band.line, .tapStep = c->y.lineStep * c->band.line, .tap = c->segment,
        .kernelY = y->taps, .weight = weight, .bias = c->bias[channel], .slope = c->slope ? c->slope[channel] : 0,
        .activation = sn_tile_activation(c), .param = {c->param[0], c->param[1]}, .rows = rows, .columns = columns};
    for (size_t f = 0; f < c->x.number; ++f) {
        const struct sn_phase * x = &c->x.phase[f];
        d.src = src + y->from * c->band.line + x->from;
        d.kernelX = x->taps;
        d.dst = products + f * rows * columns;
        c->table->convolution_32f.depthwise_nchw(&d);
        d.weight += y->taps * x->taps;
    }
    const struct sn_interleave_32f job = {.src = products, .phases = c->x.number, .phaseStep = rows * columns,
        .srcStep = columns, .dst = dst, .dstStep = c->y.stride * c->p.dstW, .rows = rows, .size = c->p.dstW};
    sn_planes_interleave(c, &job);
}

static void compute_band(const struct sn_convolution_32f * c, size_t g, const sn_32f * src, sn_32f * work, size_t row,
                         sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t outputs = p->dstC / p->group;
    sn_32f * products = work, * band = products + c->band.rows * c->x.number * c->x.count;
    sn_planes_copy(c, src, row, band);
    for (size_t o = 0; o < outputs; ++o, dst += p->dstH * p->dstW) {
        const sn_32f * weight = c->weight + (g * outputs + o) * c->depth;
        for (size_t f = 0; f < c->y.number; ++f) {
            const struct sn_phase * y = &c->y.phase[f];
            const size_t rows = sn_phase_rows(c, y, row);
            if (rows)
                compute_phase(c, g * outputs + o, band, y, rows, weight, products, dst + (row * c->y.stride + f) * p->dstW);
            for (size_t x = 0; x < c->x.number; ++x)
                weight += y->taps * c->x.phase[x].taps;
        }
    }
}

static void forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    sn_deconvolution_32f_bands(c, compute_band, src, work, dst);
}

const struct sn_convolution_32f_way sn_deconvolution_32f_depthwise = {
    "depthwise phases NCHW", false, takes, plan, pack, spread, forward, NULL};
