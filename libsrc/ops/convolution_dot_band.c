/* The bands of convolutions of small numbers: input as the kernels read it, and results of NCHW on their way to planes. */
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution_dot.h"
#include "ops/pieces.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

static bool is_nchw(const struct sn_convolution_dot * c) { return c->p.srcF == SN_NCHW; }

bool sn_dot_band_plan(struct sn_convolution_dot * c, size_t number, enum sn_dot_reads reads, size_t most)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_band * band = &c->band;
    c->number = number;
    const bool clash = c->family->spaced && sn_share_sets(number * p->srcC * p->strideX, SN_TWO_SETS) &&
                       p->dstW * p->dstH > 1;
    const bool other = number != c->family->small || is_nchw(c) || p->srcT == SN_DATA_32F;
    sn_band_plan(band, p, reads == SN_READS_COPY || clash || other, is_nchw(c));
    if (reads == SN_READS_LINES && !clash && !other) { /* whatever the padding is */
        band->copied = false;
        band->strideY = p->strideY, band->strideX = p->strideX;
        band->columns = p->srcW;
    }
    /* Bands of about equal height, whose lines and results stay in the second cache. */
    const size_t cache = sn_cpu()->cacheL2;
    size_t result;
    if (!sn_product(&band->pixel, p->group, c->inputs, number))
        return false;
    band->pixel += clash ? SN_ALIGN : 0;
    if (!sn_product(&band->line, band->columns, band->pixel) || !sn_product(&result, is_nchw(c), p->dstW, most))
        return false;
    sn_band_rows(band, p, cache / 2);
    sn_band_limit(band, p, sn_min(band->rows, cache / 4 / sn_max(result, 1)));
    if (!sn_product(&c->bandBytes, band->copied, band->lines, band->line))
        return false;
    if (band->copied)
        c->bandBytes = sn_align(c->bandBytes + SN_ALIGN, SN_ALIGN); /* a group may reach beyond the last pixel */
    return sn_product(&c->workBytes, c->bandBytes + band->rows * result, 1);
}

/* An image whose band is copied. */
struct copy {
    const struct sn_convolution_dot * c;
    const uint8_t * src;
};

/* Columns of padding. */
static void fill(const void * job, uint8_t * to, size_t bytes)
{
    const struct sn_convolution_dot * c = ((const struct copy *)job)->c;
    const bool wide = c->number > c->family->small;
    memset(to, wide ? 0 : (int)c->srcZero, bytes);
    if (wide && c->srcZero > 0)
        for (size_t i = 0; i < bytes; i += 2)
            to[i] = (uint8_t)c->srcZero; /* the low byte of 16 bits */
}

static void copy(const void * job, size_t first, size_t step, size_t pixels, uint8_t * to)
{
    const struct sn_convolution_dot * c = ((const struct copy *)job)->c;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t inputs = p->srcC / p->group, channel = is_nchw(c) ? p->srcH * p->srcW : 1;
    struct sn_pixels pixel = {.floats = p->srcT == SN_DATA_32F, .srcPixel = is_nchw(c) ? 1 : step * p->srcC,
        .srcChannel = channel, .scale = c->srcScale, .zero = c->srcZero, .channels = p->srcC, .pixels = pixels,
        .dstPixel = c->band.pixel, .wide = c->number > c->family->small};
    const uint8_t * src = ((const struct copy *)job)->src + first * (is_nchw(c) ? 1 : p->srcC) * c->srcElement;
    if (c->inputs == inputs) {
        pixel.src = src, pixel.dst = to;
        c->pixels(&pixel);
        return;
    }
    memset(to, 0, pixels * c->band.pixel); /* what spaces the groups */
    pixel.channels = inputs;
    for (size_t g = 0; g < p->group; ++g) {
        pixel.src = src + g * inputs * channel * c->srcElement;
        pixel.dst = to + g * c->inputs * c->number;
        c->pixels(&pixel);
    }
}

/* The input of output rows row .. row + rows - 1: in the image, or copied to `work`. */
static const uint8_t * lines_of(const struct sn_convolution_dot * c, const uint8_t * src, size_t row, size_t rows,
                                uint8_t * work)
{
    if (!c->band.copied)
        return src + row * c->p.strideY * c->band.line;
    const struct copy job = {c, src};
    sn_band_copy(&(struct sn_band_copy){&c->band, &c->p, 1, &job, fill, copy}, row, rows, work);
    return work;
}

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct sn_dot_bands * job = argument;
    const struct sn_convolution_dot * c = job->c;
    struct sn_share s;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&job->shares, begin, end);
        const uint8_t * lines = lines_of(c, job->src + s.image * c->srcBytes, s.line, s.lines, work);
        job->compute(c, lines, &s, work ? (uint8_t *)work + c->bandBytes : NULL, job->dst + s.image * c->dstBytes);
    }
}

void sn_dot_bands_run(struct sn_dot_bands * bands)
{
    const struct sn_convolution_dot * c = bands->c;
    const struct sn_convolution_parameters * p = &c->p;
    const double outputs = (double)p->dstC * (double)p->dstH * (double)p->dstW;
    const double sums = outputs * (double)(p->kernelY * p->kernelX) * (double)(p->srcC / p->group);
    bands->shares = sn_shares_of((struct sn_shares){.lines = p->dstH, .most = c->band.rows, .columns = p->dstC,
        .width = p->group == 1 ? bands->panel : 0, .weights = c->weightBytes, .source = c->srcBytes, .start = c->band.copied,
        .least = sn_ceil_div(32, p->dstW)});
    const double moved = sn_cost_of_bytes(4 * outputs + 8 * (double)c->srcBytes);
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = bands, .units = c->batch * bands->shares.each,
        .cost = (double)c->batch * (sn_cost_of_sums(sums / 2, c->table->alignment) + moved),
        .least = bands->shares.least, .work = bands->work, .workBytes = c->workBytes});
}

uint8_t * sn_dot_result_at(const struct sn_convolution_dot * c, size_t first, size_t channels, size_t row, uint8_t * work,
                           uint8_t * dst, size_t * step)
{
    *step = (is_nchw(c) ? channels : c->p.dstC) * c->dstElement;
    return is_nchw(c) ? work : dst + (row * c->p.dstW * c->p.dstC + first) * c->dstElement;
}

void sn_dot_result_done(const struct sn_convolution_dot * c, const uint8_t * work, size_t first, size_t channels, size_t row,
                        size_t rows, uint8_t * dst)
{
    const size_t plane = c->p.dstH * c->p.dstW, begin = row * c->p.dstW, pixels = rows * c->p.dstW;
    if (!is_nchw(c))
        return;
    dst += first * plane * c->dstElement;
    if (c->dstElement < sizeof(float))
        c->planes(work, channels * c->dstElement, channels, pixels, dst + begin * c->dstElement, plane);
    else
        c->table->layout.image_32f(channels, plane, (const sn_32f *)(const void *)work, SN_NHWC,
                                    (sn_32f *)(void *)dst + begin, SN_NCHW, 0, pixels);
}
