/*
 * Matrix by vector, bound by reading the matrix once: ROWS rows at a time share the loads of src, each with CHAINS sums of its
 * own. The order of a row's sum is the same in a group of rows and alone: chain c adds up the vectors c, c + CHAINS ... of the
 * row, the last, shorter vector goes to the chain whose turn it is, then the chains are added up, then their lanes.
 *
 * Rows are what keeps memory busy, each in its own page: 4096 x 4096 is read at 20 GB/s by one row of 8 chains, 26 by 4 rows,
 * 29 by 6; beyond that rows a multiple of 4 KB long push each other out of the first cache (1000 x 1024: 79 GB/s by 6, 55
 * by 12). Software prefetch, of 1 to 16 KB ahead, made all of them slower by 5 to 30%.
 *
 * A matrix of a size that lies in the third cache, though, goes row by row: one stream is what its prefetcher likes best, 93
 * GB/s where 6 rows have 82 (1000 x 1280). A row's sum is the same either way.
 */
#include "kernels/install.h"

enum { ROWS = 6, CHAINS = 2 };

/* Floats of a matrix beyond the second and within the third cache: 1 MB, 10 MB. */
enum { NEAR = 1 << 18, FAR = 5 << 19 };

SN_INLINE void rows_product(const struct sn_inner_product_32f * p, size_t first, int rows)
{
    const float * src = p->src, * weight = p->weight + first * p->step;
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
            break;
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

static void inner_product_32f(const struct sn_inner_product_32f * p)
{
    const size_t floats = p->count * p->step;
    const bool single = CHAINS * V32F_N >= 32 && floats > NEAR && floats < FAR; /* one row of shorter vectors waits for sums */
    size_t i = 0;
    for (; !single && i + ROWS <= p->count; i += ROWS)
        rows_product(p, i, ROWS);
    for (; !single && i + ROWS / 2 <= p->count; i += ROWS / 2)
        rows_product(p, i, ROWS / 2);
    for (; i < p->count; ++i)
        rows_product(p, i, 1);
}

void ISA_FN(install_inner_product)(struct sn_table * table) { table->inner_product_32f = inner_product_32f; }
