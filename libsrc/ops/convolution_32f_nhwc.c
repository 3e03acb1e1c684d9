/*
 * NHWC, by the GEMM tile: rows of A are output pixels, columns are output channels, and the taps of a kernel row are
 * neighbours in memory, so nothing is unrolled into a column matrix. The image is read in place where it can be; a band of
 * its lines is copied when there is padding, or when pixels lie a multiple of 4 KB apart: the rows of a tile would then fall
 * into one set of the first cache and push each other out. Two sets, at 2 KB, hold them: 512 channels take 1 to 7% less time
 * without the copy. Of a large image with padding and few multiply-adds for each input, the first layer of a network, only
 * what the outputs at its edges need is copied: 3x3 and stride 2 of 3 channels is 1.03 (64 outputs) to 1.14 (16) times as
 * fast.
 *
 * Groups are convolutions of their own beside each other.
 */
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution_32f.h"
#include "ops/shares.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

static bool takes(const struct sn_convolution_32f * c) { return c->p.srcF == SN_NHWC; }

static size_t inputs(const struct sn_convolution_32f * c) { return c->p.srcC / c->p.group; }
static size_t outputs(const struct sn_convolution_32f * c) { return c->p.dstC / c->p.group; }

/* Outputs of a row (or column) that need padding before the image; and the first of those behind it, if they are others. */
static size_t edge_before(size_t pad, size_t stride, size_t outputs) { return sn_min(sn_ceil_div(pad, stride), outputs); }

static size_t edge_behind(size_t size, size_t pad, size_t stride, size_t reach, size_t outputs)
{
    return size + pad > reach ? sn_min((size + pad - reach - 1) / stride + 1, outputs) : 0;
}

/* The parts of the output: rows and columns top (left) .. bottom (right) - 1 need no padding. */
struct edges {
    size_t top, bottom, left, right;
};

static struct edges edges_of(const struct sn_convolution_parameters * p)
{
    const size_t reachY = (p->kernelY - 1) * p->dilationY, reachX = (p->kernelX - 1) * p->dilationX;
    struct edges e = {.top = edge_before(p->padY, p->strideY, p->dstH), .left = edge_before(p->padX, p->strideX, p->dstW)};
    e.bottom = sn_max(edge_behind(p->srcH, p->padY, p->strideY, reachY, p->dstH), e.top);
    e.right = sn_max(edge_behind(p->srcW, p->padX, p->strideX, reachX, p->dstW), e.left);
    return e;
}

/*
 * Whether to copy what the edges need and no more. Cost model, in cycles of a core that multiplies 16 floats a cycle: a
 * copied float costs 0.4; tiles are cut once more at the sides, which costs about what is computed there.
 */
static bool only_edges(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &c->band;
    if (c->few || !band->copied || band->pixel != p->srcC ||
        band->strideY != p->strideY || band->strideX != p->strideX)
        return false;
    const struct edges e = edges_of(p);
    const size_t sides = e.left + (p->dstW - e.right);
    const size_t most = sn_max(e.left, p->dstW - e.right); /* copied columns lie in lines as long as the image's */
    if (e.left == e.right || (most && sn_used(most, p->strideX, p->kernelX, p->dilationX) > p->srcW))
        return false;
    const double products = (double)(p->kernelY * p->kernelX * inputs(c)) * (double)sn_ceil_div(p->dstC, 16);
    return (double)sides * (double)p->dstH * products < 0.4 * (double)c->srcSize;
}

static bool plan_band(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_band * band = &c->band;
    const bool clash = !c->few && sn_share_sets(p->srcC * p->strideX * sizeof(float), SN_ONE_SET) &&
                       p->dstW * p->dstH > 1 && p->dstC > 0;
    sn_band_plan(band, p, clash, false);
    band->pixel = p->srcC + (clash ? SN_ALIGN / sizeof(float) : 0);
    c->edges = only_edges(c);
    if (c->edges)
        band->columns = p->srcW;
    return sn_product(&band->line, band->columns, band->pixel);
}

static bool plan(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_band * band = &c->band;
    if (!plan_band(c))
        return false;
    sn_band_rows(band, p, sn_cpu()->cacheL2 / 2 / sizeof(float));
    const bool joined = p->group == 1 && p->dilationX == 1 && band->pixel == p->srcC;
    c->segments = joined ? p->kernelY : p->kernelY * p->kernelX;
    c->length = joined ? p->kernelX * p->srcC : inputs(c);
    c->depth = p->kernelY * p->kernelX * inputs(c);
    return sn_product(&c->channels, p->group, sn_gemm_width(&c->table->gemm.tile_32f, outputs(c))) &&
           sn_product(&c->weightSize, c->depth, c->channels) &&
           sn_product(&c->workSize, band->copied, band->lines, band->line);
}

/* A panel: the taps of an input channel of `columns` output channels, side by side. */
static void pack_yxio(const struct sn_convolution_32f * c, const sn_32f * weight, size_t columns, size_t width,
                      sn_32f * packed)
{
    for (size_t k = 0; k < c->depth; ++k)
        memcpy(packed + k * width, weight + k * c->p.dstC, columns * sizeof(float));
}

/* The same of weights for NCHW, see ops/convolution_32f_converted.c. */
static void pack_oiyx(const struct sn_convolution_32f * c, const sn_32f * weight, size_t columns, size_t width,
                      sn_32f * packed)
{
    const size_t taps = c->p.kernelY * c->p.kernelX;
    for (size_t o = 0; o < columns; ++o)
        for (size_t i = 0; i < inputs(c); ++i)
            for (size_t t = 0; t < taps; ++t)
                packed[(t * inputs(c) + i) * width + o] = *weight++;
}

void sn_nhwc_segments(const struct sn_convolution_32f * c, size_t * segment)
{
    const struct sn_convolution_parameters * p = &c->p;
    for (size_t s = 0; s < c->segments; ++s) {
        const size_t tap = s * c->length / inputs(c), y = tap / p->kernelX, x = tap % p->kernelX;
        segment[s] = y * p->dilationY * c->band.line + x * p->dilationX * c->band.pixel + s * c->length % inputs(c);
    }
}

static void pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    sn_nhwc_segments(c, segment);
    for (size_t g = 0; g < p->group; ++g)
        for (size_t first = 0; first < outputs(c); first += tile->columns) {
            const size_t columns = sn_min(tile->columns, outputs(c) - first), width = sn_gemm_width(tile, columns);
            if (p->srcF == SN_NHWC)
                pack_yxio(c, weight + g * outputs(c) + first, columns, width, packed);
            else
                pack_oiyx(c, weight + (g * outputs(c) + first) * c->depth, columns, width, packed);
            packed += c->depth * width;
        }
}

static void spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    const size_t width = c->channels / c->p.group;
    for (size_t g = 0; g < c->p.group; ++g)
        memcpy(spread + g * width, values + g * outputs(c), outputs(c) * sizeof(float));
}

/* The band of an image. */
struct copy {
    const struct sn_convolution_32f * c;
    const sn_32f * src;
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
    const sn_32f * src = j->src + first * pixel;
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
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t width = r->columns ? r->columns : c->p.dstW;
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
            } else if (first == 0 && (!c->band.copied || c->edges) && c->depth >= 64) {
                gemm.ahead = gemm.a + tile->rows * gemm.aStepX;
                gemm.aheadStep = gemm.aStepX;
            } else if (c->weightSize > 65536) {
                gemm.ahead = gemm.b + c->depth * gemm.columns;
                gemm.aheadStep = c->depth * gemm.columns / gemm.width;
            }
            tile->run(&gemm);
        }
}

void sn_nhwc_source(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, sn_32f * work,
                    struct sn_nhwc_rows * r)
{
    const struct sn_convolution_parameters * p = &c->p;
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

/* Copies what r->rows x r->columns outputs from (row, x) on need, with padding, to lines as long as those of the image. */
static void copy_part(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, size_t x,
                      const struct sn_nhwc_rows * r, sn_32f * to)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lines = sn_used(r->rows, p->strideY, p->kernelY, p->dilationY);
    const size_t columns = sn_used(r->columns, p->strideX, p->kernelX, p->dilationX), at = x * p->strideX;
    const size_t before = at < p->padX ? sn_min(p->padX - at, columns) : 0, begin = at + before - p->padX;
    const size_t inside = begin < p->srcW ? sn_min(p->srcW - begin, columns - before) : 0;
    for (size_t i = 0; i < lines; ++i, to += c->band.line) {
        const size_t y = row * p->strideY + i - p->padY; /* huge for a line above the image */
        memset(to, 0, columns * p->srcC * sizeof(float));
        if (y < p->srcH && inside)
            memcpy(to + before * p->srcC, src + (y * p->srcW + begin) * p->srcC, inside * p->srcC * sizeof(float));
    }
}

/* The part of the outputs with rows y .. endY - 1, columns x .. endX - 1, of r, which begins with `row`. */
static void compute_part(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, sn_32f * work,
                         struct sn_nhwc_rows r, size_t y, size_t endY, size_t x, size_t endX)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct edges e = edges_of(p);
    if (y >= endY || x >= endX)
        return;
    const size_t to = (y - row) * r.dstLine + x * r.dstPixel;
    r.rows = endY - y;
    r.columns = endX - x;
    r.dst += to;
    r.add = r.add ? r.add + to : NULL;
    if (y >= e.top && endY <= e.bottom && x >= e.left && endX <= e.right) {
        r.src = src + ((y * p->strideY - p->padY) * p->srcW + x * p->strideX - p->padX) * p->srcC;
    } else {
        copy_part(c, src, y, x, &r, work);
        r.src = work;
    }
    sn_nhwc_compute(c, &r);
}

void sn_nhwc_band(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, sn_32f * work, struct sn_nhwc_rows r)
{
    if (!c->edges) {
        sn_nhwc_source(c, src, row, work, &r);
        sn_nhwc_compute(c, &r);
        return;
    }
    const struct edges e = edges_of(&c->p);
    const size_t end = row + r.rows, middle = sn_min(sn_max(row, e.top), end), below = sn_max(sn_min(end, e.bottom), middle);
    const size_t y[] = {row, middle, below, end}, x[] = {0, e.left, e.right, c->p.dstW};
    r.srcLine = c->band.strideY * c->band.line;
    r.srcPixel = c->band.strideX * c->band.pixel;
    for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j)
            compute_part(c, src, row, work, r, y[i], y[i + 1], x[j], x[j + 1]);
}

struct job {
    const struct sn_convolution_32f * c;
    const sn_32f * src;
    const sn_32f * add; /* lies as dst, or NULL */
    sn_32f * dst;
    struct sn_shares shares;
};

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t line = p->dstW * p->dstC;
    struct sn_share s;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&job->shares, begin, end);
        const size_t at = s.image * c->dstSize + s.line * line + s.first;
        sn_nhwc_band(c, job->src + s.image * c->srcSize, s.line, work, (struct sn_nhwc_rows){.rows = s.lines,
            .dst = job->dst + at, .dstLine = line, .dstPixel = p->dstC, .add = job->add ? job->add + at : NULL,
            .first = s.first, .outputs = p->group == 1 ? s.columns : 0});
    }
}

static void forward_add(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, const sn_32f * add,
                        sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const struct job job = {c, src, add, dst, sn_shares_of((struct sn_shares){.lines = p->dstH, .most = c->band.rows,
        .columns = p->dstC, .width = p->group == 1 ? tile->columns : 0, .weights = c->weightSize, .source = c->srcSize,
        .start = c->band.copied && !c->edges, .least = sn_ceil_div(2 * tile->rows, p->dstW)})};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = c->batch * job.shares.each,
        .cost = sn_convolution_32f_cost(c), .least = job.shares.least, .work = work,
        .workBytes = c->workSize * sizeof(float)});
}

static void forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    forward_add(c, src, work, NULL, dst);
}

const struct sn_convolution_32f_way sn_convolution_32f_nhwc = {"direct NHWC", true, takes, plan, pack, spread,
                                                               forward, forward_add};
