/*
 * By the tile of quantised convolutions, which multiplies bytes without a sign by bytes with one: others have 128 added to or
 * subtracted from them and their zeros, by XOR 0x80. A is copied in groups of numbers as the tile reads them, with a row of ones
 * for the sums of columns, and each panel of B is packed, once for each product. Then, with sums over k that wrap,
 *
 *     sum of (a - za) * (b - zb) = sum of a * b - za * (sum of b) - zb * (sum of a) + K * za * zb
 *
 * A zero of A that all rows share is in what sums begin with, and the tile converts sums to results. Zeros of B, which are 0
 * or 128 in most models and then 0 here, and values of each row are applied to the sums afterwards.
 */
#include "ops/quantized_gemm.h"

#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* Rows whose sums are kept until they are converted. */
enum { ROWS = 128 };

/* Values of a panel's columns: more than any tile has, in whole vectors of bytes. */
enum { COLUMNS = 128 };

struct job {
    const struct sn_table * table;
    const struct sn_dot_tile * tile;
    struct sn_quantized_gemm g;
    size_t groups; /* of numbers in a row */
    uint8_t * a;   /* the copy */
    int32_t * sumA; /* of each row, or NULL if they are not needed */
    bool quick;    /* the tile converts sums to results */
    size_t panel;  /* bytes */
};

/* What depends on the columns of a panel. */
struct columns {
    int32_t sum[COLUMNS], start[COLUMNS], none[COLUMNS];
    int32_t zero[COLUMNS], more[COLUMNS]; /* the bias */
    float norm[COLUMNS], bias[COLUMNS];
    uint8_t low[COLUMNS], high[COLUMNS];
};

/* The zeros of the numbers that the tile multiplies. */
static int32_t zero_a(const struct sn_quantized_gemm * g, size_t i)
{
    return sn_quantized_zero(g->zeroA, g->perRow, g->signedA, i) + (g->signedA ? 128 : 0);
}

static int32_t zero_b(const struct sn_quantized_gemm * g, size_t j)
{
    return sn_quantized_zero(g->zeroB, g->perColumn, g->signedB, j) - (g->signedB ? 0 : 128);
}

/* Bytes of a row of A for the tile. */
static size_t pitch(const struct job * job) { return job->groups * 4; }

/* ---- A */

/* The number that a biased tile, which subtracts 128, multiplies as 0. */
static uint8_t none_of(const struct job * job) { return job->tile->biased ? 128 : 0; }

/* Writes `count` numbers; the last group may be longer, and contains numbers that count as 0. */
static void put_row(const struct job * job, const uint8_t * from, uint8_t flip, size_t count, uint8_t * to)
{
    memset(to + pitch(job) - 4, none_of(job), 4);
    if (job->tile->number == 1 && flip == 0)
        memcpy(to, from, count);
    else if (job->tile->number == 1)
        for (size_t k = 0; k < count; ++k)
            to[k] = from[k] ^ flip;
    else
        for (size_t k = 0; k < count; ++k)
            ((sn_16b *)(void *)to)[k] = from[k] ^ flip;
}

/* The rows, and one of ones behind them. */
static void copy_a(const struct job * job)
{
    const struct sn_quantized_gemm * g = &job->g;
    uint8_t * ones = job->a + g->M * pitch(job);
    const uint8_t flip = g->signedA ? 0x80 : 0;
    for (size_t i = 0; i < g->M; ++i) {
        const uint8_t * from = g->A + i * g->K;
        put_row(job, from, flip, g->K, job->a + i * pitch(job));
        for (size_t k = job->sumA ? 0 : g->K; k < g->K; ++k)
            job->sumA[i] = (k ? job->sumA[i] : 0) + (from[k] ^ flip);
    }
    memset(ones, none_of(job), pitch(job));
    for (size_t k = 0; k < g->K; ++k)
        if (job->tile->number == 1)
            ones[k] = none_of(job) + 1;
        else
            ((sn_16b *)(void *)ones)[k] = 1;
}

/* ---- B */

/* Of a transposed B, columns are rows of bytes. */
static void pack_transposed(const struct job * job, size_t first, size_t columns, size_t width, uint8_t * panel)
{
    const struct sn_quantized_gemm * g = &job->g;
    const uint32_t flip = g->signedB ? 0 : 0x80808080;
    const size_t group = job->tile->group;
    for (size_t j = 0; j < columns; ++j) {
        const uint8_t * from = g->B + (first + j) * g->K;
        uint8_t * to = panel + j * 4;
        for (size_t k = 0; k < g->K; k += group, to += width * 4) {
            uint32_t some = 0;
            memcpy(&some, from + k, sn_min(group, g->K - k));
            some ^= flip;
            if (group == 2)
                some = (uint16_t)(int8_t)some | (uint32_t)(int8_t)(some >> 8) << 16;
            memcpy(to, &some, sizeof(some));
        }
    }
}

/* Packs `columns` columns from `first` on. */
static void pack_b(const struct job * job, size_t first, size_t columns, uint8_t * panel)
{
    const struct sn_quantized_gemm * g = &job->g;
    const size_t width = sn_ceil_div(columns, job->tile->granule) * job->tile->granule;
    if (g->transposed)
        pack_transposed(job, first, columns, width, panel);
    else
        job->table->quantized_gemm.pack(&(struct sn_quantized_pack){.b = g->B + first, .step = g->N, .rows = g->K,
            .columns = columns, .group = job->tile->group, .width = width, .with_sign = g->signedB, .panel = panel});
}

/* The sum of each column, as a product with the row of ones. */
static void add_columns(const struct job * job, const struct sn_dot * panel, int32_t * sum)
{
    static const int32_t none[COLUMNS];
    static const struct sn_result_8i sums = {.sums = true};
    struct sn_dot run = *panel;
    run.a = job->a + job->g.M * run.aStepX;
    run.width = 1;
    run.start = none;
    run.c = (void *)sum;
    run.cStepX = 0;
    run.result = &sums;
    job->tile->run(&run);
}

/* Fills the values of columns, of which the tile reads whole vectors. */
static void set_columns(const struct job * job, size_t first, size_t columns, struct columns * c)
{
    const struct sn_quantized_gemm * g = &job->g;
    const uint32_t za = job->quick ? (uint32_t)zero_a(g, 0) : 0;
    for (size_t j = 0; j < COLUMNS; ++j) {
        const bool used = j < columns;
        c->zero[j] = used ? zero_b(g, first + j) : 0;
        c->more[j] = used ? sn_quantized_bias(g, first + j) : 0;
        const uint32_t start = used && job->quick ? (uint32_t)c->more[j] - za * (uint32_t)c->sum[j] : 0;
        c->start[j] = (int32_t)(start + (used && job->tile->biased ? 128 * (uint32_t)c->sum[j] : 0));
        c->none[j] = 0;
        c->norm[j] = used ? sn_quantized_norm(g, 0, first + j) : 0;
        c->bias[j] = used ? sn_quantized_bias_32f(g, first + j) : 0;
    }
    memset(c->low, 0, sizeof(c->low));
    memset(c->high, 255, sizeof(c->high));
}

static struct sn_result_8i result_of(const struct job * job, const struct columns * c)
{
    const struct sn_quantized_gemm * g = &job->g;
    const bool bytes = sn_quantized_element(g->type) == 1;
    return (struct sn_result_8i){.sums = !job->quick || g->type == SN_DATA_32I, .bytes = bytes, .requantised = bytes,
        .first = c->none, .offset = g->zeroC + (g->type == SN_DATA_8I ? 128 : 0), .norm = c->norm, .bias = c->bias,
        .low = c->low, .high = c->high, .activation = SN_ACTIVATION_IDENTITY};
}

/* Results of `rows` rows from `row` on, from their sums. */
static void finish(const struct job * job, const struct columns * c, size_t row, size_t rows, size_t first, size_t columns,
                   int32_t * sums)
{
    const struct sn_quantized_gemm * g = &job->g;
    for (size_t i = row; i < row + rows; ++i, sums += columns) {
        const uint32_t za = (uint32_t)zero_a(g, i), rest = (uint32_t)job->sumA[i] - (uint32_t)g->K * za;
        for (size_t j = 0; j < columns; ++j)
            sums[j] = (int32_t)((uint32_t)sums[j] + (uint32_t)c->more[j] - za * (uint32_t)c->sum[j] -
                                (uint32_t)c->zero[j] * rest);
        for (size_t j = 0; j < columns; ++j)
            sn_quantized_store(g, i, first + j, sums[j], g->perRow ? sn_quantized_norm(g, i, first + j) : c->norm[j]);
    }
}

static void flip_c(const struct sn_quantized_gemm * g, size_t first, size_t columns)
{
    for (size_t i = 0; i < g->M; ++i)
        for (size_t j = first; j < first + columns; ++j)
            g->C[i * g->N + j] ^= 0x80;
}

/* ---- */

static void multiply_panel(const struct job * job, size_t first, uint8_t * work)
{
    static const size_t start = 0;
    const struct sn_quantized_gemm * g = &job->g;
    const struct sn_dot_tile * tile = job->tile;
    const size_t columns = sn_min(tile->columns, g->N - first), element = sn_quantized_element(g->type);
    struct columns * c = (void *)(work + job->panel);
    int32_t * sums = (void *)(c + 1);
    const struct sn_result_8i result = result_of(job, c);
    struct sn_dot run = {.a = job->a, .height = 1, .width = g->M, .aStepX = pitch(job), .segment = &start, .segments = 1,
        .length = job->groups, .b = work, .columns = columns, .start = c->start, .c = g->C + first * element,
        .cStepX = g->N * element, .result = &result};
    pack_b(job, first, columns, work);
    add_columns(job, &run, c->sum);
    set_columns(job, first, columns, c);
    if (job->quick) {
        tile->run(&run);
        if (g->type == SN_DATA_8I)
            flip_c(g, first, columns);
        return;
    }
    run.c = (void *)sums;
    run.cStepX = columns * sizeof(*sums);
    for (size_t i = 0; i < g->M; i += run.width, run.a += run.width * run.aStepX) {
        run.width = sn_min(ROWS, g->M - i);
        tile->run(&run);
        finish(job, c, i, run.width, first, columns, sums);
    }
}

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    for (size_t i = begin; i < end; ++i)
        multiply_panel(job, i * job->tile->columns, work);
}

/* Whether the tile can convert sums. */
static bool is_quick(const struct sn_quantized_gemm * g)
{
    bool zeros = false;
    for (size_t j = 0; j < (g->perColumn ? g->N : 1); ++j)
        zeros = zeros || zero_b(g, j) != 0;
    return !zeros && !g->perRow;
}

static bool multiply(struct job * job)
{
    const struct sn_quantized_gemm * g = &job->g;
    const struct sn_dot_tile * tile = job->tile;
    job->groups = sn_ceil_div(g->K, tile->group);
    job->quick = is_quick(g);
    job->panel = sn_align(job->groups * tile->columns * 4, SN_ALIGN);
    const size_t part = job->panel + sizeof(struct columns) + ROWS * tile->columns * sizeof(int32_t);
    const size_t bytes = sn_align(part, SN_ALIGN), a = sn_align((g->M + 1) * pitch(job), SN_ALIGN);
    uint8_t * work = sn_scratch(bytes + a + (job->quick ? 0 : g->M * sizeof(int32_t)));
    if (!work)
        return false;
    job->a = work + bytes;
    job->sumA = job->quick ? NULL : (void *)(job->a + a);
    copy_a(job);
    const double sums = (double)g->N * (double)g->K;
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = job, .units = sn_ceil_div(g->N, tile->columns),
        .cost = sn_cost_of_sums((double)g->M * sums / 4, job->table->alignment) + sn_cost_of_bytes(8 * sums), .work = work,
        .workBytes = bytes});
    return true;
}

bool sn_quantized_gemm(const struct sn_quantized_gemm * g, size_t batch, size_t strideA, size_t strideB)
{
    struct job job = {.table = sn_table(), .tile = &sn_table()->convolution_8i.tile, .g = *g};
    for (size_t i = 0; i < batch; ++i) {
        if (!job.tile->run || g->K == 0)
            job.table->quantized_gemm.plain(&job.g);
        else if (!multiply(&job))
            return false; /* only the first one, since memory is kept */
        job.g.A += strideA;
        job.g.B += strideB;
        job.g.C += g->M * g->N * sn_quantized_element(g->type);
        job.g.zeroA += g->perRow && g->zeroA ? g->M : 0;
        job.g.scaleA += g->perRow && g->scaleA ? g->M : 0;
    }
    return true;
}
