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

/* Writes the numbers of n bytes, a vector of floats or less. */
SN_INLINE void decode_some(const struct sn_nbits_decode * d, size_t i, size_t n, const struct look * look, size_t all)
{
    const size_t first = i >> look->shift, blocks = sn_min(look->scales, all - first);
    const v32i block = look->block;
    const v32i q = n == V32F_N ? v_load_8u_32i(d->weight + i) : v_load_tail_8u_32i(d->weight + i, n);
    const v32f scale = v_lookup_32f(v_load_tail_32f(d->scale + first, blocks), block);
    const v32f zero = d->zero ? v_lookup_32f(v_load_tail_32f(d->zero + first, blocks), block)
                              : v_set_32f((float)(1 << (d->bits - 1)));
    if (d->bits == 8) {
        v_store_tail_32f(d->dst + i, v_mul_32f(v_sub_32f(v_cvt_32i_32f(q), zero), scale), n);
        return;
    }
    const v32f low = v_mul_32f(v_sub_32f(v_cvt_32i_32f(v_and_32i(q, v_set_32i(15))), zero), scale);
    const v32f high = v_mul_32f(v_sub_32f(v_cvt_32i_32f(v_shr_32i(q, 4)), zero), scale);
    sn_32f * dst = d->dst + 2 * i;
    const size_t m = 2 * n;
    v_store_tail_32f(dst, v_zip_low_32f(low, high), sn_min(m, V32F_N));
    if (m > V32F_N)
        v_store_tail_32f(dst + V32F_N, v_zip_high_32f(low, high), m - V32F_N);
}

static void decode(const struct sn_nbits_decode * d)
{
    const size_t bytes = d->block * d->bits / 8, all = sn_ceil_div(d->bytes, bytes);
    const struct look look = look_of(d->bits, bytes, false);
    size_t i = 0;
    for (; i + V32F_N <= d->bytes; i += V32F_N)
        decode_some(d, i, V32F_N, &look, all);
    if (i < d->bytes)
        decode_some(d, i, d->bytes - i, &look, all);
}

SN_INSTALL(gemm_nbits, gemm_nbits)
{
    slots->product = product;
    slots->order = order;
    slots->decode = decode;
}
