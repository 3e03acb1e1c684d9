/* Direct NHWC of many small images: the rows of a tile are the same pixel of several images. */
#include "ops/convolution/nhwc_images.h"

#include "ops/convolution/cost.h"
#include "ops/convolution/tap_rows.h"
#include "runtime/cpu.h"

void sn_direct_nhwc_images(const struct sn_convolution * c, const struct sn_direct_nhwc * d, const struct sn_nhwc_rows * r,
                           size_t images, size_t srcImage, size_t dstImage, bool leavesOut)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    /* Rows of images that are equally far apart are rows of a tile, too. */
    const bool lines = p->kernelY == 1 && !p->padY && srcImage == r->rows * r->srcLine && dstImage == r->rows * r->dstLine;
    const size_t rows = lines ? 1 : r->rows, panel = d->nhwc.depth * sn_gemm_width(tile, r->outputs);
    const size_t taps = leavesOut && c->segments >= p->kernelY ? p->kernelY : 1; /* that may be left out */
    const size_t ofTap = c->segments / taps, fetched = panel / (rows * p->dstW);
    struct sn_gemm_32f gemm = {.height = 1, .width = lines ? images * r->rows : images, .length = d->nhwc.length,
        .aStepX = lines ? r->srcLine : srcImage, .cStepX = lines ? r->dstLine : dstImage, .columns = r->outputs,
        .coldC = !sn_cpu()->traits.prefetchC, .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]},
        .bias = c->bias + r->first, .slope = c->slope ? c->slope + r->first : NULL};
    const sn_32f * weight = sn_weights(c) + d->nhwc.depth * r->first;
    gemm.prefetch = sn_weights_exceed_l2(c) ? weight + panel : NULL;
    gemm.prefetchStep = fetched / gemm.width;
    const struct sn_tap_rows all = sn_tap_rows_of(p, r->row);
    for (size_t y = 0; y < rows; ++y) {
        const struct sn_taps some = taps == 1 ? (struct sn_taps){0, 1} : sn_taps_of_row(&all, y);
        gemm.segment = c->segment + some.begin * ofTap;
        gemm.segments = (some.end - some.begin) * ofTap;
        gemm.b = weight + some.begin * ofTap * d->nhwc.length * sn_gemm_width(tile, r->outputs);
        for (size_t x = 0; x < p->dstW; ++x) {
            gemm.a = r->src + y * r->srcLine + x * r->srcPixel;
            gemm.c = r->dst + y * r->dstLine + x * r->dstPixel;
            gemm.from = r->add ? r->add + (gemm.c - r->dst) : NULL;
            tile->run(&gemm);
            gemm.prefetch = gemm.prefetch ? gemm.prefetch + fetched : NULL;
        }
    }
}

/* ---- the batch of a plan of direct NHWC */

/* Whether one line of the image follows another, its pixels too, and a row of outputs needs no padding beside it. */
static bool is_dense(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &sn_direct_nhwc_of(c)->nhwc.band;
    const bool follow = band->line == p->srcW * p->srcC && a->at->srcPixel == p->srcC;
    const size_t used = sn_used(p->dstW, p->strideX, p->kernelX, p->dilationX);
    return follow && band->strideX == p->strideX && !p->padX && used <= p->srcW;
}

/* Whether each output row has a row of taps in the image. */
static bool rows_meet_image(const struct sn_convolution_parameters * p)
{
    return p->dilationY == 1 && p->padY < p->kernelY && (p->dstH - 1) * p->strideY < p->srcH + p->padY;
}

/*
 * Batch 4, 960x1x1 to 960 by 6x3 in 30 groups with paddings of 3 and 1 takes 0.43 of the time (avx2 0.28), batch 8, 256x2x1 to
 * 256 by 3x3 0.25 (0.23; Xeon with AMX).
 */
bool sn_nhwc_images_are_rows(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool shape = c->srcSize && c->dstSize && p->kernelY > 1 && rows_meet_image(p) && is_dense(c, a);
    return shape && c->batch > p->dstH * p->dstW && !sn_direct_nhwc_of(c)->nhwc.apart &&
           (!a->add || a->at->addImage == a->at->dstImage);
}

void sn_nhwc_images_compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t line = p->srcW * p->srcC, columns = c->table->gemm.tile_32f.columns;
    const struct sn_arrays one = sn_image_of(a, s->line, NULL);
    const sn_32f * src = one.src, * add = one.add;
    sn_32f * dst = one.dst;
    struct sn_nhwc_rows r = {.rows = p->dstH, .srcLine = p->strideY * line, .srcPixel = p->strideX * p->srcC,
        .dstLine = p->dstW * a->at->dstPixel, .dstPixel = a->at->dstPixel};
    for (size_t g = 0; g < p->group; ++g)
        for (size_t first = 0; first < sn_outputs(c); first += columns) {
            const size_t at = g * sn_outputs(c) + first;
            r.first = g * c->runStep + first;
            r.outputs = sn_min(columns, sn_outputs(c) - first);
            r.src = src - p->padY * line + g * sn_inputs(c); /* lines of padding are not read */
            r.dst = dst + at;
            r.add = add ? add + at : NULL;
            sn_direct_nhwc_images(c, sn_direct_nhwc_of(c), &r, s->lines, a->at->srcImage / sizeof(float),
                                  a->at->dstImage / sizeof(float), true);
        }
}
