/*
 * Products of two matrices that were not packed before (Goto and van de Geijn, "Anatomy of High-Performance Matrix
 * Multiplication", 2008): C is divided into blocks of rows and stripes of columns, K into steps. In each step a stripe of B
 * is packed into panels, which the tile multiplies with all rows of the block. A is read in place, unless its rows would
 * evict each other from the L1 cache, or the rows of a block are in so many pages that a copy is cheaper.
 *
 * A sum that is interrupted between two steps continues from the value in C: each element is one chain of multiply-adds in
 * the order of k, for any division of the matrices. The panels include alpha, the start of the chain beta.
 */
#include "ops/gemm.h"

#include <string.h>

#include "dispatch/dispatch.h"
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
    const struct sn_gemm * g;
    const struct sn_table * table;
    size_t rows, step; /* of a block; of K */
    size_t stripe;     /* columns of a stripe */
    bool copied;       /* A is copied to rows `pitch` apart */
    size_t pitch;
    size_t panels; /* floats of the copy of B, which is followed by that of A */
};

static void copy_a(const struct job * job, sn_32f * a, size_t row, size_t rows, size_t k, size_t depth)
{
    const struct sn_gemm * g = job->g;
    for (size_t i = 0; i < rows; ++i)
        memcpy(a + i * job->pitch, g->A + (row + i) * g->lda + k, depth * sizeof(float));
}

/* The distance of panels: their size and a cache line, so that a row of B is not written to a single set of the L1 cache. */
static size_t pitch_of_panels(const struct job * job, size_t depth)
{
    return depth * job->table->gemm.tile_32f.columns + SN_ALIGN / sizeof(float);
}

static void pack_b(const struct job * job, sn_32f * b, size_t column, size_t columns, size_t k, size_t depth)
{
    const struct sn_gemm * g = job->g;
    const struct sn_gemm_32f_tile * tile = &job->table->gemm.tile_32f;
    const struct sn_gemm_panels_32f p = {.b = g->B + (g->transposed ? column * g->ldb + k : k * g->ldb + column),
        .step = g->ldb, .depth = depth, .columns = columns, .alpha = g->alpha, .panel = b,
        .wide = tile->columns, .narrow = sn_gemm_width(tile, columns % tile->columns), .pitch = pitch_of_panels(job, depth)};
    job->table->gemm.panels_32f[g->transposed](&p);
}

/* Computes one block of one stripe of C, for one step of K. */
static void multiply(const struct job * job, const sn_32f * b, size_t row, size_t rows, size_t column, size_t columns,
                     size_t k, size_t depth)
{
    static const size_t start = 0;
    const struct sn_gemm * g = job->g;
    const struct sn_gemm_32f_tile * tile = &job->table->gemm.tile_32f;
    struct sn_gemm_32f run = {.a = job->copied ? b + job->panels : g->A + row * g->lda + k, .height = 1, .width = rows,
        .aStepX = job->copied ? job->pitch : g->lda, .segment = &start, .segments = 1, .length = depth, .b = b,
        .c = g->C + row * g->ldc + column, .cStepX = g->ldc, .beta = k > 0 ? NULL : &g->beta};
    const bool resume = k > 0 || g->beta != 0;
    /* Few rows: the next step's part of B is prefetched while this one's is used, if it is contiguous. */
    const bool fetch = !g->transposed && g->M < FEW && g->ldb <= columns * 5 / 4 && k + depth < g->K;
    const size_t share = depth * g->ldb / sn_ceil_div(columns, tile->columns);
    run.prefetchStep = share / rows;
    for (size_t n = 0, i = 0; n < columns; n += tile->columns, ++i) {
        run.columns = sn_min(tile->columns, columns - n);
        run.from = resume ? run.c : NULL;
        run.prefetch = fetch ? g->B + (k + depth) * g->ldb + i * share : NULL;
        tile->run(&run);
        run.b += pitch_of_panels(job, depth);
        run.c += tile->columns;
    }
}

/* Units of work are the blocks of rows of all stripes. */
static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_gemm * g = job->g;
    const size_t blocks = sn_ceil_div(g->M, job->rows);
    for (size_t unit = begin; unit < end; ++unit) {
        const size_t row = unit % blocks * job->rows, rows = sn_min(job->rows, g->M - row);
        const size_t column = unit / blocks * job->stripe, columns = sn_min(job->stripe, g->N - column);
        size_t k = 0;
        do { /* once even for an empty sum */
            const size_t depth = sn_min(job->step, g->K - k);
            if (job->copied)
                copy_a(job, (sn_32f *)work + job->panels, row, rows, k, depth);
            pack_b(job, work, column, columns, k, depth);
            multiply(job, work, row, rows, column, columns, k, depth);
            k += depth;
        } while (k < g->K);
    }
}

/* ---- few rows: nothing is packed */

/* Columns of a unit of work: several whole vectors of any instruction set. */
enum { FEW_COLUMNS = 128 };

static void run_few(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    job->table->gemm.few_32f.run(job->g, begin * FEW_COLUMNS, sn_min(end * FEW_COLUMNS, job->g->N));
}

/* Each row of C is the product of a matrix, the transposed B, with a vector. */
static void multiply_vectors(const struct sn_gemm * g)
{
    struct sn_inner_product_32f p = {.src = g->A, .weight = g->B, .step = g->ldb, .count = g->N, .size = g->K,
        .alpha = g->alpha, .beta = g->beta, .dst = g->C};
    for (size_t i = 0; i < g->M; ++i, p.src += g->lda, p.dst += g->ldc)
        sn_inner_product_32f(&p);
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
    while (sn_ceil_div(g->M, job->rows) * sn_ceil_div(g->N, job->stripe) < 2 * threads) {
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
    job->copied = g->N > 4 * tile->columns || sn_share_sets(g->lda * sizeof(float), SN_TWO_SETS);
    job->pitch = sn_spaced(job->step, SN_FOUR_SETS);
}

static double cost_of(const struct job * job)
{
    const double columns = (double)job->g->N * (double)job->g->K;
    return sn_cost_of_sums((double)job->g->M * columns, job->table->alignment) + sn_cost_of_bytes(8 * columns);
}

static bool multiply_blocks(struct job * job)
{
    const struct sn_gemm * g = job->g;
    plan(job);
    const size_t panels = sn_ceil_div(sn_min(job->stripe, g->N), job->table->gemm.tile_32f.columns);
    job->panels = panels * pitch_of_panels(job, job->step);
    const size_t bytes = (job->panels + (job->copied ? job->rows * job->pitch : 0)) * sizeof(float);
    void * work = sn_scratch(bytes);
    if (!work)
        return false;
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = job,
        .units = sn_ceil_div(g->M, job->rows) * sn_ceil_div(g->N, job->stripe), .cost = cost_of(job), .work = work,
        .workBytes = bytes});
    return true;
}

bool sn_gemm(const struct sn_gemm * g)
{
    struct job job = {.g = g, .table = sn_table()};
    if (!job.table->gemm.tile_32f.run)
        job.table->gemm.plain(g);
    else if (!g->transposed && g->K && g->M <= job.table->gemm.few_32f.rows)
        sn_parallel_for(&(struct sn_parallel){.run = run_few, .job = &job, .units = sn_ceil_div(g->N, FEW_COLUMNS),
            .cost = cost_of(&job)});
    else if (g->transposed && g->M <= VECTORS)
        multiply_vectors(g);
    else
        return multiply_blocks(&job);
    return true;
}
