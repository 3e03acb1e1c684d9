/*
 * Functions of two arrays. A row is two arrays, or an array and a number: the driver has reduced all shapes to such rows,
 * and made rows long. Several vectors in an iteration, with aligned stores in long rows: as fast as a copy.
 *
 * Where the order of the operands does not matter, the number is the second one, which saves an instance.
 */
#include "contract/binary.h"
#include "kernels/aligned.h"
#include "kernels/install.h"
#include "kernels/power.h"
#include "kernels/quotient.h"

enum { GROUP = 4 };

typedef v32f (*binary_fn)(v32f a, v32f b);

SN_INLINE v32f values(const struct sn_binary_operand * p, size_t i)
{
    return p->each ? v_load_32f(p->at + i) : v_set_32f(*p->at);
}

SN_INLINE v32f result(binary_fn f, const struct sn_binary_rows * r, size_t i)
{
    return f(values(&r->a, i), values(&r->b, i));
}

/*
 * One row. The members `each` are compile-time constants, and so is `group`, the vectors of an iteration.
 * Ends that are not whole vectors are computed as vectors that overlap their neighbours: before anything is written, as dst
 * may be an operand. (Partial stores took 1.2 times as long for rows of 7x7.)
 */
SN_INLINE void row(binary_fn f, int group, const struct sn_binary_rows * r)
{
    const size_t head = aligned_head(r->dst, r->columns), step = (size_t)group * V32F_N, last = r->columns - V32F_N;
    const bool partial = (r->columns - head) % V32F_N != 0;
    const v32f front = head ? result(f, r, 0) : v_zero_32f(), back = partial ? result(f, r, last) : v_zero_32f();
    size_t i = head;
    for (; i + step <= r->columns; i += step) {
        v32f x[GROUP];
        SN_UNROLL for (int j = 0; j < group; ++j) x[j] = result(f, r, i + j * V32F_N);
        if (r->stream)
            SN_UNROLL for (int j = 0; j < group; ++j) v_stream_32f(r->dst + i + j * V32F_N, x[j]);
        else
            SN_UNROLL for (int j = 0; j < group; ++j) v_store_32f(r->dst + i + j * V32F_N, x[j]);
    }
    for (; group > 1 && i <= last; i += V32F_N)
        v_store_32f(r->dst + i, result(f, r, i));
    if (head)
        v_store_32f(r->dst, front);
    if (partial)
        v_store_32f(r->dst + last, back);
}

SN_INLINE void rows(binary_fn f, int group, bool a_each, bool b_each, const struct sn_binary_rows * all)
{
    struct sn_binary_rows r = *all;
    r.a.each = a_each;
    r.b.each = b_each;
    r.stream = r.stream && can_align(r.dst, r.columns);
    for (size_t j = 0; j < all->rows; ++j) {
        row(f, group, &r);
        r.a.at += r.a.row;
        r.b.at += r.b.row;
        r.dst += r.columns;
    }
    if (r.stream)
        v_fence();
}

SN_INLINE struct sn_binary_rows swapped(const struct sn_binary_rows * r)
{
    return (struct sn_binary_rows){r->b, r->a, r->dst, r->rows, r->columns, r->stream};
}

#define COMMUTATIVE(name, f)                                                                                                \
    static void name##_32f(const struct sn_binary_rows * all)                                                               \
    {                                                                                                                       \
        const struct sn_binary_rows r = all->a.each ? *all : swapped(all);                                                  \
        if (r.b.each)                                                                                                       \
            rows(f, GROUP, true, true, &r);                                                                                 \
        else                                                                                                                \
            rows(f, GROUP, true, false, &r);                                                                                \
    }

#define ORDERED(name, f)                                                                                                    \
    static void name##_32f(const struct sn_binary_rows * all)                                                               \
    {                                                                                                                       \
        if (!all->a.each)                                                                                                   \
            rows(f, GROUP, false, true, all);                                                                               \
        else if (all->b.each)                                                                                               \
            rows(f, GROUP, true, true, all);                                                                                \
        else                                                                                                                \
            rows(f, GROUP, true, false, all);                                                                               \
    }

/* The vocabulary's maximum is b if either is NaN. */
SN_INLINE v32f maximum(v32f a, v32f b) { return v_select_32f(v_eq_32f(a, a), v_max_32f(a, b), a); }
SN_INLINE v32f minimum(v32f a, v32f b) { return v_select_32f(v_eq_32f(a, a), v_min_32f(a, b), a); }

SN_INLINE v32f replace(v32f a, v32f b) { return v_select_32f(v_eq_32f(b, b), b, a); }

COMMUTATIVE(add, v_add_32f)
ORDERED(subtract, v_sub_32f)
COMMUTATIVE(multiply, v_mul_32f)
ORDERED(divide_plain, v_div_32f)
COMMUTATIVE(maximum, maximum)
COMMUTATIVE(minimum, minimum)
ORDERED(replace, replace)

/* 2^-60 and 2^60: between them, and of 0, quotients by an inverse are exact. */
enum { LEAST = 0x21800000, LARGEST = 0x5d800000 };

/* a / b, for a number b that can be inverted: a loop computes the inverse once. */
SN_INLINE v32f by_inverse(v32f a, v32f b)
{
    const struct inverse by = inverse_of(b);
    const v32i bits = v_cast_32f_32i(a), size = v_and_32i(bits, v_set_32i(INT32_MAX));
    const v32i large = v_sub_32i(v_set_32i(LARGEST), size), small = v_sub_32i(size, v_set_32i(LEAST));
    const v32i odd = v_or_32i(large, v_and_32i(small, v_sub_32i(v_set_32i(0), size)));
    if (__builtin_expect(v_any(v_gt_32i(v_set_32i(0), odd)), 0))
        return v_div_32f(a, b);
    const v32i sign = v_and_32i(bits, v_set_32i(INT32_MIN)); /* which zeros lose */
    return v_cast_32i_32f(v_or_32i(v_cast_32f_32i(quotient(&by, a)), sign));
}

/* Columns from which on a row is longer than an inverse takes. */
enum { LONG = 512 };

/*
 * 200704 floats by a number take 0.67 of the time on an Emerald Rapids, which divides 16 floats in 10 cycles. With vectors
 * of 8 floats, 5 cycles, nothing is gained, nor in memory.
 */
static void divide_32f(const struct sn_binary_rows * all)
{
    struct sn_binary_rows r = *all;
    if (V32F_N < 16 || !r.a.each || r.b.each || r.stream || r.columns < LONG) {
        divide_plain_32f(all);
        return;
    }
    for (size_t j = 0; j < all->rows; ++j) {
        const float divisor = *r.b.at;
        const struct sn_binary_rows one = {r.a, {&divisor, 0, false}, r.dst, 1, r.columns, false};
        if (can_invert(divisor))
            rows(by_inverse, GROUP, true, false, &one);
        else
            divide_plain_32f(&one);
        r.a.at += r.a.row;
        r.b.at += r.b.row;
        r.dst += r.columns;
    }
}

/* Long, and bound by arithmetic: a single instance. */
static __attribute__((noinline)) v32f power_of(v32f a, v32f b) { return power(a, b); }

static void power_32f(const struct sn_binary_rows * all)
{
    rows(power_of, 1, all->a.each, all->b.each, all);
}

SN_INSTALL(binary, binary)
{
    SN_BINARY_LIST(SN_BINARY_SLOT)
}
