/*
 * Layers that change each element by coefficients of its channel, bound by memory in large arrays. Elements are widened in
 * order, a vector of floats at a time, and four of these become a vector of bytes; single coefficients are read like those
 * of each element, from an array that repeats them, so that one loop serves both.
 */
#include "contract/affine.h"

#include "kernels/install.h"
#include "kernels/linear_8u.h"

enum { QUARTERS = 4 };

static size_t bytes_of(enum sn_affine_type type)
{
    return type == SN_AFFINE_32F ? 4 : type == SN_AFFINE_16B ? 2 : 1;
}

/* ---- V32F_N elements; types and formulas are compile-time constants */

SN_INLINE v32f load(const struct sn_affine * p, enum sn_affine_type type, const uint8_t * src, size_t i)
{
    if (type == SN_AFFINE_32F)
        return v_load_32f(src + 4 * i);
    if (type == SN_AFFINE_16B)
        return v_load_16b_32f(src + 2 * i);
    return value_of_bytes(src + i, p->srcZero, p->srcScale);
}

SN_INLINE v32f value(enum sn_affine_formula formula, v32f x, v32f k, v32f h)
{
    if (formula == SN_AFFINE_SUM)
        return v_add_32f(v_mul_32f(x, k), h);
    if (formula == SN_AFFINE_FUSED)
        return v_fma_once_32f(x, k, h);
    const v32f zero = v_zero_32f();
    return v_add_32f(v_max_32f(x, zero), v_mul_32f(k, v_min_32f(zero, x)));
}

SN_INLINE v32i byte_of(const struct sn_affine * p, v32f y)
{
    return integer_of(v_mul_32f(y, v_set_32f(p->dstScale)), p->dstZero);
}

/* V8U_N results from the i-th on. */
SN_INLINE void store(const struct sn_affine * p, enum sn_affine_type type, uint8_t * dst, size_t i, const v32f y[QUARTERS])
{
    if (type == SN_AFFINE_8U) {
        const v8u bytes = v_pack_32i_8u(byte_of(p, y[0]), byte_of(p, y[1]), byte_of(p, y[2]), byte_of(p, y[3]));
        v_store_8u(dst + i, v_min_8u(bytes, v_set_8u(p->upper)));
        return;
    }
    SN_UNROLL for (size_t q = 0; q < QUARTERS; ++q)
        if (type == SN_AFFINE_32F)
            v_store_32f(dst + 4 * (i + q * V32F_N), y[q]);
        else
            v_store_16b_32f(dst + 2 * (i + q * V32F_N), y[q]);
}

/* ---- the functions */

/* The last elements, fewer than a vector of bytes, are copied to a whole one. */
static __attribute__((noinline)) void tail(sn_affine_fn run, const struct sn_affine * p, size_t from, size_t to,
                                           const uint8_t * src, size_t done, size_t left, uint8_t * dst)
{
    uint8_t in[4 * V8U_N] = {0}, out[4 * V8U_N];
    float k[V8U_N] = {0}, h[V8U_N] = {0};
    struct sn_affine last = *p;
    memcpy(in, src + done * from, left * from);
    if (p->each) {
        memcpy(k, p->k + done, left * sizeof(float));
        memcpy(h, p->h + done, left * sizeof(float));
        last.k = k;
        last.h = h;
    }
    run(&last, in, V8U_N, out);
    memcpy(dst + done * to, out, left * to);
}

SN_INLINE size_t whole(enum sn_affine_formula formula, enum sn_affine_type from, enum sn_affine_type to,
                       const struct sn_affine * p, const uint8_t * src, size_t size, uint8_t * dst)
{
    const struct sn_affine own = *p; /* stores to dst cannot change it */
    size_t i = 0;
    for (; i + V8U_N <= size; i += V8U_N) {
        const sn_32f * k = own.k + (own.each ? i : 0), * h = own.h + (own.each ? i : 0);
        v32f y[QUARTERS];
        SN_UNROLL for (size_t q = 0; q < QUARTERS; ++q)
            y[q] = value(formula, load(&own, from, src, i + q * V32F_N), v_load_32f(k + q * V32F_N),
                         v_load_32f(h + q * V32F_N));
        store(&own, to, dst, i, y);
    }
    return i;
}

#define KERNEL(formula, from, to)                                                                                           \
    static void run_##formula##_##from##_##to(const struct sn_affine * p, const uint8_t * src, size_t size, uint8_t * dst)  \
    {                                                                                                                       \
        const size_t done = whole(SN_AFFINE_##formula, SN_AFFINE_##from, SN_AFFINE_##to, p, src, size, dst);                \
        if (done < size)                                                                                                    \
            tail(run_##formula##_##from##_##to, p, bytes_of(SN_AFFINE_##from), bytes_of(SN_AFFINE_##to), src, done,         \
                 size - done, dst);                                                                                         \
    }

SN_AFFINE_LIST(KERNEL)

#define SLOT(formula, from, to)                                                                                             \
    slots->run[SN_AFFINE_##formula##_##from##_##to] = run_##formula##_##from##_##to;

SN_INSTALL(affine, affine) { SN_AFFINE_LIST(SLOT) }
