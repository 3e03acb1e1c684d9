/*
 * NCHW is divided by channels, NHWC by groups of COLUMNS channels. Pixels of fewer channels are joined to rows of at least
 * so many values, whose sums are then added: the division never changes the order of additions.
 */
#include "ops/channel_sum.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/numeric.h"
#include "runtime/threads.h"

enum { COLUMNS = 64 };

struct job {
    const sn_16b * src;
    size_t channels, spatial;
    sn_32f * sum;
    const struct sn_channel_sum_slots * kernels;
};

static void planes(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    job->kernels->rows(job->src + begin * job->spatial, end - begin, job->spatial, job->spatial, job->sum + begin);
}

static void pixels(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const size_t c = begin * COLUMNS, count = sn_min(end * COLUMNS, job->channels) - c;
    job->kernels->columns(job->src + c, job->spatial, count, job->channels, job->sum + c);
}

static void narrow_pixels(const struct job * job)
{
    const size_t joined = sn_ceil_div(COLUMNS, job->channels), size = joined * job->channels;
    const size_t rows = job->spatial / joined;
    float sums[2 * COLUMNS];
    job->kernels->columns(job->src, rows, size, size, sums);
    for (size_t c = 0; c < job->channels; ++c) {
        float sum = 0;
        for (size_t i = c; i < size; i += job->channels)
            sum += sums[i];
        for (size_t i = rows * size + c; i < job->spatial * job->channels; i += job->channels)
            sum += sn_16b_to_32f(job->src[i]);
        job->sum[c] = sum;
    }
}

void sn_channel_sum_16b(const sn_16b * src, size_t channels, size_t spatial, enum sn_format format, sn_32f * sum)
{
    const struct job job = {src, channels, spatial, sum, &sn_table()->channel_sum};
    const bool nchw = format == SN_NCHW;
    if (!nchw && channels < COLUMNS) {
        narrow_pixels(&job);
        return;
    }
    sn_parallel_for(&(struct sn_parallel){.run = nchw ? planes : pixels, .job = &job,
        .units = nchw ? channels : sn_ceil_div(channels, COLUMNS),
        .least = sn_items_per_unit(spatial * (nchw ? 1 : COLUMNS)),
        .cost = sn_cost_of_bytes((double)channels * (double)spatial * sizeof(*src))});
}
