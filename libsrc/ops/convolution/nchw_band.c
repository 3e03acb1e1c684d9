#include "ops/convolution/nchw_band.h"

#include <string.h>

#include "ops/cache_sets.h"
#include "runtime/cpu.h"

/* ---- split lines */

/* The part of the lines that bands of neighbouring rows would copy, above which these are preferred. */
static const double DENSE_LINES = 0.8;

/*
 * Makes bands of rows that use the same lines, see 32f_nhwc.c, if fewer lines are copied then. 8x640x640 to 3 by 5x5 with stride 4
 * and dilation 7 takes 0.62 of the time (avx2 0.68), 8x160x160 to 3 by 3x3 with stride 2 and dilation 6, which uses every second
 * line, 0.46 (0.51) (Xeon with AMX).
 */
static void plan_dense(const struct sn_convolution_parameters * p, struct sn_band * band, size_t budget)
{
    struct sn_band dense = *band;
    if (p->dilationY == 1 || p->kernelY == 1)
        return;
    sn_band_dilated(&dense, p, true);
    const size_t all = sn_band_copied(*band, p, budget), lines = sn_band_copied(dense, p, budget);
    if ((double)lines < DENSE_LINES * (double)all)
        *band = dense;
}

bool sn_split_plan(struct sn_convolution * c, size_t planes, bool classes, struct sn_band * band)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t reach = (p->kernelX - 1) * p->dilationX, lanes = sn_lanes(c);
    band->copied = true;
    band->strideY = p->kernelY == 1 ? 1 : p->strideY;
    band->strideX = 1;
    band->phases = sn_min(p->strideX, reach + 1);
    band->run = p->dstW + reach / p->strideX;
    band->classes = 0;
    band->dense = false;
    if (!sn_product(&band->line, band->phases, band->run))
        return false;
    const size_t budget = sn_cpu()->cacheL2 / 2 / sizeof(float) / sn_max(planes, 1);
    if (classes)
        plan_dense(p, band, budget);
    sn_band_rows(band, p, budget);
    return sn_product(&band->plane, band->lines, band->line) && sn_product(&c->workSize, planes, band->plane) &&
           sn_floats(&c->workSize, c->workSize + lanes);
}

size_t sn_split_tap(const struct sn_convolution * c, const struct sn_band * band, size_t plane, size_t ky, size_t kx)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t x = kx * p->dilationX;
    return plane * band->plane + ky * sn_band_tap(band, p) * band->line + x % p->strideX * band->run + x / p->strideX;
}

/*
 * A phase of some lines: columns phase, phase + stride ... of the padded image. The first of them is `src`, without padding,
 * and is copied to `to`.
 */
static struct sn_lines_32f phase_of(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src,
                                    size_t step, size_t lines, size_t phase, sn_32f * to)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t stride = p->strideX, used = p->dstW + (p->kernelX - 1) * p->dilationX / stride;
    /* In a part of the columns of a line runs are longer, and kernels read a vector more. */
    const size_t run = used < band->run ? sn_min(used + sn_lanes(c), band->run) : used;
    const size_t before = sn_min(p->padX > phase ? sn_ceil_div(p->padX - phase, stride) : 0, run);
    /* The first column of the image that is copied. */
    const size_t begin = sn_min(before * stride + phase - p->padX, p->srcW);
    return (struct sn_lines_32f){.src = src + begin, .srcStep = step * p->srcW, .stride = stride,
        .dst = to + phase * band->run, .dstStep = band->line, .lines = lines, .before = before,
        .inside = sn_min(sn_ceil_div(p->srcW - begin, stride), run - before), .size = run};
}

/* The first phase, often the only one, is planned once for all planes: divisions take as long as copies of short lines. */
void sn_split_copy(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src, size_t planes,
                   size_t row, size_t rows, sn_32f * to)
{
    const struct sn_convolution_parameters * p = &c->p;
    /* In the image, for one line of the band. */
    const size_t step = band->dense ? p->dilationY : band->strideY == p->strideY ? 1 : p->strideY;
    const size_t lines = sn_used(rows, band->strideY, p->kernelY, sn_band_tap(band, p)), at = row * p->strideY;
    const size_t above = at < p->padY ? sn_min(sn_ceil_div(p->padY - at, step), lines) : 0;
    const size_t y = sn_min(at + above * step - p->padY, p->srcH); /* the first line of the image that is copied */
    const size_t inside = sn_min(sn_ceil_div(p->srcH - y, step), lines - above);
    src += y * p->srcW;
    struct sn_lines_32f first = phase_of(c, band, src, step, inside, 0, to + above * band->line);
    for (size_t i = 0; i < planes; ++i, src += c->srcPlane, to += band->plane) {
        if (above)
            memset(to, 0, above * band->line * sizeof(float));
        sn_32f * begin = to + above * band->line;
        if (inside)
            c->table->convolution_32f.lines(&first);
        for (size_t f = 1; inside && f < band->phases; ++f) {
            const struct sn_lines_32f next = phase_of(c, band, src, step, inside, f, begin);
            c->table->convolution_32f.lines(&next);
        }
        first.src += c->srcPlane;
        first.dst += band->plane;
        /* Including the vector after the lines, which kernels read. */
        memset(begin + inside * band->line, 0, ((lines - above - inside) * band->line + sn_lanes(c)) * sizeof(float));
    }
}

/* ---- all planes of a group */

bool sn_planes_in_place(const struct sn_convolution_parameters * p)
{
    return p->strideX == 1 && !p->padY && !p->padX && sn_used(p->dstH, p->strideY, p->kernelY, p->dilationY) <= p->srcH &&
           sn_used(p->dstW, 1, p->kernelX, p->dilationX) <= p->srcW;
}

void sn_planes_image(const struct sn_convolution_parameters * p, struct sn_band * band)
{
    *band = (struct sn_band){.rows = p->dstH, .lines = p->srcH, .strideY = p->strideY, .strideX = 1, .phases = 1,
        .run = p->srcW, .line = p->srcW, .plane = p->srcH * p->srcW};
}

bool sn_planes_plan(struct sn_convolution * c, bool classes, struct sn_band * band, size_t * depth, size_t * step)
{
    const struct sn_convolution_parameters * p = &c->p;
    c->workSize = 0;
    if (sn_planes_in_place(p))
        sn_planes_image(p, band);
    else if (!sn_split_plan(c, sn_inputs(c), classes, band))
        return false;
    *depth = c->segments = p->kernelY * p->kernelX * sn_inputs(c);
    *step = sn_spaced(*depth, SN_FOUR_SETS);
    sn_channels_plain(c);
    return sn_floats(&c->weightSize, p->dstC, *step);
}

void sn_planes_offsets(const struct sn_convolution * c, const struct sn_band * band)
{
    const struct sn_convolution_parameters * p = &c->p;
    size_t * segment = c->segment;
    for (size_t i = 0; i < sn_inputs(c); ++i)
        for (size_t ky = 0; ky < p->kernelY; ++ky)
            for (size_t kx = 0; kx < p->kernelX; ++kx)
                *segment++ = sn_split_tap(c, band, i, ky, kx);
}

void sn_planes_pack(const struct sn_convolution * c, const sn_32f * weight, size_t depth, size_t step)
{
    for (size_t o = 0; o < c->p.dstC; ++o)
        memcpy((sn_32f *)c->weight + o * step, weight + o * depth, depth * sizeof(float));
}

const sn_32f * sn_planes_source(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src, size_t row,
                                size_t rows, sn_32f * work)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (!band->copied)
        return src + row * p->strideY * p->srcW;
    sn_split_copy(c, band, src, sn_inputs(c), row, rows, work);
    return work;
}
