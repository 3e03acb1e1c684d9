/*
 * NHWC, by the GEMM tile: rows of A are output pixels, columns are output channels, and the taps of a kernel row are
 * neighbours in memory, so nothing is unrolled into a column matrix. The image is read in place where it can be; a band of
 * its lines is copied when there is padding, or when pixels lie a multiple of 2 KB apart: the rows of a tile would then fall
 * into one or two sets of the first cache and push each other out.
 *
 * Groups are convolutions of their own beside each other.
 */
#include <string.h>

#include "core/cpu.h"
#include "core/memory.h"
#include "core/threads.h"
#include "ops/convolution_32f.h"
#include "ops/shares.h"

static bool takes(const struct sn_convolution_32f * c) { return c->p.srcF == SimdTensorFormatNhwc; }

static size_t inputs(const struct sn_convolution_32f * c) { return c->p.srcC / c->p.group; }
static size_t outputs(const struct sn_convolution_32f * c) { return c->p.dstC / c->p.group; }

static bool plan_band(struct sn_convolution_32f * c)
{
    const SimdConvolutionParameters * p = &c->p;
    struct sn_band * band = &c->band;
    const bool clash = !c->few && p->srcC && p->srcC * p->strideX % 512 == 0 && p->dstW * p->dstH > 1 && p->dstC > 0;
    sn_band_plan(band, p, clash, false);
    band->pixel = p->srcC + (clash ? SN_ALIGN / sizeof(float) : 0);
    return sn_product(&band->line, band->columns, band->pixel);
}

static bool plan(struct sn_convolution_32f * c)
{
    const SimdConvolutionParameters * p = &c->p;
    struct sn_band * band = &c->band;
    if (!plan_band(c))
        return false;
    sn_band_rows(band, p, sn_cpu()->cacheL2 / 2 / sizeof(float));
    const bool joined = p->group == 1 && p->dilationX == 1 && band->pixel == p->srcC;
    c->segments = joined ? p->kernelY : p->kernelY * p->kernelX;
    c->length = joined ? p->kernelX * p->srcC : inputs(c);
    c->depth = p->kernelY * p->kernelX * inputs(c);
    return sn_product(&c->channels, p->group, sn_gemm_width(&c->table->gemm_32f, outputs(c))) &&
           sn_product(&c->weightSize, c->depth, c->channels) &&
           sn_product(&c->workSize, band->copied, band->lines, band->line);
}

/* A panel: the taps of an input channel of `columns` output channels, side by side. */
static void pack_yxio(const struct sn_convolution_32f * c, const float * weight, size_t columns, size_t width, float * packed)
{
    for (size_t k = 0; k < c->depth; ++k)
        memcpy(packed + k * width, weight + k * c->p.dstC, columns * sizeof(float));
}

/* The same of weights for NCHW, see ops/convolution_32f_converted.c. */
static void pack_oiyx(const struct sn_convolution_32f * c, const float * weight, size_t columns, size_t width, float * packed)
{
    const size_t taps = c->p.kernelY * c->p.kernelX;
    for (size_t o = 0; o < columns; ++o)
        for (size_t i = 0; i < inputs(c); ++i)
            for (size_t t = 0; t < taps; ++t)
                packed[(t * inputs(c) + i) * width + o] = *weight++;
}

void sn_nhwc_segments(const struct sn_convolution_32f * c, size_t * segment)
{
    const SimdConvolutionParameters * p = &c->p;
    for (size_t s = 0; s < c->segments; ++s) {
        const size_t tap = s * c->length / inputs(c), y = tap / p->kernelX, x = tap % p->kernelX;
        segment[s] = y * p->dilationY * c->band.line + x * p->dilationX * c->band.pixel + s * c->length % inputs(c);
    }
}

static void pack(const struct sn_convolution_32f * c, const float * weight, float * packed, size_t * segment)
{
    const SimdConvolutionParameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm_32f;
    sn_nhwc_segments(c, segment);
    for (size_t g = 0; g < p->group; ++g)
        for (size_t first = 0; first < outputs(c); first += tile->columns) {
            const size_t columns = sn_min(tile->columns, outputs(c) - first), width = sn_gemm_width(tile, columns);
            if (p->srcF == SimdTensorFormatNhwc)
                pack_yxio(c, weight + g * outputs(c) + first, columns, width, packed);
            else
                pack_oiyx(c, weight + (g * outputs(c) + first) * c->depth, columns, width, packed);
            packed += c->depth * width;
        }
}

static void spread(const struct sn_convolution_32f * c, const float * values, float * spread)
{
    const size_t width = c->channels / c->p.group;
    for (size_t g = 0; g < c->p.group; ++g)
        memcpy(spread + g * width, values + g * outputs(c), outputs(c) * sizeof(float));
}

/* The band of an image. */
struct copy {
    const struct sn_convolution_32f * c;
    const float * src;
};

static void fill(const void * job, uint8_t * to, size_t bytes)
{
    (void)job;
    memset(to, 0, bytes);
}

static void copy(const void * job, size_t first, size_t step, size_t pixels, uint8_t * to)
{
    const struct copy * j = job;
    const size_t pixel = j->c->p.srcC, bytes = pixel * sizeof(float);
    const float * src = j->src + first * pixel;
    if (step == 1 && j->c->band.pixel == pixel) {
        memcpy(to, src, pixels * bytes);
    } else {
        for (size_t x = 0; x < pixels; ++x)
            memcpy(to + x * j->c->band.pixel * sizeof(float), src + x * step * pixel, bytes);
    }
}

void sn_nhwc_compute(const struct sn_convolution_32f * c, const struct sn_nhwc_rows * r)
{
    if (c->few) {
        sn_few_nhwc(c, r);
        return;
    }
    const struct sn_gemm_32f_tile * tile = &c->table->gemm_32f;
    const size_t width = c->p.dstW;
    struct sn_gemm_32f gemm = {.height = r->rows, .width = width, .aStepY = r->srcLine, .aStepX = r->srcPixel,
        .segment = c->segment, .segments = c->segments, .length = c->length, .cStepY = r->dstLine,
        .cStepX = r->dstPixel, .activation = sn_tile_activation(c),
        .param = {c->param[0], c->param[1]}};
    if (r->srcLine == width * r->srcPixel && r->dstLine == width * r->dstPixel) { /* pixels of all rows in one line */
        gemm.width *= r->rows;
        gemm.height = 1;
    } else if (width < tile->rows && width < r->rows) { /* columns make higher tiles than rows */
        gemm.height = width, gemm.width = r->rows;
        gemm.aStepY = r->srcPixel, gemm.aStepX = r->srcLine;
        gemm.cStepY = r->dstPixel, gemm.cStepX = r->dstLine;
    }
    const size_t padded = c->channels / c->p.group, end = r->outputs ? r->first + r->outputs : outputs(c);
    for (size_t g = 0; g < c->p.group; ++g)
        for (size_t first = r->first; first < end; first += tile->columns) {
            const size_t at = g * outputs(c) + first - r->first, packed = g * padded + first;
            gemm.a = r->src + g * inputs(c);
            gemm.b = c->weight + c->depth * packed;
            gemm.columns = sn_min(tile->columns, end - first);
            gemm.c = r->dst + at;
            gemm.from = r->add ? r->add + at : NULL;
            gemm.bias = c->bias + packed;
            gemm.slope = c->slope ? c->slope + packed : NULL;
            gemm.ahead = NULL;
            if (r->aheadSize && c->weightSize <= 65536) {
                gemm.ahead = r->ahead + r->aheadSize * first / outputs(c);
                gemm.aheadStep = r->aheadSize * gemm.columns / outputs(c) / gemm.width;
            } else if (first == 0 && !c->band.copied && c->depth >= 64) {
                gemm.ahead = gemm.a + tile->rows * gemm.aStepX;
                gemm.aheadStep = gemm.aStepX;
            } else if (c->weightSize > 65536) {
                gemm.ahead = gemm.b + c->depth * gemm.columns;
                gemm.aheadStep = c->depth * gemm.columns / gemm.width;
            }
            tile->run(&gemm);
        }
}

void sn_nhwc_source(const struct sn_convolution_32f * c, const float * src, size_t row, float * work, struct sn_nhwc_rows * r)
{
    const SimdConvolutionParameters * p = &c->p;
    r->srcLine = c->band.strideY * c->band.line;
    r->srcPixel = c->band.strideX * c->band.pixel;
    if (c->band.copied) {
        const struct copy job = {c, src};
        sn_band_copy(&(struct sn_band_copy){&c->band, p, sizeof(float), &job, fill, copy}, row, r->rows, (uint8_t *)work);
        r->src = work;
    } else {
        r->src = src + row * p->strideY * p->srcW * p->srcC;
    }
}

void sn_nhwc_band(const struct sn_convolution_32f * c, const float * src, size_t row, float * work, struct sn_nhwc_rows r)
{
    sn_nhwc_source(c, src, row, work, &r);
    sn_nhwc_compute(c, &r);
}

struct job {
    const struct sn_convolution_32f * c;
    const float * src;
    float * dst;
    struct sn_shares shares;
};

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    const SimdConvolutionParameters * p = &c->p;
    const size_t line = p->dstW * p->dstC;
    struct sn_share s;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&job->shares, begin, end);
        sn_nhwc_band(c, job->src + s.image * c->srcSize, s.line, work, (struct sn_nhwc_rows){.rows = s.lines,
            .dst = job->dst + s.image * c->dstSize + s.line * line + s.first, .dstLine = line, .dstPixel = p->dstC,
            .first = s.first, .outputs = p->group == 1 ? s.columns : 0});
    }
}

static void forward(const struct sn_convolution_32f * c, const float * src, float * work, float * dst)
{
    const SimdConvolutionParameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm_32f;
    const struct job job = {c, src, dst, sn_shares_of((struct sn_shares){.lines = p->dstH, .most = c->band.rows,
        .columns = p->dstC, .width = p->group == 1 ? tile->columns : 0, .weights = c->weightSize, .source = c->srcSize,
        .start = c->band.copied, .least = sn_ceil_div(2 * tile->rows, p->dstW)})};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = c->batch * job.shares.each,
        .cost = sn_convolution_32f_cost(c), .least = job.shares.least, .work = work,
        .workBytes = c->workSize * sizeof(float)});
}

const struct sn_convolution_32f_way sn_convolution_32f_nhwc = {"direct NHWC", true, takes, plan, pack, spread, forward};
