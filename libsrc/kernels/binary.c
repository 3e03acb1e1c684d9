/*
 * Functions of two arrays. A row is two arrays, or an array and a number: the driver has reduced all shapes to such rows, and
 * made rows long. Several vectors in an iteration, with aligned stores in long rows: as fast as a copy.
 *
 * Where the order of the operands does not matter, the number is the second one, which saves an instance.
 */
#include "contract/binary.h"
#include "kernels/aligned.h"
#include "kernels/install.h"
#include "kernels/power.h"

enum { GROUP = 4 };

typedef v32f (*binary_fn)(v32f a, v32f b);

/* Results i .. i + n - 1 of a row, fewer than a vector. */
typedef void (*tail_fn)(const struct sn_binary_rows * r, size_t i, size_t n);

/* The first n values from position i on, and ones. */
SN_INLINE v32f tail_values(const struct sn_binary_operand * p, size_t i, size_t n)
{
    return v_ones_behind_32f(p->each ? v_load_tail_32f(p->at + i, n) : v_set_32f(*p->at), n);
}

/* One copy for all instances of a function: partial vectors take more code than whole ones. */
#define TAIL(name, f)                                                                                                       \
    static __attribute__((noinline)) void name##_tail(const struct sn_binary_rows * r, size_t i, size_t n)                  \
    {                                                                                                                       \
        v_store_tail_32f(r->dst + i, f(tail_values(&r->a, i, n), tail_values(&r->b, i, n)), n);                             \
    }

SN_INLINE v32f values(const struct sn_binary_operand * p, size_t i, v32f single)
{
    return p->each ? v_load_32f(p->at + i) : single;
}

/* One row. The members `each` are compile-time constants, and so is `group`, the vectors of an iteration. */
SN_INLINE void row(binary_fn f, tail_fn tail, int group, const struct sn_binary_rows * r)
{
    const size_t head = aligned_head(r->dst, r->columns), step = (size_t)group * V32F_N;
    const v32f a = v_set_32f(*r->a.at), b = v_set_32f(*r->b.at);
    size_t i = head;
    if (head)
        tail(r, 0, head);
    for (; i + step <= r->columns; i += step) {
        v32f x[GROUP];
        SN_UNROLL for (int j = 0; j < group; ++j)
            x[j] = f(values(&r->a, i + j * V32F_N, a), values(&r->b, i + j * V32F_N, b));
        if (r->stream)
            SN_UNROLL for (int j = 0; j < group; ++j) v_stream_32f(r->dst + i + j * V32F_N, x[j]);
        else
            SN_UNROLL for (int j = 0; j < group; ++j) v_store_32f(r->dst + i + j * V32F_N, x[j]);
    }
    for (; group > 1 && i + V32F_N <= r->columns; i += V32F_N)
        v_store_32f(r->dst + i, f(values(&r->a, i, a), values(&r->b, i, b)));
    if (i < r->columns)
        tail(r, i, r->columns - i);
}

SN_INLINE void rows(binary_fn f, tail_fn tail, int group, bool a_each, bool b_each,
                    const struct sn_binary_rows * all)
{
    struct sn_binary_rows r = *all;
    r.a.each = a_each;
    r.b.each = b_each;
    r.stream = r.stream && can_align(r.dst, r.columns);
    for (size_t j = 0; j < all->rows; ++j) {
        row(f, tail, group, &r);
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
    TAIL(name, f)                                                                                                           \
    static void name##_32f(const struct sn_binary_rows * all)                                                               \
    {                                                                                                                       \
        const struct sn_binary_rows r = all->a.each ? *all : swapped(all);                                                  \
        if (r.b.each)                                                                                                       \
            rows(f, name##_tail, GROUP, true, true, &r);                                                                                 \
        else                                                                                                                \
            rows(f, name##_tail, GROUP, true, false, &r);                                                                                \
    }

#define ORDERED(name, f)                                                                                                    \
    TAIL(name, f)                                                                                                           \
    static void name##_32f(const struct sn_binary_rows * all)                                                               \
    {                                                                                                                       \
        if (!all->a.each)                                                                                                   \
            rows(f, name##_tail, GROUP, false, true, all);                                                                               \
        else if (all->b.each)                                                                                               \
            rows(f, name##_tail, GROUP, true, true, all);                                                                                \
        else                                                                                                                \
            rows(f, name##_tail, GROUP, true, false, all);                                                                               \
    }

/* The vocabulary's maximum is b if either is NaN. */
SN_INLINE v32f maximum(v32f a, v32f b) { return v_select_32f(v_eq_32f(a, a), v_max_32f(a, b), a); }
SN_INLINE v32f minimum(v32f a, v32f b) { return v_select_32f(v_eq_32f(a, a), v_min_32f(a, b), a); }

COMMUTATIVE(add, v_add_32f)
ORDERED(subtract, v_sub_32f)
COMMUTATIVE(multiply, v_mul_32f)
ORDERED(divide, v_div_32f)
COMMUTATIVE(maximum, maximum)
COMMUTATIVE(minimum, minimum)

/* Long, and bound by arithmetic: a single instance. */
static __attribute__((noinline)) v32f power_of(v32f a, v32f b) { return power(a, b); }

TAIL(power, power_of)

static void power_32f(const struct sn_binary_rows * all)
{
    rows(power_of, power_tail, 1, all->a.each, all->b.each, all);
}

SN_INSTALL(binary, binary)
{
    slots->run_32f[SN_BINARY_ADD] = add_32f;
    slots->run_32f[SN_BINARY_SUBTRACT] = subtract_32f;
    slots->run_32f[SN_BINARY_MULTIPLY] = multiply_32f;
    slots->run_32f[SN_BINARY_DIVIDE] = divide_32f;
    slots->run_32f[SN_BINARY_MAXIMUM] = maximum_32f;
    slots->run_32f[SN_BINARY_MINIMUM] = minimum_32f;
    slots->run_32f[SN_BINARY_POWER] = power_32f;
}
