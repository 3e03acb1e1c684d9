#include "ops/narrow.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct job {
    const uint8_t * src;
    uint8_t * dst;
    size_t srcBytes, dstBytes, size;
    sn_narrow_fn kernel;
};

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const size_t first = begin * SN_UNIT_ELEMENTS, number = sn_min(end * SN_UNIT_ELEMENTS, job->size) - first;
    job->kernel(job->src + first * job->srcBytes, number, job->dst + first * job->dstBytes);
}

void sn_narrow(enum sn_narrow which, const void * src, size_t size, void * dst)
{
    const bool narrows = which == SN_32F_TO_16B || which == SN_32F_TO_16F;
    const struct job job = {src, dst, narrows ? 4 : 2, narrows ? 2 : 4, size, sn_table()->narrow.run[which]};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = sn_ceil_div(size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes(6.0 * (double)size)});
}
