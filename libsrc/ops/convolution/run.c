/* Runs a convolution on several threads: by lines and panels of outputs (shares.h), or by columns of a single line. */
#include "ops/convolution/band.h"
#include "ops/convolution/plan.h"
#include "runtime/cpu.h"
#include "runtime/threads.h"

struct job {
    const struct sn_convolution_run * r;
    struct sn_shares shares;
    struct sn_arrays all;
};

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    struct sn_share s;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&job->shares, begin, end);
        const struct sn_arrays a = sn_image_of(&job->all, s.image, work);
        job->r->compute(job->r->c, &s, &a);
    }
}

/*
 * ---- columns of a single line, such as a signal
 *
 * Some columns are a convolution of their own, with a part of the padding: it is computed by a copy of the plan that has the
 * sizes of the part.
 *
 * Otherwise such an image is computed by one thread, unless it has several panels of outputs: for each of these all of its
 * source is read, and each pixel of the result is written in parts. On two threads signals that took 0.98 to 1.2 of the time
 * of one take 0.5 to 0.55. With parts that stay in the L2 cache one thread takes 0.59 of the time for 128x1x4000 to 128 by
 * 1x3 in 8 groups (NHWC), 0.68 to 0.8 for 32x1x16000 to 1 by 1x7, 0.8 to 0.9 for 24x1x20000 to 3 by 1x5 (Xeon with AMX).
 */

/* The least outputs of a part: nearly two tiles, and more than the pixels that another kernel computes with other bits. */
enum { LEAST_COLUMNS = 24 };

/* Of an image: parts of equal size, and how many of them are computed together at most. */
struct columns {
    const struct sn_convolution_run * r;
    const struct sn_arrays * all;
    size_t parts, most;
};

/* Whether the columns of a line are divided, and how. */
static bool divides_columns(const struct sn_convolution_run * r, const struct sn_shares * shares, struct columns * by)
{
    const struct sn_convolution_parameters * p = &r->c->p;
    const bool line = p->srcH == 1 && p->dstH == 1 && p->kernelY == 1 && p->padY == 0;
    if (!r->columns || !line || p->dstW < 2 * LEAST_COLUMNS)
        return false;
    const size_t parts = p->dstW / LEAST_COLUMNS, all = (r->c->srcSize + r->c->dstSize) / sn_max(r->parts, 1);
    const size_t reach = sn_ceil_div((p->kernelX - 1) * p->dilationX, LEAST_COLUMNS);
    const size_t near = sn_max(sn_cpu()->cacheL2 / 4 / (all / parts + 1), reach + 1);
    *by = (struct columns){.r = r, .parts = parts, .most = r->near ? near : parts};
    const bool large = shares->width && shares->weights / 2 > shares->source; /* weights, which a thread would all read */
    return by->most < parts || (sn_threads() > 1 && shares->images < 2 * sn_threads() && !large);
}

/* The convolution of columns first .. end - 1, and its arrays. */
static struct sn_convolution part_of(const struct sn_convolution_run * r, size_t first, size_t end, struct sn_arrays * a)
{
    const struct sn_convolution * c = r->c;
    struct sn_convolution part = *c;
    const bool planes = c->p.srcF == SN_NCHW;
    const size_t srcStep = planes ? 1 : a->at->srcPixel, dstStep = planes ? 1 : a->at->dstPixel;
    const size_t at = first * c->p.strideX, skip = at > c->p.padX ? sn_min(at - c->p.padX, c->p.srcW) : 0;
    const size_t used = sn_used(end - first, c->p.strideX, c->p.kernelX, c->p.dilationX);
    part.p.dstW = end - first;
    part.p.padX -= sn_min(at, c->p.padX);
    part.p.srcW = sn_min(c->p.srcW - skip, used - sn_min(used, part.p.padX));
    a->src = (const char *)a->src + skip * srcStep * sn_element(c->p.srcT);
    a->add = a->add ? (const char *)a->add + first * dstStep * sn_element(c->p.dstT) : NULL; /* laid out as dst */
    a->dst = (char *)a->dst + first * dstStep * sn_element(c->p.dstT);
    if (r->narrow)
        r->narrow(&part);
    return part;
}

static void run_columns(const void * argument, void * work, size_t begin, size_t end)
{
    const struct columns * by = argument;
    const struct sn_convolution * c = by->r->c;
    for (size_t count; begin < end; begin += count) {
        const size_t image = begin / by->parts, at = begin % by->parts;
        count = sn_min(sn_min(by->parts - at, end - begin), by->most);
        struct sn_arrays a = sn_image_of(by->all, image, work);
        const struct sn_convolution part =
            part_of(by->r, at * c->p.dstW / by->parts, (at + count) * c->p.dstW / by->parts, &a);
        const struct sn_share line = {.units = 1, .image = image, .lines = 1, .columns = c->p.dstC};
        by->r->compute(&part, &line, &a);
    }
}

/* Runs a convolution whose columns are divided. False: they are not, and nothing was computed. */
static bool runs_columns(const struct sn_convolution_run * r, const struct sn_shares * shares, const struct sn_arrays * all)
{
    struct columns by;
    if (!divides_columns(r, shares, &by))
        return false;
    by.all = all;
    sn_parallel_for(&(struct sn_parallel){.run = run_columns, .job = &by, .cost = r->time,
        .units = shares->images * by.parts, .work = r->arrays->work, .workBytes = r->c->workSize});
    return true;
}

/* ---- */

void sn_convolution_run(const struct sn_convolution_run * r)
{
    const size_t parts = sn_max(r->parts, 1);
    struct sn_distances split;
    struct sn_shares shares = r->shares;
    shares.images = r->joined ? 1 : r->c->batch * parts;
    struct sn_arrays all = *r->arrays; /* images are parts */
    if (parts > 1) { /* the divisions would slow down small layers */
        split = *r->arrays->at;
        split.srcImage /= parts;
        split.addImage /= parts;
        split.dstImage /= parts;
        all.at = &split;
    }
    if (runs_columns(r, &shares, &all))
        return;
    struct job job = {r, sn_shares_of(shares), all};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .cost = r->time,
        .units = shares.images * job.shares.imageUnits, .least = job.shares.least,
        .work = r->arrays->work, .workBytes = r->c->workSize});
}
