/*
 * Products of many quantised sources and a matrix of 4 or 8 bits by products of whole blocks, isa/amx/block.h: 16 sources by 32
 * columns. Each block of the matrix has a sum of its own. Sums go through memory, eight blocks at a time, since instructions of
 * vectors and of blocks hardly run at the same time. They become floats in the order of kernels/nbits_panels_8i.h: the same bits.
 *
 * Behind what the level below writes of a source are its bytes in the order in which they are multiplied: of each block all
 * words of part 0, then of part 1. The numbers of the matrix get a sign, so sums begin with 0, and zeros count from the middle.
 *
 * Fewer sources or columns are left to vectors. 128x2048x2048 takes 0.63 of their time with 4 bits by 32, 0.5 by 128, 0.6 with 8
 * bits by 32, 16x1024x1024 0.72 (Xeon with AMX). To prefetch the next sources or to multiply by their scales where they lie, in
 * place of transposing them, takes 0.95 to 1.08.
 */
#include "contract/gemm_nbits.h"
#include "kernels/install.h"
#include "kernels/nbits_8i.h"

#include <block.h>

/* Columns of a panel, its groups of 4 numbers, and its blocks; blocks whose sums, and sources whose results are in memory. */
enum { VECTORS = 2, COLUMNS = VECTORS * V32F_N, GROUPS = 4 * V32F_N, BLOCKS = GROUPS / 4, BATCH = 8, SOURCES = 128 };

/* COLUMNS rows of the matrix, block by block: [part][word][column]; scales, and zeros as sums begin. */
struct panel {
    SN_ALIGNED int32_t group[GROUPS][COLUMNS];
    SN_ALIGNED float scale[BLOCKS][COLUMNS], zero[BLOCKS][COLUMNS];
    size_t first, blocks; /* of each row */
    size_t groups;        /* of a block */
};

/* Of 16 sources: the scales of blocks, and what sums of their products begin with, of zeros. */
struct sources {
    SN_ALIGNED float scale[BLOCKS][BLOCK_ROWS], sum[BLOCKS][BLOCK_ROWS];
};

struct sums {
    SN_ALIGNED int32_t sum[BATCH][VECTORS][BLOCK_ROWS][V32F_N];
};

static void (*vectors_product)(const struct sn_nbits_product * p);
static void (*vectors_quantise)(const struct sn_nbits_row * r);

static size_t words_of(size_t bits, size_t block) { return block * bits / 32; }

/* ---- sources */

static size_t size_in_order(size_t bits, size_t depth)
{
    const size_t vectors = sn_ceil_div(sn_ceil_div(depth, 32 / bits), V32F_N);
    return size_8i(bits, depth) + vectors * PARTS(bits) * V32F_N;
}

static void quantise_in_order(const struct sn_nbits_row * r)
{
    vectors_quantise(r);
    const size_t words = words_of(r->bits, r->block), parts = (size_t)PARTS(r->bits), step = STEP(r->bits);
    const sn_32f * from = r->dst;
    uint8_t * to = (uint8_t *)((sn_32f *)r->dst + size_8i(r->bits, r->depth));
    if (words > V32F_N)
        return;
    for (size_t k = 0; k < r->depth; k += 32 / r->bits * V32F_N, from += step)
        for (size_t w = 0; w < V32F_N; w += words)
            for (size_t v = 0; v < parts; ++v)
                for (size_t i = 0; i < words; i += 2, to += 8)
                    memcpy(to, from + v * V32F_N + w + i, 8);
}

/* ---- panels */

/* n values of each of V32F_N rows: to[value][row], as many as are transposed together. */
static void set_values(sn_32f * to, size_t width, const sn_32f * from, size_t step, size_t n, bool integers)
{
    for (size_t i = 0; i < n; i += V32F_N) {
        v32f v[V32F_N];
        SN_UNROLL for (size_t r = 0; r < V32F_N; ++r)
            v[r] = v_load_tail_32f(from + r * step + i, sn_min(V32F_N, n - i));
        v_transpose_32f(v);
        SN_UNROLL for (size_t k = 0; k < V32F_N; ++k)
            v_store_32f(to + (i + k) * width, integers ? v_cvt_32i_32f(v_cast_32f_32i(v[k])) : v[k]);
    }
}

/* A vector of words of V32F_N rows: words begin a block if `at` is a multiple of them. */
SN_INLINE void set_groups(struct panel * t, const uint8_t * from, size_t bytes, size_t n, size_t at, size_t j, int bits)
{
    const size_t each = t->groups / (size_t)PARTS(bits), last = each - 1;
    const v32i bias = v_set_32i(bits == 4 ? 0x78787878 : 0), sign = v_set_32i((int32_t)0x80808080);
    v32f words[V32F_N];
    SN_UNROLL for (size_t r = 0; r < V32F_N; ++r) words[r] = v_load_tail_32f(from + r * bytes, n);
    v_transpose_32f(words);
    SN_UNROLL for (size_t w = 0; w < V32F_N; ++w)
    {
        int32_t * to = &t->group[((at + w) & ~last) * (size_t)PARTS(bits) + ((at + w) & last)][j * V32F_N];
        SN_UNROLL for (int v = 0; v < PARTS(bits); ++v, to += each * COLUMNS)
            v_store_32i(to, v_xor_32i(v_add_32i(group(v_cast_32f_32i(words[w]), bits, v), bias), sign));
    }
}

static __attribute__((noinline)) void set_groups_4(struct panel * t, const uint8_t * from, size_t bytes, size_t n, size_t at,
                                                   size_t j)
{
    set_groups(t, from, bytes, n, at, j, 4);
}

static __attribute__((noinline)) void set_groups_8(struct panel * t, const uint8_t * from, size_t bytes, size_t n, size_t at,
                                                   size_t j)
{
    set_groups(t, from, bytes, n, at, j, 8);
}

/* n words from word i on. */
static void set_panel(struct panel * t, const struct sn_nbits_product * p, size_t i, size_t n)
{
    const size_t bytes = sn_nbits_bytes(&p->w), blocks = p->w.blocks, words = words_of(p->w.bits, p->w.block);
    t->groups = words * PARTS(p->w.bits);
    t->first = i / words;
    t->blocks = sn_ceil_div(n, words);
    for (size_t j = 0; j < VECTORS; ++j) {
        const uint8_t * from = p->w.weight + j * V32F_N * bytes + 4 * i;
        for (size_t w = 0; w < n; w += V32F_N)
            (p->w.bits == 8 ? set_groups_8 : set_groups_4)(t, from + 4 * w, bytes, sn_min(V32F_N, n - w), w, j);
        const size_t at = j * V32F_N * blocks + t->first;
        set_values(&t->scale[0][j * V32F_N], COLUMNS, p->w.scale + at, blocks, t->blocks, false);
        if (p->w.zero)
            set_values(&t->zero[0][j * V32F_N], COLUMNS, p->w.zero + at, blocks, t->blocks, false);
    }
    const float middle = (float)(1 << (p->w.bits - 1));
    sn_32f * zeros = t->zero[0]; /* of all blocks */
    for (size_t k = 0; p->w.zero && k < t->blocks * COLUMNS; k += V32F_N) {
        const v32f zero = v_sub_32f(v_load_32f(zeros + k), v_set_32f(middle));
        v_store_32f(zeros + k, v_mul_32f(zero, v_set_32f(1 / middle)));
    }
}

/* ---- products */

/* A block of sources in registers x at p by two blocks of columns in register w, to sums c and d. */
#define PAIR(c, d, x, w)                                                                                                    \
    do {                                                                                                                    \
        BLOCK_LOAD(x, p, step);                                                                                             \
        BLOCK_LOAD(w, b, sizeof(t->group[0]));                                                                              \
        BLOCK_DOT_8S(c, x, w);                                                                                              \
        BLOCK_LOAD(w, b + BLOCK_BYTES, sizeof(t->group[0]));                                                                \
        BLOCK_DOT_8S(d, x, w);                                                                                              \
    } while (0)
#define BLOCK_SUMS(c, d)                                                                                                    \
    do {                                                                                                                    \
        size_t n = t->groups;                                                                                               \
        BLOCK_ZERO(c);                                                                                                      \
        BLOCK_ZERO(d);                                                                                                      \
        for (; n >= BLOCK_GROUPS; n -= BLOCK_GROUPS, p += BLOCK_BYTES, b += BLOCK_GROUPS * sizeof(t->group[0]))             \
            PAIR(c, d, 4, 5);                                                                                               \
        if (n)                                                                                                              \
            PAIR(c, d, 6, 7);                                                                                               \
        p += 4 * n, b += n * sizeof(t->group[0]);                                                                           \
    } while (0)
#define BLOCK_STORES(c, d)                                                                                                  \
    do {                                                                                                                    \
        BLOCK_STORE(c, to, BLOCK_BYTES);                                                                           \
        BLOCK_STORE(d, to + sizeof(s->sum[0][0]), BLOCK_BYTES);                                                             \
        to += sizeof(s->sum[0]);                                                                                            \
    } while (0)

/* The sums of `count` blocks from block k on, of sources at p. */
static void set_sums(struct sums * s, const struct panel * t, const uint8_t * p, size_t step, size_t k, size_t count)
{
    const uint8_t * b = (const uint8_t *)t->group[k * t->groups];
    uint8_t * to = (uint8_t *)s->sum;
    for (; count >= 2; count -= 2) {
        BLOCK_SUMS(0, 1);
        BLOCK_SUMS(2, 3);
        BLOCK_STORES(0, 1);
        BLOCK_STORES(2, 3);
    }
    if (count) {
        BLOCK_SUMS(0, 1);
        BLOCK_STORES(0, 1);
    }
}

/* Adds them to the results of `rows` sources from `first` on. */
SN_INLINE void add_sums(const struct sums * s, const struct panel * t, const struct sources * x, size_t k, size_t count,
                        float (*results)[COLUMNS], size_t first, int rows, bool zeros)
{
    for (size_t j = 0; j < COLUMNS; j += V32F_N) {
        v32f sum[BLOCK_ROWS];
        SN_UNROLL for (int r = 0; r < rows; ++r) sum[r] = v_load_32f(results[r] + j);
        for (size_t i = 0; i < count; ++i) {
            const v32f scale = v_load_32f(t->scale[k + i] + j), zero = zeros ? v_load_32f(t->zero[k + i] + j) : scale;
            SN_UNROLL for (int r = 0; r < rows; ++r)
            {
                v32f exact = v_cvt_32i_32f(v_load_32i(s->sum[i][j / V32F_N][first + (size_t)r]));
                if (zeros)
                    exact = v_fma_32f(zero, v_set_32f(x->sum[k + i][first + (size_t)r]), exact);
                sum[r] = v_fma_32f(exact, v_mul_32f(v_set_32f(x->scale[k + i][first + (size_t)r]), scale), sum[r]);
            }
        }
        SN_UNROLL for (int r = 0; r < rows; ++r) v_store_32f(results[r] + j, sum[r]);
    }
}

#define ADD_SUMS(rows, zeros)                                                                                               \
    static __attribute__((noinline)) void add_sums_##rows##_##zeros(                                                        \
        const struct sums * s, const struct panel * t, const struct sources * x, size_t k, size_t count,                    \
        float (*results)[COLUMNS], size_t first)                                                                            \
    {                                                                                                                       \
        add_sums(s, t, x, k, count, results, first, rows, zeros);                                                           \
    }
ADD_SUMS(16, 0)
ADD_SUMS(16, 1)
ADD_SUMS(1, 0)
ADD_SUMS(1, 1)

/* The blocks of a panel by 16 sources from src on, of which those before `first` have their results already. */
static void multiply(const struct panel * t, const struct sn_nbits_product * p, const sn_32f * src,
                     float (*results)[COLUMNS], size_t first)
{
    const bool zeros = p->w.zero != NULL;
    struct sources x;
    struct sums s;
    const sn_32f * scales = src + vectors_size(p->w.bits, p->depth) + t->first;
    const uint8_t * bytes = (const uint8_t *)(src + size_8i(p->w.bits, p->depth)) + 4 * t->first * t->groups;
    set_values(x.scale[0], BLOCK_ROWS, scales, p->lds, t->blocks, false);
    if (zeros)
        set_values(x.sum[0], BLOCK_ROWS, scales + blocks_size(p->depth), p->lds, t->blocks, true);
    for (size_t k = 0, count; k < t->blocks; k += count) {
        count = sn_min(BATCH, t->blocks - k);
        set_sums(&s, t, bytes + 4 * k * t->groups, p->lds * sizeof(float), k, count);
        if (first == 0)
            (zeros ? add_sums_16_1 : add_sums_16_0)(&s, t, &x, k, count, results, 0);
        for (size_t r = first; first && r < BLOCK_ROWS; ++r)
            (zeros ? add_sums_1_1 : add_sums_1_0)(&s, t, &x, k, count, results + r, r);
    }
}

/* Prefetches words from word i on of some rows of the matrix. */
SN_INLINE void prefetch(const struct sn_nbits_product * p, size_t i, size_t first, size_t last)
{
    const size_t bytes = sn_nbits_bytes(&p->w);
    for (size_t r = first; r < last; ++r)
        SN_PREFETCH(p->w.weight + r * bytes + 4 * i), SN_PREFETCH(p->w.weight + r * bytes + 4 * i + SN_LINE);
}

/* All sources by COLUMNS rows of the matrix. */
static void multiply_columns(const struct sn_nbits_product * p)
{
    struct panel t;
    SN_ALIGNED float results[SOURCES][COLUMNS];
    const size_t number = p->M, words = sn_ceil_div(p->depth, 32 / p->w.bits), most = GROUPS / PARTS(p->w.bits);
    for (size_t i = 0; i < number; ++i)
        for (size_t j = 0; j < COLUMNS; j += V32F_N)
            v_store_32f(results[i] + j, p->bias ? v_load_32f(p->bias + j) : v_zero_32f());
    for (size_t i = 0; i < words; i += most) {
        set_panel(&t, p, i, sn_min(most, words - i));
        for (size_t row = 0; row < number; row += BLOCK_ROWS) {
            const size_t from = sn_min(row, number - BLOCK_ROWS);
            if (i + 2 * most <= words) /* 1.0 to 1.05 without */
                prefetch(p, i + most, row * COLUMNS / number, sn_min((row + BLOCK_ROWS) * COLUMNS / number, COLUMNS));
            multiply(&t, p, p->src + from * p->lds, results + from, row - from);
        }
    }
    for (size_t i = 0; i < number; ++i)
        for (size_t j = 0; j < COLUMNS; j += V32F_N)
            v_store_32f(p->dst + i * p->ldd + j, v_load_32f(results[i] + j));
}

static void product_8i(const struct sn_nbits_product * p)
{
    const size_t words = words_of(p->w.bits, p->w.block);
    struct sn_nbits_product rest = *p;
    if (p->M >= BLOCK_ROWS && p->M <= SOURCES && words <= V32F_N && p->N >= COLUMNS) {
        blocks_begin(BLOCK_ROWS, words * (size_t)PARTS(p->w.bits) % BLOCK_GROUPS);
        for (; rest.N >= COLUMNS; rest.N -= COLUMNS) {
            multiply_columns(&rest);
            rest.w.weight += COLUMNS * sn_nbits_bytes(&p->w);
            rest.w.scale += COLUMNS * p->w.blocks;
            rest.w.zero = p->w.zero ? rest.w.zero + COLUMNS * p->w.blocks : NULL;
            rest.bias = p->bias ? rest.bias + COLUMNS : NULL;
            rest.dst += COLUMNS;
        }
        blocks_end();
    }
    if (rest.N)
        vectors_product(&rest);
}

SN_INSTALL(gemm_blocks_nbits, gemm_nbits)
{
    vectors_product = slots->product_8i;
    vectors_quantise = slots->quantise_8i;
    slots->product_8i = product_8i;
    slots->quantise_8i = quantise_in_order;
    slots->size_8i = size_in_order;
}
