/*
 * NHWC with one input and several outputs in each group, by the GEMM tile. The taps of a group lie apart in the image, and a tile
 * takes two or three times as long for a segment of one step as for a step. So the image is converted to planes, and from these,
 * for some output rows and one group at a time, the lines of the kernel are interleaved: a column has the inputs of all lines
 * side by side, and so has a row of A, that of kernelX columns, which is a single segment. Batch 7, 8x466x32 to 992 by 9x3 with
 * stride 4 in 8 groups takes 0.36 to 0.49 of the time with avx2, 16x28x28 to 1024 by 3x3 in 16 groups 0.55 to 0.65; with AVX-512
 * the former 0.44 to 1.06, as the time of the direct algorithm varies by two, 8x56x56 to 256 by 3x3 in 8 groups 0.77 (Xeon with
 * AMX).
 */
#include "ops/convolution/32f.h"

#include "ops/convolution/band.h"
#include "ops/convolution/cost.h"
#include "runtime/cpu.h"

/* Pixels of output rows that are computed together, unless one has more. */
enum { PIXELS = 112, LINE = SN_ALIGN / sizeof(float) };

struct one_input {
    size_t band; /* output rows of the converted lines */
    size_t rows; /* of these, the most that are computed together */
};
SN_FITS_ALGORITHM_DATA(struct one_input);

static const struct one_input * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->srcF == SN_NHWC && p->group > 1 && p->group == p->srcC && c->srcSize && c->dstSize && p->kernelY > 1 &&
           p->dilationY == 1 && p->dilationX == 1;
}

/* Columns of a line that outputs use, and of a line of A: with a wide stride, the pixels of all rows are one line of these. */
static size_t used_columns(const struct sn_convolution_parameters * p) { return sn_used(p->dstW, p->strideX, p->kernelX, 1); }

static bool is_one_line(const struct sn_convolution_parameters * p) { return p->kernelX <= p->strideX; }

static size_t columns_of(const struct sn_convolution_parameters * p)
{
    return is_one_line(p) ? p->dstW * p->strideX : used_columns(p);
}

/* ---- cost, also of the direct algorithm for such layers: fitted to 12 layers on avx2 and avx512 (Xeon with AMX) */

/* Vector cycles of a product, of a vector of results, to interleave the lines of a column, and those of an output row. */
static const double PRODUCT = 0.95, RESULT = 8, INTERLEAVED = 2.8, ROW = 400;

/*
 * The same of the direct algorithm, which has nothing to interleave; and more for each vector of results of an image that exceed
 * the L2 cache (not of a batch, so that an image has the same bits in each), but for several panels of short sums with wide vectors: 16x28x28 to 960 by 3x3 in 16 groups would take 1.05 to 1.16 of the time
 * (AVX-512), where 16x56x56 to 320 takes 0.74 to 0.8, and 3x224x224 to 96 with stride 2 in 3 groups 0.75.
 */
static const double DIRECT_PRODUCT = 1.1, DIRECT_RESULT = 12, DIRECT_FAR = 18;
enum { SHORT_SUM = 16 };

static double results(const struct sn_convolution * c)
{
    return sn_dst_pixels(c) * (double)c->p.group * sn_vectors(c, sn_outputs(c));
}

static double cost(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double columns = (double)(p->kernelY * used_columns(p));
    return sn_of_vectors(c, results(c) * (sn_depth(c) * PRODUCT + RESULT) +
                                (double)(p->dstH * p->group) * (columns * INTERLEAVED + ROW));
}

double sn_one_input_direct(const struct sn_convolution * c)
{
    const bool panels = sn_lanes(c) >= 16 && sn_outputs(c) > c->table->gemm.tile_32f.columns;
    const bool far = (double)c->dstSize > SN_L2_BYTES && !(panels && sn_depth(c) < SHORT_SUM);
    return sn_of_vectors(c, results(c) * (sn_depth(c) * DIRECT_PRODUCT + DIRECT_RESULT + (far ? DIRECT_FAR : 0)));
}

/* ---- plan and weights */

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct one_input * d = (void *)c->algorithmData;
    struct sn_band band = {.strideY = p->strideY};
    size_t planes, columns;
    if (!sn_product(&band.line, used_columns(p), p->srcC))
        return false;
    sn_band_rows(&band, p, sn_cpu()->cacheL2 / 2 / sizeof(float));
    d->band = band.rows;
    d->rows = sn_min(sn_max(PIXELS / p->dstW, 1), band.rows);
    c->segments = 1;
    c->runStep = sn_gemm_width(&c->table->gemm.tile_32f, sn_outputs(c));
    return sn_product(&c->channels, p->group, c->runStep) &&
           sn_floats(&c->weightSize, p->kernelX, p->kernelY, c->channels) && sn_product(&planes, band.lines, band.line) &&
           sn_product(&columns, d->rows, columns_of(p), p->kernelY) && sn_floats(&c->workSize, sn_align(planes, LINE) + columns);
}

/* From rows of outputs for ky, kx to panels of rows for kx, ky. */
static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const sn_32f * w = weight;
    sn_32f * packed = c->weight;
    for (size_t g = 0; g < p->group; ++g)
        for (size_t first = 0; first < sn_outputs(c); first += tile->columns) {
            const size_t columns = sn_min(tile->columns, sn_outputs(c) - first), channel = g * sn_outputs(c) + first;
            for (size_t k = 0; k < p->kernelX * p->kernelY; ++k, packed += sn_gemm_width(tile, columns)) {
                const size_t tap = k % p->kernelY * p->kernelX + k / p->kernelY;
                for (size_t o = 0; o < columns; ++o)
                    packed[o] = w[sn_weight_at(c->format, p, channel + o, 0, tap)];
            }
        }
}

/* ---- forward: lines of the padded image, as planes */

/*
 * The results of the next rows are prefetched if all exceed the L2 cache, with wide vectors several times: 26 MB take 0.62 of the
 * time (AVX-512), 3 MB 0.86 (avx2), but 2 to 6 MB would take 1.02 to 1.2 with AVX-512 (Xeon with AMX).
 */
enum { FAR = 1, FAR_WIDE = 4 };

static bool is_far(const struct sn_convolution * c)
{
    return c->batch * c->dstSize > (sn_lanes(c) >= 16 ? FAR_WIDE : FAR) * sn_cpu()->cacheL2;
}

struct planes {
    sn_32f * to;
    size_t lines, columns, plane; /* floats of a line and of a plane */
};

/* Line `i`, from a line of the image, or from padding if that is NULL. */
static void convert_line(const struct sn_convolution * c, const struct planes * l, size_t i, const sn_32f * src, size_t pixel)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t before = src ? sn_min(p->padX, l->columns) : l->columns, inside = sn_min(p->srcW, l->columns - before);
    sn_32f * to = l->to + i * l->columns;
    for (size_t g = 0; g < p->group; ++g, to += l->plane) {
        for (size_t x = 0; x < before; ++x)
            to[x] = 0;
        for (size_t x = before + inside; x < l->columns; ++x)
            to[x] = 0;
    }
    to = l->to + i * l->columns + before;
    if (inside && pixel == p->srcC)
        c->table->layout.image_32f(p->srcC, l->plane, src, SN_NHWC, to, SN_NCHW, 0, inside);
    else if (inside)
        c->table->convolution_32f.lines(&(struct sn_lines_32f){.src = src, .srcStep = 1, .stride = pixel, .dst = to,
            .dstStep = l->plane, .lines = p->group, .inside = inside, .size = inside});
}

static void convert(const struct sn_convolution * c, const struct planes * l, size_t row, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    for (size_t i = 0; i < l->lines; ++i) {
        const size_t at = row * p->strideY + i - p->padY; /* wraps for those above */
        const sn_32f * src = at < p->srcH ? (const sn_32f *)a->src + at * p->srcW * a->at->srcPixel : NULL;
        convert_line(c, l, i, src, a->at->srcPixel);
    }
}

/* ---- sums */

/* Output rows that are computed together, the first and their number, with their columns and the lines of a plane. */
struct rows {
    size_t first, rows;
    sn_32f * columns;
    const struct planes * planes;
    const sn_32f * next; /* NULL, or `nextSize` results that are prefetched */
    size_t nextSize;
};

static void interleave(const struct sn_convolution * c, const struct rows * r, size_t group)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t line = r->planes->columns;
    for (size_t y = 0; y < r->rows; ++y)
        c->table->layout.image_32f(p->kernelY, line,
                                   r->planes->to + group * r->planes->plane + (r->first + y) * p->strideY * line, SN_NCHW,
                                   r->columns + y * columns_of(p) * p->kernelY, SN_NHWC, 0, line);
}

/* A panel of outputs; each line prefetches its part of the next results. */
static void run(const struct sn_convolution * c, struct sn_gemm_32f gemm, const struct rows * r)
{
    const sn_gemm_32f_fn tile = c->table->gemm.tile_32f.run;
    const size_t lines = gemm.height;
    if (!r->next) {
        tile(&gemm);
        return;
    }
    gemm.height = 1;
    gemm.prefetchStep = r->nextSize * gemm.columns / c->p.dstC / (lines * gemm.width);
    for (size_t y = 0; y < lines; ++y) {
        tile(&gemm);
        gemm.a += gemm.aStepY;
        gemm.c += gemm.cStepY;
        gemm.from = gemm.from ? gemm.from + gemm.cStepY : NULL;
        gemm.prefetch += gemm.width * gemm.prefetchStep;
    }
}

/* All groups, whose results and additions are at gemm.c and gemm.from. */
static void compute_rows(const struct sn_convolution * c, const struct rows * r, const struct sn_gemm_32f * rows)
{
    const size_t outputs = sn_outputs(c), columns = c->table->gemm.tile_32f.columns;
    struct sn_gemm_32f gemm = *rows;
    for (size_t g = 0; g < c->p.group; ++g) {
        interleave(c, r, g);
        for (size_t first = 0; first < outputs; first += columns) {
            const size_t at = g * outputs + first, packed = g * c->runStep + first;
            gemm.b = sn_weights(c) + gemm.length * packed;
            gemm.columns = sn_min(columns, outputs - first);
            gemm.c = rows->c + at;
            gemm.from = rows->from ? rows->from + at : NULL;
            gemm.bias = c->bias + packed;
            gemm.slope = c->slope ? c->slope + packed : NULL;
            gemm.prefetch = r->next ? r->next + r->nextSize * at / c->p.dstC : NULL;
            run(c, gemm, r);
        }
    }
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t dstRow = p->dstW * a->at->dstPixel, pixel = p->strideX * p->kernelY, line = columns_of(p) * p->kernelY;
    const bool far = is_far(c);
    struct planes planes = {.to = a->work, .lines = sn_used(s->lines, p->strideY, p->kernelY, 1), .columns = used_columns(p)};
    planes.plane = planes.lines * planes.columns;
    convert(c, &planes, s->line, a);
    struct rows r = {.planes = &planes, .columns = planes.to + sn_align(p->group * planes.plane, LINE)};
    struct sn_gemm_32f gemm = {.a = r.columns, .segment = c->segment, .segments = 1, .length = p->kernelX * p->kernelY,
        .coldC = !sn_cpu()->traits.prefetchC, .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}};
    for (; r.first < s->lines; r.first += r.rows) {
        const size_t at = (s->line + r.first) * dstRow;
        r.rows = sn_min(data_of(c)->rows, s->lines - r.first);
        gemm.c = (sn_32f *)a->dst + at;
        gemm.from = a->add ? (const sn_32f *)a->add + at : NULL;
        r.nextSize = far ? sn_min(r.rows, s->lines - r.first - r.rows) * dstRow : 0;
        r.next = r.nextSize ? gemm.c + r.rows * dstRow : NULL;
        gemm.height = r.rows, gemm.width = p->dstW;
        gemm.aStepY = line, gemm.aStepX = pixel;
        gemm.cStepY = dstRow, gemm.cStepX = a->at->dstPixel;
        if (is_one_line(p)) {
            gemm.height = 1, gemm.width = r.rows * p->dstW;
        } else if (p->dstW < c->table->gemm.tile_32f.rows && p->dstW < r.rows) { /* tiles along columns are higher */
            gemm.height = p->dstW, gemm.width = r.rows;
            gemm.aStepY = pixel, gemm.aStepX = line;
            gemm.cStepY = a->at->dstPixel, gemm.cStepX = dstRow;
        }
        compute_rows(c, &r, &gemm);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .shares = {.lines = c->p.dstH, .most = data_of(c)->band, .start = true,
        .least = sn_ceil_div(2 * c->table->gemm.tile_32f.rows, c->p.dstW)}});
}

const struct sn_convolution_algorithm sn_convolution_32f_one_input = {.name = "one input of groups NHWC", .tiled = true,
    .adds = true, .supports = supports, .cost = cost, .plan = plan, .pack = pack, .forward = forward};
