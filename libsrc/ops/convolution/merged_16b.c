/*
 * Merged convolution of bfloat16 numbers: a few output rows at a time pass through all stages, as in merged_32f.c.
 *
 * A step has lines of the expansion, floats, beside each other: those that it shares with the step before are moved to the
 * front, and the others computed behind them. The depthwise stage reads them and writes rows of bfloat16 numbers, which the
 * projection multiplies. Where the source is added, the projection writes sums without activation, to which a pass adds.
 *
 * Neither results nor the order of any sum depend on the number of rows of a step.
 */
#include "ops/convolution/merged_16b.h"

#include <string.h>

#include "ops/convolution/16b.h"
#include "ops/convolution/cost.h"
#include "ops/widened.h"
#include "runtime/cpu.h"
#include "runtime/threads.h"

static bool is_base(const struct sn_merged_convolution_16b * m) { return !m->table->convolution_16b.tile.run; }

/* Bytes of an output row of a stage, of a dense image. */
static size_t row_bytes(const struct sn_convolution * c) { return c->p.dstW * c->p.dstC * sn_element(c->p.dstT); }

/* ---- the plan */

static size_t lines_of(const struct sn_merged_convolution_16b * m, size_t rows)
{
    const struct sn_convolution_parameters * p = &m->stage[SN_DEPTHWISE].p;
    return sn_min(sn_used(rows, p->strideY, p->kernelY, 1), p->srcH);
}

/* Bytes that a step of `rows` rows reads and writes. */
static size_t step_size(const struct sn_merged_convolution_16b * m, size_t rows)
{
    const size_t expanded = m->first == SN_EXPANSION ? lines_of(m, rows) * row_bytes(&m->stage[SN_EXPANSION]) : 0;
    return expanded + (m->last == SN_PROJECTION ? rows * row_bytes(&m->stage[SN_DEPTHWISE]) : 0);
}

/* Rows in steps of four, which the depthwise kernel computes together, if the data of a step fit into half of the L2 cache:
 * four with few weights, as many as fit with weights that each step reads from beyond that cache. */
static void plan_rows(struct sn_merged_convolution_16b * m)
{
    enum { FEW_ROWS = 4, MOST_ROWS = 32 };
    const size_t all = m->stage[SN_DEPTHWISE].p.dstH, budget = sn_cpu()->cacheL2 / 2;
    const size_t weights = m->stage[SN_EXPANSION].weightSize + m->stage[SN_PROJECTION].weightSize;
    const size_t most = weights > budget ? MOST_ROWS : FEW_ROWS;
    m->rows = sn_min(all, FEW_ROWS);
    while (m->rows > 1 && step_size(m, m->rows) > budget)
        --m->rows;
    while (m->rows < sn_min(all, most) && step_size(m, sn_min(all, m->rows + FEW_ROWS)) <= budget)
        m->rows = sn_min(all, m->rows + FEW_ROWS);
}

static bool plan_work(struct sn_merged_convolution_16b * m)
{
    const struct sn_convolution * last = &m->stage[m->last];
    const size_t pixels = last->p.dstW * last->p.dstC, all = m->rows;
    const bool widens = m->add && m->stage[m->first].p.srcT == SN_DATA_16B;
    size_t lines, middle, sums, added, rest = 0;
    m->lines = lines_of(m, m->rows);
    if (!sn_product(&lines, m->first == SN_EXPANSION, m->lines, row_bytes(&m->stage[SN_EXPANSION])) ||
        !sn_product(&middle, m->last == SN_PROJECTION, all, row_bytes(&m->stage[SN_DEPTHWISE])) ||
        !sn_product(&sums, m->add, all, pixels, sizeof(float)) || !sn_product(&added, widens, all, pixels, sizeof(float)))
        return false;
    for (int i = m->first; i <= (int)m->last; ++i)
        rest = sn_max(rest, m->stage[i].workSize);
    m->middle = sn_align(lines, SN_ALIGN);
    m->sums = m->middle + sn_align(middle, SN_ALIGN);
    m->added = m->sums + sn_align(sums, SN_ALIGN);
    m->rest = m->added + sn_align(added, SN_ALIGN);
    return sn_product(&m->workSize, 1, m->rest + rest);
}

/* The interior images of all stages, one after the other, and the source as floats. */
static bool plan_base(struct sn_merged_convolution_16b * m)
{
    m->workSize = m->add ? m->stage[m->last].dstSize / sn_element(m->stage[m->last].p.dstT) * sizeof(float) : 0;
    for (int i = m->first; i < (int)m->last; ++i)
        m->workSize += sn_align(m->stage[i].dstSize, SN_ALIGN);
    return true;
}

/* Numbers are rounded before the projection only. */
static void set_types(struct sn_merged_convolution_16b * m)
{
    struct sn_convolution_parameters * depthwise = &m->stage[SN_DEPTHWISE].p;
    if (m->first == SN_EXPANSION)
        m->stage[SN_EXPANSION].p.dstT = depthwise->srcT = SN_DATA_32F;
    if (m->last == SN_PROJECTION)
        depthwise->dstT = m->stage[SN_PROJECTION].p.srcT = SN_DATA_16B;
}

bool sn_merged_convolution_16b_plan(struct sn_merged_convolution_16b * m)
{
    set_types(m);
    for (int i = m->first; i <= (int)m->last; ++i) {
        struct sn_convolution * c = &m->stage[i];
        size_t all;
        c->format = c->p.srcF;
        c->batch = 1; /* so each stage is planned for an image alone */
        c->table = m->table;
        c->family = &sn_convolution_16b;
        c->algorithm = is_base(m) ? &sn_convolution_16b_base
                     : i == SN_DEPTHWISE ? &sn_convolution_16b_depthwise : &sn_convolution_dot_tiled;
        sn_convolution_16b_prepare(c);
        ((struct sn_dot_family *)(void *)c->familyData)->exact = i == SN_DEPTHWISE; /* also of one channel */
        if (sn_convolution_plan(c) != SN_ERROR_NONE || !sn_product(&all, m->batch, c->srcSize) ||
            !sn_product(&all, m->batch, c->dstSize))
            return false;
        c->batch = m->batch;
    }
    m->dense = m->stage[m->last].dense;
    m->dense.srcPixel = m->stage[m->first].dense.srcPixel;
    m->dense.srcImage = m->stage[m->first].dense.srcImage;
    if (m->stage[m->last].dstSize == 0 || is_base(m))
        return plan_base(m);
    plan_rows(m);
    return plan_work(m);
}

static size_t stages(const struct sn_merged_convolution_16b * m) { return (size_t)m->last - m->first + 1; }

struct sn_fault sn_merged_convolution_16b_set(struct sn_merged_convolution_16b * m, const struct sn_set_params * given)
{
    return sn_convolution_set(&m->stage[m->first], given, stages(m));
}

size_t sn_merged_convolution_16b_memory(const struct sn_merged_convolution_16b * m)
{
    size_t size = 0;
    for (size_t i = 0; i < stages(m); ++i)
        size += sn_convolution_memory(&m->stage[m->first + i]);
    return size;
}

void sn_merged_convolution_16b_free(struct sn_merged_convolution_16b * m)
{
    for (size_t i = 0; i < stages(m); ++i)
        sn_convolution_free(&m->stage[m->first + i]);
}

/* ---- `base`: whole images, stage by stage */

static void forward_base(const struct sn_merged_convolution_16b * m, const struct sn_arrays * a)
{
    for (size_t b = 0; b < m->batch; ++b) {
        const struct sn_plain whole = sn_plain_of(a, b);
        struct sn_plain image = {.src = whole.src, .srcPixel = whole.srcPixel};
        uint8_t * work = a->work;
        for (int i = m->first; i <= (int)m->last; ++i) {
            const struct sn_convolution * c = &m->stage[i];
            const bool last = i == (int)m->last;
            image.dst = last ? whole.dst : work;
            image.dstPixel = last ? whole.dstPixel : c->p.dstC;
            work += last ? 0 : sn_align(c->dstSize, SN_ALIGN);
            if (last && m->add) {
                const struct sn_convolution_parameters * p = &m->stage[m->first].p;
                const bool floats = p->srcT == SN_DATA_32F;
                if (!floats)
                    sn_widen_rows(m->table, whole.src, p->srcH * p->srcW, p->srcC, whole.srcPixel, (sn_32f *)(void *)work);
                image.add = floats ? whole.src : work;
                image.addPixel = floats ? whole.srcPixel : p->srcC;
            }
            m->table->convolution_16b.plain(&c->p, sn_dot_of(c)->exact, c->weight, c->bias, c->slope ? c->slope : c->param,
                                            &image);
            image.src = image.dst;
            image.srcPixel = c->p.dstC;
        }
    }
}

/* ---- the steps */

struct job {
    const struct sn_merged_convolution_16b * m;
    const struct sn_arrays * all;
    const struct sn_convolution * projection; /* without an activation if the source is added */
};

/* The arrays of a stage: an image of which only some rows exist, `row` and those behind it at `at`. */
static void * image_at(uint8_t * at, const struct sn_convolution * c, size_t row)
{
    return (void *)((uintptr_t)at - row * row_bytes(c));
}

/* Expands the lines that these rows of the depthwise stage need; the workspace has `have`, and then those. */
static struct sn_lines expand(const struct sn_merged_convolution_16b * m, const struct sn_arrays * a, size_t row, size_t rows,
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
    const struct sn_arrays lines = {a->src, work + m->rest, NULL, image_at(work, c, need.begin), &at};
    if (next < need.end)
        sn_dot_tiled_rows(c, next, need.end - next, &lines);
    return need;
}

/* Computes rows of the depthwise stage. */
static void depthwise(const struct sn_merged_convolution_16b * m, const struct sn_arrays * a, size_t row, size_t rows,
                      struct sn_lines have, void * dst, size_t dstPixel)
{
    const bool first = m->first == SN_DEPTHWISE;
    uint8_t * work = a->work;
    const struct sn_distances at = {.srcPixel = first ? a->at->srcPixel : m->stage[SN_DEPTHWISE].p.srcC, .dstPixel = dstPixel};
    const void * src = first ? a->src : image_at(work, &m->stage[SN_EXPANSION], have.begin);
    sn_16b_depthwise_rows(&m->stage[SN_DEPTHWISE], row, rows, &(struct sn_arrays){src, work + m->rest, NULL, dst, &at});
}

/* Adds the source to the sums of some rows, activates them, and writes the results. */
static void add_source(const struct sn_merged_convolution_16b * m, const struct sn_arrays * a, size_t row, size_t rows)
{
    const struct sn_convolution * c = &m->stage[SN_PROJECTION];
    const size_t channels = c->p.dstC, pixels = rows * c->p.dstW, first = row * c->p.dstW;
    sn_32f * sums = (sn_32f *)(void *)((uint8_t *)a->work + m->sums), * added = (sn_32f *)(void *)((uint8_t *)a->work + m->added);
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
    const struct sn_merged_convolution_16b * m = job->m;
    const struct sn_convolution * before = &m->stage[SN_DEPTHWISE], * c = job->projection;
    uint8_t * work = a->work;
    void * middle = image_at(work + m->middle, before, row);
    depthwise(m, a, row, rows, have, middle, before->p.dstC);
    const struct sn_distances at = {.srcPixel = c->p.srcC, .dstPixel = m->add ? c->p.dstC : a->at->dstPixel};
    void * dst = m->add ? image_at(work + m->sums, c, row) : a->dst;
    sn_dot_tiled_rows(c, row, rows, &(struct sn_arrays){middle, work + m->rest, NULL, dst, &at});
    if (m->add)
        add_source(m, a, row, rows);
}

/* Units of work are rows of all images. A range begins without lines, so two threads may expand the same ones. */
static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_merged_convolution_16b * m = job->m;
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

void sn_merged_convolution_16b_forward(const struct sn_merged_convolution_16b * m, const struct sn_arrays * a)
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
        time += sn_convolution_dot_time(&m->stage[i]);
    const size_t least = sn_max(4 * (m->stage[SN_DEPTHWISE].p.kernelY + 1), m->rows); /* ranges expand lines again */
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = rows, .cost = time,
        .least = sn_min(least, sn_max(rows / sn_threads(), 1)), .work = a->work, .workBytes = m->workSize});
}
