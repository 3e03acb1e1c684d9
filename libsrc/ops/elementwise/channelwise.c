/*
 * All formats are processed as rows (struct sn_channelwise_rows), which are divided into pieces. Two layers have more than
 * one result. If channels are planes, each piece runs twice, so that the second run finds the source in the L1 cache; in
 * NHWC, where the results are joined in each pixel, these layers have a kernel of their own.
 */
#include "ops/elementwise/channelwise.h"

#include "contract/format.h"
#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

static struct sn_channelwise_rows rows_of(const struct sn_channelwise * l, const sn_32f * src, size_t channels, sn_32f * dst)
{
    const size_t lanes = sn_max(sn_format_lanes(l->format), 1);
    const bool nhwc = l->format == SN_NHWC;
    struct sn_channelwise_rows r = {src, l->src1, {l->p[0], l->p[1], l->p[2]}, l->s, l->t, dst, 0, 0, 0, false};
    const bool one = nhwc || l->spatial == 1; /* one row */
    const size_t all = sn_align(channels, lanes);
    r.rows = one ? 1 : all / lanes;
    r.period = one ? all : lanes;
    r.size = r.period * l->spatial;
    return r;
}

/* Division of rows into units of work: `rows` rows each or, if rows are long, parts of `step` values. */
struct cut {
    size_t rows, parts, step, units;
};

static struct cut cut_of(const struct sn_channelwise_rows * r)
{
    struct cut cut = {1, 1, sn_items_per_unit(r->period) * r->period, 0};
    cut.parts = sn_ceil_div(r->size, cut.step);
    if (cut.parts == 1)
        cut.rows = sn_items_per_unit(r->size);
    cut.units = sn_ceil_div(r->rows, cut.rows) * cut.parts;
    return cut;
}

/* The rows from `row` on, starting at value `at`, a multiple of the period. */
static struct sn_channelwise_rows rows_from(const struct sn_channelwise_rows * all, size_t row, size_t at)
{
    struct sn_channelwise_rows r = *all;
    r.src += row * all->size + at;
    if (r.src1)
        r.src1 += row * all->size + at;
    r.dst += row * all->size + at;
    for (size_t k = 0; k < 3; ++k)
        if (r.p[k])
            r.p[k] += row * all->period;
    return r;
}

/* Sets *piece to units begin .. end - 1, or to as many as form rows of equal size; returns the first remaining unit. */
static size_t piece_of(const struct sn_channelwise_rows * all, const struct cut * cut, size_t begin, size_t end,
                       struct sn_channelwise_rows * piece)
{
    if (cut->parts == 1) {
        const size_t row = begin * cut->rows;
        *piece = rows_from(all, row, 0);
        piece->rows = sn_min(end * cut->rows, all->rows) - row;
        return end;
    }
    const size_t row = begin / cut->parts, at = begin % cut->parts * cut->step;
    end = sn_min(end, (row + 1) * cut->parts);
    *piece = rows_from(all, row, at);
    piece->rows = 1;
    piece->size = sn_min((end - row * cut->parts) * cut->step, all->size) - at;
    return end;
}

/* ---- one result */

struct one {
    struct sn_channelwise_rows rows;
    struct cut cut;
    sn_channelwise_rows_fn kernel;
};

static void one_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct one * job = argument;
    struct sn_channelwise_rows piece;
    while (begin < end) {
        begin = piece_of(&job->rows, &job->cut, begin, end, &piece);
        job->kernel(&piece);
    }
}

static void one(const struct sn_table * table, const struct sn_channelwise * l)
{
    struct one job = {.rows = rows_of(l, l->src, l->channels, l->dst), .kernel = table->channelwise.rows[l->op]};
    const size_t all = job.rows.rows * job.rows.size, arrays = l->src1 ? 3 : 2;
    if (all <= SN_UNIT_ELEMENTS) {
        job.kernel(&job.rows);
        return;
    }
    job.rows.stream = l->src != l->dst && l->src1 != l->dst && sn_beyond_cache(arrays * all * sizeof(float));
    job.cut = cut_of(&job.rows);
    sn_parallel_for(&(struct sn_parallel){.run = one_range, .job = &job, .units = job.cut.units,
        .cost = sn_cost_of_bytes((double)(arrays * all * sizeof(float)))});
}

/* ---- two results of one source, in planes: FUSED_4, and each source of FUSED_9 */

struct planes {
    struct sn_channelwise_rows rows;
    struct cut cut;
    size_t half; /* FUSED_4: the offset of the second result, and its number of values */
    float s, t;
    sn_32f * copy; /* FUSED_9: the second result, or NULL */
    sn_channelwise_rows_fn kernel;
    sn_concat_32f_fn concat;
};

static void planes_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct planes * job = argument;
    for (size_t unit = begin; unit < end; ++unit) {
        struct sn_channelwise_rows piece;
        piece_of(&job->rows, &job->cut, unit, unit + 1, &piece);
        job->kernel(&piece);
        if (job->half) {
            piece.dst += job->half;
            piece.s = job->s;
            piece.t = job->t;
            job->kernel(&piece);
        }
        if (job->copy)
            job->concat(piece.src, piece.rows * piece.size, NULL, 0, 1, job->copy + (piece.src - job->rows.src));
    }
}

static void planes(const struct sn_table * table, const struct sn_channelwise * l, struct planes * job)
{
    if (job->rows.size == 0 || job->rows.rows == 0)
        return;
    const size_t arrays = job->half || job->copy ? 3 : 2;
    job->rows.stream = sn_beyond_cache(arrays * job->rows.rows * job->rows.size * sizeof(float));
    job->cut = cut_of(&job->rows);
    job->kernel = table->channelwise.rows[l->op];
    job->concat = table->channelwise.concat;
    sn_parallel_for(&(struct sn_parallel){.run = planes_range, .job = job, .units = job->cut.units,
        .cost = sn_cost_of_bytes((double)(arrays * job->rows.rows * job->rows.size * sizeof(float)))});
}

static void fused_4_planes(const struct sn_table * table, const struct sn_channelwise * l)
{
    struct planes job = {.rows = rows_of(l, l->src, l->channels, l->dst), .s = l->s, .t = l->t};
    job.half = l->channels * l->spatial;
    job.rows.s = 1;
    job.rows.t = 0;
    planes(table, l, &job);
}

static void fused_9_planes(const struct sn_table * table, const struct sn_channelwise * l)
{
    const size_t first = l->channels * l->spatial;
    struct planes job = {.rows = rows_of(l, l->src, l->channels, l->dst), .copy = l->dst1};
    planes(table, l, &job);
    job.rows = rows_of(l, l->src1, l->channels1, l->dst + first);
    job.rows.p[0] += l->channels;
    job.rows.p[1] += l->channels;
    job.copy = l->dst1 ? l->dst1 + first : NULL;
    planes(table, l, &job);
}

/* ---- two results joined in each pixel */

struct join {
    struct sn_channelwise_rows half[2];
    size_t pixels, step; /* of the image, and of a unit */
    sn_32f * dst, * copy; /* arguments of the kernel */
    sn_channelwise_joined_fn kernel;
};

static void join_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct join * job = argument;
    const size_t a = job->half[0].period, b = job->half[1].period;
    for (size_t unit = begin; unit < end; ++unit) {
        const size_t pixel = unit * job->step, number = sn_min(pixel + job->step, job->pixels) - pixel;
        struct sn_channelwise_rows half[] = {job->half[0], job->half[1]};
        half[0].src += pixel * a;
        half[1].src += pixel * b;
        job->kernel(half, number, job->dst + pixel * (a + b), job->copy ? job->copy + pixel * (a + b) : NULL);
    }
}

static void join(const struct sn_table * table, const struct sn_channelwise * l, struct join * job)
{
    job->pixels = l->spatial;
    job->dst = l->dst;
    job->step = sn_items_per_unit(job->half[0].period + job->half[1].period);
    job->kernel = table->channelwise.joined[l->op == SN_FUSED_9];
    const double values = (double)job->pixels * (double)(job->half[0].period + job->half[1].period);
    sn_parallel_for(&(struct sn_parallel){.run = join_range, .job = job, .units = sn_ceil_div(job->pixels, job->step),
        .cost = sn_cost_of_bytes(8 * values)});
}

static void fused_4_pixels(const struct sn_table * table, const struct sn_channelwise * l)
{
    struct join job = {.half = {rows_of(l, l->src, l->channels, NULL), rows_of(l, l->src, l->channels, NULL)}};
    job.half[0].s = 1;
    job.half[0].t = 0;
    join(table, l, &job);
}

static void fused_9_pixels(const struct sn_table * table, const struct sn_channelwise * l)
{
    struct join job = {.half = {rows_of(l, l->src, l->channels, NULL), rows_of(l, l->src1, l->channels1, NULL)}};
    job.half[1].p[0] += l->channels;
    job.half[1].p[1] += l->channels;
    job.copy = l->dst1;
    join(table, l, &job);
}

void sn_channelwise(const struct sn_channelwise * layer)
{
    const struct sn_table * table = sn_table();
    const bool nhwc = layer->format == SN_NHWC;
    if (table->channelwise.rows[layer->op] == NULL)
        table->channelwise.layer(layer);
    else if (layer->op == SN_FUSED_4)
        (nhwc ? fused_4_pixels : fused_4_planes)(table, layer);
    else if (layer->op == SN_FUSED_9)
        (nhwc ? fused_9_pixels : fused_9_planes)(table, layer);
    else
        one(table, layer);
}
