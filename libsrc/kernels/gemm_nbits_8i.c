/*
 * Products of rows that are quantised in blocks and a matrix of 4 or 8 bits: of bytes, or of pairs of 16 bits if no
 * instruction multiplies bytes. A word of 32 bits has 8 or 4 numbers of a row; shifted and masked, it is a group of numbers
 * for each of its parts, and part v of a source's word has every `parts`-th number from v on. So numbers are not moved.
 *
 * The exact sum of a word, less the zero times the sum of the source's numbers, becomes a float that is multiplied by both
 * scales. Rows of the matrix and of sources share what is loaded of each other. For many sources rows of the matrix become
 * panels: see nbits_panels_8i.h.
 */
#include <math.h>

#include "contract/gemm_nbits.h"
#include "kernels/install.h"
#include "kernels/nbits_panels_8i.h"

/* Rows of the matrix with one source, sources, and rows with these, that are multiplied together: their sums and words are in
 * registers. */
enum { ROWS = V32F_N == 16 ? 4 : 2, SOURCES = V32F_N == 16 ? 4 : 2, ROWS_OF_SOURCES = 2 };

/* ---- sources */

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

/* The scale of each block, in the lanes of its words. */
SN_INLINE void set_scales(const struct sn_nbits_row * r, int bits)
{
    const size_t numbers = 32 / (size_t)bits;
    sn_32f * scales = (sn_32f *)r->dst + vectors_size((size_t)bits, r->depth);
    for (size_t first = 0; first < r->depth; first += r->block) {
        const size_t n = sn_min(r->block, r->depth - first);
        const float scale = sn_nbits_scale(largest_of(r->src + first, n));
        *scales++ = scale;
        for (size_t word = first / numbers; word < sn_ceil_div(first + n, numbers); ++word)
            ((sn_32f *)r->dst)[word / V32F_N * STEP((size_t)bits) + (size_t)PARTS(bits) * V32F_N + word % V32F_N] = scale;
    }
}

/* V32F_N numbers or less, of one block: every block is a multiple of 16. */
SN_INLINE v32i quantised(const sn_32f * src, size_t n, float scale)
{
    if (n == 0 || !isfinite(scale) || scale == 0)
        return v_set_32i(0);
    const v32f v = v_div_32f(v_load_tail_32f(src, sn_min(n, V32F_N)), v_set_32f(scale));
    return v_cvt_32f_32i(v_min_32f(v_max_32f(v, v_set_32f(-127)), v_set_32f(127)));
}

/* V8U_N numbers as bytes with a sign. */
SN_INLINE v8u bytes_of(const v32i q[4])
{
    const v32i more = v_set_32i(128);
    const v8u bytes = v_pack_32i_8u(v_add_32i(q[0], more), v_add_32i(q[1], more), v_add_32i(q[2], more),
                                    v_add_32i(q[3], more));
    return v_cast_32i_8u(v_xor_32i(v_cast_8u_32i(bytes), v_set_32i((int32_t)0x80808080)));
}

/* Parts of a vector of words from V8U_N bytes, or two times as many. */
SN_INLINE void put_bytes(uint8_t * vectors, const v8u bytes[2], int bits)
{
    const v32i half = v_set_32i(bits == 8 ? 0x40404040 : 0x04040404); /* of the middle, which may have no sign bit to spare */
    v32i part[2] = {v_cast_8u_32i(bytes[0]), v_set_32i(0)};
    if (bits == 4) {
        part[0] = v_cast_8u_32i(v_even_8u(bytes[0], bytes[1]));
        part[1] = v_cast_8u_32i(v_odd_8u(bytes[0], bytes[1]));
    }
    v32i sum = v_set_32i(0);
    for (int v = 0; v < 8 / bits; ++v) {
        v_store_32i(vectors + (size_t)v * V8U_N, part[v]);
        sum = GROUP(bits) == TILE_GROUP ? tile_dot(sum, half, part[v]) : add_pairs(sum, nibble_products(half, part[v]));
    }
    v_store_32i(vectors + (size_t)(8 / bits + 1) * V8U_N, v_sub_32i(v_sub_32i(v_set_32i(0), sum), sum));
}

/* Pairs of 16 bits: part v has every `parts`-th number from v on. */
SN_INLINE void put_pairs(uint8_t * vectors, const v32i * q, int bits)
{
    SN_ALIGNED int32_t number[8 * V32F_N];
    const size_t numbers = 32 / (size_t)bits, parts = PARTS((size_t)bits);
    for (size_t i = 0; i < numbers; ++i)
        v_store_32i(number + i * V32F_N, q[i]);
    for (size_t word = 0; word < V32F_N; ++word) {
        const int32_t * from = number + word * numbers;
        int32_t sum = 0;
        for (size_t n = 0; n < numbers; ++n) {
            ((sn_16b *)(void *)vectors)[(n % parts * V32F_N + word) * 2 + n / parts] = (uint16_t)from[n];
            sum += from[n];
        }
        ((sn_32i *)(void *)vectors)[(parts + 1) * V32F_N + word] = -sum * (1 << (bits - 1));
    }
}

/* The numbers of a vector of words from number k on. */
SN_INLINE void quantise_words(const struct sn_nbits_row * r, size_t k, int bits)
{
    const size_t numbers = 32 / (size_t)bits;
    uint8_t * vectors = vectors_at(r->dst, k, bits);
    const sn_32f * scale = (const sn_32f *)(const void *)vectors + (size_t)PARTS(bits) * V32F_N;
    v32i q[8];
    SN_UNROLL for (size_t i = 0; i < 32 / (size_t)bits; ++i)
    {
        const size_t at = k + i * V32F_N;
        q[i] = quantised(r->src + sn_min(at, r->depth), at < r->depth ? r->depth - at : 0, scale[i * V32F_N / numbers]);
    }
    if (GROUP(bits) == 4)
        put_bytes(vectors, (v8u[]){bytes_of(q), bytes_of(q + (bits == 4 ? 4 : 0))}, bits);
    else
        put_pairs(vectors, q, bits);
}

/* The sums of what the words of each block begin with. */
SN_INLINE void set_starts(const struct sn_nbits_row * r, int bits)
{
    const size_t words = sn_ceil_div(r->depth, 32 / (size_t)bits), each = r->block * (size_t)bits / 32;
    sn_32i * starts = (sn_32i *)r->dst + vectors_size((size_t)bits, r->depth) + blocks_size(r->depth);
    const sn_32i * from = (const sn_32i *)r->dst + (size_t)(PARTS(bits) + 1) * V32F_N;
    for (size_t word = 0; word < words; ++word)
        starts[word / each] += from[word / V32F_N * STEP((size_t)bits) + word % V32F_N];
}

SN_INLINE void quantise_row(const struct sn_nbits_row * r, int bits)
{
    set_scales(r, bits);
    for (size_t k = 0; k < r->depth; k += 32 / (size_t)bits * V32F_N)
        quantise_words(r, k, bits);
    set_starts(r, bits);
}

static void quantise_8i(const struct sn_nbits_row * r)
{
    memset(r->dst, 0, size_8i(r->bits, r->depth) * sizeof(float));
    if (r->bits == 8)
        quantise_row(r, 8);
    else
        quantise_row(r, 4);
}

/* ---- products */

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
    v32i words[ROWS];
    v32f scale[ROWS], zero[ROWS];
    SN_UNROLL for (int r = 0; r < rows; ++r)
    {
        const uint8_t * at = w->weight + (size_t)r * w->bytes + 4 * i;
        words[r] = n == V32F_N ? v_load_32i(at) : v_load_tail_32i(at, n);
        if (sources == 1)
            SN_PREFETCH(at + ROWS * w->bytes);
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
            const v32f sums = v_cvt_32i_32f(word_products(starts ? start : v_set_32i(0), words[r], x, f.bits));
            const v32f exact = f.zeros ? v_fma_32f(zero[r], v_cvt_32i_32f(start), sums) : sums;
            sum[s * ROWS + r] = v_fma_32f(exact, v_mul_32f(size, scale[r]), sum[s * ROWS + r]);
        }
    }
}

/*
 * The same for one source, all words of as many blocks as a vector has lanes, from `block` on, of at most a vector of words
 * each: the scales of all are multiplied at once.
 */
SN_INLINE void add_blocks(v32f * sum, const struct rows * w, const sn_32f * src, const sn_32f * sizes,
                          const struct look * look, size_t block, int rows, struct form f)
{
    const size_t vectors = (size_t)1 << look->shift;
    const int parts = PARTS(f.bits);
    const v32i next = v_set_32i(V32F_N >> look->shift);
    const bool starts = !(TILE_BIASED && f.bits == 8);
    v32i index = look->block;
    v32f scale[ROWS];
    SN_UNROLL for (int r = 0; r < rows; ++r)
        scale[r] = v_mul_32f(v_load_32f(sizes + block), v_load_32f(w->scale + (size_t)r * w->blocks + block));
    const sn_32f * x = src + block * vectors / V32F_N * STEP((size_t)f.bits);
    const uint8_t * at = w->weight + 4 * block * vectors;
    for (size_t j = 0; j < vectors; ++j, x += STEP((size_t)f.bits), at += V8U_N, index = v_add_32i(index, next)) {
        const v32i start = starts ? v_load_32i(x + (parts + 1) * V32F_N) : v_set_32i(0);
        SN_UNROLL for (int r = 0; r < rows; ++r)
        {
            const v32i words = v_load_32i(at + (size_t)r * w->bytes);
            SN_PREFETCH(at + (size_t)(r + ROWS) * w->bytes);
            sum[r] = v_fma_32f(v_cvt_32i_32f(word_products(start, words, x, f.bits)), v_lookup_32f(scale[r], index), sum[r]);
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
    if (sources == 1 && !f.zeros && look->scales * ((size_t)1 << look->shift) == V32F_N) {
        const sn_32f * sizes = src + vectors_size((size_t)f.bits, p->depth);
        for (size_t block = 0, step = V32F_N << look->shift; i + step <= words; block += V32F_N, i += step)
            add_blocks(sum, &w, src, sizes, look, block, rows, f);
    }
    for (; i + V32F_N <= words; i += V32F_N)
        add_words(sum, &w, src, p->lds, look, i, V32F_N, rows, sources, f);
    if (i < words)
        add_words(sum, &w, src, p->lds, look, i, words - i, rows, sources, f);
    SN_UNROLL for (int s = 0; s < sources; ++s)
        SN_UNROLL for (int r = 0; r < rows; ++r)
            p->dst[(source + (size_t)s) * p->ldd + row + (size_t)r] =
                v_reduce_add_32f(sum[s * ROWS + r]) + (p->bias ? p->bias[row + (size_t)r] : 0);
}

SN_INLINE void all(const struct sn_nbits_product * of, struct form f)
{
    struct sn_nbits_product rest = *of;
    const struct sn_nbits_product * p = &rest;
    const struct look look = look_of((size_t)f.bits, p->w.block * (size_t)f.bits / 32, f.zeros);
    for (; has_panels(p) && rest.N >= PANEL; rest.N -= PANEL) {
        multiply_panel(p);
        rest.w.weight += PANEL * sn_nbits_bytes(&p->w);
        rest.w.scale += PANEL * p->w.blocks;
        rest.w.zero = f.zeros ? rest.w.zero + PANEL * p->w.blocks : NULL;
        rest.bias = p->bias ? p->bias + PANEL : NULL;
        rest.dst += PANEL;
    }
    for (size_t source = 0, n; source < p->M; source += n) {
        size_t row = 0;
        n = source + SOURCES <= p->M ? SOURCES : 1;
        for (; n > 1 && row + ROWS_OF_SOURCES <= p->N; row += ROWS_OF_SOURCES)
            tile(p, &look, source, row, SOURCES, ROWS_OF_SOURCES, f);
        for (; n == 1 && row + ROWS <= p->N; row += ROWS)
            tile(p, &look, source, row, 1, ROWS, f);
        for (; row < p->N; ++row)
            for (size_t s = 0; s < n; ++s)
                tile(p, &look, source + s, row, 1, 1, f);
    }
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
