/*
 * Additions bound by memory. All of them are exact: the formula's float32 operations, in its order, on every set.
 *
 * AddBias. Every format comes down to dst[i] += bias[i % period] over a run of floats: period 1 for a channel of NCHW, C for
 * NHWC, the lanes of a block for NCHWxc. The run is one loop, whatever the period: where it divides a vector, one vector of
 * biases serves all; else they come from a table that repeats its beginning, so that a group of vectors can be read from any
 * place of the period. So there are no tails but the run's own, and stores are aligned.
 *
 * Add16b. Two bfloat16 tensors are added as the even and the odd elements of a vector, which needs shifts and masks only; a
 * NaN among their sums has nothing in its lower half that rounding could carry. The mixed cases widen in order.
 */
#include "core/format.h"
#include "kernels/install.h"

#include <string.h>

/* Vectors of one turn of a loop. */
enum { GROUP = 4 };

/* ---- AddBias */

/* Elements before the first aligned vector; 0 where the run is too short to be worth it. */
static size_t misaligned(const float * p, size_t size)
{
    return size < 8 * V32F_N ? 0 : (0 - (uintptr_t)p / sizeof(float)) % V32F_N;
}

/* dst[0 .. head) += first, then dst += bias. */
SN_INLINE void add_vector(v32f first, v32f bias, size_t head, size_t size, float * dst)
{
    size_t i = head;
    if (head)
        v_store_tail_32f(dst, v_add_32f(v_load_tail_32f(dst, head), first), head);
    for (; i + GROUP * V32F_N <= size; i += GROUP * V32F_N) {
        v32f x[GROUP];
        SN_UNROLL for (int j = 0; j < GROUP; ++j) x[j] = v_add_32f(v_load_32f(dst + i + j * V32F_N), bias);
        SN_UNROLL for (int j = 0; j < GROUP; ++j) v_store_32f(dst + i + j * V32F_N, x[j]);
    }
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + i, v_add_32f(v_load_32f(dst + i), bias));
    if (i < size)
        v_store_tail_32f(dst + i, v_add_32f(v_load_tail_32f(dst + i, size - i), bias), size - i);
}

static void add_constant(float bias, size_t size, float * dst)
{
    const v32f b = v_set_32f(bias);
    add_vector(b, b, misaligned(dst, size), size, dst);
}

/* The period divides a vector. */
static void add_narrow(const float * bias, size_t period, size_t size, float * dst)
{
    float table[2 * V32F_N] SN_ALIGNED;
    for (size_t i = 0; i < 2 * V32F_N; ++i)
        table[i] = bias[i % period];
    const size_t head = misaligned(dst, size);
    add_vector(v_load_32f(table), v_load_32f(table + head % period), head, size, dst);
}

/* One period: the biases are as many as the values. */
static void add_arrays(const float * bias, size_t size, float * dst)
{
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + i, v_add_32f(v_load_32f(dst + i), v_load_32f(bias + i)));
    if (i < size)
        v_store_tail_32f(dst + i, v_add_32f(v_load_tail_32f(dst + i, size - i), v_load_tail_32f(bias + i, size - i)), size - i);
}

/* Periods that have a table: 4 KB of biases. Above it, a tail per period costs next to nothing. */
enum { TABLE = 1024, STEP = GROUP * V32F_N };

/* Rows of NCHW that are too short to be added one by one. */
enum { SHORT = 4 * V32F_N };

static void add_periodic(const float * bias, size_t period, size_t size, float * dst)
{
    float table[TABLE + STEP] SN_ALIGNED;
    memcpy(table, bias, period * sizeof(float));
    for (size_t i = period; i < period + STEP; ++i)
        table[i] = table[i - period];
    const size_t head = misaligned(dst, size), step = STEP % period;
    if (head)
        add_arrays(table, head, dst);
    size_t i = head, at = head % period;
    for (; i + STEP <= size; i += STEP) {
        v32f x[GROUP];
        SN_UNROLL for (int j = 0; j < GROUP; ++j)
            x[j] = v_add_32f(v_load_32f(dst + i + j * V32F_N), v_load_32f(table + at + j * V32F_N));
        SN_UNROLL for (int j = 0; j < GROUP; ++j) v_store_32f(dst + i + j * V32F_N, x[j]);
        at += step;
        at -= at >= period ? period : 0;
    }
    add_arrays(table + at, size - i, dst + i);
}

/*
 * Short rows: a masked or pieced store at the end of one makes the load of the next wait until it is done. So the biases of
 * some rows are written out, each row over the surplus of the one before, and all of them added as one.
 */
static void add_short_rows(const float * bias, size_t rows, size_t size, float * dst)
{
    float table[TABLE + STEP] SN_ALIGNED;
    const size_t together = TABLE / size;
    for (size_t r = 0; r < rows; r += together) {
        const size_t number = sn_min(rows - r, together);
        for (size_t k = 0; k < number; ++k)
            for (size_t i = 0; i < size; i += V32F_N)
                v_store_32f(table + k * size + i, v_set_32f(bias[r + k]));
        add_arrays(table, number * size, dst + r * size);
    }
}

/* dst[i] += bias[i % period]. */
static void add_run(const float * bias, size_t period, size_t size, float * dst)
{
    if (period == 1)
        add_constant(bias[0], size, dst);
    else if (V32F_N % period == 0)
        add_narrow(bias, period, size, dst);
    else if (period <= TABLE && size >= 4 * period)
        add_periodic(bias, period, size, dst);
    else
        for (size_t i = 0; i < size; i += period)
            add_arrays(bias, period, dst + i);
}

static void add_bias_32f(const float * bias, size_t channels, size_t spatial, float * dst, SimdTensorFormatType format)
{
    const size_t lanes = sn_max(sn_format_lanes(format), 1);
    const size_t all = sn_ceil_div(channels, lanes) * lanes;
    if (spatial == 1)
        add_arrays(bias, all, dst);
    else if (format == SimdTensorFormatNhwc)
        add_run(bias, channels, channels * spatial, dst);
    else if (lanes == 1 && spatial < SHORT)
        add_short_rows(bias, channels, spatial, dst);
    else
        for (size_t c = 0; c < all; c += lanes)
            add_run(bias + c, lanes, lanes * spatial, dst + c * spatial);
}

/* ---- Add16b: template of the mixed cases and of float results; a16, b16 and d16 are constants */

SN_INLINE v32f load(const uint8_t * p, size_t i, bool is_16b)
{
    return is_16b ? v_load_16b_32f(p + 2 * i) : v_load_32f(p + 4 * i);
}

SN_INLINE v32f load_tail(const uint8_t * p, size_t i, bool is_16b, size_t n)
{
    return is_16b ? v_load_tail_16b_32f(p + 2 * i, n) : v_load_tail_32f(p + 4 * i, n);
}

SN_INLINE void add_mixed(const uint8_t * a, bool a16, const uint8_t * b, bool b16, uint8_t * dst, bool d16, size_t size)
{
    size_t i = 0;
    for (; i + 2 * V32F_N <= size; i += 2 * V32F_N) {
        v32f x[2];
        SN_UNROLL for (int j = 0; j < 2; ++j)
            x[j] = v_add_32f(load(a, i + j * V32F_N, a16), load(b, i + j * V32F_N, b16));
        SN_UNROLL for (int j = 0; j < 2; ++j) {
            if (d16)
                v_store_16b_32f(dst + 2 * (i + j * V32F_N), x[j]);
            else
                v_store_32f(dst + 4 * (i + j * V32F_N), x[j]);
        }
    }
    for (; i < size; i += V32F_N) {
        const size_t n = sn_min(size - i, V32F_N);
        const v32f x = v_add_32f(load_tail(a, i, a16, n), load_tail(b, i, b16, n));
        if (d16)
            v_store_tail_16b_32f(dst + 2 * i, x, n);
        else
            v_store_tail_32f(dst + 4 * i, x, n);
    }
}

SN_INLINE v16i add_pairs(v16i a, v16i b)
{
    return v_join_16b_32f(v_add_32f(v_even_16b_32f(a), v_even_16b_32f(b)), v_add_32f(v_odd_16b_32f(a), v_odd_16b_32f(b)));
}

static void add_16b_111(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)
{
    size_t i = 0;
    for (; i + 2 * V16I_N <= size; i += 2 * V16I_N) {
        const uint8_t * p = a + 2 * i, * q = b + 2 * i;
        const v16i x = add_pairs(v_load_16i(p), v_load_16i(q));
        const v16i y = add_pairs(v_load_16i(p + V8U_N), v_load_16i(q + V8U_N));
        v_store_16i(dst + 2 * i, x);
        v_store_16i(dst + 2 * i + V8U_N, y);
    }
    for (; i < size; i += V16I_N) {
        const size_t n = sn_min(size - i, V16I_N);
        v_store_tail_16i(dst + 2 * i, add_pairs(v_load_tail_16i(a + 2 * i, n), v_load_tail_16i(b + 2 * i, n)), n);
    }
}

#define ADD_16B(a16, b16, d16)                                                                                              \
    static void add_16b_##a16##b16##d16(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)                   \
    {                                                                                                                       \
        add_mixed(a, a16, b, b16, dst, d16, size);                                                                          \
    }

ADD_16B(0, 0, 0)
ADD_16B(0, 0, 1)
ADD_16B(0, 1, 0)
ADD_16B(0, 1, 1)
ADD_16B(1, 0, 0)
ADD_16B(1, 0, 1)
ADD_16B(1, 1, 0)

void ISA_FN(install_add)(struct sn_table * table)
{
    const sn_add_16b_fn add[2][2][2] = {{{add_16b_000, add_16b_001}, {add_16b_010, add_16b_011}},
                                        {{add_16b_100, add_16b_101}, {add_16b_110, add_16b_111}}};
    table->add_bias_32f = add_bias_32f;
    memcpy(table->add_16b, add, sizeof(add));
}
