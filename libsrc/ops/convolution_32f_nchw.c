/*
 * NCHW, by the GEMM tile: rows of A are the weights of an output channel, columns of B are output pixels, counted through the
 * rows of the image, so that a small image wastes no lanes. A panel of B is gathered before it is used: one copy of a few
 * vectors for each of its rows, which dstC multiply-adds of the same vectors pay for.
 *
 * It is gathered from the image itself where that has no padding and no stride in x; else from a band of lines, copied with
 * their padding. There a line is split in phases: for a stride s, phase f has the columns f, f + s, f + 2s ..., so that what
 * neighbouring outputs need from a tap are neighbours again, for every stride and dilation.
 *
 * Long sums are cut into blocks whose panel stays in the second cache; the tile goes on from what it has stored.
 */
#include <string.h>

#include "core/cpu.h"
#include "core/memory.h"
#include "core/threads.h"
#include "ops/convolution_32f.h"

/* Pixels of a panel, at most: the room for its pieces. */
enum { COLUMNS = 64 };

static size_t inputs(const struct sn_convolution_32f * c) { return c->p.srcC / c->p.group; }
static size_t outputs(const struct sn_convolution_32f * c) { return c->p.dstC / c->p.group; }

/* ---- the band */

bool sn_split_plan(struct sn_convolution_32f * c, size_t planes)
{
    const SimdConvolutionParameters * p = &c->p;
    struct sn_band * band = &c->band;
    const size_t reach = (p->kernelX - 1) * p->dilationX, lanes = sn_lanes(c);
    band->copied = true;
    band->strideY = p->kernelY == 1 ? 1 : p->strideY;
    band->strideX = 1;
    band->phases = sn_min(p->strideX, reach + 1);
    band->run = p->dstW + reach / p->strideX;
    if (!sn_product(&band->line, band->phases, band->run))
        return false;
    sn_band_rows(band, p, sn_cpu()->cacheL2 / 2 / sizeof(float) / sn_max(planes, 1));
    return sn_product(&band->plane, band->lines, band->line) && sn_product(&c->workSize, planes, band->plane) &&
           sn_product(&c->workSize, c->workSize + lanes, 1);
}

size_t sn_split_tap(const struct sn_convolution_32f * c, size_t plane, size_t ky, size_t kx)
{
    const SimdConvolutionParameters * p = &c->p;
    const size_t x = kx * p->dilationX;
    return plane * c->band.plane + ky * p->dilationY * c->band.line + x % p->strideX * c->band.run + x / p->strideX;
}

/*
 * A phase of the lines: columns phase, phase + stride ... of the padded image, of which `src` is the first line without
 * padding.
 */
static void copy_phase(const struct sn_convolution_32f * c, const float * src, size_t step, size_t lines, size_t phase,
                       float * to)
{
    const SimdConvolutionParameters * p = &c->p;
    const size_t run = c->band.run, stride = p->strideX;
    const size_t before = sn_min(p->padX > phase ? sn_ceil_div(p->padX - phase, stride) : 0, run);
    const size_t begin = sn_min(before * stride + phase - p->padX, p->srcW); /* the first column of the image that is copied */
    const struct sn_lines_32f job = {.src = src + begin, .srcStep = step * p->srcW, .stride = stride,
        .dst = to + phase * run, .dstStep = c->band.line, .lines = lines, .before = before,
        .inside = sn_min(sn_ceil_div(p->srcW - begin, stride), run - before), .size = run};
    c->table->lines_32f(&job);
}

void sn_split_copy(const struct sn_convolution_32f * c, const float * src, size_t row, size_t rows, float * to)
{
    const SimdConvolutionParameters * p = &c->p;
    const struct sn_band * band = &c->band;
    const size_t step = band->strideY == p->strideY ? 1 : p->strideY; /* in the image, for one line of the band */
    const size_t lines = sn_used(rows, band->strideY, p->kernelY, p->dilationY), at = row * p->strideY;
    const size_t above = at < p->padY ? sn_min(sn_ceil_div(p->padY - at, step), lines) : 0;
    const size_t y = sn_min(at + above * step - p->padY, p->srcH); /* the first line of the image that is copied */
    const size_t inside = sn_min(sn_ceil_div(p->srcH - y, step), lines - above);
    memset(to, 0, above * band->line * sizeof(float));
    to += above * band->line;
    for (size_t f = 0; inside && f < band->phases; ++f)
        copy_phase(c, src + y * p->srcW, step, inside, f, to);
    memset(to + inside * band->line, 0, (lines - above - inside) * band->line * sizeof(float));
}

/* ---- plan and weights */

static bool takes(const struct sn_convolution_32f * c) { return c->p.srcF == SimdTensorFormatNchw; }

/* The band that is the image itself. */
static void plan_in_place(struct sn_convolution_32f * c)
{
    const SimdConvolutionParameters * p = &c->p;
    c->band = (struct sn_band){.rows = p->dstH, .lines = p->srcH, .strideY = p->strideY, .strideX = 1, .phases = 1,
        .run = p->srcW, .line = p->srcW, .plane = p->srcH * p->srcW};
    c->workSize = 0;
}

static bool plan(struct sn_convolution_32f * c)
{
    const SimdConvolutionParameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm_32f;
    const bool in_place = p->strideX == 1 && !p->padY && !p->padX &&
                          sn_used(p->dstH, p->strideY, p->kernelY, p->dilationY) <= p->srcH &&
                          sn_used(p->dstW, 1, p->kernelX, p->dilationX) <= p->srcW;
    if (in_place)
        plan_in_place(c);
    else if (!sn_split_plan(c, inputs(c)))
        return false;
    c->depth = p->kernelY * p->kernelX * inputs(c);
    c->segments = c->depth;
    c->step = c->depth + (c->depth % 256 ? 0 : SN_ALIGN / sizeof(float)); /* off the multiples of 1 KB, see the NHWC way */
    c->channels = p->dstC;
    const size_t width = sn_gemm_width(tile, tile->columns), blocks = sn_cpu()->cacheL2 / 4 / sizeof(float) / width;
    c->block = sn_min(c->depth, sn_max(blocks, 1));
    c->workSize = sn_align(c->workSize, SN_ALIGN / sizeof(float)) + c->block * width + sn_lanes(c);
    return sn_product(&c->weightSize, p->dstC, c->step);
}

static void pack(const struct sn_convolution_32f * c, const float * weight, float * packed, size_t * segment)
{
    const SimdConvolutionParameters * p = &c->p;
    for (size_t i = 0; i < inputs(c); ++i)
        for (size_t ky = 0; ky < p->kernelY; ++ky)
            for (size_t kx = 0; kx < p->kernelX; ++kx)
                *segment++ = sn_split_tap(c, i, ky, kx);
    for (size_t o = 0; o < p->dstC; ++o)
        memcpy(packed + o * c->step, weight + o * c->depth, c->depth * sizeof(float));
}

static void spread(const struct sn_convolution_32f * c, const float * values, float * spread)
{
    memcpy(spread, values, c->channels * sizeof(float));
}

/* ---- forward */

/* The pieces of a band's rows that pixels first .. first + count - 1 lie in. */
static size_t cut(const struct sn_convolution_32f * c, size_t first, size_t count, struct sn_piece * piece)
{
    const size_t columns = c->p.dstW, step = c->band.strideY * c->band.line;
    if (step == columns) { /* rows follow each other without a gap */
        piece[0] = (struct sn_piece){first, count};
        return 1;
    }
    size_t pieces = 0;
    for (size_t y = first / columns, x = first % columns; count; ++y, x = 0) {
        const size_t n = sn_min(columns - x, count);
        piece[pieces++] = (struct sn_piece){y * step + x, n};
        count -= n;
    }
    return pieces;
}

/* All output channels of group g at the pixels of one panel; src is the band of the group, dst the first pixel in the image. */
static void compute_panel(const struct sn_convolution_32f * c, size_t g, struct sn_columns_32f * columns, size_t pixels,
                          float * dst)
{
    static const size_t start = 0;
    const SimdConvolutionParameters * p = &c->p;
    struct sn_gemm_32f gemm = {.height = 1, .width = outputs(c), .aStepX = c->step, .segment = &start, .segments = 1,
        .b = columns->panel, .columns = pixels, .c = dst, .cStepX = p->dstH * p->dstW,
        .slope = c->slope ? c->slope + g * outputs(c) : NULL, .byRow = true, .param = {c->param[0], c->param[1]}};
    size_t k = 0;
    do { /* once also for a sum of nothing */
        gemm.a = c->weight + g * outputs(c) * c->step + k;
        gemm.length = sn_min(c->block, c->depth - k);
        gemm.from = k > 0 ? dst : NULL;
        gemm.bias = k > 0 ? NULL : c->bias + g * outputs(c);
        gemm.activation = k + gemm.length == c->depth ? sn_tile_activation(c) : SimdConvolutionActivationIdentity;
        columns->offset = c->segment + k;
        columns->depth = gemm.length;
        c->table->columns_32f(columns);
        c->table->gemm_32f.run(&gemm);
        k += gemm.length;
    } while (k < c->depth);
}

struct job {
    const struct sn_convolution_32f * c;
    const float * src;
    float * work;
    float * dst;
};

/* One band of one group: src is its first plane, dst the band's first pixel in the group's first output plane. */
static void compute_band(const struct job * job, size_t g, const float * src, size_t row, float * dst)
{
    const struct sn_convolution_32f * c = job->c;
    const SimdConvolutionParameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm_32f;
    const size_t rows = sn_min(c->band.rows, p->dstH - row);
    struct sn_piece pieces[COLUMNS];
    struct sn_columns_32f columns = {.src = src, .piece = pieces, .exact = !c->band.copied, .panel = job->work};
    if (c->band.copied) {
        float * band = job->work + c->block * sn_gemm_width(tile, tile->columns) + sn_lanes(c);
        for (size_t i = 0; i < inputs(c); ++i)
            sn_split_copy(c, src + i * p->srcH * p->srcW, row, rows, band + i * c->band.plane);
        columns.src = band;
    } else {
        columns.src = src + row * p->strideY * p->srcW;
    }
    for (size_t first = 0; first < rows * p->dstW; first += tile->columns) {
        const size_t pixels = sn_min(tile->columns, rows * p->dstW - first);
        columns.pieces = cut(c, first, pixels, pieces);
        columns.width = sn_gemm_width(tile, pixels);
        compute_panel(c, g, &columns, pixels, dst + first);
    }
}

/* Units of work are the bands of all groups of all images. */
static void run(const void * argument, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    const SimdConvolutionParameters * p = &c->p;
    const size_t bands = sn_ceil_div(p->dstH, c->band.rows), units = bands * p->group;
    for (size_t i = begin; i < end; ++i) {
        const size_t image = i / units, g = i % units / bands, row = i % bands * c->band.rows;
        compute_band(job, g, job->src + image * c->srcSize + g * inputs(c) * p->srcH * p->srcW, row,
                     job->dst + image * c->dstSize + (g * outputs(c) * p->dstH + row) * p->dstW);
    }
}

static void forward(const struct sn_convolution_32f * c, const float * src, float * work, float * dst)
{
    const struct job job = {c, src, work, dst};
    sn_parallel_for(run, &job, c->batch * c->p.group * sn_ceil_div(c->p.dstH, c->band.rows));
}

const struct sn_convolution_32f_way sn_convolution_32f_nchw = {"direct NCHW", true, takes, plan, pack, spread, forward};
