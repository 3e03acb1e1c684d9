/*
 * The most multiply-adds this instruction set can do: what the benchmarks measure themselves against.
 *
 * Twelve independent chains hide the latency of the unit on every processor we know (4 cycles, 2 a cycle) and leave registers
 * for the operands everywhere. The values tend to 1, so nothing becomes denormal or infinite.
 */
#include "kernels/install.h"

enum { CHAINS = 12, STEPS = 64 };

static size_t fma_work(size_t flops)
{
    const v32f scale = v_set_32f(0.5f), shift = v_set_32f(0.5f);
    v32f sum[CHAINS];
    SN_UNROLL for (int i = 0; i < CHAINS; ++i) sum[i] = v_set_32f(1.0f + (float)i);
    const size_t per_round = (size_t)2 * V32F_N * CHAINS * STEPS;
    const size_t rounds = sn_ceil_div(flops, per_round);
    for (size_t r = 0; r < rounds; ++r)
        for (int step = 0; step < STEPS; ++step) {
            SN_UNROLL for (int i = 0; i < CHAINS; ++i) sum[i] = v_fma_32f(sum[i], scale, shift);
        }
    /* The sums are used, so that the compiler cannot leave them out; they are near 1, so the answer is always `work`. */
    const size_t work = rounds * per_round;
    v32f total = sum[0];
    SN_UNROLL for (int i = 1; i < CHAINS; ++i) total = v_add_32f(total, sum[i]);
    return v_reduce_add_32f(total) > 0 ? work : 0;
}

void ISA_FN(install_limit)(struct sn_table * table) { table->fma_work = fma_work; }
