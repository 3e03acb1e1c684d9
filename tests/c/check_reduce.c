/*
 * Reductions, against the loops of base, which are in double: maxima, minima and indices are exact, products too (all levels
 * share them), sums have the bound that the header states.
 */
#include "check.h"

#include <stdlib.h>

#define REDUCE "SimdnetReduce"

enum { DIMENSIONS = SIMDNET_MAX_DIMENSIONS, OPERATIONS = SimdnetReduceArgMin + 1 };

static const char * const names[OPERATIONS] = {"sum", "mean", "max", "min", "L2", "L1", "sum of squares", "product",
                                               "log of sum of exp", "argmax", "argmin"};

static void reduce(const void * job, void * context, void * const * a)
{
    SimdnetReduceParameters p = *(const SimdnetReduceParameters *)job;
    (void)context;
    p.src = a[0];
    p.dst = a[1];
    SimdnetReduce(&p);
}

static bool is_index(const SimdnetReduceParameters * p) { return p->operation >= SimdnetReduceArgMax; }

static bool is_exact(const SimdnetReduceParameters * p)
{
    return is_index(p) || p->operation == SimdnetReduceMax || p->operation == SimdnetReduceMin ||
           p->operation == SimdnetReduceProduct;
}

static size_t results_of(const SimdnetReduceParameters * p)
{
    size_t all = 1;
    for (size_t k = 0; k < p->count; ++k)
        all *= p->reduced[k] ? 1 : p->shape[k];
    return all;
}

/* The result that element i of src is part of. */
static size_t result_at(const SimdnetReduceParameters * p, size_t i)
{
    size_t at = 0, step = 1;
    for (size_t k = p->count; k-- > 0; i /= p->shape[k])
        if (!p->reduced[k]) {
            at += i % p->shape[k] * step;
            step *= p->shape[k];
        }
    return at;
}

/* sum[] becomes the sum of the sizes of the terms, in double; of LogSumExp the result. */
static void sum_terms(const SimdnetReduceParameters * p, const float * src, size_t elements, double * sum, size_t results)
{
    const bool square = p->operation == SimdnetReduceL2 || p->operation == SimdnetReduceSumSquare;
    const bool exponentials = p->operation == SimdnetReduceLogSumExp;
    double * max = calloc(results, sizeof(double));
    for (size_t i = 0; i < results; ++i)
        sum[i] = 0, max[i] = -INFINITY;
    for (size_t i = 0; i < elements; ++i)
        max[result_at(p, i)] = fmax(max[result_at(p, i)], (double)src[i]);
    for (size_t i = 0; i < elements; ++i) {
        const size_t at = result_at(p, i);
        const double x = (double)src[i];
        sum[at] += exponentials ? exp(x - max[at]) : square ? x * x : fabs(x);
    }
    for (size_t i = 0; i < results && exponentials; ++i)
        sum[i] = max[i] + log(sum[i]);
    free(max);
}

static void set_bound(const SimdnetReduceParameters * p, const float * src, size_t elements, double * bound, size_t results)
{
    const double n = (double)elements / (double)results, u = 0x1p-24;
    sum_terms(p, src, elements, bound, results);
    for (size_t i = 0; i < results; ++i)
        switch (p->operation) {
        case SimdnetReduceMean: bound[i] = 71 * u * bound[i] / n + 0x1p-149; break;
        case SimdnetReduceL2: bound[i] = 36 * u * sqrt(bound[i]) + 0x1p-149; break;
        case SimdnetReduceLogSumExp: bound[i] = (70 + log(n) + fabs(bound[i])) * u; break;
        default: bound[i] = 71 * u * bound[i] + 0x1p-149;
        }
}

/* Squares, and sums of the largest floats, may overflow in float, or be denormal: then they are computed again in double. */
static bool may_raise(const SimdnetReduceParameters * p, enum check_fill fill)
{
    const bool square = p->operation == SimdnetReduceL2 || p->operation == SimdnetReduceSumSquare;
    return square && (fill == CHECK_LARGE || fill == CHECK_DENORMAL);
}

/* Begins a case, as check_case(). */
static bool reduce_case(SimdnetReduceParameters * p, enum check_fill fill)
{
    char text[200];
    size_t n = 0;
    text[0] = '\0';
    for (size_t k = 0; k < p->count; ++k)
        n += (size_t)snprintf(text + n, sizeof(text) - n, " %zu%s", p->shape[k], p->reduced[k] ? "r" : "");
    p->size = sizeof(*p);
    return check_case(REDUCE, "%s%s of%s, %s", names[p->operation], p->last ? " (last)" : "", text, check_fill_name(fill));
}

static void check_reduce_of(SimdnetReduceParameters p, enum check_fill fill)
{
    size_t elements = 1;
    if (!reduce_case(&p, fill))
        return;
    for (size_t k = 0; k < p.count; ++k)
        elements *= p.shape[k];
    const size_t results = results_of(&p);
    const float * src = check_in("src", CHECK_32F, elements, fill);
    check_out("dst", is_index(&p) ? CHECK_32I : CHECK_32F, is_index(&p) ? 2 * results : results);
    /* A long product of numbers below 1 is 0, and a NaN or an infinity with one more infinity, as the order has it. */
    const bool any = p.operation == SimdnetReduceProduct && elements > 256 * results && (fill == CHECK_INF || fill == CHECK_NAN);
    double * bound = any ? check_bound() : NULL;
    for (size_t i = 0; any && i < results; ++i)
        bound[i] = NAN;
    if (is_exact(&p))
        check_exact(CHECK_NAN_FREE | CHECK_ZERO_FREE);
    else
        set_bound(&p, src, elements, check_bound(), results);
    if (may_raise(&p, fill))
        check_raises();
    check_run(reduce, &p);
}

/* Every operation; those of indices if one dimension is reduced. */
static void check_operations(SimdnetReduceParameters p, enum check_fill fill)
{
    size_t number = 0;
    for (size_t k = 0; k < p.count; ++k)
        number += p.reduced[k] == SimdTrue;
    for (int operation = 0; operation < OPERATIONS; ++operation) {
        p.operation = (SimdnetReduceOperation)operation;
        for (int last = 0; last <= is_index(&p); ++last)
            if (number == 1 || !is_index(&p)) {
                p.last = last ? SimdTrue : SimdFalse;
                check_reduce_of(p, fill);
            }
    }
}

static void rows(size_t n, size_t length, enum check_fill fill)
{
    check_operations((SimdnetReduceParameters){.count = 2, .shape = {n, length}, .reduced = {SimdFalse, SimdTrue}}, fill);
}

static void columns(size_t n, size_t length, enum check_fill fill)
{
    check_operations((SimdnetReduceParameters){.count = 2, .shape = {length, n}, .reduced = {SimdTrue, SimdFalse}}, fill);
}

static void any(void)
{
    SimdnetReduceParameters p = {.count = check_random(0, 6)};
    for (size_t k = 0; k < p.count; ++k) {
        p.shape[k] = check_random(1, p.count < 3 ? 60 : 9);
        p.reduced[k] = check_random(0, 1) ? SimdTrue : SimdFalse;
    }
    check_operations(p, (enum check_fill)check_random(0, CHECK_FILLS - 1));
}

static void refusals(void)
{
    SimdnetReduceParameters p = {.count = 2, .shape = {3, 4}, .reduced = {SimdFalse, SimdTrue}};
    reduce_case(&p, CHECK_RANDOM);
    const SimdnetReduceParameters good = p;
    check_in("src", CHECK_32F, 12, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 6); /* three indices are as large */
    check_refused_null(reduce, &p);
    p.operation = SimdnetReduceArgMax;
    check_refused_overlap(false, reduce, &p);
    p.reduced[0] = SimdTrue;
    check_refused(CHECK_VALUE, "reduced", reduce, &p);
    p.reduced[0] = p.reduced[1] = SimdFalse;
    check_refused(CHECK_VALUE, "reduced", reduce, &p);
    p = good;
    p.operation = SimdnetReduceArgMin;
    p.shape[1] = 0;
    check_refused(CHECK_VALUE, "shape", reduce, &p);
    p = good;
    p.last = (SimdBool)2;
    check_refused(CHECK_VALUE, "last", reduce, &p);
    p = good;
    p.reduced[0] = (SimdBool)7;
    check_refused(CHECK_VALUE, "reduced", reduce, &p);
    for (int operation = -1; operation <= OPERATIONS; operation += OPERATIONS + 1) {
        p = good;
        p.operation = (SimdnetReduceOperation)operation;
        check_refused(CHECK_VALUE, "operation", reduce, &p);
    }
    p = good;
    p.count = 9;
    check_refused(CHECK_VALUE, "count", reduce, &p);
    p = good;
    p.size = offsetof(SimdnetReduceParameters, dataType) - 1;
    check_refused(CHECK_VALUE, "size", reduce, &p);
    p = good;
    p.dataType = SimdTensorData16b;
    check_refused(CHECK_VALUE, "dataType is SimdTensorData16b", reduce, &p);
    p.dataType = SimdTensorData32i;
    p.operation = SimdnetReduceLogSumExp;
    check_refused(CHECK_VALUE, "dataType is SimdTensorData32i, expected SimdTensorData32f for", reduce, &p);
    p = good;
    p.shape[0] = SIZE_MAX / 8;
    check_refused(CHECK_VALUE, "shape", reduce, &p);
    p = good;
    p.shape[0] = 0;
    check_empty(reduce, &p);
}

/* Results of no elements. */
static void nothing(void)
{
    static const float expected[] = {0, NAN, -INFINITY, INFINITY, 0, 0, 0, 1, -INFINITY};
    for (int operation = 0; operation < SimdnetReduceArgMax; ++operation) {
        float dst[3] = {7, 7, 7};
        const SimdnetReduceParameters p = {sizeof(p), (SimdnetReduceOperation)operation, 2, {3, 0}, {SimdFalse, SimdTrue},
                                           SimdFalse, NULL, dst, SimdTensorData32f};
        SimdnetReduce(&p);
        for (int i = 0; i < 3; ++i)
            check_that(dst[i] == expected[operation] || (isnan(dst[i]) && isnan(expected[operation])), REDUCE,
                       "the %s of no elements is %g", names[operation], (double)dst[i]);
    }
}

/* Aim: reading the array. */
static void bench(void)
{
    static const size_t shapes[][3] = {{64, 3136, 1}, {1, 64, 3136}, {1, 3136, 64}, {1, 200000, 1}, {3136, 64, 1},
                                       {20000, 10, 1}, {1, 10, 20000}, {1, 50000, 3}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); ++i)
        for (int operation = 0; operation < OPERATIONS; ++operation) {
            SimdnetReduceParameters p = {.operation = (SimdnetReduceOperation)operation, .count = 3,
                                         .shape = {shapes[i][0], shapes[i][1], shapes[i][2]},
                                         .reduced = {SimdFalse, SimdTrue, SimdFalse}};
            const size_t elements = shapes[i][0] * shapes[i][1] * shapes[i][2];
            reduce_case(&p, CHECK_RANDOM);
            check_in("src", CHECK_32F, elements, CHECK_RANDOM);
            check_out("dst", CHECK_32F, 2 * results_of(&p));
            check_bench(reduce, &p, 0, 4.0 * (double)elements);
        }
}

/* ---- integers, which are arrays of bytes of the checker, against a loop over the elements of each result */

static const char * const types[] = {"32f", "32i", "8i", "8u", "64i", "64u", "bool"};
static const size_t sizes[] = {4, 4, 1, 1, 8, 8, 1};

static uint64_t integer_at(SimdTensorDataType type, const unsigned char * at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, sizes[type]);
    const size_t more = 64 - 8 * sizes[type];
    if (type == SimdTensorDataBool)
        return bits != 0;
    return type == SimdTensorData32i || type == SimdTensorData8i ? (uint64_t)((int64_t)(bits << more) >> more) : bits;
}

static bool is_below(SimdTensorDataType type, uint64_t a, uint64_t b)
{
    return type == SimdTensorData64u ? a < b : (int64_t)a < (int64_t)b;
}

/* The result of the elements of src that are part of it. */
static uint64_t integer_result(const SimdnetReduceParameters * p, const unsigned char * src, size_t elements, size_t result)
{
    const bool is_max = p->operation == SimdnetReduceMax || p->operation == SimdnetReduceArgMax;
    uint64_t sum = 0, product = 1, squares = 0, sizes_of = 0, best = 0, count = 0, place = 0;
    for (size_t i = 0; i < elements; ++i) {
        if (result_at(p, i) != result)
            continue;
        const uint64_t x = integer_at(p->dataType, src + i * sizes[p->dataType]);
        const bool better = is_max ? is_below(p->dataType, best, x) : is_below(p->dataType, x, best);
        sum += x, product *= x, squares += x * x;
        sizes_of += is_below(p->dataType, x, 0) ? 0 - x : x;
        if (count == 0 || better || (x == best && p->last))
            best = x, place = count;
        ++count;
    }
    switch (p->operation) {
    case SimdnetReduceSum: return sum;
    case SimdnetReduceMean: return p->dataType == SimdTensorData64u ? sum / count : (uint64_t)((int64_t)sum / (int64_t)count);
    case SimdnetReduceL2: return (uint64_t)sqrt((double)squares);
    case SimdnetReduceL1: return sizes_of;
    case SimdnetReduceSumSquare: return squares;
    case SimdnetReduceProduct: return product;
    case SimdnetReduceArgMax:
    case SimdnetReduceArgMin: return place;
    default: return best;
    }
}

static void integer_case(SimdnetReduceParameters p)
{
    static unsigned char found[8 * 4000];
    size_t elements = 1, wrong = 0;
    for (size_t k = 0; k < p.count; ++k)
        elements *= p.shape[k];
    const size_t results = results_of(&p), bytes = is_index(&p) ? 8 : sizes[p.dataType];
    if (!check_case(REDUCE, "%s %s of %zu in %zu dimensions: %zu results", names[p.operation], types[p.dataType], elements,
                    p.count, results))
        return;
    const unsigned char * src = check_in("src", CHECK_8U, elements * sizes[p.dataType], CHECK_RANDOM);
    check_out("dst", CHECK_8U, results * bytes);
    check_run(reduce, &p);
    p.src = (const void *)src;
    p.dst = found;
    SimdnetReduce(&p);
    for (size_t i = 0; i < results; ++i) {
        uint64_t expected = integer_result(&p, src, elements, i);
        if (p.dataType == SimdTensorDataBool && !is_index(&p))
            expected = expected != 0;
        wrong += memcmp(found + i * bytes, &expected, bytes) != 0;
    }
    check_that(wrong == 0, REDUCE, "%s %s of %zu in %zu dimensions: %zu wrong of %zu", names[p.operation], types[p.dataType],
               elements, p.count, wrong, results);
}

static void integers(void)
{
    for (int type = SimdTensorData32i; type <= SimdTensorDataBool; ++type)
        for (int operation = 0; operation < OPERATIONS; ++operation)
            for (size_t turn = 0; turn < (check_quick() ? 3 : 12) && operation != SimdnetReduceLogSumExp; ++turn) {
                SimdnetReduceParameters p = {.size = sizeof(p), .operation = (SimdnetReduceOperation)operation,
                    .dataType = (SimdTensorDataType)type, .count = turn % 4 + 1, .last = (SimdBool)(turn & 1)};
                const size_t only = check_random(0, p.count - 1);
                for (size_t k = 0; k < p.count; ++k) {
                    p.shape[k] = check_random(1, 7);
                    p.reduced[k] = (SimdBool)(is_index(&p) ? k == only : check_random(0, 1));
                }
                integer_case(p);
            }
    SimdnetReduceParameters none = {.size = sizeof(none), .operation = SimdnetReduceMax, .count = 1, .reduced = {SimdTrue},
                                    .dataType = SimdTensorData32i};
    int32_t most = 1;
    none.dst = &most;
    SimdnetReduce(&none);
    check_that(most == INT32_MIN, REDUCE, "the maximum of no integers is %d", (int)most);
}

CHECK_FAMILY(reduce)
{
    const size_t step = check_quick() ? 7 : 1;
    for (size_t n = 1; n <= 140; n += step)
        rows(1 + n % 19, n, (enum check_fill)(n % CHECK_FILLS));
    for (size_t n = 1; n <= 40; n += step)
        columns(n, 1 + n * 7 % 71, (enum check_fill)(n % CHECK_FILLS));
    for (int fill = 0; fill < CHECK_FILLS; ++fill) {
        rows(3, 1000, (enum check_fill)fill);
        columns(70, 300, (enum check_fill)fill);
    }
    rows(2, 10000, CHECK_RANDOM);
    rows(3000, 20, CHECK_RANDOM);
    columns(1500, 130, CHECK_RANDOM); /* more results than one block has */
    columns(3, 5000, CHECK_RANDOM);
    for (size_t i = 0, n = check_count(60); i < n; ++i)
        any();
    integers();
    refusals();
    nothing();
    if (check_timed())
        bench();
}
