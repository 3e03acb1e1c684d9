#include "ops/softmax.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "ops/widened.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

struct job {
    const sn_32f * src;
    size_t outer, count, inner;
    sn_32f * dst;
    size_t step;
    sn_softmax_32f_fn kernel;
};

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const size_t first = begin * job->step, number = sn_min(end * job->step, job->outer) - first;
    const size_t offset = first * job->count * job->inner;
    job->kernel(job->src + offset, number, job->count, job->inner, job->dst + offset);
}

void sn_softmax_32f(const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst)
{
    /* An exponential costs about as much as ten loads. */
    const size_t step = sn_items_per_unit(8 * count * inner);
    const struct job job = {src, outer, count, inner, dst, step, sn_table()->softmax.run_32f};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = sn_ceil_div(outer, step),
        .cost = sn_cost_of_bytes(64.0 * (double)outer * (double)count * (double)inner)});
}

/* ---- bfloat16: blocks of whole lines, or of some neighbouring ones of an image, become floats and return */

enum {
    BLOCK = 16384, /* floats: half of the first cache, or what fewest columns take */
    COLUMNS = 16   /* the fewest, a cache line of floats */
};

struct job_16b {
    const sn_16b * src;
    size_t outer, count, inner;
    sn_16b * dst;
    size_t lines, columns, strips; /* of a block: indices of outer, and of inner; blocks of a line of strips */
    const struct sn_table * table;
};

static void run_16b(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job_16b * job = argument;
    for (size_t unit = begin; unit < end; ++unit) {
        const size_t first = unit / job->strips * job->lines, lines = sn_min(job->lines, job->outer - first);
        const size_t column = unit % job->strips * job->columns, columns = sn_min(job->columns, job->inner - column);
        const size_t at = first * job->count * job->inner + column, rows = lines * job->count;
        sn_widen_rows(job->table, job->src + at, rows, columns, job->inner, work);
        job->table->softmax.run_32f(work, lines, job->count, columns, work);
        sn_narrow_rows(job->table, work, rows, columns, job->inner, job->dst + at);
    }
}

bool sn_softmax_16b(const sn_16b * src, size_t outer, size_t count, size_t inner, sn_16b * dst)
{
    struct job_16b job = {src, outer, count, inner, dst, 1, inner, 1, sn_table()};
    if (count * inner <= BLOCK)
        job.lines = sn_min(sn_max(BLOCK / (count * inner), 1), outer);
    else if (inner > COLUMNS)
        job.columns = sn_min(sn_max(BLOCK / count / COLUMNS, 1) * COLUMNS, inner);
    job.strips = sn_ceil_div(inner, job.columns);
    const size_t bytes = job.lines * count * job.columns * sizeof(float);
    void * work = sn_scratch(bytes);
    if (work)
        sn_parallel_for(&(struct sn_parallel){.run = run_16b, .job = &job,
            .units = sn_ceil_div(outer, job.lines) * job.strips,
            .cost = sn_cost_of_bytes(64.0 * (double)outer * (double)count * (double)inner), .work = work,
            .workBytes = bytes});
    return work != NULL;
}
