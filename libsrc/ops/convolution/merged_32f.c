/*
 * Merged convolution: a few output rows at a time pass through all stages, so that intermediate data stay in the caches.
 *
 * A step expands the lines that its rows need and that no earlier step has computed, into a ring buffer of lines with zeros
 * as padding; runs the depthwise kernel on the ring; and multiplies its result, while it is in the cache, with the weights
 * of the projection. So each line is expanded once, and there is no intermediate image. Without an expansion the depthwise
 * kernel reads the image itself; without a projection it writes the result.
 *
 * Neither results nor the order of any sum depend on the number of rows of a step.
 */
#include "ops/convolution/merged.h"

#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution/32f_nhwc.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/depthwise_rows.h"
#include "runtime/cpu.h"
#include "runtime/threads.h"

/* ---- `base`: whole images, stage by stage */

static bool is_base(const struct sn_merged * m) { return !m->table->gemm.tile_32f.run; }

static void forward_base(const struct sn_merged * m, const struct sn_arrays * a)
{
    for (size_t b = 0; b < m->batch; ++b) {
        const struct sn_arrays image = sn_image_of(a, b, a->work);
        sn_merged_images(m, &image);
    }
}

/* ---- the plan */

/* The lines that the rows of a step need with the largest kernel and stride. */
enum { MOST_LINES = 3 * (SN_MOST_ROWS - 1) + 7 };

static size_t lines_of(const struct sn_merged * m, size_t rows)
{
    const struct sn_convolution_parameters * p = &m->stage[SN_DEPTHWISE].p;
    return sn_used(rows, p->strideY, p->kernelY, 1);
}

/* Bytes that a step of `rows` rows reads and writes. */
static size_t step_size(const struct sn_merged * m, size_t rows)
{
    const size_t ring = m->first == SN_EXPANSION ? lines_of(m, rows) * m->ring.line : 0;
    const size_t buffer = m->last == SN_PROJECTION ? rows * m->stage[SN_PROJECTION].p.dstW * m->ring.bufferPixel : 0;
    return (ring + buffer) * sizeof(float);
}

static bool is_flat(const struct sn_merged * m)
{
    return m->stage[SN_DEPTHWISE].algorithm == &sn_convolution_32f_depthwise_flat;
}

/* The workspace: the ring, the result of the depthwise stage, the band of the expansion, what few channels need. */
static bool plan_work(struct sn_merged * m)
{
    const size_t unit = SN_ALIGN / sizeof(float);
    size_t ring = 0, buffer = 0, band = 0;
    if (m->first == SN_EXPANSION) {
        m->ring.lines = lines_of(m, m->rows);
        if (!sn_product(&ring, m->ring.lines, m->ring.line) || !sn_direct_nhwc_limit(&m->stage[SN_EXPANSION], m->ring.lines, &band))
            return false;
    }
    if (m->last == SN_PROJECTION && !sn_product(&buffer, m->rows, m->stage[SN_PROJECTION].p.dstW, m->ring.bufferPixel))
        return false;
    m->ring.buffer = sn_align(ring, unit);
    m->ring.band = sn_align(m->ring.buffer + buffer, unit);
    m->ring.flat = sn_align(m->ring.band + band, unit);
    return sn_floats(&m->workSize, m->ring.flat + (is_flat(m) ? m->stage[SN_DEPTHWISE].workSize / sizeof(float) : 0));
}

/*
 * Whether pixels of few channels are joined in a copy of lines (32f_depthwise_flat.c). With vectors of 8 floats 399x13 pixels of
 * 4 channels by 7x7 take 0.52 of the time, 396x320 of one by 5x5 0.35, 56x56 of 5 by 7x7 0.65. With vectors of 16 the same by 7x7
 * 0.78 and 0.86, but 24x24 of 8 channels 1.04, and 7x7 of 1 to 8 channels 1.03 to 1.17 times as long.
 */
static bool gains_flat(const struct sn_convolution * c)
{
    enum { FEW_PIXELS = 64 };
    const bool wide = sn_lanes(c) == 16;
    return sn_depthwise_is_flat(c) && !(wide && (3 * c->p.srcC > 16 || c->p.dstH * c->p.dstW <= FEW_PIXELS));
}

/* The rows of a step whose lines are copied: so many share more of them than 4. 399x13 pixels of 4 channels by 7x7 take 0.8 of the
 * time (avx512 0.74), 96x96 of 2 0.95 (0.9), 128x9 of 2 by 5x5 0.76 (0.7; Xeon with AMX). */
enum { FLAT_ROWS = 16 };

static bool plan(struct sn_merged * m)
{
    static const struct sn_convolution_algorithm * const algorithms[] = {
        &sn_convolution_32f_nhwc, &sn_convolution_32f_depthwise_nhwc, &sn_convolution_32f_nhwc};
    sn_merged_simplify(m);
    for (int i = m->first; i <= (int)m->last; ++i) {
        sn_merged_prepare(m, i, &sn_convolution_32f, is_base(m) ? &sn_convolution_32f_base : algorithms[i]);
        if (i == SN_DEPTHWISE && i == (int)m->first && !is_base(m) && gains_flat(&m->stage[i]))
            m->stage[i].algorithm = &sn_convolution_32f_depthwise_flat;
        if (!sn_merged_plan_stage(m, i))
            return false;
    }
    if (is_base(m))
        return sn_merged_plan_images(m);
    for (int i = m->first; i <= (int)m->last; ++i)
        m->stage[i].batch = m->batch; /* for times, and passes that add */
    const struct sn_convolution_parameters * p = &m->stage[SN_DEPTHWISE].p;
    m->ring.pixel = m->first == SN_EXPANSION ? sn_spaced(p->srcC, SN_TWO_SETS) : p->srcC;
    m->ring.bufferPixel = sn_spaced(p->dstC, SN_TWO_SETS);
    const size_t columns = sn_max(sn_used(p->dstW, p->strideX, p->kernelX, 1), p->padX + p->srcW);
    if (!sn_product(&m->ring.line, m->first == SN_EXPANSION ? columns : p->srcW, m->ring.pixel))
        return false;
    m->rows = sn_merged_rows(m, m->stage[m->last].p.dstH, step_size);
    if (is_flat(m) && step_size(m, FLAT_ROWS) <= sn_cpu()->cacheL1)
        m->rows = sn_min(FLAT_ROWS, m->stage[m->last].p.dstH);
    return plan_work(m);
}

/* ---- the steps */

struct job {
    const struct sn_merged * m;
    const struct sn_arrays * all;
    struct sn_shares shares;
};

/* Channels of the result, all or those of some panels. Without a projection the stages before compute only these. */
struct channels {
    size_t first, number;
};

/* Expands lines `line` .. end - 1 of the image to their places in the ring, as many at a time as are contiguous there. */
static void expand(const struct sn_merged * m, const struct sn_arrays * a, size_t line, size_t end, struct channels of)
{
    const struct sn_convolution * c = &m->stage[SN_EXPANSION];
    const struct sn_direct_nhwc * direct = sn_direct_nhwc_of(c);
    const size_t left = m->stage[SN_DEPTHWISE].p.padX * m->ring.pixel;
    sn_32f * work = a->work;
    while (line < end) {
        const size_t place = line % m->ring.lines, rows = sn_min(sn_min(end - line, m->ring.lines - place), direct->nhwc.band.rows);
        sn_direct_nhwc_rows(c, direct, (struct sn_nhwc_image){a->src, a->at->srcPixel}, line, work + m->ring.band,
            (struct sn_nhwc_rows){.rows = rows, .dst = work + place * m->ring.line + left + of.first,
            .dstLine = m->ring.line, .dstPixel = m->ring.pixel, .first = of.first, .outputs = of.number});
        line += rows;
    }
}

/*
 * Whether the depthwise stage reads an image that is not in the caches, pixel by pixel, and fetches it ahead, in place of the
 * projection before: with a stride, 288x160x160 by 3x3 to 64 takes 0.66 of the time (AVX-512 0.86), 128x320x320 by 5x5 to 73
 * 0.8. Without, 1.05 to 1.15: the projection takes long enough to fetch all of the next lines.
 */
static bool is_in_order(const struct sn_merged * m)
{
    const struct sn_convolution * c = &m->stage[SN_DEPTHWISE];
    return m->first == SN_DEPTHWISE && c->p.strideX > 1 && sn_depthwise_cold(c) && sn_depthwise_in_order(c);
}

/* Computes rows row .. row + rows - 1 of the depthwise stage, from the ring or, without an expansion, from the image. */
static void depthwise(const struct sn_merged * m, const struct sn_arrays * a, size_t row, size_t rows, struct channels of,
                      sn_32f * dst, size_t dstRow, size_t dstPixel)
{
    const struct sn_convolution * c = &m->stage[SN_DEPTHWISE];
    const struct sn_convolution_parameters * p = &c->p;
    const bool ring = m->first == SN_EXPANSION;
    const size_t pixel = ring ? m->ring.pixel : a->at->srcPixel;
    if (is_flat(m)) {
        sn_depthwise_flat_rows(c, (struct sn_nhwc_image){a->src, pixel}, row, rows, (sn_32f *)a->work + m->ring.flat, dst, dstRow,
                               dstPixel);
        return;
    }
    const sn_32f * src = a->src, * work = a->work;
    const void * line[MOST_LINES];
    const size_t lines = lines_of(m, rows);
    for (size_t i = 0; i < lines; ++i) {
        const size_t y = row * p->strideY + i - p->padY; /* wraps for a line above the image */
        line[i] = y >= p->srcH ? NULL : ring ? work + y % m->ring.lines * m->ring.line : src + y * p->srcW * pixel;
    }
    const sn_32f * weight = c->weight;
    const struct sn_depthwise_nhwc d = {.line = line, .lineStep = p->strideY, .offset = of.first,
        .srcW = ring ? m->ring.line / m->ring.pixel : p->srcW, .srcPixel = pixel, .kernelY = p->kernelY, .kernelX = p->kernelX,
        .strideX = p->strideX, .dilationX = 1, .padX = ring ? 0 : p->padX, .channels = of.number,
        .weight = weight + of.first * p->kernelY * p->kernelX, .bias = c->bias + of.first,
        .slope = c->slope ? c->slope + of.first : NULL, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}, .dst = dst + of.first, .rows = rows, .dstW = p->dstW, .dstRow = dstRow,
        .dstPixel = dstPixel, .inOrder = is_in_order(m), .reused = m->last == SN_PROJECTION};
    const struct sn_depthwise_rows * r = (const void *)c->algorithmData;
    sn_depthwise_together(m->table->convolution_32f.depthwise_nhwc, &d, r->together);
}

/* Expands, if there is an expansion, the lines that these rows of the depthwise stage need, except the first `ready` lines
 * of the image. Returns the new number of lines that are ready. */
static size_t prepare(const struct sn_merged * m, const struct sn_arrays * a, size_t row, size_t rows, struct channels of,
                      size_t ready)
{
    const struct sn_convolution_parameters * p = &m->stage[SN_DEPTHWISE].p;
    if (m->first != SN_EXPANSION)
        return ready;
    const size_t at = row * p->strideY, reach = at + lines_of(m, rows); /* of padded lines */
    const size_t begin = at > p->padY ? sn_min(at - p->padY, p->srcH) : 0;
    const size_t end = reach > p->padY ? sn_min(reach - p->padY, p->srcH) : 0;
    expand(m, a, sn_max(begin, ready), end, of);
    return sn_max(ready, end);
}

/* The offset and size of the lines, of `line` floats, that the depthwise stage will read for the first time when it
 * continues at `row`. */
static size_t next_lines(const struct sn_merged * m, size_t line, size_t row, size_t rows, size_t * size)
{
    const struct sn_convolution_parameters * p = &m->stage[SN_DEPTHWISE].p;
    const size_t at = row * p->strideY + (p->kernelY - sn_min(p->kernelY, p->strideY)); /* of padded lines */
    const size_t begin = at > p->padY ? sn_min(at - p->padY, p->srcH) : 0;
    *size = sn_min(rows * p->strideY, p->srcH - begin) * line;
    return begin * line;
}

/*
 * Large results are written in order where that is faster (a trait of the processor), and then inputs are not prefetched:
 * 80x96x96 by 7x7 to 1120, 39 MB, takes 0.61 of the time (Xeon with AMX). With 3 MB, in MobileNet, 1.03.
 */
static bool is_written_in_order(const struct sn_convolution * c)
{
    return sn_cpu()->traits.ordered && c->dstSize > 4 * sn_cpu()->cacheL2;
}

/* Computes rows row .. row + rows - 1 of the projection, from the buffer, which includes the padding of the projection. */
static size_t project(const struct sn_merged * m, const struct sn_arrays * a, size_t row, size_t rows, struct channels of,
                      size_t ready)
{
    const struct channels all = {0, m->stage[SN_DEPTHWISE].p.dstC};
    const struct sn_convolution * c = &m->stage[SN_PROJECTION];
    const struct sn_convolution_parameters * p = &c->p;
    const size_t begin = row > p->padY ? sn_min(row - p->padY, p->srcH) : 0;
    const size_t end = row + rows > p->padY ? sn_min(row + rows - p->padY, p->srcH) : 0;
    const size_t line = p->dstW * m->ring.bufferPixel;
    const sn_32f * src = a->src, * add = a->add;
    sn_32f * buffer = (sn_32f *)a->work + m->ring.buffer, * dst = a->dst;
    if (end - begin < rows || p->srcW < p->dstW) /* some pixels are padding */
        memset(buffer, 0, rows * line * sizeof(float));
    if (begin < end) {
        ready = prepare(m, a, begin, end - begin, all, ready);
        depthwise(m, a, begin, end - begin, all, buffer + (begin + p->padY - row) * line + p->padX * m->ring.bufferPixel, line,
                  m->ring.bufferPixel);
    }
    const size_t dstLine = p->dstW * a->at->dstPixel, to = row * dstLine + of.first;
    struct sn_nhwc_rows r = {.row = row, .rows = rows, .src = buffer, .srcLine = line, .srcPixel = m->ring.bufferPixel,
        .dst = dst + to, .dstLine = dstLine, .dstPixel = a->at->dstPixel, .add = add ? add + to : NULL,
        .first = of.first, .outputs = p->group == 1 ? of.number : 0};
    if (m->first == SN_DEPTHWISE && !is_in_order(m) && !is_written_in_order(c))
        r.prefetch = src + next_lines(m, p->srcW * a->at->srcPixel, end, rows, &r.prefetchSize);
    sn_direct_nhwc_compute(c, sn_direct_nhwc_of(c), &r);
    return ready;
}

/* The same without a projection. */
static size_t finish(const struct sn_merged * m, const struct sn_arrays * a, size_t row, size_t rows, struct channels of,
                     size_t ready)
{
    const struct sn_convolution_parameters * p = &m->stage[SN_DEPTHWISE].p;
    const size_t line = p->dstW * a->at->dstPixel;
    ready = prepare(m, a, row, rows, of, ready);
    depthwise(m, a, row, rows, of, (sn_32f *)a->dst + row * line, line, a->at->dstPixel);
    return ready;
}

/* Clears the padding on both sides of the lines of the ring; the expansion writes between it. */
static void clear_padding(const struct sn_merged * m, sn_32f * line)
{
    const struct sn_convolution_parameters * p = &m->stage[SN_DEPTHWISE].p;
    const size_t left = p->padX * m->ring.pixel, right = left + p->srcW * m->ring.pixel;
    for (size_t i = 0; i < m->ring.lines; ++i, line += m->ring.line) {
        memset(line, 0, left * sizeof(float));
        memset(line + right, 0, (m->ring.line - right) * sizeof(float));
    }
}

/* Units of work are rows of all images, or panels of the result. A range begins with an empty ring, so two threads may expand
 * the same lines. */
static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_merged * m = job->m;
    struct sn_share s;
    clear_padding(m, work);
    for (size_t ready = 0; begin < end; begin += s.units) {
        s = sn_share_at(&job->shares, begin, end);
        ready = s.line == 0 ? 0 : ready;
        const struct sn_arrays a = sn_image_of(job->all, s.image, work);
        const struct channels of = {s.first, s.columns};
        for (size_t row = s.line, last = s.line + s.lines; row < last; row += m->rows)
            ready = (m->last == SN_PROJECTION ? project : finish)(m, &a, row, sn_min(m->rows, last - row), of, ready);
    }
}

/* ---- division among threads */

/* Approximate nanoseconds on one thread: of all stages, of those before a projection, of an expansion. */
struct times {
    double all, before, expansion;
};

static struct times times_of(const struct sn_merged * m)
{
    struct times t = {0, 0, 0};
    for (int i = m->first; i <= (int)m->last; ++i) {
        const double time = sn_convolution_32f_time(&m->stage[i]);
        t.all += time;
        t.before += m->last == SN_PROJECTION && i < (int)m->last ? time : 0;
        t.expansion += i == SN_EXPANSION ? time : 0;
    }
    return t;
}

/*
 * Whether threads that compute some panels of the result for all rows end earlier than those that compute some rows. They
 * repeat all stages before a projection, the others expand the lines where ranges meet. On two threads 384x3x80 to 384 and
 * depthwise 3x3 takes 0.51 of the time of one, by rows 1.0. (A ring that threads share, each expanding some channels of it, takes
 * longer: cores fetch its lines from each other.)
 */
static bool by_panels(const struct sn_merged * m, const struct times * t, size_t panels)
{
    const struct sn_convolution_parameters * p = &m->stage[SN_DEPTHWISE].p;
    const size_t threads = sn_threads(), height = m->stage[m->last].p.dstH, rows = m->batch * height;
    const size_t longest = sn_min(sn_ceil_div(rows, threads), height);
    const double lines = (double)sn_min(longest * p->strideY + p->kernelY - sn_min(p->strideY, p->kernelY), p->srcH);
    const double again = lines / (double)sn_max(p->srcH, 1) - (double)longest / (double)height;
    const double rows_time = sn_time_of_units(rows, threads) * t->all + (again > 0 ? again : 0) * t->expansion / (double)m->batch;
    const double panels_time = t->before + (t->all - t->before) * sn_time_of_units(m->batch * panels, threads);
    return panels_time < 0.9 * rows_time;
}

static struct sn_shares shares_of(const struct sn_merged * m, const struct times * t)
{
    const struct sn_convolution_parameters * p = &m->stage[m->last].p;
    const size_t width = m->table->gemm.tile_32f.columns, panels = sn_ceil_div(p->dstC, width);
    const bool grouped = m->stage[m->last == SN_PROJECTION ? SN_PROJECTION : SN_EXPANSION].p.group > 1;
    if (sn_threads() > 1 && panels > 1 && m->batch && p->dstH && !grouped && by_panels(m, t, panels))
        return (struct sn_shares){.lines = p->dstH, .most = p->dstH, .columns = p->dstC, .width = width, .panels = panels,
            .imageUnits = panels, .least = sn_max(m->batch * panels / sn_threads(), 1)}; /* each range repeats stages */
    /* Long ranges, since each expands some lines again. */
    const size_t least = sn_max(4 * (m->stage[SN_DEPTHWISE].p.kernelY + 1), m->rows), rows = m->batch * p->dstH;
    return (struct sn_shares){.lines = p->dstH, .most = m->rows, .columns = p->dstC, .panels = 1, .imageUnits = p->dstH,
        .least = sn_min(least, sn_max(rows / sn_threads(), 1))};
}

static void forward(const struct sn_merged * m, const struct sn_arrays * a)
{
    const struct times t = times_of(m);
    const struct job job = {m, a, shares_of(m, &t)};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = m->batch * job.shares.imageUnits, .cost = t.all,
        .least = job.shares.least, .work = a->work, .workBytes = m->workSize});
}

static void forward_all(const struct sn_merged * m, const struct sn_arrays * a)
{
    struct sn_arrays all = *a;
    struct sn_distances at;
    if (m->add) {
        at = *a->at;
        at.addPixel = at.srcPixel, at.addImage = at.srcImage;
        at.after = false;
        all.add = a->src;
        all.at = &at;
    }
    if (is_base(m))
        forward_base(m, &all);
    else if (all.add)
        sn_merged_forward_added(m, m->last == SN_PROJECTION, forward, &all);
    else
        forward(m, &all);
}

const struct sn_merged_kind sn_merged_32f = {.smallType = SN_DATA_32F, .unit = sizeof(float), .adds = true, .plan = plan,
    .forward = forward_all};
