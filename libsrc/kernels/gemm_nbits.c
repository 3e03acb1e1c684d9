/*
 * Products of a few rows of floats and a matrix of 4 or 8 bits, decoded in registers. A word of 32 bits has 8 or 4 numbers of
 * a row in their order, so word i of a vector and number p of it meet source i * 8 + p: order() copies the sources such that
 * these are vectors. The sums of a word are those of one block, and are multiplied by its scale in their lane.
 *
 * With 16 lanes a number of 4 bits is an index of a table of 16 floats: no conversion, and no subtraction of a zero that is
 * the same everywhere.
 */
#include "contract/gemm_nbits.h"
#include "kernels/install.h"
#include "kernels/nbits.h"

/*
 * Rows of the matrix that share the loads of sources. The next rows are prefetched, since hardware stops at the end of each:
 * 4096 by 4096 of 4 bits take 0.74 of the time (avx512), 0.96 (avx2). Four rows of 512 by 512 take 0.93 of that of two. To give
 * numbers a sign by two shifts, in place of a mask and a subtraction, takes 0.95 to 1.13 (avx2).
 */
enum { ROWS = V32F_N == 16 ? 4 : 2 };

/* Number p of each word in the lowest bits; those above it may be anything if `table`. */
SN_INLINE v32i digit(v32i words, int bits, int p)
{
    switch (bits * p) {
    case 0: return words;
    case 4: return v_shr_32i(words, 4);
    case 8: return v_shr_32i(words, 8);
    case 12: return v_shr_32i(words, 12);
    case 16: return v_shr_32i(words, 16);
    case 20: return v_shr_32i(words, 20);
    case 24: return v_shr_32i(words, 24);
    default: return v_shr_32i(words, 28);
    }
}

/* With a number in the lowest bits it is the sum of both: a conversion, which is slower than a logical operation, less. */
static const float MAGIC = 0x1p23f;

SN_INLINE v32f number(const struct look * look, v32i words, v32f zero, int p, struct form f)
{
    const v32i bare = digit(words, f.bits, p);
    if (V32F_N == 16 && f.bits == 4) {
        const v32f v = v_lookup_32f(look->table, bare);
        return f.zeros ? v_sub_32f(v, zero) : v;
    }
    const v32i low = v_and_32i(bare, v_set_32i((1 << f.bits) - 1)), magic = v_cast_32f_32i(v_set_32f(MAGIC));
    return v_sub_32f(v_cast_32i_32f(v_or_32i(low, magic)), v_add_32f(f.zeros ? zero : look->middle, v_set_32f(MAGIC)));
}

/* Adds the products of n words, a vector or less, which are at word i of each row. */
SN_INLINE void add_words(v32f * sum, const struct rows * w, const sn_32f * src, const struct look * look, size_t i, size_t n,
                         int rows, struct form f)
{
    const size_t first = i >> look->shift, scales = sn_min(look->scales, w->blocks - first);
    const sn_32f * x = src + i * (32 / (size_t)f.bits);
    v32i words[ROWS];
    v32f zero[ROWS], part[ROWS];
    SN_UNROLL for (int r = 0; r < rows; ++r)
    {
        const uint8_t * at = w->weight + (size_t)r * w->bytes + 4 * i;
        SN_PREFETCH(at + ROWS * w->bytes);
        words[r] = n == V32F_N ? v_load_32i(at) : v_load_tail_32i(at, n);
        part[r] = zero[r] = v_zero_32f();
        if (f.zeros)
            zero[r] = of_blocks(look, w->zero + (size_t)r * w->blocks + first, scales);
    }
    SN_UNROLL for (int k = 0; k < 32 / f.bits; ++k)
    {
        const v32f v = v_load_32f(x + (size_t)k * V32F_N);
        SN_UNROLL for (int r = 0; r < rows; ++r) part[r] = v_fma_32f(number(look, words[r], zero[r], k, f), v, part[r]);
    }
    SN_UNROLL for (int r = 0; r < rows; ++r)
        sum[r] = v_fma_32f(part[r], of_blocks(look, w->scale + (size_t)r * w->blocks + first, scales), sum[r]);
}

SN_INLINE void some_rows(const struct sn_nbits_product * p, const struct look * look, size_t row, int rows, struct form f)
{
    const size_t words = sn_ceil_div(p->depth, 32 / (size_t)f.bits), bytes = sn_nbits_bytes(&p->w), blocks = p->w.blocks;
    const struct rows w = {p->w.weight + row * bytes, p->w.scale + row * blocks, f.zeros ? p->w.zero + row * blocks : NULL,
        bytes, blocks};
    v32f sum[ROWS];
    SN_UNROLL for (int r = 0; r < rows; ++r) sum[r] = v_zero_32f();
    size_t i = 0;
    for (; i + V32F_N <= words; i += V32F_N)
        add_words(sum, &w, p->src, look, i, V32F_N, rows, f);
    if (i < words)
        add_words(sum, &w, p->src, look, i, words - i, rows, f);
    SN_UNROLL for (int r = 0; r < rows; ++r)
    {
        const size_t j = row + (size_t)r;
        p->dst[j] = v_reduce_add_32f(sum[r]) + (p->bias ? p->bias[j] : 0);
    }
}

SN_INLINE void all_rows(const struct sn_nbits_product * p, const struct look * look, struct form f)
{
    size_t row = 0;
    for (; row + ROWS <= p->N; row += ROWS)
        some_rows(p, look, row, ROWS, f);
    for (; row < p->N; ++row)
        some_rows(p, look, row, 1, f);
}

static void product(const struct sn_nbits_product * p)
{
    const struct look look = look_of(p->w.bits, p->w.block * p->w.bits / 32, p->w.zero);
    if (p->w.bits == 8 && p->w.zero)
        all_rows(p, &look, (struct form){8, true});
    else if (p->w.bits == 8)
        all_rows(p, &look, (struct form){8, false});
    else if (p->w.zero)
        all_rows(p, &look, (struct form){4, true});
    else
        all_rows(p, &look, (struct form){4, false});
}

static void order(size_t bits, size_t depth, const sn_32f * src, sn_32f * dst)
{
    const size_t numbers = 32 / bits, vector = numbers * V32F_N;
    memset(dst, 0, sn_ceil_div(depth, vector) * vector * sizeof(*dst));
    for (size_t k = 0; k < depth; ++k)
        dst[k / vector * vector + k % numbers * V32F_N + k % vector / numbers] = src[k];
}

/* ---- numbers as floats, in their order */

static void decode(const struct sn_nbits_decode * d)
{
    for (size_t i = 0, n; i < d->bytes; i += n) {
        n = sn_min(V32F_N, d->bytes - i);
        const v32i q = n == V32F_N ? v_load_8u_32i(d->src + i) : v_load_tail_8u_32i(d->src + i, n);
        if (d->bits == 8) {
            v_store_tail_32f(d->dst + i, v_cvt_32i_32f(q), n);
            continue;
        }
        const v32f low = v_cvt_32i_32f(v_and_32i(q, v_set_32i(15))), high = v_cvt_32i_32f(v_shr_32i(q, 4));
        v_store_tail_32f(d->dst + 2 * i, v_zip_low_32f(low, high), sn_min(2 * n, V32F_N));
        if (2 * n > V32F_N)
            v_store_tail_32f(d->dst + 2 * i + V32F_N, v_zip_high_32f(low, high), 2 * n - V32F_N);
    }
}

/* ---- panels of columns: words of rows of the matrix are transposed, then each number of them is a row of floats */

/* Words of V32F_N columns, and the values of the blocks that they have. */
struct columns {
    SN_ALIGNED int32_t word[V32F_N][V32F_N];
    SN_ALIGNED float scale[V32F_N][V32F_N], zero[V32F_N][V32F_N];
};

/* n values of 4 bytes, a vector or less, of each of `rows` rows, a vector or fewer; those of other rows are 0. */
static __attribute__((noinline)) void transpose(void * to, const void * from, size_t step, size_t rows, size_t n)
{
    v32f v[V32F_N];
    SN_UNROLL for (size_t r = 0; r < V32F_N; ++r)
        v[r] = r < rows ? v_load_tail_32f((const uint8_t *)from + r * step, n) : v_zero_32f();
    v_transpose_32f(v);
    SN_UNROLL for (size_t r = 0; r < V32F_N; ++r) v_store_32f((uint8_t *)to + r * V32F_N * sizeof(float), v[r]);
}

/* The first numbers of the words, each to a row of the panel, which has `room` floats for a vector. */
SN_INLINE void panel_words(const struct columns * c, const struct look * look, size_t numbers, sn_32f * dst, size_t width,
                           size_t room, struct form f)
{
    const size_t each = 32 / (size_t)f.bits;
    for (size_t w = 0; numbers; ++w) {
        const size_t block = w >> look->shift, n = sn_min(each, numbers);
        const v32i words = v_load_32i(c->word[w]);
        const v32f scale = v_load_32f(c->scale[block]), zero = v_load_32f(c->zero[block]);
        numbers -= n;
        const bool whole = n == each && room == V32F_N;
        SN_ALIGNED float some[32 / 4][V32F_N];
        const size_t step = whole ? width : V32F_N;
        sn_32f * to = whole ? dst : some[0];
        SN_UNROLL for (int k = 0; k < 32 / f.bits; ++k, to += step)
            v_store_32f(to, v_mul_32f(number(look, words, zero, k, f), scale));
        for (size_t k = 0; !whole && k < n; ++k)
            v_store_tail_32f(dst + k * width, v_load_32f(some[k]), room);
        dst += n * width;
    }
}

SN_INLINE void panel_of(const struct sn_nbits_panel * p, struct form f)
{
    const size_t each = 32 / (size_t)f.bits, step = each * V32F_N, bytes = sn_nbits_bytes(&p->w);
    const struct look look = look_of((size_t)f.bits, p->w.block / each, f.zeros);
    struct columns c;
    for (size_t n = 0; n < p->width; n += V32F_N) {
        const size_t rows = sn_min(V32F_N, p->columns - sn_min(n, p->columns)), room = sn_min(V32F_N, p->width - n);
        const uint8_t * weight = p->w.weight + n * bytes;
        for (size_t k = 0; k < p->depth; k += step) {
            const size_t numbers = sn_min(step, p->depth - k), words = sn_ceil_div(numbers, each);
            const size_t first = n * p->w.blocks + k / p->w.block, blocks = sn_ceil_div(words, (size_t)1 << look.shift);
            transpose(c.word, weight + k / each * 4, bytes, rows, words);
            transpose(c.scale, p->w.scale + first, p->w.blocks * sizeof(float), rows, blocks);
            if (f.zeros)
                transpose(c.zero, p->w.zero + first, p->w.blocks * sizeof(float), rows, blocks);
            panel_words(&c, &look, numbers, p->dst + k * p->width + n, p->width, room, f);
        }
    }
}

static void panel(const struct sn_nbits_panel * p)
{
    if (p->w.bits == 8 && p->w.zero)
        panel_of(p, (struct form){8, true});
    else if (p->w.bits == 8)
        panel_of(p, (struct form){8, false});
    else if (p->w.zero)
        panel_of(p, (struct form){4, true});
    else
        panel_of(p, (struct form){4, false});
}

SN_INSTALL(gemm_nbits, gemm_nbits)
{
    slots->product = product;
    slots->order = order;
    slots->decode = decode;
    slots->panel = panel;
}
