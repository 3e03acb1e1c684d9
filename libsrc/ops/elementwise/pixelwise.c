/*
 * Pixels among other elements are computed one by one, by the kernels that also compute dense arrays. A call costs 4 ns
 * (ReLU) to 14 ns (two arrays): with 16, 64 and 256 channels ReLU takes 3.5, 1.6 and 1.2 times as long as on dense arrays in
 * the L2 cache, scale and bias 6, 2.4 and 1.9 times. Dense arrays are left to the families' drivers.
 */
#include "ops/elementwise/pixelwise.h"

#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/elementwise/channelwise.h"
#include "ops/elementwise/eltwise.h"
#include "ops/elementwise/pointwise.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct job {
    const struct sn_pixelwise * p;
    const struct sn_table * table;
};

static struct sn_channelwise layer_of(const struct sn_pixelwise * p, size_t pixels)
{
    return (struct sn_channelwise){.op = (enum sn_channelwise_op)p->op, .src = p->src[0], .p = {p->each[0], p->each[1]},
        .channels = p->channels, .spatial = pixels, .dst = p->dst, .format = SN_NHWC};
}

/* ---- pixels one by one; units are pixels */

/* By the kernel for lines, which base does not have: 1.3 to 1.5 times as fast as memcpy() for 16 channels. */
static void copy(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_pixelwise * p = job->p;
    const struct sn_lines_32f lines = {.src = p->src[0] + begin * p->srcPixel[0], .srcStep = p->srcPixel[0], .stride = 1,
        .dst = p->dst + begin * p->dstPixel, .dstStep = p->dstPixel, .lines = end - begin, .inside = p->channels,
        .size = p->channels};
    if (job->table->convolution_32f.lines)
        job->table->convolution_32f.lines(&lines);
    else
        for (size_t i = 0; i < lines.lines; ++i)
            memcpy(lines.dst + i * lines.dstStep, lines.src + i * lines.srcStep, p->channels * sizeof(float));
}

static void pointwise(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_pixelwise * p = job->p;
    const sn_pointwise_32f_fn kernel = job->table->pointwise.run_32f[p->op];
    for (; begin < end; ++begin)
        kernel(p->src[0] + begin * p->srcPixel[0], p->channels, p->params, p->dst + begin * p->dstPixel, false);
}

static void channelwise(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_pixelwise * p = job->p;
    const sn_channelwise_rows_fn kernel = job->table->channelwise.rows[p->op];
    struct sn_channelwise layer = layer_of(p, 1);
    struct sn_channelwise_rows row = {.p = {p->each[0], p->each[1]}, .rows = 1, .size = p->channels, .period = p->channels};
    for (; begin < end; ++begin) {
        layer.src = row.src = p->src[0] + begin * p->srcPixel[0];
        layer.dst = row.dst = p->dst + begin * p->dstPixel;
        if (kernel)
            kernel(&row);
        else
            job->table->channelwise.layer(&layer);
    }
}

static void eltwise(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_pixelwise * p = job->p;
    for (; begin < end; ++begin) {
        const sn_32f * const src[2] = {p->src[0] + begin * p->srcPixel[0], p->src[1] + begin * p->srcPixel[1]};
        job->table->eltwise.run_32f(src, p->params, 2, 0, p->channels, (enum sn_eltwise)p->op, p->dst + begin * p->dstPixel,
                                    false);
    }
}

/* ---- pixels of few channels, in dense blocks: for each alone, a call would take ten times as long as its elements */

enum { BLOCK = 256, FEW = 8 };

static void move(const sn_32f * src, size_t srcStep, size_t pixels, size_t channels, sn_32f * dst, size_t dstStep)
{
    for (size_t i = 0; i < pixels; ++i)
        for (size_t c = 0; c < channels; ++c)
            dst[i * dstStep + c] = src[i * srcStep + c];
}

static void by_blocks(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_pixelwise * p = job->p;
    const size_t most = BLOCK / p->channels;
    sn_32f first[BLOCK], second[BLOCK], dst[BLOCK];
    const sn_32f * const src[2] = {first, second};
    for (size_t pixels; begin < end; begin += pixels) {
        pixels = sn_min(most, end - begin);
        move(p->src[0] + begin * p->srcPixel[0], p->srcPixel[0], pixels, p->channels, first, p->channels);
        if (p->kind == SN_PIXELWISE_POINTWISE) {
            job->table->pointwise.run_32f[p->op](first, pixels * p->channels, p->params, dst, false);
        } else {
            move(p->src[1] + begin * p->srcPixel[1], p->srcPixel[1], pixels, p->channels, second, p->channels);
            job->table->eltwise.run_32f(src, p->params, 2, 0, pixels * p->channels, (enum sn_eltwise)p->op, dst, false);
        }
        move(dst, p->channels, pixels, p->channels, p->dst + begin * p->dstPixel, p->dstPixel);
    }
}

static bool has_few_channels(const struct sn_pixelwise * p)
{
    return p->channels && p->channels < FEW && (p->kind == SN_PIXELWISE_POINTWISE || p->kind == SN_PIXELWISE_ELTWISE);
}

static void one_by_one(const struct sn_pixelwise * p)
{
    static void (*const runs[])(const void *, void *, size_t, size_t) = {copy, pointwise, channelwise, eltwise};
    const struct job job = {p, sn_table()};
    sn_parallel_for(&(struct sn_parallel){
        .run = has_few_channels(p) ? by_blocks : runs[p->kind], .job = &job, .units = p->pixels,
        .cost = sn_cost_of_bytes(12.0 * (double)p->pixels * (double)p->channels), .least = sn_items_per_unit(p->channels)});
}

/* ---- dense arrays */

static void dense(const struct sn_pixelwise * p)
{
    const size_t size = p->pixels * p->channels;
    const struct sn_channelwise layer = layer_of(p, p->pixels);
    if (p->kind == SN_PIXELWISE_POINTWISE)
        sn_pointwise_32f((enum sn_pointwise)p->op, p->src[0], size, p->params, p->dst);
    else if (p->kind == SN_PIXELWISE_CHANNELWISE)
        sn_channelwise(&layer);
    else
        sn_eltwise_32f(p->src, p->params, 2, size, (enum sn_eltwise)p->op, p->dst);
}

static bool is_dense(const struct sn_pixelwise * p)
{
    return p->srcPixel[0] == p->channels && p->dstPixel == p->channels && (!p->src[1] || p->srcPixel[1] == p->channels);
}

void sn_pixelwise(const struct sn_pixelwise * p)
{
    if (p->kind != SN_PIXELWISE_COPY && is_dense(p))
        dense(p);
    else
        one_by_one(p);
}
