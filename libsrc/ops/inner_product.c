/* Rows of the matrix are independent: they are split over threads in pieces that are worth a hand-over. */
#include "ops/inner_product.h"

#include "core/dispatch.h"
#include "core/threads.h"

/* Rows of one unit of work: a multiple of what any kernel takes at once. */
enum { ROWS = 24 };

struct job {
    const float * src;
    const float * weight;
    const float * bias;
    size_t count, size;
    float * dst;
    sn_inner_product_32f_fn kernel;
};

static void run(const void * argument, size_t begin, size_t end)
{
    const struct job * job = argument;
    const size_t first = begin * ROWS, rows = sn_min(end * ROWS, job->count) - first;
    job->kernel(job->src, job->weight + first * job->size, job->bias ? job->bias + first : NULL, rows, job->size,
                job->dst + first);
}

void sn_inner_product_32f(const float * src, const float * weight, const float * bias, size_t count, size_t size,
                          float * dst)
{
    const struct job job = {src, weight, bias, count, size, dst, sn_table()->inner_product_32f};
    sn_parallel_for(run, &job, sn_ceil_div(count, ROWS));
}
