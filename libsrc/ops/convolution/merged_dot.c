/*
 * Merged convolution by products of small numbers, bfloat16 or bytes: a few output rows at a time pass through all stages, as in
 * merged_32f.c.
 *
 * A step has lines of the expansion, floats, beside each other: those that it shares with the step before are moved to the
 * front, and the others computed behind them. The depthwise stage reads them and writes rows of bfloat16 numbers, or of floats
 * where the others multiply bytes; the projection rounds these and multiplies. Where the source is added, the projection writes
 * sums without activation, to which a pass adds.
 *
 * A depthwise stage has floats on both sides: bytes before it, or behind it, are converted in place of an expansion or a
 * projection, by a stage that has no weights.
 *
 * Neither results nor the order of any sum depend on the number of rows of a step.
 */
#include "ops/convolution/merged.h"

#include <string.h>

#include "ops/convolution/16b.h"
#include "ops/convolution/8i.h"
#include "ops/convolution/conversion_8i.h"
#include "ops/convolution/cost.h"
#include "ops/widened.h"
#include "runtime/threads.h"

static bool is_base(const struct sn_merged * m) { return !m->table->convolution_16b.tile.run; }

/* Bytes of an output row of a stage, of a dense image. */
static size_t row_bytes(const struct sn_convolution * c) { return c->p.dstW * c->p.dstC * sn_element(c->p.dstT); }

/* ---- the plan */

static size_t lines_of(const struct sn_merged * m, size_t rows)
{
    const struct sn_convolution_parameters * p = &m->stage[SN_DEPTHWISE].p;
    return sn_min(sn_used(rows, p->strideY, p->kernelY, 1), p->srcH);
}

/* Bytes that a step of `rows` rows reads and writes. */
static size_t step_size(const struct sn_merged * m, size_t rows)
{
    const size_t expanded = m->first == SN_EXPANSION ? lines_of(m, rows) * row_bytes(&m->stage[SN_EXPANSION]) : 0;
    return expanded + (m->last == SN_PROJECTION ? rows * row_bytes(&m->stage[SN_DEPTHWISE]) : 0);
}

static bool plan_work(struct sn_merged * m)
{
    const struct sn_convolution * last = &m->stage[m->last];
    const size_t pixels = last->p.dstW * last->p.dstC, all = m->rows;
    const bool widens = m->add && m->stage[m->first].p.srcT == SN_DATA_16B;
    size_t lines, middle, sums, added, rest = 0;
    m->step.lines = lines_of(m, m->rows);
    if (!sn_product(&lines, m->first == SN_EXPANSION, m->step.lines, row_bytes(&m->stage[SN_EXPANSION])) ||
        !sn_product(&middle, m->last == SN_PROJECTION, all, row_bytes(&m->stage[SN_DEPTHWISE])) ||
        !sn_product(&sums, m->add, all, pixels, sizeof(float)) || !sn_product(&added, widens, all, pixels, sizeof(float)))
        return false;
    for (int i = m->first; i <= (int)m->last; ++i)
        rest = sn_max(rest, m->stage[i].workSize);
    m->step.middle = sn_align(lines, SN_ALIGN);
    m->step.sums = m->step.middle + sn_align(middle, SN_ALIGN);
    m->step.added = m->step.sums + sn_align(sums, SN_ALIGN);
    m->step.rest = m->step.added + sn_align(added, SN_ALIGN);
    return sn_product(&m->workSize, 1, m->step.rest + rest);
}

/* ---- the stages */

/* bfloat16: numbers are rounded before the projection only. */
static void set_types_16b(struct sn_merged * m)
{
    struct sn_convolution_parameters * depthwise = &m->stage[SN_DEPTHWISE].p;
    if (m->first == SN_EXPANSION)
        m->stage[SN_EXPANSION].p.dstT = depthwise->srcT = SN_DATA_32F;
    if (m->last == SN_PROJECTION)
        depthwise->dstT = m->stage[SN_PROJECTION].p.srcT = SN_DATA_16B;
}

/* Bytes: floats on both sides of the depthwise stage. */
static void set_types_8i(struct sn_merged * m)
{
    struct sn_convolution_parameters * depthwise = &m->stage[SN_DEPTHWISE].p;
    if (m->first == SN_DEPTHWISE && depthwise->srcT == SN_DATA_8U) {
        m->first = SN_EXPANSION;
        m->stage[SN_EXPANSION].p = sn_conversion_of(depthwise, true);
    }
    if (m->last == SN_DEPTHWISE && depthwise->dstT == SN_DATA_8U) {
        m->last = SN_PROJECTION;
        m->stage[SN_PROJECTION].p = sn_conversion_of(depthwise, false);
    }
    m->stage[SN_EXPANSION].p.dstT = depthwise->srcT = SN_DATA_32F;
    m->stage[SN_PROJECTION].p.srcT = depthwise->dstT = SN_DATA_32F;
}

/* The depthwise stage is exact, also of one channel: see struct sn_dot_family. */
static void prepare_stage(struct sn_merged * m, int i)
{
    const bool base = is_base(m), bytes = m->kind == &sn_merged_8i;
    if (i == SN_DEPTHWISE) {
        sn_merged_prepare(m, i, &sn_convolution_16b, base ? &sn_convolution_16b_base : &sn_convolution_16b_depthwise);
        ((struct sn_dot_family *)(void *)m->stage[i].familyData)->exact = true;
    } else if (bytes && sn_is_conversion(&m->stage[i].p)) {
        sn_merged_prepare(m, i, &sn_conversion_8i, &sn_conversion_rows);
    } else if (bytes) {
        sn_merged_prepare(m, i, &sn_convolution_8i, base ? &sn_convolution_8i_base : &sn_convolution_dot_tiled);
    } else {
        sn_merged_prepare(m, i, &sn_convolution_16b, base ? &sn_convolution_16b_base : &sn_convolution_dot_tiled);
    }
}

/* With a source as floats behind the images of `base`. */
static bool plan_base(struct sn_merged * m)
{
    const struct sn_convolution_parameters * p = &m->stage[m->first].p;
    size_t added;
    return sn_merged_plan_images(m) &&
           sn_product(&added, m->add && p->srcT == SN_DATA_16B, p->srcH, p->srcW, p->srcC, sizeof(float)) &&
           sn_product(&m->workSize, 1, m->workSize + added);
}

static bool plan(struct sn_merged * m)
{
    sn_merged_simplify(m);
    if (m->kind == &sn_merged_8i)
        set_types_8i(m);
    else
        set_types_16b(m);
    for (int i = m->first; i <= (int)m->last; ++i) {
        prepare_stage(m, i);
        if (!sn_merged_plan_stage(m, i))
            return false;
    }
    if (m->stage[m->last].dstSize == 0 || is_base(m))
        return plan_base(m);
    m->rows = sn_merged_rows(m, m->stage[SN_DEPTHWISE].p.dstH, step_size);
    return plan_work(m);
}

/* ---- `base`: whole images, stage by stage */

static void forward_base(const struct sn_merged * m, const struct sn_arrays * all)
{
    const struct sn_convolution_parameters * p = &m->stage[m->first].p;
    for (size_t b = 0; b < m->batch; ++b) {
        struct sn_arrays a = sn_image_of(all, b, all->work);
        struct sn_distances at = *all->at;
        if (m->add && p->srcT == SN_DATA_16B) {
            sn_32f * floats = (sn_32f *)(void *)((uint8_t *)a.work + m->images.rest);
            sn_widen_rows(m->table, a.src, p->srcH * p->srcW, p->srcC, at.srcPixel, floats);
            a.add = floats, at.addPixel = p->srcC;
        } else if (m->add) {
            a.add = a.src, at.addPixel = at.srcPixel;
        }
        a.at = &at;
        sn_merged_images(m, &a);
    }
}

/* ---- the steps */

struct job {
    const struct sn_merged * m;
    const struct sn_arrays * all;
    const struct sn_convolution * projection; /* without an activation if the source is added */
};

/* The arrays of a stage: an image of which only some rows exist, `row` and those behind it at `at`. */
static void * image_at(uint8_t * at, const struct sn_convolution * c, size_t row)
{
    return (void *)((uintptr_t)at - row * row_bytes(c));
}

/* Some rows of an expansion, a projection or a conversion. */
static void compute_rows(const struct sn_convolution * c, size_t row, size_t rows, const struct sn_arrays * a)
{
    if (c->algorithm == &sn_conversion_rows)
        sn_convert_rows(c, row, rows, a);
    else
        sn_dot_tiled_rows(c, row, rows, a);
}

/* Expands the lines that these rows of the depthwise stage need; the workspace has `have`, and then those. */
static struct sn_lines expand(const struct sn_merged * m, const struct sn_arrays * a, size_t row, size_t rows,
                              struct sn_lines have)
{
    const struct sn_convolution * c = &m->stage[SN_EXPANSION];
    const struct sn_lines need = sn_lines_of(&m->stage[SN_DEPTHWISE].p, row, rows);
    uint8_t * work = a->work;
    const size_t line = row_bytes(c), begin = sn_max(need.begin, have.begin), end = sn_min(need.end, have.end);
    size_t next = need.begin;
    if (begin < end && begin == need.begin) {
        memmove(work, work + (begin - have.begin) * line, (end - begin) * line);
        next = end;
    }
    const struct sn_distances at = {.srcPixel = a->at->srcPixel, .dstPixel = c->p.dstC};
    const struct sn_arrays lines = {a->src, work + m->step.rest, NULL, image_at(work, c, need.begin), &at};
    if (next < need.end)
        compute_rows(c, next, need.end - next, &lines);
    return need;
}

/* Computes rows of the depthwise stage. */
static void depthwise(const struct sn_merged * m, const struct sn_arrays * a, size_t row, size_t rows,
                      struct sn_lines have, void * dst, size_t dstPixel)
{
    const bool first = m->first == SN_DEPTHWISE;
    uint8_t * work = a->work;
    const struct sn_distances at = {.srcPixel = first ? a->at->srcPixel : m->stage[SN_DEPTHWISE].p.srcC, .dstPixel = dstPixel};
    const void * src = first ? a->src : image_at(work, &m->stage[SN_EXPANSION], have.begin);
    sn_16b_depthwise_rows(&m->stage[SN_DEPTHWISE], row, rows, &(struct sn_arrays){src, work + m->step.rest, NULL, dst, &at});
}

/* Adds the source to the sums of some rows, activates them, and writes the results. */
static void add_source(const struct sn_merged * m, const struct sn_arrays * a, size_t row, size_t rows)
{
    const struct sn_convolution * c = &m->stage[SN_PROJECTION];
    const size_t channels = c->p.dstC, pixels = rows * c->p.dstW, first = row * c->p.dstW;
    sn_32f * sums = (sn_32f *)(void *)((uint8_t *)a->work + m->step.sums);
    sn_32f * added = (sn_32f *)(void *)((uint8_t *)a->work + m->step.added);
    struct sn_join_32f join = {.dst = sums, .rows = pixels, .columns = channels, .dstStep = channels, .period = SIZE_MAX,
        .slopes = 1, .slope = c->slope, .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}};
    if (m->stage[m->first].p.srcT == SN_DATA_16B) {
        sn_widen_rows(m->table, (const sn_16b *)a->src + first * a->at->srcPixel, pixels, channels, a->at->srcPixel, added);
        join.add = added, join.addStep = channels;
    } else {
        join.add = (const sn_32f *)a->src + first * a->at->srcPixel, join.addStep = a->at->srcPixel;
    }
    m->table->convolution_32f.join(&join);
    const size_t step = a->at->dstPixel;
    if (c->p.dstT == SN_DATA_16B)
        sn_narrow_rows(m->table, sums, pixels, channels, step, (sn_16b *)a->dst + first * step);
    else if (step == channels)
        memcpy((sn_32f *)a->dst + first * step, sums, pixels * channels * sizeof(float));
    else
        for (size_t i = 0; i < pixels; ++i)
            memcpy((sn_32f *)a->dst + (first + i) * step, sums + i * channels, channels * sizeof(float));
}

static void project(const struct job * job, const struct sn_arrays * a, size_t row, size_t rows, struct sn_lines have)
{
    const struct sn_merged * m = job->m;
    const struct sn_convolution * before = &m->stage[SN_DEPTHWISE], * c = job->projection;
    uint8_t * work = a->work;
    void * middle = image_at(work + m->step.middle, before, row);
    depthwise(m, a, row, rows, have, middle, before->p.dstC);
    const struct sn_distances at = {.srcPixel = c->p.srcC, .dstPixel = m->add ? c->p.dstC : a->at->dstPixel};
    void * dst = m->add ? image_at(work + m->step.sums, c, row) : a->dst;
    compute_rows(c, row, rows, &(struct sn_arrays){middle, work + m->step.rest, NULL, dst, &at});
    if (m->add)
        add_source(m, a, row, rows);
}

/* Units of work are rows of all images. A range begins without lines, so two threads may expand the same ones. */
static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_merged * m = job->m;
    const size_t height = m->stage[m->last].p.dstH;
    const struct sn_shares all = {.lines = height, .most = m->rows, .panels = 1, .imageUnits = height};
    struct sn_lines have = {0, 0};
    struct sn_share s;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&all, begin, end);
        const struct sn_arrays a = sn_image_of(job->all, s.image, work);
        if (s.line == 0)
            have = (struct sn_lines){0, 0};
        if (m->first == SN_EXPANSION)
            have = expand(m, &a, s.line, s.lines, have);
        if (m->last == SN_PROJECTION)
            project(job, &a, s.line, s.lines, have);
        else
            depthwise(m, &a, s.line, s.lines, have, a.dst, a.at->dstPixel);
    }
}

static void forward(const struct sn_merged * m, const struct sn_arrays * a)
{
    if (is_base(m)) {
        forward_base(m, a);
        return;
    }
    struct sn_convolution linear; /* its results are sums */
    struct job job = {m, a, &m->stage[SN_PROJECTION]};
    if (m->add) {
        linear = *job.projection;
        linear.p.activation = SN_ACTIVATION_IDENTITY;
        linear.p.dstT = SN_DATA_32F;
        linear.slope = NULL;
        job.projection = &linear;
    }
    const size_t rows = m->batch * m->stage[m->last].p.dstH;
    double time = 0;
    for (int i = m->first; i <= (int)m->last; ++i)
        time += (double)m->batch * sn_convolution_dot_time(&m->stage[i]);
    const size_t least = sn_max(4 * (m->stage[SN_DEPTHWISE].p.kernelY + 1), m->rows); /* ranges expand lines again */
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = rows, .cost = time,
        .least = sn_min(least, sn_max(rows / sn_threads(), 1)), .work = a->work, .workBytes = m->workSize});
}

/* Of floats: a call may add an array, which a pass over the results of all images does. */
static void forward_floats(const struct sn_merged * m, const struct sn_arrays * a)
{
    if (a->add)
        sn_merged_forward_added(m, false, forward, a);
    else
        forward(m, a);
}

const struct sn_merged_kind sn_merged_32f_rounded = {.smallType = SN_DATA_16B, .unit = sizeof(float), .adds = true, .plan = plan,
    .forward = forward_floats};
const struct sn_merged_kind sn_merged_16b = {.smallType = SN_DATA_16B, .unit = 1, .plan = plan, .forward = forward};
const struct sn_merged_kind sn_merged_8i = {.smallType = SN_DATA_8U, .unit = 1, .plan = plan, .forward = forward};
