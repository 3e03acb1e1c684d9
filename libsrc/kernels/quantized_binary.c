/*
 * Sums and products of bytes with scales and zeros. Results of signed bytes are packed with 128 added, which is taken back by
 * inverting the highest bit. With usual scales nothing has to be limited before it becomes an integer: 1.25 times as fast.
 *
 * Sums need a fused multiply-add: without one the reference computes them.
 */
#include "contract/quantized_binary.h"
#include "kernels/install.h"
#include "kernels/linear_8u.h"

enum { QUARTERS = 4 };

SN_INLINE v32f values(const uint8_t * p, bool negative)
{
    return v_cvt_32i_32f(negative ? v_load_8i_32i(p) : v_load_8u_32i(p));
}

/* V32F_N results of unsigned bytes. */
SN_INLINE v32i result(const struct sn_quantized_binary * p, bool adds, bool negative, bool near, const uint8_t * a,
                      const uint8_t * b)
{
    const v32f x = values(a, negative), y = values(b, negative), shift = v_set_32f(p->shift);
    const int32_t zero = negative ? 128 : 0;
    v32f t;
    if (adds) {
        t = v_fma_32f(x, v_set_32f(p->aScale), v_fma_32f(y, v_set_32f(p->bScale), shift));
    } else {
        const v32f product = v_mul_32f(v_sub_32f(x, v_set_32f(p->aZero)), v_sub_32f(y, v_set_32f(p->bZero)));
        t = v_add_32f(v_mul_32f(product, v_set_32f(p->factor)), shift);
    }
    return near ? v_add_32i(v_cvt_32f_32i(t), v_set_32i(zero)) : integer_of(t, zero);
}

/* Whole vectors of bytes; returns their number. All flags are compile-time constants. */
SN_INLINE size_t whole(const struct sn_quantized_binary * of, bool adds, bool negative, bool near, const uint8_t * a,
                       const uint8_t * b, uint8_t * dst, size_t size)
{
    const struct sn_quantized_binary own = *of, * p = &own; /* stores to dst cannot change it */
    size_t i = 0;
    for (; i + V8U_N <= size; i += V8U_N) {
        v32i r[QUARTERS];
        SN_UNROLL for (size_t q = 0; q < QUARTERS; ++q)
            r[q] = result(p, adds, negative, near, a + i + q * V32F_N, b + i + q * V32F_N);
        const v32i bytes = v_cast_8u_32i(v_pack_32i_8u(r[0], r[1], r[2], r[3]));
        v_store_8u(dst + i, v_cast_32i_8u(negative ? v_xor_32i(bytes, v_set_32i((int32_t)0x80808080)) : bytes));
    }
    return i;
}

/* Extreme scales, which are rare, have one instance for both signs of each operation. */
SN_INLINE size_t whole_of(const struct sn_quantized_binary * p, bool adds, const uint8_t * a, const uint8_t * b,
                          uint8_t * dst, size_t size)
{
    if (!p->near)
        return whole(p, adds, p->negative, false, a, b, dst, size);
    return p->negative ? whole(p, adds, true, true, a, b, dst, size) : whole(p, adds, false, true, a, b, dst, size);
}

/* The last bytes, fewer than a vector, are copied to a whole one. */
static __attribute__((noinline)) void tail(sn_quantized_binary_fn run, const struct sn_quantized_binary * p,
                                           const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t left)
{
    uint8_t x[V8U_N] = {0}, y[V8U_N] = {0}, r[V8U_N];
    memcpy(x, a, left);
    memcpy(y, b, left);
    run(p, x, y, r, V8U_N);
    memcpy(dst, r, left);
}

#define KERNEL(name, adds)                                                                                                  \
    static void name(const struct sn_quantized_binary * p, const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size) \
    {                                                                                                                       \
        const size_t i = whole_of(p, adds, a, b, dst, size);                                                                \
        if (i < size)                                                                                                       \
            tail(name, p, a + i, b + i, dst + i, size - i);                                                                 \
    }

KERNEL(multiply, false)

#if V_FMA
KERNEL(add, true)
#endif

SN_INSTALL(quantized_binary, quantized_binary)
{
#if V_FMA
    slots->add = add;
#endif
    slots->multiply = multiply;
}
