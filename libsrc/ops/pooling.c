#include "ops/pooling.h"

#include "core/threads.h"

struct job {
    sn_pooling_fn pooling;
    const struct sn_pooling * p;
};

static void run(const void * data, size_t begin, size_t end)
{
    const struct job * job = data;
    job->pooling(job->p, begin, end);
}

void sn_pooling(sn_pooling_fn pooling, const struct sn_pooling * p)
{
    const struct job job = {pooling, p};
    sn_parallel_for(run, &job, p->axis[0].dst * sn_pooling_pairs(p));
}
