#include "ops/bytes/table8.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct job {
    struct sn_table8 t;
    void (*kernel)(const struct sn_table8 * t);
};

/* Units are bytes of one row, or rows. */
static void run(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    struct sn_table8 part = job->t;
    const bool one = part.rows == 1;
    part.src += begin * (one ? 1 : part.srcStep);
    part.dst += begin * (one ? 1 : part.dstStep);
    *(one ? &part.n : &part.rows) = end - begin;
    job->kernel(&part);
}

void sn_table8(const uint8_t * table, const struct sn_table8 * t)
{
    SN_ALIGNED uint8_t prepared[SN_TABLE8];
    struct job job = {*t, sn_table()->table8.run};
    sn_table()->table8.prepare(table, prepared);
    job.t.prepared = prepared;
    if (t->srcStep == t->n && t->dstStep == t->n)
        job.t.n *= t->rows, job.t.rows = 1;
    const bool one = job.t.rows == 1;
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = one ? job.t.n : job.t.rows,
        .cost = sn_cost_of_bytes(2.0 * (double)t->n * (double)t->rows), .least = sn_items_per_unit(one ? 1 : t->n)});
}
