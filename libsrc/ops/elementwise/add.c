#include "ops/elementwise/add.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct add_8i {
    struct sn_add_8i add;
    size_t channels, spatial;
    size_t number, step; /* pixels (NHWC) or channels (NCHW) of all images, and of a unit */
    enum sn_format format;
    sn_add_8i_fn kernel;
};

static void add_8i_nhwc(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct add_8i * job = argument;
    const size_t first = begin * job->step, number = sn_min(end * job->step, job->number) - first;
    struct sn_add_8i add = job->add;
    add.a += first * job->channels;
    add.b += first * job->channels;
    add.c += first * job->channels;
    job->kernel(&add, job->channels, number, job->format);
}

/* The range may begin in one image and end in another. */
static void add_8i_nchw(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct add_8i * job = argument;
    const size_t last = sn_min(end * job->step, job->number);
    for (size_t row = begin * job->step, number; row < last; row += number) {
        const size_t c = row % job->channels;
        number = sn_min(last - row, job->channels - c);
        const struct sn_add_8i * p = &job->add;
        const size_t offset = row * job->spatial;
        const struct sn_add_8i add = {p->a + offset,    p->aScale + c, p->aShift + c, p->b + offset, p->bScale + c,
                                      p->bShift + c,    p->c + offset, p->cScale + c, p->cShift + c, p->upper};
        job->kernel(&add, number, job->spatial, job->format);
    }
}

void sn_add_8i(const struct sn_add_8i * add, size_t batch, size_t channels, size_t spatial, enum sn_format format)
{
    const bool nhwc = format == SN_NHWC;
    const size_t number = batch * (nhwc ? spatial : channels), step = sn_items_per_unit(nhwc ? channels : spatial);
    const struct add_8i job = {*add, channels, spatial, number, step, format, sn_table()->add.run_8i};
    sn_parallel_for(&(struct sn_parallel){.run = nhwc ? add_8i_nhwc : add_8i_nchw, .job = &job,
        .units = sn_ceil_div(number, step), .cost = sn_cost_of_bytes(8.0 * (double)(batch * channels * spatial))});
}

struct add_16b {
    const uint8_t * a, * b;
    uint8_t * dst;
    size_t aBytes, bBytes, dstBytes, size;
    sn_add_16b_fn kernel;
};

static void add_16b_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct add_16b * job = argument;
    const size_t first = begin * SN_UNIT_ELEMENTS, number = sn_min(end * SN_UNIT_ELEMENTS, job->size) - first;
    job->kernel(job->a + first * job->aBytes, job->b + first * job->bBytes, job->dst + first * job->dstBytes, number);
}

void sn_add_16b(const struct sn_table * table, bool aType, bool bType, bool dstType, const uint8_t * a, const uint8_t * b,
                uint8_t * dst, size_t size)
{
    const struct add_16b job = {a, b, dst, aType ? 2 : 4, bType ? 2 : 4, dstType ? 2 : 4, size,
                                table->add.run_16b[aType][bType][dstType]};
    sn_parallel_for(&(struct sn_parallel){.run = add_16b_range, .job = &job, .units = sn_ceil_div(size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes((double)(job.aBytes + job.bBytes + job.dstBytes) * (double)size)});
}

struct add_quantized {
    const struct sn_add_quantized * p;
    const uint8_t * a, * b;
    uint8_t * dst;
    size_t aBytes, bBytes, dstBytes, size;
    sn_add_quantized_fn kernel;
};

static void add_quantized_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct add_quantized * job = argument;
    const size_t first = begin * SN_UNIT_ELEMENTS, number = sn_min(end * SN_UNIT_ELEMENTS, job->size) - first;
    job->kernel(job->p, job->a + first * job->aBytes, job->b + first * job->bBytes, job->dst + first * job->dstBytes, number);
}

void sn_add_quantized(const struct sn_table * table, bool aType, bool bType, bool dstType, const struct sn_add_quantized * p,
                      const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)
{
    const struct add_quantized job = {p, a, b, dst, aType ? 1 : 4, bType ? 1 : 4, dstType ? 1 : 4, size,
                                      table->add.run_quantized[aType][bType][dstType]};
    sn_parallel_for(&(struct sn_parallel){.run = add_quantized_range, .job = &job,
        .units = sn_ceil_div(size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes((double)(job.aBytes + job.bBytes + job.dstBytes) * (double)size)});
}

struct add_pixels {
    struct sn_add_pixels all;
    size_t aStep, bStep, dstStep; /* bytes */
    sn_add_16b_fn kernel;
};

static void add_pixels_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct add_pixels * job = argument;
    const struct sn_add_pixels * p = &job->all;
    for (; begin < end; ++begin)
        job->kernel(p->a + begin * job->aStep, p->b + begin * job->bStep, p->dst + begin * job->dstStep, p->channels);
}

void sn_add_16b_pixels(const struct sn_table * table, bool aType, bool bType, bool dstType, const struct sn_add_pixels * p)
{
    const size_t aBytes = aType ? 2 : 4, bBytes = bType ? 2 : 4, dstBytes = dstType ? 2 : 4;
    const struct add_pixels job = {*p, aBytes * p->aPixel, bBytes * p->bPixel, dstBytes * p->dstPixel,
                                   table->add.run_16b[aType][bType][dstType]};
    sn_parallel_for(&(struct sn_parallel){.run = add_pixels_range, .job = &job, .units = p->pixels,
        .cost = sn_cost_of_bytes((double)(aBytes + bBytes + dstBytes) * (double)(p->channels * p->pixels)),
        .least = sn_items_per_unit(p->channels)});
}
