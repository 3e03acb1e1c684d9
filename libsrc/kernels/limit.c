/*
 * The limits of the machine under this instruction set: what the benchmarks measure themselves against.
 *
 * Multiply-adds: twelve independent chains hide the latency of the unit on every processor we know (4 cycles, 2 a cycle) and
 * leave registers for the operands everywhere. The values tend to 1, so nothing becomes denormal or infinite.
 *
 * Copying: plain loads and stores, four vectors a turn. For arrays that stay in a cache this is up to twice as fast as the C
 * library's memcpy, which goes past the caches early.
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

static void copy_work(const uint8_t * src, size_t size, uint8_t * dst)
{
    size_t i = 0;
    for (; i + 4 * V8U_N <= size; i += 4 * V8U_N) {
        v8u block[4];
        SN_UNROLL for (int j = 0; j < 4; ++j) block[j] = v_load_8u(src + i + j * V8U_N);
        SN_UNROLL for (int j = 0; j < 4; ++j) v_store_8u(dst + i + j * V8U_N, block[j]);
    }
    for (; i < size; i += V8U_N) {
        const size_t n = sn_min(size - i, V8U_N);
        v_store_tail_8u(dst + i, v_load_tail_8u(src + i, n), n);
    }
}

void ISA_FN(install_limit)(struct sn_table * table)
{
    table->fma_work = fma_work;
    table->dot_16b_work = fma_work;
    table->copy_work = copy_work;
}
