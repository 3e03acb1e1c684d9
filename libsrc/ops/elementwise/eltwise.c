#include "ops/elementwise/eltwise.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct job {
    const sn_32f * const * src;
    const sn_32f * weight;
    size_t count, size;
    enum sn_eltwise type;
    sn_32f * dst;
    bool stream;
    sn_eltwise_32f_fn kernel;
};

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const size_t first = begin * SN_UNIT_ELEMENTS, number = sn_min(end * SN_UNIT_ELEMENTS, job->size) - first;
    job->kernel(job->src, job->weight, job->count, first, number, job->type, job->dst, job->stream);
}

void sn_eltwise_32f(const sn_32f * const * src, const sn_32f * weight, size_t count, size_t size,
                    enum sn_eltwise type, sn_32f * dst)
{
    bool stream = sn_beyond_cache((count + 1) * size * sizeof(float));
    for (size_t i = 0; i < count; ++i)
        stream = stream && src[i] != dst; /* otherwise its cache lines are read anyway */
    const struct job job = {src, weight, count, size, type, dst, stream, sn_table()->eltwise.run_32f};
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = sn_ceil_div(size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes(4.0 * (double)(count + 1) * (double)size)});
}
