/*
 * Where lines that are normalized are few values or lie together, a kernel does all of it: layer normalization, division by
 * the length of each position. Otherwise moments are computed first, and become the coefficients of a channel-wise layer:
 * (x - mean) * factor + shift = x * factor + (shift - mean * factor). Rounding the second coefficient loses not more than
 * rounding the mean does.
 */
#include "ops/normalize.h"

#include <math.h>

#include "dispatch/dispatch.h"
#include "ops/elementwise/channelwise.h"
#include "ops/units.h"
#include "ops/widened.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* The cost of a value: it is read two or three times, and written. */
static double cost_of(double values) { return sn_cost_of_bytes(16 * values); }

/* ---- lines that are normalized by a kernel: positions of images */

struct lines {
    struct sn_normalize_lines all; /* number: of an image */
    sn_normalize_lines_fn kernel;
    size_t step, units; /* lines of a unit, and units of an image */
    size_t next;        /* floats from a line to the next */
};

static void lines_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct lines * job = argument;
    for (size_t unit = begin; unit < end; ++unit) {
        struct sn_normalize_lines p = job->all;
        const size_t first = unit % job->units * job->step;
        const size_t at = unit / job->units * p.number * p.count + first * job->next;
        p.number = sn_min(job->step, p.number - first);
        p.src += at;
        p.dst += at;
        job->kernel(&p);
    }
}

static void lines(const struct sn_table * table, const struct sn_normalize * p)
{
    const bool rows = p->format == SN_NHWC || p->spatial == 1;
    const size_t images = rows ? 1 : p->batch, number = rows ? p->batch * p->spatial : p->spatial;
    const size_t step = sn_align(sn_items_per_unit(p->channels), rows ? 1 : 64); /* 64: whole strips of columns */
    const size_t row = p->channels * sizeof(float);
    const bool whole = p->src != p->dst && ((uintptr_t)p->dst | row) % table->alignment == 0;
    const struct lines job = {{p->src, number, p->channels, p->spatial, p->scale, p->shift, p->eps, p->dst,
                               whole && sn_beyond_cache(2 * images * number * row)},
                              rows ? table->normalize.rows : table->normalize.columns, step, sn_ceil_div(number, step),
                              rows ? p->channels : 1};
    sn_parallel_for(&(struct sn_parallel){.run = lines_range, .job = &job, .units = images * job.units,
        .cost = cost_of((double)(images * number * p->channels))});
}

/* ---- instance normalization of planes, and of groups of them */

enum { GROUP = 64 }; /* planes, or groups of them, at a time, at most */

struct planes {
    const struct sn_normalize * p;
    const struct sn_table * table;
    size_t number, planes, count; /* groups of an image, planes of a group, and its values */
    size_t step;                  /* groups of a unit */
    bool stream;
};

/*
 * n groups, which are in the first cache after the moments have been computed, if they fit. The planes of a group have
 * coefficients of their own, so one pass writes the result: 1.5 times as fast as another pass over it for scale and shift.
 */
static void planes_group(const struct planes * job, size_t first, size_t n)
{
    const struct sn_normalize * p = job->p;
    const size_t all = n * job->planes, channel = first % job->number * job->planes;
    float mean[GROUP], squares[GROUP], a[GROUP], b[GROUP];
    job->table->normalize.row_moments(p->src + first * job->count, n, job->count, mean, squares);
    for (size_t c = 0, planes, group = 0, plane = 0; c < all; c += planes) {
        const size_t at = first * job->count + c * p->spatial;
        planes = sn_min(all - c, GROUP);
        for (size_t i = 0; i < planes; ++i) {
            a[i] = squares[group];
            b[i] = mean[group];
            if (++plane == job->planes)
                plane = 0, ++group;
        }
        job->table->normalize.coefficients(planes, job->count, p->scale + channel + c, p->shift + channel + c, p->eps, b, a);
        job->table->channelwise.rows[SN_SCALE_BIAS](&(struct sn_channelwise_rows){.src = p->src + at, .p = {a, b},
            .dst = p->dst + at, .rows = planes, .size = p->spatial, .period = 1, .stream = job->stream});
    }
}

static void planes_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct planes * job = argument;
    const size_t number = job->number, last = sn_min(end * job->step, job->p->batch * number);
    const size_t group = sn_min(sn_max(SN_UNIT_ELEMENTS / 2 / job->count, 1), GROUP);
    for (size_t i = begin * job->step, n; i < last; i += n) { /* a group ends with the image */
        n = sn_min(sn_min(group, number - i % number), last - i);
        planes_group(job, i, n);
    }
}

static void planes(const struct sn_table * table, const struct sn_normalize * p)
{
    const size_t number = p->kind == SN_NORMALIZE_GROUPS ? p->groups : p->channels, each = p->channels / number;
    const size_t all = p->batch * p->channels * p->spatial;
    const struct planes job = {p, table, number, each, each * p->spatial, sn_items_per_unit(each * p->spatial),
                               p->src != p->dst && sn_beyond_cache(2 * all * sizeof(float))};
    sn_parallel_for(&(struct sn_parallel){.run = planes_range, .job = &job,
        .units = sn_ceil_div(p->batch * number, job.step), .cost = cost_of((double)all)});
}

/* ---- moments of columns that are divided into parts, of one image */

enum { PART = 65536 }; /* values of a part, 256 KB: they stay in the second cache between the two sums */

struct moments {
    const sn_32f * src;
    size_t number, count; /* columns, and their values */
    size_t step;          /* values of a column in a part */
    sn_32f * mean, * squares; /* `number` for each part; mean may be NULL */
    sn_moments_fn kernel;
};

static void moments_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct moments * m = argument;
    for (size_t part = begin; part < end; ++part) {
        const size_t first = part * m->step, at = part * m->number;
        m->kernel(m->src + first * m->number, m->number, sn_min(m->step, m->count - first), m->mean ? m->mean + at : NULL,
                  m->squares + at);
    }
}

static size_t step_of(size_t number) { return sn_max(PART / number, 64); }
static size_t parts_of(size_t number, size_t count) { return sn_ceil_div(count, step_of(number)); }

/* The moments of all parts become those of the first one. */
static void combine(const struct moments * m)
{
    const size_t parts = parts_of(m->number, m->count);
    for (size_t c = 0; c < m->number; ++c) {
        double mean = m->mean ? (double)m->mean[c] : 0, squares = (double)m->squares[c];
        for (size_t part = 1; part < parts; ++part) {
            const size_t before = part * m->step, n = sn_min(m->step, m->count - before), at = part * m->number + c;
            const double d = m->mean ? (double)m->mean[at] - mean : 0, share = (double)n / (double)(before + n);
            squares += (double)m->squares[at] + d * d * (double)before * share;
            mean += d * share;
        }
        if (m->mean)
            m->mean[c] = (float)mean;
        m->squares[c] = (float)squares;
    }
}

/* A single column is a row. */
static void moments_of_columns(const struct sn_table * table, struct moments * m)
{
    m->step = step_of(m->number);
    m->kernel = m->number == 1 ? table->normalize.row_moments : table->normalize.column_moments;
    struct sn_parallel job = {.run = moments_range, .job = m, .units = parts_of(m->number, m->count)};
    job.cost = cost_of((double)m->number * (double)m->count);
    sn_parallel_for(&job);
    combine(m);
}

/* ---- the squares of planes of one image */

static void squares_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct moments * m = argument;
    const size_t first = begin * m->step, n = sn_min(end * m->step, m->number) - first;
    m->kernel(m->src + first * m->count, n, m->count, NULL, m->squares + first);
}

static void squares_of_planes(const struct sn_table * table, struct moments * m)
{
    m->step = sn_items_per_unit(m->count);
    m->kernel = table->normalize.row_moments;
    sn_parallel_for(&(struct sn_parallel){.run = squares_range, .job = m, .units = sn_ceil_div(m->number, m->step),
        .cost = cost_of((double)m->number * (double)m->count)});
}

/* ---- an image: moments, coefficients, and a channel-wise layer */

static void response_coefficients(const struct sn_normalize * p, sn_32f * squares)
{
    double all = 0;
    for (size_t c = 0; c < p->channels; ++c) {
        squares[c] = sqrtf(squares[c]);
        all += (double)squares[c];
    }
    const float by = (float)(all / (double)p->channels + (double)p->eps);
    for (size_t c = 0; c < p->channels; ++c)
        squares[c] = 1 + p->scale[c] * (squares[c] / by);
}

static void image(const struct sn_table * table, const struct sn_normalize * p, size_t offset, sn_32f * work)
{
    const bool across = p->kind == SN_NORMALIZE_LENGTH_ACROSS, instance = p->kind == SN_NORMALIZE_INSTANCE;
    sn_32f * scale = across ? work + parts_of(1, p->channels * p->spatial) : work; /* the coefficients */
    struct moments m = {.src = p->src + offset, .number = across ? 1 : p->channels, .squares = work};
    m.count = across ? p->channels * p->spatial : p->spatial;
    if (instance)
        m.mean = work + parts_of(m.number, m.count) * m.number;
    if (!across && p->format == SN_NCHW)
        squares_of_planes(table, &m);
    else
        moments_of_columns(table, &m);
    if (across) {
        const double factor = 1 / sqrt((double)p->eps + (double)m.squares[0]);
        for (size_t c = 0; c < p->channels; ++c)
            scale[c] = (float)((double)p->scale[c] * factor);
    } else if (instance) {
        table->normalize.coefficients(m.number, m.count, p->scale, p->shift, p->eps, m.mean, m.squares);
    } else {
        response_coefficients(p, m.squares);
    }
    sn_channelwise(&(struct sn_channelwise){.op = across ? SN_SCALE : SN_SCALE_BIAS, .src = m.src,
        .p = {scale, instance ? m.mean : p->shift}, .channels = p->channels, .spatial = p->spatial, .dst = p->dst + offset,
        .format = p->format});
}

static bool images(const struct sn_table * table, const struct sn_normalize * p)
{
    const size_t all = p->channels * p->spatial, columns = parts_of(p->channels, p->spatial) * p->channels;
    const bool across = p->kind == SN_NORMALIZE_LENGTH_ACROSS;
    sn_32f * work = sn_scratch((across ? p->channels + parts_of(1, all) : 2 * columns) * sizeof(float));
    for (size_t b = 0; work && b < p->batch; ++b)
        image(table, p, b * all, work);
    return work != NULL;
}

bool sn_normalize_32f(const struct sn_normalize * p)
{
    const struct sn_table * table = sn_table();
    if (!table->normalize.rows)
        table->normalize.layer(p);
    else if (p->kind == SN_NORMALIZE_LENGTH || p->kind == SN_NORMALIZE_LAYER)
        lines(table, p);
    else if (p->kind == SN_NORMALIZE_GROUPS ||
             (p->kind == SN_NORMALIZE_INSTANCE && (p->format == SN_NCHW || p->channels == 1)))
        planes(table, p);
    else
        return images(table, p);
    return true;
}

/* ---- layer normalization of bfloat16 numbers: blocks of positions become floats, and return */

enum { BLOCK = 16384, POSITIONS = 16 }; /* floats of a block, unless the fewest positions have more */

struct blocks {
    const struct sn_normalize_16b * p;
    const struct sn_table * table;
    size_t positions, strips; /* of a block, and blocks of an image */
};

/* The floats of a block, [position][channel] or [channel][position], are an image. */
static void normalize_block(const struct blocks * job, size_t n, sn_32f * work)
{
    const struct sn_normalize_16b * p = job->p;
    const bool rows = p->format == SN_NHWC;
    const struct sn_normalize_lines l = {work, n, p->channels, n, p->scale, p->shift, p->eps, work,
                                         false};
    if (!job->table->normalize.rows)
        job->table->normalize.layer(&(struct sn_normalize){SN_NORMALIZE_LAYER, work, 1, p->channels, n, p->scale, p->shift,
                                                           p->eps, work, p->format, 0});
    else
        (rows ? job->table->normalize.rows : job->table->normalize.columns)(&l);
}

static void blocks_range(const void * argument, void * work, size_t begin, size_t end)
{
    const struct blocks * job = argument;
    const struct sn_normalize_16b * p = job->p;
    for (size_t unit = begin; unit < end; ++unit) {
        const size_t first = unit % job->strips * job->positions, n = sn_min(job->positions, p->spatial - first);
        const bool nhwc = p->format == SN_NHWC;
        const size_t at = unit / job->strips * p->channels * p->spatial + first * (nhwc ? p->channels : 1);
        const size_t rows = nhwc ? n : p->channels, width = nhwc ? p->channels : n, step = nhwc ? p->channels : p->spatial;
        sn_widen_rows(job->table, p->src + at, rows, width, step, work);
        normalize_block(job, n, work);
        sn_narrow_rows(job->table, work, rows, width, step, p->dst + at);
    }
}

bool sn_normalize_16b(const struct sn_normalize_16b * given)
{
    struct sn_normalize_16b p = *given;
    if (p.format == SN_NCHW && p.spatial == 1)
        p.format = SN_NHWC;
    if (p.format == SN_NHWC) /* one image */
        p.spatial *= p.batch, p.batch = 1;
    const size_t positions = sn_min(sn_max(BLOCK / p.channels / POSITIONS, 1) * POSITIONS, p.spatial);
    const struct blocks job = {&p, sn_table(), positions, sn_ceil_div(p.spatial, positions)};
    const size_t bytes = positions * p.channels * sizeof(float);
    void * work = sn_scratch(bytes);
    if (work)
        sn_parallel_for(&(struct sn_parallel){.run = blocks_range, .job = &job, .units = p.batch * job.strips,
            .cost = cost_of((double)(p.batch * p.spatial * p.channels)), .work = work, .workBytes = bytes});
    return work != NULL;
}
