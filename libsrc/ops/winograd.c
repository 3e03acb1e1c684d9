#include "ops/winograd.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* Filters, tiles or rows of tiles in one unit of work: whole vectors of any instruction set, since they may be lanes. */
static size_t step_of(size_t elements) { return sn_align(sn_items_per_unit(elements), 16); }

/* The cost of transforming `number` filters or tiles of a channel. */
static double cost_of(enum sn_winograd kind, size_t number)
{
    return sn_cost_of_bytes(8.0 * (double)sn_winograd_planes(sn_winograd_size(kind)) * (double)number);
}

struct filter {
    struct sn_winograd_filter_32f job;
    size_t step;
    sn_winograd_filter_32f_fn kernel;
};

static void filter_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct filter * f = argument;
    struct sn_winograd_filter_32f job = f->job;
    job.begin = begin * f->step;
    job.end = sn_min(end * f->step, job.size);
    job.dst += job.begin;
    f->kernel(&job);
}

void sn_winograd_filter_32f(enum sn_winograd kind, const sn_32f * src, size_t size, sn_32f * dst, bool trans)
{
    const struct filter f = {{.kind = kind, .src = src, .size = size, .dst = dst, .plane = size, .trans = trans},
                             step_of(sn_winograd_planes(sn_winograd_size(kind))), sn_table()->winograd.filter_32f};
    sn_parallel_for(&(struct sn_parallel){.run = filter_range, .job = &f, .units = sn_ceil_div(size, f.step),
        .cost = cost_of(kind, size)});
}

/* Division of an image: into tiles in NHWC, into rows of tiles in NCHW. */
struct split {
    size_t step, units, distance; /* units at a time; all units; floats between the coefficients of neighbours */
};

static struct split split_of(enum sn_winograd kind, bool trans, size_t channels, size_t tilesY, size_t tilesX, size_t tile)
{
    const size_t planes = sn_winograd_planes(sn_winograd_size(kind));
    return trans ? (struct split){step_of(planes * channels), tilesY * tilesX, tile}
                 : (struct split){step_of(planes * tilesX), tilesY * channels, tilesX};
}

struct input {
    struct sn_winograd_input_32f job;
    struct split split;
    sn_winograd_input_32f_fn kernel;
};

static void input_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct input * i = argument;
    struct sn_winograd_input_32f job = i->job;
    job.begin = begin * i->split.step;
    job.end = sn_min(end * i->split.step, i->split.units);
    job.dst += job.begin * i->split.distance;
    i->kernel(&job);
}

void sn_winograd_input_32f(struct sn_winograd_input_32f job)
{
    const struct input i = {job, split_of(job.kind, job.trans, job.channels, job.tilesY, job.tilesX, job.tile),
                            sn_table()->winograd.input_32f};
    sn_parallel_for(&(struct sn_parallel){.run = input_range, .job = &i, .units = sn_ceil_div(i.split.units, i.split.step),
        .cost = cost_of(job.kind, job.tilesY * job.tilesX * job.channels)});
}

struct output {
    struct sn_winograd_output_32f job;
    struct split split;
    sn_winograd_output_32f_fn kernel;
};

static void output_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct output * o = argument;
    struct sn_winograd_output_32f job = o->job;
    job.begin = begin * o->split.step;
    job.end = sn_min(end * o->split.step, o->split.units);
    job.src += job.begin * o->split.distance;
    o->kernel(&job);
}

void sn_winograd_output_32f(struct sn_winograd_output_32f job)
{
    const struct output o = {job, split_of(job.kind, job.trans, job.channels, job.tilesY, job.tilesX, job.tile),
                             sn_table()->winograd.output_32f};
    sn_parallel_for(&(struct sn_parallel){.run = output_range, .job = &o, .units = sn_ceil_div(o.split.units, o.split.step),
        .cost = cost_of(job.kind, job.tilesY * job.tilesX * job.channels)});
}
