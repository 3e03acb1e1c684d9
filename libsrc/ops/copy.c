/*
 * Copies with any strides: permutations, slices, concatenations, expansions.
 *
 * The dimensions are ordered as dst is, and joined where both arrays allow it. What is then adjacent in both arrays is a run
 * of bytes. Long runs are copied one by one; short ones, such as single elements, are elements of a block of two dimensions:
 * the one in which dst is written in order, and the one in which src is read in order. A block is copied in tiles, so that
 * cache lines of both arrays are used while they are cached; a block of floats is a transposition, which has a kernel.
 *
 * A unit of work is a piece of a block, or some blocks.
 */
#include "ops/copy.h"

#include <stdlib.h>
#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/units.h"

enum {
    PIECE = 4 * SN_UNIT_ELEMENTS, /* bytes of a unit */
    TILE = 64,                    /* elements */
    SHORTEST = 16                 /* bytes of the sides of small elements that a kernel takes */
};

size_t sn_copy_element(int type)
{
    static const uint8_t bytes[] = {4, 4, 1, 1, 8, 8, 1, 2, 2}; /* 32f 32i 8i 8u 64i 64u Bool 16b 16f */
    return bytes[type];
}

/* ---- the plan */

/* Dimensions of a single index are left out, and those in which dst is written backwards are reversed. */
static void clean(struct sn_copy * c)
{
    size_t count = 0;
    for (size_t k = 0; k < c->count; ++k) {
        struct sn_copy_dimension d = c->d[k];
        if (d.extent == 1)
            continue;
        if (d.dst < 0) {
            c->src += (ptrdiff_t)(d.extent - 1) * d.src;
            c->dst += (ptrdiff_t)(d.extent - 1) * d.dst;
            d.src = -d.src;
            d.dst = -d.dst;
        }
        c->d[count++] = d;
    }
    c->count = count;
}

/* In the order in which dst is written. */
static void sort(struct sn_copy * c)
{
    for (size_t k = 1; k < c->count; ++k) {
        const struct sn_copy_dimension d = c->d[k];
        size_t at = k;
        for (; at > 0 && c->d[at - 1].dst < d.dst; --at)
            c->d[at] = c->d[at - 1];
        c->d[at] = d;
    }
}

/* Neighbouring dimensions that are one in both arrays. */
static void join(struct sn_copy * c)
{
    size_t last = 0;
    for (size_t k = 1; k < c->count; ++k) {
        const struct sn_copy_dimension inner = c->d[k];
        struct sn_copy_dimension * outer = &c->d[last];
        if (outer->src == inner.src * (ptrdiff_t)inner.extent && outer->dst == inner.dst * (ptrdiff_t)inner.extent)
            *outer = (struct sn_copy_dimension){outer->extent * inner.extent, inner.src, inner.dst};
        else
            c->d[++last] = inner;
    }
    c->count = sn_min(c->count, last + 1);
}

/* Elements that are adjacent in both arrays become one. */
static void find_run(struct sn_copy * c)
{
    const ptrdiff_t element = (ptrdiff_t)c->element;
    if (c->count && c->d[c->count - 1].src == element && c->d[c->count - 1].dst == element)
        c->element *= c->d[--c->count].extent;
    c->rows = c->element >= SN_COPY_LONG;
    if (c->rows) {
        c->d[c->count++] = (struct sn_copy_dimension){c->element, 1, 1};
        c->element = 1;
    }
}

/* The dimension in which src is read in order becomes the last but one. */
static void find_block(struct sn_copy * c)
{
    size_t j = c->count - 2;
    for (size_t k = 0; k < c->count - 1; ++k)
        if (c->d[k].src != 0 && (c->d[j].src == 0 || llabs(c->d[k].src) < llabs(c->d[j].src)))
            j = k;
    const struct sn_copy_dimension d = c->d[j];
    if (llabs(d.src) > llabs(c->d[c->count - 1].src)) /* it is the last one */
        return;
    memmove(&c->d[j], &c->d[j + 1], (c->count - 2 - j) * sizeof(d));
    c->d[c->count - 2] = d;
}

void sn_copy_plan(struct sn_copy * c)
{
    clean(c);
    sort(c);
    join(c);
    find_run(c);
    /* A long row is a block by itself. */
    while (c->count < 2 || (c->rows && c->d[c->count - 1].extent > PIECE && c->d[c->count - 2].extent > 1)) {
        const size_t at = c->count ? c->count - 1 : 0;
        memmove(&c->d[at + 1], &c->d[at], (c->count - at) * sizeof(c->d[0]));
        c->d[at] = (struct sn_copy_dimension){1, 0, 0};
        ++c->count;
    }
    if (!c->rows)
        find_block(c);
}

/* ---- blocks */

struct block {
    const uint8_t * src;
    uint8_t * dst;
    struct sn_copy_dimension j, i;
};

/*
 * Rows and columns of at most `tile` elements of a compile-time constant size; of any other size if it is 0. Four at a time,
 * along the rows unless these are shorter: a loop over single elements takes one cycle or two for each, depending on its
 * address.
 */
SN_INLINE void copy_tiles(const struct block * b, size_t tile, size_t size, size_t element)
{
    const bool along_j = element && b->i.extent < 4;
    const struct sn_copy_dimension inner = along_j ? b->j : b->i, outer = along_j ? b->i : b->j;
    for (size_t first = 0; first < inner.extent; first += tile) {
        const size_t end = sn_min(tile, inner.extent - first);
        for (size_t row = 0; row < outer.extent; ++row) {
            const uint8_t * src = b->src + (ptrdiff_t)row * outer.src + (ptrdiff_t)first * inner.src;
            uint8_t * dst = b->dst + (ptrdiff_t)row * outer.dst + (ptrdiff_t)first * inner.dst;
            size_t k = 0;
            for (; element && k + 4 <= end; k += 4)
                SN_UNROLL for (size_t u = 0; u < 4; ++u, src += inner.src, dst += inner.dst) memcpy(dst, src, element);
            for (; k < end; ++k, src += inner.src, dst += inner.dst)
                sn_copy_short(dst, src, size);
        }
    }
}

/* Of n words, those d apart exchange the parts of d elements off the diagonal. */
SN_INLINE void exchange(uint64_t * w, size_t n, size_t d, size_t element)
{
    const size_t bits = 8 * element * d;
    const uint64_t low = UINT64_MAX / ((UINT64_C(1) << bits) + 1);
    SN_UNROLL for (size_t k = 0; k < n; ++k)
        if (!(k & d)) {
            const uint64_t exchanged = (w[k] >> bits ^ w[k + d]) & low;
            w[k + d] ^= exchanged;
            w[k] ^= exchanged << bits;
        }
}

/* A square of small elements as 64-bit words. */
SN_INLINE void transpose_words(const uint8_t * src, ptrdiff_t srcStep, uint8_t * dst, ptrdiff_t dstStep, size_t element)
{
    const size_t n = 8 / element;
    uint64_t w[8];
    SN_UNROLL for (size_t k = 0; k < n; ++k) memcpy(&w[k], src + (ptrdiff_t)k * srcStep, 8);
    if (n > 4)
        exchange(w, n, 4, element);
    exchange(w, n, 2, element);
    exchange(w, n, 1, element);
    SN_UNROLL for (size_t k = 0; k < n; ++k) memcpy(dst + (ptrdiff_t)k * dstStep, &w[k], 8);
}

/* The same of any size; the kernels, which take 0.2 and 0.3 of the time, need longer rows. */
SN_INLINE void transpose_small(const struct block * b, size_t element)
{
    const size_t n = 8 / element, rows = b->i.extent / n * n, columns = b->j.extent / n * n;
    for (size_t first = 0; first < rows; first += TILE)
        for (size_t j = 0; j < columns; j += n)
            for (size_t i = first; i < sn_min(first + TILE, rows); i += n)
                transpose_words(b->src + (ptrdiff_t)i * b->i.src + j * element, b->i.src,
                                b->dst + (ptrdiff_t)j * b->j.dst + i * element, b->j.dst, element);
    struct block right = *b, below = *b;
    right.j.extent -= columns;
    right.src += columns * element;
    right.dst += (ptrdiff_t)columns * b->j.dst;
    copy_tiles(&right, TILE, element, element);
    below.j.extent = columns;
    below.i.extent -= rows;
    below.src += (ptrdiff_t)rows * b->i.src;
    below.dst += rows * element;
    copy_tiles(&below, TILE, element, element);
}

/* One element, everywhere in a row: twice as many in each step, in pieces that stay in the L1 cache. */
static void fill(const struct block * b, size_t element)
{
    const size_t bytes = b->i.extent * element, piece = sn_min(bytes, 4096 / element * element);
    for (size_t j = 0; j < b->j.extent; ++j) {
        uint8_t * dst = b->dst + (ptrdiff_t)j * b->j.dst;
        sn_copy_short(dst, b->src + (ptrdiff_t)j * b->j.src, element);
        for (size_t done = element, n; done < bytes; done += n) {
            n = sn_min(sn_min(done, piece), bytes - done);
            memcpy(dst + done, dst, n);
        }
    }
}

/*
 * Rows of dst with gaps, as those of a concatenation, are not fetched in advance by the processor. Asking for them takes
 * 0.91 to 0.97 of the time for rows of 256 bytes in the L3 cache (Zen 4), and 0.86 to 0.91 for 512 to 1024 bytes (a Xeon).
 * Of those two are enough: four take 1.06 of the time for 512 bytes on Zen 4, and eight lose all on the Xeon.
 */
SN_INLINE void prefetch_row(const uint8_t * row, size_t bytes)
{
    for (size_t k = 0; k < bytes; k += 64)
        __builtin_prefetch(row + k, 1);
}

static void copy_rows(const struct block * b)
{
    const bool gaps = b->j.dst != (ptrdiff_t)b->i.extent && b->i.extent <= 2048;
    const size_t ahead = !gaps ? b->j.extent : b->i.extent <= 384 ? 4 : 2; /* rows */
    for (size_t j = 0; j < b->j.extent; ++j) {
        uint8_t * dst = b->dst + (ptrdiff_t)j * b->j.dst;
        if (j + ahead < b->j.extent)
            prefetch_row(dst + (ptrdiff_t)ahead * b->j.dst, b->i.extent);
        memcpy(dst, b->src + (ptrdiff_t)j * b->j.src, b->i.extent);
    }
}

static void copy_elements(const struct block * b, size_t element)
{
    switch (element) {
    case 1: copy_tiles(b, TILE, 1, 1); break;
    case 2: copy_tiles(b, TILE, 2, 2); break;
    case 4: copy_tiles(b, TILE, 4, 4); break;
    case 8: copy_tiles(b, TILE, 8, 8); break;
    case 16: copy_tiles(b, TILE, 16, 16); break;
    default: copy_tiles(b, TILE / 2, element, 0);
    }
}

static void copy_block(const struct block * b, size_t element)
{
    const bool in_order = b->i.dst == (ptrdiff_t)element, transposed = in_order && b->j.src == (ptrdiff_t)element;
    if (in_order && b->i.src == 0)
        fill(b, element);
    else if (transposed && element == 1)
        transpose_small(b, 1);
    else if (transposed && element == 2)
        transpose_small(b, 2);
    else
        copy_elements(b, element);
}

/* ---- */

struct job {
    const struct sn_copy * c;
    const uint8_t * src;
    uint8_t * dst;
    sn_transpose_fn transpose;     /* of elements as large as these; NULL for other blocks */
    size_t square;                 /* indices j and i of a block that it needs */
    bool along_i;                  /* pieces of a block are so, else along j: */
    size_t extent, piece, pieces;  /* indices of all pieces, and of one; the number of pieces */
    size_t items, step;            /* pieces of all blocks, and of a unit */
};

static void copy_piece(const struct job * job, size_t index, size_t first, size_t end)
{
    const struct sn_copy * c = job->c;
    struct block b = {job->src, job->dst, c->d[c->count - 2], c->d[c->count - 1]};
    for (size_t k = c->count - 2; k-- > 0; index /= c->d[k].extent) {
        b.src += (ptrdiff_t)(index % c->d[k].extent) * c->d[k].src;
        b.dst += (ptrdiff_t)(index % c->d[k].extent) * c->d[k].dst;
    }
    struct sn_copy_dimension * split = job->along_i ? &b.i : &b.j;
    b.src += (ptrdiff_t)first * split->src;
    b.dst += (ptrdiff_t)first * split->dst;
    split->extent = end - first;
    if (c->rows)
        copy_rows(&b);
    else if (job->transpose && sn_min(b.i.extent, b.j.extent) >= job->square)
        job->transpose(b.src, (size_t)b.i.src, b.i.extent, b.j.extent, b.dst, (size_t)b.j.dst);
    else
        copy_block(&b, c->element);
}

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const size_t last = sn_min(end * job->step, job->items);
    for (size_t item = begin * job->step, number; item < last; item += number) {
        const size_t piece = item % job->pieces;
        number = sn_min(last - item, job->pieces - piece);
        copy_piece(job, item / job->pieces, piece * job->piece, sn_min((piece + number) * job->piece, job->extent));
    }
}

static bool is_transposition(const struct sn_copy * c)
{
    const struct sn_copy_dimension * j = &c->d[c->count - 2], * i = &c->d[c->count - 1];
    const ptrdiff_t size = (ptrdiff_t)c->element;
    return !c->rows && (size == 4 || size == 2 || size == 1) && i->dst == size && j->src == size && i->src > 0 &&
           i->src % size == 0 && j->dst % size == 0;
}

const char * sn_copy_how(const struct sn_copy * c)
{
    return c->rows ? "rows" : is_transposition(c) ? "transposition" : "elements in tiles";
}

/*
 * The kernel for blocks of at least *square indices j and i; NULL if there is none. Of small elements it pads squares, which
 * of 16 bytes still takes a third of the time of words; of less, more.
 *
 * Large results are written around the caches. At twice 26 MB a Xeon with an L3 cache of 480 MB takes 0.41 to 0.84 of the time
 * if nothing is cached, 0.81 to 0.90 with a layer that reads the result; otherwise 0.91 to 1.11, and 0.88 to 1.10.
 */
static sn_transpose_fn transposition_of(const struct sn_table * table, const struct sn_copy * c, size_t bytes,
                                        size_t * square)
{
    const struct sn_layout_slots * slots = &table->layout;
    const struct sn_copy_dimension * j = &c->d[c->count - 2], * i = &c->d[c->count - 1];
    const bool colours = c->element == 1 && ((j->extent == 3 && i->src == 3) || (i->extent == 3 && j->dst == 3));
    *square = c->element == sizeof(float) || colours ? 0 : SHORTEST / c->element;
    if (!is_transposition(c))
        return NULL;
    if (c->element == sizeof(float))
        return sn_beyond_cache(2 * bytes) ? slots->stream_32f : slots->transpose_32f;
    return c->element == 2 ? slots->transpose_16b : slots->transpose_8u;
}

void sn_copy(const struct sn_table * table, const struct sn_copy * c, const void * src, void * dst)
{
    const struct sn_copy_dimension * j = &c->d[c->count - 2], * i = &c->d[c->count - 1];
    struct job job = {c, (const uint8_t *)src + c->src, (uint8_t *)dst + c->dst, .items = 1};
    /* Along the longer side, a row only if it is alone. Pieces are whole cache lines. */
    job.along_i = c->rows ? j->extent == 1 : i->extent > j->extent;
    const size_t across = (job.along_i ? j->extent : i->extent) * c->element;
    job.extent = job.along_i ? i->extent : j->extent;
    job.piece = sn_ceil_div(sn_ceil_div(PIECE, across), TILE) * TILE;
    if (c->rows && !job.along_i)
        job.piece = sn_ceil_div(PIECE, across);
    job.pieces = sn_ceil_div(job.extent, job.piece);
    for (size_t k = 0; k < c->count - 2; ++k)
        job.items *= c->d[k].extent;
    job.items *= job.pieces;
    const size_t bytes = job.extent * across;
    job.step = job.pieces > 1 ? 1 : sn_ceil_div(PIECE, bytes);
    job.transpose = transposition_of(table, c, bytes * (job.items / job.pieces), &job.square);
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = sn_ceil_div(job.items, job.step),
        .cost = sn_cost_of_bytes((c->rows ? 2.0 : 4.0) * (double)bytes / (double)job.pieces * (double)job.items)});
}

void sn_copy_once(struct sn_copy c, const void * src, void * dst)
{
    sn_copy_plan(&c);
    sn_copy(sn_table(), &c, src, dst);
}
