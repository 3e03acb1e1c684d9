/*
 * Operations that are vectors are a loop for each type (elementwise_block.h), on blocks that stay in the L1 cache. Those that
 * take more time than a conversion - divisions, powers, shifts - are computed as integers of 64 bits: the low bits of an exact
 * result are the same in any width. Only 64u has operations of its own there, those that depend on the sign.
 */
#include "ops/elementwise/elementwise.h"

#include <math.h>
#include <string.h>

#include "ops/elementwise/cast.h"
#include "ops/units.h"
#include "runtime/threads.h"

enum { BLOCK = SN_BROADCAST_BLOCK, BLOCK_BYTES = BLOCK * sizeof(int64_t) };

/* ---- single elements: no division traps */

SN_INLINE int64_t divide(int64_t a, int64_t b)
{
    if (b == 0 || b == -1)
        return (int64_t)(0 - (uint64_t)(b ? a : 0));
    return a / b;
}

SN_INLINE int64_t remainder_of(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

SN_INLINE int64_t modulo(int64_t a, int64_t b)
{
    const int64_t rest = remainder_of(a, b);
    return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* The low bits; of negative exponents, what 1 / power is rounded to. */
SN_INLINE int64_t power(int64_t a, int64_t b, bool is_signed)
{
    uint64_t result = 1, factor = (uint64_t)a;
    if (is_signed && b < 0)
        return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
    for (uint64_t rest = (uint64_t)b; rest; rest >>= 1, factor *= factor)
        result *= rest & 1 ? factor : 1;
    return (int64_t)result;
}

SN_INLINE int64_t shift_left(int64_t a, int64_t b) { return (uint64_t)b < 64 ? (int64_t)((uint64_t)a << b) : 0; }
SN_INLINE int64_t shift_right(int64_t a, int64_t b) { return a >> ((uint64_t)b < 64 ? b : 63); }

/* fmodf() of what it has no number for would set errno. */
SN_INLINE float remainder_32f(float a, float b) { return b == 0 || isinf(a) || isnan(a + b) ? NAN : fmodf(a, b); }

/* A remainder of 0 has the sign of b, as in NumPy. One that is NaN is not compared by <, which would raise an exception. */
SN_INLINE float modulo_32f(float a, float b)
{
    const float rest = remainder_32f(a, b);
    if (rest == 0)
        return copysignf(0, b);
    if (isnan(rest))
        return rest;
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

/* ---- blocks */

#define EACH(to, result)                                                                                                    \
    SN_FOR_EACH(n, to = (result));                                                                                          \
    break

#define BLOCK_FN block_8i
#define BLOCK_NUMBER int8_t
#define BLOCK_BITS uint32_t
#define BLOCK_DIFFER(a, b) ((a) != (b))
#include "ops/elementwise/elementwise_block.h"

#define BLOCK_FN block_8u
#define BLOCK_NUMBER uint8_t
#define BLOCK_BITS uint32_t
#define BLOCK_DIFFER(a, b) ((a) != (b))
#include "ops/elementwise/elementwise_block.h"

#define BLOCK_FN block_32i
#define BLOCK_NUMBER sn_32i
#define BLOCK_BITS uint32_t
#define BLOCK_DIFFER(a, b) ((a) != (b))
#include "ops/elementwise/elementwise_block.h"

#define BLOCK_FN block_64i
#define BLOCK_NUMBER sn_64i
#define BLOCK_BITS uint64_t
#define BLOCK_DIFFER(a, b) sn_is_not_0((uint64_t)((a) ^ (b)))
#include "ops/elementwise/elementwise_block.h"

#define BLOCK_FN block_64u
#define BLOCK_NUMBER sn_64u
#define BLOCK_BITS uint64_t
#define BLOCK_DIFFER(a, b) sn_is_not_0((uint64_t)((a) ^ (b)))
#include "ops/elementwise/elementwise_block.h"

/* Of numbers without sign, what differs. */
static bool unsigned_block(enum sn_elementwise_operation operation, const sn_64i * x, const sn_64i * y, size_t n,
                           int64_t * restrict r)
{
#define A ((uint64_t)x[i])
#define B ((uint64_t)y[i])
    switch (operation) {
    case SN_ELEMENTWISE_DIVIDE: EACH(r[i], (int64_t)(B ? A / B : 0));
    case SN_ELEMENTWISE_MODULO:
    case SN_ELEMENTWISE_REMAINDER: EACH(r[i], (int64_t)(B ? A % B : 0));
    case SN_ELEMENTWISE_POWER: EACH(r[i], power(x[i], y[i], false));
    case SN_ELEMENTWISE_SHIFT_RIGHT: EACH(r[i], (int64_t)(B < 64 ? A >> B : 0));
    default: return false;
    }
#undef A
#undef B
    return true;
}

static void wide_block(enum sn_elementwise_operation operation, const sn_64i * x, const sn_64i * y, size_t n,
                       int64_t * restrict r)
{
    switch (operation) {
    case SN_ELEMENTWISE_DIVIDE: EACH(r[i], divide(x[i], y[i]));
    case SN_ELEMENTWISE_MODULO: EACH(r[i], modulo(x[i], y[i]));
    case SN_ELEMENTWISE_REMAINDER: EACH(r[i], remainder_of(x[i], y[i]));
    case SN_ELEMENTWISE_POWER: EACH(r[i], power(x[i], y[i], true));
    case SN_ELEMENTWISE_SHIFT_LEFT: EACH(r[i], shift_left(x[i], y[i]));
    default: EACH(r[i], shift_right(x[i], y[i]));
    }
}

static bool block_32f(enum sn_elementwise_operation operation, const void * a, const void * b, size_t n, void * restrict dst)
{
    const sn_32f *x = a, *y = b;
    sn_32f * restrict r = dst;
    uint8_t * restrict truth = dst;
    switch (operation) {
    case SN_ELEMENTWISE_MODULO: EACH(r[i], modulo_32f(x[i], y[i]));
    case SN_ELEMENTWISE_REMAINDER: EACH(r[i], remainder_32f(x[i], y[i]));
    case SN_ELEMENTWISE_EQUAL: EACH(truth[i], x[i] == y[i]);
    case SN_ELEMENTWISE_NOT_EQUAL: EACH(truth[i], x[i] != y[i]);
    case SN_ELEMENTWISE_LESS: EACH(truth[i], x[i] < y[i]);
    default: EACH(truth[i], x[i] <= y[i]);
    }
    return true;
}

/* ---- the drivers */

static bool compares(enum sn_elementwise_operation operation) { return operation >= SN_ELEMENTWISE_EQUAL; }

/* An operand in 64 bits. */
static const void * wide_of(enum sn_data type, const void * x, size_t n, int64_t * wide)
{
    if (type == SN_DATA_64I || type == SN_DATA_64U)
        return x;
    sn_widen(type, x, n, wide);
    return wide;
}

static void by_wide(const struct sn_elementwise * job, const void * x, const void * y, size_t n, uint8_t * dst)
{
    int64_t a[BLOCK], b[BLOCK], wide[BLOCK];
    for (size_t at = 0, m; at < n; at += m) {
        m = sn_min(n - at, BLOCK);
        const size_t first = at * job->a.bytes;
        const sn_64i * left = wide_of(job->type, (const uint8_t *)x + first, m, a);
        const sn_64i * right = wide_of(job->type, (const uint8_t *)y + first, m, b);
        if (job->type != SN_DATA_64U || !unsigned_block(job->operation, left, right, m, wide))
            wide_block(job->operation, left, right, m, wide);
        sn_narrow_integers(job->type, wide, m, dst + first);
    }
}

/* Logic of Bool; false for other operations. */
static bool block_bool(enum sn_elementwise_operation operation, const uint8_t * x, const uint8_t * y, size_t n,
                       uint8_t * restrict r)
{
    switch (operation) {
    case SN_ELEMENTWISE_AND: EACH(r[i], (x[i] != 0) & (y[i] != 0));
    case SN_ELEMENTWISE_OR: EACH(r[i], (x[i] | y[i]) != 0);
    case SN_ELEMENTWISE_NOT_EQUAL:
    case SN_ELEMENTWISE_XOR: EACH(r[i], (x[i] != 0) ^ (y[i] != 0));
    default: return false;
    }
    return true;
}

/* Bool as 0 or 1. */
static const void * truths(const uint8_t * x, size_t n, uint8_t * restrict to)
{
    SN_FOR_EACH(n, to[i] = x[i] != 0);
    return to;
}

static bool block_of(const struct sn_elementwise * job, const void * x, const void * y, size_t n, void * dst)
{
    uint8_t a[BLOCK_BYTES], b[BLOCK_BYTES], r[BLOCK_BYTES];
    switch (job->type) {
    case SN_DATA_32F: return block_32f(job->operation, x, y, n, dst);
    case SN_DATA_32I: return block_32i(job->operation, x, y, n, dst);
    case SN_DATA_8I: return block_8i(job->operation, x, y, n, dst);
    case SN_DATA_8U: return block_8u(job->operation, x, y, n, dst);
    case SN_DATA_64I: return block_64i(job->operation, x, y, n, dst);
    case SN_DATA_64U: return block_64u(job->operation, x, y, n, dst);
    default: break;
    }
    if (block_bool(job->operation, x, y, n, dst))
        return true;
    if (!block_8u(job->operation, truths(x, n, a), truths(y, n, b), n, r))
        return false;
    truths(r, n, dst);
    return true;
}

static void elementwise(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct sn_elementwise * job = argument;
    const size_t bytes = compares(job->operation) ? 1 : job->a.bytes, most = BLOCK_BYTES / job->a.bytes;
    int64_t a[BLOCK], b[BLOCK], r[BLOCK];
    end = sn_min(end * SN_UNIT_ELEMENTS, job->size);
    for (size_t at = begin * SN_UNIT_ELEMENTS, n; at < end; at += n) {
        n = sn_min(end - at, most);
        uint8_t * dst = job->dst + at * bytes;
        const void *x = sn_operand_block(&job->a, at, n, a), *y = sn_operand_block(&job->b, at, n, b);
        const bool in_place = x == dst || y == dst;
        void * to = in_place ? (void *)r : dst;
        if (!block_of(job, x, y, n, to))
            by_wide(job, x, y, n, to);
        if (in_place)
            memcpy(dst, to, n * bytes);
    }
}

void sn_elementwise(const struct sn_elementwise * job)
{
    sn_parallel_for(&(struct sn_parallel){.run = elementwise, .job = job, .units = sn_ceil_div(job->size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes((double)job->size * (double)(3 * job->a.bytes + 3 * sizeof(int64_t)))});
}

/* Without branches, so that any pattern takes the same time: where a mask is -1 in place of 0, what differs changes. */
#define CHOOSE(number, bits)                                                                                                \
    SN_FOR_EACH(n, ((number *)dst)[i] = (number)(((const number *)b)[i] ^                                                   \
                                                 ((((const number *)a)[i] ^ ((const number *)b)[i]) & (bits)mask[i])));     \
    break

static void choose(const int8_t * mask, const void * a, const void * b, size_t n, void * restrict dst, size_t bytes)
{
    switch (bytes) {
    case 1: CHOOSE(uint8_t, uint8_t);
    case 2: CHOOSE(sn_16b, uint16_t);
    case 4: CHOOSE(sn_32i, int32_t);
    default: CHOOSE(sn_64i, int64_t);
    }
}

/* By itself: with the loop above, compilers make branches of it. */
static void masks(const uint8_t * c, size_t n, int8_t * restrict mask)
{
    SN_FOR_EACH(n, mask[i] = (int8_t)-(c[i] != 0));
}

static void selected(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct sn_select * job = argument;
    const size_t bytes = job->a.bytes;
    uint8_t condition[BLOCK_BYTES];
    int8_t mask[BLOCK_BYTES];
    int64_t a[BLOCK], b[BLOCK], r[BLOCK];
    end = sn_min(end * SN_UNIT_ELEMENTS, job->size);
    for (size_t at = begin * SN_UNIT_ELEMENTS, n; at < end; at += n) {
        n = sn_min(end - at, BLOCK_BYTES / bytes);
        uint8_t * dst = job->dst + at * bytes;
        const void *x = sn_operand_block(&job->a, at, n, a), *y = sn_operand_block(&job->b, at, n, b);
        const bool in_place = x == dst || y == dst;
        masks(sn_operand_block(&job->condition, at, n, condition), n, mask);
        choose(mask, x, y, n, in_place ? (void *)r : dst, bytes);
        if (in_place)
            memcpy(dst, r, n * bytes);
    }
}

void sn_select(const struct sn_select * job)
{
    sn_parallel_for(&(struct sn_parallel){.run = selected, .job = job, .units = sn_ceil_div(job->size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes((double)job->size * (double)(3 * job->a.bytes + 1))});
}
