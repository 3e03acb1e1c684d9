/* A unit of work is a number of spatial positions of one image, of inputs of a filter or, in a plain copy, of elements. */
#include "ops/layout.h"

#include <string.h>

#include "contract/format.h"
#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct copy {
    const sn_32f * src;
    sn_32f * dst;
    size_t elements;
};

static void copy_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct copy * job = argument;
    const size_t first = begin * SN_UNIT_ELEMENTS, number = sn_min(end * SN_UNIT_ELEMENTS, job->elements) - first;
    memcpy(job->dst + first, job->src + first, number * sizeof(float));
}

static void copy(const sn_32f * src, size_t elements, sn_32f * dst)
{
    const struct copy job = {src, dst, elements};
    sn_parallel_for(&(struct sn_parallel){.run = copy_range, .job = &job, .units = sn_ceil_div(elements, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes(8.0 * (double)elements)});
}

/* ---- images */

struct convert {
    const sn_32f * src;
    sn_32f * dst;
    enum sn_format srcFormat, dstFormat;
    size_t channels, spatial, srcImage, dstImage;
    size_t pieces, step; /* of one image; positions of each */
    sn_convert_image_32f_fn kernel;
};

static void convert_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct convert * job = argument;
    for (size_t unit = begin, number; unit < end; unit += number) {
        const size_t image = unit / job->pieces, piece = unit % job->pieces;
        number = sn_min(end - unit, job->pieces - piece);
        job->kernel(job->channels, job->spatial, job->src + image * job->srcImage, job->srcFormat,
                    job->dst + image * job->dstImage, job->dstFormat, piece * job->step,
                    sn_min((piece + number) * job->step, job->spatial));
    }
}

void sn_convert_image_32f(size_t batch, size_t channels, size_t spatial, const sn_32f * src, enum sn_format srcFormat,
                          sn_32f * dst, enum sn_format dstFormat)
{
    size_t srcImage, dstImage;
    sn_image_elements(&srcImage, 1, channels, spatial, srcFormat);
    sn_image_elements(&dstImage, 1, channels, spatial, dstFormat);
    if (srcFormat == dstFormat) {
        copy(src, batch * srcImage, dst);
        return;
    }
    /* Whole cache lines of both sides: a multiple of 16 positions. */
    const size_t step = sn_align(sn_items_per_unit(channels), 16), pieces = sn_ceil_div(spatial, step);
    const struct convert job = {src,      dst,      srcFormat, dstFormat, channels, spatial,
                                srcImage, dstImage, pieces,    step,      sn_table()->layout.image_32f};
    sn_parallel_for(&(struct sn_parallel){.run = convert_range, .job = &job, .units = batch * pieces,
        .cost = sn_cost_of_bytes(16.0 * (double)(batch * srcImage))});
}

/* ---- filters */

struct convert_filter {
    size_t output, input, kernel;
    const sn_32f * src;
    sn_32f * dst;
    enum sn_format srcFormat, dstFormat;
    size_t step; /* inputs of a unit */
    sn_convert_filter_32f_fn kernel_fn;
};

static void convert_filter_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct convert_filter * job = argument;
    job->kernel_fn(job->output, job->input, job->kernel, job->src, job->srcFormat, job->dst, job->dstFormat,
                   begin * job->step, sn_min(end * job->step, job->input));
}

void sn_convert_filter_32f(size_t output, size_t input, size_t kernel, const sn_32f * src, enum sn_format srcFormat,
                           sn_32f * dst, enum sn_format dstFormat)
{
    if (srcFormat == dstFormat) {
        size_t elements;
        sn_filter_elements(&elements, output, input, kernel, srcFormat);
        copy(src, elements, dst);
        return;
    }
    const size_t step = sn_align(sn_items_per_unit(output * kernel), 16);
    const struct convert_filter job = {output, input,     kernel,    src,  dst,
                                       srcFormat, dstFormat, step, sn_table()->layout.filter_32f};
    sn_parallel_for(&(struct sn_parallel){.run = convert_filter_range, .job = &job, .units = sn_ceil_div(input, step),
        .cost = sn_cost_of_bytes(16.0 * (double)(output * input * kernel))});
}
