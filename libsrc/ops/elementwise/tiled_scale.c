#include "ops/elementwise/tiled_scale.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct job {
    const struct sn_tiled_scale * layer;
    sn_tiled_scale_fn kernel;
};

static void lines(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    job->kernel(job->layer, begin, end);
}

void sn_tiled_scale(const struct sn_tiled_scale * l)
{
    const struct job job = {l, sn_table()->tiled_scale.run_32f};
    const bool nhwc = l->format == SN_NHWC;
    const double values = (double)l->channels * (double)l->height * (double)l->width;
    sn_parallel_for(&(struct sn_parallel){.run = lines, .job = &job, .units = nhwc ? l->height : l->channels * l->height,
        .least = sn_items_per_unit(l->width * (nhwc ? l->channels : 1)),
        .cost = sn_cost_of_bytes(2 * values * sizeof(float))});
}
