#include "ops/softmax.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
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
