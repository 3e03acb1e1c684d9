/*
 * Convolution and addition of an array of floats. Algorithms add before the activation, and arrays with the layout of the
 * result: an array with another distance between pixels is copied to the result first. For algorithms that do not add in
 * their sums (depthwise, few outputs, deconvolution), and after the activation, another pass over the result adds; an
 * addition before the activation is then followed by it. Such layers are rarely the last of a residual block.
 */
#include "ops/convolution/32f.h"
#include "ops/units.h"
#include "runtime/threads.h"

/* ---- passes over the result */

struct job {
    const struct sn_table * table;
    struct sn_join_32f join;
    struct sn_lines_32f lines;
};

/* Units are rows. */
static void join_rows(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    struct sn_join_32f some = job->join;
    (void)work;
    some.add += begin * some.addStep;
    some.dst += begin * some.dstStep;
    some.first = begin;
    some.rows = end - begin;
    job->table->convolution_32f.join(&some);
}

static void copy_rows(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    struct sn_lines_32f some = job->lines;
    (void)work;
    some.src += begin * some.srcStep;
    some.dst += begin * some.dstStep;
    some.lines = end - begin;
    job->table->convolution_32f.lines(&some);
}

static void pass(const struct job * job, void (*run)(const void *, void *, size_t, size_t), size_t rows, size_t columns)
{
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = job, .units = rows,
        .cost = sn_cost_of_bytes(12 * (double)rows * (double)columns), .least = sn_items_per_unit(columns)});
}

/*
 * Some images of some channels. Rows are lines of planes; in NHWC, pixels if there is a slope for each channel or if other
 * elements are between pixels, otherwise lines of pixels.
 */
static void join_channels(const struct sn_convolution * c, const struct sn_arrays * a, size_t batch, size_t channels,
                          const sn_32f * slope)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool planes = p->srcF == SN_NCHW, spaced = a->at->addPixel != channels || a->at->dstPixel != channels;
    const bool pixels = !planes && (spaced || p->activation == SN_ACTIVATION_PRELU);
    const size_t columns = planes ? p->dstW : pixels ? channels : p->dstW * channels;
    const size_t rows = batch * p->dstH * (planes ? channels : pixels ? p->dstW : 1);
    const struct job job = {c->table, .join = {.add = a->add, .dst = a->dst, .rows = rows, .columns = columns,
        .addStep = pixels ? a->at->addPixel : columns, .dstStep = pixels ? a->at->dstPixel : columns, .slope = slope,
        .byRow = !pixels, .period = planes ? p->dstH : SIZE_MAX, .slopes = planes ? channels : 1,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}}};
    pass(&job, join_rows, rows, columns);
}

/* All at once; or run by run where the algorithm keeps their slopes apart from each other. */
static void join(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t from = c->p.srcF == SN_NCHW ? c->p.dstH * c->p.dstW : 1;
    if (c->p.activation != SN_ACTIVATION_PRELU || c->p.group == 1 || c->runStep == c->run) {
        join_channels(c, a, c->batch, c->p.dstC, c->slope);
        return;
    }
    for (size_t b = 0; b < c->batch; ++b)
        for (size_t o = 0; o < c->p.dstC; o += c->run) {
            struct sn_arrays part = sn_image_of(a, b, NULL);
            part.add = (const sn_32f *)part.add + o * from;
            part.dst = (sn_32f *)part.dst + o * from;
            join_channels(c, &part, 1, sn_min(c->run, c->p.dstC - o), c->slope + sn_channel_index(c, o));
        }
}

/* Copies `add` to the result, in NHWC. */
static void place(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t channels = c->p.dstC, pixels = c->batch * c->p.dstH * c->p.dstW;
    const struct job job = {c->table, .lines = {.src = a->add, .srcStep = a->at->addPixel, .stride = 1, .dst = a->dst,
        .dstStep = a->at->dstPixel, .inside = channels, .size = channels}};
    pass(&job, copy_rows, pixels, channels);
}

/* ---- forward */

/* The convolution without its activation. */
static struct sn_convolution linear(const struct sn_convolution * c)
{
    struct sn_convolution linear = *c;
    linear.p.activation = SN_ACTIVATION_IDENTITY;
    linear.slope = NULL;
    return linear;
}

void sn_forward_added(const struct sn_added * added, const struct sn_arrays * a)
{
    const struct sn_convolution * last = added->last;
    struct sn_distances placed = *a->at;
    struct sn_arrays some = *a;
    if (added->adds && !a->at->after) {
        if (a->at->addPixel != a->at->dstPixel) {
            place(last, a);
            some.add = a->dst;
            placed.addPixel = placed.dstPixel, placed.addImage = placed.dstImage;
            some.at = &placed;
        }
        added->forward(added->plan, last, &some);
        return;
    }
    const struct sn_convolution without = linear(last);
    some.add = NULL;
    added->forward(added->plan, a->at->after ? last : &without, &some);
    join(a->at->after ? &without : last, a);
}

static void forward(const void * plan, const struct sn_convolution * c, const struct sn_arrays * a)
{
    (void)plan;
    c->algorithm->forward(c, a);
}

void sn_convolution_forward_32f(const struct sn_convolution * c, const struct sn_arrays * a)
{
    if (c->family->forward)
        c->family->forward(c, a);
    else if (a->add && !c->algorithm->plain)
        sn_forward_added(&(struct sn_added){c, c, c->algorithm->adds, forward}, a);
    else
        c->algorithm->forward(c, a);
}
