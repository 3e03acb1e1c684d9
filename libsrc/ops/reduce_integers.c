/* Reductions of integers and booleans: each result by itself, in integers of 64 bits, whose low bits it keeps. */
#include <math.h>

#include "ops/elementwise/cast.h"
#include "ops/reduce.h"
#include "ops/units.h"
#include "runtime/threads.h"

struct reduction {
    struct sn_reduce r;
    size_t bytes, results, step; /* of an element; results of a unit */
    size_t reduced, kept;        /* numbers of these dimensions: */
    struct sn_reduce_dimension gone[SN_REDUCE_DIMENSIONS], left[SN_REDUCE_DIMENSIONS];
};

/* What is known of the elements of a result. */
struct state {
    int64_t value;
    size_t count, place; /* elements; the index of a maximum or minimum */
};

SN_INLINE bool exceeds(enum sn_data type, int64_t a, int64_t b)
{
    return type == SN_DATA_64U ? (uint64_t)a > (uint64_t)b : a > b;
}

SN_INLINE void add(const struct sn_reduce * r, enum sn_data type, struct state * s, int64_t x)
{
    const uint64_t bits = (uint64_t)x;
    const bool largest = r->op == SN_REDUCE_MAX || r->op == SN_REDUCE_ARG_MAX;
    switch (r->op) {
    case SN_REDUCE_SUM:
    case SN_REDUCE_MEAN: s->value = (int64_t)((uint64_t)s->value + bits); break;
    case SN_REDUCE_L1: s->value = (int64_t)((uint64_t)s->value + (exceeds(type, 0, x) ? 0 - bits : bits)); break;
    case SN_REDUCE_L2:
    case SN_REDUCE_SUM_SQUARE: s->value = (int64_t)((uint64_t)s->value + bits * bits); break;
    case SN_REDUCE_PRODUCT: s->value = (int64_t)((uint64_t)s->value * bits); break;
    default:
        if (s->count == 0 || (r->last && x == s->value) ||
            (largest ? exceeds(type, x, s->value) : exceeds(type, s->value, x))) {
            s->value = x;
            s->place = s->count;
        }
    }
    ++s->count;
}

/* All elements of a result that begins here. */
SN_INLINE void visit(const struct reduction * job, enum sn_data type, const uint8_t * first, struct state * s)
{
    size_t rows = 1;
    const struct sn_reduce_dimension last = job->gone[job->reduced - 1];
    for (size_t k = 0; k + 1 < job->reduced; ++k)
        rows *= job->gone[k].extent;
    for (size_t row = 0; row < rows; ++row) {
        const uint8_t * at = first;
        for (size_t k = job->reduced - 1, rest = row; k-- > 0; rest /= job->gone[k].extent)
            at += rest % job->gone[k].extent * job->gone[k].stride * job->bytes;
        for (size_t i = 0; i < last.extent; ++i, at += last.stride * job->bytes)
            add(&job->r, type, s, sn_widened(type, at));
    }
}

static void visit_of(const struct reduction * job, const uint8_t * first, struct state * s)
{
    switch (job->r.type) {
    case SN_DATA_8I: visit(job, SN_DATA_8I, first, s); break;
    case SN_DATA_8U: visit(job, SN_DATA_8U, first, s); break;
    case SN_DATA_BOOL: visit(job, SN_DATA_BOOL, first, s); break;
    case SN_DATA_32I: visit(job, SN_DATA_32I, first, s); break;
    case SN_DATA_64I: visit(job, SN_DATA_64I, first, s); break;
    default: visit(job, SN_DATA_64U, first, s);
    }
}

/* Of no elements: what is below or above all numbers of the type. */
static int64_t extreme(const struct reduction * job, bool lowest)
{
    const uint64_t high = UINT64_C(1) << (8 * job->bytes - 1);
    const bool is_signed = job->r.type == SN_DATA_8I || job->r.type == SN_DATA_32I || job->r.type == SN_DATA_64I;
    if (job->r.type == SN_DATA_BOOL)
        return !lowest;
    if (!is_signed)
        return lowest ? 0 : (int64_t)(high - 1 + high);
    return (int64_t)(lowest ? high : high - 1);
}

static int64_t result_of(const struct reduction * job, const struct state * s)
{
    const bool is_unsigned = job->r.type == SN_DATA_64U;
    switch (job->r.op) {
    case SN_REDUCE_MEAN:
        return s->count == 0 ? 0 : is_unsigned ? (int64_t)((uint64_t)s->value / s->count) : s->value / (int64_t)s->count;
    case SN_REDUCE_L2: return (int64_t)sqrt((double)(uint64_t)s->value);
    case SN_REDUCE_MAX:
    case SN_REDUCE_MIN: return s->count ? s->value : extreme(job, job->r.op == SN_REDUCE_MAX);
    case SN_REDUCE_ARG_MAX:
    case SN_REDUCE_ARG_MIN: return (int64_t)s->place;
    default: return s->value;
    }
}

static void results(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct reduction * job = argument;
    const bool is_place = job->r.op >= SN_REDUCE_ARG_MAX;
    end = sn_min(end * job->step, job->results);
    for (size_t i = begin * job->step; i < end; ++i) {
        const uint8_t * first = (const uint8_t *)job->r.src;
        struct state s = {job->r.op == SN_REDUCE_PRODUCT, 0, 0};
        for (size_t k = job->kept, rest = i; k-- > 0; rest /= job->left[k].extent)
            first += rest % job->left[k].extent * job->left[k].stride * job->bytes;
        visit_of(job, first, &s);
        const int64_t result = result_of(job, &s);
        sn_narrow_integers(is_place ? SN_DATA_64I : job->r.type, &result, 1,
                           (uint8_t *)job->r.dst + i * (is_place ? sizeof(result) : job->bytes));
    }
}

void sn_reduce_integers(const struct sn_reduce * r, size_t bytes)
{
    struct reduction job = {.r = *r, .bytes = bytes, .results = 1};
    size_t elements = 1;
    for (size_t k = 0; k < r->count; ++k) {
        if (r->d[k].reduced)
            job.gone[job.reduced++] = r->d[k];
        else
            job.left[job.kept++] = r->d[k];
        *(r->d[k].reduced ? &elements : &job.results) *= r->d[k].extent;
    }
    if (job.reduced == 0)
        job.gone[job.reduced++] = (struct sn_reduce_dimension){1, 0, true};
    job.step = sn_items_per_unit(elements);
    sn_parallel_for(&(struct sn_parallel){.run = results, .job = &job, .units = sn_ceil_div(job.results, job.step),
        .cost = sn_cost_of_bytes((double)job.results * (double)elements * 8.0 * (double)bytes)});
}
