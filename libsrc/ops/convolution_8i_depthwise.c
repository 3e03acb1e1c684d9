/* Quantised convolution of each channel by itself, by a kernel that has vectors of channels. */
#include "ops/convolution_8i.h"
#include "runtime/memory.h"

/* Whether the kernel goes by lines, and sees to padding itself. */
static bool by_lines(const struct sn_convolution_parameters * p)
{
    return p->kernelY == 3 && p->kernelX == 3 && p->dilationY == 1 && p->dilationX == 1 && p->strideY == p->strideX &&
           p->strideX <= 2;
}

static bool plan(struct sn_convolution_dot * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    size_t room;
    c->segments = p->kernelY * p->kernelX;
    c->channels = p->dstC;
    c->group = 1;
    c->inputs = 1;
    const enum sn_dot_reads reads = by_lines(p) ? SN_READS_LINES : SN_READS_PIXELS;
    if (!sn_product(&room, c->segments, 4, p->dstC + 64) || !sn_dot_band_plan(c, 1, reads, p->dstC * c->dstElement))
        return false;
    c->weightBytes = c->table->convolution_8i.depthwise.size(c->segments, p->dstC, by_lines(p));
    return true;
}

static void pack(const struct sn_convolution_dot * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    for (size_t t = 0; t < c->segments; ++t)
        c->segment[t] = t / p->kernelX * p->dilationY * c->band.line + t % p->kernelX * p->dilationX * c->band.pixel;
    c->table->convolution_8i.depthwise.pack(weight, p->srcF == SN_NCHW, c->segments, p->dstC,
                                by_lines(p) ? p->strideX : 0, c->weight);
}

/* What is outside of the lines that are in memory. A band has its padding, the image has none. */
static void surround(const struct sn_convolution_dot * c, size_t row, size_t rows, struct sn_depthwise_run_8i * d)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (c->band.copied) {
        d->srcRows = sn_used(rows, p->strideY, 3, 1);
        d->srcColumns = c->band.columns;
        return;
    }
    const size_t image = row * p->strideY; /* d->src is this line */
    const size_t first = image > p->padY ? sn_min(image - p->padY, p->srcH) : 0;
    d->src -= (image - first) * c->band.line;
    d->srcRows = p->srcH - first;
    d->srcColumns = p->srcW;
    d->top = image > p->padY ? 0 : p->padY - image;
    d->left = p->padX;
    d->zero = (uint8_t)c->srcZero;
}

static void compute(const struct sn_convolution_dot * c, const uint8_t * lines, const struct sn_share * s, uint8_t * work,
                    uint8_t * dst)
{
    const size_t row = s->line, rows = s->lines;
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_result_8i result = sn_result_8i_of((const struct sn_convolution_8i *)c, 0);
    struct sn_depthwise_run_8i d = {.src = lines, .srcStepY = c->band.line, .srcStepX = c->band.pixel,
        .strideY = c->band.strideY, .strideX = c->band.strideX, .kernelY = p->kernelY, .kernelX = p->kernelX,
        .tap = by_lines(p) ? NULL : c->segment, .weight = c->weight, .channels = p->dstC, .rows = rows,
        .columns = p->dstW, .result = &result};
    if (!d.tap)
        surround(c, row, rows, &d);
    d.dst = sn_dot_result_at(c, 0, p->dstC, row, work, dst, &d.dstStepX);
    d.dstStepY = p->dstW * d.dstStepX;
    c->table->convolution_8i.depthwise.run(&d);
    sn_dot_result_done(c, work, 0, p->dstC, row, rows, dst);
}

static void forward(const struct sn_convolution_dot * c, const uint8_t * src, uint8_t * work, uint8_t * dst)
{
    sn_dot_bands_run(&(struct sn_dot_bands){.c = c, .src = src, .work = work, .dst = dst, .compute = compute});
}

const struct sn_convolution_dot_way sn_convolution_8i_depthwise = {"depthwise", false, plan, pack, forward};
