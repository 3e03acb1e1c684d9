/*
 * Sums of bytes with scales and zeros, and of floats, bound by memory. All bytes: both zeros are in one constant, and each
 * product joins the sum with one rounding.
 */
#include "contract/add.h"
#include "kernels/fused_8u.h"
#include "kernels/install.h"
#include "kernels/linear_8u.h"

enum { QUARTERS = 4 };

/* V32F_N sums as floats; types are compile-time constants. */
SN_INLINE v32f sum_of(const struct sn_add_quantized * p, const uint8_t * a, bool a8, const uint8_t * b, bool b8, size_t i)
{
    const v32f x = a8 ? value_of_bytes(a + i, p->aZero, p->aScale) : v_load_32f(a + 4 * i);
    const v32f y = b8 ? value_of_bytes(b + i, p->bZero, p->bScale) : v_load_32f(b + 4 * i);
    const v32f v = v_add_32f(x, y);
    return p->relu ? v_max_32f(v_zero_32f(), v) : v;
}

/* Bytes of scales so different that a level without a fused multiply-add has no fast way. */
static __attribute__((unused, noinline)) size_t alone(const struct sn_add_quantized * p, const uint8_t * a, const uint8_t * b,
                                                      uint8_t * dst, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        const uint8_t sum = fused_alone(a[i], p->aScale, b[i], p->bScale, p->shift, false);
        dst[i] = sum > p->least ? sum : p->least;
    }
    return size;
}

/* Whole vectors of bytes to bytes; returns their elements. */
SN_INLINE size_t bytes_by(const struct fused_8u * of, bool near, uint8_t low, const uint8_t * a, const uint8_t * b,
                          uint8_t * dst, size_t size)
{
    const struct fused_8u f = *of;
    const v8u least = v_set_8u(low);
    size_t i = 0;
    for (; i + V8U_N <= size; i += V8U_N) {
        v32i r[QUARTERS];
        SN_UNROLL for (int k = 0; k < QUARTERS; ++k)
        {
            const v32f t = fused_sum_8u(&f, a + i, b + i, false, k);
            r[k] = near ? v_cvt_32f_32i(t) : integer_of(t, 0);
        }
        v_store_8u(dst + i, v_max_8u(join_parts(r, false), least));
    }
    return i;
}

static __attribute__((noinline)) size_t bytes(const struct sn_add_quantized * p, const uint8_t * a, const uint8_t * b,
                                              uint8_t * dst, size_t size)
{
    const struct fused_8u f = fused_of(p->aScale, p->bScale, p->shift);
    if (!f.fast)
        return alone(p, a, b, dst, size);
    return f.near ? bytes_by(&f, true, p->least, a, b, dst, size) : bytes_by(&f, false, p->least, a, b, dst, size);
}

/* The same of other types. */
SN_INLINE size_t whole(const struct sn_add_quantized * of, const uint8_t * a, bool a8, const uint8_t * b, bool b8,
                       uint8_t * dst, bool d8, size_t size)
{
    if (a8 && b8 && d8)
        return bytes(of, a, b, dst, size);
    const struct sn_add_quantized own = *of, * p = &own; /* stores to dst cannot change it */
    size_t i = 0;
    for (; i + V8U_N <= size; i += V8U_N) {
        v32i byte[QUARTERS];
        SN_UNROLL for (size_t q = 0; q < QUARTERS; ++q) {
            const size_t at = i + q * V32F_N;
            if (d8)
                byte[q] = integer_of(v_mul_32f(sum_of(p, a, a8, b, b8, at), v_set_32f(p->dstScale)), p->dstZero);
            else
                v_store_32f(dst + 4 * at, sum_of(p, a, a8, b, b8, at));
        }
        if (d8)
            v_store_8u(dst + i, v_max_8u(v_pack_32i_8u(byte[0], byte[1], byte[2], byte[3]), v_set_8u(p->least)));
    }
    return i;
}

/* The last elements, fewer than a vector of bytes, are copied to a whole one. */
static __attribute__((noinline)) void tail(sn_add_quantized_fn run, const struct sn_add_quantized * p, const uint8_t * a,
                                           size_t aBytes, const uint8_t * b, size_t bBytes, uint8_t * dst, size_t dstBytes,
                                           size_t left)
{
    uint8_t x[4 * V8U_N] = {0}, y[4 * V8U_N] = {0}, sum[4 * V8U_N];
    memcpy(x, a, left * aBytes);
    memcpy(y, b, left * bBytes);
    run(p, x, y, sum, V8U_N);
    memcpy(dst, sum, left * dstBytes);
}

#define KERNEL(a8, b8, d8)                                                                                                  \
    static void add_##a8##b8##d8(const struct sn_add_quantized * p, const uint8_t * a, const uint8_t * b, uint8_t * dst,    \
                                 size_t size)                                                                               \
    {                                                                                                                       \
        const size_t i = whole(p, a, a8, b, b8, dst, d8, size), aBytes = a8 ? 1 : 4, bBytes = b8 ? 1 : 4,                   \
                     dBytes = d8 ? 1 : 4;                                                                                   \
        if (i < size)                                                                                                       \
            tail(add_##a8##b8##d8, p, a + i * aBytes, aBytes, b + i * bBytes, bBytes, dst + i * dBytes, dBytes, size - i);  \
    }

SN_ADD_QUANTIZED_LIST(KERNEL)

#define SLOT(a8, b8, d8) slots->run_quantized[a8][b8][d8] = add_##a8##b8##d8;

SN_INSTALL(add_quantized, add) { SN_ADD_QUANTIZED_LIST(SLOT) }
