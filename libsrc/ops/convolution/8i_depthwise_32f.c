/*
 * Quantised depthwise convolution by the kernel of floats, for levels that multiply bytes as numbers of 16 bits. The sums are
 * exact in floats, so the bytes of results are those of the other algorithms. Lines become floats less the zero point, so
 * padding is 0, and lines of padding take no time; sums begin with zero point * sum of the weights, which the results expect.
 *
 * Two products of 16 bits and their addition take as many instructions as two of floats, and bytes must be paired first, line by
 * line.
 */
#include "ops/convolution/8i.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/depthwise_rows.h"
#include "runtime/cpu.h"

struct floats {
    struct sn_depthwise_rows rows;
    size_t line, sums; /* bytes from the workspace, which begins with the pointers to lines, to its other parts */
};
SN_FITS_ALGORITHM_DATA(struct floats);

static const struct floats * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

/* The most taps: sums, their beginnings included, are below 2^24. */
enum { TAPS = 256 };

static bool supports(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return sn_is_depthwise(c) && p->srcF == SN_NHWC && p->srcT == SN_DATA_8U && sn_given_weights(c) / p->dstC <= TAPS &&
           sn_dot_of(c)->tile->number > 1 && c->table->convolution_8i.sums;
}

/*
 * Where it is faster, of 130 shapes on Emerald Rapids: low images, whose other algorithms multiply lines of padding; channels that
 * fill their vectors badly; and with long vectors all kernels above 3x3 without stride. 2x96x200 by 5x5 takes 0.53 of the time
 * (avx2) and 0.60 (avx512), 3x96x40 by 3x3 0.71 and 0.55, 56x56x24 by 5x5 0.66 and 0.82, 56x56x96 1.02 and 0.88, by 3x3 1.45 and
 * 1.58; 12x80x240, whose floats for four rows do not fit into a cache, 1.06 and 1.37.
 */
enum { LONG = 64, ROWS = 4, HIGH = 8, CACHE = 512 << 10 };
static const double LOW = 0.85;

/* The part of the lines of all rows' taps that are in the image; 1 of high ones. */
static double part_inside(const struct sn_convolution_parameters * p)
{
    size_t inside = 0;
    if (p->dstH > HIGH * p->kernelY)
        return 1;
    for (size_t i = 0; i < p->dstH * p->kernelY; ++i)
        inside += i / p->kernelY * p->strideY + i % p->kernelY * p->dilationY - p->padY < p->srcH; /* wraps above the image */
    return (double)inside / (double)sn_max(p->dstH * p->kernelY, 1);
}

bool sn_depthwise_32f_preferred(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t vector = c->table->alignment, half = vector / 2, channels = p->dstC;
    const bool longs = vector == LONG, strided = p->strideX > 1;
    const size_t lines = sn_min(sn_used(ROWS, p->strideY, p->kernelY, p->dilationY), p->srcH);
    const double floats = (double)(lines * p->srcW + sn_min(ROWS, p->dstH) * p->dstW) * (double)channels;
    if (floats > (double)CACHE / sizeof(float) || sn_flat_8i_splits_pixels(c))
        return false;
    if ((channels > half && channels < vector) || (channels < half && strided) || (channels == half && !longs))
        return true;
    return p->kernelY > 3 && (part_inside(p) <= LOW || (longs && !strided && channels >= vector / sizeof(float)));
}

/* In bands of rows whose lines and sums fit into the L2 cache. */
static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct floats * f = (void *)c->algorithmData;
    size_t line, sums, size = 0, weights;
    if (!sn_floats(&line, p->srcW, p->srcC) || !sn_floats(&sums, p->dstW, p->dstC))
        return false;
    struct sn_band band = {.line = sn_max(line + sums, 1), .strideY = p->strideY};
    sn_band_rows(&band, p, sn_cpu()->cacheL2 / 2);
    f->line = sn_depthwise_rows_plan(c, band.rows, &f->rows);
    const size_t rows = f->rows.rows, lines = sn_min(sn_used(rows, p->strideY, p->kernelY, p->dilationY), p->srcH);
    c->channels = p->dstC;
    c->runStep = 1;
    if (!sn_floats(&weights, p->kernelY * p->kernelX + 1, sn_align(p->dstC, sn_lanes(c))) || !sn_product(&size, lines, line))
        return false;
    c->weightSize = weights;
    f->sums = f->line + sn_align(size, SN_ALIGN);
    return sn_product(&size, rows, sums) && sn_product(&c->workSize, f->sums + size + SN_ALIGN, 1);
}

/* For each vector of channels all taps, then the beginnings of all sums. */
static sn_32f * starts_of(const struct sn_convolution * c)
{
    return sn_weights(c) + c->p.kernelY * c->p.kernelX * sn_align(c->p.dstC, sn_lanes(c));
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), taps = p->kernelY * p->kernelX;
    const int8_t * from = weight;
    for (size_t o = 0; o < p->dstC; ++o) {
        float sum = 0;
        for (size_t t = 0; t < taps; ++t) {
            const float w = from[sn_weight_at(c->format, p, o, 0, t)];
            sn_weights(c)[(o / lanes * taps + t) * lanes + o % lanes] = w;
            sum += w;
        }
        starts_of(c)[o] = sum * sn_dot_of(c)->srcZero + (float)((const int32_t *)(const void *)c->bias)[o];
    }
}

/* Converts the lines that some rows need; returns the address that line 0 would have. */
static const void * convert(const struct sn_convolution * c, const struct sn_arrays * a, size_t row, size_t rows, sn_32f * to)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_lines needed = sn_lines_of(p, row, rows);
    const size_t first = needed.begin * p->srcW, pixels = (needed.end - needed.begin) * p->srcW, step = a->at->srcPixel;
    const int32_t zero = (int32_t)sn_dot_of(c)->srcZero;
    const sn_32f one = 1;
    const struct sn_quantization q = {.scale = &one, .zero = &zero};
    const uint8_t * src = (const uint8_t *)a->src + first * step;
    const size_t runs = step == p->srcC ? sn_min(pixels, 1) : pixels, size = runs ? pixels / runs * p->srcC : 0;
    for (size_t i = 0; i < runs; ++i)
        c->table->quantize_linear.dequantize(&q, src + i * step, size, to + i * size, false);
    return to - first * p->srcC;
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct floats * f = data_of(c);
    const size_t row = sn_depthwise_first(&f->rows, s), rows = sn_depthwise_count(c, &f->rows, s);
    uint8_t * work = a->work;
    size_t step;
    uint8_t * dst = sn_dot_result_at(c, 0, p->dstC, row, NULL, a, &step);
    union sn_dot_result result;
    const void * src = convert(c, a, row, rows, (sn_32f *)(void *)(work + f->line));
    struct sn_depthwise_nhwc d = sn_depthwise_job(c, &f->rows, 0, p->dstC, p->srcC, p->dstC);
    d.bias = starts_of(c);
    d.activation = SN_ACTIVATION_IDENTITY;
    d.rows = rows;
    d.dst = work + f->sums;
    sn_depthwise_compute(c, c->table->convolution_32f.depthwise_nhwc, 1, d, src, row, a->work);
    sn_dot_of(c)->result(c, 0, &result);
    c->table->convolution_8i.sums(d.dst, &result.as_8i, p->dstC, rows * p->dstW, dst, step);
    sn_dot_result_finish(c, 0, p->dstC, row, rows, a);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_depthwise_run(c, &data_of(c)->rows, a, sn_convolution_dot_time(c), compute);
}

const struct sn_convolution_algorithm sn_convolution_8i_depthwise_32f = {.name = "depthwise by floats", .supports = supports,
    .plan = plan, .pack = pack, .forward = forward};
