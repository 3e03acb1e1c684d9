#include "ops/convolution/tap_rows.h"

#include "runtime/cpu.h"

/* A tile of fewer rows takes as long as one of so many; the least steps of a sum, times rows, for one row of taps. */
enum { LEAST_ROWS = 4, LEAST_PRODUCTS = 4096 };

/* Rows of taps begin .. end - 1. */
struct range {
    size_t begin, end;
};

/* Those of row y that meet the image, at least one. */
static struct range range_of(const struct sn_tap_rows * t, size_t y)
{
    const ptrdiff_t line = t->first + (ptrdiff_t)(y * t->stride), left = (ptrdiff_t)t->lines - line;
    const size_t begin = line < 0 ? sn_ceil_div((size_t)-line, t->step) : 0;
    const size_t end = left > 0 ? sn_min(sn_ceil_div((size_t)left, t->step), t->taps) : 0;
    return begin < end ? (struct range){begin, end} : (struct range){0, 1};
}

static bool same(struct range a, struct range b) { return a.begin == b.begin && a.end == b.end; }

static size_t width_of(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * gemm)
{
    return sn_gemm_width(tile, gemm->columns);
}

/* Rows y .. y + rows - 1, whose taps are `all`, and of them only `some`; the others are added before and after. */
static void run_some(const struct sn_gemm_32f_tile * tile, struct sn_gemm_32f gemm, const struct sn_tap_rows * t, size_t y,
                     size_t rows, struct range all, struct range some)
{
    const size_t segments = gemm.segments / t->taps;
    gemm.a += y * gemm.aStepY;
    gemm.c += y * gemm.cStepY;
    gemm.from = gemm.from ? gemm.from + y * gemm.cStepY : NULL;
    gemm.height = rows;
    gemm.segment += some.begin * segments;
    gemm.segments = (some.end - some.begin) * segments;
    gemm.b += some.begin * segments * gemm.length * width_of(tile, &gemm);
    if (some.begin > all.begin) {
        gemm.from = gemm.c;
        gemm.bias = NULL;
    }
    if (some.end < all.end) {
        gemm.activation = SN_ACTIVATION_IDENTITY;
        gemm.stream = false;
    }
    tile->run(&gemm);
}

/*
 * Whether all rows are computed by one row of taps after the other. Otherwise each row, and each tile of it, reads all
 * weights, which the L2 cache does not keep: 12 times 768x4x4 to 88 by 3x3 takes 0.73 of the time, 512x4x4 to 224 with
 * stride 2 0.88. But many short sums take longer: 112x4x4 by 7x7 1.15 times.
 */
static bool is_by_taps(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * gemm, const struct sn_tap_rows * t)
{
    const size_t depth = gemm->segments * gemm->length, products = depth / t->taps * sn_max(gemm->width, LEAST_ROWS);
    const size_t bytes = depth * width_of(tile, gemm) * sizeof(float);
    return gemm->height > 1 && products >= LEAST_PRODUCTS && bytes > sn_cpu()->cacheL2 / 2;
}

/* While the first row is computed, the weights of the next row of taps are prefetched. */
static void run_by_taps(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * gemm, const struct sn_tap_rows * t)
{
    const size_t size = gemm->segments / t->taps * gemm->length * width_of(tile, gemm);
    struct sn_gemm_32f part = *gemm;
    part.prefetchStep = size / gemm->width;
    for (size_t ky = 0; ky < t->taps; ++ky) {
        part.prefetch = gemm->b + (ky + 1) * size;
        for (size_t y = 0; y < gemm->height; ++y) {
            const struct range all = range_of(t, y);
            if (ky < all.begin || ky >= all.end)
                continue;
            run_some(tile, part, t, y, 1, all, (struct range){ky, ky + 1});
            part.prefetch = NULL;
        }
    }
}

/* The output after `first`, of `outputs`, whose taps are others. */
static size_t end_of_alike(const struct sn_tap_rows * t, size_t first, size_t outputs)
{
    const struct range all = range_of(t, first);
    while (++first < outputs && same(range_of(t, first), all)) {
    }
    return first;
}

bool sn_tap_columns_gain(const struct sn_tap_rows * columns, size_t outputs)
{
    size_t products = 0;
    for (size_t x = 0, end; x < outputs; x = end) {
        const struct range some = range_of(columns, x);
        end = end_of_alike(columns, x, outputs);
        products += (end - x) * (some.end - some.begin);
    }
    return 2 * products <= outputs * columns->taps;
}

/* Columns x .. end - 1, whose taps are `some` of each row of taps of `rows`; sums continue from one row of taps to the next. */
static void run_alike(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * gemm, const struct sn_tap_rows * t,
                      struct range rows, size_t x, size_t end)
{
    const struct range some = range_of(t->columns, x);
    struct sn_gemm_32f part = *gemm;
    part.a += x * gemm->aStepX;
    part.c += x * gemm->cStepX;
    part.from = gemm->from ? gemm->from + x * gemm->cStepX : NULL;
    part.width = end - x;
    part.segments = some.end - some.begin;
    part.prefetch = NULL;
    if (part.width < part.height) { /* tiles along columns are higher */
        part.width = gemm->height, part.height = end - x;
        part.aStepX = gemm->aStepY, part.aStepY = gemm->aStepX;
        part.cStepX = gemm->cStepY, part.cStepY = gemm->cStepX;
    }
    for (size_t ky = rows.begin; ky < rows.end; ++ky) {
        const size_t first = ky * t->columns->taps + some.begin;
        struct sn_gemm_32f row = part;
        row.segment += first;
        row.b += first * gemm->length * width_of(tile, gemm);
        if (ky > rows.begin) {
            row.from = part.c;
            row.bias = NULL;
        }
        if (ky + 1 < rows.end) {
            row.activation = SN_ACTIVATION_IDENTITY;
            row.stream = false;
        }
        tile->run(&row);
    }
}

/* All outputs, in parts with the same taps in both directions. */
static void run_parts(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * gemm, const struct sn_tap_rows * t)
{
    for (size_t y = 0, below; y < gemm->height; y = below) {
        struct sn_gemm_32f rows = *gemm;
        below = end_of_alike(t, y, gemm->height);
        rows.a += y * gemm->aStepY;
        rows.c += y * gemm->cStepY;
        rows.from = gemm->from ? gemm->from + y * gemm->cStepY : NULL;
        rows.height = below - y;
        for (size_t x = 0, end; x < gemm->width; x = end) {
            end = end_of_alike(t->columns, x, gemm->width);
            run_alike(tile, &rows, t, range_of(t, y), x, end);
        }
    }
}

void sn_run_tap_rows(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * gemm, const struct sn_tap_rows * t)
{
    const struct range whole = {0, t->taps};
    if (t->columns) {
        run_parts(tile, gemm, t);
    } else if (t->taps <= 1 || gemm->segments == 0 || gemm->height == 0) {
        tile->run(gemm);
    } else if (is_by_taps(tile, gemm, t)) {
        run_by_taps(tile, gemm, t);
    } else if (same(range_of(t, 0), whole) && same(range_of(t, gemm->height - 1), whole)) {
        tile->run(gemm);
    } else {
        for (size_t y = 0, end; y < gemm->height; y = end) {
            const struct range all = range_of(t, y);
            end = end_of_alike(t, y, gemm->height);
            run_some(tile, *gemm, t, y, end - y, all, all);
        }
    }
}
