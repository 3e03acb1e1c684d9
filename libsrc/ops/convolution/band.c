#include "ops/convolution/band.h"

struct sn_lines sn_lines_of(const struct sn_convolution_parameters * p, size_t row, size_t rows)
{
    const size_t at = row * p->strideY, used = sn_used(rows, p->strideY, p->kernelY, p->dilationY); /* of padded lines */
    const size_t begin = sn_min(at > p->padY ? at - p->padY : 0, p->srcH);
    return (struct sn_lines){begin, sn_max(sn_min(at + used > p->padY ? at + used - p->padY : 0, p->srcH), begin)};
}

void sn_band_plan(struct sn_band * band, const struct sn_convolution_parameters * p, bool wanted, bool planes)
{
    const size_t columns = sn_used(p->dstW, p->strideX, p->kernelX, p->dilationX);
    const bool padded = p->padY || p->padX || columns > p->srcW ||
                        sn_used(p->dstH, p->strideY, p->kernelY, p->dilationY) > p->srcH;
    band->copied = p->srcC && (padded || wanted);
    band->strideY = band->copied && p->kernelY == 1 ? 1 : p->strideY;
    band->strideX = band->copied && p->kernelX == 1 && !planes ? 1 : p->strideX;
    band->columns = band->copied ? sn_band_columns(band, p) : p->srcW;
}

void sn_band_narrow(struct sn_band * band, const struct sn_convolution_parameters * p)
{
    if (!band->copied)
        return;
    band->columns = sn_band_columns(band, p);
    band->line = band->columns * band->pixel;
}

void sn_band_sparse(struct sn_band * band, const struct sn_convolution_parameters * p)
{
    if (p->kernelY > 1)
        band->strideY = p->strideY / sn_divisor(p->strideY, p->dilationY);
}

void sn_band_dilated(struct sn_band * band, const struct sn_convolution_parameters * p, bool dense)
{
    const size_t common = sn_divisor(p->strideY, p->dilationY);
    band->classes = p->dilationY / common;
    band->dense = dense;
    band->strideY = dense ? p->strideY / common : p->strideY * band->classes;
}

void sn_band_limit(struct sn_band * band, const struct sn_convolution_parameters * p, size_t rows)
{
    const size_t all = sn_max(sn_ceil_div(p->dstH, sn_max(band->classes, 1)), 1); /* inner products may have no rows */
    rows = sn_max(sn_min(rows, all), 1);
    band->rows = sn_ceil_div(all, sn_ceil_div(all, rows)); /* bands of about equal height */
    band->lines = sn_used(band->rows, band->strideY, p->kernelY, sn_band_tap(band, p));
}

void sn_band_rows(struct sn_band * band, const struct sn_convolution_parameters * p, size_t budget)
{
    const size_t one = sn_used(1, 1, p->kernelY, sn_band_tap(band, p)); /* lines of one output row */
    const size_t lines = budget / sn_max(band->line, 1);
    sn_band_limit(band, p, lines > one ? (lines - one) / band->strideY + 1 : 1);
}

/* Rows of a class. */
static size_t rows_of_class(const struct sn_band * band, const struct sn_convolution_parameters * p)
{
    const size_t rows = band->classes ? sn_ceil_div(p->dstH, band->classes) : p->dstH;
    return band->classes ? sn_ceil_div(rows, band->rows) * band->rows : rows;
}

size_t sn_band_counted(const struct sn_band * band, const struct sn_convolution_parameters * p)
{
    return sn_band_classes(band) * rows_of_class(band, p);
}

struct sn_class_rows sn_band_rows_at(const struct sn_band * band, const struct sn_convolution_parameters * p, size_t at,
                                     size_t end)
{
    const size_t classes = sn_band_classes(band), each = rows_of_class(band, p);
    struct sn_class_rows r = {.row = at / each + at % each * classes, .counted = sn_min(end - at, each - at % each)};
    if (r.row < p->dstH)
        r.rows = sn_min(r.counted, sn_ceil_div(p->dstH - r.row, classes));
    return r;
}

size_t sn_band_copied(struct sn_band band, const struct sn_convolution_parameters * p, size_t budget)
{
    sn_band_rows(&band, p, budget);
    return sn_band_counted(&band, p) / band.rows * band.lines;
}

/* Writes one line of the band from line y of the image, which may be outside of it. */
static void copy_line(const struct sn_band_copy * b, size_t y, uint8_t * line)
{
    const struct sn_convolution_parameters * p = b->p;
    const struct sn_band * band = b->band;
    const size_t pixel = band->pixel * b->unit;
    if (y >= p->srcH) { /* above the image (the unsigned y has wrapped) or below */
        b->fill(b->job, line, band->line * b->unit);
        return;
    }
    const size_t step = sn_band_step(band, p), before = sn_min(sn_ceil_div(p->padX, step), band->columns);
    const size_t begin = sn_min(before * step - p->padX, p->srcW); /* the first column of the image that is copied */
    const size_t inside = sn_min(sn_ceil_div(p->srcW - begin, step), band->columns - before);
    uint8_t * to = line + before * pixel;
    b->fill(b->job, line, before * pixel);
    if (inside)
        b->copy(b->job, y * p->srcW + begin, step, inside, to);
    b->fill(b->job, to + inside * pixel, (band->columns - before - inside) * pixel);
}

void sn_band_copy(const struct sn_band_copy * b, size_t row, size_t rows, uint8_t * to)
{
    const struct sn_convolution_parameters * p = b->p;
    const struct sn_band * band = b->band;
    const size_t step = band->dense ? p->dilationY : sn_band_every(band, p); /* in the image, for one line of the band */
    const size_t lines = sn_used(rows, band->strideY, p->kernelY, sn_band_tap(band, p));
    for (size_t i = 0; i < lines; ++i)
        copy_line(b, row * p->strideY + i * step - p->padY, to + i * band->line * b->unit);
}
