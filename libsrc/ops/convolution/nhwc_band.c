#include "ops/convolution/nhwc_band.h"

#include <string.h>

#include "runtime/cpu.h"

/* Floats between the pixels of a copy. */
static size_t pixel_of(const struct sn_convolution * c, bool spaced)
{
    return c->p.srcC + (spaced ? SN_ALIGN / sizeof(float) : 0);
}

/*
 * If stride and dilation have a divisor, the columns between are left out of a copy, unless pixels are so short that a line
 * is copied faster at once.
 */
enum { LEFT_OUT = 16 };

static void leave_out(const struct sn_convolution_parameters * p, struct sn_band * band)
{
    const size_t step = sn_divisor(p->strideX, p->dilationX);
    if (!band->copied || p->kernelX == 1 || step == 1 || p->srcC < LEFT_OUT)
        return;
    band->strideX = p->strideX / step;
    band->columns = sn_band_columns(band, p);
}

void sn_nhwc_band_plan(const struct sn_convolution * c, bool spaced, struct sn_nhwc_band * b)
{
    sn_band_plan(&b->band, &c->p, spaced, false);
    leave_out(&c->p, &b->band);
    b->band.pixel = pixel_of(c, spaced);
    b->apart = false;
}

void sn_nhwc_band_apart(const struct sn_convolution * c, bool spaced, struct sn_nhwc_band * b)
{
    const struct sn_convolution_parameters * p = &c->p;
    b->apart = true;
    b->band = (struct sn_band){.strideY = p->strideY, .strideX = p->strideX, .columns = p->srcW,
        .pixel = pixel_of(c, spaced)};
}

bool sn_nhwc_band_size(struct sn_convolution * c, struct sn_nhwc_band * b)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_band * band = &b->band;
    if (!sn_product(&band->line, band->columns, band->pixel))
        return false;
    /* Without padding, the lines of two outputs are often all of the image, and need not be copied again for other outputs. */
    const size_t two = b->apart ? 2 * sn_used(1, 1, p->kernelY, p->dilationY) * band->line : 0;
    sn_band_rows(band, p, sn_max(sn_cpu()->cacheL2 / 2 / sizeof(float), two));
    const bool joined = p->group == 1 && p->dilationX == sn_band_step(band, p) && band->pixel == p->srcC;
    c->segments = joined ? p->kernelY : p->kernelY * p->kernelX;
    b->length = joined ? p->kernelX * p->srcC : sn_inputs(c);
    b->depth = p->kernelY * p->kernelX * sn_inputs(c);
    return sn_nhwc_copy_size(c, b, &c->workSize) && sn_floats(&c->workSize, c->workSize);
}

bool sn_nhwc_copy_size(const struct sn_convolution * c, const struct sn_nhwc_band * b, size_t * size)
{
    const bool ever = b->band.copied || c->p.kernelY * c->p.kernelX > 1;
    return sn_product(size, ever, b->apart ? sn_min(b->band.lines, c->p.srcH) : b->band.lines, b->band.line);
}

void sn_nhwc_offsets(const struct sn_convolution * c, const struct sn_nhwc_band * b)
{
    const struct sn_convolution_parameters * p = &c->p;
    for (size_t s = 0; s < c->segments; ++s) {
        const size_t tap = s * b->length / sn_inputs(c), y = tap / p->kernelX, x = tap % p->kernelX;
        const size_t column = x * (p->dilationX / sn_band_step(&b->band, p));
        c->segment[s] = y * sn_band_tap(&b->band, p) * b->band.line + column * b->band.pixel +
                        s * b->length % sn_inputs(c);
    }
}

struct sn_nhwc_rows sn_nhwc_rows_of(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t line = p->dstW * a->at->dstPixel, at = s->line * line + s->first;
    const sn_32f * add = a->add;
    return (struct sn_nhwc_rows){.row = s->line, .rows = s->lines, .dst = (sn_32f *)a->dst + at, .dstLine = line,
        .dstPixel = a->at->dstPixel, .add = add ? add + at : NULL, .first = s->first,
        .outputs = p->group == 1 ? s->columns : 0};
}

/* ---- the copy */

struct copy {
    const struct sn_convolution * c;
    const struct sn_band * band;
    struct sn_nhwc_image image;
};

void sn_nhwc_copy(const struct sn_convolution * c, struct sn_nhwc_image image, size_t first, size_t step, size_t pixels,
                  sn_32f * to, size_t toPixel)
{
    const size_t channels = c->p.srcC;
    const sn_32f * src = image.src + first * image.pixel;
    if (step == 1 && image.pixel == channels && toPixel == channels) {
        memcpy(to, src, pixels * channels * sizeof(float));
    } else if (channels == 1 && toPixel == 1) { /* a line */
        const struct sn_lines_32f line = {.src = src, .stride = step * image.pixel, .dst = to, .lines = 1,
            .inside = pixels, .size = pixels};
        c->table->convolution_32f.lines(&line);
    } else {
        const struct sn_lines_32f lines = {.src = src, .srcStep = step * image.pixel, .stride = 1, .dst = to,
            .dstStep = toPixel, .lines = pixels, .inside = channels, .size = channels};
        c->table->convolution_32f.lines(&lines);
    }
}

static void fill(const void * job, uint8_t * to, size_t bytes)
{
    (void)job;
    memset(to, 0, bytes);
}

static void copy(const void * job, size_t first, size_t step, size_t pixels, uint8_t * to)
{
    const struct copy * j = job;
    sn_nhwc_copy(j->c, j->image, first, step, pixels, (sn_32f *)(void *)to, j->band->pixel);
}

void sn_nhwc_band_copy(const struct sn_convolution * c, const struct sn_band * band, struct sn_nhwc_image image, size_t row,
                       size_t rows, sn_32f * to)
{
    const struct copy job = {c, band, image};
    sn_band_copy(&(struct sn_band_copy){band, &c->p, sizeof(float), &job, fill, copy}, row, rows, (uint8_t *)to);
}

void sn_nhwc_source(const struct sn_convolution * c, const struct sn_nhwc_band * b, struct sn_nhwc_image image, size_t row,
                    sn_32f * work, struct sn_nhwc_rows * r)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &b->band;
    r->row = row;
    if (b->apart && sn_nhwc_copied(c, b, image)) {
        const struct sn_lines lines = sn_lines_of(p, row, r->rows);
        sn_nhwc_copy(c, image, lines.begin * p->srcW, 1, (lines.end - lines.begin) * p->srcW, work, band->pixel);
        image = (struct sn_nhwc_image){work - lines.begin * band->line, band->pixel};
    }
    if (sn_nhwc_copied(c, b, image)) {
        r->srcLine = band->strideY * band->line;
        r->srcPixel = band->strideX * band->pixel;
        sn_nhwc_band_copy(c, band, image, row, r->rows, work);
        r->src = work;
    } else {
        /* The first input of the first output, which lies before the image if there is padding, see `apart`. */
        r->src = image.src + ((row * p->strideY - p->padY) * p->srcW - p->padX) * image.pixel;
        r->srcLine = p->strideY * sn_max(band->classes, 1) * p->srcW * image.pixel;
        r->srcPixel = p->strideX * image.pixel;
    }
}
