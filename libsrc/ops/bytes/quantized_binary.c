/* Operands that are broadcast become dense blocks in the first cache: the kernels have one loop. */
#include "ops/bytes/quantized_binary.h"

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

enum { BLOCK = 4096 };

_Static_assert(BLOCK <= SN_BROADCAST_BLOCK * 8, "a block of sn_operand_block()");

struct job {
    const struct sn_quantized_pair * p;
    sn_quantized_binary_fn kernel;
};

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_quantized_pair * p = job->p;
    uint8_t a[BLOCK] SN_ALIGNED, b[BLOCK] SN_ALIGNED;
    const size_t last = sn_min(end * SN_UNIT_ELEMENTS, p->size);
    for (size_t at = begin * SN_UNIT_ELEMENTS, n; at < last; at += n) {
        n = sn_min(BLOCK, last - at);
        const uint8_t * x = sn_operand_block(&p->a, at, n, a), * y = sn_operand_block(&p->b, at, n, b);
        job->kernel(&p->numbers, x, y, p->dst + at, n);
    }
}

void sn_quantized_binary(const struct sn_quantized_pair * p)
{
    const struct sn_quantized_binary_slots * kernels = &sn_table()->quantized_binary;
    const struct job job = {p, p->add ? kernels->add : kernels->multiply};
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = sn_ceil_div(p->size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes(3.0 * (double)p->size)});
}
