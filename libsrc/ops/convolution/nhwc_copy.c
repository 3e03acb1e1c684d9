/*
 * What direct NHWC copies of its input. A band of lines is copied if there is padding, or if pixels are a multiple of 4 KB apart:
 * the rows of a tile would then map to one set of the L1 cache and evict each other. At 2 KB they map to two sets, which suffices: 512
 * channels take 1 to 7% less time without the copy. For a large image with padding and few multiply-adds per input (the first layer
 * of a network), only the input of the outputs at the edges is copied: 3x3 with stride 2 on 3 channels is 1.03 (64 outputs) to
 * 1.14 (16) times as fast.
 */
#include "ops/convolution/nhwc_copy.h"

#include "ops/cache_sets.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/nhwc_edges.h"
#include "ops/convolution/tap_rows.h"
#include "runtime/cpu.h"

/* ---- taps in padding */

double sn_taps_inside(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_tap_rows rows = sn_tap_rows_of(p, 0), columns = sn_tap_columns_of(p);
    const double products = (double)sn_tap_products(&rows, p->dstH) * (double)sn_tap_products(&columns, p->dstW);
    return products / ((double)(p->kernelY * p->kernelX) * sn_dst_pixels(c));
}

/* The least inputs of taps that are computed one after the other: with 8, 28x28 by 9x9 with dilation 10 takes 1.1 times as
 * long. */
enum { APART_INPUTS = 32 };

/* The most of all products that are not those of padding; with 0.67 to 0.7, layers take 0.8 to 0.88 of the time (Zen 4). */
static const double APART_INSIDE = 0.7;

/* Whether many of the products would be those of padding: with a dilation that is a large part of the image. */
bool sn_taps_are_wasted(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool dilated = p->kernelX > 1 && p->dilationX > 1 && sn_inputs(c) >= APART_INPUTS;
    return dilated && c->srcSize && c->dstSize && sn_taps_inside(c) <= APART_INSIDE;
}

/*
 * Whether nearly all of these products are left out with whole rows of taps. Then sums of few inputs are not divided by taps,
 * each of which would load and store them, if rows have so many tiles that the weights of one are near: 48x13x150 by 7x7 with
 * dilation 5 takes 0.86 of the time (avx2 0.91), 96x30x150 to 64 by 5x3 with dilation 10x2 0.84 (avx2 0.82), 40x20x200 by 9x3 with
 * dilation 3x4 0.8 (0.86); 128x13x150 to 64 by 7x7 would take 1.06 (1.01), 128x8x90 by 5x3 with dilation 6 1.03 (1.1; Xeon
 * with AMX).
 */
static bool is_left_out_by_rows(const struct sn_convolution * c)
{
    enum { MOST_INPUTS = 127, TILES = 6 };
    static const double columnsInside = 0.83;
    const struct sn_tap_rows columns = sn_tap_columns_of(&c->p);
    return sn_inputs(c) <= MOST_INPUTS && c->p.dstW >= TILES * c->table->gemm.tile_32f.rows &&
           (double)sn_tap_products(&columns, c->p.dstW) > columnsInside * (double)c->p.kernelX * (double)c->p.dstW;
}

/*
 * Then taps are computed one after the other, each for the outputs that it has, and no padding is copied. 160x13x13 by 10x7 with
 * dilation 6 takes 0.52 of the time, 128x38x38 to 112 by 3x3 with stride 2 and dilation 11, with 0.65 of the products, 0.61.
 */
bool sn_taps_are_apart(const struct sn_convolution * c) { return sn_taps_are_wasted(c) && !is_left_out_by_rows(c); }

/* ---- only the input of the edges */

/* Copying a float of a band, in cycles. */
static const double EDGE_COPIED = 0.4;

/*
 * Whether to copy only the input of the edges, if `sides` columns of the output need padding, instead of so many floats.
 * Rows are divided into tiles once more at the sides, which costs about as much as the outputs computed there; twice as much
 * where the copy leaves out columns that are read past in place: 736x112x112 to 16 by 3x3 with stride 2 and dilation 4,
 * copied, takes 0.9 of the time, 64x112x112 with dilation 2 0.95 (Xeon with AMX).
 */
static bool only_edges_preferred(const struct sn_convolution * c, const struct sn_band * band, double outputs, double copied)
{
    const double products = sn_depth(c) * (double)sn_ceil_div(c->p.dstC, 16) * (band->strideX < c->p.strideX ? 2 : 1);
    return outputs * products < EDGE_COPIED * copied;
}

/*
 * Tiles along the columns of a narrow image, or along all pixels if those are one line, are divided above and below: as if there
 * were so many more outputs, since low tiles take as long as higher ones. 256x14x1 to 256 by 3x1 takes 0.61 of the time (avx2
 * 0.71), 88x7x1 to 192 by 5x5 with stride 2 0.53 (0.52), 512x7x3 to 512 by 5x1 0.48 (0.72; Xeon with AMX).
 */
static double outputs_of_parts(const struct sn_convolution * c, const struct sn_inner * i)
{
    enum { TILE = 2 };
    const struct sn_convolution_parameters * p = &c->p;
    const size_t rows = c->table->gemm.tile_32f.rows;
    const bool narrow = p->dstW < rows && p->dstW < p->dstH, line = p->kernelX == 1 && p->strideY == 1;
    const size_t width = narrow ? 1 : p->dstW, columns = narrow ? p->dstW : 1, all = p->dstH * width;
    const size_t above = i->top * width, below = (p->dstH - i->bottom) * width;
    const size_t tiles = sn_ceil_div(above, rows) + sn_ceil_div(all - above - below, rows) + sn_ceil_div(below, rows);
    return narrow || line ? (double)(TILE * (tiles - sn_ceil_div(all, rows)) * columns) : 0;
}

/*
 * ---- dilations: which output rows are computed together
 *
 * With a dilation, the lines between those of the taps of a row belong to other rows, of which few are neighbours: a band of
 * neighbouring rows copies, or evicts from the cache, most of the image. So rows that use the same lines follow each other:
 * 32x317x528 to 13 by 9x9 with stride 3 and dilation 5 takes 0.35 of the time, 48x90x90 to 20 by 7x7 with stride 2 and dilation
 * 4 0.85, 16x562x562 to 16 by 3x3 with stride 2 and dilation 6, in place, 0.95 (Xeon with AMX).
 */

/* The part of the lines that bands of neighbouring rows would copy, above which these are preferred. */
static const double DENSE_LINES = 0.8;

/* Lines of the cache for a band, without columns that no tap uses: 736x112x112 to 16 by 3x3 with stride 2 and dilation 4, which
 * uses every second one, takes 0.78 of the time as its rows that share lines follow each other (Xeon with AMX). */
static size_t lines_near(const struct sn_convolution * c, const struct sn_band * band)
{
    const size_t columns = band->columns / sn_divisor(c->p.strideX, c->p.kernelX > 1 ? c->p.dilationX : c->p.strideX);
    return sn_cpu()->cacheL2 / 2 / sizeof(float) / sn_max(columns * band->pixel, 1);
}

/* The lines that all bands copy. */
static size_t lines_copied(const struct sn_convolution * c, struct sn_band band)
{
    band.line = band.columns * band.pixel;
    return sn_band_copied(band, &c->p, sn_cpu()->cacheL2 / 2 / sizeof(float));
}

static bool has_classes(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NHWC && c->p.dilationY > 1 && c->srcSize && c->dstSize;
}

/* Makes bands dense if fewer lines are copied then; returns the floats that are. */
static double plan_dense(const struct sn_convolution * c, struct sn_band * band)
{
    struct sn_band dense = *band;
    if (!has_classes(c) || !band->copied || sn_taps_are_apart(c))
        return (double)(c->srcSize / sizeof(float));
    sn_band_dilated(&dense, &c->p, true);
    const size_t all = lines_copied(c, *band), lines = lines_copied(c, dense);
    if ((double)lines > DENSE_LINES * (double)all)
        return (double)(c->srcSize / sizeof(float));
    *band = dense;
    return (double)lines * (double)(band->columns * band->pixel);
}

/* Whether a dilated kernel, of lines in place, spans more lines than stay in the cache, but uses no more than do. */
static bool spans_cache(const struct sn_convolution * c, const struct sn_band * band)
{
    const size_t near = lines_near(c, band);
    return has_classes(c) && near <= sn_used(1, 1, c->p.kernelY, c->p.dilationY) && near > c->p.kernelY;
}

/*
 * Whether pixels that a stride of 1x1 leaves apart are copied, so that tiles lie along all of them: fewer tiles, and fewer times
 * that they read the weights. 256x14x14 to 512 with stride 2 takes 0.81 of the time with avx2 (0.97), 658x13x13 to 1760 with stride
 * 4 0.76 (0.64), 512x9x9 to 256 with stride 3 0.82 (0.79), 128x28x28 to 256 0.95 (0.95), but 160x38x38 to 80 in NCHW up to 1.1; and
 * 1024x14x14 to 2048, whose weights are read from afar in any case, 0.98 to 1.02 (0.95 to 1.06; Xeon with AMX).
 */
static bool is_line_preferred(const struct sn_convolution * c)
{
    enum { TILE = 2, MOST_PIXELS = 256, MOST_PIXELS_NHWC = 512, FAR = 3 };
    const struct sn_convolution_parameters * p = &c->p;
    const size_t rows = c->table->gemm.tile_32f.rows, pixels = p->dstH * p->dstW;
    if (p->kernelY > 1 || p->kernelX > 1 || p->strideX == 1 || p->padY || p->padX ||
        pixels > (p->srcF == SN_NHWC ? MOST_PIXELS_NHWC : MOST_PIXELS) ||
        sn_depth(c) * (double)p->dstC * sizeof(float) > FAR * (double)sn_cpu()->cacheL2)
        return false;
    const bool columns = p->dstW < rows && p->dstW < p->dstH;
    const size_t apart = columns ? p->dstW * sn_ceil_div(p->dstH, rows) : p->dstH * sn_ceil_div(p->dstW, rows);
    const double tiles = (double)apart - (double)sn_ceil_div(pixels, rows);
    return TILE * tiles * (double)sn_ceil_div(sn_outputs(c), 16) > EDGE_COPIED * (double)pixels;
}

/* True if copying only the input of the edges is possible and faster. */
static bool only_edges(const struct sn_convolution * c, const struct sn_band * band, double copied)
{
    const struct sn_inner i = sn_inner_of(&c->p);
    const double sides = (double)((i.left + (c->p.dstW - i.right)) * c->p.dstH);
    return sn_nhwc_edges_fit(&c->p, band) && only_edges_preferred(c, band, sides + outputs_of_parts(c, &i), copied);
}

/* ---- the plan */

void sn_nhwc_plan_copy(const struct sn_convolution * c, struct sn_direct_nhwc * d)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_band * band = &d->nhwc.band;
    const bool clash = sn_share_sets(p->srcC * p->strideX * sizeof(float), SN_ONE_SET) && p->dstW * p->dstH > 1 &&
                       p->dstC > 0;
    const bool line = is_line_preferred(c);
    sn_nhwc_band_plan(c, clash || line, &d->nhwc);
    if (band->copied && sn_taps_are_apart(c))
        sn_nhwc_band_apart(c, clash, &d->nhwc);
    d->edges = !line && only_edges(c, band, plan_dense(c, band));
    if (d->edges)
        sn_nhwc_only_edges(p, band);
    if ((d->edges || !band->copied) && !d->nhwc.apart && spans_cache(c, band))
        sn_band_dilated(band, p, false);
}
