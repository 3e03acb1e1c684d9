/* The tile of bytes by products of whole blocks, kernels/gemm/blocks.h. */
#include "contract/convolution_8i.h"
#include "kernels/gemm/few_8i.h"
#include "kernels/install.h"
#include "kernels/result_8i.h"

#include <block.h>

#define BLOCK_DOT BLOCK_DOT_8I
#include "kernels/gemm/blocks.h"

/*
 * Fewer rows, and fewer rows times groups, are left to the tile of vectors, that of the level below, whose panels are the same: a
 * block of less than 16 rows takes as long as one of 16, and the configuration of the registers 50 ns. One row of 1024 by 1024
 * takes 1.2 to 2 times as long by blocks, 9 rows of 256 by 256 1.08, 16 rows of 64 by 64 1.1; 16 rows of 512 by 512 0.7.
 */
enum { LEAST_ROWS = 12, LEAST_PRODUCTS = 512 };

/*
 * Few groups in each segment: whole panels of quick results stay in registers in the tile of vectors, while sums of blocks are
 * stored and loaded again, and a segment of one group takes as long as one of 16. With at most two groups, or up to so many more
 * in all segments: 4x56x56 to 64 by 1x1 takes 0.67 of the time, 8 channels 0.73, 16 0.85, 20 0.97, cold 0.6 to 0.9; 2 by 3x3
 * 0.78, 3 0.96, 4 by 2x2 0.73, 1 by 5x5 0.83; 8x229x229 to 1792 in 4 groups by 3x3 with stride 2 0.54. But 24 to 64 by 1x1 1.05,
 * 32 1.13, cold 0.7 to 0.9 (Xeon with AMX).
 */
enum { MOST_DOTS = 3 };

static sn_dot_fn run_few;

/*
 * Quick results have the bits of result_bounded() and result_bounded_requantised(), of panels of n columns: 64, 32 or 16, so that
 * a vector of bytes has one row, two or four. The sums of requantised results begin with `first`; `plain` ones have no zero point,
 * and no limits but those of bytes. What is not needed is left out, since instructions of vectors and of blocks hardly run at the
 * same time, so each operation counts: to convert a few rows after each step of the next products takes 1.0 to 1.1 times as long
 * (Emerald Rapids). n, requantised and plain are constants.
 *
 * Fewer than 16 columns are stored as 16 bytes, of which the next rows overwrite those beyond the columns, where rows follow each
 * other and until the last ones: batch 3, 8x96x96 to 8 by 1x1 takes 0.8 of the time, 16x80x80 to 4 by 3x3 0.91, 64x40x40 to 15
 * 0.94, but 32x80x80 to 2 1.02 to 1.07 (Xeon with AMX).
 */
enum { LEAST_QUICK = 4 };

struct columns {
    v32f norm[4], bias[4], scale[4]; /* of n columns: n / V32F_N vectors */
    v32f zero;
    v32i offset;
    v8u least, most; /* the limits of a vector of bytes: those of the columns, again for each of its rows */
};

SN_INLINE void load_columns(struct columns * of, const struct sn_result_8i * r, size_t n)
{
    SN_ALIGNED uint8_t low[V8U_N], high[V8U_N];
    of->zero = v_set_32f(r->zero);
    of->offset = v_set_32i(r->offset);
    SN_UNROLL for (size_t j = 0; j < n / V32F_N; ++j)
    {
        of->norm[j] = v_load_32f(r->norm + j * V32F_N);
        of->bias[j] = v_load_32f(r->bias + j * V32F_N);
        of->scale[j] = v_load_32f(r->scale + j * V32F_N);
    }
    SN_UNROLL for (size_t i = 0; i < V8U_N; i += n) memcpy(low + i, r->low, n), memcpy(high + i, r->high, n);
    of->least = v_load_8u(low);
    of->most = v_load_8u(high);
}

/* Sums of the vector j of columns as integers that are not limited yet. */
SN_INLINE v32i integers(const struct columns * of, v32i sum, size_t j, bool requantised, bool plain)
{
    const v32f v = v_mul_32f(v_cvt_32i_32f(sum), of->norm[j]);
    if (requantised) /* the zero point is added to what is rounded */
        return plain ? v_cvt_32f_32i(v) : v_add_32i(v_cvt_32f_32i(v), of->offset);
    const v32f scaled = v_mul_32f(v_fma_32f(v, v_set_32f(1), of->bias[j]), of->scale[j]);
    return v_cvt_32f_32i(plain ? scaled : v_add_32f(scaled, of->zero));
}

SN_INLINE void quick(const struct sn_result_8i * r, uint32_t (*sums)[PANEL], size_t rows, uint8_t * c, size_t step, size_t n,
                     size_t stored, bool requantised, bool plain)
{
    const size_t vectors = n / V32F_N, together = V8U_N / n; /* vectors of a row of sums; rows of a vector of bytes */
    struct columns of;
    load_columns(&of, r, n);
    for (; rows >= together; rows -= together, sums += together) {
        v32i x[4];
        SN_UNROLL for (size_t i = 0; i < 4; ++i)
        {
            const size_t j = i % vectors;
            x[i] = integers(&of, v_load_32i((const int32_t *)sums[i / vectors] + j * V32F_N), j, requantised, plain);
        }
        v8u packed = v_pack_32i_8u(x[0], x[1], x[2], x[3]); /* which limits to bytes */
        if (!plain)
            packed = v_min_8u(v_max_8u(packed, of.least), of.most);
        if (together == 1) {
            v_store_8u(c, packed);
            c += step;
            continue;
        }
        SN_ALIGNED uint8_t bytes[V8U_N];
        v_store_8u(bytes, packed);
        SN_UNROLL for (size_t i = 0; i < together; ++i, c += step)
        {
            if (stored == n || (step == stored && (rows - i) * step >= n))
                memcpy(c, bytes + i * n, n);
            else
                memcpy(c, bytes + i * n, stored);
        }
    }
    if (rows) /* fewer than a vector of bytes has */
        result_rows((const int32_t *)sums, PANEL, r, stored, c, step, rows);
}

#define RESULTS(name, requantised, plain)                                                                                   \
    static void name(const struct sn_dot * g, uint32_t (*sums)[PANEL], size_t rows, uint8_t * c)                            \
    {                                                                                                                       \
        if (g->columns == V8U_N)                                                                                            \
            quick(g->result, sums, rows, c, g->cStepX, V8U_N, V8U_N, requantised, plain);                                   \
        else if (g->columns == V8U_N / 2)                                                                                   \
            quick(g->result, sums, rows, c, g->cStepX, V8U_N / 2, V8U_N / 2, requantised, plain);                           \
        else                                                                                                                \
            quick(g->result, sums, rows, c, g->cStepX, V8U_N / 4, g->columns, requantised, plain);                          \
    }
RESULTS(bounded, false, false)
RESULTS(bounded_plain, false, true)
RESULTS(requantised, true, false)
RESULTS(requantised_plain, true, true)

/* Values without an activation. */
static void floats(const struct sn_dot * g, uint32_t (*sums)[PANEL], size_t rows, uint8_t * c)
{
    const struct sn_result_8i * r = g->result;
    for (size_t j = 0; j < g->columns; j += V32F_N) {
        const v32f norm = v_load_32f(r->norm + j), bias = v_load_32f(r->bias + j);
        const size_t n = sn_min(g->columns - j, V32F_N);
        uint8_t * to = c + j * sizeof(float);
        for (size_t i = 0; i < rows; ++i, to += g->cStepX) {
            const v32f v = v_mul_32f(v_cvt_32i_32f(v_load_32i((const int32_t *)sums[i] + j)), norm);
            v_store_tail_32f(to, v_add_32f(v, bias), n);
        }
    }
}

static void results(const struct sn_dot * g, uint32_t (*sums)[PANEL], size_t rows, uint8_t * c)
{
    result_rows((const int32_t *)sums, PANEL, g->result, g->columns, c, g->cStepX, rows);
}

/* Whether there are no limits but those of bytes, and no zero point. */
static bool is_plain(const struct sn_result_8i * r, size_t n)
{
    int used = r->requantised ? r->offset : r->zero != 0;
    for (size_t i = 0; i < n; ++i)
        used |= r->low[i] | (255 - r->high[i]);
    return used == 0;
}

static block_results_fn results_of(const struct sn_result_8i * r, size_t columns)
{
    if (!r->sums && !r->bytes && r->activation == SN_ACTIVATION_IDENTITY)
        return floats;
    if (r->sums || !result_is_quick(r) || columns < LEAST_QUICK ||
        (columns > V8U_N / 4 && columns != V8U_N / 2 && columns != V8U_N))
        return results;
    if (r->requantised)
        return is_plain(r, columns) ? requantised_plain : requantised;
    return is_plain(r, columns) ? bounded_plain : bounded;
}

/* With sums that begin with `first`, too. */
static void run_requantised(const struct sn_dot * g)
{
    static const int32_t none[PANEL];
    SN_ALIGNED int32_t start[PANEL];
    struct sn_result_8i r = *(const struct sn_result_8i *)g->result;
    for (size_t i = 0; i < g->columns; i += V32F_N)
        v_store_32i(start + i, v_add_32i(v_load_32i((const int32_t *)g->start + i), v_load_32i(r.first + i)));
    r.first = none;
    struct sn_dot run = *g;
    run.start = start, run.result = &r;
    blocks_run(&run, results_of(&r, g->columns), false);
}

static void run(const struct sn_dot * g)
{
    const struct sn_result_8i * r = g->result;
    const size_t rows = g->height * g->width;
    const bool dots = g->columns == V8U_N && result_is_quick(r) && (g->length <= 2 || g->segments * (g->length - 2) <= MOST_DOTS);
    if (dots || rows < LEAST_ROWS || rows * g->segments * g->length < LEAST_PRODUCTS || few_is_possible(g))
        run_few(g);
    else if (r->requantised && !r->sums)
        run_requantised(g);
    else
        blocks_run(g, results_of(r, g->columns), r->sums);
}

SN_INSTALL(gemm_blocks_8i, convolution_8i)
{
    run_few = slots->tile.run;
    slots->tile.run = run;
    slots->tile.rows = 2 * BLOCK_ROWS;
    slots->tile.aligned = true;
}
