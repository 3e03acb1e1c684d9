/*
 * Products of two matrices that were not packed before (Goto and van de Geijn, "Anatomy of High-Performance Matrix
 * Multiplication", 2008): C is divided into blocks of rows and stripes of columns, K into steps. In each step a stripe of B
 * is packed into panels, which the tile multiplies with all rows of the block. A is read in place, unless its rows would
 * evict each other from the L1 cache, or the rows of a block are in so many pages that a copy is cheaper: then groups of rows
 * are copied, which stay in the L2 cache for all panels, and the next group is prefetched meanwhile. Against a copy of the
 * whole block, 8 x 1024 x 64 x 1024 (values of an attention) is 1.06 times as fast, 1024 x 1024 x 1024 1.02.
 *
 * A sum that is interrupted between two steps continues from the value in C: each element is one chain of multiply-adds in
 * the order of k, for any division of the matrices. The panels include alpha, the start of the chain beta and the bias; the
 * last step of K applies the activation.
 *
 * Of a batch, the blocks of all products are units of work. Products with the same B, whose other matrices lie one after
 * another, are one product.
 */
#include "ops/gemm.h"

#include <string.h>

#include "ops/cache_sets.h"
#include "ops/inner_product.h"
#include "ops/units.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* Columns of a stripe, a multiple of all tiles' panels: B is read in long runs, and a stripe stays in the L2 cache. */
enum { STRIPE = 512 };

/* The maximum number of tiles of a block of rows: beyond some thousand rows a larger copy of A is not faster. */
enum { TILES = 80 };

/* So few rows use a packed stripe only a few times. */
enum { FEW = 256 };

struct job {
    const struct sn_gemm * g; /* the batch */
    const struct sn_table * table;
    size_t rows, step; /* of a block; of K */
    size_t stripe;     /* columns of a stripe */
    bool copied;       /* A is copied to rows `pitch` apart, `group` rows at a time */
    size_t pitch, group;
    size_t panels; /* floats of the copy of B, which is followed by that of A */
    bool stream;   /* C exceeds the caches and is written once */
};

/* A part of a product: rows and columns of C, and a step of K. */
struct part {
    size_t row, rows;
    size_t column, columns;
    size_t k, depth;
};

static size_t products(const struct sn_gemm * g) { return sn_max(g->batch[0], 1) * sn_max(g->batch[1], 1); }

/* One of them. */
static struct sn_gemm product_at(const struct sn_gemm * g, size_t index)
{
    struct sn_gemm one = *g;
    const size_t inner = sn_max(g->batch[1], 1), at[] = {index / inner, index % inner};
    for (int i = 0; i < 2; ++i) {
        one.A += at[i] * g->strideA[i];
        one.B += at[i] * g->strideB[i];
        one.C += at[i] * g->strideC[i];
    }
    return one;
}

static void copy_a(const struct job * job, const struct sn_gemm * g, const struct part * p, sn_32f * a)
{
    if (g->transposedA) { /* a single panel, of all columns */
        job->table->gemm.panels_32f[1](&(struct sn_gemm_panels_32f){.b = g->A + p->k * g->lda + p->row, .step = g->lda,
            .depth = p->rows, .columns = p->depth, .alpha = 1, .panel = a, .wide = job->pitch, .narrow = job->pitch});
        return;
    }
    for (size_t i = 0; i < p->rows; ++i)
        memcpy(a + i * job->pitch, g->A + (p->row + i) * g->lda + p->k, p->depth * sizeof(float));
}

/* The distance of panels: their size and a cache line, so that a row of B is not written to a single set of the L1 cache. */
static size_t pitch_of_panels(const struct job * job, size_t depth)
{
    return depth * job->table->gemm.tile_32f.columns + SN_ALIGN / sizeof(float);
}

static void pack_b(const struct job * job, const struct sn_gemm * g, const struct part * p, sn_32f * b)
{
    const struct sn_gemm_32f_tile * tile = &job->table->gemm.tile_32f;
    const size_t first = g->transposed ? p->column * g->ldb + p->k : p->k * g->ldb + p->column;
    job->table->gemm.panels_32f[g->transposed](&(struct sn_gemm_panels_32f){.b = g->B + first, .step = g->ldb,
        .depth = p->depth, .columns = p->columns, .alpha = g->alpha, .panel = b, .wide = tile->columns,
        .narrow = sn_gemm_width(tile, p->columns % tile->columns), .pitch = pitch_of_panels(job, p->depth)});
}

/*
 * What is prefetched while the panel of column n is used, if it is contiguous: few rows, the next step's part of B; others,
 * with the first panel, the next rows of A that are copied.
 */
static void prefetch(const struct job * job, const struct sn_gemm * g, const struct part * p, size_t n,
                     struct sn_gemm_32f * run)
{
    const size_t columns = job->table->gemm.tile_32f.columns, next = p->k + p->depth, below = p->row + p->rows;
    run->prefetch = NULL;
    if (g->panels) { /* the same part of the next panel */
        run->prefetch = run->b + g->K * run->columns;
        run->prefetchStep = p->depth * run->columns / p->rows;
    } else if (!g->transposed && g->M < FEW && g->ldb <= p->columns * 5 / 4 && next < g->K) {
        const size_t share = p->depth * g->ldb / sn_ceil_div(p->columns, columns);
        run->prefetch = g->B + next * g->ldb + n / columns * share;
        run->prefetchStep = share / p->rows;
    } else if (job->copied && !g->transposedA && n == 0 && below < g->M && g->lda <= p->depth * 5 / 4) {
        run->prefetch = g->A + below * g->lda + p->k;
        run->prefetchStep = g->lda;
    }
}

/* The part of the panel of column n; b: the packed part of B. */
static const sn_32f * panel_at(const struct job * job, const struct sn_gemm * g, const struct part * p, size_t n, const sn_32f * b)
{
    const struct sn_gemm_32f_tile * tile = &job->table->gemm.tile_32f;
    if (!g->panels)
        return b + n / tile->columns * pitch_of_panels(job, p->depth);
    return g->panels + (p->column + n) * g->K + p->k * sn_gemm_width(tile, sn_min(tile->columns, p->columns - n));
}

/* Computes a part of C; b: the packed part of B, followed by the copy of A. */
static void multiply(const struct job * job, const struct sn_gemm * g, const struct part * p, const sn_32f * b)
{
    static const size_t start = 0;
    const struct sn_gemm_32f_tile * tile = &job->table->gemm.tile_32f;
    struct sn_gemm_32f run = {.a = job->copied ? b + job->panels : g->A + p->row * g->lda + p->k, .height = 1,
        .width = p->rows, .aStepX = job->copied ? job->pitch : g->lda, .segment = &start, .segments = 1, .length = p->depth,
        .c = g->C + p->row * g->ldc + p->column, .cStepX = g->ldc, .beta = p->k > 0 || g->add ? NULL : &g->beta,
        .activation = p->k + p->depth < g->K ? SN_ACTIVATION_IDENTITY : g->activation, .param = {g->param[0], g->param[1]}};
    const bool resume = p->k > 0 || g->beta != 0;
    const sn_32f * add = p->k == 0 && g->add ? g->add + p->row * g->ldc + p->column : NULL;
    for (size_t n = 0; n < p->columns; n += tile->columns) {
        run.columns = sn_min(tile->columns, p->columns - n);
        run.b = panel_at(job, g, p, n, b);
        run.from = resume ? run.c : add ? add + n : NULL;
        run.bias = g->bias && p->k == 0 ? g->bias + p->column + n : NULL;
        run.slope = g->slope ? g->slope + p->column + n : NULL;
        run.stream = job->stream && sn_has_whole_lines(&run);
        prefetch(job, g, p, n, &run);
        tile->run(&run);
        run.c += tile->columns;
    }
}

static size_t blocks_of(const struct job * job) { return sn_ceil_div(job->g->M, job->rows); }
static size_t stripes_of(const struct job * job) { return sn_ceil_div(job->g->N, job->stripe); }

static void multiply_block(const struct job * job, const struct sn_gemm * g, sn_32f * work, size_t row, size_t column)
{
    const size_t end = sn_min(row + job->rows, g->M);
    struct part p = {.column = column, .columns = sn_min(job->stripe, g->N - column)};
    do { /* once even for an empty sum */
        p.depth = sn_min(job->step, g->K - p.k);
        if (!g->panels)
            pack_b(job, g, &p, work);
        for (p.row = row; p.row < end; p.row += p.rows) {
            p.rows = sn_min(job->group, end - p.row);
            if (job->copied)
                copy_a(job, g, &p, work + job->panels);
            multiply(job, g, &p, work);
        }
        p.k += p.depth;
    } while (p.k < g->K);
}

/* Units of work are the blocks of rows of all stripes, of all products. */
static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const size_t blocks = blocks_of(job), stripes = stripes_of(job);
    for (size_t unit = begin; unit < end; ++unit) {
        const struct sn_gemm g = product_at(job->g, unit / blocks / stripes);
        multiply_block(job, &g, work, unit % blocks * job->rows, unit / blocks % stripes * job->stripe);
    }
    if (job->stream) /* orders non-temporal stores before those that signal the end to other threads */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- few rows: nothing is packed */

/* Adds the bias and applies the activation to some columns of C: a step of K without products does. */
static void finish(const struct job * job, const struct sn_gemm * g, size_t column, size_t columns)
{
    struct sn_gemm rest = *g;
    if (!g->bias && g->activation == SN_ACTIVATION_IDENTITY)
        return;
    rest.K = 0;
    rest.beta = 1;
    multiply(job, &rest, &(struct part){.rows = g->M, .column = column, .columns = columns}, g->B);
}

/* Columns of a unit of work: several whole vectors of any instruction set. */
enum { FEW_COLUMNS = 128 };

static void run_few(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const size_t pieces = sn_ceil_div(job->g->N, FEW_COLUMNS);
    while (begin < end) {
        const struct sn_gemm g = product_at(job->g, begin / pieces);
        const size_t first = begin % pieces, last = sn_min(first + end - begin, pieces);
        const size_t column = first * FEW_COLUMNS, columns = sn_min(last * FEW_COLUMNS, g.N) - column;
        job->table->gemm.few_32f.run(&g, column, column + columns);
        finish(job, &g, column, columns);
        begin += last - first;
    }
}

/* Each row of C is the product of a matrix, the transposed B, with a vector. */
static void multiply_vectors(const struct job * job, const struct sn_gemm * g)
{
    struct sn_inner_product_32f p = {.src = g->A, .weight = g->B, .step = g->ldb, .count = g->N, .size = g->K,
        .alpha = g->alpha, .beta = g->beta, .dst = g->C};
    for (size_t i = 0; i < g->M; ++i, p.src += g->lda, p.dst += g->ldc)
        sn_inner_product_32f(job->table, &p);
    finish(job, g, 0, g->N);
}

/* Units are products. A single one runs on the caller, and its rows are divided among threads by the call inside. */
static void run_vectors(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    for (size_t i = begin; i < end; ++i) {
        const struct sn_gemm g = product_at(job->g, i);
        multiply_vectors(job, &g);
    }
}

enum { VECTORS = 2 }; /* up to so many rows, reading a transposed B again is as fast as packing it */

/* ---- the choice */

/* The size of parts of at most `most` that divide a whole into the fewest parts of about equal size. */
static size_t equal_parts(size_t whole, size_t most) { return sn_ceil_div(whole, sn_max(sn_ceil_div(whole, most), 1)); }

/*
 * For several threads: makes blocks smaller until each thread has some. The longer side is divided, since each block needs
 * copies of its rows of A and its columns of B.
 */
static void split(struct job * job)
{
    const struct sn_gemm * g = job->g;
    const size_t threads = sn_threads(), panel = job->table->gemm.tile_32f.columns, tile = job->table->gemm.tile_32f.rows;
    if (threads == 1)
        return;
    while (products(g) * blocks_of(job) * stripes_of(job) < 2 * threads) {
        const size_t columns = sn_min(job->stripe, g->N);
        if (columns >= job->rows && columns > 2 * panel)
            job->stripe = sn_align(columns / 2, panel);
        else if (job->rows > 4 * tile)
            job->rows = equal_parts(g->M, sn_ceil_div(job->rows / 2, tile) * tile);
        else
            return;
    }
}

/*
 * As convolutions do: the scores of an attention of 8 x 1024 x 1024 x 64, 32 MB, are 1.06 times as fast (Zen 4), with a depth
 * of 40 1.1 to 1.8 times (a Xeon, whose L3 cache is larger). Small matrices count as much as C, as the source of a function
 * of one array does. A sum of several steps reads C again.
 */
static bool is_streamed(const struct job * job)
{
    const struct sn_gemm * g = job->g;
    const size_t results = g->M * g->N, sources = sn_max(g->M * g->K + g->K * g->N, results);
    return g->K <= job->step && g->beta == 0 && !g->add && sn_beyond_cache(products(g) * (sources + results) * sizeof(float));
}

/* The rows of A whose copies take a quarter of the L2 cache. */
static size_t largest_group(const struct job * job)
{
    const size_t rows = job->table->gemm.tile_32f.rows;
    return sn_max(sn_cpu()->cacheL2 / 4 / sizeof(float) / (job->pitch * rows), 1) * rows;
}

/*
 * The rows of A that are copied at once. Where results are written faster in order (a trait of the processor), a few, if C
 * leaves the L2 cache and panels stay there: else each panel writes two cache lines of each of some hundred rows. With AVX-512
 * scores of 8 x 1024 x 1024 x 40 take 0.8 of the time, 3000 x 3000 x 64 0.76, 1024 x 1024 x 256 0.97; with AVX2 0.86, 0.89 and
 * 0.99; 12 x 197 x 197 x 64 0.97 (a Xeon). A hundred rows gain less, one tile is slower with AVX2.
 */
static size_t group_of(const struct job * job)
{
    enum { FEW_ROWS = 24 };
    const struct sn_gemm * g = job->g;
    const size_t l2 = sn_cpu()->cacheL2, panels = job->step * sn_min(job->stripe, g->N) * sizeof(float);
    const bool leaves = products(g) * g->M * g->N * sizeof(float) > l2 / 2, stay = g->K <= job->step && panels <= l2 / 2;
    const size_t rows = job->table->gemm.tile_32f.rows, most = largest_group(job);
    if (!sn_cpu()->traits.ordered || !leaves || !stay)
        return equal_parts(job->rows, most);
    return sn_min(rows * equal_parts(sn_ceil_div(job->rows, rows), sn_min(most / rows, sn_ceil_div(FEW_ROWS, rows))), job->rows);
}

/*
 * Few rows use a packed stripe only a few times: it must stay in the L2 cache. For many rows it is better to read and write
 * C once: 1024 x 1024 x 1024 is 1.07 times as fast in one step as in four.
 */
static void plan(struct job * job)
{
    const struct sn_gemm * g = job->g;
    const struct sn_gemm_32f_tile * tile = &job->table->gemm.tile_32f;
    const size_t cached = sn_max(sn_cpu()->cacheL2 / sizeof(float) * 3 / 4 / STRIPE, 64);
    job->step = sn_max(equal_parts(g->K, g->M < FEW ? cached : sn_max(cached, 1024)), 1);
    job->rows = equal_parts(g->M, TILES * tile->rows);
    job->stripe = STRIPE;
    split(job);
    job->copied = g->transposedA || g->N > 4 * tile->columns || sn_share_sets(g->lda * sizeof(float), SN_TWO_SETS);
    job->pitch = sn_spaced(job->step, SN_FOUR_SETS);
    job->group = job->copied ? group_of(job) : job->rows;
    job->stream = is_streamed(job);
}

static double cost_of(const struct job * job)
{
    const double columns = (double)products(job->g) * (double)job->g->N * (double)job->g->K;
    return sn_cost_of_sums((double)job->g->M * columns, job->table->alignment) + sn_cost_of_bytes(8 * columns);
}

/* The floats of a packed stripe. */
static size_t size_of_panels(const struct job * job, size_t stripe)
{
    const size_t panels = sn_ceil_div(sn_min(stripe, job->g->N), job->table->gemm.tile_32f.columns);
    return job->g->panels ? 0 : panels * pitch_of_panels(job, job->step);
}

static bool multiply_blocks(struct job * job)
{
    const struct sn_gemm * g = job->g;
    plan(job);
    job->panels = size_of_panels(job, job->stripe);
    const size_t bytes = (job->panels + (job->copied ? job->group * job->pitch : 0)) * sizeof(float);
    void * work = g->work ? g->work : sn_scratch(bytes);
    if (!work)
        return false;
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = job,
        .units = products(g) * blocks_of(job) * stripes_of(job), .cost = cost_of(job), .work = work, .workBytes = bytes});
    return true;
}

/* Dimensions of the batch that only add rows, the inner one first, become rows: each element is the same chain. */
static struct sn_gemm joined(const struct sn_gemm * g)
{
    struct sn_gemm all = *g;
    for (int i = 1; i >= 0 && !g->transposedA; --i) {
        const size_t count = sn_max(all.batch[i], 1);
        const bool rows = g->strideB[i] == 0 && g->strideA[i] == all.M * g->lda && g->strideC[i] == all.M * g->ldc;
        if (count > 1 && !rows)
            break;
        all.M *= count;
        all.batch[i] = 1;
    }
    return all;
}

size_t sn_gemm_work(const struct sn_table * table, const struct sn_gemm * g)
{
    struct job job = {.g = g, .table = table};
    if (!table->gemm.tile_32f.run)
        return 0;
    plan(&job);
    return (size_of_panels(&job, STRIPE) + sn_min(g->M, largest_group(&job)) * job.pitch) * sizeof(float);
}

static void multiply_plain(const struct job * job)
{
    for (size_t i = 0; i < products(job->g); ++i) {
        const struct sn_gemm one = product_at(job->g, i);
        job->table->gemm.plain(&one);
    }
}

bool sn_gemm(const struct sn_table * table, const struct sn_gemm * batch)
{
    const struct sn_gemm all = joined(batch), * g = &all;
    struct job job = {.g = g, .table = table};
    if (!table->gemm.tile_32f.run)
        multiply_plain(&job);
    else if (g->panels)
        return multiply_blocks(&job);
    else if (!g->transposedA && !g->transposed && g->K && g->M <= table->gemm.few_32f.rows)
        sn_parallel_for(&(struct sn_parallel){.run = run_few, .job = &job,
            .units = products(g) * sn_ceil_div(g->N, FEW_COLUMNS), .cost = cost_of(&job)});
    else if (!g->transposedA && g->transposed && g->M <= VECTORS)
        sn_parallel_for(&(struct sn_parallel){.run = run_vectors, .job = &job, .units = products(g),
            .cost = cost_of(&job)});
    else
        return multiply_blocks(&job);
    return true;
}
