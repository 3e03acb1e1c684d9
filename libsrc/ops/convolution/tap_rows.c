#include "ops/convolution/tap_rows.h"

#include "runtime/cpu.h"

/* A tile of fewer rows takes as long as one of so many; the least steps of a sum, times rows, for one row of taps. */
enum { LEAST_ROWS = 4, LEAST_PRODUCTS = 4096 };

struct sn_tap_rows sn_tap_rows_of(const struct sn_convolution_parameters * p, size_t row)
{
    return (struct sn_tap_rows){.first = (ptrdiff_t)(row * p->strideY) - (ptrdiff_t)p->padY, .stride = p->strideY,
        .step = p->dilationY, .taps = p->kernelY, .lines = p->srcH};
}

struct sn_tap_rows sn_tap_columns_of(const struct sn_convolution_parameters * p)
{
    return (struct sn_tap_rows){.first = -(ptrdiff_t)p->padX, .stride = p->strideX, .step = p->dilationX, .taps = p->kernelX,
        .lines = p->srcW};
}

struct sn_taps sn_taps_of_row(const struct sn_tap_rows * t, size_t y)
{
    const ptrdiff_t line = t->first + (ptrdiff_t)(y * t->stride), left = (ptrdiff_t)t->lines - line;
    const size_t begin = line < 0 ? sn_ceil_div((size_t)-line, t->step) : 0;
    const size_t end = left > 0 ? sn_min(sn_ceil_div((size_t)left, t->step), t->taps) : 0;
    return begin < end ? (struct sn_taps){begin, end} : (struct sn_taps){0, 1};
}

static bool same(struct sn_taps a, struct sn_taps b) { return a.begin == b.begin && a.end == b.end; }

static size_t width_of(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * gemm)
{
    return sn_gemm_width(tile, gemm->columns);
}

/*
 * What run_some() changes, and restores: a copy of the whole job would load vectors of several members, some of which have
 * just been written, and so wait until all results before are in the cache. 2x2x56 to 544 by 6x1 in 2 groups takes 0.47 of
 * the time, 2x4x56 by 3x1 0.55 (AVX-512, Xeon with AMX).
 */
struct changed {
    const sn_32f * a, * b, * from, * bias, * prefetch;
    sn_32f * c;
    const size_t * segment;
    size_t segments, height;
    enum sn_activation activation;
    bool stream;
};

static struct changed changed_of(const struct sn_gemm_32f * g)
{
    return (struct changed){.a = g->a, .b = g->b, .from = g->from, .bias = g->bias, .prefetch = g->prefetch, .c = g->c,
        .segment = g->segment, .segments = g->segments, .height = g->height, .activation = g->activation,
        .stream = g->stream};
}

static void restore(struct sn_gemm_32f * g, const struct changed * kept)
{
    g->a = kept->a, g->b = kept->b, g->c = kept->c;
    g->from = kept->from, g->bias = kept->bias, g->prefetch = kept->prefetch;
    g->segment = kept->segment, g->segments = kept->segments, g->height = kept->height;
    g->activation = kept->activation, g->stream = kept->stream;
}

/*
 * Rows y .. y + rows - 1, whose taps are `all`, and of them only `some`; the others are added before and after. What they
 * prefetch is divided among rows, if it is: fetched by the first one, the next panel of weights was waited for. Four layers
 * of 416x8x8 by 4x4 take 0.84 of the time, of 512x14x14 to 512 by 3x3 with stride 2 0.89 (avx2 0.85, 0.8; Xeon with AMX).
 */
static void run_some(const struct sn_gemm_32f_tile * tile, struct sn_gemm_32f * gemm, const struct sn_tap_rows * t, size_t y,
                     size_t rows, struct sn_taps all, struct sn_taps some)
{
    const struct changed kept = changed_of(gemm);
    const size_t segments = gemm->segments / t->taps;
    gemm->a += y * gemm->aStepY;
    gemm->c += y * gemm->cStepY;
    gemm->prefetch = gemm->prefetch ? gemm->prefetch + y * t->fetched : NULL;
    gemm->from = gemm->from ? gemm->from + y * gemm->cStepY : NULL;
    gemm->height = rows;
    gemm->segment += some.begin * segments;
    gemm->segments = (some.end - some.begin) * segments;
    gemm->b += some.begin * segments * gemm->length * width_of(tile, gemm);
    if (some.begin > all.begin) {
        gemm->from = gemm->c;
        gemm->bias = NULL;
    }
    if (some.end < all.end) {
        gemm->activation = SN_ACTIVATION_IDENTITY;
        gemm->stream = false;
    }
    if (!gemm->prefetch || !t->fetched || (gemm->onward && sn_gemm_is_deep(tile, gemm))) {
        tile->run(gemm);
        restore(gemm, &kept);
        return;
    }
    gemm->height = 1;
    for (size_t i = 0; i < rows; ++i, gemm->a += gemm->aStepY, gemm->c += gemm->cStepY, gemm->prefetch += t->fetched) {
        tile->run(gemm);
        gemm->from = gemm->from ? gemm->from + gemm->cStepY : NULL;
    }
    restore(gemm, &kept);
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

/* The first output from which on the input of its first tap is at `line` or behind. */
static size_t output_at(const struct sn_tap_rows * t, ptrdiff_t line)
{
    return line > t->first ? sn_ceil_div((size_t)(line - t->first), t->stride) : 0;
}

size_t sn_end_of_alike(const struct sn_tap_rows * t, size_t first, size_t outputs)
{
    const ptrdiff_t line = t->first + (ptrdiff_t)(first * t->stride), lines = (ptrdiff_t)t->lines;
    const size_t above = line < 0 ? sn_min(sn_ceil_div((size_t)-line, t->step), t->taps) : 0;
    const size_t until = line < lines ? sn_min(sn_ceil_div((size_t)(lines - line), t->step), t->taps) : 0;
    size_t end = outputs;
    if (above)
        end = sn_min(end, output_at(t, -(ptrdiff_t)((above - 1) * t->step)));
    if (until)
        end = sn_min(end, output_at(t, lines - (ptrdiff_t)((until - 1) * t->step)));
    return sn_max(end, first + 1);
}

/* The outputs, of `outputs`, whose tap `tap` meets the image. */
static struct sn_taps outputs_of(const struct sn_tap_rows * t, size_t tap, size_t outputs)
{
    const ptrdiff_t at = t->first + (ptrdiff_t)(tap * t->step), left = (ptrdiff_t)t->lines - at;
    const size_t begin = at < 0 ? sn_min(sn_ceil_div((size_t)-at, t->stride), outputs) : 0;
    const size_t end = left > 0 ? sn_min(sn_ceil_div((size_t)left, t->stride), outputs) : 0;
    return (struct sn_taps){begin, sn_max(begin, end)};
}

size_t sn_tap_products(const struct sn_tap_rows * t, size_t outputs)
{
    size_t products = 0;
    for (size_t tap = 0; tap < t->taps; ++tap) {
        const struct sn_taps some = outputs_of(t, tap, outputs);
        products += some.end - some.begin;
    }
    return products;
}

/* While the rows of a tap are computed, the weights of the next row of taps are prefetched. */
static void run_by_taps(const struct sn_gemm_32f_tile * tile, struct sn_gemm_32f * gemm, const struct sn_tap_rows * t)
{
    const size_t size = gemm->segments / t->taps * gemm->length * width_of(tile, gemm);
    const sn_32f * next = gemm->prefetch;
    const size_t step = gemm->prefetchStep;
    struct sn_tap_rows some = *t;
    for (size_t ky = 0; ky < t->taps; ++ky) {
        const struct sn_taps rows = outputs_of(t, ky, gemm->height);
        gemm->prefetchStep = size / (sn_max(rows.end - rows.begin, 1) * gemm->width);
        some.fetched = gemm->prefetchStep * gemm->width;
        gemm->prefetch = gemm->b + (ky + 1) * size - rows.begin * some.fetched;
        for (size_t y = 0; y < gemm->height; ++y) {
            const struct sn_taps all = sn_taps_of_row(t, y);
            if (ky >= all.begin && ky < all.end)
                run_some(tile, gemm, &some, y, 1, all, (struct sn_taps){ky, ky + 1});
        }
    }
    gemm->prefetch = next;
    gemm->prefetchStep = step;
}

/* One tap, of the outputs that it has; their sums continue. */
static void run_tap(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * sums, size_t tap, struct sn_taps rows,
                    struct sn_taps columns)
{
    struct sn_gemm_32f part = *sums;
    const size_t to = rows.begin * part.cStepY + columns.begin * part.cStepX;
    part.a += rows.begin * part.aStepY + columns.begin * part.aStepX;
    part.from = part.c += to;
    part.height = rows.end - rows.begin;
    part.width = columns.end - columns.begin;
    part.segment += tap;
    part.segments = 1;
    part.b += tap * part.length * width_of(tile, &part);
    if (part.width < part.height) { /* tiles along columns are higher */
        part.height = part.width, part.width = rows.end - rows.begin;
        part.aStepX = sums->aStepY, part.aStepY = sums->aStepX;
        part.cStepX = sums->cStepY, part.cStepY = sums->cStepX;
    }
    tile->run(&part);
}

/*
 * Tap by tap, each for the rectangle of outputs that it has: weights are read once, and from the L1 cache by all tiles but
 * the first. Each output has the same chain of products as if it were computed alone.
 */
static void run_apart(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * gemm, const struct sn_tap_rows * t)
{
    struct sn_gemm_32f first = *gemm, sums = *gemm, last = *gemm;
    first.segments = last.segments = 0;
    first.prefetch = sums.prefetch = last.prefetch = NULL;
    first.activation = sums.activation = SN_ACTIVATION_IDENTITY;
    first.stream = sums.stream = false;
    sums.bias = last.bias = NULL;
    last.from = last.c;
    tile->run(&first);
    for (size_t ky = 0; ky < t->taps; ++ky) {
        const struct sn_taps rows = outputs_of(t, ky, gemm->height);
        for (size_t kx = 0; rows.begin < rows.end && kx < t->columns->taps; ++kx) {
            const struct sn_taps columns = outputs_of(t->columns, kx, gemm->width);
            if (columns.begin < columns.end)
                run_tap(tile, &sums, ky * t->columns->taps + kx, rows, columns);
        }
    }
    if (gemm->activation != SN_ACTIVATION_IDENTITY)
        tile->run(&last);
}

void sn_run_tap_rows(const struct sn_gemm_32f_tile * tile, struct sn_gemm_32f * gemm, const struct sn_tap_rows * t)
{
    const struct sn_taps whole = {0, t->taps};
    if (t->columns) {
        run_apart(tile, gemm, t);
    } else if (t->taps == 0 || gemm->segments == 0 || gemm->height == 0) {
        tile->run(gemm);
    } else if (t->taps > 1 && is_by_taps(tile, gemm, t)) {
        run_by_taps(tile, gemm, t);
    } else if (t->taps == 1 || (same(sn_taps_of_row(t, 0), whole) && same(sn_taps_of_row(t, gemm->height - 1), whole))) {
        run_some(tile, gemm, t, 0, gemm->height, whole, whole);
    } else {
        for (size_t y = 0, end; y < gemm->height; y = end) {
            const struct sn_taps all = sn_taps_of_row(t, y);
            end = sn_end_of_alike(t, y, gemm->height);
            run_some(tile, gemm, t, y, end - y, all, all);
        }
    }
}
