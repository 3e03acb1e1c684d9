/*
 * Integers of every type are computed as integers of 64 bits, in blocks that stay in the L1 cache, as conversions are: this
 * takes a loop for each operation, not one for each operation and type. The low bits of an exact result are the same in any
 * width. Only 64u has operations of its own, those that depend on the sign.
 */
#include "ops/elementwise.h"

#include <math.h>
#include <string.h>

#include "ops/cast.h"
#include "ops/units.h"
#include "runtime/threads.h"

enum { BLOCK = SN_BROADCAST_BLOCK };

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

#define EACH(result)                                                                                                        \
    SN_FOR_EACH(n, r[i] = (result));                                                                                        \
    break

/* Of numbers without sign, what differs. */
static bool unsigned_block(enum sn_elementwise_operation operation, const sn_64i * x, const sn_64i * y, size_t n,
                           int64_t * restrict r)
{
#define A ((uint64_t)x[i])
#define B ((uint64_t)y[i])
    switch (operation) {
    case SN_ELEMENTWISE_DIVIDE: EACH((int64_t)(B ? A / B : 0));
    case SN_ELEMENTWISE_MODULO:
    case SN_ELEMENTWISE_REMAINDER: EACH((int64_t)(B ? A % B : 0));
    case SN_ELEMENTWISE_MAXIMUM: EACH((int64_t)(A > B ? A : B));
    case SN_ELEMENTWISE_MINIMUM: EACH((int64_t)(A < B ? A : B));
    case SN_ELEMENTWISE_POWER: EACH(power(x[i], y[i], false));
    case SN_ELEMENTWISE_SHIFT_RIGHT: EACH((int64_t)(B < 64 ? A >> B : 0));
    case SN_ELEMENTWISE_LESS: EACH(A < B);
    case SN_ELEMENTWISE_LESS_OR_EQUAL: EACH(A <= B);
    default: return false;
    }
#undef A
#undef B
    return true;
}

static void integer_block(enum sn_elementwise_operation operation, const sn_64i * x, const sn_64i * y, size_t n,
                          int64_t * restrict r)
{
    switch (operation) {
    case SN_ELEMENTWISE_ADD: EACH((int64_t)((uint64_t)x[i] + (uint64_t)y[i]));
    case SN_ELEMENTWISE_SUBTRACT: EACH((int64_t)((uint64_t)x[i] - (uint64_t)y[i]));
    case SN_ELEMENTWISE_MULTIPLY: EACH((int64_t)((uint64_t)x[i] * (uint64_t)y[i]));
    case SN_ELEMENTWISE_DIVIDE: EACH(divide(x[i], y[i]));
    case SN_ELEMENTWISE_MODULO: EACH(modulo(x[i], y[i]));
    case SN_ELEMENTWISE_REMAINDER: EACH(remainder_of(x[i], y[i]));
    case SN_ELEMENTWISE_MAXIMUM: EACH(x[i] > y[i] ? x[i] : y[i]);
    case SN_ELEMENTWISE_MINIMUM: EACH(x[i] < y[i] ? x[i] : y[i]);
    case SN_ELEMENTWISE_POWER: EACH(power(x[i], y[i], true));
    case SN_ELEMENTWISE_AND: EACH(x[i] & y[i]);
    case SN_ELEMENTWISE_OR: EACH(x[i] | y[i]);
    case SN_ELEMENTWISE_XOR: EACH(x[i] ^ y[i]);
    case SN_ELEMENTWISE_SHIFT_LEFT: EACH(shift_left(x[i], y[i]));
    case SN_ELEMENTWISE_SHIFT_RIGHT: EACH(shift_right(x[i], y[i]));
    case SN_ELEMENTWISE_EQUAL: EACH(x[i] == y[i]);
    case SN_ELEMENTWISE_NOT_EQUAL: EACH(x[i] != y[i]);
    case SN_ELEMENTWISE_LESS: EACH(x[i] < y[i]);
    default: EACH(x[i] <= y[i]); /* LessOrEqual */
    }
}

static void compare_floats(enum sn_elementwise_operation operation, const sn_32f * x, const sn_32f * y, size_t n, uint8_t * r)
{
    switch (operation) {
    case SN_ELEMENTWISE_EQUAL: EACH(x[i] == y[i]);
    case SN_ELEMENTWISE_NOT_EQUAL: EACH(x[i] != y[i]);
    case SN_ELEMENTWISE_LESS: EACH(x[i] < y[i]);
    default: EACH(x[i] <= y[i]);
    }
}

static void float_block(const struct sn_elementwise * job, const void * a, const void * b, size_t n, uint8_t * dst)
{
    const sn_32f *x = a, *y = b;
    sn_32f * r = (sn_32f *)dst;
    switch (job->operation) {
    case SN_ELEMENTWISE_MODULO: EACH(modulo_32f(x[i], y[i]));
    case SN_ELEMENTWISE_REMAINDER: EACH(remainder_32f(x[i], y[i]));
    default: compare_floats(job->operation, x, y, n, dst);
    }
}

/* ---- the drivers */

static bool compares(enum sn_elementwise_operation operation) { return operation >= SN_ELEMENTWISE_EQUAL; }

static const void * wide_of(const struct sn_operand * p, enum sn_data type, size_t at, size_t n, int64_t * wide)
{
    int64_t block[BLOCK];
    if (p->bytes == sizeof(int64_t) || type == SN_DATA_32F)
        return sn_operand_block(p, at, n, wide);
    sn_widen(type, sn_operand_block(p, at, n, block), n, wide);
    return wide;
}

static void elementwise(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct sn_elementwise * job = argument;
    const enum sn_data result = compares(job->operation) ? SN_DATA_BOOL : job->type;
    const size_t bytes = compares(job->operation) ? 1 : job->a.bytes;
    int64_t a[BLOCK], b[BLOCK], wide[BLOCK];
    end = sn_min(end * SN_UNIT_ELEMENTS, job->size);
    for (size_t at = begin * SN_UNIT_ELEMENTS, n; at < end; at += n) {
        n = sn_min(end - at, BLOCK);
        const void * x = wide_of(&job->a, job->type, at, n, a);
        const void * y = wide_of(&job->b, job->type, at, n, b);
        if (job->type == SN_DATA_32F) {
            float_block(job, x, y, n, job->dst + at * bytes);
            continue;
        }
        if (job->type != SN_DATA_64U || !unsigned_block(job->operation, x, y, n, wide))
            integer_block(job->operation, x, y, n, wide);
        sn_narrow_integers(result, wide, n, job->dst + at * bytes);
    }
}

void sn_elementwise(const struct sn_elementwise * job)
{
    sn_parallel_for(&(struct sn_parallel){.run = elementwise, .job = job, .units = sn_ceil_div(job->size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes((double)job->size * (double)(3 * job->a.bytes + 3 * sizeof(int64_t)))});
}

/* Without branches, so that any pattern takes the same time. */
#define CHOOSE(type, signed_type)                                                                                           \
    for (size_t i = 0; i < n; ++i) {                                                                                        \
        const type mask = (type) - (signed_type)(c[i] != 0);                                                                \
        type left, right;                                                                                                   \
        memcpy(&left, a + i * sizeof(type), sizeof(type));                                                                  \
        memcpy(&right, b + i * sizeof(type), sizeof(type));                                                                 \
        left = (type)((left & mask) | (right & (type)~mask));                                                               \
        memcpy(dst + i * sizeof(type), &left, sizeof(type));                                                                \
    }                                                                                                                       \
    break

static void choose(const uint8_t * c, const uint8_t * a, const uint8_t * b, size_t n, uint8_t * dst, size_t bytes)
{
    switch (bytes) {
    case 1: CHOOSE(uint8_t, int8_t);
    case 2: CHOOSE(uint16_t, int16_t);
    case 4: CHOOSE(uint32_t, int32_t);
    default: CHOOSE(uint64_t, int64_t);
    }
}

static void selected(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct sn_select * job = argument;
    const size_t bytes = job->a.bytes;
    uint8_t condition[BLOCK];
    int64_t a[BLOCK], b[BLOCK];
    end = sn_min(end * SN_UNIT_ELEMENTS, job->size);
    for (size_t at = begin * SN_UNIT_ELEMENTS, n; at < end; at += n) {
        n = sn_min(end - at, BLOCK);
        choose(sn_operand_block(&job->condition, at, n, condition), sn_operand_block(&job->a, at, n, a),
               sn_operand_block(&job->b, at, n, b), n, job->dst + at * bytes, bytes);
    }
}

void sn_select(const struct sn_select * job)
{
    sn_parallel_for(&(struct sn_parallel){.run = selected, .job = job, .units = sn_ceil_div(job->size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes((double)job->size * (double)(3 * job->a.bytes + 1))});
}
