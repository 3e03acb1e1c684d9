/*
 * Depthwise convolution of bfloat16 numbers, by the kernel that reads them as floats, or by products of pairs of taps if the
 * level has such a kernel and weights are bfloat16 numbers. NHWC images of bfloat16 numbers are read in place. Lines of others
 * are first converted to such pixels; results for NCHW are pixels in the workspace, from where they are copied to planes. NHWC
 * images of floats that are not rounded are read by the kernel of floats, whose results are rounded afterwards if need be.
 */
#include "ops/convolution/16b.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/depthwise_rows.h"
#include "ops/widened.h"
#include "runtime/cpu.h"

struct depthwise {
    struct sn_depthwise_rows rows;
    bool copied, floats; /* lines are converted first; results are rounded afterwards */
    size_t copy, result; /* bytes from the workspace, which begins with the pointers to lines, to its other parts */
};
SN_FITS_ALGORITHM_DATA(struct depthwise);

static const struct depthwise * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c) { return sn_is_depthwise(c); }

/* The workspace: pointers to lines, converted lines, results to be converted to planes or rounded; in bands of rows that fit
 * into the L2 cache. */
static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct depthwise * d = (void *)c->algorithmData;
    const bool nchw = p->srcF == SN_NCHW, floats = p->srcT == SN_DATA_32F;
    size_t line, result, size = 0;
    d->copied = nchw || (floats && !sn_dot_of(c)->exact);
    d->floats = floats && !d->copied && p->dstT == SN_DATA_16B;
    if (!sn_product(&line, d->copied, p->srcW, p->srcC, sizeof(sn_16b)) ||
        !sn_product(&result, nchw || d->floats, p->dstW, p->dstC, sn_element(d->floats ? SN_DATA_32F : p->dstT)))
        return false;
    struct sn_band band = {.line = sn_max(line + result, 1), .strideY = p->strideY};
    sn_band_rows(&band, p, line + result ? sn_cpu()->cacheL2 / 2 : SIZE_MAX);
    d->copy = sn_depthwise_rows_plan(c, band.rows, &d->rows);
    const size_t rows = d->rows.rows, lines = sn_min(sn_used(rows, p->strideY, p->kernelY, p->dilationY), p->srcH);
    if (!sn_depthwise_rows_weights(c) || !sn_product(&size, lines, line))
        return false;
    d->result = d->copy + sn_align(size, SN_ALIGN);
    return sn_product(&size, rows, result) && sn_product(&c->workSize, d->result + size, 1);
}

/* For each vector of channels all taps, see struct sn_depthwise_nhwc. */
static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), taps = p->kernelY * p->kernelX;
    const sn_32f * from = weight;
    sn_32f * packed = c->weight;
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t t = 0; t < taps; ++t)
            packed[(o / lanes * taps + t) * lanes + o % lanes] = sn_16b_weight(c, from[sn_weight_at(c->format, p, o, 0, t)]);
}

/* Converts the lines that some rows need to pixels at `copy`; returns the address that line 0 would have there. */
static const void * convert(const struct sn_convolution * c, const struct sn_arrays * a, size_t row, size_t rows,
                            uint8_t * copy)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_lines needed = sn_lines_of(p, row, rows);
    const bool nchw = p->srcF == SN_NCHW;
    const size_t pixel = nchw ? 1 : a->at->srcPixel, first = needed.begin * p->srcW, small = p->srcC * sizeof(sn_16b);
    if (needed.begin < needed.end)
        sn_dot_of(c)->pixels(&(struct sn_pixels){.floats = p->srcT == SN_DATA_32F, .srcPixel = pixel,
            .srcChannel = nchw ? p->srcH * p->srcW : 1, .channels = p->srcC,
            .src = (const uint8_t *)a->src + first * pixel * sn_element(p->srcT),
            .pixels = (needed.end - needed.begin) * p->srcW, .dst = copy, .dstPixel = small});
    return copy - first * small;
}

/* The kernel for lines of floats, or of bfloat16 numbers: equal for all rows, so that results do not depend on how these are
 * divided. */
static sn_depthwise_nhwc_fn kernel_of(const struct sn_convolution * c, bool small)
{
    if (!small)
        return c->table->convolution_32f.depthwise_nhwc;
    const sn_depthwise_nhwc_fn pairs = sn_dot_of(c)->rounded ? sn_depthwise_pairs(c) : NULL;
    return pairs ? pairs : c->table->convolution_16b.depthwise_nhwc;
}

/* At most as many rows as the workspace has room for. */
static void compute_rows(const struct sn_convolution * c, size_t row, size_t rows, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct depthwise * o = data_of(c);
    uint8_t * work = a->work;
    size_t step;
    uint8_t * to = sn_dot_result_at(c, 0, p->dstC, row, work + o->result, a, &step);
    const void * src = o->copied ? convert(c, a, row, rows, work + o->copy) : a->src;
    struct sn_depthwise_nhwc d = sn_depthwise_job(c, &o->rows, 0, p->dstC, o->copied ? p->srcC : a->at->srcPixel,
                                                  step / sn_element(p->dstT));
    d.rows = rows;
    d.small = o->copied || p->srcT == SN_DATA_16B;
    d.dst = o->floats ? work + o->result : to;
    d.narrow = p->dstT == SN_DATA_16B && !o->floats;
    if (o->floats)
        d.dstPixel = p->dstC, d.dstRow = p->dstW * p->dstC;
    sn_depthwise_compute(c, kernel_of(c, d.small), 1, d, src, row, a->work);
    if (o->floats)
        sn_narrow_rows(c->table, d.dst, rows * p->dstW, p->dstC, step / sizeof(sn_16b), (void *)to);
    sn_dot_result_store(c, work + o->result, 0, p->dstC, row, rows, a);
}

void sn_16b_depthwise_rows(const struct sn_convolution * c, size_t row, size_t rows, const struct sn_arrays * a)
{
    for (const size_t end = row + rows; row < end; row += data_of(c)->rows.rows)
        compute_rows(c, row, sn_min(end - row, data_of(c)->rows.rows), a);
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_depthwise_rows * r = &data_of(c)->rows;
    compute_rows(c, sn_depthwise_first(r, s), sn_depthwise_count(c, r, s), a);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_depthwise_run(c, &data_of(c)->rows, a, sn_convolution_dot_time(c), compute);
}

const struct sn_convolution_algorithm sn_convolution_16b_depthwise = {.name = "depthwise", .supports = supports,
    .plan = plan, .pack = pack, .forward = forward};
