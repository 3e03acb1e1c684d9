/* A unit of work is a number of spatial positions of one image; of a plain copy, a number of elements. */
#include "ops/layout.h"

#include <string.h>

#include "core/dispatch.h"
#include "core/format.h"
#include "core/threads.h"
#include "ops/pieces.h"

struct copy {
    const float * src;
    float * dst;
    size_t elements;
};

static void copy_range(const void * argument, size_t begin, size_t end)
{
    const struct copy * job = argument;
    const size_t first = begin * SN_PIECE, number = sn_min(end * SN_PIECE, job->elements) - first;
    memcpy(job->dst + first, job->src + first, number * sizeof(float));
}

struct convert {
    const float * src;
    float * dst;
    SimdTensorFormatType srcFormat, dstFormat;
    size_t channels, spatial, srcImage, dstImage;
    size_t pieces, step; /* of one image; positions of each */
    sn_convert_image_32f_fn kernel;
};

static void convert_range(const void * argument, size_t begin, size_t end)
{
    const struct convert * job = argument;
    for (size_t unit = begin, number; unit < end; unit += number) {
        const size_t image = unit / job->pieces, piece = unit % job->pieces;
        number = sn_min(end - unit, job->pieces - piece);
        job->kernel(job->channels, job->spatial, job->src + image * job->srcImage, job->srcFormat,
                    job->dst + image * job->dstImage, job->dstFormat, piece * job->step,
                    sn_min((piece + number) * job->step, job->spatial));
    }
}

void sn_convert_image_32f(size_t batch, size_t channels, size_t spatial, const float * src, SimdTensorFormatType srcFormat,
                          float * dst, SimdTensorFormatType dstFormat)
{
    size_t srcImage, dstImage;
    sn_image_elements(&srcImage, 1, channels, spatial, srcFormat);
    sn_image_elements(&dstImage, 1, channels, spatial, dstFormat);
    if (srcFormat == dstFormat) {
        const struct copy job = {src, dst, batch * srcImage};
        sn_parallel_for(copy_range, &job, sn_ceil_div(job.elements, SN_PIECE));
        return;
    }
    /* Whole cache lines of both sides: a multiple of 16 positions. */
    const size_t step = sn_align(sn_items_per_piece(channels), 16), pieces = sn_ceil_div(spatial, step);
    const struct convert job = {src,      dst,      srcFormat, dstFormat, channels, spatial,
                                srcImage, dstImage, pieces,    step,      sn_table()->convert_image_32f};
    sn_parallel_for(convert_range, &job, batch * pieces);
}
