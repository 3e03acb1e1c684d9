/* A unit of work is a number of rows. */
#include "ops/set_input.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct job {
    const struct sn_set_input * p;
    size_t step; /* rows of a unit */
    sn_set_input_32f_fn kernel;
};

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    job->kernel(job->p, begin * job->step, sn_min(end * job->step, job->p->height));
}

void sn_set_input_32f(const struct sn_set_input * p)
{
    const size_t step = sn_items_per_unit(p->width);
    const struct job job = {p, step, sn_table()->set_input.run_32f};
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = sn_ceil_div(p->height, step),
        .cost = sn_cost_of_bytes(24.0 * (double)p->height * (double)p->width)});
}
