/*
 * Products of many sources of bytes and a matrix of 4 or 8 bits: rows of the matrix become panels, in which a sum of a block is
 * in one lane and becomes a float once.
 */
#ifndef SN_KERNELS_NBITS_PANELS_8I_H
#define SN_KERNELS_NBITS_PANELS_8I_H

#include "kernels/nbits_8i.h"

/* Sums of integers and of floats of HIGH sources fit the registers. */
enum { HIGH = V32F_N == 16 ? 6 : 3, WIDE = 2, PANEL = WIDE * V32F_N };

/* A vector of words of PANEL rows of the matrix: [part][word][row], and the scales and zeros of the blocks in it. */
struct panel {
    SN_ALIGNED int32_t group[2][V32F_N][PANEL];
    SN_ALIGNED float scale[V32F_N][PANEL], zero[V32F_N][PANEL];
    size_t first, blocks; /* of each row */
    size_t words, parts;  /* of a block, and of a word */
};

/* Panels whose sums stay in registers. */
enum { TOGETHER = 2 };

/* n words from word i on of the first rows. */
SN_INLINE void set_panel(struct panel * t, const struct sn_nbits_product * p, size_t i, size_t n, int bits)
{
    const size_t bytes = sn_nbits_bytes(&p->w), blocks = p->w.blocks;
    t->words = p->w.block * (size_t)bits / 32;
    const int parts = PARTS(bits);
    t->parts = (size_t)parts;
    t->first = i / t->words;
    t->blocks = sn_ceil_div(n, t->words);
    for (size_t j = 0; j < WIDE; ++j) {
        v32f words[V32F_N];
        const uint8_t * from = p->w.weight + j * V32F_N * bytes + 4 * i;
        SN_UNROLL for (size_t r = 0; r < V32F_N; ++r) words[r] = v_load_tail_32f(from + r * bytes, n);
        v_transpose_32f(words);
        SN_UNROLL for (size_t w = 0; w < V32F_N; ++w)
            SN_UNROLL for (int v = 0; v < parts; ++v)
                v_store_32i(&t->group[v][w][j * V32F_N], group(v_cast_32f_32i(words[w]), bits, v));
    }
    for (size_t r = 0; r < PANEL; ++r)
        for (size_t b = 0; b < t->blocks; ++b) {
            const size_t at = r * blocks + t->first + b;
            t->scale[b][r] = p->w.scale[at];
            t->zero[b][r] = p->w.zero ? p->w.zero[at] / (float)(1 << (bits - 1)) : 0;
        }
}

/* Adds the products of n words at `from` to sums of 32 bits or, of pairs, of 16; x are those of the first source. */
SN_INLINE void add_words_of(v32i part[HIGH][WIDE], v16i pairs[HIGH][WIDE], const int32_t * from, const sn_32f * x, size_t lds,
                            size_t n, int rows)
{
    const sn_32f * at[(HIGH + 2) / 3]; /* one pointer for three sources: fewer registers */
    SN_UNROLL for (int r = 0; r < rows; r += 3) at[r / 3] = x + (size_t)r * lds;
    for (size_t w = 0; w < n; ++w, from += PANEL) {
        v32i y[WIDE];
        SN_UNROLL for (int j = 0; j < WIDE; ++j) y[j] = v_load_32i(from + j * V32F_N);
        SN_UNROLL for (int r = 0; r < rows; ++r)
        {
            const v32i source = v_broadcast_32i(at[r / 3] + (size_t)(r % 3) * lds);
            SN_UNROLL for (int j = 0; j < WIDE; ++j)
                if (BY_NIBBLES)
                    pairs[r][j] = v_add_16i(pairs[r][j], nibble_products(y[j], source));
                else
                    part[r][j] = tile_dot(part[r][j], y[j], source);
        }
        SN_UNROLL for (int r = 0; r < rows; r += 3) ++at[r / 3];
    }
}

/* Adds the exact sums of block b to those of its words; x are those of the first source, and begin with the block's first. */
SN_INLINE void add_block(v32i part[HIGH][WIDE], const struct panel * t, size_t b, const sn_32f * x, size_t lds, int rows)
{
    const size_t step = BY_NIBBLES ? sn_min(t->words, NIBBLE_SUMS / 2) : t->words;
    v16i pairs[HIGH][WIDE];
    for (size_t w = 0; w < t->words; w += step) {
        SN_UNROLL for (int k = 0; k < HIGH * WIDE; ++k) pairs[k / WIDE][k % WIDE] = v_set_16i(0);
        for (size_t v = 0; v < t->parts; ++v)
            add_words_of(part, pairs, &t->group[v][b * t->words + w][0], x + v * V32F_N + w, lds, step, rows);
        SN_UNROLL for (int r = 0; BY_NIBBLES && r < rows; ++r)
            SN_UNROLL for (int j = 0; j < WIDE; ++j) part[r][j] = add_pairs(part[r][j], pairs[r][j]);
    }
}

/* Adds the products of `rows` sources from src on with a panel. */
SN_INLINE void add_panel(v32f sum[HIGH][WIDE], const struct panel * t, const struct sn_nbits_product * p, const sn_32f * src,
                         int rows, bool zeros)
{
    const sn_32f * scales = src + vectors_size(p->w.bits, p->depth) + t->first;
    const sn_32i * starts = (const sn_32i *)scales + blocks_size(p->depth);
    const sn_32f * x = src + t->first * t->words / V32F_N * STEP(p->w.bits);
    for (size_t b = 0; b < t->blocks; ++b, x += t->words) {
        v32i part[HIGH][WIDE];
        SN_UNROLL for (int r = 0; r < rows; ++r)
            SN_UNROLL for (int j = 0; j < WIDE; ++j)
                part[r][j] = zeros ? v_set_32i(0) : v_broadcast_32i(starts + (size_t)r * p->lds + b);
        add_block(part, t, b, x, p->lds, rows);
        SN_UNROLL for (int r = 0; r < rows; ++r)
        {
            const v32f size = v_set_32f(scales[(size_t)r * p->lds + b]);
            SN_UNROLL for (int j = 0; j < WIDE; ++j)
            {
                v32f exact = v_cvt_32i_32f(part[r][j]);
                if (zeros)
                    exact = v_fma_32f(v_load_32f(&t->zero[b][j * V32F_N]),
                                      v_set_32f((float)starts[(size_t)r * p->lds + b]), exact);
                sum[r][j] = v_fma_32f(exact, v_mul_32f(size, v_load_32f(&t->scale[b][j * V32F_N])), sum[r][j]);
            }
        }
    }
}

/* Adds to results of `rows` sources the products with `count` panels. */
SN_INLINE void add_panels(const struct panel * t, size_t count, const struct sn_nbits_product * p, size_t source, sn_32f * dst,
                          int rows, bool zeros)
{
    v32f sum[HIGH][WIDE];
    dst += source * p->ldd;
    SN_UNROLL for (int r = 0; r < rows; ++r)
        SN_UNROLL for (int j = 0; j < WIDE; ++j) sum[r][j] = v_load_32f(dst + (size_t)r * p->ldd + j * V32F_N);
    for (size_t i = 0; i < count; ++i)
        add_panel(sum, &t[i], p, p->src + source * p->lds, rows, zeros);
    SN_UNROLL for (int r = 0; r < rows; ++r)
        SN_UNROLL for (int j = 0; j < WIDE; ++j) v_store_32f(dst + (size_t)r * p->ldd + j * V32F_N, sum[r][j]);
}

/* Few sources take a jump for each block rather than instances of their own. */
#define ADD_PANELS(name, rows, zeros)                                                                                       \
    static __attribute__((noinline, unused)) void add_panels_##name(                                                        \
        const struct panel * t, size_t count, const struct sn_nbits_product * p, size_t source, sn_32f * dst)               \
    {                                                                                                                       \
        add_panels(t, count, p, source, dst, rows, zeros);                                                                  \
    }

ADD_PANELS(high, HIGH, false)
ADD_PANELS(high_zeros, HIGH, true)
ADD_PANELS(2, 2, p->w.zero != NULL)
ADD_PANELS(1, 1, p->w.zero != NULL)

static __attribute__((unused)) void set_panel_4(struct panel * t, const struct sn_nbits_product * p, size_t i, size_t n)
{
    set_panel(t, p, i, n, 4);
}

static __attribute__((unused)) void set_panel_8(struct panel * t, const struct sn_nbits_product * p, size_t i, size_t n)
{
    set_panel(t, p, i, n, 8);
}

static void set_results(const struct sn_nbits_product * p)
{
    for (size_t i = 0; i < p->M; ++i)
        for (size_t j = 0; j < PANEL; j += V32F_N)
            v_store_32f(p->dst + i * p->ldd + j, p->bias ? v_load_32f(p->bias + j) : v_zero_32f());
}

/* All sources by the first PANEL rows of the matrix. */
static __attribute__((unused, noinline)) void multiply_panel(const struct sn_nbits_product * p)
{
    struct panel t[TOGETHER];
    const size_t words = sn_ceil_div(p->depth, 32 / p->w.bits);
    set_results(p);
    for (size_t i = 0; i < words;) {
        size_t source = 0, count = 0;
        for (; count < TOGETHER && i < words; ++count, i += V32F_N)
            (GROUP(8) == 4 && p->w.bits == 8 ? set_panel_8 : set_panel_4)(&t[count], p, i, sn_min(V32F_N, words - i));
        for (; source + HIGH <= p->M; source += HIGH)
            (p->w.zero ? add_panels_high_zeros : add_panels_high)(t, count, p, source, p->dst);
        for (; source + 2 <= p->M; source += 2)
            add_panels_2(t, count, p, source, p->dst);
        for (; source < p->M; ++source)
            add_panels_1(t, count, p, source, p->dst);
    }
}

/* Whether panels serve: they need words of whole blocks. */
SN_INLINE bool has_panels(const struct sn_nbits_product * p)
{
    return GROUP(p->w.bits) == 4 && !TILE_BIASED && p->M >= HIGH && p->w.block * p->w.bits / 32 <= V32F_N;
}

#endif
