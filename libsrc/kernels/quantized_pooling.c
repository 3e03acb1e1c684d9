/*
 * Pooling of pixels of quantised bytes, vectors of channels at a time. Signed bytes are unsigned ones with 128 added, which
 * inverts the highest bit, and so are their zeros.
 */
#include "contract/quantized_pooling.h"
#include "kernels/install.h"
#include "kernels/linear_8u.h"

enum { QUARTERS = 4 };

SN_INLINE int32_t shift_of(const struct sn_quantized_pooling * p) { return p->with_sign ? 128 : 0; }

/* Inverts the highest bits of signed bytes. */
SN_INLINE v8u flipped(v8u bytes, const struct sn_quantized_pooling * p)
{
    return v_cast_32i_8u(v_xor_32i(v_cast_8u_32i(bytes), v_set_32i(p->with_sign ? (int32_t)0x80808080 : 0)));
}

/* Numbers of quarter q of n channels, without a sign. */
SN_INLINE v32i quarter(const uint8_t * from, size_t q, size_t n, v32i flip)
{
    const size_t first = q * V32F_N;
    if (first + V32F_N <= n)
        return v_xor_32i(v_load_8u_32i(from + first), flip);
    return first < n ? v_xor_32i(v_load_tail_8u_32i(from + first, n - first), flip) : v_set_32i(0);
}

SN_INLINE v32i flip_of(const struct sn_quantized_pooling * p) { return v_set_32i(p->with_sign ? 0x80 : 0); }

/* Stores n bytes. */
SN_INLINE void store_bytes(v8u bytes, const struct sn_quantized_pooling * p, size_t n, uint8_t * dst)
{
    if (n == V8U_N)
        v_store_8u(dst, flipped(bytes, p));
    else
        v_store_tail_8u(dst, flipped(bytes, p), n);
}

/* The windows of an output, and the address of the first input of the image. */
struct place {
    struct sn_quantized_window y, x;
    const uint8_t * image;
};

/* ---- maxima */

SN_INLINE void max_of(const struct sn_quantized_pooling * p, const struct place * w, size_t c, size_t n, uint8_t * dst)
{
    v8u most = v_set_8u(0);
    for (size_t i = w->y.begin; i < w->y.end; ++i)
        for (size_t j = w->x.begin; j < w->x.end; ++j) {
            const uint8_t * from = w->image + (i * p->srcW + j) * p->channels + c;
            most = v_max_8u(most, flipped(n == V8U_N ? v_load_8u(from) : v_load_tail_8u(from, n), p));
        }
    store_bytes(most, p, n, dst + c);
}

/* ---- averages */

/* Sums in the order of rows; two divisions and an addition, each rounded, as ONNX Runtime does. */
SN_INLINE void average_of(const struct sn_quantized_pooling * p, const struct place * w, size_t c, size_t n, uint8_t * dst)
{
    const int32_t shift = shift_of(p), least = -shift;
    const v32i flip = flip_of(p);
    const v32f zero = v_set_32f((float)(p->zeroSrc + shift)), scale = v_set_32f(p->scaleSrc);
    const float count = sn_quantized_count(p, &w->y, &w->x);
    v32f sum[QUARTERS];
    SN_UNROLL for (size_t q = 0; q < QUARTERS; ++q) sum[q] = v_zero_32f();
    for (size_t i = w->y.begin; i < w->y.end; ++i)
        for (size_t j = w->x.begin; j < w->x.end; ++j) {
            const uint8_t * from = w->image + (i * p->srcW + j) * p->channels + c;
            SN_UNROLL for (size_t q = 0; q < QUARTERS; ++q)
                sum[q] = v_add_32f(sum[q], v_mul_32f(v_sub_32f(v_cvt_32i_32f(quarter(from, q, n, flip)), zero), scale));
        }
    v32i x[QUARTERS];
    const v32f over = v_set_32f(count > 0 ? count : 1), to = v_set_32f(p->scaleDst), more = v_set_32f((float)p->zeroDst);
    SN_UNROLL for (size_t q = 0; q < QUARTERS; ++q)
    {
        const v32f v = v_add_32f(v_div_32f(v_div_32f(sum[q], over), to), more);
        const v32f limited = v_min_32f(v_max_32f(v, v_set_32f((float)least)), v_set_32f((float)(least + 255)));
        x[q] = v_add_32i(v_cvt_32f_32i(limited), v_set_32i(shift));
    }
    store_bytes(v_pack_32i_8u(x[0], x[1], x[2], x[3]), p, n, dst + c);
}

/* ---- a row */

typedef void (*one_fn)(const struct sn_quantized_pooling * p, const struct place * w, size_t c, size_t n, uint8_t * dst);

SN_INLINE void row(const struct sn_quantized_pooling * p, const uint8_t * image, size_t y, uint8_t * dst, one_fn one)
{
    struct place w = {.y = sn_quantized_window(y, p->srcH, p->kernelY, p->strideY, p->padY, p->padH), .image = image};
    for (size_t x = 0; x < p->dstW; ++x, dst += p->channels) {
        w.x = sn_quantized_window(x, p->srcW, p->kernelX, p->strideX, p->padX, p->padW);
        size_t c = 0;
        for (; c + V8U_N <= p->channels; c += V8U_N)
            one(p, &w, c, V8U_N, dst);
        if (c < p->channels)
            one(p, &w, c, p->channels - c, dst);
    }
}

static void max(const struct sn_quantized_pooling * p, const uint8_t * image, size_t y, uint8_t * dst)
{
    row(p, image, y, dst, max_of);
}

static void average(const struct sn_quantized_pooling * p, const uint8_t * image, size_t y, uint8_t * dst)
{
    row(p, image, y, dst, average_of);
}

/* ---- whole images: sums of 16 bits, two in a word, for as many pixels as they hold */

enum { PAIRED = 256 };

/* Adds pixels of n channels: to sum[k] the bytes k, k + 4, k + 8 ... */
SN_INLINE void add_pixels(v32i sum[QUARTERS], const uint8_t * from, size_t step, size_t pixels, size_t n, v32i flip)
{
    const v32i low = v_set_32i(0x00FF00FF), half = v_set_32i(0xFFFF);
    v32i even = v_set_32i(0), odd = v_set_32i(0);
    for (size_t i = 0; i < pixels; ++i, from += step) {
        const v32i x = v_xor_32i(v_cast_8u_32i(n == V8U_N ? v_load_8u(from) : v_load_tail_8u(from, n)), flip);
        even = v_add_32i(even, v_and_32i(x, low));
        odd = v_add_32i(odd, v_and_32i(v_shr_32i(x, 8), low));
    }
    sum[0] = v_add_32i(sum[0], v_and_32i(even, half));
    sum[1] = v_add_32i(sum[1], v_and_32i(odd, half));
    sum[2] = v_add_32i(sum[2], v_shr_32i(even, 16));
    sum[3] = v_add_32i(sum[3], v_shr_32i(odd, 16));
}

SN_INLINE void global_of(const struct sn_quantized_pooling * p, const uint8_t * image, size_t n, uint8_t * dst)
{
    const size_t pixels = p->srcH * p->srcW;
    const v32i flip = v_set_32i(p->with_sign ? (int32_t)0x80808080 : 0);
    v32i sum[QUARTERS];
    SN_UNROLL for (size_t q = 0; q < QUARTERS; ++q) sum[q] = v_set_32i(0);
    for (size_t i = 0; i < pixels; i += PAIRED)
        add_pixels(sum, image + i * p->channels, p->channels, sn_min(PAIRED, pixels - i), n, flip);
    const v32i zeros = v_set_32i((int32_t)((uint32_t)pixels * (uint32_t)(p->zeroSrc + shift_of(p))));
    const v32f norm = v_set_32f(sn_quantized_global_norm(p));
    SN_UNROLL for (size_t q = 0; q < QUARTERS; ++q)
        sum[q] = integer_of(v_mul_32f(v_cvt_32i_32f(v_sub_32i(sum[q], zeros)), norm), p->zeroDst + shift_of(p));
    store_bytes(v_join_32i_8u(sum[0], sum[1], sum[2], sum[3]), p, n, dst);
}

/* The last channels overlap those before, if there is a vector of them. */
static void global(const struct sn_quantized_pooling * p, const uint8_t * image, size_t y, uint8_t * dst)
{
    (void)y;
    if (p->channels < V8U_N) {
        global_of(p, image, p->channels, dst);
        return;
    }
    for (size_t c = 0; c < p->channels; c += V8U_N) {
        const size_t first = sn_min(c, p->channels - V8U_N);
        global_of(p, image + first, V8U_N, dst + first);
    }
}

SN_INSTALL(quantized_pooling, quantized_pooling)
{
    slots->max = max;
    slots->average = average;
    slots->global = global;
}
