#include "ops/convolution/depthwise_rows.h"

#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution/cost.h"
#include "ops/units.h"
#include "runtime/cpu.h"

/* The maximum number of pointers to lines for one call of the kernel, unless one row needs more. */
enum { LINES = 1024 };

bool sn_pixels_share_sets(const struct sn_convolution * c)
{
    return sn_share_sets(c->p.srcC * sizeof(float), SN_TWO_SETS);
}

bool sn_depthwise_cold(const struct sn_convolution * c)
{
    return sn_beyond_cache(c->batch * (c->srcSize + c->dstSize));
}

/*
 * The limits of reading in order (kernels/depthwise/cold_32f.h has the figures): taps, without and with a stride; bytes of
 * weights, which are read again for each pixel, with vectors of 16 floats and with shorter ones; bytes of a pixel at least.
 */
enum { ORDER_TAPS = 9, ORDER_TAPS_STRIDED = 25, ORDER_WEIGHTS_16 = 24 << 10, ORDER_WEIGHTS = 32 << 10, ORDER_PIXEL = 256 };

/*
 * Whether images beyond the L2 cache are read in order with a stride though they lie in another cache: if the kernel has no
 * blocks for the stride, or pixels share sets of the L1 cache. 12 images of 640x52x52 by 3x3 with stride 4 take 0.92 of the
 * time of blocks (AVX-512), 0.54 (AVX2), 384x56x56 with stride 3 0.89 and 0.73, 512x56x56 with stride 2 0.65 and 0.45. Kernels
 * of few taps took 1.1 to 1.8 times as long, smaller pixels with vectors of 16 floats 0.9 to 1.1; where there are blocks for
 * stride 2 1.0 to 1.15.
 */
enum { ORDER_NO_BLOCKS = 9, ORDER_SHARED = 4, ORDER_PIXEL_16 = 768 };

static bool is_near_in_order(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t taps = p->kernelY * p->kernelX;
    if (p->strideX == 1 || c->batch * (c->srcSize + c->dstSize) <= sn_cpu()->cacheL2 ||
        (sn_lanes(c) == 16 && p->dstC * sizeof(float) < ORDER_PIXEL_16))
        return false;
    const bool blocks = p->strideX == 2 || (p->strideX == 3 && p->kernelY >= 5);
    return sn_pixels_share_sets(c) ? taps >= ORDER_SHARED : !blocks && taps >= ORDER_NO_BLOCKS;
}

bool sn_depthwise_in_order(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const enum sn_activation a = p->activation;
    const bool limits = a == SN_ACTIVATION_IDENTITY || a == SN_ACTIVATION_RELU || a == SN_ACTIVATION_RESTRICT_RANGE;
    const size_t taps = p->kernelY * p->kernelX, bytes = p->dstC * sizeof(float);
    return limits && taps <= (p->strideX > 1 ? ORDER_TAPS_STRIDED : ORDER_TAPS) && bytes >= ORDER_PIXEL
           && taps * bytes <= (sn_lanes(c) == 16 ? ORDER_WEIGHTS_16 : ORDER_WEIGHTS)
           && (sn_depthwise_cold(c) || is_near_in_order(c));
}

size_t sn_depthwise_rows_plan(const struct sn_convolution * c, size_t most, struct sn_depthwise_rows * r)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t step = p->strideY / p->dilationY;
    const bool shared = p->strideY % p->dilationY == 0 && step < p->kernelY; /* otherwise no lines are, or few */
    r->step = shared ? step : p->kernelY;
    r->rows = sn_min(sn_max(1, sn_min(p->dstH, LINES / p->kernelY)), most);
    r->lines = (r->rows - 1) * r->step + p->kernelY;
    r->together = 1;
    return sn_align(r->lines * sizeof(void *), SN_ALIGN);
}

/* The rows that the kernel computes together. */
static size_t unit_of(const struct sn_depthwise_rows * r) { return r->rows >= 4 ? 4 : 1; }

void sn_depthwise_run(const struct sn_convolution * c, const struct sn_depthwise_rows * r, const struct sn_arrays * a, double time,
                      void (*compute)(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a))
{
    const size_t unit = unit_of(r);
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute, .time = time,
        .columns = c->p.srcF == SN_NHWC,
        .shares = {.lines = sn_ceil_div(c->p.dstH, unit), .most = r->rows / unit}});
}

size_t sn_depthwise_first(const struct sn_depthwise_rows * r, const struct sn_share * s) { return s->line * unit_of(r); }

size_t sn_depthwise_count(const struct sn_convolution * c, const struct sn_depthwise_rows * r, const struct sn_share * s)
{
    return sn_min(s->lines * unit_of(r), c->p.dstH - sn_depthwise_first(r, s));
}

bool sn_depthwise_rows_weights(struct sn_convolution * c)
{
    c->channels = sn_align(c->p.dstC, sn_lanes(c));
    c->runStep = 1;
    return sn_floats(&c->weightSize, c->p.kernelY, c->p.kernelX, c->channels);
}

void sn_depthwise_rows_pack(const struct sn_convolution * c, const void * weight)
{
    const size_t lanes = sn_lanes(c), taps = c->p.kernelY * c->p.kernelX, channels = c->p.dstC;
    const sn_32f * w = weight;
    sn_32f * packed = c->weight;
    for (size_t o = 0; o < channels; o += lanes)
        for (size_t k = 0; k < taps; ++k, packed += lanes)
            memcpy(packed, w + k * channels + o, sn_min(channels - o, lanes) * sizeof(float));
}

struct sn_depthwise_nhwc sn_depthwise_job(const struct sn_convolution * c, const struct sn_depthwise_rows * r,
                                              size_t first, size_t count, size_t srcPixel, size_t dstPixel)
{
    const struct sn_convolution_parameters * p = &c->p;
    return (struct sn_depthwise_nhwc){.lineStep = r->step, .srcW = p->srcW, .srcPixel = srcPixel,
        .kernelY = p->kernelY, .kernelX = p->kernelX, .strideX = p->strideX, .dilationX = p->dilationX, .padX = p->padX,
        .channels = count, .weight = sn_weights(c) + first * p->kernelY * p->kernelX, .bias = c->bias + first,
        .slope = c->slope ? c->slope + first : NULL, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}, .dstW = p->dstW, .dstRow = p->dstW * dstPixel, .dstPixel = dstPixel};
}

/* Sets the pointers to the lines that d->rows output rows need, of which the first is `row`; the rows lie `apart` rows from
 * each other. Lines outside the image are NULL. */
static void find_lines(const struct sn_convolution * c, const struct sn_depthwise_nhwc * d, const void * src, size_t row,
                       size_t apart, const void ** line)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t size = p->srcW * d->srcPixel * (d->small ? sizeof(sn_16b) : sizeof(sn_32f));
    for (size_t y = 0; y < d->rows; ++y)
        for (size_t ky = 0; ky < p->kernelY; ++ky) {
            const size_t at = (row + y * apart) * p->strideY + ky * p->dilationY - p->padY; /* wraps for those above */
            line[y * d->lineStep + ky] = at < p->srcH ? (const uint8_t *)src + at * size : NULL;
        }
}

/* The address of result i from d->dst on. */
static void * result_at(const struct sn_depthwise_nhwc * d, size_t i)
{
    return (uint8_t *)d->dst + i * (d->narrow ? sizeof(sn_16b) : sizeof(sn_32f));
}

/* The same job with every n-th pixel of the lines alone: n divides stride and dilation, so no other is read. */
static struct sn_depthwise_nhwc every(struct sn_depthwise_nhwc d, size_t n)
{
    const size_t before = sn_ceil_div(d.padX, n), at = before * n - d.padX; /* the first pixel of a line that is read */
    d.offset += at * d.srcPixel;
    d.srcW = at < d.srcW ? sn_ceil_div(d.srcW - at, n) : 0;
    d.srcPixel *= n;
    d.padX = before;
    d.strideX /= n;
    d.dilationX /= n;
    return d;
}

/*
 * Every n-th pixel of the outputs, from pixel `first` on, where dilationX divides n strides: a convolution without dilation of
 * every dilationX-th pixel of the lines.
 */
static struct sn_depthwise_nhwc columns_from(struct sn_depthwise_nhwc d, size_t first, size_t n)
{
    d = sn_depthwise_columns(&d, first, d.dstW);
    d.dstW = sn_ceil_div(d.dstW, n);
    d.dstPixel *= n;
    d.strideX *= n;
    return every(d, d.dilationX);
}

/* Outputs that share inputs are a multiple of so many apart. */
static size_t apart_by(size_t stride, size_t dilation) { return dilation / sn_divisor(stride, dilation); }

/* The least outputs in each of these parts for which they are computed alone: those of a block of the kernel. */
enum { APART_COLUMNS = 4 };

/*
 * Whether rows and columns that dilation separates are computed apart: if the kernel then has blocks of several rows, for equal
 * strides of rows and columns in lines and pixels that are read. If these are more than 1 the kernel must be more than two of
 * them wide: 96x112x112 by 5x5 with stride 2 and dilation 3 takes 0.7 of the time, 64x80x80 by 7x7 0.76, but 64x300x300 by 3x3
 * took 1.4 times as long. 3x3 with stride 2 and dilation 4 takes 0.7 (AVX2; AVX-512 0.65 from the L2 cache, beyond it 0.9 to 1.1).
 */
static bool is_apart(const struct sn_convolution_parameters * p)
{
    const size_t apart = apart_by(p->strideX, p->dilationX), stride = p->strideX * apart / p->dilationX;
    return p->dstW >= APART_COLUMNS * apart && p->strideY * apart_by(p->strideY, p->dilationY) == stride * p->dilationY &&
           (stride == 1 || p->kernelX > 2 * stride);
}

/*
 * How far apart rows are that follow each other. Where columns are not apart, rows are if lines that some of them share would leave
 * the L2 cache between: 256x183x183 by 3x3 with stride 2 and dilation 7 takes 0.85 to 0.9 of the time, 256x150x150 with 5 0.93.
 */
static size_t rows_apart(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t apart = apart_by(p->strideY, p->dilationY);
    const bool shared = p->strideY * apart < p->dilationY * p->kernelY && c->srcSize > sn_cpu()->cacheL2;
    return is_apart(p) || shared ? apart : 1;
}

/* ---- pixels that are computed as one */

/* The largest kernels of which there are blocks of joined pixels, with vectors of 16 floats and of 8. */
enum { JOINED_LONG = 5, JOINED_SHORT = 3 };

/*
 * Of the time of a vector by blocks: that of one at the edges; of joined pixels, whose inputs share no loads and lie across cache
 * lines, with long vectors and with short ones. The least gain. With a copy of all lines, and without blocks for joined
 * pixels, 8x96x96 by 3x3 took 1.6 times as long, 1x224x224 1.75 times, 4x56x56 by 5x5 1.5 times (AVX-512; AVX2 1x224x224 1.2 times).
 */
static const double EDGE = 2, LONG = 1.8, SHORT = 1.4, GAIN = 0.95;

size_t sn_depthwise_pixels_together(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool longs = sn_lanes(c) == 16, shorts = sn_lanes(c) == 8;
    const size_t edges = p->padX + p->padW, inside = p->dstW > edges ? p->dstW - edges : 0;
    const size_t most = longs ? JOINED_LONG : shorts ? JOINED_SHORT : 0;
    size_t pixels = sn_lanes(c);
    if (p->kernelY != p->kernelX || p->kernelX % 2 == 0 || p->kernelX == 1 || p->kernelX > most || p->strideY > 1 ||
        p->strideX > 1 || p->dilationY > 1 || p->dilationX > 1 || !p->srcC)
        return 1;
    while (pixels % 2 == 0 && pixels / 2 * p->srcC % sn_lanes(c) == 0)
        pixels /= 2;
    pixels = sn_min(pixels, inside);
    if (pixels < 2)
        return 1;
    const double vector = sn_vectors(c, p->srcC), rest = sn_vectors(c, inside % pixels * p->srcC);
    const double joined = (double)(inside / pixels) * sn_vectors(c, pixels * p->srcC) + rest;
    const double time = (longs ? LONG : SHORT) * joined + EDGE * (double)edges * vector;
    return time < GAIN * (double)p->dstW * vector ? pixels : 1;
}

struct sn_depthwise_nhwc sn_depthwise_columns(const struct sn_depthwise_nhwc * d, size_t begin, size_t end)
{
    struct sn_depthwise_nhwc e = *d;
    const size_t at = begin * d->strideX, skip = at > d->padX ? sn_min(at - d->padX, d->srcW) : 0;
    e.dst = result_at(d, begin * d->dstPixel);
    e.dstW = end - begin;
    e.offset += skip * d->srcPixel;
    e.srcW -= skip;
    e.padX -= sn_min(at, d->padX);
    return e;
}

/* Computes columns x .. end - 1, of which each `pixels` are one. */
static void compute_columns(sn_depthwise_nhwc_fn kernel, const struct sn_depthwise_nhwc * d, size_t x, size_t end, size_t pixels)
{
    struct sn_depthwise_nhwc e = sn_depthwise_columns(d, x, end);
    if (x == end)
        return;
    e.channels *= pixels;
    e.strideX *= pixels;
    e.dstPixel *= pixels;
    e.dstW /= pixels;
    kernel(&e);
}

void sn_depthwise_together(sn_depthwise_nhwc_fn kernel, const struct sn_depthwise_nhwc * d, size_t pixels)
{
    const size_t reach = d->kernelX - 1, size = d->padX + d->srcW;
    const size_t edge = d->padX, behind = sn_min(size > reach ? size - reach : 0, d->dstW);
    if (pixels == 1 || d->srcPixel != d->channels || d->dstPixel != d->channels || behind <= edge) {
        kernel(d);
        return;
    }
    const size_t rest = behind - (behind - edge) % pixels;
    compute_columns(kernel, d, 0, edge, 1);
    compute_columns(kernel, d, edge, rest, pixels);
    compute_columns(kernel, d, rest, behind, behind - rest);
    compute_columns(kernel, d, behind, d->dstW, 1);
}

/*
 * Columns that are computed for all rows before the next ones, or all. Large kernels of floats read each line again for each row or
 * two of outputs, from beyond the L2 cache if it does not hold the lines of these: 1024x56x56 by 7x7 takes 0.8 of the time in
 * strips, 160x96x224 by 11x11 0.9, with a stride of 3 0.89 (2 MB). Strips of 8 to 40 columns are as fast.
 *
 * Where the lines of such a strip exceed the L2 cache, too, and images the other caches, strips are narrow, and lines are
 * fetched in order before the two rows that are the first to read them: the prefetchers of the processor follow that, but not
 * blocks, which read some pixels of many lines. 864x22x640 by 9x9 with stride 2 takes 0.52 of the time (2 MB; AVX2 0.47),
 * 864x112x112 by 7x7 0.62 to 0.67, 2048x56x56 with stride 1 0.64, but 1.1 with AVX2; with stride 2 in narrow strips alone 0.95,
 * with prefetches for the next block 1.0. 480x160x160, whose strips fit, would take 1.4 times as long.
 */
enum { LARGE = 7, STRIP = 32, NARROW = 8, ROWS = 2 };

/* The bytes of the lines for two rows of so many columns, or somewhat more. */
static size_t lines_of(const struct sn_depthwise_nhwc * d, size_t columns)
{
    const size_t pixels = sn_min((columns - 1) * d->strideX + (d->kernelX - 1) * d->dilationX + 1, d->srcW);
    return (d->kernelY + d->strideX) * pixels * d->channels * sizeof(sn_32f);
}

static bool is_fetched(const struct sn_convolution * c, const struct sn_depthwise_nhwc * d)
{
    return d->cold && (d->strideX > 1 || sn_lanes(c) == 16) && d->srcPixel == d->channels &&
           lines_of(d, sn_min(STRIP, d->dstW)) > sn_cpu()->cacheL2;
}

static size_t strip_of(const struct sn_convolution * c, const struct sn_depthwise_nhwc * d)
{
    const size_t lines = (d->kernelY + d->strideX) * d->srcW * d->channels * sizeof(sn_32f);
    if (d->kernelX < LARGE || d->small || lines <= sn_cpu()->cacheL2 / 3 * 2)
        return d->dstW;
    return is_fetched(c, d) ? NARROW : STRIP;
}

/* Fetches the inputs of columns x .. end - 1 in lines from `first` on, of whole pixels. */
static void fetch(const struct sn_depthwise_nhwc * d, size_t first, size_t lines, size_t x, size_t end)
{
    const size_t behind = (end - 1) * d->strideX + (d->kernelX - 1) * d->dilationX + 1;
    const size_t left = x * d->strideX, at = left - sn_min(left, d->padX);
    const size_t to = sn_min(behind - sn_min(behind, d->padX), d->srcW), bytes = d->srcPixel * sizeof(sn_32f);
    for (size_t l = first; l < lines; ++l)
        for (size_t i = at * bytes; d->line[l] && i < to * bytes; i += SN_LINE)
            SN_PREFETCH((const uint8_t *)d->line[l] + i);
}

/* Computes columns x .. end - 1 of all rows, with lines that are fetched before. */
static void compute_fetched(sn_depthwise_nhwc_fn kernel, const struct sn_depthwise_nhwc * d, size_t x, size_t end)
{
    for (size_t y = 0; y < d->rows; y += ROWS) {
        struct sn_depthwise_nhwc e = *d;
        e.rows = sn_min(d->rows - y, ROWS);
        e.line += y * d->lineStep;
        e.dst = result_at(d, y * d->dstRow);
        const size_t lines = (e.rows - 1) * d->lineStep + d->kernelY;
        fetch(&e, y ? lines - e.rows * d->lineStep : 0, lines, x, end);
        compute_columns(kernel, &e, x, end, 1);
    }
}

sn_depthwise_nhwc_fn sn_depthwise_pairs(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t common = sn_divisor(p->strideX, p->dilationX);
    const struct sn_depthwise_nhwc d = {.kernelY = p->kernelY, .kernelX = p->kernelX, .strideX = p->strideX / common,
        .dilationX = is_apart(p) ? 1 : p->dilationX / common, .channels = p->dstC, .activation = sn_activation_of(c)};
    return c->table->convolution_16b.depthwise_pairs(&d);
}

/*
 * Rows of which all columns are computed before the next, where their lines leave the L2 cache: columns apart from each other
 * read pieces of the same pages. 320x100x100 by 3x3 with dilation 4 takes 0.9 of the time of all rows (AVX-512 0.83), 32x300x300
 * with dilation 2 0.78, 128x112x112 with dilation 3 0.88; twelve rows gain less, and where lines stay 1024x28x28 would take 1.07.
 */
enum { APART_ROWS = 4 };

static size_t rows_before_columns(const struct sn_depthwise_nhwc * d)
{
    const size_t lines = (d->rows - 1) * d->lineStep + d->kernelY, size = d->small ? sizeof(sn_16b) : sizeof(sn_32f);
    return d->kernelX < LARGE && lines * d->srcW * d->srcPixel * size > sn_cpu()->cacheL2 ? APART_ROWS : d->rows;
}

static void compute_plain(const struct sn_convolution * c, sn_depthwise_nhwc_fn kernel, size_t together,
                          const struct sn_depthwise_nhwc * d)
{
    const size_t strip = strip_of(c, d);
    for (size_t from = 0; strip < d->dstW && from < d->dstW; from += strip)
        if (strip == NARROW)
            compute_fetched(kernel, d, from, sn_min(from + strip, d->dstW));
        else
            compute_columns(kernel, d, from, sn_min(from + strip, d->dstW), 1);
    if (strip >= d->dstW)
        sn_depthwise_together(kernel, d, together);
}

/* Columns that are `apart` by some rows. */
static void compute_apart(const struct sn_convolution * c, sn_depthwise_nhwc_fn kernel, size_t together,
                          const struct sn_depthwise_nhwc * d, size_t apart)
{
    const size_t step = rows_before_columns(d);
    for (size_t y = 0; y < d->rows; y += step) {
        struct sn_depthwise_nhwc e = *d;
        e.rows = sn_min(d->rows - y, step);
        e.line += y * d->lineStep;
        e.dst = result_at(d, y * d->dstRow);
        for (size_t x = 0; x < apart; ++x) {
            const struct sn_depthwise_nhwc f = columns_from(e, x, apart);
            compute_plain(c, kernel, together, &f);
        }
    }
}

void sn_depthwise_compute(const struct sn_convolution * c, sn_depthwise_nhwc_fn kernel, size_t together,
                          struct sn_depthwise_nhwc d, const void * src, size_t row, const void ** line)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t apart = rows_apart(c), columns = is_apart(p) ? apart_by(p->strideX, p->dilationX) : 1, rows = d.rows;
    if (apart > 1)
        d.lineStep = sn_min(p->strideY * apart / p->dilationY, p->kernelY);
    d.line = line;
    for (size_t y = 0; y < sn_min(apart, rows); ++y) {
        struct sn_depthwise_nhwc e = d;
        e.rows = sn_ceil_div(rows - y, apart);
        find_lines(c, &e, src, row + y, apart, line);
        e.dst = result_at(&d, y * d.dstRow);
        e.dstRow *= apart;
        if (columns > 1) {
            compute_apart(c, kernel, together, &e, columns);
        } else {
            e = every(e, sn_divisor(p->strideX, p->dilationX));
            compute_plain(c, kernel, together, &e);
        }
    }
}
