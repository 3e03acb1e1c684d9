/*
 * Kernels pool pixels of many channels. Some planes of an image (NCHW) become pixels in a buffer and their results planes
 * again, which costs little beside windows that overlap.
 */
#include "ops/bytes/quantized_pooling.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/memory.h"

/* Planes that become pixels together: whole vectors of bytes. */
enum { PLANES = 64 };

struct job {
    const struct sn_table * table;
    sn_quantized_pooling_fn kernel;
    struct sn_quantized_pooling p;
    const uint8_t * src;
    uint8_t * dst;
    size_t pixels, results; /* of an image: srcH * srcW, dstH * dstW */
    size_t blocks;          /* of planes in an image */
};

/* Rows of results of all images. */
static void run_rows(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_quantized_pooling * p = &job->p;
    (void)work;
    for (size_t i = begin; i < end; ++i)
        job->kernel(p, job->src + i / p->dstH * job->pixels * p->channels, i % p->dstH, job->dst + i * p->dstW * p->channels);
}

/* Blocks of planes. */
static void run_planes(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    for (size_t i = begin; i < end; ++i) {
        struct sn_quantized_pooling p = job->p;
        const size_t plane = i % job->blocks * PLANES, first = i / job->blocks * p.channels + plane;
        uint8_t * image = work, * results;
        p.channels = sn_min(PLANES, p.channels - plane);
        results = image + job->pixels * p.channels;
        job->table->layout.transpose_8u(job->src + first * job->pixels, job->pixels, p.channels, job->pixels, image, p.channels);
        for (size_t y = 0; y < p.dstH; ++y)
            job->kernel(&p, image, y, results + y * p.dstW * p.channels);
        job->table->layout.transpose_8u(results, p.channels, job->results, p.channels, job->dst + first * job->results,
                                        job->results);
    }
}

/* What an image costs: each output reads its window. */
static double cost_of(const struct job * job, enum sn_quantized_pool type)
{
    const struct sn_quantized_pooling * p = &job->p;
    const double taps = type == SN_QUANTIZED_GLOBAL ? (double)job->pixels : (double)p->kernelY * (double)p->kernelX;
    return sn_cost_of_bytes((double)p->channels * ((double)job->pixels + (double)job->results * (2 + taps)));
}

bool sn_quantized_pooling(const struct sn_quantized_pooling * p, enum sn_quantized_pool type, bool planes, size_t batch,
                          const uint8_t * src, uint8_t * dst)
{
    const struct sn_table * table = sn_table();
    const struct sn_quantized_pooling_slots * slots = &table->quantized_pooling;
    const sn_quantized_pooling_fn kernels[] = {slots->max, slots->average, slots->global};
    const struct job job = {.table = table, .kernel = kernels[type], .p = *p, .src = src, .dst = dst,
        .pixels = p->srcH * p->srcW, .results = p->dstH * p->dstW, .blocks = sn_ceil_div(p->channels, PLANES)};
    struct sn_parallel parallel = {.run = run_rows, .job = &job, .units = batch * p->dstH,
        .cost = (double)batch * cost_of(&job, type)};
    if (planes && p->channels > 1) {
        parallel.run = run_planes;
        parallel.units = batch * job.blocks;
        parallel.workBytes = sn_align((job.pixels + job.results) * sn_min(PLANES, p->channels), SN_ALIGN);
        parallel.work = sn_scratch(parallel.workBytes);
        if (!parallel.work)
            return false;
    }
    sn_parallel_for(&parallel);
    return true;
}
