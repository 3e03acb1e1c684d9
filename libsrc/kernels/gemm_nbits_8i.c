/*
 * Products of rows that are quantised in blocks and a matrix of 4 or 8 bits: of bytes, or of pairs of 16 bits if no
 * instruction multiplies bytes. A word of 32 bits has 8 or 4 numbers of a row; shifted and masked, it is a group of numbers
 * for each of its parts, and part v of a source's word has every `parts`-th number from v on. So numbers are not moved.
 *
 * The exact sum of a word, less the zero times the sum of the source's numbers, becomes a float that is multiplied by both
 * scales. Rows of the matrix and of sources share what is loaded of each other.
 */
#include <math.h>

#include "contract/gemm_nbits.h"
#include "kernels/install.h"
#include "kernels/nbits.h"

#include <dot_8i.h>

/* Rows of the matrix with one source, sources, and rows with these, that are multiplied together: their sums and words are in
 * registers. */
enum { ROWS = V32F_N == 16 ? 4 : 2, SOURCES = V32F_N == 16 ? 4 : 2, ROWS_OF_SOURCES = 2 };

/* The vectors of a source for a vector of words: the parts, then in each word's lane the scale, and what the sum of its
 * products begins with if the zero is the middle of all numbers: less the middle times the sum of its numbers. */
enum { MORE = 2 };
#define PARTS(bits) (32 / (bits) / TILE_GROUP)
#define STEP(bits) ((size_t)(PARTS(bits) + MORE) * V32F_N)

/* ---- sources */

static size_t size_8i(size_t bits, size_t depth)
{
    const size_t words = sn_ceil_div(depth, 32 / bits);
    return sn_ceil_div(sn_ceil_div(words, V32F_N) * STEP(bits), 16) * 16;
}

/* The largest size of n numbers; NaN is above all others, since bits are compared. */
static float largest_of(const sn_32f * src, size_t n)
{
    SN_ALIGNED int32_t lanes[V32F_N];
    const v32i size = v_set_32i(0x7FFFFFFF);
    v32i most = v_set_32i(0);
    for (size_t i = 0; i < n; i += V32F_N) {
        const v32i v = v_and_32i(v_load_tail_32i(src + i, sn_min(V32F_N, n - i)), size);
        most = v_select_32i(v_gt_32i(v, most), v, most);
    }
    v_store_32i(lanes, most);
    for (size_t i = 1; i < V32F_N; ++i)
        lanes[0] = lanes[0] > lanes[i] ? lanes[0] : lanes[i];
    float found;
    memcpy(&found, lanes, sizeof(found));
    return found;
}

/* Number k of a row as part of its word, and of the word's sum. */
SN_INLINE void put(uint8_t * row, size_t k, int32_t q, int bits)
{
    const size_t numbers = 32 / (size_t)bits, parts = PARTS((size_t)bits), word = k / numbers, n = k % numbers;
    uint8_t * vectors = row + word / V32F_N * STEP((size_t)bits) * sizeof(float);
    uint8_t * at = vectors + (n % parts * V32F_N + word % V32F_N) * 4 + n / parts * (4 / TILE_GROUP);
    if (TILE_GROUP == 4)
        *(int8_t *)at = (int8_t)q;
    else
        *(sn_16b *)(void *)at = (uint16_t)q;
    ((sn_32i *)(void *)vectors)[(parts + 1) * V32F_N + word % V32F_N] -= q * (1 << (bits - 1));
}

SN_INLINE void quantise_block(const struct sn_nbits_row * r, size_t first, size_t n, int bits)
{
    SN_ALIGNED int32_t q[V32F_N];
    const size_t numbers = 32 / (size_t)bits;
    const float scale = sn_nbits_scale(largest_of(r->src + first, n));
    for (size_t word = first / numbers; word < sn_ceil_div(first + n, numbers); ++word)
        ((sn_32f *)r->dst)[word / V32F_N * STEP((size_t)bits) + (size_t)PARTS(bits) * V32F_N + word % V32F_N] = scale;
    if (!isfinite(scale) || scale == 0)
        return;
    const v32f divisor = v_set_32f(scale), limit = v_set_32f(127), least = v_set_32f(-127);
    for (size_t i = 0; i < n; i += V32F_N) {
        const size_t m = sn_min(V32F_N, n - i);
        const v32f v = v_div_32f(v_load_tail_32f(r->src + first + i, m), divisor);
        v_store_32i(q, v_cvt_32f_32i(v_min_32f(v_max_32f(v, least), limit)));
        for (size_t k = 0; k < m; ++k)
            put(r->dst, first + i + k, q[k], bits);
    }
}

static void quantise_8i(const struct sn_nbits_row * r)
{
    memset(r->dst, 0, size_8i(r->bits, r->depth) * sizeof(float));
    for (size_t first = 0; first < r->depth; first += r->block) {
        const size_t n = sn_min(r->block, r->depth - first);
        if (r->bits == 8)
            quantise_block(r, first, n, 8);
        else
            quantise_block(r, first, n, 4);
    }
}

/* ---- products */

/* The groups of part v of words. */
SN_INLINE v32i group(v32i words, int bits, int v)
{
    const int32_t mask = TILE_GROUP == 4 ? 0x0F0F0F0F : bits == 4 ? 0x000F000F : 0x00FF00FF;
    if (bits == 8 && TILE_GROUP == 4)
        return TILE_BIASED ? v_xor_32i(words, v_set_32i((int32_t)0x80808080)) : words;
    switch (bits * v) {
    case 0: return v_and_32i(words, v_set_32i(mask));
    case 4: return v_and_32i(v_shr_32i(words, 4), v_set_32i(mask));
    case 8: return v_and_32i(v_shr_32i(words, 8), v_set_32i(mask));
    default: return v_and_32i(v_shr_32i(words, 12), v_set_32i(mask));
    }
}

/* Zeros of blocks over the middle, by which sums begin. Those of words that are biased have been subtracted already. */
SN_INLINE v32f of_zeros(v32f zero, int bits)
{
    const float middle = (float)(1 << (bits - 1));
    return v_mul_32f(TILE_BIASED && bits == 8 ? v_sub_32f(zero, v_set_32f(middle)) : zero, v_set_32f(1 / middle));
}

/* Adds the products of n words, a vector or less, which are at word i of each row. */
SN_INLINE void add_words(v32f * sum, const struct rows * w, const sn_32f * src, size_t lds, const struct look * look, size_t i,
                         size_t n, int rows, int sources, struct form f)
{
    const size_t first = i >> look->shift, scales = n == V32F_N ? look->scales : sn_min(look->scales, w->blocks - first);
    const sn_32f * x = src + i / V32F_N * STEP((size_t)f.bits);
    const int parts = PARTS(f.bits);
    v32i groups[ROWS][4];
    v32f scale[ROWS], zero[ROWS];
    SN_UNROLL for (int r = 0; r < rows; ++r)
    {
        const uint8_t * at = w->weight + (size_t)r * w->bytes + 4 * i;
        const v32i words = n == V32F_N ? v_load_32i(at) : v_load_tail_32i(at, n);
        if (sources == 1)
            SN_PREFETCH(at + ROWS * w->bytes);
        SN_UNROLL for (int v = 0; v < parts; ++v) groups[r][v] = group(words, f.bits, v);
        scale[r] = of_blocks(look, w->scale + (size_t)r * w->blocks + first, scales);
        zero[r] = scale[r]; /* not used */
        if (f.zeros)
            zero[r] = of_zeros(of_blocks(look, w->zero + (size_t)r * w->blocks + first, scales), f.bits);
    }
    const bool starts = !f.zeros && !(TILE_BIASED && f.bits == 8);
    SN_UNROLL for (int s = 0; s < sources; ++s, x += lds)
    {
        const v32f size = v_load_32f(x + parts * V32F_N);
        const v32i start = v_load_32i(x + (parts + 1) * V32F_N);
        SN_UNROLL for (int r = 0; r < rows; ++r)
        {
            v32i part = starts ? start : v_set_32i(0);
            SN_UNROLL for (int v = 0; v < parts; ++v) part = tile_dot(part, groups[r][v], v_load_32i(x + v * V32F_N));
            const v32f sums = v_cvt_32i_32f(part), exact = f.zeros ? v_fma_32f(zero[r], v_cvt_32i_32f(start), sums) : sums;
            sum[s * ROWS + r] = v_fma_32f(exact, v_mul_32f(size, scale[r]), sum[s * ROWS + r]);
        }
    }
}

SN_INLINE void tile(const struct sn_nbits_product * p, const struct look * look, size_t source, size_t row, int sources,
                    int rows, struct form f)
{
    const size_t words = sn_ceil_div(p->depth, 32 / (size_t)f.bits), bytes = sn_nbits_bytes(&p->w), blocks = p->w.blocks;
    const struct rows w = {p->w.weight + row * bytes, p->w.scale + row * blocks, f.zeros ? p->w.zero + row * blocks : NULL,
        bytes, blocks};
    const sn_32f * src = p->src + source * p->lds;
    v32f sum[SOURCES * ROWS];
    SN_UNROLL for (int k = 0; k < SOURCES * ROWS; ++k) sum[k] = v_zero_32f();
    size_t i = 0;
    for (; i + V32F_N <= words; i += V32F_N)
        add_words(sum, &w, src, p->lds, look, i, V32F_N, rows, sources, f);
    if (i < words)
        add_words(sum, &w, src, p->lds, look, i, words - i, rows, sources, f);
    SN_UNROLL for (int s = 0; s < sources; ++s)
        SN_UNROLL for (int r = 0; r < rows; ++r)
            p->dst[(source + (size_t)s) * p->ldd + row + (size_t)r] =
                v_reduce_add_32f(sum[s * ROWS + r]) + (p->bias ? p->bias[row + (size_t)r] : 0);
}

SN_INLINE void all_rows(const struct sn_nbits_product * p, const struct look * look, size_t source, int sources, int rows,
                        struct form f)
{
    size_t row = 0;
    for (; row + (size_t)rows <= p->N; row += (size_t)rows)
        tile(p, look, source, row, sources, rows, f);
    for (; row < p->N; ++row)
        tile(p, look, source, row, sources, 1, f);
}

SN_INLINE void all(const struct sn_nbits_product * p, struct form f)
{
    const struct look look = look_of((size_t)f.bits, p->w.block * (size_t)f.bits / 32, f.zeros);
    size_t source = 0;
    for (; source + SOURCES <= p->M; source += SOURCES)
        all_rows(p, &look, source, SOURCES, ROWS_OF_SOURCES, f);
    for (; source < p->M; ++source)
        all_rows(p, &look, source, 1, ROWS, f);
}

static void product_8i(const struct sn_nbits_product * p)
{
    if (p->w.bits == 8 && p->w.zero)
        all(p, (struct form){8, true});
    else if (p->w.bits == 8)
        all(p, (struct form){8, false});
    else if (p->w.zero)
        all(p, (struct form){4, true});
    else
        all(p, (struct form){4, false});
}

SN_INSTALL(gemm_nbits_8i, gemm_nbits)
{
    slots->product_8i = product_8i;
    slots->quantise_8i = quantise_8i;
    slots->size_8i = size_8i;
}
