/*
 * The limits of an instruction set, in the kernels' vector vocabulary; compiled once per set, like kernels.
 *
 * Arithmetic: independent chains, enough to hide the latency of the unit and to fit into registers. Results are used, so
 * that the compiler cannot remove the chains.
 *
 * Copying: plain loads and stores, four vectors per iteration. For arrays that stay in a cache this is up to twice as fast
 * as the C library's memcpy, which bypasses the caches early.
 *
 * Reading: plain loads in order, four vectors per iteration, fetched ahead by nothing but the processor itself.
 */
#include "limits.h"

#include "kernels/vec.h"

#include <dot_8i.h>

enum { STEPS = 64 };

/* ---- floats: twelve chains are enough on all known processors (4 cycles, 2 per cycle). The sums tend to 1, so nothing
 * becomes denormal or infinite. */

enum { CHAINS = 12 };

static size_t fma_32f(size_t operations)
{
    const v32f scale = v_set_32f(0.5f), shift = v_set_32f(0.5f);
    v32f sum[CHAINS];
    SN_UNROLL for (int i = 0; i < CHAINS; ++i) sum[i] = v_set_32f(1.0f + (float)i);
    const size_t per_round = (size_t)2 * V32F_N * CHAINS * STEPS, rounds = sn_ceil_div(operations, per_round);
    for (size_t r = 0; r < rounds; ++r)
        for (int step = 0; step < STEPS; ++step) {
            SN_UNROLL for (int i = 0; i < CHAINS; ++i) sum[i] = v_fma_32f(sum[i], scale, shift);
        }
    SN_UNROLL for (int i = 1; i < CHAINS; ++i) sum[0] = v_add_32f(sum[0], sum[i]);
    return v_reduce_add_32f(sum[0]) > 0 ? rounds * per_round : 0;
}

/* ---- bytes: groups are multiplied as in the tile of the set */

static __attribute__((unused)) size_t dot_8i(size_t operations)
{
    enum { DOT_CHAINS = V32F_N == 16 || TILE_GROUP == 4 ? 12 : 6 }; /* a product of pairs needs registers, too */
    v32i a = v_set_32i(0x00010001);
    v32i sum[DOT_CHAINS];
    SN_UNROLL for (int i = 0; i < DOT_CHAINS; ++i) sum[i] = v_set_32i(i);
    const size_t per_round = (size_t)2 * V32F_N * TILE_GROUP * DOT_CHAINS * STEPS;
    const size_t rounds = sn_ceil_div(operations, per_round);
    for (size_t r = 0; r < rounds; ++r)
        for (int step = 0; step < STEPS; ++step) {
            SN_UNROLL for (int i = 0; i < DOT_CHAINS; ++i)
            {
                a = v_keep_32i(a); /* otherwise one product would serve for all */
                sum[i] = tile_dot(sum[i], a, a);
            }
        }
    /* The compiler must not detect that no sum exceeds this. */
    SN_UNROLL for (int i = 1; i < DOT_CHAINS; ++i) sum[0] = v_or_32i(sum[0], sum[i]);
    const v32i most = v_keep_32i(v_set_32i(INT32_MAX));
    return rounds * per_round + (size_t)v_any(v_gt_32i(sum[0], most));
}

/* ---- bfloat16 numbers */

#if defined(__AVX512BF16__)
/* In assembler, as in isa/avx512bf16/dot_16b.h. Products are 0, so that sums do not change. */
static size_t dot_16b(size_t operations)
{
    const v32i a = v_set_32i(0);
    v32f sum[CHAINS];
    SN_UNROLL for (int i = 0; i < CHAINS; ++i) sum[i] = v_set_32f(1.0f + (float)i);
    const size_t per_round = (size_t)4 * V32F_N * CHAINS * STEPS, rounds = sn_ceil_div(operations, per_round);
    for (size_t r = 0; r < rounds; ++r)
        for (int step = 0; step < STEPS; ++step) {
            SN_UNROLL for (int i = 0; i < CHAINS; ++i) __asm__("vdpbf16ps %1, %1, %0" : "+v"(sum[i]) : "v"(a));
        }
    SN_UNROLL for (int i = 1; i < CHAINS; ++i) sum[0] = v_add_32f(sum[0], sum[i]);
    return v_reduce_add_32f(sum[0]) > 0 ? rounds * per_round : 0;
}
#else
static __attribute__((unused)) size_t dot_16b(size_t operations) { return fma_32f(operations); }
#endif

/* ---- whole blocks, of zeros: four chains hide the latency */

#if __has_include(<block.h>)
#include <block.h>

#define BLOCKS_OF(name, dot, numbers)                                                                                       \
    static size_t name(size_t operations)                                                                                   \
    {                                                                                                                       \
        const size_t per_round = (size_t)2 * 4 * BLOCK_ROWS * BLOCK_ROWS * BLOCK_GROUPS * numbers;                          \
        const size_t rounds = sn_ceil_div(operations, per_round);                                                           \
        blocks_begin(BLOCK_ROWS, BLOCK_GROUPS);                                                                             \
        for (size_t r = 0; r < rounds; ++r) {                                                                               \
            dot(0, 4, 5);                                                                                                   \
            dot(1, 4, 5);                                                                                                   \
            dot(2, 4, 5);                                                                                                   \
            dot(3, 4, 5);                                                                                                   \
        }                                                                                                                   \
        blocks_end();                                                                                                       \
        return rounds * per_round;                                                                                          \
    }
BLOCKS_OF(blocks_8i, BLOCK_DOT_8I, 4)
BLOCKS_OF(blocks_16b, BLOCK_DOT_16B, 2)
#define DOT_8I blocks_8i
#define DOT_16B blocks_16b
#else
#define DOT_8I dot_8i
#define DOT_16B dot_16b
#endif

/* ---- copying */

static void copy(const uint8_t * src, size_t size, uint8_t * dst)
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

/* ---- reading */

static uint32_t read_words(const uint8_t * src, size_t size)
{
    enum { CHAINS_OF_SUMS = 4, LANES = V8U_N / sizeof(uint32_t) };
    v32i sum[CHAINS_OF_SUMS];
    uint32_t lanes[LANES], all = 0;
    SN_UNROLL for (int j = 0; j < CHAINS_OF_SUMS; ++j) sum[j] = v_set_32i(0);
    size_t i = 0;
    for (; i + CHAINS_OF_SUMS * V8U_N <= size; i += CHAINS_OF_SUMS * V8U_N) {
        SN_UNROLL for (int j = 0; j < CHAINS_OF_SUMS; ++j) sum[j] = v_add_32i(sum[j], v_load_32i(src + i + j * V8U_N));
    }
    for (; i < size; i += V8U_N)
        sum[0] = v_add_32i(sum[0], v_cast_8u_32i(v_load_tail_8u(src + i, sn_min(size - i, V8U_N))));
    SN_UNROLL for (int j = 1; j < CHAINS_OF_SUMS; ++j) sum[0] = v_add_32i(sum[0], sum[j]);
    v_store_32i(lanes, sum[0]);
    for (size_t lane = 0; lane < LANES; ++lane)
        all += lanes[lane];
    return all;
}

/* Used by limits.c. */
extern const struct limits ISA_FN(limits);
const struct limits ISA_FN(limits) = {fma_32f, DOT_8I, DOT_16B, copy, read_words};
