#include "ops/convolution/dot_tap_rows.h"

#include <string.h>

#include "ops/convolution/tap_rows.h"

enum { COLUMNS = 64 }; /* the most of a panel */

static const struct sn_dot_tile * tile_of(const struct sn_convolution * c) { return sn_dot_of(c)->tile; }

void sn_dot_order_rows(struct sn_dot * gemm, size_t rows)
{
    if (gemm->aStepY == gemm->width * gemm->aStepX && gemm->cStepY == gemm->width * gemm->cStepX) {
        gemm->width *= gemm->height;
        gemm->height = 1;
    } else if (gemm->width < rows && gemm->width < gemm->height) {
        const struct sn_dot was = *gemm;
        gemm->width = was.height, gemm->height = was.width;
        gemm->aStepX = was.aStepY, gemm->aStepY = was.aStepX;
        gemm->cStepX = was.cStepY, gemm->cStepY = was.cStepX;
    }
}

/* ---- what is left out */

/* Tiles of some rows of outputs, as they are ordered. Those that are `aligned` are two blocks, which may be of two lines. */
static size_t tiles_of(const struct sn_convolution * c, size_t height, bool dense)
{
    const size_t rows = tile_of(c)->rows, width = c->p.dstW;
    if (dense)
        return sn_ceil_div(height * width, rows);
    if (tile_of(c)->aligned)
        return sn_ceil_div(height * sn_ceil_div(width, rows / 2), 2);
    return width < rows && width < height ? width * sn_ceil_div(height, rows) : height * sn_ceil_div(width, rows);
}

/*
 * The part of the products that may be left, at most; and the groups of numbers of a row of taps that `aligned` tiles need, whose
 * products take longer to begin. 19x7x112 to 47 by 11x11 takes 0.58 of the time with avx2, 0.63 with avx512vnni, 0.35 with amx,
 * 256x33x33 by 3x3 with dilation 12 0.62, 0.63, 0.70, 24x10x40 by 9x9 0.76, 0.63, 1.0, 512x7x7 by 3x3 0.68, 0.92, 1.0; but with
 * amx 128x4x60 by 3x3 would take 1.0 to 1.5, 3x2x200 1.3 (Xeon with AMX).
 */
static const double LEFT = 0.92, LEFT_ALIGNED = 0.8;
enum { LEAST_GROUPS = 16, MOST_TAPS = 1 << 10, MOST_LINES = 1 << 24 }; /* a plan of larger ones would take long */

bool sn_dot_leaves_out(const struct sn_convolution * c, size_t depth, bool dense)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool aligned = tile_of(c)->aligned;
    if (c->family->smallType != SN_DATA_8U || p->kernelY < 2 || p->padY + p->padH == 0 || tile_of(c)->columns > COLUMNS ||
        p->kernelY > MOST_TAPS || (p->srcH | p->dstH | p->padY | p->strideY | p->dilationY) >= MOST_LINES || c->srcSize == 0 ||
        c->dstSize == 0 || (aligned && depth / p->kernelY < LEAST_GROUPS))
        return false;
    const struct sn_tap_rows rows = sn_tap_rows_of(p, 0);
    size_t left = 0;
    for (size_t y = 0, end; y < p->dstH; y = end) {
        const struct sn_taps taps = sn_taps_of_row(&rows, y);
        end = sn_end_of_alike(&rows, y, p->dstH);
        left += (taps.end - taps.begin) * tiles_of(c, end - y, dense);
    }
    return (double)left < (aligned ? LEFT_ALIGNED : LEFT) * (double)(p->kernelY * tiles_of(c, p->dstH, dense));
}

/* ---- sums of weights */

bool sn_dot_sums_size(const struct sn_convolution * c, size_t * bytes)
{
    return sn_product(bytes, c->p.kernelY + 1, c->channels, sizeof(int32_t));
}

void sn_dot_pack_sums(const struct sn_convolution * c, const void * weight, int32_t * sums)
{
    const struct sn_convolution_parameters * p = &c->p;
    memset(sums, 0, (p->kernelY + 1) * c->channels * sizeof(*sums));
    for (size_t o = 0; o < p->dstC; ++o) {
        int32_t * to = sums + sn_channel_index(c, o);
        for (size_t tap = 0; tap < p->kernelY * p->kernelX; ++tap) {
            int32_t * of_row = to + (tap / p->kernelX + 1) * c->channels;
            if (tap % p->kernelX == 0)
                *of_row = of_row[-(ptrdiff_t)c->channels];
            for (size_t i = 0; i < sn_inputs(c); ++i)
                *of_row += ((const int8_t *)weight)[sn_weight_at(c->format, p, o, i, tap)];
        }
    }
}

/* The initial sums of outputs that multiply only some rows of taps. */
static void set_start(const struct sn_convolution * c, const int32_t * sums, size_t first, struct sn_taps taps, size_t columns,
                      int32_t * start)
{
    const uint32_t padding = (uint32_t)(int32_t)sn_dot_of(c)->srcZero - (tile_of(c)->biased ? 128 : 0);
    const int32_t * all = (const int32_t *)(const void *)c->bias + first;
    const int32_t * before = sums + taps.begin * c->channels + first, * until = sums + taps.end * c->channels + first;
    const int32_t * total = sums + c->p.kernelY * c->channels + first;
    for (size_t i = 0; i < columns; ++i) /* as in the tile, sums may wrap */
        start[i] = (int32_t)((uint32_t)all[i] + padding * (uint32_t)(before[i] + total[i] - until[i]));
}

void sn_dot_run_taps(const struct sn_convolution * c, const struct sn_dot * gemm, const int32_t * sums, size_t first,
                     size_t row)
{
    const struct sn_dot_tile * tile = tile_of(c);
    const struct sn_tap_rows rows = sn_tap_rows_of(&c->p, row);
    const struct sn_taps taps = sn_taps_of_row(&rows, 0);
    const size_t segments = gemm->segments / c->p.kernelY;
    const size_t width = sn_ceil_div(gemm->columns, tile->granule) * tile->granule;
    struct sn_dot some = *gemm;
    int32_t start[COLUMNS];
    set_start(c, sums, first, taps, width, start);
    some.start = start;
    some.segment += taps.begin * segments;
    some.segments = (taps.end - taps.begin) * segments;
    some.b = (const uint8_t *)gemm->b + taps.begin * segments * gemm->length * 4 * width;
    sn_dot_order_rows(&some, tile->rows);
    tile->run(&some);
}

void sn_dot_run_tap_rows(const struct sn_convolution * c, const struct sn_dot * gemm, const int32_t * sums, size_t first,
                         size_t row)
{
    const struct sn_tap_rows rows = sn_tap_rows_of(&c->p, row);
    struct sn_dot some = *gemm;
    for (size_t y = 0, end; y < gemm->height; y = end) {
        end = sn_end_of_alike(&rows, y, gemm->height);
        some.a = gemm->a + y * gemm->aStepY, some.c = gemm->c + y * gemm->cStepY;
        some.height = end - y;
        sn_dot_run_taps(c, &some, sums, first, row + y);
    }
}
