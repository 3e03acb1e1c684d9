/* Rows of the matrix are independent: they are divided among threads in pieces that are large enough to be worth it. */
#include "ops/inner_product.h"

#include "ops/units.h"
#include "runtime/threads.h"

/* Rows of one unit of work: a multiple of the rows that any kernel computes together. */
enum { ROWS = 48 };

struct job {
    struct sn_inner_product_32f whole;
    sn_inner_product_32f_fn kernel;
};

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    struct sn_inner_product_32f part = job->whole;
    const size_t first = begin * ROWS;
    part.count = sn_min(end * ROWS, part.count) - first;
    part.weight += first * part.step;
    part.bias = part.bias ? part.bias + first : NULL;
    part.dst += first;
    job->kernel(&part);
}

void sn_inner_product_32f(const struct sn_table * table, const struct sn_inner_product_32f * p)
{
    struct job job = {*p, table->inner_product.run_32f};
    job.whole.matrix = p->count * p->step;
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = sn_ceil_div(p->count, ROWS),
        .cost = sn_cost_of_bytes(4.0 * (double)p->count * (double)p->size)});
}
