/*
 * Convolution of bfloat16 numbers of each channel by itself, by the kernel of floats: there are no sums over channels, which
 * products of pairs would be good for. The band has bfloat16 numbers as floats, and so have the weights; results that are
 * to be rounded are floats in the workspace first.
 */
#include "ops/convolution_16b.h"
#include "ops/convolution_32f.h"
#include "runtime/memory.h"
#include "runtime/numeric.h"

/* Lines from one output row to the next, where rows share lines; else each row has its own. */
static size_t line_step(const struct sn_convolution_dot * c)
{
    return c->p.dilationY == 1 && c->band.strideY < c->p.kernelY ? c->band.strideY : c->p.kernelY;
}

/* The workspace behind the band: results on their way to planes, floats to be rounded, pointers to lines. */
static bool plan(struct sn_convolution_dot * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    size_t results, floats, lines;
    c->segments = 0;
    c->channels = sn_align(p->dstC, c->table->alignment / sizeof(float));
    c->group = 1;
    c->inputs = 1;
    if (!sn_product(&c->weightBytes, p->kernelY, p->kernelX, c->channels, sizeof(float)) ||
        !sn_dot_band_plan(c, sizeof(float), SN_READS_COPY, p->dstC * c->dstElement) ||
        !sn_product(&floats, p->dstT == SN_DATA_16B, c->band.rows, p->dstW, p->dstC, sizeof(float)) ||
        !sn_product(&lines, (c->band.rows - 1) * line_step(c) + p->kernelY, sizeof(sn_32f *)))
        return false;
    results = sn_align(c->workBytes - c->bandBytes, SN_ALIGN);
    c->roundBytes = results + sn_align(floats, SN_ALIGN);
    c->resultBytes = results;
    return sn_product(&c->workBytes, c->bandBytes + c->roundBytes + lines, 1);
}

/* For each vector of channels all taps, as struct sn_depthwise_nhwc_32f wants them. */
static void pack(const struct sn_convolution_dot * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = c->table->alignment / sizeof(float), taps = p->kernelY * p->kernelX;
    sn_32f * packed = c->weight;
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t t = 0; t < taps; ++t)
            packed[(o / lanes * taps + t) * lanes + o % lanes] =
                sn_16b_to_32f(((const sn_16b *)weight)[sn_weight_at(p, o, 0, 0, t)]);
}

static void find_lines(const struct sn_convolution_dot * c, const uint8_t * lines, size_t rows, const sn_32f ** line)
{
    const struct sn_convolution_parameters * p = &c->p;
    for (size_t y = 0; y < rows; ++y)
        for (size_t ky = 0; ky < p->kernelY; ++ky)
            line[y * line_step(c) + ky] =
                (const sn_32f *)(const void *)(lines + (y * c->band.strideY + ky * p->dilationY) * c->band.line);
}

static void compute(const struct sn_convolution_dot * c, const uint8_t * lines, const struct sn_share * s, uint8_t * work,
                    uint8_t * dst)
{
    const size_t row = s->line, rows = s->lines;
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_result_16b r = sn_result_16b_of(c, 0);
    const sn_32f ** line = (const sn_32f **)(void *)(work + c->roundBytes);
    size_t step;
    uint8_t * to = sn_dot_result_at(c, 0, p->dstC, row, work, dst, &step);
    sn_32f * floats = (sn_32f *)(void *)(r.narrow ? work + c->resultBytes : to);
    find_lines(c, lines, rows, line);
    const struct sn_depthwise_nhwc_32f d = {.line = line, .lineStep = line_step(c), .srcW = c->band.columns,
        .srcPixel = c->band.pixel / sizeof(float), .kernelY = p->kernelY, .kernelX = p->kernelX, .strideX = c->band.strideX,
        .dilationX = p->dilationX, .channels = p->dstC, .weight = c->weight, .bias = c->start, .slope = r.slope,
        .activation = r.activation, .param = {r.param[0], r.param[1]}, .dst = floats, .rows = rows, .dstW = p->dstW,
        .dstRow = p->dstW * p->dstC, .dstPixel = p->dstC};
    c->table->convolution_32f.depthwise_nhwc(&d);
    if (r.narrow)
        c->pixels(&(struct sn_pixels){.src = floats, .floats = true, .srcPixel = p->dstC, .srcChannel = 1,
            .channels = p->dstC, .pixels = rows * p->dstW, .dst = to, .dstPixel = step});
    sn_dot_result_done(c, work, 0, p->dstC, row, rows, dst);
}

static void forward(const struct sn_convolution_dot * c, const uint8_t * src, uint8_t * work, uint8_t * dst)
{
    sn_dot_bands_run(&(struct sn_dot_bands){.c = c, .src = src, .work = work, .dst = dst, .compute = compute});
}

const struct sn_convolution_dot_way sn_convolution_16b_depthwise = {"depthwise", false, plan, pack, forward};
