/*
 * Quantised depthwise convolution by vpdpbusd. Bytes of four taps are interleaved, so that each 32-bit lane holds those of a
 * channel: 8 shuffles for 64 channels. They come out in an order of their own, vector k having channels 16 * L + 4 * k +
 * i in lane 4 * L + i; weights and constants are put into the same order, and the packs that make bytes again undo it.
 *
 * 3x3 of stride 1 has taps that lie below each other: the bytes of four lines of a column serve two output rows, with
 * weights that begin in the first or the second line, and three columns of either.
 */
#include <string.h>

#include "kernels/install.h"
#include "kernels/result_8i.h"

enum { BLOCK = 64, FOUR = 4 };

/* The place in the order of above of channel c of a block. */
static size_t place(size_t c) { return c % 16 / 4 * 16 + c / 16 * 4 + c % 4; }

/* Four vectors, for 64 channels. */
struct quad {
    v32i v[FOUR];
};

SN_INLINE struct quad interleave(v8u a, v8u b, v8u c, v8u d)
{
    const v8u ab0 = _mm512_unpacklo_epi8(a, b), ab1 = _mm512_unpackhi_epi8(a, b);
    const v8u cd0 = _mm512_unpacklo_epi8(c, d), cd1 = _mm512_unpackhi_epi8(c, d);
    return (struct quad){{_mm512_unpacklo_epi16(ab0, cd0), _mm512_unpackhi_epi16(ab0, cd0), _mm512_unpacklo_epi16(ab1, cd1),
        _mm512_unpackhi_epi16(ab1, cd1)}};
}

/* In assembler, as in gemm_8i.c. */
SN_INLINE struct quad dot(struct quad sum, struct quad x, const int8_t * weight)
{
    SN_UNROLL for (int k = 0; k < FOUR; ++k)
        __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.v[k]) : "v"(x.v[k]), "m"(*(const v32i *)(const void *)(weight + 64 * k)));
    return sum;
}

static const struct quad nothing;

/* ---- weights: for each block of channels the groups of four taps in order, then for 3x3 those of columns, see above */

static size_t groups_of(size_t taps) { return sn_ceil_div(taps, FOUR); }
static size_t columns_of(size_t taps) { return taps == 9 ? 6 : 0; } /* [row of two][column] */
static size_t block_of(size_t taps) { return (groups_of(taps) + columns_of(taps)) * FOUR * BLOCK; }

static size_t size(size_t taps, size_t channels) { return block_of(taps) * sn_ceil_div(channels, BLOCK); }

static void pack(const int8_t * weight, bool planes, size_t kernelY, size_t kernelX, size_t channels, void * packed)
{
    const size_t taps = kernelY * kernelX;
    for (size_t c = 0; c < channels; ++c) {
        int8_t * block = (int8_t *)packed + c / BLOCK * block_of(taps) + FOUR * place(c % BLOCK);
        for (size_t t = 0; t < taps; ++t) {
            const int8_t w = weight[planes ? c * taps + t : t * channels + c];
            block[t / FOUR * FOUR * BLOCK + t % FOUR] = w;
            if (kernelY == 3 && kernelX == 3)
                for (size_t row = 0; row < 2; ++row)
                    block[(groups_of(taps) + row * 3 + t % 3) * FOUR * BLOCK + t / 3 + row] = w;
        }
    }
}

/* ---- one block of channels */

struct block {
    const struct sn_depthwise_run_8i * d;
    size_t first, channels;
    __mmask64 mask; /* of the channels */
    const int8_t * weight;
    struct sn_result_8i result;
    SN_ALIGNED float norm[BLOCK], bias[BLOCK], scale[BLOCK]; /* in the order of the lanes */
    v8u low, high;
};

/* What a loop over pixels is an instance for. */
enum kind { FULL = 1, TAME = 2 }; /* the block has all its channels; results are tame, and bytes */

SN_INLINE v8u load(const struct block * b, const uint8_t * src, int kind)
{
    return kind & FULL ? v_load_8u(src) : _mm512_maskz_loadu_epi8(b->mask, src);
}

/* Sums in their natural order, and from there as the tile does it. */
static __attribute__((noinline)) void store_any(const struct block * b, const struct quad * sum, uint8_t * dst)
{
    SN_ALIGNED int32_t sums[BLOCK];
    for (int k = 0; k < FOUR; ++k) {
        _mm_store_si128((__m128i *)(sums + 4 * k), _mm512_castsi512_si128(sum->v[k]));
        _mm_store_si128((__m128i *)(sums + 16 + 4 * k), _mm512_extracti32x4_epi32(sum->v[k], 1));
        _mm_store_si128((__m128i *)(sums + 32 + 4 * k), _mm512_extracti32x4_epi32(sum->v[k], 2));
        _mm_store_si128((__m128i *)(sums + 48 + 4 * k), _mm512_extracti32x4_epi32(sum->v[k], 3));
    }
    result_rows(sums, 0, &b->result, b->channels, dst, 0, 1);
}

/* The results of one or two pixels, which share the loads of the constants. */
SN_INLINE void store(const struct block * b, const struct quad * sum, uint8_t * const * dst, int pixels, int kind)
{
    if (!(kind & TAME)) {
        for (int i = 0; i < pixels; ++i)
            store_any(b, sum + i, dst[i]);
        return;
    }
    const v32f zero = v_set_32f(b->result.zero);
    v32i x[2][FOUR];
    SN_UNROLL for (int k = 0; k < FOUR; ++k)
    {
        const v32f norm = v_load_32f(b->norm + 16 * k), bias = v_load_32f(b->bias + 16 * k);
        const v32f scale = v_load_32f(b->scale + 16 * k);
        SN_UNROLL for (int i = 0; i < pixels; ++i)
        {
            const v32f v = v_add_32f(v_mul_32f(v_cvt_32i_32f(sum[i].v[k]), norm), bias);
            x[i][k] = v_cvt_32f_32i(v_add_32f(v_mul_32f(v, scale), zero));
        }
    }
    SN_UNROLL for (int i = 0; i < pixels; ++i)
    {
        v8u bytes = _mm512_packus_epi16(_mm512_packs_epi32(x[i][0], x[i][1]), _mm512_packs_epi32(x[i][2], x[i][3]));
        bytes = v_min_8u(v_max_8u(bytes, b->low), b->high);
        if (kind & FULL)
            v_store_8u(dst[i], bytes);
        else
            _mm512_mask_storeu_epi8(dst[i], b->mask, bytes);
    }
}

static uint8_t * output(const struct block * b, size_t y, size_t x)
{
    return b->d->dst + y * b->d->dstStepY + x * b->d->dstStepX + b->first * (b->result.bytes ? 1 : sizeof(float));
}

/* Any kernel: taps in fours, in their order. */
SN_INLINE void any_kernel(const struct block * b, int kind)
{
    const struct sn_depthwise_run_8i * d = b->d;
    const size_t taps = d->kernelY * d->kernelX;
    for (size_t y = 0; y < d->rows; ++y)
        for (size_t x = 0; x < d->columns; ++x) {
            const uint8_t * src = d->src + y * d->srcStepY + x * d->srcStepX + b->first;
            const int8_t * weight = b->weight;
            struct quad sum = nothing;
            size_t t = 0;
            for (; t + FOUR <= taps; t += FOUR, weight += FOUR * BLOCK)
                sum = dot(sum, interleave(load(b, src + d->tap[t], kind), load(b, src + d->tap[t + 1], kind),
                                          load(b, src + d->tap[t + 2], kind), load(b, src + d->tap[t + 3], kind)), weight);
            if (t < taps) {
                v8u rest[FOUR];
                for (size_t i = 0; i < FOUR; ++i)
                    rest[i] = t + i < taps ? load(b, src + d->tap[t + i], kind) : v_set_8u(0);
                sum = dot(sum, interleave(rest[0], rest[1], rest[2], rest[3]), weight);
            }
            uint8_t * const dst = output(b, y, x);
            store(b, &sum, &dst, 1, kind);
        }
}

/* The column of four lines at src, of which the last may be missing. */
SN_INLINE struct quad column(const struct block * b, const uint8_t * src, size_t line, bool last, int kind)
{
    return interleave(load(b, src, kind), load(b, src + line, kind), load(b, src + 2 * line, kind),
                      last ? load(b, src + 3 * line, kind) : v_set_8u(0));
}

/* One or two output rows of 3x3. */
SN_INLINE void rows_3x3(const struct block * b, size_t y, bool two, int kind)
{
    const struct sn_depthwise_run_8i * d = b->d;
    const size_t line = d->srcStepY, pixel = d->srcStepX, each = FOUR * BLOCK, step = d->dstStepX, below = d->dstStepY;
    const int8_t * upper = b->weight + groups_of(9) * each, * lower = upper + 3 * each;
    const uint8_t * src = d->src + y * line + b->first;
    uint8_t * dst = output(b, y, 0);
    struct quad left = column(b, src, line, two, kind), middle = column(b, src + pixel, line, two, kind);
    src += 2 * pixel;
    for (size_t x = d->columns; x; --x, src += pixel, dst += step) {
        const struct quad right = column(b, src, line, two, kind);
        struct quad sum[2];
        uint8_t * const to[2] = {dst, dst + below};
        sum[0] = dot(dot(dot(nothing, left, upper), middle, upper + each), right, upper + 2 * each);
        if (two)
            sum[1] = dot(dot(dot(nothing, left, lower), middle, lower + each), right, lower + 2 * each);
        store(b, sum, to, two ? 2 : 1, kind);
        left = middle;
        middle = right;
    }
}

SN_INLINE void dense_3x3(const struct block * b, int kind)
{
    size_t y = 0;
    for (; y + 1 < b->d->rows; y += 2)
        rows_3x3(b, y, true, kind);
    if (y < b->d->rows)
        rows_3x3(b, y, false, kind);
}

typedef void (*block_fn)(const struct block * b);
static __attribute__((noinline)) void any_kernel_full(const struct block * b) { any_kernel(b, FULL | TAME); }
static __attribute__((noinline)) void any_kernel_tail(const struct block * b) { any_kernel(b, TAME); }
static __attribute__((noinline)) void dense_3x3_full(const struct block * b) { dense_3x3(b, FULL | TAME); }
static __attribute__((noinline)) void dense_3x3_tail(const struct block * b) { dense_3x3(b, TAME); }
static __attribute__((noinline)) void any_result(const struct block * b) { any_kernel(b, 0); }

static void run(const struct sn_depthwise_run_8i * d)
{
    /* [dense][full] */
    static const block_fn tame[2][2] = {{any_kernel_tail, any_kernel_full}, {dense_3x3_tail, dense_3x3_full}};
    const size_t taps = d->kernelY * d->kernelX;
    const bool dense = d->kernelY == 3 && d->kernelX == 3 && d->tap[1] == d->srcStepX && d->tap[3] == d->srcStepY;
    for (size_t first = 0; first < d->channels; first += BLOCK) {
        struct block b = {.d = d, .first = first, .channels = sn_min(d->channels - first, BLOCK), .result = *d->result,
            .weight = (const int8_t *)d->weight + first / BLOCK * block_of(taps)};
        struct sn_result_8i * r = &b.result;
        r->norm += first, r->bias += first, r->scale += first, r->low += first, r->high += first;
        r->slope = r->slope ? r->slope + first : NULL;
        b.mask = vx_first_64(b.channels);
        for (size_t c = 0; c < b.channels; ++c) {
            b.norm[place(c)] = r->norm[c];
            b.bias[place(c)] = r->bias[c];
            b.scale[place(c)] = r->scale[c];
        }
        b.low = v_load_8u(r->low);
        b.high = v_load_8u(r->high);
        if (r->bytes && r->tame && r->activation == SimdConvolutionActivationIdentity)
            tame[dense][b.channels == BLOCK](&b);
        else
            any_result(&b);
    }
}

void ISA_FN(install_depthwise_8i)(struct sn_table * table);
void ISA_FN(install_depthwise_8i)(struct sn_table * table)
{
    table->depthwise_8i = (struct sn_depthwise_8i){run, size, pack};
}
