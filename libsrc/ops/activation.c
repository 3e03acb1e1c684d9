#include "ops/activation.h"

#include "core/dispatch.h"
#include "core/threads.h"
#include "ops/pieces.h"

struct relu {
    const float * src;
    size_t size;
    float slope;
    float * dst;
    bool stream;
    sn_relu_32f_fn kernel;
};

static void relu_range(const void * argument, size_t begin, size_t end)
{
    const struct relu * job = argument;
    const size_t first = begin * SN_PIECE, number = sn_min(end * SN_PIECE, job->size) - first;
    job->kernel(job->src + first, number, job->slope, job->dst + first, job->stream);
}

void sn_relu_32f(const float * src, size_t size, float slope, float * dst)
{
    const bool stream = src != dst && sn_beyond_cache(2 * size * sizeof(float));
    const struct relu job = {src, size, slope, dst, stream, sn_table()->relu_32f};
    sn_parallel_for(relu_range, &job, sn_ceil_div(size, SN_PIECE));
}
