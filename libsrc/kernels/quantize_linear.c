/*
 * Floats to bytes and back. Signed bytes are unsigned ones with 128 added, which inverts the highest bit: so only the zeros
 * and one instruction for a vector of bytes depend on it.
 *
 * Products and quotients are limited as floats, which makes NaN a number; the saturating pack does the rest.
 *
 * A quotient by one scale for all is computed from its inverse. Elements are limited first, and scales far from 1 are divided
 * by: so nothing overflows, and what underflows is far below 1/2. (With an inverse for each element, of channels in NHWC,
 * quantisation takes 0.85 of the time of divisions with vectors of 16 floats, and as long with those of 8.)
 */
#include <string.h>

#include "contract/quantize_linear.h"
#include "kernels/aligned.h"
#include "kernels/install.h"
#include "kernels/quotient.h"

enum {
    QUARTERS = 4,
    PARTS = 4 /* vectors of a step of the range */
};

/* How elements are scaled. */
enum scaling { MULTIPLIED, DIVIDED, BY_INVERSE };

/* A quantisation with its single numbers in vectors; zeros are those of unsigned bytes. */
struct plan {
    struct sn_quantization q;
    v32f scale;
    struct inverse by; /* BY_INVERSE */
    v32i zero, flip;   /* flip inverts the highest bit of signed bytes */
};

/* `flip` is for a lane of one byte, or of four. */
SN_INLINE struct plan plan_of(const struct sn_quantization * q, bool each, uint32_t flip)
{
    const v32f scale = v_set_32f(each ? 1 : *q->scale);
    return (struct plan){.q = *q, .scale = scale, .zero = v_set_32i((each ? 0 : *q->zero) + (q->negative ? 128 : 0)),
                         .flip = v_set_32i(q->negative ? (int32_t)flip : 0)};
}

/* The scales and zeros of V32F_N elements. */
SN_INLINE void take(struct plan * p, bool each, size_t i)
{
    if (!each)
        return;
    p->scale = v_load_32f(p->q.scale + i);
    p->zero = v_add_32i(v_load_32i(p->q.zero + i), v_set_32i(p->q.negative ? 128 : 0));
}

SN_INLINE v32f limited(v32f x, v32f most) { return v_min_32f(v_max_32f(x, v_sub_32f(v_zero_32f(), most)), most); }

/* V32F_N results, not saturated. */
SN_INLINE v32i quarter(struct plan * p, bool each, enum scaling how, const sn_32f * src, size_t i)
{
    take(p, each, i);
    const v32f x = v_load_32f(src + i), most = v_set_32f(0x1p24f);
    const v32f t = how == BY_INVERSE ? quotient(&p->by, limited(x, v_mul_32f(most, p->scale)))
                                     : limited(how == DIVIDED ? v_div_32f(x, p->scale) : v_mul_32f(x, p->scale), most);
    return v_add_32i(v_cvt_32f_32i(t), p->zero);
}

SN_INLINE v8u bytes_of(struct plan * p, bool each, enum scaling how, const sn_32f * src, size_t i)
{
    v32i r[QUARTERS];
    SN_UNROLL for (size_t k = 0; k < QUARTERS; ++k) r[k] = quarter(p, each, how, src, i + k * V32F_N);
    return v_cast_32i_8u(v_xor_32i(v_cast_8u_32i(v_pack_32i_8u(r[0], r[1], r[2], r[3])), p->flip));
}

/* Whole vectors of bytes; returns their number. */
SN_INLINE size_t quantize_by(const struct sn_quantization * q, bool each, enum scaling how, const sn_32f * src, size_t size,
                             uint8_t * dst)
{
    struct plan p = plan_of(q, each, 0x80808080);
    size_t i = 0;
    if (how == BY_INVERSE)
        p.by = inverse_of(p.scale);
    for (; i + V8U_N <= size; i += V8U_N)
        v_store_8u(dst + i, bytes_of(&p, each, how, src, i));
    return i;
}

static size_t quantize_whole(const struct sn_quantization * q, const sn_32f * src, size_t size, uint8_t * dst)
{
    if (q->each)
        return quantize_by(q, true, DIVIDED, src, size, dst);
    if (!q->divides)
        return quantize_by(q, false, MULTIPLIED, src, size, dst);
    return can_invert(*q->scale) ? quantize_by(q, false, BY_INVERSE, src, size, dst)
                                 : quantize_by(q, false, DIVIDED, src, size, dst);
}

/* The last elements, fewer than a vector of bytes, are copied to a whole one. */
static void quantize(const struct sn_quantization * q, const sn_32f * src, size_t size, uint8_t * dst)
{
    const size_t i = quantize_whole(q, src, size, dst), left = size - i;
    if (left == 0)
        return;
    float x[V8U_N] = {0}, scale[V8U_N];
    int32_t zero[V8U_N] = {0};
    uint8_t bytes[V8U_N];
    struct sn_quantization last = *q;
    memcpy(x, src + i, left * sizeof(float));
    if (q->each) {
        for (size_t k = 0; k < V8U_N; ++k)
            scale[k] = k < left ? q->scale[i + k] : 1;
        memcpy(zero, q->zero + i, left * sizeof(int32_t));
        last.scale = scale;
        last.zero = zero;
    }
    quantize_whole(&last, x, V8U_N, bytes);
    memcpy(dst + i, bytes, left);
}

/* V32F_N results. */
SN_INLINE v32f value(struct plan * p, bool each, v32i bytes, size_t i)
{
    take(p, each, i);
    return v_mul_32f(v_cvt_32i_32f(v_sub_32i(v_xor_32i(bytes, p->flip), p->zero)), p->scale);
}

/* The first n results from position i on, fewer than a vector. */
static __attribute__((noinline)) void dequantize_tail(const struct sn_quantization * q, const uint8_t * src, size_t i,
                                                      size_t n, sn_32f * dst)
{
    struct plan p = plan_of(q, q->each, 0x80);
    if (q->each) {
        p.scale = v_load_tail_32f(q->scale + i, n);
        p.zero = v_add_32i(v_load_tail_32i(q->zero + i, n), v_set_32i(q->negative ? 128 : 0));
    }
    v_store_tail_32f(dst + i, value(&p, false, v_load_tail_8u_32i(src + i, n), 0), n);
}

SN_INLINE void dequantize_by(const struct sn_quantization * q, bool each, const uint8_t * src, size_t size, sn_32f * dst,
                             bool stream)
{
    struct plan p = plan_of(q, each, 0x80);
    const size_t head = aligned_head(dst, size);
    size_t i = head;
    if (head)
        dequantize_tail(q, src, 0, head, dst);
    for (; i + QUARTERS * V32F_N <= size; i += QUARTERS * V32F_N) {
        v32f x[QUARTERS];
        SN_UNROLL for (size_t k = 0; k < QUARTERS; ++k) {
            const size_t at = i + k * V32F_N;
            x[k] = value(&p, each, v_load_8u_32i(src + at), at);
        }
        SN_UNROLL for (size_t k = 0; k < QUARTERS; ++k) put(dst + i + k * V32F_N, x[k], stream);
    }
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + i, value(&p, each, v_load_8u_32i(src + i), i));
    if (i < size)
        dequantize_tail(q, src, i, size - i, dst);
    if (stream)
        v_fence();
}

static void dequantize(const struct sn_quantization * q, const uint8_t * src, size_t size, sn_32f * dst, bool stream)
{
    stream = stream && can_align(dst, size);
    if (q->each)
        dequantize_by(q, true, src, size, dst, stream);
    else
        dequantize_by(q, false, src, size, dst, stream);
}

/* Several vectors at a time, as a comparison waits for the one before. NaN is never kept. */
static void range(const sn_32f * src, size_t size, float range[2])
{
    v32f least[PARTS], most[PARTS];
    size_t i = 0;
    SN_UNROLL for (size_t k = 0; k < PARTS; ++k) least[k] = v_set_32f(range[0]), most[k] = v_set_32f(range[1]);
    for (; i + PARTS * V32F_N <= size; i += PARTS * V32F_N)
        SN_UNROLL for (size_t k = 0; k < PARTS; ++k) {
            const v32f x = v_load_32f(src + i + k * V32F_N);
            least[k] = v_min_32f(x, least[k]);
            most[k] = v_max_32f(x, most[k]);
        }
    SN_UNROLL for (size_t k = 1; k < PARTS; ++k) {
        least[0] = v_min_32f(least[0], least[k]);
        most[0] = v_max_32f(most[0], most[k]);
    }
    for (size_t n; i < size; i += n) {
        n = sn_min(size - i, V32F_N);
        const v32f x = n == V32F_N ? v_load_32f(src + i) : v_load_tail_32f(src + i, n);
        least[0] = v_min_32f(x, least[0]);
        most[0] = v_max_32f(x, most[0]);
    }
    range[0] = -v_reduce_max_32f(v_sub_32f(v_zero_32f(), least[0]));
    range[1] = v_reduce_max_32f(most[0]);
}

SN_INSTALL(quantize_linear, quantize_linear)
{
    slots->quantize = quantize;
    slots->dequantize = dequantize;
    slots->range = range;
}
