#include "ops/elementwise/pointwise.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct job {
    const sn_32f * src;
    size_t size;
    const sn_32f * params;
    sn_32f * dst;
    bool stream;
    sn_pointwise_32f_fn kernel;
};

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const size_t first = begin * SN_UNIT_ELEMENTS, number = sn_min(end * SN_UNIT_ELEMENTS, job->size) - first;
    job->kernel(job->src + first, number, job->params, job->dst + first, job->stream);
}

void sn_pointwise_32f(enum sn_pointwise function, const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst)
{
    const bool stream = (src != dst || function == SN_FILL) && sn_beyond_cache(2 * size * sizeof(float));
    const struct job job = {src, size, params, dst, stream, sn_table()->pointwise.run_32f[function]};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = sn_ceil_div(size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes(8.0 * (double)size)});
}
