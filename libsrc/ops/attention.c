/*
 * Attention by blocks of rows (the idea of Dao et al., "FlashAttention", 2022, for the caches of a processor): the scores of
 * a block stay in the L2 cache from the first product through the softmax to the second one, and are never in memory as a
 * whole. The rows of scores are complete, so the softmax is that of SimdSynetSoftmaxLayerForward(), with its bound; blocks of
 * columns would need corrections of earlier sums.
 *
 * Keys, multiplied by the scale, and values of a head are packed once into the panels of the GEMM tile, for all its blocks.
 * Units of work are the blocks of all heads; a range of units packs what its first block needs, and again where the keys or
 * values change, so heads of queries that share them are best next to each other.
 *
 * Where products are of bfloat16 numbers, all operands are rounded first, queries with the scale; scores and shares are floats.
 */
#include "ops/attention.h"

#include <string.h>

#include "ops/cache_sets.h"
#include "ops/gemm.h"
#include "ops/units.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* Rows of scores from this length on may be apart: the kernel of softmax computes them one by one. */
enum { LONG = 256 };

struct job {
    const struct sn_attention * a;
    const struct sn_table * table;
    const struct sn_dot_tile * small; /* that of bfloat16 numbers; NULL if floats are multiplied */
    size_t rows;          /* of a block */
    size_t pitch, pitchQ; /* of a row of scores; of a copied query, 0 if queries are read in place */
    size_t panelK, panelV; /* floats from a panel to the next */
    size_t keys, values, queries, left; /* floats of the parts of a workspace: the last for rounded rows; scores follow */
};

/* The numbers of a row, rounded, in groups. */
static size_t groups_of(const struct job * job, size_t depth) { return sn_ceil_div(depth, job->small->group); }

static size_t index_of(const size_t * batch, size_t head, const size_t * stride)
{
    return head / batch[1] * stride[0] + head % batch[1] * stride[1];
}

/* Packs `columns` columns of `depth` numbers for the tile of bfloat16 numbers; `transposed` if a column is a row in memory. */
static void pack_small(const struct job * job, const sn_32f * from, size_t step, bool transposed, size_t depth, size_t columns,
                       size_t pitch, sn_32f * to)
{
    const struct sn_dot_tile * tile = job->small;
    for (size_t n = 0; n < columns; n += tile->columns, to += pitch) {
        const size_t some = sn_min(tile->columns, columns - n);
        job->table->convolution_16b.panel(&(struct sn_panel_16b){.b = from + n * (transposed ? step : 1), .floats = true,
            .transposed = transposed, .step = step, .depth = depth, .columns = some,
            .width = sn_ceil_div(some, tile->granule) * tile->granule, .panel = (uint8_t *)to});
    }
}

/* The same for the tile of the products; of bfloat16 numbers without alpha, see block(). */
static void pack(const struct job * job, const sn_32f * from, size_t step, bool transposed, size_t depth, size_t columns,
                 float alpha, size_t pitch, sn_32f * to)
{
    const struct sn_gemm_32f_tile * tile = &job->table->gemm.tile_32f;
    if (job->small) {
        pack_small(job, from, step, transposed, depth, columns, pitch, to);
        return;
    }
    job->table->gemm.panels_32f[transposed](&(struct sn_gemm_panels_32f){.b = from, .step = step, .depth = depth,
        .columns = columns, .alpha = alpha, .panel = to, .wide = tile->columns,
        .narrow = sn_gemm_width(tile, columns % tile->columns), .pitch = pitch});
}

/* Rows of A, rounded to `rows * groups` floats at `left`, by packed columns. */
static void multiply_small(const struct job * job, const sn_32f * a, size_t lda, size_t rows, size_t depth,
                           const sn_32f * panels, size_t pitch, size_t columns, sn_32f * c, size_t ldc, sn_32f * left)
{
    static const size_t start = 0;
    static const float zeros[SN_ATTENTION_COLUMNS];
    const struct sn_dot_tile * tile = job->small;
    const size_t groups = groups_of(job, depth), step = groups * sizeof(float);
    const struct sn_result_16b floats = {.narrow = false, .activation = SN_ACTIVATION_IDENTITY};
    if (depth % tile->group) /* what completes the last group is multiplied by 0 */
        for (size_t i = 0; i < rows; ++i)
            left[(i + 1) * groups - 1] = 0;
    job->table->convolution_16b.pixels(&(struct sn_pixels){.src = a, .floats = true, .srcPixel = lda, .srcChannel = 1,
        .channels = depth, .pixels = rows, .dst = (uint8_t *)left, .dstPixel = step});
    struct sn_dot run = {.a = (const uint8_t *)left, .height = 1, .width = rows, .aStepX = step, .segment = &start, .segments = 1,
        .length = groups, .b = panels, .start = zeros, .c = (uint8_t *)c, .cStepX = ldc * sizeof(float), .result = &floats};
    for (size_t n = 0; n < columns; n += tile->columns) {
        run.columns = sn_min(tile->columns, columns - n);
        run.b = panels;
        run.c = (uint8_t *)(c + n);
        tile->run(&run);
        panels += pitch;
    }
}

/* Rows of A by packed columns. */
static void multiply(const struct job * job, const sn_32f * a, size_t lda, size_t rows, size_t depth, const sn_32f * panels,
                     size_t pitch, size_t columns, sn_32f * c, size_t ldc, sn_32f * left)
{
    static const size_t start = 0;
    const struct sn_gemm_32f_tile * tile = &job->table->gemm.tile_32f;
    if (job->small) {
        multiply_small(job, a, lda, rows, depth, panels, pitch, columns, c, ldc, left);
        return;
    }
    struct sn_gemm_32f run = {.a = a, .height = 1, .width = rows, .aStepX = lda, .segment = &start, .segments = 1,
        .length = depth, .b = panels, .c = c, .cStepX = ldc, .activation = SN_ACTIVATION_IDENTITY, .coldC = true};
    for (size_t n = 0; n < columns; n += tile->columns) {
        run.columns = sn_min(tile->columns, columns - n);
        tile->run(&run);
        run.b += pitch;
        run.c += tile->columns;
    }
}

static void copy_rows(const sn_32f * from, size_t step, size_t rows, size_t columns, float factor, sn_32f * to, size_t pitch)
{
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j)
            to[i * pitch + j] = factor * from[i * step + j];
}

/* Kernels compute rows of at least SN_BINARY_COLUMNS; shorter ones are added here. */
static void add_bias(const struct job * job, const sn_32f * bias, size_t rows, sn_32f * scores)
{
    const size_t columns = job->a->columns, step = job->a->ldb;
    const bool dense = job->pitch == columns;
    struct sn_binary_rows r = {{scores, columns, true}, {bias, step, true}, scores, dense ? rows : 1, columns, false};
    if (columns < SN_BINARY_COLUMNS) {
        for (size_t i = 0; i < rows * columns; ++i)
            scores[i] += bias[i / columns * step + i % columns];
        return;
    }
    for (size_t i = 0; i < rows; i += r.rows, r.a.at += job->pitch, r.b.at += step, r.dst += job->pitch)
        job->table->binary.run_32f[SN_BINARY_ADD](&r);
}

static void softmax(const struct job * job, size_t rows, sn_32f * scores)
{
    const size_t columns = job->a->columns;
    if (job->pitch == columns)
        job->table->softmax.run_32f(scores, rows, columns, 1, scores);
    else
        for (size_t i = 0; i < rows; ++i)
            job->table->softmax.run_32f(scores + i * job->pitch, 1, columns, 1, scores + i * job->pitch);
}

/* A block of rows from `first` on, of a head. */
static void block(const struct job * job, size_t head, size_t first, sn_32f * work)
{
    const struct sn_attention * a = job->a;
    const size_t rows = sn_min(job->rows, a->rows - first);
    const sn_32f * q = a->q + index_of(a->batch, head, a->strideQ) + first * a->ldq;
    sn_32f * copy = work + job->keys + job->values, * left = copy + job->queries, * scores = left + job->left;
    if (job->pitchQ)
        copy_rows(q, a->ldq, rows, a->depth, job->small ? a->scale : 1, copy, job->pitchQ);
    multiply(job, job->pitchQ ? copy : q, job->pitchQ ? job->pitchQ : a->ldq, rows, a->depth, work, job->panelK, a->columns,
             scores, job->pitch, left);
    if (a->bias)
        add_bias(job, a->bias + index_of(a->batch, head, a->strideB) + first * a->ldb, rows, scores);
    softmax(job, rows, scores);
    multiply(job, scores, job->pitch, rows, a->columns, work + job->keys, job->panelV, a->width,
             a->dst + index_of(a->batch, head, a->strideD) + first * a->ldd, a->ldd, left);
}

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_attention * a = job->a;
    const size_t blocks = sn_ceil_div(a->rows, job->rows);
    const sn_32f * packedK = NULL, * packedV = NULL;
    for (size_t unit = begin; unit < end; ++unit) {
        const size_t head = unit / blocks;
        const sn_32f * k = a->k + index_of(a->batch, head, a->strideK), * v = a->v + index_of(a->batch, head, a->strideV);
        if (k != packedK || unit == begin)
            pack(job, k, a->ldk, !a->transposedK, a->depth, a->columns, a->scale, job->panelK, work);
        if (v != packedV || unit == begin)
            pack(job, v, a->ldv, a->transposedV, a->columns, a->width, 1, job->panelV, (sn_32f *)work + job->keys);
        packedK = k, packedV = v;
        block(job, head, unit % blocks * job->rows, work);
    }
}

/*
 * ---- one row or two, as steps of decoders have: nothing is packed, so that keys and values are read once. The products are
 * those of sn_gemm() that need no memory.
 */

enum { FEW = 2 };

static bool is_few(const struct sn_table * table, const struct sn_attention * a)
{
    return a->rows <= FEW && a->rows <= table->gemm.few_32f.rows && a->depth > 0 && !a->transposedV;
}

static void run_few(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_attention * a = job->a;
    for (size_t head = begin; head < end; ++head) {
        const struct sn_gemm scores = {.transposed = !a->transposedK, .M = a->rows, .N = a->columns, .K = a->depth,
            .alpha = a->scale, .A = a->q + index_of(a->batch, head, a->strideQ), .lda = a->ldq,
            .B = a->k + index_of(a->batch, head, a->strideK), .ldb = a->ldk, .C = work, .ldc = a->columns};
        const struct sn_gemm sums = {.M = a->rows, .N = a->width, .K = a->columns, .alpha = 1, .A = work, .lda = a->columns,
            .B = a->v + index_of(a->batch, head, a->strideV), .ldb = a->ldv,
            .C = a->dst + index_of(a->batch, head, a->strideD), .ldc = a->ldd};
        (void)sn_gemm(job->table, &scores);
        if (a->bias)
            add_bias(job, a->bias + index_of(a->batch, head, a->strideB), a->rows, work);
        softmax(job, a->rows, work);
        (void)sn_gemm(job->table, &sums);
    }
}

/* ---- without a tile */

static void run_plain(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_attention * a = job->a;
    for (size_t unit = begin; unit < end; ++unit) {
        const size_t head = unit / a->rows, i = unit % a->rows;
        const struct sn_gemm scores = {.transposed = !a->transposedK, .M = 1, .N = a->columns, .K = a->depth,
            .alpha = a->scale, .A = a->q + index_of(a->batch, head, a->strideQ) + i * a->ldq, .lda = a->ldq,
            .B = a->k + index_of(a->batch, head, a->strideK), .ldb = a->ldk, .C = work, .ldc = a->columns};
        const struct sn_gemm sums = {.transposed = a->transposedV, .M = 1, .N = a->width, .K = a->columns, .alpha = 1,
            .A = work, .lda = a->columns, .B = a->v + index_of(a->batch, head, a->strideV), .ldb = a->ldv,
            .C = a->dst + index_of(a->batch, head, a->strideD) + i * a->ldd, .ldc = a->ldd};
        job->table->gemm.plain(&scores);
        if (a->bias)
            add_bias(job, a->bias + index_of(a->batch, head, a->strideB) + i * a->ldb, 1, work);
        softmax(job, 1, work);
        job->table->gemm.plain(&sums);
    }
}

/* ---- */

/* The size of parts of at most `most` that divide a whole into the fewest parts of about equal size. */
static size_t equal_parts(size_t whole, size_t most) { return sn_ceil_div(whole, sn_ceil_div(whole, most)); }

/* The floats of the panels of a matrix; false if they are too many for an array. */
static bool panels_of(const struct job * job, size_t depth, size_t columns, size_t * panel, size_t * all)
{
    const size_t wide = job->small ? job->small->columns : job->table->gemm.tile_32f.columns;
    const size_t count = sn_ceil_div(columns, wide);
    size_t floats;
    depth = job->small ? groups_of(job, depth) : depth;
    if (!sn_product(&floats, depth + 1, sn_align(columns, wide) + wide, 2))
        return false;
    *panel = depth * wide + SN_ALIGN / sizeof(float); /* not all in the same sets of the cache */
    *all = count * *panel;
    return true;
}

/* Whole tiles whose scores take a quarter of the L2 cache; for several threads, some blocks for each. */
static bool plan(struct job * job)
{
    const struct sn_attention * a = job->a;
    const size_t height = job->small ? job->small->rows : job->table->gemm.tile_32f.rows;
    const size_t heads = a->batch[0] * a->batch[1], cached = sn_cpu()->cacheL2 / 4 / sizeof(float);
    job->pitch = a->columns < LONG ? a->columns : sn_spaced(sn_align(a->columns, SN_LINE / sizeof(float)), SN_FOUR_SETS);
    size_t tiles = sn_max(cached / (job->pitch * height), 1);
    while (tiles > 1 && heads * sn_ceil_div(a->rows, tiles * height) < 2 * sn_threads() && sn_threads() > 1)
        tiles /= 2;
    job->rows = equal_parts(a->rows, tiles * height);
    job->pitchQ = sn_share_sets(a->ldq * sizeof(float), SN_TWO_SETS) ? sn_spaced(a->depth, SN_FOUR_SETS) : 0;
    if (job->small) {
        job->pitchQ = a->depth;
        job->left = sn_align(job->rows * groups_of(job, sn_max(a->depth, a->columns)), SN_ALIGN / sizeof(float));
    }
    job->queries = sn_align(job->rows * job->pitchQ, SN_ALIGN / sizeof(float));
    return panels_of(job, a->depth, a->columns, &job->panelK, &job->keys) &&
           panels_of(job, a->columns, a->width, &job->panelV, &job->values);
}

/*
 * The softmax remains, so little is gained, and on small heads lost, whose rows leave blocks of the tile unused. Times of floats
 * over these, Emerald Rapids, amx, rows x columns x depth: 16x16x64 0.60, 40x40x15 0.65, 33x77x17 0.75, 12x300x32 0.80, 128x128x32
 * 1.24, 197x197x64 1.48, 1000x1000x64 1.79.
 */
enum { LEAST_SIDE = 64, LEAST_DEPTH = 16 };

static bool is_worth_rounding(const struct sn_attention * a)
{
    return a->rows >= LEAST_SIDE && a->columns >= LEAST_SIDE && a->depth >= LEAST_DEPTH;
}

/* Sums of no values. */
static void clear(const struct sn_attention * a)
{
    for (size_t head = 0; head < a->batch[0] * a->batch[1]; ++head)
        for (size_t i = 0; i < a->rows; ++i)
            memset(a->dst + index_of(a->batch, head, a->strideD) + i * a->ldd, 0, a->width * sizeof(float));
}

bool sn_attention(const struct sn_table * table, const struct sn_attention * a)
{
    struct job job = {.a = a, .table = table, .rows = 1, .pitch = a->columns};
    const bool tiled = table->gemm.tile_32f.run != NULL, few = tiled && is_few(table, a);
    if (a->columns == 0) {
        clear(a);
        return true;
    }
    if (tiled && !few && a->rounded && table->convolution_16b.tile.fast && is_worth_rounding(a))
        job.small = &table->convolution_16b.tile;
    if (few)
        job.rows = a->rows;
    else if (tiled && !plan(&job))
        return false;
    const size_t heads = a->batch[0] * a->batch[1];
    const size_t bytes = (job.keys + job.values + job.queries + job.left + job.rows * job.pitch) * sizeof(float);
    const double scores = (double)heads * (double)a->rows * (double)a->columns;
    void * work = sn_scratch(bytes);
    if (!work)
        return false;
    sn_parallel_for(&(struct sn_parallel){.run = few ? run_few : tiled ? run : run_plain, .job = &job,
        .units = heads * sn_ceil_div(a->rows, job.rows),
        .cost = sn_cost_of_sums(scores * (double)(a->depth + a->width), table->alignment) + sn_cost_of_bytes(64 * scores),
        .work = work, .workBytes = bytes});
    return true;
}
