/*
 * Quantised depthwise convolution by lines of bytes: those of a channel in NCHW, those of pixels of few channels in NHWC. A
 * band of lines is copied with its padding, of one plane after the other in NCHW; with a horizontal stride, each line as
 * runs of every strideX-th column.
 *
 * In NCHW other convolutions of few channels by few, too: the taps of an output are those of all planes of its group, whose
 * copies follow each other.
 *
 * If the vertical stride is 1 too, and lines are short, the lines of a band are one: an output then has its taps at the
 * same distances in each line, and outputs that fall into the padding between lines are left out of the result.
 */
#include <string.h>

#include "ops/convolution/8i.h"
#include "ops/convolution/cost.h"
#include "runtime/cpu.h"

struct flat {
    struct sn_band band;
    size_t plane; /* bytes of a copied plane, or of the copied pixels */
    size_t bytes; /* of the copies, which begin the workspace; lines that are split follow, then results that are not written
                     in place */
    size_t line;  /* bytes of a line of outputs */
    bool joined;  /* all lines are one */
};
SN_FITS_ALGORITHM_DATA(struct flat);

static const struct flat * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool is_nchw(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

/* Whether lines are split into phases, as in nchw_band.h: runs of every strideX-th column. */
static bool is_split(const struct sn_convolution * c) { return c->p.strideX > 1; }

/* Whether taps are of several phases: with a dilation that is a multiple of the stride they are not. */
static bool uses_phases(const struct sn_convolution_parameters * p) { return p->kernelX > 1 && p->dilationX % p->strideX > 0; }

/* The taps of an output, of all planes of its group. */
static size_t taps_of(const struct sn_convolution * c) { return sn_inputs(c) * c->p.kernelY * c->p.kernelX; }

static size_t vector_of(const struct sn_convolution * c) { return c->table->alignment; }

/*
 * Fewer channels than a vector has bytes, and in NCHW long lines: copies of many short lines of planes take longer than
 * transpositions. On Zen 3 (avx2) 8 channels of 56x56 in NHWC take 0.18 of the time of the other algorithm by 3x3,
 * 0.4 by 5x5, 0.5 by 9x9, 12 channels 0.45 and 0.76, 24 channels 0.6 and 0.86, by 2x2 0.66; 4 planes of 112x112 take 0.17,
 * 12 of 80x80 0.27 by 3x3 and 0.49 by 5x5, 24 of 56x56 0.83. The other algorithm has an instance for half of a vector: 16
 * channels take 0.75 of its time by 3x3, 1.1 by 5x5 and 1.3 by 7x7. With vectors of 64 bytes 3x3 is faster there from half of
 * a vector on, on Zen 4 (avx512vnni): 32 channels of 56x56 take 0.58 of the time of this one, 48 take 0.73, 56 of 28x28 0.56,
 * 32x112x112 0.53 (avx512: 0.81, 1.06, 0.89, 0.82). 48x28x28 by 5x5 takes 1.2 times as long there.
 */
enum { MANY_TAPS = 16, LONG = 64, LINE = 6 };

/* Whether the other algorithm is faster though its vectors are not full. */
static bool is_half(const struct sn_convolution_parameters * p, size_t vector)
{
    const bool by_lines = p->kernelY == 3 && p->kernelX == 3 && p->strideY == 1 && p->dilationY == 1 && p->dilationX == 1;
    if (by_lines && vector >= LONG)
        return 2 * p->srcC >= vector;
    return 2 * p->srcC == vector && p->kernelY * p->kernelX > MANY_TAPS;
}

/* Further ones are not tried: offsets and weights of many taps. */
enum { MOST_QUADS = 4096 };

/* The quads of taps of all outputs of a group. */
static size_t quads_of(const struct sn_convolution * c) { return sn_outputs(c) * sn_ceil_div(taps_of(c), 4); }

static bool supports(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t vector = vector_of(c);
    if (!c->table->convolution_8i.flat.run)
        return false;
    if (c->crop.kernelY) /* sums begin with 0, without taps that are left out */
        return false;
    if (!sn_is_depthwise(c))
        return is_nchw(c) && taps_of(c) && quads_of(c) <= MOST_QUADS;
    return p->srcC < vector && !is_half(p, vector);
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct flat * f = (void *)c->algorithmData;
    struct sn_band * band = &f->band;
    const size_t vector = vector_of(c), cache = sn_cpu()->cacheL2, reach = (p->kernelX - 1) * p->dilationX;
    size_t most;
    if (!sn_product(&most, p->kernelY, p->kernelX, 128, p->dstC, vector) || !sn_product(&most, most, sn_inputs(c)))
        return false;
    sn_channels_plain(c);
    c->segments = sn_ceil_div(taps_of(c), 4) * 4;
    c->weightSize = c->table->convolution_8i.flat.size(is_nchw(c), taps_of(c), p->dstC);
    sn_band_plan(band, p, true, true);
    sn_band_sparse(band, p);
    band->pixel = is_nchw(c) ? 1 : p->srcC;
    band->phases = uses_phases(p) ? sn_min(p->strideX, reach + 1) : 1;
    if (!sn_product(&band->run, is_split(c) ? p->dstW + reach / p->strideX : band->columns, band->pixel) ||
        !sn_product(&band->line, band->phases, band->run) || !sn_product(&f->line, p->dstW, band->pixel))
        return false;
    f->joined = band->strideY == 1 && band->line < sn_ceil_div(f->line, vector) * vector;
    sn_band_rows(band, p, cache / 8 / sn_inputs(c));
    size_t results, split;
    if (!sn_product(&f->plane, band->lines, band->line) || !sn_product(&f->bytes, f->plane, sn_inputs(c)) ||
        !sn_product(&results, band->rows, band->line, sn_element(p->dstT)) ||
        !sn_product(&split, band->lines, is_split(c) ? band->columns : 0, band->pixel))
        return false;
    f->bytes = sn_align(f->bytes + vector, SN_ALIGN);
    return sn_product(&c->workSize, f->bytes + sn_max(results, split + p->strideX * vector), 1);
}

static void offsets(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band;
    for (size_t t = 0; t < taps_of(c); ++t) {
        const size_t column = t % p->kernelX * p->dilationX;
        c->segment[t] = t / p->kernelX / p->kernelY * data_of(c)->plane +
                        t / p->kernelX % p->kernelY * sn_band_tap(band, p) * band->line + column % p->strideX * band->run +
                        column / p->strideX * band->pixel;
    }
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    c->table->convolution_8i.flat.pack(is_nchw(c), taps_of(c), c->p.dstC, weight, c->weight);
}

/* An image, or a plane of it, whose band is copied. */
struct copy {
    const struct sn_convolution * c;
    const struct sn_arrays * a;
    size_t channel;
};

static void fill(const void * job, uint8_t * to, size_t bytes)
{
    const struct copy * j = job;
    memset(to, (int)sn_dot_of(j->c)->srcZero, bytes);
}

static void copy(const void * job, size_t first, size_t step, size_t pixels, uint8_t * to)
{
    const struct copy * j = job;
    const struct sn_convolution * c = j->c;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t pixel = is_nchw(c) ? 1 : j->a->at->srcPixel, plane = is_nchw(c) ? p->srcH * p->srcW : 0;
    const size_t at = j->channel * plane + first * pixel;
    (void)step; /* 1: see sn_band_plan() */
    sn_dot_of(c)->pixels(&(struct sn_pixels){.src = (const uint8_t *)j->a->src + at * sn_element(p->srcT),
        .floats = p->srcT == SN_DATA_32F, .srcPixel = pixel, .srcChannel = 1, .scale = sn_dot_of(c)->srcScale + j->channel,
        .zero = sn_dot_of(c)->srcZero, .channels = data_of(c)->band.pixel, .pixels = pixels, .dst = to,
        .dstPixel = data_of(c)->band.pixel});
}

/* Copies rows of results, `step` bytes apart, to the image or to its plane. */
static void store(const struct sn_convolution * c, const uint8_t * from, size_t step, size_t channel, size_t row, size_t rows,
                  const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t element = sn_element(p->dstT), pixel = data_of(c)->band.pixel * element;
    const size_t distance = is_nchw(c) ? element : a->at->dstPixel * element;
    uint8_t * to = (uint8_t *)a->dst + (channel * p->dstH + row) * p->dstW * distance;
    for (size_t y = 0; y < rows; ++y, from += step, to += p->dstW * distance) {
        if (pixel == distance)
            memcpy(to, from, p->dstW * pixel);
        else
            for (size_t x = 0; x < p->dstW; ++x)
                memcpy(to + x * distance, from + x * pixel, pixel);
    }
}

static void finish(const struct sn_convolution * c, size_t channel, size_t row, size_t rows, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t step = is_nchw(c) ? 1 : a->at->dstPixel, addStep = is_nchw(c) ? 1 : a->at->addPixel;
    const size_t pixel = (channel * p->dstH + row) * p->dstW;
    const uint8_t * add = a->add ? (const uint8_t *)a->add + pixel * addStep : NULL;
    if (sn_dot_of(c)->finish)
        sn_dot_of(c)->finish(c, &(struct sn_dot_results){(uint8_t *)a->dst + pixel * step, step, data_of(c)->band.pixel,
            rows * p->dstW, channel, add, addStep, a->at->after});
}

/* Copies the lines of a plane that rows of the image need, and splits them. */
static void copy_split(const struct copy * job, size_t row, size_t rows, size_t lines, uint8_t * to)
{
    const struct flat * f = data_of(job->c);
    const struct sn_convolution_parameters * p = &job->c->p;
    struct sn_band whole = f->band;
    const struct sn_phases_8i phases = {f->band.columns, f->band.pixel, p->strideX, f->band.phases, f->band.run};
    uint8_t * from = (uint8_t *)job->a->work + f->bytes;
    whole.line = whole.columns * whole.pixel;
    sn_band_copy(&(struct sn_band_copy){&whole, p, 1, job, fill, copy}, row, rows, from);
    for (size_t y = 0; y < lines; ++y, from += whole.line, to += f->band.line)
        job->c->table->convolution_8i.phases(&phases, from, to);
}

/* Copies what rows of the image need, or in NCHW the planes from `first` on of a group. */
static void copy_band(const struct sn_convolution * c, size_t first, size_t row, size_t rows, const struct sn_arrays * a)
{
    const struct flat * f = data_of(c);
    const size_t lines = sn_used(rows, f->band.strideY, c->p.kernelY, sn_band_tap(&f->band, &c->p));
    uint8_t * to = a->work;
    for (size_t i = 0; i < sn_inputs(c); ++i, to += f->plane) {
        const struct copy job = {c, a, first + i};
        if (is_split(c))
            copy_split(&job, row, rows, lines, to);
        else
            sn_band_copy(&(struct sn_band_copy){&f->band, &c->p, 1, &job, fill, copy}, row, rows, to);
        memset(to + lines * f->band.line, 0, vector_of(c)); /* read with the last pixels, and not used */
    }
}

/* Computes rows of the image, or of the plane of a channel. */
static void compute_lines(const struct sn_convolution * c, size_t channel, size_t row, size_t rows, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct flat * f = data_of(c);
    const size_t element = sn_element(p->dstT);
    union sn_dot_result result;
    const bool dense = is_nchw(c) || a->at->dstPixel == p->dstC;
    uint8_t * results = (uint8_t *)a->work + f->bytes;
    struct sn_flat_run_8i d = {.src = a->work, .srcStepY = f->band.line * f->band.strideY, .taps = taps_of(c),
        .tap = c->segment, .weight = c->weight, .plane = is_nchw(c), .channel = channel, .channels = p->dstC, .dst = results,
        .dstStepY = f->line * element, .rows = rows, .count = f->line, .result = &result.as_8i};
    sn_dot_of(c)->result(c, 0, &result);
    if (f->joined) {
        d.count += (rows - 1) * f->band.line;
        d.rows = 1;
        d.dstStepY = f->band.line * element;
    } else if (dense) {
        d.dst = (uint8_t *)a->dst + (channel * p->dstH + row) * f->line * element;
    }
    c->table->convolution_8i.flat.run(&d);
    if (d.dst == results)
        store(c, results, d.dstStepY, channel, row, rows, a);
    finish(c, channel, row, rows, a);
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t outputs = is_nchw(c) ? sn_outputs(c) : 1;
    for (size_t g = 0; g < (is_nchw(c) ? c->p.group : 1); ++g) {
        copy_band(c, g * sn_inputs(c), s->line, s->lines, a);
        for (size_t o = 0; o < outputs; ++o)
            compute_lines(c, g * outputs + o, s->line, s->lines, a);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_dot_time(c), .shares = {.lines = p->dstH, .most = data_of(c)->band.rows, .columns = p->dstC,
        .weights = c->weightSize, .source = c->srcSize, .start = true, .least = sn_ceil_div(32, p->dstW)}});
}

/*
 * Of depthwise convolutions in NCHW, lines as long as a vector, or fewer planes: pixels of these leave vectors unused. 1x28x28 by 3x3
 * takes 0.14 to 0.17 of the time, 2x28x28 0.22 to 0.30, 4x28x28 0.42 to 0.54, 8x56x56 0.46 with amx, 0.52 with avx512; but 4x14x14
 * 0.5 to 0.9, 4x7x7 1.2 to 1.9, 16x56x56 0.9, 24x56x56 1.2 (Xeon with AMX).
 *
 * Few planes by few: the tile transposes planes to pixels, and leaves most of its columns, and of its groups of numbers, unused. A
 * quad of taps of a vector of outputs takes as long as a third of a plane to copy; of smaller vectors, whose tiles compute fewer
 * useless columns, longer. 3x153x153 to 3 by 3x3 takes 0.21 of the time with amx, 0.22 with avx512 and 0.31 with avx2; 1x480x640 to
 * 2 by 9x9 0.24, 0.20, 0.35; 3x112x112 to 8 by 3x3 0.56, 0.57, 0.90; 4x112x112 to 4 by 1x1 0.36, 0.17, 0.17; 4x14x14 to 4 by 3x3
 * 0.86, 0.78, 0.86. But 16x80x80 to 3 by 3x3 0.96, 0.48, 0.85; 3x112x112 to 16 0.95, 1.09, 1.34; 64x112x112 to 1 by 1x1 1.4, 0.67,
 * 0.62 (Xeon with AMX).
 */
static const double MOST_WORK = 96, MOST_WORK_1X1 = 56;

/*
 * Lines that are split: the tile reads its pixels once, and copies take as long as without a stride, for fewer outputs.
 * More work is then worth it, but lines of few outputs are not, whose copies take twice as long. 1x512x512 to 8 by 5x5 with
 * stride 2 takes 0.37 of the time with avx2 and 0.26 with avx512, which widen bytes; 3x224x224 to 8 by 3x3 0.51, 0.35, 0.45
 * (avx512vnni), 0.52 (amx), to 16 0.88, 0.63, 0.79, 0.83, to 3 by 7x7 0.54, 0.31, 0.37, 0.51; 4x64x64 to 4 by 3x3 0.40,
 * 0.45, 0.55, 0.51; but 4x40x40 0.82, 0.78, 1.2, 1.3, 4x28x28 1.2 to 2. With stride 3, of which columns are copied one by
 * one, 3x224x224 to 8 takes 0.55, 0.59, 1.05, 1.03. Depthwise 4x56x56 by 3x3 takes 0.35, 0.44, 0.72, 0.70, 12x112x112 0.62,
 * 0.55, 0.87, 1.13, 8x28x28 1.7 to 4, 24x224x224 0.69, 0.78, 0.92, 0.84, avxvnni 1.2, 16x224x224 with amx 1.1, and
 * 32x224x224 with avx512 1.15 (Xeon with AMX).
 */
static const double MOST_WORK_SPLIT = 180, MOST_WORK_SPLIT_FAST = 140;
enum { SPLIT_LINE = 20, SPLIT_LINE_FAST = 32, MOST_FAST = 8 };

/*
 * Pixels, which are copied one by one. 3x512x512 by 3x3 with stride 2 takes 0.60 of the time with avx2, 0.50 with avx512,
 * 0.62 with avx512vnni, 0.70 with amx; 2x224x224 by 7x7 0.29, 0.19, 0.55, 0.80; 8x112x112 by 5x5 1.6, 0.76, 0.62, 1.3;
 * 12x112x112 by 3x3 0.87, 0.90, 0.87, 1.3; 24x28x28 by 5x5 1.4, 1.05, 1.0, 0.98; with stride 3 3x224x224 by 3x3 0.90, 0.77,
 * 1.5, 1.5, with stride 4 6x224x224 by 4x4 1.2, 0.96, 2.5, 4.2 (Xeon with AMX).
 *
 * With taps of one phase, lines and columns that no tap uses are left out of the copy. 8x26x617 by 2x2 with stride 2 and dilation 4
 * takes 0.50 of the time with avx2, 0.54 with amx, 12x64x128 by 3x3 with dilation 2 0.65 to 0.73 (avx512 0.68, avxvnni 0.69,
 * avx512vnni 0.57, amx 0.65), by 5x5 0.75 (0.96, 0.70, 0.56), 10x60x90 with stride and dilation 4 0.48 (0.85, 0.77, 0.71),
 * 16x64x128 0.8 (0.79, 1.5, 0.62, 0.80), 24x64x128 0.9 (1.2, 1.2, 1.2, 1.2); but 8x64x128 by 5x5 with avx2 1.2 (Xeon with AMX).
 */
enum { MOST_AMX = 3, FAR = 3, MOST_SPARSE = 16 };

bool sn_flat_8i_splits_pixels(const struct sn_convolution * c)
{
    const struct sn_dot_tile * tile = sn_dot_of(c)->tile;
    const bool fast = tile->number == 1;
    if (c->table->convolution_8i.flat.run && !is_nchw(c) && is_split(c) && !uses_phases(&c->p))
        return c->p.srcC <= MOST_SPARSE && 2 * c->p.srcC < vector_of(c);
    const size_t most = !fast ? vector_of(c) / sizeof(float) / 2 : tile->aligned ? MOST_AMX : MOST_FAST;
    return c->table->convolution_8i.flat.run && !is_nchw(c) && is_split(c) && c->p.srcC <= most &&
           c->p.strideX <= (size_t)(fast ? FAR - 1 : FAR);
}

/* Whether the lines of outputs are long enough; `fast`: the tile does not widen bytes. */
static bool is_long(const struct sn_convolution * c, bool fast)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t vector = vector_of(c), inputs = sn_is_depthwise(c) ? p->srcC : sn_inputs(c);
    if (is_split(c) && !is_nchw(c))
        return sn_flat_8i_splits_pixels(c);
    if (!is_split(c))
        return !sn_is_depthwise(c) || !is_nchw(c) || p->dstW >= sn_min(vector, LINE * inputs);
    if (sn_is_depthwise(c))
        return fast ? inputs <= MOST_FAST && p->dstW >= LINE * inputs : p->dstW >= sn_min(2 * vector, 4 * inputs);
    return fast ? p->dstW >= sn_max(SPLIT_LINE_FAST, LINE * inputs) && p->strideX % 2 == 0 : p->dstW >= SPLIT_LINE;
}

bool sn_flat_8i_preferred(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double longer = 96 / (double)(32 + vector_of(c)); /* 1, 1.5, 2 */
    const double work = longer * (double)quads_of(c) + 3 * (double)sn_inputs(c);
    const bool fast = sn_dot_of(c)->tile->number == 1, transposed = p->kernelY * p->kernelX == 1 && fast;
    if (!is_long(c, fast) || sn_is_depthwise(c))
        return is_long(c, fast);
    if (is_split(c))
        return work <= (transposed ? MOST_WORK_1X1 : fast ? MOST_WORK_SPLIT_FAST : MOST_WORK_SPLIT);
    return work <= (transposed ? MOST_WORK_1X1 : MOST_WORK);
}

const struct sn_convolution_algorithm sn_convolution_8i_flat = {.name = "flat lines", .supports = supports,
    .plan = plan, .offsets = offsets, .pack = pack, .forward = forward};
