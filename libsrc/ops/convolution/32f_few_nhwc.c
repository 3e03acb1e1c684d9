/*
 * NHWC, or NCHW that is converted, with few outputs, which would use only a few columns of the tile: the lanes of a vector are
 * steps of the sum, and are added up at the end, or they are results, if there are few inputs too (contract/convolution_32f.h).
 * Bands are those of the direct algorithm, or only of the edges. The kernel writes dense pixels: for any others, lines are copied
 * from the workspace.
 *
 * Each of several groups is such a convolution, where these are too few to be side by side (32f_few_grouped.c).
 */
#include "ops/convolution/32f.h"
#include "ops/convolution/converted.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/nhwc_edges.h"
#include "runtime/cpu.h"

struct few_nhwc {
    struct sn_nhwc_band nhwc;
    bool edges;     /* only the input of the edges is copied */
    bool shortSums; /* lanes are results */
    size_t lines, result; /* NCHW: floats of the converted lines of a band, and of its result, before the copy of the band */
};

SN_FITS_ALGORITHM_DATA(struct few_nhwc);

static const struct few_nhwc * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

/*
 * More outputs than SN_FEW, of long sums by several taps, are parts of so many, and of the rest: the tile would use half of its
 * lanes. With vectors of 16 512x52x52 to 8 by 9x9 takes 0.69 of the time, 64x30x30 to 8 by 7x7 0.56, 128x40x40 to 5 by 3x3 with
 * stride 2 0.46, 960x20x20 to 7 0.88; 300x64x64 to 6 by 1x1 would take 1.36, and Winograd's algorithm, for which they are left,
 * takes 0.8 of their time (Xeon with AMX).
 */
enum { MOST_IN_PARTS = 2 * SN_FEW, PARTS_LANES = 16, LEAST_SUM = 256 };

bool sn_few_nhwc_is_in_parts(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->group == 1 && p->dstC > SN_FEW && p->dstC <= MOST_IN_PARTS && sn_lanes(c) >= PARTS_LANES && sn_taps(c) > 1 &&
           sn_depth(c) >= LEAST_SUM && !sn_few_nhwc_is_short(c);
}

/* The outputs of a part, or of a group if it is no parts. */
static size_t part_of(const struct sn_convolution * c) { return sn_few_nhwc_is_in_parts(c) ? SN_FEW : sn_outputs(c); }
static size_t parts_of(const struct sn_convolution * c) { return c->p.group * sn_ceil_div(sn_outputs(c), part_of(c)); }

/* Rows of weights, and values of a pixel in a vector: three are padded with a zero. */
static size_t padded_rows(size_t outputs) { return outputs == 3 ? 4 : outputs; }
static size_t padded(const struct sn_convolution * c) { return padded_rows(part_of(c)); }

/* Vector cycles to add up the lanes of a sum. */
static const double LANES_ADDED = 3;

/* The same of groups, which are short: of a vector of steps of the sum, of a tap of a pixel, and to copy a vector of an image with
 * padding. Fitted to 9 layers on avx2 and avx512 (Xeon with AMX), beside the model of 32f_few_grouped.c. */
static const double GROUP_INPUTS = 1.1, GROUP_TAP = 3, GROUP_COPIED = 2;

/* Lines are blocks of as many pixels as fill a vector with sums. */
static double cost_of_groups(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double pixels = (double)p->dstH * (double)sn_align(p->dstW, sn_lanes(c) / padded(c));
    const double outputs = (double)padded(c), group = (double)p->group;
    const double taps = sn_taps(c) * (GROUP_INPUTS * sn_vectors(c, sn_inputs(c)) + GROUP_TAP / outputs);
    const double copied = p->padY || p->padX ? GROUP_COPIED * sn_src_pixels(c) * sn_vectors(c, p->srcC) : 0;
    return sn_of_vectors(c, pixels * outputs * group * (taps + LANES_ADDED) + copied);
}

/* A cycle for each vector of steps of the sum and each output, where three outputs count as four. */
static double cost_of_lanes(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double vectors = p->dilationX == 1 ? (double)p->kernelY * sn_vectors(c, p->kernelX * p->srcC)
                                             : sn_taps(c) * sn_vectors(c, p->srcC);
    const size_t part = part_of(c), outputs = c->p.dstC / part * padded(c) + padded_rows(c->p.dstC % part);
    return sn_of_vectors(c, sn_dst_pixels(c) * (double)outputs * (vectors + LANES_ADDED));
}

/* The floats of a segment. */
static size_t length_of(const struct sn_convolution_parameters * p)
{
    return p->dilationX == 1 ? p->kernelX * p->srcC : p->srcC;
}

/* The pixels of a vector of results of short sums; 0: sums are not short. */
static size_t pixels_of_vector(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), length = length_of(p), taps = p->kernelY * p->kernelX;
    if (p->group > 1 || lanes < SN_FEW_SHORT_LANES || length > lanes || p->dstC > lanes / 2 || taps * p->srcC > SN_FEW_SHORT)
        return 0;
    return sn_min(lanes / p->dstC, (lanes - length) / (p->strideX * p->srcC) + 1);
}

/* Vector cycles of a vector of results of short sums, and of each of its steps. */
static const double RESULTS = 6, STEP = 0.8;

static double cost_of_short(const struct sn_convolution * c)
{
    return sn_of_vectors(c, sn_dst_pixels(c) / (double)pixels_of_vector(c) * (RESULTS + STEP * sn_depth(c)));
}

/* A single pixel in a vector takes as long as by other algorithms, or longer: 8x160x160 to 4 1.15 times as long on avx2. */
bool sn_few_nhwc_is_short(const struct sn_convolution * c)
{
    return pixels_of_vector(c) > 1 && (c->p.dstC > SN_FEW || cost_of_short(c) < cost_of_lanes(c));
}

static bool supports(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NHWC && c->srcSize && c->dstSize &&
           (sn_outputs(c) <= SN_FEW || sn_few_nhwc_is_short(c) || sn_few_nhwc_is_in_parts(c));
}

static bool supports_converted(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NCHW && c->p.group == 1 && c->srcSize && c->dstSize && c->p.dstC <= SN_FEW;
}

/*
 * Converted from NCHW: as many times the cost of the sums, with vectors of 16 and with shorter ones, and of all if there is a
 * stride, with which few outputs in NCHW take less than their model says; if it has a common divisor with the dilation, they skip
 * lines and columns. Of 130 layers of 8 to 768 inputs 80 change to this with vectors of 16, and take 0.68 of the time, 63 with
 * those of 8, 0.75; all together take 1.01 and 1.03 times as long as by the better one of both (Xeon with AMX).
 */
static const double SUMS_512 = 0.7, SUMS = 1.2, STRIDED = 1.25, DIVIDED = 1.9;

static double cost_converted(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double sums = (sn_lanes(c) == 16 ? SUMS_512 : SUMS) * cost_of_lanes(c);
    const double strided = p->strideX == 1 ? 1 : sn_divisor(p->strideX, p->dilationX) > 1 ? DIVIDED : STRIDED;
    return strided * (sums + SN_VECTOR_CONVERTED * sn_of_vectors(c, sn_channel_vectors(c)));
}

static double cost(const struct sn_convolution * c)
{
    if (c->p.group > 1)
        return cost_of_groups(c);
    return sn_few_nhwc_is_short(c) ? cost_of_short(c) : cost_of_lanes(c);
}

/* The time of a block of fewer pixels, by that of a whole one. */
static const double PARTIAL = 1.75;

/* Blocks of `pixels` pixels, of some outputs, in rows or in columns. */
static double blocks_of(size_t rows, size_t columns, size_t pixels)
{
    const bool down = columns < rows && columns < pixels;
    const size_t lines = down ? columns : rows, length = down ? rows : columns;
    return (double)lines * ((double)(length / pixels) + (length % pixels ? PARTIAL : 0));
}

/* Those of an image of which only the edges are copied, as if the corners were computed apart: by the parts of sn_edges_divide(),
 * which are fewer, 256x56x56 to 1 by 5x5 would have only its edges copied, and take 1.5 times as long. */
static double blocks_with_edges(const struct sn_convolution_parameters * p, size_t pixels)
{
    const struct sn_inner i = sn_inner_of(p);
    const size_t y[] = {0, i.top, i.bottom, p->dstH}, x[] = {0, i.left, i.right, p->dstW};
    double blocks = 0;
    for (size_t j = 0; j < 3; ++j)
        for (size_t k = 0; k < 3; ++k)
            blocks += blocks_of(y[j + 1] - y[j], x[k + 1] - x[k], pixels);
    return blocks;
}

/* Vector cycles of a step of the sums of a block, and to copy a float. */
static const double BLOCK_STEP = 0.75, COPIED = 0.12;

/*
 * Whether to copy only the input of the edges, which makes more blocks. 2 images of 928x40x256 to 2 by 3x3 with stride 2 take
 * 0.45 of the time, 512x20x20 to 4 0.67, 64x56x56 to 1 by 3x3 0.83; small images, copied in the L1 cache, would take 1.2 to 1.4
 * (Xeon with AMX).
 */
static bool only_edges(const struct sn_convolution * c, const struct sn_band * band)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (!sn_nhwc_edges_fit(p, band))
        return false;
    const size_t pixels = sn_lanes(c) / padded(c);
    const double more = blocks_with_edges(p, pixels) - blocks_of(p->dstH, p->dstW, pixels);
    return BLOCK_STEP * more * sn_depth(c) * (double)p->group < COPIED * (double)(c->srcSize / sizeof(float));
}

/* The floats of a line, or of a column of a band, that is copied to its place, see compute_spaced(). */
static bool spaced_line(const struct sn_convolution * c, const struct sn_band * band, size_t * floats)
{
    return sn_product(floats, sn_max(c->p.dstW, band->rows), c->p.dstC);
}

static bool plan(struct sn_convolution * c)
{
    struct few_nhwc * few = (void *)c->algorithmData;
    struct sn_nhwc_band * b = &few->nhwc;
    few->shortSums = sn_few_nhwc_is_short(c);
    few->lines = few->result = 0;
    sn_nhwc_band_plan(c, false, b);
    few->edges = !few->shortSums && only_edges(c, &b->band);
    if (few->edges)
        sn_nhwc_only_edges(&c->p, &b->band);
    c->run = part_of(c), c->runStep = sn_lanes(c);
    size_t line;
    return sn_product(&c->channels, parts_of(c), sn_lanes(c)) && sn_nhwc_band_size(c, b) &&
           sn_floats(&c->weightSize, parts_of(c), b->depth, padded(c)) && spaced_line(c, &b->band, &line) &&
           sn_floats(&c->workSize, c->workSize / sizeof(float) + line);
}

/*
 * Lines that bands share are converted for each of them: a band has several times as many as one row needs. But the workspace,
 * which may have a copy of them, remains below an L2 cache and twice the lines of one row.
 */
enum { BAND_LINES = 5 };

static bool plan_converted(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct few_nhwc * few = (void *)c->algorithmData;
    struct sn_band * band = &few->nhwc.band;
    if (!plan(c))
        return false;
    const size_t near = sn_cpu()->cacheL2 / 2 / sizeof(float), one = sn_used(1, 1, p->kernelY, p->dilationY) * band->line;
    sn_band_rows(band, p, sn_max(near, sn_min(BAND_LINES * one, (near + one) * (band->copied ? 1 : 2))));
    size_t lines, result, copied, line;
    if (!sn_product(&lines, sn_converted_lines(p, band->rows), p->srcW, p->srcC) || !spaced_line(c, band, &line) ||
        !sn_product(&result, band->rows, p->dstW, p->dstC) || !sn_nhwc_copy_size(c, &few->nhwc, &copied))
        return false;
    few->lines = sn_align(lines, SN_ALIGN / sizeof(float));
    few->result = sn_align(result, SN_ALIGN / sizeof(float));
    return sn_floats(&c->workSize, few->lines + few->result + copied + line);
}

static void offsets(const struct sn_convolution * c) { sn_nhwc_offsets(c, &data_of(c)->nhwc); }

/* Outputs first .. first + count - 1 are those of a part, or of a group. */
struct part {
    size_t first, count;
};

static struct part part_at(const struct sn_convolution * c, size_t i)
{
    const size_t outputs = sn_outputs(c), part = part_of(c), parts = sn_ceil_div(outputs, part), at = i % parts * part;
    return (struct part){i / parts * outputs + at, sn_min(part, outputs - at)};
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const sn_32f * w = weight;
    const size_t depth = data_of(c)->nhwc.depth, inputs = sn_inputs(c);
    for (size_t i = 0; i < parts_of(c); ++i) {
        const struct part part = part_at(c, i);
        sn_32f * packed = sn_weights(c) + i * padded(c) * depth;
        for (size_t o = part.first; o < part.first + part.count; ++o)
            for (size_t k = 0; k < depth; ++k)
                *packed++ = w[sn_weight_at(c->format, &c->p, o, k % inputs, k / inputs)];
    }
}

/* A vector repeats the values of a pixel. */
static void spread(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread)
{
    for (size_t n = 0; n < parts_of(c); ++n, spread += c->runStep) {
        const struct part part = part_at(c, n);
        for (size_t i = 0; i < c->runStep; ++i) {
            const size_t o = i % padded_rows(part.count);
            spread[i] = o < part.count ? values[part.first + o] : 0;
        }
    }
}

/* Computes line by line to the end of the workspace, and copies. */
static void compute_spaced(const struct sn_convolution * c, struct sn_gemm_32f gemm, sn_32f * end)
{
    const size_t channels = gemm.columns, lines = gemm.height;
    sn_32f * dst = gemm.c;
    gemm.c = end - gemm.width * channels;
    gemm.height = 1;
    for (size_t y = 0; y < lines; ++y, gemm.a += gemm.aStepY) {
        const struct sn_lines_32f pixels = {.src = gemm.c, .srcStep = channels, .stride = 1, .dst = dst + y * gemm.cStepY,
            .dstStep = gemm.cStepX, .lines = gemm.width, .inside = channels, .size = channels};
        c->table->convolution_32f.few_nhwc(&gemm);
        c->table->convolution_32f.lines(&pixels);
    }
}

/*
 * The least channels of 1x1 convolutions whose images are fetched ahead if they are so many times as large as the L2 cache.
 * Pixels of 32 channels are read nearly in order: 32x300x300 to 1 took up to 1.3 times as long; 192x73x73 (4 MB) up to 1.2.
 */
enum { FAR_CHANNELS = 128, FAR = 6 };

static bool is_far(const struct sn_convolution * c)
{
    const bool in_place = c->segments == 1 && !data_of(c)->nhwc.band.copied && !data_of(c)->lines;
    return in_place && c->p.srcC >= FAR_CHANNELS && c->batch * c->srcSize > sn_cpu()->cacheL2 * FAR;
}

/* An image of the call, with the end of the workspace. */
struct few_job {
    const struct sn_convolution * c;
    sn_32f * end;
};

static void compute_rows(const void * job, const struct sn_nhwc_rows * r)
{
    const struct few_job * j = job;
    const struct sn_convolution * c = j->c;
    const struct few_nhwc * d = data_of(c);
    struct sn_gemm_32f gemm = {.a = r->src, .height = r->rows, .width = r->columns ? r->columns : c->p.dstW,
        .aStepY = r->srcLine, .aStepX = r->srcPixel, .segment = c->segment, .segments = c->segments,
        .length = d->nhwc.length, .b = c->weight, .columns = part_of(c), .shortSums = d->shortSums, .c = r->dst,
        .cStepY = r->dstLine, .cStepX = r->dstPixel, .bias = c->bias, .slope = c->slope,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}};
    if (is_far(c))
        gemm.prefetch = r->src;
    if (gemm.width < gemm.height && gemm.width < sn_lanes(c) / padded(c)) { /* blocks of pixels below each other */
        gemm.height = gemm.width, gemm.width = r->rows;
        gemm.aStepX = r->srcLine, gemm.aStepY = r->srcPixel;
        gemm.cStepX = r->dstLine, gemm.cStepY = r->dstPixel;
    }
    if (gemm.cStepX != gemm.columns) {
        for (size_t i = 0; i < parts_of(c); ++i) {
            const struct part part = part_at(c, i);
            struct sn_gemm_32f some = gemm;
            some.a += part.first / sn_outputs(c) * sn_inputs(c);
            some.b += i * padded(c) * d->nhwc.depth;
            some.c += part.first;
            some.columns = part.count;
            some.bias += i * c->runStep;
            some.slope = gemm.slope ? gemm.slope + i * c->runStep : NULL;
            compute_spaced(c, some, j->end);
        }
        return;
    }
    if (gemm.aStepY == gemm.width * gemm.aStepX && gemm.cStepY == gemm.width * gemm.cStepX) { /* all rows are one line */
        gemm.width *= gemm.height;
        gemm.height = 1;
    }
    c->table->convolution_32f.few_nhwc(&gemm);
}

static void compute_image(const struct sn_convolution * c, const struct sn_arrays * a, struct sn_nhwc_image image,
                          struct sn_nhwc_rows r)
{
    const struct few_nhwc * d = data_of(c);
    sn_32f * work = (sn_32f *)a->work + d->lines + d->result;
    const struct few_job job = {c, (sn_32f *)a->work + c->workSize / sizeof(float)};
    if (d->edges) {
        sn_nhwc_edges_run(&(struct sn_nhwc_edges){c, &d->nhwc.band, image, work, &job, compute_rows}, &r);
    } else {
        sn_nhwc_source(c, &d->nhwc, image, r.row, work, &r);
        compute_rows(&job, &r);
    }
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    compute_image(c, a, (struct sn_nhwc_image){a->src, a->at->srcPixel}, sn_nhwc_rows_of(c, s, a));
}

static void compute_converted(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct few_nhwc * d = data_of(c);
    sn_32f * lines = a->work, * result = lines + d->lines;
    const struct sn_nhwc_image image = {sn_lines_to_nhwc(c, c->p.srcC, a->src, s->line, s->lines, lines), c->p.srcC};
    compute_image(c, a, image, (struct sn_nhwc_rows){.row = s->line, .rows = s->lines, .dst = result,
        .dstLine = c->p.dstW * c->p.dstC, .dstPixel = c->p.dstC});
    sn_rows_to_nchw(c, c->p.dstC, result, s->line, s->lines, a->dst);
}

static void narrow(struct sn_convolution * part)
{
    struct few_nhwc * few = (void *)part->algorithmData;
    if (!few->edges)
        sn_band_narrow(&few->nhwc.band, &part->p);
}

/* Runs the convolution; only lines of NHWC may be divided. */
static void run(const struct sn_convolution * c, const struct sn_arrays * a, bool converted)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = converted ? compute_converted : compute,
        .time = sn_convolution_32f_time(c), .columns = !converted, .near = true, .narrow = narrow,
        .shares = {.lines = c->p.dstH, .most = data_of(c)->nhwc.band.rows, .columns = c->p.dstC,
        .least = sn_ceil_div(2 * c->table->gemm.tile_32f.rows, c->p.dstW)}});
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a) { run(c, a, false); }
static void forward_converted(const struct sn_convolution * c, const struct sn_arrays * a) { run(c, a, true); }

const struct sn_convolution_algorithm
    sn_convolution_32f_few_nhwc = {.name = "few outputs NHWC", .supports = supports, .cost = cost, .plan = plan,
        .offsets = offsets, .pack = pack, .spread = spread, .forward = forward},
    sn_convolution_32f_few_converted = {.name = "few outputs NCHW by NHWC", .supports = supports_converted,
        .cost = cost_converted, .plan = plan_converted, .offsets = offsets, .pack = pack, .spread = spread,
        .forward = forward_converted};
