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
    if (c->p.activation != SN_ACTIVATION_PRELU || c->run >= c->p.dstC || c->runStep == c->run) {
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

/* ---- planes, see sn_convolution_plane(), with gaps between pixels, which no other planes have */

static bool has_gaps(const struct sn_arrays * a)
{
    return a->at->srcPixel != 1 || a->at->dstPixel != 1 || (a->add && a->at->addPixel != 1);
}

static void gather(const struct sn_convolution * c, const sn_32f * src, size_t pixel, size_t pixels, sn_32f * plane)
{
    const struct sn_lines_32f line = {.src = src, .stride = pixel, .dst = plane, .lines = 1, .inside = pixels, .size = pixels};
    c->table->convolution_32f.lines(&line);
}

/* Image by image, from copies, to a copy. */
static void forward_gaps(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t src = c->p.srcH * c->p.srcW, dst = c->p.dstH * c->p.dstW;
    struct sn_convolution one = *c;
    one.batch = 1;
    one.workSize -= (sn_plane_src(c) + 2 * sn_plane_dst(c)) * sizeof(float);
    one.dense.after = a->at->after;
    sn_32f * from = (sn_32f *)a->work + one.workSize / sizeof(float), * add = from + sn_plane_src(c), * to = add + sn_plane_dst(c);
    struct sn_arrays dense = {from, a->work, a->add ? add : NULL, to, &one.dense};
    for (size_t b = 0; b < c->batch; ++b) {
        const struct sn_arrays image = sn_image_of(a, b, a->work);
        gather(c, image.src, a->at->srcPixel, src, from);
        if (a->add)
            gather(c, image.add, a->at->addPixel, dst, add);
        sn_convolution_forward_32f(&one, &dense);
        const struct sn_lines_32f pixels = {.src = to, .srcStep = 1, .stride = 1, .dst = image.dst,
            .dstStep = a->at->dstPixel, .lines = dst, .inside = 1, .size = 1};
        c->table->convolution_32f.lines(&pixels);
    }
}

void sn_convolution_forward_32f(const struct sn_convolution * c, const struct sn_arrays * a)
{
    if (sn_is_plane(c) && has_gaps(a)) {
        forward_gaps(c, a);
        return;
    }
    if (c->family->forward)
        c->family->forward(c, a);
    else if (a->add && !c->algorithm->plain)
        sn_forward_added(&(struct sn_added){c, c, c->algorithm->adds, forward}, a);
    else
        c->algorithm->forward(c, a);
}
