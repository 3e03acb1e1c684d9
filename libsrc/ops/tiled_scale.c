/*
 * Lines of an image are rows of the channelwise kernels, whose second source is `ver`. In NCHW the coefficient of a line is
 * one number, and `ver` is repeated in a tile, so that a call computes many short lines; in NHWC the coefficients of a line
 * are those of its channels.
 */
#include "ops/tiled_scale.h"

#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

enum { TILE = 4096 }; /* 16 KB of the L1 cache: each call ends with a fence if it streams */

struct job {
    const struct sn_tiled_scale * l;
    sn_channelwise_rows_fn kernel;
    size_t lines, groups; /* NCHW: lines of a call, and calls for a plane: a unit is a call */
    bool stream;
};

static void planes(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_tiled_scale * l = job->l;
    float tile[TILE];
    size_t tiled = SIZE_MAX; /* the plane whose coefficients are in the tile */
    for (size_t unit = begin; unit < end; ++unit) {
        const size_t c = unit / job->groups, y = unit % job->groups * job->lines, first = c * l->height + y;
        const sn_32f * ver = l->ver + c * l->width;
        for (size_t i = 0; job->lines > 1 && c != tiled && i < job->lines; ++i)
            memcpy(tile + i * l->width, ver, l->width * sizeof(float));
        tiled = c;
        job->kernel(&(struct sn_channelwise_rows){.src = l->src + first * l->width, .src1 = job->lines > 1 ? tile : ver,
            .p = {l->hor + first}, .dst = l->dst + first * l->width, .rows = sn_min(job->lines, l->height - y),
            .size = l->width, .period = 1, .stream = job->stream});
    }
}

static void pixels(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_tiled_scale * l = job->l;
    const size_t size = l->width * l->channels;
    for (size_t y = begin; y < end; ++y)
        job->kernel(&(struct sn_channelwise_rows){.src = l->src + y * size, .src1 = l->ver, .p = {l->hor + y * l->channels},
            .dst = l->dst + y * size, .rows = 1, .size = size, .period = l->channels, .stream = job->stream});
}

void sn_tiled_scale(const struct sn_tiled_scale * l)
{
    const struct sn_table * table = sn_table();
    const size_t bytes = 2 * l->channels * l->height * l->width * sizeof(float);
    struct job job = {.l = l, .kernel = table->channelwise.rows[SN_TILED_SCALE]};
    if (!job.kernel) {
        table->channelwise.tiled_scale(l);
        return;
    }
    job.lines = sn_min(sn_max(TILE / l->width, 1), l->height);
    job.groups = sn_ceil_div(l->height, job.lines);
    job.stream = l->src != l->dst && sn_beyond_cache(bytes);
    const bool nhwc = l->format == SN_NHWC;
    sn_parallel_for(&(struct sn_parallel){.run = nhwc ? pixels : planes, .job = &job,
        .units = nhwc ? l->height : l->channels * job.groups,
        .least = sn_items_per_unit(l->width * (nhwc ? l->channels : job.lines)), .cost = sn_cost_of_bytes((double)bytes)});
}
