/* The bands of quantised convolutions: input as the kernels read it, and results of NCHW on their way to planes. */
#include <string.h>

#include "core/cpu.h"
#include "core/memory.h"
#include "core/threads.h"
#include "ops/convolution_32f.h"
#include "ops/convolution_8i.h"
#include "ops/pieces.h"

static bool is_nchw(const struct sn_convolution_8i * c) { return c->p.srcF == SimdTensorFormatNchw; }

bool sn_band_8i_plan(struct sn_convolution_8i * c, size_t element, bool whole, size_t most)
{
    const SimdConvolutionParameters * p = &c->p;
    struct sn_band_8i * band = &c->band;
    const size_t columns = sn_used(p->dstW, p->strideX, p->kernelX, p->dilationX);
    const bool padded = p->padY || p->padX || columns > p->srcW ||
                        sn_used(p->dstH, p->strideY, p->kernelY, p->dilationY) > p->srcH;
    band->element = element;
    band->copied = p->srcC && (padded || !whole || element > 1 || is_nchw(c) || p->srcT != SimdTensorData8u);
    band->strideY = band->copied && p->kernelY == 1 ? 1 : p->strideY;
    band->strideX = band->copied && p->kernelX == 1 && !is_nchw(c) ? 1 : p->strideX; /* planes are not read by strides */
    band->columns = band->copied ? sn_used(p->dstW, band->strideX, p->kernelX, p->dilationX) : p->srcW;
    band->pixel = p->srcC * element;
    /* Bands of about equal height, whose lines and results stay in the second cache. */
    const size_t one = sn_used(1, 1, p->kernelY, p->dilationY), cache = sn_cpu()->cacheL2;
    size_t result;
    if (!sn_product(&band->line, band->columns, band->pixel) ||
        !sn_product(&result, is_nchw(c), p->dstW, c->dstElement, sn_min(p->dstC, most)))
        return false;
    const size_t lines = cache / 2 / sn_max(band->line, 1);
    size_t rows = lines > one ? (lines - one) / band->strideY + 1 : 1;
    rows = sn_max(sn_min(sn_min(rows, p->dstH), cache / 4 / sn_max(result, 1)), 1);
    band->rows = sn_ceil_div(p->dstH, sn_ceil_div(p->dstH, rows));
    band->lines = sn_used(band->rows, band->strideY, p->kernelY, p->dilationY);
    if (!sn_product(&c->bandBytes, band->copied, band->lines, band->line))
        return false;
    if (band->copied)
        c->bandBytes = sn_align(c->bandBytes + SN_ALIGN, SN_ALIGN); /* a group may reach beyond the last pixel */
    return sn_product(&c->workBytes, c->bandBytes + band->rows * result, 1);
}

/* Columns of padding: `zero` in numbers of 1 or 2 bytes. */
static void fill(const struct sn_convolution_8i * c, uint8_t * to, size_t bytes)
{
    memset(to, c->band.element == 1 ? (int)c->srcZero : 0, bytes);
    if (c->band.element > 1 && c->srcZero > 0)
        for (size_t i = 0; i < bytes; i += 2)
            to[i] = (uint8_t)c->srcZero; /* the low byte */
}

/* One line of the band from line y of the image (which may lie outside). */
static void copy_line(const struct sn_convolution_8i * c, const uint8_t * src, size_t y, uint8_t * line)
{
    const SimdConvolutionParameters * p = &c->p;
    const struct sn_band_8i * band = &c->band;
    if (y >= p->srcH) { /* above the image, as the difference wraps, or below */
        fill(c, line, band->line);
        return;
    }
    const size_t step = band->strideX == p->strideX ? 1 : p->strideX; /* in the image, for one column of the band */
    const size_t before = sn_min(sn_ceil_div(p->padX, step), band->columns);
    const size_t begin = sn_min(before * step - p->padX, p->srcW); /* the first column of the image that is copied */
    const size_t inside = sn_min(sn_ceil_div(p->srcW - begin, step), band->columns - before);
    const size_t first = y * p->srcW + begin;
    const struct sn_pixels_8i job = {.src = src + first * (is_nchw(c) ? 1 : p->srcC) * c->srcElement,
        .floats = p->srcT != SimdTensorData8u, .srcPixel = is_nchw(c) ? 1 : step * p->srcC,
        .srcChannel = is_nchw(c) ? p->srcH * p->srcW : 1, .scale = c->srcScale, .zero = c->srcZero, .channels = p->srcC,
        .pixels = inside, .dst = line + before * band->pixel, .dstPixel = band->pixel, .wide = band->element > 1};
    fill(c, line, before * band->pixel);
    if (inside)
        c->table->pixels_8i(&job);
    fill(c, job.dst + inside * band->pixel, (band->columns - before - inside) * band->pixel);
}

/* The input of output rows row .. row + rows - 1: in the image, or copied to `work`. */
static const uint8_t * lines_of(const struct sn_convolution_8i * c, const uint8_t * src, size_t row, size_t rows,
                                uint8_t * work)
{
    const SimdConvolutionParameters * p = &c->p;
    const struct sn_band_8i * band = &c->band;
    if (!band->copied)
        return src + row * p->strideY * band->line;
    const size_t step = band->strideY == p->strideY ? 1 : p->strideY;
    const size_t lines = sn_used(rows, band->strideY, p->kernelY, p->dilationY);
    for (size_t i = 0; i < lines; ++i)
        copy_line(c, src, row * p->strideY + i * step - p->padY, work + i * band->line);
    return work;
}

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct sn_bands_8i * job = argument;
    const struct sn_convolution_8i * c = job->c;
    struct sn_share s;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&job->shares, begin, end);
        const uint8_t * lines = lines_of(c, job->src + s.image * c->srcBytes, s.line, s.lines, work);
        job->compute(c, lines, &s, (uint8_t *)work + c->bandBytes, job->dst + s.image * c->dstBytes);
    }
}

void sn_bands_8i_run(struct sn_bands_8i * bands)
{
    const struct sn_convolution_8i * c = bands->c;
    const SimdConvolutionParameters * p = &c->p;
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

struct sn_result_8i sn_result_of(const struct sn_convolution_8i * c, size_t first)
{
    SimdConvolutionActivationType activation = c->slope ? SimdConvolutionActivationPrelu : c->p.activation;
    const bool bytes = c->p.dstT == SimdTensorData8u;
    if (bytes && (activation == SimdConvolutionActivationRelu || activation == SimdConvolutionActivationRestrictRange))
        activation = SimdConvolutionActivationIdentity; /* low and high stand for them */
    return (struct sn_result_8i){.bytes = bytes, .tame = c->tame, .norm = c->norm + first, .bias = c->bias + first,
        .scale = c->dstScale + first, .zero = c->dstZero, .low = c->low + first, .high = c->high + first,
        .activation = activation, .slope = c->slope ? c->slope + first : NULL, .param = {c->param[0], c->param[1]}};
}

uint8_t * sn_result_at(const struct sn_convolution_8i * c, size_t first, size_t channels, size_t row, uint8_t * work,
                       uint8_t * dst, size_t * step)
{
    *step = (is_nchw(c) ? channels : c->p.dstC) * c->dstElement;
    return is_nchw(c) ? work : dst + (row * c->p.dstW * c->p.dstC + first) * c->dstElement;
}

void sn_result_done(const struct sn_convolution_8i * c, const uint8_t * work, size_t first, size_t channels, size_t row,
                    size_t rows, uint8_t * dst)
{
    const size_t plane = c->p.dstH * c->p.dstW, begin = row * c->p.dstW, pixels = rows * c->p.dstW;
    if (!is_nchw(c))
        return;
    dst += first * plane * c->dstElement;
    if (c->dstElement == 1)
        c->table->planes_8u(work, channels, channels, pixels, dst + begin, plane);
    else
        c->table->convert_image_32f(channels, plane, (const float *)(const void *)work - begin * channels,
                                    SimdTensorFormatNhwc, (float *)(void *)dst, SimdTensorFormatNchw, begin, begin + pixels);
}
