/* The bands of convolutions of small numbers: input for the kernels, and conversion of results to planes for NCHW. */
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/dot.h"
#include "runtime/cpu.h"

static bool is_nchw(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

/*
 * Planes that are copied to pixels as a whole, by kernels that need no padding: lines of few pixels, each converted on its
 * own, take longer. Bytes of 2x1312x4x4 by 3x3 take 0.6 of the time.
 */
enum { SMALL_PLANE = 256 };

static bool is_small_plane(const struct sn_convolution * c)
{
    return is_nchw(c) && c->p.srcH <= SMALL_PLANE && c->p.srcW <= SMALL_PLANE / sn_max(c->p.srcH, 1);
}

/* The lines and columns of the image itself. */
static void use_lines(struct sn_band * band, const struct sn_convolution_parameters * p)
{
    band->strideY = p->strideY, band->strideX = p->strideX;
    band->columns = p->srcW;
}

/*
 * Whether rows of A are aligned, for tiles that read such rows faster: a copy costs as much as a few panels gain. A product
 * of bytes of 128x1024 by 1024 columns takes 0.69 of the time, 128x768 by 192 0.82, 196x256 by 1024 0.87, 64x512 by 512 1.0
 * to 1.03; of fewer bytes of weights, 784x512 by 256 1.04, 196x80 by 480 1.06 (Xeon with AMX).
 */
enum { LEAST_ALIGNED = 128 << 10 };

static bool is_aligned(const struct sn_convolution * c, size_t number)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_tile * tile = sn_dot_of(c)->tile;
    return tile->aligned && p->kernelY * p->kernelX == 1 && p->group == 1 && p->dstC > 2 * tile->columns &&
           p->dstW * p->dstH >= tile->rows / 2 && (double)p->srcC * (double)(number * p->dstC) > LEAST_ALIGNED;
}

/* Bytes of a pixel with a gap that aligns the next one, but keeps few sets of the L1 cache apart. */
static size_t aligned_pixel(size_t bytes)
{
    bytes = sn_align(bytes, SN_ALIGN);
    return bytes + (sn_share_sets(bytes, SN_FOUR_SETS) ? SN_ALIGN : 0);
}

/*
 * Whether only the input of the edges is copied. Without a stride, outputs are so many that a copy takes little of the time. Those
 * at the sides are products of their own, of fewer rows: EDGE_PRODUCTS of them take as long as to copy a number. Images that are
 * read in place come from farther away: with ALL_PRODUCTS for each number a copy takes as long; and with lines of fewer outputs
 * than LINE, which fill few tiles. With stride 2 64x112x112 to 64 by 3x3 takes 0.73 of the time with amx, 0.87 with avx512vnni and
 * 0.97 with avxvnni, 128x112x112 to 32 0.69, 0.73, 0.91, 128x28x28 to 16 0.76, 0.91, 0.91, of bfloat16 0.75 with amx and 0.96
 * with avx512bf16, with stride 4 120x112x112 to 8 0.37, 0.45, 0.45, 0.42, 0.61; but 96x224x224 to 96 would take 1.1, 1.04, 1.0,
 * 256x14x14 to 8 1.12, 0.88, 0.85, 512x14x14 to 512 1.7, 1.0, 0.93, 128x28x28 to 256 1.12, 1.0, 1.04 (Xeon with AMX).
 */
static const double EDGE_PRODUCTS = 16, ALL_PRODUCTS = 160;
enum { LINE = 12 };

static bool only_edges(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double products = (double)(p->kernelY * p->kernelX * sn_inputs(c)) * (double)p->dstC;
    const double numbers = sn_src_pixels(c) * (double)p->srcC;
    const struct sn_inner i = sn_inner_of(p);
    if (p->kernelX == 1 || p->strideX == 1 || !sn_edges_fit(p) || i.right - i.left < LINE)
        return false;
    const double sides = (double)((i.left + p->dstW - i.right) * p->dstH + (i.top + p->dstH - i.bottom) * p->dstW);
    return products * sides < EDGE_PRODUCTS * numbers && products * sn_dst_pixels(c) < ALL_PRODUCTS * numbers;
}

bool sn_dot_band_plan(struct sn_convolution * c, struct sn_dot_band * b, enum sn_dot_reads reads, size_t most)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_band * band = &b->band;
    const bool clash = sn_dot_of(c)->spaced && sn_share_sets(b->number * p->srcC * p->strideX, SN_TWO_SETS) &&
                       p->dstW * p->dstH > 1;
    const bool other = b->number != sn_small(c) || is_nchw(c) || p->srcT == SN_DATA_32F;
    sn_band_plan(band, p, reads == SN_READS_COPY || clash || other, is_nchw(c));
    b->aligned = is_aligned(c, b->number);
    b->unlessAligned = b->aligned && !band->copied && p->srcC * b->number % (SN_ALIGN / 2) == 0;
    if (b->unlessAligned && p->strideY * p->strideX > 1)
        b->aligned = b->unlessAligned = false;
    if (b->aligned)
        sn_band_plan(band, p, true, is_nchw(c));
    b->edges = reads == SN_READS_PARTS && band->copied && !b->aligned && !clash && !other && only_edges(c);
    if (b->edges)
        sn_nhwc_only_edges(p, band);
    b->unpadded = reads == SN_READS_LINES && !clash && band->copied && is_small_plane(c);
    if (reads == SN_READS_LINES && !clash && !other) { /* for any padding */
        band->copied = false;
        use_lines(band, p);
    }
    if (b->unpadded)
        use_lines(band, p);
    /* Bands of about equal height, whose lines and results fit into the L2 cache. */
    const size_t cache = sn_cpu()->cacheL2;
    size_t result;
    if (!sn_product(&band->pixel, p->group, b->inputs, b->number))
        return false;
    band->pixel = b->aligned ? aligned_pixel(band->pixel) : band->pixel + (clash ? SN_ALIGN : 0);
    if (!sn_product(&band->line, band->columns, band->pixel) || !sn_product(&result, is_nchw(c), p->dstW, most))
        return false;
    sn_band_rows(band, p, cache / 2);
    sn_band_limit(band, p, sn_min(band->rows, cache / 4 / sn_max(result, 1)));
    b->anywhere = reads == SN_READS_LINES || p->kernelY * p->kernelX == 1;
    if (b->unpadded)
        band->lines = p->srcH;
    const bool copies = band->copied || (!is_nchw(c) && !b->anywhere);
    if (!sn_product(&b->bytes, copies, band->lines, band->line))
        return false;
    if (copies)
        b->bytes = sn_align(b->bytes + SN_ALIGN, SN_ALIGN); /* a group may extend beyond the last pixel */
    return sn_product(&c->workSize, b->bytes + band->rows * result, 1);
}

/* An image whose band is copied. */
struct copy {
    const struct sn_convolution * c;
    const struct sn_dot_band * b;
    const struct sn_arrays * a;
    const uint8_t * pixels; /* those of the lines that are copied together, from `first` on */
    size_t first;
};

/* Writes columns of padding. */
static void fill(const void * job, uint8_t * to, size_t bytes)
{
    const struct copy * j = job;
    const float zero = sn_dot_of(j->c)->srcZero;
    const bool wide = j->b->number > sn_small(j->c);
    memset(to, wide ? 0 : (int)zero, bytes);
    if (wide && zero > 0)
        for (size_t i = 0; i < bytes; i += 2)
            to[i] = (uint8_t)zero; /* the low byte of 16 bits */
}

/*
 * Moves groups of an odd number of inputs apart, with a zero after each; `to` is before `from`, which it may overlap. In
 * blocks, many inputs take 0.58 to 0.77 of the layer's time with each number on its own (1685x26x26 to 8 by 1x1, 61x28x28 by
 * 1x1, 800x56x56 by 1x1 in 32 groups; amx).
 */
SN_INLINE void space(const uint8_t * from, size_t groups, size_t inputs, size_t number, uint8_t * to)
{
    enum { AT_ONCE = 8 };
    uint64_t two[2];
    uint8_t some[AT_ONCE * sizeof(sn_32f)];
    size_t g = 0;
    for (; inputs == 1 && number == 2 && g + 4 <= groups; g += 4, from += 8, to += 16) {
        uint64_t four;
        memcpy(&four, from, sizeof(four));
        SN_UNROLL for (int k = 0; k < 2; ++k, four >>= 32) two[k] = (four & 0xFFFF) | (four & 0xFFFF0000) << 16;
        memcpy(to, two, sizeof(two));
    }
    for (; g < groups; ++g, from += number, to += 2 * number) {
        size_t i = 0;
        for (; i + AT_ONCE <= inputs; i += AT_ONCE, from += AT_ONCE * number, to += AT_ONCE * number) {
            memcpy(some, from, AT_ONCE * number);
            memcpy(to, some, AT_ONCE * number);
        }
        for (; i + 2 <= inputs; i += 2, from += 2 * number, to += 2 * number) {
            memcpy(two, from, 2 * number);
            memcpy(to, two, 2 * number);
        }
        two[0] = 0;
        memcpy(two, from, number);
        memcpy(to, two, 2 * number);
    }
}

static void copy(const void * job, size_t first, size_t step, size_t pixels, uint8_t * to)
{
    const struct copy * j = job;
    const struct sn_convolution * c = j->c;
    const struct sn_dot_band * b = j->b;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t channel = is_nchw(c) ? p->srcH * p->srcW : 1, element = sn_element(p->srcT);
    struct sn_pixels pixel = {.floats = p->srcT == SN_DATA_32F, .srcPixel = is_nchw(c) ? 1 : step * j->a->at->srcPixel,
        .srcChannel = channel, .scale = sn_dot_of(c)->srcScale, .zero = sn_dot_of(c)->srcZero, .channels = p->srcC,
        .pixels = pixels, .dstPixel = b->band.pixel, .wide = b->number > sn_small(c)};
    const uint8_t * src = (const uint8_t *)j->a->src + first * (is_nchw(c) ? 1 : j->a->at->srcPixel) * element;
    if (b->inputs == sn_inputs(c)) {
        pixel.src = src, pixel.dst = to;
        sn_dot_of(c)->pixels(&pixel);
        return;
    }
    /* First without spacing, at the end of the room for the pixels, from where groups move forward. */
    const size_t dense = p->srcC * b->number;
    pixel.src = src, pixel.dst = to + pixels * (b->band.pixel - dense), pixel.dstPixel = dense;
    sn_dot_of(c)->pixels(&pixel);
    const bool one = b->band.pixel == p->group * b->inputs * b->number; /* without gaps between pixels they are one */
    const size_t groups = p->group * (one ? pixels : 1);
    for (size_t i = 0; i < (one ? 1 : pixels); ++i)
        if (b->number == sizeof(sn_16b))
            space(pixel.dst + i * dense, groups, sn_inputs(c), sizeof(sn_16b), to + i * b->band.pixel);
        else
            space(pixel.dst + i * dense, groups, sn_inputs(c), sizeof(sn_32f), to + i * b->band.pixel);
}

/*
 * Columns of a line of NCHW below which the kernels that convert planes to pixels do not fill their squares: then all lines
 * are converted at once, and moved. Bytes of 32x19x19 by 3x3 with stride 2 to 16 channels take 0.73 of the time, of
 * 1408x13x8 by 1x1 0.37; lines of 56 and more 1.00 to 1.03.
 */
enum { NARROW_LINE = 48 };

static bool are_copied_together(const struct copy * j)
{
    const struct sn_convolution_parameters * p = &j->c->p;
    const struct sn_band * band = &j->b->band;
    const bool narrow = p->srcW < NARROW_LINE || band->columns == p->srcW; /* or lines that need not move */
    return is_nchw(j->c) && narrow && j->b->inputs == sn_inputs(j->c) && band->strideX == p->strideX &&
           band->strideY == p->strideY && band->columns >= p->padX + p->srcW;
}

static void move(const void * job, size_t first, size_t step, size_t pixels, uint8_t * to)
{
    (void)step; /* 1 */
    const struct copy * j = job;
    const size_t pixel = j->b->band.pixel;
    const uint8_t * from = j->pixels + (first - j->first) * pixel;
    if (to != from)
        memmove(to, from, pixels * pixel);
}

/* Converts the lines at once, to the end of the band, from where each moves forward to its place. */
static void copy_together(struct copy job, size_t row, size_t rows, size_t lines, uint8_t * to)
{
    const struct sn_convolution_parameters * p = &job.c->p;
    const struct sn_band * band = &job.b->band;
    const struct sn_lines inside = sn_lines_of(p, row, rows);
    const size_t pixels = (inside.end - inside.begin) * p->srcW;
    uint8_t * from = to + lines * band->line - pixels * band->pixel;
    job.pixels = from;
    job.first = inside.begin * p->srcW;
    copy(&job, job.first, 1, pixels, from);
    sn_band_copy(&(struct sn_band_copy){band, p, 1, &job, fill, move}, row, rows, to);
}

/* Whether a 1x1 kernel reads all pixels of an image and no others, and all pixels are converted one by one. */
static bool is_whole(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return !is_nchw(c) && p->strideY * p->strideX == 1 && p->padY + p->padX == 0 && p->dstH == p->srcH && p->dstW == p->srcW;
}

struct sn_dot_lines sn_dot_lines_of(const struct sn_convolution * c, const struct sn_dot_band * b, const struct sn_share * s,
                                    const struct sn_arrays * a)
{
    const size_t pixel = a->at->srcPixel * b->number, line = c->p.srcW * pixel;
    const bool aligned = (uintptr_t)a->src % SN_ALIGN == 0 && pixel % (SN_ALIGN / 2) == 0;
    if ((!b->band.copied || (b->unlessAligned && aligned)) && (b->anywhere || a->at->srcPixel == c->p.srcC))
        return (struct sn_dot_lines){(const uint8_t *)a->src + s->line * c->p.strideY * line, false, pixel, line};
    const struct copy job = {c, b, a, NULL, 0};
    if (b->unpadded) {
        copy(&job, 0, 1, c->p.srcH * c->p.srcW, a->work);
        return (struct sn_dot_lines){(uint8_t *)a->work + s->line * c->p.strideY * b->band.line, false, b->band.pixel,
                                     b->band.line};
    }
    const size_t lines = sn_used(s->lines, b->band.strideY, c->p.kernelY, c->p.dilationY);
    if (b->aligned && is_whole(c)) /* all pixels, as one line */
        copy(&job, s->line * c->p.srcW, 1, lines * c->p.srcW, a->work);
    else if (are_copied_together(&job))
        copy_together(job, s->line, s->lines, lines, a->work);
    else
        sn_band_copy(&(struct sn_band_copy){&b->band, &c->p, 1, &job, fill, copy}, s->line, s->lines, a->work);
    /* The last group may read beyond the last pixel; its weights there are 0, but no result is made of unset bytes. */
    memset((uint8_t *)a->work + lines * b->band.line, 0, SN_ALIGN);
    const size_t used = b->inputs * b->number; /* or into a gap */
    if (b->aligned && used % sizeof(int32_t))
        for (size_t i = used; i < lines * b->band.line; i += b->band.pixel)
            memset((uint8_t *)a->work + i, 0, sizeof(int32_t) - used % sizeof(int32_t));
    return (struct sn_dot_lines){a->work, true, b->band.pixel, b->band.line};
}

struct edges {
    struct copy copy;
    const struct sn_dot_parts * parts;
};

static void run_part(const void * job, const struct sn_edges_part * part)
{
    const struct edges * j = job;
    const struct sn_band * band = &j->copy.b->band;
    const struct sn_convolution_parameters * p = &j->copy.c->p;
    struct sn_dot_lines lines = {(const uint8_t *)j->copy.a->src + part->at * band->pixel, false, band->pixel, band->line};
    if (!part->inside || j->copy.a->at->srcPixel != p->srcC) {
        lines.first = (const uint8_t *)j->copy.a->work;
        lines.copied = true;
        sn_edges_copy(&(struct sn_band_copy){band, p, 1, &j->copy, fill, copy}, part, (uint8_t *)j->copy.a->work);
    }
    j->parts->compute(j->parts, part, &lines);
}

void sn_dot_parts(const struct sn_convolution * c, const struct sn_dot_band * b, const struct sn_share * s,
                  const struct sn_arrays * a, const struct sn_dot_parts * parts)
{
    const struct edges job = {{c, b, a, NULL, 0}, parts};
    sn_edges_divide(&c->p, s->line, s->lines, &(struct sn_edges_run){&job, run_part});
}

/* For algorithms whose struct begins with the band. */
static void narrow(struct sn_convolution * part)
{
    struct sn_dot_band * b = (void *)part->algorithmData;
    if (!b->edges)
        sn_band_narrow(&b->band, &part->p);
}

void sn_dot_run(const struct sn_convolution * c, const struct sn_dot_band * b, const struct sn_arrays * a, size_t panel,
                void (*compute)(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a))
{
    const struct sn_convolution_parameters * p = &c->p;
    /* A depthwise kernel reads a line once for all rows of a range: 240x12x80 by 5x5 takes 0.60 of the time on two threads,
     * 0.85 in ranges of single rows (Zen 5). */
    const size_t rows = panel ? 1 : sn_min(p->kernelY, c->batch * p->dstH / sn_threads());
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_dot_time(c), .columns = (panel || p->dilationX == 1) && !is_nchw(c), .narrow = narrow,
        .shares = {.lines = p->dstH, .most = b->band.rows, .columns = p->dstC, .width = p->group == 1 ? panel : 0,
        .weights = c->weightSize, .source = c->srcSize, .start = b->band.copied && !b->unlessAligned && !b->edges,
        .least = sn_max(sn_ceil_div(32, p->dstW), rows)}});
}

uint8_t * sn_dot_result_at(const struct sn_convolution * c, size_t first, size_t channels, size_t row, uint8_t * work,
                           const struct sn_arrays * a, size_t * step)
{
    const size_t element = sn_element(c->p.dstT);
    *step = (is_nchw(c) ? channels : a->at->dstPixel) * element;
    return is_nchw(c) ? work : (uint8_t *)a->dst + (row * c->p.dstW * a->at->dstPixel + first) * element;
}

void sn_dot_result_store(const struct sn_convolution * c, uint8_t * work, size_t first, size_t channels, size_t row,
                         size_t rows, const struct sn_arrays * a)
{
    const size_t plane = c->p.dstH * c->p.dstW, begin = row * c->p.dstW, pixels = rows * c->p.dstW;
    const size_t element = sn_element(c->p.dstT);
    if (!is_nchw(c))
        return;
    const bool finishes = sn_dot_of(c)->finish;
    if (finishes && !a->add)
        sn_dot_of(c)->finish(c, &(struct sn_dot_results){work, channels * element, channels, pixels, .first = first});
    uint8_t * dst = (uint8_t *)a->dst + first * plane * element;
    if (element < sizeof(float))
        sn_dot_of(c)->planes(work, channels * element, channels, pixels, dst + begin * element, plane);
    else
        c->table->layout.image_32f(channels, plane, (const sn_32f *)(const void *)work, SN_NHWC,
                                   (sn_32f *)(void *)dst + begin, SN_NCHW, 0, pixels);
    if (finishes && a->add) /* in planes, as the bytes that are added */
        sn_dot_of(c)->finish(c, &(struct sn_dot_results){dst + begin, plane, pixels, channels, first,
            (const uint8_t *)a->add + first * plane + begin, plane, a->at->after});
}

void sn_dot_result_finish(const struct sn_convolution * c, size_t first, size_t channels, size_t row, size_t rows,
                          const struct sn_arrays * a)
{
    if (!sn_dot_of(c)->finish || is_nchw(c))
        return;
    size_t step;
    uint8_t * results = sn_dot_result_at(c, first, channels, row, NULL, a, &step);
    const uint8_t * add = a->add ? (const uint8_t *)a->add + row * c->p.dstW * a->at->addPixel + first : NULL;
    sn_dot_of(c)->finish(c, &(struct sn_dot_results){results, step, channels, rows * c->p.dstW, first, add, a->at->addPixel,
        a->at->after});
}
