/* A unit of work is a number of positions. */
#include "ops/lrn.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

struct job {
    const struct sn_lrn * p;
    size_t step; /* positions of a unit */
    sn_lrn_32f_fn kernel;
};

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    job->kernel(job->p, begin * job->step, sn_min(end * job->step, job->p->spatial), work);
}

bool sn_lrn_32f(const struct sn_lrn * p)
{
    const size_t bytes = sn_lrn_work(p) * sizeof(float);
    void * work = sn_scratch(bytes);
    if (!work)
        return false;
    /* Whole cache lines of NCHW: a multiple of 16 positions. */
    const size_t step = sn_align(sn_items_per_unit(p->channels), 16);
    const struct job job = {p, step, sn_table()->lrn.run_32f};
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = sn_ceil_div(p->spatial, step),
        .cost = sn_cost_of_bytes(64.0 * (double)p->channels * (double)p->spatial), .work = work, .workBytes = bytes});
    return true;
}
