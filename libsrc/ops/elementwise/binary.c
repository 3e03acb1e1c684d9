/*
 * Any shapes become rows for the kernels: neighbouring dimensions that both operands have, or repeat, are one; a row is the
 * last of the dimensions that are left, in which an operand is an array or a single number. Short rows, such as three
 * channels of NHWC, are copied to a table until they are long: a row costs about as much as 30 floats.
 *
 * The activation is that of the family `pointwise`, on results that are still in the first cache; results that bypass the
 * caches are computed in a block on the stack first.
 */
#include "ops/elementwise/binary.h"

#include <math.h>
#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

enum {
    SHORT = 48,   /* columns of a short row, at most */
    TABLE = 1024, /* floats, 4 KB: two of them and the results fit in the first cache */
    BLOCK = 2048  /* results between an operation and its activation */
};

struct operand {
    const sn_32f * at;
    size_t stride[SN_MOST_DIMENSIONS]; /* 0: repeated */
    bool repeats[SN_MOST_DIMENSIONS];
};

struct job {
    struct operand a, b;
    sn_32f * dst;
    size_t count, shape[SN_MOST_DIMENSIONS], size;
    bool stream, activates;
    float params[2];
    sn_binary_32f_fn kernel;
    sn_pointwise_32f_fn activation;
};

/* ---- rows */

/* `rows` rows of an operand as one array. In a table that has the rows before these, repeated ones are there already. */
static const sn_32f * joined(const struct sn_binary_operand * p, size_t rows, size_t columns, bool again, sn_32f * table)
{
    if (p->each && p->row == columns)
        return p->at;
    for (size_t j = 0; j < rows && (!again || p->row); ++j)
        for (size_t i = 0; i < columns; ++i)
            table[j * columns + i] = p->at[j * p->row + (p->each ? i : 0)];
    return table;
}

/* One row. A few results are computed in a row of the least length, with ones, which raise no exception. */
static void run_row(sn_binary_32f_fn kernel, const struct sn_binary_rows * r)
{
    float a[SN_BINARY_COLUMNS], b[SN_BINARY_COLUMNS], dst[SN_BINARY_COLUMNS];
    if (r->columns >= SN_BINARY_COLUMNS) {
        kernel(r);
        return;
    }
    for (size_t i = 0; i < SN_BINARY_COLUMNS; ++i) {
        a[i] = i < r->columns ? r->a.at[r->a.each ? i : 0] : 1;
        b[i] = i < r->columns ? r->b.at[r->b.each ? i : 0] : 1;
    }
    kernel(&(struct sn_binary_rows){{a, 0, true}, {b, 0, true}, dst, 1, SN_BINARY_COLUMNS, false});
    memcpy(r->dst, dst, r->columns * sizeof(float));
}

static void short_rows(sn_binary_32f_fn kernel, struct sn_binary_rows r)
{
    float a[TABLE] SN_ALIGNED, b[TABLE] SN_ALIGNED;
    const size_t most = TABLE / r.columns;
    for (size_t done = 0, n; done < r.rows; done += n) {
        n = sn_min(most, r.rows - done);
        const struct sn_binary_rows one = {{joined(&r.a, n, r.columns, done > 0, a), 0, true},
            {joined(&r.b, n, r.columns, done > 0, b), 0, true}, r.dst, 1, n * r.columns, r.stream};
        run_row(kernel, &one);
        r.a.at += n * r.a.row;
        r.b.at += n * r.b.row;
        r.dst += n * r.columns;
    }
}

static void run_rows(sn_binary_32f_fn kernel, const struct sn_binary_rows * r)
{
    if (r->rows == 1)
        run_row(kernel, r);
    else if (r->columns <= SHORT)
        short_rows(kernel, *r);
    else
        kernel(r);
}

static void compute(const struct job * job, const struct sn_binary_rows * r)
{
    float block[BLOCK] SN_ALIGNED;
    struct sn_binary_rows first = *r;
    if (!job->activates) {
        run_rows(job->kernel, r);
        return;
    }
    first.stream = false;
    if (r->stream)
        first.dst = block;
    run_rows(job->kernel, &first);
    job->activation(first.dst, r->rows * r->columns, job->params, r->dst, r->stream);
}

/* The rows, or the part of one, that begin with result `at` and end before `end`. */
static struct sn_binary_rows rows_at(const struct job * job, size_t at, size_t end)
{
    const size_t last = job->count - 1, columns = job->shape[last], column = at % columns;
    struct sn_binary_rows r = {{job->a.at + column * job->a.stride[last], 0, !job->a.repeats[last]},
                               {job->b.at + column * job->b.stride[last], 0, !job->b.repeats[last]},
                               job->dst + at, 1, sn_min(columns - column, end - at), job->stream};
    size_t row = at / columns;
    for (size_t k = last; k > 0; row /= job->shape[--k]) {
        const size_t extent = job->shape[k - 1], index = row % extent;
        r.a.at += index * job->a.stride[k - 1];
        r.b.at += index * job->b.stride[k - 1];
        if (k == last && r.columns == columns)
            r.rows = sn_min((end - at) / columns, extent - index);
    }
    if (last > 0) {
        r.a.row = job->a.stride[last - 1];
        r.b.row = job->b.stride[last - 1];
    }
    return r;
}

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const size_t last = sn_min(end * SN_UNIT_ELEMENTS, job->size);
    for (size_t at = begin * SN_UNIT_ELEMENTS; at < last;) {
        const size_t most = job->activates ? BLOCK : last - at;
        const struct sn_binary_rows r = rows_at(job, at, at + sn_min(most, last - at));
        compute(job, &r);
        at += r.rows * r.columns;
    }
}

/* ---- the job */

/* Drops dimensions of extent 1, and joins neighbours that each operand has or repeats. */
static void join_dimensions(struct job * job, const struct sn_binary * p)
{
    for (size_t k = 0; k < p->count; ++k) {
        const bool a = p->aShape[k] == 1, b = p->bShape[k] == 1;
        const size_t n = job->count;
        if (p->shape[k] == 1)
            continue;
        if (n > 0 && job->a.repeats[n - 1] == a && job->b.repeats[n - 1] == b) {
            job->shape[n - 1] *= p->shape[k];
            continue;
        }
        job->shape[n] = p->shape[k];
        job->a.repeats[n] = a;
        job->b.repeats[n] = b;
        job->count++;
    }
    if (job->count == 0)
        job->shape[job->count++] = 1;
}

/* Sets the strides of an operand, and returns its size. */
static size_t set_strides(const struct job * job, struct operand * p)
{
    size_t size = 1;
    for (size_t k = job->count; k-- > 0;) {
        p->stride[k] = p->repeats[k] ? 0 : size;
        size *= p->repeats[k] ? 1 : job->shape[k];
    }
    return size;
}

/* The activation as a function of the family `pointwise`, with its parameters. */
static enum sn_pointwise pointwise_of(enum sn_activation activation, sn_32f * params)
{
    switch (activation) {
    case SN_ACTIVATION_RELU:
        params[0] = 0;
        params[1] = INFINITY;
        return SN_RESTRICT_RANGE;
    case SN_ACTIVATION_RESTRICT_RANGE: return SN_RESTRICT_RANGE;
    case SN_ACTIVATION_ELU: return SN_ELU;
    case SN_ACTIVATION_HSWISH: return SN_HSWISH;
    case SN_ACTIVATION_MISH: return SN_MISH;
    case SN_ACTIVATION_HARD_SIGMOID: return SN_HARD_SIGMOID;
    case SN_ACTIVATION_SWISH: return SN_SWISH;
    case SN_ACTIVATION_GELU: return SN_GELU;
    case SN_ACTIVATION_SIGMOID: params[0] = 1; return SN_SIGMOID;
    default: return SN_RELU; /* LeakyRelu */
    }
}

/* x^2, the usual power, is x * x to the bit. */
static struct sn_binary simplified(struct sn_binary p)
{
    for (size_t k = 0; k < p.count; ++k)
        if (p.bShape[k] != 1)
            return p;
    if (p.operation == SN_BINARY_POWER && *p.b == 2) {
        p.operation = SN_BINARY_MULTIPLY;
        p.b = p.a;
        p.bShape = p.aShape;
    }
    return p;
}

void sn_binary_32f(const struct sn_binary * given)
{
    const struct sn_binary p = simplified(*given);
    const struct sn_table * table = sn_table();
    struct job job = {.a.at = p.a, .b.at = p.b, .dst = p.dst, .size = 1, .params = {p.params[0], p.params[1]},
                      .activates = p.activation != SN_ACTIVATION_IDENTITY, .kernel = table->binary.run_32f[p.operation]};
    join_dimensions(&job, &p);
    job.activation = table->pointwise.run_32f[pointwise_of(p.activation, job.params)];
    for (size_t k = 0; k < job.count; ++k)
        job.size *= job.shape[k];
    const size_t read = set_strides(&job, &job.a) + set_strides(&job, &job.b);
    job.stream = p.a != p.dst && p.b != p.dst && sn_beyond_cache((read + job.size) * sizeof(float));
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = sn_ceil_div(job.size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes(sizeof(float) * (double)(read + job.size))});
}
