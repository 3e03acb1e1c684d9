/*
 * By the tile of quantised convolutions, which multiplies bytes without a sign by bytes with one: others have 128 added to or
 * subtracted from them and their zeros, by XOR 0x80. A is copied in groups of numbers as the tile reads them, unless it has
 * this form, and each panel of B is packed, once for each product or once for a context, with the sums of its columns, which
 * are a product with a row of ones. Panels of 16 bits that a context keeps are bytes: the tile widens them for few rows, which
 * would take the time of reading twice as many; for many rows they are widened once. Then, with sums over k that wrap,
 *
 *     sum of (a - za) * (b - zb) = sum of a * b - za * (sum of b) - zb * (sum of a) + K * za * zb
 *
 * A zero of A that all rows share is in what sums begin with, and the tile converts sums to results. Zeros of B, which are 0
 * or 128 in most models and then 0 here, and values of each row are applied to the sums afterwards.
 */
#include "ops/bytes/quantized_gemm.h"

#include <float.h>
#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* Rows whose sums are kept until they are converted. */
enum { ROWS = 128 };

/* Tiles of rows that widen bytes of B one after the other: for more of them, it is widened once. */
enum { FEW = 4 };

struct job {
    struct sn_quantized_panels m;
    struct sn_quantized_gemm g;
    const uint8_t * a; /* rows of `pitch` bytes */
    size_t pitch;
    int32_t * sumA;    /* of each row, or NULL if they are not needed */
    bool quick;        /* the tile converts sums to results */
    const uint8_t * packed; /* all panels; NULL: each is packed when it is used */
};

/* What depends on the columns of a panel. */
struct columns {
    int32_t start[SN_PANEL_COLUMNS], zero[SN_PANEL_COLUMNS], more[SN_PANEL_COLUMNS]; /* the bias */
    float norm[SN_PANEL_COLUMNS], bias[SN_PANEL_COLUMNS];
    uint8_t low[SN_PANEL_COLUMNS], high[SN_PANEL_COLUMNS];
};

static const int32_t none[SN_PANEL_COLUMNS];

/* ---- A */

/* Whether the tile can read A itself. */
static bool is_ready(const struct job * job)
{
    return job->m.tile->number == 1 && !job->g.signedA && job->g.K % 4 == 0;
}

/* The last group of a row may be longer, and contains numbers that count as 0. */
static void copy_a(struct job * job, uint8_t * to)
{
    const struct sn_quantized_gemm * g = &job->g;
    const bool ready = is_ready(job);
    for (size_t i = 0; !ready && i < g->M; ++i)
        memset(to + (i + 1) * job->pitch - 4, sn_panels_none(job->m.tile), 4);
    if (!ready || job->sumA)
        job->m.table->quantized_gemm.rows(&(struct sn_quantized_rows){.a = g->A, .rows = g->M, .size = g->K,
            .step = g->K, .with_sign = g->signedA, .sum = job->sumA, .to = ready ? NULL : to, .pitch = job->pitch,
            .wide = job->m.tile->number == 2});
    job->a = ready ? g->A : to;
}

/* ---- results */

/* Sets the values of columns; `sum` has those of B. */
static void set_columns(const struct job * job, size_t first, size_t columns, const int32_t * sum, struct columns * c)
{
    const struct sn_quantized_gemm * g = &job->g;
    const int32_t factor = (job->m.tile->biased ? 128 : 0) - (job->quick ? sn_quantized_zero_of_row(g, 0) : 0);
    job->m.table->quantized_gemm.columns(&(struct sn_quantized_columns){.g = g, .first = first, .columns = columns,
        .sumB = sum, .factor = factor, .joined = job->quick, .start = c->start, .zero = c->zero, .bias = c->more,
        .norm = c->norm, .biasFloat = c->bias});
    if (sn_quantized_element(g->type) != 1)
        return;
    memset(c->low, 0, sizeof(c->low));
    memset(c->high, 255, sizeof(c->high));
}

static struct sn_result_8i result_of(const struct job * job, const struct columns * c)
{
    const struct sn_quantized_gemm * g = &job->g;
    const bool bytes = sn_quantized_element(g->type) == 1;
    return (struct sn_result_8i){.sums = !job->quick || g->type == SN_DATA_32I, .bytes = bytes, .requantised = bytes,
        .first = none, .offset = g->zeroC + (g->type == SN_DATA_8I ? 128 : 0), .norm = c->norm, .bias = c->bias,
        .low = c->low, .high = c->high, .activation = SN_ACTIVATION_IDENTITY};
}

/* Bytes without a sign, which the tile stores, to bytes with one. */
static void flip_c(const struct job * job, size_t first, size_t columns)
{
    const struct sn_quantized_gemm * g = &job->g;
    job->m.table->quantized_gemm.rows(&(struct sn_quantized_rows){.a = g->C + first, .rows = g->M, .size = columns,
        .step = g->N, .with_sign = true, .to = g->C + first, .pitch = g->N});
}

/* ---- */

/* Whether the tile reads a panel of so many columns as bytes. */
static bool runs_narrow(const struct job * job, size_t columns)
{
    const struct sn_dot_tile * tile = job->m.tile;
    return job->m.narrow && job->g.M <= FEW * tile->rows && columns == tile->columns;
}

/* Space for a panel that is packed or widened. */
static size_t space_of_panel(const struct job * job) { return job->packed && !job->m.narrow ? 0 : sn_panels_made(&job->m); }

/* The panel with its sums, as the tile reads it. */
static const uint8_t * panel_of(const struct job * job, size_t index, uint8_t * work, const int32_t ** sum)
{
    const struct sn_quantized_panels * m = &job->m;
    const size_t first = index * m->tile->columns, columns = sn_min(m->tile->columns, m->N - first);
    if (!job->packed) {
        sn_panels_pack(m, first, work);
        *sum = (const void *)(work + m->panel);
        return work;
    }
    const uint8_t * kept = job->packed + index * sn_panels_step(m);
    *sum = (const void *)(kept + sn_panels_kept(m));
    if (!m->narrow || runs_narrow(job, columns))
        return kept;
    m->table->quantized_gemm.widen(kept, m->groups * sn_align(columns, m->tile->granule) * 2, work);
    return work;
}

/* `work` has space for a panel that is not packed yet or widened, for columns and sums. */
static void multiply_panel(const struct job * job, size_t index, uint8_t * work)
{
    static const size_t start = 0;
    const struct sn_quantized_gemm * g = &job->g;
    const struct sn_dot_tile * tile = job->m.tile;
    const size_t first = index * tile->columns;
    const size_t columns = sn_min(tile->columns, g->N - first), element = sn_quantized_element(g->type);
    struct columns * c = (void *)(work + space_of_panel(job));
    int32_t * sums = (void *)(c + 1);
    const int32_t * sum;
    const uint8_t * panel = panel_of(job, index, work, &sum);
    const sn_dot_fn multiply_by = runs_narrow(job, columns) ? tile->run_narrow : tile->run;
    set_columns(job, first, columns, sum, c);
    const struct sn_result_8i result = result_of(job, c);
    struct sn_dot run = {.a = job->a, .height = 1, .width = g->M, .aStepX = job->pitch, .segment = &start, .segments = 1,
        .length = job->m.groups, .b = panel, .columns = columns, .start = c->start, .c = g->C + first * element,
        .cStepX = g->N * element, .result = &result};
    if (job->quick) {
        multiply_by(&run);
        if (g->type == SN_DATA_8I)
            flip_c(job, first, columns);
        return;
    }
    const size_t step = sn_align(columns, tile->granule);
    struct sn_quantized_finish finish = {.g = g, .first = first, .columns = columns, .sums = sums, .step = step,
        .sumA = job->sumA, .sumB = sum, .zeroB = c->zero, .bias = c->more, .norm = c->norm, .biasFloat = c->bias};
    run.c = (void *)sums;
    run.cStepX = step * sizeof(*sums);
    for (size_t i = 0; i < g->M; i += run.width, run.a += run.width * run.aStepX) {
        run.width = sn_min(ROWS, g->M - i);
        multiply_by(&run);
        finish.row = i, finish.rows = run.width;
        job->m.table->quantized_gemm.finish(&finish);
    }
}

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    for (size_t i = begin; i < end; ++i)
        multiply_panel(job, i, work);
}

/* Whether all zeros of B are 0 for the tile, which multiplies numbers without a sign as these less 128. */
static bool has_no_zeros(const struct sn_quantized_gemm * g)
{
    if (!g->zeroB)
        return g->signedB;
    const bool first = g->zeroB[0] == (g->signedB ? 0 : 128);
    return first && (!g->perColumn || memcmp(g->zeroB, g->zeroB + 1, sn_max(g->N, 1) - 1) == 0);
}

/* Whether the tile can convert sums. */
static bool is_quick(const struct sn_quantized_gemm * g) { return !g->perRow && has_no_zeros(g); }

/* Bytes of memory: for a panel, for a row of ones, for a copy of A, and in all, with sums of rows. */
struct space {
    size_t bytes, ones, a, all;
};

static struct space space_of(const struct job * job)
{
    const size_t M = job->g.M, rows = job->quick ? 0 : sn_min(ROWS, M), sums = rows * job->m.tile->columns * sizeof(int32_t);
    struct space s = {.bytes = sn_align(space_of_panel(job) + sizeof(struct columns) + sums, SN_ALIGN)};
    s.ones = job->packed ? 0 : sn_panels_pitch(&job->m);
    s.a = is_ready(job) ? 0 : sn_align(M * job->pitch, SN_ALIGN);
    s.all = s.bytes + s.ones + s.a + (job->quick ? 0 : M * sizeof(int32_t));
    return s;
}

/* With memory of the caller, or of the thread if that is NULL. */
static bool multiply(struct job * job, uint8_t * work)
{
    const struct sn_quantized_gemm * g = &job->g;
    const struct sn_dot_tile * tile = job->m.tile;
    job->quick = is_quick(g);
    job->pitch = job->m.groups * 4;
    const struct space space = space_of(job);
    const size_t bytes = space.bytes, ones = space.ones, a = space.a;
    if (!work)
        work = sn_scratch(space.all);
    if (!work)
        return false;
    job->sumA = job->quick ? NULL : (void *)(work + bytes + ones + a);
    copy_a(job, work + bytes + ones);
    if (!job->packed)
        sn_panels_set_ones(&job->m, work + bytes);
    const double sums = (double)g->N * (double)g->K;
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = job, .units = sn_ceil_div(g->N, tile->columns),
        .cost = sn_cost_of_sums((double)g->M * sums / 4, job->m.table->alignment) +
                sn_cost_of_bytes((job->packed ? 1 : 8) * sums), .work = work, .workBytes = bytes});
    return true;
}

/* Products with the same B are one, with the rows of all, if these are dense. */
static void join(struct sn_quantized_gemm * g, size_t * batch, size_t strideA, size_t strideB)
{
    if (strideB != 0 || strideA != g->M * g->K)
        return;
    g->M *= *batch;
    *batch = 1;
}

bool sn_quantized_gemm(const struct sn_quantized_gemm * given, const struct sn_quantized_matrix * matrix, size_t batch,
                       size_t strideA, size_t strideB)
{
    struct job job = {.g = *given};
    struct sn_quantized_gemm * g = &job.g;
    const struct sn_table * table = matrix ? matrix->table : sn_table();
    join(g, &batch, strideA, strideB);
    const bool plain = !table->convolution_8i.tile.run || g->K == 0;
    if (matrix)
        job.packed = matrix->packed, g->B = matrix->packed, g->transposed = matrix->transposed;
    for (size_t i = 0; i < batch; ++i) {
        job.m = matrix ? sn_panels_of_kept(matrix, g->B, g->transposed)
                       : sn_panels_of(table, g->B, g->N, g->K, g->signedB, g->transposed);
        if (plain)
            table->quantized_gemm.plain(g);
        else if (!multiply(&job, NULL))
            return false; /* only the first one, since memory is kept */
        g->A += strideA;
        g->B += strideB;
        g->C += g->M * g->N * sn_quantized_element(g->type);
        g->zeroA += g->perRow && g->zeroA ? g->M : 0;
        g->scaleA += g->perRow && g->scaleA ? g->M : 0;
    }
    return true;
}

size_t sn_quantized_bad_scale(const sn_32f * scale, size_t count)
{
    size_t i = 0;
    if (sn_table()->quantized_gemm.are_scales(scale, count))
        return count;
    while (i < count && scale[i] >= 0 && scale[i] <= FLT_MAX)
        ++i;
    return i;
}

static struct job job_of(const struct sn_quantized_gemm * g, const struct sn_quantized_matrix * q)
{
    return (struct job){.m = sn_panels_of_kept(q, q->packed, q->transposed), .g = *g, .packed = q->packed};
}

size_t sn_quantized_matrix_work(const struct sn_quantized_matrix * matrix, size_t M)
{
    const struct sn_quantized_gemm g = {.M = M, .N = matrix->N, .K = matrix->K, .signedA = true};
    struct job job = job_of(&g, matrix);
    job.pitch = job.m.groups * 4;
    return job.m.tile->run ? space_of(&job).all : 0;
}

void sn_quantized_matrix_multiply(const struct sn_quantized_gemm * g, const struct sn_quantized_matrix * matrix, void * work)
{
    struct job job = job_of(g, matrix);
    job.g.B = matrix->packed;
    job.g.transposed = matrix->transposed;
    if (job.m.tile->run && g->K != 0)
        multiply(&job, work);
    else
        matrix->table->quantized_gemm.plain(&job.g);
}
