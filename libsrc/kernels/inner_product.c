/*
 * Matrix by vector, bound by reading the matrix once: ROWS rows at a time share the loads of src, each with CHAINS sums of
 * its own. The order of a row's sum is the same in a group of rows and alone: chain c adds up the vectors c, c + CHAINS ...
 * of the row, the last, partial vector goes to the next chain in that order; then the chains are added up, then their lanes.
 *
 * Several rows, each in its own page, keep memory busy: 4096 x 4096 is read at 20 GB/s by one row of 8 chains, 26 by 4 rows,
 * 29 by 6; with more, rows a multiple of 4 KB long evict each other from the L1 cache (1000 x 1024: 79 GB/s by 6, 55 by 12).
 * Software prefetch, 1 to 16 KB ahead, made all of them slower by 5 to 30%.
 *
 * A matrix that fits in the L3 cache, however, is read row by row: a single stream suits its prefetcher best, 93 GB/s
 * instead of 82 with 6 rows (1000 x 1280). A row's sum is the same in both cases.
 *
 * For short rows, adding up the lanes of 16 floats is much of the work: there 16 rows have a chain each, and share a tree
 * (kernels/sums.h). 480 x 120 is 1.14 times as fast, 576 x 144 1.2 times, 1000 x 512 would be 0.93. This choice must depend
 * on the length of a row alone, since rows are divided among threads.
 */
#include "contract/inner_product.h"
#include "kernels/install.h"
#include "kernels/sums.h"

enum { ROWS = 6, CHAINS = 2 };

/* Rows below this number of floats are summed in a single vector, see above. */
enum { SHORT = V32F_N == 16 ? 320 : 0 };

/* Sizes in floats between which a matrix exceeds the L2 cache and fits in the L3 cache: 1 MB, 10 MB. */
enum { NEAR = 1 << 18, FAR = 5 << 19 };

SN_INLINE void rows_product(const struct sn_inner_product_32f * p, size_t first, int rows)
{
    const sn_32f * src = p->src, * weight = p->weight + first * p->step;
    const size_t size = p->size, step = p->step;
    v32f sum[ROWS][CHAINS];
    SN_UNROLL for (int i = 0; i < rows; ++i)
        SN_UNROLL for (int c = 0; c < CHAINS; ++c) sum[i][c] = v_zero_32f();
    size_t j = 0;
    for (; j + CHAINS * V32F_N <= size; j += CHAINS * V32F_N) {
        SN_UNROLL for (int c = 0; c < CHAINS; ++c)
        {
            const v32f x = v_load_32f(src + j + c * V32F_N);
            SN_UNROLL for (int i = 0; i < rows; ++i)
                sum[i][c] = v_fma_32f(v_load_32f(weight + (size_t)i * step + j + c * V32F_N), x, sum[i][c]);
        }
    }
    SN_UNROLL for (int c = 0; c < CHAINS; ++c)
    {
        if (j == size)
            continue; /* break would prevent unrolling by clang */
        const size_t n = sn_min(size - j, V32F_N);
        const v32f x = v_load_tail_32f(src + j, n);
        SN_UNROLL for (int i = 0; i < rows; ++i)
            sum[i][c] = v_fma_32f(v_load_tail_32f(weight + (size_t)i * step + j, n), x, sum[i][c]);
        j += n;
    }
    SN_UNROLL for (int i = 0; i < rows; ++i)
    {
        v32f total = sum[i][0];
        SN_UNROLL for (int c = 1; c < CHAINS; ++c) total = v_add_32f(total, sum[i][c]);
        const size_t at = first + (size_t)i;
        const float start = (p->bias ? p->bias[at] : 0) + (p->beta != 0 ? p->beta * p->dst[at] : 0);
        p->dst[at] = p->alpha * v_reduce_add_32f(total) + start;
    }
}

/* ---- short rows */

/* Multiplies the next vector of src, all of it or `rest`, by `rows` rows, the last of which replaces missing ones. */
SN_INLINE void short_step(v32f * sum, const struct sn_inner_product_32f * p, const sn_32f * weight, size_t j, size_t rest,
                          size_t rows)
{
    const v32f x = rest == V32F_N ? v_load_32f(p->src + j) : v_load_tail_32f(p->src + j, rest);
    SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
    {
        const sn_32f * at = weight + sn_min(i, rows - 1) * p->step + j;
        sum[i] = v_fma_32f(rest == V32F_N ? v_load_32f(at) : v_load_tail_32f(at, rest), x, sum[i]);
    }
}

/* `rows` rows from `first` on, at most V32F_N; a compile-time constant if it is V32F_N. Each is one chain. */
SN_INLINE void short_rows(const struct sn_inner_product_32f * p, size_t first, size_t rows)
{
    const sn_32f * weight = p->weight + first * p->step;
    const size_t rest = p->size % V32F_N;
    v32f sum[V32F_N];
    SN_UNROLL for (int i = 0; i < V32F_N; ++i) sum[i] = v_zero_32f();
    size_t j = 0;
    for (; j + V32F_N <= p->size; j += V32F_N)
        short_step(sum, p, weight, j, V32F_N, rows);
    if (rest)
        short_step(sum, p, weight, j, rest, rows);
    v32f v = v_mul_32f(v_set_32f(p->alpha), sums_of_lanes(sum)), start = v_zero_32f();
    if (p->bias)
        start = v_load_tail_32f(p->bias + first, rows);
    if (p->beta != 0)
        start = v_add_32f(start, v_mul_32f(v_set_32f(p->beta), v_load_tail_32f(p->dst + first, rows)));
    v_store_tail_32f(p->dst + first, v_add_32f(v, start), rows);
}

static __attribute__((noinline)) void all_short_rows(const struct sn_inner_product_32f * p)
{
    for (size_t i = 0; i + V32F_N <= p->count; i += V32F_N)
        short_rows(p, i, V32F_N);
}

static __attribute__((noinline)) void last_short_rows(const struct sn_inner_product_32f * p)
{
    const size_t rows = p->count % V32F_N;
    if (rows)
        short_rows(p, p->count - rows, rows);
}

/* ---- */

static void inner_product_32f(const struct sn_inner_product_32f * p)
{
    if (SHORT > 0 && p->size <= SHORT) {
        all_short_rows(p);
        last_short_rows(p);
        return;
    }
    /* With shorter vectors a single row is limited by the latency of additions. */
    const bool single = CHAINS * V32F_N >= 32 && p->matrix > NEAR && p->matrix < FAR;
    size_t i = 0;
    for (; !single && i + ROWS <= p->count; i += ROWS)
        rows_product(p, i, ROWS);
    for (; !single && i + ROWS / 2 <= p->count; i += ROWS / 2)
        rows_product(p, i, ROWS / 2);
    for (; i < p->count; ++i)
        rows_product(p, i, 1);
}

SN_INSTALL(inner_product, inner_product) { slots->run_32f = inner_product_32f; }
