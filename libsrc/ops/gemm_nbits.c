/*
 * A few rows: one after the other by the kernel that decodes in registers. More: panels of columns are decoded to floats, a
 * step of K at a time, in the L1 and L2 caches, and multiplied with all rows by the tile of float products. Rows that are
 * quantised are multiplied as bytes, however many they are, by numbers that are decoded in registers.
 */
#include "ops/gemm_nbits.h"

#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/cache_sets.h"
#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* So many rows are multiplied one by one: 2 of 4096 x 4096 take 0.75 of the time of panels (avx2 0.71), 3 1.08 (0.98). */
enum { FEW = 2 };

/* So many rows are multiplied by a decoded panel, at most: there may be a copy of them. */
enum { MANY = 1024 };

/* Rows of the matrix in a unit of work for few rows, and in a part of it, whose zeros are decoded together. */
enum { UNIT = 32 };

/* The most floats of a column that are decoded at once. Blocks of up to so many numbers divide it, larger ones are multiples of
 * it. For few rows, panels stay in the L1 cache: 4 of 4096 x 4096 take 0.77 of the time, 26 of 2048 x 2048 0.93, 128 1.04. */
enum { STEP = 1024, SHORT_STEP = 256, SHORT = 32 };

struct job {
    const struct sn_table * table;
    struct sn_nbits_product p; /* its sources are ordered, or spaced */
    const uint8_t * zero;      /* the caller's */
};

static size_t zero_bytes(const struct sn_nbits * w) { return sn_ceil_div(w->blocks * w->bits, 8); } /* of a row */

/* Zeros of some rows, as floats: `to` has space for them and one more. */
static void decode_zeros(const struct job * job, size_t row, size_t rows, sn_32f * to)
{
    const struct sn_nbits * w = &job->p.w;
    for (size_t i = 0; i < rows; ++i) /* the half byte behind an odd number is overwritten by the next row's first */
        job->table->gemm_nbits.decode(&(struct sn_nbits_decode){.src = job->zero + (row + i) * zero_bytes(w), .bits = w->bits,
            .bytes = zero_bytes(w), .dst = to + i * w->blocks});
}

/* The product of a unit of the matrix's rows, from `row` on; `zero` gets their zeros, or is NULL. */
static struct sn_nbits_product unit_of(const struct job * job, size_t row, size_t last, sn_32f * zero)
{
    struct sn_nbits_product part = job->p;
    part.N = sn_min(UNIT, last - row);
    part.w.weight += row * sn_nbits_bytes(&part.w);
    part.w.scale += row * part.w.blocks;
    part.bias = part.bias ? part.bias + row : NULL;
    part.dst += row;
    part.w.zero = zero;
    if (zero)
        decode_zeros(job, row, part.N, zero);
    return part;
}

/* ---- few rows */

/* Units begin .. end - 1 of the matrix's rows, by all rows of sources. */
static void run_few(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_nbits_product * p = &job->p;
    sn_32f * zero = job->zero ? work : NULL;
    for (size_t row = begin * UNIT, last = sn_min(end * UNIT, p->N); row < last; row += UNIT) {
        struct sn_nbits_product part = unit_of(job, row, last, zero);
        part.M = 1;
        for (size_t i = 0; i < p->M; ++i) {
            part.src = p->src + i * p->lds;
            part.dst = p->dst + i * p->ldd + row;
            job->table->gemm_nbits.product(&part);
        }
    }
}

static bool multiply_few(struct job * job)
{
    struct sn_nbits_product * p = &job->p;
    const size_t ordered = sn_align(p->depth, SN_NBITS_ORDER), floats = job->zero ? sn_align(UNIT * p->w.blocks + 1, 16) : 0;
    sn_32f * const work = sn_scratch((floats + p->M * ordered) * sizeof(float)), * const src = work + floats;
    if (!work)
        return false;
    for (size_t i = 0; i < p->M; ++i)
        job->table->gemm_nbits.order(p->w.bits, p->depth, p->src + i * p->lds, src + i * ordered);
    p->src = src;
    p->lds = ordered;
    const double bytes = (double)p->N * (double)(sn_nbits_bytes(&p->w) + p->w.blocks * sizeof(float));
    sn_parallel_for(&(struct sn_parallel){.run = run_few, .job = job, .units = sn_ceil_div(p->N, UNIT),
        .cost = 2 * (double)p->M * sn_cost_of_bytes(bytes), .work = work, .workBytes = floats * sizeof(float)});
    return true;
}

/* ---- many rows */

/* Decodes `depth` numbers, from number k on, of columns `first` on to the panel. */
static void pack(const struct job * job, size_t first, size_t columns, size_t k, size_t depth, const sn_32f * zero,
                 sn_32f * panel)
{
    struct sn_nbits w = job->p.w;
    w.weight += first * sn_nbits_bytes(&w) + k * w.bits / 8;
    w.scale += first * w.blocks + k / w.block;
    w.zero = zero ? zero + k / w.block : NULL;
    job->table->gemm_nbits.panel(&(struct sn_nbits_panel){.w = w, .depth = depth, .columns = columns,
        .width = sn_gemm_width(&job->table->gemm.tile_32f, columns), .dst = panel});
}

/* A panel of columns, of all rows. */
static void multiply_panel(const struct job * job, size_t first, sn_32f * work)
{
    static const size_t start = 0;
    const struct sn_nbits_product * p = &job->p;
    const size_t columns = job->table->gemm.tile_32f.columns;
    sn_32f * const panel = work, * const bias = panel + (STEP + 1) * columns;
    sn_32f * const zero = bias + columns;
    struct sn_gemm_32f run = {.a = p->src, .height = 1, .width = p->M, .aStepX = p->lds, .segment = &start, .segments = 1,
        .b = panel, .columns = sn_min(columns, p->N - first), .c = p->dst + first, .cStepX = p->ldd};
    if (p->bias) { /* which the tile reads beyond the last column: 0, since what is there may be a signalling NaN */
        memset(bias, 0, columns * sizeof(*bias));
        memcpy(bias, p->bias + first, run.columns * sizeof(*bias));
        run.bias = bias;
    }
    if (job->zero)
        decode_zeros(job, first, run.columns, zero);
    const size_t step = p->M <= SHORT ? SHORT_STEP : STEP;
    for (size_t k = 0; k < p->depth; k += run.length) {
        run.length = sn_min(step, p->depth - k);
        pack(job, first, run.columns, k, run.length, job->zero ? zero : NULL, panel);
        job->table->gemm.tile_32f.run(&run);
        run.a += run.length;
        run.from = run.c;
        run.bias = NULL;
    }
}

static void run_many(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    for (size_t i = begin; i < end; ++i)
        multiply_panel(job, i * job->table->gemm.tile_32f.columns, work);
}

static bool multiply_many(struct job * job)
{
    struct sn_nbits_product * p = &job->p;
    const size_t columns = job->table->gemm.tile_32f.columns, spaced = sn_spaced(p->depth, SN_TWO_SETS);
    const size_t zeros = job->zero ? columns * p->w.blocks + 1 : 0;
    const size_t floats = sn_align((STEP + 2) * columns + zeros, 16);
    const bool copied = spaced != p->lds;
    sn_32f * const work = sn_scratch((floats + (copied ? p->M * spaced : 0)) * sizeof(float));
    if (!work)
        return false;
    for (size_t i = 0; copied && i < p->M; ++i)
        memcpy(work + floats + i * spaced, p->src + i * p->lds, p->depth * sizeof(float));
    if (copied)
        p->src = work + floats, p->lds = spaced;
    const double numbers = (double)p->N * (double)p->depth;
    sn_parallel_for(&(struct sn_parallel){.run = run_many, .job = job, .units = sn_ceil_div(p->N, columns),
        .cost = sn_cost_of_sums((double)p->M * numbers, job->table->alignment) + sn_cost_of_bytes(8 * numbers), .work = work,
        .workBytes = floats * sizeof(float)});
    return true;
}

/* ---- sources that are quantised */

/* Sources that are quantised at once: those of 4096 numbers take 1 MB. */
enum { QUANTISED = 128 };

/* Units begin .. end - 1 of the matrix's rows, by all rows of sources. */
static void run_quantised(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_nbits_product * p = &job->p;
    sn_32f * zero = job->zero ? work : NULL;
    for (size_t row = begin * UNIT, last = sn_min(end * UNIT, p->N); row < last; row += UNIT) {
        const struct sn_nbits_product part = unit_of(job, row, last, zero);
        job->table->gemm_nbits.product_8i(&part);
    }
}

static bool multiply_quantised(struct job * job)
{
    struct sn_nbits_product * p = &job->p;
    const size_t size = job->table->gemm_nbits.size_8i(p->w.bits, p->depth);
    const size_t floats = job->zero ? sn_align(UNIT * p->w.blocks + 1, 16) : 0;
    sn_32f * const work = sn_scratch((floats + p->M * size) * sizeof(float)), * const src = work + floats;
    if (!work)
        return false;
    for (size_t i = 0; i < p->M; ++i)
        job->table->gemm_nbits.quantise_8i(&(struct sn_nbits_row){p->w.bits, p->w.block, p->depth, p->src + i * p->lds,
            src + i * size});
    p->src = src;
    p->lds = size;
    const double bytes = (double)p->N * (double)(sn_nbits_bytes(&p->w) + p->w.blocks * sizeof(float));
    sn_parallel_for(&(struct sn_parallel){.run = run_quantised, .job = job, .units = sn_ceil_div(p->N, UNIT),
        .cost = 2 * (double)p->M * sn_cost_of_bytes(bytes), .work = work, .workBytes = floats * sizeof(float)});
    return true;
}

/* ---- base */

static bool multiply_plain(struct job * job)
{
    const struct sn_nbits * w = &job->p.w;
    if (job->zero) {
        sn_32f * zero = sn_scratch((job->p.N * w->blocks + 1) * sizeof(float));
        if (!zero)
            return false;
        decode_zeros(job, 0, job->p.N, zero);
        job->p.w.zero = zero;
    }
    job->table->gemm_nbits.plain(&job->p);
    return true;
}

bool sn_gemm_nbits(const struct sn_nbits_product * p, const uint8_t * zero)
{
    struct job job = {.table = sn_table(), .p = *p, .zero = zero};
    if (!job.table->gemm_nbits.product || p->depth == 0)
        return multiply_plain(&job);
    if (p->M <= FEW && !p->quantised)
        return multiply_few(&job);
    for (size_t row = 0; row < p->M; row += job.p.M) {
        job.p.M = sn_min(p->quantised ? QUANTISED : MANY, p->M - row);
        job.p.src = p->src + row * p->lds;
        job.p.dst = p->dst + row * p->ldd;
        job.p.lds = p->lds;
        if (!(p->quantised ? multiply_quantised : multiply_many)(&job)) /* only in the first round, since memory is kept */
            return false;
    }
    return true;
}
