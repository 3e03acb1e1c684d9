/*
 * Sums of bfloat16 numbers. Rows: vectors along a row, GROUP sums at a time. Columns: vectors across the columns; GROUP rows
 * are added to the sums in memory together, so that these are loaded and stored once for them.
 */
#include "contract/channel_sum.h"
#include "kernels/install.h"

enum { GROUP = 4 };

/* Pairs of neighbours: half of the loads, and cheaper than widening in order. */
static float row(const sn_16b * src, size_t size)
{
    v32f s[GROUP];
    size_t j = 0;
    SN_UNROLL for (int k = 0; k < GROUP; ++k) s[k] = v_zero_32f();
    for (; j + GROUP / 2 * V16I_N <= size; j += GROUP / 2 * V16I_N) {
        SN_UNROLL for (int k = 0; k < GROUP; k += 2) {
            const v16i x = v_load_16i(src + j + k / 2 * V16I_N);
            s[k] = v_add_32f(s[k], v_even_16b_32f(x));
            s[k + 1] = v_add_32f(s[k + 1], v_odd_16b_32f(x));
        }
    }
    for (; j < size; j += V16I_N) {
        const v16i x = size - j < V16I_N ? v_load_tail_16i(src + j, size - j) : v_load_16i(src + j);
        s[0] = v_add_32f(s[0], v_even_16b_32f(x));
        s[1] = v_add_32f(s[1], v_odd_16b_32f(x));
    }
    return v_reduce_add_32f(v_add_32f(v_add_32f(s[0], s[1]), v_add_32f(s[2], s[3])));
}

static void rows(const sn_16b * src, size_t rows, size_t size, size_t step, sn_32f * sum)
{
    for (size_t i = 0; i < rows; ++i)
        sum[i] = row(src + i * step, size);
}

SN_INLINE v32f load(const sn_16b * src, size_t n) { return n == V32F_N ? v_load_16b_32f(src) : v_load_tail_16b_32f(src, n); }

/* Adds `count` (1 or GROUP) rows to the sums of n columns. */
SN_INLINE void add_rows(const sn_16b * src, size_t count, size_t step, size_t n, sn_32f * sum)
{
    const v32f before = n == V32F_N ? v_load_32f(sum) : v_load_tail_32f(sum, n);
    v32f s = load(src, n);
    if (count == GROUP)
        s = v_add_32f(v_add_32f(s, load(src + step, n)), v_add_32f(load(src + 2 * step, n), load(src + 3 * step, n)));
    if (n == V32F_N)
        v_store_32f(sum, v_add_32f(before, s));
    else
        v_store_tail_32f(sum, v_add_32f(before, s), n);
}

SN_INLINE void add_lines(const sn_16b * src, size_t count, size_t size, size_t step, sn_32f * sum)
{
    size_t j = 0;
    for (; j + V32F_N <= size; j += V32F_N)
        add_rows(src + j, count, step, V32F_N, sum + j);
    if (j < size)
        add_rows(src + j, count, step, size - j, sum + j);
}

static void columns(const sn_16b * src, size_t rows, size_t size, size_t step, sn_32f * sum)
{
    memset(sum, 0, size * sizeof(*sum));
    size_t i = 0;
    for (; i + GROUP <= rows; i += GROUP)
        add_lines(src + i * step, GROUP, size, step, sum);
    for (; i < rows; ++i)
        add_lines(src + i * step, 1, size, step, sum);
}

SN_INSTALL(channel_sum, channel_sum)
{
    slots->rows = rows;
    slots->columns = columns;
}
