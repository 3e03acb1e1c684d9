/*
 * The tile of contract/dot.h by instructions that multiply whole blocks, isa/amx/block.h, as a template: a file that includes
 * this defines BLOCK_DOT(c, a, b) before. Rows and panels are where and as they are for tiles of vectors: a block of A is 16
 * rows at equal distances, one of B 16 groups of 16 columns of a panel.
 *
 * Two blocks of A are multiplied by two of B at a time. One of B is loaded twice for it, because two registers are needed
 * for the last groups of a segment, whose blocks have another shape; five loads take 40 cycles, four products 64. A single
 * block of A is multiplied by all columns of the panel: the last one, and all if the panel fits the L1 cache.
 */
#ifndef SN_KERNELS_GEMM_BLOCKS_H
#define SN_KERNELS_GEMM_BLOCKS_H

#include "contract/dot.h"

enum { BLOCK_COLUMNS = 16, PANEL_VECTORS = 4, PANEL = PANEL_VECTORS * BLOCK_COLUMNS };

/* Sums of a block of rows by a panel; int32 or float. */
struct block_sums {
    SN_ALIGNED uint32_t sum[BLOCK_ROWS][PANEL];
};

/* Where sums of two blocks are stored: their first rows, and the bytes from row to row. */
struct block_places {
    uint8_t * first[2];
    size_t row;
    bool more; /* these sums go on, and do not begin */
};

/* Blocks of A at p and q by blocks of B at b, in registers x and w. */
#define BLOCK_STEP_2(x, w)                                                                                                  \
    do {                                                                                                                    \
        BLOCK_LOAD(x, p, step);                                                                                             \
        BLOCK_LOAD(w, b, width);                                                                                            \
        BLOCK_DOT(0, x, w);                                                                                                 \
        if (vectors == 2) {                                                                                                 \
            BLOCK_LOAD(w, b + BLOCK_BYTES, width);                                                                          \
            BLOCK_DOT(1, x, w);                                                                                             \
        }                                                                                                                   \
        BLOCK_LOAD(x, q, step);                                                                                             \
        if (vectors == 2) {                                                                                                 \
            BLOCK_DOT(3, x, w);                                                                                             \
            BLOCK_LOAD(w, b, width);                                                                                        \
        }                                                                                                                   \
        BLOCK_DOT(2, x, w);                                                                                                 \
    } while (0)

/* The block of A at p by all blocks of B at b. */
#define BLOCK_STEP_1(x, w)                                                                                                  \
    do {                                                                                                                    \
        BLOCK_LOAD(x, p, step);                                                                                             \
        BLOCK_TIMES(0, x, w);                                                                                               \
        BLOCK_TIMES(1, x, w);                                                                                               \
        BLOCK_TIMES(2, x, w);                                                                                               \
        BLOCK_TIMES(3, x, w);                                                                                               \
    } while (0)
#define BLOCK_TIMES(j, x, w)                                                                                                \
    do {                                                                                                                    \
        if (vectors > j) {                                                                                                  \
            BLOCK_LOAD(w, b + j * BLOCK_BYTES, width);                                                                      \
            BLOCK_DOT(j, x, w);                                                                                             \
        }                                                                                                                   \
    } while (0)

/*
 * What is prefetched, so many bytes a step, if anything. Each line: with every other one, weights in no cache took 0.96 of
 * the time where they now take 0.89 (128x768x768 bytes).
 */
enum { MOST_LINES = 8 };

struct block_ahead {
    uintptr_t next, end;
    size_t bytes;
};

/* Prefetches the bytes of a step, from `next` on; the result is what the next step prefetches. */
SN_INLINE uintptr_t block_fetch(uintptr_t next, uintptr_t end, size_t bytes)
{
    for (end = sn_min(end, next + bytes); next < end; next += SN_LINE)
        SN_PREFETCH(next);
    return next;
}

/* The sums of blocks at a[0] and a[1] by one or two vectors of columns, from `first` on. `vectors` is a constant. */
SN_INLINE void multiply_2(const struct sn_dot * g, const uint8_t * const * a, size_t first, size_t width,
                          const struct block_places * to, struct block_ahead * ahead, int vectors)
{
    const uint8_t * b = (const uint8_t *)g->b + 4 * first;
    const uint8_t * start[2] = {(const uint8_t *)(to->more ? to->first[0] : g->start) + 4 * first,
        (const uint8_t *)(to->more ? to->first[1] : g->start) + 4 * first};
    const size_t step = g->aStepX, bytes = ahead->bytes, row = to->more ? to->row : 0;
    uintptr_t next = ahead->next;
    BLOCK_LOAD(0, start[0], row);
    BLOCK_LOAD(2, start[1], row);
    if (vectors == 2) {
        BLOCK_LOAD(1, start[0] + BLOCK_BYTES, row);
        BLOCK_LOAD(3, start[1] + BLOCK_BYTES, row);
    }
    for (size_t s = 0; s < g->segments; ++s) {
        const uint8_t * p = a[0] + g->segment[s], * q = a[1] + g->segment[s];
        size_t n = g->length;
        for (; n >= BLOCK_GROUPS; n -= BLOCK_GROUPS) {
            if (bytes)
                next = block_fetch(next, ahead->end, bytes);
            BLOCK_STEP_2(4, 5);
            p += BLOCK_BYTES, q += BLOCK_BYTES, b += BLOCK_GROUPS * width;
        }
        if (n)
            BLOCK_STEP_2(6, 7);
        b += n * width;
    }
    ahead->next = next;
    BLOCK_STORE(0, to->first[0] + 4 * first, to->row);
    BLOCK_STORE(2, to->first[1] + 4 * first, to->row);
    if (vectors == 2) {
        BLOCK_STORE(1, to->first[0] + 4 * first + BLOCK_BYTES, to->row);
        BLOCK_STORE(3, to->first[1] + 4 * first + BLOCK_BYTES, to->row);
    }
}

/* The sums of the block at a by a panel of so many vectors, a constant. */
SN_INLINE void multiply_1(const struct sn_dot * g, const uint8_t * a, const struct block_places * to, int vectors)
{
    const uint8_t * b = g->b, * start = to->more ? to->first[0] : g->start;
    const size_t step = g->aStepX, width = (size_t)vectors * BLOCK_BYTES, row = to->more ? to->row : 0;
    BLOCK_LOAD(0, start, row);
    if (vectors > 1)
        BLOCK_LOAD(1, start + BLOCK_BYTES, row);
    if (vectors > 2)
        BLOCK_LOAD(2, start + 2 * BLOCK_BYTES, row);
    if (vectors > 3)
        BLOCK_LOAD(3, start + 3 * BLOCK_BYTES, row);
    for (size_t s = 0; s < g->segments; ++s) {
        const uint8_t * p = a + g->segment[s];
        size_t n = g->length;
        for (; n >= BLOCK_GROUPS; n -= BLOCK_GROUPS) {
            BLOCK_STEP_1(4, 5);
            p += BLOCK_BYTES, b += BLOCK_GROUPS * width;
        }
        if (n)
            BLOCK_STEP_1(6, 7);
        b += n * width;
    }
    BLOCK_STORE(0, to->first[0], to->row);
    if (vectors > 1)
        BLOCK_STORE(1, to->first[0] + BLOCK_BYTES, to->row);
    if (vectors > 2)
        BLOCK_STORE(2, to->first[0] + 2 * BLOCK_BYTES, to->row);
    if (vectors > 3)
        BLOCK_STORE(3, to->first[0] + 3 * BLOCK_BYTES, to->row);
}

static __attribute__((noinline)) void multiply_pair(const struct sn_dot * g, const uint8_t * const * a,
                                                    const struct block_places * to, struct block_ahead * ahead)
{
    const size_t width = sn_ceil_div(g->columns, BLOCK_COLUMNS) * BLOCK_BYTES;
    size_t n = 0;
    for (; n + BLOCK_COLUMNS < g->columns; n += 2 * BLOCK_COLUMNS)
        multiply_2(g, a, n, width, to, ahead, 2);
    if (n < g->columns)
        multiply_2(g, a, n, width, to, ahead, 1);
}

static __attribute__((noinline)) void multiply_single(const struct sn_dot * g, const uint8_t * a, const struct block_places * to)
{
    switch (sn_ceil_div(g->columns, BLOCK_COLUMNS)) {
    case 1: multiply_1(g, a, to, 1); break;
    case 2: multiply_1(g, a, to, 2); break;
    case 3: multiply_1(g, a, to, 3); break;
    default: multiply_1(g, a, to, PANEL_VECTORS);
    }
}

/* Makes results of a block of sums: `rows` rows, at c. */
typedef void (*block_results_fn)(const struct sn_dot * g, uint32_t (*sums)[PANEL], size_t rows, uint8_t * c);

/* The rows of A as lines of rows at equal distances, and their division into blocks: the last one of a line is the last rows of
 * it, some of which may be computed twice, so that all have the number of rows for which the registers are configured. */
struct block_lines {
    size_t height, width;
    size_t pitch; /* after so many rows of a joined line begins the next line of A; else not reached */
    size_t line;  /* blocks of a line */
    size_t rows;  /* of a block */
};

/*
 * Lines of a copied image, between which there are a few pixels, are one line if that takes fewer blocks: 7 lines of 7 rows at
 * a pitch of 9 are 4 blocks, not 7. What the rows between them give is not stored.
 */
SN_INLINE struct block_lines block_lines_of(const struct sn_dot * g)
{
    const size_t pitch = g->aStepX && g->aStepY % g->aStepX == 0 ? g->aStepY / g->aStepX : 0;
    const size_t joined = (g->height - 1) * pitch + g->width;
    struct block_lines l = {g->height, g->width, SIZE_MAX, 0, 0};
    if (pitch >= g->width && sn_ceil_div(joined, BLOCK_ROWS) < g->height * sn_ceil_div(g->width, BLOCK_ROWS))
        l = (struct block_lines){1, joined, pitch, 0, 0};
    l.line = sn_ceil_div(l.width, BLOCK_ROWS);
    l.rows = sn_ceil_div(l.width, l.line);
    return l;
}

/* The first row of block n: row x of line y. */
struct block_row {
    size_t y, x;
};

SN_INLINE struct block_row block_row_of(const struct block_lines * l, size_t n)
{
    return (struct block_row){n / l->line, sn_min(n % l->line * l->rows, l->width - l->rows)};
}

/* Stores the sums of block n. */
SN_INLINE void block_store(const struct sn_dot * g, const struct block_lines * l, uint32_t (*sums)[PANEL], size_t n,
                           block_results_fn results)
{
    const struct block_row first = block_row_of(l, n);
    size_t y = first.y + first.x / l->pitch, x = first.x % l->pitch;
    for (size_t rows = l->rows; rows; ++y) {
        const size_t all = sn_min(l->pitch - x, rows), used = x < g->width ? sn_min(g->width - x, all) : 0;
        if (used)
            results(g, sums, used, g->c + y * g->cStepY + x * g->cStepX);
        sums += all, rows -= all, x = 0;
    }
}

/*
 * Blocks of rows that are multiplied together. Whole panels of some bytes, which stay in the L1 cache, are faster by one block,
 * which reads all of each line of them: 1x1 512x28x28 to 128 takes 0.88 of the time, 3x3 64x56x56 to 64 0.94; smaller ones 1.0
 * to 1.04, larger ones 1.1 to 1.3 (Emerald Rapids).
 */
enum { LEAST_CACHED = 20 << 10, MOST_CACHED = 36 << 10 };

static size_t blocks_together(const struct sn_dot * g)
{
    const size_t bytes = g->segments * g->length * PANEL * 4;
    return g->columns > PANEL - BLOCK_COLUMNS && bytes >= LEAST_CACHED && bytes <= MOST_CACHED ? 1 : 2;
}

/*
 * Panels that the L2 cache does not hold beside others are read once for several blocks, by parts of some segments that it
 * holds, and the sums are stored between the parts. 800x20x20 to 72 by 8x8 with stride 2 takes 0.53 of the time, 842x16x16
 * to 256 by 7x7 with stride 2 0.54, 1024x14x14 to 128 by 5x5 0.74, 2048x7x7 to 512 by 3x3 0.85, bfloat16 512x20x20 to 64 by
 * 7x7 0.51, 1024x16x16 to 128 by 3x3 0.97 (Xeon with AMX).
 */
enum { LARGE_PANEL = 1 << 20, PART = 1 << 19, MOST_BLOCKS = 6 };

static size_t panel_width(const struct sn_dot * g) { return sn_ceil_div(g->columns, BLOCK_COLUMNS) * BLOCK_BYTES; }

static bool takes_parts(const struct sn_dot * g, size_t blocks)
{
    return blocks > 2 && g->segments > 1 && g->segments * g->length * panel_width(g) > LARGE_PANEL;
}

/* Blocks n and, if `pair`, n + 1, whose sums or results are at to->first. */
SN_INLINE void multiply_blocks(const struct sn_dot * g, const struct block_lines * l, size_t n, bool pair,
                               const struct block_places * to, struct block_ahead * ahead)
{
    const uint8_t * a[2];
    for (size_t i = 0; i < (pair ? 2 : 1); ++i) {
        const struct block_row row = block_row_of(l, n + i);
        a[i] = g->a + row.y * g->aStepY + row.x * g->aStepX;
    }
    if (pair)
        multiply_pair(g, a, to, ahead);
    else
        multiply_single(g, a[0], to);
}

/* The sums of `count` blocks from `first` on, part by part of the segments. */
static void sum_parts(const struct sn_dot * g, const struct block_lines * l, size_t first, size_t count, struct block_sums * sums)
{
    const size_t segment = g->length * panel_width(g), most = sn_max(PART / segment, 1);
    struct block_ahead ahead = {0, 0, 0};
    struct sn_dot part = *g;
    for (size_t s = 0; s < g->segments; s += most) {
        part.segments = sn_min(g->segments - s, most);
        part.segment = g->segment + s;
        part.b = (const uint8_t *)g->b + s * segment;
        for (size_t j = 0; j < count; j += 2) {
            const bool pair = j + 1 < count;
            const struct block_places to = {{(uint8_t *)sums[j].sum, pair ? (uint8_t *)sums[j + 1].sum : NULL},
                sizeof(sums[0].sum[0]), s > 0};
            multiply_blocks(&part, l, first + j, pair, &to, &ahead);
        }
    }
}

static __attribute__((noinline)) void run_parts(const struct sn_dot * g, const struct block_lines * l, block_results_fn results)
{
    struct block_sums sums[MOST_BLOCKS];
    const size_t all = l->height * l->line, passes = sn_ceil_div(all, MOST_BLOCKS);
    const size_t together = sn_ceil_div(sn_ceil_div(all, passes), 2) * 2;
    for (size_t i = 0; i < all; i += together) {
        const size_t count = sn_min(all - i, together);
        sum_parts(g, l, i, count, sums);
        for (size_t j = 0; j < count; ++j)
            block_store(g, l, sums[j].sum, i + j, results);
    }
}

/* What a product prefetches: g->prefetch, in two passes over a panel. */
static struct block_ahead ahead_of(const struct sn_dot * g)
{
    if (!g->prefetch)
        return (struct block_ahead){0, 0, 0};
    const uintptr_t next = (uintptr_t)g->prefetch, end = next + g->segments * g->length * panel_width(g);
    const size_t lines = g->prefetchStep / (2 * SN_LINE);
    return (struct block_ahead){next, end, SN_LINE * sn_max(sn_min(lines, MOST_LINES), 1)};
}

/* All rows, one or two blocks at a time, of two lines if lines are short. If the sums are the results (`direct`), whole vectors of
 * them are stored where they belong. */
static __attribute__((noinline)) void blocks_run(const struct sn_dot * g, block_results_fn results, bool direct)
{
    if (g->height == 0 || g->width == 0)
        return;
    struct block_sums sums[2];
    const struct block_lines l = block_lines_of(g);
    const size_t all = l.height * l.line, together = blocks_together(g);
    struct block_places to = {{(uint8_t *)sums[0].sum, (uint8_t *)sums[1].sum}, sizeof(sums[0].sum[0]), false};
    direct = direct && l.pitch == SIZE_MAX && g->columns % BLOCK_COLUMNS == 0;
    to.row = direct ? g->cStepX : to.row;
    struct block_ahead ahead = ahead_of(g);
    blocks_begin(l.rows, g->length % BLOCK_GROUPS);
    if (!direct && takes_parts(g, all)) {
        run_parts(g, &l, results);
        blocks_end();
        return;
    }
    for (size_t i = 0; i < all; i += together) {
        const size_t count = sn_min(all - i, together);
        for (size_t j = 0; j < count && direct; ++j) {
            const struct block_row row = block_row_of(&l, i + j);
            to.first[j] = g->c + row.y * g->cStepY + row.x * g->cStepX;
        }
        multiply_blocks(g, &l, i, count == 2, &to, &ahead);
        for (size_t j = 0; j < count && !direct; ++j)
            block_store(g, &l, sums[j].sum, i + j, results);
    }
    blocks_end();
}

#endif
