/*
 * Convolution with an addition before the activation. For algorithms that do not add in their sums (depthwise, few outputs),
 * another pass over the result adds and applies the activation; such layers are rarely the last of a residual block.
 */
#include "ops/convolution_32f.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct job {
    struct sn_join_32f all;
    const struct sn_table * table;
};

/* Units are rows. */
static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    struct sn_join_32f some = job->all;
    (void)work;
    some.add += begin * some.columns;
    some.dst += begin * some.columns;
    some.first = begin;
    some.rows = end - begin;
    job->table->convolution_32f.join(&some);
}

/* Rows are lines of planes; in NHWC, pixels if there is a slope for each channel, otherwise lines of pixels. */
static void join(const struct sn_convolution * c, const sn_32f * add, sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool byRow = p->srcF == SN_NCHW, pixels = !byRow && p->activation == SN_ACTIVATION_PRELU;
    const size_t columns = byRow ? p->dstW : pixels ? p->dstC : p->dstW * p->dstC;
    const size_t all = c->batch * c->dstSize / sizeof(float);
    const struct job job = {{.add = add, .dst = dst, .rows = all / columns, .columns = columns, .slope = c->slope,
        .byRow = !pixels, .period = byRow ? p->dstH : SIZE_MAX, .slopes = byRow ? p->dstC : 1,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}}, c->table};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = job.all.rows,
        .cost = sn_cost_of_bytes(12 * (double)all), .least = sn_items_per_unit(columns)});
}

void sn_convolution_32f_forward_add(const struct sn_convolution * c, const struct sn_arrays * a)
{
    if (c->algorithm->adds) {
        c->algorithm->forward(c, a);
        return;
    }
    struct sn_convolution linear = *c;
    linear.p.activation = SN_ACTIVATION_IDENTITY;
    linear.slope = NULL;
    c->algorithm->forward(&linear, &(struct sn_arrays){a->src, a->work, NULL, a->dst});
    join(c, a->add, a->dst);
}
