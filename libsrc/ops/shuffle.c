/* A unit of work is a number of channels (NCHW) or of pixels (NHWC). */
#include "ops/shuffle.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct job {
    const struct sn_shuffle * p;
    size_t items, step;
    sn_shuffle_32f_fn kernel;
};

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    job->kernel(job->p, begin * job->step, sn_min(end * job->step, job->items));
}

void sn_shuffle_32f(const struct sn_shuffle * p, enum sn_format format)
{
    const size_t channels = (p->srcC0 + p->srcC1) / 2;
    const bool nhwc = format == SN_NHWC;
    const size_t items = nhwc ? p->spatial : channels, step = sn_items_per_unit(nhwc ? channels : p->spatial);
    const struct job job = {p, items, step, nhwc ? sn_table()->shuffle.nhwc_32f : sn_table()->shuffle.nchw_32f};
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = sn_ceil_div(items, step),
        .cost = sn_cost_of_bytes(16.0 * (double)channels * (double)p->spatial)});
}
