/* A unit of work is a number of positions. */
#include "ops/lrn.h"

#include "core/dispatch.h"
#include "core/memory.h"
#include "core/threads.h"
#include "ops/pieces.h"

struct job {
    const struct sn_lrn * p;
    size_t step; /* positions of a unit */
    bool * failed;
    sn_lrn_32f_fn kernel;
};

static void range(const void * argument, size_t begin, size_t end)
{
    const struct job * job = argument;
    float * work = sn_scratch(sn_lrn_work(job->p) * sizeof(float));
    if (work)
        job->kernel(job->p, begin * job->step, sn_min(end * job->step, job->p->spatial), work);
    else
        __atomic_store_n(job->failed, true, __ATOMIC_RELAXED);
}

bool sn_lrn_32f(const struct sn_lrn * p)
{
    /* The caller's own, before anything is written. */
    bool failed = !sn_scratch(sn_lrn_work(p) * sizeof(float));
    if (failed)
        return false;
    /* Whole cache lines of NCHW: a multiple of 16 positions. */
    const size_t step = sn_align(sn_items_per_piece(p->channels), 16);
    const struct job job = {p, step, &failed, sn_table()->lrn_32f};
    sn_parallel_for(range, &job, sn_ceil_div(p->spatial, step));
    return !failed;
}
