/*
 * Updates are applied in their order, by the calling thread: an element may be changed by several. (Two threads with columns of
 * their own took 1.3 to 2 times as long, as each reads what the other one wrote before.) Rows of floats, as graph networks add
 * them, are vectors of the family `binary`; the rest is loops over elements.
 */
#include "ops/scatter.h"

#include <math.h>
#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/elementwise/cast.h"
#include "ops/units.h"
#include "runtime/threads.h"

/* ---- single elements */

SN_INLINE float combined_32f(enum sn_scatter_reduction reduction, float a, float b)
{
    switch (reduction) {
    case SN_SCATTER_ADD: return a + b;
    case SN_SCATTER_MULTIPLY: return a * b;
    case SN_SCATTER_MAXIMUM: return a > b || isnan(a) ? a : b;
    default: return a < b || isnan(a) ? a : b;
    }
}

SN_INLINE int64_t combined(enum sn_scatter_reduction reduction, int64_t a, int64_t b, bool is_signed)
{
    const bool larger = is_signed ? a > b : (uint64_t)a > (uint64_t)b;
    switch (reduction) {
    case SN_SCATTER_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case SN_SCATTER_MULTIPLY: return (int64_t)((uint64_t)a * (uint64_t)b);
    case SN_SCATTER_MAXIMUM: return larger ? a : b;
    default: return larger ? b : a;
    }
}

SN_INLINE void store(enum sn_data type, uint8_t * at, int64_t value)
{
    switch (type) {
    case SN_DATA_8I:
    case SN_DATA_8U: *at = (uint8_t)value; break;
    case SN_DATA_BOOL: *at = value != 0; break;
    case SN_DATA_32I: *(sn_32i *)at = (int32_t)value; break;
    default: *(sn_64i *)at = value;
    }
}

static void update(enum sn_data type, enum sn_scatter_reduction reduction, size_t bytes, uint8_t * dst, const uint8_t * from)
{
    if (reduction == SN_SCATTER_NONE)
        memcpy(dst, from, bytes);
    else if (type == SN_DATA_32F)
        *(sn_32f *)dst = combined_32f(reduction, *(const sn_32f *)dst, *(const sn_32f *)from);
    else
        store(type, dst, combined(reduction, sn_widened(type, dst), sn_widened(type, from), type != SN_DATA_64U));
}

/* ---- adjacent elements */

static void update_row_32f(enum sn_scatter_reduction reduction, sn_32f * dst, const sn_32f * from, size_t n)
{
    static const enum sn_binary_operation operations[] = {SN_BINARY_REPLACE, SN_BINARY_ADD, SN_BINARY_MULTIPLY,
                                                          SN_BINARY_MAXIMUM, SN_BINARY_MINIMUM};
    if (n >= SN_BINARY_COLUMNS)
        sn_table()->binary.run_32f[operations[reduction]](
            &(struct sn_binary_rows){{dst, 0, true}, {from, 0, true}, dst, 1, n, false});
    else
        for (size_t i = 0; i < n; ++i)
            dst[i] = combined_32f(reduction, dst[i], from[i]);
}

static void update_row(enum sn_data type, enum sn_scatter_reduction reduction, size_t bytes, uint8_t * dst,
                       const uint8_t * from, size_t n)
{
    if (reduction == SN_SCATTER_NONE)
        memcpy(dst, from, n * bytes);
    else if (type == SN_DATA_32F)
        update_row_32f(reduction, (sn_32f *)dst, (const sn_32f *)from, n);
    else
        for (size_t i = 0; i < n; ++i)
            update(type, reduction, bytes, dst + i * bytes, from + i * bytes);
}

SN_INLINE size_t counted(int64_t index, size_t count) { return (size_t)(index < 0 ? index + (int64_t)count : index); }

/* ---- elements */

/* A row of updates, along the last dimension: where its elements begin in dst, as if t were 0, and its indices. */
struct row {
    uint8_t * dst;
    const sn_64i * index;
    const uint8_t * updates;
};

static struct row row_at(const struct sn_scatter_elements * s, size_t number)
{
    const size_t last = s->count - 1;
    struct row r = {s->dst, s->index, s->updates + number * s->updatesShape[last] * s->bytes};
    size_t stride = s->shape[last] * s->bytes, step = s->indexShape[last];
    for (size_t k = last; k-- > 0; number /= s->updatesShape[k]) {
        const size_t at = number % s->updatesShape[k];
        r.dst += k == s->axis ? 0 : at * stride;
        r.index += s->indexShape[k] == 1 ? 0 : at * step;
        stride *= s->shape[k];
        step *= s->indexShape[k];
    }
    return r;
}

static void scatter_row(const struct sn_scatter_elements * s, const struct row * r, size_t stride)
{
    const size_t last = s->count - 1, n = s->updatesShape[last], count = s->shape[s->axis];
    const bool repeats = s->indexShape[last] == 1;
    if (s->axis != last && repeats) {
        update_row(s->type, s->reduction, s->bytes, r->dst + counted(*r->index, count) * stride, r->updates, n);
        return;
    }
    for (size_t i = 0; i < n; ++i) {
        const size_t t = counted(r->index[repeats ? 0 : i], count), column = s->axis == last ? 0 : i;
        update(s->type, s->reduction, s->bytes, r->dst + t * stride + column * s->bytes, r->updates + i * s->bytes);
    }
}

void sn_scatter_elements(const struct sn_scatter_elements * s)
{
    size_t rows = 1, stride = s->bytes;
    for (size_t k = 0; k + 1 < s->count; ++k)
        rows *= s->updatesShape[k];
    for (size_t k = s->axis + 1; k < s->count; ++k)
        stride *= s->shape[k];
    for (size_t i = 0; i < rows; ++i) {
        const struct row r = row_at(s, i);
        scatter_row(s, &r, stride);
    }
}

/* ---- parts */

size_t sn_nd_beyond(const struct sn_scatter_nd * s)
{
    const size_t all = s->batch * s->indices * s->depth;
    for (size_t i = 0, k = 0; i < all; ++i, k = k + 1 < s->depth ? k + 1 : 0)
        if ((uint64_t)s->index[i] + s->shape[k] >= 2 * (uint64_t)s->shape[k])
            return i;
    return all;
}

/* The part, counted in parts of `inner` elements, that an index selects in its array of the batch. */
static size_t part_of(const struct sn_scatter_nd * s, size_t number)
{
    const sn_64i * index = s->index + number * s->depth;
    size_t part = number / s->indices;
    for (size_t k = 0; k < s->depth; ++k)
        part = part * s->shape[k] + counted(index[k], s->shape[k]);
    return part;
}

void sn_scatter_nd(const struct sn_scatter_nd * s)
{
    const size_t bytes = s->inner * s->bytes;
    for (size_t i = 0; i < s->batch * s->indices; ++i) {
        const size_t row = s->rows ? counted(s->rows[i], s->rowCount) : i;
        update_row(s->type, s->reduction, s->bytes, s->dst + part_of(s, i) * bytes, s->from + row * bytes, s->inner);
    }
}

struct parts {
    const struct sn_scatter_nd * s;
    size_t step; /* indices of a unit */
};

static void gather_parts(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct parts * job = argument;
    const size_t bytes = job->s->inner * job->s->bytes;
    end = sn_min(end * job->step, job->s->batch * job->s->indices);
    for (size_t i = begin * job->step; i < end; ++i)
        memcpy(job->s->dst + i * bytes, job->s->from + part_of(job->s, i) * bytes, bytes);
}

void sn_gather_nd(const struct sn_scatter_nd * s)
{
    const size_t all = s->batch * s->indices;
    const struct parts job = {s, sn_items_per_unit(s->inner)};
    sn_parallel_for(&(struct sn_parallel){.run = gather_parts, .job = &job, .units = sn_ceil_div(all, job.step),
        .cost = sn_cost_of_bytes((double)all * (2.0 * (double)(s->inner * s->bytes) + 8.0 * (double)s->depth))});
}

/* ---- cumulative sums */

/*
 * An element each of neighbouring lines is added before the next one, so that arrays are read in their order: 38x38x1536 floats
 * along the first axis take 0.16 of the time of line after line, 1000x64 integers of 1 byte 0.09, of 8 bytes 0.34. TOGETHER of
 * them are a loop of constant length, which the compiler computes with vectors; fewer lines share cache lines anyway, and the sum
 * of one line stays in a register.
 */
enum { LINES = 256, TOGETHER = 16 };

/* Adds elements to their sums, and stores these, or what they were before. Integers keep their low bits, with and without sign. */
#define ADD(name, type)                                                                                                     \
    SN_INLINE void add_##name(type * total, const uint8_t * src, bool exclusive, size_t n, uint8_t * dst)                   \
    {                                                                                                                       \
        type x[TOGETHER], sum[TOGETHER];                                                                                    \
        memcpy(x, src, n * sizeof(type));                                                                                   \
        for (size_t k = 0; k < n; ++k)                                                                                      \
            sum[k] = (type)(total[k] + x[k]);                                                                               \
        memcpy(dst, exclusive ? total : sum, n * sizeof(type));                                                             \
        memcpy(total, sum, n * sizeof(type));                                                                               \
    }                                                                                                                       \
    /* The first elements of `lines` lines: -0 keeps its sign. */                                                           \
    SN_INLINE void begin_##name(type * total, const uint8_t * src, bool exclusive, size_t lines, uint8_t * dst)             \
    {                                                                                                                       \
        memcpy(total, src, lines * sizeof(type));                                                                           \
        if (exclusive)                                                                                                      \
            memset(dst, 0, lines * sizeof(type));                                                                           \
        else                                                                                                                \
            memmove(dst, src, lines * sizeof(type));                                                                        \
    }                                                                                                                       \
    static void sum_##name(const struct sn_cumulative * c, const uint8_t * src, ptrdiff_t step, size_t lines, uint8_t * dst)\
    {                                                                                                                       \
        type total[LINES];                                                                                                  \
        begin_##name(total, src, c->exclusive, lines, dst);                                                                 \
        for (size_t i = 1; i < c->count; ++i) {                                                                             \
            src += step;                                                                                                    \
            dst += step;                                                                                                    \
            size_t k = 0;                                                                                                   \
            for (; k + TOGETHER <= lines; k += TOGETHER)                                                                    \
                add_##name(total + k, src + k * sizeof(type), c->exclusive, TOGETHER, dst + k * sizeof(type));              \
            for (; k < lines; ++k)                                                                                          \
                add_##name(total + k, src + k * sizeof(type), c->exclusive, 1, dst + k * sizeof(type));                     \
        }                                                                                                                   \
    }                                                                                                                       \
    SN_INLINE void line_##name(const struct sn_cumulative * c, const uint8_t * src, ptrdiff_t step, bool exclusive,         \
                               uint8_t * dst)                                                                               \
    {                                                                                                                       \
        type total;                                                                                                         \
        begin_##name(&total, src, exclusive, 1, dst);                                                                       \
        for (size_t left = c->count - 1; left > 0; --left) {                                                                \
            src += step;                                                                                                    \
            dst += step;                                                                                                    \
            add_##name(&total, src, exclusive, 1, dst);                                                                     \
        }                                                                                                                   \
    }                                                                                                                       \
    static void sum_line_##name(const struct sn_cumulative * c, const uint8_t * src, ptrdiff_t step, uint8_t * dst)         \
    {                                                                                                                       \
        if (c->exclusive)                                                                                                   \
            line_##name(c, src, step, true, dst);                                                                           \
        else                                                                                                                \
            line_##name(c, src, step, false, dst);                                                                          \
    }
ADD(32f, float)
ADD(8, uint8_t)
ADD(32, uint32_t)
ADD(64, uint64_t)

struct sums {
    void (*lines)(const struct sn_cumulative * c, const uint8_t * src, ptrdiff_t step, size_t lines, uint8_t * dst);
    void (*line)(const struct sn_cumulative * c, const uint8_t * src, ptrdiff_t step, uint8_t * dst);
};

static struct sums sums_of(const struct sn_cumulative * c)
{
    if (c->type == SN_DATA_32F)
        return (struct sums){sum_32f, sum_line_32f};
    return c->bytes == 1   ? (struct sums){sum_8, sum_line_8}
           : c->bytes == 4 ? (struct sums){sum_32, sum_line_32}
                           : (struct sums){sum_64, sum_line_64};
}

static void sum_pieces(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct sn_cumulative * c = argument;
    const struct sums sums = sums_of(c);
    const size_t pieces = sn_ceil_div(c->inner, LINES);
    const ptrdiff_t row = (ptrdiff_t)(c->inner * c->bytes), step = c->reverse ? -row : row;
    for (size_t piece = begin; piece < end; ++piece) {
        const size_t first = piece % pieces * LINES, lines = sn_min(c->inner - first, LINES);
        const size_t index = piece / pieces * c->count + (c->reverse ? c->count - 1 : 0);
        const size_t at = (index * c->inner + first) * c->bytes;
        if (lines >= TOGETHER)
            sums.lines(c, c->src + at, step, lines, c->dst + at);
        else
            for (size_t k = 0; k < lines; ++k)
                sums.line(c, c->src + at + k * c->bytes, step, c->dst + at + k * c->bytes);
    }
}

void sn_cumulative_sum(const struct sn_cumulative * c)
{
    const size_t all = c->outer * c->count * c->inner;
    sn_parallel_for(&(struct sn_parallel){.run = sum_pieces, .job = c, .units = c->outer * sn_ceil_div(c->inner, LINES),
        .cost = sn_cost_of_bytes((double)all * 4.0 * (double)c->bytes)});
}
